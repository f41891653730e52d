/* mpi_pace.h - stands in for what the program computed between its calls.
 *
 * After each call the rank owes what was recorded until the next one. It spends that in a loop that
 * keeps its core busy, or asleep. What replay itself takes, to read events and check messages, is
 * part of that time; where it takes longer, or a sleep does, that is taken off what is owed next.
 * Under SMPI time is simulated, and only sleeping takes any.
 */
#ifndef RFN_REPLAY_MPI_PACE_H
#define RFN_REPLAY_MPI_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct rpl_pace_options {
    double scale; /* of what was computed; 0: nothing */
    bool sleeps;
};

struct rpl_pace {
    struct rpl_pace_options options;
    int64_t now_ns; /* when the last call returned */
    double owed_ns; /* negative: spent too much */
};

void rpl_pace_start(struct rpl_pace *pace, const struct rpl_pace_options *options);
static inline void rpl_pace_owe(struct rpl_pace *pace, int64_t ns)
{
    if (ns > 0)
        pace->owed_ns += (double)ns * pace->options.scale;
}
/* Before a call. */
void rpl_pace_spend(struct rpl_pace *pace);
/* After it. */
void rpl_pace_returned(struct rpl_pace *pace);
/* Of the clock that replay measures with. */
int64_t rpl_now_ns(void);

#endif
