/* event_heap.h - which event comes next: each of n ids has at most one date.
 *
 * A heap of four children per node. Equal dates come in the order in which they were set.
 */
#ifndef RFN_SIMULATE_EVENT_HEAP_H
#define RFN_SIMULATE_EVENT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rfn_event_heap {
    struct rfn_event {
        double date;
        uint64_t order;
        uint32_t id;
    } * events;
    size_t n, capacity;
    uint32_t *places; /* by id: where it is, + 1; 0: it has no date */
    size_t ids;
    uint64_t order;
};

void rfn_event_heap_release(struct rfn_event_heap *heap);
/* The id's date, in place of the one it has. RFN_E_NOMEM. */
int rfn_event_set(struct rfn_event_heap *heap, uint32_t id, double date);
void rfn_event_drop(struct rfn_event_heap *heap, uint32_t id);
/* The first one, which there must be, goes. */
uint32_t rfn_event_take(struct rfn_event_heap *heap);

static inline double rfn_event_first(const struct rfn_event_heap *heap)
{
    return heap->events[0].date;
}

#endif
