#include "archive/aggregation_format.h"

#include <string.h>

static void pack_double(double value, struct rfn_buf *out)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    rfn_buf_u64(out, bits);
}

static void pack_activity(const struct rfn_activity *activity, struct rfn_buf *out)
{
    const bool call = activity->kind == RFN_ACTIVITY_MPI;
    rfn_buf_varint(out, call);
    rfn_buf_varint(out, activity->at.function);
    rfn_buf_varint(out, activity->at.path);
    if (call)
        return;
    rfn_buf_varint(out, activity->before.function);
    rfn_buf_varint(out, activity->before.path);
    rfn_buf_varint(out, activity->region == RFN_NO_REGION ? 0 : (uint64_t)activity->region + 1);
}

void rfn_pack_aggregation(const struct rfn_aggregation *of, uint32_t n, struct rfn_buf *out)
{
    const double parameters[] = {of->network.latency_ns, of->network.overhead_ns,
                                 of->network.gap_ns, of->network.gap_per_byte_ns};
    rfn_buf_varint(out, (uint64_t)of->least_ns);
    rfn_buf_varint(out, (uint64_t)of->least_bytes);
    rfn_buf_varint(out, of->terms);
    for (int i = 0; i < 4; i++)
        pack_double(parameters[i], out);
    rfn_buf_varint(out, (uint64_t)of->network.eager_bytes);
    rfn_buf_varint(out, of->messages);
    rfn_buf_varint(out, of->events);
    rfn_buf_varint(out, of->file_bytes);
    rfn_buf_varint(out, of->n_fixed);
    for (size_t i = 0; i < of->n_fixed; i++)
        pack_activity(&of->fixed[i], out);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t before = 0;
        rfn_buf_varint(out, of->streams[i].n);
        for (size_t k = 0; k < of->streams[i].n; k++) {
            const struct rfn_aggregated_gap *gap = &of->streams[i].gaps[k];
            rfn_buf_varint(out, gap->event - before);
            rfn_buf_varint(out, gap->left_out);
            before = gap->event;
        }
    }
}
