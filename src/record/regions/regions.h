/* regions.h - regions and marks of segments of the program (refrain/region.h) as events.
 *
 * A visit is two events of no duration, each with the call path of the call and one input: the
 * region, as a hash of its name (kind REGION), so that all ranks agree on it without talking. The
 * names themselves are definitions.
 *
 * Every recorded begin has its recorded end, and they nest: an end is recorded if its begin was,
 * also while recording is off, and only then. What a stream has open when its thread calls
 * MPI_Finalize ends there; regions of other threads that are open then have no end. Marks of
 * segments are the same with other functions; their ends have no name. Regions and segments need
 * not nest with each other.
 *
 * Names are found by where they lie, and compared: a literal costs a look into a small cache and a
 * comparison. Memory is allocated for new names and new depths only. All of a stream's own: no
 * lock.
 */
#ifndef RFN_RECORD_REGIONS_REGIONS_H
#define RFN_RECORD_REGIONS_REGIONS_H

#include "record/core/recorder.h"

#include <stddef.h>
#include <stdint.h>

/* A name that the stream has used; number < rec_regions_count. */
struct rec_region {
    const char *name;
    int64_t word; /* the hash, more than 0 */
};

uint32_t rec_regions_count(const struct rec_stream *stream);
struct rec_region rec_regions_get(const struct rec_stream *stream, uint32_t number);
/* The word of a region, which has this name from now on; RFN_E_NOMEM. */
int64_t rec_regions_name(struct rec_stream *stream, const char *text);
/* The order of a begin among those of the stream, which has regions. */
uint64_t rec_regions_next(struct rec_stream *stream);
/* How many events of the stream, which is settled, are no calls of MPI. */
uint64_t rec_regions_events(const struct rec_stream *stream);

/* MPI_Finalize has been called, from a wrapper with this frame: ends what its thread has open. */
void rec_regions_close(void *frame);

#endif
