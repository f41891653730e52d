/* whatif.h - the pages of `refrain whatif`: text for people, JSON for machines. */
#ifndef RFN_CLI_WHATIF_WHATIF_H
#define RFN_CLI_WHATIF_WHATIF_H

#include "cli/whatif/candidates.h"

#include <jansson.h>

/* A step of the domino path: the best remedy, or event, after those before it. */
struct rfn_domino {
    const struct rfn_selector *selector;
    int64_t run_ns;   /* with it */
    int64_t waits_ns; /* with as many of the longest waits removed instead */
};

struct rfn_whatif {
    const char *file;
    const struct rfn_measured *run;
    struct rfn_network network;
    const char *network_file;         /* it was measured; NULL: estimated */
    uint64_t estimated;               /* from so many messages */
    const struct rfn_selector *given; /* assumed from the beginning, */
    const double *factors;
    const int64_t *caps_ns; /* 0: none */
    size_t n_given;
    struct rfn_candidates *candidates;   /* ranked */
    struct rfn_prediction prediction;    /* its first lane: as given */
    const struct rfn_selector *curve_of; /* NULL: none was asked for */
    struct rfn_curve curve;
    bool by_event;
    struct rfn_event_gains events; /* by_event */
    struct rfn_domino *dominoes;
    size_t n_dominoes;
    size_t top, width;
};

/* "event:3/120", or "before:3/120" for what the rank computes before it. */
void rfn_event_selector_append(struct rfn_text *text, const struct rfn_event_gain *event);

void rfn_whatif_text(struct rfn_text *out, const struct rfn_whatif *whatif);
json_t *rfn_whatif_json(const struct rfn_whatif *whatif); /* NULL: out of memory */

/* Writes the run as the lane predicts it, and says so. Returns the exit status. */
int rfn_whatif_write(const struct rfn_whatif *whatif, const struct rfn_lane *lane, const char *path,
                     bool force, bool json);

#endif
