/* match.c - the walk of refrain/match.h, a consumer of matching.h that keeps what lasts: both ends
 * of messages, by the numbers of messages and receives, and the members of collective calls, by the
 * numbers of their instances.
 */
#include "refrain/match.h"

#include "analyze/match/matching.h"
#include "analyze/match/recording_off.h"

#include <stdlib.h>
#include <string.h>

struct walk_stream {
    struct rfn_match_stream match;
    struct rfn_awaited *posted; /* by requests that the current event makes or starts */
    size_t n_posted, posted_capacity;
};

/* The call that ended something that another call, or the same one, began. */
struct ended {
    struct rfn_call_site began;
    bool any;
    uint64_t event;
    struct rfn_call_site site;
    int64_t enter_ns, exit_ns;
};

/* Of a message. */
struct ends {
    struct ended sent, received;
};

/* A collective call under way. */
struct party {
    struct rfn_match_member *members; /* as many as there are places; NULL: it is new */
    uint32_t function;
    int64_t root;
};

struct walk {
    struct rfn_match match; /* first: its hooks are called with it */
    const struct rfn_match_hooks *hooks;
    struct ends *ends; /* by number of the message */
    size_t ends_capacity;
    struct ended *received; /* by number of the receive: its message was not known then */
    size_t received_capacity;
    struct party *parties; /* by number of the instance */
    size_t parties_capacity;
    struct rfn_match_op *ops; /* of the event at hand, and the points that they refer to */
    struct rfn_match_point *points;
    size_t ops_capacity, points_capacity;
    struct rfn_off_times *pauses; /* by rank; NULL: there are none */
};

static struct walk_stream *stream_of(const struct walk *walk, uint32_t stream)
{
    return (struct walk_stream *)rfn_match_stream(&walk->match, stream);
}

static struct rfn_match_point point_of(const struct walk *walk, const struct rfn_point *point)
{
    uint32_t rank = rfn_event_order_stream(walk->match.replay, point->stream)->rank;
    return (struct rfn_match_point){point->stream, rank, point->at, point->ns};
}

static struct rfn_call_site site_of(const struct rfn_event_order_stream *at)
{
    return (struct rfn_call_site){at->record->function, at->record->path};
}

static struct ended ended_by(struct rfn_call_site began, const struct rfn_event_order_stream *at)
{
    return (struct ended){began, true, at->record->index, site_of(at), at->enter_ns, at->exit_ns};
}

static struct rfn_match_end end_of(struct rfn_match_point posted, const struct ended *ended)
{
    return (struct rfn_match_end){posted,      ended->began,    ended->any,    ended->event,
                                  ended->site, ended->enter_ns, ended->exit_ns};
}

/* ---- what an event posts or completes ---- */

static void describe_message(const struct walk *walk, uint32_t number, struct rfn_match_op *op)
{
    struct rfn_message *message = &walk->match.channels.messages[number];
    const struct rfn_channel_key *key = &walk->match.channels.items[message->channel].key;
    op->peer = op->what == RFN_MATCH_SEND ? key->dest : key->source;
    op->comm = key->comm;
    op->tag = key->tag;
    op->part = key->part;
    op->bytes = message->bytes;
    op->user = &message->user;
}

static void describe_send(const struct walk *walk, uint32_t number, struct rfn_match_op *op,
                          struct rfn_match_point *other)
{
    const struct rfn_message *message = &walk->match.channels.messages[number];
    op->what = RFN_MATCH_SEND;
    describe_message(walk, number, op);
    if (!message->taken)
        return;
    *other = point_of(walk, &message->posted);
    op->other = other;
}

static void describe_receive(const struct walk *walk, const struct rfn_message *message,
                             struct rfn_match_op *op, struct rfn_match_point *other)
{
    if (!message)
        return;
    describe_message(walk, (uint32_t)(message - walk->match.channels.messages), op);
    *other = point_of(walk, &message->sent);
    op->other = other;
}

