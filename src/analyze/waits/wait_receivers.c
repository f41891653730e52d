/* wait_receivers.c - whether sends have waited for their receivers (doc/analysis.md, "Wait
 * states").
 *
 * Where times are reduced those of two ranks fit together about only. A send that waited for its
 * receive may seem to be over before that is posted: then the call is shown again a little later,
 * when it is known. And of several things that a call ended together it is not certain which came
 * last.
 */
#include "analyze/waits/waits_internal.h"
#include "archive/cursor/cursor.h"

/* No MPI sends messages eagerly that are larger, unless it is asked to. */
enum { EAGER_MOST = 256 << 10 };

static bool is_eager(const struct rfn_wait_pass *pass, const struct rfn_message *message)
{
    return message->mode == RFN_SEND_STANDARD && message->bytes <= pass->eager_bytes;
}

/* By how much times of the call and of the receiver of a message may be off, together; 0: nothing
 * is known of the receiver any more. *exit_ns: when its current event is over. */
static int64_t off_ns(const struct rfn_leaving *leaving, const struct rfn_message *message,
                      int64_t *exit_ns)
{
    int64_t ns;
    if (!rfn_event_order_rank(leaving->pass->match.replay, message->dest, exit_ns, &ns))
        return 0;
    return ns + rfn_cursor_off_ns(leaving->at->cursor);
}

/* Whether a send that is over has not waited for its receive, as that is posted so much later. */
static bool was_over(const struct rfn_leaving *leaving, const struct rfn_message *message)
{
    const int64_t exit_ns = leaving->at->exit_ns;
    int64_t receiver_ns = 0, off = off_ns(leaving, message, &receiver_ns);
    if (message->taken)
        return message->posted.ns - exit_ns >= off;
    return !off || receiver_ns - exit_ns >= off;
}

/* How long the largest message that the call received may have taken to be moved; INT64_MAX:
 * something else was ended, too, or it is not known which message. */
static int64_t moved_ns(const struct rfn_leaving *leaving)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < leaving->of->match.n_awaited; i++) {
        const struct rfn_awaited *awaited = &leaving->of->match.awaited[i];
        if (awaited->kind == RFN_AWAITS_MESSAGE_TAKEN)
            continue;
        if (awaited->kind != RFN_AWAITS_MESSAGE || !awaited->message)
            return INT64_MAX;
        bytes = rfn_most(bytes, awaited->message->bytes);
    }
    const double ns = (double)bytes * leaving->pass->ns_per_byte;
    return ns < (double)INT64_MAX ? (int64_t)ns : INT64_MAX;
}

/* It may have been so. Not if the message may be eager and the wait would be no longer than what
 * else was ended may take to be moved, nor if it is shorter than times are off. */
static void doubt(struct rfn_leaving *leaving, const struct rfn_message *message)
{
    const int64_t enter_ns = leaving->of->match.since_ns, exit_ns = leaving->at->exit_ns;
    const int64_t ns = rfn_least(message->posted.ns, exit_ns) - enter_ns;
    int64_t receiver_ns;
    if (ns <= leaving->doubt.ns ||
        (message->posted.ns >= exit_ns && ns < off_ns(leaving, message, &receiver_ns)))
        return;
    if (message->mode == RFN_SEND_STANDARD && message->bytes <= EAGER_MOST &&
        ns <= moved_ns(leaving))
        return;
    leaving->doubt.message = message;
    leaving->doubt.ns = ns;
}

/* Whether it is not certain if the call waited for the receiver. */
static bool is_doubtful(const struct rfn_leaving *leaving, const struct rfn_message *message,
                        bool before)
{
    if (!leaving->pass->reduced || message->mode >= RFN_SEND_BUFFERED)
        return false;
    if (before)
        return !was_over(leaving, message);
    return leaving->of->match.n_awaited > 1 && message->mode == RFN_SEND_STANDARD;
}

