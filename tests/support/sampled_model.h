/* sampled_model.h - the run of archive_model.h with samples of messages that have the times of its
 * events. To be included by one program; model_more = add_samples.
 */
#ifndef RFN_TESTS_SUPPORT_SAMPLED_MODEL_H
#define RFN_TESTS_SUPPORT_SAMPLED_MODEL_H

#include "archive/samples_format.h"
#include "refrain/sampling.h"
#include "support/archive_model.h"

#include <stdlib.h>

/* Each rank but one receives so many. The rank without has a clock only. */
enum { SAMPLES_EACH = 5, RANK_WITHOUT = 2, N_SAMPLES = SAMPLES_EACH * (N_RANKS - 1) };
enum { TABLE_ROWS = 8 };

#define SEND_HASH  UINT64_C(0xfedcba9876543210)
#define RECV_HASH  UINT64_C(0x0123456789abcdef)
#define OTHER_HASH UINT64_C(0x7777777777777777) /* is not listed */

/* The k-th message that a rank receives. Its times are those of events of both ends, which are
 * these. */
static uint32_t source_of(uint32_t rank, uint32_t k)
{
    return (rank + 1 + k) % N_RANKS;
}
static const struct model_event *sent_by(uint32_t rank, uint32_t k)
{
    return &model[source_of(rank, k)].events[k + 3];
}
static const struct model_event *posted_by(uint32_t rank, uint32_t k)
{
    return &model[rank].events[2 * k];
}
static const struct model_event *received_by(uint32_t rank, uint32_t k)
{
    return &model[rank].events[2 * k + (k & 1)];
}

static struct rfn_raw_sample model_sample(uint32_t rank, uint32_t k)
{
    return (struct rfn_raw_sample){.source = source_of(rank, k),
                                   .send = SEND_HASH,
                                   .receive = k == 0   ? OTHER_HASH
                                              : k == 1 ? RFN_SAMPLE_OTHER_SITE
                                                       : RECV_HASH,
                                   .bytes = UINT64_C(1000) * k,
                                   .channel = UINT64_MAX / 7 * (source_of(rank, k) + 1),
                                   .position = k,
                                   .weight = k < 2 ? 1 : 2.5,
                                   .sent = sent_by(rank, k)->enter,
                                   .posted = posted_by(rank, k)->enter,
                                   .entered = received_by(rank, k)->enter,
                                   .received = received_by(rank, k)->exit};
}

/* A sender counts; a receiver has samples of two call paths. */
static void fill_table(struct rfn_sample_table *table)
{
    const struct rfn_sample_key counted = {0, 1, SEND_HASH, RFN_SAMPLE_NO_SITE, 4};
    const struct rfn_sample_key known = {0, 1, SEND_HASH, RECV_HASH, 4};
    const struct rfn_sample_key other = {RFN_SAMPLE_ANY, 3, SEND_HASH, OTHER_HASH,
                                         RFN_SAMPLE_ANY_SIZE};
    struct rfn_sample_row *row = rfn_sample_table_row(table, &counted);
    row->messages = 1000;
    row->bytes = 8000;
    for (int i = 1; i <= 3; i++) {
        const struct rfn_sample_values values = {
            .latency_ns = 1000 * i, .waited_ns = i, .bytes = 8, .weight = 4, .clean = i == 2};
        rfn_sample_row_sample(rfn_sample_table_row(table, &known), &values, true);
    }
    rfn_sample_row_sample(rfn_sample_table_row(table, &other),
                          &(struct rfn_sample_values){.latency_ns = 70.5, .weight = 1.25}, true);
    table->dropped[RFN_SAMPLE_UNCERTAIN] = 17;
}

static void fill_counts(struct rfn_sample_counts *counts)
{
    *rfn_sample_counts_row(counts, 0, 1, 4) = (struct rfn_sample_count){0, 1, 4, 1000, 8000, 3};
    *rfn_sample_counts_row(counts, RFN_SAMPLE_ANY, RFN_SAMPLE_ANY, 64) = (struct rfn_sample_count){
        RFN_SAMPLE_ANY, RFN_SAMPLE_ANY, 64, 7, UINT64_MAX, 1};
}

