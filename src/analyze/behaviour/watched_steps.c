#include "analyze/behaviour/watched_steps.h"

#include "base/grow.h"

#include <stdlib.h>

/* Representatives of a kind before it widens its threshold: people tell no more patterns apart. */
enum { MAX_PER_KIND = 64 };
/* What representatives may take. What is more irregular has no patterns. */
static const size_t max_bytes = 64 << 20;
/* If not all steps are looked at, so many events are, and one in so many of all. A place may have
 * its part of that before its steps are thinned out. */
enum { ANYWAY = 8192, ONE_IN = 64, PARTS = 16 };

struct rfn_step_tally {
    uint64_t total;            /* executions so far, by the count of the place... */
    uint64_t n;                /* ... and segments */
    uint64_t parents, at_once; /* of the parent, when it was asked last; `total` at that time */
    uint32_t member;           /* + 1 */
};

/* Steps are looked at whose hash is at most `limit`. Multiples of the golden ratio, less their
 * whole part, lie evenly in every stretch of steps, and in every n-th step. */
static const uint64_t golden = 0x9e3779b97f4a7c15; /* of 2^64 */
struct rfn_step_sample {
    uint64_t limit, events; /* that were looked at; halved with the limit */
    uint32_t parent;        /* that of the place */
};

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* Of a damaged archive times may be any numbers. */
static int64_t difference(int64_t to, int64_t from)
{
    return (int64_t)((uint64_t)to - (uint64_t)from);
}

/* ---- which steps ---- */

static inline bool is_looked_at(const struct rfn_watched_steps *steps, uint32_t place,
                                uint64_t step)
{
    return step * golden <= steps->samples[place].limit;
}

static void note_events(struct rfn_watched_steps *steps, uint32_t place, size_t n)
{
    struct rfn_step_sample *sample = &steps->samples[place];
    sample->events += n;
    while (sample->events > steps->allowance && sample->limit > steps->share) {
        sample->limit = sample->limit / 2 > steps->share ? sample->limit / 2 : steps->share;
        sample->events /= 2;
    }
}

/* How much may be looked at follows from the number of all events. */
static void allow(struct rfn_watched_steps *steps, const struct rfn_archive *archive, bool all)
{
    double events = 0;
    for (uint32_t i = 0; i < steps->n_streams; i++)
        events += (double)rfn_archive_stream(archive, i).events;
    double most = ANYWAY + events / ONE_IN;
    steps->share = UINT64_MAX;
    steps->allowance = UINT64_MAX;
    if (all || events <= most)
        return;
    steps->allowance = (uint64_t)(most / PARTS);
    steps->share = (uint64_t)(most / events * 0x1p63) * 2;
}

/* ---- beginning and end ---- */

static int show_step(void *context, uint32_t number, const struct rfn_match_step *step);
static int end_stream(void *context, uint32_t number, int64_t ns);

int rfn_watched_steps_init(struct rfn_watched_steps *steps, const struct rfn_archive *archive,
                           const struct rfn_criterion *criterion, bool all,
                           struct rfn_activities *activities)
{
    struct rfn_representative_store_options options = {.criterion = *criterion,
                                                       .max_per_kind = MAX_PER_KIND};
    uint32_t n = rfn_archive_run(archive)->streams;
    *steps = (struct rfn_watched_steps){.activities = activities, .n_streams = n};
    steps->stepper = (struct rfn_match_stepper){
        .context = steps, .step = show_step, .end = end_stream};
    steps->store = rfn_representative_store_new(&options);
    steps->streams = calloc(n + (size_t)1, sizeof *steps->streams);
    if (!steps->store || !steps->streams)
        return RFN_E_NOMEM;
    allow(steps, archive, all);
    return 0;
}

static uint32_t streams_of_group(const struct rfn_watched_steps *steps,
                                 const struct rfn_archive *archive, uint32_t group)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < steps->n_streams; i++)
        n += rfn_archive_stream(archive, i).group == group;
    return n;
}

