/* archive.h - reads a Refrain archive (refrain-archive(5)).
 *
 * An archive holds the events of all streams (threads of ranks) of one run, every repetition once.
 * Open it, look at struct rfn_run, then read the events of any stream in order through a cursor,
 * which expands the stored structure on the fly. A reader trusts no byte of the file: a damaged
 * file gives RFN_E_CORRUPT with the offset; a file that was cut short opens as far as it is whole,
 * and rfn_archive_complete() says no.
 *
 * An open archive is immutable; several cursors may be used at once, each by one thread. Memory
 * does not grow with events: a cursor has at most 40 KiB per column of its stream that varies,
 * mostly 8, and reads the file as it goes; of a reduced archive it also has the segments whose
 * times others share. A file that is changed or cut meanwhile gives RFN_E_CORRUPT or
 * RFN_E_INCOMPLETE. Large decompressed data go to a temporary file in the folder that the
 * environment variable TMPDIR names, else /tmp.
 */
#ifndef REFRAIN_ARCHIVE_H
#define REFRAIN_ARCHIVE_H

#pragma GCC visibility push(default)

#include "refrain/error.h"
#include "refrain/event.h"
#include "refrain/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rfn_archive;
struct rfn_cursor;

/* Opens a file. *archive is the caller's, to be closed. Errors: RFN_E_IO, _CORRUPT, _VERSION,
 * _NOMEM; a file too short to say anything is RFN_E_INCOMPLETE. */
int rfn_archive_open(const char *path, struct rfn_archive **archive, struct rfn_diag *diag);
void rfn_archive_close(struct rfn_archive *archive);

/* Whether everything that the recorder wrote is there. If not, *why (may be NULL) is a sentence. */
bool rfn_archive_complete(const struct rfn_archive *archive, const char **why);

/* ---- the run ---- */

/* The counts of a reduced archive (doc/trace-profiling.md), over all streams, as the file has them:
 * nothing checks them. */
struct rfn_run_reduction {
    uint64_t executions;      /* segments */
    uint64_t kinds;           /* of segments: contexts with distinct events */
    uint64_t representatives; /* segments whose times are kept */
    uint64_t corrections;     /* of starts that were predicted too badly */
    uint64_t streams;         /* that were reduced */
    uint64_t classes;         /* of streams that executed the same segments */
    uint64_t time_sets;       /* streams whose times are kept */
    uint64_t widened;         /* kinds whose threshold was widened */
    uint64_t full_bytes;      /* of the archive that was reduced; 0: there was none */
    uint64_t long_streams;    /* for whose times, too long to be kept, all were reduced; 0: whatever
                                 they were, because it was asked for */
    uint32_t min_calls;       /* of an iteration that is a segment */
    bool exact_starts;        /* of segments */
};

/* The merging of ranks into one archive while the program ran. */
struct rfn_run_online_merges {
    uint64_t merges;          /* 0: none */
    uint64_t ns;              /* in them, on rank 0 */
    uint64_t bytes, messages; /* that ranks sent */
};

/* The merging of ranks when the program ended, before the archive was written. */
struct rfn_run_merging {
    uint64_t messages, bytes; /* that ranks sent; messages 0: not known (one rank, old archives) */
    uint64_t trace_bytes;     /* of all ranks' own structures, values, rank parameters and times */
    uint64_t all_bytes;       /* of these, had they been handed on to rank 0 from rank to rank */
    uint64_t all_definition_bytes; /* the same of what they refer to: call paths, functions, ... */
    struct rfn_run_online_merges online; /* before the end: not in the numbers above */
};

/* Whether the archive was made of journals (refrain/journal.h), of a run that had not come to its
 * end: the events of each rank after its checkpoint are missing. first_ns, last_ns: when the first
 * and the last checkpoint were made, ns since 1970. */
struct rfn_run_recovery {
    bool recovered;
    int64_t first_ns, last_ns;
};

