/* Opens bytes as an archive and clusters its ranks, in all forms.
 *
 * To be built with -DRFN_FUZZING, and started from archives: tools/check.py. */
#include "archive/read/reader.h"
#include "refrain/clusters.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { EVENTS = 1 << 14, N_FOLDED = 3, N_FORMS = 5 };

/* The first make do with what is folded; the others look at each event. */
static const struct rfn_cluster_form forms[N_FORMS] = {
    {RFN_PATHS_ELASTIC, RFN_PARAMETERS_FIELDS},
    {RFN_PATHS_STRICT, RFN_PARAMETERS_FIELDS},
    {RFN_PATHS_XOR, RFN_PARAMETERS_FIELDS},
    {RFN_PATHS_XOR, RFN_PARAMETERS_PAPER},
    {RFN_PATHS_STRICT, RFN_PARAMETERS_REFERENCE}};

/* A few bytes can claim any number of events. */
static bool is_small(const struct rfn_archive *archive)
{
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    size_t events = 0;
    for (uint32_t i = 0; i < rfn_archive_run(archive)->streams && events <= EVENTS; i++) {
        if (rfn_cursor_open(archive, i, &cursor, NULL) < 0)
            continue;
        while (events <= EVENTS && rfn_cursor_next(cursor, &record, NULL) > 0)
            events++;
        rfn_cursor_close(cursor);
    }
    return events <= EVENTS;
}

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
    int n_forms = is_small(archive) ? N_FORMS : N_FOLDED;
    for (int form = 0; form < n_forms; form++) {
        diag.text[0] = '\0';
        int error = rfn_clustering_new(archive, forms[form], NULL, &cost, &clustering, &diag);
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
