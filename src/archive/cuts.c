#include "archive/cuts.h"

#include "reduce/fold.h"
#include "refrain/event.h"

enum rfn_mark rfn_symbol_mark(const struct rfn_dictionary *dictionary,
                              const struct rfn_structure *structure, uint32_t symbol)
{
    switch (dictionary->functions[structure->symbols[symbol].function].class_) {
    case RFN_CLASS_SEGMENT_BEGIN:
        return RFN_MARK_BEGIN;
    case RFN_CLASS_SEGMENT_END:
        return RFN_MARK_END;
    default:
        return RFN_MARK_NONE;
    }
}

/* How many events a list has, of inner loops those of one trip, at most `limit` (they may double
 * with each level). Inner loops have lower numbers: events[] is known for them. */
static uint32_t count_events(const struct rfn_node_list *list, const uint32_t *events,
                             uint32_t limit)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < list->n && n < limit; i++)
        n += rfn_node_is_loop(list->nodes[i]) ? events[rfn_node_index(list->nodes[i])] : 1;
    return n < limit ? (uint32_t)n : limit;
}

/* Whether a mark lies in the list or in an inner loop; loops[] is known for these. */
static bool has_mark(const struct rfn_dictionary *dictionary, const struct rfn_structure *structure,
                     const struct rfn_node_list *list, const bool *loops)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const uint32_t index = rfn_node_index(list->nodes[i]);
        if (rfn_node_is_loop(list->nodes[i]) ? loops[index]
                                             : rfn_symbol_mark(dictionary, structure, index))
            return true;
    }
    return false;
}

void rfn_choose_cuts(const struct rfn_dictionary *dictionary, const struct rfn_structure *structure,
                     uint32_t min_calls, bool *loops, uint32_t *scratch)
{
    for (uint32_t i = 0; i < structure->n_loops; i++)
        loops[i] = has_mark(dictionary, structure, &structure->loops[i], loops);
    if (has_mark(dictionary, structure, &structure->top, loops))
        return;
    for (uint32_t i = 0; i < structure->n_loops; i++) {
        scratch[i] = count_events(&structure->loops[i], scratch, min_calls);
        loops[i] = scratch[i] >= min_calls;
    }
}
