/* What archives of one run have in common. */
#include "archive/merge/merge_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *path_of(const struct rfn_archive_merge_input *input)
{
    return input->archive->chunks.path;
}

/* What META says. */
static int check_meta(const struct rfn_archive_merge *joining,
                      const struct rfn_archive_merge_input *other)
{
    const struct rfn_run *a = rfn_archive_run(joining->inputs->archive);
    const struct rfn_run *b = rfn_archive_run(other->archive);
    const struct {
        const char *what, *before, *here;
    } texts[] = {{"the programs are", a->program, b->program},
                 {"the commands are", a->command, b->command},
                 {"the MPIs are", a->mpi, b->mpi},
                 {"the MPIs are", a->flavour, b->flavour},
                 {"the volumes are", a->volume, b->volume},
                 {"times were reduced by", a->similar, b->similar},
                 {"times were reduced across ranks by", a->across, b->across},
                 {"the merged parameters are", a->forced, b->forced},
                 {"the assumptions are", a->predicted, b->predicted}};
    const struct {
        const char *what;
        uint64_t before, here;
    } numbers[] = {
        {"their numbers of ranks are", a->ranks, b->ranks},
        {"whether there are times:", a->times, b->times},
        {"whether every poll is an event:", a->all_polls, b->all_polls},
        {"whether recording began later:", a->start_off, b->start_off},
        {"outermost frames of call paths:", a->path_ends.outer, b->path_ends.outer},
        {"innermost frames of call paths:", a->path_ends.inner, b->path_ends.inner},
        {"least calls of a segment:", a->reduction.min_calls, b->reduction.min_calls},
        {"exact starts:", a->reduction.exact_starts, b->reduction.exact_starts},
        {"whether times are predicted:", a->predicted != NULL, b->predicted != NULL},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *before = texts[i].before ? texts[i].before : "";
        const char *here = texts[i].here ? texts[i].here : "";
        if (strcmp(before, here) != 0)
            return rfn_fail(joining->diag, RFN_E_UNSUPPORTED, -1, -1,
                            "%s and %s are not of one run: %s '%.80s' and '%.80s'",
                            path_of(joining->inputs), path_of(other), texts[i].what, before, here);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].before != numbers[i].here)
            return rfn_fail(joining->diag, RFN_E_UNSUPPORTED, -1, -1,
                            "%s and %s are not of one run: %s %" PRIu64 " and %" PRIu64,
                            path_of(joining->inputs), path_of(other), numbers[i].what,
                            numbers[i].before, numbers[i].here);
    }
    return 0;
}

/* ---- of which run ---- */

static uint64_t identity_of(const struct rfn_archive_merge *joining, size_t i)
{
    return rfn_archive_run(joining->inputs[i].archive)->identity;
}

/* "of one run are A, B": the files of the run that input i is of. */
static void add_files(const struct rfn_archive_merge *joining, size_t i, char *text, size_t size)
{
    const char *before = text[0] ? "; of another one are " : "of one run are ";
    size_t used = strlen(text);
    for (size_t j = i; j < joining->n_inputs && used + 1 < size; j++) {
        if (identity_of(joining, j) != identity_of(joining, i))
            continue;
        const int n = snprintf(text + used, size - used, "%s%s", before,
                               path_of(&joining->inputs[j]));
        used += n > 0 ? (size_t)n : 0;
        before = ", ";
    }
}

static bool is_first_of_run(const struct rfn_archive_merge *joining, size_t i)
{
    const uint64_t identity = identity_of(joining, i);
    for (size_t j = 0; j < i; j++) {
        if (identity_of(joining, j) == identity)
            return false;
    }
    return identity != 0;
}

/* Files of earlier versions do not tell of which run they are. */
static int check_identity(const struct rfn_archive_merge *joining)
{
    char text[sizeof joining->diag->text - 64] = "";
    size_t runs = 0;
    for (size_t i = 0; i < joining->n_inputs; i++)
        runs += is_first_of_run(joining, i);
    if (runs < 2)
        return 0;
    for (size_t i = 0; i < joining->n_inputs; i++) {
        if (is_first_of_run(joining, i))
            add_files(joining, i, text, sizeof text);
    }
    return rfn_fail(joining->diag, RFN_E_UNSUPPORTED, -1, -1, "the files are of %zu runs: %s", runs,
                    text);
}

/* ---- when they were recorded ---- */

/* Clocks of different hosts are not expected to agree any better. */
#define APART_NS UINT64_C(10000000000)

/* CLOCK_REALTIME, ns. */
struct period {
    uint64_t begin, end;
    bool known;
    const char *host;
};

