/* A page is a block of values. Of the words it is the block as it was decoded; of the lengths it is
 * where each list ends, counted from the first of the block, so that any list is found at once. A
 * block of equal lengths may have any number of lists and is not expanded.
 *
 * The page with value v is read from the last place noted that is not behind v (or from where the
 * last page was read, if that is nearer), block by block. That are few, mostly one: a place is
 * noted for every block that begins RFN_COLUMN_BLOCK values or more after the one noted before.
 *
 * Numbers in blocks are checked whenever they are decoded: the file may have been changed since. */
#include "archive/read/value_lists.h"

#include "base/grow.h"

#include <stdlib.h>

enum { PAGES_MAX = 256, NO_STEP = -1 };

/* ---- where blocks are ---- */

static const char *const malformed[] = {[RFN_LIST_LENGTHS] = "the lengths of lists are malformed",
                                        [RFN_LIST_WORDS] = "the words of lists are malformed"};

static const char *fault_of(int error, enum rfn_list_column column)
{
    bool damaged = error == RFN_E_CORRUPT || error == RFN_E_RANGE;
    return damaged ? malformed[column] : rfn_read_fault(error);
}

/* Adds the lengths of the current block of n lists to *words, which must not exceed n_words. */
static int add_lengths(const struct rfn_column_cursor *cursor, uint64_t n, uint64_t n_words,
                       uint64_t *words)
{
    const struct rfn_packed *packed = &cursor->packed;
    uint64_t length = (uint64_t)packed->base;
    if (!packed->width) {
        if (packed->base < 0 || length > (n_words - *words) / n)
            return RFN_E_CORRUPT;
        *words += length * n;
        return 0;
    }
    for (uint64_t i = 0; i < n; i++) {
        length = (uint64_t)rfn_packed_at(packed, (size_t)i);
        if (length > n_words - *words) /* or negative */
            return RFN_E_CORRUPT;
        *words += length;
    }
    return 0;
}

/* Notes the places of blocks, unless the one before is so near that it will do; lengths are decoded
 * and added up. */
static int find_blocks(struct rfn_value_lists *lists, enum rfn_list_column column,
                       struct rfn_column_cursor *cursor)
{
    const bool lengths = column == RFN_LIST_LENGTHS;
    uint64_t words = 0;
    while (cursor->end < cursor->n) {
        uint64_t first = cursor->end;
        struct rfn_list_places *places = &lists->places[column];
        if (!places->n || first - places->at[places->n - 1].block.first >= RFN_COLUMN_BLOCK) {
            RFN_TRY(RFN_GROW(places->at, places->capacity, places->n + 1));
            places->at[places->n++] = (struct rfn_list_place){rfn_column_place(cursor), words};
        }
        RFN_TRY(lengths ? rfn_column_next_block(cursor) : rfn_column_pass_block(cursor));
        if (lengths)
            RFN_TRY(add_lengths(cursor, cursor->end - first, lists->n_words, &words));
    }
    bool all = !rfn_column_bytes_left(cursor) && (!lengths || words == lists->n_words);
    return all ? 0 : RFN_E_CORRUPT;
}

static int open_column(const struct rfn_value_lists *lists, const struct rfn_payload *payload,
                       enum rfn_list_column column, struct rfn_column_cursor *cursor)
{
    return rfn_payload_column(payload, lists->columns[column], lists->columns[column + 1], cursor);
}

const char *rfn_value_lists_read(struct rfn_value_lists *lists, const struct rfn_payload *payload,
                                 const size_t *columns, uint64_t n)
{
    struct rfn_column_cursor lengths = {0}, words = {0};
    *lists = (struct rfn_value_lists){.n = n, .columns = {columns[0], columns[1], columns[2]}};
    enum rfn_list_column column = RFN_LIST_LENGTHS;
    int error = open_column(lists, payload, column, &lengths);
    if (!error && lengths.n != n)
        error = RFN_E_CORRUPT;
    if (!error)
        error = open_column(lists, payload, column = RFN_LIST_WORDS, &words);
    const char *fault = error ? fault_of(error, column) : NULL;
    if (!fault && words.n > RFN_LIST_WORDS_MAX)
        fault = "the lists have more words than can be read";
    lists->n_words = words.n;
    if (!fault && (error = find_blocks(lists, RFN_LIST_LENGTHS, &lengths)))
        fault = fault_of(error, RFN_LIST_LENGTHS);
    if (!fault && (error = find_blocks(lists, RFN_LIST_WORDS, &words)))
        fault = fault_of(error, RFN_LIST_WORDS);
    rfn_column_close(&lengths);
    rfn_column_close(&words);
    return fault;
}

