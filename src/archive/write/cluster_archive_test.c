/* What clustering an archive says of the memory that it had meanwhile. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include "archive/write/cluster_archive.h"

#include "refrain/merge_archives.h"
#include "support/archive_model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_one_group(const void *context, uint32_t rank)
{
    (void)context;
    return rank < N_RANKS - 1;
}

/* The model's archive, or only the ranks that are one group. */
static struct rfn_archive *open_model(bool all)
{
    char path[] = "/tmp/refrain-cluster-XXXXXX";
    const struct rfn_rank_choice choice = {is_one_group, NULL};
    const struct rfn_merge_options options = {.choice = all ? NULL : &choice};
    struct rfn_buf file = write_archive(SOUND, true, true);
    struct rfn_archive *archive, *part;
    struct rfn_merge_result merged;
    int opened = mkstemp(path);
    assert_true(opened >= 0);
    assert_int_equal(rfn_archive_open_memory(file.data, file.size, &archive, NULL), 0);
    assert_int_equal(rfn_merge_archives((const struct rfn_archive *const *)&archive, 1, &options,
                                        path, true, &merged, NULL),
                     0);
    assert_int_equal(rfn_archive_open(path, &part, NULL), 0);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
    close(opened);
    unlink(path);
    return part;
}

/* What its own chunks take of CLUSTERS and COMMON. */
static size_t together_bytes(const struct rfn_rewrite *rewrite)
{
    size_t bytes = 0;
    for (size_t i = 0; i < rewrite->n; i++) {
        uint32_t type = rewrite->chunks[i].entry.type;
        if (type == RFN_CHUNK_CLUSTERS || type == RFN_CHUNK_COMMON)
            bytes += rfn_rope_size(&rewrite->chunks[i].bytes);
    }
    return bytes;
}

/* With one shape there is nothing in common to remember, only chunks; with two there is more than
 * these. */
static void test_held(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        struct rfn_archive *archive = open_model(all);
        const struct rfn_cluster_options options = {0};
        struct rfn_cluster_plan plan = {0};
        struct rfn_rewrite rewrite;
        assert_int_equal(archive->n_groups, all ? 2 : 1);
        assert_int_equal(rfn_rewrite_init(&rewrite, archive), 0);
        assert_int_equal(rfn_cluster_archive(archive, &options, &rewrite, &plan, NULL), 0);
        size_t bytes = together_bytes(&rewrite);
        assert_true(bytes > 0 && plan.held >= bytes + (all ? 1 : 0));
        assert_true(all || plan.held < 4 * bytes);
        rfn_cluster_plan_release(&plan);
        rfn_rewrite_release(&rewrite);
        rfn_archive_close(archive);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_held)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
