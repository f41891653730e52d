/* record_options.h - the options of a recording: one table.
 *
 * `refrain record` makes its options and their help of it, and hands them to the recorder as text,
 * in variables of the environment; the recorder reads these by the same table. A variable that is
 * set by hand is checked as the option is.
 */
#ifndef REFRAIN_RECORD_OPTIONS_H
#define REFRAIN_RECORD_OPTIONS_H

#pragma GCC visibility push(default)

#include "refrain/error.h"

#include <stdint.h>

/* Help that `refrain reduce` has, too. */
#define RFN_HELP_SIMILARITY "When segments share times, as " RFN_SIMILARITY_DEFAULT " (default)"
#define RFN_HELP_MIN_CALLS  "Shortest segment (1); shorter ones stay in the one around"
#define RFN_HELP_STARTS     "Segment starts: exactly, or within T (default)"
#define RFN_HELP_ACROSS     "Share times of ranks, too: within T, or one's; default: all"
#define RFN_HELP_IGNORE     "Merge ranks that differ in these, as peer,count,tag"

/* How times of segments are compared unless something else is asked for: doc/study.md. */
#define RFN_SIMILARITY_DEFAULT "jitter:0.02"

/* X(ID, option, key, variable, kind, group, argument, values, default, help)
 *
 *   key       the letter of a short option, or 0
 *   kind      SWITCH  there is no argument; the variable has the first of the values
 *             WORD    one of the values
 *             CHECKED what a function of refrain/recording.h takes; values say what that is, or
 *                     nothing where the function says it better
 *             TEXT    whatever is not empty (what --across takes depends on --similarity:
 *                     rfn_across_text)
 *   group     COMMON: on the first screen of help; MORE; or RESEARCH: how times are reduced and
 *             ranks are clustered
 *   default   what the recorder takes if the variable is not set, or cannot be used; NULL: nothing
 */
