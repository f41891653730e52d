/* report_behaviour.c - which ranks did what in the steps of the run, for what share of the time: a
 * few lines with what costs most, or tables of all patterns. */
#include "cli/report/report.h"
#include "cli/text/json.h"
#include "cli/text/table.h"
#include "cli/text/wrap.h"

enum { NOTE_INDENT = 6, NAMED = 8 };
/* Of the few lines: how many, and what is worth one: loops of so many steps, patterns that cost
 * this share of the time of all ranks. */
enum { BRIEF_LINES = 7, LEAST_STEPS = 5 };
static const double least_cost = 0.01;
/* Patterns with less of the time are other patterns. */
static const double least_shown = 0.005;

#define QUESTION "\nWhich ranks are late in which steps? Behaviour: "

static double share_of(const struct rfn_behaviour_loop *loop, double ns)
{
    return loop->looked_at_ns > 0 ? loop->share * ns / (double)loop->looked_at_ns : 0;
}

/* ---- text ---- */

static void append_late(struct rfn_text *line, const struct rfn_behaviour_loop *loop,
                        const struct rfn_behaviour_pattern *pattern)
{
    uint32_t n = pattern->n_late;
    if (pattern->varying)
        rfn_text_string(line, n == loop->n_ranks ? "now these, now those of " : "some of ");
    if (n == loop->n_ranks && pattern->varying) {
        rfn_text_format(line, "all %u ranks", loop->n_ranks);
    } else if (n > NAMED && pattern->late[n - 1] - pattern->late[0] != n - 1) {
        rfn_text_format(line, "%u ranks (the lowest is %u)", n, pattern->late[0]);
    } else {
        rfn_text_string(line, n == 1 ? "rank " : "ranks ");
        rfn_text_ranks(line, pattern->late, n);
    }
}

/* Ranks that differ by less than steps of a pattern may. */
static void append_alike(struct rfn_text *line, const struct rfn_behaviour_loop *loop,
                         const struct rfn_behaviour_pattern *pattern)
{
    rfn_text_string(line, "all ranks take about equally long in every call");
    if (!pattern->n_late)
        return;
    rfn_text_string(line, ", as far as steps are told apart, but others wait for ");
    append_late(line, loop, pattern);
}

/* Who is late to what, and what takes them longer. */
static void append_waiting(struct rfn_text *line, const struct rfn_report *report,
                           const struct rfn_behaviour_loop *loop,
                           const struct rfn_behaviour_pattern *pattern)
{
    const struct rfn_activity *cause = &pattern->cause;
    if (!pattern->varying && pattern->n_late == loop->n_ranks) {
        rfn_text_format(line, "all %u ranks wait for one another in ", loop->n_ranks);
        rfn_call_site_path(line, report->archive, pattern->waited, report->width);
        rfn_text_format(line, ", for %s", rfn_time_text(pattern->wait_ns).text);
        return;
    }
    append_late(line, loop, pattern);
    rfn_text_string(line,
                    pattern->n_late == 1 && !pattern->varying ? " is late to " : " are late to ");
    rfn_call_site_path(line, report->archive, pattern->waited, report->width);
    rfn_text_format(line, ", others are in it %s longer", rfn_time_text(pattern->wait_ns).text);
    if (!pattern->has_cause) {
        rfn_text_string(line, "; they came late into the step");
        return;
    }
    rfn_text_string(line, ": ");
    if (cause->kind == RFN_ACTIVITY_MPI) { /* all time in the call: moving data, and waiting */
        rfn_text_string(line, "being in ");
        rfn_text_printable(line, rfn_call_site_function(report->archive, cause->at)->name);
        rfn_text_string(line, " in ");
        rfn_call_site_place(line, report->archive, cause->at);
    } else {
        rfn_activity_append(line, report->archive, cause);
    }
    rfn_text_format(line, " takes %s longer", rfn_time_text(pattern->excess_ns).text);
}

/* note: is released. */
static void add_row(struct rfn_table *table, const struct rfn_behaviour_loop *loop, uint64_t steps,
                    double ns, struct rfn_text *note)
{
    rfn_table_row(table, "%s\t%s\t%s", rfn_share_text(share_of(loop, ns)).text,
                  rfn_count_text(steps).text,
                  steps ? rfn_time_text((int64_t)(ns / (double)steps)).text : "");
    rfn_table_note(table, note);
}

static void append_title(struct rfn_text *out, const struct rfn_report *report,
                         const struct rfn_behaviour_loop *loop)
{
    struct rfn_activity stretch = {.kind = RFN_ACTIVITY_COMPUTE,
                                   .before = loop->first,
                                   .at = loop->last,
                                   .region = RFN_NO_REGION};
    const char *function = rfn_activity_common(report->archive, &stretch);
    rfn_text_format(out, QUESTION "%s steps", rfn_count_text(loop->steps).text);
    if (function) {
        rfn_text_string(out, " of a loop in ");
        rfn_text_printable(out, function);
        rfn_text_string(out, "()");
    }
    rfn_text_string(out, loop->n_ranks == 1 ? " on rank " : " on ranks ");
    rfn_text_ranks(out, loop->ranks, loop->n_ranks);
    rfn_text_format(out, ", %s of the time", rfn_share_text(loop->share).text);
    rfn_report_end_title(out, report, 0);
}

