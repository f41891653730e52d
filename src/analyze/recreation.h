/* recreation.h - the times of a stream's events, recreated from representatives and their
 * executions.
 *
 * Segments start where those before predict it, plus a correction; events lie in them as in the
 * representative. Where a representative is longer than the time until the next segment starts,
 * what would be earlier than an event before it happens at the time of that one.
 */
#ifndef RFN_ANALYZE_RECREATION_H
#define RFN_ANALYZE_RECREATION_H

#include "analyze/trace_profile.h"

/* Walks through the segments of a stream in order. It is told their contexts, since those are in
 * the structure, and says when they start and what they are executed as. */
struct rfn_recreation {
    const struct rfn_stream_profile *stream;
    struct rfn_column_cursor *representatives, *corrections; /* per context */
    int64_t predicted_ns;                                    /* start of the next segment */
    int64_t last_ns; /* the last recreated time: none is before it */
};

struct rfn_recreated_segment {
    int64_t start_ns;
    const int64_t *vector; /* the representative's, borrowed from the store */
    size_t n_events;
};

/* RFN_E_NOMEM. Either way to be closed. While it is open no segment may be added to the stream. */
int rfn_recreation_open(struct rfn_recreation *recreation, const struct rfn_stream_profile *stream);
/* In two steps, for whoever decides about corrections: the next segment's representative; then its
 * start, predicted_ns and what is to be corrected. 0, or errors as below. */
int rfn_recreation_representative(struct rfn_recreation *recreation, uint32_t context,
                                  struct rfn_representative *representative);
void rfn_recreation_start(struct rfn_recreation *recreation,
                          const struct rfn_representative *representative, int64_t start_ns);

/* The tolerance for a segment that is executed as this representative, ns. */
uint64_t rfn_recreation_tolerance(const struct rfn_recreation *recreation,
                                  const struct rfn_representative *representative);
/* A correction in ns. */
int64_t rfn_recreation_correction(uint64_t tolerance_ns, int64_t units);

/* Both at once. 0; RFN_E_RANGE when the context has no more segments; RFN_E_NOMEM. */
int rfn_recreation_next(struct rfn_recreation *recreation, uint32_t context,
                        struct rfn_recreated_segment *segment);
/* The time of the vector's element i (1 to 2 n_events), in order; never before the one before. */
int64_t rfn_recreation_time(struct rfn_recreation *recreation,
                            const struct rfn_recreated_segment *segment, size_t i);
/* Puts a failure of the above into words. */
int rfn_recreation_failed(int error, struct rfn_diag *diag);
void rfn_recreation_close(struct rfn_recreation *recreation);

#endif
