#include "reduce/lists.h"

#include "base/grow.h"

#include <stdlib.h>
#include <zstd.h>

enum { LEVEL = 1 };

struct rfn_list_scratch {
    struct rfn_buf block; /* a block that was decompressed */
    size_t number;        /* its number, when block is not empty */
    int64_t *words;
    size_t words_capacity;
};

void rfn_lists_release(struct rfn_lists *lists)
{
    for (size_t i = 0; i < lists->n_blocks; i++)
        free(lists->blocks[i].bytes);
    free(lists->blocks);
    free(lists->entries);
    rfn_buf_release(&lists->open);
    rfn_map_release(&lists->by_hash);
    if (lists->scratch) {
        rfn_buf_release(&lists->scratch->block);
        free(lists->scratch->words);
        free(lists->scratch);
    }
    *lists = (struct rfn_lists)RFN_LISTS_INIT;
}

/* ---- adding ---- */

/* Compresses the open block; the next one is empty. */
static int seal(struct rfn_lists *lists)
{
    RFN_TRY(RFN_GROW(lists->blocks, lists->blocks_capacity, lists->n_blocks + 1));
    struct rfn_buf packed = RFN_BUF_INIT;
    size_t bound = ZSTD_compressBound(lists->open.size);
    uint8_t *to = rfn_buf_reserve(&packed, bound);
    size_t size = to ? ZSTD_compress(to, bound, lists->open.data, lists->open.size, LEVEL) : 0;
    if (!to || ZSTD_isError(size)) {
        rfn_buf_release(&packed);
        return RFN_E_NOMEM;
    }
    uint8_t *shorter = realloc(packed.data, size);
    lists->blocks[lists->n_blocks++] = (struct rfn_list_block){shorter ? shorter : packed.data,
                                                               size, lists->open.size};
    lists->open.size = 0;
    return 0;
}

static int add(struct rfn_lists *lists, const int64_t *words, size_t n, struct rfn_hash128 digest,
               uint64_t key)
{
    if (!lists->scratch && !(lists->scratch = calloc(1, sizeof *lists->scratch)))
        return RFN_E_NOMEM;
    if (lists->open.size >= RFN_LISTS_BLOCK)
        RFN_TRY(seal(lists));
    RFN_TRY(RFN_GROW(lists->entries, lists->entries_capacity, lists->n + 1));
    lists->entries[lists->n] = (struct rfn_list_entry){.digest = digest,
                                                       .n = n,
                                                       .block = (uint32_t)lists->n_blocks,
                                                       .offset = (uint32_t)lists->open.size};
    for (size_t i = 0; i < n; i++)
        rfn_buf_svarint(&lists->open, words[i]);
    RFN_TRY(rfn_buf_status(&lists->open));
    RFN_TRY(rfn_map_put(&lists->by_hash, key, lists->n + 1));
    lists->n++;
    return 0;
}

int64_t rfn_lists_intern(struct rfn_lists *lists, const int64_t *words, size_t n)
{
    if (n == 0)
        return 0;
    struct rfn_hash128 digest = rfn_hash128_bytes(words, n * sizeof *words);
    for (uint64_t key = digest.low;; key++) {
        const uint64_t *number = rfn_map_get(&lists->by_hash, key);
        if (!number) {
            int error = add(lists, words, n, digest, key);
            return error < 0 ? error : (int64_t)lists->n;
        }
        if (rfn_hash128_equal(lists->entries[*number - 1].digest, digest))
            return (int64_t)*number;
    }
}

/* ---- reading ---- */

/* The bytes of a block; *size 0 without memory. */
static const uint8_t *block_bytes(const struct rfn_lists *lists, size_t number, size_t *size)
{
    struct rfn_list_scratch *scratch = lists->scratch;
    *size = 0;
    if (number == lists->n_blocks) {
        *size = lists->open.size;
        return lists->open.data;
    }
    const struct rfn_list_block *block = &lists->blocks[number];
    if (!scratch->block.size || scratch->number != number) {
        scratch->block.size = 0;
        uint8_t *to = rfn_buf_reserve(&scratch->block, block->raw_size);
        if (!to ||
            ZSTD_decompress(to, block->raw_size, block->bytes, block->size) != block->raw_size)
            return NULL;
        scratch->block.size = block->raw_size;
        scratch->number = number;
    }
    *size = block->raw_size;
    return scratch->block.data;
}

const int64_t *rfn_lists_get(const struct rfn_lists *lists, size_t number, size_t *n)
{
    *n = 0;
    if (number == 0 || number > lists->n)
        return NULL;
    const struct rfn_list_entry *entry = &lists->entries[number - 1];
    struct rfn_list_scratch *scratch = lists->scratch;
    size_t size;
    const uint8_t *bytes = block_bytes(lists, entry->block, &size);
    if (!bytes || RFN_GROW(scratch->words, scratch->words_capacity, entry->n) < 0)
        return NULL;
    struct rfn_reader reader = rfn_reader_over(bytes + entry->offset, size - entry->offset);
    for (size_t i = 0; i < entry->n; i++)
        scratch->words[i] = rfn_reader_svarint(&reader);
    *n = entry->n;
    return scratch->words;
}
