/* ti_requests.h - which request a `wait` of time-independent text means.
 *
 * SimGrid keeps the requests of a rank by (source, destination, tag), each key a queue. The thesis'
 * `wait` takes the one that was posted last.
 */
#ifndef RFN_CONVERT_TEXT_TI_REQUESTS_H
#define RFN_CONVERT_TEXT_TI_REQUESTS_H

#include "base/map.h"

struct rfn_ti_request {
    uint64_t key;
    int64_t number;
    uint32_t before, after;  /* of the same key: place + 1, 0: none */
    uint32_t earlier, later; /* of all, in order of posting: the same */
};

/* All zeros at first. */
struct rfn_ti_requests {
    struct rfn_ti_request *items; /* what is not pending is in the free list, by `after` */
    size_t n, capacity;
    uint32_t free, first, last; /* place + 1, 0: none */
    size_t n_pending;
    struct rfn_map queues; /* key -> first and last of the key, 32 bits each */
    int64_t made;          /* number of the next request */
    int64_t *numbers;      /* that were taken */
    size_t numbers_capacity;
};

void rfn_ti_requests_release(struct rfn_ti_requests *requests);

/* tag is cut to 32 bits. sends: rank -> peer, else the other way; to itself both are one key. */
static inline uint64_t rfn_ti_request_key(uint32_t rank, int64_t peer, int64_t tag, bool sends)
{
    return (uint64_t)(uint32_t)peer << 33 ^ (uint64_t)(sends && peer != rank) << 32 ^ (uint32_t)tag;
}

/* A request is posted: its number, or RFN_E_NOMEM. */
int64_t rfn_ti_requests_post(struct rfn_ti_requests *requests, uint64_t key);
/* Takes the first of a key; -1: there is none. */
int64_t rfn_ti_requests_take(struct rfn_ti_requests *requests, uint64_t key);
/* Moves the first of a key behind the others of it, and tells its number; -1: there is none. */
int64_t rfn_ti_requests_test(struct rfn_ti_requests *requests, uint64_t key);
/* Takes the one that was posted last; -1: there is none. */
int64_t rfn_ti_requests_take_last(struct rfn_ti_requests *requests);
/* Takes all: requests->numbers, n_pending as it was are returned. RFN_E_NOMEM. */
int64_t rfn_ti_requests_take_all(struct rfn_ti_requests *requests);

#endif