void rfn_value_lists_release(struct rfn_value_lists *lists)
{
    for (int i = 0; i < RFN_LIST_COLUMNS; i++)
        free(lists->places[i].at);
    *lists = (struct rfn_value_lists){0};
}

int rfn_value_lists_check(const struct rfn_value_lists *lists, const struct rfn_payload *payload)
{
    struct rfn_column_cursor words;
    RFN_TRY(open_column(lists, payload, RFN_LIST_WORDS, &words));
    int error = 0;
    while (!error && words.end < words.n)
        error = rfn_column_next_block(&words);
    rfn_column_close(&words);
    return error;
}

/* ---- pages ---- */

struct page {
    enum rfn_list_column column;
    uint64_t first, end; /* values */
    uint64_t words;      /* lengths: words of the lists before */
    int64_t step;        /* lengths: of each list, if they are equal; else NO_STEP */
    uint64_t used;
    struct rfn_packed
        values; /* words; or per list the words from the page's first list to its end */
};

/* A column and where it is being read. */
struct side {
    struct rfn_column_cursor cursor;
    uint64_t words; /* before the next block */
    size_t last;    /* page used last */
};

/* What a reader is behind its copies. */
struct rfn_list_rest {
    const struct rfn_value_lists *lists;
    struct side sides[RFN_LIST_COLUMNS];
    struct page *pages;
    size_t n_pages, pages_capacity;
    size_t room, page_bytes, copy_bytes;
    uint64_t clock;              /* counts uses of pages */
    struct rfn_list_copy *extra; /* copies whose places are taken by others in use */
    size_t n_extra, extra_capacity;
    int error; /* sticky */
};

static size_t bytes_of(const struct page *page)
{
    return sizeof *page + page->values.capacity;
}

static void drop_page(struct rfn_list_rest *rest, size_t i)
{
    struct page *page = &rest->pages[i], *last = &rest->pages[--rest->n_pages];
    rest->page_bytes -= bytes_of(page);
    rfn_packed_release(&page->values);
    *page = *last;
    struct side *side = &rest->sides[page->column];
    if (side->last == rest->n_pages)
        side->last = i;
}

/* Gives up pages that have not been used for the longest time, but for the last of each column. */
static void trim_pages(struct rfn_list_rest *rest)
{
    while (rest->page_bytes > rest->room || rest->n_pages > PAGES_MAX) {
        size_t oldest = SIZE_MAX;
        for (size_t i = 0; i < rest->n_pages; i++) {
            const struct page *page = &rest->pages[i];
            if (i != rest->sides[page->column].last &&
                (oldest == SIZE_MAX || page->used < rest->pages[oldest].used))
                oldest = i;
        }
        if (oldest == SIZE_MAX)
            return;
        drop_page(rest, oldest);
    }
}

/* Decodes the block with value `at` (there is one); *first is the number of its first value, and
 * side->words counts what is before it. */
static int read_block(struct rfn_list_rest *rest, enum rfn_list_column column, uint64_t at,
                      uint64_t *first)
{
    struct side *side = &rest->sides[column];
    struct rfn_column_cursor *cursor = &side->cursor;
    const struct rfn_list_places *places = &rest->lists->places[column];
    size_t low = 0, high = places->n;
    while (high - low > 1) { /* the place in low is at or before the value */
        size_t middle = low + (high - low) / 2;
        if (places->at[middle].block.first <= at)
            low = middle;
        else
            high = middle;
    }
    if (cursor->end > at || cursor->end < places->at[low].block.first) {
        rfn_column_seek(cursor, &places->at[low].block);
        side->words = places->at[low].words;
    }
    for (;;) {
        *first = cursor->end;
        RFN_TRY(rfn_column_next_block(cursor));
        if (cursor->end > at)
            return 0;
        if (column == RFN_LIST_LENGTHS)
            RFN_TRY(add_lengths(cursor, cursor->end - *first, rest->lists->n_words, &side->words));
    }
}

