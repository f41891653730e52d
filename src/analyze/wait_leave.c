/* wait_leave.c - how long a call waited, and for whom, when it leaves.
 *
 * Of all that a call waited for, the thing that came last counts. What the call did is then
 * divided: waiting, with its causes; waiting of which no cause is known; and the rest.
 */
#include "analyze/wait_pass.h"
#include "base/grow.h"
#include "refrain/event.h"

#include <string.h>

/* The longest wait of a call. */
struct longest {
    struct rfn_wait wait;
    enum rfn_pattern completion;
    int64_t completion_ns;
};

static void offer(struct longest *longest, const struct rfn_wait *wait)
{
    if (wait->ns > longest->wait.ns)
        longest->wait = *wait;
}

void rfn_pass_wake(void *context, uint32_t stream)
{
    struct rfn_wait_pass *pass = context;
    rfn_replay_wake(pass->replay, stream);
}

/* ---- what a stream did ---- */

int rfn_pass_did(struct rfn_wait_pass *pass, uint32_t stream, uint32_t activity, int64_t ns)
{
    struct rfn_wait_stream *of = &pass->streams[stream];
    size_t old = pass->activity_capacity;
    if (activity >= old) {
        RFN_TRY(RFN_GROW(pass->activity_ns, pass->activity_capacity, (size_t)activity + 1));
        memset(pass->activity_ns + old, 0,
               (pass->activity_capacity - old) * sizeof *pass->activity_ns);
    }
    pass->activity_ns[activity] += ns;
    RFN_TRY(rfn_history_add(&of->history, &pass->delays.sums, activity, ns));
    return rfn_critical_add(&of->critical, activity, ns);
}

static int did_wait(struct rfn_wait_pass *pass, uint32_t stream, int64_t ns)
{
    struct rfn_wait_symbol *symbol = pass->streams[stream].symbol;
    struct rfn_activity activity = {.kind = RFN_ACTIVITY_WAIT,
                                    .at = pass->activities.sites[symbol->site],
                                    .region = RFN_NO_REGION};
    int64_t number = rfn_activity_of(&pass->activities, &activity);
    RFN_TRY((int)(number < 0 ? number : 0));
    return rfn_pass_did(pass, stream, (uint32_t)number, ns);
}

/* The stream goes on with the chain that led to the end of the wait. Where clocks disagree that may
 * lie after the call: then what led to it took less. */
static int jump(struct rfn_wait_pass *pass, uint32_t stream, const struct rfn_wait *wait)
{
    struct rfn_wait_stream *of = &pass->streams[stream];
    const struct rfn_point *until = &wait->until;
    struct rfn_wait_stream *late = &pass->streams[until->stream];
    int64_t over = until->ns - (of->here.ns + wait->ns);
    RFN_TRY(
        rfn_critical_jump(&of->critical, of->history.at, &late->critical, &late->history, until));
    if (!over)
        return 0;
    uint32_t last = of->symbol->mpi_activity;
    if (until->at > late->history.first)
        last = late->history.log[(until->at - 1) % RFN_HISTORY_LENGTH].what;
    return rfn_critical_add(&of->critical, last & RFN_PASSED_ON ? of->symbol->mpi_activity : last,
                            -over);
}

/* A wait, and whom it is blamed on. */
static int waited(struct rfn_wait_pass *pass, uint32_t stream, const struct rfn_wait *wait)
{
    struct rfn_wait_stream *of = &pass->streams[stream];
    struct rfn_wait_stream *late = &pass->streams[wait->until.stream];
    struct rfn_delays *delays = &pass->delays;
    uint32_t rank = rfn_replay_stream(pass->replay, stream)->rank;
    uint32_t late_rank = rfn_replay_stream(pass->replay, wait->until.stream)->rank;
    RFN_TRY(rfn_delays_find(delays, &of->history, stream, of->here.at, &late->history, late_rank,
                            wait));
    RFN_TRY(rfn_tally_wait(&pass->tally, wait->pattern, of->symbol->site, rank, wait->ns,
                           delays->blames, delays->n_blames));
    if (!delays->n_blames)
        return did_wait(pass, stream, wait->ns);
    RFN_TRY(jump(pass, stream, wait));
    for (size_t i = 0; i < delays->n_blames; i++)
        RFN_TRY(rfn_history_add(&of->history, &delays->sums,
                                RFN_PASSED_ON | delays->blames[i].cause, delays->blames[i].ns));
    return 0;
}

