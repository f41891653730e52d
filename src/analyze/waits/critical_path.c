#include "analyze/waits/critical_path.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

int rfn_critical_grow(struct rfn_chain *chain, size_t needed)
{
    return RFN_GROW_ZEROED(chain->ns, chain->capacity, needed);
}

/* The chain that the stream had at a point of its history; NULL if it is gone. A chain taken over
 * in a call is not the one at the call's enter, though `from` is the same. */
static const struct rfn_chain *chain_at(const struct rfn_critical_stream *stream, uint64_t at)
{
    unsigned i = stream->current, n = stream->n_before;
    for (; n > 0 && stream->chains[i].from >= at; n--)
        i = (i + RFN_CHAINS_KEPT - 1) % RFN_CHAINS_KEPT;
    bool gone = stream->forgot && n == 0 && stream->chains[i].from >= at;
    return gone ? NULL : &stream->chains[i];
}

/* Takes off what was done from a point on. Waiting that was passed on never was in the chain. */
static void take_off(struct rfn_chain *chain, const struct rfn_history *history, uint64_t from,
                     uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        const struct rfn_logged *done = &history->log[i & history->mask];
        if (done->what < chain->capacity)
            chain->ns[done->what] -= done->ns;
    }
}

/* Goes back in time: takes off what was done last before `at`, but not before `from`, until *ns of
 * it are off; what is left of them then. */
static void go_back(struct rfn_chain *chain, const struct rfn_history *history, uint64_t from,
                    uint64_t at, int64_t *ns)
{
    for (; at > from && *ns > 0; at--) {
        const struct rfn_logged *done = &history->log[(at - 1) & history->mask];
        int64_t part = done->ns < *ns ? done->ns : *ns;
        if (done->what >= chain->capacity)
            continue;
        chain->ns[done->what] -= part;
        *ns -= part;
    }
}

int rfn_critical_jump(struct rfn_critical_stream *stream, uint64_t at,
                      const struct rfn_critical_stream *late, const struct rfn_history *history,
                      const struct rfn_point *until, int64_t *over)
{
    const struct rfn_chain *from = chain_at(late, until->at);
    if (!from || until->at < history->first)
        return 0;
    struct rfn_chain *old = &stream->chains[stream->current];
    unsigned next = (stream->current + 1) % RFN_CHAINS_KEPT;
    struct rfn_chain *chain = &stream->chains[next];
    if (from->capacity > chain->capacity)
        RFN_TRY(rfn_critical_grow(chain, from->capacity));
    if (from->capacity)
        memcpy(chain->ns, from->ns, from->capacity * sizeof *chain->ns);
    if (chain->capacity > from->capacity)
        memset(chain->ns + from->capacity, 0,
               (chain->capacity - from->capacity) * sizeof *chain->ns);
    uint64_t end = from->to ? from->to : history->at;
    take_off(chain, history, until->at > from->from ? until->at : from->from,
             end < history->at ? end : history->at);
    go_back(chain, history, from->from > history->first ? from->from : history->first, until->at,
            over);
    old->to = at;
    chain->from = at;
    chain->to = 0;
    stream->current = next;
    if (stream->n_before < RFN_CHAINS_KEPT - 1)
        stream->n_before++;
    else
        stream->forgot = true;
    return 1;
}

void rfn_critical_release(struct rfn_critical_stream *stream)
{
    for (unsigned i = 0; i < RFN_CHAINS_KEPT; i++)
        free(stream->chains[i].ns);
}