struct rfn_run {
    const char *recorder;      /* "refrain 0.1.0" */
    const char *program;       /* path or name of the program */
    const char *command;       /* command line, arguments separated by spaces */
    const char *mpi;           /* library version, first line of MPI_Get_library_version */
    const char *flavour;       /* "mpich", "openmpi", "smpi" */
    int64_t start_realtime_ns; /* when recording began on rank 0, since 1970; 0 not known */
    uint32_t ranks;            /* of MPI_COMM_WORLD */
    uint32_t streams; /* threads that called MPI, over all ranks, in order of ranks; of each
                         rank its first thread comes first */
    bool times;       /* events have times */
    bool all_polls;
    bool start_off;                 /* recording was off until the first MPI_Pcontrol(1) */
    struct rfn_path_ends path_ends; /* frames that make a call path; inner 0: all */
    double resolution_ns;           /* of the times; 0 without */
    const char *volume;             /* what was counted beside the clock: "cpu", "instructions",
                                       "papi:EVENT"; NULL: nothing */
    const char *volume_unit;        /* "ns", "instructions" or "", plain numbers; NULL without */
    bool apart;                     /* volumes are the program's alone, without counts inside of MPI
                                       (--time-independent), */
    uint64_t taken_out;   /* less this of each, on rank 0: the cost of counting itself; in units */
    double merge_seconds; /* time spent in merging from when the last rank came to
                             MPI_Finalize, as rank 0 saw it */
    uint64_t file_bytes;
    bool reduced;        /* times of alike iterations are kept once, so times are approximate */
    const char *similar; /* how they were compared, "avgWave:0.2"; NULL unless reduced */
    const char *across;  /* the same across processes; NULL: they were not compared */
    struct rfn_run_reduction reduction; /* zeros unless reduced */
    struct rfn_run_merging merging;
    const char *forced; /* parameters that all ranks of a cluster have from its lowest rank, as
                           "peer,count" (--ignore-parameter); NULL: none */
    bool clustered;     /* events of alike ranks are stored once, or are to be when there are more
                           ranks: these were taken from such an archive, or ended alone */
    const char *predicted; /* the run was not recorded so, but predicted (refrain/predict.h): what
                              was assumed, "rank:3 x 0.5", or ""; NULL: it was recorded */
    struct rfn_run_recovery recovered;
    const char *limits; /* calls were left out on request: the options, as "--exclude=MPI_Iprobe";
                           NULL: none were to be (refrain/left_out.h: which were) */
    uint64_t identity;  /* of the run: all its files have the same, and no other run's; 0: not
                           known */
};

const struct rfn_run *rfn_archive_run(const struct rfn_archive *archive);

/* One thread of one rank. Streams are numbered in order of (rank, thread). */
struct rfn_stream_info {
    uint32_t rank, thread;
    uint32_t group; /* streams of one group have the same structure */
    const char *host;
    uint64_t events, calls; /* a run of unsuccessful polls is one event, but many calls */
    bool volume;            /* its events have volumes */
    uint64_t region_events; /* events that are begins and ends of regions, and so no calls */
    bool readable;          /* its parts of the file are there (always, in a complete archive) */
    uint64_t signature; /* of its calls, as the recorder found it; equal where streams make the same
                           calls in the same order (refrain/clusters.h); 0: it did not */
};

/* stream < run->streams. */
struct rfn_stream_info rfn_archive_stream(const struct rfn_archive *archive, uint32_t stream);

/* A measured difference of two hosts' clocks. */
struct rfn_clock_offset {
    uint64_t monotonic_ns;  /* when: CLOCK_MONOTONIC of the host */
    int64_t offset_ns;      /* to be added to get CLOCK_MONOTONIC of the reference host */
    uint64_t round_trip_ns; /* the offset is wrong by at most half of it */
};

/* A host of the run. The times of its events are corrected by its offsets; where there are none
 * (of the reference host, and of hosts that were not measured), hosts are aligned by the time of
 * day. */
struct rfn_host_info {
    const char *name;
    uint32_t cores;                         /* that were in use; 0: not known */
    bool reference;                         /* the other hosts were compared with it */
    const struct rfn_clock_offset *offsets; /* in order of time, borrowed; NULL: none */
    uint32_t n_offsets;
};