static int completed(struct rfn_wait_pass *pass, uint32_t stream, const struct longest *longest)
{
    uint32_t rank = rfn_replay_stream(pass->replay, stream)->rank;
    RFN_TRY(rfn_tally_wait(&pass->tally, longest->completion, pass->streams[stream].symbol->site,
                           rank, longest->completion_ns, NULL, 0));
    return did_wait(pass, stream, longest->completion_ns);
}

/* A run of polls is partly outside of MPI. */
static int did_outside(struct rfn_wait_pass *pass, uint32_t stream, int64_t ns)
{
    struct rfn_call_site site = pass->activities.sites[pass->streams[stream].symbol->site];
    struct rfn_activity activity = {
        .kind = RFN_ACTIVITY_COMPUTE, .before = site, .at = site, .region = RFN_NO_REGION};
    int64_t number = rfn_activity_of(&pass->activities, &activity);
    RFN_TRY((int)(number < 0 ? number : 0));
    return rfn_pass_did(pass, stream, (uint32_t)number, ns);
}

/* Divides the time of the call. */
static int divide(struct rfn_wait_pass *pass, uint32_t stream, struct longest *longest)
{
    const struct rfn_replay_stream *at = rfn_replay_stream(pass->replay, stream);
    const struct rfn_wait_symbol *symbol = pass->streams[stream].symbol;
    int64_t left = at->exit_ns - at->enter_ns, inside = at->record->inside_ns;
    if (at->record->polls > 1 && inside >= 0 && inside < left) {
        RFN_TRY(did_outside(pass, stream, left - inside));
        left = inside;
    }
    if (longest->wait.ns > left)
        longest->wait.ns = left;
    if (longest->wait.ns > 0)
        RFN_TRY(waited(pass, stream, &longest->wait));
    left -= longest->wait.ns;
    if (longest->completion_ns > left)
        longest->completion_ns = left;
    if (longest->completion_ns > 0)
        RFN_TRY(completed(pass, stream, longest));
    left -= longest->completion_ns;
    return left > 0 ? rfn_pass_did(pass, stream, symbol->mpi_activity, left) : 0;
}

/* ---- receives ---- */

static bool is_there(struct rfn_wait_pass *pass, uint32_t stream, const struct rfn_awaited *awaited)
{
    struct rfn_channels *channels = &pass->channels;
    const struct rfn_message *message;
    switch (awaited->kind) {
    case RFN_AWAITS_MESSAGE:
    case RFN_AWAITS_PROBED: {
        struct rfn_receive *receive = &channels->receives[awaited->number];
        if (awaited->cancelled || !receive->placed ||
            rfn_channels_message(channels, awaited->number))
            return true;
        receive->stream = stream + 1;
        return false;
    }
    case RFN_AWAITS_ARRIVAL:
        message = rfn_channels_peek(channels, awaited->number);
        return (message && message->begun) ||
               !rfn_channels_probe(channels, awaited->number, stream);
    case RFN_AWAITS_ALL:
        return rfn_collectives_ready(pass->collectives, &awaited->share, stream);
    default:
        return true;
    }
}

