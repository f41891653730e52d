#include "archive/cursor/pack_spreads.h"

#include <stdlib.h>

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
    if (rfn_spread_bin(sums->min) == rfn_spread_bin(sums->max))
        return; /* all are in it */
    for (unsigned i = 0; i < sums->n_bins; i++)
        rfn_buf_varint(out, rfn_spread_code(sums->bins[i]));
}

static void pack_position(const struct rfn_position_sums *sums, struct rfn_buf *out)
{
    pack_sums(&sums->before, out);
    pack_sums(&sums->duration, out);
}

static rfn_u128 time_of(const struct rfn_position_sums *sums)
{
    return sums->before.sum + sums->duration.sum;
}

/* Whether it has enough of the place's events, or of their time, to be told apart from the others.
 */
static bool stands_out(const struct rfn_position_sums *sums, uint64_t n, rfn_u128 time)
{
    return sums->after != RFN_NO_SITE_BEFORE &&
           (sums->duration.n > n / RFN_SPREAD_SHARE || time_of(sums) > time / RFN_SPREAD_SHARE);
}

/* The positions of a place that are told apart, none or at least two, and the sums of all others.
 */
struct packed_place {
    const struct rfn_position_sums *apart[RFN_SITES_BEFORE_MOST];
    unsigned n_apart;
    uint64_t n, firsts;
    struct rfn_position_sums rest;
};

static int divide_place(const struct rfn_place_sums *place, struct packed_place *packed)
{
    rfn_u128 time = 0;
    const struct rfn_position_sums *sums;
    for (sums = place->first; sums; sums = sums->next) {
        packed->n += sums->duration.n;
        packed->firsts += sums->duration.n - sums->before.n;
        time += time_of(sums);
    }
    unsigned n_apart = 0;
    for (sums = place->first; sums; sums = sums->next)
        n_apart += stands_out(sums, packed->n, time);
    for (sums = place->first; sums; sums = sums->next) {
        if (n_apart >= 2 && stands_out(sums, packed->n, time))
            packed->apart[packed->n_apart++] = sums;
        else
            RFN_TRY(rfn_position_sums_merge(&packed->rest, sums));
    }
    return 0;
}

/* more: the same site's failed polls follow. */
static int pack_place(const struct rfn_place_sums *place, bool more, struct rfn_buf *out)
{
    struct packed_place packed = {0};
    int error = divide_place(place, &packed);
    if (!error) {
        rfn_buf_varint(out, packed.n << 3 | (uint64_t)(packed.n_apart > 0) << 2 |
                                (uint64_t)(packed.firsts > 0) << 1 | more);
        if (packed.firsts)
            rfn_buf_varint(out, packed.firsts);
        if (packed.n_apart)
            rfn_buf_varint(out, packed.n_apart);
        for (uint32_t i = 0, next = 0; i < packed.n_apart; i++) {
            const struct rfn_position_sums *sums = packed.apart[i];
            rfn_buf_varint(out, sums->after - next);
            rfn_buf_varint(out, sums->duration.n);
            pack_position(sums, out);
            next = sums->after + 1;
        }
        pack_position(&packed.rest, out);
    }
    rfn_position_sums_release(&packed.rest);
    return error;
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
    int error = 0;
    rfn_buf_varint(out, spreads->n);
    for (size_t i = 0; i < spreads->n; i++) {
        const struct rfn_cluster_sums *cluster = sorted[i];
        const struct rfn_spread_table *table = &cluster->table;
        rfn_buf_varint(out, cluster->first_stream - (i ? sorted[i - 1]->first_stream : 0));
        rfn_buf_varint(out, cluster->streams);
        rfn_buf_varint(out, (table->n + 1) / 2);
        for (size_t k = 0; k < table->n && !error; k += 2) {
            const bool polls = k + 1 < table->n && table->places[k + 1].first;
            error = pack_place(&table->places[k], polls, out);
            if (!error && polls)
                error = pack_place(&table->places[k + 1], false, out);
        }
    }
    free(sorted);
    return error ? error : rfn_buf_status(out);
}
