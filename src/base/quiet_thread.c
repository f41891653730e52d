#define _POSIX_C_SOURCE 200809L /* pthread_sigmask */
#include "base/quiet_thread.h"

#include <signal.h>

bool rfn_quiet_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    enum { STACK = 1 << 20 };
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool made = pthread_create(thread, &attributes, run, argument) == 0 ||
                      pthread_create(thread, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return made;
}
