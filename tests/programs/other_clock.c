/* To be preloaded: this process is on a host of another name whose clocks go differently.
 *
 *   HOST_NAME     its name
 *   HOST_SHIFT    ns that CLOCK_MONOTONIC is ahead at HOST_BASE, a time of CLOCK_MONOTONIC in ns
 *   HOST_DRIFT    parts per million by which it is fast
 *   HOST_DAY      ns that CLOCK_REALTIME is ahead */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long number(const char *variable)
{
    const char *set = getenv(variable);
    return set ? atoll(set) : 0;
}

/* The environment is read at the first call: the program may change it. */
int clock_gettime(clockid_t id, struct timespec *time)
{
    static int known;
    static long long base, shift, drift, day;
    static int (*next)(clockid_t, struct timespec *);
    if (!known) {
        base = number("HOST_BASE"), shift = number("HOST_SHIFT");
        drift = number("HOST_DRIFT"), day = number("HOST_DAY");
        next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
        known = 1;
    }
    int result = next(id, time);
    long long ns = time->tv_sec * 1000000000LL + time->tv_nsec;
    if (id == CLOCK_MONOTONIC)
        ns += shift + (ns - base) / 1000 * drift / 1000;
    if (id == CLOCK_REALTIME)
        ns += day;
    time->tv_sec = ns / 1000000000;
    time->tv_nsec = ns % 1000000000;
    return result;
}

int gethostname(char *name, size_t size)
{
    snprintf(name, size, "%s", getenv("HOST_NAME"));
    return 0;
}
