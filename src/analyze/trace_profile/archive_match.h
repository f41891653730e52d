/* archive_match.h - two archives with the same events: which of their numbers mean the same.
 *
 * Numbers of functions and call paths are an archive's own. Two are a pair when they stand at the
 * same event of the same stream, and read the same: functions by name; call paths by the function,
 * file and line of each frame, or its offset where no function is known.
 */
#ifndef RFN_ANALYZE_TRACE_PROFILE_ARCHIVE_MATCH_H
#define RFN_ANALYZE_TRACE_PROFILE_ARCHIVE_MATCH_H

#include "refrain/archive.h"

#define RFN_NO_PAIR UINT32_MAX

/* Numbers of the first archive, by those of the second; RFN_NO_PAIR: has not occurred. */
struct rfn_archive_match {
    const struct rfn_archive *first, *second; /* borrowed */
    uint32_t *functions, *paths;
    uint32_t n_functions, n_paths;
};

/* RFN_E_USAGE: the archives do not have the same streams with as many events, and diag tells where
 * they differ; RFN_E_NOMEM. Is to be released if it succeeded. */
int rfn_archive_match_init(struct rfn_archive_match *pairing, const struct rfn_archive *first,
                           const struct rfn_archive *second, struct rfn_diag *diag);
void rfn_archive_match_release(struct rfn_archive_match *pairing);

/* The events that a stream of both archives has at the same place. RFN_E_USAGE, with diag: they
 * are not the same. */
int rfn_archive_match_event(struct rfn_archive_match *pairing, uint32_t stream,
                            const struct rfn_record *first, const struct rfn_record *second,
                            struct rfn_diag *diag);

/* The first archive's number of a function, of a call path; RFN_NO_PAIR for any that has not
 * occurred. */
uint32_t rfn_archive_match_function(const struct rfn_archive_match *pairing, uint32_t function);
uint32_t rfn_archive_match_path(const struct rfn_archive_match *pairing, uint32_t path);

#endif
