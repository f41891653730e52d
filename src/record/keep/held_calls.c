/* held_calls.c - holds the events of windows, and hands on those that stay.
 *
 * An event that is held is its words as in reduce/fold/backlog.h. A call names a request by how
 * many requests its stream has made since. Requests of calls that went do not count any more, so
 * names are made anew. Two facts of all calls are kept, too: how many were left out in front of
 * each one that stays, and which activities had a short execution.
 */
#include "base/grow.h"
#include "record/core/options.h"
#include "record/keep/keep_internal.h"
#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

/* Of --memory, the most that a window takes. */
enum { MEMORY_SHARE = 12 };

enum { HEADER = 6 };

struct rec_keep rec_keep;

static struct {
    uint64_t events;              /* that the stream has, the way it counts them */
    uint64_t left_out, gap_event; /* in front of the next one; the event of the last gap */
    uint64_t dropped;             /* requests that went */
    struct rfn_map late;          /* requests of earlier windows: how many had gone before */
    uint64_t *dropped_before;     /* by request of the window */
    size_t dropped_capacity;
    int64_t *list;
    size_t list_capacity;
    bool polled; /* the last event is a run of polls: */
    uint32_t poll_site, poll_error;
    int64_t poll_in[RFN_PARAMS_MAX];
    struct rec_left_out found;
} handed;

static struct {
    struct rec_short_activity *items;
    size_t n, capacity;
    struct rfn_map known;
    uint32_t site; /* of the call before; UINT32_MAX: none */
    uint64_t enter, exit;
    int64_t *regions; /* open ones, innermost last */
    size_t n_regions, regions_capacity;
} activities = {.site = UINT32_MAX};

/* Quanta of the monotonic clock are powers of two of ns: these are exact. */
static uint64_t to_ns(uint64_t quanta)
{
    return rec_clock.tick_ns == 1
               ? quanta << rec_clock.shift
               : (uint64_t)((double)(quanta << rec_clock.shift) * rec_clock.tick_ns);
}

/* ---- activities ---- */

static int note_short(uint32_t before, uint32_t site, int64_t region)
{
    const uint64_t words[] = {(uint64_t)before << 32 | site, (uint64_t)region};
    const uint64_t key = rfn_hash_bytes(words, sizeof words);
    if (rfn_map_get(&activities.known, key))
        return 0;
    RFN_TRY(RFN_GROW(activities.items, activities.capacity, activities.n + 1));
    activities.items[activities.n++] = (struct rec_short_activity){before, site, region};
    return rfn_map_put(&activities.known, key, 1);
}

static int follow_regions(const struct rfn_event *event)
{
    const uint8_t kind = rec_functions[event->function].class_;
    size_t i = activities.n_regions;
    if (kind != RFN_CLASS_REGION)
        return 0;
    if (event->function == REC_FN_refrain_region_begin) {
        RFN_TRY(RFN_GROW(activities.regions, activities.regions_capacity, i + 1));
        activities.regions[activities.n_regions++] = event->in[0];
        return 0;
    }
    while (i > 0 && activities.regions[i - 1] != event->in[0])
        i--;
    if (i > 0)
        memmove(&activities.regions[i - 1], &activities.regions[i],
                (activities.n_regions-- - i) * sizeof *activities.regions);
    return 0;
}

/* The call before, whose exit is final now. */
static int note_last_call(void)
{
    const uint64_t least = (uint64_t)rec_options.kept_limits.ns;
    return activities.site != UINT32_MAX && to_ns(activities.exit - activities.enter) < least
               ? note_short(UINT32_MAX, activities.site, 0)
               : 0;
}

/* Of the call before, and of the computation in front of the call. */
static int note_activities(const struct rfn_event *event)
{
    const uint64_t least = (uint64_t)rec_options.kept_limits.ns,
                   gap = to_ns(event->enter - activities.exit);
    const int64_t region = activities.n_regions ? activities.regions[activities.n_regions - 1] : 0;
    int error = note_last_call();
    if (!error && activities.site != UINT32_MAX && gap > 0 && gap < least)
        error = note_short(activities.site, event->site, region);
    activities.site = event->site;
    activities.enter = event->enter;
    activities.exit = event->exit;
    return error ? error : follow_regions(event);
}

/* ---- requests ---- */

static int64_t new_name(const struct rec_window *window, uint64_t base, int64_t word)
{
    const uint64_t distance = (uint64_t)word >> 2, number = base - distance;
    if ((word & 3) != RFN_REQUEST_RECENT || !handed.dropped || distance == 0 || distance > base)
        return word;
    const uint64_t *late = number < window->first_request ? rfn_map_get(&handed.late, number)
                                                          : NULL;
    const uint64_t before = late ? *late
                            : number < window->first_request
                                ? 0
                                : handed.dropped_before[number - window->first_request];
    return rfn_request_word(RFN_REQUEST_RECENT,
                            (int64_t)((base - handed.dropped) - (number - before)));
}

