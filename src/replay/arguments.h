/* arguments.h - the command line of the program that replays.
 *
 * `refrain replay` has checked it; under SMPI it is the user's own. Words are FILE and
 * --against=FILE --repeat=N --scale-compute=F --no-compute --compute=busy|sleep --timeout=SECONDS
 * --json.
 */
#ifndef RFN_REPLAY_ARGUMENTS_H
#define RFN_REPLAY_ARGUMENTS_H

#include "refrain/error.h"

#include <stdbool.h>

enum rpl_compute { RPL_COMPUTE_AUTO, RPL_COMPUTE_BUSY, RPL_COMPUTE_SLEEP };

struct rpl_arguments {
    const char *file, *against; /* against: NULL none */
    int repeats;                /* 0: not given */
    double scale;
    enum rpl_compute compute;
    unsigned timeout_seconds; /* 0: not given */
    bool json;
};

/* RFN_E_USAGE, with words. */
int rpl_arguments_parse(struct rpl_arguments *words, int argc, char **argv, struct rfn_diag *diag);

#endif
