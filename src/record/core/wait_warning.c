#include "record/core/wait_warning.h"

#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

enum { SOON = 10, LATE = 60 }; /* seconds */

static void *wait_and_speak(void *argument)
{
    struct rec_wait_warning *patience = argument;
    struct timespec until;
    int rc = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += patience->seconds;
    pthread_mutex_lock(&patience->mutex);
    while (!patience->over && rc == 0)
        rc = pthread_cond_timedwait(&patience->ended, &patience->mutex, &until);
    const bool late = !patience->over && rc == ETIMEDOUT;
    pthread_mutex_unlock(&patience->mutex);
    if (late)
        rec_message("waiting for all ranks to %s; ranks that were not started under refrain record "
                    "never will, and the job would hang",
                    patience->what);
    return NULL;
}

static void release(struct rec_wait_warning *patience)
{
    pthread_cond_destroy(&patience->ended);
    pthread_mutex_destroy(&patience->mutex);
}

#ifndef RFN_FLAVOUR_SMPI /* whose ranks share one thread */
/* Seconds until this rank speaks; 0 where it never does. */
static unsigned patience_of_rank(void)
{
    const unsigned usual = rec_job_of_several_programs() ? SOON : LATE;
    switch (rec_job_rank()) {
    case 0:
        return usual;
    case 1:
        return 2 * usual;
    default:
        return 0;
    }
}

static bool prepare(struct rec_wait_warning *patience)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0)
        return false;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    int rc = pthread_cond_init(&patience->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (rc == 0)
        pthread_mutex_init(&patience->mutex, NULL);
    return rc == 0;
}

/* The thread takes none of the program's signals. */
static bool start(struct rec_wait_warning *patience)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int rc = pthread_create(&patience->thread, NULL, wait_and_speak, patience);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0;
}

void rec_wait_warning_begin(struct rec_wait_warning *patience, const char *what)
{
    *patience = (struct rec_wait_warning){.seconds = patience_of_rank(), .what = what};
    if (!patience->seconds || rec_options.quiet || !prepare(patience))
        return;
    patience->running = start(patience);
    if (!patience->running)
        release(patience);
}
#else
void rec_wait_warning_begin(struct rec_wait_warning *patience, const char *what)
{
    (void)wait_and_speak, (void)what;
    *patience = (struct rec_wait_warning){0};
}
#endif

void rec_wait_warning_end(struct rec_wait_warning *patience)
{
    if (!patience->running)
        return;
    pthread_mutex_lock(&patience->mutex);
    patience->over = true;
    pthread_mutex_unlock(&patience->mutex);
    pthread_cond_signal(&patience->ended);
    pthread_join(patience->thread, NULL);
    release(patience);
}
