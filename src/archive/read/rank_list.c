/* Groups of processes as runs with a stride. The world rank of a member is found by bisection over
 * the runs' places. The other direction bisects over the runs in order of their lowest world rank;
 * runs with a stride may interleave, so from there it goes back as long as an earlier run reaches
 * as high as the rank that is wanted. */
#include "archive/read/dictionary.h"
#include "base/search.h"

#include <inttypes.h>
#include <stdlib.h>

static bool foreign(const struct rfn_rank_run *run)
{
    return run->first == RFN_RANK_FOREIGN;
}

/* The lowest or highest rank of a run: that of its first member or of its last. */
static uint32_t end_of(const struct rfn_rank_run *run, bool highest)
{
    bool last = run->stride < 0 ? !highest : highest;
    return last ? (uint32_t)(run->first + (int64_t)(run->count - 1) * run->stride) : run->first;
}

/* Both ends are ranks of the world, and no rank comes twice within the run. */
static bool run_is_sound(const struct rfn_rank_run *run, uint32_t n_ranks)
{
    if (foreign(run))
        return run->stride == 0;
    if (run->first >= n_ranks || run->stride <= -(int64_t)UINT32_MAX ||
        run->stride >= (int64_t)UINT32_MAX || (run->stride == 0 && run->count > 1))
        return false;
    int64_t room = run->stride < 0 ? run->first : (int64_t)(n_ranks - 1 - run->first);
    int64_t step = run->stride < 0 ? -run->stride : run->stride;
    return step == 0 || run->count - 1 <= room / step;
}

static int compare_keys(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Keys: the lowest rank of a run, then its number. */
static const char *index_runs(struct rfn_rank_list *list, struct rfn_arena *arena)
{
    size_t n = list->n_runs;
    uint32_t highest = 0;
    list->by_rank = rfn_arena_alloc(arena, (n + 1) * sizeof *list->by_rank);
    list->highest = rfn_arena_alloc(arena, (n + 1) * sizeof *list->highest);
    uint64_t *keys = malloc((n + 1) * sizeof *keys);
    if (!list->by_rank || !list->highest || !keys) {
        free(keys);
        return rfn_out_of_memory;
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint64_t)end_of(&list->runs[i], false) << 32 | i;
    qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < n; i++) {
        list->by_rank[i] = (uint32_t)keys[i];
        const struct rfn_rank_run *run = &list->runs[list->by_rank[i]];
        if (!foreign(run) && end_of(run, true) > highest)
            highest = end_of(run, true);
        list->highest[i] = highest;
    }
    free(keys);
    return NULL;
}

const char *rfn_rank_list_read(struct rfn_rank_list *list, struct rfn_reader *reader,
                               uint32_t n_ranks, struct rfn_arena *arena)
{
    list->size = (uint32_t)rfn_reader_limited(reader, UINT32_MAX);
    list->n_runs = (uint32_t)rfn_reader_limited(reader, list->size);
    if (reader->failed || list->n_runs > rfn_reader_left(reader))
        return "the members of a communicator are malformed";
    list->runs = rfn_arena_alloc(arena, (list->n_runs + (size_t)1) * sizeof *list->runs);
    if (!list->runs)
        return rfn_out_of_memory;
    uint32_t at = 0;
    for (uint32_t i = 0; i < list->n_runs; i++) {
        struct rfn_rank_run *run = &list->runs[i];
        run->at = at;
        run->first = (uint32_t)rfn_reader_limited(reader, UINT32_MAX);
        run->count = (uint32_t)rfn_reader_limited(reader, list->size - at);
        run->stride = rfn_reader_svarint(reader);
        if (reader->failed || run->count == 0 || !run_is_sound(run, n_ranks))
            return "the members of a communicator are malformed";
        at += run->count;
    }
    return index_runs(list, arena);
}

int64_t rfn_rank_list_world(const struct rfn_rank_list *list, uint32_t rank)
{
    if (list->n_runs == 0)
        return -1;
    size_t at = rfn_last_at_most(list->runs, sizeof *list->runs, list->n_runs, rank);
    const struct rfn_rank_run *run = &list->runs[at];
    if (foreign(run) || rank - run->at >= run->count)
        return -1;
    return run->first + (int64_t)(rank - run->at) * run->stride;
}

/* The place of world_rank in the run, or -1. */
static int64_t find_in_run(const struct rfn_rank_run *run, uint32_t world_rank)
{
    int64_t distance = (int64_t)world_rank - (int64_t)run->first;
    if (foreign(run))
        return -1;
    if (run->stride == 0)
        return distance == 0 ? (int64_t)run->at : -1;
    if (distance % run->stride != 0)
        return -1;
    int64_t place = distance / run->stride;
    return place >= 0 && place < run->count ? run->at + place : -1;
}

int64_t rfn_rank_list_find(const struct rfn_rank_list *list, uint32_t world_rank)
{
    uint32_t low = 0, high = list->n_runs;
    while (low < high) { /* the first run that lies above world_rank as a whole */
        uint32_t middle = low + (high - low) / 2;
        if (end_of(&list->runs[list->by_rank[middle]], false) <= world_rank)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0 && list->highest[low] >= world_rank) {
        int64_t rank = find_in_run(&list->runs[list->by_rank[low]], world_rank);
        if (rank >= 0)
            return rank;
    }
    return -1;
}
