/* quiet_thread.h - a thread beside the program's own: it takes none of the program's signals.
 */
#ifndef RFN_BASE_QUIET_THREAD_H
#define RFN_BASE_QUIET_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts it, with all signals blocked and a stack of 1 MiB; where large thread-local data leave no
 * room on that, with as much as the system gives. False: the system gives no thread. */
bool rfn_quiet_thread(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