static void append_loop(struct rfn_text *out, const struct rfn_report *report,
                        const struct rfn_behaviour_loop *loop)
{
    struct rfn_table table;
    uint64_t steps = loop->other_steps;
    double ns = (double)loop->other_ns;
    bool rest = false;
    rfn_table_init(&table, "rrr", "share\tsteps\teach");
    for (size_t i = 0; i < loop->n_patterns; i++) {
        const struct rfn_behaviour_pattern *pattern = &loop->patterns[i];
        struct rfn_text line = {0}, note = {0};
        rest |= i >= report->top || share_of(loop, (double)pattern->ns) < least_shown;
        if (rest) {
            steps += pattern->steps;
            ns += (double)pattern->ns;
            continue;
        }
        if (pattern->waiting)
            append_waiting(&line, report, loop, pattern);
        else
            append_alike(&line, loop, pattern);
        rfn_text_wrap(&note, &line, report->width - NOTE_INDENT, 2);
        rfn_text_release(&line);
        add_row(&table, loop, pattern->steps, (double)pattern->ns, &note);
    }
    if (steps) { /* of the patterns that are not shown, and of none */
        struct rfn_text note = {0};
        rfn_text_string(&note, "other patterns");
        add_row(&table, loop, steps, ns, &note);
    }
    append_title(out, report, loop);
    rfn_table_print(&table, NOTE_INDENT, out);
}

static void append_tables(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_behaviour *behaviour = report->behaviour;
    for (size_t i = 0; i < behaviour->n_loops; i++)
        append_loop(out, report, &behaviour->loops[i]);
    if (behaviour->n_loops)
        return;
    rfn_text_string(out, behaviour->too_irregular ? QUESTION "no two steps are alike"
                                                  : QUESTION
                             "there is no loop that ranks execute in step");
    rfn_report_end_title(out, report, 0);
}

/* ---- what costs most ---- */

/* A pattern, and what waiting in it costs of the time of all ranks. */
struct costly {
    const struct rfn_behaviour_loop *loop;
    const struct rfn_behaviour_pattern *pattern;
    double share;
};

static double cost_of(const struct rfn_behaviour_loop *loop,
                      const struct rfn_behaviour_pattern *pattern)
{
    return share_of(loop, (double)pattern->lost_ns / loop->n_streams);
}

/* Who comes late into steps, for no reason that is seen in them, may just not be in step with
 * others, as workers of a master are not. So he is not named if waits in that call are blamed on
 * others alone. */
static bool others_are_blamed(const struct rfn_report *report,
                              const struct rfn_behaviour_pattern *pattern)
{
    bool any = false;
    for (size_t i = 0; !pattern->has_cause && report->waits && i < report->waits->n_causes; i++) {
        const struct rfn_cause *cause = &report->waits->causes[i];
        if (cause->waited.function != pattern->waited.function ||
            cause->waited.path != pattern->waited.path)
            continue;
        any = true;
        for (uint32_t k = 0; k < cause->n_ranks; k++) {
            for (uint32_t l = 0; l < pattern->n_late; l++) {
                if (cause->ranks[k].rank == pattern->late[l])
                    return false;
            }
        }
    }
    return any;
}

static bool shows_pattern(const struct rfn_report *report,
                          const struct rfn_behaviour_pattern *pattern)
{
    bool shown = !report->ranks;
    for (uint32_t i = 0; i < pattern->n_late && !shown; i++)
        shown = rfn_report_shows_rank(report, pattern->late[i]);
    return shown && !others_are_blamed(report, pattern) &&
           rfn_report_shows_call(report, pattern->waited.function, pattern->waited.path);
}

/* The costliest pattern that costs less than one before it, or as much and comes later. */
static struct costly next_costly(const struct rfn_report *report, const struct costly *before)
{
    const struct rfn_behaviour *behaviour = report->behaviour;
    struct costly found = {0};
    bool behind = !before->pattern;
    for (size_t i = 0; i < behaviour->n_loops; i++) {
        const struct rfn_behaviour_loop *loop = &behaviour->loops[i];
        for (size_t j = 0; j < loop->n_patterns && loop->steps >= LEAST_STEPS; j++) {
            const struct costly here = {loop, &loop->patterns[j],
                                        cost_of(loop, &loop->patterns[j])};
            bool later = !before->pattern || here.share < before->share ||
                         (here.share == before->share && behind);
            behind |= here.pattern == before->pattern;
            if (here.pattern->waiting && here.pattern != before->pattern && later &&
                here.share > found.share && shows_pattern(report, here.pattern))
                found = here;
        }
    }
    return found;
}

