/* Taking ranks out of an archive, and putting parts together, out of memory: of all allocations
 * each fails once; then there is an error and no file, or a file as large as ever (or larger:
 * coding and compressing can do without). */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "refrain/merge_archives.h"
#include "refrain/trace_profile.h"
#include "support/archive_model.h"
#include "support/fail_each.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[96], full_path[96], part_paths[2][96];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/refrain-merge-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out.rfn", folder);
    snprintf(full_path, sizeof full_path, "%s/full.rfn", folder);
    for (int i = 0; i < 2; i++)
        snprintf(part_paths[i], sizeof part_paths[i], "%s/part%d.rfn", folder, i);
}

/* The size of the file, which is then removed; 0: there is none. */
static uint64_t take_file(void)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return 0;
    assert_int_equal(unlink(path), 0);
    return (uint64_t)status.st_size;
}

/* Even ranks, or odd ones. */
static bool is_even(const void *odd, uint32_t rank)
{
    return rank % 2 == *(const bool *)odd;
}

static const struct rfn_rank_choice halves[] = {{is_even, &(const bool){false}},
                                                {is_even, &(const bool){true}}};

struct job {
    const char *files[2];
    size_t n;
    const struct rfn_rank_choice *choice;
    const char *to;
    uint64_t *whole; /* the size of the first file written, 0 before */
};

static int open_files(const struct job *job, struct rfn_archive **archives, size_t *n)
{
    for (*n = 0; *n < job->n; ++*n)
        RFN_TRY(rfn_archive_open(job->files[*n], &archives[*n], NULL));
    return 0;
}

static int merge(const struct job *job, uint64_t *size)
{
    struct rfn_archive *archives[2];
    const struct rfn_merge_options options = {.choice = job->choice};
    struct rfn_merge_result merged;
    struct rfn_diag diag = {0};
    size_t n;
    int error = open_files(job, archives, &n);
    if (!error) {
        error = rfn_merge_archives((const struct rfn_archive *const *)archives, n, &options,
                                   job->to, false, &merged, &diag);
        assert_true(error == 0 || diag.text[0]);
    }
    *size = error ? 0 : merged.bytes;
    while (n-- > 0)
        rfn_archive_close(archives[n]);
    return error;
}

static int merge_and_drop(const void *of)
{
    const struct job *job = of;
    uint64_t size;
    int error = merge(job, &size);
    assert_int_equal(take_file(), size);
    if (!error && !*job->whole)
        *job->whole = size;
    assert_true(error || size >= *job->whole);
    return error;
}

static void merge_each(void)
{
    uint64_t size, whole;
    for (int i = 0; i < 2; i++) {
        struct job job = {{full_path}, 1, &halves[i], path, &whole};
        whole = 0;
        fail_each(100, merge_and_drop, &job);
        job.to = part_paths[i];
        assert_int_equal(merge(&job, &size), 0);
    }
    whole = 0;
    const struct job both = {{part_paths[1], part_paths[0]}, 2, NULL, path, &whole};
    fail_each(200, merge_and_drop, &both);
    for (int i = 0; i < 2; i++)
        assert_int_equal(unlink(part_paths[i]), 0);
    assert_int_equal(unlink(full_path), 0);
}

static void test_full(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, true, true);
    make_folder();
    assert_true(write_file(full_path, &file));
    rfn_buf_release(&file);
    merge_each();
    assert_int_equal(rmdir(folder), 0); /* nothing else is there */
}

/* Clusters and PROFILES, which are taken apart. */
static void test_reduced(void **state)
{
    (void)state;
    const struct rfn_trace_profile_options options = {
        .similar = "absDiff:1000", .min_calls = 1, .cluster = true};
    struct rfn_buf file = write_archive(SOUND, false, true);
    struct rfn_archive *archive;
    struct rfn_reduction reduction;
    make_folder();
    assert_int_equal(rfn_archive_open_memory(file.data, file.size, &archive, NULL), 0);
    assert_int_equal(rfn_reduce(archive, &options, full_path, false, &reduction, NULL), 0);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
    merge_each();
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full), cmocka_unit_test(test_reduced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
