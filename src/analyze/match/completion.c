/* completion.c - the tracker of refrain/completion.h.
 *
 * Open requests lie in a line of the cache each, which does not move; an id is a place in the table
 * of them, and the free list hands out the one that was given back last, so there are as many as
 * the most requests that were open at once. A request is given back when it completes or is freed.
 * A persistent request stays until its slot is made anew or freed, and is active from its start to
 * its completion.
 *
 * What leads from words to requests has to cost next to nothing, for there are as many lookups as
 * nonblocking calls. Creation numbers of a thread are consecutive and most requests live briefly,
 * so the requests of the last 2^k numbers lie in a ring. When a new number would take the place of
 * a request that is still open, the ring is doubled if it is well used; else the old request moves
 * to a map, as one does that stays open while millions of others come and go. Slots of persistent
 * requests are the lowest that were free: an array, and a map for what only a broken file says.
 */
#include "refrain/completion.h"

#include "archive/read/archive_calls.h"
#include "base/grow.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_RING = 16, SLOTS_MAX = 1 << 16 };

enum { LINE = 64 }; /* of the cache */

struct live {
    _Alignas(LINE) struct rfn_request_origin origin;
    uint64_t number;         /* of creation, or slot */
    struct rfn_volume *kept; /* room for a volume that does not last; NULL: it was not needed yet */
    struct live *next_free;
    uint32_t window; /* in which the number counts */
    bool open, persistent;
    bool active;    /* of a persistent request */
    bool cancelled; /* was asked to be */
};

_Static_assert(sizeof(struct live) == LINE, "a request has grown");

/* The requests of one thread by creation number. */
struct window {
    uint64_t created;
    struct live **ring;    /* the open request `number` at number & mask, or NULL */
    uint64_t mask, n_open; /* of those in the ring */
    struct rfn_map old;    /* open ones that are not in the ring: number -> id */
};

/* What trackers beside each other share: room for the effects of one event. */
struct shared {
    const struct rfn_archive *archive;
    struct rfn_completed *completed;
    size_t n_completed, completed_capacity;
    struct amended {
        struct rfn_request_origin origin;
        struct rfn_volume volume;
    } * amended; /* of completed ones that became something else */
    size_t amended_capacity;
    const struct rfn_request_origin **started;
    size_t n_started, started_capacity;
};

struct rfn_tracker {
    struct shared *shared;
    bool borrowed; /* it is another tracker's */
    struct window *windows;
    size_t n_windows, windows_capacity;
    struct rfn_map threads; /* thread -> index in windows */
    uint32_t last_thread, last_window;
    struct live **slots; /* by slot, or NULL */
    size_t n_slots, slots_capacity;
    struct rfn_map far_slots; /* from SLOTS_MAX: slot -> id */
    struct live **lives;      /* by id; NULL from the first on that was never needed */
    size_t n_lives, lives_capacity;
    struct live *free; /* the first of the list */
};

struct rfn_tracker *rfn_tracker_new(const struct rfn_archive *archive)
{
    struct rfn_tracker *tracker = calloc(1, sizeof *tracker);
    struct shared *shared = calloc(1, sizeof *shared);
    if (!tracker || !shared) {
        free(tracker);
        free(shared);
        return NULL;
    }
    shared->archive = archive;
    tracker->shared = shared;
    return tracker;
}

struct rfn_tracker *rfn_tracker_new_beside(const struct rfn_tracker *first)
{
    struct rfn_tracker *tracker = calloc(1, sizeof *tracker);
    if (!tracker)
        return NULL;
    tracker->shared = first->shared;
    tracker->borrowed = true;
    return tracker;
}

void rfn_tracker_reset(struct rfn_tracker *tracker)
{
    for (size_t i = 0; i < tracker->n_windows; i++) {
        free(tracker->windows[i].ring);
        rfn_map_release(&tracker->windows[i].old);
    }
    rfn_map_release(&tracker->threads);
    rfn_map_release(&tracker->far_slots);
    tracker->n_windows = tracker->n_slots = tracker->n_lives = 0;
    tracker->free = NULL;
}

void rfn_tracker_free(struct rfn_tracker *tracker)
{
    if (!tracker)
        return;
    rfn_tracker_reset(tracker);
    free(tracker->windows);
    free(tracker->slots);
    for (size_t i = 0; i < tracker->lives_capacity && tracker->lives[i]; i++) {
        free(tracker->lives[i]->kept);
        free(tracker->lives[i]);
    }
    free(tracker->lives);
    if (!tracker->borrowed) {
        free(tracker->shared->completed);
        free(tracker->shared->amended);
        free(tracker->shared->started);
        free(tracker->shared);
    }
    free(tracker);
}

