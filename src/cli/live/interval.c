#define _POSIX_C_SOURCE 200809L
#include "cli/live/interval.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

/* Readable when the user ends the wait; -1: signals end this process as ever. */
static int ends = -1;

/* The signals are blocked: none comes between two waits. */
void rfn_interval_begin(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    ends = signalfd(-1, &signals, SFD_CLOEXEC);
    if (ends >= 0)
        sigprocmask(SIG_BLOCK, &signals, NULL);
}

enum rfn_interval_end rfn_interval_wait(double seconds, int process)
{
    struct pollfd found[] = {{.fd = ends, .events = POLLIN}, {.fd = process, .events = POLLIN}};
    const double ms = seconds * 1e3;
    poll(found, 2, ms < INT_MAX ? (int)ms : INT_MAX);
    return found[0].revents   ? RFN_INTERVAL_USER
           : found[1].revents ? RFN_INTERVAL_PROCESS
                              : RFN_INTERVAL_OVER;
}
