#include "reduce/columns/lists.h"

#include "base/grow.h"

#include <stdlib.h>
#include <zstd.h>

enum { LEVEL = 1 };

struct rfn_list_scratch {
    struct rfn_buf packed; /* a block read from the spill */
    struct rfn_buf block;  /* a block that was decompressed */
    size_t number;         /* its number, when block is not empty */
    size_t list, at;       /* this list begins there in the block read last... */
    size_t list_block;     /* ... which is this one */
    int64_t *words;
    size_t words_capacity;
};

void rfn_lists_release(struct rfn_lists *lists)
{
    for (size_t i = 0; i < lists->n_blocks; i++)
        free(lists->blocks[i].bytes);
    free(lists->blocks);
    free(lists->known);
    rfn_buf_release(&lists->open);
    rfn_map_release(&lists->by_hash);
    if (lists->scratch) {
        rfn_buf_release(&lists->scratch->packed);
        rfn_buf_release(&lists->scratch->block);
        free(lists->scratch->words);
        free(lists->scratch);
    }
    *lists = (struct rfn_lists){0};
}

/* ---- recognizing ---- */

/* The place of a known list, or -1 and a free key. */
static int64_t find_known(const struct rfn_lists *lists, struct rfn_hash128 digest, uint64_t *key)
{
    for (*key = digest.low;; ++*key) {
        const uint64_t *place = rfn_map_get(&lists->by_hash, *key);
        if (!place)
            return -1;
        if (rfn_hash128_equal(lists->known[*place].digest, digest))
            return (int64_t)*place;
    }
}

static int know(struct rfn_lists *lists, struct rfn_hash128 digest, uint64_t number)
{
    uint64_t key;
    find_known(lists, digest, &key);
    RFN_TRY(RFN_GROW(lists->known, lists->known_capacity, lists->n_known + 1));
    RFN_TRY(rfn_map_put(&lists->by_hash, key, lists->n_known));
    lists->known[lists->n_known++] = (struct rfn_list_known){.digest = digest, .number = number};
    return 0;
}

/* Keeps those that have come again, unless that are too many to be worth it. */
static int forget(struct rfn_lists *lists)
{
    size_t n = lists->n_known, n_again = 0;
    for (size_t i = 0; i < n; i++)
        n_again += lists->known[i].again;
    rfn_map_release(&lists->by_hash);
    lists->n_known = 0;
    for (size_t i = 0; i < n && n_again < RFN_LISTS_KNOWN / 2; i++) {
        const struct rfn_list_known list = lists->known[i];
        if (list.again)
            RFN_TRY(know(lists, list.digest, list.number));
    }
    return 0;
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
    lists->blocks[lists->n_blocks++] = (struct rfn_list_block){.first = lists->open_first,
                                                               .bytes = shorter ? shorter
                                                                                : packed.data,
                                                               .size = size,
                                                               .raw_size = lists->open.size};
    lists->open.size = 0;
    lists->open_first = lists->n;
    return 0;
}

int64_t rfn_lists_intern(struct rfn_lists *lists, const int64_t *words, size_t n)
{
    uint64_t key;
    if (n == 0)
        return 0;
    struct rfn_hash128 digest = rfn_hash128_bytes(words, n * sizeof *words);
    int64_t place = find_known(lists, digest, &key);
    if (place >= 0) {
        lists->known[place].again = true;
        return (int64_t)lists->known[place].number;
    }
    if (!lists->scratch && !(lists->scratch = calloc(1, sizeof *lists->scratch)))
        return RFN_E_NOMEM;
    if (lists->open.size >= RFN_LISTS_BLOCK)
        RFN_TRY(seal(lists));
    if (lists->n_known == RFN_LISTS_KNOWN)
        RFN_TRY(forget(lists));
    RFN_TRY(know(lists, digest, lists->n + 1));
    rfn_buf_varint(&lists->open, n);
    for (size_t i = 0; i < n; i++)
        rfn_buf_svarint(&lists->open, words[i]);
    RFN_TRY(rfn_buf_status(&lists->open));
    return (int64_t)++lists->n;
}