bool rfn_tracker_concerns(const struct rfn_tracker *tracker, uint32_t function)
{
    const struct rfn_call *call = rfn_archive_call(tracker->shared->archive, function);
    if (call->variant == RFN_CALL_PERSISTENT)
        return call->out[RFN_OUT_REQUEST] >= 0;
    return call->variant == RFN_CALL_NONBLOCKING ||
           (call->kind >= RFN_CALL_START && call->kind <= RFN_CALL_CANCEL);
}

/* ---- threads ---- */

static struct window *window_of(const struct rfn_tracker *tracker, uint32_t thread)
{
    if (tracker->n_windows && thread == tracker->last_thread)
        return &tracker->windows[tracker->last_window];
    uint64_t *at = rfn_map_get(&tracker->threads, thread);
    return at ? &tracker->windows[*at] : NULL;
}

uint64_t rfn_tracker_created(const struct rfn_tracker *tracker, uint32_t thread)
{
    const struct window *window = window_of(tracker, thread);
    return window ? window->created : 0;
}

/* The index of the thread's window, made if need be. */
static inline int64_t window_for(struct rfn_tracker *tracker, uint32_t thread)
{
    if (tracker->n_windows && thread == tracker->last_thread)
        return tracker->last_window;
    struct window *window = window_of(tracker, thread);
    if (!window) {
        RFN_TRY(RFN_GROW(tracker->windows, tracker->windows_capacity, tracker->n_windows + 1));
        RFN_TRY(rfn_map_put(&tracker->threads, thread, tracker->n_windows));
        window = &tracker->windows[tracker->n_windows++];
        *window = (struct window){0};
    }
    tracker->last_thread = thread;
    tracker->last_window = (uint32_t)(window - tracker->windows);
    return tracker->last_window;
}

/* ---- creation numbers ---- */

static int ring_resize(struct window *window, uint64_t size)
{
    struct live **ring = calloc(size, sizeof *ring);
    if (!ring)
        return RFN_E_NOMEM;
    uint64_t old_size = window->ring ? window->mask + 1 : 0;
    uint64_t n = window->created < old_size ? window->created : old_size;
    for (uint64_t i = window->created - n; i < window->created; i++)
        ring[i & (size - 1)] = window->ring[i & window->mask];
    free(window->ring);
    window->ring = ring;
    window->mask = size - 1;
    return 0;
}

/* Makes the place free where the next number goes. */
__attribute__((noinline)) static int ring_make_room(struct window *window)
{
    if (!window->ring)
        return ring_resize(window, FIRST_RING);
    uint64_t size = window->mask + 1;
    if (window->n_open * 4 > size)
        return ring_resize(window, size * 2);
    struct live **place = &window->ring[window->created & window->mask];
    RFN_TRY(rfn_map_put(&window->old, window->created - size, (*place)->origin.id));
    *place = NULL;
    window->n_open--;
    return 0;
}

static inline int ring_add(struct window *window, struct live *live)
{
    if (!window->ring || window->ring[window->created & window->mask])
        RFN_TRY(ring_make_room(window));
    window->ring[window->created & window->mask] = live;
    window->n_open++;
    window->created++;
    return 0;
}

/* An open request, or NULL. */
static inline struct live *ring_find(const struct rfn_tracker *tracker, const struct window *window,
                                     uint64_t number)
{
    if (number >= window->created)
        return NULL;
    if (window->ring && window->created - number <= window->mask + 1) {
        struct live *found = window->ring[number & window->mask];
        if (found)
            return found;
    }
    uint64_t *at = rfn_map_get(&window->old, number);
    return at ? tracker->lives[*at] : NULL;
}

static inline void ring_remove(struct window *window, const struct live *live)
{
    struct live **place = &window->ring[live->number & window->mask];
    if (*place == live) {
        *place = NULL;
        window->n_open--;
    } else {
        rfn_map_remove(&window->old, live->number);
    }
}

/* ---- slots ---- */

static struct live *slot_find(const struct rfn_tracker *tracker, uint64_t slot)
{
    if (slot < tracker->n_slots)
        return tracker->slots[slot];
    uint64_t *at = slot < SLOTS_MAX ? NULL : rfn_map_get(&tracker->far_slots, slot);
    return at ? tracker->lives[*at] : NULL;
}

