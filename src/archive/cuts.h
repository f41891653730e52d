/* cuts.h - where a stream's structure is cut into segments (doc/trace-profiling.md, Segments).
 *
 * Loops cut, and so do the program's marks, events of the classes SEGMENT_BEGIN and SEGMENT_END.
 * Whoever replays a structure takes the rule from here.
 */
#ifndef RFN_ARCHIVE_CUTS_H
#define RFN_ARCHIVE_CUTS_H

#include "archive/parts.h"

#include <stdbool.h>
#include <stdint.h>

enum rfn_mark {
    RFN_MARK_NONE,
    RFN_MARK_BEGIN, /* the event begins a segment */
    RFN_MARK_END    /* the event behind it does */
};

enum rfn_mark rfn_symbol_mark(const struct rfn_dictionary *dictionary,
                              const struct rfn_structure *structure, uint32_t symbol);

/* Says of every loop whether it cuts. With marks in the structure: if there is one in its body or
 * in that of an inner loop. Without: if its body has at least min_calls events, those of inner
 * loops counted once. loops, scratch: n_loops elements. */
void rfn_choose_cuts(const struct rfn_dictionary *dictionary, const struct rfn_structure *structure,
                     uint32_t min_calls, bool *loops, uint32_t *scratch);

#endif
