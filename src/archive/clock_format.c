#include "archive/clock_format.h"

void rfn_pack_clock_pairs(const struct rfn_pack_clock *clock, struct rfn_buf *out)
{
    rfn_buf_u8(out, clock->kind);
    rfn_buf_varint(out, clock->n_pairs);
    for (size_t i = 0; i < clock->n_pairs; i++) {
        rfn_buf_u64(out, clock->pairs[i].quanta);
        rfn_buf_u64(out, clock->pairs[i].monotonic_ns);
        rfn_buf_u64(out, clock->pairs[i].realtime_ns);
    }
    rfn_buf_u64(out, clock->start);
}
