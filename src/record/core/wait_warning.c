#include "record/core/wait_warning.h"

#include "base/quiet_thread.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"

#include <errno.h>
#include <time.h>

enum { SOON = 10, LATE = 60 }; /* seconds */

static void *wait_and_speak(void *argument)
{
    struct rec_wait_warning *warning = argument;
    struct timespec until;
    int rc = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += warning->seconds;
    pthread_mutex_lock(&warning->mutex);
    while (!warning->over && rc == 0)
        rc = pthread_cond_timedwait(&warning->ended, &warning->mutex, &until);
    const bool late = !warning->over && rc == ETIMEDOUT;
    pthread_mutex_unlock(&warning->mutex);
    if (late)
        rec_message("waiting for all ranks to %s; ranks that were not started under refrain record "
                    "never will, and the job would hang",
                    warning->what);
    return NULL;
}

static void release(struct rec_wait_warning *warning)
{
    pthread_cond_destroy(&warning->ended);
    pthread_mutex_destroy(&warning->mutex);
}

#ifndef RFN_FLAVOUR_SMPI /* whose ranks share one thread */
/* Seconds until this rank speaks; 0 where it never does. */
static unsigned seconds_to_warning(void)
{
    const unsigned usual = rec_job_of_several_programs() ? SOON : LATE;
    switch (rec_job_rank()) { /* of jobs with ranks that are not recorded nobody waits */
    case 0:
        return usual;
    case 1:
        return 2 * usual;
    default:
        return 0;
    }
}

static bool prepare(struct rec_wait_warning *warning)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0)
        return false;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    int rc = pthread_cond_init(&warning->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (rc == 0)
        pthread_mutex_init(&warning->mutex, NULL);
    return rc == 0;
}

void rec_wait_warning_begin(struct rec_wait_warning *warning, const char *what)
{
    *warning = (struct rec_wait_warning){.seconds = seconds_to_warning(), .what = what};
    if (!warning->seconds || rec_options.quiet || !prepare(warning))
        return;
    warning->running = rfn_quiet_thread(&warning->thread, wait_and_speak, warning);
    if (!warning->running)
        release(warning);
}
#else
void rec_wait_warning_begin(struct rec_wait_warning *warning, const char *what)
{
    (void)wait_and_speak, (void)what;
    *warning = (struct rec_wait_warning){0};
}
#endif

void rec_wait_warning_end(struct rec_wait_warning *warning)
{
    if (!warning->running)
        return;
    pthread_mutex_lock(&warning->mutex);
    warning->over = true;
    pthread_mutex_unlock(&warning->mutex);
    pthread_cond_signal(&warning->ended);
    pthread_join(warning->thread, NULL);
    release(warning);
}
