/* read_job.h - reads an archive in memory to its end and goes back, or verifies it, as work whose
 * allocations may fail. To be included after cmocka.h by a test program whose name ends in
 * _nomem_test.c. */
#ifndef RFN_TESTS_SUPPORT_READ_JOB_H
#define RFN_TESTS_SUPPORT_READ_JOB_H

#include "archive/read/reader.h"
#include "refrain/spread.h"
#include "support/fail_each.h"

/* Asks for all lists of an event. */
static void read_lists(const struct rfn_archive *archive, const struct rfn_cursor *cursor,
                       const struct rfn_record *record)
{
    const struct rfn_function_info *function = rfn_archive_function(archive, record->function);
    size_t n;
    for (unsigned i = 0; i < function->n_in; i++) {
        if (function->params[i].kind & RFN_KIND_LIST)
            rfn_cursor_list(cursor, record->in[i], &n, function->params[i].kind);
    }
}

static int read_to_end(const struct rfn_archive *archive, uint32_t stream, struct rfn_diag *diag)
{
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    uint64_t n = 0;
    int more;
    RFN_TRY(rfn_cursor_open(archive, stream, &cursor, diag));
    for (; (more = rfn_cursor_next(cursor, &record, diag)) > 0; n++)
        read_lists(archive, cursor, record);
    if (more == 0)
        more = rfn_cursor_seek(cursor, n / 2, diag);
    rfn_cursor_close(cursor);
    return more;
}

static int read_spreads(const struct rfn_archive *archive, struct rfn_diag *diag)
{
    struct rfn_time_spreads *spreads;
    RFN_TRY(rfn_time_spreads_new(archive, &spreads, diag));
    rfn_time_spreads_free(spreads);
    return 0;
}

struct read_job {
    struct rfn_buf file;
    size_t resident_max;
    bool verify; /* instead of reading all streams */
};

static inline int read_archive(const void *of)
{
    const struct read_job *job = of;
    struct rfn_archive *archive;
    struct rfn_diag diag = {.text = ""};
    int error = rfn_archive_open_memory(job->file.data, job->file.size, &archive, &diag);
    if (!error) {
        archive->chunks.resident_max = job->resident_max;
        for (uint32_t i = 0; i < rfn_archive_run(archive)->streams && !error && !job->verify; i++)
            error = read_to_end(archive, i, &diag);
        if (!error && !job->verify)
            error = read_spreads(archive, &diag);
        if (!error && job->verify)
            error = rfn_archive_verify_open(archive, NULL, NULL, &diag);
        rfn_archive_close(archive);
    }
    assert_true(!error || strstr(diag.text, "memory"));
    return error;
}

#endif
