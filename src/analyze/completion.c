/* completion.c - the tracker of refrain/completion.h.
 *
 * Live requests lie in a table of origins with a free list; two maps lead to them, from creation
 * number (nonblocking calls) and from slot (persistent requests). A request leaves the table when
 * it completes or is freed, so that the table is as large as the most requests that were open at
 * once. A persistent request stays until its slot is made anew or freed, and is active from its
 * start to its completion.
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
    USE_FREES
};

struct layout {
    enum use use;
    int8_t requests;    /* input of kind REQUEST, or a list of them; -1 */
    int8_t index;       /* outcome: index, or list of indices, of what completed; -1: all */
    int8_t completions; /* outcome; -1 */
    int8_t slot;        /* outcome of kind REQUEST; -1 */
    bool array, indices;
};

struct live {
    struct rfn_request_origin origin;
    bool active;        /* of a persistent request */
    uint32_t next_free; /* + 1 */
};

struct rfn_tracker {
    const struct rfn_archive *archive;
    const struct rfn_volumes *volumes;
    struct layout *layouts;
    uint32_t n_functions;
    struct rfn_map numbers, slots; /* creation number, slot -> index in lives */
    struct live *lives;
    size_t n_lives, lives_capacity;
    uint32_t free; /* first free element + 1 */
    uint64_t created;
    struct rfn_completed *completed;
    size_t n_completed, completed_capacity;
    struct rfn_request_origin *started;
    size_t n_started, started_capacity;
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
    if (function->flags & RFN_FUNCTION_PERSISTENT)
        return layout->slot >= 0 ? USE_PERSISTENT : USE_NONE;
    if (function->flags & RFN_FUNCTION_NONBLOCKING)
        return USE_CREATES;
    if (layout->requests < 0)
        return USE_NONE;
    if (strcmp(function->name, "MPI_Request_free") == 0)
        return USE_FREES;
    if (strncmp(function->name, "MPI_Request_get_status", 22) == 0)
        return USE_LOOKS;
    if (strcmp(function->name, "MPI_Start") == 0 || strcmp(function->name, "MPI_Startall") == 0)
        return USE_STARTS;
    return layout->completions >= 0 ? USE_COMPLETES : USE_NONE;
}

static void layout_init(struct layout *layout, const struct rfn_function_info *function)
{
    layout->requests = layout->index = layout->completions = layout->slot = -1;
    find_inputs(layout, function);
    find_outcomes(layout, function);
    layout->use = use_of(layout, function);
}

struct rfn_tracker *rfn_tracker_new(const struct rfn_archive *archive,
                                    const struct rfn_volumes *volumes)
{
    struct rfn_tracker *tracker = calloc(1, sizeof *tracker);
    if (!tracker)
        return NULL;
    tracker->archive = archive;
    tracker->volumes = volumes;
    tracker->n_functions = rfn_archive_functions(archive);
    tracker->layouts = calloc((size_t)tracker->n_functions + 1, sizeof *tracker->layouts);
    if (!tracker->layouts) {
        free(tracker);
        return NULL;
    }
    for (uint32_t i = 0; i < tracker->n_functions; i++)
        layout_init(&tracker->layouts[i], rfn_archive_function(archive, i));
    return tracker;
}

void rfn_tracker_reset(struct rfn_tracker *tracker)
{
    rfn_map_release(&tracker->numbers);
    rfn_map_release(&tracker->slots);
    tracker->n_lives = 0;
    tracker->free = 0;
    tracker->created = 0;
}

void rfn_tracker_free(struct rfn_tracker *tracker)
{
    if (!tracker)
        return;
    rfn_tracker_reset(tracker);
    free(tracker->layouts);
    free(tracker->lives);
    free(tracker->completed);
    free(tracker->started);
    free(tracker);
}

bool rfn_tracker_concerns(const struct rfn_tracker *tracker, uint32_t function)
{
    return function < tracker->n_functions && tracker->layouts[function].use != USE_NONE;
}

uint64_t rfn_tracker_created(const struct rfn_tracker *tracker)
{
    return tracker->created;
}

/* ---- the table ---- */

static int64_t live_add(struct rfn_tracker *tracker)
{
    if (tracker->free) {
        uint32_t at = tracker->free - 1;
        tracker->free = tracker->lives[at].next_free;
        return at;
    }
    RFN_TRY(RFN_GROW(tracker->lives, tracker->lives_capacity, tracker->n_lives + 1));
    return (int64_t)tracker->n_lives++;
}