static void describe(struct walk *walk, const struct rfn_awaited *awaited, struct rfn_match_op *op,
                     struct rfn_match_point *other)
{
    struct rfn_channels *channels = &walk->match.channels;
    *op = (struct rfn_match_op){.cancelled = awaited->cancelled, .peer = RFN_NO_PEER, .bytes = -1};
    switch (awaited->kind) {
    case RFN_AWAITS_MESSAGE_TAKEN:
        describe_send(walk, awaited->number, op, other);
        break;
    case RFN_AWAITS_MESSAGE:
        op->what = RFN_MATCH_RECEIVE;
        if (!awaited->cancelled)
            describe_receive(walk, rfn_channels_message(channels, awaited->number), op, other);
        break;
    case RFN_AWAITS_PROBED:
        op->what = RFN_MATCH_PROBE;
        describe_receive(walk, rfn_channels_message(channels, awaited->number), op, other);
        break;
    case RFN_AWAITS_ARRIVAL:
        op->what = RFN_MATCH_PROBE;
        describe_receive(walk, rfn_channels_peek(channels, awaited->number), op, other);
        break;
    default:
        op->what = RFN_MATCH_COLLECTIVE;
        break;
    }
}

static int describe_all(struct walk *walk, const struct rfn_awaited *list, size_t n)
{
    RFN_TRY(RFN_GROW(walk->ops, walk->ops_capacity, n + 1));
    RFN_TRY(RFN_GROW(walk->points, walk->points_capacity, n + 1));
    for (size_t i = 0; i < n; i++)
        describe(walk, &list[i], &walk->ops[i], &walk->points[i]);
    return 0;
}

static struct rfn_match_event event_of(const struct walk *walk, uint32_t stream,
                                       const struct rfn_event_order_stream *at, size_t n_ops)
{
    return (struct rfn_match_event){.stream = stream,
                                    .rank = at->rank,
                                    .thread = at->thread,
                                    .record = at->record,
                                    .cursor = at->cursor,
                                    .volume = &stream_of(walk, stream)->match.symbol->volume,
                                    .enter_ns = at->enter_ns,
                                    .exit_ns = at->exit_ns,
                                    .ops = walk->ops,
                                    .n_ops = n_ops};
}

/* ---- events enter ---- */

static int posted(struct rfn_match *match, uint32_t stream, const struct rfn_awaited *one)
{
    struct walk *walk = (struct walk *)match;
    struct walk_stream *of = stream_of(walk, stream);
    RFN_TRY(RFN_GROW(of->posted, of->posted_capacity, of->n_posted + 1));
    of->posted[of->n_posted++] = *one;
    return 0;
}

/* There is room for what is kept of a message, whose ends may be known already, or an instance. */
static int begin(struct walk *walk, const struct rfn_awaited *one, const struct walk_stream *of,
                 const struct rfn_event_order_stream *at)
{
    if (one->kind == RFN_AWAITS_MESSAGE_TAKEN) {
        RFN_TRY(RFN_GROW_ZEROED(walk->ends, walk->ends_capacity, (size_t)one->number + 1));
        walk->ends[one->number].sent.began = site_of(at);
    } else if (one->kind == RFN_AWAITS_MESSAGE) {
        RFN_TRY(RFN_GROW(walk->received, walk->received_capacity, (size_t)one->number + 1));
        walk->received[one->number] = (struct ended){.began = site_of(at)};
    } else if (one->kind == RFN_AWAITS_ALL && walk->hooks->collective) {
        uint32_t instance = one->share.instance, size;
        rfn_collectives_comm(walk->match.collectives, instance, &size);
        RFN_TRY(RFN_GROW_ZEROED(walk->parties, walk->parties_capacity, (size_t)instance + 1));
        struct party *party = &walk->parties[instance];
        if (!party->members) {
            party->members = calloc((size_t)size + 1, sizeof *party->members);
            party->root = -1;
            party->function = at->record->function;
        }
        if (!party->members)
            return RFN_E_NOMEM;
        if (one->share.root)
            party->root = one->share.place;
        party->members[one->share.place] = (struct rfn_match_member){
            .entered = true,
            .end = {.posted = point_of(walk, &of->match.here), .site = site_of(at)},
            .sent_bytes = of->match.symbol->volume.sent_bytes,
            .received_bytes = of->match.symbol->volume.received_bytes};
    }
    return 0;
}

/* What the call began, which is told. */
static int begin_all(struct walk *walk, struct walk_stream *of, uint32_t stream,
                     const struct rfn_event_order_stream *at)
{
    const struct rfn_call *role = of->match.symbol->role;
    bool blocking = role->variant == RFN_CALL_BLOCKING &&
                    (role->kind < RFN_CALL_START || rfn_call_is_collective(role));
    const struct rfn_awaited *list = blocking ? of->match.awaited : of->posted;
    size_t n = blocking ? of->match.n_awaited : of->n_posted;
    for (size_t i = 0; i < n; i++)
        RFN_TRY(begin(walk, &list[i], of, at));
    if (!walk->hooks->enter)
        return 0;
    RFN_TRY(describe_all(walk, list, n));
    const struct rfn_match_event event = event_of(walk, stream, at, n);
    return walk->hooks->enter(walk->hooks->context, &event);
}

