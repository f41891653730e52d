/* whatif.h - the pages of `refrain whatif`: text for people, JSON for machines. */
#ifndef RFN_CLI_WHATIF_WHATIF_H
#define RFN_CLI_WHATIF_WHATIF_H

#include "cli/whatif/candidates.h"

#include <jansson.h>

/* A step of the domino path: the best remedy after those before it. */
struct rfn_domino {
    size_t remedy;    /* of the candidates */
    int64_t run_ns;   /* with it */
    int64_t waits_ns; /* with as many of the longest waits removed instead */
};

struct rfn_whatif {
    const char *file;
    const struct rfn_measured *run;
    struct rfn_network network;
    uint64_t estimated;               /* from so many messages */
    const struct rfn_selector *given; /* assumed from the beginning, */
    const double *factors;
    size_t n_given;
    struct rfn_candidates *candidates; /* ranked */
    struct rfn_prediction prediction;  /* its first lane: as given */
    struct rfn_domino *dominoes;
    size_t n_dominoes;
    size_t top, width;
};

void rfn_whatif_text(struct rfn_text *out, const struct rfn_whatif *whatif);
json_t *rfn_whatif_json(const struct rfn_whatif *whatif); /* NULL: out of memory */

/* Writes the run as the lane predicts it, and says so. Returns the exit status. */
int rfn_whatif_write(const struct rfn_whatif *whatif, const struct rfn_lane *lane, const char *path,
                     bool force, bool json);

#endif
