/* degrees.h - degrees of matching (Mohror 2010, 5.1.4.2): matches / possible matches.
 *
 * Segments match within a process: of all of one kind all but one could. Streams match across
 * processes: of all of one class all but one could.
 */
#ifndef RFN_ANALYZE_DEGREES_H
#define RFN_ANALYZE_DEGREES_H

#include <stdbool.h>
#include <stdint.h>

struct rfn_matching_counts {
    uint64_t executions, kinds, representatives; /* of segments, over all streams */
    uint64_t streams, classes, groups;           /* groups: of streams that share times */
    bool across;                                 /* processes were compared */
};

struct rfn_degrees {
    double within, across; /* 0 to 1; 1 if no match is possible */
    double both;           /* together; within, if processes were not compared */
};

/* Counts that contradict each other, as a damaged file may have them, give degrees of 0 to 1, too.
 */
struct rfn_degrees rfn_degrees_of(const struct rfn_matching_counts *counts);

#endif
