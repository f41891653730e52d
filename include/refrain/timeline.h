/* timeline.h - what ranks do over time, summed up in equal parts of a window (bins).
 *
 * Summing up shows everything that happens, however short: a picture that looked at the middle of
 * each of its points would miss most calls.
 */
#ifndef REFRAIN_TIMELINE_H
#define REFRAIN_TIMELINE_H

#include "refrain/archive.h"

#pragma GCC visibility push(default)

/* Name in JSON; words. */
#define RFN_TIMELINE_KINDS(X)                            \
    X(COMPUTING, "computing", "computing")               \
    X(MESSAGES, "messages", "messages (point to point)") \
    X(COLLECTIVES, "collectives", "collective calls")    \
    X(ONE_SIDED, "one_sided", "one-sided communication") \
    X(FILES, "files", "files (MPI-IO)")                  \
    X(OTHER, "other", "other MPI calls")

enum rfn_timeline_kind {
#define X(name, json, words) RFN_TIMELINE_##name,
    RFN_TIMELINE_KINDS(X)
#undef X
        RFN_TIMELINE_KIND_COUNT
};

/* Static. */
const char *rfn_timeline_kind_words(enum rfn_timeline_kind kind);
/* What a call of the function is. */
enum rfn_timeline_kind rfn_timeline_kind_of(const struct rfn_function_info *function);

/* The first enter and the last exit of all streams that can be read; 0 and 1 where there are none.
 * RFN_E_NOMEM. */
int rfn_timeline_ends(const struct rfn_archive *archive, int64_t *from_ns, int64_t *to_ns,
                      struct rfn_diag *diag);

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

/* Adds what the cursor's stream does to the window's bins, from where the cursor is sought to.
 * Errors of rfn_cursor_next, and RFN_E_UNSUPPORTED without times. */
int rfn_timeline_add(const struct rfn_archive *archive, struct rfn_cursor *cursor,
                     const struct rfn_timeline_window *window, struct rfn_timeline_bin *bins,
                     struct rfn_diag *diag);

/* Adds a time to selected_ns of the bins. */
void rfn_timeline_select(const struct rfn_timeline_window *window, struct rfn_timeline_bin *bins,
                         int64_t from_ns, int64_t to_ns);

/* A bin in three bytes, as pages keep it: the kind of MPI calls that takes most of it (0: none),
 * the share of MPI calls and that of the selected call site, 0 to 255; where nothing is known of
 * most of the bin, the kind is RFN_TIMELINE_UNKNOWN. */
enum { RFN_TIMELINE_UNKNOWN = 255, RFN_TIMELINE_CELL_BYTES = 3 };
void rfn_timeline_pack(const struct rfn_timeline_window *window,
                       const struct rfn_timeline_bin *bins, uint8_t *cells);

#pragma GCC visibility pop

#endif
