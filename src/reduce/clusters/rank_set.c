#include "reduce/clusters/rank_set.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

void rfn_rank_set_release(struct rfn_rank_set *set)
{
    free(set->blocks);
    *set = (struct rfn_rank_set){0};
}

/* ---- finding blocks ----
 *
 * Bottom up: ranks are blocks without dimensions; equally spaced blocks of the same form become one
 * block with a dimension more. */

static bool same_form(const struct rfn_rank_block *a, const struct rfn_rank_block *b)
{
    if (a->n_dimensions != b->n_dimensions)
        return false;
    for (uint32_t i = 0; i < a->n_dimensions; i++) {
        if (a->dimensions[i].count != b->dimensions[i].count ||
            a->dimensions[i].stride != b->dimensions[i].stride)
            return false;
    }
    return true;
}

/* How many blocks from the first on are of its form and equally spaced. Of two blocks that are
 * followed by one that is nearer, the second rather begins another row. */
static size_t row_length(const struct rfn_rank_block *blocks, size_t n)
{
    size_t length = 1;
    if (n < 2 || !same_form(&blocks[0], &blocks[1]))
        return 1;
    uint32_t stride = blocks[1].start - blocks[0].start;
    while (length < n && same_form(&blocks[0], &blocks[length]) &&
           blocks[length].start - blocks[length - 1].start == stride)
        length++;
    if (length == 2 && n > 2 && same_form(&blocks[1], &blocks[2]) &&
        blocks[2].start - blocks[1].start < stride)
        return 1;
    return length;
}

/* One dimension more, in place; returns how many blocks are left. */
static size_t join_rows(struct rfn_rank_block *blocks, size_t n, uint32_t dimension)
{
    size_t out = 0;
    for (size_t i = 0, length; i < n; i += length) {
        struct rfn_rank_block block = blocks[i];
        length = block.n_dimensions == dimension ? row_length(blocks + i, n - i) : 1;
        if (length > 1) {
            memmove(block.dimensions + 1, block.dimensions,
                    block.n_dimensions * sizeof *block.dimensions);
            block.dimensions[0].count = (uint32_t)length;
            block.dimensions[0].stride = blocks[i + 1].start - block.start;
            block.n_dimensions++;
        }
        blocks[out++] = block;
    }
    return out;
}

int rfn_rank_set_assign(struct rfn_rank_set *set, const uint32_t *ranks, size_t n)
{
    struct rfn_rank_block *blocks = calloc(n + 1, sizeof *blocks);
    if (!blocks)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        blocks[i].start = ranks[i];
    size_t n_blocks = n;
    for (uint32_t i = 0; i < RFN_RANK_DIMENSIONS; i++)
        n_blocks = join_rows(blocks, n_blocks, i);
    struct rfn_rank_block *less = realloc(blocks, (n_blocks + 1) * sizeof *blocks);
    free(set->blocks);
    *set = (struct rfn_rank_set){less ? less : blocks, n_blocks, n_blocks + 1, n};
    return 0;
}

/* ---- using them ---- */

