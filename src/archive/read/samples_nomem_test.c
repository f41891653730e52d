/* Samples out of memory: of all allocations of packing and of reading them each fails once. */
#include "support/sampled_model.h"

#include "support/fail_each.h"

struct tables {
    struct rfn_sample_table *table;
    struct rfn_sample_counts *counts;
};

static int pack_all(const void *of)
{
    const struct tables *tables = of;
    struct rfn_buf out = RFN_BUF_INIT;
    struct rfn_sample_site_number sites[] = {{SEND_HASH, SEND, 1}, {RECV_HASH, RECV, 0}};
    const struct rfn_samples_facts facts = {.strategy = "adaptive:256",
                                            .where = "",
                                            .analysis = RFN_SAMPLE_WRITE,
                                            .sites = sites,
                                            .n_sites = 2,
                                            .table = tables->table,
                                            .counts = tables->counts};
    const struct rfn_pack_pair pairs[] = {{1000, 1000, 1000}, {2000, 2000, 2000}};
    const struct rfn_pack_clock clock = {.pairs = pairs, .n_pairs = 2, .start = 1000};
    struct rfn_raw_sample samples[SAMPLES_EACH];
    for (uint32_t k = 0; k < SAMPLES_EACH; k++)
        samples[k] = model_sample(0, k);
    int error = rfn_pack_samples(&facts, &out);
    if (!error)
        error = rfn_pack_sample_columns(&clock, samples, SAMPLES_EACH, &out);
    rfn_buf_release(&out);
    return error;
}

static int read_all(const void *of)
{
    struct rfn_samples samples;
    const int error = rfn_samples_read(of, &samples, NULL);
    assert_true(error || samples.n_samples == N_SAMPLES);
    rfn_samples_release(&samples);
    return error;
}

static void test_packing(void **state)
{
    (void)state;
    static uint64_t memory[1 << 14];
    make_model();
    assert_true(rfn_sample_table_bytes(TABLE_ROWS) <= sizeof memory);
    struct rfn_sample_table *table = rfn_sample_table_init(memory, TABLE_ROWS);
    static uint64_t counts_memory[1 << 10];
    assert_true(rfn_sample_counts_bytes(TABLE_ROWS) <= sizeof counts_memory);
    struct tables tables = {table, rfn_sample_counts_init(counts_memory, TABLE_ROWS)};
    fill_table(table);
    fill_counts(tables.counts);
    assert_int_equal(fail_each(8, pack_all, &tables), 0);
}

static void test_reading(void **state)
{
    (void)state;
    struct rfn_archive *archive;
    model_more = add_samples;
    struct rfn_buf file = write_archive(SOUND, true, true);
    assert_int_equal(rfn_archive_open_memory(file.data, file.size, &archive, NULL), 0);
    assert_int_equal(fail_each(20, read_all, archive), 0);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_packing),
                                       cmocka_unit_test(test_reading)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
