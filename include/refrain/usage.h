/* usage.h - the usage of processes: CPU time, memory, and whether ranks computed, slept or waited
 * for a core in the gaps between calls of MPI.
 *
 * The recorder measures gaps of 0.1 ms and more, at most one per millisecond in the long run
 * (doc/analysis.md, Computing or not): shares of them are right; sums lack the other gaps. An
 * archive may have no usage: one of simulated times, or of an older recorder.
 */
#ifndef REFRAIN_USAGE_H
#define REFRAIN_USAGE_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

/* The gaps that were measured between two calls; times in ns. */
struct rfn_gap_usage {
    uint32_t before_function, before_path, at_function, at_path;
    uint64_t wall_ns, cpu_ns; /* of the process: of several threads it may be more than wall_ns */
    uint64_t core_wait_ns;    /* in which the thread could have run, had it had a core */
};

/* Of a process, from the begin of MPI's start to the begin of its end. */
struct rfn_process_usage {
    bool known;
    uint64_t wall_ns, cpu_ns;
    bool knows_waiting;
    uint64_t core_wait_ns;          /* of the thread that started MPI */
    uint64_t switches, preemptions; /* of its own accord, and not */
    uint64_t peak_bytes;            /* of memory, resident */
};

/* The recorder's own work on a thread between two calls, in quanta of the stream's clock since its
 * start. */
struct rfn_own_work {
    uint64_t from, to;
};

struct rfn_stream_usage {
    uint32_t stream, rank;
    struct rfn_process_usage process;     /* of the lowest stream of a rank, else not known */
    uint64_t recording_ns;                /* the recorder's own work between calls, all of it, */
    const struct rfn_own_work *recording; /* and the longest pieces, in order of time */
    size_t n_recording;
    const struct rfn_gap_usage *gaps; /* most time first */
    size_t n_gaps;
};

struct rfn_usage {
    struct rfn_stream_usage *streams; /* ascending */
    size_t n;
    struct rfn_gap_usage *gaps; /* what the streams' point into, and the next, too */
    size_t n_gaps;
    struct rfn_own_work *recording;
    size_t n_recording;
};

/* *usage is to be released, also after an error; it is empty where the archive has nothing.
 * RFN_E_CORRUPT, RFN_E_NOMEM, errors of reading. */
int rfn_usage_read(const struct rfn_archive *archive, struct rfn_usage *usage,
                   struct rfn_diag *diag);
void rfn_usage_release(struct rfn_usage *usage);

/* The usage of a rank's process; `known` is false where the archive has none. */
struct rfn_process_usage rfn_usage_of_rank(const struct rfn_usage *usage, uint32_t rank);

#pragma GCC visibility pop

#endif
