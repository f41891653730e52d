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

struct rfn_stream_usage {
    uint32_t stream, rank;
    struct rfn_process_usage process; /* of the lowest stream of a rank, else not known */
    const struct rfn_gap_usage *gaps; /* most time first */
    size_t n_gaps;
};

/* How long the threads of a process had cores in a part of the run, all of them together. */
struct rfn_core_window {
    uint64_t wall_ns; /* windows follow each other; the first one from the process's first call */
    uint64_t on_core_ns;  /* in which a thread ran, */
    uint64_t runnable_ns; /* or could have run, had it had a core. Sleep is neither. */
};

/* On which cores the threads of a process may run, and how long they did. */
struct rfn_process_cores {
    uint32_t stream, rank; /* the process's first stream */
    const uint8_t *mask;   /* bit i % 8 of byte i / 8: on core i; no bytes: not known */
    size_t mask_bytes;
    uint32_t omp_threads;                  /* OMP_NUM_THREADS, its first number; 0: not set */
    const struct rfn_core_window *windows; /* none: the system did not tell */
    size_t n_windows;
};

struct rfn_usage {
    struct rfn_stream_usage *streams; /* ascending */
    size_t n;
    struct rfn_gap_usage *gaps; /* what the streams' point into */
    size_t n_gaps;
    struct rfn_process_cores *cores; /* ascending */
    size_t n_cores;
    struct rfn_core_window *windows; /* what the processes' point into */
    size_t n_windows;
    uint8_t *masks;
    size_t n_masks;
};

/* *usage is to be released, also after an error; it is empty where the archive has nothing.
 * RFN_E_CORRUPT, RFN_E_NOMEM, errors of reading. */
int rfn_usage_read(const struct rfn_archive *archive, struct rfn_usage *usage,
                   struct rfn_diag *diag);
void rfn_usage_release(struct rfn_usage *usage);

/* In the mask. */
uint32_t rfn_process_cores_count(const struct rfn_process_cores *cores);
/* All windows as one. */
struct rfn_core_window rfn_process_cores_sum(const struct rfn_process_cores *cores);
/* Of a rank; NULL where the archive has none. Borrowed. */
const struct rfn_process_cores *rfn_usage_cores_of_rank(const struct rfn_usage *usage,
                                                        uint32_t rank);

/* The usage of a rank's process; `known` is false where the archive has none. */
struct rfn_process_usage rfn_usage_of_rank(const struct rfn_usage *usage, uint32_t rank);

#pragma GCC visibility pop

#endif
