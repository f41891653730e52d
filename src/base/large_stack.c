#include "base/large_stack.h"

#include "base/quiet_thread.h"

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
    struct task task = {work, context};
    pthread_t thread;
    const bool made = rfn_quiet_thread(&thread, run, &task);
    if (made)
        pthread_join(thread, NULL);
    return made;
}
