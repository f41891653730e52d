/* findings.h - the causes of waiting as people want to hear of them: one per piece of work,
 * whatever pattern and call path the waits had.
 *
 * Activities are one piece of work when they lie in the same function and region before the same
 * call: what a loop computes before it sends, after whichever call it began. Calls that a compiler
 * made several of, by inlining, are one (same_paths.h). */
#ifndef RFN_CLI_FINDINGS_H
#define RFN_CLI_FINDINGS_H

#include "cli/report.h"

#define RFN_SEVERAL_RANKS UINT32_MAX

struct rfn_finding {
    uint32_t activity;           /* that costs most, */
    size_t work;                 /* and those of which it is one (number of a piece of work) */
    enum rfn_pattern pattern;    /* of most of the waiting for these ranks themselves, */
    struct rfn_call_site waited; /* and where that was */
    size_t sites;                /* patterns and call paths of the waiting in all */
    uint32_t waiting;            /* the only rank that waits, of those that are not late;
                                    RFN_SEVERAL_RANKS */
    int64_t ns;                  /* of others' waiting */
    struct rfn_rank_ns *ranks;   /* that are late, and what each cost, most first */
    uint32_t n_ranks;
};

struct rfn_findings {
    struct rfn_finding *findings; /* most time first */
    size_t n;
};

/* Of the causes that the page shows, at most `most`. RFN_E_NOMEM. */
int rfn_findings_init(struct rfn_findings *findings, const struct rfn_report *report, size_t most);
void rfn_findings_release(struct rfn_findings *findings);

/* Who is late, of n_all ranks: "rank 3", "ranks 4-7", "mainly rank 3", "both ranks", "all 32
 * ranks", and where one stands out "12 of 32 ranks (rank 5 most)". ranks: most first. */
void rfn_late_ranks_append(struct rfn_text *text, const struct rfn_rank_ns *ranks, uint32_t n,
                           uint32_t n_all);

#endif
