#define _POSIX_C_SOURCE 200809L /* lstat */
#include "base/part_file.h"

#include "base/copy_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_apart(const char *path, bool force)
{
    struct stat found;
    return force && (stat(path, &found) != 0 || S_ISREG(found.st_mode));
}

char *rfn_part_path(const char *path, bool force)
{
    if (!is_apart(path, force))
        return rfn_copy_text(path);
    const size_t size = strlen(path) + sizeof ".part";
    char *part = malloc(size);
    if (part)
        snprintf(part, size, "%s.part", path);
    return part;
}

int rfn_part_place(const char *path, bool force)
{
    if (!is_apart(path, force))
        return 0;
    char *part = rfn_part_path(path, force);
    const int result = part ? rename(part, path) : -1;
    const int error = errno;
    free(part);
    errno = error;
    return result;
}

void rfn_part_remove(const char *path, bool force)
{
    char *part = rfn_part_path(path, force);
    struct stat found;
    if (part && lstat(part, &found) == 0 && S_ISREG(found.st_mode))
        unlink(part);
    free(part);
}
