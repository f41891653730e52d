#define _GNU_SOURCE /* sched_setaffinity, SYS_pidfd_open */
#include "cli/launch/snapshots.h"

#include "cli/launch/mpi_environment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESS = STDERR_FILENO + 1 }; /* the descriptor of the program, in the new process */

char *rfn_snapshot_name(const char *archive)
{
    static const char suffix[] = ".rfn";
    size_t stem = strlen(archive);
    char *name = NULL;
    if (stem > strlen(suffix) && strcmp(archive + stem - strlen(suffix), suffix) == 0)
        stem -= strlen(suffix);
    return asprintf(&name, "%.*s.snapshot.rfn", (int)stem, archive) < 0 ? NULL : name;
}

/* ---- the new process ---- */

static bool close_from(int first)
{
    DIR *folder = opendir("/proc/self/fd");
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        const int fd = atoi(entry->d_name);
        if (fd >= first && fd != dirfd(folder))
            close(fd);
    }
    return folder && closedir(folder) == 0;
}

/* Keeps nothing of the job but the descriptor of its process. */
static bool drop_files(int process)
{
    const int kept = fcntl(process, F_DUPFD, PROCESS + 1);
    const int nowhere = open("/dev/null", O_RDWR);
    if (kept < 0 || nowhere < 0)
        return false;
    for (int fd = 0; fd < PROCESS; fd++) {
        if (dup2(nowhere, fd) < 0)
            return false;
    }
    return dup2(kept, PROCESS) >= 0 && close_from(PROCESS + 1) && chdir("/") == 0;
}

static void lower_priority(void)
{
    cpu_set_t all;
    memset(&all, -1, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    if (nice(19) < 0)
        return; /* it takes the program's then */
}

static void become_snapshot(char *own, const struct rfn_snapshots *asked, int process, pid_t pid,
                            int64_t since_ns)
{
    char every[64], output[PATH_MAX + 16], with[32], of[32], since[40], folder[PATH_MAX];
    char name[] = "refrain", verb[] = "snapshot", force[] = "--force", end[] = "--";
    char *const words[] = {name, verb, force, every, output, with, of, since, end, folder, NULL};
    snprintf(every, sizeof every, "--every=%s", asked->every);
    snprintf(output, sizeof output, "--output=%s", asked->output);
    snprintf(with, sizeof with, "--process=%d", PROCESS);
    snprintf(of, sizeof of, "--pid=%ld", (long)pid);
    snprintf(since, sizeof since, "--since=%" PRId64, since_ns);
    snprintf(folder, sizeof folder, "%s", asked->folder);
    lower_priority();
    if (drop_files(process))
        execv(own, words);
}

/* ---- starting it ---- */

/* Returns in the calling process: whether there is an orphan now. */
static bool start(char *own, const struct rfn_snapshots *asked, int process)
{
    struct timespec now;
    int status = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    const pid_t pid = getpid(), child = fork();
    if (child < 0)
        return false;
    if (child > 0)
        return waitpid(child, &status, 0) < 0 || status == 0; /* or SIGCHLD is ignored */
    const pid_t orphan = setsid() < 0 ? -1 : fork();
    if (orphan == 0)
        become_snapshot(own, asked, process, pid, now.tv_sec * INT64_C(1000000000) + now.tv_nsec);
    _exit(orphan < 0);
}

int rfn_snapshots_start(const struct rfn_snapshots *asked, struct rfn_diag *diag)
{
    char own[PATH_MAX];
    int adopts = 0;
    if (!rfn_own_path(own, sizeof own))
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1, "there is no /proc");
    if (prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the program would be the parent of their process (it is a subreaper)");
    const int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (process < 0)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "this system does not tell when a process ends (pidfd_open: %s)",
                        strerror(errno));
    const bool started = start(own, asked, process);
    close(process);
    return started ? 0 : rfn_fail(diag, RFN_E_IO, -1, -1, "the system gives no process for them");
}