int rfn_watched_steps_open(struct rfn_watched_steps *steps, const struct rfn_archive *archive,
                           uint32_t stream, struct rfn_cursor *cursor)
{
    uint32_t group = rfn_archive_stream(archive, stream).group;
    RFN_TRY(rfn_cursor_cut_segments(cursor, 0, NULL));
    if (rfn_step_places_knows(&steps->places, group))
        return 0;
    return rfn_step_places_add(&steps->places, archive, group,
                               streams_of_group(steps, archive, group), cursor, steps->activities);
}

int rfn_watched_steps_choose(struct rfn_watched_steps *steps, const struct rfn_archive *archive)
{
    RFN_TRY(rfn_step_places_choose(&steps->places));
    size_t n = steps->places.n;
    steps->samples = calloc(n + 1, sizeof *steps->samples);
    if (!steps->samples)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        steps->samples[i] = (struct rfn_step_sample){.limit = UINT64_MAX,
                                                     .parent = steps->places.items[i].parent};
    for (uint32_t i = 0; i < steps->n_streams; i++) {
        uint32_t group = rfn_archive_stream(archive, i).group;
        if (!n || !rfn_step_places_knows(&steps->places, group))
            continue;
        steps->streams[i].group = &steps->places.groups[group];
        steps->streams[i].tallies = calloc(n, sizeof *steps->streams[i].tallies);
        if (!steps->streams[i].tallies)
            return RFN_E_NOMEM;
    }
    return 0;
}

static void forget_members(struct rfn_watched_steps *steps)
{
    while (steps->n_members)
        rfn_buf_release(&steps->members[--steps->n_members].steps);
}

void rfn_watched_steps_release(struct rfn_watched_steps *steps)
{
    forget_members(steps);
    free(steps->members);
    for (uint32_t i = 0; steps->streams && i < steps->n_streams; i++) {
        free(steps->streams[i].tallies);
        free(steps->streams[i].sites);
        free(steps->streams[i].vector);
        free(steps->streams[i].blames);
    }
    free(steps->streams);
    free(steps->samples);
    rfn_step_places_release(&steps->places);
    rfn_representative_store_free(steps->store);
}

/* ---- segments ---- */

/* A word for most: the class, whether there are blames, and whether the step is the next one. Else
 * by how much it is later. */
static int append_step(struct rfn_step_member *member, const struct rfn_step_stream *stream,
                       uint32_t class_)
{
    uint64_t later = stream->step - member->last_step;
    rfn_buf_varint(&member->steps,
                   (uint64_t)class_ << 2 | (stream->n_blames ? 2U : 0U) | (later != 1));
    if (later != 1)
        rfn_buf_varint(&member->steps, later);
    if (stream->n_blames)
        rfn_buf_varint(&member->steps, stream->n_blames);
    for (size_t i = 0; i < stream->n_blames; i++) {
        rfn_buf_varint(&member->steps, stream->blames[i].rank);
        rfn_buf_varint(&member->steps, (uint64_t)stream->blames[i].ns);
    }
    member->last_step = stream->step;
    return rfn_buf_status(&member->steps);
}

struct rfn_step_walk rfn_step_walk(const struct rfn_watched_steps *steps,
                                   const struct rfn_step_member *member)
{
    return (struct rfn_step_walk){.steps = steps,
                                  .left = rfn_reader_over(member->steps.data, member->steps.size),
                                  .place = member->place};
}

bool rfn_step_next(struct rfn_step_walk *walk)
{
    while (rfn_reader_left(&walk->left)) {
        uint64_t word = rfn_reader_varint(&walk->left);
        walk->step += word & 1 ? rfn_reader_varint(&walk->left) : 1;
        walk->class_ = (uint32_t)(word >> 2);
        walk->n_blames = word & 2 ? rfn_reader_varint(&walk->left) : 0;
        walk->blames = walk->left;
        for (uint64_t i = 0; i < walk->n_blames; i++)
            rfn_step_next_blame(&walk->left);
        if (is_looked_at(walk->steps, walk->place, walk->step)) {
            walk->class_ = rfn_representative_store_forward(walk->steps->store, 0, walk->class_);
            return true;
        }
    }
    return false;
}

