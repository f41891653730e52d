/* report_waits_json.c - wait states, causes, the critical path and matching, for machines. */
#include "cli/report/report.h"
#include "cli/text/json.h"

#include <stdlib.h>

static void set_time(json_t *value, const struct rfn_report *report, int64_t ns)
{
    RFN_JSON_SET(value, "seconds", rfn_json_seconds((double)ns));
    RFN_JSON_SET(value, "share", rfn_report_share(report, ns));
}

static void set_wait(json_t *value, const struct rfn_report *report, enum rfn_pattern pattern,
                     int64_t ns)
{
    set_time(value, report, ns);
    if (rfn_report_waits_at_ends(report, pattern))
        RFN_JSON_SET(value, "share", json_null());
}

/* ---- wait states ---- */

static json_t *wait_json(const struct rfn_report *report, const struct rfn_shown_wait *shown)
{
    const struct rfn_wait_row *row = shown->row;
    json_t *value = json_object(), *by_rank = json_array();
    for (uint32_t i = 0; i < report->waits->n_ranks; i++) {
        int64_t ns = rfn_report_shows_rank(report, i) ? row->ns_by_rank[i] : 0;
        json_array_append_new(by_rank, rfn_json_seconds((double)ns));
    }
    RFN_JSON_SET(value, "pattern", rfn_pattern_name(row->pattern));
    set_wait(value, report, row->pattern, shown->ns);
    RFN_JSON_SET(value, "count", row->count);
    RFN_JSON_SET(value, "longest_seconds", rfn_json_seconds((double)row->max_ns));
    if (row->pattern == RFN_LATE_SENDER)
        RFN_JSON_SET(value, "wrong_order_seconds", rfn_json_seconds((double)row->wrong_order_ns));
    rfn_json_set_call(value, report->archive, (struct rfn_call_site){row->function, row->path});
    RFN_JSON_SET(value, "seconds_by_rank", by_rank);
    return value;
}

static json_t *wait_states_json(const struct rfn_report *report)
{
    size_t n;
    struct rfn_shown_wait *shown = rfn_report_shown_waits(report, &n);
    json_t *list = shown ? json_array() : rfn_json_fail();
    for (size_t i = 0; i < n && i < report->top; i++)
        json_array_append_new(list, wait_json(report, &shown[i]));
    free(shown);
    return list;
}

static json_t *sums_json(const struct rfn_waits *waits)
{
    json_t *value = json_object(), *patterns = json_object();
    for (int i = 0; i < RFN_PATTERN_COUNT; i++)
        RFN_JSON_SET(patterns, rfn_pattern_name((enum rfn_pattern)i),
                     rfn_json_seconds((double)waits->pattern_ns[i]));
    RFN_JSON_SET(value, "total_seconds", rfn_json_seconds((double)waits->total_ns));
    RFN_JSON_SET(value, "unexplained_seconds", rfn_json_seconds((double)waits->unexplained_ns));
    RFN_JSON_SET(value, "by_pattern", patterns);
    return value;
}

/* ---- activities and causes ---- */

/* In which call others waited. */
static void set_waited(json_t *value, const struct rfn_report *report, enum rfn_pattern pattern,
                       struct rfn_call_site waited)
{
    RFN_JSON_SET(value, "pattern", rfn_pattern_name(pattern));
    RFN_JSON_SET(value, "waited_in", rfn_json_call_path(report->archive, waited));
    RFN_JSON_SET(value, "waited_function", rfn_call_site_function(report->archive, waited)->name);
}

