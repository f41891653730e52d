/* wait_pass.h - the state of a wait-state analysis; what its files share (waits.c tells who does
 * what).
 */
#ifndef RFN_ANALYZE_WAIT_PASS_H
#define RFN_ANALYZE_WAIT_PASS_H

#include "analyze/activity.h"
#include "analyze/channels.h"
#include "analyze/collectives.h"
#include "analyze/critical_path.h"
#include "analyze/delay.h"
#include "analyze/groups.h"
#include "analyze/history.h"
#include "analyze/loop_requests.h"
#include "analyze/one_sided.h"
#include "analyze/profile_pass.h"
#include "analyze/replay.h"
#include "analyze/steps.h"
#include "analyze/topology.h"
#include "analyze/wait_tally.h"
#include "base/grow.h"
#include "refrain/completion.h"
#include "refrain/volume.h"
#include "refrain/waits.h"

/* What a call waits for, or a request that it completes. */
enum rfn_awaits {
    RFN_AWAITS_NOTHING,
    RFN_AWAITS_MESSAGE_TAKEN, /* a send: that a receive takes its message */
    RFN_AWAITS_MESSAGE,       /* a receive */
    RFN_AWAITS_PROBED,        /* a matched probe: the message of a receive that another call ends */
    RFN_AWAITS_ARRIVAL,       /* a probe: the next message of a channel */
    RFN_AWAITS_ALL            /* a collective call */
};

/* Each MPI sends messages eagerly that are no larger, unless it is asked not to: the limits that
 * Open MPI and MPICH come with are 4 KiB and more. */
enum { RFN_EAGER_LEAST = 512 };

struct rfn_awaited {
    enum rfn_awaits kind;
    bool cancelled;
    uint8_t any;     /* ARRIVAL: what was asked for, enum rfn_wildcards */
    uint32_t number; /* of the message, of the receive, of the channel */
    union {
        struct rfn_share share;            /* ALL: in a collective call */
        const struct rfn_message *message; /* else, while the call leaves: NULL where not known */
    };
};

/* In place of a message: a collective call, whose share is at the same id. */
#define RFN_JOINS UINT32_MAX

/* ... and of a persistent one what each start does. */
struct rfn_persistent {
    const struct rfn_call *role;           /* NULL: the request is not persistent */
    int64_t send_channel, receive_channel; /* of partitioned communication, else -1 */
    uint32_t object, place;                /* of a collective call */
    struct rfn_volume volume;
    int64_t send_tag;
    bool data;
    int64_t root;
    uint32_t partitions, ready;
};

struct rfn_wait_process {
    struct rfn_begun *operations; /* by request id (refrain/completion.h) */
    size_t operations_capacity;
    struct rfn_share *shares; /* by request id */
    size_t shares_capacity;
    struct rfn_persistent *persistent; /* by request id */
    size_t persistent_capacity;
    struct rfn_map handles; /* of matched probes: handle -> receive */
};

/* What is known of a signature of a stream, so that its events need not be looked at again. One per
 * stream and symbol, which does not move: what events of messages take is in one line of the cache.
 */
struct rfn_wait_symbol {
    _Alignas(64) struct rfn_tally *tally; /* profile_pass.h */
    const struct rfn_call *role;
    uint32_t site, mpi_activity;
    uint32_t before, region,
        gap_activity; /* the gap in front, as it was last; before UINT32_MAX: not yet */
    uint32_t send_channel, receive_channel; /* + 1; 0: not yet */
    uint32_t send_generation, receive_generation;
    bool constant : 1;     /* its words never change */
    bool volume_lasts : 1; /* neither do outcomes */
    bool concerns : 1;     /* the tracker is to see it: */
    bool creates : 1;      /* it makes a request, and that is all */
    bool seen_by_some : 1; /* so are some of these: */
    bool topology, groups, one_sided;
    int64_t sent_bytes;    /* of a message in the channel that is remembered */
    int64_t object, place; /* -1: not yet */
};

/* What an event of a loop does in each iteration, as far as it is simple. */
enum rfn_loop_action {
    RFN_LOOP_ACT_ANY,            /* not known, or not simple */
    RFN_LOOP_ACT_NOTHING,        /* that others see */
    RFN_LOOP_ACT_COMPLETES,      /* requests of the iteration */
    RFN_LOOP_ACT_SENDS,          /* a message in a channel */
    RFN_LOOP_ACT_RECEIVES,       /* from a channel */
    RFN_LOOP_ACT_BEGINS_SEND,    /* makes a request, which another event completes */
    RFN_LOOP_ACT_BEGINS_RECEIVE, /* the same */
};