/* Requests that the call made. */
static int count_requests(const struct rec_window *window, const struct rec_held_call *call,
                          bool goes)
{
    const size_t n = (size_t)(call->requests + call->n_made - window->first_request);
    RFN_TRY(RFN_GROW(handed.dropped_before, handed.dropped_capacity, n));
    for (size_t i = n - call->n_made; i < n; i++) {
        handed.dropped_before[i] = handed.dropped;
        handed.dropped += goes;
    }
    return 0;
}

/* Calls of later windows may name these. Of one that is not known none had gone before. */
static int keep_late(const struct rec_window *window)
{
    const struct rec_held_call *last = &window->held[window->head.n_calls - 1];
    const uint64_t n = window->head.n_calls ? last->requests + last->n_made - window->first_request
                                            : 0;
    for (size_t i = 0; i < n; i++) {
        const bool completed = i < window->n_completed && window->completed[i];
        if (!completed && handed.dropped_before[i])
            RFN_TRY(rfn_map_put(&handed.late, window->first_request + i, handed.dropped_before[i]));
    }
    return 0;
}

/* ---- lists ---- */

static int64_t new_list(const struct rec_window *window, uint64_t base, int64_t number,
                        bool requests, struct rfn_stream *to)
{
    const struct rfn_stream *from = rec_keep.stream->events;
    size_t n;
    const int64_t *words = rfn_stream_list_words(from, (size_t)number, &n);
    if (!requests || !handed.dropped)
        return from == to ? number : rfn_stream_list(to, words, n);
    if (RFN_GROW(handed.list, handed.list_capacity, n + 1) < 0)
        return RFN_LIST_ABSENT;
    for (size_t i = 0; i < n; i++)
        handed.list[i] = new_name(window, base, words[i]);
    return rfn_stream_list(to, handed.list, n);
}

static int64_t new_word(const struct rec_window *window, uint64_t base, uint8_t kind, int64_t word,
                        struct rfn_stream *to)
{
    const uint8_t element = kind & (uint8_t)~RFN_KIND_LIST;
    const bool list = kind != element || kind == RFN_KIND_STRING || kind == RFN_KIND_COMPLETIONS;
    if (kind == RFN_KIND_REQUEST)
        return new_name(window, base, word);
    return list && word > 0
               ? new_list(window, base, word, kind == (RFN_KIND_REQUEST | RFN_KIND_LIST), to)
               : word;
}

/* ---- handing on ---- */

/* The stream that gets what stays. */
static struct rfn_stream *target_of(const struct rec_stream *stream)
{
    return stream->kept ? stream->kept : stream->events;
}

/* As the stream will count: a run of unsuccessful polls is one event. */
static void count_event(const struct rfn_event *event)
{
    const unsigned n = rec_functions[event->function].n_in;
    const bool poll = event->poll == RFN_POLL_FAILED && !rec_options.all_polls;
    const bool goes_on = poll && handed.polled && handed.poll_site == event->site &&
                         handed.poll_error == event->error &&
                         memcmp(handed.poll_in, event->in, n * sizeof *event->in) == 0;
    handed.events += !goes_on;
    handed.polled = poll;
    if (!poll)
        return;
    handed.poll_site = event->site;
    handed.poll_error = event->error;
    memcpy(handed.poll_in, event->in, n * sizeof *event->in);
}

static int note_gap(void)
{
    struct rec_left_out *found = &handed.found;
    if (!handed.left_out)
        return 0;
    rfn_buf_varint(&found->gaps, handed.events - handed.gap_event);
    rfn_buf_varint(&found->gaps, handed.left_out);
    found->n_gaps++;
    handed.gap_event = handed.events;
    handed.left_out = 0;
    return rfn_buf_status(&found->gaps);
}

static int hand_on(const struct rec_window *window, uint64_t base, struct rfn_event *event)
{
    const struct rfn_function_info *function = &rec_functions[event->function];
    struct rfn_stream *to = target_of(rec_keep.stream);
    int64_t in[RFN_PARAMS_MAX], out[RFN_PARAMS_MAX];
    for (unsigned i = 0; i < function->n_in; i++)
        in[i] = new_word(window, base, function->params[i].kind, event->in[i], to);
    for (unsigned i = 0; i < function->n_out; i++)
        out[i] = new_word(window, base, function->params[function->n_in + i].kind, event->out[i],
                          to);
    event->in = in;
    event->out = out;
    RFN_TRY(note_gap());
    count_event(event);
    return rfn_stream_event(to, event);
}

