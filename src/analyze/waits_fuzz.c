/* Opens bytes as an archive, and profiles and analyses it: words of events that no recorder would
 * have written must reach neither a crash nor a wrong sum of memory.
 *
 * Built with -DRFN_FUZZING like archive/archive_fuzz.c, which tells what that changes. Seeds are in
 * tests/fuzz/waits_fuzz: archives of programs in tests/programs. */
#include "archive/reader.h"
#include "refrain/profile.h"
#include "refrain/waits.h"

#include <stdlib.h>

/* A few bytes can claim any number of iterations, or of ranks. */
enum { EVENTS = 1 << 12, RANKS = 1 << 12 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static size_t events_of(const struct rfn_archive *archive, uint32_t stream)
{
    struct rfn_diag diag;
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    size_t n = 0;
    if (rfn_cursor_open(archive, stream, &cursor, &diag) < 0)
        return 0;
    while (n <= EVENTS && rfn_cursor_next(cursor, &record, &diag) > 0)
        n++;
    rfn_cursor_close(cursor);
    return n;
}

static bool is_small(const struct rfn_archive *archive)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    size_t n = 0;
    for (uint32_t i = 0; i < run->streams && n <= EVENTS; i++)
        n += events_of(archive, i);
    return n <= EVENTS && run->ranks <= RANKS;
}

/* What must hold whatever the file says. */
static void check(const struct rfn_waits *waits)
{
    int64_t explained = 0, by_pattern = 0;
    for (size_t i = 0; i < waits->n_causes; i++)
        explained += waits->causes[i].total_ns;
    for (int i = 0; i < RFN_PATTERN_COUNT; i++)
        by_pattern += waits->pattern_ns[i];
    if (explained != waits->total_ns - waits->unexplained_ns || by_pattern != waits->total_ns)
        abort();
    const struct rfn_matching *matching = &waits->matching;
    if (matching->matched + matching->unmatched_sends != matching->messages ||
        matching->unmatched_sends > matching->messages || waits->unexplained_ns < 0)
        abort();
}

static void analyse(const struct rfn_archive *archive, bool fix_clocks)
{
    struct rfn_diag diag = {.file_offset = -1};
    struct rfn_profile *profile = NULL;
    struct rfn_waits *waits = NULL;
    const struct rfn_waits_options options = {.fix_clocks = fix_clocks};
    if (rfn_profile_new(archive, NULL, NULL, &profile, &diag) >= 0)
        rfn_profile_free(profile);
    if (rfn_waits_new(archive, &options, NULL, NULL, &waits, &diag) < 0)
        return;
    check(waits);
    rfn_waits_free(waits);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_archive *archive;
    struct rfn_diag diag = {.file_offset = -1};
    if (rfn_archive_open_memory(bytes, size, &archive, &diag) < 0)
        return 0;
    if (is_small(archive))
        analyse(archive, size && bytes[size - 1] & 1);
    rfn_archive_close(archive);
    return 0;
}
