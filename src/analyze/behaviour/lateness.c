#include "analyze/behaviour/lateness.h"

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
    double enter;       /* ns, since the segment began */
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
                                      .enter = (double)times[1],
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

/* Marks who is late in a column, and who waits. */
static void mark_late(const struct table *table, struct rfn_alike_ranks *ranks, size_t column,
                      bool known)
{
    double shortest = 0, longest = 0;
    range_of(table, column, &shortest, &longest);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct part *part = part_of(table, i, column);
        bool shortly = part->there && part->inside <= shortest + late_part * (longest - shortest);
        ranks[i].late = known ? ranks[i].blamed : shortly;
        ranks[i].waits = part->there && !shortly;
    }
}

/* Of what ranks take it is told how long they are in a call, how long in front of it, or how long
 * from the beginning of the segment to it. */
enum time { IN_FRONT, INSIDE, SINCE_BEGIN, TIMES };

static double time_of(const struct part *part, enum time time)
{
    return time == INSIDE ? part->inside : time == IN_FRONT ? part->gap : part->enter;
}

/* The mean of those that are late, or of those that wait; without any 0. */
static double mean_of(const struct table *table, const struct rfn_alike_ranks *ranks, size_t column,
                      enum time time, bool late)
{
    struct mean mean = {0};
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct part *part = part_of(table, i, column);
        if (part->there && (late ? ranks[i].late : ranks[i].waits))
            add(&mean, time_of(part, time), ranks[i].count);
    }
    return value_of(&mean);
}

/* How long those that wait do so. */
static double wait_of(const struct table *table, const struct rfn_alike_ranks *ranks, size_t column)
{
    return mean_of(table, ranks, column, INSIDE, false) -
           mean_of(table, ranks, column, INSIDE, true);
}

/* Marks the late ones that take so much longer than those that wait: for something, or until they
 * are in the call. */
static bool find_reasons(const struct table *table, const struct rfn_alike_ranks *ranks,
                         size_t waited, double excess_ns, bool *reasons)
{
    bool any = false;
    for (size_t k = 0; k < TIMES * table->n_columns; k++) {
        const size_t column = k / TIMES;
        const enum time time = (enum time)(k % TIMES);
        if (time == SINCE_BEGIN && column != waited)
            continue;
        double enough = mean_of(table, ranks, column, time, false) + excess_ns;
        for (size_t i = 0; i < table->n_rows; i++) {
            const struct part *part = part_of(table, i, column);
            bool reason = ranks[i].late && part->there && time_of(part, time) >= enough;
            reasons[i] |= reason;
            any |= reason;
        }
    }
    return any;
}

/* Late ranks without a reason are not late if others have one. */
static int leave_reasons(const struct table *table, struct rfn_alike_ranks *ranks, size_t waited)
{
    double enough = cause_part * wait_of(table, ranks, waited);
    bool *reasons = calloc(table->n_rows, sizeof *reasons);
    if (!reasons)
        return RFN_E_NOMEM;
    if (find_reasons(table, ranks, waited, enough, reasons)) {
        for (size_t i = 0; i < table->n_rows; i++)
            ranks[i].late &= reasons[i];
    }
    free(reasons);
    return 0;
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

/* Where it is known who is late, ranks that were themselves kept waiting in a call are not, and so
 * no call is a cause. */
static void find_cause(const struct table *table, const struct rfn_alike_ranks *ranks, bool known,
                       struct rfn_lateness *lateness)
{
    for (size_t i = 0; i < 2 * table->n_columns; i++) {
        size_t column = i / 2;
        enum time time = i % 2 ? INSIDE : IN_FRONT;
        /* A call that none of those that wait makes is compared with none. */
        double excess = mean_of(table, ranks, column, time, true) -
                        mean_of(table, ranks, column, time, false);
        if (excess <= lateness->excess_ns || (known && time == INSIDE))
            continue;
        lateness->excess_ns = excess;
        lateness->in_call = i % 2;
        lateness->at = table->sites[column];
        lateness->before = before_of(table, ranks, column);
    }
    lateness->has_cause = lateness->excess_ns >= cause_part * lateness->wait_ns;
}

static int find(const struct table *table, struct rfn_alike_ranks *ranks, double least, bool known,
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
    mark_late(table, ranks, column, known);
    if (!known)
        RFN_TRY(leave_reasons(table, ranks, column));
    lateness->wait_ns = wait_of(table, ranks, column);
    find_cause(table, ranks, known, lateness);
    return 0;
}

int rfn_lateness_find(struct rfn_alike_ranks *ranks, size_t n, double least, bool known,
                      struct rfn_lateness *lateness)
{
    struct table table = {.columns = RFN_MAP_INIT};
    *lateness = (struct rfn_lateness){0};
    for (size_t i = 0; i < n; i++)
        ranks[i].late = ranks[i].waits = false;
    int error = fill(&table, ranks, n);
    if (!error)
        error = find(&table, ranks, least, known, lateness);
    release(&table);
    return error;
}
