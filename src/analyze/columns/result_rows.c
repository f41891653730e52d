/* result_rows.c - a run's profile and its waits as columns (refrain/columns.h). */
#include "analyze/columns/column_lists.h"
#include "base/order.h"
#include "refrain/waits.h"

#include <stdlib.h>

/* Calls of a function over all call paths. */
struct function_sum {
    uint32_t function;
    uint64_t paths, events, calls, bytes, sent_bytes, received_bytes;
    int64_t total_ns, waiting_ns, min_ns, max_ns;
};

struct rfn_result_rows {
    const struct rfn_archive *archive;
    struct rfn_profile *profile;
    struct rfn_waits *waits;
    struct function_sum *functions; /* most time first */
    size_t n_functions, n_waits_by_rank;
    int64_t *waiting_ns; /* by rank */
};

/* ---- columns: of row number `at` ---- */

#define PATH_COLUMNS(X)                                     \
    X(function, INT32, FUNCTIONS, row->function)            \
    X(path, INT32, PATHS, row->path)                        \
    X(ranks, INT32, NONE, row->time.ranks)                  \
    X(events, INT64, NONE, row->events)                     \
    X(calls, INT64, NONE, row->calls)                       \
    X(total_ns, INT64, NONE, row->time.total_ns)            \
    X(waiting_ns, INT64, NONE, row->waiting_ns)             \
    X(between_polls_ns, INT64, NONE, row->between_polls_ns) \
    X(shortest_ns, INT64, NONE, row->min_ns)                \
    X(longest_ns, INT64, NONE, row->max_ns)                 \
    X(least_rank_ns, INT64, NONE, row->time.min_ns)         \
    X(least_rank, INT32, NONE, row->time.min_rank)          \
    X(most_rank_ns, INT64, NONE, row->time.max_ns)          \
    X(most_rank, INT32, NONE, row->time.max_rank)           \
    X(bytes, INT64, NONE, row->bytes)                       \
    X(sent_bytes, INT64, NONE, row->sent_bytes)             \
    X(received_bytes, INT64, NONE, row->received_bytes)     \
    X(volume_before, INT64, NONE, row->volume_before)       \
    X(volume_inside, INT64, NONE, row->volume_inside)

#define FUNCTION_COLUMNS(X)                      \
    X(function, INT32, FUNCTIONS, row->function) \
    X(paths, INT64, NONE, row->paths)            \
    X(events, INT64, NONE, row->events)          \
    X(calls, INT64, NONE, row->calls)            \
    X(total_ns, INT64, NONE, row->total_ns)      \
    X(waiting_ns, INT64, NONE, row->waiting_ns)  \
    X(shortest_ns, INT64, NONE, row->min_ns)     \
    X(longest_ns, INT64, NONE, row->max_ns)      \
    X(bytes, INT64, NONE, row->bytes)            \
    X(sent_bytes, INT64, NONE, row->sent_bytes)  \
    X(received_bytes, INT64, NONE, row->received_bytes)

#define RANK_COLUMNS(X)                                     \
    X(rank, INT32, NONE, at)                                \
    X(threads, INT32, NONE, row->threads)                   \
    X(events, INT64, NONE, row->events)                     \
    X(calls, INT64, NONE, row->calls)                       \
    X(span_ns, INT64, NONE, row->span_ns)                   \
    X(mpi_ns, INT64, NONE, row->mpi_ns)                     \
    X(setup_ns, INT64, NONE, row->setup_ns)                 \
    X(waiting_ns, INT64, NONE, rows->waiting_ns[at])        \
    X(outside_ns, INT64, NONE, rfn_profile_outside_ns(row)) \
    X(main_outside_ns, INT64, NONE, row->main_outside_ns)   \
    X(unrecorded_ns, INT64, NONE, row->unrecorded_ns)       \
    X(recording_ns, INT64, NONE, row->recording_ns)         \
    X(messages, INT64, NONE, row->messages)                 \
    X(sent_bytes, INT64, NONE, row->sent_bytes)             \
    X(collective_bytes, INT64, NONE, row->collective_bytes) \
    X(one_sided, INT64, NONE, row->accesses)                \
    X(one_sided_bytes, INT64, NONE, row->accessed_bytes)    \
    X(volume_outside, INT64, NONE, row->volume_outside)     \
    X(volume_inside, INT64, NONE, row->volume_mpi)

