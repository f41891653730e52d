#include "record/core/message.h"

#include "base/c_numbers.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { N_HELD = 2 };

static const int held[N_HELD] = {SIGPIPE, SIGXFSZ};

static void held_set(sigset_t *set)
{
    sigemptyset(set);
    for (int i = 0; i < N_HELD; i++)
        sigaddset(set, held[i]);
}

void rec_signals_hold(struct rec_signals *signals)
{
    sigset_t set, pending;
    held_set(&set);
    sigpending(&pending);
    for (int i = 0; i < N_HELD; i++)
        signals->pending[i] = sigismember(&pending, held[i]) == 1;
    pthread_sigmask(SIG_BLOCK, &set, &signals->blocked);
}

void rec_signals_release(const struct rec_signals *signals)
{
    int error = errno;
    const struct timespec at_once = {0, 0};
    for (int i = 0; i < N_HELD; i++) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, held[i]);
        while (!signals->pending[i] && sigtimedwait(&one, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    }
    pthread_sigmask(SIG_SETMASK, &signals->blocked, NULL);
    errno = error;
}

/* ---- standard error ---- */

static struct stat first_stderr;
static bool has_stderr;

__attribute__((constructor)) static void remember_stderr(void)
{
    has_stderr = fstat(STDERR_FILENO, &first_stderr) == 0;
}

/* Whether the descriptor is what it was when the process started. A program may have closed it and
 * then got it for a file of its own. */
static bool is_stderr(void)
{
    struct stat now;
    return has_stderr && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == first_stderr.st_dev &&
           now.st_ino == first_stderr.st_ino;
}

void rec_message(const char *format, ...)
{
    char line[REC_MESSAGE] = "refrain: ";
    size_t start = strlen(line), room = sizeof line - start - 1; /* for the newline */
    va_list args;
    va_start(args, format);
    int n = rfn_c_vprint(line + start, room, format, args);
    va_end(args);
    if (n < 0 || !is_stderr())
        return;
    size_t size = start + ((size_t)n < room ? (size_t)n : room - 1);
    for (size_t i = start; i < size; i++) { /* names of files may hold anything */
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    }
    line[size++] = '\n';
    struct rec_signals signals;
    rec_signals_hold(&signals);
    if (write(STDERR_FILENO, line, size) < 0)
        size = 0; /* there is nobody to tell */
    rec_signals_release(&signals);
}

const char *rec_message_number(uint64_t value, char text[32])
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), at = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}
