/* report_predict.c - what the run would take on an ideal network, and without what costs most. */
#include "cli/report/report.h"
#include "cli/text/json.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"

#include <stdlib.h>
#include <string.h>

/* Stories that are predicted; assumptions of each. */
enum { STORIES = 3, ASSUMPTIONS = 32 };

/* Lane 0 is the ideal network. */
enum { LANES = 1 + STORIES };

/* What an assumption is about. */
struct subject {
    const struct rfn_archive *archive;
    const struct rfn_activity *activity; /* and all of the same piece of work; NULL: any */
    struct rfn_call_site site;           /* without an activity: calls there */
    bool *ranks;                         /* owned */
};

struct asking {
    const struct rfn_report *report;
    struct subject subjects[STORIES][ASSUMPTIONS];
    struct rfn_assumption assumptions[STORIES][ASSUMPTIONS];
    struct rfn_lane lanes[LANES];
};

/* ---- assumptions of a story ---- */

static bool same_site(struct rfn_call_site a, struct rfn_call_site b)
{
    return a.function == b.function && a.path == b.path;
}

static bool same_work(const struct rfn_archive *archive, const struct rfn_activity *a,
                      const struct rfn_activity *b)
{
    if (a->kind != RFN_ACTIVITY_COMPUTE || a->region != b->region)
        return a->kind != RFN_ACTIVITY_COMPUTE && same_site(a->at, b->at);
    const char *x = rfn_activity_common(archive, a), *y = rfn_activity_common(archive, b);
    return same_site(a->at, b->at) && (x && y ? strcmp(x, y) == 0 : x == y);
}

static bool takes(const void *context, const struct rfn_activity *activity)
{
    const struct subject *subject = context;
    if (subject->activity)
        return same_work(subject->archive, subject->activity, activity);
    return subject->site.function == UINT32_MAX || same_site(subject->site, activity->at);
}

/* NULL: there are too many. Calls everywhere, of all ranks, until more is said. */
static struct rfn_assumption *assume(struct asking *asking, size_t story, enum rfn_assumed what,
                                     double factor, struct subject **subject)
{
    struct rfn_lane *lane = &asking->lanes[1 + story];
    if (lane->n == ASSUMPTIONS)
        return NULL;
    *subject = &asking->subjects[story][lane->n];
    (*subject)->archive = asking->report->archive;
    (*subject)->site.function = UINT32_MAX;
    struct rfn_assumption *assumption = &asking->assumptions[story][lane->n++];
    *assumption = (struct rfn_assumption){
        .what = what, .factor = factor, .takes = takes, .context = *subject};
    return assumption;
}

/* Calls there: their own time, or what they wait. */
static void assume_site(struct asking *asking, size_t story, enum rfn_assumed what,
                        struct rfn_call_site site)
{
    struct subject *subject;
    if (assume(asking, story, what, 0, &subject))
        subject->site = site;
}

/* Whether ranks do this work that are not late. */
static bool others_do_it(const struct rfn_finding *finding, uint32_t n_ranks)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_ranks; i++)
        n += finding->spent[i] > 0;
    for (uint32_t i = 0; i < finding->n_late; i++)
        n -= finding->spent[finding->ranks[i].rank] > 0;
    return n > 0;
}

/* What the late ranks spent in it, when it had been as long as it was for others that do it, too;
 * without such, nothing. */
static double even_factor(const struct rfn_finding *finding, const bool *late, uint32_t n_ranks)
{
    double of_late = 0, of_others = 0;
    uint32_t others = 0;
    for (uint32_t i = 0; i < n_ranks; i++) {
        const double spent = (double)finding->spent[i];
        of_late += late[i] ? spent / finding->n_late : 0;
        of_others += late[i] ? 0 : spent;
        others += !late[i] && spent > 0;
    }
    of_others = others ? of_others / others : 0;
    return of_others < of_late ? of_others / of_late : 1;
}

/* Only of the ranks that are late. */
static int assume_late(const struct asking *asking, const struct rfn_finding *finding,
                       struct subject *subject, struct rfn_assumption *assumption)
{
    subject->ranks = calloc((size_t)asking->report->run->ranks + 1, sizeof *subject->ranks);
    if (!subject->ranks)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < finding->n_late; i++)
        subject->ranks[finding->ranks[i].rank] = true;
    assumption->ranks = subject->ranks;
    return 0;
}

