#define _POSIX_C_SOURCE 200809L /* sigaction */
#include "replay/mpi_watch.h"

#ifdef RFN_SIMULATED

void rpl_watch_start(unsigned seconds, uint32_t rank)
{
    (void)seconds;
    (void)rank;
}

void rpl_watch_stop(void)
{
}

void rpl_watch_call(const char *name, uint64_t event)
{
    (void)name;
    (void)event;
}

#else

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_HANGS = 1, RANKS_THAT_SAY = 16 };

static const char *volatile call_name;
static volatile uint64_t call_event;
static uint64_t seen_event; /* when the alarm rang before */
static unsigned seconds_allowed;
static uint32_t own_rank;

static size_t add_text(char *text, size_t n, const char *more)
{
    size_t length = strlen(more);
    memcpy(text + n, more, length);
    return n + length;
}

static size_t add_number(char *text, size_t n, uint64_t number)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    return add_text(text, n, digits + at);
}

/* Nothing but what a signal handler may. */
static void ring(int signal)
{
    char text[256];
    if (call_event != seen_event) {
        seen_event = call_event;
        alarm(seconds_allowed);
        return;
    }
    size_t n = add_text(text, 0, "refrain: replay gets no further (see --timeout): rank ");
    (void)signal;
    n = add_number(text, n, own_rank);
    if (call_name) {
        n = add_text(text, n, " is in ");
        n = add_text(text, n, call_name);
        n = add_text(text, n, ", event ");
        n = add_number(text, n, call_event);
    }
    n = add_text(text, n, "\n");
    if (own_rank < RANKS_THAT_SAY && write(STDERR_FILENO, text, n) < 0)
        _exit(EXIT_HANGS);
    _exit(EXIT_HANGS);
}

void rpl_watch_start(unsigned seconds, uint32_t rank)
{
    struct sigaction action = {.sa_handler = ring, .sa_flags = SA_RESTART};
    own_rank = rank;
    call_name = NULL;
    call_event = 0;
    seen_event = UINT64_MAX;
    seconds_allowed = seconds;
    sigaction(SIGALRM, &action, NULL);
    alarm(seconds);
}

void rpl_watch_stop(void)
{
    alarm(0);
}

void rpl_watch_call(const char *name, uint64_t event)
{
    call_name = name;
    call_event = event;
}

#endif
