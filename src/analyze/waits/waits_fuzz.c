/* Opens bytes as an archive, profiles and analyses it and samples its messages: words of events
 * that no recorder would have written must reach neither a crash nor a wrong sum of memory.
 *
 * Built with -DRFN_FUZZING like archive/cursor/archive_fuzz.c, which tells what that changes. Seeds
 * are in tests/fuzz/waits_fuzz: archives of programs in tests/programs. */
#include "archive/read/reader.h"
#include "refrain/match.h"
#include "refrain/profile.h"
#include "refrain/sampling.h"
#include "refrain/waits.h"

#include <stdlib.h>

/* A few bytes can claim any number of iterations, or of ranks. */
enum { EVENTS = 1 << 12, RANKS = 1 << 12 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* How many events there are, and whether the profile, which adds up times as they are, can take
 * them: rfn_waits_new must live with any. */
struct extent {
    size_t events;
    bool believable;
};

static bool is_time(int64_t ns)
{
    return ns > -(INT64_C(1) << 48) && ns < INT64_C(1) << 48;
}

static void look_at(const struct rfn_archive *archive, uint32_t stream, struct extent *extent)
{
    struct rfn_diag diag;
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    if (rfn_cursor_open(archive, stream, &cursor, &diag) < 0)
        return;
    while (extent->events <= EVENTS && rfn_cursor_next(cursor, &record, &diag) > 0) {
        extent->events++;
        extent->believable &= is_time(record->enter_ns) && is_time(record->exit_ns) &&
                              is_time(record->inside_ns);
    }
    rfn_cursor_close(cursor);
}

static bool is_small(const struct rfn_archive *archive, struct extent *extent)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    for (uint32_t i = 0; i < run->streams && extent->events <= EVENTS; i++)
        look_at(archive, i, extent);
    return extent->events <= EVENTS && run->ranks <= RANKS;
}

static void check_row(const struct rfn_wait_row *row, uint32_t n_ranks)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n_ranks; i++)
        sum += row->ns_by_rank[i];
    if (sum != row->total_ns || row->max_ns > sum || row->count == 0)
        abort();
}

/* What must hold whatever the file says. */
static void check(const struct rfn_waits *waits)
{
    for (size_t i = 0; i < waits->n_rows; i++)
        check_row(&waits->rows[i], waits->n_ranks);
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

static int see(void *context, const struct rfn_match_event *event)
{
    (void)context;
    for (size_t i = 0; i < event->n_ops; i++) {
        if (event->ops[i].user)
            ++*event->ops[i].user;
    }
    return 0;
}

static int see_message(void *context, const struct rfn_match_message *message)
{
    (void)context;
    ++*message->user;
    return 0;
}

static int see_collective(void *context, const struct rfn_match_collective *collective)
{
    uint64_t *entered = context;
    for (uint32_t i = 0; i < collective->n_members; i++)
        *entered += collective->members[i].entered;
    return 0;
}

static int see_one_sided(void *context, const struct rfn_match_one_sided *call)
{
    (void)context;
    return call->waited_ns < 0 ? RFN_E_CORRUPT : 0;
}

static void walk(const struct rfn_archive *archive)
{
    struct rfn_diag diag = {.file_offset = -1};
    uint64_t entered = 0;
    const struct rfn_match_hooks hooks = {.context = &entered,
                                          .enter = see,
                                          .leave = see,
                                          .message = see_message,
                                          .collective = see_collective,
                                          .one_sided = see_one_sided};
    (void)rfn_match_run(archive, &hooks, NULL, &diag);
}

/* Of all messages each is a sample or is dropped. */
static void sample(const struct rfn_archive *archive)
{
    struct rfn_diag diag = {.file_offset = -1};
    struct rfn_samples samples;
    const struct rfn_sample_strategy every = {.kind = RFN_SAMPLE_RANDOM, .rate = 1};
    (void)rfn_samples_take(archive, &every, RFN_SAMPLE_WRITE, &samples, &diag);
    uint64_t accounted = samples.sampled;
    for (int why = 0; why < RFN_SAMPLE_DROPS; why++)
        accounted += samples.dropped[why];
    if (samples.rows && (accounted != samples.messages || samples.n_samples < samples.sampled))
        abort();
    rfn_samples_release(&samples);
}

static void analyse(const struct rfn_archive *archive, bool profiled, bool fix_clocks)
{
    struct rfn_diag diag = {.file_offset = -1};
    struct rfn_profile *profile = NULL;
    struct rfn_waits *waits = NULL;
    const struct rfn_waits_options options = {.fix_clocks = fix_clocks};
    if (profiled && rfn_profile_new(archive, NULL, NULL, &profile, &diag) >= 0)
        rfn_profile_free(profile);
    if (rfn_waits_new(archive, &options, NULL, NULL, &waits, &diag) < 0)
        return;
    check(waits);
    rfn_waits_free(waits);
    if (profiled)
        walk(archive);
    sample(archive);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_archive *archive;
    struct rfn_diag diag = {.file_offset = -1};
    if (rfn_archive_open_memory(bytes, size, &archive, &diag) < 0)
        return 0;
    struct extent extent = {.believable = true};
    if (is_small(archive, &extent))
        analyse(archive, extent.believable, size && bytes[size - 1] & 1);
    rfn_archive_close(archive);
    return 0;
}
