/* report_select.c - what --rank and --call-path leave of waits and causes. */
#include "cli/report/report.h"
#include "refrain/explain.h"

#include <stdlib.h>

bool rfn_report_shows_rank(const struct rfn_report *report, uint32_t rank)
{
    return rfn_rank_filter_has(report->ranks, rank);
}

bool rfn_report_shows_call(const struct rfn_report *report, uint32_t function, uint32_t path)
{
    const struct rfn_call_site site = {function, path};
    return !report->call_path ||
           strstr(rfn_call_site_function(report->archive, site)->name, report->call_path) ||
           rfn_call_path_matches(report->archive, path, report->call_path);
}

static int64_t ns_of_ranks(const struct rfn_report *report, const struct rfn_wait_row *row)
{
    int64_t sum = 0;
    if (!report->ranks)
        return row->total_ns;
    for (uint32_t i = 0; i < report->waits->n_ranks; i++)
        sum += rfn_report_shows_rank(report, i) ? row->ns_by_rank[i] : 0;
    return sum;
}

static int by_time(const void *left, const void *right)
{
    const struct rfn_shown_wait *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

struct rfn_shown_wait *rfn_report_shown_waits(const struct rfn_report *report, size_t *n)
{
    const struct rfn_waits *waits = report->waits;
    struct rfn_shown_wait *shown = calloc(waits->n_rows + 1, sizeof *shown);
    *n = 0;
    for (size_t i = 0; shown && i < waits->n_rows; i++) {
        const struct rfn_wait_row *row = &waits->rows[i];
        int64_t ns = rfn_report_shows_call(report, row->function, row->path)
                         ? ns_of_ranks(report, row)
                         : 0;
        if (ns > 0)
            shown[(*n)++] = (struct rfn_shown_wait){row, ns};
    }
    if (shown)
        qsort(shown, *n, sizeof *shown, by_time);
    return shown;
}

const struct rfn_activity *rfn_report_activity(const struct rfn_report *report, uint32_t activity)
{
    return activity < report->waits->n_activities ? &report->waits->activities[activity] : NULL;
}

bool rfn_report_shows_activity(const struct rfn_report *report, uint32_t activity)
{
    const struct rfn_activity *found = rfn_report_activity(report, activity);
    if (!found || !report->call_path)
        return found != NULL;
    if (found->kind == RFN_ACTIVITY_START)
        return false;
    return rfn_report_shows_call(report, found->at.function, found->at.path) ||
           (found->kind == RFN_ACTIVITY_COMPUTE &&
            rfn_report_shows_call(report, found->before.function, found->before.path));
}

static bool concerns_ranks(const struct rfn_report *report, const struct rfn_cause *cause)
{
    for (uint32_t i = 0; i < cause->n_ranks; i++) {
        if (rfn_report_shows_rank(report, cause->ranks[i].rank))
            return true;
    }
    for (size_t i = 0; i < report->waits->n_rows; i++) {
        const struct rfn_wait_row *row = &report->waits->rows[i];
        if (row->pattern == cause->pattern && row->function == cause->waited.function &&
            row->path == cause->waited.path && ns_of_ranks(report, row) > 0)
            return true;
    }
    return false;
}

bool rfn_report_shows_cause(const void *context, const struct rfn_cause *cause)
{
    const struct rfn_report *report = context;
    return rfn_report_activity(report, cause->activity) &&
           (rfn_report_shows_activity(report, cause->activity) ||
            rfn_report_shows_call(report, cause->waited.function, cause->waited.path)) &&
           (!report->ranks || concerns_ranks(report, cause));
}
