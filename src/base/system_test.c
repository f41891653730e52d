/* system_test.c - files that somebody uses, and when processes began. */
#define _GNU_SOURCE /* mkstemp, MAP_ANONYMOUS */
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int open_new(const char *folder)
{
    snprintf(path, sizeof path, "%s/refrain-test-XXXXXX", folder);
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    return fd;
}

static bool is_unused(void)
{
    const int fd = open(path, O_RDONLY);
    const bool unused = rfn_is_unused(fd);
    close(fd);
    return unused;
}

/* Uses the file until it is killed; the descriptor is closed before the parent goes on. */
static pid_t start_user(void)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open(path, O_RDWR);
        const bool good = rfn_use_file(fd) == 0 &&
                          mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED;
        close(fd);
        if (good && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void end_user(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* As long as one of two processes lives, the file is in use, though no descriptor is open. */
static void test_in_use(void **state)
{
    (void)state;
    close(open_new("/dev/shm"));
    assert_true(is_unused());
    const pid_t first = start_user(), second = start_user();
    assert_false(is_unused());
    end_user(first);
    assert_false(is_unused());
    end_user(second);
    assert_true(is_unused());
    unlink(path);
}

/* Whoever opened a file before it was removed learns that. */
static void test_removed(void **state)
{
    (void)state;
    const int fd = open_new("/dev/shm"), other = open(path, O_RDONLY);
    assert_true(rfn_is_unused(other));
    unlink(path);
    assert_false(rfn_is_unused(other));
    close(other);
    assert_int_equal(rfn_use_file(fd), ESTALE);
    close(fd);
}

/* Nothing is known of files that are not in memory, so nobody may remove them. */
static void test_no_file_in_memory(void **state)
{
    (void)state;
    const int fd = open("/proc/self/stat", O_RDONLY);
    assert_int_not_equal(rfn_use_file(fd), 0);
    assert_false(rfn_is_unused(fd));
    close(fd);
}

static void test_began(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const uint64_t began = rfn_process_began((uint64_t)child);
    assert_true(began >= rfn_process_began((uint64_t)getpid()) && began > 0);
    assert_true(rfn_process_began((uint64_t)child) == began);
    kill(child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_true(rfn_process_began((uint64_t)child) == 0); /* nobody has noticed */
    waitpid(child, NULL, 0);
    assert_true(rfn_process_began((uint64_t)child) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_use),
        cmocka_unit_test(test_removed),
        cmocka_unit_test(test_no_file_in_memory),
        cmocka_unit_test(test_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
