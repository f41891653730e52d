/* report_head.c - the five lines that answer why the program is slow: what ran and how long, how
 * efficiently, and the three causes that cost most, each with advice. */
#include "cli/activity_text.h"
#include "cli/advice.h"
#include "cli/findings.h"
#include "cli/report.h"
#include "cli/units.h"
#include "cli/verdict.h"
#include "cli/wrap.h"

enum { SHOWN = 3, INDENT = 3 };

#define TRIFLE      0.005 /* of all ranks' time: causes that cost less are not worth a line */
#define TRIFLE_TEXT "0.5 %"

static void append_sentence(struct rfn_text *out, const struct rfn_report *report,
                            struct rfn_text *sentence, size_t indent)
{
    rfn_text_wrap(out, sentence, report->width, indent);
    rfn_text_release(sentence);
}

/* ---- run time and efficiency ---- */

static void append_run(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    struct rfn_text text = {0};
    rfn_text_printable(&text, report->run->program ? report->run->program : "?");
    rfn_text_format(&text, " on %u rank%s", report->run->ranks, report->run->ranks == 1 ? "" : "s");
    if (profile->times)
        rfn_text_format(&text, " ran for %s.",
                        rfn_time_text(profile->end_ns - profile->start_ns).text);
    else
        rfn_text_string(&text, ": how long it ran is not known.");
    append_sentence(out, report, &text, INDENT);
}

static void append_efficiency(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_losses losses = rfn_losses_of(report);
    struct rfn_text text = {0};
    rfn_text_format(&text,
                    "Parallel efficiency %s: ", rfn_share_text(report->efficiency.parallel).text);
    rfn_verdict_append(&text, report->efficiency.parallel, &losses);
    rfn_text_char(&text, '.');
    append_sentence(out, report, &text, INDENT);
}

/* ---- causes ---- */

/* " as late sender in exchange() [halo.c:88] and 2 more" */
static void append_wait(struct rfn_text *text, const struct rfn_report *report,
                        const struct rfn_finding *finding)
{
    rfn_text_format(text, " as %s in ", rfn_pattern_words(finding->pattern));
    rfn_call_site_place(text, report->archive, finding->waited);
    if (finding->sites > 1)
        rfn_text_format(text, " and %zu more", finding->sites - 1);
    rfn_text_string(text, ". ");
}

static void append_finding(struct rfn_text *out, const struct rfn_report *report,
                           const struct rfn_finding *finding, size_t number)
{
    const struct rfn_activity *activity = rfn_report_activity(report, finding->activity);
    uint32_t n_all = report->waits->n_ranks;
    struct rfn_text text = {0};
    rfn_late_ranks_append(&text, finding->ranks, finding->n_ranks, n_all);
    rfn_text_char(&text, ' ');
    rfn_activity_append(&text, report->archive, activity);
    rfn_text_format(&text, " costs %s of all ranks' time (%s),",
                    rfn_share_text(rfn_report_share(report, finding->ns)).text,
                    rfn_time_text(finding->ns).text);
    append_wait(&text, report, finding);
    rfn_text_string(&text, rfn_advice(finding->pattern, activity->kind,
                                      rfn_call_site_class(report->archive, activity->at),
                                      rfn_lateness_of(finding->ranks, finding->n_ranks, n_all)));
    rfn_text_format(out, "%zu. ", number);
    append_sentence(out, report, &text, INDENT);
}

/* The call path outside of setup with most time, less what was waited there. */
static const struct rfn_profile_row *busiest_row(const struct rfn_report *report, int64_t *busy)
{
    const struct rfn_profile_row *busiest = NULL;
    *busy = 0;
    for (size_t i = 0; i < report->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &report->profile->rows[i];
        int64_t ns = row->time.total_ns;
        if (ns <= *busy || rfn_report_setup(report, row))
            continue;
        for (size_t j = 0; j < report->waits->n_rows; j++) {
            const struct rfn_wait_row *wait = &report->waits->rows[j];
            if (wait->function == row->function && wait->path == row->path)
                ns -= wait->total_ns;
        }
        if (ns > *busy) {
            *busy = ns;
            busiest = row;
        }
    }
    return busiest;
}

/* What takes time where waiting does not. */
static void append_busiest(struct rfn_text *text, const struct rfn_report *report)
{
    int64_t busy;
    const struct rfn_profile_row *row = busiest_row(report, &busy);
    if (!row || rfn_report_share(report, busy) < TRIFLE) {
        rfn_text_string(text, " What takes the time is the program's own computing.");
        return;
    }
    const struct rfn_activity activity = {.kind = RFN_ACTIVITY_MPI,
                                          .at = {row->function, row->path}};
    rfn_text_format(text, " Most of the other time in MPI, %s, is spent ",
                    rfn_share_text(rfn_report_share(report, busy)).text);
    rfn_activity_append(text, report->archive, &activity);
    rfn_text_char(text, '.');
}

static void append_no_waits(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    int64_t ns = report->waits->total_ns;
    if (report->run->ranks == 1)
        rfn_text_string(&text, "One rank alone waits for no other.");
    else if (report->ranks || report->call_path)
        rfn_text_string(&text, "None of the causes asked for costs more than " TRIFLE_TEXT
                               " of all ranks' time.");
    else if (rfn_report_share(report, ns) < TRIFLE)
        rfn_text_format(&text, "Ranks hardly wait for each other: %s of their time.",
                        rfn_share_text(rfn_report_share(report, ns)).text);
    else
        rfn_text_format(&text,
                        "Ranks wait for each other during %s of their time, but no single cause "
                        "costs more than %s.",
                        rfn_share_text(rfn_report_share(report, ns)).text, TRIFLE_TEXT);
    if (!report->ranks && !report->call_path)
        append_busiest(&text, report);
    append_sentence(out, report, &text, INDENT);
}

static void append_rest(struct rfn_text *out, const struct rfn_report *report)
{
    double unexplained = rfn_report_share(report, report->waits->unexplained_ns);
    struct rfn_text text = {0};
    rfn_text_string(&text, "Nothing else that ranks wait for costs more than " TRIFLE_TEXT
                           " of their time.");
    if (unexplained >= TRIFLE && !report->ranks && !report->call_path)
        rfn_text_format(&text, " Of %s it is not known what for.",
                        rfn_share_text(unexplained).text);
    append_sentence(out, report, &text, INDENT);
}

static void append_findings(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_findings findings;
    size_t n = 0;
    if (rfn_findings_init(&findings, report, SHOWN) < 0) {
        out->failed = true;
        return;
    }
    while (n < findings.n && rfn_report_share(report, findings.findings[n].ns) >= TRIFLE) {
        append_finding(out, report, &findings.findings[n], n + 1);
        n++;
    }
    if (n == 0)
        append_no_waits(out, report);
    else if (n < SHOWN)
        append_rest(out, report);
    rfn_findings_release(&findings);
}

/* ---- all five ---- */

static void append_no_times(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    rfn_text_string(&text, "Efficiency and waits need times, and this archive has none (it was "
                           "recorded with --time=none): only counts and bytes follow.");
    append_sentence(out, report, &text, INDENT);
}

void rfn_report_head(struct rfn_text *out, const struct rfn_report *report)
{
    append_run(out, report);
    if (!rfn_report_has_waits(report)) {
        append_no_times(out, report);
        return;
    }
    append_efficiency(out, report);
    append_findings(out, report);
}
