/* Clustering an archive: with all payloads in memory and with none, all bytes in turn spoilt, and
 * out of memory: of all allocations each fails once. */
#include "refrain/clusters.h"
#include "support/archive_model.h"
#include "support/read_job.h"

#include <stdio.h>
#include <stdlib.h>

struct job {
    struct rfn_buf file;
    size_t resident_max;
    struct rfn_cluster_form form;
};

enum { N_FORMS = 5 };
static const struct rfn_cluster_form forms[N_FORMS] = {
    {RFN_PATHS_ELASTIC, RFN_PARAMETERS_FIELDS},
    {RFN_PATHS_STRICT, RFN_PARAMETERS_FIELDS},
    {RFN_PATHS_XOR, RFN_PARAMETERS_FIELDS},
    {RFN_PATHS_XOR, RFN_PARAMETERS_PAPER},
    {RFN_PATHS_STRICT, RFN_PARAMETERS_REFERENCE}};

/* The ranks of clusters add up, and those of sub-clusters. */
static void check(const struct rfn_archive *archive, const struct rfn_clustering *clustering)
{
    uint64_t ranks = 0, of_subs = 0, subs = 0, after = 0;
    for (uint32_t i = 0; i < rfn_clustering_mains(clustering); i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        assert_true(main->ranks >= 1 && main->sub_clusters >= main->after_expressions);
        assert_true(main->after_expressions >= 1 && main->calls_least <= main->calls_most);
        ranks += main->ranks;
        subs += main->sub_clusters;
        after += main->after_expressions;
        for (uint32_t k = 0; k < main->n_parameters; k++)
            assert_non_null(rfn_clustering_parameter(clustering, main->first_parameter + k)->name);
    }
    for (uint32_t i = 0; i < rfn_clustering_subs(clustering); i++)
        of_subs += rfn_clustering_sub(clustering, i)->ranks;
    assert_int_equal(ranks, of_subs);
    assert_int_equal(subs, rfn_clustering_subs(clustering));
    assert_int_equal(after, rfn_clustering_after_expressions(clustering));
    assert_true(ranks + rfn_clustering_unreadable(clustering) <= rfn_archive_run(archive)->streams);
}

static int cluster(const void *of)
{
    const struct job *job = of;
    struct rfn_archive *archive;
    struct rfn_clustering *clustering;
    struct rfn_clustering_cost cost;
    struct rfn_diag diag = {.text = ""};
    RFN_TRY(rfn_archive_open_memory(job->file.data, job->file.size, &archive, &diag));
    archive->chunks.resident_max = job->resident_max;
    int error = rfn_clustering_new(archive, job->form, NULL, &cost, &clustering, &diag);
    assert_true(!error || diag.text[0]);
    if (!error)
        check(archive, clustering);
    rfn_clustering_free(clustering);
    rfn_archive_close(archive);
    return error;
}

static void test_memory(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < 4 * N_FORMS; variant++) {
        struct job job = {write_archive(SOUND, variant & 1, true),
                          variant & 2 ? 0 : RFN_RESIDENT_MAX, forms[variant / 4]};
        assert_int_equal(cluster(&job), 0);
        fail_each(100, cluster, &job); /* giving memory back may fail */
        rfn_buf_release(&job.file);
    }
}

/* Whatever is in the file, there are clusters or an error. */
static void test_faults(void **state)
{
    (void)state;
    unsigned refused = 0;
    for (int fault = SOUND; fault < N_FAULTS; fault++) {
        for (unsigned variant = 0; variant < 2 * N_FORMS; variant++) {
            struct job job = {write_archive((enum fault)fault, variant & 1, true), RFN_RESIDENT_MAX,
                              forms[variant / 2]};
            refused += cluster(&job) < 0;
            rfn_buf_release(&job.file);
        }
    }
    assert_true(refused > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
