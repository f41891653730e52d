/* timeline.h - what ranks do over time, summed up in equal parts of a window (bins); and their
 * loops.
 *
 * Summing up shows everything that happens, however short: a picture that looked at the middle of
 * each of its points would miss most calls.
 */
#ifndef REFRAIN_TIMELINE_H
#define REFRAIN_TIMELINE_H

#include "refrain/archive.h"

#pragma GCC visibility push(default)

enum rfn_timeline_kind {
    RFN_TIMELINE_COMPUTING,
    RFN_TIMELINE_MESSAGES, /* point to point */
    RFN_TIMELINE_COLLECTIVES,
    RFN_TIMELINE_ONE_SIDED,
    RFN_TIMELINE_FILES, /* MPI-IO */
    RFN_TIMELINE_OTHER, /* other MPI calls */
    RFN_TIMELINE_KIND_COUNT
};

/* What a call of the function is. */
enum rfn_timeline_kind rfn_timeline_kind_of(const struct rfn_function_info *function);

/* The first enter and the last exit of all streams that can be read; 0 and 1 where there are none.
 * RFN_E_NOMEM. */
int rfn_timeline_ends(const struct rfn_archive *archive, int64_t *from_ns, int64_t *to_ns);

/* What a stream does in a bin, ns of each kind. Less than the bin is long where nothing is known:
 * before the first call, after the last one, while recording was off. */
struct rfn_timeline_bin {
    double ns[RFN_TIMELINE_KIND_COUNT];
    double selected_ns; /* in calls of the selected call site, or in what the user selects */
};

/* n >= 1 bins between from_ns < to_ns, times since the start of the run. */
struct rfn_timeline_window {
    int64_t from_ns, to_ns;
    uint32_t n;
    bool selects;            /* a call site: */
    uint32_t function, path; /* its numbers in the archive */
};

/* Reads a stream's events for its bins, and knows when recording was off. One thread at a time. */
struct rfn_timeline;

/* Errors of rfn_cursor_open, and RFN_E_UNSUPPORTED without times. *timeline is to be closed. */
int rfn_timeline_open(const struct rfn_archive *archive, uint32_t stream,
                      struct rfn_timeline **timeline, struct rfn_diag *diag);
void rfn_timeline_close(struct rfn_timeline *timeline);
/* Its cursor, borrowed, which others may move. */
struct rfn_cursor *rfn_timeline_cursor(struct rfn_timeline *timeline);

/* Reads the window's events and adds their times to the bins. After an error of rfn_cursor_next the
 * bins have the times read before it. */
int rfn_timeline_add(struct rfn_timeline *timeline, const struct rfn_timeline_window *window,
                     struct rfn_timeline_bin *bins, struct rfn_diag *diag);

/* Adds a time to selected_ns of the bins. */
void rfn_timeline_select(const struct rfn_timeline_window *window, struct rfn_timeline_bin *bins,
                         int64_t from_ns, int64_t to_ns);

/* A bin in three bytes, as pages keep it: the kind of MPI calls that takes most of it (0: none),
 * the share of MPI calls and that of the selected call site, 0 to 255; where nothing is known of
 * most of the bin, the kind is RFN_TIMELINE_UNKNOWN. */
enum { RFN_TIMELINE_UNKNOWN = 255, RFN_TIMELINE_CELL_BYTES = 3 };
void rfn_timeline_pack(const struct rfn_timeline_window *window,
                       const struct rfn_timeline_bin *bins, uint8_t *cells);

/* ---- loops ---- */

/* Loops in so many others are parts of their iterations. */
enum { RFN_TIMELINE_LOOPS_DEEP = 16 };

/* One time that a loop ran: its iterations, and how long these took. */
struct rfn_timeline_loop_run {
    uint64_t iterations;
    int64_t shortest_ns, longest_ns;
};

/* In order of time. A negative result ends the walk, which returns it. depth: of loops around the
 * loop. */
struct rfn_timeline_loop_hooks {
    void *context;
    /* Whether an event counts; the others are passed over. NULL: all do. */
    bool (*counts)(void *context, const struct rfn_record *record);
    /* A loop begins, and its first iteration, with an event. loop: its number in the stream. */
    int (*begin)(void *context, uint32_t depth, uint32_t loop, const struct rfn_record *record);
    /* The next iteration begins. */
    int (*iterate)(void *context, uint32_t depth, int64_t ns);
    /* The loop ends, after those in it. */
    int (*end)(void *context, uint32_t depth, int64_t ns, const struct rfn_timeline_loop_run *run);
};

/* Reads all events of a stream and shows its loops. Errors of rfn_cursor_open and rfn_cursor_next;
 * after one of the latter, loops that were open end with the last event. */
int rfn_timeline_loops(const struct rfn_archive *archive, uint32_t stream,
                       const struct rfn_timeline_loop_hooks *hooks, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
