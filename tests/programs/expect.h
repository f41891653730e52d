/* expect.h - programs with known answers.
 *
 * A test program writes down what the recorder has to find, beside every call it makes:
 *
 *     CALL(MPI_Send(buf, 3, MPI_INT, 1, 7, MPI_COMM_WORLD), "dest=1 tag=7 bytes=12 comm=world");
 *
 * Each rank's log, one line per call ("MPI_Send dest=1 ..."), goes to $EXPECT_OUT.<rank>. The test
 * compares it with the archive's dump: the same functions in the same order, each with (at
 * least) these parameters. The text is a printf format, whose arguments are evaluated after the
 * call, so that outcomes that only the run knows can be said. Calls made without CALL would show as
 * a difference, unless expect() tells of them: a loop of polls counts those without success and
 * then expects one line with polls=N.
 *
 * A value may be `*`, any, or `@word`: the same wherever this word is given on any rank, and
 * another than that of any other word. `!name` says that there is no such parameter.
 *
 * Each thread has a log of its own. Those of other threads than the first are written by
 * expect_thread_end, to $EXPECT_OUT.<rank>.<thread>.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What arguments of the functions that have a large-count form point to: counts, displacements,
 * lengths in bytes, units of displacement. A program that test_events.py compiles to call those
 * forms (EXPECT_LARGE) gets their types. */
#ifdef EXPECT_LARGE
typedef MPI_Count COUNT, LENGTH;
typedef MPI_Aint PLACE, UNIT;
#else
typedef int COUNT, PLACE, UNIT;
typedef MPI_Aint LENGTH;
#endif

struct expect_log {
    char *text;
    size_t size, capacity;
};

static _Thread_local struct expect_log expect_log;

static void expect_append(const char *text, size_t size)
{
    if (expect_log.size + size + 1 > expect_log.capacity) {
        expect_log.capacity = (expect_log.size + size + 1) * 2;
        expect_log.text = realloc(expect_log.text, expect_log.capacity);
        if (!expect_log.text)
            abort();
    }
    memcpy(expect_log.text + expect_log.size, text, size);
    expect_log.size += size;
    expect_log.text[expect_log.size] = 0;
}

__attribute__((format(printf, 2, 3))) static void expect(const char *call, const char *format, ...)
{
    char line[8192];
    va_list args;
    const char *name = strstr(call, "MPI"); /* MPI_ or MPIX_ */
    if (!name)
        name = strstr(call, "refrain_");
    expect_append(name, strcspn(name, "("));
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n > 0) {
        expect_append(" ", 1);
        expect_append(line, (size_t)n);
    }
    expect_append("\n", 1);
}

#define CALL(call, ...)             \
    do {                            \
        call;                       \
        expect(#call, __VA_ARGS__); \
    } while (0)

/* The call and the loop around it: polls until flag is set; the calls without success are one line.
 * found: what the last one says. */
#define POLL(call, flag, missed, ...)                          \
    do {                                                       \
        long expect_misses = 0;                                \
        for ((flag) = 0; !(flag);) {                           \
            call;                                              \
            expect_misses += !(flag);                          \
        }                                                      \
        if (expect_misses > 0)                                 \
            expect(#call, missed " polls=%ld", expect_misses); \
        expect(#call, __VA_ARGS__);                            \
    } while (0)

static int expect_write(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file ||
        fwrite(expect_log.text ? expect_log.text : "", 1, expect_log.size, file) !=
            expect_log.size ||
        fclose(file) != 0)
        return 1;
    free(expect_log.text);
    expect_log = (struct expect_log){0};
    return 0;
}

/* Ends a thread: its log goes to its file. thread: how many threads of the rank called MPI before
 * this one did. */
__attribute__((unused)) static int expect_thread_end(int rank, int thread)
{
    const char *out = getenv("EXPECT_OUT");
    char path[4096];
    if (!out)
        return 0;
    snprintf(path, sizeof path, "%s.%d.%d", out, rank, thread);
    return expect_write(path);
}

/* Ends the program: MPI_Finalize, and the log to its file. rank: in MPI_COMM_WORLD. */
static int expect_finalize(int rank)
{
    CALL(MPI_Finalize(), "%s", "");
    const char *out = getenv("EXPECT_OUT");
    char path[4096];
    if (!out)
        return 0;
    snprintf(path, sizeof path, "%s.%d", out, rank);
    return expect_write(path);
}

#endif