uint32_t rfn_archive_hosts(const struct rfn_archive *archive);
struct rfn_host_info rfn_archive_host(const struct rfn_archive *archive, uint32_t host);

/* Groups of equal structure. members: stream numbers in ascending order, n of them, borrowed. */
struct rfn_group_info {
    const uint32_t *members;
    uint32_t n_members;
    uint32_t symbols, loops, nodes; /* sizes of the structure; 0 if it is not readable */
    uint64_t bytes; /* of its structure in the file; 0: it is stored together with others */
};

uint32_t rfn_archive_groups(const struct rfn_archive *archive);
struct rfn_group_info rfn_archive_group(const struct rfn_archive *archive, uint32_t group);

/* The bytes of calls, parameters and counts in the file: of all but times and definitions. In a
 * clustered archive (refrain reduce --cluster) some groups are stored together. */
struct rfn_parameter_sizes {
    uint32_t clustered_groups;
    uint64_t bytes, unclustered_bytes; /* as it is, and as it would be without clusters */
};

/* RFN_E_CORRUPT, RFN_E_IO, RFN_E_NOMEM: in CLUSTERS. */
int rfn_archive_parameter_sizes(const struct rfn_archive *archive,
                                struct rfn_parameter_sizes *sizes, struct rfn_diag *diag);

/* ---- definitions: what events refer to ---- */

struct rfn_location {
    const char *function; /* NULL when not known */
    const char *file;     /* NULL when not known */
    uint32_t line;
    const char *module; /* path of the executable or library */
    uint64_t offset;    /* return address in the module */
};

/* A call path, innermost frame (that of the MPI call) first. Borrowed. */
struct rfn_path {
    const uint32_t *frames; /* numbers for rfn_archive_location */
    uint32_t n_frames;
};

uint32_t rfn_archive_paths(const struct rfn_archive *archive);
struct rfn_path rfn_archive_path(const struct rfn_archive *archive, uint32_t path);
uint32_t rfn_archive_locations(const struct rfn_archive *archive);
struct rfn_location rfn_archive_location(const struct rfn_archive *archive, uint32_t location);

/* A call that a function of the program makes. */
struct rfn_program_call {
    const char *function; /* by the name that the linker sees; NULL: not known (a pointer) */
    uint32_t line;
    uint64_t offset; /* its return address in the module, or the begin of inlined code */
    bool library;    /* its declaration is in a header of the system, or nowhere */
};

#define RFN_NO_LOCATION UINT32_MAX

/* What a function calls between two calls of MPI: `from` and `to` are locations of one function, as
 * two call paths lead through it; RFN_NO_LOCATION: the function's begin or end. Left out are calls
 * that paths lead through, and calls that take no time (doc/refrain-archive.5.md, DEFINITIONS).
 * Where `to` is not behind `from`, these are the calls behind `from` and then those before `to` in
 * the innermost loop around both. Gives the first `most` calls, in the order in which they are
 * made, and how many there are. Lines tell which calls lie between, not the program's ways: calls
 * of other branches are among them. Names are borrowed. False: it is not known, for want of debug
 * information, or because no such loop is known. */
bool rfn_archive_calls_between(const struct rfn_archive *archive, uint32_t from, uint32_t to,
                               struct rfn_program_call *calls, uint32_t most, uint32_t *n);

/* Functions and the meaning of their words: refrain/event.h. */
uint32_t rfn_archive_functions(const struct rfn_archive *archive);
const struct rfn_function_info *rfn_archive_function(const struct rfn_archive *archive,
                                                     uint32_t function);

struct rfn_datatype_info {
    const char *name;                  /* "MPI_DOUBLE", or its constructor tree as text */
    int64_t size, extent, true_extent; /* bytes */
};

uint32_t rfn_archive_datatypes(const struct rfn_archive *archive);
const struct rfn_datatype_info *rfn_archive_datatype(const struct rfn_archive *archive,
                                                     uint32_t datatype);

