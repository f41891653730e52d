/* live_place.h - for tests of jobs that show what they sample: a place of the test's own in place
 * of /dev/shm, $TMPDIR and the user's other jobs. */
#ifndef RFN_TESTS_SUPPORT_LIVE_PLACE_H
#define RFN_TESTS_SUPPORT_LIVE_PLACE_H

#include "reduce/samples/live_segment.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char live_place[] = "/tmp/refrain-live-XXXXXX", live_folder[64];

static int make_live_place(void **state)
{
    (void)state;
    strcpy(live_place + strlen(live_place) - 6, "XXXXXX");
    assert_non_null(mkdtemp(live_place));
    snprintf(live_folder, sizeof live_folder, "%s/refrain-%u", live_place, (unsigned)geteuid());
    rfn_live_first_place = live_place;
    return 0;
}

static int remove_live_place(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", live_place);
    return system(command);
}

/* Another process, which calls act and goes on until the test ends it. Returns when act has
 * returned. */
static pid_t start_process(void (*act)(int argument), int argument)
{
    int ends[2];
    char ready = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
            signal(faults[i], SIG_DFL); /* it does not go on as the test */
        alarm(60);
        act(argument);
        if (write(ends[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    return process;
}

static void end_process(pid_t process)
{
    int status;
    assert_int_equal(kill(process, SIGKILL), 0);
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

#endif
