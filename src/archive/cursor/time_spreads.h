/* time_spreads.h - refrain/spread.h inside: which streams are a cluster, and what SPREADS says of
 * them.
 */
#ifndef RFN_ARCHIVE_CURSOR_TIME_SPREADS_H
#define RFN_ARCHIVE_CURSOR_TIME_SPREADS_H

#include "archive/read/reader.h"
#include "reduce/merge/spreads.h"
#include "refrain/spread.h"

/* The place (spread_sums.h) of each of its symbols, and the digest of its sites. */
struct rfn_structure_places {
    size_t *places; /* owned */
    struct rfn_hash128 digest;
};

/* Of the stream's structure. Errors of rfn_part_use; to be released after 0. */
int rfn_structure_places(const struct rfn_archive *archive, uint32_t stream,
                         struct rfn_structure_places *places, struct rfn_diag *diag);
void rfn_structure_places_release(struct rfn_structure_places *places);

/* The entry of SPREADS, or of what minor version 4 had; -1: there is none. */
int64_t rfn_time_spreads_find(const struct rfn_archive *archive);

/* Checks SPREADS, if there is one; RFN_E_CORRUPT. */
int rfn_time_spreads_check(const struct rfn_archive *archive, struct rfn_diag *diag);

#endif
