#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* madvise */
#endif

#include "record/core/attendance.h"

#include "base/hash.h"
#include "base/system.h"
#include "record/core/exchange_mpi.h"
#include "record/core/job.h"
#include "record/core/options.h"
#include "reduce/samples/live_segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef RFN_FLAVOUR_SMPI /* whose ranks are in one process */

#define SHARED_MEMORY "/dev/shm"
#define OWN_FILES     "refrain.ranks.%ld." /* of a user */

enum { USED_BYTES = 1 };

static char path[PATH_MAX];          /* "": there is no file */
static void *use = MAP_FAILED;       /* of it */
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

static bool name_by_pmi(void)
{
    char of_server[64];
    struct stat there, here;
    const long server = rec_job_pmi_server();
    snprintf(of_server, sizeof of_server, "/proc/%ld/root" SHARED_MEMORY, server);
    if (server <= 0 || stat(of_server, &there) != 0 || stat(SHARED_MEMORY, &here) != 0 ||
        there.st_dev != here.st_dev || there.st_ino != here.st_ino)
        return false;
    snprintf(path, sizeof path, SHARED_MEMORY "/" OWN_FILES "%ld.%llu", (long)geteuid(), server,
             (unsigned long long)rfn_process_began((uint64_t)server));
    return true;
}

/* Never through a link, nor into another user's file. */
static int open_file(const char *name, int flags)
{
    struct stat status;
    const int fd = rfn_above_standard(
        open(name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                   status.st_uid == geteuid() && status.st_nlink <= 1))
        return fd;
    close(fd);
    return -1;
}

/* Opens the file of the job, which nobody removes any more. */
static int open_used(void)
{
    for (int tries = 0; tries < 100; tries++) {
        const int fd = open_file(path, O_CREAT | O_RDWR);
        if (fd < 0 || rfn_use_file(fd) != ESTALE)
            return fd;
        close(fd);
    }
    return -1;
}

/* ---- what killed jobs have left ---- */

static void sweep_marks(void)
{
    char start[64], name[PATH_MAX];
    const int folder = rfn_above_standard(open(SHARED_MEMORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    if (!entries && folder >= 0)
        close(folder);
    snprintf(start, sizeof start, OWN_FILES, (long)geteuid());
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        if (strncmp(entry->d_name, start, strlen(start)) != 0 ||
            snprintf(name, sizeof name, SHARED_MEMORY "/%s", entry->d_name) >= (int)sizeof name)
            continue;
        const int fd = open_file(name, O_RDONLY);
        if (fd >= 0 && rfn_is_unused(fd))
            unlink(name);
        if (fd >= 0)
            close(fd);
    }
    if (entries)
        closedir(entries);
}

/* Once, by one process of a job on each node. */
static void sweep(void)
{
    static bool swept;
    if (!swept && rec_job_is_first_here()) {
        sweep_marks();
        rfn_live_sweep_all();
    }
    swept = true;
}

/* ---- marks ---- */

/* Leaves it in the file, which stays in use. */
static bool mark_file(void)
{
    const uint8_t mark = 1;
    const int fd = open_used();
    if (fd < 0)
        return false;
    const bool marked = pwrite(fd, &mark, 1, launched.rank) == 1;
    use = mmap(NULL, USED_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (use != MAP_FAILED)
        madvise(use, USED_BYTES, MADV_DONTFORK);
    close(fd);
    return marked;
}

void rec_attendance_mark(void)
{
    const bool recorded = rec_state == REC_RECORDING || rec_state == REC_STOPPED;
    if (path[0] || !recorded)
        return;
    sweep();
    launched = rec_job_launched();
    if (launched.size < 2 || !rec_job_on_one_node(launched.size) ||
        (!name_by_pmix() && !name_by_pmi()) || !mark_file())
        path[0] = 0;
}

/* How many ranks are recorded, and which, ascending; size if it is not known. */
static int find_recorded(int size, uint8_t *marks, int *ranks)
{
    const int fd = open_file(path, O_RDONLY);
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
    if (use != MAP_FAILED)
        munmap(use, USED_BYTES);
    use = MAP_FAILED;
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