static int tell_gap(const struct walk *walk, uint32_t stream, int64_t from_ns, int64_t to_ns)
{
    return from_ns < to_ns ? walk->hooks->gap(walk->hooks->context, stream, from_ns, to_ns) : 0;
}

/* Between two events, as far as recording was on. */
static int tell_gaps(const struct walk *walk, uint32_t stream,
                     const struct rfn_event_order_stream *at)
{
    int64_t from_ns = at->before_ns;
    const struct rfn_off_times *pauses = walk->pauses ? &walk->pauses[at->rank] : NULL;
    for (size_t i = 0; pauses && i < pauses->n; i++) {
        const struct rfn_off_time *pause = &pauses->items[i];
        if (pause->to_ns <= from_ns)
            continue;
        if (pause->from_ns >= at->enter_ns)
            break;
        RFN_TRY(tell_gap(walk, stream, from_ns, pause->from_ns));
        from_ns = pause->to_ns;
    }
    return tell_gap(walk, stream, from_ns, at->enter_ns);
}

static int enter(void *context, uint32_t stream, struct rfn_event_order_stream *at)
{
    struct walk *walk = context;
    struct walk_stream *of = stream_of(walk, stream);
    const struct rfn_match_hooks *hooks = walk->hooks;
    of->n_posted = 0;
    RFN_TRY(rfn_match_begin(&walk->match, &of->match, stream, at));
    if (hooks->gap && !at->first)
        RFN_TRY(tell_gaps(walk, stream, at));
    RFN_TRY(rfn_match_call(&walk->match, &of->match, at));
    return begin_all(walk, of, stream, at);
}

/* ---- events leave ---- */

/* The call that ends it is noted. */
static void note_end(struct walk *walk, const struct rfn_awaited *awaited,
                     const struct rfn_event_order_stream *at)
{
    const struct rfn_channels *channels = &walk->match.channels;
    struct ended *ended;
    if (awaited->cancelled)
        return;
    if (awaited->kind == RFN_AWAITS_MESSAGE_TAKEN) {
        walk->ends[awaited->number].sent = ended_by(walk->ends[awaited->number].sent.began, at);
    } else if (awaited->kind == RFN_AWAITS_MESSAGE) {
        uint32_t message = channels->receives[awaited->number].message;
        ended = message ? &walk->ends[message - 1].received : &walk->received[awaited->number];
        *ended = ended_by(walk->received[awaited->number].began, at);
    } else if (awaited->kind == RFN_AWAITS_ALL && walk->hooks->collective) {
        const size_t instance = awaited->share.instance;
        /* In a damaged archive a member may leave a call that none has entered, or that is over. */
        if (instance >= walk->parties_capacity || !walk->parties[instance].members)
            return;
        struct rfn_match_end *end = &walk->parties[instance].members[awaited->share.place].end;
        const struct ended left = ended_by(end->site, at);
        *end = end_of(end->posted, &left);
    }
}

static int leave(void *context, uint32_t stream, const struct rfn_event_order_stream *at,
                 bool forced)
{
    struct walk *walk = context;
    const struct rfn_match_hooks *hooks = walk->hooks;
    struct rfn_match *match = &walk->match;
    struct rfn_match_stream *of = rfn_match_stream(match, stream);
    struct rfn_match_one_sided window = {0};
    struct rfn_wait waited = {.ns = 0};
    bool at_window = of->one_sided && hooks->one_sided &&
                     rfn_one_sided_window(match->one_sided, stream, &window.comm, &window.window,
                                          &window.target);
    int there = rfn_match_arrived(match, of, stream, forced);
    if (there > 0 && of->one_sided)
        there = rfn_match_windows(match, of, stream, at, forced, &waited);
    if (there <= 0)
        return there < 0 ? there : RFN_REPLAY_PARK;
    for (size_t i = 0; i < of->n_awaited; i++)
        note_end(walk, &of->awaited[i], at);
    RFN_TRY(describe_all(walk, of->awaited, of->n_awaited));
    const struct rfn_match_event event = event_of(walk, stream, at, of->n_awaited);
    if (at_window) {
        window.event = &event;
        window.pattern = waited.pattern;
        window.waited_ns = waited.ns;
        if (waited.ns > 0)
            window.until = point_of(walk, &waited.until);
        RFN_TRY(hooks->one_sided(hooks->context, &window));
    }
    if (hooks->leave)
        RFN_TRY(hooks->leave(hooks->context, &event));
    return rfn_match_let_go(match, of, stream);
}