static void live_remove(struct rfn_tracker *tracker, struct rfn_map *map, uint64_t key)
{
    uint64_t *at = rfn_map_get(map, key);
    if (!at)
        return;
    tracker->lives[*at].next_free = tracker->free;
    tracker->free = (uint32_t)*at + 1;
    rfn_map_remove(map, key);
}

/* Where a request's word leads: the map and the key in it; false for null and unknown ones. */
static bool locate(struct rfn_tracker *tracker, int64_t word, struct rfn_map **map, uint64_t *key)
{
    uint64_t value = (uint64_t)(word >> 2);
    switch (word & 3) {
    case RFN_REQUEST_RECENT:
        *map = &tracker->numbers;
        *key = tracker->created - value;
        return word > 0 && value <= tracker->created;
    case RFN_REQUEST_SLOT:
        *map = &tracker->slots;
        *key = value;
        return word > 0;
    default:
        return false;
    }
}

static struct live *find(struct rfn_tracker *tracker, int64_t word)
{
    struct rfn_map *map;
    uint64_t key;
    if (!locate(tracker, word, &map, &key))
        return NULL;
    uint64_t *at = rfn_map_get(map, key);
    return at ? &tracker->lives[*at] : NULL;
}

static void forget(struct rfn_tracker *tracker, int64_t word)
{
    struct rfn_map *map;
    uint64_t key;
    if (locate(tracker, word, &map, &key))
        live_remove(tracker, map, key);
}

static int create(struct rfn_tracker *tracker, struct rfn_map *map, uint64_t key,
                  const struct rfn_record *record, const struct rfn_volume *volume)
{
    int64_t at = live_add(tracker);
    RFN_TRY((int)(at < 0 ? at : 0));
    uint8_t class_ = rfn_archive_function(tracker->archive, record->function)->class_;
    tracker->lives[at] = (struct live){
        .origin = {.symbol = record->symbol,
                   .function = record->function,
                   .path = record->path,
                   .volume = *volume,
                   .receives = class_ == RFN_CLASS_RECV || class_ == RFN_CLASS_SENDRECV}};
    return rfn_map_put(map, key, (uint64_t)at);
}

static int create_persistent(struct rfn_tracker *tracker, const struct layout *layout,
                             const struct rfn_record *record, const struct rfn_volume *volume)
{
    int64_t word = record->out[layout->slot];
    struct rfn_map *map;
    uint64_t key;
    if (!locate(tracker, word, &map, &key) || map != &tracker->slots)
        return 0;
    live_remove(tracker, map, key);
    return create(tracker, map, key, record, volume);
}

/* ---- events ---- */

/* The requests of a call: an array, or the one input as an array of one. */
static const int64_t *requests_of(const struct layout *layout, const struct rfn_cursor *cursor,
                                  const struct rfn_record *record, size_t *n)
{
    const int64_t *word = &record->in[layout->requests];
    if (layout->array)
        return rfn_cursor_list(cursor, *word, n, RFN_KIND_REQUEST);
    *n = 1;
    return word;
}

static int start(struct rfn_tracker *tracker, const int64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct live *live = find(tracker, words[i]);
        if (!live)
            continue;
        live->active = true;
        RFN_TRY(RFN_GROW(tracker->started, tracker->started_capacity, tracker->n_started + 1));
        tracker->started[tracker->n_started++] = live->origin;
    }
    return 0;
}

static int complete_one(struct rfn_tracker *tracker, int64_t word, size_t position)
{
    struct live *live = find(tracker, word);
    bool persistent = (word & 3) == RFN_REQUEST_SLOT;
    if (word == RFN_REQUEST_NULL || (live && persistent && !live->active))
        return 0;
    RFN_TRY(RFN_GROW(tracker->completed, tracker->completed_capacity, tracker->n_completed + 1));
    struct rfn_completed *completed = &tracker->completed[tracker->n_completed++];
    *completed = (struct rfn_completed){.position = (uint32_t)position, .known = live != NULL};
    if (live)
        completed->origin = live->origin;
    return 0;
}

/* Takes out what has not completed. */
static void drop(struct rfn_tracker *tracker, size_t at)
{
    tracker->n_completed--;
    memmove(&tracker->completed[at], &tracker->completed[at + 1],
            (tracker->n_completed - at) * sizeof *tracker->completed);
}

/* Puts in what differs from what was asked for. Both are in order of position except after
 * Waitsome, whose order is that of the indices. */
