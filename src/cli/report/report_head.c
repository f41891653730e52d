/* report_head.c - the first screen, which answers why the program is slow: what ran and how long,
 * how efficiently, how far to trust that, and the three stories that cost most, each with advice.
 */
#include "cli/report/report.h"
#include "cli/text/aggregation_text.h"
#include "cli/text/hosts.h"
#include "cli/text/run_text.h"
#include "cli/text/terminal.h"

#include <stdlib.h>

/* Stories, and lines of the screen on which they are. */
enum { SHOWN = 3, SCREEN = 20, INDENT = 3 };

#define ENDS        0.05    /* of the run time: start and end are worth a line */
#define TRIFLE_TEXT "0.5 %" /* RFN_TRIFLE */

/* "halo on 8 ranks (6 of them in this archive) ran for 10.0 s until rank 2 called MPI_Abort in
 * main() [app.c:12]." */
static void append_run(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    uint32_t missing = rfn_report_missing(report), present = profile->n_ranks - missing;
    bool has_waits = rfn_report_has_waits(report);
    struct rfn_text text = {0};
    rfn_text_printable(&text, report->run->program ? report->run->program : "?");
    rfn_text_format(&text, " on %u rank%s", report->run->ranks, report->run->ranks == 1 ? "" : "s");
    if (missing && !present)
        rfn_text_string(&text, " (none of them in this archive)");
    else if (missing)
        rfn_text_format(&text, " (%u of them in this archive)", present);
    if (has_waits)
        rfn_text_format(&text, " ran for %s",
                        rfn_time_text(profile->end_ns - profile->start_ns).text);
    else
        rfn_text_string(&text, ": how long it ran is not known");
    for (size_t i = 0; has_waits && i < profile->n_rows; i++) {
        const struct rfn_call_site site = {profile->rows[i].function, profile->rows[i].path};
        if (strcmp(rfn_call_site_function(report->archive, site)->name, "MPI_Abort") != 0)
            continue;
        rfn_text_format(&text, " until rank %u called MPI_Abort in ",
                        profile->rows[i].time.min_rank);
        rfn_call_site_place(&text, report->archive, site);
        break;
    }
    rfn_text_char(&text, '.');
    rfn_report_sentence(out, report, &text, INDENT);
}

/* "The rest of this page is about region solve: a rank spends 1.20 s in it on average, 24.0 % of
 * the run time." */
static void append_region(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    const double all = (double)report->efficiency.all_ns / report->run->ranks;
    struct rfn_text text = {0};
    rfn_text_string(&text, "The rest of this page is about region ");
    rfn_text_printable(&text, profile->region);
    if (all > 0)
        rfn_text_format(&text, ": a rank spends %s in it on average, %s of the run time",
                        rfn_time_text((int64_t)all).text,
                        rfn_share_text(all / (double)(profile->end_ns - profile->start_ns)).text);
    rfn_text_char(&text, '.');
    rfn_report_sentence(out, report, &text, INDENT);
}

/* Ranks were asked for, and of none of them there is anything. */
static void append_absent(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    for (uint32_t i = 0; i < report->profile->n_ranks; i++) {
        if (rfn_report_shows_rank(report, i) && report->profile->ranks[i].threads)
            return;
    }
    rfn_text_string(&text, "This archive has nothing");
    rfn_report_of_ranks(&text, report);
    rfn_text_char(&text, '.');
    rfn_report_sentence(out, report, &text, INDENT);
}

static void append_no_times(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    rfn_text_string(&text, "Efficiency and waits need times, and ");
    rfn_text_string(&text, report->profile->times
                               ? "nothing in this archive has times."
                               : "this archive has none (it was recorded with --time=none): only "
                                 "counts and bytes follow.");
    rfn_report_sentence(out, report, &text, INDENT);
}

/* Shares are of T times the number of threads, not of ranks. */
static void append_threads(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    uint32_t threads = 0;
    for (uint32_t i = 0; i < report->profile->n_ranks; i++)
        threads += report->profile->ranks[i].threads;
    if (threads <= report->profile->n_ranks - rfn_report_missing(report))
        return;
    rfn_text_format(&text,
                    "%u threads call MPI: \"all ranks' time\" is the time of all these threads.",
                    threads);
    rfn_report_sentence(out, report, &text, INDENT);
}

/* Times of two ranks may be those of different iterations: receives before their sends show by how
 * much, and a logical clock would only move them further. Where nothing was replaced there is
 * nothing to say. */
