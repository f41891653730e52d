/* lateness.h - what a step's ranks wait for: compares the segments that they executed in it.
 *
 * Calls are compared by site and by how often the site has occurred in the segment. The call in
 * which ranks together wait most beyond the shortest execution of it is the one that tells who is
 * late: those that are in it hardly longer than the shortest. What takes them longer elsewhere,
 * than those that wait, is the cause. Where something takes some of them longer, or they are later
 * in the step when they come to the call, and others not, the others are not late: they wait for
 * nobody, as those that have no late neighbour. Nor does who does not make the call.
 *
 * Where it is known whom ranks waited for, who is late is not looked for.
 */
#ifndef RFN_ANALYZE_BEHAVIOUR_LATENESS_H
#define RFN_ANALYZE_BEHAVIOUR_LATENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A segment as some ranks executed it. Borrowed. */
struct rfn_alike_ranks {
    const uint32_t *sites; /* of its n calls */
    const int64_t *vector; /* as that of rfn_segment */
    size_t n;
    uint32_t count;   /* how many ranks executed it */
    bool late, waits; /* set by rfn_lateness_find; both false: neither */
    bool blamed;      /* some of them were waited for: they are late, if that is known */
};

struct rfn_lateness {
    bool waiting;    /* the waits are worth telling; else there is nothing below */
    uint32_t waited; /* the site */
    double wait_ns;  /* of a rank that waits, on average */
    bool has_cause;
    bool in_call;        /* the cause is time in the call `at`; else computing in front of it */
    uint32_t before, at; /* sites; before: of the call before */
    double excess_ns;    /* how much longer it takes late ranks */
    double length_ns;    /* of the step, of a rank on average */
};

/* n >= 1 different segments of one step. Waits count when they take at least `least` of the time of
 * all ranks. known: who was waited for. RFN_E_NOMEM. */
int rfn_lateness_find(struct rfn_alike_ranks *ranks, size_t n, double least, bool known,
                      struct rfn_lateness *lateness);

#endif
