/* How files of running processes become jobs, and rows (reduce/samples/live_segment.h).
 *
 * A file does not say which job it is of: processes of the same name are one job. Where two of them
 * are the same rank there are several jobs of that name, and those that one launcher has started
 * are one.
 */
#define _GNU_SOURCE /* pread, openat's flags */
#include "refrain/live.h"

#include "base/grow.h"
#include "reduce/samples/live_segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* How often something is read again that was changed meanwhile. */
enum { TRIES = 16 };

/* ---- one process ---- */

/* The strategy in use, from a file whose header has been read. */
static void read_strategy(int fd, const struct rfn_live_header *header, char text[RFN_SAMPLE_TEXT])
{
    struct rfn_live_text found = header->in_use;
    for (int i = 0; i < TRIES; i++) {
        const uint32_t before = found.generation;
        if (pread(fd, &found, sizeof found, offsetof(struct rfn_live_header, in_use)) !=
            (ssize_t)sizeof found)
            break;
        if (before == found.generation && before % 2 == 0)
            break;
    }
    uint32_t none = 0;
    if (!rfn_live_text_read(&found, &none, text))
        text[0] = 0;
}

static struct rfn_live_process process_of(int fd, const struct rfn_live_header *header)
{
    struct rfn_live_process process = {.pid = header->pid,
                                       .parent = header->parent,
                                       .rank = header->rank,
                                       .ranks = header->ranks,
                                       .run = header->run,
                                       .start_ns = header->start_ns,
                                       .messages = header->messages,
                                       .bytes = header->bytes,
                                       .sampled = header->sampled,
                                       .ended = header->ended};
    memcpy(process.job, header->job, sizeof process.job);
    memcpy(process.program, header->program, sizeof process.program);
    memcpy(process.host, header->host, sizeof process.host);
    read_strategy(fd, header, process.strategy);
    return process;
}

static void note_unreadable(struct rfn_live_list *list, const struct rfn_diag *diag)
{
    if (list->n_unreadable++ == 0)
        list->why = *diag;
}

/* Adds what a file tells to the list, or removes the file. Length: what the list has room for. */
static int take_file(struct rfn_live_list *list, size_t *capacity, const char *place, int folder,
                     const char *name)
{
    struct rfn_live_header header;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_live_sweep(folder, name))
        return 0;
    const int fd = rfn_live_open_file(folder, name, O_RDONLY, &header, &diag);
    if (fd < 0 && fd != RFN_E_NOTFOUND)
        note_unreadable(list, &diag);
    if (fd < 0)
        return 0;
    int error = 0;
    if (rfn_live_is_near(&header) &&
        (error = RFN_GROW(list->processes, *capacity, list->n + 1)) == 0) {
        struct rfn_live_process *process = &list->processes[list->n++];
        *process = process_of(fd, &header);
        snprintf(process->file, sizeof process->file, "%s/refrain-%u/%s", place,
                 (unsigned)geteuid(), name);
    }
    close(fd);
    return error;
}

static int take_folder(struct rfn_live_list *list, size_t *capacity, const char *place)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = 0;
    const int folder = rfn_live_open_folder(place, false, &diag);
    if (folder < 0 && folder != RFN_E_NOTFOUND)
        note_unreadable(list, &diag);
    if (folder < 0)
        return 0;
    DIR *entries = fdopendir(folder);
    if (!entries) {
        close(folder);
        return RFN_E_NOMEM;
    }
    for (const struct dirent *entry; error == 0 && (entry = readdir(entries));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            error = take_file(list, capacity, place, folder, entry->d_name);
    }
    closedir(entries);
    return error;
}

/* ---- jobs ---- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int by_rank(const void *a, const void *b)
{
    const struct rfn_live_process *x = a, *y = b;
    const int job = strcmp(x->job, y->job), run = COMPARE(x->run, y->run);
    const int rank = COMPARE(x->rank, y->rank);
    return job ? job : run ? run : rank ? rank : COMPARE(x->pid, y->pid);
}

static int by_parent(const void *a, const void *b)
{
    const struct rfn_live_process *x = a, *y = b;
    const int parent = COMPARE(x->parent, y->parent);
    return parent ? parent : by_rank(a, b);
}

static bool has_rank_twice(const struct rfn_live_process *processes, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (processes[i].rank == processes[i - 1].rank)
            return true;
    }
    return false;
}

/* Numbers the jobs of n processes of the same name and run, from `number` on; returns the next
 * number. */
