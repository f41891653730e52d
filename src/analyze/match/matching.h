/* matching.h - joins the calls of all streams: what the consumers of matching stand on.
 *
 * A consumer shows the events of a replay (event_order.h) as they enter and leave, and does between
 * the steps what is its own:
 *
 *   rfn_match_begin     an event enters: its symbol, its volume; who looks on is told
 *   rfn_match_call      what it sends, posts, joins, starts or completes; what it has to wait for
 *                       goes to the list of awaited things of its stream (match_calls.c)
 *   rfn_match_arrived   before it leaves: whether all of that is there, or never will be
 *   rfn_match_windows   the same of one-sided operations
 *   rfn_match_let_go    it has left
 *
 * rfn_match_enter and rfn_match_leave are all of them, for who has nothing to add. What happens to
 * messages and collective calls meanwhile is told by struct rfn_match_consumer. refrain/match.h is
 * the face for other programs.
 *
 * A consumer's streams and symbols begin with those of here, so that all that an event touches lies
 * side by side.
 */
#ifndef RFN_ANALYZE_MATCH_MATCHING_H
#define RFN_ANALYZE_MATCH_MATCHING_H

#include "analyze/match/channels.h"
#include "analyze/match/collectives.h"
#include "analyze/match/event_order.h"
#include "analyze/match/loop_requests.h"
#include "analyze/match/mpi_groups.h"
#include "analyze/match/one_sided.h"
#include "analyze/match/topology.h"
#include "base/grow.h"
#include "base/map.h"
#include "refrain/completion.h"
#include "refrain/volume.h"

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
    uint8_t any;     /* ARRIVAL: what was asked for, enum rfn_wildcards */
    uint32_t number; /* of the message, of the receive, of the channel */
    union {
        struct rfn_share share;            /* ALL: in a collective call */
        const struct rfn_message *message; /* else, while the call leaves: NULL where not known */
    };
};

/* In place of a message: a collective call, whose share is at the same id. */
#define RFN_JOINS UINT32_MAX

/* What each start of a persistent request does. */
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

/* The requests of a process. */
struct rfn_match_process {
    struct rfn_begun *begun; /* by request id (refrain/completion.h) */
    size_t begun_capacity;
    struct rfn_share *shares; /* by request id */
    size_t shares_capacity;
    struct rfn_persistent *persistent; /* by request id */
    size_t persistent_capacity;
    struct rfn_map handles; /* of matched probes: handle -> receive */
};

/* What is known of a signature of a stream, so that its events need not be looked at again. */
struct rfn_match_symbol {
    const struct rfn_call *role;
    uint32_t site; /* the consumer's number of function and call path, for the stepper */
    uint32_t send_channel, receive_channel; /* + 1; 0: not yet */
    uint32_t send_generation, receive_generation;
    int64_t sent_bytes; /* of a message in the channel that is remembered */
    bool constant : 1;  /* its words never change */
    bool lasts : 1;     /* neither do outcomes, so that the volume stays */
    bool concerns : 1;  /* the tracker is to see it: */
    bool creates : 1;   /* it makes a request, and that is all */
    bool topology : 1, groups : 1, one_sided : 1;
    int64_t object, place;    /* -1: not yet */
    struct rfn_volume volume; /* what the last event communicates; of a run of unsuccessful polls
                                 and of a region nothing that means anything */
    uint32_t version;         /* of the volume: another one where words have changed; 0: none yet */
    int64_t *words;           /* inputs and outcomes that it is of, if it does not last */
    size_t words_capacity;
};

/* A stream and what its current event does. */
struct rfn_match_stream {
    struct rfn_match_symbol *symbol;
    struct rfn_loop_requests *loop; /* of the batch that it is of; NULL: of none */
    struct rfn_awaited *awaited;
    size_t n_awaited;
    struct rfn_point here;
    int64_t since_ns; /* the enter, or that of the unsuccessful polls that it ends */
    bool one_sided;
    bool in_step; /* some watcher looks at the segment */
    size_t awaited_capacity;
    struct rfn_match_symbol **symbols; /* NULL: has not occurred */
    size_t n_symbols;
};

struct rfn_match;

