/* region_profile.h - visits and times of the program's regions, from the events of all streams.
 *
 * The caller tells of every event that is a begin or an end, of each stream in order, and says with
 * it how much of the stream's time so far was inside MPI, how much of that was waiting, how much
 * was not recorded, and how many messages it has sent. When all have been told, streams end rank by
 * rank.
 */
#ifndef RFN_ANALYZE_PROFILE_REGION_PROFILE_H
#define RFN_ANALYZE_PROFILE_REGION_PROFILE_H

#include "refrain/archive.h"
#include "refrain/profile.h"

#include <stddef.h>
#include <stdint.h>

/* Ranks come in ascending order. */
static inline void rfn_spread_add(struct rfn_spread *spread, uint32_t rank, int64_t ns)
{
    if (!spread->ranks || ns < spread->min_ns) {
        spread->min_ns = ns;
        spread->min_rank = rank;
    }
    if (!spread->ranks || ns > spread->max_ns) {
        spread->max_ns = ns;
        spread->max_rank = rank;
    }
    spread->total_ns += ns;
    spread->ranks++;
}

struct rfn_regions;

/* only: only visits of this region, and within it, count; RFN_NO_REGION: all. NULL: no
 * memory. */
struct rfn_regions *rfn_regions_new(const struct rfn_archive *archive, uint32_t only);
void rfn_regions_free(struct rfn_regions *regions);

/* Where a stream stands: time, and sums since its beginning. */
struct rfn_region_clock {
    int64_t now_ns, mpi_ns, waiting_ns, unrecorded_ns;
    uint64_t messages; /* sent */
};

/* What a stream is in and has spent; first all zeros. */
struct rfn_region_stream {
    struct rfn_region_visit *visits; /* the open ones, innermost last */
    size_t depth, capacity;
    struct rfn_region_sum *sums; /* by region; NULL: none visited */
};
void rfn_region_stream_release(struct rfn_region_stream *stream);
/* Whether the stream is in the region; the time that it was there, once its events are over. */
bool rfn_region_is_open(const struct rfn_region_stream *stream, uint32_t region);
int64_t rfn_region_time_ns(const struct rfn_region_stream *stream, uint32_t region);

/* An event of class REGION. Ends that fit no begin are ignored. RFN_E_NOMEM. */
int rfn_regions_event(struct rfn_regions *regions, struct rfn_region_stream *stream,
                      const struct rfn_record *record, struct rfn_region_clock clock);
/* The stream's events are over: regions that are open end here. */
void rfn_regions_end_stream(struct rfn_regions *regions, struct rfn_region_stream *stream,
                            struct rfn_region_clock clock);
/* So have the streams of a rank, since the rank before. Ranks come in ascending order. */
void rfn_regions_end_rank(struct rfn_regions *regions, uint32_t rank);
/* The regions that were visited, most time first; without times most visits first. To be freed. */
struct rfn_region_row *rfn_regions_take(struct rfn_regions *regions, size_t *n);

#endif
