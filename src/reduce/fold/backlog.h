/* backlog.h - events that wait to be reduced together.
 *
 * Reducing an event touches its symbol, the symbol's columns, tables and the folding stack: dozens
 * of cache lines. Where many ranks share a core, a rank's turns are a few calls long and start with
 * cold caches: each line would be fetched anew for every call. So an event is only copied behind
 * those before it; when the backlog is full all are reduced, and what they touch is fetched once.
 *
 * An event's record: a header, then its input words, then its outcomes.
 */
#ifndef RFN_REDUCE_FOLD_BACKLOG_H
#define RFN_REDUCE_FOLD_BACKLOG_H

#include "reduce/fold/stream.h"

#include <stdbool.h>
#include <stdint.h>

enum { RFN_BACKLOG_WORDS = 4096 };

struct rfn_backlog {
    uint32_t n; /* words used */
    int64_t words[RFN_BACKLOG_WORDS];
};

enum { RFN_BACKLOG_HEADER = 6 }; /* words, the last two only written with volumes */

static inline bool rfn_backlog_has_room(const struct rfn_backlog *backlog)
{
    return backlog->n + RFN_BACKLOG_HEADER + 2 * RFN_PARAMS_MAX <= RFN_BACKLOG_WORDS;
}

/* There must be room. Whole words are written: reading the parts of one later costs nothing. */
static inline void rfn_backlog_put(struct rfn_backlog *backlog, const struct rfn_event *event,
                                   unsigned n_in, unsigned n_out, bool volume)
{
    int64_t *words = backlog->words + backlog->n;
    *words++ = (int64_t)((uint64_t)event->function << 32 | event->site);
    *words++ = (int64_t)((uint64_t)n_out << 56 | (uint64_t)n_in << 48 |
                         (uint64_t)event->poll << 32 | event->error);
    *words++ = (int64_t)event->enter;
    *words++ = (int64_t)event->exit;
    if (__builtin_expect(volume, 0)) {
        words[0] = (int64_t)event->volume_enter;
        words[1] = (int64_t)event->volume_exit;
    }
    words += 2;
    for (unsigned i = 0; i < n_in; i++)
        *words++ = event->in[i];
    for (unsigned i = 0; i < n_out; i++)
        *words++ = event->out[i];
    backlog->n = (uint32_t)(words - backlog->words);
}

/* The event at *at, which moves behind it. Its words are borrowed from the backlog. */
static inline struct rfn_event rfn_backlog_get(const struct rfn_backlog *backlog, uint32_t *at)
{
    const int64_t *words = backlog->words + *at;
    uint64_t what = (uint64_t)words[0], rest = (uint64_t)words[1];
    uint32_t n_in = rest >> 48 & 0xff, n_out = (uint32_t)(rest >> 56);
    *at += RFN_BACKLOG_HEADER + n_in + n_out;
    return (struct rfn_event){.site = (uint32_t)what,
                              .function = (uint32_t)(what >> 32),
                              .error = (uint32_t)rest,
                              .poll = (enum rfn_poll)(rest >> 32 & 0xffff),
                              .in = words + RFN_BACKLOG_HEADER,
                              .out = words + RFN_BACKLOG_HEADER + n_in,
                              .enter = (uint64_t)words[2],
                              .exit = (uint64_t)words[3],
                              .volume_enter = (uint64_t)words[4],
                              .volume_exit = (uint64_t)words[5]};
}

#endif
