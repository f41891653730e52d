#include "analyze/trends.h"

#include "base/grow.h"

#include <math.h>
#include <stdlib.h>

/* ---- severities ---- */

static const double borders[RFN_SEVERITY_CLASSES - 1] = {0.001, 0.01, 0.05, 0.2};
static const double margin = 0.1;

static unsigned borders_up_to(double share)
{
    unsigned n = 0;
    while (n < RFN_SEVERITY_CLASSES - 1 && share > borders[n])
        n++;
    return n;
}

unsigned rfn_severity_class(double share)
{
    return borders_up_to(share);
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
    unsigned low = borders_up_to(share / (1 + margin)), high = borders_up_to(share / (1 - margin));
    return borders_up_to(other / (1 + margin)) <= high &&
           low <= borders_up_to(other / (1 - margin));
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
                     const struct rfn_pairing *pairing)
{
    *rows = (struct rows){calloc(waits->n_rows + 1, sizeof *rows->rows), waits->n_rows};
    if (!rows->rows)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < rows->n; i++) {
        const struct rfn_wait_row *wait = &waits->rows[i];
        uint32_t function = wait->function, path = wait->path;
        if (pairing) {
            function = rfn_pairing_function(pairing, function);
            path = rfn_pairing_path(pairing, path);
        }
        rows->rows[i] = (struct row){wait->pattern, function, path, wait->ns_by_rank};
    }
    qsort(rows->rows, rows->n, sizeof *rows->rows, by_call);
    return 0;
}

/* ---- comparing ---- */

struct comparing {
    struct rfn_trends *trends;
    size_t capacity;
    uint32_t n_ranks;
    double run_ns;
};

static double share_of(const struct comparing *comparing, const struct row *row, uint32_t rank)
{
    if (!row || comparing->run_ns <= 0)
        return 0;
    return (double)row->ns_by_rank[rank] / comparing->run_ns;
}

static double size_of_change(const struct rfn_trend_change *change)
{
    return fabs(change->full_share - change->reduced_share);
}

static int compare_rank(struct comparing *comparing, const struct rfn_trend_change *change)
{
    struct rfn_trends *trends = comparing->trends;
    double by = size_of_change(change);
    trends->n += rfn_severity_class(change->full_share) > 0;
    if (by > trends->largest_change)
        trends->largest_change = by;
    if (rfn_same_severity(change->full_share, change->reduced_share))
        return 0;
    RFN_TRY(RFN_GROW(trends->changes, comparing->capacity, trends->n_changes + 1));
    trends->changes[trends->n_changes++] = *change;
    return 0;
}

/* call: the row of the one that has it. full, reduced: the rows, NULL where nobody waits in it so.
 */
static int compare_row(struct comparing *comparing, const struct row *call, const struct row *full,
                       const struct row *reduced)
{
    for (uint32_t i = 0; i < comparing->n_ranks; i++) {
        struct rfn_trend_change change = {.pattern = call->pattern,
                                          .function = call->function,
                                          .path = call->path,
                                          .rank = i,
                                          .full_share = share_of(comparing, full, i),
                                          .reduced_share = share_of(comparing, reduced, i)};
        RFN_TRY(compare_rank(comparing, &change));
    }
    return 0;
}

/* Whose row is next: negative, the full archive's; positive, the reduced one's; 0, both. */
static int next_row(const struct rows *full, size_t i, const struct rows *reduced, size_t k)
{
    if (i == full->n)
        return 1;
    return k == reduced->n ? -1 : order(&full->rows[i], &reduced->rows[k]);
}

static int compare_rows(struct comparing *comparing, const struct rows *full,
                        const struct rows *reduced)
{
    size_t i = 0, k = 0;
    while (i < full->n || k < reduced->n) {
        const struct row *a = &full->rows[i], *b = &reduced->rows[k];
        int which = next_row(full, i, reduced, k);
        if (which < 0)
            RFN_TRY(compare_row(comparing, a, a, NULL));
        else if (which > 0)
            RFN_TRY(compare_row(comparing, b, NULL, b));
        else
            RFN_TRY(compare_row(comparing, a, a, b));
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
                       const struct rfn_pairing *pairing, int64_t run_ns, struct rfn_trends *trends)
{
    struct comparing comparing = {
        .trends = trends, .n_ranks = full->n_ranks, .run_ns = (double)run_ns};
    struct rows of_full = {0}, of_reduced = {0};
    *trends = (struct rfn_trends){0};
    int error = make_rows(&of_full, full, NULL);
    if (!error)
        error = make_rows(&of_reduced, reduced, pairing);
    if (!error)
        error = compare_rows(&comparing, &of_full, &of_reduced);
    free(of_full.rows);
    free(of_reduced.rows);
    if (error)
        rfn_trends_release(trends);
    else if (trends->n_changes)
        qsort(trends->changes, trends->n_changes, sizeof *trends->changes, by_size);
    return error;
}

void rfn_trends_release(struct rfn_trends *trends)
{
    free(trends->changes);
    *trends = (struct rfn_trends){0};
}
