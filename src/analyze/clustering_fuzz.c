/* Opens bytes as an archive and clusters its ranks, in all forms.
 *
 * To be built with -DRFN_FUZZING, and started from the archives of
 * `archive_test seeds DIR`: see src/archive/archive_fuzz.c. */
#include "archive/reader.h"
#include "refrain/clusters.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Each rank is in one main and one sub-cluster, and what is said of parameters can be looked up. */
static void look_at(const struct rfn_archive *archive, const struct rfn_clustering *clustering)
{
    uint64_t ranks = 0, of_subs = 0;
    for (uint32_t i = 0; i < rfn_clustering_mains(clustering); i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        ranks += main->ranks;
        for (uint32_t k = 0; k < main->n_parameters; k++) {
            const struct rfn_cluster_parameter *found = rfn_clustering_parameter(
                clustering, main->first_parameter + k);
            if (found->function >= rfn_archive_functions(archive) ||
                found->path >= rfn_archive_paths(archive) || !found->name)
                abort();
        }
    }
    for (uint32_t i = 0; i < rfn_clustering_subs(clustering); i++)
        of_subs += rfn_clustering_sub(clustering, i)->ranks;
    if (ranks != of_subs)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_archive *archive;
    struct rfn_clustering *clustering;
    struct rfn_clustering_cost cost;
    struct rfn_diag diag = {.file_offset = -1};
    if (rfn_archive_open_memory(bytes, size, &archive, &diag) < 0)
        return 0;
    for (int form = RFN_PATHS_ELASTIC; form <= RFN_PATHS_XOR; form++) {
        diag.text[0] = '\0';
        int error = rfn_clustering_new(archive, (enum rfn_path_form)form, NULL, &cost, &clustering,
                                       &diag);
        if (error < 0 && !diag.text[0])
            abort();
        if (error < 0)
            continue;
        look_at(archive, clustering);
        rfn_clustering_free(clustering);
    }
    rfn_archive_close(archive);
    return 0;
}
