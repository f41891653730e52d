/* Reducing an archive out of memory: of all allocations each fails once; then there is an error and
 * no file, or a file that is the same as ever. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "refrain/trace_profile.h"
#include "support/archive_model.h"
#include "support/fail_each.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[96];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/refrain-reduce-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out.rfn", folder);
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

struct job {
    const struct rfn_buf *file;
    const char *similar, *across;
    bool cluster;
    const char *merge;
    uint64_t *whole; /* the size of the first file written, 0 before */
};

/* Users' expressions. */
static int make_expressions(struct rfn_expressions **expressions)
{
    RFN_TRY(rfn_expressions_new(expressions));
    int error = rfn_expressions_add(*expressions, "r * 2 + n", NULL);
    if (error) {
        rfn_expressions_free(*expressions);
        *expressions = NULL;
    }
    return error;
}

static int reduce(const struct job *job, uint64_t *size)
{
    struct rfn_trace_profile_options options = {.similar = job->similar,
                                                .across = job->across,
                                                .min_calls = 1,
                                                .memory_bytes = 1 << 20,
                                                .cluster = job->cluster,
                                                .forced = job->merge};
    struct rfn_archive *archive;
    struct rfn_reduction reduction;
    struct rfn_diag diag = {0};
    if (job->cluster)
        RFN_TRY(make_expressions(&options.expressions));
    int error = rfn_archive_open_memory(job->file->data, job->file->size, &archive, &diag);
    if (!error) {
        error = rfn_reduce(archive, &options, path, false, &reduction, &diag);
        rfn_archive_close(archive);
    }
    assert_true(error == 0 || diag.text[0]);
    *size = error ? 0 : reduction.bytes;
    rfn_expressions_free(options.expressions);
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
    struct job job = {file, "avgWave:0.2", across, false, NULL, &whole};
    fail_each(300, run, &job); /* coding and compressing can do without */
}

static void cluster_each(const struct rfn_buf *file, const char *merge)
{
    uint64_t whole = 0;
    struct job job = {file, NULL, NULL, true, merge, &whole};
    fail_each(200, run, &job);
}

/* ---- reading what has been clustered ---- */

static int read_stream(const struct rfn_archive *archive, uint32_t stream)
{
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    int more;
    RFN_TRY(rfn_cursor_open(archive, stream, &cursor, NULL));
    do
        more = rfn_cursor_next(cursor, &record, NULL);
    while (more > 0);
    rfn_cursor_close(cursor);
    return more;
}

static int read_all(const void *of)
{
    const struct rfn_buf *file = of;
    struct rfn_archive *archive;
    RFN_TRY(rfn_archive_open_memory(file->data, file->size, &archive, NULL));
    int error = 0;
    for (uint32_t i = 0; i < N_STREAMS && !error; i++)
        error = read_stream(archive, i);
    rfn_archive_close(archive);
    return error;
}

static struct rfn_buf read_file(uint64_t size)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    FILE *from = fopen(path, "rb");
    assert_non_null(from);
    assert_non_null(rfn_buf_reserve(&bytes, size));
    assert_int_equal(fread(bytes.data, 1, size, from), size);
    bytes.size = size;
    fclose(from);
    return bytes;
}

static void test_read(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, false, true);
    uint64_t size, whole = 0;
    struct job job = {&file, NULL, NULL, true, NULL, &whole};
    make_folder();
    assert_int_equal(reduce(&job, &size), 0);
    struct rfn_buf clustered = read_file(size);
    fail_each(50, read_all, &clustered);
    assert_int_equal(take_file(), size);
    rfn_buf_release(&file);
    rfn_buf_release(&clustered);
    assert_int_equal(rmdir(folder), 0);
}

static void test_reduce(void **state)
{
    (void)state;
    make_folder();
    struct rfn_buf file = write_archive(SOUND, false, true);
    reduce_each(&file, NULL);
    reduce_each(&file, "avgWave:0.4");
    cluster_each(&file, NULL);
    cluster_each(&file, "peer,root,count,exact,comm,place,tag");
    uint64_t size, whole = 0;
    struct job job = {&file, NULL, NULL, true, NULL, &whole};
    assert_int_equal(reduce(&job, &size), 0);
    struct rfn_buf clustered = read_file(size);
    assert_int_equal(take_file(), size);
    cluster_each(&clustered, NULL); /* again */
    rfn_buf_release(&clustered);
    rfn_buf_release(&file);
    assert_int_equal(rmdir(folder), 0); /* nothing else is there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reduce), cmocka_unit_test(test_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
