/* mpi_share.c - who takes which file, from sums and minima over all processes by rank, so that
 * memory does not grow with the number of processes.
 */
#include "gather/mpi_share.h"

#include "refrain/actions.h"
#include "refrain/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME = 160 }; /* of a file and its host */

/* Arrays are by rank, but for turns. */
struct sharing {
    struct gth_job *job;
    const struct gth_files *files;
    uint32_t n; /* ranks that are looked at */
    /* What tells files apart, then n complements of it; minima of both. Words are signed, as
     * minima of others are, too, in MPICH 4.0.2. */
    int64_t *keys, *lowest;
    /* Processes that see the file: whether this one does, how many before it and in all do, and the
     * first one. */
    int *seen, *before, *all, *first;
    int *turns; /* by first process */
};

static int fail(struct sharing *of, int error, const char *text)
{
    return of->job->error = rfn_fail(&of->job->diag, error, -1, -1, "%s", text);
}

static bool make_room(struct sharing *of)
{
    const size_t n = (size_t)of->n + 1;
    of->keys = malloc(2 * n * sizeof *of->keys);
    of->lowest = malloc(2 * n * sizeof *of->lowest);
    of->seen = calloc(n, sizeof *of->seen);
    of->before = calloc(n, sizeof *of->before);
    of->all = calloc(n, sizeof *of->all);
    of->first = calloc(n, sizeof *of->first);
    of->turns = calloc((size_t)of->job->processes, sizeof *of->turns);
    return of->keys && of->lowest && of->seen && of->before && of->all && of->first && of->turns;
}

static void release(struct sharing *of)
{
    free(of->keys);
    free(of->lowest);
    free(of->seen);
    free(of->before);
    free(of->all);
    free(of->first);
    free(of->turns);
}

static void set_key(struct sharing *of, uint32_t rank, uint64_t key)
{
    of->keys[rank] = (int64_t)(key >> 1);
    of->keys[of->n + rank] = INT64_MAX - of->keys[rank];
}

static int64_t highest(const struct sharing *of, uint32_t rank)
{
    return INT64_MAX - of->lowest[of->n + rank];
}

static void find_lowest(struct sharing *of)
{
    PMPI_Allreduce(of->keys, of->lowest, 2 * (int)of->n, MPI_INT64_T, MPI_MIN, of->job->comm);
}

static bool differ(const struct sharing *of, uint32_t rank)
{
    return of->all[rank] && of->lowest[rank] != highest(of, rank);
}

static void look(struct sharing *of)
{
    const struct gth_job *job = of->job;
    for (uint32_t rank = 0; rank < 2 * of->n; rank++)
        of->keys[rank] = INT64_MAX;
    for (size_t i = 0; i < of->files->n && of->files->of[i].rank < of->n; i++) {
        of->seen[of->files->of[i].rank] = 1;
        set_key(of, of->files->of[i].rank, of->files->of[i].identity);
    }
    find_lowest(of);
    PMPI_Allreduce(of->seen, of->all, (int)of->n, MPI_INT, MPI_SUM, job->comm);
    PMPI_Exscan(of->seen, of->before, (int)of->n, MPI_INT, MPI_SUM, job->comm);
    for (uint32_t rank = 0; rank < of->n; rank++)
        of->first[rank] = of->seen[rank] ? job->process : job->processes;
    PMPI_Allreduce(MPI_IN_PLACE, of->first, (int)of->n, MPI_INT, MPI_MIN, job->comm);
}

/* ---- faults ---- */

/* All processes know. */
static bool is_missing(struct sharing *of)
{
    uint32_t *ranks = malloc(((size_t)of->n + 1) * sizeof *ranks);
    size_t n = 0;
    for (uint32_t rank = 0; rank < of->n; rank++) {
        if (!of->all[rank]) {
            n++;
            if (ranks)
                ranks[n - 1] = rank;
        }
    }
    if (n && of->job->process == 0) {
        struct rfn_text text = {0};
        rfn_text_format(&text, "no process finds the text of rank%s ", n == 1 ? "" : "s");
        if (ranks)
            rfn_text_ranks(&text, ranks, n);
        fail(of, RFN_E_INCOMPLETE, rfn_text_terminated(&text));
        rfn_text_release(&text);
    }
    free(ranks);
    return n > 0;
}

/* Files that are not the same may have the same text: that is their key from now on. */
static void compare_texts(struct sharing *of)
{
    for (size_t i = 0; i < of->files->n && of->job->error >= 0; i++) {
        const struct gth_file *file = &of->files->of[i];
        uint64_t hash = 0;
        if (!differ(of, file->rank))
            continue;
        of->job->error = rfn_text_hash(file->path, &hash, &of->job->diag);
        set_key(of, file->rank, hash);
    }
    find_lowest(of);
}