static void amend(struct rfn_tracker *tracker, const int64_t *words, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i + RFN_COMPLETION_WORDS <= n; i += RFN_COMPLETION_WORDS) {
        const int64_t *entry = words + i;
        size_t left = tracker->n_completed;
        while (left && tracker->completed[at].position != entry[0]) {
            at = at + 1 < tracker->n_completed ? at + 1 : 0;
            left--;
        }
        if (!left)
            continue;
        if (entry[5] & RFN_COMPLETION_PENDING) {
            drop(tracker, at);
            at = at < tracker->n_completed ? at : 0;
            continue;
        }
        struct rfn_completed *completed = &tracker->completed[at];
        struct rfn_volume *volume = &completed->origin.volume;
        if (entry[1] != RFN_AS_POSTED)
            volume->source = entry[1];
        if (entry[2] != RFN_AS_POSTED)
            volume->tag = entry[2];
        if (entry[3] != RFN_AS_POSTED)
            volume->received_bytes = entry[3] < 0 ? -1 : entry[3];
        if (!completed->known && entry[3] != RFN_AS_POSTED)
            completed->origin.receives = true;
        completed->error = (uint32_t)entry[4];
        completed->cancelled = entry[5] & RFN_COMPLETION_CANCELLED;
    }
}

/* What the words of a completed request say of it afterwards. */
static void settle(struct rfn_tracker *tracker, const int64_t *words)
{
    for (size_t i = 0; i < tracker->n_completed; i++) {
        int64_t word = words[tracker->completed[i].position];
        struct live *live = find(tracker, word);
        if ((word & 3) != RFN_REQUEST_SLOT)
            forget(tracker, word);
        else if (live)
            live->active = false;
    }
}

static int complete_indexed(struct rfn_tracker *tracker, const struct layout *layout,
                            const struct rfn_cursor *cursor, const struct rfn_record *record,
                            const int64_t *words, size_t n)
{
    size_t n_indices = 1;
    const int64_t *indices = &record->out[layout->index];
    if (layout->indices)
        indices = rfn_cursor_list(cursor, *indices, &n_indices, RFN_KIND_INT);
    for (size_t i = 0; indices && i < n_indices; i++) {
        if (indices[i] >= 0 && (uint64_t)indices[i] < n)
            RFN_TRY(complete_one(tracker, words[indices[i]], (size_t)indices[i]));
    }
    return 0;
}

static int complete(struct rfn_tracker *tracker, const struct layout *layout,
                    const struct rfn_cursor *cursor, const struct rfn_record *record)
{
    size_t n = 0, n_words = 0;
    const int64_t *words = requests_of(layout, cursor, record, &n);
    if (!words || record->failed_poll)
        return 0;
    if (layout->index >= 0) {
        RFN_TRY(complete_indexed(tracker, layout, cursor, record, words, n));
    } else {
        for (size_t i = 0; i < n; i++)
            RFN_TRY(complete_one(tracker, words[i], i));
    }
    if (layout->completions >= 0) {
        const int64_t *entries = rfn_cursor_list(cursor, record->out[layout->completions], &n_words,
                                                 RFN_KIND_COMPLETIONS);
        if (entries)
            amend(tracker, entries, n_words);
    }
    if (layout->use == USE_COMPLETES)
        settle(tracker, words);
    return 0;
}

static int act(struct rfn_tracker *tracker, const struct layout *layout,
               const struct rfn_cursor *cursor, const struct rfn_record *record,
               const struct rfn_volume *volume)
{
    size_t n = 0;
    const int64_t *words = NULL;
    switch (layout->use) {
    case USE_NONE:
        return 0;
    case USE_CREATES:
        return record->error
                   ? 0
                   : create(tracker, &tracker->numbers, tracker->created++, record, volume);
    case USE_PERSISTENT:
        return create_persistent(tracker, layout, record, volume);
    case USE_STARTS:
        words = requests_of(layout, cursor, record, &n);
        return words ? start(tracker, words, n) : 0;
    case USE_COMPLETES:
    case USE_LOOKS:
        return complete(tracker, layout, cursor, record);
    case USE_FREES:
        forget(tracker, record->in[layout->requests]);
        return 0;
    }
    return 0;
}

int rfn_tracker_event(struct rfn_tracker *tracker, const struct rfn_cursor *cursor,
                      const struct rfn_record *record, const struct rfn_volume *volume,
                      struct rfn_request_effects *effects)
{
    tracker->n_completed = tracker->n_started = 0;
    *effects = (struct rfn_request_effects){0};
    if (record->function >= tracker->n_functions)
        return 0;
    RFN_TRY(act(tracker, &tracker->layouts[record->function], cursor, record, volume));
    *effects = (struct rfn_request_effects){tracker->completed, tracker->n_completed,
                                            tracker->started, tracker->n_started};
    return 0;
}
