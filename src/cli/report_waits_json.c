/* report_waits_json.c - wait states, causes, the critical path and matching, for machines. */
#include "cli/json.h"
#include "cli/report.h"
#include "refrain/explain.h"

#include <stdlib.h>

static json_t *seconds(double ns)
{
    return json_real(ns / 1e9);
}

static void set_time(json_t *value, const struct rfn_report *report, int64_t ns)
{
    json_object_set_new(value, "seconds", seconds((double)ns));
    json_object_set_new(value, "share", json_real(rfn_report_share(report, ns)));
}

/* ---- wait states ---- */

static json_t *by_rank_json(const struct rfn_report *report, const struct rfn_wait_row *row)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < report->waits->n_ranks; i++) {
        int64_t ns = rfn_report_shows_rank(report, i) ? row->ns_by_rank[i] : 0;
        json_array_append_new(list, seconds((double)ns));
    }
    return list;
}

static json_t *wait_json(const struct rfn_report *report, const struct rfn_wait_row *row,
                         int64_t ns)
{
    json_t *value = json_object();
    json_object_set_new(value, "pattern", rfn_json_text(rfn_pattern_name(row->pattern)));
    set_time(value, report, ns);
    json_object_set_new(value, "count", rfn_json_count(row->count));
    json_object_set_new(value, "max_seconds", seconds((double)row->max_ns));
    rfn_json_set_call(value, report->archive, (struct rfn_call_site){row->function, row->path});
    json_object_set_new(value, "seconds_by_rank", by_rank_json(report, row));
    return value;
}

static json_t *wait_states_json(const struct rfn_report *report)
{
    size_t n;
    struct rfn_shown_wait *shown = rfn_report_shown_waits(report, &n);
    json_t *list = shown ? json_array() : rfn_json_fail();
    for (size_t i = 0; i < n && i < report->top; i++)
        json_array_append_new(list, wait_json(report, shown[i].row, shown[i].ns));
    free(shown);
    return list;
}

static json_t *sums_json(const struct rfn_report *report)
{
    const struct rfn_waits *waits = report->waits;
    json_t *value = json_object(), *patterns = json_object();
    for (int i = 0; i < RFN_PATTERN_COUNT; i++)
        json_object_set_new(patterns, rfn_pattern_name((enum rfn_pattern)i),
                            seconds((double)waits->pattern_ns[i]));
    json_object_set_new(value, "total_seconds", seconds((double)waits->total_ns));
    json_object_set_new(value, "unexplained_seconds", seconds((double)waits->unexplained_ns));
    json_object_set_new(value, "by_pattern", patterns);
    return value;
}

/* ---- activities and causes ---- */

static json_t *late_json(const struct rfn_rank_ns *ranks, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *value = json_object();
        json_object_set_new(value, "rank", json_integer(ranks[i].rank));
        json_object_set_new(value, "seconds", seconds((double)ranks[i].ns));
        json_array_append_new(list, value);
    }
    return list;
}

/* In which calls others waited. */
static void set_waited(json_t *value, const struct rfn_report *report, enum rfn_pattern pattern,
                       struct rfn_call_site waited)
{
    json_object_set_new(value, "pattern", rfn_json_text(rfn_pattern_name(pattern)));
    json_object_set_new(value, "waited_in", rfn_json_call_path(report->archive, waited));
    json_object_set_new(value, "waited_function",
                        rfn_json_text(rfn_call_site_function(report->archive, waited)->name));
    json_object_set_new(value, "waited_frames", rfn_json_frames(report->archive, waited.path));
}

static json_t *cause_json(const struct rfn_report *report, const struct rfn_cause *cause)
{
    json_t *value = json_object();
    rfn_json_set_activity(value, report->archive, rfn_report_activity(report, cause->activity));
    json_object_set_new(value, "ranks", late_json(cause->ranks, cause->n_ranks));
    set_time(value, report, cause->total_ns);
    json_object_set_new(value, "direct_seconds", seconds((double)cause->direct_ns));
    set_waited(value, report, cause->pattern, cause->waited);
    return value;
}

static json_t *causes_json(const struct rfn_report *report)
{
    json_t *list = json_array();
    size_t n = 0;
    for (size_t i = 0; i < report->waits->n_causes; i++) {
        const struct rfn_cause *cause = &report->waits->causes[i];
        if (rfn_report_shows_cause(report, cause) && n++ < report->top)
            json_array_append_new(list, cause_json(report, cause));
    }
    return list;
}

/* ---- what they mean ---- */

static json_t *verdict_json(const struct rfn_report *report, const struct rfn_measured *run)
{
    const struct rfn_verdict verdict = rfn_verdict_of(run);
    const struct rfn_losses *losses = &verdict.losses;
    json_t *value = json_object(), *lost = json_object(), *busiest = json_null();
    struct rfn_text text = {0};
    rfn_verdict_append(&text, run, &verdict);
    json_object_set_new(value, "text", rfn_json_of_text(&text));
    json_object_set_new(lost, "uneven_work", seconds(losses->uneven));
    json_object_set_new(lost, "late_start", seconds(losses->late));
    json_object_set_new(lost, "other_waits", seconds(losses->others));
    json_object_set_new(lost, "mpi_without_waiting", seconds(losses->transfer));
    json_object_set_new(lost, "setup", seconds(losses->setup));
    json_object_set_new(lost, "outside_of_setup", seconds(losses->outside));
    json_object_set_new(value, "lost_seconds", lost);
    if (verdict.busiest) {
        busiest = rfn_json_call(report->archive, (struct rfn_call_site){verdict.busiest->function,
                                                                        verdict.busiest->path});
        set_time(busiest, report, (int64_t)verdict.busiest_ns);
    }
    json_object_set_new(value, "busiest_call", busiest);
    json_object_set_new(value, "unseen_waits", json_boolean(verdict.has_unseen_waits));
    json_object_set_new(value, "clocks_disagree", json_boolean(verdict.clocks_disagree));
    return value;
}

