/* ti_parser.h - a line of time-independent text as an action.
 *
 * A line is "RANK NAME FIELD...". There are two dialects:
 *
 *   thesis    Markomanolis 2014, Table 3.1: no tags, recv without a volume, Isend, allReduce,
 *             waitAll, and `wait` for the request that was posted last (4.3, Fig. 4.20). A type
 *             is 0 to 6 (Fig. 3.18), behind the count of a message (Fig. 4.17).
 *   simgrid   SimGrid 3.32's replay: peer, tag, count and type; isend, allreduce, waitall; `wait
 *             SOURCE DEST TAG` for the request of that key that was posted first
 *
 * Most lines mean the same in both, or are of one. But `send 1 512 1` is 512 elements of type 1, or
 * one element with tag 512: the dialect has to be known from other lines (ti_dialect.h).
 *
 * Counts are numbers of elements; the type of an element is a field, or what the rank's `init`
 * says: with a field behind it MPI_DOUBLE, without MPI_BYTE.
 */
#ifndef RFN_CONVERT_TEXT_TI_PARSER_H
#define RFN_CONVERT_TEXT_TI_PARSER_H

#include "convert/text/ti_requests.h"
#include "refrain/actions.h"

/* What a line says of the dialect. */
enum rfn_ti_line {
    RFN_TI_EITHER,  /* the same in both, or none of any */
    RFN_TI_SIMGRID, /* only */
    RFN_TI_THESIS,
    RFN_TI_UNCLEAR /* another thing in each */
};

struct rfn_ti_field {
    const char *text;
    size_t length;
};

/* One per rank. All zeros but rank, n_ranks and dialect. */
struct rfn_ti_parser {
    uint32_t rank, n_ranks;
    enum rfn_text_dialect dialect; /* not RFN_TEXT_ANY */
    bool strict;                   /* refuse names that only the other dialect spells so */
    uint32_t default_bytes;        /* of an element; 0: MPI_BYTE's */
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

enum rfn_ti_line rfn_ti_line_dialect(const char *text, size_t length);
/* What a line that is RFN_TI_UNCLEAR is in each dialect. */
struct rfn_ti_readings {
    int64_t tag, simgrid_count;
    int64_t thesis_count, thesis_bytes; /* thesis_bytes: of an element */
};
void rfn_ti_readings(const char *text, size_t length, struct rfn_ti_readings *readings);

/* Whether the line begins as one of an action does: "RANK NAME". A line of a list does not. */
bool rfn_ti_is_action(const char *text, size_t length);

#endif
