#include "record/finish/gather_samples.h"

#include "archive/samples_format.h"
#include "base/grow.h"
#include "base/map.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/samples/sampled_calls.h"

#include <stdlib.h>

/* Pairs of ranks, by size, that are counted per row of the table of categories, of all ranks. */
enum { PAIRS = 64 };

/* What the ranks below this one, and itself, have. */
struct gathered {
    uint64_t messages, bytes, sampled, not_kept, changed;
    bool given_up; /* categories, for want of room */
    struct rfn_sample_table *table;
    struct rfn_sample_counts *counts;
    struct rfn_sample_site_number *sites;
    size_t n_sites, sites_capacity;
    struct rfn_map known; /* hashes of sites */
};

static int add_site(struct gathered *all, const struct rfn_sample_site_number *site)
{
    if (rfn_map_get(&all->known, site->hash))
        return 0;
    RFN_TRY(RFN_GROW(all->sites, all->sites_capacity, all->n_sites + 1));
    all->sites[all->n_sites++] = *site;
    return rfn_map_put(&all->known, site->hash, 1);
}

static int add_own_sites(struct gathered *all, const struct rec_stream_definitions *of)
{
    for (uint32_t site = 0; site < of->n_sites; site++) {
        const struct rfn_sample_site_number number = {.hash = rec_sampled_site(of->stream, site),
                                                      .function = (uint32_t)of->functions[site],
                                                      .path = (uint32_t)of->paths[site]};
        if (number.hash != RFN_SAMPLE_NO_SITE)
            RFN_TRY(add_site(all, &number));
    }
    return 0;
}

static int make_tables(struct gathered *all)
{
    const uint32_t rows = rec_sampling_rows(), pairs = PAIRS * rows;
    void *table = calloc(1, rfn_sample_table_bytes(rows));
    void *counts = calloc(1, rfn_sample_counts_bytes(pairs));
    all->table = table ? rfn_sample_table_init(table, rows) : NULL;
    all->counts = counts ? rfn_sample_counts_init(counts, pairs) : NULL;
    return table && counts ? 0 : RFN_E_NOMEM;
}

static int begin(struct gathered *all, const struct rec_finishing *finish)
{
    const struct rec_sampled own = rec_sampled();
    RFN_TRY(make_tables(all));
    rfn_sample_table_add(all->table, own.table);
    for (uint32_t i = 0; i < own.counts->n; i++)
        rfn_sample_counts_add(all->counts, &rfn_sample_counts_rows(own.counts)[i]);
    all->messages = own.messages;
    all->bytes = own.bytes;
    all->sampled = own.sampled;
    all->not_kept = own.not_kept;
    all->changed = own.changed;
    all->given_up = own.table->generation > 0;
    for (size_t i = 0; i < finish->description.n_streams; i++)
        RFN_TRY(add_own_sites(all, &finish->description.streams[i]));
    return 0;
}

static bool gave_up(const struct gathered *all)
{
    return all->given_up || all->table->generation > 0;
}

static int write_up(void *state, struct rfn_buf *out)
{
    const struct gathered *all = state;
    const uint64_t sums[] = {all->messages, all->bytes,   all->sampled, all->not_kept,
                             all->changed,  gave_up(all), all->n_sites};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        rfn_buf_varint(out, sums[i]);
    for (size_t i = 0; i < all->n_sites; i++) {
        rfn_buf_u64(out, all->sites[i].hash);
        rfn_buf_varint(out, all->sites[i].function);
        rfn_buf_varint(out, all->sites[i].path);
    }
    rfn_sample_counts_pack(all->counts, out);
    rfn_sample_table_pack(all->table, out);
    return rfn_buf_status(out);
}

