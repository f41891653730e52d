/* options.h - what `refrain record` told the recorder, through the environment.
 *
 *   REFRAIN_OUTPUT    file to write (default <program>.<ranks>.rfn where the program started, with
 *                     the name of the executable that calls MPI)
 *   REFRAIN_FORCE     1: overwrite an existing file instead of adding a number to the name
 *   REFRAIN_TIME      segments (default), full or none
 *   REFRAIN_SIMILARITY   how segments are compared, METHOD or METHOD:THRESHOLD (default
 * jitter:0.02) REFRAIN_SEGMENT_MIN_CALLS calls of an iteration that is a segment, at least (default
 * 1) REFRAIN_SEGMENT_STARTS    exact: segments start when they did; predicted (default)
 *   REFRAIN_ACROSS    how processes are compared in the end, METHOD:THRESHOLD, METHOD, or a
 *                     threshold with the method of REFRAIN_SIMILARITY (default: they are not)
 *   REFRAIN_CLUSTER   no: what alike ranks did is not stored once (doc/clustering.md)
 *   REFRAIN_MERGE_INTERVAL
 *                     segments or seconds after which ranks merge while the program runs, as
 *                     rfn_every_parse reads it; the same for all ranks (default: only in the end)
 *   REFRAIN_IGNORE_PARAMETER
 *                     parameters that no longer tell ranks of a cluster apart, as "peer,count"
 *                     (archive/forced_parameters.h; default: all do)
 *   REFRAIN_MERGE     all: ranks hand all that they have on to rank 0, as tools without clusters
 *                     do; to compare with, and slow
 *   REFRAIN_POLLS     all: every unsuccessful poll is an event of its own
 *   REFRAIN_MEMORY    bytes that the recorder may hold, per process (default 32 MiB)
 *   REFRAIN_WRITE     no: nothing is written, neither when memory is full nor, if rank 0 says so,
 *                     in the end; for measuring what writing costs
 *   REFRAIN_START     off: nothing is recorded before MPI_Pcontrol(1), except MPI_Init
 *   REFRAIN_PID       the process that was to be recorded: see notice.h
 *   REFRAIN_COMMAND   command line, for the archive (default: the process's own)
 *   REFRAIN_PRELOAD   the recorder's own path in LD_PRELOAD, to be taken out again
 *   REFRAIN_QUIET     1: no line at the end
 *   REFRAIN_TOOL      path of the tool, which records what the program starts: see spawn.h
 *   REFRAIN_CHILDREN  no: what the program starts with MPI_Comm_spawn is not recorded
 *   REFRAIN_CLOCK     tsc, monotonic, mpi: see clock.h
 *   REFRAIN_CLOCK_SYNC
 *                     always, never, auto (default): whether the clocks of nodes are compared; see
 *                     clock_sync.h
 *   REFRAIN_NODE_MEMORY
 *                     no: messages of the end go through MPI, also where all ranks are on one node;
 *                     see exchange_node.h
 *   REFRAIN_WRITE_AHEAD
 *                     no: times are written when all ranks are there; a number of bytes: or where
 *                     the ranks have fewer of them together (default 0); see ahead.h
 *   REFRAIN_RESOLUTION
 *                     of the times, as in 50ns (default 1ns)
 *   REFRAIN_FUNCTIONS which functions that were compiled with -finstrument-functions are recorded:
 *                     see rfn_function_wanted in refrain/recording.h (default: none)
 *   REFRAIN_FUNCTIONS_MIN
 *                     the shortest call of one that is recorded, as in 10us (default: any)
 *   REFRAIN_FUNCTIONS_RATE
 *                     how often a thread may call one in a second (default 10000), or none: no
 *                     limit
 *   REFRAIN_CALL_PATH_MATCH
 *                     all (default) frames of a call path make it, or ends: rfn_path_match_parse
 *   REFRAIN_VOLUME    what is counted beside the clock: see event/counter.h (default: nothing)
 */
#ifndef RFN_RECORD_OPTIONS_H
#define RFN_RECORD_OPTIONS_H

#include "reduce/similarity.h"
#include "refrain/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rec_clock_sync { REC_CLOCK_SYNC_AUTO, REC_CLOCK_SYNC_ALWAYS, REC_CLOCK_SYNC_NEVER };

struct rec_options {
    char *output, *program, *command;          /* output may be NULL */
    char *executable;                          /* the program as it was called; may be NULL */
    char *directory;                           /* where the program started */
    char *volume;                              /* NULL: none */
    char *tool;                                /* NULL: not known */
    char *functions;                           /* patterns; NULL: none */
    uint64_t functions_min_ns, functions_rate; /* calls per second; UINT64_MAX: no limit */
    char *similar;                             /* NULL: the default; checked */
    char *across;                              /* METHOD:THRESHOLD, checked; NULL: none */
    uint32_t segment_min_calls;
    uint64_t resolution_ns;
    struct rfn_path_ends path_ends;
    bool write;
    bool force, times, all_polls, quiet, children, start_off;
    bool segments; /* times are reduced to those of segments */
    bool exact_starts;
    bool merge_all;
    bool cluster;          /* what alike ranks did is stored once */
    unsigned forced_roles; /* parameters that do not tell alike ranks apart */
    struct rfn_every cluster_every;
    size_t memory_bytes;
    enum rec_clock_sync clock_sync;
    bool node_memory;     /* ranks of one node may share memory in the end */
    uint64_t ahead_bytes; /* of times, from which on they are written ahead */
};

enum { REC_FUNCTIONS_RATE = 10000 };

extern struct rec_options rec_options;

/* Reads the environment; to be called once, at the first MPI call. */
void rec_options_read(void);
/* How segments are compared, with the threshold as it was given. */
struct rfn_criterion rec_options_criterion(void);
/* Takes the recorder and its variables out of the environment, so that children are clean. Before
 * MPI starts: without a launcher Open MPI starts a daemon then, whose environment is that of
 * processes that the program spawns. */
void rec_options_clean_environment(void);

#endif
