/* scaled_parts.h - parts of a run that take longer or shorter than on the platform, computing,
 * messages and parameters of the network: refrain predict --scale and --remove, with selectors of
 * refrain whatif.
 */
#ifndef RFN_CLI_PREDICT_SCALED_PARTS_H
#define RFN_CLI_PREDICT_SCALED_PARTS_H

#include "cli/whatif/selector.h"
#include "refrain/actions.h"
#include "refrain/simulate.h"

enum { RFN_MOST_SCALED = 32 };

struct rfn_scaled_parts {
    const char *texts[RFN_MOST_SCALED]; /* selectors, */
    double factors[RFN_MOST_SCALED];    /* and how many times as long they take */
    size_t n;
    struct rfn_selector selectors[RFN_MOST_SCALED];
    struct rfn_assumption assumptions[RFN_MOST_SCALED];
    uint64_t *takes; /* by activity: which of them, a bit each, and KNOWN */
    size_t n_takes;
    struct rfn_scaled_messages messages[RFN_MOST_SCALED];
    struct rfn_scaled_network network; /* with these messages */
};

/* Reads all that the archive computes; NULL: the run is text, and only its network can be
 * scaled. measured: as for rfn_actions_of_archive. RFN_E_USAGE where a selector means nothing in
 * this run, or a simulation cannot scale it: `wrong` says why. To be released, also after an error.
 * Computing is scaled by rfn_scaled_parts_weight, all else by scaled->network. */
int rfn_scaled_parts_init(struct rfn_scaled_parts *scaled, const struct rfn_archive *archive,
                          bool measured, struct rfn_text *wrong, struct rfn_diag *diag);
void rfn_scaled_parts_release(struct rfn_scaled_parts *scaled);

/* How many times as long a COMPUTE of these actions takes. */
double rfn_scaled_parts_weight(struct rfn_scaled_parts *scaled, const struct rfn_actions *actions,
                               uint32_t rank, const struct rfn_action *action);
/* "compute:smooth x 0.5, rank:3 x 2" */
void rfn_scaled_parts_append(struct rfn_text *text, const struct rfn_scaled_parts *scaled);

#endif