static int merge_child(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct gathered *all = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    uint64_t *const sums[] = {&all->messages, &all->bytes, &all->sampled, &all->not_kept};
    (void)child;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        *sums[i] += rfn_reader_varint(&reader);
    all->changed |= rfn_reader_varint(&reader);
    all->given_up |= rfn_reader_varint(&reader) != 0;
    const uint64_t n_sites = rfn_reader_varint(&reader);
    for (uint64_t i = 0; i < n_sites && !reader.failed; i++) {
        struct rfn_sample_site_number site = {.hash = rfn_reader_u64(&reader)};
        site.function = (uint32_t)rfn_reader_varint(&reader);
        site.path = (uint32_t)rfn_reader_varint(&reader);
        RFN_TRY(add_site(all, &site));
    }
    if (!reader.failed)
        rfn_sample_counts_unpack(all->counts, &reader);
    return reader.failed
               ? RFN_E_EXCHANGE
               : rfn_sample_table_unpack(all->table, bytes + reader.at, rfn_reader_left(&reader));
}

/* What there was no room for. */
static void tell_lost(const struct gathered *all)
{
    if (all->counts->n > all->counts->n_pairs)
        rec_message("too many pairs of ranks sent messages: those for which there was no room are "
                    "counted by size only; --memory allows more");
    if (gave_up(all))
        rec_message("the rarest messages share one row, as there was no room for "
                    "all combinations of ranks, call paths and sizes; --memory allows more");
}

static int pack(const struct gathered *all, struct rfn_buf *payload)
{
    char strategy[RFN_SAMPLE_TEXT];
    struct rfn_sample_strategy asked = {0};
    const struct rec_sampled own = rec_sampled();
    const char *where = rec_options.texts[RFN_RECORD_SAMPLE_WHERE];
    rfn_sample_strategy_parse(rec_options.texts[RFN_RECORD_SAMPLE], &asked, NULL);
    rfn_sample_strategy_text(&asked, strategy);
    const struct rfn_samples_facts facts = {.strategy = strategy,
                                            .where = where ? where : "",
                                            .analysis = own.analysis,
                                            .alone = rec_only_samples,
                                            .changed = all->changed,
                                            .messages = all->messages,
                                            .bytes = all->bytes,
                                            .sampled = all->sampled,
                                            .sites = all->sites,
                                            .n_sites = all->n_sites,
                                            .table = all->table,
                                            .counts = all->counts};
    tell_lost(all);
    if (all->not_kept)
        rec_message("%llu samples are in the histograms, but were not kept: --memory allows more",
                    (unsigned long long)all->not_kept);
    return rfn_pack_samples(&facts, payload);
}

int rec_gather_samples(struct rec_finishing *finish, struct rfn_buf *payload, int error)
{
    static const struct rfn_round round = {.merge = merge_child, .write = write_up};
    struct gathered all = {0};
    if (!error)
        error = begin(&all, finish);
    error = rfn_exchange_climb(finish->exchange, &round, &all, error);
    if (!error && finish->exchange->rank == 0)
        error = pack(&all, payload);
    free(all.table);
    free(all.counts);
    free(all.sites);
    rfn_map_release(&all.known);
    return error;
}

int rec_chunk_sample_columns(struct rec_finishing *finish)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    size_t n;
    struct rfn_raw_sample *samples = rec_kept_samples(&n);
    const struct rfn_pack_pair pairs[2] = {rec_finishing_pair(rec_start()),
                                           rec_finishing_pair(finish->end)};
    const struct rfn_pack_clock clock = {
        .kind = (uint8_t)rec_clock.kind, .pairs = pairs, .n_pairs = 2, .start = rec_start().quanta};
    if (rec_sampled().analysis != RFN_SAMPLE_WRITE)
        return 0;
    int error = rfn_pack_sample_columns(&clock, samples, n, &payload.bytes);
    if (!error)
        error = rec_output_chunk(&finish->output, RFN_CHUNK_SAMPLE_COLUMNS,
                                 (uint64_t)rec_job_rank(), &payload, true, NULL);
    rfn_rope_release(&payload);
    return error;
}
