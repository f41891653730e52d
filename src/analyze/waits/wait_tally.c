#include "analyze/waits/wait_tally.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_tally_init(struct rfn_wait_tally *tally, uint32_t n_ranks)
{
    *tally = (struct rfn_wait_tally){.n_ranks = n_ranks};
}

void rfn_tally_release(struct rfn_wait_tally *tally)
{
    for (size_t i = 0; i < tally->n_rows; i++)
        free(tally->rows[i].ns_by_rank);
    free(tally->rows);
    free(tally->blames);
    rfn_map_release(&tally->row_index);
    rfn_map_release(&tally->blame_index);
}

/* ---- adding up ---- */

static int64_t row_of(struct rfn_wait_tally *tally, enum rfn_pattern pattern, uint32_t site)
{
    uint64_t key = (uint64_t)pattern << 32 | site;
    const uint64_t *at = rfn_map_get(&tally->row_index, key);
    if (at)
        return (int64_t)*at;
    size_t n = tally->n_rows;
    RFN_TRY(RFN_GROW(tally->rows, tally->rows_capacity, n + 1));
    int64_t *ns_by_rank = calloc((size_t)tally->n_ranks + 1, sizeof *ns_by_rank);
    if (!ns_by_rank)
        return RFN_E_NOMEM;
    tally->rows[tally->n_rows++] = (struct rfn_tally_row){
        .pattern = pattern, .site = site, .ns_by_rank = ns_by_rank};
    RFN_TRY(rfn_map_put(&tally->row_index, key, n));
    return (int64_t)n;
}

static int add_blame(struct rfn_wait_tally *tally, uint32_t row, const struct rfn_blame *blame)
{
    uint64_t key = (uint64_t)row << 32 | blame->cause;
    const uint64_t *at = rfn_map_get(&tally->blame_index, key);
    size_t i = at ? (size_t)*at : tally->n_blames;
    if (!at) {
        RFN_TRY(RFN_GROW(tally->blames, tally->blames_capacity, i + 1));
        RFN_TRY(rfn_map_put(&tally->blame_index, key, i));
        tally->blames[tally->n_blames++] = (struct rfn_tally_blame){blame->cause, row, 0, 0};
    }
    tally->blames[i].ns += blame->ns;
    tally->blames[i].direct_ns += blame->direct ? blame->ns : 0;
    return 0;
}

int64_t rfn_tally_in_row(struct rfn_wait_tally *tally, enum rfn_pattern pattern, uint32_t site,
                         uint32_t rank, int64_t ns, const struct rfn_blame *blames, size_t n_blames)
{
    int64_t at = row_of(tally, pattern, site);
    RFN_TRY((int)(at < 0 ? at : 0));
    struct rfn_tally_row *row = &tally->rows[at];
    row->count++;
    row->total_ns += ns;
    row->max_ns = ns > row->max_ns ? ns : row->max_ns;
    row->ns_by_rank[rank] += ns;
    if (!n_blames)
        tally->unexplained_ns += ns;
    for (size_t i = 0; i < n_blames; i++)
        RFN_TRY(add_blame(tally, (uint32_t)at, &blames[i]));
    return at;
}

/* ---- the result ---- */

static int by_wait(const void *left, const void *right)
{
    const struct rfn_wait_row *a = left, *b = right;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    if (a->pattern != b->pattern)
        return a->pattern < b->pattern ? -1 : 1;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->path < b->path ? -1 : a->path > b->path;
}

