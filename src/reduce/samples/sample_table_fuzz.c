/* Any bytes as samples: rows or an error, the same from both ways of unpacking; a table stays
 * within its room and keeps the sums; estimates of any rows are numbers in order, or none. */
#include "reduce/samples/sample_table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect_order(struct rfn_sample_interval interval)
{
    if (interval.low > interval.value || interval.high < interval.value)
        abort();
}

static uint64_t estimate(const struct rfn_sample_row *row)
{
    const double populations[] = {0, (double)row->n * 3, (double)row->n, (double)row->messages};
    for (size_t i = 0; i < sizeof populations / sizeof *populations; i++) {
        expect_order(rfn_sample_mean(row, populations[i]));
        expect_order(rfn_sample_quantile(row, 0.5, populations[i]));
        expect_order(rfn_sample_quantile(row, 0.999, populations[i]));
    }
    if (rfn_sample_deviation_ns(row) < 0)
        abort();
    return row->messages + row->bytes + row->n + row->clean;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { CAPACITY = 8 };
    struct rfn_sample_table *table = calloc(1, rfn_sample_table_bytes(CAPACITY));
    struct rfn_sample_row *rows;
    size_t n_rows;
    uint64_t dropped[RFN_SAMPLE_DROPS], difference = 0;
    if (!table)
        return 0;
    rfn_sample_table_init(table, CAPACITY);
    const int error = rfn_sample_table_unpack(table, bytes, size);
    if (rfn_sample_rows_unpack(bytes, size, &rows, &n_rows, dropped) != error)
        abort();
    for (size_t i = 0; i < n_rows; i++)
        difference += estimate(&rows[i]);
    for (uint32_t i = 0; i < table->n_rows; i++)
        difference -= estimate(&rfn_sample_table_rows(table)[i]);
    if (table->n_rows > CAPACITY || table->generation % 2 || (error == 0 && difference != 0))
        abort();
    free(rows);
    free(table);
    return 0;
}
