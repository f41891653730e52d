/* convert.h - archives of traces that other tools recorded, and such traces of archives.
 *
 * OTF2 is the format of Score-P, Scalasca, EZTrace and TAU. doc/otf2.md has the table: which event
 * of OTF2 becomes what, and which are left out. Perfetto shows a trace in a browser, Paraver in a
 * program of its own. Tables of comma-separated values are for pandas and its like.
 */
#ifndef REFRAIN_CONVERT_H
#define REFRAIN_CONVERT_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

/* Told how much is done, 0 to 1, now and then. May be NULL. */
struct rfn_convert_progress {
    void (*tell)(void *context, double share);
    void *context;
};

/* How much of an OTF2 trace has no place in an archive, or was left out. */
struct rfn_otf2_left_out {
    uint64_t io, threads, rma, other; /* events: files; OpenMP, Pthreads, tasks; one-sided; else */
    uint64_t outside;    /* messages and collective calls outside of a call of MPI: they
                            got calls that take no time */
    uint64_t locations;  /* of accelerators and of metrics, and locations of no rank */
    uint64_t unresolved; /* receives that stay wildcards: their message came too late, or never */
};

struct rfn_otf2_summary {
    uint32_t ranks, streams;
    uint64_t events; /* of OTF2; written: of all locations */
    uint64_t calls;  /* of MPI */
    uint64_t bytes;  /* of the archive; 0 when written */
    struct rfn_otf2_left_out left_out;
};

/* Whether this build knows OTF2; else the two functions below return RFN_E_UNSUPPORTED, and diag
 * names the package. */
bool rfn_otf2_available(void);

/* Makes an archive of an OTF2 trace, which its anchor file names ("traces.otf2"). One location is
 * read after another, so memory grows with definitions and with the calls between the post of a
 * receive and its completion, up to a limit. metric: the one that becomes the volume; NULL:
 * PAPI_TOT_INS, or another one that counts instructions, if it is there. RFN_E_EXISTS as of
 * rfn_writer_new; RFN_E_NOTFOUND: no such metric, no such file; RFN_E_CORRUPT: the trace
 * contradicts itself, or libotf2 says that it is damaged; RFN_E_UNSUPPORTED: there are no ranks of
 * MPI in it. */
int rfn_otf2_read(const char *anchor, const char *path, bool force, const char *metric,
                  const struct rfn_convert_progress *progress, struct rfn_otf2_summary *summary,
                  struct rfn_diag *diag);

/* Writes a complete archive with times as an OTF2 trace in a new folder: traces.otf2, traces.def
 * and traces/. RFN_E_EXISTS: there is such a folder; with `force` the trace in it, if it is one, is
 * replaced. RFN_E_UNSUPPORTED: it has no times. RFN_E_IO. */
int rfn_otf2_write(const struct rfn_archive *archive, const char *folder, bool force,
                   const struct rfn_convert_progress *progress, struct rfn_otf2_summary *summary,
                   struct rfn_diag *diag);

/* The part of a run that is written: calls of these ranks that lie in the window, in whole or in
 * part, and messages between these ranks that are under way in it, from the enter of the send to
 * the exit of the call that completes the receive. Functions below take NULL for the whole run. */
struct rfn_convert_part {
    int64_t from_ns, to_ns; /* since the start of the run, both within */
    const bool *ranks;      /* by rank of MPI_COMM_WORLD; NULL: all */
};

struct rfn_trace_summary {
    uint32_t ranks;           /* that are in the trace */
    uint64_t calls, messages; /* of MPI; with both their ends */
    uint64_t bytes;           /* of the files */
};

/* The three functions below write a complete archive with times. RFN_E_EXISTS: such a file is
 * there, and not `force`; RFN_E_UNSUPPORTED: it has no times, or this build knows no gzip;
 * RFN_E_INCOMPLETE; RFN_E_IO; RFN_E_NOMEM. */

/* A trace for Perfetto (ui.perfetto.dev): calls of MPI, the functions that lead to them, regions of
 * the program, and arrows for messages whose calls are both in the part. A path that ends in .gz is
 * compressed, which Perfetto reads. */
int rfn_perfetto_write(const struct rfn_archive *archive, const char *path, bool force,
                       const struct rfn_convert_part *part,
                       const struct rfn_convert_progress *progress,
                       struct rfn_trace_summary *summary, struct rfn_diag *diag);

/* A trace for Paraver: path, which ends in .prv or .prv.gz, and beside it the names of values
 * (.pcf) and of threads (.row). */
int rfn_paraver_write(const struct rfn_archive *archive, const char *path, bool force,
                      const struct rfn_convert_part *part,
                      const struct rfn_convert_progress *progress,
                      struct rfn_trace_summary *summary, struct rfn_diag *diag);

/* Tables in a new folder: events.csv, messages.csv, ranks.csv, call_paths.csv, and of a whole run
 * waits.csv and causes.csv. `force` replaces a folder that has only these. */
int rfn_csv_write(const struct rfn_archive *archive, const char *folder, bool force,
                  const struct rfn_convert_part *part, const struct rfn_convert_progress *progress,
                  struct rfn_trace_summary *summary, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
