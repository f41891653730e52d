/* waits_internal.h - the state of a wait-state analysis; what its files share (waits.c tells who
 * does what).
 */
#ifndef RFN_ANALYZE_WAITS_WAITS_INTERNAL_H
#define RFN_ANALYZE_WAITS_WAITS_INTERNAL_H

#include "analyze/behaviour/watched_steps.h"
#include "analyze/match/activity.h"
#include "analyze/match/matching.h"
#include "analyze/match/recording_off.h"
#include "analyze/profile/profile_pass.h"
#include "analyze/waits/critical_path.h"
#include "analyze/waits/delay.h"
#include "analyze/waits/history.h"
#include "analyze/waits/wait_tally.h"
#include "refrain/waits.h"

/* What is known of a signature of a stream. */
struct rfn_wait_symbol {
    struct rfn_match_symbol match;
    uint32_t site, mpi_activity;
    bool polls; /* the function is one that may be called until it succeeds */
    uint32_t before, region,
        gap_activity; /* the gap in front, as it was last; before UINT32_MAX: not yet */
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

/* A loop of which events come in batches (archive/cursor/cursor.h). All zeros: nothing is known. */
struct rfn_wait_loop {
    struct rfn_loop_requests requests; /* first: the matching has it, too */
    struct rfn_loop_event *events;     /* by place in the iteration, when the requests are closed */
    struct rfn_loop_event entry;       /* the first one, where it follows what is not the loop's */
    size_t events_capacity;
    uint32_t region;       /* in which they were learned */
    uint32_t n_activities; /* the largest number of an activity of theirs, + 1 */
};

_Static_assert(sizeof(struct rfn_loop_event) <= 48, "an event of a loop has grown");

/* A wait for a message that is not counted yet, while it is not known whether another order of
 * receiving would have shortened it (wrong_order.c). */
struct rfn_order {
    bool any;
    uint8_t wildcards; /* with which the message was asked for, and... */
    uint32_t site, rank;
    struct rfn_channel_key key; /* ... where it came */
    int64_t sent_ns, exit_ns;   /* the message; the call that waited */
    int64_t ns;                 /* the wait, as it will be counted */
    struct rfn_blame blames[RFN_MAX_BLAMES];
    size_t n_blames;
    /* In the other order: how far the stream would be, what it would have computed, the longest
     * part of it, and what it computed with the message itself. */
    int64_t there_ns, computed_ns, most_ns, own_ns;
    uint64_t at; /* where in the history the call before is */
    bool others; /* another message has been received */
};

/* Time outside of MPI, and the time beside it while recording was off. */
struct rfn_outside {
    int64_t ns, off_ns;
};

struct rfn_wait_stream {
    _Alignas(64) struct rfn_match_stream match;
    struct rfn_wait_loop *loop; /* whose batch the current event is of; NULL: of none */
    int64_t polled_ns;          /* inside the unsuccessful polls that it ends */
    uint32_t site;              /* of the event before; UINT32_MAX: none */
    struct rfn_critical_stream critical;
    struct rfn_history history;
    /* A phase: nothing but unsuccessful polls, of any requests at any call sites, while it is not
     * known what ends it. */
    struct rfn_polls {
        bool any;
        int64_t enter_ns, n;           /* when it began; polls */
        int64_t inside_ns, outside_ns; /* of MPI; the latter as far as it may be waiting */
        struct rfn_poll_part {
            uint32_t what, symbol;  /* an activity; of the call that it is in, or in front of */
            bool between;           /* polls of a run */
            int64_t ns, outside_ns; /* of it: outside of MPI, and may be waiting */
        } * parts;
        size_t n_parts, parts_capacity;
    } polls;
    struct rfn_open_regions regions;
    struct rfn_wait_loop *loops; /* by number of the loop */
    size_t loops_capacity;
    struct {
        bool any;
        uint64_t at; /* in the history */
        int64_t ns;
    } finalize;               /* the stream's last begin of MPI_Finalize */
    struct rfn_outside start; /* after its first event, before the main part begins */
    struct rfn_off_times own; /* when the recorder worked, as far as it is known */
    size_t own_at;            /* the first that may not be over */
    struct rfn_order order;
    size_t stays; /* + 1: which awaited thing its event is shown again for (wait_receivers.c) */
};

/* A call that had left before it could be told which messages its receives had got. */
struct rfn_late_receive {
    struct rfn_point left;    /* its beginning */
    int64_t from_ns, exit_ns; /* of it, what has not been found to be waiting so far */
    uint32_t site, users;     /* receives that are not told yet */
    bool counts;              /* it is in the region that is looked at */
    uint32_t next_free;       /* + 1 */
};

struct rfn_late_receives {
    struct rfn_late_receive *items;
    size_t n, capacity;
    uint32_t free;
};

/* What the last of all events ended: there the critical path ends. */
struct rfn_last_exit {
    bool any;
    int64_t ns;
    uint32_t stream;
};

/* An event that leaves, and what is found out about it. */
struct rfn_leaving {
    struct rfn_wait_pass *pass;
    struct rfn_wait_stream *of;
    const struct rfn_event_order_stream *at;
    uint32_t stream;
    struct rfn_wait wait;  /* the longest */
    struct rfn_wait after; /* what follows it: at the root of N x 1, for the last one */
    int64_t full_ns;       /* of both, before it was reduced to time inside MPI */
    uint64_t over_at;      /* where in the stream's history the wait was over */
    struct rfn_completion_wait {
        enum rfn_pattern pattern;
        int64_t ns;
    } completion;
    struct rfn_wait_mark {
        bool is;
        uint64_t key, count; /* of the mark */
    } in_step;
    uint32_t late; /* + 1: what is noted of it, if some receive cannot be measured yet */
    const struct rfn_message *longest; /* whose wait it is, if that is for a message; else NULL */
    struct rfn_doubt {
        const struct rfn_message *message; /* whose receiver the call may have waited for */
        int64_t ns;
    } doubt;
    bool backward;  /* some message is sent after the call's end */
    bool at_window; /* the wait is */
};

struct rfn_wait_pass {
    struct rfn_match match; /* first: its hooks are called with it */
    struct rfn_waits *waits;
    bool fix_clocks;
    bool reduced;           /* times are those of other segments: of two ranks they fit together
                               about only */
    const int64_t *turn_ns; /* of the replay */
    struct rfn_wait_stream *streams;
    struct rfn_profile_pass *profile;
    struct rfn_watched_steps *steps; /* NULL: nobody asks for behaviour */
    struct rfn_activities activities;
    struct rfn_delays delays;
    struct rfn_wait_tally tally;
    struct rfn_late_receives late;
    struct rfn_last_exit last;
    uint32_t region;       /* waits in it only count; RFN_NO_REGION: all */
    int64_t first_init_ns; /* the first end of MPI_Init, if main_from_ns is not 0 */
    bool behind_init;      /* a stream has gone on behind MPI_Init, */
    bool inits_apart;      /* and another one has entered it then */
    int64_t main_from_ns;  /* the last end of MPI_Init, known before anything behind it enters */
    int64_t eager_bytes;   /* the largest message seen to be sent before its receive was posted, at
                              least the network's S */
    double ns_per_byte;    /* of moving a message */
    const struct rfn_wait_watch *watch; /* NULL: none */
};

/* main_part.c: a time between two events of a stream is added. */
void rfn_pass_outside(const struct rfn_wait_pass *pass, uint32_t number, int64_t from_ns,
                      int64_t to_ns, struct rfn_outside *outside);
/* An MPI_Init or MPI_Finalize enters. */
void rfn_pass_enter_setup(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                          const struct rfn_event_order_stream *at);
/* After the last event: the main part of the run, and what ranks did outside of MPI in it, if there
 * is one. */
void rfn_pass_main_part(const struct rfn_wait_pass *pass, struct rfn_profile *profile);

static inline struct rfn_wait_symbol *rfn_symbol_of(const struct rfn_wait_stream *stream)
{
    return (struct rfn_wait_symbol *)stream->match.symbol;
}

/* wait_loop.c: a batch begins; what it is of is stream->loop, which is known. RFN_E_NOMEM. */
int rfn_pass_begin_loop(struct rfn_wait_stream *stream, const struct rfn_batch *batch);
void rfn_pass_release_loop(struct rfn_wait_loop *loop);
/* The current event of the batch, which has entered without having been found simple, is looked at;
 * before: the site of the event before it. */
void rfn_pass_learn(const struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                    const struct rfn_event_order_stream *at, uint32_t before);
/* Events of the batch from the current one on enter in the short way, as long as they are simple,
 * and leave as long as they wait for nothing. RFN_REPLAY_LEFT: all that have entered have left; 0:
 * the current one awaits something, or, if not *entered, is not simple. RFN_E_NOMEM. */
int rfn_pass_enter_loop(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream, uint32_t number,
                        struct rfn_event_order_stream *at, bool *entered);

/* The innermost region that a stream is in, or RFN_NO_REGION. */
static inline uint32_t rfn_pass_region(const struct rfn_wait_stream *stream)
{
    return rfn_open_regions_innermost(&stream->regions);
}

/* call_exit.c: hooks of the replay and of matching.h. */
int rfn_pass_leave(void *context, uint32_t stream, const struct rfn_event_order_stream *at,
                   bool forced);
int rfn_pass_late(struct rfn_match *match, struct rfn_receive *receive);
/* Most calls of loops have not waited, and there is not more to them. 1: it was such a call, and
 * has left; 0: it is as it was. RFN_E_NOMEM. */
int rfn_pass_leave_at_once(struct rfn_wait_pass *pass, struct rfn_wait_stream *of, uint32_t stream,
                           const struct rfn_event_order_stream *at);
/* The event is over; the last of all events ends the critical path. */
static inline void rfn_pass_over(struct rfn_wait_pass *pass, struct rfn_wait_stream *of,
                                 uint32_t stream, int64_t exit_ns)
{
    of->site = rfn_symbol_of(of)->site;
    if (!pass->last.any || exit_ns > pass->last.ns)
        pass->last = (struct rfn_last_exit){true, exit_ns, stream};
}
/* A stream has done something: history, chain. RFN_E_NOMEM. */
static inline int rfn_pass_did(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                               uint32_t activity, int64_t ns)
{
    RFN_TRY(rfn_history_add(&stream->history, &pass->delays.sums, activity, ns));
    return rfn_critical_add(&stream->critical, activity, ns);
}

/* polls.c: the current event is one of unsuccessful polls, or got nothing while there are such.
 * RFN_E_NOMEM. */
int rfn_pass_poll(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                  const struct rfn_event_order_stream *at);
/* What the stream did in a phase of polls in front of the current event. RFN_E_NOMEM. */
int rfn_pass_between_polls(struct rfn_wait_stream *stream, const struct rfn_event_order_stream *at,
                           uint32_t activity, int64_t ns);
/* What the stream does turns out not to end its unsuccessful polls: they waited for nothing that is
 * known. */
int rfn_pass_flush_polls(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream);
/* The current event is a poll that succeeds: if it gets something, that has been waited for since
 * the phase began. */
void rfn_pass_end_polls(struct rfn_wait_stream *stream);
/* Its waits are found: what of them the stream spent outside of MPI, in a phase that took all_ns
 * with the call, was no computing. */
void rfn_pass_waited_in_polls(const struct rfn_leaving *leaving, int64_t all_ns);
/* Of the current event's time, moved as it may be, that inside MPI. */
int64_t rfn_pass_inside_ns(const struct rfn_event_order_stream *at);

/* wrong_order.c: whether the wait, whose blames are found, may be one in wrong order. */
bool rfn_order_may_matter(const struct rfn_leaving *leaving, const struct rfn_wait *wait);
/* It is: it is counted when that is known. */
void rfn_order_begin(const struct rfn_leaving *leaving, const struct rfn_wait *wait);
/* The next call of the stream that awaits something leaves, and has waited or not; its time is not
 * in the history yet. RFN_E_NOMEM. */
int rfn_order_go_on(struct rfn_wait_pass *pass, struct rfn_wait_stream *of, bool waited);
/* No such call follows. RFN_E_NOMEM. */
int rfn_order_end(struct rfn_wait_pass *pass, struct rfn_wait_stream *of);

/* wait_receivers.c: how long the call waited for the receiver of a message that it sent, or that
 * its requests did. ns 0: not, or that is not certain (leaving->doubtful). */
struct rfn_wait rfn_late_receiver(struct rfn_leaving *leaving, const struct rfn_message *message);
/* When all that the call awaited is measured: what is doubtful counts, or not. */
void rfn_settle_doubt(struct rfn_leaving *leaving);
/* Where times are reduced, before anything is measured: whether the event is to be shown again
 * (rfn_event_order_ask_again), as receives may be posted a little later than the call ends. */
bool rfn_stays_for_receivers(struct rfn_leaving *leaving);
/* A message that the stream stays for is taken: whether it does not stay on, for another one. */
bool rfn_pass_wakes(struct rfn_match *match, uint32_t stream);

#endif
