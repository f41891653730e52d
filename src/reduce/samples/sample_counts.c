#include "reduce/samples/sample_counts.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 6, MOST_CLASS = RFN_SAMPLE_COUNTS_ANY - 1 }; /* at least; the largest size */

static uint32_t bits_of_index(uint32_t room)
{
    uint32_t bits = 4;
    while (UINT64_C(1) << bits < ((uint64_t)room + RFN_SAMPLE_COUNTS_ANY) * 2)
        bits++;
    return bits;
}

size_t rfn_sample_counts_offset(uint32_t room)
{
    return sizeof(struct rfn_sample_counts) + (sizeof(uint32_t) << bits_of_index(room));
}

size_t rfn_sample_counts_bytes(uint32_t room)
{
    return rfn_sample_counts_offset(room) +
           ((size_t)room + RFN_SAMPLE_COUNTS_ANY) * sizeof(struct rfn_sample_count);
}

struct rfn_sample_counts *rfn_sample_counts_init(void *memory, uint32_t room)
{
    struct rfn_sample_counts *counts = memory;
    counts->room = room;
    counts->hash_bits = bits_of_index(room);
    return counts;
}

/* Where in the index the row is, or 0 for it. The index is at most half full. */
static uint32_t *find_place(struct rfn_sample_counts *counts, int32_t source, int32_t dest,
                            uint8_t size_class)
{
    const uint64_t ranks = (uint64_t)(uint32_t)source << 32 | (uint32_t)dest;
    const uint64_t hash = rfn_hash_mix(rfn_hash_mix(0, ranks), size_class);
    const struct rfn_sample_count *rows = rfn_sample_counts_rows(counts);
    uint32_t *index = (uint32_t *)(void *)(counts + 1);
    const uint32_t last = ((uint32_t)1 << counts->hash_bits) - 1;
    uint32_t at = (uint32_t)(hash >> 32) & last;
    for (; index[at]; at = (at + 1) & last) {
        const struct rfn_sample_count *row = &rows[index[at] - 1];
        if (row->source == source && row->dest == dest && row->size_class == size_class)
            break;
    }
    return &index[at];
}

struct rfn_sample_count *rfn_sample_counts_row(struct rfn_sample_counts *counts, int32_t source,
                                               int32_t dest, uint8_t size_class)
{
    struct rfn_sample_count *rows = rfn_sample_counts_rows(counts);
    uint32_t *place = find_place(counts, source, dest, size_class);
    if (!*place && source != RFN_SAMPLE_ANY && counts->n_pairs == counts->room) {
        source = dest = RFN_SAMPLE_ANY;
        place = find_place(counts, source, dest, size_class);
    }
    if (!*place) {
        rows[counts->n] = (struct rfn_sample_count){
            .source = source, .dest = dest, .size_class = size_class};
        counts->n_pairs += source != RFN_SAMPLE_ANY;
        *place = counts->n + 1;
        /* A reader of shared memory sees a row that is there. */
        __atomic_store_n(&counts->n, counts->n + 1, __ATOMIC_RELEASE);
    }
    return &rows[*place - 1];
}

void rfn_sample_counts_add(struct rfn_sample_counts *counts, const struct rfn_sample_count *row)
{
    struct rfn_sample_count *to = rfn_sample_counts_row(counts, row->source, row->dest,
                                                        row->size_class);
    to->messages += row->messages;
    to->bytes += row->bytes;
    to->samples += row->samples;
}

/* ---- bytes ---- */

void rfn_sample_counts_pack(struct rfn_sample_counts *counts, struct rfn_buf *out)
{
    const struct rfn_sample_count *rows = rfn_sample_counts_rows(counts);
    rfn_buf_varint(out, counts->n);
    for (uint32_t i = 0; i < counts->n; i++) {
        rfn_buf_svarint(out, rows[i].source);
        rfn_buf_svarint(out, rows[i].dest);
        rfn_buf_varint(out, rows[i].size_class);
        rfn_buf_varint(out, rows[i].messages);
        rfn_buf_varint(out, rows[i].bytes);
        rfn_buf_varint(out, rows[i].samples);
    }
}

static int32_t get_rank(struct rfn_reader *reader)
{
    const int64_t rank = rfn_reader_svarint(reader);
    if (rank < RFN_SAMPLE_ANY || rank > INT32_MAX)
        reader->failed = true;
    return reader->failed ? 0 : (int32_t)rank;
}

static struct rfn_sample_count get_row(struct rfn_reader *reader)
{
    struct rfn_sample_count row = {.source = get_rank(reader)};
    row.dest = get_rank(reader);
    row.size_class = (uint8_t)rfn_reader_limited(reader, MOST_CLASS);
    row.messages = rfn_reader_varint(reader);
    row.bytes = rfn_reader_varint(reader);
    row.samples = rfn_reader_varint(reader);
    if ((row.source == RFN_SAMPLE_ANY) != (row.dest == RFN_SAMPLE_ANY))
        reader->failed = true;
    return row;
}

void rfn_sample_counts_unpack(struct rfn_sample_counts *counts, struct rfn_reader *reader)
{
    const uint32_t n = rfn_reader_count(reader, ROW_BYTES);
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        const struct rfn_sample_count row = get_row(reader);
        if (!reader->failed)
            rfn_sample_counts_add(counts, &row);
    }
}

int rfn_sample_counts_read(struct rfn_reader *reader, struct rfn_sample_count **rows,
                           size_t *n_rows)
{
    const uint32_t n = rfn_reader_count(reader, ROW_BYTES);
    *n_rows = 0;
    *rows = malloc(((size_t)n + 1) * sizeof **rows);
    if (!*rows)
        return RFN_E_NOMEM;
    while (*n_rows < n && !reader->failed)
        (*rows)[(*n_rows)++] = get_row(reader);
    if (!reader->failed)
        return 0;
    free(*rows);
    *rows = NULL;
    *n_rows = 0;
    return RFN_E_CORRUPT;
}
