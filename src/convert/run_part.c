#include "convert/run_part.h"

#include "convert/progress.h"

uint32_t rfn_part_ranks(const struct rfn_archive *archive, const struct rfn_convert_part *part)
{
    const uint32_t ranks = rfn_archive_run(archive)->ranks;
    uint32_t n = 0;
    for (uint32_t i = 0; i < ranks; i++)
        n += rfn_part_has_rank(part, i);
    return n;
}

void rfn_walk_begin(struct rfn_walk_progress *walk, const struct rfn_archive *archive,
                    const struct rfn_convert_progress *progress, double share)
{
    *walk = (struct rfn_walk_progress){.progress = progress, .share = share};
    for (uint32_t i = 0; i < rfn_archive_run(archive)->streams; i++)
        walk->all_events += rfn_archive_stream(archive, i).events;
}

void rfn_walk_step(struct rfn_walk_progress *walk)
{
    enum { TOLD_EVERY = 4096 };
    if (++walk->events % TOLD_EVERY == 0)
        rfn_convert_tell(walk->progress,
                         walk->share * (double)walk->events / (double)walk->all_events);
}