/* A wait for a message: late sender, or wrong order. */
static struct rfn_wait late_sender(const struct rfn_wait_pass *pass, uint32_t rank,
                                   const struct rfn_message *message, int64_t enter_ns,
                                   int64_t exit_ns)
{
    int64_t sent_ns = message->sent.ns;
    struct rfn_wait wait = {.pattern = RFN_LATE_SENDER, .until = message->sent};
    wait.ns = (sent_ns < exit_ns ? sent_ns : exit_ns) - enter_ns;
    if (wait.ns > 0 && rfn_channels_older(&pass->channels, rank, sent_ns, pass->calls))
        wait.pattern = RFN_WRONG_ORDER;
    return wait;
}

/* Messages that end before they begin are counted, and moved if that is wanted: returns whether the
 * event has been put off. */
static bool goes_backward(struct rfn_wait_pass *pass, uint32_t stream,
                          const struct rfn_message *message)
{
    struct rfn_matching *matching = &pass->waits->matching;
    const struct rfn_replay_stream *at = rfn_replay_stream(pass->replay, stream);
    int64_t by = message->sent.ns - at->exit_ns;
    if (by <= 0 || !pass->waits->times)
        return false;
    matching->backward++;
    if (by > matching->backward_max_ns)
        matching->backward_max_ns = by;
    if (pass->fix_clocks)
        rfn_replay_put_off(pass->replay, stream, message->sent.ns);
    return pass->fix_clocks;
}

/* ---- sends ---- */

static struct rfn_wait late_receiver(struct rfn_wait_pass *pass, const struct rfn_message *message,
                                     bool alone, int64_t enter_ns, int64_t exit_ns)
{
    struct rfn_wait wait = {.pattern = RFN_LATE_RECEIVER, .until = message->posted};
    bool before = !message->taken || message->posted.ns >= exit_ns;
    /* A receive with a wildcard that is posted already may turn out to take it. */
    bool undecided = !message->taken && pass->channels.ranks[message->dest].n_open > 0;
    if (message->mode == RFN_SEND_STANDARD && before && !undecided &&
        message->bytes > pass->eager_bytes)
        pass->eager_bytes = message->bytes;
    if (message->mode == RFN_SEND_LOCAL || before)
        return wait;
    if (message->mode == RFN_SEND_SYNCHRONOUS || alone || message->bytes > pass->eager_bytes)
        wait.ns = message->posted.ns - enter_ns;
    return wait;
}

/* ---- receives that cannot be measured yet ---- */

static int64_t note_late(struct rfn_wait_pass *pass, uint32_t stream)
{
    uint32_t at = pass->free_late - 1;
    if (pass->free_late) {
        pass->free_late = pass->late[at].next_free;
    } else {
        RFN_TRY(RFN_GROW(pass->late, pass->late_capacity, pass->n_late + 1));
        at = (uint32_t)pass->n_late++;
    }
    pass->late[at] = (struct rfn_late_receive){
        .left = pass->streams[stream].here,
        .exit_ns = rfn_replay_stream(pass->replay, stream)->exit_ns,
        .site = pass->streams[stream].symbol->site};
    return at;
}

/* The call leaves without knowing the message; when it is known, rfn_pass_bound goes on. */
static int leave_open(struct rfn_wait_pass *pass, uint32_t stream, uint32_t number)
{
    struct rfn_receive *receive = &pass->channels.receives[number];
    receive->left = true;
    receive->note = 0;
    receive->stream = stream + 1;
    if (receive->placed)
        return 0;
    int64_t note = note_late(pass, stream);
    RFN_TRY((int)(note < 0 ? note : 0));
    receive->note = (uint32_t)note + 1;
    return 0;
}

int rfn_pass_abandon(struct rfn_wait_pass *pass, uint32_t number)
{
    struct rfn_receive *receive = &pass->channels.receives[number];
    if (receive->message)
        return rfn_channels_received(&pass->channels, number, false);
    if (!receive->placed && !receive->known)
        return rfn_channels_received(&pass->channels, number, true);
    receive->left = true; /* it goes when its message comes */
    receive->note = 0;
    receive->stream = 1;
    return 0;
}