struct rfn_wait rfn_late_receiver(struct rfn_leaving *leaving, const struct rfn_message *message)
{
    struct rfn_wait_pass *pass = leaving->pass;
    struct rfn_wait wait = {.pattern = RFN_LATE_RECEIVER, .until = message->posted};
    bool before = !message->taken || message->posted.ns >= leaving->at->exit_ns;
    /* A receive with a wildcard that is posted already may turn out to take it. */
    bool undecided = !message->taken && pass->match.channels.ranks[message->dest].n_open > 0;
    bool eager = is_eager(pass, message);
    if (is_doubtful(leaving, message, before)) {
        if (message->taken && !eager)
            doubt(leaving, message);
        return wait;
    }
    if (message->mode == RFN_SEND_STANDARD && before && !undecided && !eager)
        pass->eager_bytes = message->bytes;
    if (message->mode >= RFN_SEND_BUFFERED || before)
        return wait;
    if (!eager || leaving->of->match.n_awaited == 1)
        wait.ns = message->posted.ns - leaving->of->match.since_ns;
    return wait;
}

/* It waited for that receiver, at last, if it did not wait for something else for more than half as
 * long. */
void rfn_settle_doubt(struct rfn_leaving *leaving)
{
    const struct rfn_message *message = leaving->doubt.message;
    if (!message || leaving->wait.ns > leaving->doubt.ns / 2)
        return;
    const struct rfn_wait wait = {.pattern = RFN_LATE_RECEIVER,
                                  .ns = leaving->doubt.ns - leaving->wait.ns,
                                  .until = message->posted};
    if (leaving->wait.ns > 0)
        leaving->after = wait;
    else
        leaving->wait = wait;
}

/* ---- staying ---- */

/* Whether it is not known yet when the message of something awaited is taken, and matters. */
static bool is_open(const struct rfn_wait_pass *pass, const struct rfn_awaited *awaited)
{
    if (awaited->kind != RFN_AWAITS_MESSAGE_TAKEN || awaited->cancelled)
        return false;
    const struct rfn_message *message = &pass->match.channels.messages[awaited->number];
    return !message->taken && message->mode < RFN_SEND_BUFFERED && !is_eager(pass, message);
}

/* Goes on to what is open, from what is awaited at `i` on; whether there is something. */
static bool stay_from(struct rfn_wait_pass *pass, struct rfn_wait_stream *of, size_t i)
{
    of->stays = 0;
    for (; i < of->match.n_awaited && !of->stays; i++) {
        if (!is_open(pass, &of->match.awaited[i]))
            continue;
        pass->match.channels.messages[of->match.awaited[i].number].awaits = true;
        of->stays = i + 1;
    }
    return of->stays > 0;
}

bool rfn_pass_wakes(struct rfn_match *match, uint32_t stream)
{
    struct rfn_wait_pass *pass = (struct rfn_wait_pass *)match;
    struct rfn_wait_stream *of = &pass->streams[stream];
    return !of->stays || !stay_from(pass, of, of->stays);
}

/* When the last one should be taken, if that is still waited for. */
static int64_t until_ns(const struct rfn_leaving *leaving)
{
    const struct rfn_wait_stream *of = leaving->of;
    int64_t most_ns = 0, receiver_ns;
    for (size_t i = 0; i < of->match.n_awaited; i++) {
        if (is_open(leaving->pass, &of->match.awaited[i]))
            most_ns = rfn_most(
                most_ns,
                off_ns(leaving,
                       &leaving->pass->match.channels.messages[of->match.awaited[i].number],
                       &receiver_ns));
    }
    return leaving->at->exit_ns + most_ns;
}

bool rfn_stays_for_receivers(struct rfn_leaving *leaving)
{
    struct rfn_wait_pass *pass = leaving->pass;
    struct rfn_wait_stream *of = leaving->of;
    if (of->stays) { /* the time is over */
        pass->match.channels.messages[of->match.awaited[of->stays - 1].number].awaits = false;
        of->stays = 0;
        return false;
    }
    return rfn_event_order_ask_again(pass->match.replay, leaving->stream, until_ns(leaving)) &&
           stay_from(pass, of, 0);
}