static int slot_put(struct rfn_tracker *tracker, uint64_t slot, struct live *live)
{
    if (slot >= SLOTS_MAX)
        return rfn_map_put(&tracker->far_slots, slot, live->origin.id);
    RFN_TRY(RFN_GROW(tracker->slots, tracker->slots_capacity, slot + 1));
    while (tracker->n_slots <= slot)
        tracker->slots[tracker->n_slots++] = NULL;
    tracker->slots[slot] = live;
    return 0;
}

static void slot_remove(struct rfn_tracker *tracker, uint64_t slot)
{
    if (slot < tracker->n_slots)
        tracker->slots[slot] = NULL;
    else
        rfn_map_remove(&tracker->far_slots, slot);
}

/* ---- the table ---- */

__attribute__((noinline)) static struct live *live_make(struct rfn_tracker *tracker)
{
    size_t id = tracker->n_lives;
    if (id >= UINT32_MAX - 1 ||
        RFN_GROW_ZEROED(tracker->lives, tracker->lives_capacity, id + 1) < 0)
        return NULL;
    if (!tracker->lives[id]) {
        tracker->lives[id] = aligned_alloc(LINE, sizeof(struct live));
        if (!tracker->lives[id])
            return NULL;
        *tracker->lives[id] = (struct live){.origin.id = (uint32_t)id};
    }
    tracker->n_lives++;
    return tracker->lives[id];
}

static inline void live_give(struct rfn_tracker *tracker, struct live *live)
{
    live->open = false;
    live->next_free = tracker->free;
    tracker->free = live;
}

/* The request is no more; what its element says remains until another takes it. */
static inline void live_end(struct rfn_tracker *tracker, struct live *live)
{
    if (live->persistent)
        slot_remove(tracker, live->number);
    else
        ring_remove(&tracker->windows[live->window], live);
    live_give(tracker, live);
}

/* A request that is persistent or another thread's. */
__attribute__((noinline)) static struct live *find_far(const struct rfn_tracker *tracker,
                                                       int64_t word)
{
    uint64_t value = (uint64_t)word >> 2;
    if ((word & 3) == RFN_REQUEST_SLOT)
        return slot_find(tracker, value);
    if ((word & 3) != RFN_REQUEST_FOREIGN)
        return NULL;
    const struct window *other = window_of(tracker, value & ((1u << RFN_FOREIGN_BITS) - 1));
    return other ? ring_find(tracker, other, value >> RFN_FOREIGN_BITS) : NULL;
}

/* The request that a word of an event of this window's thread means; NULL: null or unknown. */
static inline struct live *find(const struct rfn_tracker *tracker, const struct window *own,
                                int64_t word)
{
    if (word <= 0)
        return NULL;
    if ((word & 3) == RFN_REQUEST_RECENT) /* or too large a number */
        return ring_find(tracker, own, own->created - ((uint64_t)word >> 2));
    return find_far(tracker, word);
}

/* ---- events ---- */

/* An event that concerns requests. */
struct event {
    const struct rfn_cursor *cursor;
    const struct rfn_record *record;
    const struct rfn_volume *volume;
    bool volume_lasts;
    const struct rfn_call *call;
    uint32_t thread;
    struct window *own; /* of the thread */
};

/* A volume that does not last is copied. */
__attribute__((noinline)) static const struct rfn_volume *keep(struct live *live,
                                                               const struct rfn_volume *volume)
{
    if (!live->kept)
        live->kept = malloc(sizeof *live->kept);
    if (live->kept)
        *live->kept = *volume;
    return live->kept;
}

/* An element for the request that the record makes; NULL: out of memory. */
static inline struct live *live_new(struct rfn_tracker *tracker, const struct rfn_record *record,
                                    const struct rfn_volume *volume, bool volume_lasts)
{
    struct live *live = tracker->free;
    if (live)
        tracker->free = live->next_free;
    else if (!(live = live_make(tracker)))
        return NULL;
    live->origin.symbol = record->symbol;
    live->origin.function = record->function;
    live->origin.path = record->path;
    live->origin.receives = rfn_call_receives(
        rfn_archive_call(tracker->shared->archive, record->function));
    live->origin.volume = volume_lasts ? volume : keep(live, volume);
    live->open = true;
    live->active = live->cancelled = false;
    if (live->origin.volume)
        return live;
    live_give(tracker, live);
    return NULL;
}

bool rfn_tracker_creates(const struct rfn_tracker *tracker, uint32_t function)
{
    return rfn_archive_call(tracker->shared->archive, function)->variant == RFN_CALL_NONBLOCKING;
}