/* What the clock of TIMING or PROFILE says, of the stream whose times come first in the file; times
 * since the start of the run say nothing. */
static int find_period(const struct rfn_archive_merge *joining,
                       const struct rfn_archive_merge_input *input, struct period *period)
{
    const struct rfn_archive *archive = input->archive;
    *period = (struct period){.host = rfn_archive_stream(archive, 0).host};
    int64_t entry = rfn_reduced_timing_find(archive, 0);
    if (entry < 0)
        entry = rfn_timing_find(archive, 0);
    if (entry < 0 || archive->chunks.entries[entry].type == RFN_CHUNK_PROFILES)
        return 0;
    struct rfn_payload payload;
    struct rfn_payload_reader scan;
    RFN_TRY(rfn_chunks_load_events(&archive->chunks, &archive->chunks.entries[entry], &payload,
                                   joining->diag));
    rfn_payload_reader_begin(&scan, &payload);
    uint64_t flags = rfn_payload_reader_varint(&scan);
    rfn_reader_u8(rfn_payload_reader_next(&scan, 1)); /* the kind of clock */
    uint64_t n = flags & RFN_TIMING_TIMES
                     ? rfn_payload_reader_limited(&scan, rfn_payload_reader_left(&scan) / 24)
                     : 0;
    for (uint64_t i = 0; i < n && !rfn_payload_reader_failed(&scan); i++) {
        struct rfn_reader *pair = rfn_payload_reader_next(&scan, 24);
        rfn_reader_bytes(pair, 16); /* quanta, monotonic time */
        period->end = rfn_reader_u64(pair);
        period->begin = i == 0 ? period->end : period->begin;
    }
    period->known = n > 1 && !rfn_payload_reader_failed(&scan);
    rfn_payload_release(&payload);
    return 0;
}

/* Ranks of one run meet in MPI_Init: the last one to begin did before the first one ended. Parts of
 * one archive have the same start in META. */
static int check_periods(const struct rfn_archive_merge *joining)
{
    struct period last = {0}, first = {0}, period; /* the last to begin, the first to end */
    const struct rfn_archive_merge_input *begins = NULL, *ends = NULL;
    for (size_t i = 0; i < joining->n_inputs; i++) {
        const struct rfn_archive_merge_input *input = &joining->inputs[i];
        RFN_TRY(find_period(joining, input, &period));
        if (!period.known)
            continue;
        if (!begins || period.begin > last.begin) {
            last = period;
            begins = input;
        }
        if (!ends || period.end < first.end) {
            first = period;
            ends = input;
        }
    }
    if (!begins || rfn_archive_run(begins->archive)->start_realtime_ns ==
                       rfn_archive_run(ends->archive)->start_realtime_ns)
        return 0;
    uint64_t end = first.end + (strcmp(last.host, first.host) == 0 ? 0 : APART_NS);
    if ((int64_t)(last.begin - end) <= 0)
        return 0;
    return rfn_fail(joining->diag, RFN_E_UNSUPPORTED, -1, -1,
                    "%s and %s are not of one run: one was recorded when the other had ended",
                    path_of(begins), path_of(ends));
}

/* A file that was cut short may lack anything. */
static int check_whole(const struct rfn_archive_merge *joining,
                       const struct rfn_archive_merge_input *input)
{
    const struct rfn_archive *archive = input->archive;
    if (archive->chunks.minor > RFN_FORMAT_MINOR)
        return rfn_fail(joining->diag, RFN_E_VERSION, -1, -1,
                        "%s was written by a later version of Refrain: read it with that version",
                        path_of(input));
    if (!archive->complete)
        return rfn_fail(joining->diag, archive->chunks.fault, -1, -1,
                        "%s: %s; only whole archives can be taken apart and joined", path_of(input),
                        archive->why);
    if (rfn_chunks_know(&archive->chunks, RFN_CHUNK_AGGREGATED) &&
        rfn_chunks_find(&archive->chunks, RFN_CHUNK_AGGREGATED, 0) >= 0)
        return rfn_fail(joining->diag, RFN_E_UNSUPPORTED, -1, -1,
                        "%s has not all calls (refrain reduce --keep-predictions): take apart or "
                        "join the full archive",
                        path_of(input));
    return 0;
}

int rfn_archive_merge_check(const struct rfn_archive_merge *joining)
{
    RFN_TRY(check_identity(joining));
    for (size_t i = 0; i < joining->n_inputs; i++) {
        RFN_TRY(check_whole(joining, &joining->inputs[i]));
        RFN_TRY(check_meta(joining, &joining->inputs[i]));
    }
    return check_periods(joining);
}