static uint32_t number_jobs(struct rfn_live_process *processes, size_t n, uint32_t number)
{
    const bool several = !processes->run && has_rank_twice(processes, n);
    if (several)
        qsort(processes, n, sizeof *processes, by_parent);
    for (size_t i = 0; i < n; i++) {
        const bool other = several && i > 0 &&
                           (processes[i].parent != processes[i - 1].parent ||
                            processes[i].ranks == 1 || processes[i - 1].ranks == 1);
        number += other;
        processes[i].job_number = number;
    }
    return number + 1;
}

static void find_jobs(struct rfn_live_list *list)
{
    struct rfn_live_process *all = list->processes;
    uint32_t number = 0;
    if (list->n)
        qsort(all, list->n, sizeof *all, by_rank);
    for (size_t i = 0, n; i < list->n; i += n) {
        for (n = 1; i + n < list->n && strcmp(all[i].job, all[i + n].job) == 0 &&
                    all[i].run == all[i + n].run;
             n++)
            continue;
        number = number_jobs(all + i, n, number);
    }
}

int rfn_live_list(struct rfn_live_list *list)
{
    const char *places[RFN_LIVE_PLACES];
    const unsigned n = rfn_live_places(places);
    size_t capacity = 0;
    *list = (struct rfn_live_list){0};
    for (unsigned i = 0; i < n; i++)
        RFN_TRY(take_folder(list, &capacity, places[i]));
    find_jobs(list);
    return 0;
}

void rfn_live_list_release(struct rfn_live_list *list)
{
    free(list->processes);
    *list = (struct rfn_live_list){0};
}

/* ---- what a process has sampled ---- */

/* Opens the file of a process again: a descriptor, and its header. */
static int open_again(const struct rfn_live_process *process, int flags,
                      struct rfn_live_header *header, struct rfn_diag *diag)
{
    char place[RFN_LIVE_FILE];
    memcpy(place, process->file, sizeof place);
    char *name = strrchr(place, '/');
    *name = 0;
    *strrchr(place, '/') = 0; /* the folder, whose name is known */
    const int folder = rfn_live_open_folder(place, false, diag);
    if (folder < 0)
        return folder;
    const int fd = rfn_live_open_file(folder, name + 1, flags, header, diag);
    close(folder);
    if (fd < 0 || (header->pid == process->pid && header->start_ns == process->start_ns))
        return fd;
    close(fd);
    return rfn_fail(diag, RFN_E_NOTFOUND, -1, -1, "process %u of %s has ended", process->pid,
                    process->job);
}

/* An open file of a process; name: for messages. */
struct source {
    int fd;
    const char *name;
    const struct rfn_live_header *header;
};

static int read_all(const struct source *source, void *to, size_t size, uint64_t offset,
                    struct rfn_diag *diag)
{
    const ssize_t n = pread(source->fd, to, size, (off_t)offset);
    if (n == (ssize_t)size)
        return 0;
    return n < 0 ? rfn_fail(diag, RFN_E_IO, (int64_t)offset, -1, "cannot read %s: %s", source->name,
                            strerror(errno))
                 : rfn_fail(diag, RFN_E_CORRUPT, (int64_t)offset, -1, "%s was cut short",
                            source->name);
}

static uint64_t table_at(const struct source *source)
{
    return sizeof(struct rfn_live_header) + source->header->counts_bytes;
}

static bool is_number(double value)
{
    return value > -1e30 && value < 1e30;
}

static bool is_sum(double value)
{
    return value >= 0 && value < 1e30;
}

/* Whether a row has what a recorder may have written: sums of it stay numbers. */
static bool is_sane(const struct rfn_sample_row *row)
{
    bool sane = row->key.source >= RFN_SAMPLE_ANY && row->key.dest >= RFN_SAMPLE_COLLECTIVE &&
                row->n < UINT64_C(1) << 53;
    if (row->n)
        sane = sane && is_sum(row->weight) && is_sum(row->weight2) && row->weight > 0 &&
               row->weight2 > 0 && is_sum(row->sampled_bytes) && is_number(row->mean_ns) &&
               is_sum(row->moment2) && is_number(row->min_ns) && is_number(row->max_ns) &&
               is_sum(row->waited_ns) && is_sum(row->lay_ns);
    if (row->n && row->clean)
        sane = sane && is_number(row->clean_min_ns) && is_number(row->clean_sum_ns);
    for (size_t i = 0; row->n && sane && i < RFN_SAMPLE_BUCKETS; i++)
        sane = is_sum(row->buckets[i]);
    return sane;
}

/* Copies rows into memory that holds zeros; what is no row is left out. A row without samples has
 * no histogram. */
