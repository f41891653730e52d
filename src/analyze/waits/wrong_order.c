/* wrong_order.c - whether another order of receiving would have shortened a wait (doc/analysis.md,
 * "Wrong order").
 *
 * A call waits for one message while others to the rank lie there. In another order the rank would
 * have received these first, and done meanwhile what it did after them. So the wait is counted only
 * when the rank has received them and goes on to the next call that waits: what it computed until
 * then, it could have computed earlier, from when each of them was there.
 */
#include "analyze/waits/waits_internal.h"

/* Less of a wait is not worth another order. */
enum { LEAST_GAIN = 64 };
/* Where the rank computes so many times longer with another message than with the one that it
 * waited for, before it asks for another one, it may need both. */
enum { OWN_WORK = 4 };

static bool is_one_receive(const struct rfn_match_stream *stream)
{
    return stream->n_awaited == 1 && stream->awaited[0].kind == RFN_AWAITS_MESSAGE &&
           stream->awaited[0].message;
}

bool rfn_order_may_matter(const struct rfn_leaving *leaving, const struct rfn_wait *wait)
{
    return wait->pattern == RFN_LATE_SENDER && is_one_receive(&leaving->of->match) &&
           leaving->pass->match.channels.ranks[leaving->at->rank].n_lying > 0;
}

void rfn_order_begin(const struct rfn_leaving *leaving, const struct rfn_wait *wait)
{
    const struct rfn_channels *channels = &leaving->pass->match.channels;
    const struct rfn_delays *delays = &leaving->pass->delays;
    const struct rfn_wait_stream *of = leaving->of;
    const struct rfn_message *message = of->match.awaited[0].message;
    struct rfn_order *order = &leaving->of->order;
    *order = (struct rfn_order){
        .any = true,
        .wildcards = message->receive ? channels->receives[message->receive - 1].any : 0,
        .key = channels->items[message->channel].key,
        .site = rfn_symbol_of(of)->site,
        .rank = leaving->at->rank,
        .sent_ns = message->sent.ns,
        .exit_ns = leaving->at->exit_ns,
        .ns = wait->ns,
        .n_blames = delays->n_blames,
        .there_ns = of->match.since_ns,
        .at = of->history.at};
    for (size_t i = 0; i < delays->n_blames; i++)
        order->blames[i] = delays->blames[i];
}

/* ---- how it ends ---- */

/* What of the wait the other order would have saved. */
static int64_t gain_of(const struct rfn_order *order)
{
    const int64_t over_ns = rfn_most(order->there_ns - order->sent_ns, 0);
    const int64_t ns = rfn_least(order->computed_ns - over_ns, order->ns);
    return ns < rfn_most(order->ns / LEAST_GAIN, 1) ? 0 : ns;
}

/* Counts a part of the wait; what is left of it keeps the rest of each blame. */
static int64_t count(struct rfn_wait_pass *pass, struct rfn_order *order, enum rfn_pattern pattern,
                     int64_t ns)
{
    struct rfn_blame part[RFN_MAX_BLAMES];
    int64_t left = ns;
    for (size_t i = 0; i < order->n_blames; i++) {
        const double share = (double)order->blames[i].ns / (double)order->ns;
        part[i] = order->blames[i];
        part[i].ns = i + 1 < order->n_blames ? (int64_t)((double)ns * share) : left;
        part[i].ns = rfn_least(rfn_least(part[i].ns, left), order->blames[i].ns);
        left -= part[i].ns;
        order->blames[i].ns -= part[i].ns;
    }
    if (order->n_blames) { /* what rounding leaves */
        part[0].ns += left;
        order->blames[0].ns -= left;
    }
    order->ns -= ns;
    return rfn_tally_in_row(&pass->tally, pattern, order->site, order->rank, ns, part,
                            order->n_blames);
}

int rfn_order_end(struct rfn_wait_pass *pass, struct rfn_wait_stream *of)
{
    struct rfn_order *order = &of->order;
    int64_t gain = order->any ? gain_of(order) : 0, row;
    if (!order->any)
        return 0;
    order->any = false;
    if (gain && order->own_ns >= order->most_ns / OWN_WORK) {
        RFN_TRY((int)rfn_least(count(pass, order, RFN_WRONG_ORDER, gain), 0));
        gain = 0;
    }
    if (!order->ns)
        return 0;
    row = count(pass, order, RFN_LATE_SENDER, order->ns);
    RFN_TRY((int)rfn_least(row, 0));
    pass->tally.rows[row].wrong_order_ns += gain;
    return 0;
}

/* ---- how it goes on ---- */

/* What the stream has computed since the call before. */
static int64_t computed_ns(const struct rfn_wait_pass *pass, const struct rfn_wait_stream *of)
{
    const struct rfn_history *history = &of->history;
    int64_t ns = 0;
    for (uint64_t i = of->order.at > history->first ? of->order.at : history->first;
         i < of->match.here.at; i++) {
        const struct rfn_logged *done = &history->log[i & history->mask];
        if (!(done->what & RFN_PASSED_ON) &&
            pass->activities.items[done->what].kind == RFN_ACTIVITY_COMPUTE)
            ns += done->ns;
    }
    return ns;
}

static bool only_sends(const struct rfn_match_stream *stream)
{
    for (size_t i = 0; i < stream->n_awaited; i++) {
        if (stream->awaited[i].kind != RFN_AWAITS_MESSAGE_TAKEN)
            return false;
    }
    return true;
}

static bool is_taken_as_well(const struct rfn_order *order, const struct rfn_channel_key *key)
{
    return order->wildcards && key->comm == order->key.comm &&
           (order->wildcards & RFN_ANY_SOURCE || key->source == order->key.source) &&
           (order->wildcards & RFN_ANY_TAG || key->tag == order->key.tag);
}

/* Whether a message was there before the one that was waited for, and the program chose to ask for
 * it later. */
static bool was_there(const struct rfn_wait_pass *pass, const struct rfn_order *order,
                      const struct rfn_message *message)
{
    return message->sent.ns < order->sent_ns && message->posted.ns >= order->exit_ns &&
           !is_taken_as_well(order, &pass->match.channels.items[message->channel].key);
}

int rfn_order_go_on(struct rfn_wait_pass *pass, struct rfn_wait_stream *of, bool waited)
{
    struct rfn_order *order = &of->order;
    if (!waited && only_sends(&of->match))
        return 0;
    const int64_t ns = computed_ns(pass, of);
    order->at = of->match.here.at;
    if (order->others) {
        order->there_ns += ns;
        order->computed_ns += ns;
        order->most_ns = rfn_most(order->most_ns, ns);
    } else {
        order->own_ns = ns;
    }
    const struct rfn_message *message = is_one_receive(&of->match) ? of->match.awaited[0].message
                                                                   : NULL;
    if (waited || !message || order->there_ns >= order->sent_ns || !was_there(pass, order, message))
        return rfn_order_end(pass, of);
    order->others = true;
    order->there_ns = rfn_most(order->there_ns, message->sent.ns);
    return 0;
}
