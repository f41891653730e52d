/* ti_parser.h - a line of time-independent text as an action.
 *
 * A line is "RANK NAME FIELD...". Two dialects are understood, line by line, as no line means
 * different things in them:
 *
 *   thesis    Markomanolis 2014, Table 3.1: no tags, recv without a volume, Isend, allReduce,
 *             waitAll, and `wait` for the request that was posted last (4.3, Fig. 4.20)
 *   simgrid   SimGrid 3.32's replay: peer, tag, count and type; `wait SOURCE DEST TAG` for the
 *             request of that key that was posted first
 *
 * Counts are numbers of elements; the type of an element is a field, or what the rank's `init`
 * says: with a field behind it MPI_DOUBLE, without MPI_BYTE.
 */
#ifndef RFN_CONVERT_TEXT_TI_PARSER_H
#define RFN_CONVERT_TEXT_TI_PARSER_H

#include "convert/text/ti_requests.h"
#include "refrain/actions.h"

struct rfn_ti_field {
    const char *text;
    size_t length;
};

/* One per rank. All zeros but rank and n_ranks. */
struct rfn_ti_parser {
    uint32_t rank, n_ranks;
    uint32_t default_bytes; /* of an element; 0: MPI_BYTE's */
    struct rfn_ti_requests requests;
    struct rfn_ti_field *fields; /* rank, name, and what follows */
    size_t n_fields, fields_capacity;
    int64_t *sizes; /* sends, then receives, of a V kind */
    size_t sizes_capacity;
    char fault[200]; /* after RFN_E_CORRUPT: what is wrong, with field and action */
};

void rfn_ti_parser_release(struct rfn_ti_parser *parser);

/* The rank that a line is of; -1: it is blank or a comment; RFN_E_CORRUPT: it does not begin with a
 * rank. text need not end in a zero byte. */
int64_t rfn_ti_line_rank(const char *text, size_t length);

/* 1: *action is set, with pointers that hold until the next line; 0: the line has no action (a
 * comment, comm_size, location and the like); RFN_E_CORRUPT, RFN_E_NOMEM. */
int rfn_ti_parse(struct rfn_ti_parser *parser, const char *text, size_t length,
                 struct rfn_action *action);

/* Whether the line begins as one of an action does: "RANK NAME". A line of a list does not. */
bool rfn_ti_is_action(const char *text, size_t length);

#endif
