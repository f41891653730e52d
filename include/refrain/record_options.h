/* record_options.h - what can be asked of a recording: one table.
 *
 * `refrain record` makes its options and their help of it, and hands them to the recorder as text,
 * in variables of the environment; the recorder reads these by the same table. A variable that is
 * set by hand is checked as the option is.
 */
#ifndef REFRAIN_RECORD_OPTIONS_H
#define REFRAIN_RECORD_OPTIONS_H

#include "refrain/error.h"

#include <stdint.h>

/* Help that `refrain reduce` has, too. */
#define RFN_HELP_SIMILARITY                                                           \
    "When iterations went alike: relDiff, absDiff, manhattan, euclidean, chebyshev, " \
    "avgWave, haarWave, iterK, iterAvg or jitter, and its threshold "                 \
    "(default " RFN_SIMILARITY_DEFAULT ")"
#define RFN_HELP_MIN_CALLS \
    "Leave iterations with fewer than N calls (1) within the segment around them"
#define RFN_HELP_STARTS                                                           \
    "Keep the start of each iteration exactly, or within the threshold of where " \
    "those before lead to expect it (predicted, the default)"
#define RFN_HELP_ACROSS                                                                 \
    "Keep the times of processes that went alike once, too: with threshold T, by "      \
    "another method than --similarity if it is named; one: of those that executed the " \
    "same, only the first one's, whatever they are; all (the default): each one's"
#define RFN_HELP_IGNORE                                                                  \
    " parameters no longer tell ranks with the same loops apart; all get those of the "  \
    "lowest one: some of peer, root, count, exact (datatypes, operations), comm, place " \
    "(colour, key) and tag. What differed is lost, and messages may not match any "      \
    "more"

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
 *   group     COMMON, or RESEARCH: how times are reduced and ranks are clustered
 *   default   what the recorder takes if the variable is not set, or cannot be used; NULL: nothing
 */
