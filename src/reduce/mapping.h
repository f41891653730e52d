/* mapping.h - what a child in the tree numbers in one way, and its parent in another.
 *
 * On the way up a node notes, for each of a child's things, which of its own it is. On the way down
 * it tells the child what became of these: their final numbers, as runs, since what is alike has
 * consecutive ones.
 */
#ifndef RFN_REDUCE_MAPPING_H
#define RFN_REDUCE_MAPPING_H

#include "base/buf.h"

struct rfn_mapping {
    struct rfn_mapped {
        uint32_t to;  /* the own thing's place */
        bool created; /* it is the child who brought it */
    } * things;       /* by the child's places */
    size_t n, capacity;
};

void rfn_mapping_release(struct rfn_mapping *mapping);
/* The next thing of the child. RFN_E_NOMEM. */
int rfn_mapping_add(struct rfn_mapping *mapping, uint32_t to, bool created);
/* The next n things of the child, whose places here follow each other. RFN_E_NOMEM. */
int rfn_mapping_add_run(struct rfn_mapping *mapping, size_t first, size_t n);

/* What became of a thing: its final number, and two bits that mean what users say. */
struct rfn_fate {
    uint64_t number;
    uint8_t bits;
};

void rfn_fates_write(const struct rfn_fate *fates, size_t n, struct rfn_buf *out);
/* Of so many things, whose numbers are below `total`. RFN_E_EXCHANGE. */
int rfn_fates_read(struct rfn_fate *fates, size_t n, uint64_t total, struct rfn_reader *reader);

#endif
