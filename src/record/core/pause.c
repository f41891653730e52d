#include "record/core/pause.h"

#include "record/core/recorder.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t pausing = PTHREAD_MUTEX_INITIALIZER; /* held as long as a pause */

static void before_fork(void)
{
    pthread_mutex_lock(&pausing);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pausing);
}

bool rec_pause_prepare(void)
{
    static bool prepared;
    if (prepared)
        return true;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
        return false;
    prepared = pthread_atfork(before_fork, after_fork, after_fork) == 0;
    return prepared;
}

/* ---- the threads that own streams ---- */

void rec_park(struct rec_stream *stream)
{
    const uint64_t from = rec_now();
    rec_set_inside(stream, false);
    pthread_mutex_lock(&pausing);
    rec_own_works_note(&stream->own, from, rec_now()); /* while nobody else reads it */
    pthread_mutex_unlock(&pausing);
}

void rec_park_open(struct rec_stream *stream, uint32_t function)
{
    const uint64_t from = rec_now();
    __atomic_store_n(&stream->open.function, function, __ATOMIC_RELEASE);
    pthread_mutex_lock(&pausing);
    rec_own_works_note(&stream->own, from, rec_now());
    pthread_mutex_unlock(&pausing);
}

void rec_pause_forbid(void)
{
    pthread_mutex_lock(&pausing);
}

void rec_pause_allow(void)
{
    pthread_mutex_unlock(&pausing);
}

/* ---- the thread that pauses ---- */

static bool is_still(const struct rec_stream *stream)
{
    return !__atomic_load_n(&stream->inside, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&stream->open.function, __ATOMIC_ACQUIRE);
}

/* Threads are inside for microseconds, or until they get a core again. */
static bool wait_for(const struct rec_stream *stream)
{
    enum { TRIES = 200 };
    const struct timespec moment = {.tv_nsec = 100000};
    for (int i = 0; i < TRIES && !is_still(stream); i++)
        nanosleep(&moment, NULL);
    return is_still(stream);
}

bool rec_pause_begin(void)
{
    pthread_mutex_lock(&pausing);
    rec_lock_streams();
    __atomic_store_n(&rec_pausing, true, __ATOMIC_SEQ_CST);
    bool still = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
    for (const struct rec_stream *stream = rec_streams; stream && still; stream = stream->next)
        still = wait_for(stream);
    if (!still)
        rec_pause_end();
    return still;
}

void rec_pause_end(void)
{
    __atomic_store_n(&rec_pausing, false, __ATOMIC_RELEASE);
    rec_unlock_streams();
    pthread_mutex_unlock(&pausing);
}