static int finish_rows(struct rfn_wait_tally *tally, const struct rfn_activities *activities,
                       struct rfn_waits *waits)
{
    waits->rows = calloc(tally->n_rows + 1, sizeof *waits->rows);
    if (!waits->rows)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < tally->n_rows; i++) {
        struct rfn_tally_row *row = &tally->rows[i];
        struct rfn_call_site site = activities->sites[row->site];
        waits->rows[i] = (struct rfn_wait_row){.pattern = row->pattern,
                                               .function = site.function,
                                               .path = site.path,
                                               .count = row->count,
                                               .total_ns = row->total_ns,
                                               .max_ns = row->max_ns,
                                               .wrong_order_ns = row->wrong_order_ns,
                                               .ns_by_rank = row->ns_by_rank};
        row->ns_by_rank = NULL;
        waits->pattern_ns[row->pattern] += row->total_ns;
        waits->total_ns += row->total_ns;
    }
    waits->n_rows = tally->n_rows;
    qsort(waits->rows, waits->n_rows, sizeof *waits->rows, by_wait);
    return 0;
}

/* A blame with what it is grouped by. */
struct entry {
    uint32_t row, activity, rank;
    int64_t ns, direct_ns;
};

static int by_group(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->activity != b->activity)
        return a->activity < b->activity ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int by_cost(const void *left, const void *right)
{
    const struct rfn_cause *a = left, *b = right;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    if (a->activity != b->activity)
        return a->activity < b->activity ? -1 : 1;
    if (a->pattern != b->pattern)
        return a->pattern < b->pattern ? -1 : 1;
    if (a->waited.function != b->waited.function)
        return a->waited.function < b->waited.function ? -1 : 1;
    return a->waited.path < b->waited.path ? -1 : a->waited.path > b->waited.path;
}

static struct entry *entries_of(const struct rfn_wait_tally *tally, const struct rfn_delays *delays)
{
    struct entry *entries = calloc(tally->n_blames + 1, sizeof *entries);
    for (size_t i = 0; entries && i < tally->n_blames; i++) {
        const struct rfn_tally_blame *blame = &tally->blames[i];
        const struct rfn_delayer *cause = &delays->causes[blame->cause];
        entries[i] = (struct entry){blame->row, cause->activity, cause->rank, blame->ns,
                                    blame->direct_ns};
    }
    if (entries)
        qsort(entries, tally->n_blames, sizeof *entries, by_group);
    return entries;
}

static void add_entry(struct rfn_cause *cause, const struct entry *entry, struct rfn_rank_ns *rank)
{
    *rank = (struct rfn_rank_ns){entry->rank, entry->ns};
    cause->total_ns += entry->ns;
    cause->direct_ns += entry->direct_ns;
    cause->n_ranks++;
}

/* All ranks' lists lie in one array, which begins with the first cause's; so causes are made in the
 * array's order and sorted afterwards. */
static int finish_causes(struct rfn_wait_tally *tally, const struct rfn_activities *activities,
                         const struct rfn_delays *delays, struct rfn_waits *waits)
{
    size_t n = tally->n_blames;
    struct entry *entries = entries_of(tally, delays);
    struct rfn_rank_ns *ranks = calloc(n + 1, sizeof *ranks);
    waits->causes = calloc(n + 1, sizeof *waits->causes);
    waits->cause_ranks = ranks;
    if (!entries || !ranks || !waits->causes) {
        free(entries);
        return RFN_E_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        const struct entry *entry = &entries[i];
        if (i == 0 || entry[-1].row != entry->row || entry[-1].activity != entry->activity) {
            const struct rfn_tally_row *row = &tally->rows[entry->row];
            waits->causes[waits->n_causes++] = (struct rfn_cause){
                .activity = entry->activity,
                .pattern = row->pattern,
                .waited = activities->sites[row->site],
                .ranks = &ranks[i]};
        }
        add_entry(&waits->causes[waits->n_causes - 1], entry, &ranks[i]);
    }
    free(entries);
    qsort(waits->causes, waits->n_causes, sizeof *waits->causes, by_cost);
    return 0;
}

int rfn_tally_finish(struct rfn_wait_tally *tally, const struct rfn_activities *activities,
                     const struct rfn_delays *delays, struct rfn_waits *waits)
{
    RFN_TRY(finish_rows(tally, activities, waits));
    waits->unexplained_ns = tally->unexplained_ns;
    return finish_causes(tally, activities, delays, waits);
}