static int assume_ranks(struct asking *asking, size_t story, const struct rfn_finding *finding)
{
    const struct rfn_activity *activity = &asking->report->waits->activities[finding->activity];
    const bool computes = activity->kind == RFN_ACTIVITY_COMPUTE;
    struct subject *subject;
    struct rfn_assumption *assumption = assume(
        asking, story, computes ? RFN_ASSUME_COMPUTE : RFN_ASSUME_CALL, 0, &subject);
    if (!assumption)
        return 0;
    subject->activity = activity;
    RFN_TRY(assume_late(asking, finding, subject, assumption));
    if (computes)
        assumption->factor = even_factor(finding, subject->ranks, asking->report->waits->n_ranks);
    return 0;
}

/* Where some ranks are late they are so no more; else the others have come in time there. */
static int assume_finding(struct asking *asking, size_t story, const struct rfn_finding *finding,
                          bool in_turn)
{
    const struct rfn_activity *activity = &asking->report->waits->activities[finding->activity];
    const bool some = finding->late == RFN_LATE_ONE || finding->late == RFN_LATE_SOME;
    if (activity->kind != RFN_ACTIVITY_COMPUTE && activity->kind != RFN_ACTIVITY_START)
        return assume_ranks(asking, story, finding);
    if (some && !in_turn && activity->kind == RFN_ACTIVITY_COMPUTE &&
        (finding->n_late == 1 || others_do_it(finding, asking->report->waits->n_ranks)))
        return assume_ranks(asking, story, finding);
    assume_site(asking, story, RFN_ASSUME_LATE, finding->waited);
    return 0;
}

/* Ranks that compute slower, whatever they do. */
static int assume_slow(struct asking *asking, size_t number, const struct rfn_story *story,
                       const struct rfn_finding *finding)
{
    struct subject *subject;
    struct rfn_assumption *assumption = assume(asking, number, RFN_ASSUME_COMPUTE,
                                               1 / story->factor, &subject);
    return assumption ? assume_late(asking, finding, subject, assumption) : 0;
}

static int assume_story(struct asking *asking, size_t number, const struct rfn_stories *stories)
{
    const struct rfn_story *story = &stories->stories[number];
    const struct rfn_finding *costliest = rfn_story_finding(stories, story);
    const bool in_turn = story->kind == RFN_STORY_ONE_BY_ONE || story->kind == RFN_STORY_PIPELINE ||
                         story->kind == RFN_STORY_SEND_CHAIN;
    if (story->kind == RFN_STORY_SLOW_RANKS && costliest && story->factor > 1)
        return assume_slow(asking, number, story, costliest);
    if (story->row) {
        const struct rfn_call_site site = {story->row->function, story->row->path};
        assume_site(asking, number, RFN_ASSUME_WAIT, site);
        assume_site(asking, number, RFN_ASSUME_CALL, site);
    }
    for (size_t i = 0; i < story->findings; i++)
        RFN_TRY(assume_finding(asking, number,
                               &stories->findings.findings[stories->order[story->first + i]],
                               in_turn));
    return 0;
}

/* ---- the prediction ---- */

/* The main part, cut into equal windows. NULL: out of memory. */
static int64_t *cut(const struct rfn_report *report, size_t windows)
{
    const int64_t from = report->profile->main_from_ns - report->profile->start_ns;
    const int64_t to = report->profile->main_to_ns - report->profile->start_ns;
    int64_t *points = calloc(windows + 1, sizeof *points);
    for (size_t i = 0; points && i <= windows; i++)
        points[i] = from + (int64_t)((double)(to - from) / (double)windows * (double)i);
    return points;
}

/* What ranks did between two points, in lane 0 and as recorded. No rank takes longer than
 * recorded: where one waits for less it may wait for more later. */
