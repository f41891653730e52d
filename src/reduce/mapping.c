#include "reduce/mapping.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_mapping_release(struct rfn_mapping *mapping)
{
    free(mapping->things);
    *mapping = (struct rfn_mapping){0};
}

int rfn_mapping_add(struct rfn_mapping *mapping, uint32_t to, bool created)
{
    RFN_TRY(RFN_GROW(mapping->things, mapping->capacity, mapping->n + 1));
    mapping->things[mapping->n++] = (struct rfn_mapped){to, created};
    return 0;
}

int rfn_mapping_add_run(struct rfn_mapping *mapping, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        RFN_TRY(rfn_mapping_add(mapping, (uint32_t)(first + i), false));
    return 0;
}

/* How many things from i on have consecutive numbers and the same bits. */
static size_t run_from(const struct rfn_fate *fates, size_t n, size_t i)
{
    size_t count = 1;
    while (i + count < n && fates[i + count].bits == fates[i].bits &&
           fates[i + count].number == fates[i].number + count)
        count++;
    return count;
}

void rfn_fates_write(const struct rfn_fate *fates, size_t n, struct rfn_buf *out)
{
    uint64_t expected = 0;
    for (size_t i = 0, count; i < n; i += count) {
        count = run_from(fates, n, i);
        rfn_buf_varint(out, (uint64_t)count << 2 | fates[i].bits);
        rfn_buf_svarint(out, (int64_t)(fates[i].number - expected));
        expected = fates[i].number + count;
    }
}

int rfn_fates_read(struct rfn_fate *fates, size_t n, uint64_t total, struct rfn_reader *reader)
{
    uint64_t expected = 0;
    for (size_t i = 0; i < n;) {
        uint64_t head = rfn_reader_varint(reader), count = head >> 2;
        uint64_t number = expected + (uint64_t)rfn_reader_svarint(reader);
        if (reader->failed || count == 0 || count > n - i || number >= total ||
            count > total - number)
            return RFN_E_EXCHANGE;
        for (uint64_t k = 0; k < count; k++)
            fates[i++] = (struct rfn_fate){number + k, head & 3};
        expected = number + count;
    }
    return 0;
}
