/* watched_steps.h - what the ranks execute in step, and as what: the segments of a place of the
 * program (step_loops.h) are compared over all streams, and are of classes of similar ones.
 *
 * A member is what a stream executes of a place. Members of a place belong together (a loop); those
 * of their executions that have the same step number are a step. Streams may make different numbers
 * of steps.
 *
 * Events come as somebody else reads them, stream by stream or in any order over the streams. To
 * compare a segment costs as much as to find its waits; so, if not all are wanted, of places that
 * are executed often only some steps are looked at, the same on all streams: those of whose number
 * a hash is small, so that no rhythm of the program is missed.
 */
#ifndef RFN_ANALYZE_BEHAVIOUR_WATCHED_STEPS_H
#define RFN_ANALYZE_BEHAVIOUR_WATCHED_STEPS_H

#include "analyze/behaviour/step_loops.h"
#include "analyze/match/activity.h"
#include "analyze/match/matching.h"
#include "base/buf.h"
#include "reduce/segments/representative_store.h"
#include "refrain/archive.h"

struct rfn_step_member {
    uint32_t stream, place;
    uint64_t n;           /* executions */
    uint64_t looked_at;   /* of them */
    int64_t looked_at_ns; /* their length */
    uint32_t first, last; /* sites of the first and last call of the first one looked at */
    struct rfn_buf steps; /* those looked at: rfn_step_next */
    uint64_t last_step;
};

/* Whom a segment's waits are blamed on, for so long. */
struct rfn_step_blame {
    uint32_t rank;
    int64_t ns;
};

/* What a stream is in. */
struct rfn_step_stream {
    const struct rfn_step_group *group;
    struct rfn_step_tally *tallies; /* by place */
    uint32_t place;                 /* while taking: of the segment */
    bool taking;                    /* the segment is looked at */
    uint64_t step;
    int64_t first_ns, start_ns; /* of the stream; of the segment */
    uint32_t *sites;
    int64_t *vector;
    size_t n, sites_capacity, vector_capacity;
    struct rfn_step_blame *blames; /* of the segment */
    size_t n_blames, blames_capacity;
};

struct rfn_watched_steps {
    struct rfn_match_stepper stepper;       /* by which it takes the events of a walk */
    struct rfn_representative_store *store; /* of context 0; events are sites */
    struct rfn_activities *activities;      /* for the numbers of sites; borrowed */
    struct rfn_step_places places;
    struct rfn_step_sample *samples; /* by place */
    struct rfn_step_stream *streams;
    uint32_t n_streams;
    struct rfn_step_member *members; /* in the end place by place, then by stream */
    size_t n_members, members_capacity;
    uint64_t allowance, share; /* of what is looked at: per place, and of all hashes */
    double span_ns;            /* that streams were there, together */
    bool too_irregular;        /* the store grew too large: there are no members */
    bool blamed;               /* somebody tells blames */
};

/* all: every step is looked at. To be released, even on failure: RFN_E_NOMEM. */
int rfn_watched_steps_init(struct rfn_watched_steps *steps, const struct rfn_archive *archive,
                           const struct rfn_criterion *criterion, bool all,
                           struct rfn_activities *activities);
void rfn_watched_steps_release(struct rfn_watched_steps *steps);

/* Before its first event: has the cursor of a stream cut segments; cursors of at least one readable
 * stream of each group must be shown. Then, once, choose. RFN_E_NOMEM. */
int rfn_watched_steps_open(struct rfn_watched_steps *steps, const struct rfn_archive *archive,
                           uint32_t stream, struct rfn_cursor *cursor);
int rfn_watched_steps_choose(struct rfn_watched_steps *steps, const struct rfn_archive *archive);

/* The stream has waited in the segment that it is in, and a rank is to blame. RFN_E_NOMEM. */
int rfn_watched_steps_blame(struct rfn_watched_steps *steps, uint32_t stream, uint32_t rank,
                            int64_t ns);

/* After the end of all streams. */
void rfn_watched_steps_end(struct rfn_watched_steps *steps);

/* The same for an archive that nobody else reads: reads all streams, one by one, and all steps.
 * Those that cannot be read to their end count so far as they go. RFN_E_NOMEM; to be released
 * either way. */
int rfn_watched_steps_read(struct rfn_watched_steps *steps, const struct rfn_archive *archive,
                           const struct rfn_criterion *criterion, struct rfn_activities *activities,
                           struct rfn_diag *diag);

/* A walk over what a member has executed of what is looked at on all streams. */
struct rfn_step_walk {
    const struct rfn_watched_steps *steps;
    struct rfn_reader left; /* of the member's bytes */
    uint32_t place;
    uint64_t step;
    uint32_t class_; /* a number of the store */
    uint64_t n_blames;
    struct rfn_reader blames; /* rfn_step_next_blame */
};

struct rfn_step_walk rfn_step_walk(const struct rfn_watched_steps *steps,
                                   const struct rfn_step_member *member);
/* Goes on to the next step; whether there is one. */
bool rfn_step_next(struct rfn_step_walk *walk);
/* The next of the n_blames of the step. */
struct rfn_step_blame rfn_step_next_blame(struct rfn_reader *blames);

/* ---- what they mean: behaviour.c ---- */

#define RFN_BEHAVIOUR_METHOD "avgWave"

struct rfn_behaviour;
/* After the end; *behaviour is the caller's (refrain/behaviour.h). RFN_E_NOMEM. */
int rfn_behaviour_of(const struct rfn_archive *archive, const struct rfn_watched_steps *steps,
                     struct rfn_behaviour **behaviour);

#endif
