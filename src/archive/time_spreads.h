/* time_spreads.h - refrain/spread.h inside: which streams are a cluster, and what SPREADS says of
 * them.
 */
#ifndef RFN_ARCHIVE_TIME_SPREADS_H
#define RFN_ARCHIVE_TIME_SPREADS_H

#include "archive/reader.h"
#include "reduce/spreads.h"
#include "refrain/spread.h"

/* The position (spread_sums.h) of each of its symbols, and the digest of its sites. */
struct rfn_structure_positions {
    size_t *positions; /* owned */
    struct rfn_hash128 digest;
};

/* Of the stream's structure. Errors of rfn_part_use; to be released after 0. */
int rfn_structure_positions(const struct rfn_archive *archive, uint32_t stream,
                            struct rfn_structure_positions *positions, struct rfn_diag *diag);
void rfn_structure_positions_release(struct rfn_structure_positions *positions);

/* Checks SPREADS, if there is one; RFN_E_CORRUPT. */
int rfn_time_spreads_check(const struct rfn_archive *archive, struct rfn_diag *diag);

#endif