/* ---- reading ---- */

/* The compressed bytes of a block, or NULL. */
static const uint8_t *packed_bytes(const struct rfn_lists *lists,
                                   const struct rfn_list_block *block)
{
    struct rfn_buf *packed = &lists->scratch->packed;
    if (block->bytes)
        return block->bytes;
    packed->size = 0;
    uint8_t *to = rfn_buf_reserve(packed, block->size);
    bool read = to &&
                lists->spill->read(lists->spill->context, block->offset, to, block->size) == 0;
    return read ? to : NULL;
}

/* The bytes of a block; NULL when they cannot be read. */
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
        const uint8_t *packed = packed_bytes(lists, block);
        uint8_t *to = packed ? rfn_buf_reserve(&scratch->block, block->raw_size) : NULL;
        if (!to || ZSTD_decompress(to, block->raw_size, packed, block->size) != block->raw_size)
            return NULL;
        scratch->block.size = block->raw_size;
        scratch->number = number;
    }
    *size = block->raw_size;
    return scratch->block.data;
}

/* The number of the block that the list is in. */
static size_t block_of(const struct rfn_lists *lists, size_t number)
{
    size_t low = 0, high = lists->n_blocks;
    while (low < high) {
        size_t middle = (low + high) / 2;
        bool behind = middle + 1 < lists->n_blocks ? lists->blocks[middle + 1].first < number
                                                   : lists->open_first < number;
        if (behind)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sets the reader to the list's place in its block, from the list that was read last if that is not
 * behind it. */
static void seek(const struct rfn_lists *lists, struct rfn_reader *reader, size_t block,
                 size_t number)
{
    struct rfn_list_scratch *scratch = lists->scratch;
    size_t before = block < lists->n_blocks ? lists->blocks[block].first : lists->open_first;
    size_t list = before + 1;
    if (scratch->list_block == block && scratch->list >= list && scratch->list <= number) {
        list = scratch->list;
        reader->at = scratch->at;
    }
    for (; list < number; list++) {
        uint64_t n = rfn_reader_varint(reader);
        for (uint64_t i = 0; i < n; i++)
            rfn_reader_varint(reader);
    }
    scratch->list_block = block;
    scratch->list = number;
    scratch->at = reader->at;
}

const int64_t *rfn_lists_get(const struct rfn_lists *lists, size_t number, size_t *n)
{
    *n = 0;
    if (number == 0 || number > lists->n)
        return NULL;
    struct rfn_list_scratch *scratch = lists->scratch;
    size_t size, block = block_of(lists, number);
    const uint8_t *bytes = block_bytes(lists, block, &size);
    if (!bytes)
        return NULL;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    seek(lists, &reader, block, number);
    size_t length = (size_t)rfn_reader_varint(&reader);
    if (RFN_GROW(scratch->words, scratch->words_capacity, length) < 0)
        return NULL;
    for (size_t i = 0; i < length; i++)
        scratch->words[i] = rfn_reader_svarint(&reader);
    *n = length;
    return scratch->words;
}

/* ---- leaving memory ---- */

int rfn_lists_spill(struct rfn_lists *lists, const struct rfn_spill *spill)
{
    lists->spill = spill;
    for (; lists->n_spilled < lists->n_blocks; lists->n_spilled++) {
        struct rfn_list_block *block = &lists->blocks[lists->n_spilled];
        RFN_TRY(spill->write(spill->context, block->bytes, block->size, &block->offset));
        free(block->bytes);
        block->bytes = NULL;
    }
    return 0;
}

size_t rfn_lists_bytes(const struct rfn_lists *lists)
{
    size_t bytes = lists->known_capacity * sizeof *lists->known +
                   lists->blocks_capacity * sizeof *lists->blocks + lists->open.capacity +
                   rfn_map_bytes(&lists->by_hash);
    for (size_t i = lists->n_spilled; i < lists->n_blocks; i++)
        bytes += lists->blocks[i].size;
    return bytes;
}