static json_t *causes_json(const struct rfn_report *report)
{
    json_t *list = json_array();
    size_t n = 0;
    for (size_t i = 0; i < report->waits->n_causes; i++) {
        const struct rfn_cause *cause = &report->waits->causes[i];
        if (!rfn_report_shows_cause(report, cause) || n++ >= report->top)
            continue;
        json_t *value = json_object();
        rfn_json_set_activity(value, report->archive, rfn_report_activity(report, cause->activity));
        RFN_JSON_SET(value, "ranks", rfn_json_rank_seconds(cause->ranks, cause->n_ranks));
        set_wait(value, report, cause->pattern, cause->total_ns);
        RFN_JSON_SET(value, "direct_seconds", rfn_json_seconds((double)cause->direct_ns));
        set_waited(value, report, cause->pattern, cause->waited);
        RFN_JSON_SET(value, "waited_frames", rfn_json_frames(report->archive, cause->waited.path));
        json_array_append_new(list, value);
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
    RFN_JSON_SET(value, "text", rfn_json_of_text(&text));
    RFN_JSON_SET(lost, "uneven_work", rfn_json_seconds(losses->uneven));
    RFN_JSON_SET(lost, "late_start", rfn_json_seconds(losses->late));
    RFN_JSON_SET(lost, "other_waits", rfn_json_seconds(losses->others));
    RFN_JSON_SET(lost, "mpi_without_waiting", rfn_json_seconds(losses->transfer));
    RFN_JSON_SET(lost, "outside_of_threads", rfn_json_seconds(losses->outside));
    RFN_JSON_SET(value, "lost_seconds", lost);
    if (verdict.busiest) {
        busiest = rfn_json_call(report->archive, (struct rfn_call_site){verdict.busiest->function,
                                                                        verdict.busiest->path});
        set_time(busiest, report, (int64_t)verdict.busiest_ns);
    }
    RFN_JSON_SET(value, "busiest_call", busiest);
    RFN_JSON_SET(value, "unseen_waits", verdict.has_unseen_waits);
    RFN_JSON_SET(value, "clocks_disagree", verdict.clocks_disagree);
    return value;
}

static json_t *story_json(const struct rfn_report *report, const struct rfn_measured *run,
                          const struct rfn_stories *stories, size_t number)
{
    const struct rfn_story *story = &stories->stories[number];
    const struct rfn_report_ahead *ahead = report->ahead;
    const bool predicted = ahead && number < ahead->n_stories;
    json_t *value = json_object(), *findings = json_array();
    struct rfn_text text = {0}, advice = {0};
    rfn_story_append(&text, run, stories, story);
    rfn_story_advice(&advice, run, stories, story);
    RFN_JSON_SET(value, "kind", rfn_story_kind_name(story->kind));
    RFN_JSON_SET(value, "text", rfn_json_of_text(&text));
    RFN_JSON_SET(value, "advice", rfn_json_of_text(&advice));
    set_time(value, report, story->ns);
    RFN_JSON_SET(value, "without_seconds",
                 predicted ? rfn_json_seconds((double)ahead->without_ns[number]) : json_null());
    if (story->kind == RFN_STORY_SLOW_RANKS) {
        RFN_JSON_SET(value, "factor", story->factor);
        RFN_JSON_SET(value, "host", story->host);
    }
    if (story->at_once > 0)
        RFN_JSON_SET(value, "ranks_at_once", story->at_once);
    if (story->kind == RFN_STORY_SMALL_MESSAGES) {
        RFN_JSON_SET(value, "messages", story->messages);
        RFN_JSON_SET(value, "bytes", story->bytes);
    }
    if (story->row)
        rfn_json_set_call(value, report->archive,
                          (struct rfn_call_site){story->row->function, story->row->path});
    if (story->findings)
        rfn_json_set_usage(value, &rfn_story_finding(stories, story)->usage);
    for (size_t i = 0; i < story->findings; i++)
        json_array_append_new(
            findings,
            rfn_json_finding(run, &stories->findings.findings[stories->order[story->first + i]]));
    RFN_JSON_SET(value, "findings", findings);
    return value;
}

static json_t *stories_json(const struct rfn_report *report, const struct rfn_measured *run)
{
    struct rfn_stories stories;
    if (rfn_report_stories_init(&stories, report, run) < 0)
        return rfn_json_fail();
    json_t *list = json_array();
    for (size_t i = 0; i < stories.n && i < report->top; i++)
        json_array_append_new(list, story_json(report, run, &stories, i));
    rfn_stories_release(&stories);
    return list;
}

void rfn_report_stories_json(json_t *value, const struct rfn_report *report)
{
    const struct rfn_measured run = rfn_report_measured(report);
    bool known = rfn_report_has_waits(report);
    RFN_JSON_SET(value, "stories", known ? stories_json(report, &run) : json_array());
    RFN_JSON_SET(value, "verdict", known ? verdict_json(report, &run) : json_null());
}

/* ---- the critical path ---- */

static json_t *critical_json(const struct rfn_report *report)
{
    const struct rfn_waits *waits = report->waits;
    double length = (double)waits->critical_ns;
    json_t *value = json_object(), *parts = json_array();
    size_t n = 0;
    for (size_t i = 0; i < waits->n_critical; i++) {
        const struct rfn_critical_row *row = &waits->critical[i];
        if (!rfn_report_shows_activity(report, row->activity) || n++ >= report->top)
            continue;
        json_t *part = json_object();
        rfn_json_set_activity(part, report->archive, rfn_report_activity(report, row->activity));
        RFN_JSON_SET(part, "seconds", rfn_json_seconds((double)row->ns));
        RFN_JSON_SET(part, "share", length > 0 ? (double)row->ns / length : 0);
        RFN_JSON_SET(part, "mean_seconds", rfn_json_seconds(row->mean_ns));
        RFN_JSON_SET(part, "imbalance_seconds", rfn_json_seconds(row->imbalance_ns));
        json_array_append_new(parts, part);
    }
    RFN_JSON_SET(value, "seconds", rfn_json_seconds(length));
    RFN_JSON_SET(value, "rank", waits->critical_rank);
    RFN_JSON_SET(value, "parts", parts);
    return value;
}

/* ---- matching ---- */

static json_t *matching_json(const struct rfn_matching *m)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "messages", m->messages);
    RFN_JSON_SET(value, "matched", m->matched);
    RFN_JSON_SET(value, "unmatched_sends", m->unmatched_sends);
    RFN_JSON_SET(value, "unmatched_receives", m->unmatched_receives);
    RFN_JSON_SET(value, "cancelled", m->cancelled);
    RFN_JSON_SET(value, "foreign", m->foreign);
    RFN_JSON_SET(value, "collectives", m->collectives);
    RFN_JSON_SET(value, "unmatched_collectives", m->unmatched_collectives);
    RFN_JSON_SET(value, "backward", m->backward);
    RFN_JSON_SET(value, "backward_max_seconds", rfn_json_seconds((double)m->backward_max_ns));
    RFN_JSON_SET(value, "fixed", m->fixed);
    return value;
}

void rfn_report_waits_json(json_t *value, const struct rfn_report *report)
{
    bool known = rfn_report_has_waits(report);
    RFN_JSON_SET(value, "wait_states", known ? wait_states_json(report) : json_array());
    RFN_JSON_SET(value, "waits", known ? sums_json(report->waits) : json_null());
    RFN_JSON_SET(value, "causes", known ? causes_json(report) : json_array());
    RFN_JSON_SET(value, "critical_path",
                 known && !report->profile->region ? critical_json(report) : json_null());
    RFN_JSON_SET(value, "matching", matching_json(&report->waits->matching));
}