static int measure_late(struct rfn_wait_pass *pass, const struct rfn_late_receive *late,
                        uint32_t rank, const struct rfn_message *message)
{
    struct rfn_wait wait = late_sender(pass, rank, message, late->left.ns, late->exit_ns);
    struct rfn_delays *delays = &pass->delays;
    const struct rfn_wait_stream *waiting = &pass->streams[late->left.stream];
    const struct rfn_wait_stream *sender = &pass->streams[message->sent.stream];
    if (wait.ns <= 0)
        return 0;
    delays->n_blames = 0;
    if (late->left.at >= waiting->history.first)
        RFN_TRY(rfn_delays_find(
            delays, &waiting->history, late->left.stream, late->left.at, &sender->history,
            rfn_replay_stream(pass->replay, message->sent.stream)->rank, &wait));
    return rfn_tally_wait(&pass->tally, wait.pattern, late->site, rank, wait.ns, delays->blames,
                          delays->n_blames);
}

int rfn_pass_bound(void *context, uint32_t number)
{
    struct rfn_wait_pass *pass = context;
    struct rfn_receive *receive = &pass->channels.receives[number];
    if (!receive->left) {
        rfn_replay_wake(pass->replay, receive->stream - 1);
        return 0;
    }
    if (receive->note) {
        struct rfn_late_receive *late = &pass->late[receive->note - 1];
        if (pass->waits->times)
            RFN_TRY(measure_late(pass, late, receive->rank,
                                 rfn_channels_message(&pass->channels, number)));
        late->next_free = pass->free_late;
        pass->free_late = receive->note;
    }
    return rfn_channels_received(&pass->channels, number, false);
}

/* ---- leaving ---- */

/* Whether everything is there; if not, the stream is woken when it comes. */
static bool all_there(struct rfn_wait_pass *pass, uint32_t stream)
{
    struct rfn_wait_stream *of = &pass->streams[stream];
    for (size_t i = 0; i < of->n_awaited; i++) {
        if (!is_there(pass, stream, &of->awaited[i]))
            return false;
    }
    return true;
}

static const struct rfn_message *message_of(struct rfn_wait_pass *pass,
                                            const struct rfn_awaited *awaited)
{
    if (awaited->kind == RFN_AWAITS_ARRIVAL)
        return rfn_channels_peek(&pass->channels, awaited->number);
    if (awaited->kind == RFN_AWAITS_MESSAGE || awaited->kind == RFN_AWAITS_PROBED)
        return awaited->cancelled ? NULL : rfn_channels_message(&pass->channels, awaited->number);
    return NULL;
}

static bool put_off(struct rfn_wait_pass *pass, uint32_t stream)
{
    struct rfn_wait_stream *of = &pass->streams[stream];
    bool moved = false;
    for (size_t i = 0; i < of->n_awaited && !moved; i++) {
        const struct rfn_awaited *awaited = &of->awaited[i];
        const struct rfn_message *message = message_of(pass, awaited);
        if (awaited->kind == RFN_AWAITS_MESSAGE && message && message->begun)
            moved = goes_backward(pass, stream, message);
    }
    return moved;
}

static void measure(struct rfn_wait_pass *pass, uint32_t stream, const struct rfn_awaited *awaited,
                    struct longest *longest)
{
    const struct rfn_replay_stream *at = rfn_replay_stream(pass->replay, stream);
    struct rfn_wait_stream *of = &pass->streams[stream];
    const struct rfn_message *message = message_of(pass, awaited);
    struct rfn_wait wait = {0};
    if (message && message->begun) {
        wait = late_sender(pass, at->rank, message, at->enter_ns, at->exit_ns);
    } else if (awaited->kind == RFN_AWAITS_MESSAGE_TAKEN && !awaited->cancelled) {
        wait = late_receiver(pass, &pass->channels.messages[awaited->number], of->n_awaited == 1,
                             at->enter_ns, at->exit_ns);
    } else if (awaited->kind == RFN_AWAITS_ALL) {
        struct rfn_collective_wait found = rfn_collectives_measure(
            pass->collectives, &awaited->share, at->enter_ns, at->exit_ns);
        wait = found.wait;
        if (found.completion_ns > longest->completion_ns) {
            longest->completion = found.completion;
            longest->completion_ns = found.completion_ns;
        }
    }
    offer(longest, &wait);
}

