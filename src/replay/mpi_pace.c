#define _GNU_SOURCE /* prctl's timer slack, clock_nanosleep */
#include "replay/mpi_pace.h"

#include <mpi.h>

#include <sys/prctl.h>
#include <time.h>

#ifdef RFN_SIMULATED

int64_t rpl_now_ns(void)
{
    return (int64_t)(PMPI_Wtime() * 1e9);
}

void rpl_pace_start(struct rpl_pace *pace, const struct rpl_pace_options *options)
{
    *pace = (struct rpl_pace){.options = *options};
}

void rpl_pace_spend(struct rpl_pace *pace)
{
    if (pace->owed_ns < 1)
        return;
    int64_t ns = (int64_t)pace->owed_ns;
    struct timespec time = {ns / 1000000000, ns % 1000000000};
    smpi_nanosleep(&time, NULL);
    pace->owed_ns -= (double)ns;
}

void rpl_pace_returned(struct rpl_pace *pace)
{
    (void)pace;
}

#else

int64_t rpl_now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

void rpl_pace_start(struct rpl_pace *pace, const struct rpl_pace_options *options)
{
    *pace = (struct rpl_pace){.options = *options, .now_ns = rpl_now_ns()};
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* else a sleep is 50 us longer */
}

static void wait_until(int64_t ns, bool sleeps)
{
    struct timespec time = {ns / 1000000000, ns % 1000000000};
    if (sleeps) {
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0)
            ;
        return;
    }
    while (rpl_now_ns() < ns)
        ;
}

void rpl_pace_spend(struct rpl_pace *pace)
{
    int64_t end = pace->now_ns + (int64_t)pace->owed_ns, now = rpl_now_ns();
    if (now < end) {
        wait_until(end, pace->options.sleeps);
        now = rpl_now_ns();
    }
    pace->owed_ns = (double)(end - now);
    if (pace->options.scale <= 0)
        pace->owed_ns = 0;
}

void rpl_pace_returned(struct rpl_pace *pace)
{
    pace->now_ns = rpl_now_ns();
}

#endif
