#include "archive/pack_spreads.h"

#include <stdlib.h>

static void pack_bins(const struct rfn_spread_sums *sums, struct rfn_buf *out)
{
    if (rfn_spread_bin(sums->min) == rfn_spread_bin(sums->max))
        return; /* all are in it */
    for (unsigned i = 0; i < sums->n_bins; i++)
        rfn_buf_varint(out, rfn_spread_code(sums->bins[i]));
}

static void pack_sums(const struct rfn_spread_sums *sums, struct rfn_buf *out)
{
    if (!sums->n)
        return;
    uint64_t min = rfn_spread_code(sums->min), max = rfn_spread_code(sums->max);
    rfn_buf_varint(out, min);
    rfn_buf_varint(out, max - min);
    if (max == min)
        return;
    rfn_buf_varint(out, rfn_spread_code(rfn_spread_sums_mean(sums)) - min);
    rfn_buf_varint(out, rfn_spread_code(rfn_spread_sums_deviation(sums)));
    pack_bins(sums, out);
}

/* more: another position of the same site follows. sums may be NULL. */
static void pack_position(const struct rfn_position_sums *sums, bool more, struct rfn_buf *out)
{
    static const struct rfn_position_sums none;
    sums = sums ? sums : &none;
    uint64_t n = sums->duration.n, firsts = n - sums->before.n;
    rfn_buf_varint(out, n << 2 | (uint64_t)(firsts > 0) << 1 | more);
    if (firsts)
        rfn_buf_varint(out, firsts);
    pack_sums(&sums->before, out);
    pack_sums(&sums->duration, out);
}

static void pack_cluster(const struct rfn_cluster_sums *cluster, uint64_t after,
                         struct rfn_buf *out)
{
    const struct rfn_spread_table *table = &cluster->table;
    rfn_buf_varint(out, cluster->first_stream - after);
    rfn_buf_varint(out, cluster->streams);
    rfn_buf_varint(out, (table->n + 1) / 2);
    for (size_t i = 0; i < table->n; i += 2) {
        const struct rfn_position_sums *polls = i + 1 < table->n ? table->positions[i + 1] : NULL;
        pack_position(table->positions[i], polls, out);
        if (polls)
            pack_position(polls, false, out);
    }
}

static int by_first_stream(const void *a, const void *b)
{
    const struct rfn_cluster_sums *const *left = a, *const *right = b;
    return ((*left)->first_stream > (*right)->first_stream) -
           ((*left)->first_stream < (*right)->first_stream);
}

int rfn_pack_spreads(const struct rfn_spreads *spreads, struct rfn_buf *out)
{
    const struct rfn_cluster_sums **sorted = malloc((spreads->n + 1) * sizeof *sorted);
    if (!sorted)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < spreads->n; i++)
        sorted[i] = &spreads->clusters[i];
    qsort(sorted, spreads->n, sizeof *sorted, by_first_stream);
    rfn_buf_varint(out, spreads->n);
    for (size_t i = 0; i < spreads->n; i++)
        pack_cluster(sorted[i], i ? sorted[i - 1]->first_stream : 0, out);
    free(sorted);
    return rfn_buf_status(out);
}