/* What the stream has in common with others now: this is a place to compare from next time. */
static int in_step(struct rfn_wait_pass *pass, uint32_t stream, const struct rfn_awaited *awaited)
{
    struct rfn_wait_stream *of = &pass->streams[stream];
    const struct rfn_replay_stream *at = rfn_replay_stream(pass->replay, stream);
    const struct rfn_message *message = message_of(pass, awaited);
    if (awaited->kind == RFN_AWAITS_ALL) {
        struct rfn_collective_wait found = rfn_collectives_measure(
            pass->collectives, &awaited->share, at->enter_ns, at->exit_ns);
        if (found.in_step)
            rfn_history_mark(&of->history, found.key, found.count);
        return 0;
    }
    if (!message || !message->begun || awaited->kind != RFN_AWAITS_MESSAGE)
        return 0;
    RFN_TRY(rfn_history_met(&of->history, message->sent.stream, of->history.at));
    return rfn_history_met(&pass->streams[message->sent.stream].history, stream, message->sent.at);
}

static int let_go(struct rfn_wait_pass *pass, uint32_t stream, const struct rfn_awaited *awaited)
{
    switch (awaited->kind) {
    case RFN_AWAITS_MESSAGE_TAKEN:
        return rfn_channels_sent(&pass->channels, awaited->number, awaited->cancelled);
    case RFN_AWAITS_MESSAGE:
        if (awaited->cancelled || rfn_channels_message(&pass->channels, awaited->number))
            return rfn_channels_received(&pass->channels, awaited->number, awaited->cancelled);
        return leave_open(pass, stream, awaited->number);
    case RFN_AWAITS_PROBED:
        pass->channels.receives[awaited->number].stream = 0;
        return 0;
    case RFN_AWAITS_ALL:
        rfn_collectives_leave(pass->collectives, &awaited->share);
        return 0;
    default:
        return 0;
    }
}

static int leave(struct rfn_wait_pass *pass, uint32_t stream)
{
    struct rfn_wait_stream *of = &pass->streams[stream];
    struct longest longest = {0};
    if (pass->waits->times) {
        pass->calls++;
        for (size_t i = 0; i < of->n_awaited; i++) {
            if (of->awaited[i].kind == RFN_AWAITS_MESSAGE)
                rfn_channels_got(&pass->channels, of->awaited[i].number, pass->calls);
        }
        for (size_t i = 0; i < of->n_awaited; i++)
            measure(pass, stream, &of->awaited[i], &longest);
        RFN_TRY(divide(pass, stream, &longest));
        for (size_t i = 0; i < of->n_awaited; i++)
            RFN_TRY(in_step(pass, stream, &of->awaited[i]));
    }
    for (size_t i = 0; i < of->n_awaited; i++)
        RFN_TRY(let_go(pass, stream, &of->awaited[i]));
    of->n_awaited = 0;
    return 0;
}

int rfn_pass_leave(void *context, uint32_t stream, bool forced)
{
    struct rfn_wait_pass *pass = context;
    struct rfn_wait_stream *of = &pass->streams[stream];
    if (of->n_awaited) {
        if (!forced && !all_there(pass, stream))
            return RFN_REPLAY_PARK;
        if (put_off(pass, stream))
            return 0;
    }
    RFN_TRY(leave(pass, stream));
    int64_t exit_ns = rfn_replay_stream(pass->replay, stream)->exit_ns;
    if (!pass->any_exit || exit_ns > pass->last_exit_ns) {
        pass->any_exit = true;
        pass->last_exit_ns = exit_ns;
        pass->last_stream = stream;
    }
    of->site = of->symbol->site;
    return 0;
}