struct rfn_step_blame rfn_step_next_blame(struct rfn_reader *blames)
{
    struct rfn_step_blame blame = {.rank = (uint32_t)rfn_reader_varint(blames)};
    blame.ns = (int64_t)rfn_reader_varint(blames);
    return blame;
}

int rfn_watched_steps_blame(struct rfn_watched_steps *steps, uint32_t number, uint32_t rank,
                            int64_t ns)
{
    struct rfn_step_stream *stream = &steps->streams[number];
    if (!stream->taking)
        return 0;
    for (size_t i = 0; i < stream->n_blames; i++) {
        if (stream->blames[i].rank == rank) {
            stream->blames[i].ns += ns;
            return 0;
        }
    }
    RFN_TRY(RFN_GROW(stream->blames, stream->blames_capacity, stream->n_blames + 1));
    stream->blames[stream->n_blames++] = (struct rfn_step_blame){rank, ns};
    return 0;
}

static int find_member(struct rfn_watched_steps *steps, uint32_t stream,
                       struct rfn_step_member **member)
{
    uint32_t place = steps->streams[stream].place;
    struct rfn_step_tally *tally = &steps->streams[stream].tallies[place];
    if (!tally->member) {
        RFN_TRY(RFN_GROW(steps->members, steps->members_capacity, steps->n_members + 1));
        steps->members[steps->n_members++] = (struct rfn_step_member){
            .stream = stream,
            .place = place,
            .first = steps->streams[stream].sites[0],
            .last = steps->streams[stream].sites[steps->streams[stream].n - 1]};
        tally->member = (uint32_t)steps->n_members;
    }
    *member = &steps->members[tally->member - 1];
    return 0;
}

__attribute__((noinline)) static int end_segment(struct rfn_watched_steps *steps, uint32_t number,
                                                 int64_t ns)
{
    struct rfn_step_stream *stream = &steps->streams[number];
    const struct rfn_segment put = {
        .events = stream->sites, .n = stream->n, .vector = stream->vector};
    struct rfn_step_member *member;
    uint32_t class_;
    stream->taking = false;
    if (steps->too_irregular)
        return 0;
    stream->vector[0] = 0;
    stream->vector[2 * stream->n + 1] = difference(ns, stream->start_ns);
    RFN_TRY(find_member(steps, number, &member));
    int put_as = rfn_representative_store_put(steps->store, &put, &class_);
    RFN_TRY(put_as);
    RFN_TRY(append_step(member, stream, class_));
    member->looked_at++;
    member->looked_at_ns = (int64_t)((uint64_t)member->looked_at_ns +
                                     (uint64_t)difference(ns, stream->start_ns));
    note_events(steps, member->place, stream->n);
    if (put_as != RFN_STORE_MATCHED)
        steps->too_irregular = rfn_representative_store_stats(steps->store).bytes > max_bytes;
    return 0;
}

/* How often the parent has been executed, and the place since. Not in line, either. */
__attribute__((noinline)) static uint64_t step_in_parent(struct rfn_step_stream *stream,
                                                         uint32_t place, uint32_t parent)
{
    struct rfn_step_tally *tally = &stream->tallies[place];
    uint64_t parents = stream->tallies[parent - 1].total;
    if (parents != tally->parents) {
        tally->parents = parents;
        tally->at_once = tally->total;
    }
    return parents << 32 | (uint32_t)(tally->total - tally->at_once);
}

