/* critical_path.h - the longest chain of activities that leads to where each stream is.
 *
 * A chain is kept as its composition: time per activity. A stream that has waited goes on with the
 * chain of the stream that it waited for, as that was at the point where the wait ended. Points lie
 * in the near past, so that chain is found by taking off what the stream did since; where it has
 * itself taken over another chain meanwhile, from the few chains that it had before. If it is not
 * among those any more, the stream that waited stays on its own chain.
 */
#ifndef RFN_ANALYZE_WAITS_CRITICAL_PATH_H
#define RFN_ANALYZE_WAITS_CRITICAL_PATH_H

#include "analyze/match/match_point.h"
#include "analyze/waits/history.h"

enum { RFN_CHAINS_KEPT = 4 };

struct rfn_chain {
    int64_t *ns; /* per activity */
    size_t capacity;
    uint64_t from,
        to; /* the part of the history while it was the stream's: [from, to); to 0: until now
             */
};

struct rfn_critical_stream {
    unsigned current, n_before; /* those before the current one that are kept */
    bool forgot;                /* there were more */
    struct rfn_chain chains[RFN_CHAINS_KEPT];
};

/* The stream has done something that is part of its chain; RFN_E_NOMEM. */
int rfn_critical_grow(struct rfn_chain *chain, size_t needed);
static inline int rfn_critical_add(struct rfn_critical_stream *stream, uint32_t activity,
                                   int64_t ns)
{
    struct rfn_chain *chain = &stream->chains[stream->current];
    if (activity >= chain->capacity)
        RFN_TRY(rfn_critical_grow(chain, (size_t)activity + 1));
    chain->ns[activity] += ns;
    return 0;
}

/* The stream, whose history is at `at`, has waited until that point of the other one: it takes over
 * that one's chain, and 1 is returned; 0 if that is not known any more. RFN_E_NOMEM. *over: how
 * much later that point lies than the end of the wait, ns; so much of what the other did last is
 * no part of the chain, as far as it was that one's own. What is left of it is set. */
int rfn_critical_jump(struct rfn_critical_stream *stream, uint64_t at,
                      const struct rfn_critical_stream *late, const struct rfn_history *history,
                      const struct rfn_point *until, int64_t *over);
void rfn_critical_release(struct rfn_critical_stream *stream);

#endif
