/* wait_warning.h - a word to the user when the ranks wait for each other for suspiciously long.
 *
 * In the end the recorder waits for all ranks, and on several nodes at the start. One that does not
 * run under the recorder never comes, and the job hangs; the user should learn why. A helper thread
 * of rank 0, which does nothing but sleep, speaks when the wait lasts longer than programs usually
 * differ: soon where the launcher was given several programs (one of them may lack `refrain
 * record`), late otherwise. Rank 0 may be the one that is not recorded, so rank 1 speaks when it
 * has waited twice as long.
 */
#ifndef RFN_RECORD_CORE_WAIT_WARNING_H
#define RFN_RECORD_CORE_WAIT_WARNING_H

#include <pthread.h>
#include <stdbool.h>

struct rec_wait_warning {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ended; /* waits by CLOCK_MONOTONIC: others may set the time of day */
    bool over;
    unsigned seconds;
    const char *what;
    bool running;
};

/* The wait begins, of a rank that knows its place (job.h), or nothing is said; nor is it without
 * a thread. what: what all ranks are waited for to do (borrowed). */
void rec_wait_warning_begin(struct rec_wait_warning *warning, const char *what);
/* The wait is over. */
void rec_wait_warning_end(struct rec_wait_warning *warning);

#endif