static json_t *finding_json(const struct rfn_report *report, const struct rfn_measured *run,
                            const struct rfn_finding *finding)
{
    json_t *value = json_object();
    struct rfn_text text = {0}, advice = {0};
    rfn_finding_append(&text, run, finding);
    rfn_finding_advice(&advice, run, finding);
    json_object_set_new(value, "text", rfn_json_of_text(&text));
    json_object_set_new(value, "advice", rfn_json_of_text(&advice));
    rfn_json_set_activity(value, report->archive, rfn_report_activity(report, finding->activity));
    json_object_set_new(value, "ranks", late_json(finding->ranks, finding->n_ranks));
    set_time(value, report, finding->ns);
    set_waited(value, report, finding->pattern, finding->waited);
    json_object_set_new(value, "places", rfn_json_count(finding->sites));
    json_object_set_new(value, "waiting_rank",
                        finding->waiting == RFN_SEVERAL_RANKS ? json_null()
                                                              : json_integer(finding->waiting));
    return value;
}

static json_t *findings_json(const struct rfn_report *report, const struct rfn_measured *run)
{
    const struct rfn_cause_choice choice = {rfn_report_chooses_cause, report};
    struct rfn_findings findings;
    if (rfn_findings_init(&findings, run, &choice, report->top) < 0)
        return rfn_json_fail();
    json_t *list = json_array();
    for (size_t i = 0; i < findings.n; i++)
        json_array_append_new(list, finding_json(report, run, &findings.findings[i]));
    rfn_findings_release(&findings);
    return list;
}

void rfn_report_findings_json(json_t *value, const struct rfn_report *report)
{
    const struct rfn_measured run = rfn_report_measured(report);
    bool known = rfn_report_has_waits(report);
    json_object_set_new(value, "verdict", known ? verdict_json(report, &run) : json_null());
    json_object_set_new(value, "findings", known ? findings_json(report, &run) : json_array());
}

/* ---- the critical path ---- */

static json_t *part_json(const struct rfn_report *report, const struct rfn_critical_row *row)
{
    double length = (double)report->waits->critical_ns;
    json_t *value = json_object();
    rfn_json_set_activity(value, report->archive, rfn_report_activity(report, row->activity));
    json_object_set_new(value, "seconds", seconds((double)row->ns));
    json_object_set_new(value, "share", json_real(length > 0 ? (double)row->ns / length : 0));
    json_object_set_new(value, "mean_seconds", seconds(row->mean_ns));
    json_object_set_new(value, "imbalance_seconds", seconds(row->imbalance_ns));
    return value;
}

static json_t *critical_json(const struct rfn_report *report)
{
    const struct rfn_waits *waits = report->waits;
    json_t *value = json_object(), *parts = json_array();
    size_t n = 0;
    for (size_t i = 0; i < waits->n_critical; i++) {
        const struct rfn_critical_row *row = &waits->critical[i];
        if (rfn_report_shows_activity(report, row->activity) && n++ < report->top)
            json_array_append_new(parts, part_json(report, row));
    }
    json_object_set_new(value, "seconds", seconds((double)waits->critical_ns));
    json_object_set_new(value, "rank", json_integer(waits->critical_rank));
    json_object_set_new(value, "parts", parts);
    return value;
}

/* ---- matching ---- */

static json_t *matching_json(const struct rfn_matching *m)
{
    json_t *value = json_object();
    json_object_set_new(value, "messages", rfn_json_count(m->messages));
    json_object_set_new(value, "matched", rfn_json_count(m->matched));
    json_object_set_new(value, "unmatched_sends", rfn_json_count(m->unmatched_sends));
    json_object_set_new(value, "unmatched_receives", rfn_json_count(m->unmatched_receives));
    json_object_set_new(value, "cancelled", rfn_json_count(m->cancelled));
    json_object_set_new(value, "foreign", rfn_json_count(m->foreign));
    json_object_set_new(value, "collectives", rfn_json_count(m->collectives));
    json_object_set_new(value, "unmatched_collectives", rfn_json_count(m->unmatched_collectives));
    json_object_set_new(value, "backward", rfn_json_count(m->backward));
    json_object_set_new(value, "backward_max_seconds", seconds((double)m->backward_max_ns));
    json_object_set_new(value, "fixed", json_boolean(m->fixed));
    return value;
}

void rfn_report_waits_json(json_t *value, const struct rfn_report *report)
{
    bool known = rfn_report_has_waits(report);
    json_object_set_new(value, "wait_states", known ? wait_states_json(report) : json_array());
    json_object_set_new(value, "waits", known ? sums_json(report) : json_null());
    json_object_set_new(value, "causes", known ? causes_json(report) : json_array());
    json_object_set_new(value, "critical_path", known ? critical_json(report) : json_null());
    json_object_set_new(value, "matching", matching_json(&report->waits->matching));
}
