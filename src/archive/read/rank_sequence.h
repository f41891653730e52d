/* rank_sequence.h - a word per member of a cluster, in the fewest bytes (refrain-archive(5),
 * CLUSTERS): runs, one expression in the rank for all of them, or a column. Where none of our forms
 * of expressions fits, users may have one.
 */
#ifndef RFN_ARCHIVE_READ_RANK_SEQUENCE_H
#define RFN_ARCHIVE_READ_RANK_SEQUENCE_H

#include "archive/read/event_payloads.h"
#include "reduce/clusters/rank_expression.h"

/* What `count` members have that follow each other. */
struct rfn_stretch {
    uint64_t count;
    enum rfn_run_form form;
    int64_t value;                         /* absolute, or relative to the member's reference */
    struct rfn_rank_expression expression; /* in the reference; a formula lies in what was read */
};

/* The word of a member with this reference. */
int64_t rfn_stretch_word(const struct rfn_stretch *stretch, int64_t reference);

/* Takes a sequence of n words from the reader and calls visit with what members from `from` to
 * below `end` have, in order. Returns what is wrong, or NULL; what visit returns is returned, too.
 */
const char *rfn_sequence_take(struct rfn_reader *reader, uint32_t n, uint32_t from, uint32_t end,
                              const char *(*visit)(void *context,
                                                   const struct rfn_stretch *stretch),
                              void *context);

/* Writes one: of each member its reference (`rank`, in a communicator of `size`; 0: there is no
 * expression) and its word. ranks: words are ranks in that communicator. RFN_E_NOMEM. */
int rfn_sequence_write(const struct rfn_rank_value *members, size_t n, bool ranks,
                       struct rfn_buf *out);

/* The same for a parameter for which users may have an expression: finder is asked if no form of
 * ours fits. */
int rfn_sequence_write_parameter(const struct rfn_rank_value *members, size_t n, bool ranks,
                                 const struct rfn_sought_parameter *parameter,
                                 struct rfn_expression_finder *finder, struct rfn_buf *out);

#endif
