/* To be preloaded: every 50th time that the clocks are read they have jumped by CLOCK_JUMP seconds,
 * forth and back, as no clock should and some do. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EVERY = 50 };

int clock_gettime(clockid_t id, struct timespec *time)
{
    static unsigned reads;
    static const char *jump;
    if (!jump)
        jump = getenv("CLOCK_JUMP");
    const int error = (int)syscall(SYS_clock_gettime, id, time);
    if (jump && (__atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED) / EVERY) % 2)
        time->tv_sec += atol(jump);
    return error;
}
