#include "analyze/steps.h"

#include "analyze/segments.h"
#include "base/grow.h"

#include <stdlib.h>

/* Representatives of a kind before it widens its threshold: people tell no more patterns apart. */
enum { MAX_PER_KIND = 64 };
/* What representatives may take. What is more irregular has no patterns. */
static const size_t max_bytes = 64 << 20;

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* A stream while it is read. */
struct reading {
    struct rfn_steps *steps;
    uint32_t stream;
    size_t first;      /* of its members */
    uint32_t *members; /* + 1, by context */
    uint32_t *sites;   /* of the segment's events */
    size_t members_capacity, sites_capacity;
    int64_t begin_ns, end_ns;
};

/* ---- the segments of a stream ---- */

static int find_sites(struct reading *reading, const struct rfn_stream_segment *segment)
{
    size_t n = segment->segment.n;
    RFN_TRY(RFN_GROW(reading->sites, reading->sites_capacity, n));
    for (size_t i = 0; i < n; i++) {
        int64_t site = rfn_site_of(
            &reading->steps->activities,
            (struct rfn_call_site){segment->functions[i], segment->paths[i]});
        if (site < 0)
            return RFN_E_NOMEM;
        reading->sites[i] = (uint32_t)site;
    }
    return 0;
}

static int member_of(struct reading *reading, const struct rfn_segment *segment,
                     struct rfn_step_member **member)
{
    struct rfn_steps *steps = reading->steps;
    RFN_TRY(
        RFN_GROW_ZEROED(reading->members, reading->members_capacity, segment->context + (size_t)1));
    uint32_t *number = &reading->members[segment->context];
    if (!*number) {
        RFN_TRY(RFN_GROW(steps->members, steps->members_capacity, steps->n_members + 1));
        steps->members[steps->n_members] = (struct rfn_step_member){
            .stream = reading->stream,
            .context = segment->context,
            .first = reading->sites[0],
            .last = reading->sites[segment->n - 1]};
        rfn_column_init(&steps->members[steps->n_members].column);
        *number = (uint32_t)++steps->n_members;
    }
    *member = &steps->members[*number - 1];
    return 0;
}

/* Its length. */
static int64_t note_end(struct reading *reading, const struct rfn_stream_segment *segment)
{
    int64_t length = segment->segment.vector[2 * segment->segment.n + 1];
    reading->end_ns = (int64_t)((uint64_t)segment->start_ns + (uint64_t)length);
    return length;
}

static int put_segment(struct reading *reading, const struct rfn_stream_segment *segment)
{
    struct rfn_step_member *member;
    struct rfn_segment put = segment->segment;
    uint32_t class_;
    RFN_TRY(find_sites(reading, segment));
    RFN_TRY(member_of(reading, &put, &member));
    put.context = 0;
    put.events = reading->sites;
    RFN_TRY(rfn_store_put(reading->steps->store, &put, &class_));
    member->ns = (int64_t)((uint64_t)member->ns + (uint64_t)note_end(reading, segment));
    member->n++;
    return rfn_column_append(&member->column, class_);
}

static void forget_members(struct rfn_steps *steps, size_t first)
{
    while (steps->n_members > first)
        rfn_column_release(&steps->members[--steps->n_members].column);
}

static int put_segments(struct reading *reading, struct rfn_segments *segments,
                        struct rfn_diag *diag)
{
    const struct rfn_stream_segment *segment;
    int more;
    for (bool started = false; (more = rfn_segments_next(segments, &segment, diag)) > 0;
         started = true) {
        if (!started)
            reading->begin_ns = reading->end_ns = segment->start_ns;
        if (segment->top)
            note_end(reading, segment);
        else if (put_segment(reading, segment) < 0)
            return no_memory(diag);
        if (rfn_store_stats(reading->steps->store).bytes > max_bytes) {
            reading->steps->too_irregular = true;
            return 0;
        }
    }
    return more;
}

/* ---- members that belong together ---- */

static int by_executions(const void *left, const void *right)
{
    const struct rfn_step_member *a = left, *b = right;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->stream < b->stream ? -1 : a->stream > b->stream;
}

/* Of a stream that has been read: leaves out what was executed once, and numbers the others. */
static int place_members(struct reading *reading)
{
    struct rfn_steps *steps = reading->steps;
    struct rfn_map places = RFN_MAP_INIT; /* executions -> members so far */
    size_t kept = reading->first;
    int error = 0;
    for (size_t i = reading->first; i < steps->n_members; i++) {
        struct rfn_step_member *member = &steps->members[i];
        if (member->n < 2 || error < 0) {
            rfn_column_release(&member->column);
            continue;
        }
        const uint64_t *before = rfn_map_get(&places, member->n);
        member->place = before ? (uint32_t)*before : 0;
        error = rfn_map_put(&places, member->n, member->place + (uint64_t)1);
        steps->members[kept++] = *member;
    }
    steps->n_members = kept;
    rfn_map_release(&places);
    return error;
}

static int read_stream(struct rfn_steps *steps, const struct rfn_archive *archive, uint32_t stream,
                       struct rfn_diag *diag)
{
    struct reading reading = {.steps = steps, .stream = stream, .first = steps->n_members};
    struct rfn_segments *segments;
    int error = rfn_segments_open(archive, stream, 1, &segments, diag);
    if (error < 0)
        return error;
    error = put_segments(&reading, segments, diag);
    rfn_segments_close(segments);
    if (error < 0)
        forget_members(steps, reading.first);
    else
        steps->span_ns += (double)reading.end_ns - (double)reading.begin_ns;
    if (!error && place_members(&reading) < 0)
        error = no_memory(diag);
    free(reading.members);
    free(reading.sites);
    return error;
}

int rfn_steps_read(struct rfn_steps *steps, const struct rfn_archive *archive,
                   const struct rfn_criterion *criterion, struct rfn_diag *diag)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    struct rfn_store_options options = {.criterion = *criterion, .max_per_kind = MAX_PER_KIND};
    *steps = (struct rfn_steps){.store = rfn_store_new(&options)};
    if (!steps->store)
        return no_memory(diag);
    for (uint32_t i = 0; run->times && i < run->streams && !steps->too_irregular; i++) {
        if (rfn_archive_stream(archive, i).readable &&
            read_stream(steps, archive, i, diag) == RFN_E_NOMEM)
            return RFN_E_NOMEM;
    }
    rfn_store_finish(steps->store);
    if (steps->too_irregular)
        forget_members(steps, 0);
    if (steps->n_members)
        qsort(steps->members, steps->n_members, sizeof *steps->members, by_executions);
    return 0;
}

void rfn_steps_release(struct rfn_steps *steps)
{
    forget_members(steps, 0);
    free(steps->members);
    rfn_store_free(steps->store);
    rfn_activities_release(&steps->activities);
}
