/* call_words.h - the words of a call at hand, by what they are (event/calls.h). */
#ifndef RFN_ANALYZE_MATCH_CALL_WORDS_H
#define RFN_ANALYZE_MATCH_CALL_WORDS_H

#include "archive/read/archive_calls.h"
#include "refrain/archive.h"

struct rfn_call_event {
    const struct rfn_archive *archive;
    const struct rfn_call *call;
    const struct rfn_cursor *cursor;
    const struct rfn_record *record;
    uint32_t rank; /* whose event it is, in MPI_COMM_WORLD */
};

static inline struct rfn_call_event rfn_call_event(const struct rfn_archive *archive,
                                                   const struct rfn_cursor *cursor, uint32_t rank,
                                                   const struct rfn_record *record)
{
    return (struct rfn_call_event){archive, rfn_archive_call(archive, record->function), cursor,
                                   record, rank};
}

static inline bool rfn_has(const struct rfn_call_event *event, enum rfn_input input)
{
    return event->call->in[input] >= 0;
}

/* The word of an input, or otherwise where the function has no such input. */
static inline int64_t rfn_word(const struct rfn_call_event *event, enum rfn_input input,
                               int64_t otherwise)
{
    int at = event->call->in[input];
    return at < 0 ? otherwise : event->record->in[at];
}

/* The word of an outcome; RFN_UNKNOWN where the function has no such outcome. */
static inline int64_t rfn_outcome(const struct rfn_call_event *event, enum rfn_outcome outcome)
{
    int at = event->call->out[outcome];
    return at < 0 ? RFN_UNKNOWN : event->record->out[at];
}

/* ... a handle that the call has made: none where it has failed. */
static inline int64_t rfn_made(const struct rfn_call_event *event, enum rfn_outcome outcome)
{
    return event->record->error ? RFN_UNKNOWN : rfn_outcome(event, outcome);
}

/* The words of a list that is an input. NULL and *n = 0 where there is none. */
static inline const int64_t *rfn_word_list(const struct rfn_call_event *event, enum rfn_input input,
                                           uint8_t kind, size_t *n)
{
    *n = 0;
    int64_t number = rfn_word(event, input, 0);
    return number > 0 ? rfn_cursor_list(event->cursor, number, n, kind) : NULL;
}

/* Bytes in an element of a datatype; 0 of none. */
static inline int64_t rfn_type_bytes(const struct rfn_archive *archive, int64_t type)
{
    if (type < 0 || type >= rfn_archive_datatypes(archive))
        return 0;
    return rfn_archive_datatype(archive, (uint32_t)type)->size;
}

/* Counts and sizes come from a file: a product that does not fit is the largest number, and of
 * what is below 0 it is 0. */
static inline int64_t rfn_product(int64_t a, int64_t b)
{
    if (a <= 0 || b <= 0)
        return 0;
    return a > INT64_MAX / b ? INT64_MAX : a * b;
}

/* Bytes of `count` elements of `type`, 0 where one of them means nothing. */
static inline int64_t rfn_element_bytes(const struct rfn_call_event *event, enum rfn_input count,
                                        enum rfn_input type)
{
    return rfn_product(rfn_word(event, count, 0),
                       rfn_type_bytes(event->archive, rfn_word(event, type, -1)));
}

#endif