/* The ranks of a block in the order of its dimensions; returns how many. */
static size_t list_block(const struct rfn_rank_block *block, uint32_t *ranks)
{
    size_t n = 1;
    ranks[0] = block->start;
    for (uint32_t i = block->n_dimensions; i-- > 0;) {
        size_t inner = n;
        for (uint32_t k = 1; k < block->dimensions[i].count; k++) {
            for (size_t m = 0; m < inner; m++)
                ranks[n++] = ranks[m] + k * block->dimensions[i].stride;
        }
    }
    return n;
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void rfn_rank_set_list(const struct rfn_rank_set *set, uint32_t *ranks)
{
    size_t n = 0;
    bool ascending = true;
    for (size_t i = 0; i < set->n_blocks; i++) {
        size_t from = n;
        n += list_block(&set->blocks[i], ranks + n);
        for (size_t k = from ? from : 1; k < n; k++)
            ascending &= ranks[k] > ranks[k - 1];
    }
    if (!ascending)
        qsort(ranks, n, sizeof *ranks, compare_ranks);
}

int rfn_rank_set_unite(struct rfn_rank_set *set, const struct rfn_rank_set *other)
{
    size_t n = (size_t)(set->n + other->n), out = 0, a = 0, b = (size_t)set->n;
    uint32_t *ranks = malloc(2 * (n + 1) * sizeof *ranks);
    if (!ranks)
        return RFN_E_NOMEM;
    uint32_t *both = ranks + n + 1;
    rfn_rank_set_list(set, ranks);
    rfn_rank_set_list(other, ranks + set->n);
    while (out < n)
        both[out++] = b == n || (a < set->n && ranks[a] < ranks[b]) ? ranks[a++] : ranks[b++];
    int error = rfn_rank_set_assign(set, both, n);
    free(ranks);
    return error;
}

/* ---- as bytes ---- */

void rfn_rank_set_write(const struct rfn_rank_set *set, struct rfn_buf *out)
{
    rfn_buf_varint(out, set->n_blocks);
    for (size_t i = 0; i < set->n_blocks; i++) {
        const struct rfn_rank_block *block = &set->blocks[i];
        rfn_buf_varint(out, block->start);
        rfn_buf_varint(out, block->n_dimensions);
        for (uint32_t k = 0; k < block->n_dimensions; k++) {
            rfn_buf_varint(out, block->dimensions[k].count);
            rfn_buf_varint(out, block->dimensions[k].stride);
        }
    }
}

/* Reads a block and appends its ranks. */
static int read_block(struct rfn_reader *reader, uint32_t n_ranks, uint32_t **ranks,
                      size_t *capacity, size_t *n)
{
    struct rfn_rank_block block = {.start = (uint32_t)rfn_reader_limited(reader, n_ranks - 1)};
    block.n_dimensions = (uint32_t)rfn_reader_limited(reader, RFN_RANK_DIMENSIONS);
    uint64_t last = block.start, count = 1;
    for (uint32_t i = 0; i < block.n_dimensions; i++) {
        block.dimensions[i].count = (uint32_t)rfn_reader_limited(reader, n_ranks);
        block.dimensions[i].stride = (uint32_t)rfn_reader_limited(reader, n_ranks);
        if (reader->failed || block.dimensions[i].count < 2 || block.dimensions[i].stride < 1)
            return RFN_E_CORRUPT;
        last += (uint64_t)(block.dimensions[i].count - 1) * block.dimensions[i].stride;
        count *= block.dimensions[i].count;
        if (last >= n_ranks || count > n_ranks)
            return RFN_E_CORRUPT;
    }
    if (reader->failed || count > n_ranks - *n)
        return RFN_E_CORRUPT;
    RFN_TRY(RFN_GROW(*ranks, *capacity, *n + count));
    *n += list_block(&block, *ranks + *n);
    return 0;
}

int rfn_rank_set_read(struct rfn_rank_set *set, struct rfn_reader *reader, uint32_t n_ranks)
{
    uint32_t *ranks = NULL;
    size_t capacity = 0, n = 0;
    uint64_t n_blocks = rfn_reader_limited(reader, n_ranks);
    int error = reader->failed || n_blocks == 0 ? RFN_E_CORRUPT : 0;
    for (uint64_t i = 0; i < n_blocks && !error; i++)
        error = read_block(reader, n_ranks, &ranks, &capacity, &n);
    if (!error)
        qsort(ranks, n, sizeof *ranks, compare_ranks);
    for (size_t i = 1; i < n && !error; i++)
        error = ranks[i] == ranks[i - 1] ? RFN_E_CORRUPT : 0;
    if (!error)
        error = rfn_rank_set_assign(set, ranks, n);
    free(ranks);
    return error;
}
