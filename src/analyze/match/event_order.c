#include "analyze/match/event_order.h"

#include <stdlib.h>
#include <string.h>

/* Stamps come from a file; none is believed to be later (104 days). */
#define STAMP_MAX (INT64_C(1) << 53)

enum { LINE = 64 }; /* of the cache */

_Static_assert(sizeof(void *) != 8 || sizeof(struct rfn_event_order_stream) == 2 * LINE,
               "a stream has grown by a line");

/* Streams by what their current event does next, the earliest first; ties by number. It leaves at
 * its exit; where it has not entered yet, it enters at its enter. */
struct entry {
    int64_t ns;
    uint32_t stream;
};

/* A tournament: leaf `stream` is at nodes[size + stream], and each node has the earlier one of
 * those at 2 * i and 2 * i + 1, node 1 the earliest of all. A change takes the same steps whatever
 * the times are, for where it would end nobody could predict. As long as what the earliest stream
 * does next is earlier than what all others do, there is none: its time is here, not in its leaf.
 */
struct tournament {
    struct entry earliest, second; /* second: the earliest of the others */
    struct entry *nodes;
    size_t size; /* a power of two */
};

/* The time of streams that are not there. */
#define NEVER (INT64_MAX / 2)

/* As a heap, few. */
struct heap {
    struct entry *entries;
    size_t n;
    uint32_t *places; /* by stream: where it is, + 1 */
};

/* The leaving event is to be shown again. */
struct again {
    bool *stays;      /* by stream: its event is shown again later; it is ready then */
    int64_t shown_ns; /* when the leaving event is shown */
    bool asked;       /* it is to be, and has not left: */
    int64_t ns;       /* then */
};

/* Streams that could not be read to their end. */
struct losses {
    uint32_t n, told_of; /* the one that the error is of */
    int error;
    struct rfn_diag diag, scratch;
};

struct progress {
    uint64_t left, told; /* events that have left; at the last call of the hook */
    double events;
};

struct rfn_event_order {
    const struct rfn_archive *archive;
    struct rfn_event_order_hooks hooks;
    struct rfn_event_order_stream *streams;
    uint32_t n_streams;
    bool times;
    bool batches;
    struct tournament ready;
    struct heap parked;
    uint32_t *woken; /* while a hook runs the heap must stay as it is */
    size_t n_woken;
    int64_t turn_ns; /* when another stream than the one that moves has its turn; INT64_MIN: perhaps
                        at once, for it has been woken */
    int64_t earliest_ns, latest_ns; /* bounds of stamps */
    int64_t start_ns;
    struct again again;
    struct progress progress;
    struct losses losses;
};

/* ---- streams that are ready ---- */

static inline bool earlier(const struct entry *a, const struct entry *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a->stream < b->stream;
}

static int make_tournament(struct tournament *ready, uint32_t n_streams)
{
    for (ready->size = 1; ready->size < n_streams;)
        ready->size *= 2;
    ready->nodes = malloc(2 * ready->size * sizeof *ready->nodes);
    for (size_t i = 0; ready->nodes && i < 2 * ready->size; i++)
        ready->nodes[i] = (struct entry){NEVER, 0};
    return ready->nodes ? 0 : RFN_E_NOMEM;
}

/* The time of a stream; NEVER: it is not ready. Of equal ones the left one is earlier. */
static inline void set_leaf(struct tournament *ready, int64_t ns, uint32_t stream)
{
    struct entry *nodes = ready->nodes;
    struct entry first = {ns, stream};
    size_t at = ready->size + stream;
    for (nodes[at] = first; at > 1; nodes[at] = first) {
        const struct entry other = nodes[at ^ 1];
        bool behind = other.ns < first.ns + (int64_t)(at & 1);
        first.ns = behind ? other.ns : first.ns;
        first.stream = behind ? other.stream : first.stream;
        at /= 2;
    }
}

/* All leaves are right: who is the earliest, and who comes next among those that it has beaten. */
static inline void rank_first(struct tournament *ready)
{
    struct entry second = {NEVER, 0};
    ready->earliest = ready->nodes[1];
    for (size_t at = ready->size + ready->earliest.stream; at > 1; at /= 2) {
        const struct entry other = ready->nodes[at ^ 1];
        bool behind = other.ns < second.ns + (int64_t)(at & 1);
        second.ns = behind ? other.ns : second.ns;
        second.stream = behind ? other.stream : second.stream;
    }
    ready->second = second;
}

