/* Opens bytes as an archive and clusters it, with no parameters merged, with all, and with one role
 * of them, which the length tells. What comes of a sound archive is sound, and says what was
 * merged; it is clustered once more. Without a file there are words.
 *
 * Built with -DRFN_FUZZING like archive/cursor/archive_fuzz.c, which tells what that changes
 * (checksums of what is copied are compared even so). Seeds are in tests/fuzz/reduce_archive_fuzz:
 * those of `reduce_archive_test seeds DIR`, and archives of programs in tests/programs/clusters. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "archive/read/reader.h"
#include "refrain/event.h"
#include "refrain/trace_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS = 512, STREAMS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char folder[] = "/tmp/refrain-fuzz-XXXXXX", path[64], again[64];

static void remove_folder(void)
{
    unlink(path);
    unlink(again);
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof path, "%s/reduced.rfn", folder);
    snprintf(again, sizeof again, "%s/again.rfn", folder);
    return atexit(remove_folder);
}

/* Whether there is a file. */
static bool reduce(const struct rfn_archive *archive, const char *merge, const char *to,
                   struct rfn_reduction *reduction)
{
    const struct rfn_trace_profile_options options = {.cluster = true, .forced = merge};
    struct rfn_diag diag = {.file_offset = -1};
    int error = rfn_reduce(archive, &options, to, true, reduction, &diag);
    if (error && !diag.text[0])
        abort();
    return error == 0;
}

/* Calls stay, and their parameters unless some are merged. */
static void check_record(const struct rfn_archive *archive, const struct rfn_record *record,
                         const struct rfn_record *was, bool all)
{
    const struct rfn_function_info *function = rfn_archive_function(archive, record->function);
    if (record->function != was->function || record->path != was->path ||
        record->error != was->error || memcmp(record->out, was->out, function->n_out * 8) != 0)
        abort();
    if (all && memcmp(record->in, was->in, function->n_in * 8) != 0)
        abort();
}

/* A few bytes can claim any number of events. */
static void check_stream(const struct rfn_archive *archive, const struct rfn_archive *before,
                         uint32_t stream, bool all)
{
    const struct rfn_record *record, *was;
    struct rfn_cursor *left, *right;
    if (rfn_cursor_open(before, stream, &right, NULL) < 0)
        return;
    if (rfn_cursor_open(archive, stream, &left, NULL) < 0)
        abort();
    for (int i = 0; i < EVENTS && rfn_cursor_next(right, &was, NULL) > 0; i++) {
        if (rfn_cursor_next(left, &record, NULL) <= 0)
            abort();
        check_record(archive, record, was, all);
    }
    rfn_cursor_close(left);
    rfn_cursor_close(right);
}

/* What was reduced, of an archive that was sound. */
static void check(const struct rfn_archive *before, const char *merge,
                  const struct rfn_reduction *reduction)
{
    struct rfn_archive *archive;
    struct rfn_reduction once_more;
    if (rfn_archive_verify(path, NULL, NULL, NULL) < 0 ||
        rfn_archive_open(path, &archive, NULL) < 0)
        abort();
    uint32_t n = rfn_archive_run(archive)->streams;
    if (n != rfn_archive_run(before)->streams ||
        (reduction->forced && !rfn_archive_run(archive)->forced))
        abort();
    for (uint32_t i = 0; i < n && i < STREAMS; i++)
        check_stream(archive, before, i, !reduction->forced);
    if (!reduce(archive, merge, again, &once_more))
        abort();
    rfn_archive_close(archive);
}

static void try_roles(const struct rfn_archive *archive, const char *merge, bool sound)
{
    struct rfn_reduction reduction;
    if (reduce(archive, merge, path, &reduction) && sound)
        check(archive, merge, &reduction);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const roles[] = {"peer", "root", "count", "exact", "comm", "place", "tag"};
    struct rfn_archive *archive;
    if (rfn_archive_open_memory(bytes, size, &archive, NULL) < 0)
        return 0;
    bool sound = rfn_archive_verify_open(archive, NULL, NULL, NULL) == 0;
    try_roles(archive, NULL, sound);
    try_roles(archive, "peer,root,count,exact,comm,place,tag", sound);
    try_roles(archive, roles[size % (sizeof roles / sizeof *roles)], sound);
    rfn_archive_close(archive);
    return 0;
}