const struct rfn_request_origin *rfn_tracker_create(struct rfn_tracker *tracker, uint32_t thread,
                                                    const struct rfn_record *record,
                                                    const struct rfn_volume *volume,
                                                    bool volume_lasts)
{
    int64_t at = window_for(tracker, thread);
    struct live *live = at < 0 ? NULL : live_new(tracker, record, volume, volume_lasts);
    if (!live)
        return NULL;
    struct window *window = &tracker->windows[at];
    live->persistent = false;
    live->window = (uint32_t)at;
    live->number = window->created;
    if (ring_add(window, live) >= 0)
        return &live->origin;
    live_give(tracker, live);
    return NULL;
}

int rfn_tracker_skip(struct rfn_tracker *tracker, uint32_t thread, uint64_t n)
{
    int64_t at = window_for(tracker, thread);
    RFN_TRY((int)(at < 0 ? at : 0));
    struct window *window = &tracker->windows[at];
    if (!window->n_open) { /* none is in the way */
        window->created += n;
        return 0;
    }
    for (; n > 0; n--) {
        if (window->ring && window->ring[window->created & window->mask])
            RFN_TRY(ring_make_room(window));
        window->created++;
    }
    return 0;
}

static int create(struct rfn_tracker *tracker, const struct event *event, int64_t *created)
{
    if (event->record->error)
        return 0;
    const struct rfn_request_origin *made = rfn_tracker_create(
        tracker, event->thread, event->record, event->volume, event->volume_lasts);
    if (!made)
        return RFN_E_NOMEM;
    *created = made->id;
    return 0;
}

static int create_persistent(struct rfn_tracker *tracker, const struct event *event,
                             int64_t *created)
{
    int64_t word = event->record->out[event->call->out[RFN_OUT_REQUEST]];
    if (word <= 0 || (word & 3) != RFN_REQUEST_SLOT)
        return 0;
    uint64_t slot = (uint64_t)word >> 2;
    struct live *before = slot_find(tracker, slot);
    if (before)
        live_end(tracker, before);
    struct live *live = live_new(tracker, event->record, event->volume, event->volume_lasts);
    if (!live)
        return RFN_E_NOMEM;
    live->persistent = true;
    live->number = slot;
    *created = live->origin.id;
    int error = slot_put(tracker, slot, live);
    if (error < 0)
        live_give(tracker, live);
    return error;
}

/* The requests of a call: an array, or the one input as an array of one. */
static const int64_t *requests_of(const struct event *event, size_t *n)
{
    const int64_t *word = &event->record->in[event->call->in[RFN_IN_REQUEST]];
    if (event->call->requests)
        return rfn_cursor_list(event->cursor, *word, n, RFN_KIND_REQUEST);
    *n = 1;
    return word;
}

static int start(struct rfn_tracker *tracker, const struct event *event,
                 struct rfn_request_effects *effects)
{
    struct shared *shared = tracker->shared;
    size_t n = 0;
    shared->n_started = 0;
    const int64_t *words = requests_of(event, &n);
    if (!words)
        return 0;
    RFN_TRY(RFN_GROW(shared->started, shared->started_capacity, n));
    for (size_t i = 0; i < n; i++) {
        struct live *live = find(tracker, event->own, words[i]);
        if (!live)
            continue;
        live->active = true;
        live->cancelled = false;
        shared->started[shared->n_started++] = &live->origin;
    }
    effects->started = shared->started;
    effects->n_started = shared->n_started;
    return 0;
}

/* completed has room. */
static inline void complete_one(struct rfn_tracker *tracker, const struct event *event,
                                int64_t word, size_t position)
{
    static const struct rfn_volume none;
    static const struct rfn_request_origin unknown = {.volume = &none};
    struct shared *shared = tracker->shared;
    const struct live *live = find(tracker, event->own, word);
    if (word == RFN_REQUEST_NULL || (live && live->persistent && !live->active))
        return;
    shared->completed[shared->n_completed++] = (struct rfn_completed){
        .origin = live ? &live->origin : &unknown,
        .position = (uint32_t)position,
        .known = live,
    };
}

/* Takes out what has not completed. */
static void drop(struct shared *shared, size_t at)
{
    shared->n_completed--;
    memmove(&shared->completed[at], &shared->completed[at + 1],
            (shared->n_completed - at) * sizeof *shared->completed);
}