#define REGION_COLUMNS(X)                                          \
    X(region, INT32, REGIONS, region_of(rows->archive, row->name)) \
    X(ranks, INT32, NONE, row->time.ranks)                         \
    X(visits, INT64, NONE, row->visits)                            \
    X(total_ns, INT64, NONE, row->time.total_ns)                   \
    X(mpi_ns, INT64, NONE, row->mpi.total_ns)                      \
    X(outside_ns, INT64, NONE, row->outside.total_ns)              \
    X(waiting_ns, INT64, NONE, row->waiting_ns)                    \
    X(least_rank_ns, INT64, NONE, row->time.min_ns)                \
    X(least_rank, INT32, NONE, row->time.min_rank)                 \
    X(most_rank_ns, INT64, NONE, row->time.max_ns)                 \
    X(most_rank, INT32, NONE, row->time.max_rank)                  \
    X(messages, INT64, NONE, row->messages)

#define PAIR_COLUMNS(X)                     \
    X(source, INT32, NONE, row->source)     \
    X(dest, INT32, NONE, row->dest)         \
    X(messages, INT64, NONE, row->messages) \
    X(bytes, INT64, NONE, row->bytes)

#define WAIT_COLUMNS(X)                          \
    X(pattern, INT32, PATTERNS, row->pattern)    \
    X(function, INT32, FUNCTIONS, row->function) \
    X(path, INT32, PATHS, row->path)             \
    X(count, INT64, NONE, row->count)            \
    X(total_ns, INT64, NONE, row->total_ns)      \
    X(longest_ns, INT64, NONE, row->max_ns)      \
    X(wrong_order_ns, INT64, NONE, row->wrong_order_ns)

#define WAIT_BY_RANK_COLUMNS(X)                  \
    X(pattern, INT32, PATTERNS, row->pattern)    \
    X(function, INT32, FUNCTIONS, row->function) \
    X(path, INT32, PATHS, row->path)             \
    X(rank, INT32, NONE, rank)                   \
    X(total_ns, INT64, NONE, row->ns_by_rank[rank])

#define CAUSE_COLUMNS(X)                                                              \
    X(activity, INT32, ACTIVITIES, of->kind)                                          \
    X(before_function, INT32, FUNCTIONS, of_compute(of, of->before.function))         \
    X(before_path, INT32, PATHS, of_compute(of, of->before.path))                     \
    X(function, INT32, FUNCTIONS, of_call(of, of->at.function))                       \
    X(path, INT32, PATHS, of_call(of, of->at.path))                                   \
    X(region, INT32, REGIONS, of->region == RFN_NO_REGION ? -1 : (int64_t)of->region) \
    X(pattern, INT32, PATTERNS, row->pattern)                                         \
    X(waited_function, INT32, FUNCTIONS, row->waited.function)                        \
    X(waited_path, INT32, PATHS, row->waited.path)                                    \
    X(total_ns, INT64, NONE, row->total_ns)                                           \
    X(direct_ns, INT64, NONE, row->direct_ns)                                         \
    X(ranks, INT32, NONE, row->n_ranks)                                               \
    X(costliest_rank, INT32, NONE, row->n_ranks ? (int64_t)row->ranks[0].rank : -1)

static const struct rfn_column_info path_columns[] = {PATH_COLUMNS(RFN_COLUMN_INFO)};
static const struct rfn_column_info function_columns[] = {FUNCTION_COLUMNS(RFN_COLUMN_INFO)};
static const struct rfn_column_info rank_columns[] = {RANK_COLUMNS(RFN_COLUMN_INFO)};
static const struct rfn_column_info region_columns[] = {REGION_COLUMNS(RFN_COLUMN_INFO)};
static const struct rfn_column_info pair_columns[] = {PAIR_COLUMNS(RFN_COLUMN_INFO)};
static const struct rfn_column_info wait_columns[] = {WAIT_COLUMNS(RFN_COLUMN_INFO)};
static const struct rfn_column_info wait_by_rank_columns[] = {
    WAIT_BY_RANK_COLUMNS(RFN_COLUMN_INFO)};
static const struct rfn_column_info cause_columns[] = {CAUSE_COLUMNS(RFN_COLUMN_INFO)};

