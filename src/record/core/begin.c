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

struct rfn_event rec_event_at(struct rec_stream *stream, uint32_t function, const int64_t *in,
                              const int64_t *out, uint64_t at)
{
    static const struct rec_frame nowhere = {.module = UINT32_MAX};
    return (struct rfn_event){.site = rec_site_of_frames(&stream->sites, function, &nowhere, 0),
                              .function = function,
                              .in = in,
                              .out = out,
                              .enter = at,
                              .exit = at};
}

static void tell(void)
{
    const int64_t on = 1;
    struct rec_stream *stream = rec_this_stream;
    if (!stream || rec_state != REC_RECORDING)
        return;
    const struct rfn_event event = rec_event_at(stream, REC_FN_refrain_recording, &on, NULL,
                                                rec_now());
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