/* The name of a region of the program. */
uint32_t rfn_archive_regions(const struct rfn_archive *archive);
const char *rfn_archive_region(const struct rfn_archive *archive, uint32_t region);

enum rfn_comm_kind { RFN_COMM_WORLD, RFN_COMM_SELF, RFN_COMM_INTRA, RFN_COMM_INTER };

struct rfn_comm_info {
    enum rfn_comm_kind kind;
    uint32_t size, remote_size; /* remote_size 0 unless INTER; size 1 for SELF */
    uint64_t identity;          /* equal on all its members, of each communicator another one */
};

uint32_t rfn_archive_comms(const struct rfn_archive *archive);
const struct rfn_comm_info *rfn_archive_comm(const struct rfn_archive *archive, uint32_t comm);
/* The world rank of a member (of the second group of an INTER if remote), -1 when it is not in
 * MPI_COMM_WORLD or rank is out of range. For SELF give the asking world rank as rank. */
int64_t rfn_comm_world_rank(const struct rfn_archive *archive, uint32_t comm, bool remote,
                            uint32_t rank);
/* The rank in comm of a world rank, -1 when it is not a member. INTER: in the group it is in. */
int64_t rfn_comm_rank_of(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank);
/* The world rank of the process that a call of `world_rank` on comm means by `rank`: of SELF
 * itself, of INTER a member of the other group (which of the two that is depends on who calls); -1
 * when there is none, for special values too. */
int64_t rfn_comm_peer(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank,
                      int64_t rank);
/* How many ranks such a call can mean: the size of the group, of INTER that of the other one. */
uint32_t rfn_comm_peers(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank);

/* ---- events ---- */

/* One event. Pointers are borrowed until the next call on the cursor. Words are as in
 * refrain/event.h, except that here, already translated from the stream's numbers to the archive's:
 * kind TYPE holds a datatype of rfn_archive_datatype, COMM a communicator of rfn_archive_comm,
 * REGION a region of rfn_archive_region. */
struct rfn_record {
    /* First the members that are read of every event. */
    int64_t enter_ns, exit_ns; /* since the start of the run; 0 without times */
    int64_t inside_ns;         /* time inside MPI: exit - enter, or less in a run of polls */
    uint64_t polls;            /* calls in this event: 1, or the length of a run of failed polls */
    uint64_t index;            /* of the event in its stream, from 0 */
    uint32_t symbol;           /* number of the signature in the stream's group: equal symbols have
                                  equal inputs, save those marked in `varying` */
    uint32_t function, path;
    uint32_t error; /* MPI error class, 0 for success */
    bool failed_poll;
    uint32_t varying; /* bit i: input i differs from occurrence to occurrence */
    const int64_t *in, *out;
    int64_t volume_gap;    /* counted outside of MPI since the event before, and between the polls
                              of a run; 0 without volumes */
    int64_t volume_inside; /* counted inside MPI */
    bool begins;           /* a segment, where the cursor tells segments, */
    uint32_t context;      /* of this context */
};

int rfn_cursor_open(const struct rfn_archive *archive, uint32_t stream, struct rfn_cursor **cursor,
                    struct rfn_diag *diag);
/* Does the slowest work before the first event, for users that must not lose time after it: decodes
 * which similar iteration ran when (the first values, up to 4,096 of each context). Otherwise the
 * cursor decodes these at the first iteration. Errors as of rfn_cursor_next, which returns them
 * again. Does nothing where times are not reduced. */
int rfn_cursor_decode_ahead(struct rfn_cursor *cursor, struct rfn_diag *diag);
/* 1 and *record, 0 at the end, or an error (RFN_E_CORRUPT, RFN_E_INCOMPLETE, RFN_E_NOMEM). */
int rfn_cursor_next(struct rfn_cursor *cursor, const struct rfn_record **record,
                    struct rfn_diag *diag);
