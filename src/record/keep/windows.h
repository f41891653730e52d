/* windows.h - calls that predictions do not need are left out while the program runs (Ino et al.,
 * V.B).
 *
 * A window is what a rank does between two blocking collective calls that no rank leaves before all
 * have entered it (finish/online_merge.h says which these are). Its calls are held in memory. When
 * it ends
 *
 *   1. each rank sends a description of its calls (reduce/aggregate/window.h) to the rank that is
 * to decide; they take turns
 *   2. that rank decides, and sends each rank a bit per call
 *   3. each rank hands the calls that stay to its stream
 *
 * All of it happens inside of the collective call that ends the window, behind MPI's own. A rank
 * that waits there waits for ranks that are in the same call: no rank hangs. A rank without memory
 * says so in place of its description, or of its decision, and all calls of the window stay. Other
 * calls of the program only describe themselves. A window has as many of the collective calls as
 * make some thousand calls of all ranks; the rank that decides says how many.
 *
 * Windows are bounded (--memory). A rank hands on whole a window that grows too large, whether or
 * not a collective call ever comes, and all ranks keep all of it. So are the windows of a run whose
 * threads call MPI, and in which recording is switched off.
 */
#ifndef RFN_RECORD_KEEP_WINDOWS_H
#define RFN_RECORD_KEEP_WINDOWS_H

#include "base/buf.h"
#include "record/core/recorder.h"

/* Whether windows end: rec_keep_synchronized is to be called. */
extern bool rec_keep_on;

/* In MPI_Init, before rec_sampling_start, which is then to follow messages. */
void rec_keep_prepare(void);
/* Behind that, collective over the world, if --keep-predictions was given: the ranks agree. */
void rec_keep_start(void);

/* All ranks have been in a collective call, which has become an event if it is recorded.
 * Collective. Returns whether the window ended, which took some time. */
bool rec_keep_synchronized(void);

/* Collective, at the end: all that is held is decided, and handed on. RFN_E_EXCHANGE, RFN_E_NOMEM.
 */
int rec_keep_end(void);
/* The same of a process alone: all that is held stays. RFN_E_NOMEM. */
int rec_keep_end_alone(void);

/* What a stream lacks. */
struct rec_left_out {
    struct rfn_buf gaps; /* per gap: varint event, minus that of the one before, varint left out */
    uint64_t n_gaps;
    uint64_t calls; /* that were left out */
};
const struct rec_left_out *rec_keep_left_out(void);

/* Activities that had a short execution; sites of the process's stream. */
struct rec_short_activity {
    uint32_t before, site; /* before UINT32_MAX: the call itself */
    int64_t region;        /* its word; 0: none */
};
const struct rec_short_activity *rec_keep_short(size_t *n);
void rec_keep_release(void);

#endif
