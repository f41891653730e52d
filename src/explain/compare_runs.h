/* compare_runs.h - what comparing two runs and comparing many have in common. */
#ifndef RFN_EXPLAIN_COMPARE_RUNS_H
#define RFN_EXPLAIN_COMPARE_RUNS_H

#include "refrain/explain.h"

/* Sums up a run, with at most so many findings that cost at least a share of its time; RFN_E_NOMEM.
 * Its findings are to be released in any case. */
int rfn_compared_run_init(struct rfn_compared_run *run, const struct rfn_measured *measured,
                          double least, size_t findings);

/* The key by which findings of two runs are one piece of work: kind of activity, region and
 * function, each ended by a newline, and the name chain of the call. */
void rfn_finding_key(struct rfn_text *key, const struct rfn_measured *run,
                     const struct rfn_finding *finding);

/* The program of a run, without its folder; "" if it is not known. Borrowed. */
const char *rfn_compared_program(const struct rfn_compared_run *run);

/* Whether two times of runs, in nanoseconds, differ by no more than is worth a word. */
bool rfn_about_as_long(double before, double after);

#endif
