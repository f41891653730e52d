#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* struct ucred */
#endif

#include "record/core/attendance.h"

#include "base/hash.h"
#include "base/system.h"
#include "record/core/exchange_mpi.h"
#include "record/core/job.h"
#include "record/core/options.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef RFN_FLAVOUR_SMPI /* whose ranks are in one process */

#define SHARED_MEMORY "/dev/shm"

static char path[PATH_MAX];          /* "": there is no file */
static struct rec_launched launched; /* at the time of the mark */

/* ---- the file ---- */

static bool name_by_pmix(void)
{
    const char *folder = getenv("PMIX_SERVER_TMPDIR"), *job = getenv("PMIX_NAMESPACE");
    struct stat status;
    if (!folder || !job || stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return false;
    const int n = snprintf(path, sizeof path, "%s/refrain.%016llx", folder,
                           (unsigned long long)rfn_hash_bytes(job, strlen(job)));
    return n > 0 && (size_t)n < sizeof path;
}

/* The process that made the socket of PMI; 0: not known. */
static pid_t pmi_server(void)
{
    struct ucred server = {0};
    socklen_t size = sizeof server;
    const char *fd = getenv("PMI_FD");
    char *end = NULL;
    const long number = fd ? strtol(fd, &end, 10) : -1;
    if (!fd || *end || number < 0 || number > INT_MAX ||
        getsockopt((int)number, SOL_SOCKET, SO_PEERCRED, &server, &size) != 0)
        return 0;
    return server.pid;
}

static bool name_by_pmi(void)
{
    char of_server[64];
    struct stat there, here;
    const pid_t server = pmi_server();
    snprintf(of_server, sizeof of_server, "/proc/%ld/root" SHARED_MEMORY, (long)server);
    if (server <= 0 || stat(of_server, &there) != 0 || stat(SHARED_MEMORY, &here) != 0 ||
        there.st_dev != here.st_dev || there.st_ino != here.st_ino)
        return false;
    snprintf(path, sizeof path, SHARED_MEMORY "/refrain.ranks.%ld.%ld", (long)geteuid(),
             (long)server);
    return true;
}

/* Never through a link, nor into another user's file. */
static int open_file(int flags)
{
    struct stat status;
    const int fd = rfn_above_standard(
        open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                   status.st_uid == geteuid() && status.st_nlink == 1))
        return fd;
    close(fd);
    return -1;
}

/* ---- marks ---- */

void rec_attendance_mark(void)
{
    const uint8_t mark = 1;
    const bool recorded = rec_state == REC_RECORDING || rec_state == REC_STOPPED;
    if (path[0] || !recorded)
        return;
    launched = rec_job_launched();
    if (launched.size < 2 || !rec_job_on_one_node(launched.size) ||
        (!name_by_pmix() && !name_by_pmi())) {
        path[0] = 0;
        return;
    }
    const int fd = open_file(O_CREAT | O_WRONLY);
    if (fd < 0 || pwrite(fd, &mark, 1, launched.rank) != 1)
        path[0] = 0;
    if (fd >= 0)
        close(fd);
}

/* How many ranks are recorded, and which, ascending; size if it is not known. */
static int find_recorded(int size, uint8_t *marks, int *ranks)
{
    const int fd = open_file(O_RDONLY);
    int found = 0;
    if (fd < 0)
        return size;
    const ssize_t n = pread(fd, marks, (size_t)size, 0);
    close(fd);
    for (ssize_t i = 0; i < n; i++) {
        if (marks[i])
            ranks[found++] = (int)i;
    }
    return found ? found : size;
}

/* The n ranks become the job. */
static void limit(const int *ranks, int n)
{
    MPI_Group all, recorded;
    MPI_Comm comm;
    if (rec_job_group(&all) < 0 || rec_mpi.MPI_Group_incl(all, n, ranks, &recorded) != MPI_SUCCESS)
        return;
    rec_comm_of_group(recorded, &comm);
    rec_mpi.MPI_Group_free(&recorded);
    rec_job_limit(ranks[0], comm);
}

void rec_attendance_settle(void)
{
    const int size = rec_job_size();
    if (!path[0] || size != launched.size)
        return;
    uint8_t *marks = calloc((size_t)size, 1);
    int *ranks = calloc((size_t)size, sizeof *ranks);
    const int n = marks && ranks ? find_recorded(size, marks, ranks) : size;
    if (n < size)
        limit(ranks, n);
    free(marks);
    free(ranks);
}

void rec_attendance_end(void)
{
    if (path[0] && (rec_job_is_first() || rec_job_size() != launched.size))
        unlink(path);
    path[0] = 0;
}

#else

void rec_attendance_mark(void)
{
}

void rec_attendance_settle(void)
{
}

void rec_attendance_end(void)
{
}

#endif
