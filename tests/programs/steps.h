/* steps.h - programs whose ranks wait for each other for known times.
 *
 * All times are multiples of a step, beside which what MPI takes is little; under SMPI, where steps
 * are simulated, it is next to nothing. The tests know the programs' steps and work out who waits
 * for whom, and for how long.
 */
#ifndef STEPS_H
#define STEPS_H

#include <mpi.h>
#include <unistd.h>

enum { STEP_MICROSECONDS = 50000 };

/* Works for so long. */
static inline void steps(int n)
{
    if (n > 0)
        usleep((useconds_t)n * STEP_MICROSECONDS);
}

#endif
