/* on_simgrid.h - a simulation by SimGrid itself: in a program of its own (src/simulate), which is
 * not a part of the tool, so that the tool does not need SimGrid.
 */
#ifndef RFN_CLI_PREDICT_ON_SIMGRID_H
#define RFN_CLI_PREDICT_ON_SIMGRID_H

#include "refrain/actions.h"
#include "refrain/simulate.h"

struct rfn_simgrid_job {
    const char *file, *platform_file;
    const struct rfn_platform *platform; /* for hosts' names */
    const uint32_t *hosts;               /* by rank */
    uint32_t ranks;
    bool measured;              /* computing takes recorded times */
    enum rfn_text_dialect from; /* of text */
    const struct rfn_simulate_options *options;
};

/* As rfn_simulate; what it does not tell is 0: waiting, links, settings. RFN_E_NOTFOUND: the
 * program is not there; RFN_E_UNSUPPORTED: without contention; RFN_E_IO: it failed, and said why on
 * standard error; RFN_E_CORRUPT, RFN_E_NOMEM. */
int rfn_simulate_on_simgrid(const struct rfn_simgrid_job *job, struct rfn_simulated *simulated,
                            struct rfn_diag *diag);

#endif
