#include "analyze/lateness.h"

#include "base/map.h"

#include <stdlib.h>

/* Who is in a call for no more than this part of the longest wait is not waiting for others. */
static const double late_part = 0.25;
/* What takes late ranks longer explains their being late if it is at least this part of the wait.
 */
static const double cause_part = 0.25;

/* What a segment has of a call that any of the segments has. */
struct part {
    double gap, inside; /* ns */
    uint32_t before;    /* site of the call before */
    bool there;
};

/* Calls that are compared with each other: a column, with a row per segment. */
struct table {
    struct rfn_map columns; /* site and occurrence -> column */
    uint32_t *sites;        /* per column */
    struct part *parts;     /* row * n_columns + column */
    size_t n_columns, n_rows;
};

static uint64_t key_of(uint32_t site, uint64_t occurrence)
{
    return (uint64_t)site << 32 | (uint32_t)occurrence;
}

/* Which occurrence of its site a call is, counted in `counts`; negative: RFN_E_NOMEM. */
static int64_t count(struct rfn_map *counts, uint32_t site)
{
    uint64_t *before = rfn_map_get(counts, site);
    if (before)
        return (int64_t)++ * before;
    RFN_TRY(rfn_map_put(counts, site, 0));
    return 0;
}

static int add_columns(struct table *table, const struct rfn_alike_ranks *ranks)
{
    struct rfn_map counts = RFN_MAP_INIT;
    int error = 0;
    for (size_t i = 0; i < ranks->n && !error; i++) {
        int64_t occurrence = count(&counts, ranks->sites[i]);
        uint64_t key = key_of(ranks->sites[i], (uint64_t)occurrence);
        if (occurrence < 0)
            error = RFN_E_NOMEM;
        else if (!rfn_map_get(&table->columns, key))
            error = rfn_map_put(&table->columns, key, table->n_columns++);
    }
    rfn_map_release(&counts);
    return error;
}

static int fill_row(struct table *table, const struct rfn_alike_ranks *ranks, size_t row)
{
    struct rfn_map counts = RFN_MAP_INIT;
    struct part *parts = table->parts + row * table->n_columns;
    int error = 0;
    for (size_t i = 0; i < ranks->n && !error; i++) {
        int64_t occurrence = count(&counts, ranks->sites[i]);
        if (occurrence < 0) {
            error = RFN_E_NOMEM;
            break;
        }
        const int64_t *times = ranks->vector + 2 * i;
        size_t column = *rfn_map_get(&table->columns,
                                     key_of(ranks->sites[i], (uint64_t)occurrence));
        table->sites[column] = ranks->sites[i];
        parts[column] = (struct part){.gap = (double)times[1] - (double)times[0],
                                      .inside = (double)times[2] - (double)times[1],
                                      .before = ranks->sites[(i ? i : ranks->n) - 1],
                                      .there = true};
    }
    rfn_map_release(&counts);
    return error;
}

static int fill(struct table *table, const struct rfn_alike_ranks *ranks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        RFN_TRY(add_columns(table, &ranks[i]));
    table->n_rows = n;
    table->sites = calloc(table->n_columns + 1, sizeof *table->sites);
    table->parts = calloc(n * table->n_columns + 1, sizeof *table->parts);
    if (!table->sites || !table->parts)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        RFN_TRY(fill_row(table, &ranks[i], i));
    return 0;
}

static void release(struct table *table)
{
    rfn_map_release(&table->columns);
    free(table->sites);
    free(table->parts);
}

static const struct part *part_of(const struct table *table, size_t row, size_t column)
{
    return &table->parts[row * table->n_columns + column];
}

/* The shortest and longest time in a call; false if no segment has it. */
static bool range_of(const struct table *table, size_t column, double *shortest, double *longest)
{
    bool any = false;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct part *part = part_of(table, i, column);
        if (!part->there)
            continue;
        if (!any || part->inside < *shortest)
            *shortest = part->inside;
        if (!any || part->inside > *longest)
            *longest = part->inside;
        any = true;
    }
    return any;
}

/* What all ranks together are in a call beyond the shortest time in it. */
static double waste_of(const struct table *table, const struct rfn_alike_ranks *ranks,
                       size_t column)
{
    double shortest, longest, sum = 0;
    if (!range_of(table, column, &shortest, &longest))
        return 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct part *part = part_of(table, i, column);
        sum += part->there ? (part->inside - shortest) * ranks[i].count : 0;
    }
    return sum;
}

/* A mean over ranks. */
struct mean {
    double sum, count;
};

static void add(struct mean *mean, double value, uint32_t count)
{
    mean->sum += value * count;
    mean->count += count;
}

static double value_of(const struct mean *mean)
{
    return mean->count > 0 ? mean->sum / mean->count : 0;
}