#define RFN_RECORD_OPTIONS(X)                                                                      \
    X(OUTPUT, "output", 'o', "REFRAIN_OUTPUT", TEXT, COMMON, "FILE", "the name of a file", NULL,   \
      "Archive's name (default: PROGRAM.RANKS.rfn)")                                               \
    X(FORCE, "force", 'f', "REFRAIN_FORCE", SWITCH, COMMON, NULL, "1,0", NULL,                     \
      "Replace an archive of that name")                                                           \
    X(TIME, "time", 0, "REFRAIN_TIME", WORD, COMMON, "WHAT", "auto,full,reduced,none", "auto",     \
      "Times to keep: auto (default), full, reduced or none")                                      \
    X(RESOLUTION, "resolution", 0, "REFRAIN_RESOLUTION", CHECKED, MORE, "TIME",                    \
      "a time from 1ns to 1s, as in 50ns or 1us", "1ns",                                           \
      "Coarsest step of times, as 1us (default 1ns)")                                              \
    X(VOLUME, "volume", 0, "REFRAIN_VOLUME", CHECKED, MORE, "WHAT",                                \
      "cpu, instructions or papi:EVENT", NULL,                                                     \
      "Count cpu, instructions or papi:EVENT between calls")                                       \
    X(TIME_INDEPENDENT, "time-independent", 0, "REFRAIN_TIME_INDEPENDENT", SWITCH, COMMON, NULL,   \
      "yes,no", NULL, "Record volumes instead of times, to predict")                               \
    X(FUNCTIONS, "functions", 0, "REFRAIN_FUNCTIONS", CHECKED, COMMON, "PATTERN[,!PATTERN...]",    \
      "a list of patterns, as in 'solve*,!solve_inner'", NULL,                                     \
      "Record -finstrument-functions calls as regions")                                            \
    X(FUNCTIONS_MIN, "functions-min", 0, "REFRAIN_FUNCTIONS_MIN", CHECKED, MORE, "TIME",           \
      "a time from 1ns to 1s, as in 10us", NULL, "Leave out regions shorter than this, as 10us")   \
    X(FUNCTIONS_RATE, "functions-rate", 0, "REFRAIN_FUNCTIONS_RATE", CHECKED, MORE, "N",           \
      "a number from 1 to 1000000000, or none", "10000",                                           \
      "Most calls of a function a second (10000); none")                                           \
    X(POLLS, "polls", 0, "REFRAIN_POLLS", WORD, MORE, "HOW", "runs,all", "runs",                   \
      "Polls in a row: one event (runs, default), or all")                                         \
    X(MEMORY, "memory", 0, "REFRAIN_MEMORY", CHECKED, COMMON, "SIZE",                              \
      "a size of at least 1M, as in 32M or 1G", "32M",                                             \
      "Most memory in each process (default 32M)")                                                 \
    X(JOURNAL, "journal", 0, "REFRAIN_JOURNAL", SWITCH, COMMON, NULL, "yes,no", NULL,              \
      "Save every second from the start, not after a minute")                                      \
    X(NO_JOURNAL, "no-journal", 0, "REFRAIN_NO_JOURNAL", SWITCH, MORE, NULL, "yes,no", NULL,       \
      "Save nothing before the end")                                                               \
    X(JOURNAL_DIR, "journal-dir", 0, "REFRAIN_JOURNAL_DIR", TEXT, COMMON, "DIR",                   \
      "the name of a folder", NULL, "Where to save, such as a disk of each node")                  \
    X(CHILDREN, "no-children", 0, "REFRAIN_CHILDREN", SWITCH, MORE, NULL, "no,yes", NULL,          \
      "Leave out processes of MPI_Comm_spawn")                                                     \
    X(INCLUDE, "include", 0, "REFRAIN_INCLUDE", CHECKED, MORE, "PATTERN[,...]", "", NULL,          \
      "Of calls that may be left out, record only these")                                          \
    X(EXCLUDE, "exclude", 0, "REFRAIN_EXCLUDE", CHECKED, COMMON, "PATTERN[,...]", "", NULL,        \
      "Leave out calls such as MPI_Iprobe or MPI_Type_*")                                          \
    X(MAX_CALLS, "max-calls-per-second", 0, "REFRAIN_MAX_CALLS_PER_SECOND", CHECKED, MORE,         \
      "FUNCTION:N[,...]", "", NULL, "At most N of these a second, as MPI_Iprobe:100")              \
    X(FROM, "from", 0, "REFRAIN_FROM", CHECKED, MORE, "WHEN",                                      \
      "segment=N or level=N (at a time, each rank would begin at another message)", NULL,          \
      "Begin recording at segment=N or level=N")                                                   \
    X(UNTIL, "until", 0, "REFRAIN_UNTIL", CHECKED, COMMON, "WHEN",                                 \
      "a time since the start, as in 10s or 2min, segment=N or level=N", NULL,                     \
      "Stop recording at a time, segment=N or level=N")                                            \
    X(MAX_SIZE, "max-size", 0, "REFRAIN_MAX_SIZE", CHECKED, COMMON, "SIZE",                        \
      "a size of at least 1M, as in 32M or 1G", NULL,                                              \
      "Stop recording where the archive would be larger")                                          \
    X(SAMPLE, "sample", 0, "REFRAIN_SAMPLE", CHECKED, COMMON, "STRATEGY", "", NULL,                \
      "Sample latencies, as adaptive or random:0.01")                                              \
    X(WITH_TRACE, "with-trace", 0, "REFRAIN_WITH_TRACE", SWITCH, MORE, NULL, "yes,no", NULL,       \
      "Keep the trace, too, with --sample")                                                        \
    X(SAMPLE_ANALYSIS, "sample-analysis", 0, "REFRAIN_SAMPLE_ANALYSIS", WORD, MORE, "WHAT",        \
      "freq,stat,write", "freq", "freq: histograms (default); stat: moments; write: all")          \
    X(SAMPLE_WHERE, "sample-where", 0, "REFRAIN_SAMPLE_WHERE", CHECKED, MORE, "CONDITION[,...]",   \
      "", NULL, "Sample only such messages, as bytes=4K-1M")                                       \
    X(SAMPLE_SEED, "sample-seed", 0, "REFRAIN_SAMPLE_SEED", CHECKED, MORE, "N",                    \
      "a whole number below 10^18", "1", "Seed of the random choice (default 1)")                  \
    X(KEEP_PREDICTIONS, "keep-predictions", 0, "REFRAIN_KEEP_PREDICTIONS", CHECKED, MORE, "TIME",  \
      "a time as in 1ms, or a time and a size as in 1ms,64K", NULL,                                \
      "Keep only what predictions about TIME need, as 1ms")                                        \
    X(START, "start-off", 0, "REFRAIN_START", SWITCH, MORE, NULL, "off,on", NULL,                  \
      "Record nothing before MPI_Pcontrol(1)")                                                     \
    X(QUIET, "quiet", 'q', "REFRAIN_QUIET", SWITCH, COMMON, NULL, "1,0", NULL,                     \
      "Print nothing but errors")                                                                  \
    X(CALL_PATH_MATCH, "call-path-match", 0, "REFRAIN_CALL_PATH_MATCH", CHECKED, RESEARCH, "HOW",  \
      "all, ends, or numbers of outer (0 to 1000) and of inner frames (1 to 1000), as in "         \
      "ends:1,2",                                                                                  \
      "all", "Compare whole call paths (all), or their ends")                                      \
    X(SIMILARITY, "similarity", 0, "REFRAIN_SIMILARITY", CHECKED, RESEARCH, "METHOD[:T]", "",      \
      RFN_SIMILARITY_DEFAULT, RFN_HELP_SIMILARITY)                                                 \
    X(SEGMENT_MIN_CALLS, "segment-min-calls", 0, "REFRAIN_SEGMENT_MIN_CALLS", CHECKED, RESEARCH,   \
      "N", "a number from 1 to 2147483647", "1", RFN_HELP_MIN_CALLS)                               \
    X(SEGMENT_STARTS, "segment-starts", 0, "REFRAIN_SEGMENT_STARTS", WORD, RESEARCH,               \
      "exact|predicted", "exact,predicted", "predicted", RFN_HELP_STARTS)                          \
    X(ACROSS, "across", 0, "REFRAIN_ACROSS", TEXT, RESEARCH, "[METHOD:]T|one|all",                 \
      "a threshold, as in 0.4, METHOD:THRESHOLD, one or all", NULL, RFN_HELP_ACROSS)               \
    X(CLUSTER, "no-cluster", 0, "REFRAIN_CLUSTER", SWITCH, RESEARCH, NULL, "no,yes", NULL,         \
      "Keep ranks that differ in numbers only apart")                                              \
    X(IGNORE_PARAMETER, "ignore-parameter", 0, "REFRAIN_IGNORE_PARAMETER", CHECKED, RESEARCH,      \
      "LIST", "", NULL, RFN_HELP_IGNORE)                                                           \
    X(MERGE_INTERVAL, "merge-interval", 0, "REFRAIN_MERGE_INTERVAL", CHECKED, RESEARCH,            \
      "N|SECONDS", "a number of segments, from 1 to 1000000000, or of seconds, as in 30s or 0.5s", \
      NULL, "Merge while the program runs, as every 30s")