/* A stream that was not ready is. */
static inline void set_ready(struct tournament *ready, int64_t ns, uint32_t stream)
{
    const struct entry entry = {ns, stream};
    if (stream == ready->earliest.stream) {
        ready->earliest.ns = ns;
        return;
    }
    set_leaf(ready, ns, stream);
    if (earlier(&entry, &ready->second))
        ready->second = entry;
}

/* Which one is the earliest after a change. Returns whether it is another one. */
static inline bool find_earliest(struct tournament *ready)
{
    if (earlier(&ready->earliest, &ready->second))
        return false;
    set_leaf(ready, ready->earliest.ns, ready->earliest.stream);
    rank_first(ready);
    return true;
}

/* ---- those that are parked: room for every stream is made at the beginning ---- */

static inline void put(struct heap *heap, size_t at, struct entry entry)
{
    heap->entries[at] = entry;
    heap->places[entry.stream] = (uint32_t)at + 1;
}

static void sift_down(struct heap *heap, size_t at, struct entry entry)
{
    for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
        if (child + 1 < heap->n && earlier(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (!earlier(&heap->entries[child], &entry))
            break;
        put(heap, at, heap->entries[child]);
    }
    put(heap, at, entry);
}

/* Up from `at` as far as it goes, else down. */
static void sift(struct heap *heap, size_t at, struct entry entry)
{
    for (size_t parent; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (!earlier(&entry, &heap->entries[parent]))
            break;
        put(heap, at, heap->entries[parent]);
    }
    sift_down(heap, at, entry);
}

static void push(struct heap *heap, int64_t ns, uint32_t stream)
{
    sift(heap, heap->n++, (struct entry){ns, stream});
}

static void take_out(struct heap *heap, uint32_t stream)
{
    size_t at = heap->places[stream] - 1;
    struct entry last = heap->entries[--heap->n];
    heap->places[stream] = 0;
    if (at < heap->n)
        sift(heap, at, last);
}

/* ---- clocks ---- */

/* Within the bounds the times of all streams can be added up. */
static void set_bounds(struct rfn_event_order *replay)
{
    int64_t share = INT64_MAX / ((int64_t)replay->n_streams + 1) / 8;
    replay->latest_ns = share * 7 < STAMP_MAX ? share * 7 : STAMP_MAX;
    replay->earliest_ns = -replay->latest_ns / 7;
}

/* The moved time of a recorded stamp; stamps are asked for in order. In a sound file they ascend.
 */
static int64_t moved(const struct rfn_event_order *replay, struct rfn_event_order_stream *stream,
                     int64_t recorded_ns)
{
    if (recorded_ns < stream->clock.recorded_ns)
        recorded_ns = stream->clock.recorded_ns;
    if (recorded_ns > replay->latest_ns)
        recorded_ns = replay->latest_ns;
    if (stream->clock.shift_ns) {
        int64_t less = (recorded_ns - stream->clock.recorded_ns) / 100;
        stream->clock.shift_ns -= less < stream->clock.shift_ns ? less : stream->clock.shift_ns;
    }
    stream->clock.recorded_ns = recorded_ns;
    int64_t ns = recorded_ns + stream->clock.shift_ns;
    return ns < replay->latest_ns ? ns : replay->latest_ns;
}

void rfn_event_order_put_off(struct rfn_event_order *replay, uint32_t stream, int64_t ns)
{
    struct rfn_event_order_stream *of = &replay->streams[stream];
    of->clock.shift_ns = ns - of->clock.recorded_ns;
    of->exit_ns = ns;
    replay->again.asked = true;
    replay->again.ns = ns;
}

bool rfn_event_order_ask_again(struct rfn_event_order *replay, uint32_t stream, int64_t ns)
{
    if (ns <= replay->again.shown_ns || ns >= NEVER)
        return false;
    replay->again.asked = true;
    replay->again.ns = ns;
    replay->again.stays[stream] = true;
    return true;
}

/* ---- streams ---- */

static void close_stream(struct rfn_event_order_stream *stream)
{
    if (stream->open)
        rfn_cursor_close(stream->cursor);
    stream->open = false;
}

/* Of the lowest stream it is told why, whichever comes first in time. */
static void lose(struct rfn_event_order *replay, uint32_t number, int error,
                 const struct rfn_diag *diag)
{
    if (!replay->losses.n++ || number < replay->losses.told_of) {
        replay->losses.told_of = number;
        replay->losses.error = error;
        replay->losses.diag = *diag;
    }
}

/* The times of the event that has been fetched. sound: it is known that they are in order. */
static inline void set_times(const struct rfn_event_order *replay,
                             struct rfn_event_order_stream *stream, int64_t enter_ns,
                             int64_t exit_ns, bool sound)
{
    stream->before_ns = stream->exit_ns;
    sound = sound || (enter_ns >= stream->clock.recorded_ns && exit_ns >= enter_ns &&
                      exit_ns <= replay->latest_ns);
    if (sound && !stream->clock.shift_ns) {
        stream->enter_ns = stream->from_ns = enter_ns;
        stream->exit_ns = stream->to_ns = stream->clock.recorded_ns = exit_ns;
        return;
    }
    stream->enter_ns = moved(replay, stream, enter_ns);
    stream->from_ns = stream->clock.recorded_ns;
    stream->exit_ns = moved(replay, stream, exit_ns);
    stream->to_ns = stream->clock.recorded_ns;
}

/* The event at a place of the iteration is the stream's next one. */
static void next_of_batch(const struct rfn_event_order *replay,
                          struct rfn_event_order_stream *stream, uint32_t place)
{
    struct rfn_batch *batch = stream->batch;
    if (stream->together && !stream->clock.shift_ns) {
        rfn_event_order_go_on(stream, place);
        return;
    }
    const struct rfn_batch_time *time = &batch->times[batch->taken];
    int64_t enter_ns = stream->clock.batch_ns + time->gap_ns;
    stream->clock.batch_ns = enter_ns + time->duration_ns;
    stream->record = batch->records[place];
    stream->begins = !place && (batch->taken ? batch->all_begin : batch->begins);
    stream->place = place;
    batch->taken++;
    set_times(replay, stream, enter_ns, stream->clock.batch_ns, stream->together);
}

/* Whether a batch's times need not be mended (set_times): then the recorded ones hold as they are.
 */
static bool in_order(const struct rfn_event_order *replay,
                     const struct rfn_event_order_stream *stream, const struct rfn_batch *batch)
{
    return batch->before_ns >= stream->clock.recorded_ns && batch->end_ns <= replay->latest_ns;
}

static int end_batch(struct rfn_event_order *replay, uint32_t number)
{
    struct rfn_event_order_stream *stream = &replay->streams[number];
    RFN_TRY(replay->hooks.end_batch(replay->hooks.context, number, stream));
    replay->progress.left += stream->batch->taken;
    stream->batch = NULL;
    stream->together = false;
    return 0;
}

/* The stream's next batch begins, if there is one: 1; 0: there is none; or an error. */
static int begin_batch(struct rfn_event_order *replay, uint32_t number)
{
    struct rfn_event_order_stream *stream = &replay->streams[number];
    struct rfn_batch *batch;
    if (!replay->batches)
        return 0;
    int got = rfn_cursor_next_batch(stream->cursor, &batch, &replay->losses.scratch);
    if (got <= 0)
        return got;
    stream->batch = batch;
    stream->together = in_order(replay, stream, batch);
    stream->clock.batch_ns = batch->before_ns;
    stream->context = batch->context;
    next_of_batch(replay, stream, 0);
    RFN_TRY(replay->hooks.begin_batch(replay->hooks.context, number, stream));
    return 1;
}

/* The next event of a stream: 1, 0 if there is none, RFN_E_NOMEM. */
static int fetch(struct rfn_event_order *replay, uint32_t number)
{
    struct rfn_event_order_stream *stream = &replay->streams[number];
    const struct rfn_batch *batch = stream->batch;
    if (batch && rfn_event_order_has_more(stream)) {
        next_of_batch(replay, stream, stream->place + 1 < batch->width ? stream->place + 1 : 0);
        return 1;
    }
    if (batch)
        RFN_TRY(end_batch(replay, number));
    int got = begin_batch(replay, number);
    if (got > 0)
        return got;
    if (!got)
        got = rfn_cursor_next(stream->cursor, &stream->record, &replay->losses.scratch);
    if (got == RFN_E_NOMEM)
        return got;
    if (got < 0)
        lose(replay, number, got, &replay->losses.scratch);
    if (got <= 0) {
        close_stream(stream);
        return 0;
    }
    const struct rfn_record *record = stream->record;
    stream->begins = record->begins;
    stream->context = record->context;
    if (replay->times) {
        set_times(replay, stream, record->enter_ns, record->exit_ns, false);
        return 1;
    }
    /* Without times streams take turns, so that none runs ahead of those that it sends to. */
    int64_t turn = (int64_t)(record->index & (STAMP_MAX - 1));
    set_times(replay, stream, turn, turn, false);
    stream->from_ns = stream->to_ns = 0;
    return 1;
}

/* Whether this stream, if there is one, is of that rank. Those of a rank lie side by side. */
static bool has_rank(const struct rfn_event_order *replay, uint32_t stream, uint32_t rank)
{
    return stream < replay->n_streams && rfn_archive_stream(replay->archive, stream).rank == rank;
}

static int open_stream(struct rfn_event_order *replay, uint32_t number)
{
    struct rfn_event_order_stream *stream = &replay->streams[number];
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_stream_info info = rfn_archive_stream(replay->archive, number);
    stream->rank = info.rank;
    stream->thread = info.thread;
    stream->clock.recorded_ns = replay->earliest_ns;
    stream->several = has_rank(replay, number - 1, info.rank) ||
                      has_rank(replay, number + 1, info.rank);
    replay->progress.events += (double)info.events;
    if (info.rank >= rfn_archive_run(replay->archive)->ranks)
        return 0;
    int error = rfn_cursor_open(replay->archive, number, &stream->cursor, &diag);
    if (error == RFN_E_NOMEM)
        return error;
    if (error < 0)
        lose(replay, number, error, &diag);
    stream->open = error >= 0;
    return 0;
}

/* Each begins with a line of the cache. */
static struct rfn_event_order_stream *new_streams(size_t n)
{
    struct rfn_event_order_stream *streams = aligned_alloc(LINE, n * sizeof *streams);
    if (streams)
        memset(streams, 0, n * sizeof *streams);
    return streams;
}

int rfn_event_order_new(const struct rfn_archive *archive,
                        const struct rfn_event_order_hooks *hooks, struct rfn_event_order **replay)
{
    uint32_t n = rfn_archive_run(archive)->streams;
    struct rfn_event_order *made = calloc(1, sizeof *made);
    if (!made)
        return RFN_E_NOMEM;
    made->archive = archive;
    made->hooks = *hooks;
    made->n_streams = n;
    made->times = rfn_archive_run(archive)->times;
    made->batches = made->times && hooks->end_batch;
    set_bounds(made);
    made->streams = new_streams((size_t)n + 1);
    made->parked.entries = calloc((size_t)n + 1, sizeof *made->parked.entries);
    made->parked.places = calloc((size_t)n + 1, sizeof *made->parked.places);
    made->woken = calloc((size_t)n + 1, sizeof *made->woken);
    made->again.stays = calloc((size_t)n + 1, sizeof *made->again.stays);
    bool all = made->streams && made->parked.entries && made->parked.places && made->woken &&
               made->again.stays;
    int error = all ? make_tournament(&made->ready, n) : RFN_E_NOMEM;
    for (uint32_t i = 0; i < n && !error; i++)
        error = open_stream(made, i);
    if (error < 0) {
        rfn_event_order_free(made);
        return error;
    }
    *replay = made;
    return 0;
}

void rfn_event_order_free(struct rfn_event_order *replay)
{
    if (!replay)
        return;
    for (uint32_t i = 0; replay->streams && i < replay->n_streams; i++)
        close_stream(&replay->streams[i]);
    free(replay->streams);
    free(replay->ready.nodes);
    free(replay->parked.entries);
    free(replay->parked.places);
    free(replay->woken);
    free(replay->again.stays);
    free(replay);
}

const struct rfn_event_order_stream *rfn_event_order_stream(const struct rfn_event_order *replay,
                                                            uint32_t stream)
{
    return &replay->streams[stream];
}

/* The number of a rank's first stream, or of the one behind those of lower ranks. */
static uint32_t first_of(const struct rfn_event_order *replay, uint32_t rank)
{
    uint32_t from = 0, to = replay->n_streams;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (replay->streams[middle].rank < rank)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

bool rfn_event_order_rank(const struct rfn_event_order *replay, uint32_t rank, int64_t *exit_ns,
                          int64_t *off_ns)
{
    *exit_ns = INT64_MAX;
    *off_ns = 0;
    for (uint32_t i = first_of(replay, rank); has_rank(replay, i, rank); i++) {
        const struct rfn_event_order_stream *stream = &replay->streams[i];
        if (!stream->open)
            continue;
        int64_t off = rfn_cursor_off_ns(stream->cursor);
        *exit_ns = stream->exit_ns < *exit_ns ? stream->exit_ns : *exit_ns;
        *off_ns = off > *off_ns ? off : *off_ns;
    }
    return *exit_ns != INT64_MAX;
}

int64_t rfn_event_order_start_ns(const struct rfn_event_order *replay)
{
    return replay->start_ns;
}

uint32_t rfn_event_order_lost(const struct rfn_event_order *replay, int *error,
                              struct rfn_diag *diag)
{
    *error = replay->losses.error;
    *diag = replay->losses.diag;
    return replay->losses.n;
}

/* ---- the run ---- */

void rfn_event_order_wake(struct rfn_event_order *replay, uint32_t stream)
{
    if (replay->again.stays[stream])
        replay->again.stays[stream] = false;
    else if (replay->parked.places[stream])
        take_out(&replay->parked, stream);
    else
        return;
    replay->woken[replay->n_woken++] = stream;
    replay->turn_ns = INT64_MIN;
}

const int64_t *rfn_event_order_turn_ns(const struct rfn_event_order *replay)
{
    return &replay->turn_ns;
}

/* After hooks: those that they woke may leave again. */
static inline void take_woken(struct rfn_event_order *replay)
{
    while (__builtin_expect(replay->n_woken > 0, 0)) {
        uint32_t number = replay->woken[--replay->n_woken];
        set_ready(&replay->ready, replay->streams[number].exit_ns, number);
    }
}

/* When it is the turn of a stream that has just been shown leaving or entering. */
static int64_t next_ns(const struct rfn_event_order *replay, uint32_t number)
{
    const struct rfn_event_order_stream *stream = &replay->streams[number];
    if (replay->again.asked)
        return replay->again.ns;
    return stream->held ? stream->enter_ns : stream->exit_ns;
}

/* Events of a batch are counted at its end. */
static void has_left(struct rfn_event_order *replay, struct rfn_event_order_stream *stream)
{
    stream->first = false;
    replay->progress.left += !stream->batch;
}

/* An event that has been fetched enters, at once or, in a process with several threads, when it is
 * its turn. RFN_REPLAY_LEFT: it has left, too. */
static int arrive(struct rfn_event_order *replay, uint32_t number)
{
    struct rfn_event_order_stream *stream = &replay->streams[number];
    stream->held = stream->several;
    if (stream->held)
        return 0;
    int result = replay->hooks.enter(replay->hooks.context, number, stream);
    if (result == RFN_REPLAY_LEFT)
        has_left(replay, stream);
    return result;
}

static int ended(struct rfn_event_order *replay, uint32_t number)
{
    return replay->hooks.end ? replay->hooks.end(replay->hooks.context, number) : 0;
}

/* The stream goes on to its next event that has to wait for its turn. Returns whether there is
 * one. */
static int go_on(struct rfn_event_order *replay, uint32_t number)
{
    int result;
    do {
        RFN_TRY(result = fetch(replay, number));
        if (!result)
            return ended(replay, number);
        RFN_TRY(result = arrive(replay, number));
    } while (result == RFN_REPLAY_LEFT);
    return 1;
}

/* The current event of a stream is shown leaving; the next ones arrive. Returns whether the stream
 * has a current event that is not parked; it is the caller's to make it ready. */
static int leave(struct rfn_event_order *replay, uint32_t number, bool forced)
{
    struct rfn_event_order_stream *stream = &replay->streams[number];
    int result = replay->hooks.leave(replay->hooks.context, number, stream, forced);
    if (result < 0 || replay->again.asked)
        return result < 0 ? result : 1;
    if (result == RFN_REPLAY_PARK) {
        push(&replay->parked, stream->exit_ns, number);
        return 0;
    }
    has_left(replay, stream);
    return go_on(replay, number);
}

static int enter_held(struct rfn_event_order *replay, uint32_t number)
{
    struct rfn_event_order_stream *stream = &replay->streams[number];
    stream->held = false;
    int result = replay->hooks.enter(replay->hooks.context, number, stream);
    if (result != RFN_REPLAY_LEFT)
        return result < 0 ? result : 1;
    has_left(replay, stream);
    return go_on(replay, number);
}

static int move_earliest(struct rfn_event_order *replay)
{
    uint32_t number = replay->ready.earliest.stream;
    const struct rfn_event_order_stream *stream = &replay->streams[number];
    replay->turn_ns = replay->ready.second.ns;
    replay->again.shown_ns = replay->ready.earliest.ns;
    replay->again.asked = false;
    replay->again.stays[number] = false;
    int stays = stream->held ? enter_held(replay, number) : leave(replay, number, false);
    replay->ready.earliest.ns = stays > 0 ? next_ns(replay, number) : NEVER;
    return stays;
}

/* When all wait for something: the earliest leaves without. */
static int leave_forced(struct rfn_event_order *replay)
{
    uint32_t number = replay->parked.entries[0].stream;
    replay->turn_ns = INT64_MIN;
    replay->again.shown_ns = NEVER; /* not again */
    replay->again.asked = false;
    take_out(&replay->parked, number);
    int stays = leave(replay, number, true);
    if (stays > 0)
        set_ready(&replay->ready, next_ns(replay, number), number);
    return stays;
}

static int begin(struct rfn_event_order *replay)
{
    bool any = false;
    replay->turn_ns = INT64_MIN;
    for (uint32_t i = 0; i < replay->n_streams; i++) {
        struct rfn_event_order_stream *stream = &replay->streams[i];
        if (!stream->open)
            continue;
        RFN_TRY(fetch(replay, i));
        if (!stream->open) {
            RFN_TRY(ended(replay, i));
            continue;
        }
        stream->first = true;
        stream->before_ns = stream->enter_ns;
        if (!any || stream->enter_ns < replay->start_ns)
            replay->start_ns = stream->enter_ns;
        any = true;
    }
    for (uint32_t i = 0; i < replay->n_streams; i++) {
        if (!replay->streams[i].open)
            continue;
        int result = arrive(replay, i);
        if (result == RFN_REPLAY_LEFT)
            result = go_on(replay, i);
        RFN_TRY(result);
        if (replay->streams[i].open)
            set_leaf(&replay->ready, next_ns(replay, i), i);
    }
    rank_first(&replay->ready);
    return 0;
}

/* What the stream needs that comes next, unless the earliest one stays so, is brought near. */
static inline void look_ahead(const struct rfn_event_order *replay)
{
    uint32_t next = replay->ready.second.stream;
    const char *stream = (const char *)&replay->streams[next];
    for (size_t at = 0; at < sizeof *replay->streams; at += LINE)
        __builtin_prefetch(stream + at, 1);
    if (replay->hooks.ahead)
        replay->hooks.ahead(replay->hooks.context, next);
}

static void tell(struct rfn_event_order *replay)
{
    if (replay->progress.left - replay->progress.told < 65536 || !replay->hooks.progress)
        return;
    replay->progress.told = replay->progress.left;
    replay->hooks.progress(replay->hooks.progress_context,
                           (double)replay->progress.left / replay->progress.events);
}

__attribute__((flatten)) int rfn_event_order_run(struct rfn_event_order *replay)
{
    RFN_TRY(begin(replay));
    take_woken(replay);
    for (;;) {
        bool another = find_earliest(&replay->ready);
        bool ready = replay->ready.earliest.ns != NEVER;
        if (another && ready)
            look_ahead(replay);
        if (!ready && !replay->parked.n)
            return 0;
        RFN_TRY(ready ? move_earliest(replay) : leave_forced(replay));
        take_woken(replay);
        tell(replay);
    }
}
