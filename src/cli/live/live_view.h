/* live_view.h - a running job at a moment: all its processes on this node together. */
#ifndef RFN_CLI_LIVE_LIVE_VIEW_H
#define RFN_CLI_LIVE_LIVE_VIEW_H

#include "cli/live/pick_job.h"
#include "cli/text/print_text.h"
#include "refrain/live.h"

#include <jansson.h>

/* Messages and bytes are exact. Where `samples` is more than the row's, the others are in rows of
 * any ranks, for want of room. */
struct rfn_live_pair {
    struct rfn_sample_row row;
    uint64_t samples;
};

struct rfn_live_view {
    struct rfn_live_process lead; /* the process of the lowest rank */
    size_t processes;             /* that were seen */
    bool ended;                   /* all of them sample no more */
    int64_t seen_ns;              /* since 1970 */
    uint64_t messages, bytes, sampled, dropped;
    double per_second;          /* messages, since the view before, or the start */
    struct rfn_text strategies; /* that are in use, each once, separated by ", " */
    bool strategies_differ;
    struct rfn_live_pair all;     /* of all pairs */
    struct rfn_live_pair **pairs; /* most messages first; by source and destination alone */
    size_t n_pairs;
};

/* Looks at a job; collective calls are left out. before: the view before, or NULL. *view is to be
 * released, also after an error: RFN_E_NOMEM, errors of a damaged file. */
int rfn_live_view_take(struct rfn_live_view *view, const struct rfn_picked *job,
                       const struct rfn_live_view *before, struct rfn_diag *diag);
void rfn_live_view_release(struct rfn_live_view *view);

/* How many messages the samples of a row stand for. */
double rfn_live_population(const struct rfn_sample_row *row);

/* A page of `top` pairs and at most so many columns; of all jobs, a line for each. */
void rfn_live_page(struct rfn_text *page, const struct rfn_live_view *view, size_t top,
                   size_t columns);
void rfn_live_jobs_page(struct rfn_text *page, const struct rfn_live_list *list);
/* The same as objects, of `top` pairs. */
json_t *rfn_json_live(const struct rfn_live_view *view, size_t top);
json_t *rfn_json_live_jobs(const struct rfn_live_list *list);

#endif
