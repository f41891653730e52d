/* profile_pass.h - makes a profile (refrain/profile.h) of events that somebody else goes through.
 *
 * Events come as a replay (analyze/replay.h) shows them when they enter, what becomes of requests
 * from the tracker (refrain/completion.h) of who sees the replay. So the profile costs no reading
 * of its own where all events are read anyway.
 */
#ifndef RFN_ANALYZE_PROFILE_PASS_H
#define RFN_ANALYZE_PROFILE_PASS_H

#include "analyze/replay.h"
#include "refrain/completion.h"
#include "refrain/profile.h"

struct rfn_profile_pass;

/* *pass is to be freed. RFN_E_NOMEM. */
int rfn_profile_pass_new(const struct rfn_archive *archive, struct rfn_profile_pass **pass);
void rfn_profile_pass_free(struct rfn_profile_pass *pass);

/* The current event of a stream. *volume: what it communicates, borrowed until the next event of
 * the stream; of runs of unsuccessful polls and of regions nothing that means anything.
 * RFN_E_NOMEM. */
int rfn_profile_pass_event(struct rfn_profile_pass *pass, uint32_t stream,
                           const struct rfn_replay_stream *at, const struct rfn_volume **volume);
/* What that event did to requests, if it concerns any. RFN_E_NOMEM. */
int rfn_profile_pass_requests(struct rfn_profile_pass *pass, uint32_t stream,
                              const struct rfn_request_effects *effects);

/* Hands out the profile, to be freed, of which only what could not be read is left to say.
 * RFN_E_NOMEM. */
int rfn_profile_pass_finish(struct rfn_profile_pass *pass, struct rfn_profile **profile);

#endif
