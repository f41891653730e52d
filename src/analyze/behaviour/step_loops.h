/* step_loops.h - which loops of different streams are the same place of the program, so that their
 * iterations can be put side by side.
 *
 * Groups of streams have different structures: some ranks have no neighbour to send to, loops fold
 * in other ways, iterations at their edges lie outside of them. What they have in common are call
 * sites. So a place is a call site, and a context is of the place of that of its calls that most
 * streams have in a loop; collective calls come first among equals. A group that never makes that
 * call counts by one that other streams make in the same context. Executions of a place are counted
 * wherever the call is made, outside of loops too: so the k-th is the k-th on every stream, of
 * a collective call the same one. Where one iteration makes the call several times (as there are
 * neighbours, say), the fewest times that it is made in a context of the group are one.
 *
 * Where loops lie in each other, a place has a parent, one of the loop around it, and is counted
 * from each of that one's executions on: so ranks whose inner loops make different numbers of
 * iterations do not drift apart.
 *
 * Where the program sets marks, a place is a mark that begins segments.
 */
#ifndef RFN_ANALYZE_BEHAVIOUR_STEP_LOOPS_H
#define RFN_ANALYZE_BEHAVIOUR_STEP_LOOPS_H

#include "analyze/match/activity.h"
#include "refrain/archive.h"

/* Another place that an execution of a context counts for. */
struct rfn_step_count {
    uint32_t place, by;
};

struct rfn_step_context {
    uint32_t place;      /* + 1; 0: none */
    uint32_t by;         /* how many executions of the place there are in one of the context */
    uint32_t first, end; /* of its counts */
};

struct rfn_step_group {
    uint32_t n_contexts;               /* 0: nothing is known of the group */
    bool marked;                       /* segments are of the place of the mark that begins them */
    struct rfn_step_context *contexts; /* NULL in a marked group */
    struct rfn_step_count *counts;
};

struct rfn_step_place {
    uint32_t site;
    uint32_t parent; /* + 1; 0: none */
};

struct rfn_step_call;

struct rfn_step_places {
    struct rfn_step_group *groups;
    size_t n_groups, groups_capacity;
    struct rfn_step_place *items;
    size_t n, capacity;
    uint32_t *of_mark; /* by site: its place, + 1 */
    size_t n_sites;
    /* Until places are chosen: the calls of all groups. */
    struct rfn_step_call *calls;
    size_t n_calls, calls_capacity;
    uint32_t *looped; /* by site: the last group that has it in a loop, + 1 */
    size_t looped_capacity;
};

/* Takes in a group of n_streams, seen by a cursor of one of them that cuts segments; each once.
 * RFN_E_NOMEM. */
int rfn_step_places_add(struct rfn_step_places *places, const struct rfn_archive *archive,
                        uint32_t group, uint32_t n_streams, const struct rfn_cursor *cursor,
                        struct rfn_activities *activities);
bool rfn_step_places_knows(const struct rfn_step_places *places, uint32_t group);
/* When all groups have been added. RFN_E_NOMEM. */
int rfn_step_places_choose(struct rfn_step_places *places);
void rfn_step_places_release(struct rfn_step_places *places);

#endif
