#include "analyze/recreation.h"

#include <stdlib.h>

int rfn_recreation_open(struct rfn_recreation *recreation, const struct rfn_stream_profile *stream)
{
    size_t n = stream->n_contexts;
    *recreation = (struct rfn_recreation){
        .stream = stream,
        .representatives = calloc(n + 1, sizeof *recreation->representatives),
        .corrections = calloc(n + 1, sizeof *recreation->corrections),
        .predicted_ns = stream->first_start_ns,
        .last_ns = stream->first_start_ns};
    if (!recreation->representatives || !recreation->corrections)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct rfn_execution_columns *context = &stream->contexts[i];
        rfn_column_open_growing(&recreation->representatives[i], &context->representative);
        rfn_column_open_growing(&recreation->corrections[i], &context->correction);
    }
    return 0;
}

void rfn_recreation_close(struct rfn_recreation *recreation)
{
    size_t n = recreation->stream->n_contexts;
    for (size_t i = 0; i < n && recreation->representatives && recreation->corrections; i++) {
        rfn_column_close(&recreation->representatives[i]);
        rfn_column_close(&recreation->corrections[i]);
    }
    free(recreation->representatives);
    free(recreation->corrections);
}

int rfn_recreation_representative(struct rfn_recreation *recreation, uint32_t context,
                                  struct rfn_representative *representative)
{
    const struct rfn_store *store = recreation->stream->store;
    int64_t number;
    if (context >= recreation->stream->n_contexts)
        return RFN_E_RANGE;
    RFN_TRY(rfn_column_next(&recreation->representatives[context], &number));
    if (number < 0 || number >= rfn_store_numbers(store, context))
        return RFN_E_RANGE;
    uint32_t now = rfn_store_forward(store, context, (uint32_t)number);
    *representative = rfn_store_representative(store, context, now);
    return 0;
}

static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

uint64_t rfn_recreation_tolerance(const struct rfn_recreation *recreation,
                                  const struct rfn_representative *representative)
{
    const struct rfn_start_tolerance *tolerance = &recreation->stream->tolerance;
    int64_t end = representative->vector[2 * representative->n_events + 1];
    uint64_t length = end > 0 ? (uint64_t)end : 0;
    uint64_t share = (length >> 16) * tolerance->share +
                     ((length & 65535) * tolerance->share >> 16);
    return tolerance->absolute_ns + share;
}

int64_t rfn_recreation_correction(uint64_t tolerance_ns, int64_t units)
{
    return (int64_t)((uint64_t)units * (tolerance_ns ? tolerance_ns : 1));
}

void rfn_recreation_start(struct rfn_recreation *recreation,
                          const struct rfn_representative *representative, int64_t start_ns)
{
    recreation->predicted_ns = sum(start_ns, representative->pace);
}

int rfn_recreation_next(struct rfn_recreation *recreation, uint32_t context,
                        struct rfn_recreated_segment *segment)
{
    struct rfn_representative representative;
    int64_t units;
    RFN_TRY(rfn_recreation_representative(recreation, context, &representative));
    RFN_TRY(rfn_column_next(&recreation->corrections[context], &units));
    uint64_t tolerance = rfn_recreation_tolerance(recreation, &representative);
    *segment = (struct rfn_recreated_segment){
        .start_ns = sum(recreation->predicted_ns, rfn_recreation_correction(tolerance, units)),
        .vector = representative.vector,
        .n_events = representative.n_events};
    rfn_recreation_start(recreation, &representative, segment->start_ns);
    return 0;
}

int64_t rfn_recreation_time(struct rfn_recreation *recreation,
                            const struct rfn_recreated_segment *segment, size_t i)
{
    int64_t time = sum(segment->start_ns, segment->vector[i]);
    if (time > recreation->last_ns)
        recreation->last_ns = time;
    return recreation->last_ns;
}

int rfn_recreation_failed(int error, struct rfn_diag *diag)
{
    return rfn_fail(diag, error, -1, -1, "%s",
                    error == RFN_E_NOMEM ? "out of memory"
                                         : "a stream had other segments when it was read again");
}