/* Makes the event with this number the next one, forwards or backwards; behind the last one there
 * is none. Or, of an archive with times, the first event that ends at this time (ns since the start
 * of the run) or later. Events are not read from the beginning: the times of every 65,536th event
 * are known, loops are passed over as a whole, and columns by their blocks. So a seek costs as much
 * as reading 131,072 events at most, plus little per loop whose trips vary and per 4,096 values.
 * Without such marks in the file times are read from the beginning; of reduced times, which have
 * none, segment by segment. Where the cursor tells segments, it passes each event by itself. Errors
 * as of rfn_cursor_next, which returns them again. RFN_E_CORRUPT: a mark disagrees with the events
 * between it and the mark before; only rfn_archive_verify checks earlier marks. RFN_E_UNSUPPORTED:
 * there are no times; the cursor stays where it is. */
int rfn_cursor_seek(struct rfn_cursor *cursor, uint64_t event, struct rfn_diag *diag);
int rfn_cursor_seek_time(struct rfn_cursor *cursor, int64_t ns, struct rfn_diag *diag);
/* The words of list `number` of the cursor's stream; NULL and *n = 0 for 0, specials and numbers
 * that do not exist. TYPE and COMM lists hold archive numbers. Borrowed, all that have been asked
 * for, until the next rfn_cursor_next of the cursor. When a list cannot be read (RFN_E_CORRUPT,
 * RFN_E_IO, RFN_E_INCOMPLETE, RFN_E_NOMEM), NULL and *n = 0 is returned, too, and the next
 * rfn_cursor_next returns the error. */
const int64_t *rfn_cursor_list(const struct rfn_cursor *cursor, int64_t number, size_t *n,
                               uint8_t kind);
void rfn_cursor_close(struct rfn_cursor *cursor);

/* ---- segments ----
 *
 * A segment is an execution of a stretch of the program between loops: what comes before a loop,
 * each of its iterations, what follows; the program's marks cut stretches further. A stretch is a
 * context; contexts are numbers, equal for all streams of a group. doc/trace-profiling.md defines
 * both. */

/* Longer segments are cut into several of the same context. */
enum { RFN_SEGMENT_EVENTS_MAX = 65536 };

/* Has the cursor tell segments. Loops with fewer calls than min_calls in an iteration (calls of
 * inner loops counted once) stay inside of the segment around them; where the program has set marks
 * (refrain/region.h), just loops without a mark do. With 0, so do loops without a call that may
 * wait for other ranks: loops around MPI_Irecv, say. Once, before the first event. RFN_E_NOMEM. */
int rfn_cursor_cut_segments(struct rfn_cursor *cursor, uint32_t min_calls, struct rfn_diag *diag);

struct rfn_segment_place {
    uint32_t context;
    bool begins; /* a segment, with this event */
};

/* Of the event that was delivered last. Segments must have been asked for, also below. */
struct rfn_segment_place rfn_cursor_place(const struct rfn_cursor *cursor);
/* Contexts are numbered from 0 to this number less 1. */
uint32_t rfn_cursor_contexts(const struct rfn_cursor *cursor);
/* Contexts below this number are executed once each: they lie outside of loops that cut. */
uint32_t rfn_cursor_top_contexts(const struct rfn_cursor *cursor);

#define RFN_NO_CONTEXT UINT32_MAX

/* A call that an execution of a context makes. */
struct rfn_context_call {
    uint32_t context;
    uint32_t list;   /* the first context of the same loop, or of the top */
    uint32_t around; /* the same of the loop around that loop; RFN_NO_CONTEXT: there is none */
    uint32_t function, path;
};
/* Shows the calls of all contexts, in order within a context; the top's contexts last. Calls in
 * loops that are no contexts are left out. Returns what `show` does, if that is negative;
 * RFN_E_NOMEM. */
int rfn_cursor_show_calls(const struct rfn_cursor *cursor,
                          int (*show)(void *context, const struct rfn_context_call *call),
                          void *context);

/* Checks every checksum and every invariant of the whole file, decoding all of it. Returns 0, or
 * the first error. progress (may be NULL) is told the share done, 0 to 1. */
int rfn_archive_verify(const char *path, void (*progress)(void *context, double share),
                       void *context, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
