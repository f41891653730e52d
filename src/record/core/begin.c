#include "record/core/begin.h"

#include "record/core/options.h"
#include "record/core/pause.h"

bool rec_begins_later;

static struct rfn_until from;
static int64_t segments; /* that have begun; atomic */

void rec_begin_init(void)
{
    const char *text = rec_options.texts[RFN_RECORD_FROM];
    rec_begins_later = text && rfn_from_parse(text, &from);
}

static void tell(void)
{
    static const struct rec_frame nowhere = {.module = UINT32_MAX};
    struct rec_stream *stream = rec_this_stream;
    if (!stream || rec_state != REC_RECORDING)
        return;
    const int64_t on = 1;
    const uint64_t now = rec_now();
    const struct rfn_event event = {
        .site = rec_site_of_frames(&stream->sites, REC_FN_refrain_recording, &nowhere, 0),
        .function = REC_FN_refrain_recording,
        .in = &on,
        .enter = now,
        .exit = now};
    rec_pause_forbid(); /* within another call streams may be read */
    if (rec_take_event(stream, &event) < 0)
        rec_stop("out of memory");
    rec_pause_allow();
}

void rec_begin_reached(enum rfn_until_kind kind, int64_t number)
{
    if (kind != from.kind)
        return;
    if (kind == RFN_UNTIL_SEGMENT)
        number = __atomic_add_fetch(&segments, 1, __ATOMIC_RELAXED);
    if (number != from.number || !__atomic_exchange_n(&rec_begins_later, false, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&rec_off, false, __ATOMIC_RELAXED);
    tell();
}