/* What was made for it remains as it is: a persistent request is to be started again. */
static void amend_one(struct rfn_completed *completed, const int64_t *entry,
                      struct amended *amended)
{
    amended->origin = *completed->origin;
    amended->volume = *completed->origin->volume;
    amended->origin.volume = &amended->volume;
    completed->origin = &amended->origin;
    if (entry[1] != RFN_AS_POSTED)
        amended->volume.source = entry[1];
    if (entry[2] != RFN_AS_POSTED)
        amended->volume.tag = entry[2];
    if (entry[3] != RFN_AS_POSTED)
        amended->volume.received_bytes = entry[3] < 0 ? -1 : entry[3];
    if (!completed->known && entry[3] != RFN_AS_POSTED)
        amended->origin.receives = true;
    completed->error = (uint32_t)entry[4];
    completed->cancelled = entry[5] & RFN_COMPLETION_CANCELLED;
}

/* Puts in what differs from what was asked for. Both are in order of position except after
 * Waitsome, whose order is that of the indices. */
static int amend(struct shared *shared, const int64_t *words, size_t n)
{
    size_t at = 0, n_entries = n / RFN_COMPLETION_WORDS;
    RFN_TRY(RFN_GROW(shared->amended, shared->amended_capacity, n_entries));
    for (size_t i = 0; i < n_entries; i++) {
        const int64_t *entry = words + i * RFN_COMPLETION_WORDS;
        size_t left = shared->n_completed;
        while (left && shared->completed[at].position != entry[0]) {
            at = at + 1 < shared->n_completed ? at + 1 : 0;
            left--;
        }
        if (!left)
            continue;
        if (entry[5] & RFN_COMPLETION_PENDING) {
            drop(shared, at);
            at = at < shared->n_completed ? at : 0;
        } else {
            amend_one(&shared->completed[at], entry, &shared->amended[i]);
        }
    }
    return 0;
}

/* What has completed is no more, or inactive. */
static void settle(struct rfn_tracker *tracker)
{
    struct shared *shared = tracker->shared;
    for (size_t i = 0; i < shared->n_completed; i++) {
        if (!shared->completed[i].known)
            continue;
        struct live *live = tracker->lives[shared->completed[i].origin->id];
        live->active = false;
        if (live->open && !live->persistent) /* a broken file may name a request twice */
            live_end(tracker, live);
    }
}

static int complete_indexed(struct rfn_tracker *tracker, const struct event *event,
                            const int64_t *words, size_t n)
{
    struct shared *shared = tracker->shared;
    size_t n_indices = 1;
    const int64_t *indices = &event->record->out[event->call->out[RFN_OUT_INDEX]];
    if (event->call->indices)
        indices = rfn_cursor_list(event->cursor, *indices, &n_indices, RFN_KIND_INT);
    if (!indices)
        return 0;
    RFN_TRY(RFN_GROW(shared->completed, shared->completed_capacity, n_indices));
    for (size_t i = 0; i < n_indices; i++) {
        if (indices[i] >= 0 && (uint64_t)indices[i] < n)
            complete_one(tracker, event, words[indices[i]], (size_t)indices[i]);
    }
    return 0;
}

static int complete_all(struct rfn_tracker *tracker, const struct event *event,
                        const int64_t *words, size_t n)
{
    struct shared *shared = tracker->shared;
    RFN_TRY(RFN_GROW(shared->completed, shared->completed_capacity, n));
    for (size_t i = 0; i < n; i++)
        complete_one(tracker, event, words[i], i);
    return 0;
}

static int complete(struct rfn_tracker *tracker, const struct event *event,
                    struct rfn_request_effects *effects)
{
    size_t n = 0, n_words = 0;
    const int8_t *out = event->call->out;
    tracker->shared->n_completed = 0;
    if (event->record->failed_poll)
        return 0;
    const int64_t *words = requests_of(event, &n);
    if (!words)
        return 0;
    RFN_TRY(out[RFN_OUT_INDEX] >= 0 ? complete_indexed(tracker, event, words, n)
                                    : complete_all(tracker, event, words, n));
    int64_t list = out[RFN_OUT_COMPLETIONS] >= 0 ? event->record->out[out[RFN_OUT_COMPLETIONS]] : 0;
    if (list > 0) {
        const int64_t *entries = rfn_cursor_list(event->cursor, list, &n_words,
                                                 RFN_KIND_COMPLETIONS);
        if (entries)
            RFN_TRY(amend(tracker->shared, entries, n_words));
    }
    if (event->call->kind == RFN_CALL_COMPLETE)
        settle(tracker);
    effects->completed = tracker->shared->completed;
    effects->n_completed = tracker->shared->n_completed;
    return 0;
}

