#include "analyze/trackers.h"

#include <stdlib.h>

/* The first rank's tracker is made anyway: the others' are made beside it. */
static bool make(struct rfn_tracker **trackers, const struct rfn_archive *archive, uint32_t rank)
{
    if (!trackers[rank])
        trackers[rank] = rank ? rfn_tracker_new_beside(trackers[0]) : rfn_tracker_new(archive);
    return trackers[rank];
}

struct rfn_tracker **rfn_trackers_new(const struct rfn_archive *archive)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    struct rfn_tracker **trackers = calloc((size_t)run->ranks + 1, sizeof(struct rfn_tracker *));
    if (!trackers)
        return NULL;
    bool made = make(trackers, archive, 0);
    for (uint32_t i = 0; i < run->streams && made; i++) {
        uint32_t rank = rfn_archive_stream(archive, i).rank;
        if (rank < run->ranks)
            made = make(trackers, archive, rank);
    }
    if (made)
        return trackers;
    rfn_trackers_free(trackers, archive);
    return NULL;
}

void rfn_trackers_free(struct rfn_tracker **trackers, const struct rfn_archive *archive)
{
    if (!trackers)
        return;
    for (uint32_t i = rfn_archive_run(archive)->ranks; i > 1;) /* the first goes last */
        rfn_tracker_free(trackers[--i]);
    rfn_tracker_free(trackers[0]);
    free(trackers);
}
