#include "convert/text/ti_requests.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_ti_requests_release(struct rfn_ti_requests *requests)
{
    free(requests->items);
    free(requests->numbers);
    rfn_map_release(&requests->queues);
    *requests = (struct rfn_ti_requests){0};
}

static struct rfn_ti_request *at(const struct rfn_ti_requests *requests, uint32_t place)
{
    return &requests->items[place - 1];
}

static uint64_t queue_of(uint32_t first, uint32_t last)
{
    return (uint64_t)first << 32 | last;
}

/* A place that is not pending; 0: out of memory. */
static uint32_t find_place(struct rfn_ti_requests *requests)
{
    const uint32_t place = requests->free;
    if (place) {
        requests->free = at(requests, place)->after;
        return place;
    }
    if (requests->n >= UINT32_MAX / 2 ||
        RFN_GROW(requests->items, requests->capacity, requests->n + 1) < 0)
        return 0;
    return (uint32_t)++requests->n;
}

/* Behind the others of its key. */
static int append(struct rfn_ti_requests *requests, uint32_t place)
{
    struct rfn_ti_request *request = at(requests, place);
    uint64_t *queue = rfn_map_get(&requests->queues, request->key);
    request->before = request->after = 0;
    if (!queue)
        return rfn_map_put(&requests->queues, request->key, queue_of(place, place));
    request->before = (uint32_t)*queue;
    at(requests, request->before)->after = place;
    *queue = queue_of((uint32_t)(*queue >> 32), place);
    return 0;
}

int64_t rfn_ti_requests_post(struct rfn_ti_requests *requests, uint64_t key)
{
    const uint32_t place = find_place(requests);
    if (!place)
        return RFN_E_NOMEM;
    *at(requests, place) = (struct rfn_ti_request){
        .key = key, .number = requests->made, .earlier = requests->last};
    RFN_TRY(append(requests, place));
    if (requests->last)
        at(requests, requests->last)->later = place;
    else
        requests->first = place;
    requests->last = place;
    requests->n_pending++;
    return requests->made++;
}

static void unqueue(struct rfn_ti_requests *requests, struct rfn_ti_request *request,
                    uint64_t *queue)
{
    const uint32_t first = request->before ? (uint32_t)(*queue >> 32) : request->after;
    const uint32_t last = request->after ? (uint32_t)*queue : request->before;
    if (request->before)
        at(requests, request->before)->after = request->after;
    if (request->after)
        at(requests, request->after)->before = request->before;
    if (first)
        *queue = queue_of(first, last);
    else
        rfn_map_remove(&requests->queues, request->key);
}

/* Takes it from the list of all, when it is in no queue any more. */
static int64_t let_go(struct rfn_ti_requests *requests, struct rfn_ti_request *request)
{
    if (request->earlier)
        at(requests, request->earlier)->later = request->later;
    else
        requests->first = request->later;
    if (request->later)
        at(requests, request->later)->earlier = request->earlier;
    else
        requests->last = request->earlier;
    request->after = requests->free;
    requests->free = (uint32_t)(request - requests->items) + 1;
    requests->n_pending--;
    return request->number;
}

int64_t rfn_ti_requests_take(struct rfn_ti_requests *requests, uint64_t key)
{
    uint64_t *queue = rfn_map_get(&requests->queues, key);
    if (!queue)
        return -1;
    struct rfn_ti_request *request = at(requests, (uint32_t)(*queue >> 32));
    unqueue(requests, request, queue);
    return let_go(requests, request);
}

int64_t rfn_ti_requests_test(struct rfn_ti_requests *requests, uint64_t key)
{
    uint64_t *queue = rfn_map_get(&requests->queues, key);
    if (!queue)
        return -1;
    const uint32_t place = (uint32_t)(*queue >> 32);
    struct rfn_ti_request *request = at(requests, place);
    if (request->after) {
        unqueue(requests, request, queue);
        RFN_TRY(append(requests, place));
    }
    return request->number;
}

int64_t rfn_ti_requests_take_last(struct rfn_ti_requests *requests)
{
    if (!requests->last)
        return -1;
    struct rfn_ti_request *request = at(requests, requests->last);
    unqueue(requests, request, rfn_map_get(&requests->queues, request->key));
    return let_go(requests, request);
}

int64_t rfn_ti_requests_take_all(struct rfn_ti_requests *requests)
{
    int64_t n = 0;
    RFN_TRY(RFN_GROW(requests->numbers, requests->numbers_capacity, requests->n_pending + 1));
    while (requests->first) {
        struct rfn_ti_request *request = at(requests, requests->first);
        requests->numbers[n++] = request->number;
        rfn_map_remove(&requests->queues, request->key);
        let_go(requests, request);
    }
    return n;
}