/* ... and all that has to be known of it; it holds as long as the channel stays the same one, the
 * loop is in the same region and the event follows the same site. */
struct rfn_loop_event {
    struct rfn_wait_symbol *symbol;
    int64_t bytes; /* sent */
    uint32_t channel, generation;
    uint32_t site, before; /* before: that of the event before */
    uint32_t gap_activity, mpi_activity;
    uint32_t request; /* that it makes: its number in the iteration */
    uint8_t action, mode;
};

/* A loop of which events come in batches (archive/cursor.h). All zeros: nothing is known. */
struct rfn_wait_loop {
    struct rfn_loop_requests requests;
    struct rfn_loop_event *events; /* by place in the iteration, when the requests are closed */
    struct rfn_loop_event entry;   /* the first one, where it follows what is not the loop's */
    size_t events_capacity;
    uint32_t region;       /* in which they were learned */
    uint32_t n_activities; /* the largest number of an activity of theirs, + 1 */
};

_Static_assert(sizeof(struct rfn_loop_event) <= 48, "an event of a loop has grown");

/* What every event takes lies in front, in five lines of the cache. */
struct rfn_wait_stream {
    /* The current event. */
    _Alignas(64) struct rfn_wait_symbol *symbol;
    struct rfn_wait_loop *loop; /* whose batch it is of; NULL: of none */
    struct rfn_awaited *awaited;
    size_t n_awaited;
    int64_t enter_ns;  /* or of the unsuccessful polls that it ends */
    int64_t polled_ns; /* inside those */
    uint32_t site;     /* of the event before; UINT32_MAX: none */
    bool one_sided;
    bool in_step; /* the segment is looked at (steps.h) */
    size_t awaited_capacity;
    struct rfn_point here;
    /* A run of unsuccessful polls that has left, while it is not known what ends it. */
    struct rfn_polls {
        bool any;
        const struct rfn_wait_symbol *symbol;
        int64_t enter_ns, exit_ns, inside_ns;
    } polls;
    struct rfn_critical_stream critical;
    struct rfn_history history;
    struct rfn_wait_symbol **symbols; /* NULL: has not occurred */
    size_t n_symbols;
    uint32_t *regions;
    size_t n_regions, regions_capacity;
    struct rfn_wait_loop *loops; /* by number of the loop */
    size_t loops_capacity;
    size_t
        stays; /* + 1: which of `awaited` the current event is shown again for (wait_receivers.c) */
};

_Static_assert(offsetof(struct rfn_wait_stream, history.first) < (size_t)5 * 64,
               "what events take of a stream has grown");

/* A call that had left before it could be told which messages its receives had got. */
struct rfn_late_receive {
    struct rfn_point left;    /* its beginning */
    int64_t from_ns, exit_ns; /* of it, what has not been found to be waiting so far */
    uint32_t site, users;     /* receives that are not told yet */
    uint32_t next_free;       /* + 1 */
};

struct rfn_wait_pass {
    const struct rfn_archive *archive;
    struct rfn_waits *waits;
    bool fix_clocks;
    bool reduced; /* times are, so that those of two ranks fit together about only */
    struct rfn_replay *replay;
    const int64_t *turn_ns; /* of the replay */
    struct rfn_profile_pass *profile;
    struct rfn_steps *steps;       /* NULL: nobody asks for behaviour */
    struct rfn_tracker **trackers; /* by rank */
    struct rfn_topologies *topologies;
    struct rfn_groups *groups;
    struct rfn_one_sided *one_sided;
    uint32_t *at_windows; /* streams that are parked there */
    size_t n_at_windows, at_windows_capacity;
    struct rfn_channels channels;
    struct rfn_collectives *collectives;
    struct rfn_activities activities;
    struct rfn_delays delays;
    struct rfn_wait_tally tally;
    struct rfn_wait_process *processes; /* by rank */
    struct rfn_wait_stream *streams;
    bool *absent; /* by rank */
    struct rfn_late_receive *late;
    size_t n_late, late_capacity;
    uint32_t free_late;
    int64_t eager_bytes; /* the largest message seen to be sent before its receive was posted, at
                            least RFN_EAGER_LEAST */
    uint64_t calls;      /* that have left */
    int64_t last_exit_ns;
    uint32_t last_stream;
    bool any_exit;
};

/* wait_calls.c: what the current event of a stream, which enters, sends, posts, joins or completes.
 * RFN_E_NOMEM. */
int rfn_pass_call(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                  const struct rfn_replay_stream *at);

