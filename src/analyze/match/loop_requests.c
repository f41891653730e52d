#include "analyze/match/loop_requests.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

void rfn_loop_release(struct rfn_loop_requests *loop)
{
    free(loop->requests);
    free(loop->order);
    free(loop->places);
    *loop = (struct rfn_loop_requests){0};
}

int rfn_loop_learn(struct rfn_loop_requests *loop, uint32_t width)
{
    RFN_TRY(RFN_GROW(loop->places, loop->places_capacity, width));
    memset(loop->places, 0, width * sizeof *loop->places);
    loop->n = loop->n_completed = 0;
    loop->knowledge = RFN_LOOP_LEARNING;
    return 0;
}

int rfn_loop_makes(struct rfn_loop_requests *loop, uint32_t place,
                   const struct rfn_request_origin *made)
{
    RFN_TRY(RFN_GROW(loop->requests, loop->capacity, loop->n + 1));
    loop->places[place].first = (uint32_t)loop->n;
    loop->requests[loop->n++] = (struct rfn_loop_request){
        .id = made->id, .open = true, .symbol = made->symbol, .made = place};
    return 0;
}

/* The open request with an id of the tracker's; NULL: an earlier iteration made it. */
static struct rfn_loop_request *find(const struct rfn_loop_requests *loop, uint32_t id)
{
    for (size_t i = loop->n; i-- > 0;) {
        if (loop->requests[i].open && loop->requests[i].id == id)
            return &loop->requests[i];
    }
    return NULL;
}

int rfn_loop_completes(struct rfn_loop_requests *loop, uint32_t place,
                       const struct rfn_completed *completed, size_t n)
{
    RFN_TRY(RFN_GROW(loop->order, loop->order_capacity, loop->n_completed + n));
    loop->places[place] = (struct rfn_loop_place){(uint32_t)loop->n_completed, (uint32_t)n};
    for (size_t i = 0; i < n; i++) {
        const struct rfn_request_origin *origin = completed[i].origin;
        bool plain = completed[i].known && !completed[i].cancelled;
        struct rfn_loop_request *request = plain ? find(loop, origin->id) : NULL;
        if (!request) {
            rfn_loop_differs(loop);
            return 0;
        }
        request->open = false;
        request->completed = place;
        if (origin->receives && origin->volume->received_bytes > 0)
            request->received_bytes = (uint64_t)origin->volume->received_bytes;
        loop->order[loop->n_completed++] = (uint32_t)(request - loop->requests);
    }
    return 0;
}

void rfn_loop_differs(struct rfn_loop_requests *loop)
{
    loop->knowledge = RFN_LOOP_OPEN;
}

void rfn_loop_learned(struct rfn_loop_requests *loop)
{
    if (loop->knowledge == RFN_LOOP_LEARNING)
        loop->knowledge = loop->n_completed == loop->n ? RFN_LOOP_CLOSED : RFN_LOOP_OPEN;
}