/* ---- hooks: between streams ---- */

static int late(struct rfn_match *match, struct rfn_receive *receive)
{
    struct walk *walk = (struct walk *)match;
    const size_t number = (size_t)(receive - match->channels.receives);
    RFN_TRY(RFN_GROW_ZEROED(walk->ends, walk->ends_capacity, receive->message));
    walk->ends[receive->message - 1].received = walk->received[number];
    return 0;
}

static int message(struct rfn_match *match, uint32_t number)
{
    struct walk *walk = (struct walk *)match;
    struct rfn_message *of = &match->channels.messages[number];
    RFN_TRY(RFN_GROW_ZEROED(walk->ends, walk->ends_capacity, (size_t)number + 1));
    const struct ends ends = walk->ends[number];
    const struct rfn_channel_key *key = &match->channels.items[of->channel].key;
    const struct rfn_match_message message = {
        .sent = end_of(point_of(walk, &of->sent), &ends.sent),
        .received = end_of(point_of(walk, &of->posted), &ends.received),
        .mode = of->mode,
        .bytes = of->bytes,
        .tag = key->tag,
        .comm = key->comm,
        .user = &of->user};
    walk->ends[number] = (struct ends){0};
    return walk->hooks->message(walk->hooks->context, &message);
}

static int collective(struct rfn_match *match, uint32_t instance)
{
    struct walk *walk = (struct walk *)match;
    if (instance >= walk->parties_capacity || !walk->parties[instance].members)
        return 0; /* as above: none has entered it */
    struct party *party = &walk->parties[instance];
    struct rfn_match_collective made = {
        .function = party->function, .root = party->root, .members = party->members};
    made.comm = rfn_collectives_comm(match->collectives, instance, &made.n_members);
    int error = walk->hooks->collective(walk->hooks->context, &made);
    free(party->members);
    party->members = NULL;
    return error;
}

static int end(void *context, uint32_t stream)
{
    const struct walk *walk = context;
    return walk->hooks->end(walk->hooks->context, stream,
                            rfn_event_order_stream(walk->match.replay, stream)->exit_ns);
}

/* ---- the walk ---- */

static int init(struct walk *walk, const struct rfn_archive *archive,
                const struct rfn_match_hooks *hooks)
{
    const struct rfn_event_order_hooks replay_hooks = {
        .enter = enter, .leave = leave, .end = hooks->end ? end : NULL, .context = walk};
    walk->match.archive = archive;
    walk->match.hooks = (struct rfn_match_consumer){.stream_size = sizeof(struct walk_stream),
                                                    .symbol_size = sizeof(struct rfn_match_symbol),
                                                    .late = late,
                                                    .posted = posted,
                                                    .message = hooks->message ? message : NULL,
                                                    .collective = hooks->collective ? collective
                                                                                    : NULL};
    if (hooks->gap)
        RFN_TRY(rfn_off_times_by_rank(archive, &walk->pauses));
    return rfn_match_init(&walk->match, &replay_hooks);
}

static void release(struct walk *walk)
{
    for (uint32_t i = 0; walk->match.streams && i < walk->match.n_streams; i++)
        free(stream_of(walk, i)->posted);
    for (size_t i = 0; i < walk->parties_capacity; i++)
        free(walk->parties[i].members);
    rfn_off_times_by_rank_free(walk->match.archive, walk->pauses);
    rfn_match_release(&walk->match);
    free(walk->parties);
    free(walk->ends);
    free(walk->received);
    free(walk->ops);
    free(walk->points);
}

int rfn_match_run(const struct rfn_archive *archive, const struct rfn_match_hooks *hooks,
                  struct rfn_matching *matching, struct rfn_diag *diag)
{
    struct walk walk = {.hooks = hooks};
    struct rfn_matching found = {0};
    struct rfn_diag lost_diag;
    int lost;
    int error = init(&walk, archive, hooks);
    if (!error)
        error = rfn_event_order_run(walk.match.replay);
    if (!error)
        error = rfn_match_finish(&walk.match, &found);
    if (!error) {
        if (matching)
            *matching = found;
        if (rfn_event_order_lost(walk.match.replay, &lost, &lost_diag)) {
            error = lost;
            if (diag)
                *diag = lost_diag;
        }
    } else {
        rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error));
    }
    release(&walk);
    return error;
}
