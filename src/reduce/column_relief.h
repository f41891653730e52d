/* column_relief.h - columns that grow together, and may not take more than so much memory: what is
 * too much goes to a spill, large blocks first, for a write should be worth it.
 */
#ifndef RFN_REDUCE_COLUMN_RELIEF_H
#define RFN_REDUCE_COLUMN_RELIEF_H

#include "reduce/column.h"

/* Calls visit for every column until it returns an error, which is returned. */
typedef int (*rfn_each_column)(void *columns,
                               int (*visit)(void *context, struct rfn_column *column),
                               void *context);

/* Frees about `wanted` bytes, if there are so many; *freed may be NULL. RFN_E_NOMEM, or the error
 * of the spill: what has not left is still there. */
int rfn_columns_relieve(void *columns, rfn_each_column each, const struct rfn_spill *spill,
                        size_t wanted, size_t *freed);

/* What columns may take. */
struct rfn_room {
    const struct rfn_spill *spill; /* borrowed; NULL: they may take what they need */
    size_t bytes;
};

/* Has the columns take no more than half of the room if they take more than all of it. A spill that
 * fails is not tried again: the room has none then. */
void rfn_columns_keep_to(void *columns, rfn_each_column each, struct rfn_room *room);

#endif
