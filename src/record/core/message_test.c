/* What is said goes to the descriptor that was standard error when the process started, so children
 * that say something are this program again, with an argument. */
#include "record/core/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FINE = 5, LONG = 5000 };

/* How a child ended that runs act: its exit status, -1 when a signal ended it. */
static int in_child(int (*act)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(act());
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Becomes this program again, with a descriptor as standard error. */
static int again(const char *what, int fd)
{
    if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
        return 1;
    execl("/proc/self/exe", "say_test", what, (char *)NULL);
    return 1;
}

/* ---- what the children do ---- */

static int say_into_broken_pipe(void)
{
    sigset_t pending, blocked;
    rec_message("nobody reads this");
    sigpending(&pending);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    return sigismember(&pending, SIGPIPE) || sigismember(&blocked, SIGPIPE) ? 2 : FINE;
}

static int say_much(void)
{
    static char text[LONG], line[LONG];
    memset(text, 'x', sizeof text - 1);
    text[0] = '\033'; /* of a file's name; no terminal is to obey it */
    rec_message("%s", text);
    ssize_t n = pread(STDERR_FILENO, line, sizeof line, 0);
    return n > 1000 && n <= 1024 && line[n - 1] == '\n' && line[n - 2] == 'x' &&
                   !memchr(line, '\033', (size_t)n)
               ? FINE
               : 2;
}

static int break_pipe(void)
{
    int ends[2];
    if (pipe(ends) < 0)
        return 1;
    close(ends[0]);
    return again("pipe", ends[1]);
}

static int fill_file(void)
{
    FILE *file = tmpfile();
    return file ? again("much", fileno(file)) : 1;
}

/* The program's own file has taken the descriptor. */
static int say_into_data(void)
{
    FILE *file = tmpfile();
    if (!file || dup2(fileno(file), STDERR_FILENO) < 0)
        return 1;
    rec_message("not for this file");
    return lseek(STDERR_FILENO, 0, SEEK_END) == 0 ? FINE : 2;
}

static int write_too_much(void)
{
    struct rlimit limit = {.rlim_cur = 2, .rlim_max = RLIM_INFINITY};
    struct rec_signals signals;
    FILE *file = tmpfile();
    if (!file || setrlimit(RLIMIT_FSIZE, &limit) < 0)
        return 1;
    rec_signals_hold(&signals);
    ssize_t some = write(fileno(file), "1234", 4), none = write(fileno(file), "5", 1);
    rec_signals_release(&signals);
    return some == 2 && none == -1 ? FINE : 2;
}

/* A signal that was pending before is not the recorder's to throw away. */
static int keep_pending(void)
{
    struct rec_signals signals;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGPIPE);
    rec_signals_hold(&signals);
    rec_signals_release(&signals);
    sigpending(&set);
    return sigismember(&set, SIGPIPE) ? FINE : 2;
}

/* ---- tests ---- */

static void test_broken_pipe(void **state)
{
    (void)state;
    assert_int_equal(in_child(break_pipe), FINE);
}

static void test_long_text(void **state)
{
    (void)state;
    assert_int_equal(in_child(fill_file), FINE);
}

static void test_data_file(void **state)
{
    (void)state;
    assert_int_equal(in_child(say_into_data), FINE);
}

static void test_file_limit(void **state)
{
    (void)state;
    assert_int_equal(in_child(write_too_much), FINE);
}

static void test_pending_stays(void **state)
{
    (void)state;
    assert_int_equal(in_child(keep_pending), FINE);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return strcmp(argv[1], "pipe") == 0 ? say_into_broken_pipe() : say_much();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken_pipe),   cmocka_unit_test(test_long_text),
        cmocka_unit_test(test_data_file),     cmocka_unit_test(test_file_limit),
        cmocka_unit_test(test_pending_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
