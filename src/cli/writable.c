#define _POSIX_C_SOURCE 200809L /* lstat, strndup */
#define _DEFAULT_SOURCE         /* S_ISVTX */
#include "cli/writable.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The directory of a path, to be freed. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
}

/* Why no file can be made in a directory; NULL: it can. */
static const char *why_not_in(const char *directory)
{
    struct statfs system;
    struct stat status;
    if (stat(directory, &status) == 0 && !S_ISDIR(status.st_mode))
        return strerror(ENOTDIR);
    if (access(directory, W_OK | X_OK) != 0)
        return strerror(errno);
    if (statfs(directory, &system) == 0 &&
        (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC))
        return "the kernel's own files are there, and no others";
    return NULL;
}

/* The same of removing a regular file of a directory that can be written. */
static const char *why_not_removed(const char *directory, const char *path,
                                   const struct stat *status)
{
    struct stat parent;
    uid_t user = geteuid();
    if (access(path, W_OK) != 0 && errno == EPERM)
        return "it is immutable";
    if (user != 0 && status->st_uid != user && stat(directory, &parent) == 0 &&
        (parent.st_mode & S_ISVTX) && parent.st_uid != user)
        return "it is another user's, in a directory where each removes their own only";
    return NULL;
}

int rfn_writable_in(const char *directory, struct rfn_diag *diag)
{
    const char *why = why_not_in(directory);
    if (!why)
        return 0;
    return rfn_fail(diag, RFN_E_IO, -1, -1, "no archive can be written in %s: %s", directory, why);
}

/* What has the archive's name already. */
static int check_kind(const char *path, bool replace, struct rfn_diag *diag)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "%s is %s, not a file that an archive can be written to", path,
                        S_ISDIR(status.st_mode) ? "a directory" : "a device");
    if (replace && lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "%s is a symbolic link, which is not replaced by an archive", path);
    return 0;
}

static int check_in(const char *directory, const char *path, bool replace, struct rfn_diag *diag)
{
    struct stat status;
    const char *why = why_not_in(directory);
    if (why)
        return rfn_fail(diag, RFN_E_IO, -1, -1, "%s cannot be written: %s: %s", path, directory,
                        why);
    if (replace && lstat(path, &status) == 0)
        why = why_not_removed(directory, path, &status);
    return why ? rfn_fail(diag, RFN_E_IO, -1, -1, "%s cannot be removed: %s", path, why) : 0;
}

int rfn_writable(const char *path, bool replace, struct rfn_diag *diag)
{
    int error = check_kind(path, replace, diag);
    if (error < 0)
        return error;
    char *directory = directory_of(path);
    if (!directory)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s", rfn_error_text(RFN_E_NOMEM));
    error = check_in(directory, path, replace, diag);
    free(directory);
    return error;
}
