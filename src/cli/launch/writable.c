#define _POSIX_C_SOURCE 200809L /* lstat, strndup */
#define _DEFAULT_SOURCE         /* S_ISVTX */
#include "cli/launch/writable.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

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

int rfn_writable_in(const char *directory, const char *what, struct rfn_diag *diag)
{
    const char *why = why_not_in(directory);
    if (!why)
        return 0;
    return rfn_fail(diag, RFN_E_IO, -1, -1, "no %s can be written in %s: %s", what, directory, why);
}

/* The same of a file in a directory, in the place of a regular file with its name if that is to be
 * removed. */
static int check_in(const char *directory, const char *path, bool replace, struct rfn_diag *diag)
{
    struct stat status, parent;
    uid_t user = geteuid();
    const char *why = why_not_in(directory);
    if (why)
        return rfn_fail(diag, RFN_E_IO, -1, -1, "%s cannot be written: %s: %s", path, directory,
                        why);
    if (!replace || lstat(path, &status) != 0)
        return 0;
    if (access(path, W_OK) != 0 && errno == EPERM)
        why = "it is immutable";
    else if (user != 0 && status.st_uid != user && stat(directory, &parent) == 0 &&
             (parent.st_mode & S_ISVTX) && parent.st_uid != user)
        why = "it is another user's, in a directory where each removes their own only";
    return why ? rfn_fail(diag, RFN_E_IO, -1, -1, "%s cannot be removed: %s", path, why) : 0;
}

int rfn_writable(const char *path, bool replace, struct rfn_diag *diag)
{
    struct stat status;
    const char *slash = strrchr(path, '/');
    if (lstat(path, &status) < 0 && errno == ENAMETOOLONG)
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "%s is too long a name for an archive: give it a shorter one (-o)", path);
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "%s is %s, not a file that an archive can be written to", path,
                        S_ISDIR(status.st_mode) ? "a directory" : "a device");
    if (replace && lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "%s is a symbolic link, which is not replaced by an archive", path);
    char *directory = slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1)
                            : strdup(".");
    if (!directory)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s", rfn_error_text(RFN_E_NOMEM));
    int error = check_in(directory, path, replace, diag);
    free(directory);
    return error;
}
