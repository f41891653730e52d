/* time_sort.h - records in the order of their times, more than fit into memory.
 *
 * Records are added in any order. Whenever memory is full, its records are sorted and go
 * to a temporary file without a name, in TMPDIR or /tmp; at the end these runs are merged. Records
 * of one time keep the order in which they were added.
 */
#ifndef RFN_CONVERT_TIME_SORT_H
#define RFN_CONVERT_TIME_SORT_H

#include "refrain/error.h"

#include <stddef.h>
#include <stdint.h>

/* What a record begins with. */
struct rfn_timed {
    int64_t ns;
    uint64_t order; /* set when it is added */
};

struct rfn_time_sort;

/* size: of a record, in bytes; memory: how many records are held. NULL: out of memory. */
struct rfn_time_sort *rfn_time_sort_new(size_t size, size_t memory);
void rfn_time_sort_free(struct rfn_time_sort *sort);
/* A copy is added. RFN_E_IO: there is no temporary file, or no room in it; RFN_E_NOMEM. */
int rfn_time_sort_add(struct rfn_time_sort *sort, const void *record, struct rfn_diag *diag);
uint64_t rfn_time_sort_records(const struct rfn_time_sort *sort);
/* 1: *record is the next one, borrowed until the next call; 0: there is none. No more records may
 * be added then. RFN_E_IO, RFN_E_NOMEM. */
int rfn_time_sort_next(struct rfn_time_sort *sort, const void **record, struct rfn_diag *diag);

#endif
