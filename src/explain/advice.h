/* advice.h - one sentence on what to do about a cause of waiting. */
#ifndef RFN_EXPLAIN_ADVICE_H
#define RFN_EXPLAIN_ADVICE_H

#include "refrain/explain.h"

/* ranks: those that are late and what each cost, most first; n_all: of the run. Not RFN_LATE_EVEN.
 */
enum rfn_late_kind rfn_late_kind_of(const struct rfn_rank_ns *ranks, uint32_t n, uint32_t n_all);

/* Whether the first of n ranks, most first, costs at least twice the mean of the others of n_all.
 */
bool rfn_rank_stands_out(const struct rfn_rank_ns *ranks, uint32_t n, uint32_t n_all);

/* How many ranks, from the first of them on, cost nine tenths of the sum; 1 if that one costs two
 * thirds. */
uint32_t rfn_late_ranks(const struct rfn_rank_ns *ranks, uint32_t n);

/* What the late were doing. */
struct rfn_advised {
    enum rfn_activity_kind kind;
    uint8_t class_;  /* enum rfn_class of the call that it is or, of computing, that ends it */
    bool collective; /* that call */
    bool polls;      /* it is in a call that polls, or between polls of one place */
    bool idle;       /* computing, it hardly used a core */
    bool serial;     /* one rank computes, and no other does */
};

/* missing: ranks are not in the archive. Static. */
const char *rfn_advice(enum rfn_pattern pattern, struct rfn_advised doing, enum rfn_late_kind late,
                       bool missing);

#endif