/* The name, from the first process that sees the file with that key. */
static void name_file(const struct sharing *of, uint32_t rank, int64_t key, char *name)
{
    const struct gth_job *job = of->job;
    int first, length,
        mine = of->seen[rank] && of->keys[rank] == key ? job->process : job->processes;
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    PMPI_Get_processor_name(host, &length);
    for (size_t i = 0; i < of->files->n; i++) {
        if (of->files->of[i].rank == rank)
            snprintf(name, NAME, "%.100s on %.50s", of->files->of[i].path, host);
    }
    PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, job->comm);
    PMPI_Bcast(name, NAME, MPI_CHAR, first, job->comm);
}

/* All processes know. */
static bool is_contradicted(struct sharing *of)
{
    char names[2][NAME] = {"", ""};
    uint32_t rank = 0;
    int differences = 0, errors;
    for (uint32_t i = 0; i < of->n; i++)
        differences += differ(of, i);
    if (differences)
        compare_texts(of);
    PMPI_Allreduce(&of->job->error, &errors, 1, MPI_INT, MPI_MIN, of->job->comm);
    if (errors < 0)
        return true;
    while (rank < of->n && !differ(of, rank))
        rank++;
    if (rank == of->n)
        return false;
    name_file(of, rank, of->lowest[rank], names[0]);
    name_file(of, rank, highest(of, rank), names[1]);
    if (of->job->process == 0)
        of->job->error = rfn_fail(&of->job->diag, RFN_E_CORRUPT, -1, (int)rank,
                                  "rank %" PRIu32 " is in two files that differ, %s and %s; take "
                                  "away the wrong one",
                                  rank, names[0], names[1]);
    return true;
}

/* ---- turns ---- */

static void take(struct sharing *of, struct gth_share *share)
{
    size_t i = 0;
    share->paths = calloc(share->n_ranks, sizeof *share->paths);
    if (!share->paths) {
        fail(of, RFN_E_NOMEM, rfn_error_text(RFN_E_NOMEM));
        return;
    }
    for (uint32_t rank = 0; rank < of->n; rank++) {
        const int turn = of->turns[of->first[rank]]++ % of->all[rank];
        if (!of->seen[rank])
            continue;
        if (turn == (of->job->process ? of->before[rank] : 0)) {
            share->paths[rank] = of->files->of[i].path;
            share->bytes += of->files->of[i].bytes;
            share->n++;
        }
        i++;
    }
}

/* Where there are more ranks than files one of the first ones is missing. */
static bool count(struct sharing *of, const char *folder, uint32_t ranks, struct gth_share *share)
{
    const struct gth_files *files = of->files;
    int64_t ranks_seen = files->n ? files->of[files->n - 1].rank + INT64_C(1) : 0;
    int64_t all = (int64_t)files->n;
    PMPI_Allreduce(MPI_IN_PLACE, &ranks_seen, 1, MPI_INT64_T, MPI_MAX, of->job->comm);
    PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, of->job->comm);
    share->n_ranks = ranks ? ranks : (uint32_t)ranks_seen;
    of->n = all < share->n_ranks ? (uint32_t)all + 1 : share->n_ranks;
    if (of->job->process == 0 && ranks_seen == 0)
        of->job->error = rfn_fail(&of->job->diag, RFN_E_NOTFOUND, -1, -1,
                                  "no process finds time-independent text of a rank in %.200s",
                                  folder);
    else if (of->job->process == 0 && ranks_seen > share->n_ranks)
        of->job->error = rfn_fail(&of->job->diag, RFN_E_CORRUPT, -1, -1,
                                  "there is text of rank %" PRId64 ", but --ranks=%" PRIu32
                                  " means ranks 0 to %" PRIu32,
                                  ranks_seen - 1, ranks, ranks - 1);
    return ranks_seen > 0 && ranks_seen <= share->n_ranks;
}

void gth_share(struct gth_job *job, const struct gth_files *files, const char *folder,
               uint32_t ranks, struct gth_share *share)
{
    struct sharing of = {.job = job, .files = files};
    int enough;
    *share = (struct gth_share){0};
    if (!count(&of, folder, ranks, share))
        return;
    enough = make_room(&of);
    if (!enough)
        fail(&of, RFN_E_NOMEM, rfn_error_text(RFN_E_NOMEM));
    PMPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, job->comm);
    if (enough) {
        look(&of);
        if (!is_missing(&of) && !is_contradicted(&of))
            take(&of, share);
    }
    release(&of);
}

void gth_share_release(struct gth_share *share)
{
    free(share->paths);
}