static void append_reduced(struct rfn_text *out, const struct rfn_report *report,
                           const struct rfn_verdict *verdict)
{
    const struct rfn_run_reduction *reduction = &report->run->reduction;
    struct rfn_text text = {0};
    if (reduction->representatives >= reduction->executions)
        return;
    rfn_text_string(&text, "Times are those of similar iterations: single waits are approximate");
    if (verdict->clocks_disagree)
        rfn_text_format(&text, ", by %s and more",
                        rfn_time_text(report->waits->matching.backward_max_ns).text);
    rfn_text_string(&text, " (refrain info --variation).");
    rfn_report_sentence(out, report, &text, INDENT);
}

double rfn_report_recording_share(const struct rfn_report *report)
{
    const double recording = (double)report->profile->recording_ns;
    return report->efficiency.all_ns > 0 ? recording / (double)report->efficiency.all_ns : 0;
}

/* The recorder has changed the run by more than a little. */
static void append_own_work(struct rfn_text *out, const struct rfn_report *report)
{
    enum { MUCH_PERCENT = 5 };
    struct rfn_text text = {0};
    const struct rfn_measured run = rfn_report_measured(report);
    const double share = rfn_report_recording_share(report);
    if (share < MUCH_PERCENT / 100.0 || rfn_measured_is_nothing(&run))
        return;
    rfn_text_format(
        &text,
        "Recording took %s of the ranks' time: without it the run would be shorter, and "
        "waits may be different. Allow it more memory (refrain record --memory), or "
        "leave out calls (--exclude).",
        rfn_share_text(share).text);
    rfn_report_sentence(out, report, &text, INDENT);
}

static void append_predicted(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    rfn_text_string(&text, "Predicted: ");
    rfn_predicted_append(&text, report->run);
    rfn_text_char(&text, '.');
    rfn_report_sentence(out, report, &text, INDENT);
}

/* A sentence, if there is something to say. */
static void append_if_any(struct rfn_text *out, const struct rfn_report *report,
                          void (*append)(struct rfn_text *, const struct rfn_archive *))
{
    struct rfn_text text = {0};
    append(&text, report->archive);
    if (text.n)
        rfn_text_char(&text, '.');
    if (text.n)
        rfn_report_sentence(out, report, &text, INDENT);
    rfn_text_release(&text);
}

static void append_forced(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    rfn_text_string(&text, "Merged: ");
    rfn_forced_append(&text, report->run);
    rfn_text_string(&text, ": messages, waits and causes below are approximate.");
    rfn_report_sentence(out, report, &text, INDENT);
}

/* Where clocks disagree by so much that it matters, what follows is not to be trusted. */
static void append_clocks(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_matching *m = &report->waits->matching;
    struct rfn_text text = {0};
    rfn_text_format(&text,
                    "The clocks of ranks disagree: %s ended before the send began, by up to %s. "
                    "The causes below may be wrong; --fix-clocks repairs that.",
                    m->backward == 1 ? "a receive" : "receives",
                    rfn_time_text(m->backward_max_ns).text);
    rfn_report_sentence(out, report, &text, INDENT);
}

/* Where ranks have no core of their own, waiting for one looks like slow calls and late ranks; but
 * not in a prediction, which may be for another machine. For runs of which it was not measured. */
static void append_crowding(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    if (rfn_archive_run(report->archive)->predicted)
        return;
    if (rfn_crowding_append(&text, report->archive)) {
        rfn_text_string(&text, ": some of the time below may be waiting for a core.");
        rfn_report_sentence(out, report, &text, INDENT);
    }
    out->failed |= text.failed;
}

static void append_disturbance(struct rfn_text *out, const struct rfn_report *report,
                               const struct rfn_measured *run)
{
    const struct rfn_disturbance disturbance = rfn_disturbance_of(run);
    struct rfn_text text = {0};
    if (rfn_report_share(report, disturbance.ns) < RFN_TRIFLE)
        return;
    rfn_disturbance_append(&text, run, &disturbance);
    rfn_report_sentence(out, report, &text, INDENT);
}

/* ---- causes ---- */

/* What takes time where waiting does not. */
static void append_busiest(struct rfn_text *text, const struct rfn_report *report,
                           const struct rfn_verdict *verdict)
{
    const struct rfn_profile_row *row = verdict->busiest;
    if (row) {
        const struct rfn_activity activity = {.kind = RFN_ACTIVITY_MPI,
                                              .at = {row->function, row->path}};
        rfn_text_format(
            text, " The largest time in MPI calls without waiting is %s: ",
            rfn_share_text(rfn_report_share(report, (int64_t)verdict->busiest_ns)).text);
        rfn_activity_append(text, report->archive, &activity);
        rfn_text_char(text, '.');
    } else if (report->efficiency.parallel >= 0.5) {
        rfn_text_string(text, " Most of the time is the program's own computing.");
    }
}

