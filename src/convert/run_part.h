/* run_part.h - the part of a run that is written (struct rfn_convert_part), and how far a walk over
 * matched events is. */
#ifndef RFN_CONVERT_RUN_PART_H
#define RFN_CONVERT_RUN_PART_H

#include "refrain/convert.h"
#include "refrain/match.h"

static inline bool rfn_part_has_rank(const struct rfn_convert_part *part, uint32_t rank)
{
    return !part || !part->ranks || part->ranks[rank];
}

static inline bool rfn_part_has_time(const struct rfn_convert_part *part, int64_t from_ns,
                                     int64_t to_ns)
{
    return !part || (to_ns >= part->from_ns && from_ns <= part->to_ns);
}

static inline bool rfn_part_has_event(const struct rfn_convert_part *part,
                                      const struct rfn_match_event *event)
{
    return rfn_part_has_rank(part, event->rank) &&
           rfn_part_has_time(part, event->enter_ns, event->exit_ns);
}

static inline bool rfn_part_has_message(const struct rfn_convert_part *part,
                                        const struct rfn_match_message *message)
{
    const struct rfn_match_end *received = &message->received;
    return rfn_part_has_rank(part, message->sent.posted.rank) &&
           rfn_part_has_rank(part, received->posted.rank) &&
           rfn_part_has_time(part, message->sent.posted.ns,
                             received->ended ? received->exit_ns : received->posted.ns);
}

/* How many ranks it has. */
uint32_t rfn_part_ranks(const struct rfn_archive *archive, const struct rfn_convert_part *part);

/* Progress of a walk over all events of an archive. */
struct rfn_walk_progress {
    const struct rfn_convert_progress *progress; /* may be NULL */
    uint64_t events, all_events;
    double share; /* of the work that the walk is */
};

/* Of all events of the archive. */
void rfn_walk_begin(struct rfn_walk_progress *walk, const struct rfn_archive *archive,
                    const struct rfn_convert_progress *progress, double share);
/* One more event. */
void rfn_walk_step(struct rfn_walk_progress *walk);

#endif
