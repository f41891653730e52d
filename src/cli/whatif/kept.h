/* kept.h - what may be assumed about an archive from which calls were left out
 * (refrain/aggregation.h): predictions equal the full archive's only about kept calls. */
#ifndef RFN_CLI_WHATIF_KEPT_H
#define RFN_CLI_WHATIF_KEPT_H

#include "cli/whatif/selector.h"
#include "refrain/aggregation.h"

/* Of all single events nothing can be ranked where some were left out. Says so; whether it is so.
 */
bool rfn_kept_refuses_events(const struct rfn_archive *archive, const char *file);

/* Whether the selector is about kept calls alone; always where nothing was left out. Else `why`
 * (may be NULL) names what it is about that was not. */
bool rfn_kept_allows(const struct rfn_aggregation *aggregation, const struct rfn_selector *selector,
                     struct rfn_text *why);

#endif
