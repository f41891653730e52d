/* goal_writer.h - a rank's actions as a schedule in GOAL, the language of LogGOPSim (Hoefler,
 * Siebert, Lumsdaine: Group Operation Assembly Language, 2009).
 *
 * A schedule has operations and what each of them waits for:
 *
 *   l1: calc 1200              computing, in ns
 *   l2: recv 8b from 1 tag 7
 *   l2 requires l1             l2 begins when l1 is over,
 *   l3: send 8b to 1 tag 7
 *   l3 irequires l2            l3 when l2 has begun
 *
 * An operation waits for the one before it: until it is over if the program's call blocks, else
 * until it has begun. What the program waits for by a request, the next operation waits for, too.
 * A receive has as many bytes as the program has room for, as in schedules that LogGOPSim's own
 * tools make. A message of no bytes is written as one byte: the simulator charges for each byte but
 * the first.
 */
#ifndef RFN_CONVERT_GOAL_GOAL_WRITER_H
#define RFN_CONVERT_GOAL_GOAL_WRITER_H

#include "base/map.h"
#include "convert/text/ti_expand.h"
#include "refrain/actions_out.h"
#include "refrain/text.h"

struct rfn_goal_writer {
    struct rfn_actions *actions; /* for communicators */
    uint32_t rank;
    struct rfn_actions_summary *summary;
    struct rfn_text *text; /* lines are appended */
    uint64_t labels;       /* given so far; the last one is that of the last operation */
    bool begins;           /* the last operation need only have begun */
    uint64_t *waited;      /* labels that the next operation waits for besides */
    size_t n_waited, waited_capacity;
    struct rfn_map pending; /* request -> its first label and how many it has */
    double computed;        /* ns since the last operation */
    struct rfn_expansion expansion;
    int64_t parts; /* requests that were made here */
    const char *fault;
};

/* All zeros but actions, rank, summary and text. */
void rfn_goal_writer_release(struct rfn_goal_writer *writer);
/* RFN_E_UNSUPPORTED: fault says what has no messages; RFN_E_NOMEM. */
int rfn_goal_write(struct rfn_goal_writer *writer, const struct rfn_action *action);
/* Behind the last action. */
int rfn_goal_write_end(struct rfn_goal_writer *writer);

#endif