static int copy_rows(const struct source *source, size_t n, struct rfn_live_rows *rows,
                     struct rfn_diag *diag)
{
    const size_t head = offsetof(struct rfn_sample_row, buckets);
    const uint64_t first = table_at(source) + rfn_sample_table_offset(source->header->capacity);
    rows->n = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = first + i * sizeof(struct rfn_sample_row);
        struct rfn_sample_row *row = &rows->rows[rows->n];
        RFN_TRY(read_all(source, row, head, at, diag));
        if (row->n)
            RFN_TRY(read_all(source, row->buckets, sizeof row->buckets, at + head, diag));
        if (is_sane(row))
            rows->n++;
        else
            memset(row, 0, sizeof *row);
    }
    return 0;
}

/* Rows do not move, and those that are new are behind the others. */
static int read_counts(const struct source *source, struct rfn_live_rows *rows,
                       struct rfn_diag *diag)
{
    const uint64_t at = sizeof(struct rfn_live_header);
    const size_t most = source->header->pairs + (size_t)RFN_SAMPLE_COUNTS_ANY;
    struct rfn_sample_counts counts;
    RFN_TRY(read_all(source, &counts, sizeof counts, at, diag));
    const size_t n = counts.n < most ? counts.n : most;
    rows->counts = malloc((n + 1) * sizeof *rows->counts);
    if (!rows->counts)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory for %zu pairs of ranks", n);
    rows->n_counts = n;
    return read_all(source, rows->counts, n * sizeof *rows->counts,
                    at + rfn_sample_counts_offset(source->header->pairs), diag);
}

static int read_rows(const struct source *source, struct rfn_live_rows *rows, struct rfn_diag *diag)
{
    const uint64_t at = table_at(source);
    const uint32_t capacity = source->header->capacity;
    struct rfn_sample_table table, after;
    bool moved = true;
    for (int i = 0; i < TRIES && moved; i++) {
        if (i > 0) /* longer each time: its writer may have to wait for a core */
            nanosleep(&(struct timespec){.tv_nsec = 1000000L << (i < 7 ? i : 7)}, NULL);
        RFN_TRY(read_all(source, &table, sizeof table, at, diag));
        const size_t n = table.n_rows < capacity ? table.n_rows : capacity;
        free(rows->rows);
        rows->rows = calloc(n + 1, sizeof *rows->rows);
        if (!rows->rows)
            return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory for %zu rows of samples", n);
        RFN_TRY(copy_rows(source, n, rows, diag));
        RFN_TRY(read_all(source, &after, sizeof after, at, diag));
        moved = after.generation != table.generation || after.generation % 2 != 0;
    }
    memcpy(rows->dropped, after.dropped, sizeof rows->dropped);
    return 0;
}

int rfn_live_rows_read(const struct rfn_live_process *process, struct rfn_live_rows *rows,
                       struct rfn_diag *diag)
{
    struct rfn_live_header header;
    *rows = (struct rfn_live_rows){0};
    const int fd = open_again(process, O_RDONLY, &header, diag);
    if (fd < 0)
        return fd;
    const struct source source = {fd, process->file, &header};
    int error = read_counts(&source, rows, diag); /* first: they are written last */
    if (error == 0)
        error = read_rows(&source, rows, diag);
    close(fd);
    return error;
}

void rfn_live_rows_release(struct rfn_live_rows *rows)
{
    free(rows->rows);
    free(rows->counts);
    *rows = (struct rfn_live_rows){0};
}

/* ---- wishes ---- */

int rfn_live_wish(const struct rfn_live_process *process,
                  const struct rfn_sample_strategy *strategy, struct rfn_diag *diag)
{
    struct rfn_live_header header, *shared = MAP_FAILED;
    char text[RFN_SAMPLE_TEXT];
    rfn_sample_strategy_text(strategy, text);
    const int fd = open_again(process, O_RDWR, &header, diag);
    if (fd < 0)
        return fd;
    /* Against others who ask; the process itself holds the other kind of lock, that of flock. */
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int error = 0;
    if (header.ended)
        error = rfn_fail(diag, RFN_E_NOTFOUND, -1, -1, "process %u of %s has ended", process->pid,
                         process->job);
    else if (fcntl(fd, F_SETLKW, &whole) < 0 ||
             (shared = mmap(NULL, sizeof header, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) ==
                 MAP_FAILED)
        error = rfn_fail(diag, RFN_E_IO, -1, -1, "cannot write to %s: %s", process->file,
                         strerror(errno));
    else
        rfn_live_text_write(&shared->wish, text);
    if (shared != MAP_FAILED)
        munmap(shared, sizeof header);
    close(fd);
    return error;
}
