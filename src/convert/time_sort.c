#define _POSIX_C_SOURCE 200809L /* pread, pwrite */

#include "convert/time_sort.h"

#include "archive/temp_file.h"
#include "base/grow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_AHEAD = 512 /* records of a run */ };

/* Sorted records: in the file, some of them read ahead; or all in memory. */
struct run {
    uint64_t offset;  /* in the file, of those not yet read */
    uint64_t left;    /* of these */
    uint8_t *records; /* read ahead */
    size_t at, n;
};

struct rfn_time_sort {
    size_t size, memory;
    uint8_t *records;
    size_t n;
    uint64_t added, end; /* end: of the file */
    int file;            /* -1: not needed so far */
    struct run *runs;
    size_t n_runs, runs_capacity;
    struct run **heap; /* of runs that have records, by the first of them */
    size_t n_heap;
    bool reads;
};

struct rfn_time_sort *rfn_time_sort_new(size_t size, size_t memory)
{
    struct rfn_time_sort *sort = calloc(1, sizeof *sort);
    if (!sort)
        return NULL;
    *sort = (struct rfn_time_sort){.size = size, .memory = memory, .file = -1};
    sort->records = malloc(size * memory);
    if (sort->records)
        return sort;
    free(sort);
    return NULL;
}

void rfn_time_sort_free(struct rfn_time_sort *sort)
{
    if (!sort)
        return;
    for (size_t i = 0; i < sort->n_runs; i++) {
        if (sort->runs[i].records != sort->records)
            free(sort->runs[i].records);
    }
    free(sort->runs);
    free(sort->heap);
    free(sort->records);
    if (sort->file >= 0)
        close(sort->file);
    free(sort);
}

uint64_t rfn_time_sort_records(const struct rfn_time_sort *sort)
{
    return sort->added;
}

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

static int compare(const void *a, const void *b)
{
    const struct rfn_timed *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* ---- the file ---- */

static int file_error(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_IO, -1, -1,
                    "cannot write a temporary file: %s; name a folder with room in TMPDIR",
                    strerror(errno));
}

static int write_all(const struct rfn_time_sort *sort, uint64_t offset, struct rfn_diag *diag)
{
    const size_t bytes = sort->n * sort->size;
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pwrite(sort->file, sort->records + done, bytes - done,
                                 (off_t)(offset + done));
        if (n < 0 && errno != EINTR)
            return file_error(diag);
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int read_all(int file, uint8_t *to, size_t bytes, uint64_t offset, struct rfn_diag *diag)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pread(file, to + done, bytes - done, (off_t)(offset + done));
        if (n == 0 || (n < 0 && errno != EINTR))
            return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot read a temporary file: %s",
                            n ? strerror(errno) : "it has been cut");
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int spill(struct rfn_time_sort *sort, struct rfn_diag *diag)
{
    if (sort->file < 0 && (sort->file = rfn_temp_file_file()) < 0)
        return file_error(diag);
    if (RFN_GROW(sort->runs, sort->runs_capacity, sort->n_runs + 1) < 0)
        return no_memory(diag);
    qsort(sort->records, sort->n, sort->size, compare);
    RFN_TRY(write_all(sort, sort->end, diag));
    sort->runs[sort->n_runs++] = (struct run){.offset = sort->end, .left = sort->n};
    sort->end += sort->n * sort->size;
    sort->n = 0;
    return 0;
}

int rfn_time_sort_add(struct rfn_time_sort *sort, const void *record, struct rfn_diag *diag)
{
    if (sort->n == sort->memory)
        RFN_TRY(spill(sort, diag));
    uint8_t *to = sort->records + sort->n++ * sort->size;
    memcpy(to, record, sort->size);
    ((struct rfn_timed *)(void *)to)->order = sort->added++;
    return 0;
}

/* ---- the runs ---- */

static const uint8_t *first_of(const struct rfn_time_sort *sort, const struct run *run)
{
    return run->records + run->at * sort->size;
}

static bool comes_first(const struct rfn_time_sort *sort, size_t i, size_t k)
{
    return compare(first_of(sort, sort->heap[i]), first_of(sort, sort->heap[k])) < 0;
}

/* The run at place i may be too high up. */
static void sink(struct rfn_time_sort *sort, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < sort->n_heap; k++) {
            if (comes_first(sort, k, least))
                least = k;
        }
        if (least == i)
            return;
        struct run *run = sort->heap[i];
        sort->heap[i] = sort->heap[least];
        sort->heap[least] = run;
        i = least;
    }
}

/* 1: the run has records at hand; 0: it is at its end. */
static int read_ahead(struct rfn_time_sort *sort, struct run *run, struct rfn_diag *diag)
{
    const size_t n = run->left < READ_AHEAD ? (size_t)run->left : READ_AHEAD;
    if (run->at < run->n)
        return 1;
    if (!n)
        return 0;
    if (!run->records && !(run->records = malloc(READ_AHEAD * sort->size)))
        return no_memory(diag);
    RFN_TRY(read_all(sort->file, run->records, n * sort->size, run->offset, diag));
    run->offset += n * sort->size;
    run->left -= n;
    run->at = 0;
    run->n = n;
    return 1;
}

/* The records in memory become the last run. */
static int begin_reading(struct rfn_time_sort *sort, struct rfn_diag *diag)
{
    sort->reads = true;
    qsort(sort->records, sort->n, sort->size, compare);
    if (RFN_GROW(sort->runs, sort->runs_capacity, sort->n_runs + 1) < 0)
        return no_memory(diag);
    sort->runs[sort->n_runs++] = (struct run){.records = sort->records, .n = sort->n};
    sort->heap = calloc(sort->n_runs, sizeof(struct run *));
    if (!sort->heap)
        return no_memory(diag);
    for (size_t i = 0; i < sort->n_runs; i++) {
        const int more = read_ahead(sort, &sort->runs[i], diag);
        RFN_TRY(more);
        if (more)
            sort->heap[sort->n_heap++] = &sort->runs[i];
    }
    for (size_t i = sort->n_heap; i-- > 0;)
        sink(sort, i);
    return 0;
}

int rfn_time_sort_next(struct rfn_time_sort *sort, const void **record, struct rfn_diag *diag)
{
    if (!sort->reads) {
        RFN_TRY(begin_reading(sort, diag));
    } else if (sort->n_heap) {
        struct run *run = sort->heap[0];
        run->at++;
        const int more = read_ahead(sort, run, diag);
        RFN_TRY(more);
        if (!more)
            sort->heap[0] = sort->heap[--sort->n_heap];
        sink(sort, 0);
    }
    if (!sort->n_heap)
        return 0;
    *record = first_of(sort, sort->heap[0]);
    return 1;
}
