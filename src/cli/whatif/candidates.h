/* candidates.h - everything in a run that might be mended, each a selector. */
#ifndef RFN_CLI_WHATIF_CANDIDATES_H
#define RFN_CLI_WHATIF_CANDIDATES_H

#include "cli/whatif/selector.h"

struct rfn_candidates {
    struct rfn_selector *selectors;
    struct rfn_remedy *remedies; /* whose contexts are the selectors; in any order */
    size_t n;
    size_t untold; /* that an archive with --keep-predictions cannot tell */
};

/* Each waiting, each call path, each function that computes, regions, ranks whose computing is
 * brought to the mean, sizes of messages, and the network. RFN_E_NOMEM. */
int rfn_candidates_init(struct rfn_candidates *candidates, const struct rfn_measured *run);
void rfn_candidates_release(struct rfn_candidates *candidates);

#endif
