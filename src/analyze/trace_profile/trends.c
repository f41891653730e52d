#include "analyze/trace_profile/trends.h"

#include "base/grow.h"

#include <math.h>
#include <stdlib.h>

/* ---- severities ---- */

static const double borders[RFN_SEVERITY_CLASSES - 1] = {0.001, 0.01, 0.05, 0.2};
static const double margin = 0.1;

/* How many borders are up to it. */
unsigned rfn_severity_class(double share)
{
    unsigned n = 0;
    while (n < RFN_SEVERITY_CLASSES - 1 && share > borders[n])
        n++;
    return n;
}

const char *rfn_severity_words(unsigned severity_class)
{
    static const char *const words[RFN_SEVERITY_CLASSES] = {"none", "slight", "noticeable", "heavy",
                                                            "dominating"};
    return words[severity_class < RFN_SEVERITY_CLASSES ? severity_class : 0];
}

/* Within the margin of a border: border * (1 - margin) <= share <= border * (1 + margin). Borders
 * are far enough from each other that a share is near one of them at most. */
bool rfn_same_severity(double share, double other)
{
    const double least = 1 + margin, most = 1 - margin;
    return rfn_severity_class(other / least) <= rfn_severity_class(share / most) &&
           rfn_severity_class(share / least) <= rfn_severity_class(other / most);
}

/* ---- rows of both ---- */

/* A wait row, with the full archive's numbers. */
struct row {
    enum rfn_pattern pattern;
    uint32_t function, path;
    const int64_t *ns_by_rank; /* NULL: nobody waits so */
};

struct rows {
    struct row *rows;
    size_t n;
};

static int order(const struct row *a, const struct row *b)
{
    if (a->pattern != b->pattern)
        return a->pattern < b->pattern ? -1 : 1;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->path < b->path ? -1 : a->path > b->path;
}

static int by_call(const void *a, const void *b)
{
    return order(a, b);
}

/* pairing: NULL for the full archive itself. RFN_E_NOMEM. */
static int make_rows(struct rows *rows, const struct rfn_waits *waits,
                     const struct rfn_archive_match *pairing)
{
    *rows = (struct rows){calloc(waits->n_rows + 1, sizeof *rows->rows), waits->n_rows};
    if (!rows->rows)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < rows->n; i++) {
        const struct rfn_wait_row *wait = &waits->rows[i];
        uint32_t function = wait->function, path = wait->path;
        if (pairing) {
            function = rfn_archive_match_function(pairing, function);
            path = rfn_archive_match_path(pairing, path);
        }
        rows->rows[i] = (struct row){wait->pattern, function, path, wait->ns_by_rank};
    }
    qsort(rows->rows, rows->n, sizeof *rows->rows, by_call);
    return 0;
}

/* ---- comparing ---- */

struct comparing {
    struct rfn_comparison *to;
    size_t capacity;
    uint32_t n_ranks;
    double run_ns;
};

static double size_of_change(const struct rfn_trend_change *change)
{
    return fabs(change->full_share - change->reduced_share);
}

/* full, reduced: the rows of a call, one of them NULL where nobody waits in it so. */
static int compare_row(struct comparing *comparing, const struct row *full,
                       const struct row *reduced)
{
    struct rfn_comparison *to = comparing->to;
    const struct row *call = full ? full : reduced;
    for (uint32_t i = 0; i < comparing->n_ranks; i++) {
        struct rfn_trend_change change = {
            .pattern = call->pattern, .function = call->function, .path = call->path, .rank = i};
        if (full && comparing->run_ns > 0)
            change.full_share = (double)full->ns_by_rank[i] / comparing->run_ns;
        if (reduced && comparing->run_ns > 0)
            change.reduced_share = (double)reduced->ns_by_rank[i] / comparing->run_ns;
        double by = size_of_change(&change);
        to->trends += rfn_severity_class(change.full_share) > 0;
        if (by > to->largest_change)
            to->largest_change = by;
        if (rfn_same_severity(change.full_share, change.reduced_share))
            continue;
        RFN_TRY(RFN_GROW(to->changes, comparing->capacity, to->n_changes + 1));
        to->changes[to->n_changes++] = change;
    }
    return 0;
}

static int compare_rows(struct comparing *comparing, const struct rows *full,
                        const struct rows *reduced)
{
    for (size_t i = 0, k = 0; i < full->n || k < reduced->n;) {
        const struct row *a = i < full->n ? &full->rows[i] : NULL;
        const struct row *b = k < reduced->n ? &reduced->rows[k] : NULL;
        const int which = !a ? 1 : !b ? -1 : order(a, b);
        RFN_TRY(compare_row(comparing, which <= 0 ? a : NULL, which >= 0 ? b : NULL));
        i += which <= 0;
        k += which >= 0;
    }
    return 0;
}

/* Largest change first; else in order of call and rank. */
static int by_size(const void *left, const void *right)
{
    const struct rfn_trend_change *a = left, *b = right;
    double of_a = size_of_change(a), of_b = size_of_change(b);
    if (of_a != of_b)
        return of_a > of_b ? -1 : 1;
    struct row row_a = {a->pattern, a->function, a->path, NULL};
    struct row row_b = {b->pattern, b->function, b->path, NULL};
    int by_row = order(&row_a, &row_b);
    return by_row ? by_row : a->rank < b->rank ? -1 : a->rank > b->rank;
}

int rfn_trends_compare(const struct rfn_waits *full, const struct rfn_waits *reduced,
                       const struct rfn_archive_match *pairing, struct rfn_comparison *to)
{
    struct comparing comparing = {
        .to = to, .n_ranks = full->n_ranks, .run_ns = (double)to->full_times.run_ns};
    struct rows of_full = {0}, of_reduced = {0};
    int error = make_rows(&of_full, full, NULL);
    if (!error)
        error = make_rows(&of_reduced, reduced, pairing);
    if (!error)
        error = compare_rows(&comparing, &of_full, &of_reduced);
    free(of_full.rows);
    free(of_reduced.rows);
    to->trends_retained = to->n_changes == 0;
    if (to->n_changes)
        qsort(to->changes, to->n_changes, sizeof *to->changes, by_size);
    return error;
}