#define RFN_RECORD_OPTIONS(X)                                                                      \
    X(OUTPUT, "output", 'o', "REFRAIN_OUTPUT", TEXT, COMMON, "FILE", "the name of a file", NULL,   \
      "Write the archive to FILE (default: PROGRAM.RANKS.rfn in the current directory). %r, %h, "  \
      "%j, %e and %{VAR} in it stand for the number of ranks, the host, the job's number, the "    \
      "program and a variable of the environment, %% for a percent sign")                          \
    X(FORCE, "force", 'f', "REFRAIN_FORCE", SWITCH, COMMON, NULL, "1,0", NULL,                     \
      "Replace an archive of that name (default: add a number to the name)")                       \
    X(TIME, "time", 0, "REFRAIN_TIME", WORD, COMMON, "WHAT", "auto,full,reduced,none", "auto",     \
      "full: the times of every event; reduced: the times of iterations that went alike are "      \
      "kept once; auto (default): full as long as they are short (1 MiB of a thread and 64 "       \
      "MiB of all ranks) and no option says how to reduce them, else reduced; none: no "           \
      "times, only what was called")                                                               \
    X(RESOLUTION, "resolution", 0, "REFRAIN_RESOLUTION", CHECKED, COMMON, "TIME",                  \
      "a time from 1ns to 1s, as in 50ns or 1us", "1ns",                                           \
      "Coarsest step of the times, as in 50ns or 1us (default 1ns): a coarser one makes a "        \
      "smaller archive")                                                                           \
    X(VOLUME, "volume", 0, "REFRAIN_VOLUME", CHECKED, COMMON, "WHAT",                              \
      "cpu, instructions or papi:EVENT", NULL,                                                     \
      "Count, between the calls and inside of them: cpu (the thread's CPU time), "                 \
      "instructions, or papi:EVENT (default: nothing)")                                            \
    X(TIME_INDEPENDENT, "time-independent", 0, "REFRAIN_TIME_INDEPENDENT", SWITCH, COMMON, NULL,   \
      "yes,no", NULL,                                                                              \
      "For refrain predict: no times, but what the program computes between its calls, without "   \
      "MPI and the recorder: instructions where they can be counted, else cpu, or --volume; of "   \
      "call paths only the call itself, unless --call-path-match says which frames")               \
    X(FUNCTIONS, "functions", 0, "REFRAIN_FUNCTIONS", CHECKED, COMMON, "PATTERN[,!PATTERN...]",    \
      "a list of patterns, as in 'solve*,!solve_inner'", NULL,                                     \
      "Record calls of functions that were compiled with -finstrument-functions as regions: "      \
      "those whose names fit, where * is any characters and ? one; the last pattern that "         \
      "fits decides, and leaves out with a !")                                                     \
    X(FUNCTIONS_MIN, "functions-min", 0, "REFRAIN_FUNCTIONS_MIN", CHECKED, COMMON, "TIME",         \
      "a time from 1ns to 1s, as in 10us", NULL,                                                   \
      "Of these, leave out calls that are shorter than TIME, as 10us, unless something is "        \
      "recorded in them")                                                                          \
    X(FUNCTIONS_RATE, "functions-rate", 0, "REFRAIN_FUNCTIONS_RATE", CHECKED, COMMON, "N",         \
      "a number from 1 to 1000000000, or none", "10000",                                           \
      "Record no more calls of a function once a thread has called it more than N times in a "     \
      "second (default 10000); none: no limit")                                                    \
    X(POLLS, "polls", 0, "REFRAIN_POLLS", WORD, COMMON, "HOW", "runs,all", "runs",                 \
      "runs: repeated unsuccessful tests and probes are one event (default); all: each is one")    \
    X(MEMORY, "memory", 0, "REFRAIN_MEMORY", CHECKED, COMMON, "SIZE",                              \
      "a size of at least 1M, as in 32M or 1G", "32M",                                             \
      "Memory that the recorder may hold in each process, as 32M (default); what does not "        \
      "fit goes to files in FILE.journal/ until the archive is written")                           \
    X(JOURNAL, "journal", 0, "REFRAIN_JOURNAL", SWITCH, COMMON, NULL, "yes,no", NULL,              \
      "Save what is recorded about every second, in FILE.journal/, from the start and not only "   \
      "once the run has lasted for a minute: if the run is killed, `refrain recover` makes an "    \
      "archive of it")                                                                             \
    X(NO_JOURNAL, "no-journal", 0, "REFRAIN_NO_JOURNAL", SWITCH, COMMON, NULL, "yes,no", NULL,     \
      "Save nothing before the end: if the run is killed, all is lost")                            \
    X(JOURNAL_DIR, "journal-dir", 0, "REFRAIN_JOURNAL_DIR", TEXT, COMMON, "DIR",                   \
      "the name of a folder", NULL,                                                                \
      "Put FILE.journal/ into DIR, such as a disk of each node, and not beside the archive: "      \
      "after a killed run `refrain recover` takes the folders of all nodes")                       \
    X(CHILDREN, "no-children", 0, "REFRAIN_CHILDREN", SWITCH, COMMON, NULL, "no,yes", NULL,        \
      "Do not record processes that the program starts with MPI_Comm_spawn")                       \
    X(INCLUDE, "include", 0, "REFRAIN_INCLUDE", CHECKED, COMMON, "PATTERN[,...]", "", NULL,        \
      "Of calls that no other call depends on (MPI_Comm_rank, MPI_Type_*, MPI_Get_count, polls "   \
      "without success) record only those of functions that fit, as MPI_Type_*, in call paths "    \
      "with a function (path=*setup*) or a file (file=*halo.c) that fits; others are always "      \
      "recorded")                                                                                  \
    X(EXCLUDE, "exclude", 0, "REFRAIN_EXCLUDE", CHECKED, COMMON, "PATTERN[,...]", "", NULL,        \
      "Of the same calls leave out those that fit. How many were left out, and for how long the "  \
      "program polled, stays in the archive")                                                      \
    X(MAX_CALLS, "max-calls-per-second", 0, "REFRAIN_MAX_CALLS_PER_SECOND", CHECKED, COMMON,       \
      "FUNCTION:N[,...]", "", NULL,                                                                \
      "Of the same calls record no more than N of a function in a second, as in MPI_Iprobe:100")   \
    X(UNTIL, "until", 0, "REFRAIN_UNTIL", CHECKED, COMMON, "WHEN",                                 \
      "a time since the start, as in 10s or 2min, segment=N or level=N", NULL,                     \
      "Stop recording after a time (10s, 2min), when N segments of the program have ended "        \
      "(segment=N), or when it calls MPI_Pcontrol(N) (level=N)")                                   \
    X(MAX_SIZE, "max-size", 0, "REFRAIN_MAX_SIZE", CHECKED, COMMON, "SIZE",                        \
      "a size of at least 1M, as in 32M or 1G", NULL,                                              \
      "Stop recording in a process when its part of an archive of SIZE is full")                   \
    X(SAMPLE, "sample", 0, "REFRAIN_SAMPLE", CHECKED, COMMON, "STRATEGY", "", NULL,                \
      "Measure the latencies of some messages and keep no trace, so that neither memory nor the "  \
      "archive grow with the run: random:P (each message with probability P), adaptive (the "      \
      "first of each channel, then ever fewer), counter:N+-V (every N-th send), timer:T+-V (the "  \
      "first send after some time T)")                                                             \
    X(WITH_TRACE, "with-trace", 0, "REFRAIN_WITH_TRACE", SWITCH, COMMON, NULL, "yes,no", NULL,     \
      "With --sample or --keep-predictions: keep the trace, too, which grows with the run then, "  \
      "as it does without them")                                                                   \
    X(SAMPLE_ANALYSIS, "sample-analysis", 0, "REFRAIN_SAMPLE_ANALYSIS", WORD, COMMON, "WHAT",      \
      "freq,stat,write", "freq",                                                                   \
      "Of sampled messages keep: freq: histograms (default); stat: only mean, deviation, least "   \
      "and greatest; write: histograms and the samples themselves")                                \
    X(SAMPLE_WHERE, "sample-where", 0, "REFRAIN_SAMPLE_WHERE", CHECKED, COMMON, "CONDITION[,...]", \
      "", NULL,                                                                                    \
      "Sample only sends of a size (bytes=4K-1M), by a function of MPI (function=MPI_I*), with a " \
      "function or a file in their call path (path=*halo*, file=halo.c), on a communicator "       \
      "(comm=NAME), in a region or "                                                               \
      "segment of the program (region=solve), or at a level of MPI_Pcontrol (level=2)")            \
    X(SAMPLE_SEED, "sample-seed", 0, "REFRAIN_SAMPLE_SEED", CHECKED, COMMON, "N",                  \
      "a whole number below 10^18", "1",                                                           \
      "Choose other messages at random than with other numbers N (default 1)")                     \
    X(KEEP_PREDICTIONS, "keep-predictions", 0, "REFRAIN_KEEP_PREDICTIONS", CHECKED, COMMON,        \
      "TIME", "a time as in 1ms, or a time and a size as in 1ms,64K", NULL,                        \
      "Leave out calls that `refrain whatif` does not need, while the program runs: its "          \
      "predictions stay exact about computations and calls of at least TIME, and messages of at "  \
      "least 64 KiB, or SIZE: TIME,SIZE. With --with-trace all calls are kept, too, in "           \
      "FILE.full.rfn")                                                                             \
    X(START, "start-off", 0, "REFRAIN_START", SWITCH, COMMON, NULL, "off,on", NULL,                \
      "Record nothing (but MPI_Init) before the program calls MPI_Pcontrol(1)")                    \
    X(QUIET, "quiet", 'q', "REFRAIN_QUIET", SWITCH, COMMON, NULL, "1,0", NULL,                     \
      "Print nothing but errors")                                                                  \
    X(CALL_PATH_MATCH, "call-path-match", 0, "REFRAIN_CALL_PATH_MATCH", CHECKED, RESEARCH, "HOW",  \
      "all, ends, or numbers of outer (0 to 1000) and of inner frames (1 to 1000), as in "         \
      "ends:1,2",                                                                                  \
      "all",                                                                                       \
      "all: calls whose paths differ in any frame are told apart (default); "                      \
      "ends[:OUTER,INNER]: paths are their OUTER (1) outermost and INNER (1) innermost "           \
      "frames, so that behaviour that differs only in between is one")                             \
    X(SIMILARITY, "similarity", 0, "REFRAIN_SIMILARITY", CHECKED, RESEARCH, "METHOD[:T]", "",      \
      RFN_SIMILARITY_DEFAULT, RFN_HELP_SIMILARITY)                                                 \
    X(SEGMENT_MIN_CALLS, "segment-min-calls", 0, "REFRAIN_SEGMENT_MIN_CALLS", CHECKED, RESEARCH,   \
      "N", "a number from 1 to 2147483647", "1", RFN_HELP_MIN_CALLS)                               \
    X(SEGMENT_STARTS, "segment-starts", 0, "REFRAIN_SEGMENT_STARTS", WORD, RESEARCH,               \
      "exact|predicted", "exact,predicted", "predicted", RFN_HELP_STARTS)                          \
    X(ACROSS, "across", 0, "REFRAIN_ACROSS", TEXT, RESEARCH, "[METHOD:]T|one|all",                 \
      "a threshold, as in 0.4, METHOD:THRESHOLD, one or all", NULL, RFN_HELP_ACROSS)               \
    X(CLUSTER, "no-cluster", 0, "REFRAIN_CLUSTER", SWITCH, RESEARCH, NULL, "no,yes", NULL,         \
      "Store what ranks did whose calls differ only in numbers for each of them (default: "        \
      "once, with the numbers, where that is shorter)")                                            \
    X(IGNORE_PARAMETER, "ignore-parameter", 0, "REFRAIN_IGNORE_PARAMETER", CHECKED, RESEARCH,      \
      "LIST", "", NULL, "These" RFN_HELP_IGNORE)                                                   \
    X(MERGE_INTERVAL, "merge-interval", 0, "REFRAIN_MERGE_INTERVAL", CHECKED, RESEARCH,            \
      "N|SECONDS", "a number of segments, from 1 to 1000000000, or of seconds, as in 30s or 0.5s", \
      NULL,                                                                                        \
      "Have ranks merge while the program runs, after every N segments (iterations) or as "        \
      "30s, in calls such as MPI_Allreduce of all ranks, so that less is left for the end "        \
      "(default: only in the end)")

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

/* Whether text is a value of the option: 0, or RFN_E_USAGE, and *diag says what is, beginning with
 * `named`, as in "--resolution is a time ..., not '5x'". */
int rfn_record_check(enum rfn_record_option option, const char *named, const char *text,
                     struct rfn_diag *diag);

#endif
