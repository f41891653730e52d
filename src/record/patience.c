#include "record/patience.h"

#include "record/options.h"
#include "record/say.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { SOON = 10, LATE = 60 }; /* seconds */

static void *wait_and_speak(void *argument)
{
    struct rec_patience *patience = argument;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += patience->seconds;
    int rc;
    do
        rc = sem_timedwait(&patience->over, &until);
    while (rc != 0 && errno == EINTR);
    if (rc != 0 && errno == ETIMEDOUT)
        rec_say("waiting for all ranks to %s; ranks that were not started under refrain record "
                "never will, and the job would hang",
                patience->what);
    return NULL;
}

#ifndef RFN_FLAVOUR_SMPI /* whose ranks share one thread */
static unsigned patience_of_launch(void)
{
    const char *programs = getenv("OMPI_NUM_APP_CTX");
    return programs && atoi(programs) > 1 ? SOON : LATE;
}

/* The thread takes none of the program's signals. */
static bool start(struct rec_patience *patience)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int rc = pthread_create(&patience->thread, NULL, wait_and_speak, patience);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0;
}

void rec_patience_begin(struct rec_patience *patience, const char *what)
{
    *patience = (struct rec_patience){.seconds = patience_of_launch(), .what = what};
    if (rec_options.quiet || sem_init(&patience->over, 0, 0) != 0)
        return;
    patience->running = start(patience);
    if (!patience->running)
        sem_destroy(&patience->over);
}
#else
void rec_patience_begin(struct rec_patience *patience, const char *what)
{
    (void)wait_and_speak, (void)what;
    *patience = (struct rec_patience){0};
}
#endif

void rec_patience_end(struct rec_patience *patience)
{
    if (!patience->running)
        return;
    sem_post(&patience->over);
    pthread_join(patience->thread, NULL);
    sem_destroy(&patience->over);
    patience->running = false;
}