static inline bool begin_step(struct rfn_watched_steps *steps, struct rfn_step_stream *stream,
                              uint32_t place, uint32_t by)
{
    struct rfn_step_tally *tally = &stream->tallies[place];
    const struct rfn_step_sample *sample = &steps->samples[place];
    uint64_t step = sample->parent ? step_in_parent(stream, place, sample->parent) : tally->total;
    tally->total += by;
    tally->n++;
    if (step * golden > sample->limit)
        return false;
    stream->place = place;
    stream->step = step;
    return true;
}

static bool begin_marked(struct rfn_watched_steps *steps, struct rfn_step_stream *stream,
                         uint32_t site)
{
    uint32_t place = site < steps->places.n_sites ? steps->places.of_mark[site] : 0;
    return place && begin_step(steps, stream, place - 1, 1);
}

/* Seldom: not in line, for the sake of the others. */
__attribute__((noinline)) static void count_others(struct rfn_step_stream *stream,
                                                   const struct rfn_step_context *of)
{
    const struct rfn_step_count *counts = stream->group->counts;
    for (uint32_t i = of->first; i < of->end; i++)
        stream->tallies[counts[i].place].total += counts[i].by;
}

static inline bool begin_context(struct rfn_watched_steps *steps, struct rfn_step_stream *stream,
                                 uint32_t context)
{
    const struct rfn_step_context *of = &stream->group->contexts[context];
    bool taking = of->place && begin_step(steps, stream, of->place - 1, of->by);
    if (__builtin_expect(of->first < of->end, 0))
        count_others(stream, of);
    return taking;
}

static bool begin_segment(struct rfn_watched_steps *steps, uint32_t number, uint32_t context,
                          uint32_t site, int64_t start_ns)
{
    struct rfn_step_stream *stream = &steps->streams[number];
    const struct rfn_step_group *group = stream->group;
    if (!group || context >= group->n_contexts) /* no places; a damaged archive */
        return false;
    if (!group->marked && !group->contexts) /* none of its calls is in a place */
        return false;
    if (!(group->marked ? begin_marked(steps, stream, site)
                        : begin_context(steps, stream, context)))
        return false;
    stream->taking = true;
    stream->start_ns = start_ns;
    stream->n = stream->n_blames = 0;
    return true;
}

/* Not in line: most segments are not looked at. */
__attribute__((noinline)) static int take(struct rfn_watched_steps *steps, uint32_t number,
                                          uint32_t site, int64_t enter_ns, int64_t exit_ns)
{
    struct rfn_step_stream *stream = &steps->streams[number];
    size_t n = stream->n;
    RFN_TRY(RFN_GROW(stream->sites, stream->sites_capacity, n + 1));
    RFN_TRY(RFN_GROW(stream->vector, stream->vector_capacity, 2 * n + 4));
    stream->sites[n] = site;
    stream->vector[2 * n + 1] = difference(enter_ns, stream->start_ns);
    stream->vector[2 * n + 2] = difference(exit_ns, stream->start_ns);
    stream->n++;
    return 0;
}

/* ---- the end ---- */

/* An event that begins a segment, or of one that is looked at: 1, it is. */
static int show_step(void *context, uint32_t number, const struct rfn_match_step *step)
{
    struct rfn_watched_steps *steps = context;
    if (step->begins && steps->streams[number].taking)
        RFN_TRY(end_segment(steps, number, step->before_ns));
    if (step->first)
        steps->streams[number].first_ns = step->enter_ns;
    if (step->begins && !begin_segment(steps, number, step->segment, step->site, step->before_ns))
        return 0;
    RFN_TRY(take(steps, number, step->site, step->enter_ns, step->exit_ns));
    return 1;
}

static int end_stream(void *context, uint32_t number, int64_t ns)
{
    struct rfn_watched_steps *steps = context;
    struct rfn_step_stream *stream = &steps->streams[number];
    steps->span_ns += (double)ns - (double)stream->first_ns;
    return stream->taking ? end_segment(steps, number, ns) : 0;
}

static int by_place(const void *left, const void *right)
{
    const struct rfn_step_member *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->stream < b->stream ? -1 : a->stream > b->stream;
}

