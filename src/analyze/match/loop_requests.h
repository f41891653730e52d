/* loop_requests.h - the requests that each iteration of a loop makes and completes.
 *
 * Where the words of a loop's events last (archive/cursor/cursor.h, batches), each iteration does
 * to requests what the one before has done. It is learned from the tracker (refrain/completion.h),
 * event by event, in one iteration. Where that completes just what it has made, later ones need no
 * tracker: a request is known by its number in the iteration.
 */
#ifndef RFN_ANALYZE_MATCH_LOOP_REQUESTS_H
#define RFN_ANALYZE_MATCH_LOOP_REQUESTS_H

#include "refrain/completion.h"

/* What a request of a process is for. Of Isendrecv it is both. */
struct rfn_begun {
    uint32_t message; /* that is sent, + 1; or RFN_JOINS */
    uint32_t receive; /* + 1 */
};

struct rfn_loop_request {
    struct rfn_begun doing; /* the user's */
    uint32_t id;            /* of the tracker's, while it is learned */
    bool open;
    uint32_t symbol;          /* of the event that makes it */
    uint32_t made, completed; /* by the events at these places of the iteration */
    uint64_t received_bytes;  /* by a receive */
};

enum rfn_loop_knowledge { RFN_LOOP_UNKNOWN, RFN_LOOP_LEARNING, RFN_LOOP_CLOSED, RFN_LOOP_OPEN };

/* All zeros: nothing is known. */
struct rfn_loop_requests {
    enum rfn_loop_knowledge knowledge; /* CLOSED: it holds for all iterations */
    struct rfn_loop_request *requests; /* in the order in which they are made */
    size_t n, capacity;
    uint32_t *order; /* of requests, in which they are completed */
    size_t n_completed, order_capacity;
    /* Per event of an iteration: its first request, or the first of order; and how many it
     * completes. */
    struct rfn_loop_place {
        uint32_t first, n;
    } * places;
    size_t places_capacity;
};

void rfn_loop_release(struct rfn_loop_requests *loop);

/* An iteration of so many events is to be learned. RFN_E_NOMEM. */
int rfn_loop_learn(struct rfn_loop_requests *loop, uint32_t width);
/* While it is learned: the event at a place makes a request, completes some, or does something else
 * to requests. RFN_E_NOMEM. */
int rfn_loop_makes(struct rfn_loop_requests *loop, uint32_t place,
                   const struct rfn_request_origin *made);
int rfn_loop_completes(struct rfn_loop_requests *loop, uint32_t place,
                       const struct rfn_completed *completed, size_t n);
void rfn_loop_differs(struct rfn_loop_requests *loop);
/* The iteration is over. */
void rfn_loop_learned(struct rfn_loop_requests *loop);

#endif
