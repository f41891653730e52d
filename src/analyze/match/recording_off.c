#include "analyze/match/recording_off.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* A switch: on at `on`, or off. */
struct change {
    int64_t ns;
    bool on;
};

struct changes {
    struct change *items;
    size_t n, capacity;
};

bool rfn_switches_recording(const struct rfn_archive *archive, uint32_t function)
{
    const struct rfn_function_info *info = rfn_archive_function(archive, function);
    return info->n_in > 0 && (strcmp(info->name, "MPI_Pcontrol") == 0 ||
                              strcmp(info->name, "refrain_recording") == 0);
}

bool rfn_off_times_possible(const struct rfn_archive *archive)
{
    bool possible = rfn_archive_run(archive)->start_off;
    for (uint32_t i = 0; i < rfn_archive_functions(archive) && !possible; i++)
        possible = rfn_switches_recording(archive, i);
    return possible;
}

static int take_event(struct changes *changes, const struct rfn_archive *archive,
                      const struct rfn_record *record)
{
    if (!rfn_switches_recording(archive, record->function) ||
        (record->in[0] != 0 && record->in[0] != 1))
        return 0;
    RFN_TRY(RFN_GROW(changes->items, changes->capacity, changes->n + 1));
    bool on = record->in[0] == 1;
    changes->items[changes->n++] = (struct change){on ? record->enter_ns : record->exit_ns, on};
    return 0;
}

/* Damage ends a stream; it is told by whoever reads it for its events. */
static int read_stream(struct changes *changes, const struct rfn_archive *archive, uint32_t stream)
{
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    int error = rfn_cursor_open(archive, stream, &cursor, NULL);
    if (error < 0)
        return error == RFN_E_NOMEM ? error : 0;
    while ((error = rfn_cursor_next(cursor, &record, NULL)) > 0) {
        error = take_event(changes, archive, record);
        if (error < 0)
            break;
    }
    rfn_cursor_close(cursor);
    return error == RFN_E_NOMEM ? error : 0;
}

static int by_time(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return (int)a->on - (int)b->on;
}

static int add(struct rfn_off_times *pauses, int64_t from, int64_t to)
{
    RFN_TRY(RFN_GROW(pauses->items, pauses->capacity, pauses->n + 1));
    pauses->items[pauses->n++] = (struct rfn_off_time){from, to};
    return 0;
}

static int join(struct rfn_off_times *pauses, const struct changes *changes, bool start_off)
{
    bool on = !start_off;
    int64_t since = INT64_MIN;
    for (size_t i = 0; i < changes->n; i++) {
        const struct change *change = &changes->items[i];
        if (change->on && !on)
            RFN_TRY(add(pauses, since, change->ns));
        if (!change->on && on)
            since = change->ns;
        on = change->on;
    }
    return on ? 0 : add(pauses, since, INT64_MAX);
}

int rfn_off_times_find(struct rfn_off_times *pauses, const struct rfn_archive *archive,
                       uint32_t first, uint32_t end)
{
    struct changes changes = {0};
    int error = 0;
    pauses->n = 0;
    for (uint32_t i = first; i < end && !error; i++)
        error = read_stream(&changes, archive, i);
    if (changes.n)
        qsort(changes.items, changes.n, sizeof *changes.items, by_time);
    if (!error)
        error = join(pauses, &changes, rfn_archive_run(archive)->start_off);
    free(changes.items);
    return error;
}

int rfn_off_times_of(struct rfn_off_times *pauses, const struct rfn_archive *archive,
                     uint32_t stream)
{
    const uint32_t n = rfn_archive_run(archive)->streams;
    const uint32_t rank = rfn_archive_stream(archive, stream).rank;
    uint32_t first = stream, end = stream + 1;
    pauses->n = 0;
    if (!rfn_off_times_possible(archive))
        return 0;
    while (first > 0 && rfn_archive_stream(archive, first - 1).rank == rank)
        first--;
    while (end < n && rfn_archive_stream(archive, end).rank == rank)
        end++;
    return rfn_off_times_find(pauses, archive, first, end);
}

int rfn_off_times_by_rank(const struct rfn_archive *archive, struct rfn_off_times **by_rank)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    *by_rank = NULL;
    if (!rfn_off_times_possible(archive))
        return 0;
    *by_rank = calloc((size_t)run->ranks + 1, sizeof **by_rank);
    if (!*by_rank)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < run->streams; i++) {
        const uint32_t rank = rfn_archive_stream(archive, i).rank;
        const bool first = i == 0 || rfn_archive_stream(archive, i - 1).rank != rank;
        if (first && rank < run->ranks)
            RFN_TRY(rfn_off_times_of(&(*by_rank)[rank], archive, i));
    }
    return 0;
}

void rfn_off_times_by_rank_free(const struct rfn_archive *archive, struct rfn_off_times *by_rank)
{
    for (uint32_t i = 0; by_rank && i < rfn_archive_run(archive)->ranks; i++)
        rfn_off_times_release(&by_rank[i]);
    free(by_rank);
}

int64_t rfn_off_times_overlap(const struct rfn_off_times *pauses, size_t *at, int64_t from_ns,
                              int64_t to_ns)
{
    int64_t sum = 0;
    while (*at < pauses->n && pauses->items[*at].to_ns <= from_ns)
        ++*at;
    for (size_t i = *at; i < pauses->n && pauses->items[i].from_ns < to_ns; i++) {
        const struct rfn_off_time *pause = &pauses->items[i];
        int64_t from = pause->from_ns > from_ns ? pause->from_ns : from_ns;
        int64_t to = pause->to_ns < to_ns ? pause->to_ns : to_ns;
        sum += to > from ? to - from : 0;
    }
    return sum;
}

void rfn_off_times_release(struct rfn_off_times *pauses)
{
    free(pauses->items);
    *pauses = (struct rfn_off_times){0};
}