/* The consumer. Each function may be NULL, and returns 0 or RFN_E_NOMEM if nothing else is said. */
struct rfn_match_consumer {
    size_t stream_size, symbol_size; /* of what begins with the structures above */
    /* A signature occurs for the first time; all but what is the consumer's is filled in. */
    int (*symbol)(struct rfn_match *match, uint32_t stream, struct rfn_match_symbol *symbol,
                  const struct rfn_record *record);
    /* A receive gets its message, after the call that completes it has left. */
    int (*late)(struct rfn_match *match, struct rfn_receive *receive);
    /* A stream that is waited for is there: whether it is to be woken; NULL: it is. */
    bool (*wakes)(struct rfn_match *match, uint32_t stream);
    /* A nonblocking call, or a start, has a request do this from now on. */
    int (*posted)(struct rfn_match *match, uint32_t stream, const struct rfn_awaited *posted);
    /* A message is over at both ends; all ranks that are there have left a collective call. */
    int (*message)(struct rfn_match *match, uint32_t message);
    int (*collective)(struct rfn_match *match, uint32_t instance);
};

/* An event where the cursor cuts segments. */
struct rfn_match_step {
    uint32_t site;
    bool begins, first;                   /* it begins a segment; its stream */
    uint32_t segment;                     /* context of the segment */
    int64_t before_ns, enter_ns, exit_ns; /* before: exit of the event before, or its own enter */
};

/* Who only looks on, in anybody's walk: a profile. Returns 0 or RFN_E_NOMEM. */
struct rfn_match_watcher {
    void *context;
    /* An event enters; not those of batches whose times are in order (at->together), but for them
     * what has been taken of the batch, when that ends. */
    int (*event)(void *context, uint32_t stream, const struct rfn_match_symbol *symbol,
                 const struct rfn_event_order_stream *at);
    void (*batch)(void *context, uint32_t stream, const struct rfn_batch *batch);
    /* What an event did to requests; and so many receives of so many bytes each, which events of a
     * symbol have begun in a batch, are over. */
    int (*requests)(void *context, uint32_t stream, const struct rfn_request_effects *effects);
    void (*received)(void *context, uint32_t stream, uint32_t symbol, uint64_t bytes,
                     uint64_t count);
};

/* Who looks at segments: patterns of behaviour. RFN_E_NOMEM. */
struct rfn_match_stepper {
    void *context;
    /* An event that begins a segment. 1: the segment is looked at, so that its other events are
     * told, too. */
    int (*step)(void *context, uint32_t stream, const struct rfn_match_step *step);
    int (*end)(void *context, uint32_t stream, int64_t ns); /* of a stream with events */
};

struct rfn_match {
    const struct rfn_archive *archive;
    struct rfn_match_consumer hooks;
    const struct rfn_match_watcher *watcher; /* NULL: nobody looks on */
    const struct rfn_match_stepper *stepper; /* NULL: nor at segments */
    struct rfn_volumes *volumes;
    struct rfn_event_order *replay;
    uint32_t n_ranks, n_streams;
    bool *absent;                        /* by rank: nothing of it can be read */
    struct rfn_tracker **trackers;       /* by rank */
    struct rfn_match_process *processes; /* by rank */
    char *streams;                       /* of the consumer's size */
    struct rfn_topologies *topologies;
    struct rfn_mpi_groups *groups;
    struct rfn_one_sided *one_sided;
    struct rfn_collectives *collectives;
    struct rfn_match_parked {
        uint32_t *streams;
        size_t n, capacity;
    } at_windows;
    uint64_t foreign; /* sends and receives with processes of another job */
    struct rfn_channels channels;
};

/* All zeros but archive, hooks, watcher and stepper; to be released, even on failure. RFN_E_NOMEM.
 */
int rfn_match_init(struct rfn_match *match, const struct rfn_event_order_hooks *replay_hooks);
void rfn_match_release(struct rfn_match *match);

static inline struct rfn_match_stream *rfn_match_stream(const struct rfn_match *match,
                                                        uint32_t stream)
{
    return (struct rfn_match_stream *)(void *)(match->streams + stream * match->hooks.stream_size);
}

/* The hooks of the replay, whose context is the match. */
int rfn_match_enter(void *match, uint32_t stream, struct rfn_event_order_stream *at);
int rfn_match_leave(void *match, uint32_t stream, const struct rfn_event_order_stream *at,
                    bool forced);
int rfn_match_end(void *match, uint32_t stream);
/* A batch ends: what it did to requests is told. */
int rfn_match_end_batch(struct rfn_match *match, uint32_t stream,
                        const struct rfn_event_order_stream *at);

