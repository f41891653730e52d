/* Reducing an archive out of memory: of all allocations each fails once; then there is an error and
 * no file, or a file that is the same as ever. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "archive/archive_model.h"
#include "base/fail_each.h"
#include "refrain/trace_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/refrain-reduce-XXXXXX", path[64];

/* The size of the file, which is then removed; 0: there is none. */
static uint64_t take_file(void)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return 0;
    assert_int_equal(unlink(path), 0);
    return (uint64_t)status.st_size;
}

struct job {
    const struct rfn_buf *file;
    const char *across;
    uint64_t *whole; /* the size of the first file written, 0 before */
};

static int reduce(const struct job *job, uint64_t *size)
{
    struct rfn_trace_profile_options options = {
        .similar = "avgWave:0.2", .across = job->across, .min_calls = 1, .memory_bytes = 1 << 20};
    struct rfn_archive *archive;
    struct rfn_reduction reduction;
    struct rfn_diag diag = {0};
    RFN_TRY(rfn_archive_open_memory(job->file->data, job->file->size, &archive, &diag));
    int error = rfn_reduce(archive, &options, path, false, &reduction, &diag);
    assert_true(error == 0 || diag.text[0]);
    *size = error ? 0 : reduction.bytes;
    rfn_archive_close(archive);
    return error;
}

static int run(const void *of)
{
    const struct job *job = of;
    uint64_t size = 0;
    int error = reduce(job, &size);
    assert_int_equal(take_file(), size);
    if (*job->whole == 0)
        *job->whole = size;
    assert_true(error || size >= *job->whole);
    return error;
}

static void reduce_each(const struct rfn_buf *file, const char *across)
{
    uint64_t whole = 0;
    struct job job = {file, across, &whole};
    fail_each(300, run, &job); /* coding and compressing can do without */
}

static void test_reduce(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out.rfn", folder);
    struct rfn_buf file = write_archive(SOUND, false, true);
    reduce_each(&file, NULL);
    reduce_each(&file, "avgWave:0.4");
    rfn_buf_release(&file);
    assert_int_equal(rmdir(folder), 0); /* nothing else is there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reduce)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
