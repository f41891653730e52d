/* ti_expand.h - a collective call as messages, for text that has no word for it: on a
 * sub-communicator, or with a request.
 *
 * A call that blocks is made of
 *
 *   barrier                     dissemination
 *   bcast, reduce, allreduce    binomial trees (allreduce: reduce, then bcast)
 *   scan, exscan                a chain
 *   gather(v), scatter(v)       linear
 *   allgather(v), alltoall(v)   linear: each with each
 *   reduce_scatter              reduce, then a linear scatter
 *
 * A call with a request posts all of its messages at once, linearly (an allreduce: each to each):
 * nothing may depend on where a rank waits for it.
 */
#ifndef RFN_CONVERT_TEXT_TI_EXPAND_H
#define RFN_CONVERT_TEXT_TI_EXPAND_H

#include "refrain/actions.h"

struct rfn_expansion {
    struct rfn_action *actions; /* SEND, RECV, COMPUTE, and WAIT for requests below: */
    size_t n, capacity;
    int64_t *requests; /* WAIT's lists point here when the expansion is complete */
    size_t n_requests, requests_capacity;
    int64_t next_request; /* its requests are numbered from here on; the caller's to set */
    int64_t tag;          /* of its messages; the caller's of rfn_expand to set */
    uint32_t own;         /* rank in the communicator */
    const int64_t *members;
    uint32_t size;
    int64_t *world; /* members of MPI_COMM_WORLD, once they were needed */
};

void rfn_expansion_release(struct rfn_expansion *expansion);
/* Sets actions, n and next_request. members: ranks in MPI_COMM_WORLD. RFN_E_NOMEM;
 * RFN_E_UNSUPPORTED: the rank is no member. */
int rfn_expand(struct rfn_expansion *expansion, const struct rfn_action *action,
               const int64_t *members, uint32_t size, uint32_t rank);
/* The same for a call of a rank whose members the actions know; sets the tag, too.
 * RFN_E_UNSUPPORTED: *fault says why it has no messages. */
int rfn_expand_call(struct rfn_expansion *expansion, const struct rfn_actions *actions,
                    const struct rfn_action *action, uint32_t rank, const char **fault);

/* SENDRECV as MPI has it: a receive and a send that are posted, with this request and the next. */
void rfn_expand_sendrecv(const struct rfn_action *action, int64_t request,
                         struct rfn_action parts[2]);

/* Tags of MPI_COMM_WORLD stay; others have the communicator's number in them. */
int64_t rfn_text_tag(uint32_t comm, int64_t tag);

#endif
