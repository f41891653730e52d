/* pack_spreads.h - writes the payload SPREADS (refrain-archive(5)). */
#ifndef RFN_ARCHIVE_CURSOR_PACK_SPREADS_H
#define RFN_ARCHIVE_CURSOR_PACK_SPREADS_H

#include "reduce/merge/spreads.h"

/* A number rounded down to its 8 highest binary digits, as a small one: codes ascend as numbers do,
 * and numbers up to 255 are their own. */
static inline uint64_t rfn_spread_code(uint64_t number)
{
    unsigned bits = rfn_spread_bin(number), shift = bits > 8 ? bits - 8 : 0;
    return 128 * (uint64_t)shift + (number >> shift);
}

enum { RFN_SPREAD_CODE_MAX = 128 * 56 + 255 };

/* What the code stands for; it is at most RFN_SPREAD_CODE_MAX. */
static inline uint64_t rfn_spread_decode(uint64_t code)
{
    return code < 256 ? code : (128 + code % 128) << (code / 128 - 1);
}

/* Of a place (reduce/segments/spread_sums.h) positions are told apart that have more than one in so
 * many of its events, or of the time before and in these, if at least two have. */
enum { RFN_SPREAD_SHARE = 16 };

/* RFN_E_NOMEM. */
int rfn_pack_spreads(const struct rfn_spreads *spreads, struct rfn_buf *out);

#endif
