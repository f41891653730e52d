/* representatives.h - the times of a stream whose alike segments are kept once
 * (refrain-archive(5), PROFILE).
 *
 * The stream is walked through a second time, a segment ahead of the cursor: the start of a segment
 * depends on its length, the sum of its events' columns. A new segment that will be executed again
 * is kept in memory until the end, mostly 20 bytes per event of at most RFN_KEPT_EVENTS_MAX.
 */
#ifndef RFN_ARCHIVE_CURSOR_REPRESENTATIVES_H
#define RFN_ARCHIVE_CURSOR_REPRESENTATIVES_H

#include "archive/read/dictionary.h"
#include "archive/read/reduced_timing.h"

enum { RFN_KEPT_EVENTS_MAX = 4194304 };

struct rfn_representatives;

/* What an event has of its segment's representative, at the start that is the segment's own. */
struct rfn_recreated {
    uint64_t enter, exit; /* quanta */
    int64_t inside;       /* quanta: at most exit - enter */
    int64_t polls;        /* 1 unless it is a failed poll; not checked */
    int64_t volume_gap, volume_inside;
};

/* What they are read from; all borrowed. */
struct rfn_representatives_of {
    const struct rfn_dictionary *dictionary;
    const struct rfn_structure *structure;
    const struct rfn_values *values;
    const struct rfn_timing *timing;
    const struct rfn_reduced_timing *reduced;
};

/* What has gone wrong: in words, in which payload (borrowed). */
struct rfn_representatives_fault {
    const char *text; /* rfn_fault_error says which error it is */
    const struct rfn_payload *payload;
};

/* *opened is to be closed even on failure, unless it is still NULL: then there was no memory at
 * all. Errors as those of rfn_representatives_next. */
int rfn_representatives_open(const struct rfn_representatives_of *what,
                             struct rfn_representatives **opened);
void rfn_representatives_close(struct rfn_representatives *representatives);

/* Decodes the first block of each list that has one, before the first event. Errors as below. */
int rfn_representatives_decode_ahead(struct rfn_representatives *representatives);

/* The next event of the stream, which has one. RFN_E_CORRUPT, RFN_E_NOMEM, RFN_E_IO,
 * RFN_E_INCOMPLETE; rfn_representatives_fault says more. */
int rfn_representatives_next(struct rfn_representatives *representatives,
                             struct rfn_recreated *event);

/* Before an event: how many events, from it on, its segment has, and when the last of them ends
 * (quanta); then passes over these. Errors as above. */
int rfn_representatives_rest(struct rfn_representatives *representatives, uint64_t *n,
                             uint64_t *exit);
void rfn_representatives_pass(struct rfn_representatives *representatives);

/* How far from the measured ones times of the event before may be, in ns, as far as the file tells:
 * by what its segment's start may be off, and as much within. At most ten days. */
uint64_t rfn_representatives_off(const struct rfn_representatives *representatives);

/* After the last event: whether all values of all columns have been used. Errors as above. */
int rfn_representatives_finish(struct rfn_representatives *representatives);

struct rfn_representatives_fault
rfn_representatives_fault(const struct rfn_representatives *representatives);

#endif
