/* polls.c - waiting that programs make themselves: phases of unsuccessful polls (doc/analysis.md,
 * "Polls").
 *
 * The recorder makes one event of a run of equal polls. A program may poll for several things by
 * turns, so a phase is any number of such runs. What lies between polls is waiting, too, if it is
 * short. While it is not known whether something that was polled for ends the phase, what the
 * stream does in it is kept by activity.
 */
#include "analyze/waits/waits_internal.h"
#include "base/grow.h"

/* A program that does no more than this between two polls, on average over a phase, only waits: it
 * spins, or sleeps a little so as not to. The average, as the system holds it up now and then. */
enum { SPIN_NS = 250 * 1000 };
/* What takes longer is never that. */
enum { WORK_NS = 10 * 1000 * 1000 };

int64_t rfn_pass_inside_ns(const struct rfn_event_order_stream *at)
{
    int64_t all = at->exit_ns - at->enter_ns;
    int64_t inside = at->batch ? at->to_ns - at->from_ns : at->record->inside_ns;
    return inside < 0 || inside > all ? all : inside;
}

/* What the stream did takes its place among the parts of the phase. */
static int add_part(struct rfn_polls *polls, struct rfn_poll_part added)
{
    if (added.ns <= 0)
        return 0;
    polls->outside_ns += added.outside_ns;
    for (size_t i = 0; i < polls->n_parts; i++) {
        struct rfn_poll_part *part = &polls->parts[i];
        if (part->what != added.what)
            continue;
        part->ns += added.ns;
        part->outside_ns += added.outside_ns;
        return 0;
    }
    RFN_TRY(RFN_GROW(polls->parts, polls->parts_capacity, polls->n_parts + 1));
    polls->parts[polls->n_parts++] = added;
    return 0;
}

int rfn_pass_between_polls(struct rfn_wait_stream *stream, const struct rfn_event_order_stream *at,
                           uint32_t activity, int64_t ns)
{
    return add_part(&stream->polls, (struct rfn_poll_part){.what = activity,
                                                           .symbol = at->record->symbol,
                                                           .ns = ns,
                                                           .outside_ns = ns < WORK_NS ? ns : 0});
}

int rfn_pass_poll(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                  const struct rfn_event_order_stream *at)
{
    struct rfn_polls *polls = &stream->polls;
    const struct rfn_wait_symbol *symbol = rfn_symbol_of(stream);
    const struct rfn_call_site site = pass->activities.sites[symbol->site];
    const struct rfn_activity between = {
        .kind = RFN_ACTIVITY_COMPUTE, .before = site, .at = site, .region = RFN_NO_REGION};
    const int64_t inside_ns = rfn_pass_inside_ns(at);
    const int64_t outside_ns = at->exit_ns - at->enter_ns - inside_ns;
    int64_t activity = symbol->mpi_activity;
    if (!polls->any) {
        polls->any = true;
        polls->enter_ns = at->enter_ns;
        polls->n = polls->inside_ns = polls->outside_ns = 0;
        polls->n_parts = 0;
    }
    polls->n = rfn_least(INT32_MAX, polls->n + (int64_t)(at->record->polls & INT32_MAX));
    polls->inside_ns += inside_ns;
    if (outside_ns > 0)
        activity = rfn_activity_of(&pass->activities, &between);
    RFN_TRY((int)rfn_least(activity, 0));
    RFN_TRY(add_part(polls, (struct rfn_poll_part){.what = (uint32_t)activity,
                                                   .symbol = at->record->symbol,
                                                   .between = true,
                                                   .ns = outside_ns,
                                                   .outside_ns = outside_ns}));
    return add_part(polls, (struct rfn_poll_part){.what = symbol->mpi_activity,
                                                  .symbol = at->record->symbol,
                                                  .ns = inside_ns});
}

int rfn_pass_flush_polls(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream)
{
    const struct rfn_polls *polls = &stream->polls;
    for (size_t i = 0; polls->any && i < polls->n_parts; i++)
        RFN_TRY(rfn_pass_did(pass, stream, polls->parts[i].what, polls->parts[i].ns));
    stream->polls.any = false;
    return 0;
}

void rfn_pass_end_polls(struct rfn_wait_stream *stream)
{
    struct rfn_polls *polls = &stream->polls;
    if (polls->outside_ns / SPIN_NS >= polls->n)
        polls->outside_ns = 0;
    stream->match.since_ns = polls->enter_ns;
    stream->polled_ns = rfn_most(polls->inside_ns + polls->outside_ns, 1);
    polls->any = false;
}

void rfn_pass_waited_in_polls(const struct rfn_leaving *leaving, int64_t all_ns)
{
    const struct rfn_polls *polls = &leaving->of->polls;
    const double share = (double)(leaving->wait.ns + leaving->after.ns) / (double)all_ns;
    for (size_t i = 0; i < polls->n_parts && share > 0 && polls->outside_ns; i++) {
        const struct rfn_poll_part *part = &polls->parts[i];
        rfn_profile_pass_waited(leaving->pass->profile, leaving->stream, part->symbol,
                                (int64_t)((double)part->outside_ns * share), part->between);
    }
}
