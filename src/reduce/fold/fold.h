/* fold.h - finds the loops in a sequence of symbols, on line, exactly.
 *
 * A stack of nodes holds the sequence so far. A node is a symbol or a visit of a loop. A loop is
 * its body, a sequence of nodes, interned: equal bodies are one loop. How often a visit repeated
 * its body (its trips, possibly 0 or 1) is not part of the loop: the trips of all visits of a loop
 * lie in a column of the loop, in the order in which unfolding meets the visits. So loops whose
 * trip counts vary do not keep the loops around them from folding.
 *
 * Appending is amortized constant time (every fold removes nodes from the stack) without a limit
 * on the length of a body or the depth of nesting. Unfolding gives back the sequence exactly.
 *
 * A sequence in which little repeats makes the stack grow with its length. With a limit on the
 * stack's height its older half is frozen whenever it gets that high: those nodes go to a column,
 * which can leave memory, and take no part in folding any more.
 */
#ifndef RFN_REDUCE_FOLD_FOLD_H
#define RFN_REDUCE_FOLD_FOLD_H

#include "reduce/columns/column.h"

#include <stddef.h>
#include <stdint.h>

/* A node: a symbol number times 2, or a loop number times 2 plus 1. */
typedef uint32_t rfn_node;

static inline rfn_node rfn_node_symbol(uint32_t symbol)
{
    return symbol << 1;
}

static inline rfn_node rfn_node_loop(uint32_t loop)
{
    return loop << 1 | 1;
}

static inline int rfn_node_is_loop(rfn_node node)
{
    return node & 1;
}

static inline uint32_t rfn_node_index(rfn_node node)
{
    return node >> 1;
}

/* What readers allow for. Visits of no trips are made when a symbol is about to come that goes
 * behind them; where this symbol then becomes part of something else, a trip is left that has no
 * symbol at all. So there are some between two symbols, at most; never this many. */
enum { RFN_EMPTY_TRIPS_MAX = 256 };

struct rfn_fold;

/* max_nodes: the limit on the stack, at least 1024, or 0 for none. NULL when out of memory. */
struct rfn_fold *rfn_fold_new(uint32_t max_nodes);
void rfn_fold_free(struct rfn_fold *fold);

/* From now on watch is told of the symbols that are appended, in order, as nodes; it is taken to
 * know those before. A whole iteration of a loop is left out where the one before it, which is
 * equal, is known: so of a loop that goes on nothing is told. What has come of the iteration that
 * is being made may be told later, with what ends it, or by rfn_fold_tell. NULL: nobody is told any
 * more. */
typedef void rfn_fold_watch(void *context, const rfn_node *symbols, size_t n);
void rfn_fold_watch_by(struct rfn_fold *fold, rfn_fold_watch *watch, void *context);
void rfn_fold_tell(struct rfn_fold *fold);

/* Appends a symbol (< 2^31 - 1). RFN_E_NOMEM: the fold is then unusable except for free. */
int rfn_fold_append(struct rfn_fold *fold, uint32_t symbol);

/* Freezes the whole stack: the visits on it end, and what has been appended so far keeps its
 * structure from now on. RFN_E_NOMEM: the fold is then unusable except for free. */
int rfn_fold_freeze(struct rfn_fold *fold);

/* The result so far. All arrays are borrowed until the next append. Loop numbers are 0 to n_loops
 * - 1; the body of a loop only has loops of lower numbers. Loops that no node reachable from the
 * top uses any more may still be listed; their trip columns are empty. */
struct rfn_fold_view {
    const struct rfn_column *frozen; /* nodes before those of the stack */
    const rfn_node *top;             /* the stack, oldest first */
    size_t n_top;
    size_t n_loops;
};

void rfn_fold_view(const struct rfn_fold *fold, struct rfn_fold_view *view);
const rfn_node *rfn_fold_body(const struct rfn_fold *fold, uint32_t loop, size_t *length);
/* The trips of all visits so far; NULL when out of memory. The trips of a loop's last visit are
 * kept apart while it may grow; asking for the column brings it up to date. */
const struct rfn_column *rfn_fold_trips(const struct rfn_fold *fold, uint32_t loop);

/* Calls visit for every column, until it returns an error: the trips of loops, frozen nodes. Visit
 * may spill them, but not append. */
int rfn_fold_each_column(struct rfn_fold *fold,
                         int (*visit)(void *context, struct rfn_column *column), void *context);

/* Walks the folded structure and calls visit for every symbol in the original order, until it
 * returns non-zero (which is returned then). RFN_E_NOMEM. Memory is that of the coded columns
 * and what nesting needs. */
int rfn_fold_unfold(const struct rfn_fold *fold, int (*visit)(void *context, uint32_t symbol),
                    void *context);

/* Columns were spilled: sums up anew what they hold. */
void rfn_fold_recount(struct rfn_fold *fold);

/* Figures for benchmarks and tests. */
struct rfn_fold_stats {
    uint64_t appended;    /* symbols */
    uint64_t nodes;       /* on the stack plus in the bodies of reachable loops */
    uint64_t comparisons; /* stretches compared by hash */
    size_t bytes;         /* memory held, columns included */
};

void rfn_fold_stats(const struct rfn_fold *fold, struct rfn_fold_stats *stats);

#endif
