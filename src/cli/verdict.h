/* verdict.h - what becomes of the time that the ranks have, in plain words. */
#ifndef RFN_CLI_VERDICT_H
#define RFN_CLI_VERDICT_H

#include "cli/report.h"

/* Where time that is not computing goes, in nanoseconds of all ranks together. */
struct rfn_losses {
    double uneven;   /* waiting for ranks that compute longer */
    double late;     /* waiting for ranks that started late */
    double others;   /* waiting for ranks for other reasons */
    double transfer; /* in MPI without waiting, as far as is known */
    double setup;    /* in Init and Finalize without waiting */
    double outside; /* before a thread's first call (a rank's Init) and after its last (Finalize) */
    bool even;      /* in all, ranks compute about equally long */
    bool missing;   /* ranks are not there: others may have waited for them */
    bool threads;   /* several of a rank call MPI */
};

/* Without times, or without waits, all 0. */
struct rfn_losses rfn_losses_of(const struct rfn_report *report);

/* "more than a third": a share from 0 to 1 in words. */
const char *rfn_share_words(double share);

/* "more than a third of the time that the ranks have is lost, most of it by waiting for uneven
 * work" */
void rfn_verdict_append(struct rfn_text *text, double efficiency, const struct rfn_losses *losses);

/* Whether most is lost in MPI calls that do not wait, and it is worth a word. */
bool rfn_verdict_blames_calls(double efficiency, const struct rfn_losses *losses);

#endif
