/* behaviour.h - behaviour patterns: which ranks did what in the steps of a run, for what share of
 * the time (Mohror 2010, 4.6; doc/trace-profiling.md).
 *
 * A *loop* here is a place of the program in a loop's body that several streams executed, and its
 * executions of the same number are a *step*. Steps in which each rank does what it does in other
 * steps, within the limits of a similarity method, are of one *pattern*. Each pattern tells in
 * which call ranks wait longer than others, who the others are, and which activity took the others
 * longer.
 */
#ifndef REFRAIN_BEHAVIOUR_H
#define REFRAIN_BEHAVIOUR_H

#pragma GCC visibility push(default)

#include "refrain/waits.h"

struct rfn_behaviour_pattern {
    uint64_t steps;  /* of those looked at */
    int64_t ns;      /* their length together, of an average stream */
    int64_t lost_ns; /* that all streams together wait in them for the late ones */
    /* Some wait for others. Else all do alike, within the limits of the method, and below only the
     * ranks that are waited for are set, if waits are known. */
    bool waiting;
    struct rfn_call_site waited;
    int64_t wait_ns; /* in a step, how much longer those that wait are in it than the late ones */
    const uint32_t *late; /* ranks, ascending, n_late of them */
    uint32_t n_late;
    bool varying;              /* in each step some of them are late, not all */
    bool has_cause;            /* else they came late from what was before the step */
    struct rfn_activity cause; /* what takes the late ranks longer, by excess_ns in a step */
    int64_t excess_ns;
};

struct rfn_behaviour_loop {
    struct rfn_call_site first, last; /* calls of the stretch, on its first rank */
    uint64_t steps;
    uint64_t looked_at;   /* of them: all, or some, chosen without regard to their order */
    int64_t looked_at_ns; /* of an average stream, as alike segments are on average */
    uint32_t n_streams;
    const uint32_t *ranks; /* of the streams, ascending, each once */
    uint32_t n_ranks;
    int64_t ns;                             /* of an average stream */
    double share;                           /* of the time that all streams were there */
    struct rfn_behaviour_pattern *patterns; /* most time first */
    size_t n_patterns;
    int64_t other_ns; /* of steps looked at that are in none of the patterns */
    uint64_t other_steps;
};

struct rfn_behaviour {
    struct rfn_behaviour_loop *loops; /* most time first; those with 2 % of the time, 3 at most */
    size_t n_loops;
    bool too_irregular; /* there are too many different segments to say anything */
};

/* Reads all streams that are there, and looks at all steps; rfn_waits_new does so on its way.
 * *behaviour is the caller's. across: METHOD or METHOD:THRESHOLD by which segments of all ranks are
 * compared; NULL: the default. Without times there are no loops. RFN_E_USAGE: no such method;
 * RFN_E_NOMEM. A stream that cannot be read to its end counts as far as it goes. */
int rfn_behaviour_new(const struct rfn_archive *archive, const char *across,
                      struct rfn_behaviour **behaviour, struct rfn_diag *diag);
void rfn_behaviour_free(struct rfn_behaviour *behaviour);

#pragma GCC visibility pop

#endif
