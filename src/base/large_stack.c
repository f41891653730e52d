#define _POSIX_C_SOURCE 200809L /* pthread_sigmask */
#include "base/large_stack.h"

#include <pthread.h>
#include <signal.h>

struct task {
    void (*work)(void *context);
    void *context;
};

static void *run(void *argument)
{
    const struct task *task = argument;
    task->work(task->context);
    return NULL;
}

bool rfn_on_large_stack(void (*work)(void *context), void *context)
{
    enum { STACK = 1 << 20 };
    struct task task = {work, context};
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* Large thread-local data take room of the stack: then as much as the system gives. */
    const bool made = pthread_create(&thread, &attributes, run, &task) == 0 ||
                      pthread_create(&thread, NULL, run, &task) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (made)
        pthread_join(thread, NULL);
    return made;
}