/* Partitions that the call makes ready. */
static uint64_t partitions_of(const struct event *event)
{
    const int8_t *in = event->call->in;
    const int64_t *words = event->record->in;
    if (in[RFN_IN_length] >= 0)
        return words[in[RFN_IN_length]] > 0 ? (uint64_t)words[in[RFN_IN_length]] : 0;
    if (in[RFN_IN_partition_low] < 0 || in[RFN_IN_partition_high] < 0)
        return 1;
    int64_t low = words[in[RFN_IN_partition_low]], high = words[in[RFN_IN_partition_high]];
    return high < low ? 0 : (uint64_t)high - (uint64_t)low + 1;
}

/* Request_free, Cancel and Pready, which concern one request each. */
static void concern_one(struct rfn_tracker *tracker, const struct event *event,
                        struct rfn_request_effects *effects)
{
    struct live *live = find(tracker, event->own,
                             event->record->in[event->call->in[RFN_IN_REQUEST]]);
    if (!live || event->record->error)
        return;
    switch (event->call->kind) {
    case RFN_CALL_FREE:
        effects->freed = &live->origin;
        effects->given_up = live->cancelled && live->origin.receives;
        live_end(tracker, live);
        break;
    case RFN_CALL_CANCEL:
        effects->cancelled = &live->origin;
        live->cancelled = true;
        break;
    case RFN_CALL_READY:
        effects->ready = &live->origin;
        effects->partitions = partitions_of(event);
        break;
    default:
        break;
    }
}

static int act(struct rfn_tracker *tracker, const struct event *event,
               struct rfn_request_effects *effects)
{
    if (event->call->variant == RFN_CALL_NONBLOCKING)
        return create(tracker, event, &effects->created);
    if (event->call->variant == RFN_CALL_PERSISTENT)
        return create_persistent(tracker, event, &effects->created);
    switch (event->call->kind) {
    case RFN_CALL_START:
        return start(tracker, event, effects);
    case RFN_CALL_COMPLETE:
    case RFN_CALL_LOOK:
        return complete(tracker, event, effects);
    default:
        concern_one(tracker, event, effects);
        return 0;
    }
}

int rfn_tracker_event(struct rfn_tracker *tracker, uint32_t thread, const struct rfn_cursor *cursor,
                      const struct rfn_record *record, const struct rfn_volume *volume,
                      bool volume_lasts, struct rfn_request_effects *effects)
{
    *effects = (struct rfn_request_effects){.created = -1};
    if (!rfn_tracker_concerns(tracker, record->function))
        return 0;
    int64_t window = window_for(tracker, thread);
    RFN_TRY((int)(window < 0 ? window : 0));
    struct event event = {cursor,
                          record,
                          volume,
                          volume_lasts,
                          rfn_archive_call(tracker->shared->archive, record->function),
                          thread,
                          &tracker->windows[window]};
    return act(tracker, &event, effects);
}

/* ---- of all processes ---- */

/* The first rank's tracker is made anyway: the others' are made beside it. */
static bool make_tracker(struct rfn_tracker **trackers, const struct rfn_archive *archive,
                         uint32_t rank)
{
    if (!trackers[rank])
        trackers[rank] = rank ? rfn_tracker_new_beside(trackers[0]) : rfn_tracker_new(archive);
    return trackers[rank];
}

struct rfn_tracker **rfn_trackers_new(const struct rfn_archive *archive)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    struct rfn_tracker **trackers = calloc((size_t)run->ranks + 1, sizeof(struct rfn_tracker *));
    if (!trackers)
        return NULL;
    bool made = make_tracker(trackers, archive, 0);
    for (uint32_t i = 0; i < run->streams && made; i++) {
        uint32_t rank = rfn_archive_stream(archive, i).rank;
        if (rank < run->ranks)
            made = make_tracker(trackers, archive, rank);
    }
    if (made)
        return trackers;
    rfn_trackers_free(trackers, archive);
    return NULL;
}

void rfn_trackers_free(struct rfn_tracker **trackers, const struct rfn_archive *archive)
{
    if (!trackers)
        return;
    for (uint32_t i = rfn_archive_run(archive)->ranks; i > 1;) /* the first goes last */
        rfn_tracker_free(trackers[--i]);
    rfn_tracker_free(trackers[0]);
    free(trackers);
}
