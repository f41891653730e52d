/* work_usage.h - whether ranks that computed, as it seems, really did (refrain/usage.h). */
#ifndef RFN_EXPLAIN_WORK_USAGE_H
#define RFN_EXPLAIN_WORK_USAGE_H

#include "refrain/explain.h"

/* CPU time below this share of a core is no computing; waiting for a core above RFN_CROWDED_SHARE
 * is worth a word. */
#define RFN_IDLE_SHARE 0.2

static inline bool rfn_work_is_idle(const struct rfn_work_usage *usage)
{
    return usage->known && usage->cpu_share < RFN_IDLE_SHARE &&
           usage->core_wait_share <= RFN_CROWDED_SHARE;
}

static inline bool rfn_work_lacks_cores(const struct rfn_work_usage *usage)
{
    return usage->known && usage->core_wait_share > RFN_CROWDED_SHARE;
}

/* Whether one rank did this work, and the others next to nothing of it: they would wait for it on
 * cores of their own, too. */
bool rfn_work_is_serial(const struct rfn_measured *run, const struct rfn_finding *finding);

/* By the gaps that were measured of the ranks that are late: by rank of the run. */
struct rfn_work_usage rfn_work_usage_of(const struct rfn_measured *run,
                                        const struct rfn_activity *activity, const bool *late);

/* "used 0.2 % of a core: input and output, or sleep", "ran 61 % of the time: waits for a core", or
 * nothing, behind a comma and what is to stand before it. */
void rfn_work_usage_append(struct rfn_text *text, const struct rfn_work_usage *usage,
                           const char *before);
/* What to do about it; NULL: nothing. Static. */
const char *rfn_work_usage_advice(const struct rfn_work_usage *usage);

#endif
