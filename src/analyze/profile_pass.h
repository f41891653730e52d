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

/* What is counted of the events of one signature (symbol) of a stream: borrowed for the life of the
 * pass, so that users may remember it with what they know of the symbol. */
struct rfn_tally;
/* That of a record; the first one tells what they are. RFN_E_NOMEM. */
int rfn_profile_pass_tally(struct rfn_profile_pass *pass, uint32_t stream,
                           const struct rfn_record *record, struct rfn_tally **tally);
/* What the last event of the tally communicates: of runs of unsuccessful polls and of regions
 * nothing that means anything. Where no word of its events varies it stays as it is. */
const struct rfn_volume *rfn_tally_volume(const struct rfn_tally *tally);
bool rfn_tally_lasts(const struct rfn_tally *tally); /* it stays so */
/* The current event of a stream. RFN_E_NOMEM. */
int rfn_profile_pass_event(struct rfn_profile_pass *pass, uint32_t stream, struct rfn_tally *tally,
                           const struct rfn_replay_stream *at);
/* The events of a batch that have been taken, in place of each of them: their recorded times are in
 * order, and each symbol has occurred before. */
void rfn_profile_pass_batch(struct rfn_profile_pass *pass, uint32_t stream,
                            const struct rfn_batch *batch);
/* So many receives that events of the tally have begun are over: of so many bytes each. */
void rfn_profile_pass_received(struct rfn_profile_pass *pass, const struct rfn_tally *tally,
                               uint64_t bytes, uint64_t count);
/* What that event did to requests, if it concerns any. RFN_E_NOMEM. */
int rfn_profile_pass_requests(struct rfn_profile_pass *pass, uint32_t stream,
                              const struct rfn_request_effects *effects);

/* Hands out the profile, to be freed, of which only what could not be read is left to say.
 * RFN_E_NOMEM. */
int rfn_profile_pass_finish(struct rfn_profile_pass *pass, struct rfn_profile **profile);

#endif