static struct rfn_report_window window_between(const struct rfn_report *report,
                                               const struct rfn_prediction *prediction,
                                               const int64_t *points, size_t from, size_t to)
{
    const uint32_t ranks = report->run->ranks;
    const size_t lanes = 1 + report->ahead->n_stories;
    struct rfn_report_window window = {.from_ns = points[from], .to_ns = points[to]};
    int64_t all = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        const int64_t outside = prediction->outside_ns[to * ranks + r] -
                                prediction->outside_ns[from * ranks + r];
        const int64_t took = prediction->reached_ns[(to * ranks + r) * lanes] -
                             prediction->reached_ns[(from * ranks + r) * lanes];
        all += outside;
        window.longest_ns = outside > window.longest_ns ? outside : window.longest_ns;
        window.ideal_ns = took > window.ideal_ns ? took : window.ideal_ns;
    }
    if (window.ideal_ns > window.to_ns - window.from_ns)
        window.ideal_ns = window.to_ns - window.from_ns;
    window.mean_ns = ranks ? (double)all / ranks : 0;
    return window;
}

static int take(struct rfn_report_ahead *ahead, const struct rfn_report *report,
                const struct rfn_prediction *prediction, const int64_t *points)
{
    ahead->run_ns = prediction->recorded_ns;
    for (size_t i = 0; i < ahead->n_stories; i++)
        ahead->without_ns[i] = prediction->predicted_ns[1 + i];
    ahead->windows = calloc(ahead->n_windows + 1, sizeof *ahead->windows);
    if (!ahead->windows)
        return RFN_E_NOMEM;
    ahead->main = window_between(report, prediction, points, 0, ahead->n_windows);
    for (size_t i = 0; i < ahead->n_windows; i++)
        ahead->windows[i] = window_between(report, prediction, points, i, i + 1);
    return 0;
}

static int predict(struct asking *asking, struct rfn_report_ahead *ahead,
                   struct rfn_progress *progress, struct rfn_diag *diag)
{
    static const struct rfn_assumption ideal = {.what = RFN_ASSUME_IDEAL};
    const struct rfn_report *report = asking->report;
    struct rfn_prediction prediction;
    int64_t *points = cut(report, ahead->n_windows);
    uint64_t messages;
    if (!points)
        return RFN_E_NOMEM;
    asking->lanes[0] = (struct rfn_lane){&ideal, 1};
    const struct rfn_predict_options options = {.network = &ahead->network,
                                                .lanes = asking->lanes,
                                                .n = 1 + ahead->n_stories,
                                                .points_ns = points,
                                                .n_points = ahead->n_windows + 1,
                                                .progress = rfn_progress_show,
                                                .context = progress};
    int error = 0;
    if (report->network)
        ahead->network = *report->network;
    else
        error = rfn_network_estimate(report->archive, &ahead->network, &messages, diag);
    if (!error)
        error = rfn_predict(report->archive, &options, &prediction, diag);
    if (!error) {
        error = take(ahead, report, &prediction, points);
        rfn_prediction_release(&prediction);
    }
    free(points);
    return error;
}

/* Ranks that are missing cannot be told; pauses of recording would count as computing, and threads
 * of a rank have no common time outside of MPI. */
static bool is_predictable(const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        if (profile->ranks[i].threads > 1)
            return false;
    }
    return rfn_report_has_waits(report) && !profile->region && !profile->paused &&
           !rfn_report_missing(report) && profile->main_to_ns > profile->main_from_ns;
}

int rfn_report_predict(struct rfn_report *report, size_t windows, struct rfn_report_ahead *ahead,
                       struct rfn_diag *diag)
{
    const struct rfn_measured run = rfn_report_measured(report);
    struct rfn_progress progress = {.what = "predicting"};
    struct rfn_stories stories;
    *ahead = (struct rfn_report_ahead){.n_windows = windows ? windows : 1};
    if (!is_predictable(report))
        return 0;
    struct asking *asking = calloc(1, sizeof *asking);
    if (!asking)
        return RFN_E_NOMEM;
    asking->report = report;
    int error = rfn_report_stories_init(&stories, report, &run);
    if (!error) {
        ahead->n_stories = stories.n < STORIES ? stories.n : STORIES;
        report->ahead = ahead;
        for (size_t i = 0; i < ahead->n_stories && !error; i++) {
            asking->lanes[1 + i].assumptions = asking->assumptions[i];
            error = assume_story(asking, i, &stories);
        }
        rfn_stories_release(&stories);
    }
    if (!error)
        error = predict(asking, ahead, &progress, diag);
    rfn_progress_done(&progress);
    for (size_t i = 0; i < STORIES * ASSUMPTIONS; i++)
        free(asking->subjects[i / ASSUMPTIONS][i % ASSUMPTIONS].ranks);
    free(asking);
    report->ahead = error ? NULL : ahead;
    return error;
}