/* Their steps. An event enters; here.at and since_ns are the consumer's to change before
 * rfn_match_call. RFN_E_NOMEM. */
int rfn_match_begin(struct rfn_match *match, struct rfn_match_stream *of, uint32_t stream,
                    const struct rfn_event_order_stream *at);
/* match_calls.c: what the event sends, posts, joins or completes. RFN_E_NOMEM. */
int rfn_match_call(struct rfn_match *match, struct rfn_match_stream *stream,
                   const struct rfn_event_order_stream *at);
/* Finds what the event awaits. 1: all of it is there or can no longer come; 0: the stream is woken
 * when it is; `forced`: 1 in any case. RFN_E_NOMEM. */
int rfn_match_arrived(struct rfn_match *match, struct rfn_match_stream *of, uint32_t stream,
                      bool forced);
/* Then, if of->one_sided: the same of other ranks' calls at its window; when it is 1, *waited is
 * for how long and whom, ns 0: not at all. RFN_E_NOMEM. */
int rfn_match_windows(struct rfn_match *match, struct rfn_match_stream *of, uint32_t stream,
                      const struct rfn_event_order_stream *at, bool forced,
                      struct rfn_wait *waited);
/* The event has left: what it awaited is over. RFN_E_NOMEM. */
int rfn_match_let_go(struct rfn_match *match, struct rfn_match_stream *of, uint32_t stream);
/* Nobody will ask for this receive again. RFN_E_NOMEM. */
int rfn_match_abandon(struct rfn_match *match, uint32_t receive);
/* At the end of the record. */
int rfn_match_finish(struct rfn_match *match, struct rfn_matching *matching);

/* Tells the stepper. RFN_E_NOMEM. */
static inline int rfn_match_step(const struct rfn_match *match, struct rfn_match_stream *of,
                                 uint32_t stream, const struct rfn_match_step *step)
{
    int looks = match->stepper->step(match->stepper->context, stream, step);
    of->in_step = looks > 0;
    return looks < 0 ? looks : 0;
}

/* The same of the event at hand, if it is for the stepper. */
static inline int rfn_match_step_at(const struct rfn_match *match, struct rfn_match_stream *of,
                                    uint32_t stream, const struct rfn_event_order_stream *at)
{
    if (!match->stepper || !(at->begins || of->in_step))
        return 0;
    const struct rfn_match_step step = {of->symbol->site,
                                        at->begins,
                                        at->first,
                                        at->context,
                                        at->first ? at->enter_ns : at->before_ns,
                                        at->enter_ns,
                                        at->exit_ns};
    return rfn_match_step(match, of, stream, &step);
}

static inline bool rfn_awaits_receive(const struct rfn_awaited *awaited)
{
    return awaited->kind == RFN_AWAITS_MESSAGE || awaited->kind == RFN_AWAITS_PROBED ||
           awaited->kind == RFN_AWAITS_ARRIVAL;
}

/* The current event waits for what it was begun for: a message that is sent, one that is received;
 * + 1, 0: none. There is room. */
static inline void rfn_match_await(struct rfn_match_stream *stream, struct rfn_begun begun,
                                   bool cancelled)
{
    if (begun.message)
        stream->awaited[stream->n_awaited++] = (struct rfn_awaited){
            .kind = RFN_AWAITS_MESSAGE_TAKEN, .cancelled = cancelled, .number = begun.message - 1};
    if (begun.receive)
        stream->awaited[stream->n_awaited++] = (struct rfn_awaited){
            .kind = RFN_AWAITS_MESSAGE, .cancelled = cancelled, .number = begun.receive - 1};
}

/* The current event completes requests of a loop whose iterations are alike, at this place of it.
 * RFN_E_NOMEM. */
static inline int rfn_match_complete_in_loop(struct rfn_match_stream *stream, uint32_t place)
{
    const struct rfn_loop_requests *loop = stream->loop;
    const struct rfn_loop_place *of = &loop->places[place];
    RFN_TRY(
        RFN_GROW(stream->awaited, stream->awaited_capacity, stream->n_awaited + 2 * (size_t)of->n));
    for (uint32_t i = 0; i < of->n; i++)
        rfn_match_await(stream, loop->requests[loop->order[of->first + i]].doing, false);
    return 0;
}

#endif
