/* opened_runs.h - archives that are compared, and what was measured of them. */
#ifndef RFN_CLI_COMPARE_OPENED_RUNS_H
#define RFN_CLI_COMPARE_OPENED_RUNS_H

#include "refrain/explain.h"

struct rfn_opened_runs {
    struct rfn_archive **archives;
    struct rfn_profile **profiles;
    struct rfn_waits **waits;
    struct rfn_usage *usages;
    struct rfn_measured *runs;
    size_t n, n_files; /* n: that can be compared; less: the next one cannot */
};

/* Reads all of the files, one after the other, until one cannot be compared; says why,
 * but not what incomplete ones lack. The exit status. To be released. */
int rfn_opened_runs_init(struct rfn_opened_runs *opened, const char *const *files, size_t n);
void rfn_opened_runs_release(struct rfn_opened_runs *opened);

#endif
