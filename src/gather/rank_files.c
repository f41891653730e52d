#define _POSIX_C_SOURCE 200809L /* st_mtim */
#include "gather/rank_files.h"

#include "base/grow.h"
#include "base/hash.h"
#include "refrain/actions.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool cut_end(const char *name, size_t *length, const char *end)
{
    const size_t n = strlen(end);
    if (*length <= n || memcmp(name + *length - n, end, n) != 0)
        return false;
    *length -= n;
    return true;
}

static bool is_text_name(const char *name)
{
    size_t length = strlen(name);
    if (!cut_end(name, &length, ".gz"))
        cut_end(name, &length, ".zst");
    return name[0] != '.' && (cut_end(name, &length, ".txt") || cut_end(name, &length, ".ti") ||
                              cut_end(name, &length, ".trace"));
}

/* Two hosts that see one file of a shared file system see the same of it. */
static uint64_t identity_of(const struct stat *status)
{
    uint64_t hash = rfn_hash_mix(0, (uint64_t)status->st_ino);
    hash = rfn_hash_mix(hash, (uint64_t)status->st_size);
    hash = rfn_hash_mix(hash, (uint64_t)status->st_mtim.tv_sec);
    hash = rfn_hash_mix(hash, (uint64_t)status->st_mtim.tv_nsec);
    hash = rfn_hash_mix(hash, (uint64_t)status->st_ctim.tv_sec);
    return rfn_hash_mix(hash, (uint64_t)status->st_ctim.tv_nsec);
}

/* Takes path if it is a rank's: 1; 0: it is passed over, and may be some other file's. */
static int look_at(struct gth_files *files, char *path, struct rfn_diag *diag)
{
    struct stat status;
    int64_t rank = -1;
    if (stat(path, &status) < 0)
        return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return 0;
    if (status.st_size == 0)
        return rfn_fail(diag, RFN_E_INCOMPLETE, -1, -1,
                        "%s is empty, and text of a rank is not; bring all of it, or take it away",
                        path);
    RFN_TRY(rfn_text_rank(path, &rank, diag));
    if (rank < 0)
        return 0;
    RFN_TRY(RFN_GROW(files->of, files->capacity, files->n + 1));
    files->of[files->n++] = (struct gth_file){.rank = (uint32_t)rank,
                                              .identity = identity_of(&status),
                                              .bytes = (uint64_t)status.st_size,
                                              .path = path};
    return 1;
}

/* Takes the path. */
static void pass_over(struct gth_files *files, char *path)
{
    char **first = &files->first_passed;
    files->passed_over++;
    if (*first && strcmp(*first, path) <= 0) {
        free(path);
        return;
    }
    free(*first);
    *first = path;
}

static int look_at_name(struct gth_files *files, const char *folder, const char *name,
                        struct rfn_diag *diag)
{
    if (!is_text_name(name))
        return 0;
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path)
        return RFN_E_NOMEM;
    snprintf(path, size, "%s/%s", folder, name);
    const int taken = look_at(files, path, diag);
    if (taken < 0)
        free(path);
    else if (!taken)
        pass_over(files, path);
    return taken;
}

static int compare(const void *left, const void *right)
{
    const struct gth_file *a = left, *b = right;
    return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1) : strcmp(a->path, b->path);
}

/* Of a rank's files with the same text the first one stays. */
static int drop_copies(struct gth_files *files, struct rfn_diag *diag)
{
    size_t n = 0;
    for (size_t i = 0; i < files->n; i++) {
        struct gth_file *file = &files->of[i], *before = &files->of[n - (n > 0)];
        if (i > 0 && file->rank == before->rank) {
            uint64_t hash, other;
            RFN_TRY(rfn_text_hash(before->path, &other, diag));
            RFN_TRY(rfn_text_hash(file->path, &hash, diag));
            if (hash != other)
                return rfn_fail(diag, RFN_E_CORRUPT, -1, (int)file->rank,
                                "rank %u is in two files that differ, %s and %s; take away the "
                                "wrong one",
                                file->rank, before->path, file->path);
            free(file->path);
            file->path = NULL;
        } else {
            char *path = file->path;
            file->path = NULL;
            files->of[n] = *file;
            files->of[n++].path = path;
        }
    }
    files->n = n;
    return 0;
}

static int cannot_read(const char *folder, struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot read the folder %s: %s", folder,
                    strerror(errno));
}

int gth_files_find(struct gth_files *files, const char *folder, struct rfn_diag *diag)
{
    DIR *open = opendir(folder);
    const struct dirent *entry;
    int error = 0;
    if (!open && errno == ENOENT)
        return 0;
    if (!open)
        return cannot_read(folder, diag);
    while (error >= 0 && (errno = 0, entry = readdir(open)))
        error = look_at_name(files, folder, entry->d_name, diag);
    if (error >= 0 && errno)
        error = cannot_read(folder, diag);
    closedir(open);
    if (files->n)
        qsort(files->of, files->n, sizeof *files->of, compare);
    if (error >= 0)
        error = drop_copies(files, diag);
    return error == RFN_E_NOMEM ? rfn_fail(diag, error, -1, -1, "out of memory") : error;
}

void gth_files_release(struct gth_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->of[i].path);
    free(files->of);
    free(files->first_passed);
    *files = (struct gth_files){0};
}