/* Makes a page of the current block of lengths. */
static int take_lengths(struct rfn_list_rest *rest, struct page *page)
{
    struct side *side = &rest->sides[RFN_LIST_LENGTHS];
    const struct rfn_packed *lengths = &side->cursor.packed;
    uint64_t n = page->end - page->first, before = side->words;
    page->words = before;
    page->step = lengths->width ? NO_STEP : lengths->base;
    RFN_TRY(add_lengths(&side->cursor, n, rest->lists->n_words, &side->words));
    if (page->step != NO_STEP)
        return 0;
    RFN_TRY(rfn_packed_begin(&page->values, n, 0, side->words - before));
    uint8_t *to = page->values.bytes;
    for (uint64_t i = 0, end = 0; i < n; i++, to += page->values.width) {
        end += (uint64_t)rfn_packed_at(lengths, (size_t)i);
        rfn_representative_store_64(to, end);
    }
    return 0;
}

static int load_page(struct rfn_list_rest *rest, enum rfn_list_column column, uint64_t at)
{
    struct side *side = &rest->sides[column];
    RFN_TRY(RFN_GROW(rest->pages, rest->pages_capacity, rest->n_pages + 1));
    struct page *page = &rest->pages[rest->n_pages];
    *page = (struct page){.column = column};
    RFN_TRY(read_block(rest, column, at, &page->first));
    page->end = side->cursor.end;
    if (column == RFN_LIST_LENGTHS)
        RFN_TRY(take_lengths(rest, page));
    else
        rfn_column_take_block(&side->cursor, &page->values);
    rest->page_bytes += bytes_of(page);
    side->last = rest->n_pages++;
    trim_pages(rest);
    return 0;
}

static int find_page(struct rfn_list_rest *rest, enum rfn_list_column column, uint64_t at,
                     const struct page **page)
{
    struct side *side = &rest->sides[column];
    size_t i = side->last < rest->n_pages ? side->last : 0, left = rest->n_pages;
    for (; left > 0; left--, i = i + 1 < rest->n_pages ? i + 1 : 0) {
        const struct page *has = &rest->pages[i];
        if (has->column == column && at - has->first < has->end - has->first)
            break;
    }
    if (left)
        side->last = i;
    else
        RFN_TRY(load_page(rest, column, at));
    rest->pages[side->last].used = ++rest->clock;
    *page = &rest->pages[side->last];
    return 0;
}

/* ---- lists ---- */

/* Words from the page's first list to the end of the i-th. */
static uint64_t end_of(const struct page *page, uint64_t i)
{
    if (page->step != NO_STEP)
        return (uint64_t)page->step * (i + 1);
    return (uint64_t)rfn_packed_at(&page->values, (size_t)i);
}

/* Where in the words a list begins, and how many it has. */
static int find_list(struct rfn_list_rest *rest, uint64_t number, uint64_t *begin, uint32_t *n)
{
    const struct page *page;
    RFN_TRY(find_page(rest, RFN_LIST_LENGTHS, number - 1, &page));
    uint64_t i = number - 1 - page->first, before = i ? end_of(page, i - 1) : 0;
    *begin = page->words + before;
    *n = (uint32_t)(end_of(page, i) - before);
    return 0;
}

static int copy_words(struct rfn_list_rest *rest, uint64_t begin, uint32_t n, int64_t *to)
{
    for (const uint64_t end = begin + n; begin < end;) {
        const struct page *page;
        RFN_TRY(find_page(rest, RFN_LIST_WORDS, begin, &page));
        uint64_t until = end < page->end ? end : page->end;
        size_t count = (size_t)(until - begin);
        rfn_packed_copy(&page->values, (size_t)(begin - page->first), count, to);
        to += count;
        begin = until;
    }
    return 0;
}

static void empty_copy(struct rfn_list_rest *rest, struct rfn_list_copy *copy)
{
    rest->copy_bytes -= copy->capacity * sizeof *copy->words;
    free(copy->words);
    *copy = (struct rfn_list_copy){0};
}

/* Makes room for n words, but not for many more. */
static int size_copy(struct rfn_list_rest *rest, struct rfn_list_copy *copy, uint32_t n)
{
    enum { LEAST = 4, LARGE = 1024 };
    copy->key = 0;
    if (copy->words && copy->capacity >= n && copy->capacity / LEAST <= n + LEAST)
        return 0;
    empty_copy(rest, copy);
    uint32_t capacity = n < LARGE ? n + n / 4 + LEAST : n;
    copy->words = malloc(capacity * sizeof *copy->words);
    if (!copy->words)
        return RFN_E_NOMEM;
    copy->capacity = capacity;
    rest->copy_bytes += capacity * sizeof *copy->words;
    return 0;
}

