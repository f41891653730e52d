/* steps.h - what a predictor needs of a run: what each stream computes, what its calls post, and
 * what they need before they can end, already matched, in happened-before order.
 *
 *   compute   the stream computed between two calls, or the recorder worked there
 *   enter     a call began, and posts messages, receives, its part in a collective call
 *   leave     a call, or a phase of polls, ended: it needed what others posted
 *
 * A step that others need enters before they leave. Messages, receives and collective calls have
 * numbers, which come again when they are over. Times are nanoseconds as recorded.
 *
 * Steps come from an archive here; time-independent text may become another source.
 */
#ifndef RFN_PREDICT_STEPS_H
#define RFN_PREDICT_STEPS_H

#include "analyze/match/collectives.h"
#include "refrain/archive.h"
#include "refrain/waits.h"

enum rfn_post_kind { RFN_POST_SEND, RFN_POST_RECEIVE, RFN_POST_COLLECTIVE };

/* Something that others may need. */
struct rfn_post {
    enum rfn_post_kind kind;
    uint32_t number;
    struct rfn_share share; /* COLLECTIVE: */
    uint32_t places;        /* members */
    bool by_place;          /* a member may need only some of the others */
};

enum rfn_need_kind {
    RFN_NEED_MESSAGE,    /* that it has come */
    RFN_NEED_TAKEN,      /* that a receive for it is posted; of a message that a rendezvous sends */
    RFN_NEED_COLLECTIVE, /* that others have entered */
    RFN_NEED_POINT       /* that a stream has come to an event, at a window */
};

struct rfn_need {
    enum rfn_need_kind kind;
    uint32_t number;  /* of the message or collective call */
    uint32_t receive; /* of the message, + 1; 0: it is over, and was kept (below), or none */
    int64_t bytes, sent_ns, posted_ns; /* of a message; posted INT64_MIN: not yet */
    bool synchronous;
    bool wildcard;                   /* its receive takes messages from any rank */
    bool pointed;                    /* a partitioned message, sent at a point: */
    enum rfn_collective_needs needs; /* which others, */
    const uint32_t *places;          /* NEIGHBORS: these; LOWER: up to the own one */
    size_t n_places;
    int64_t ns;      /* COLLECTIVE, POINT: when it was there */
    uint32_t stream; /* POINT: whose, */
    uint64_t event;  /* and its number */
};

struct rfn_step {
    uint32_t stream, rank;
    const struct rfn_record *record; /* of the call; of compute, that behind it: its words */
    uint64_t index;                  /* its number in the stream */
    int64_t call_ns;                 /* its enter, also where it ends polls */
    uint32_t activity;               /* number for rfn_steps_activity */
    int64_t enter_ns, exit_ns;
    unsigned messages; /* leave: that the call sends, or ends to receive */
    int64_t bytes;     /* of a collective call: what the rank gives or gets, at most; else 0 */
    uint32_t places;   /* its members; else 0 */
    bool parts;        /* its members give or get different parts of the bytes */
    bool blocking;     /* the call is over when what it posts is */
    bool polled;       /* leave: since the first of its unsuccessful polls, when `polls` was told */
    bool recording;    /* compute: it is the recorder's own work */
    bool marks;        /* enter: others may need this point (RFN_NEED_POINT) */
    const struct rfn_post *posts; /* enter */
    size_t n_posts;
    const struct rfn_need *needs; /* leave */
    size_t n_needs;
};

/* Each may be NULL but leave; returns 0 or a negative error, which ends the run. */
struct rfn_step_hooks {
    void *context;
    int (*compute)(void *context, const struct rfn_step *step);
    int (*enter)(void *context, const struct rfn_step *step);
    int (*leave)(void *context, const struct rfn_step *step);
    /* A phase of unsuccessful polls begins at this event. */
    int (*polls)(void *context, const struct rfn_step *step);
    /* A receive is over before the send of its message is: where it was posted is to be kept. */
    int (*keep)(void *context, uint32_t message, uint32_t receive);
    /* A collective call is over: its number may come again. */
    int (*over)(void *context, uint32_t collective);
    void (*progress)(void *context, double share);
    void *progress_context;
};

struct rfn_steps;

/* *steps is to be freed. RFN_E_NOMEM. */
int rfn_steps_new(const struct rfn_archive *archive, const struct rfn_step_hooks *hooks,
                  struct rfn_steps **steps);
void rfn_steps_free(struct rfn_steps *steps);
/* From hooks: this was the last step that matters. */
void rfn_steps_stop(struct rfn_steps *steps);
/* Shows all. Streams that cannot be read to their end end there. RFN_E_NOMEM, or what a hook
 * returned. */
int rfn_steps_run(struct rfn_steps *steps);
/* From hooks. Numbers come in ascending order. Borrowed until the next number comes. */
const struct rfn_activity *rfn_steps_activity(const struct rfn_steps *steps, uint32_t activity);
/* The first enter of all. */
int64_t rfn_steps_start_ns(const struct rfn_steps *steps);

#endif
