/* columns.h - tables of an archive: events, messages, results of analyses, as columns of numbers.
 *
 * A caller gives one array per column that it wants, and gets many rows per call: no call per
 * event, no text in between. Tables describe themselves: rfn_columns_of names the columns of a
 * table and says how wide their numbers are: a program can pass on columns that it does not know.
 * python/refrain makes its data frames so.
 *
 * - `columns` has an entry per column of the table, in the table's order: the caller's array, of
 *   the column's type; NULL: the column is not wanted.
 * - Numbers that stand for names are codes from 0 on; rfn_columns_name has the name of each. Call
 *   paths (RFN_NAMES_PATHS) have numbers for rfn_archive_path.
 * - Times are ns since the start of the run, 0 without times; refrain/volume.h defines bytes.
 *   -1: there is none, or it is not known.
 * - Ranks are ranks of MPI_COMM_WORLD where nothing else is said. A number that its column has no
 *   room for is the largest, or the lowest, that there is room for.
 */
#ifndef REFRAIN_COLUMNS_H
#define REFRAIN_COLUMNS_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of what follows here, and of struct rfn_diag, rfn_location, rfn_path and rfn_text, for programs
 * that load the library: it changes when one of these does. */
enum { RFN_COLUMNS_VERSION = 1 };
int rfn_columns_version(void);

enum rfn_column_table {
    RFN_COLUMNS_EVENTS,
    RFN_COLUMNS_MESSAGES,  /* that both ends have completed */
    RFN_COLUMNS_THREADS,   /* the streams */
    RFN_COLUMNS_PATHS,     /* calls by function and call path */
    RFN_COLUMNS_FUNCTIONS, /* by function */
    RFN_COLUMNS_RANKS,
    RFN_COLUMNS_REGIONS,
    RFN_COLUMNS_PAIRS,         /* messages by sender and receiver */
    RFN_COLUMNS_WAITS,         /* by pattern, function and call path */
    RFN_COLUMNS_WAITS_BY_RANK, /* the same by rank, where a rank waited */
    RFN_COLUMNS_CAUSES,        /* activities that others waited for */
    RFN_COLUMNS_TABLES
};

enum rfn_column_type { RFN_COLUMN_INT32, RFN_COLUMN_INT64 };

/* What a code is of. */
enum rfn_column_names {
    RFN_NAMES_NONE, /* the number is no code */
    RFN_NAMES_FUNCTIONS,
    RFN_NAMES_PATHS,
    RFN_NAMES_REGIONS,
    RFN_NAMES_PATTERNS, /* "late_sender" */
    RFN_NAMES_HOSTS,
    RFN_NAMES_MODES,     /* of sends: "standard", "synchronous", "buffered", "ready" */
    RFN_NAMES_ACTIVITIES /* "compute", "mpi", "wait", "start" */
};

struct rfn_column_info {
    const char *name; /* "enter_ns" */
    enum rfn_column_type type;
    enum rfn_column_names names;
};

/* How many columns a table has; *columns (static) has them in order. */
uint32_t rfn_columns_of(enum rfn_column_table table, const struct rfn_column_info **columns);

/* How many codes there are in an archive, and the name of one. Borrowed until the archive is
 * closed; NULL: it is not known, or the code is that of a call path, or none. */
uint32_t rfn_columns_codes(const struct rfn_archive *archive, enum rfn_column_names names);
const char *rfn_columns_name(const struct rfn_archive *archive, enum rfn_column_names names,
                             uint32_t code);

/* ---- facts about the run ---- */

enum rfn_fact_type { RFN_FACT_TEXT, RFN_FACT_NUMBER, RFN_FACT_TRUTH, RFN_FACT_REAL };

struct rfn_fact {
    const char *name; /* that of the member of struct rfn_run; static */
    enum rfn_fact_type type;
    const char *text; /* of TEXT: borrowed until the archive is closed, may be NULL */
    int64_t number;   /* of NUMBER and TRUTH */
    double real;
};

/* Facts are numbered from 0 on; false: there is none of this number. */
bool rfn_run_fact(const struct rfn_archive *archive, uint32_t number, struct rfn_fact *fact);

/* ---- events: RFN_COLUMNS_EVENTS ---- */

/* Which ones. Of a thread, those from the first that ends at from_ns or later to the last that
 * begins at to_ns or earlier. */
struct rfn_event_choice {
    const uint32_t *ranks; /* ascending; NULL: all */
    size_t n_ranks;
    bool from_given, to_given;
    int64_t from_ns, to_ns;
};

struct rfn_event_rows;

/* *rows is to be closed, before the archive. choice may be NULL: all events; its ranks are
 * borrowed until then. RFN_E_NOMEM; RFN_E_UNSUPPORTED: a window of an archive without times. */
int rfn_event_rows_open(const struct rfn_archive *archive, const struct rfn_event_choice *choice,
                        struct rfn_event_rows **rows, struct rfn_diag *diag);
/* Writes the next events, in order of rank, thread and time, at most `most` (below 2^31). Returns
 * how many, 0 at the end, or an error of rfn_cursor_open or rfn_cursor_next. After an error the
 * next call goes on with the next thread. */
int rfn_event_rows_next(struct rfn_event_rows *rows, void *const *columns, size_t most,
                        struct rfn_diag *diag);
void rfn_event_rows_close(struct rfn_event_rows *rows);

/* ---- messages: RFN_COLUMNS_MESSAGES ---- */

/* Writes messages in the order in which they are complete. Whenever there are `most` (at least 1),
 * and at the end, `take` is told how many there are, and the arrays are used again. take returns
 * NULL to end the walk, or the arrays for the messages that follow: `columns` again, say. Otherwise
 * as rfn_match_run (refrain/match.h): without times, times are numbers of events. */
int rfn_message_rows(const struct rfn_archive *archive, void *const *columns, size_t most,
                     void *const *(*take)(void *context, size_t n), void *context,
                     struct rfn_diag *diag);

/* ---- threads: RFN_COLUMNS_THREADS ---- */

/* Writes a row per stream: rfn_run.streams. */
void rfn_thread_rows(const struct rfn_archive *archive, void *const *columns);

/* ---- results: all other tables ---- */

struct rfn_result_rows;

/* Finds waits and makes the profile, of a region of the program or, where it is NULL, of all; see
 * rfn_waits_new. *rows is to be freed, before the archive is closed. RFN_E_NOMEM. */
int rfn_result_rows_new(const struct rfn_archive *archive, const char *region,
                        struct rfn_result_rows **rows, struct rfn_diag *diag);
/* Why the lowest of the streams that could not be read in full could not; 0 if all could. */
int rfn_result_rows_error(const struct rfn_result_rows *rows, struct rfn_diag *diag);
/* How many rows a table has; 0 of events, messages and threads. */
size_t rfn_result_rows_count(const struct rfn_result_rows *rows, enum rfn_column_table table);
/* Writes all of them, most time first where there are times. */
void rfn_result_rows_fill(const struct rfn_result_rows *rows, enum rfn_column_table table,
                          void *const *columns);
void rfn_result_rows_free(struct rfn_result_rows *rows);

#pragma GCC visibility pop

#endif
