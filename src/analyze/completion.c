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
 *
 * How a function uses its requests is found out once: by the kinds of its parameters (a request or
 * an array of them; an outcome of kind COMPLETIONS, an index or a list of indices before it) and by
 * its flags.
 */
#include "refrain/completion.h"

#include "base/grow.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum use {
    USE_NONE,
    USE_CREATES,    /* a nonblocking call */
    USE_PERSISTENT, /* makes an inactive request */
    USE_STARTS,     /* Start, Startall */
    USE_COMPLETES,
    USE_LOOKS, /* Request_get_status: tells of a completion, the request stays */
    USE_FREES,
    USE_CANCELS,
    USE_READIES /* Pready, Pready_range, Pready_list */
};

struct layout {
    enum use use;
    int8_t requests;    /* input of kind REQUEST, or a list of them; -1 */
    int8_t index;       /* outcome: index, or list of indices, of what completed; -1: all */
    int8_t completions; /* outcome; -1 */
    int8_t slot;        /* outcome of kind REQUEST; -1 */
    int8_t length, low; /* inputs: partitions of a list; first of a range, whose last follows; -1 */
    bool array, indices;
    bool receives; /* the request is a point-to-point receive */
};

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

/* What trackers beside each other share: what is known of functions, and room for the effects of
 * one event. */