/* Marks who is late in a column, and says how long the others, who wait, do so. */
static double mark_late(const struct table *table, struct rfn_alike_ranks *ranks, size_t column)
{
    double shortest = 0, longest = 0;
    struct mean late = {0}, waiting = {0};
    range_of(table, column, &shortest, &longest);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct part *part = part_of(table, i, column);
        ranks[i].late = part->there && part->inside <= shortest + late_part * (longest - shortest);
        ranks[i].waits = !ranks[i].late;
        if (part->there)
            add(ranks[i].late ? &late : &waiting, part->inside, ranks[i].count);
    }
    return value_of(&waiting) - value_of(&late);
}

static double time_of(const struct part *part, bool in_call)
{
    return in_call ? part->inside : part->gap;
}

/* What those take that wait, in a call or in front of it. */
static double usual_of(const struct table *table, const struct rfn_alike_ranks *ranks,
                       size_t column, bool in_call)
{
    struct mean waiting = {0};
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct part *part = part_of(table, i, column);
        if (ranks[i].waits && part->there)
            add(&waiting, time_of(part, in_call), ranks[i].count);
    }
    return value_of(&waiting);
}

/* Marks the late ones whom something takes longer by so much. */
static bool find_reasons(const struct table *table, const struct rfn_alike_ranks *ranks,
                         double excess_ns, bool *reasons)
{
    bool any = false;
    for (size_t k = 0; k < 2 * table->n_columns; k++) {
        double enough = usual_of(table, ranks, k / 2, k % 2) + excess_ns;
        for (size_t i = 0; i < table->n_rows; i++) {
            const struct part *part = part_of(table, i, k / 2);
            bool reason = ranks[i].late && part->there && time_of(part, k % 2) >= enough;
            reasons[i] |= reason;
            any |= reason;
        }
    }
    return any;
}

/* Late ranks without a reason are not late if others have one. */
static int leave_reasons(const struct table *table, struct rfn_alike_ranks *ranks, double wait_ns)
{
    bool *reasons = calloc(table->n_rows, sizeof *reasons);
    if (!reasons)
        return RFN_E_NOMEM;
    if (find_reasons(table, ranks, cause_part * wait_ns, reasons)) {
        for (size_t i = 0; i < table->n_rows; i++)
            ranks[i].late &= reasons[i];
    }
    free(reasons);
    return 0;
}

/* By how much late ranks take longer than those that wait, in a call or in front of it. A call that
 * only the late ones make is compared with none. */
static double excess_of(const struct table *table, const struct rfn_alike_ranks *ranks,
                        size_t column, bool in_call)
{
    struct mean late = {0};
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct part *part = part_of(table, i, column);
        if (ranks[i].late && part->there)
            add(&late, time_of(part, in_call), ranks[i].count);
    }
    return late.count > 0 ? value_of(&late) - usual_of(table, ranks, column, in_call) : 0;
}

static uint32_t before_of(const struct table *table, const struct rfn_alike_ranks *ranks,
                          size_t column)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        if (ranks[i].late && part_of(table, i, column)->there)
            return part_of(table, i, column)->before;
    }
    return 0;
}

static void find_cause(const struct table *table, const struct rfn_alike_ranks *ranks,
                       struct rfn_lateness *lateness)
{
    for (size_t i = 0; i < 2 * table->n_columns; i++) {
        size_t column = i / 2;
        double excess = excess_of(table, ranks, column, i % 2);
        if (excess <= lateness->excess_ns)
            continue;
        lateness->excess_ns = excess;
        lateness->in_call = i % 2;
        lateness->at = table->sites[column];
        lateness->before = before_of(table, ranks, column);
    }
    lateness->has_cause = lateness->excess_ns >= cause_part * lateness->wait_ns;
}

static int find(const struct table *table, struct rfn_alike_ranks *ranks, double least,
                struct rfn_lateness *lateness)
{
    struct mean length = {0};
    double most = 0;
    size_t column = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        add(&length, (double)ranks[i].vector[2 * ranks[i].n + 1], ranks[i].count);
    for (size_t i = 0; i < table->n_columns; i++) {
        double waste = waste_of(table, ranks, i);
        if (waste <= most)
            continue;
        most = waste;
        column = i;
    }
    lateness->length_ns = value_of(&length);
    lateness->waiting = most > 0 && most >= least * length.sum;
    if (!lateness->waiting)
        return 0;
    lateness->waited = table->sites[column];
    lateness->wait_ns = mark_late(table, ranks, column);
    RFN_TRY(leave_reasons(table, ranks, lateness->wait_ns));
    find_cause(table, ranks, lateness);
    return 0;
}

int rfn_lateness_find(struct rfn_alike_ranks *ranks, size_t n, double least,
                      struct rfn_lateness *lateness)
{
    struct table table = {.columns = RFN_MAP_INIT};
    *lateness = (struct rfn_lateness){0};
    for (size_t i = 0; i < n; i++)
        ranks[i].late = ranks[i].waits = false;
    int error = fill(&table, ranks, n);
    if (!error)
        error = find(&table, ranks, least, lateness);
    release(&table);
    return error;
}