/* wait_loop.c: a batch begins; what it is of is stream->loop, which is known. RFN_E_NOMEM. */
int rfn_pass_begin_loop(struct rfn_wait_stream *stream, const struct rfn_batch *batch);
void rfn_pass_release_loop(struct rfn_wait_loop *loop);
/* The current event of the batch, which has entered without having been found simple, is looked at;
 * before: the site of the event before it. */
void rfn_pass_learn(const struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                    const struct rfn_replay_stream *at, uint32_t before);
/* Events of the batch from the current one on enter in the short way, as long as they are simple,
 * and leave as long as they wait for nothing. RFN_REPLAY_LEFT: all that have entered have left; 0:
 * the current one awaits something, or, if not *entered, is not simple. RFN_E_NOMEM. */
int rfn_pass_enter_loop(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream, uint32_t number,
                        struct rfn_replay_stream *at, bool *entered);

/* waits.c: an event of a segment that is looked at, or one that begins a segment. RFN_E_NOMEM. */
int rfn_pass_show_step(struct rfn_wait_pass *pass, uint32_t stream,
                       const struct rfn_replay_stream *at);
/* The innermost region that a stream is in, or RFN_NO_REGION. */
static inline uint32_t rfn_pass_region(const struct rfn_wait_stream *stream)
{
    return stream->n_regions ? stream->regions[stream->n_regions - 1] : RFN_NO_REGION;
}

/* The current event waits for what it was begun for: a message that is sent, one that is received;
 * + 1, 0: none. There is room. */
static inline void rfn_pass_await_messages(struct rfn_wait_stream *stream, struct rfn_begun doing,
                                           bool cancelled)
{
    if (doing.message)
        stream->awaited[stream->n_awaited++] = (struct rfn_awaited){
            .kind = RFN_AWAITS_MESSAGE_TAKEN, .cancelled = cancelled, .number = doing.message - 1};
    if (doing.receive)
        stream->awaited[stream->n_awaited++] = (struct rfn_awaited){
            .kind = RFN_AWAITS_MESSAGE, .cancelled = cancelled, .number = doing.receive - 1};
}

/* The current event completes requests of a loop whose iterations are alike, at this place of it.
 * RFN_E_NOMEM. */
static inline int rfn_pass_complete_in_loop(struct rfn_wait_stream *stream, uint32_t place)
{
    const struct rfn_loop_requests *loop = &stream->loop->requests;
    const struct rfn_loop_place *of = &loop->places[place];
    RFN_TRY(
        RFN_GROW(stream->awaited, stream->awaited_capacity, stream->n_awaited + 2 * (size_t)of->n));
    for (uint32_t i = 0; i < of->n; i++)
        rfn_pass_await_messages(stream, loop->requests[loop->order[of->first + i]].doing, false);
    return 0;
}

/* wait_leave.c: the hook of replay.h, and that of channels.h. */
int rfn_pass_leave(void *context, uint32_t stream, const struct rfn_replay_stream *at, bool forced);
int rfn_pass_bound(void *context, uint32_t receive);
/* Most calls of loops have not waited, and there is not more to them. 1: it was such a call, and
 * has left; 0: it is as it was. RFN_E_NOMEM. */
int rfn_pass_leave_at_once(struct rfn_wait_pass *pass, struct rfn_wait_stream *of, uint32_t stream,
                           const struct rfn_replay_stream *at);
void rfn_pass_wake(void *context, uint32_t stream);
/* Nobody will ask for this receive again. RFN_E_NOMEM. */
int rfn_pass_abandon(struct rfn_wait_pass *pass, uint32_t receive);
/* The event is over; the last of all events ends the critical path. */
static inline void rfn_pass_over(struct rfn_wait_pass *pass, struct rfn_wait_stream *of,
                                 uint32_t stream, int64_t exit_ns)
{
    of->site = of->symbol->site;
    if (pass->any_exit && exit_ns <= pass->last_exit_ns)
        return;
    pass->any_exit = true;
    pass->last_exit_ns = exit_ns;
    pass->last_stream = stream;
}
/* What the stream does turns out not to end its unsuccessful polls: they waited for nothing that is
 * known. */
int rfn_pass_flush_polls(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream);
/* A stream has done something: history, chain. RFN_E_NOMEM. */
static inline int rfn_pass_did(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                               uint32_t activity, int64_t ns)
{
    RFN_TRY(rfn_history_add(&stream->history, &pass->delays.sums, activity, ns));
    return rfn_critical_add(&stream->critical, activity, ns);
}

#endif