/* X(ID, variable, kind, values, default): variables without an option. The last four are what
 * `refrain record` knows; the others are to measure and to test with. */
#define RFN_RECORD_VARIABLES(X)                                                                   \
    X(WRITE, "REFRAIN_WRITE", WORD, "no,yes", NULL)            /* no: nothing is written */       \
    X(CLOCK, "REFRAIN_CLOCK", WORD, "tsc,monotonic,mpi", NULL) /* src/record/core/clock.h */      \
    X(CLOCK_SYNC, "REFRAIN_CLOCK_SYNC", WORD, "auto,always,never",                                \
      "auto") /* of nodes; clock_sync.h */                                                        \
    X(PID, "REFRAIN_PID", TEXT, "",                                                               \
      NULL) /* the process that was to be recorded: launch_checks.h */                            \
    X(COMMAND, "REFRAIN_COMMAND", TEXT, "",                                                       \
      NULL) /* for the archive; default: the process's own */                                     \
    X(PRELOAD, "REFRAIN_PRELOAD", TEXT, "", NULL) /* the recorder's own part of LD_PRELOAD */     \
    X(KEEP_WHOLE, "REFRAIN_KEEP_WHOLE", TEXT, "",                                                 \
      "32768") /* with --keep-predictions the first calls of the run are kept */                  \
    X(JOURNAL_INTERVAL, "REFRAIN_JOURNAL_INTERVAL", TEXT, "", "700") /* ms between checkpoints */ \
    X(TOOL, "REFRAIN_TOOL", TEXT, "", NULL) /* what records processes that are started: spawn.h */

enum rfn_record_option {
#define RFN_X_(id, ...) RFN_RECORD_##id,
    RFN_RECORD_OPTIONS(RFN_X_) RFN_RECORD_WITH_OPTION, /* so many have one */
    RFN_RECORD_BEFORE_VARIABLES_ = RFN_RECORD_WITH_OPTION - 1,
    RFN_RECORD_VARIABLES(RFN_X_)
#undef RFN_X_
        RFN_RECORD_N
};

struct rfn_record_row {
    const char *option; /* NULL: none */
    int key;            /* argp's */
    const char *variable, *values, *preset;
    enum rfn_record_kind { RFN_KIND_SWITCH, RFN_KIND_WORD, RFN_KIND_CHECKED, RFN_KIND_TEXT } kind;
};

/* A row of the table. */
const struct rfn_record_row *rfn_record_row(enum rfn_record_option option);

/* Whether text is a value of the option: 0, or RFN_E_USAGE, and *diag describes its values,
 * beginning with `named`, as in "--resolution is a time ..., not '5x'". */
int rfn_record_check(enum rfn_record_option option, const char *named, const char *text,
                     struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
