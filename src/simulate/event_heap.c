#include "simulate/event_heap.h"

#include "base/grow.h"

#include <stdlib.h>

enum { CHILDREN = 4 };

void rfn_event_heap_release(struct rfn_event_heap *heap)
{
    free(heap->events);
    free(heap->places);
    *heap = (struct rfn_event_heap){0};
}

static bool before(const struct rfn_event *a, const struct rfn_event *b)
{
    return a->date < b->date || (a->date == b->date && a->order < b->order);
}

static void place(struct rfn_event_heap *heap, size_t at, struct rfn_event event)
{
    heap->events[at] = event;
    heap->places[event.id] = (uint32_t)at + 1;
}

/* Moves the event to its place, up or down from `at`, which is free. */
static void sift(struct rfn_event_heap *heap, size_t at, struct rfn_event event)
{
    while (at && before(&event, &heap->events[(at - 1) / CHILDREN])) {
        place(heap, at, heap->events[(at - 1) / CHILDREN]);
        at = (at - 1) / CHILDREN;
    }
    for (;;) {
        const size_t first = at * CHILDREN + 1;
        size_t least = first;
        for (size_t i = first; i < first + CHILDREN && i < heap->n; i++) {
            if (before(&heap->events[i], &heap->events[least]))
                least = i;
        }
        if (least >= heap->n || !before(&heap->events[least], &event))
            break;
        place(heap, at, heap->events[least]);
        at = least;
    }
    place(heap, at, event);
}

int rfn_event_set(struct rfn_event_heap *heap, uint32_t id, double date)
{
    RFN_TRY(RFN_GROW_ZEROED(heap->places, heap->ids, (size_t)id + 1));
    const struct rfn_event event = {date, heap->order++, id};
    if (heap->places[id]) {
        sift(heap, heap->places[id] - 1, event);
        return 0;
    }
    RFN_TRY(RFN_GROW(heap->events, heap->capacity, heap->n + 1));
    sift(heap, heap->n++, event);
    return 0;
}

void rfn_event_drop(struct rfn_event_heap *heap, uint32_t id)
{
    if (id >= heap->ids || !heap->places[id])
        return;
    const size_t at = heap->places[id] - 1;
    heap->places[id] = 0;
    if (at < --heap->n)
        sift(heap, at, heap->events[heap->n]);
}

uint32_t rfn_event_take(struct rfn_event_heap *heap)
{
    const uint32_t id = heap->events[0].id;
    rfn_event_drop(heap, id);
    return id;
}