const struct rfn_column_list rfn_result_columns[RFN_COLUMNS_TABLES] = {
    [RFN_COLUMNS_PATHS] = RFN_COLUMN_LIST(path_columns),
    [RFN_COLUMNS_FUNCTIONS] = RFN_COLUMN_LIST(function_columns),
    [RFN_COLUMNS_RANKS] = RFN_COLUMN_LIST(rank_columns),
    [RFN_COLUMNS_REGIONS] = RFN_COLUMN_LIST(region_columns),
    [RFN_COLUMNS_PAIRS] = RFN_COLUMN_LIST(pair_columns),
    [RFN_COLUMNS_WAITS] = RFN_COLUMN_LIST(wait_columns),
    [RFN_COLUMNS_WAITS_BY_RANK] = RFN_COLUMN_LIST(wait_by_rank_columns),
    [RFN_COLUMNS_CAUSES] = RFN_COLUMN_LIST(cause_columns),
};

/* ---- values of columns ---- */

static int64_t region_of(const struct rfn_archive *archive, const char *name)
{
    for (uint32_t i = 0; i < rfn_archive_regions(archive); i++) {
        if (rfn_archive_region(archive, i) == name)
            return i;
    }
    return -1;
}

static int64_t of_compute(const struct rfn_activity *activity, uint32_t code)
{
    return activity->kind == RFN_ACTIVITY_COMPUTE ? (int64_t)code : -1;
}

static int64_t of_call(const struct rfn_activity *activity, uint32_t code)
{
    return activity->kind == RFN_ACTIVITY_START ? -1 : (int64_t)code;
}

/* ---- sums ---- */

static void add_row(struct function_sum *sum, const struct rfn_profile_row *row)
{
    sum->min_ns = sum->paths ? rfn_least(sum->min_ns, row->min_ns) : row->min_ns;
    sum->max_ns = sum->paths ? rfn_most(sum->max_ns, row->max_ns) : row->max_ns;
    sum->paths++;
    sum->events += row->events;
    sum->calls += row->calls;
    sum->bytes += row->bytes;
    sum->sent_bytes += row->sent_bytes;
    sum->received_bytes += row->received_bytes;
    sum->total_ns += row->time.total_ns;
    sum->waiting_ns += row->waiting_ns;
}

static int compare_sums(const void *a, const void *b)
{
    const struct function_sum *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static int sum_functions(struct rfn_result_rows *rows)
{
    const uint32_t n = rfn_archive_functions(rows->archive);
    rows->functions = calloc((size_t)n + 1, sizeof *rows->functions);
    if (!rows->functions)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        rows->functions[i].function = i;
    for (size_t i = 0; i < rows->profile->n_rows; i++)
        add_row(&rows->functions[rows->profile->rows[i].function], &rows->profile->rows[i]);
    for (uint32_t i = 0; i < n; i++) {
        if (rows->functions[i].paths)
            rows->functions[rows->n_functions++] = rows->functions[i];
    }
    qsort(rows->functions, rows->n_functions, sizeof *rows->functions, compare_sums);
    return 0;
}

static int sum_waits(struct rfn_result_rows *rows)
{
    const struct rfn_waits *waits = rows->waits;
    rows->waiting_ns = calloc((size_t)rows->profile->n_ranks + 1, sizeof *rows->waiting_ns);
    if (!rows->waiting_ns)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < waits->n_rows; i++) {
        for (uint32_t rank = 0; rank < waits->n_ranks && rank < rows->profile->n_ranks; rank++) {
            rows->waiting_ns[rank] += waits->rows[i].ns_by_rank[rank];
            rows->n_waits_by_rank += waits->rows[i].ns_by_rank[rank] != 0;
        }
    }
    return 0;
}

/* ---- tables ---- */

/* A function that writes n rows, which lie in an array. */
#define FILL_ROWS(table, COLUMNS, element, array, n)                                   \
    static void fill_##table(const struct rfn_result_rows *rows, void *const *columns) \
    {                                                                                  \
        for (size_t at = 0; at < (n); at++) {                                          \
            const element *row = &(array)[at];                                         \
            void *const *next = columns;                                               \
            COLUMNS(RFN_COLUMN_PUT)                                                    \
        }                                                                              \
    }

FILL_ROWS(paths, PATH_COLUMNS, struct rfn_profile_row, rows->profile->rows, rows->profile->n_rows)
FILL_ROWS(functions, FUNCTION_COLUMNS, struct function_sum, rows->functions, rows->n_functions)
FILL_ROWS(ranks, RANK_COLUMNS, struct rfn_profile_rank, rows->profile->ranks,
          rows->profile->n_ranks)
FILL_ROWS(regions, REGION_COLUMNS, struct rfn_region_row, rows->profile->regions,
          rows->profile->n_regions)