static void append_no_waits(struct rfn_text *text, const struct rfn_report *report,
                            const struct rfn_verdict *verdict)
{
    uint32_t missing = rfn_report_missing(report);
    const struct rfn_measured run = rfn_report_measured(report);
    double share = rfn_report_share(report, rfn_measured_waits_ns(&run));
    if (report->run->ranks == 1)
        rfn_text_string(text, "A single rank has no other rank to wait for.");
    else if (missing + 1 == report->run->ranks)
        rfn_text_string(
            text, "How long this rank waited for others is not known without the other ranks.");
    else if (report->ranks || report->call_path)
        rfn_text_string(text, "None of the selected causes costs more than " TRIFLE_TEXT
                              " of all ranks' time.");
    else if (share < RFN_TRIFLE && verdict->has_unseen_waits)
        rfn_text_format(text, "Waits are found in only %s of all ranks' time.",
                        rfn_share_text(share).text);
    else if (share < RFN_TRIFLE)
        rfn_text_format(text, "%s wait for each other only %s of their time.",
                        missing ? "The ranks in this archive" : "Ranks",
                        rfn_share_text(share).text);
    else
        rfn_text_format(text,
                        "Ranks wait for each other during %s of their time, but no single cause "
                        "costs more than %s.",
                        rfn_share_text(share).text, TRIFLE_TEXT);
}

/* The first story with the same advice; `of`, if none before has it. */
static size_t first_with_advice(const struct rfn_measured *run, const struct rfn_stories *stories,
                                const char *advice, size_t of)
{
    for (size_t i = 0; i < of; i++) {
        struct rfn_text text = {0};
        rfn_story_advice(&text, run, stories, &stories->stories[i]);
        bool same = strcmp(rfn_text_terminated(&text), advice) == 0;
        rfn_text_release(&text);
        if (same)
            return i;
    }
    return of;
}

/* Each advice once. */
static void append_advice(struct rfn_text *line, const struct rfn_measured *run,
                          const struct rfn_stories *stories, size_t of)
{
    struct rfn_text advice = {0};
    rfn_story_advice(&advice, run, stories, &stories->stories[of]);
    const char *words = rfn_text_terminated(&advice);
    size_t first = first_with_advice(run, stories, words, of);
    if (first < of)
        rfn_text_format(line, " The advice of %zu applies here, too.", first + 1);
    else
        rfn_text_format(line, " %s", words);
    line->failed |= advice.failed;
    rfn_text_release(&advice);
}

/* What the stories cost for which there is no room. */
static void append_more(struct rfn_text *out, const struct rfn_report *report,
                        const struct rfn_measured *run, const struct rfn_stories *stories,
                        size_t shown)
{
    struct rfn_text text = {0};
    double ns = 0;
    for (size_t i = shown; i < stories->n; i++)
        ns += (double)stories->stories[i].ns;
    rfn_text_format(&text, "%zu more problem%s %s of all ranks' time: --csv=stories lists all.",
                    stories->n - shown, stories->n - shown == 1 ? " costs" : "s cost",
                    rfn_share_text(rfn_measured_share(run, ns)).text);
    rfn_report_sentence(out, report, &text, INDENT);
}

static size_t lines_of(const struct rfn_text *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->n; i++)
        lines += text->data[i] == '\n';
    return lines;
}

static void append_story(struct rfn_text *out, const struct rfn_report *report,
                         const struct rfn_measured *run, const struct rfn_stories *stories,
                         size_t number)
{
    struct rfn_text line = {0};
    rfn_text_format(out, "%s%zu.%s ", report->colors ? RFN_NUMBER : "", number + 1,
                    report->colors ? RFN_PLAIN : "");
    rfn_story_append(&line, run, stories, &stories->stories[number]);
    append_advice(&line, run, stories, number);
    rfn_report_append_without(&line, report, number);
    rfn_report_sentence(out, report, &line, INDENT);
}

/* The stories that a screen of so many lines has room for, the first one in any case. Where there
 * are few, the page says why. */