static struct rfn_event event_at(const int64_t *words)
{
    const uint32_t function = (uint32_t)((uint64_t)words[0] >> 32);
    return (struct rfn_event){.site = (uint32_t)words[0],
                              .function = function,
                              .error = (uint32_t)words[1],
                              .poll = (enum rfn_poll)((uint64_t)words[1] >> 32),
                              .enter = (uint64_t)words[2],
                              .exit = (uint64_t)words[3],
                              .volume_enter = (uint64_t)words[4],
                              .volume_exit = (uint64_t)words[5],
                              .in = words + HEADER,
                              .out = words + HEADER + rec_functions[function].n_in};
}

static int hand_on_call(const struct rec_window *window, uint32_t number, bool goes)
{
    const struct rec_held_call *call = &window->held[number];
    struct rfn_event event = event_at(window->words + call->words);
    RFN_TRY(note_activities(&event));
    handed.found.calls += goes;
    handed.left_out += goes;
    if (!goes)
        RFN_TRY(hand_on(window, call->requests, &event));
    return count_requests(window, call, goes);
}

static int hand_on_all(const struct rec_window *window, const uint8_t *bits)
{
    for (uint32_t i = 0; i < window->head.n_calls; i++)
        RFN_TRY(hand_on_call(window, i, bits && bits[i / 8] >> i % 8 & 1));
    for (size_t i = 0; i < window->n_late; i++)
        rfn_map_remove(&handed.late, window->late[i].number);
    return keep_late(window);
}

int rec_window_hand_on(const uint8_t *bits)
{
    return rec_keep.stream ? hand_on_all(&rec_keep.window, bits) : 0;
}

int rec_held_end(void)
{
    return note_last_call();
}

/* ---- taking ---- */

void rec_window_begin(const struct rfn_window_head *head)
{
    struct rec_window *window = &rec_keep.window;
    window->head = *head;
    window->n_words = window->n_late = window->n_completed = 0;
    window->first = rec_keep.taken;
    window->first_request = rec_keep.requests;
}

static size_t bytes_of(const struct rec_window *window)
{
    return window->n_words * sizeof *window->words + window->head.n_calls * sizeof *window->held +
           rfn_window_bytes(&window->head);
}

static int append(struct rec_window *window, const struct rec_stream *stream,
                  const struct rfn_event *event)
{
    const struct rfn_function_info *function = &rec_functions[event->function];
    const size_t n = (size_t)HEADER + function->n_in + function->n_out;
    RFN_TRY(RFN_GROW(window->words, window->words_capacity, window->n_words + n));
    RFN_TRY(RFN_GROW(window->calls, window->calls_capacity, (size_t)window->head.n_calls + 1));
    RFN_TRY(RFN_GROW(window->held, window->held_capacity, (size_t)window->head.n_calls + 1));
    int64_t *words = window->words + window->n_words;
    words[0] = (int64_t)((uint64_t)event->function << 32 | event->site);
    words[1] = (int64_t)((uint64_t)event->poll << 32 | event->error);
    words[2] = (int64_t)event->enter;
    words[3] = (int64_t)event->exit;
    words[4] = (int64_t)event->volume_enter;
    words[5] = (int64_t)event->volume_exit;
    memcpy(words + HEADER, event->in, function->n_in * sizeof *words);
    if (function->n_out)
        memcpy(words + HEADER + function->n_in, event->out, function->n_out * sizeof *words);
    window->calls[window->head.n_calls] = (struct rfn_window_call){
        to_ns(event->enter), to_ns(event->exit), rec_describe_flags(event)};
    window->held[window->head.n_calls++] = (struct rec_held_call){
        .words = window->n_words,
        .requests = rec_keep.requests,
        .sends = RFN_WINDOW_NONE,
        .function = event->function,
        .n_made = (uint32_t)(stream->requests_created - rec_keep.requests)};
    window->n_words += n;
    rec_keep.requests = stream->requests_created;
    rec_keep.taken++;
    return 0;
}

/* Nothing is held of a window in which all stays. */
static int pass_through(const struct rec_window *window)
{
    struct rfn_window_head head = window->head;
    head.useless = 1;
    head.n_calls = head.n_ends = head.n_shares = head.n_pairs = 0;
    RFN_TRY(rec_window_hand_on(NULL));
    rec_window_begin(&head);
    return 0;
}