FILL_ROWS(pairs, PAIR_COLUMNS, struct rfn_pair, rows->profile->pairs, rows->profile->n_pairs)
FILL_ROWS(waits, WAIT_COLUMNS, struct rfn_wait_row, rows->waits->rows, rows->waits->n_rows)

static void fill_waits_by_rank(const struct rfn_result_rows *rows, void *const *columns)
{
    size_t at = 0;
    for (size_t i = 0; i < rows->waits->n_rows; i++) {
        const struct rfn_wait_row *row = &rows->waits->rows[i];
        for (uint32_t rank = 0; rank < rows->profile->n_ranks; rank++) {
            void *const *next = columns;
            if (row->ns_by_rank[rank] == 0)
                continue;
            WAIT_BY_RANK_COLUMNS(RFN_COLUMN_PUT)
            at++;
        }
    }
}

static void fill_causes(const struct rfn_result_rows *rows, void *const *columns)
{
    for (size_t at = 0; at < rows->waits->n_causes; at++) {
        const struct rfn_cause *row = &rows->waits->causes[at];
        const struct rfn_activity *of = &rows->waits->activities[row->activity];
        void *const *next = columns;
        CAUSE_COLUMNS(RFN_COLUMN_PUT)
    }
}

size_t rfn_result_rows_count(const struct rfn_result_rows *rows, enum rfn_column_table table)
{
    switch (table) {
    case RFN_COLUMNS_PATHS:
        return rows->profile->n_rows;
    case RFN_COLUMNS_FUNCTIONS:
        return rows->n_functions;
    case RFN_COLUMNS_RANKS:
        return rows->profile->n_ranks;
    case RFN_COLUMNS_REGIONS:
        return rows->profile->n_regions;
    case RFN_COLUMNS_PAIRS:
        return rows->profile->n_pairs;
    case RFN_COLUMNS_WAITS:
        return rows->waits->n_rows;
    case RFN_COLUMNS_WAITS_BY_RANK:
        return rows->n_waits_by_rank;
    case RFN_COLUMNS_CAUSES:
        return rows->waits->n_causes;
    default:
        return 0;
    }
}

void rfn_result_rows_fill(const struct rfn_result_rows *rows, enum rfn_column_table table,
                          void *const *columns)
{
    static void (*const fill[RFN_COLUMNS_TABLES])(const struct rfn_result_rows *rows,
                                                  void *const *columns) = {
        [RFN_COLUMNS_PATHS] = fill_paths,
        [RFN_COLUMNS_FUNCTIONS] = fill_functions,
        [RFN_COLUMNS_RANKS] = fill_ranks,
        [RFN_COLUMNS_REGIONS] = fill_regions,
        [RFN_COLUMNS_PAIRS] = fill_pairs,
        [RFN_COLUMNS_WAITS] = fill_waits,
        [RFN_COLUMNS_WAITS_BY_RANK] = fill_waits_by_rank,
        [RFN_COLUMNS_CAUSES] = fill_causes,
    };
    if (table < RFN_COLUMNS_TABLES && fill[table])
        fill[table](rows, columns);
}

/* ---- results ---- */

int rfn_result_rows_new(const struct rfn_archive *archive, const char *region,
                        struct rfn_result_rows **rows, struct rfn_diag *diag)
{
    struct rfn_result_rows *made = calloc(1, sizeof *made);
    int error = made ? 0 : RFN_E_NOMEM;
    *rows = NULL;
    if (made) {
        const struct rfn_waits_options options = {.region = region, .profile = &made->profile};
        made->archive = archive;
        error = rfn_waits_new(archive, &options, NULL, NULL, &made->waits, diag);
    }
    if (!error)
        error = sum_functions(made);
    if (!error)
        error = sum_waits(made);
    if (error) {
        rfn_result_rows_free(made);
        return rfn_fail(diag, error, -1, -1, "cannot analyze the run: %s", rfn_error_text(error));
    }
    *rows = made;
    return 0;
}

int rfn_result_rows_error(const struct rfn_result_rows *rows, struct rfn_diag *diag)
{
    if (rows->waits->error && diag)
        *diag = rows->waits->diag;
    return rows->waits->error;
}

void rfn_result_rows_free(struct rfn_result_rows *rows)
{
    if (!rows)
        return;
    free(rows->functions);
    free(rows->waiting_ns);
    rfn_waits_free(rows->waits);
    rfn_profile_free(rows->profile);
    free(rows);
}
