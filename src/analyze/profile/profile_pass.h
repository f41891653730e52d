/* profile_pass.h - makes a profile (refrain/profile.h) of events that somebody else goes through: a
 * watcher of matching.h. So the profile costs no reading of its own where all events are read
 * anyway.
 */
#ifndef RFN_ANALYZE_PROFILE_PROFILE_PASS_H
#define RFN_ANALYZE_PROFILE_PROFILE_PASS_H

#include "analyze/match/matching.h"
#include "refrain/profile.h"

struct rfn_profile_pass;

/* *pass is to be freed. region: the only one of the archive's that counts, or RFN_NO_REGION.
 * RFN_E_NOMEM. */
int rfn_profile_pass_new(const struct rfn_archive *archive, uint32_t region,
                         struct rfn_profile_pass **pass);
void rfn_profile_pass_free(struct rfn_profile_pass *pass);

/* Borrowed; it sees all events of the archive, in each stream's order. */
const struct rfn_match_watcher *rfn_profile_pass_watcher(const struct rfn_profile_pass *pass);

/* Hands out the profile, to be freed, of which only what could not be read is left to say.
 * RFN_E_NOMEM. */
int rfn_profile_pass_finish(struct rfn_profile_pass *pass, struct rfn_profile **profile);

/* The stream has waited for others, in the regions that it is in now. */
void rfn_profile_pass_add_wait(struct rfn_profile_pass *pass, uint32_t stream, int64_t ns);
/* Whether the stream is where calls count: in the only region that does, if there is one. */
bool rfn_profile_pass_counts(const struct rfn_profile_pass *pass, uint32_t stream);

/* So much of what a stream did outside of MPI, between the polls of an event of this symbol or in
 * front of one, turns out to be waiting: it counts as time inside of these calls. */
void rfn_profile_pass_waited(struct rfn_profile_pass *pass, uint32_t stream, uint32_t symbol,
                             int64_t ns, bool between_polls);

/* How much of a time between two events of a stream recording was off. */
int64_t rfn_profile_pass_off_ns(const struct rfn_profile_pass *pass, uint32_t stream,
                                int64_t from_ns, int64_t to_ns);

#endif
