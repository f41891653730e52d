/* trends.h - which trends of a run an archive of it still shows, and which it shows wrongly.
 *
 * A *trend* is a wait state: waiting in one pattern, at one call path, on one rank. Its *severity*
 * is the share of that waiting in the run time of the full archive; also that of the reduced one,
 * so that both are measured with one rule. Severities are cut into classes (rfn_severity_class). A
 * trend is retained when both severities are of the same class; one that lies within 10 % of a
 * border belongs to both of its classes.
 */
#ifndef RFN_ANALYZE_TRACE_PROFILE_TRENDS_H
#define RFN_ANALYZE_TRACE_PROFILE_TRENDS_H

#include "analyze/trace_profile/archive_match.h"
#include "refrain/compare.h"

/* Fills in trends and changes of a comparison, which has full_times and was zeros otherwise.
 * pairing: of the full archive and the reduced one, complete. RFN_E_NOMEM. */
int rfn_trends_compare(const struct rfn_waits *full, const struct rfn_waits *reduced,
                       const struct rfn_archive_match *pairing, struct rfn_comparison *to);

/* Whether they have a class in common. */
bool rfn_same_severity(double share, double other);

#endif