static void append_stories(struct rfn_text *out, const struct rfn_report *report,
                           const struct rfn_measured *run, const struct rfn_verdict *verdict,
                           size_t screen)
{
    double unexplained = rfn_report_share(report, report->waits->unexplained_ns);
    bool all = !report->ranks && !report->call_path;
    struct rfn_stories stories;
    struct rfn_text text = {0};
    if (rfn_report_stories_init(&stories, report, run) < 0) {
        out->failed = true;
        return;
    }
    const size_t n = stories.n;
    size_t shown = 0;
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const size_t before = out->n;
        append_story(out, report, run, &stories, i);
        if (i > 0 && lines_of(out) + (i + 1 < n) > screen) {
            out->n = before;
            break;
        }
        shown++;
    }
    if (n > shown)
        append_more(out, report, run, &stories, shown);
    rfn_stories_release(&stories);
    if (n > shown || n >= SHOWN)
        return;
    if (n == 0)
        append_no_waits(&text, report, verdict);
    else
        rfn_text_string(&text, verdict->has_unseen_waits
                                   ? "No other wait that is measured costs more than " TRIFLE_TEXT
                                     " of all ranks' time."
                                   : "No other cause of waiting costs more than " TRIFLE_TEXT
                                     " of all ranks' time.");
    if (all && unexplained >= RFN_TRIFLE)
        rfn_text_format(&text, " Waiting without a known cause takes %s.",
                        rfn_share_text(unexplained).text);
    if (all && n == 0 && !verdict->blames_busiest && !rfn_report_is_blind(report))
        append_busiest(&text, report, verdict);
    rfn_report_sentence(out, report, &text, INDENT);
}

/* ---- start and end ---- */

/* What ranks did that others waited for in MPI_Finalize most; NULL: hardly anything, or it is told
 * with the other waits. */
static const struct rfn_cause *late_to_end(const struct rfn_report *report)
{
    for (size_t i = 0; i < report->waits->n_causes && !report->profile->end_counts; i++) {
        const struct rfn_cause *cause = &report->waits->causes[i];
        if (cause->pattern == RFN_WAIT_AT_FINALIZE && cause->n_ranks &&
            cause->activity < report->waits->n_activities)
            return rfn_report_share(report, cause->total_ns) >= RFN_TRIFLE ? cause : NULL;
    }
    return NULL;
}

/* Efficiency and stories are about the main part of the run. How long it was, where start and end
 * are no trifle. */
static void append_ends(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    int64_t start_ns = profile->main_from_ns - profile->start_ns,
            end_ns = profile->end_ns - profile->main_to_ns;
    const struct rfn_cause *late = late_to_end(report);
    struct rfn_text text = {0};
    if ((double)(start_ns + end_ns) < ENDS * (double)(profile->end_ns - profile->start_ns))
        return;
    const struct rfn_measured run = rfn_report_measured(report);
    rfn_text_format(&text, "Starting MPI took %s and ending it %s", rfn_time_text(start_ns).text,
                    rfn_time_text(end_ns).text);
    if (!rfn_measured_is_nothing(&run))
        rfn_text_format(&text, "; the rest of this page is about the %s between",
                        rfn_time_text(profile->main_to_ns - profile->main_from_ns).text);
    rfn_text_char(&text, '.');
    if (late && !report->ranks && !report->call_path) {
        rfn_text_string(&text, " In MPI_Finalize ranks wait for ");
        rfn_late_ranks_append(&text, late->ranks, late->n_ranks, report->waits->n_ranks);
        rfn_text_format(&text, ", %s in all: ", rfn_time_text(late->total_ns).text);
        rfn_activity_append(&text, report->archive, &report->waits->activities[late->activity]);
        rfn_text_char(&text, '.');
    }
    rfn_report_sentence(out, report, &text, INDENT);
}

void rfn_report_head(struct rfn_text *out, const struct rfn_report *report)
{
    append_run(out, report);
    const size_t before = lines_of(out);
    const bool knows_cores = rfn_report_cores(out, report);
    const size_t screen = SCREEN + lines_of(out) - before; /* that line takes no story's place */
    if (report->run->predicted)
        append_predicted(out, report);
    append_if_any(out, report, rfn_aggregation_append);
    if (report->run->forced)
        append_forced(out, report);
    if (report->ranks)
        append_absent(out, report);
    if (report->profile->region)
        append_region(out, report);
    if (!rfn_report_has_waits(report)) {
        append_no_times(out, report);
        return;
    }
    const struct rfn_measured run = rfn_report_measured(report);
    const struct rfn_verdict verdict = rfn_verdict_of(&run);
    struct rfn_text text = {0};
    rfn_verdict_append(&text, &run, &verdict);
    rfn_report_sentence(out, report, &text, INDENT);
    append_threads(out, report);
    append_own_work(out, report);
    if (!report->profile->region)
        append_ends(out, report);
    if (report->run->reduced)
        append_reduced(out, report, &verdict);
    else if (verdict.clocks_disagree)
        append_clocks(out, report);
    if (!knows_cores)
        append_crowding(out, report);
    append_disturbance(out, report, &run);
    if (!rfn_measured_is_nothing(&run))
        append_stories(out, report, &run, &verdict, screen);
}
