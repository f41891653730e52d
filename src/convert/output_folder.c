#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "convert/output_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INSIDE = RFN_FOLDER_PATH + 512 /* of a file in the folder */ };

static bool is_inner(const struct rfn_folder_kind *kind, const char *name)
{
    return kind->inner && strcmp(name, kind->inner) == 0;
}

static bool is_named(const char *name, const char *wanted)
{
    const size_t n = strlen(name), m = strlen(wanted);
    return wanted[0] == '.' ? n > m && strcmp(name + n - m, wanted) == 0
                            : strcmp(name, wanted) == 0;
}

/* Whether a folder of the kind has a file with such a name. */
static bool is_ours(const struct rfn_folder_kind *kind, const char *name)
{
    for (size_t i = 0; kind->files[i]; i++) {
        if (is_named(name, kind->files[i]))
            return true;
    }
    return false;
}

/* Removes the files, and their folder if nothing else is in it. */
static int remove_files(const struct rfn_folder_kind *kind, const char *folder)
{
    char path[INSIDE];
    struct dirent *entry;
    DIR *listing = opendir(folder);
    if (!listing)
        return -1;
    while ((entry = readdir(listing))) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (is_inner(kind, entry->d_name))
            remove_files(kind, path);
        else if (is_ours(kind, entry->d_name))
            unlink(path);
    }
    closedir(listing);
    return rmdir(folder);
}

static bool is_marked(const struct rfn_folder_kind *kind, const char *folder)
{
    char path[INSIDE];
    struct stat found;
    snprintf(path, sizeof path, "%s/%s", folder, kind->mark);
    return stat(path, &found) == 0;
}

/* Whether there is something in the folder that does not belong there. */
static bool has_others(const struct rfn_folder_kind *kind, const char *folder)
{
    const struct dirent *entry;
    bool others = false;
    DIR *listing = opendir(folder);
    if (!listing)
        return true;
    while (!others && (entry = readdir(listing))) {
        const char *name = entry->d_name;
        others = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !is_inner(kind, name) &&
                 !is_ours(kind, name);
    }
    closedir(listing);
    return others;
}

static int check_folder(const struct rfn_folder_kind *kind, const char *folder, bool force,
                        struct rfn_diag *diag)
{
    struct stat found;
    if (lstat(folder, &found) != 0)
        return 0;
    if (!force)
        return rfn_fail(diag, RFN_E_EXISTS, -1, -1, "%s exists already", folder);
    if (!S_ISDIR(found.st_mode) || !is_marked(kind, folder))
        return rfn_fail(diag, RFN_E_EXISTS, -1, -1,
                        "%s is no folder with %s, so it is not replaced", folder, kind->what);
    if (has_others(kind, folder))
        return rfn_fail(diag, RFN_E_EXISTS, -1, -1,
                        "%s has other files than %s in it, so it is not replaced; "
                        "remove it, or write to another folder",
                        folder, kind->what);
    return 0;
}

static int cannot(const char *folder, struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot write %s: %s", folder, strerror(errno));
}

/* An empty folder beside the final one. */
static int make_beside(const char *folder, char beside[RFN_FOLDER_PATH], struct rfn_diag *diag)
{
    const int n = snprintf(beside, RFN_FOLDER_PATH, "%s.XXXXXX", folder);
    if (n < 0 || n >= RFN_FOLDER_PATH)
        return rfn_fail(diag, RFN_E_RANGE, -1, -1, "the name of the folder is too long");
    return mkdtemp(beside) ? 0 : cannot(folder, diag);
}

int rfn_output_folder_open(struct rfn_output_folder *folder, const struct rfn_folder_kind *kind,
                           const char *path, bool force, struct rfn_diag *diag)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (n >= sizeof folder->path)
        return rfn_fail(diag, RFN_E_RANGE, -1, -1, "the name of the folder is too long");
    memcpy(folder->path, path, n);
    folder->path[n] = '\0';
    folder->kind = kind;
    RFN_TRY(check_folder(kind, folder->path, force, diag));
    RFN_TRY(make_beside(folder->path, folder->scratch, diag));
    const mode_t mask = umask(0);
    umask(mask);
    chmod(folder->scratch, 0777 & ~mask);
    return 0;
}

int rfn_output_folder_place(struct rfn_output_folder *folder, struct rfn_diag *diag)
{
    char old[RFN_FOLDER_PATH];
    if (!is_marked(folder->kind, folder->path))
        return rename(folder->scratch, folder->path) == 0 ? 0 : cannot(folder->path, diag);
    RFN_TRY(make_beside(folder->path, old, diag));
    if (rename(folder->path, old) != 0) {
        const int error = cannot(folder->path, diag);
        rmdir(old);
        return error;
    }
    if (rename(folder->scratch, folder->path) != 0) {
        const int error = cannot(folder->path, diag);
        rename(old, folder->path);
        return error;
    }
    remove_files(folder->kind, old);
    return 0;
}

void rfn_output_folder_cancel(const struct rfn_output_folder *folder)
{
    remove_files(folder->kind, folder->scratch);
}