struct shared {
    struct layout *layouts;
    uint32_t n_functions;
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

/* ---- once per function ---- */

static void find_inputs(struct layout *layout, const struct rfn_function_info *function)
{
    for (int i = 0; i < function->n_in; i++) {
        uint8_t kind = function->params[i].kind;
        if ((kind & ~RFN_KIND_LIST) == RFN_KIND_REQUEST) {
            layout->requests = (int8_t)i;
            layout->array = kind & RFN_KIND_LIST;
        }
    }
}

/* How many partitions a call makes ready: no such inputs, one. */
static void find_partitions(struct layout *layout, const struct rfn_function_info *function)
{
    for (int i = 0; i < function->n_in; i++) {
        if (strcmp(function->params[i].name, "length") == 0)
            layout->length = (int8_t)i;
        else if (strcmp(function->params[i].name, "partition_low") == 0 && i + 1 < function->n_in)
            layout->low = (int8_t)i;
    }
}

static void find_outcomes(struct layout *layout, const struct rfn_function_info *function)
{
    for (int i = 0; i < function->n_out; i++) {
        uint8_t kind = function->params[function->n_in + i].kind;
        if (kind == RFN_KIND_COMPLETIONS) {
            layout->completions = (int8_t)i;
        } else if (kind == RFN_KIND_REQUEST) {
            layout->slot = (int8_t)i;
        } else if (layout->array && (kind & ~RFN_KIND_LIST) == RFN_KIND_INT) {
            layout->index = (int8_t)i;
            layout->indices = kind & RFN_KIND_LIST;
        }
    }
}

static enum use use_of(const struct layout *layout, const struct rfn_function_info *function)
{
    const char *name = function->name;
    if (function->flags & RFN_FUNCTION_PERSISTENT)
        return layout->slot >= 0 ? USE_PERSISTENT : USE_NONE;
    if (function->flags & RFN_FUNCTION_NONBLOCKING)
        return USE_CREATES;
    if (layout->requests < 0)
        return USE_NONE;
    if (strncmp(name, "MPI_Request_get_status", 22) == 0)
        return USE_LOOKS;
    if (strcmp(name, "MPI_Start") == 0 || strcmp(name, "MPI_Startall") == 0)
        return USE_STARTS;
    if (layout->completions >= 0)
        return USE_COMPLETES;
    if (layout->array)
        return USE_NONE;
    if (strcmp(name, "MPI_Request_free") == 0)
        return USE_FREES;
    if (strcmp(name, "MPI_Cancel") == 0)
        return USE_CANCELS;
    return strncmp(name, "MPI_Pready", 10) == 0 ? USE_READIES : USE_NONE;
}

static void layout_init(struct layout *layout, const struct rfn_function_info *function)
{
    uint8_t class_ = function->class_;
    layout->requests = layout->index = layout->completions = layout->slot = -1;
    layout->length = layout->low = -1;
    layout->receives = class_ == RFN_CLASS_RECV || class_ == RFN_CLASS_SENDRECV;
    find_inputs(layout, function);
    find_partitions(layout, function);
    find_outcomes(layout, function);
    layout->use = use_of(layout, function);
}

struct rfn_tracker *rfn_tracker_new(const struct rfn_archive *archive)
{
    struct rfn_tracker *tracker = calloc(1, sizeof *tracker);
    struct shared *shared = calloc(1, sizeof *shared);
    uint32_t n = rfn_archive_functions(archive);
    struct layout *layouts = calloc((size_t)n + 1, sizeof *layouts);
    if (!tracker || !shared || !layouts) {
        free(tracker);
        free(shared);
        free(layouts);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        layout_init(&layouts[i], rfn_archive_function(archive, i));
    *shared = (struct shared){.layouts = layouts, .n_functions = n};
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
        free(tracker->shared->layouts);
        free(tracker->shared->completed);
        free(tracker->shared->amended);
        free(tracker->shared->started);
        free(tracker->shared);
    }
    free(tracker);
}

bool rfn_tracker_concerns(const struct rfn_tracker *tracker, uint32_t function)
{
    const struct shared *shared = tracker->shared;
    return function < shared->n_functions && shared->layouts[function].use != USE_NONE;
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
    const struct layout *layout;
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
    live->origin.receives = tracker->shared->layouts[record->function].receives;
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
    return rfn_tracker_concerns(tracker, function) &&
           tracker->shared->layouts[function].use == USE_CREATES;
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
    int64_t word = event->record->out[event->layout->slot];
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
    const int64_t *word = &event->record->in[event->layout->requests];
    if (event->layout->array)
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
    const int64_t *indices = &event->record->out[event->layout->index];
    if (event->layout->indices)
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
    const struct layout *layout = event->layout;
    tracker->shared->n_completed = 0;
    if (event->record->failed_poll)
        return 0;
    const int64_t *words = requests_of(event, &n);
    if (!words)
        return 0;
    RFN_TRY(layout->index >= 0 ? complete_indexed(tracker, event, words, n)
                               : complete_all(tracker, event, words, n));
    int64_t list = layout->completions >= 0 ? event->record->out[layout->completions] : 0;
    if (list > 0) {
        const int64_t *entries = rfn_cursor_list(event->cursor, list, &n_words,
                                                 RFN_KIND_COMPLETIONS);
        if (entries)
            RFN_TRY(amend(tracker->shared, entries, n_words));
    }
    if (layout->use == USE_COMPLETES)
        settle(tracker);
    effects->completed = tracker->shared->completed;
    effects->n_completed = tracker->shared->n_completed;
    return 0;
}

/* Partitions that the call makes ready. */
static uint64_t partitions_of(const struct event *event)
{
    const struct layout *layout = event->layout;
    const int64_t *in = event->record->in;
    if (layout->length >= 0)
        return in[layout->length] > 0 ? (uint64_t)in[layout->length] : 0;
    if (layout->low < 0)
        return 1;
    int64_t low = in[layout->low], high = in[layout->low + 1];
    return high < low ? 0 : (uint64_t)high - (uint64_t)low + 1;
}

/* Request_free, Cancel and Pready, which concern one request each. */
static void concern_one(struct rfn_tracker *tracker, const struct event *event,
                        struct rfn_request_effects *effects)
{
    struct live *live = find(tracker, event->own, event->record->in[event->layout->requests]);
    if (!live || event->record->error)
        return;
    switch (event->layout->use) {
    case USE_FREES:
        effects->freed = &live->origin;
        effects->given_up = live->cancelled && live->origin.receives;
        live_end(tracker, live);
        break;
    case USE_CANCELS:
        effects->cancelled = &live->origin;
        live->cancelled = true;
        break;
    case USE_READIES:
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
    switch (event->layout->use) {
    case USE_NONE:
        break;
    case USE_CREATES:
        return create(tracker, event, &effects->created);
    case USE_PERSISTENT:
        return create_persistent(tracker, event, &effects->created);
    case USE_STARTS:
        return start(tracker, event, effects);
    case USE_COMPLETES:
    case USE_LOOKS:
        return complete(tracker, event, effects);
    case USE_FREES:
    case USE_CANCELS:
    case USE_READIES:
        concern_one(tracker, event, effects);
        break;
    }
    return 0;
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
                          &tracker->shared->layouts[record->function],
                          thread,
                          &tracker->windows[window]};
    return act(tracker, &event, effects);
}
