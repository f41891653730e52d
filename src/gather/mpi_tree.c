/* mpi_tree.c - a message is how many bytes the archive has, then these, in pieces.
 */
#define _POSIX_C_SOURCE 200809L /* unlink */
#include "gather/mpi_tree.h"

#include "gather/arity.h"
#include "refrain/merge_archives.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 4 << 20, NOTHING = 0, FAILED = -1 };

/* Where a process stands. */
struct standing {
    struct gth_job *job;
    const struct gth_tree *tree;
    char (*paths)[PATH_MAX]; /* of archives, the process' own first; "": none */
    bool failed;             /* it, or one that sent to it */
    char *piece;
};

static void cannot(struct standing *at, const char *what, const char *path)
{
    at->job->error = rfn_fail(&at->job->diag, RFN_E_IO, -1, -1,
                              "cannot %s %s: %s; have TMPDIR name a folder with room", what, path,
                              strerror(errno));
    at->failed = true;
}

/* ---- messages ---- */

static int piece_of(long long left)
{
    return (int)(left < PIECE ? left : PIECE);
}

/* What cannot be read goes as zeros, and the error stays. */
static void send_archive(struct standing *at, int to)
{
    const char *path = at->paths[0];
    struct stat status = {0};
    FILE *file = at->failed || !path[0] ? NULL : fopen(path, "rb");
    if (!at->failed && path[0] && (!file || fstat(fileno(file), &status) < 0))
        cannot(at, "read", path);
    long long left = at->failed ? FAILED : (long long)status.st_size;
    PMPI_Send(&left, 1, MPI_LONG_LONG, to, 0, at->job->comm);
    for (; left > 0; left -= PIECE) {
        const int n = piece_of(left);
        memset(at->piece, 0, (size_t)n);
        if (fread(at->piece, 1, (size_t)n, file) != (size_t)n)
            cannot(at, "read", path);
        PMPI_Send(at->piece, n, MPI_BYTE, to, 0, at->job->comm);
    }
    if (file)
        fclose(file);
}

static void receive_archive(struct standing *at, int from, char *path)
{
    long long left;
    PMPI_Recv(&left, 1, MPI_LONG_LONG, from, 0, at->job->comm, MPI_STATUS_IGNORE);
    at->failed |= left == FAILED;
    FILE *file = left > 0 ? fopen(path, "wb") : NULL;
    if (left > 0 && !file)
        cannot(at, "write", path);
    if (left <= 0)
        path[0] = 0;
    for (; left > 0; left -= PIECE) {
        const int n = piece_of(left);
        PMPI_Recv(at->piece, n, MPI_BYTE, from, 0, at->job->comm, MPI_STATUS_IGNORE);
        if (!at->failed && fwrite(at->piece, 1, (size_t)n, file) != (size_t)n)
            cannot(at, "write", path);
    }
    if (file && fclose(file) != 0 && !at->failed)
        cannot(at, "write", path);
}

/* ---- a step ---- */

static void merge(struct standing *at, struct rfn_archive **archives, const char *path, bool force,
                  uint64_t *bytes)
{
    struct gth_job *job = at->job;
    struct rfn_merge_result result = {0};
    int n = 0;
    for (int i = 0; i < at->tree->arity && job->error >= 0; i++) {
        if (at->paths[i][0])
            job->error = rfn_archive_open(at->paths[i], &archives[n], &job->diag);
        n += at->paths[i][0] && job->error >= 0;
    }
    if (job->error >= 0)
        job->error = rfn_merge_archives((const struct rfn_archive *const *)archives, (size_t)n,
                                        NULL, path, force, &result, &job->diag);
    if (job->error >= 0)
        *bytes = result.bytes;
    at->failed |= job->error < 0;
    while (n > 0)
        rfn_archive_close(archives[--n]);
}

/* What the process has becomes one archive, the output in the last step. */
static void join(struct standing *at, int step, bool last, uint64_t *bytes)
{
    struct rfn_archive *archives[GTH_ARITY_MOST];
    char path[PATH_MAX] = "";
    int n = 0;
    for (int i = 0; i < at->tree->arity; i++)
        n += at->paths[i][0] != 0;
    if (n > 0)
        snprintf(path, sizeof path, "%s/%d.rfn", at->tree->folder, step);
    if (n > 0 && !at->failed)
        merge(at, archives, last ? at->tree->output : path, last && at->tree->force, bytes);
    for (int i = 0; i < at->tree->arity; i++) {
        if (at->paths[i][0])
            unlink(at->paths[i]);
    }
    strcpy(at->paths[0], last || at->failed ? "" : path);
}

static void climb(struct standing *at, uint64_t *bytes)
{
    const int process = at->job->process, arity = at->tree->arity;
    long long reach = 1;
    for (int step = 1; reach < at->job->processes; step++, reach *= arity) {
        const long long next = reach * arity;
        if (process % next != 0) {
            send_archive(at, (int)(process - process % next));
            break;
        }
        for (int i = 1; i < arity; i++) {
            const long long from = process + i * reach;
            at->paths[i][0] = 0;
            if (from >= at->job->processes)
                continue;
            snprintf(at->paths[i], PATH_MAX, "%s/%d-%d.rfn", at->tree->folder, step, i);
            receive_archive(at, (int)from, at->paths[i]);
        }
        join(at, step, next >= at->job->processes, bytes);
    }
    if (at->paths[0][0])
        unlink(at->paths[0]);
}

void gth_combine(struct gth_job *job, const struct gth_tree *tree, const char *mine,
                 uint64_t *bytes)
{
    struct standing at = {.job = job, .tree = tree, .failed = job->error < 0};
    at.paths = calloc((size_t)tree->arity, sizeof *at.paths);
    at.piece = malloc(PIECE);
    int enough = at.paths && at.piece;
    if (!enough)
        job->error = rfn_fail(&job->diag, RFN_E_NOMEM, -1, -1, "out of memory");
    PMPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, job->comm);
    if (enough) {
        snprintf(at.paths[0], PATH_MAX, "%s", mine);
        climb(&at, bytes);
    } else if (mine[0]) {
        unlink(mine);
    }
    free(at.paths);
    free(at.piece);
}
