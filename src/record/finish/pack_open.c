#include "record/finish/pack_open.h"

#include "refrain/open_calls.h"

/* Of quanta that were read before the draft was made. */
static uint64_t realtime_of(const struct rec_finishing *finish, uint64_t quanta)
{
    const double quantum_ns = rec_clock.tick_ns * (double)(UINT64_C(1) << rec_clock.shift);
    const double ago = quanta < finish->end.quanta
                           ? (double)(finish->end.quanta - quanta) * quantum_ns
                           : 0;
    return (uint64_t)(finish->end.realtime_ns - (int64_t)ago);
}

static void pack(const struct rec_finishing *finish, enum rfn_open_kind kind, uint32_t site,
                 uint64_t since, uint64_t polls, const int64_t *words, unsigned n,
                 struct rfn_buf *out)
{
    rfn_buf_u8(out, (uint8_t)kind);
    rfn_buf_varint(out, site);
    rfn_buf_u64(out, realtime_of(finish, since));
    rfn_buf_u64(out, (uint64_t)finish->end.realtime_ns);
    rfn_buf_varint(out, polls);
    rfn_buf_varint(out, n);
    for (unsigned i = 0; i < n; i++)
        rfn_buf_svarint(out, words[i]);
}

static void pack_stream(const struct rec_finishing *finish, const struct rec_stream *stream,
                        struct rfn_buf *out)
{
    const struct rec_call *call = &stream->call;
    const bool inside = __atomic_load_n(&stream->inside, __ATOMIC_ACQUIRE);
    const uint32_t function = __atomic_load_n(&stream->open.function, __ATOMIC_ACQUIRE);
    struct rfn_event polls;
    const uint64_t n = rfn_stream_polls(stream->events, &polls);
    const bool polls_on = n && polls.site == call->site; /* it is in one of them */
    if (inside && function && function == call->function + 1 && !polls_on) {
        if (!call->off)
            pack(finish, RFN_OPEN_CALL, call->site, stream->open.enter, 0, call->in, call->n_in,
                 out);
    } else if (n) {
        pack(finish, RFN_OPEN_POLLS, polls.site, polls.enter, n, polls.in,
             rec_functions[polls.function].n_in, out);
    } else if (stream->gap.exit) {
        pack(finish, RFN_OPEN_OUTSIDE, stream->gap.left, stream->gap.exit, 0, NULL, 0, out);
    }
}

void rec_pack_open(const struct rec_finishing *finish, struct rfn_buf *out)
{
    size_t next = 0;
    for (size_t i = 0; i < finish->description.n_streams; i++) {
        struct rfn_buf own = RFN_BUF_INIT;
        pack_stream(finish, finish->description.streams[i].stream, &own);
        if (own.size) {
            rfn_buf_varint(out, i - next);
            rfn_buf_blob(out, own.data, own.size);
            next = i + 1;
        }
        out->failed |= own.failed;
        rfn_buf_release(&own);
    }
}