static bool is_useless(const struct rec_window *window)
{
    return window->head.useless || rec_keep_gave_up() || !rec_keep_on ||
           bytes_of(window) > rec_options.memory_bytes / MEMORY_SHARE;
}

static int take(struct rec_stream *stream, const struct rfn_event *event)
{
    struct rec_window *window = &rec_keep.window;
    rec_keep.stream = stream;
    RFN_TRY(append(window, stream, event));
    rec_keep.last_enter = window->calls[window->head.n_calls - 1].enter;
    rec_keep.last_exit = window->calls[window->head.n_calls - 1].exit;
    rec_keep.polled = event->poll == RFN_POLL_FAILED;
    return __builtin_expect(is_useless(window), 0) ? pass_through(window) : 0;
}

/* A stream of another thread: its lists need no new names. */
static int take_other(const struct rec_stream *stream, const struct rfn_event *event)
{
    const struct rfn_function_info *function = &rec_functions[event->function];
    int64_t in[RFN_PARAMS_MAX], out[RFN_PARAMS_MAX];
    struct rfn_event copy = *event;
    rec_keep_give_up();
    if (!stream->kept)
        return 0;
    for (unsigned i = 0; i < function->n_in + function->n_out; i++) {
        const uint8_t kind = function->params[i].kind;
        int64_t word = i < function->n_in ? event->in[i] : event->out[i - function->n_in];
        size_t n;
        if (word > 0 &&
            (kind & RFN_KIND_LIST || kind == RFN_KIND_STRING || kind == RFN_KIND_COMPLETIONS)) {
            const int64_t *words = rfn_stream_list_words(stream->events, (size_t)word, &n);
            word = rfn_stream_list(stream->kept, words, n);
        }
        *(i < function->n_in ? &in[i] : &out[i - function->n_in]) = word;
    }
    copy.in = in;
    copy.out = out;
    return rfn_stream_event(stream->kept, &copy);
}

static int take_event(struct rec_stream *stream, const struct rfn_event *event)
{
    const bool own = rec_keep_holds(stream);
    int took_long = 0;
    if (!rec_options.keeps)
        return rfn_stream_event(stream->events, event);
    if (stream->kept || !own)
        took_long = rfn_stream_event(stream->events, event);
    RFN_TRY(took_long);
    const int error = own ? take(stream, event) : take_other(stream, event);
    return error < 0 ? error : took_long;
}

static void end_held(struct rec_window *window, uint64_t exit, uint64_t volume_exit)
{
    const uint32_t last = window->head.n_calls - 1;
    int64_t *words = window->words + window->held[last].words;
    words[3] = (int64_t)exit;
    words[5] = (int64_t)volume_exit;
    window->calls[last].exit = to_ns(exit);
    rec_keep.last_exit = window->calls[last].exit;
}

/* Of the last call that was handed on; if that opened the window, it does so later. */
static void end_handed_on(struct rec_window *window, uint64_t exit)
{
    if (window->head.opened_enter)
        window->head.opened_exit = to_ns(exit);
    activities.exit = exit;
}

static int end_later(struct rec_stream *stream, uint64_t exit, uint64_t volume_exit)
{
    struct rec_window *window = &rec_keep.window;
    const bool own = rec_keep_holds(stream), held = own && window->head.n_calls > 0;
    if (held)
        end_held(window, exit, volume_exit);
    else if (own)
        end_handed_on(window, exit);
    if (stream->kept || !held)
        RFN_TRY(rfn_stream_end_later(stream->events, exit, volume_exit));
    return stream->kept && !held ? rfn_stream_end_later(stream->kept, exit, volume_exit) : 0;
}

const struct rec_keeper rec_keep_keeper = {take_event, end_later};

/* ---- what was found ---- */

const struct rec_left_out *rec_keep_left_out(void)
{
    return &handed.found;
}

const struct rec_short_activity *rec_keep_short(size_t *n)
{
    *n = activities.n;
    return activities.items;
}

static void release_window(void)
{
    struct rec_window *window = &rec_keep.window;
    free(window->calls);
    free(window->held);
    free(window->ends);
    free(window->shares);
    free(window->pairs);
    free(window->late);
    free(window->words);
    free(window->completed);
    *window = (struct rec_window){0};
}

void rec_held_release(void)
{
    release_window();
    free(handed.dropped_before);
    free(handed.list);
    rfn_map_release(&handed.late);
    rfn_buf_release(&handed.found.gaps);
    free(activities.items);
    free(activities.regions);
    rfn_map_release(&activities.known);
    memset(&handed, 0, sizeof handed);
    memset(&activities, 0, sizeof activities);
    activities.site = UINT32_MAX;
}
