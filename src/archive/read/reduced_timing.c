#include "archive/read/reduced_timing.h"

#include "archive/read/structure_walk.h"

#include <stdlib.h>

#define SHARE_MAX (UINT64_C(1) << 36)

static const char *read_cuts(struct rfn_reduced_timing *reduced,
                             const struct rfn_structure *structure, struct rfn_payload_reader *scan)
{
    static const char malformed[] = "it does not say which loops cut";
    uint32_t n = structure->n_loops;
    if (n > rfn_payload_reader_left(scan))
        return rfn_payload_reader_fault(scan, malformed);
    reduced->cuts = malloc((n + (size_t)1) * sizeof *reduced->cuts);
    if (!reduced->cuts)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t cuts = rfn_reader_u8(rfn_payload_reader_next(scan, 1));
        if (rfn_payload_reader_failed(scan) || cuts > 1)
            return rfn_payload_reader_fault(scan, malformed);
        reduced->cuts[i] = cuts;
    }
    return NULL;
}

const char *rfn_reduced_timing_read(struct rfn_reduced_timing *reduced, struct rfn_timing *timing,
                                    const struct rfn_structure *structure,
                                    struct rfn_payload *payload, struct rfn_guides *guides,
                                    bool exact)
{
    struct rfn_payload_reader scan;
    *reduced = (struct rfn_reduced_timing){.guides = *guides};
    *guides = (struct rfn_guides){0};
    const char *fault = rfn_timing_scan(timing, structure, payload, &scan);
    if (!fault && timing->n_marks)
        fault = "it has time marks";
    if (!fault)
        fault = read_cuts(reduced, structure, &scan);
    if (fault)
        return fault;
    reduced->first = rfn_payload_reader_varint(&scan);
    reduced->tolerance = rfn_payload_reader_varint(&scan);
    reduced->share = rfn_payload_reader_limited(&scan, SHARE_MAX);
    if (rfn_payload_reader_failed(&scan))
        return rfn_payload_reader_fault(&scan, "the tolerance of starts is malformed");
    for (uint32_t i = 0; i < structure->n_loops; i++) {
        if (reduced->cuts[i])
            reduced->n_contexts += rfn_count_stretches(&structure->loops[i], reduced->cuts);
    }
    size_t n = 1 + RFN_PROFILE_COLUMNS * (size_t)reduced->n_contexts;
    if (n > rfn_payload_reader_left(&scan))
        return "columns are missing";
    reduced->columns = malloc((n + 1) * sizeof *reduced->columns);
    fault = reduced->columns ? rfn_payload_reader_columns(&scan, reduced->columns, n)
                             : rfn_out_of_memory;
    return !fault && exact && rfn_payload_reader_left(&scan) ? "there are bytes behind its end"
                                                             : fault;
}

int rfn_reduced_timing_list(const struct rfn_reduced_timing *reduced,
                            const struct rfn_timing *timing, uint32_t context,
                            struct rfn_list_cursor *lists)
{
    const size_t *at = reduced->columns + 1 + RFN_PROFILE_PLAIN * (size_t)reduced->n_contexts +
                       context;
    RFN_TRY(rfn_payload_column(&timing->payload, at[0], at[1], &lists[0].column));
    for (unsigned i = 0; i < reduced->guides.n; i++) {
        const struct rfn_guide *guide = &reduced->guides.guides[i];
        struct rfn_list_cursor *list = &lists[i], *next = &lists[i + 1];
        if (context >= guide->n)
            break;
        at = &guide->columns[context];
        RFN_TRY(rfn_payload_column(&guide->payload, at[0], at[1], &next->column));
        if (next->column.n != list->column.n)
            break; /* of another length it is no guide */
        list->guide = next;
    }
    return 0;
}

void rfn_reduced_timing_release(struct rfn_reduced_timing *reduced)
{
    free(reduced->cuts);
    free(reduced->columns);
    rfn_guides_release(&reduced->guides);
    *reduced = (struct rfn_reduced_timing){0};
}
