/* left_out.h - calls that were not recorded because somebody asked for that (`refrain record
 * --exclude` and the like): how many, by function. rfn_run.limits has the options.
 */
#ifndef REFRAIN_LEFT_OUT_H
#define REFRAIN_LEFT_OUT_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

struct rfn_left_out {
    struct rfn_left_out_function {
        char *function; /* "MPI_Iprobe" */
        uint64_t calls; /* of all ranks */
    } * functions;      /* most calls first */
    size_t n, capacity;
    uint64_t calls;
    /* Ranks that stopped recording (--until, --max-size), and when the first and the last one did,
     * in ns since the start of the run. */
    uint32_t stopped;
    int64_t first_ns, last_ns;
};

/* Reads the end of each stream; nothing is left out where nobody asked for it. Streams that cannot
 * be read say nothing, nor do streams of a run that did not end. *left_out is to be released, also
 * after an error. RFN_E_NOMEM. */
int rfn_left_out_read(const struct rfn_archive *archive, struct rfn_left_out *left_out);
void rfn_left_out_release(struct rfn_left_out *left_out);

#pragma GCC visibility pop

#endif