static void write_samples(struct writer *writer)
{
    struct rfn_sample_site_number sites[] = {
        {SEND_HASH, SEND, 1}, {RECV_HASH, RECV, 0}, {SEND_HASH, SEND, 1}};
    struct rfn_sample_table *table = rfn_sample_table_init(
        calloc(1, rfn_sample_table_bytes(TABLE_ROWS)), TABLE_ROWS);
    struct rfn_sample_counts *counts = rfn_sample_counts_init(
        calloc(1, rfn_sample_counts_bytes(TABLE_ROWS)), TABLE_ROWS);
    const struct rfn_samples_facts facts = {.strategy = "random:0.25",
                                            .where = "size>=8",
                                            .analysis = RFN_SAMPLE_WRITE,
                                            .changed = true,
                                            .messages = 1000,
                                            .bytes = 8000,
                                            .sampled = N_SAMPLES,
                                            .sites = sites,
                                            .n_sites = 3,
                                            .table = table,
                                            .counts = counts};
    struct rfn_buf out = RFN_BUF_INIT;
    fill_table(table);
    fill_counts(counts);
    assert_int_equal(rfn_pack_samples(&facts, &out), 0);
    add_chunk(writer, RFN_CHUNK_SAMPLES, 0, &out);
    free(table);
    free(counts);
}

/* As write_clock has it. */
static void write_sample_columns(struct writer *writer, uint32_t rank)
{
    static const uint64_t quanta[] = {1000, 4000, 4000000};
    struct rfn_pack_pair pairs[3];
    const struct rfn_pack_clock clock = {.pairs = pairs, .n_pairs = 3, .start = model[rank].start};
    struct rfn_raw_sample samples[SAMPLES_EACH];
    struct rfn_buf out = RFN_BUF_INIT;
    for (int i = 0; i < 3; i++)
        pairs[i] = (struct rfn_pack_pair){quanta[i], monotonic_of(quanta[i]),
                                          realtime_of(&model[rank], quanta[i])};
    for (uint32_t k = 0; k < SAMPLES_EACH; k++) /* in some other order */
        samples[k] = model_sample(rank, (k + 2) % SAMPLES_EACH);
    const size_t n = rank == RANK_WITHOUT ? 0 : SAMPLES_EACH;
    assert_int_equal(rfn_pack_sample_columns(&clock, samples, n, &out), 0);
    add_chunk(writer, RFN_CHUNK_SAMPLE_COLUMNS, rank, &out);
}

static void add_samples(struct writer *writer)
{
    write_samples(writer);
    for (uint32_t rank = 0; rank < N_RANKS; rank++)
        write_sample_columns(writer, rank);
}

/* An archive that was made of one has the same samples; or all but the single messages. */
__attribute__((unused)) static void expect_same_samples(const struct rfn_archive *archive,
                                                        const struct rfn_archive *before,
                                                        bool singles)
{
    struct rfn_samples found, expected;
    assert_int_equal(rfn_samples_read(archive, &found, NULL), 0);
    assert_int_equal(rfn_samples_read(before, &expected, NULL), 0);
    assert_true(found.known && expected.known);
    assert_int_equal(expected.n_samples, N_SAMPLES);
    assert_int_equal(found.n_samples, singles ? N_SAMPLES : 0);
    assert_int_equal(found.n_rows, expected.n_rows);
    assert_int_equal(found.n_counts, expected.n_counts);
    for (size_t i = 0; i < found.n_counts; i++) {
        assert_int_equal(found.counts[i].source, expected.counts[i].source);
        assert_int_equal(found.counts[i].size_class, expected.counts[i].size_class);
        assert_int_equal(found.counts[i].messages, expected.counts[i].messages);
    }
    assert_memory_equal(found.rows, expected.rows, found.n_rows * sizeof *found.rows);
    if (singles)
        assert_memory_equal(found.samples, expected.samples, N_SAMPLES * sizeof *found.samples);
    assert_string_equal(found.where, expected.where);
    rfn_samples_release(&found);
    rfn_samples_release(&expected);
}

#endif
