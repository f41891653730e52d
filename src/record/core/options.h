/* options.h - what `refrain record` told the recorder, through the environment
 * (refrain/record_options.h). */
#ifndef RFN_RECORD_CORE_OPTIONS_H
#define RFN_RECORD_CORE_OPTIONS_H

#include "reduce/segments/similarity.h"
#include "refrain/record_options.h"
#include "refrain/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rec_clock_sync { REC_CLOCK_SYNC_AUTO, REC_CLOCK_SYNC_ALWAYS, REC_CLOCK_SYNC_NEVER };

struct rec_options {
    char *texts[RFN_RECORD_N];                 /* of variables that are set and can be used */
    char *output, *program, *command;          /* output may be NULL */
    char *executable;                          /* the program as it was called; may be NULL */
    char *directory;                           /* where the program started */
    char *volume;                              /* NULL: none */
    bool apart;                                /* of the program alone (apart.h) */
    char *tool;                                /* NULL: not known */
    char *functions;                           /* patterns; NULL: none */
    uint64_t functions_min_ns, functions_rate; /* calls per second; UINT64_MAX: no limit */
    char *across;                              /* METHOD:THRESHOLD, checked; NULL: none */
    uint32_t segment_min_calls;
    uint64_t resolution_ns;
    struct rfn_path_ends path_ends;
    bool journal;       /* what is recorded is saved while the program runs, */
    bool journal_asked; /* from the start */
    int64_t journal_ms;
    const char *journal_directory; /* NULL: beside the archive */
    bool write;
    bool force, times, all_polls, quiet, children, start_off;
    bool segments;   /* times are reduced to those of segments, */
    bool keep_short; /* unless they are short */
    bool exact_starts;
    bool cluster;          /* what alike ranks did is stored once */
    unsigned forced_roles; /* parameters that do not tell alike ranks apart */
    bool keeps;            /* only what predictions need, of what is long or large: */
    bool keep_both;        /* and the full trace beside it */
    struct rfn_kept_limits kept_limits;
    struct rfn_every merge_interval;
    size_t memory_bytes;
    enum rec_clock_sync clock_sync;
};

extern struct rec_options rec_options;

/* Reads the environment; to be called once, at the first MPI call. */
void rec_options_read(void);
/* The text of an option, or its default, which may be NULL. */
const char *rec_options_text(enum rfn_record_option option);
/* Which clock is wished; NULL: the fastest. */
const char *rec_options_clock(void);
/* How segments are compared, with the threshold as it was given. */
struct rfn_criterion rec_options_criterion(void);
/* Takes the recorder and its variables out of the environment, so that children are clean. Before
 * MPI starts: without a launcher Open MPI starts a daemon then, whose environment is that of
 * processes that the program spawns. */
void rec_options_clean_environment(void);

#endif
