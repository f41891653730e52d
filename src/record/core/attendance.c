#include "record/core/attendance.h"

#include "base/hash.h"
#include "base/system.h"
#include "base/whole_file.h"
#include "record/core/archive_file.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#ifndef RFN_FLAVOUR_SMPI /* whose ranks are in one process */

struct mark {
    uint64_t job, ms;
};

/* Marks of a run that was killed lie further behind the newest one; ranks start within that. */
enum { SAME_RUN_MS = 3600 * 1000 };

static char path[PATH_MAX];          /* "": there is no file */
static struct rec_launched launched; /* what was so when the mark was made */

/* ---- a mark ---- */

static uint64_t job_hash(void)
{
    const char *name = getenv("PMIX_NAMESPACE");
    return name ? rfn_hash_bytes(name, strlen(name)) : 0;
}

static bool name_file(int ranks)
{
    static const char suffix[] = ".ranks";
    if (rec_archive_name(path, sizeof path - sizeof suffix, ranks, 1) < 0)
        path[0] = 0;
    else
        strcat(path, suffix);
    return path[0];
}

/* Never through a link, nor into another user's file. */
static int open_file(int flags)
{
    struct stat status;
    const int fd = rfn_above_standard(
        open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666));
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                   status.st_uid == geteuid() && status.st_nlink == 1))
        return fd;
    close(fd);
    return -1;
}

void rec_attendance_mark(void)
{
    struct timespec now;
    const bool recorded = rec_state == REC_RECORDING || rec_state == REC_STOPPED;
    if (path[0] || !recorded || !rec_options.write)
        return;
    launched = rec_job_launched();
    if (launched.size < 2 || !name_file(launched.size))
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct mark mark = {.job = job_hash(),
                              .ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000};
    const int fd = open_file(O_CREAT | O_WRONLY);
    if (fd < 0) {
        path[0] = 0;
        return;
    }
    /* Without room for it the rank is as one that has another file system. */
    (void)!pwrite(fd, &mark, sizeof mark, launched.rank * (off_t)sizeof mark);
    close(fd);
}

/* ---- who is there ---- */

/* Ranks with a mark of this run, ascending. Returns how many. */
static int find(const struct mark *marks, int n, int *ranks)
{
    const uint64_t job = job_hash();
    uint64_t newest = 0;
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (marks[i].job == job && marks[i].ms > newest)
            newest = marks[i].ms;
    }
    for (int i = 0; i < n; i++) {
        if (marks[i].job == job && marks[i].ms && newest - marks[i].ms < SAME_RUN_MS)
            ranks[found++] = i;
    }
    return found;
}

static int read_marks(int size, struct mark *marks, int *ranks)
{
    const int fd = open_file(O_RDONLY);
    if (fd < 0)
        return 0;
    const ssize_t n = pread(fd, marks, (size_t)size * sizeof *marks, 0);
    close(fd);
    return n > 0 ? find(marks, (int)((size_t)n / sizeof *marks), ranks) : 0;
}

/* Whether all ranks see one file. */
static bool is_shared(int size)
{
    static const unsigned long networks[] = {
        NFS_SUPER_MAGIC,       AFS_FS_MAGIC,     V9FS_MAGIC,       CIFS_SUPER_MAGIC,
        SMB2_SUPER_MAGIC,      CEPH_SUPER_MAGIC, FUSE_SUPER_MAGIC, 0x0bd00bd0 /* Lustre */,
        0x47504653 /* GPFS */, 0x19830326 /* BeeGFS */};
    struct statfs system;
    if (rec_job_on_one_node(size))
        return true;
    if (statfs(path, &system) != 0)
        return false;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        if ((unsigned long)system.f_type == networks[i])
            return true;
    }
    return false;
}

/* Like read_marks, but size if it is not known. Marks may be seen late on a file system of the
 * network. */
static int count_recorded(int size, struct mark *marks, int *ranks)
{
    enum { LOOKS = 5 };
    const struct timespec pause = {.tv_nsec = 50000000};
    int n = read_marks(size, marks, ranks);
    if (n == 0 || (n < size && !is_shared(size)))
        return size;
    for (int i = 1; i < LOOKS && n < size; i++) {
        nanosleep(&pause, NULL);
        n = read_marks(size, marks, ranks);
    }
    return n;
}

void rec_attendance_settle(void)
{
    static bool settled;
    const int size = rec_job_size();
    if (!path[0] || size != launched.size || settled)
        return;
    settled = true;
    struct mark *marks = calloc((size_t)size, sizeof *marks);
    int *ranks = calloc((size_t)size, sizeof *ranks);
    const int n = marks && ranks ? count_recorded(size, marks, ranks) : size;
    if (n < size)
        rec_job_limit(ranks, n);
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