void rfn_watched_steps_end(struct rfn_watched_steps *steps)
{
    for (size_t i = 0; i < steps->n_members; i++) {
        struct rfn_step_member *member = &steps->members[i];
        member->n = steps->streams[member->stream].tallies[member->place].n;
    }
    rfn_representative_store_finish(steps->store);
    if (steps->too_irregular)
        forget_members(steps);
    if (steps->n_members)
        qsort(steps->members, steps->n_members, sizeof *steps->members, by_place);
}

/* ---- reading an archive ---- */

/* What cannot be opened or cut is left out. */
static int open_stream(struct rfn_watched_steps *steps, const struct rfn_archive *archive,
                       uint32_t stream, struct rfn_cursor **cursor)
{
    struct rfn_diag diag;
    int error = rfn_archive_stream(archive, stream).readable
                    ? rfn_cursor_open(archive, stream, cursor, &diag)
                    : RFN_E_INCOMPLETE;
    if (error < 0)
        return error == RFN_E_NOMEM ? error : 0;
    error = rfn_watched_steps_open(steps, archive, stream, *cursor);
    if (error < 0)
        rfn_cursor_close(*cursor);
    return error < 0 ? error : 1;
}

static int plan(struct rfn_watched_steps *steps, const struct rfn_archive *archive)
{
    struct rfn_cursor *cursor;
    for (uint32_t i = 0; i < steps->n_streams; i++) {
        int opened = open_stream(steps, archive, i, &cursor);
        RFN_TRY(opened);
        if (opened)
            rfn_cursor_close(cursor);
    }
    return rfn_watched_steps_choose(steps, archive);
}

static int read_stream(struct rfn_watched_steps *steps, const struct rfn_archive *archive,
                       uint32_t number)
{
    const struct rfn_record *record = NULL;
    struct rfn_cursor *cursor;
    struct rfn_diag diag;
    int64_t before_ns = 0;
    int more = open_stream(steps, archive, number, &cursor), shown = 0;
    if (more <= 0)
        return more;
    while (shown >= 0 && !steps->too_irregular &&
           (more = rfn_cursor_next(cursor, &record, &diag)) > 0) {
        const bool first = record->index == 0;
        const struct rfn_call_site at = {record->function, record->path};
        int64_t site = rfn_site_of(steps->activities, at);
        const struct rfn_match_step step = {.site = (uint32_t)site,
                                            .begins = record->begins,
                                            .first = first,
                                            .segment = record->context,
                                            .before_ns = first ? record->enter_ns : before_ns,
                                            .enter_ns = record->enter_ns,
                                            .exit_ns = record->exit_ns};
        if (site < 0)
            shown = (int)site;
        else if (step.begins || steps->streams[number].taking)
            shown = show_step(steps, number, &step);
        before_ns = record->exit_ns;
    }
    rfn_cursor_close(cursor);
    RFN_TRY(shown);
    if (more == RFN_E_NOMEM)
        return more;
    return record ? end_stream(steps, number, before_ns) : 0;
}

static int read_all(struct rfn_watched_steps *steps, const struct rfn_archive *archive,
                    const struct rfn_criterion *criterion, struct rfn_activities *activities)
{
    RFN_TRY(rfn_watched_steps_init(steps, archive, criterion, true, activities));
    if (!rfn_archive_run(archive)->times)
        return 0;
    RFN_TRY(plan(steps, archive));
    for (uint32_t i = 0; i < steps->n_streams; i++)
        RFN_TRY(read_stream(steps, archive, i));
    rfn_watched_steps_end(steps);
    return 0;
}

int rfn_watched_steps_read(struct rfn_watched_steps *steps, const struct rfn_archive *archive,
                           const struct rfn_criterion *criterion, struct rfn_activities *activities,
                           struct rfn_diag *diag)
{
    int error = read_all(steps, archive, criterion, activities);
    return error < 0 ? no_memory(diag) : 0;
}
