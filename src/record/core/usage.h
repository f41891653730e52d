/* usage.h - whether a process computes, sleeps or waits for a core between its calls of MPI, and
 * what it used in all.
 *
 * What a thread does in a gap, from the exit of a call to the enter of the next, costs two system
 * calls at each end to find out: CPU time of the process, and how often the thread gave up its core
 * of its own accord. So only gaps of at least REC_LONG_GAP_NS are measured. Whether a gap gets long
 * is not known when it begins, so the recorder expects that it does after call sites after which
 * one did, or which it does not know yet: `gap.sites` has a bit for each, by the lowest bits of its
 * number. At most one gap per REC_GAP_EVERY_NS is measured, and REC_GAPS_AT_ONCE after a pause.
 *
 * CPU time is the process's: a thread that waits for others of its process which compute is not
 * idle. A gap in which the thread never gave up its core and got less of it than the gap took has
 * waited for a core.
 */
#ifndef RFN_RECORD_CORE_USAGE_H
#define RFN_RECORD_CORE_USAGE_H

#include "refrain/usage.h"

#include <stdbool.h>
#include <stdint.h>

struct rec_call;
struct rec_stream;

enum { REC_LONG_GAP_NS = 100000, REC_GAP_EVERY_NS = 1000000, REC_GAPS_AT_ONCE = 64 };
enum { REC_GAPS_IN_VAIN = 100 }; /* after so many it forgets after which sites long gaps came */
enum { REC_GAPS = 256 };         /* pairs of call sites that are told apart, a power of two */

/* Gaps between two call sites. */
struct rec_gap {
    uint32_t before, at; /* sites + 1; 0: free */
    uint64_t wall_ns, cpu_ns, core_wait_ns;
};

/* What was measured of a thread's gaps. */
struct rec_gaps {
    uint64_t began;  /* the gap that is measured now: when (quanta of the exit), after which site */
    uint32_t before; /* + 1; 0: none is measured */
    uint64_t cpu_ns; /* by then */
    int64_t given_up;
    uint64_t paid;     /* quanta: before, no further gap may be measured */
    uint64_t had_long; /* bits as in `gap.sites`: a long gap came after it */
    uint32_t in_vain;  /* gaps that were measured, in a row, and were short */
    uint32_t n;
    struct rec_gap gaps[REC_GAPS];
};

/* How long a gap must be, in quanta: what rec_begin looks at. UINT64_MAX: none is measured. */
extern uint64_t rec_long_gap;

/* When the clock is there; not called in runs without times, whose archives are the same from run
 * to run. The second when the process comes to the end of MPI, or aborts. */
void rec_usage_start(void);
void rec_usage_end(void);

/* The call has ended at a watched site, and a gap may be measured. */
void rec_gap_begins(struct rec_stream *stream) __attribute__((cold));
/* The call begins after a long gap: stamps its enter again if that was measured. */
void rec_gap_ends(struct rec_stream *stream) __attribute__((cold));

/* What the process used from the start to the end; not known where times are simulated. */
struct rfn_process_usage rec_usage(void);

#endif
