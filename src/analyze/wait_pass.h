/* wait_pass.h - the state of a wait-state analysis; what its files share (waits.c tells who does
 * what).
 */
#ifndef RFN_ANALYZE_WAIT_PASS_H
#define RFN_ANALYZE_WAIT_PASS_H

#include "analyze/activity.h"
#include "analyze/call_roles.h"
#include "analyze/channels.h"
#include "analyze/collectives.h"
#include "analyze/critical_path.h"
#include "analyze/delay.h"
#include "analyze/groups.h"
#include "analyze/history.h"
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

struct rfn_awaited {
    enum rfn_awaits kind;
    bool cancelled;
    uint32_t number; /* of the message, of the receive, of the channel */
    union {
        struct rfn_share share;            /* ALL: in a collective call */
        const struct rfn_message *message; /* else, while the call leaves: NULL where not known */
    };
};

/* What a request of a process is for: at its id (refrain/completion.h). Of Isendrecv it is both. */
struct rfn_operation {
    uint32_t message; /* that is sent, + 1; or RFN_JOINS */
    uint32_t receive; /* + 1 */
};

/* In place of a message: a collective call, whose share is at the same id. */
#define RFN_JOINS UINT32_MAX

/* ... and of a persistent one what each start does. */
struct rfn_persistent {
    const struct rfn_role *role;           /* NULL: the request is not persistent */
    int64_t send_channel, receive_channel; /* of partitioned communication, else -1 */
    uint32_t object, place;                /* of a collective call */
    struct rfn_volume volume;
    int64_t send_tag;
    bool data;
    int64_t root;
    uint32_t partitions, ready;
};

struct rfn_wait_process {
    struct rfn_operation *operations; /* by request id */
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
    const struct rfn_role *role;
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

struct rfn_wait_stream {
    struct rfn_history history;
    struct rfn_critical_stream critical;
    struct rfn_wait_symbol **symbols; /* NULL: has not occurred */
    size_t n_symbols;
    uint32_t site; /* of the event before; UINT32_MAX: none */
    uint32_t *regions;
    size_t n_regions, regions_capacity;
    /* The current event. */
    struct rfn_wait_symbol *symbol;
    struct rfn_point here;
    struct rfn_awaited *awaited;
    size_t n_awaited, awaited_capacity;
    bool one_sided;
    bool in_step;      /* the segment is looked at (steps.h) */
    int64_t enter_ns;  /* of the current event, or of the unsuccessful polls that it ends */
    int64_t polled_ns; /* inside those */
    /* A run of unsuccessful polls that has left, while it is not known what ends it. */
    struct rfn_polls {
        bool any;
        const struct rfn_wait_symbol *symbol;
        int64_t enter_ns, exit_ns, inside_ns;
    } polls;
};

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
    struct rfn_replay *replay;
    struct rfn_role *roles;
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
    int64_t eager_bytes; /* the largest message seen to be sent before its receive was posted */
    uint64_t calls;      /* that have left */
    int64_t last_exit_ns;
    uint32_t last_stream;
    bool any_exit;
};

/* wait_calls.c: what the current event of a stream, which enters, sends, posts, joins or completes.
 * RFN_E_NOMEM. */
int rfn_pass_call(struct rfn_wait_pass *pass, uint32_t stream, const struct rfn_replay_stream *at);

/* wait_leave.c: the hook of replay.h, and that of channels.h. */
int rfn_pass_leave(void *context, uint32_t stream, const struct rfn_replay_stream *at, bool forced);
int rfn_pass_bound(void *context, uint32_t receive);
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
