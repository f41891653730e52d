/* path_signature.h - the call-path signature of a stream: which calls it made, and in which order
 * (Bahmani and Mueller, 3.1), from the folded structure, without unfolding what need not be.
 *
 * Three forms:
 * - elastic, the default: how often anything was repeated does not count (elastic_signature.h). A
 *   loop is its body, once; only loops that are left out now and then (0 trips) are unfolded,
 *   together with the loops around them.
 * - strict: the sequence of call paths as it is, counts included.
 * - xor, the form of the paper: the exclusive or over all events of ((i mod 10) + 1) times the
 *   call hash of event i, i from 0. Even repetitions may cancel in it.
 *
 * All three are functions of the sequence alone, however it was folded; but where the elastic form
 * would take more than 2^28 hashes (path_word.h), which may tell apart what is equal. What is
 * hashed of function and call path is the caller's affair.
 */
#ifndef RFN_REDUCE_CLUSTERS_PATH_SIGNATURE_H
#define RFN_REDUCE_CLUSTERS_PATH_SIGNATURE_H

#include "reduce/columns/column.h"
#include "reduce/fold/elastic_signature.h"
#include "reduce/fold/fold.h"
#include "refrain/clusters.h"

#include <stddef.h>
#include <stdint.h>

struct rfn_path_nodes {
    const rfn_node *nodes;
    size_t n;
};

/* What it may take, where time is short. */
struct rfn_path_limits {
    uint64_t steps; /* symbols, loops, nodes and trips that are looked at */
    uint64_t calls; /* of the bodies of all loops, shortened */
    uint64_t work;  /* of the elastic form in the end: call hashes, times the calls that are left */
};

/* A folded sequence; all borrowed. A loop's body has only loops of lower numbers. */
struct rfn_path_source {
    struct rfn_path_nodes top;
    const struct rfn_path_nodes *loops;
    uint32_t n_loops, n_symbols;
    const uint64_t *call_hashes; /* per symbol; 0: it does not count */
    /* Opens the trips of a loop, one per visit; the cursor is closed by the caller. */
    int (*trips)(void *context, uint32_t loop, struct rfn_column_cursor *cursor);
    void *context;
    uint64_t events; /* of the sequence, at most: more executions of a loop are damage */
    /* May be NULL. Gives the nodes before those of top, one piece after the other, and in the end
     * one without nodes. A piece may go when the next one is asked for. */
    int (*before_top)(void *context, struct rfn_path_nodes *piece);
    struct rfn_path_limits *limits; /* NULL: only memory is bounded. What is used is taken off */
};

/* O(nodes + trips), and for the elastic form O(call hashes) times the length of what is left of the
 * sequence. RFN_E_NOMEM; RFN_E_CORRUPT where the source is not what it says; RFN_E_RANGE beyond a
 * limit, before anything is walked where the call hashes alone say so; errors of reading trips and
 * nodes. */
int rfn_path_signature(const struct rfn_path_source *source, enum rfn_path_form form,
                       uint64_t *signature);

#endif