/* Those from before are gone with the first of a later use. */
static struct rfn_list_copy *extra_copy(struct rfn_list_rest *rest, uint64_t key, uint64_t used)
{
    if (rest->n_extra && rest->extra[0].used != used) {
        while (rest->n_extra)
            empty_copy(rest, &rest->extra[--rest->n_extra]);
    }
    for (size_t i = 0; i < rest->n_extra; i++) {
        if (rest->extra[i].key == key)
            return &rest->extra[i];
    }
    if (RFN_GROW(rest->extra, rest->extra_capacity, rest->n_extra + 1) < 0)
        return NULL;
    rest->extra[rest->n_extra] = (struct rfn_list_copy){.used = used};
    return &rest->extra[rest->n_extra++];
}

static int find_copy(struct rfn_list_reader *reader, uint64_t key, uint64_t used,
                     struct rfn_list_copy **copy, bool *made)
{
    uint64_t begin;
    uint32_t n;
    struct rfn_list_rest *rest = reader->rest;
    struct rfn_list_copy *slot = rfn_list_reader_slot(reader, key);
    if (slot->key && slot->key != key && slot->used == used)
        slot = extra_copy(rest, key, used);
    *copy = slot;
    *made = slot && slot->key != key;
    if (!slot)
        return RFN_E_NOMEM;
    slot->used = used;
    if (!*made)
        return 0;
    RFN_TRY(find_list(rest, key / RFN_LIST_FORMS, &begin, &n));
    RFN_TRY(size_copy(rest, slot, n));
    slot->used = used;
    for (size_t i = 0; i < RFN_LIST_COPIES && rest->copy_bytes > rest->room; i++) {
        if (reader->copies[i].used != used) /* else it is in use */
            empty_copy(rest, &reader->copies[i]);
    }
    RFN_TRY(copy_words(rest, begin, n, slot->words));
    slot->n = n;
    slot->key = key;
    return 0;
}

int rfn_list_reader_find(struct rfn_list_reader *reader, uint64_t key, uint64_t used,
                         struct rfn_list_copy **copy, bool *made)
{
    struct rfn_list_rest *rest = reader->rest;
    if (!rest->error)
        rest->error = find_copy(reader, key, used, copy, made);
    return rest->error;
}

/* ---- life ---- */

struct rfn_list_reader *rfn_list_reader_new(const struct rfn_value_lists *lists,
                                            const struct rfn_payload *payload, size_t room)
{
    struct rfn_list_reader *reader = calloc(1, sizeof *reader);
    struct rfn_list_rest *rest = calloc(1, sizeof *rest);
    if (!reader || !rest) {
        free(reader);
        free(rest);
        return NULL;
    }
    reader->rest = rest;
    rest->lists = lists;
    rest->room = room;
    struct rfn_column_cursor *lengths = &rest->sides[RFN_LIST_LENGTHS].cursor;
    struct rfn_column_cursor *words = &rest->sides[RFN_LIST_WORDS].cursor;
    rest->error = open_column(lists, payload, RFN_LIST_LENGTHS, lengths);
    if (!rest->error)
        rest->error = open_column(lists, payload, RFN_LIST_WORDS, words);
    if (!rest->error && (lengths->n != lists->n || words->n != lists->n_words))
        rest->error = RFN_E_CORRUPT; /* it was not so before */
    return reader;
}

void rfn_list_reader_free(struct rfn_list_reader *reader)
{
    if (!reader)
        return;
    struct rfn_list_rest *rest = reader->rest;
    while (rest->n_pages)
        drop_page(rest, rest->n_pages - 1);
    for (size_t i = 0; i < RFN_LIST_COPIES; i++)
        free(reader->copies[i].words);
    for (size_t i = 0; i < rest->n_extra; i++)
        free(rest->extra[i].words);
    for (int i = 0; i < RFN_LIST_COLUMNS; i++)
        rfn_column_close(&rest->sides[i].cursor);
    free(rest->pages);
    free(rest->extra);
    free(rest);
    free(reader);
}
