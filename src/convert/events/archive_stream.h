/* archive_stream.h - the actions of one stream of an archive: what archive_actions.c reads per
 * rank.
 *
 * An event makes no action or some: what was computed before it, then what it does. They wait in a
 * queue, which is empty when the cursor moves on.
 *
 * Requests. A nonblocking call's has its number of creation, a persistent one SLOTS and its slot,
 * the messages of one request that has several (a neighbourhood collective, Isendrecv) PARTS and a
 * number.
 */
#ifndef RFN_CONVERT_EVENTS_ARCHIVE_STREAM_H
#define RFN_CONVERT_EVENTS_ARCHIVE_STREAM_H

#include "analyze/match/activity.h"
#include "analyze/match/lookahead.h"
#include "analyze/match/own_times.h"
#include "convert/events/archive_calls.h"
#include "convert/events/archive_neighbors.h"

/* What becomes of a call. */
enum rfn_call_use {
    RFN_USE_NONE, /* it only works */
    RFN_USE_MARK, /* it is none of MPI: a region begins */
    RFN_USE_LEFT_OUT,
    RFN_USE_REFUSE,
    RFN_USE_INIT,
    RFN_USE_FINALIZE,
    RFN_USE_SLEEP,
    RFN_USE_MESSAGE, /* from here to NEIGHBORS perhaps with a request */
    RFN_USE_COLLECTIVE,
    RFN_USE_NEIGHBORS,
    RFN_USE_MRECV,
    RFN_USE_MPROBE,
    RFN_USE_START,
    RFN_USE_READY,
    RFN_USE_COMPLETE
};

struct rfn_stream_symbol {
    const struct rfn_call *call;
    enum rfn_call_use use;
    bool ready;               /* the action is that of each event whose words do not vary: */
    bool acts;                /* there is one */
    struct rfn_action action; /* of what does not vary */
    struct rfn_action_sizes sizes;
};

/* What a start of a persistent request does. */
struct rfn_stream_slot {
    enum rfn_call_use use; /* NONE: there is none, or it communicates with nobody */
    bool partitioned;
    int64_t comm;                /* number of the archive */
    int64_t partitions, missing; /* how many; how many are not ready since the start */
    struct rfn_action action;
    struct rfn_action_sizes sizes;
    struct rfn_action *parts; /* NEIGHBORS: its messages */
    size_t n_parts;
};

struct rfn_archive_stream {
    const struct rfn_archive *archive;
    const struct rfn_volumes *volumes;
    struct rfn_diag *diag;
    uint32_t stream, rank;
    bool measured, flops; /* times are what is computed; calls have volumes inside */
    bool wants_fates;     /* of all requests, as some may be cancelled */
    struct rfn_cursor *cursor;
    struct rfn_stream_symbol *symbols;
    size_t symbols_capacity;

    double computed; /* and not yet an action; */
    double most;     /* of it in one activity, which is this: */
    struct rfn_activity activity;
    struct rfn_call_site before; /* of the last call */
    struct rfn_open_regions regions;
    struct rfn_activities *activities; /* of all streams, borrowed */
    double polled; /* since a run of unsuccessful polls began, of which there are */
    uint64_t polls;
    uint32_t polls_function, polls_path;
    int64_t last_ns;                      /* exit of the event before, -1: there is none */
    const struct rfn_stream_usage *usage; /* when the recorder itself worked; borrowed, or NULL */
    struct rfn_off_times own;             /* the same on the clock of the run, */
    size_t own_at;                        /* and the first piece that may not be over */

    struct rfn_action *queue;
    size_t at, n, queue_capacity;
    int64_t *requests; /* of the WAIT at hand */
    size_t n_requests, requests_capacity;

    int64_t made;      /* requests so far */
    int64_t request;   /* that the call at hand makes; -1: none */
    int64_t parts;     /* the same of PARTS */
    uint64_t postings; /* messages with a request so far, as lookahead.h counts them */
    struct rfn_fates *fates;
    uint64_t fates_taken;
    struct rfn_map groups; /* request -> its first part, and how many << 40 */
    struct rfn_stream_slot **slots;
    size_t slots_capacity;
    struct rfn_map handles; /* of matched probes -> struct rfn_action */
    struct rfn_neighborhoods neighborhoods;

    uint64_t left_out;
    uint32_t first_left_out; /* function */
};

void rfn_archive_stream_release(struct rfn_archive_stream *stream);
/* As rfn_actions_next. */
int rfn_archive_stream_next(struct rfn_archive_stream *stream, struct rfn_action *action);

#endif