void rfn_report_ahead_release(struct rfn_report_ahead *ahead)
{
    free(ahead->windows);
    *ahead = (struct rfn_report_ahead){0};
}

/* ---- in words ---- */

void rfn_report_append_without(struct rfn_text *line, const struct rfn_report *report, size_t story)
{
    const struct rfn_report_ahead *ahead = report->ahead;
    if (!ahead || story >= ahead->n_stories)
        return;
    const int64_t without = ahead->without_ns[story], saved = ahead->run_ns - without;
    if ((double)saved < RFN_TRIFLE * (double)ahead->run_ns)
        rfn_text_string(line, " Without it the run would take almost as long.");
    else
        rfn_text_format(line, " Without it the run would take %s instead of %s.",
                        rfn_time_text(without).text, rfn_time_text(ahead->run_ns).text);
}

static double ratio(double part, double whole)
{
    return whole <= 0 ? 1 : part < whole ? part / whole : 1;
}

struct rfn_window_efficiency rfn_report_window_efficiency(const struct rfn_report_window *window)
{
    const double length = (double)(window->to_ns - window->from_ns);
    return (struct rfn_window_efficiency){
        .parallel = ratio(window->mean_ns, length),
        .load_balance = ratio(window->mean_ns, (double)window->longest_ns),
        .serialization = ratio((double)window->longest_ns, (double)window->ideal_ns),
        .transfer = ratio((double)window->ideal_ns, length)};
}

/* Where in the run efficiency is lost. */
void rfn_report_windows(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_report_ahead *ahead = report->ahead;
    struct rfn_table table;
    if (!ahead || ahead->n_windows < 2)
        return;
    rfn_table_init(&table, "rrrrrr", "from\tto\tparallel\tload balance\tserialization\ttransfer");
    for (size_t i = 0; i < ahead->n_windows; i++) {
        const struct rfn_report_window *window = &ahead->windows[i];
        const struct rfn_window_efficiency e = rfn_report_window_efficiency(window);
        rfn_table_row(&table, "%s\t%s\t%s\t%s\t%s\t%s", rfn_time_text(window->from_ns).text,
                      rfn_time_text(window->to_ns).text, rfn_share_text(e.parallel).text,
                      rfn_share_text(e.load_balance).text, rfn_share_text(e.serialization).text,
                      rfn_share_text(e.transfer).text);
    }
    rfn_text_string(out, "\nWhen is efficiency lost? Factors by time window");
    rfn_report_end_title(out, report, 0);
    rfn_table_print(&table, 2, out);
}

json_t *rfn_report_windows_json(const struct rfn_report *report)
{
    json_t *list = json_array();
    const size_t n = report->ahead ? report->ahead->n_windows : 0;
    for (size_t i = 0; i < n && n > 1; i++) {
        const struct rfn_report_window *window = &report->ahead->windows[i];
        const struct rfn_window_efficiency e = rfn_report_window_efficiency(window);
        json_t *value = json_object();
        RFN_JSON_SET(value, "from_seconds", rfn_json_seconds((double)window->from_ns));
        RFN_JSON_SET(value, "to_seconds", rfn_json_seconds((double)window->to_ns));
        RFN_JSON_SET(value, "parallel_efficiency", e.parallel);
        RFN_JSON_SET(value, "load_balance", e.load_balance);
        RFN_JSON_SET(value, "serialization_efficiency", e.serialization);
        RFN_JSON_SET(value, "transfer_efficiency", e.transfer);
        json_array_append_new(list, value);
    }
    return list;
}
