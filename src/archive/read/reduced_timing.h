/* reduced_timing.h - the payload PROFILE: the times of segments that are kept, and which segment
 * has which (refrain-archive(5), PROFILE).
 *
 * It begins as TIMING does, and this part is a struct rfn_timing: the clock, and where the columns
 * of symbols lie. Here is what follows. Columns are found, not decoded, as those of TIMING.
 */
#ifndef RFN_ARCHIVE_READ_REDUCED_TIMING_H
#define RFN_ARCHIVE_READ_REDUCED_TIMING_H

#include "archive/read/event_payloads.h"
#include "archive/read/time_sets.h"

/* The columns of a context of a loop that cuts, in their order. The last is a list, and lies behind
 * all others with those of the other contexts. */
enum rfn_reduced_column {
    RFN_PROFILE_CORRECTION,     /* one value per segment: of its start, in units */
    RFN_PROFILE_PACE,           /* one value per representative: quanta */
    RFN_PROFILE_KEPT,           /* whether it is executed again */
    RFN_PROFILE_REPRESENTATIVE, /* one value per segment: the number of its representative */
    RFN_PROFILE_COLUMNS,
    RFN_PROFILE_PLAIN = RFN_PROFILE_REPRESENTATIVE /* so many are not lists */
};

struct rfn_reduced_timing {
    bool *cuts;                /* per loop: whether it cuts */
    uint64_t first;            /* start of the first segment: quanta since the clock's start */
    uint64_t tolerance, share; /* of starts: tolerance + (length * share >> 16) quanta */
    size_t *columns;     /* where each begins, and so where the one before it ends: corrections of
                            the top, then RFN_PROFILE_PLAIN per context of loops that cut, then a
                            list per context */
    uint32_t n_contexts; /* of those */
    struct rfn_guides guides; /* of the lists */
};

/* No segment, nor the way from one to the next, is longer (quanta). */
#define RFN_SEGMENT_LENGTH_MAX (UINT64_C(1) << 62)

/* Takes the payload over into timing, and the guides (also on failure). Both are to be released
 * even on failure. */
const char *rfn_reduced_timing_read(struct rfn_reduced_timing *reduced, struct rfn_timing *timing,
                                    const struct rfn_structure *structure,
                                    struct rfn_payload *payload, struct rfn_guides *guides,
                                    bool exact);

/* Where the lists begin in the payload. */
static inline size_t rfn_reduced_timing_lists(const struct rfn_reduced_timing *reduced)
{
    return reduced->columns[1 + RFN_PROFILE_PLAIN * (size_t)reduced->n_contexts];
}

/* Opens a context's list as lists[0], and what guides it behind it. lists: 1 + RFN_GUIDES_MAX, all
 * zeros; their columns are to be closed even on failure. Errors of rfn_payload_column. */
int rfn_reduced_timing_list(const struct rfn_reduced_timing *reduced,
                            const struct rfn_timing *timing, uint32_t context,
                            struct rfn_list_cursor *lists);

void rfn_reduced_timing_release(struct rfn_reduced_timing *reduced);

#endif