static void append_costly(struct rfn_text *line, const struct rfn_report *report,
                          const struct costly *costly)
{
    const struct rfn_behaviour_loop *loop = costly->loop;
    double share = (double)costly->pattern->steps / (double)loop->looked_at;
    if (loop->looked_at < loop->steps && share < 0.01) /* rounded as far as it can be trusted */
        rfn_text_string(line, "less than 1 %");
    else if (loop->looked_at < loop->steps)
        rfn_text_format(line, "about %.0f %%", 100 * share);
    else
        rfn_text_string(line, rfn_share_text(share).text);
    rfn_text_format(line, " of %s steps (longer in a call: %s of all ranks' time): ",
                    rfn_count_text(loop->steps).text, rfn_share_text(costly->share).text);
    append_waiting(line, report, loop, costly->pattern);
}

/* The costliest patterns, as many as there are lines for; nothing where none costs anything. */
static void append_brief(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_behaviour *behaviour = report->behaviour;
    struct costly costly = {0};
    size_t lines = 1;
    bool some = false;
    for (size_t i = 0; i < behaviour->n_loops; i++)
        some |= behaviour->loops[i].looked_at < behaviour->loops[i].steps;
    while (lines < BRIEF_LINES) {
        struct rfn_text line = {0}, wrapped = {0};
        costly = next_costly(report, &costly);
        if (!costly.pattern || costly.share < least_cost)
            break;
        if (lines == 1) {
            rfn_text_format(out, QUESTION "%s",
                            some ? "what costs most, from a sample (--behaviour looks at all)"
                                 : "what costs most (--behaviour shows all)");
            rfn_report_end_title(out, report, 0);
        }
        append_costly(&line, report, &costly);
        rfn_text_string(&wrapped, "  ");
        rfn_report_sentence(&wrapped, report, &line, 4);
        bool fits = lines == 1 || lines + rfn_text_lines(&wrapped) <= BRIEF_LINES;
        if (fits)
            rfn_text_bytes(out, wrapped.data, wrapped.n);
        lines = fits ? lines + rfn_text_lines(&wrapped) : BRIEF_LINES;
        out->failed |= wrapped.failed;
        rfn_text_release(&wrapped);
    }
}

void rfn_report_behaviour(struct rfn_text *out, const struct rfn_report *report)
{
    if (report->behaviour && report->behaviour_table)
        append_tables(out, report);
    else if (report->behaviour)
        append_brief(out, report);
}

/* ---- JSON ---- */

static void set_share(json_t *value, double share, uint64_t steps)
{
    RFN_JSON_SET(value, "share", share);
    RFN_JSON_SET(value, "steps", steps);
}

static json_t *pattern_json(const struct rfn_report *report, const struct rfn_behaviour_loop *loop,
                            const struct rfn_behaviour_pattern *pattern)
{
    json_t *value = json_object(), *cause = json_null();
    set_share(value, share_of(loop, (double)pattern->ns), pattern->steps);
    RFN_JSON_SET(value, "alike", json_boolean(!pattern->waiting));
    RFN_JSON_SET(value, "lost_share", cost_of(loop, pattern));
    RFN_JSON_SET(value, "late", rfn_json_ranks(pattern->late, pattern->n_late));
    if (!pattern->waiting)
        return value;
    RFN_JSON_SET(value, "varying", pattern->varying);
    RFN_JSON_SET(value, "waited_in", rfn_json_call(report->archive, pattern->waited));
    RFN_JSON_SET(value, "wait_seconds", rfn_json_seconds((double)pattern->wait_ns));
    if (pattern->has_cause)
        rfn_json_set_activity(cause = json_object(), report->archive, &pattern->cause);
    RFN_JSON_SET(value, "cause", cause);
    RFN_JSON_SET(value, "excess_seconds", rfn_json_seconds((double)pattern->excess_ns));
    return value;
}

static json_t *loop_json(const struct rfn_report *report, const struct rfn_behaviour_loop *loop)
{
    json_t *value = json_object(), *patterns = json_array();
    set_share(value, loop->share, loop->steps);
    RFN_JSON_SET(value, "looked_at", loop->looked_at);
    RFN_JSON_SET(value, "ranks", rfn_json_ranks(loop->ranks, loop->n_ranks));
    RFN_JSON_SET(value, "first", rfn_json_call(report->archive, loop->first));
    RFN_JSON_SET(value, "last", rfn_json_call(report->archive, loop->last));
    for (size_t i = 0; i < loop->n_patterns && i < report->top; i++)
        json_array_append_new(patterns, pattern_json(report, loop, &loop->patterns[i]));
    RFN_JSON_SET(value, "patterns", patterns);
    return value;
}

json_t *rfn_report_behaviour_json(const struct rfn_report *report)
{
    const struct rfn_behaviour *behaviour = report->behaviour;
    if (!behaviour)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < behaviour->n_loops; i++)
        json_array_append_new(list, loop_json(report, &behaviour->loops[i]));
    return list;
}
