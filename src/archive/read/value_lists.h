/* value_lists.h - the lists in VALUES, read where they are asked for.
 *
 * Events name lists (counts, requests, what a call completed) by number. All lists of a set of
 * values are two columns: their lengths, and their words one after the other. When VALUES is read
 * only the places of blocks are noted, about one per RFN_COLUMN_BLOCK values. (Lengths are decoded
 * for that, and checked; damage in words shows when they are read.)
 *
 * A reader holds a few decoded blocks, pages, of each column, and copies of the lists asked for
 * last; both are bounded in bytes. Numbers mostly come in order of their first occurrence, so the
 * next list lies behind the last one; some come again at once, or all the time. Each cursor has a
 * reader of its own, so that no event waits for a lock, and the VALUES that cursors share do not
 * change. That costs a page of each column per stream whose calls have lists.
 */
#ifndef RFN_ARCHIVE_READ_VALUE_LISTS_H
#define RFN_ARCHIVE_READ_VALUE_LISTS_H

#include "archive/read/payload_reader.h"
#include "reduce/columns/column.h"

#include <stddef.h>
#include <stdint.h>

/* More lists, or words of all lists, than this are not read: a few bytes may stand for them. */
#ifdef RFN_FUZZING
enum { RFN_LIST_WORDS_MAX = 1 << 16 };
#else
enum { RFN_LIST_WORDS_MAX = 1 << 27 };
#endif

enum rfn_list_column { RFN_LIST_LENGTHS, RFN_LIST_WORDS, RFN_LIST_COLUMNS };

/* A block, and the words of all lists before it (of the column of lengths only). */
struct rfn_list_place {
    struct rfn_column_place block;
    uint64_t words;
};

struct rfn_value_lists {
    uint64_t n, n_words;
    size_t columns[RFN_LIST_COLUMNS + 1]; /* where in the payload each begins, and the last ends */
    struct rfn_list_places {
        struct rfn_list_place *at; /* in order, the first at value 0; none if there are no values */
        size_t n, capacity;
    } places[RFN_LIST_COLUMNS];
};

/* Finds the blocks of n lists. Returns NULL, or what is wrong in words (rfn_payload_fault makes an
 * error of it); to be released even then. */
const char *rfn_value_lists_read(struct rfn_value_lists *lists, const struct rfn_payload *payload,
                                 const size_t *columns, uint64_t n);
void rfn_value_lists_release(struct rfn_value_lists *lists);
/* Whether all words can be read. 0, RFN_E_CORRUPT, RFN_E_NOMEM, RFN_E_IO, RFN_E_INCOMPLETE. */
int rfn_value_lists_check(const struct rfn_value_lists *lists, const struct rfn_payload *payload);

/* ---- reading ---- */

/* The words of a list, as the reader's user may have changed them. */
struct rfn_list_copy {
    uint64_t key;  /* list number * RFN_LIST_FORMS + form; 0: none */
    uint64_t used; /* when it was asked for last, as users count (events) */
    int64_t *words;
    uint32_t n, capacity;
};

/* A list may be wanted in several forms, each of which has its copy: RFN_LIST_FORMS * number. */
enum { RFN_LIST_FORMS = 4, RFN_LIST_COPIES = 64 };

struct rfn_list_reader {
    struct rfn_list_copy copies[RFN_LIST_COPIES]; /* each at the place that its key has */
    struct rfn_list_rest *rest;
};

/* Reads lists of the payload (both borrowed, and not to change or move). room: bytes for pages, and
 * as many for copies; a page of each column and the copies in use may need more. NULL: out of
 * memory. */
struct rfn_list_reader *rfn_list_reader_new(const struct rfn_value_lists *lists,
                                            const struct rfn_payload *payload, size_t room);
void rfn_list_reader_free(struct rfn_list_reader *reader); /* may be NULL */

static inline struct rfn_list_copy *rfn_list_reader_slot(struct rfn_list_reader *reader,
                                                         uint64_t key)
{
    return &reader->copies[(key ^ key >> 6) % RFN_LIST_COPIES];
}

/* Finds the list's copy if it is still there, else makes one. Copies with the same `used` stay
 * where they are; of those before, any may be gone. *copy may be changed as long as n and capacity
 * are not, when *made is set. 0, RFN_E_CORRUPT, RFN_E_NOMEM, RFN_E_IO, RFN_E_INCOMPLETE; after an
 * error there are no lists any more. The list must exist. */
int rfn_list_reader_find(struct rfn_list_reader *reader, uint64_t key, uint64_t used,
                         struct rfn_list_copy **copy, bool *made);

/* The same where the copy is there, which is mostly so; else NULL. */
static inline const struct rfn_list_copy *rfn_list_reader_known(struct rfn_list_reader *reader,
                                                                uint64_t key, uint64_t used)
{
    struct rfn_list_copy *copy = rfn_list_reader_slot(reader, key);
    if (copy->key != key)
        return NULL;
    copy->used = used;
    return copy;
}

#endif
