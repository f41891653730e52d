/* contexts.h - where segments are cut, and what their contexts are (doc/trace-profiling.md).
 *
 * A loop cuts when its body has enough events; where the program sets marks, only those count, and
 * one is enough. The nodes of a list between two loops that cut are a stretch, and the stretches of
 * loops that cut are contexts, numbered in order of the loops. All of that follows from the bodies,
 * which never change: a structure that grows only gets more contexts. The stretches of the top, a
 * list that does grow, are numbered apart.
 */
#ifndef RFN_REDUCE_SEGMENTS_CONTEXTS_H
#define RFN_REDUCE_SEGMENTS_CONTEXTS_H

#include "reduce/fold/fold.h"
#include "refrain/event.h"

#include <stdbool.h>

/* What the program's marks do, events of the classes SEGMENT_BEGIN and SEGMENT_END. */
enum rfn_mark {
    RFN_MARK_NONE,
    RFN_MARK_BEGIN, /* the event begins a segment */
    RFN_MARK_END    /* the event behind it does */
};

static inline enum rfn_mark rfn_mark_of(uint8_t class_)
{
    return class_ == RFN_CLASS_SEGMENT_BEGIN ? RFN_MARK_BEGIN
           : class_ == RFN_CLASS_SEGMENT_END ? RFN_MARK_END
                                             : RFN_MARK_NONE;
}

struct rfn_loop_contexts {
    uint32_t events; /* of an iteration, inner loops once, those that count; at most `least` */
    uint32_t first;  /* the context of its body's first stretch, if it cuts */
};

struct rfn_contexts {
    struct rfn_loop_contexts *loops;
    size_t n_loops, capacity;
    uint32_t n;     /* contexts so far */
    uint32_t least; /* events with which a loop cuts */
};

void rfn_contexts_init(struct rfn_contexts *contexts, uint32_t least);
void rfn_contexts_release(struct rfn_contexts *contexts);
/* The next loop, by its body; the loops in it were added before. counts: per symbol, whether its
 * events count; NULL: all do. RFN_E_NOMEM. */
int rfn_contexts_add(struct rfn_contexts *contexts, const rfn_node *body, size_t length,
                     const bool *counts);
/* The same with a given number of events: whether it cuts is known. */
int rfn_contexts_add_as(struct rfn_contexts *contexts, const rfn_node *body, size_t length,
                        uint32_t events);
/* How many stretches a list has: one more than loops that cut. All its loops were added. */
uint32_t rfn_contexts_stretches(const struct rfn_contexts *contexts, const rfn_node *nodes,
                                size_t n);

static inline bool rfn_contexts_cuts(const struct rfn_contexts *contexts, uint32_t loop)
{
    return contexts->loops[loop].events >= contexts->least;
}

/* ---- walking: which stretch an event lies in ---- */

/* Of a list that is being executed. The top's begins at 0. */
struct rfn_stretch {
    uint32_t context, first; /* now; at the beginning of the list */
    bool flat;               /* the list is of a loop that does not cut: nothing does in it */
};

/* The list has come to a loop, whether it makes trips or not. Returns whether a segment ends. */
static inline bool rfn_stretch_meets(struct rfn_stretch *stretch,
                                     const struct rfn_contexts *contexts, uint32_t loop)
{
    if (stretch->flat || !rfn_contexts_cuts(contexts, loop))
        return false;
    stretch->context++;
    return true;
}

/* The first stretch of a loop's body. */
static inline struct rfn_stretch rfn_stretch_inside(const struct rfn_stretch *around,
                                                    const struct rfn_contexts *contexts,
                                                    uint32_t loop)
{
    bool flat = around->flat || !rfn_contexts_cuts(contexts, loop);
    uint32_t context = flat ? around->context : contexts->loops[loop].first;
    return (struct rfn_stretch){.context = context, .first = context, .flat = flat};
}

/* The list has come to its end, and may begin again. Returns whether a segment ends. */
static inline bool rfn_stretch_ends(struct rfn_stretch *stretch)
{
    stretch->context = stretch->first;
    return !stretch->flat;
}

#endif
