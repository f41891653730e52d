/* report_head.c - the five lines that answer why the program is slow: what ran and how long, how
 * efficiently, and the three causes that cost most, each with advice. */
#include "cli/activity_text.h"
#include "cli/advice.h"
#include "cli/findings.h"
#include "cli/hosts.h"
#include "cli/reduction.h"
#include "cli/report.h"
#include "cli/units.h"
#include "cli/verdict.h"
#include "cli/wrap.h"
#include "refrain/event.h"

enum { SHOWN = 3, INDENT = 3 };

#define TRIFLE      0.005 /* of all ranks' time: causes that cost less are not worth a line */
#define TRIFLE_TEXT "0.5 %"

#define BETWEEN_POLLS 0.05 /* of all ranks' time */
#define UNEVEN        0.1  /* of all ranks' time: that much idles while one rank computes */

static void append_sentence(struct rfn_text *out, const struct rfn_report *report,
                            struct rfn_text *sentence, size_t indent)
{
    rfn_text_wrap(out, sentence, report->width, indent);
    rfn_text_release(sentence);
}

/* ---- MPI calls that do not wait ---- */

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

/* "polling in MPI_Testany, update() [gups.c:457]" */
static void append_row(struct rfn_text *text, const struct rfn_report *report,
                       const struct rfn_profile_row *row)
{
    const struct rfn_activity activity = {.kind = RFN_ACTIVITY_MPI,
                                          .at = {row->function, row->path}};
    rfn_activity_append(text, report->archive, &activity);
}

/* The call that the line on efficiency names, and what it takes without waiting: where most is lost
 * in calls that do not wait. NULL: none. */
static const struct rfn_profile_row *blamed_row(const struct rfn_report *report, int64_t *busy)
{
    const struct rfn_losses losses = rfn_losses_of(report);
    const struct rfn_profile_row *row = busiest_row(report, busy);
    bool worth = row && rfn_report_share(report, *busy) >= TRIFLE;
    return worth && rfn_verdict_blames_calls(report->efficiency.parallel, &losses) ? row : NULL;
}

/* Most is lost in calls that do not wait, but work is uneven, and what is known to wait is less
 * than half of what that must cost: then calls wait in ways that are no wait state, as for a root
 * that comes late and takes large data. */
static bool has_unseen_waits(const struct rfn_report *report)
{
    const struct rfn_efficiency *e = &report->efficiency;
    const struct rfn_losses losses = rfn_losses_of(report);
    double idle = (double)(e->max_outside_ns - e->mean_outside_ns) * report->profile->n_ranks;
    int64_t busy;
    return blamed_row(report, &busy) && !losses.missing && !losses.threads &&
           idle >= UNEVEN * (double)e->all_ns && losses.uneven + losses.others < idle / 2;
}

/* ---- run time and efficiency ---- */

/* ", of which 3 are here" */
static void append_present(struct rfn_text *text, const struct rfn_report *report)
{
    uint32_t missing = rfn_report_missing(report), present = report->profile->n_ranks - missing;
    if (missing && !present)
        rfn_text_string(text, ", of which none is here");
    else if (missing)
        rfn_text_format(text, ", of which %u %s here", present, present == 1 ? "is" : "are");
}

/* " until rank 2 called MPI_Abort in main() [app.c:12]" */
static void append_abort(struct rfn_text *text, const struct rfn_report *report)
{
    for (size_t i = 0; i < report->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &report->profile->rows[i];
        const struct rfn_call_site site = {row->function, row->path};
        if (strcmp(rfn_call_site_function(report->archive, site), "MPI_Abort") != 0)
            continue;
        rfn_text_format(text, " until rank %u called MPI_Abort in ", row->time.min_rank);
        rfn_call_site_place(text, report->archive, site);
        return;
    }
}

static void append_run(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    struct rfn_text text = {0};
    rfn_text_printable(&text, report->run->program ? report->run->program : "?");
    rfn_text_format(&text, " on %u rank%s", report->run->ranks, report->run->ranks == 1 ? "" : "s");
    append_present(&text, report);
    if (rfn_report_has_waits(report)) {
        rfn_text_format(&text, "%s ran for %s", rfn_report_missing(report) ? "," : "",
                        rfn_time_text(profile->end_ns - profile->start_ns).text);
        append_abort(&text, report);
        rfn_text_char(&text, '.');
    } else {
        rfn_text_string(&text, ": how long it ran is not known.");
    }
    append_sentence(out, report, &text, INDENT);
}

/* Ranks were asked for, and of none of them there is anything. */
static void append_absent(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    for (uint32_t i = 0; i < report->profile->n_ranks; i++) {
        if (rfn_report_shows_rank(report, i) && report->profile->ranks[i].threads)
            return;
    }
    rfn_text_string(&text, "Nothing");
    rfn_report_of_ranks(&text, report);
    rfn_text_string(&text, " is here.");
    append_sentence(out, report, &text, INDENT);
}

/* Whoever sleeps or spins between polls counts as busy: where that is much, it is told. */
static void append_between_polls(struct rfn_text *text, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    const struct rfn_profile_row *most = NULL;
    double sum = 0;
    for (size_t i = 0; i < profile->n_rows; i++) {
        const struct rfn_profile_row *row = &profile->rows[i];
        sum += (double)row->between_polls_ns;
        if (!most || row->between_polls_ns > most->between_polls_ns)
            most = row;
    }
    double share = sum / (double)report->efficiency.all_ns;
    if (!most || share < BETWEEN_POLLS)
        return;
    rfn_text_format(
        text, " Of all ranks' time %s counts as computing, but lies between unsuccessful polls (",
        rfn_share_text(share).text);
    const struct rfn_call_site site = {most->function, most->path};
    rfn_text_printable(text, rfn_call_site_function(report->archive, site));
    rfn_text_string(text, ", ");
    rfn_call_site_place(text, report->archive, site);
    rfn_text_string(text, "), where ranks may just wait.");
}

static void append_unseen(struct rfn_text *text, const struct rfn_report *report)
{
    const struct rfn_efficiency *e = &report->efficiency;
    rfn_text_format(text,
                    " But outside of MPI rank %u is busy %.2f times as long as the mean, of which "
                    "little is seen as waits: these calls may wait for it, as MPI_Reduce and "
                    "MPI_Gather do with large data when their root comes late.",
                    e->max_outside_rank, 1 / e->load_balance);
}

/* A completion takes so long, on average, that data moves in it, rather than while ranks compute.
 */
enum { MOVING_NS = 100000 };

/* Ranks compute between two calls, and what nonblocking calls began moves in the second. */
static bool moves_in_completions(const struct rfn_report *report, const struct rfn_profile_row *row,
                                 int64_t busy)
{
    const struct rfn_call_site site = {row->function, row->path};
    return rfn_call_site_class(report->archive, site) == RFN_CLASS_COMPLETION &&
           !rfn_call_site_polls(report->archive, site) && row->calls > 0 &&
           (double)busy >= (double)MOVING_NS * (double)row->calls;
}

static void append_efficiency(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_losses losses = rfn_losses_of(report);
    int64_t busy;
    const struct rfn_profile_row *row = blamed_row(report, &busy);
    struct rfn_text text = {0};
    rfn_text_format(
        &text, "Parallel efficiency%s %s: ", losses.missing ? " of the ranks that are here" : "",
        rfn_share_text(report->efficiency.parallel).text);
    rfn_verdict_append(&text, report->efficiency.parallel, &losses);
    if (row) {
        rfn_text_string(&text, ": ");
        append_row(&text, report, row);
        rfn_text_format(&text, " alone takes %s",
                        rfn_share_text(rfn_report_share(report, busy)).text);
    }
    rfn_text_char(&text, '.');
    if (has_unseen_waits(report))
        append_unseen(&text, report);
    else if (row && moves_in_completions(report, row, busy))
        rfn_text_string(&text, " Many MPIs move large data only while ranks are in MPI: to move it "
                               "while they compute, call MPI_Test now and then, or let MPI have a "
                               "thread for that.");
    append_between_polls(&text, report);
    append_sentence(out, report, &text, INDENT);
}

/* Receives before their sends are worth a word: in all they are more than a trifle. */
static bool is_backward(const struct rfn_report *report)
{
    const struct rfn_matching *m = &report->waits->matching;
    double all = (double)report->efficiency.all_ns;
    return !m->fixed && (double)m->backward * (double)m->backward_max_ns >= TRIFLE * all;
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
    append_sentence(out, report, &text, INDENT);
}

/* Where ranks have no core of their own, waiting for one looks like slow calls and late ranks. */
static void append_crowding(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_hosts hosts;
    struct rfn_text text = {0};
    size_t crowded = 0;
    if (rfn_hosts_init(&hosts, report->archive) < 0) {
        out->failed = true;
        return;
    }
    const struct rfn_host *most = rfn_hosts_crowded(&hosts, &crowded);
    if (most) {
        rfn_text_format(&text, "%u ranks share the %u core%s of ", most->ranks, most->cores,
                        most->cores == 1 ? "" : "s");
        rfn_text_printable(&text, most->name);
        if (crowded > 1)
            rfn_text_format(&text, ", and on %zu more host%s they share, too", crowded - 1,
                            crowded == 2 ? "" : "s");
        rfn_text_string(&text, ": waiting for a core looks like slow calls and late ranks, so some "
                               "of the causes below may be the machine's.");
        append_sentence(out, report, &text, INDENT);
    }
    rfn_hosts_release(&hosts);
}

/* ---- causes ---- */

/* What others wait for meanwhile, several or one; the name of the pattern is the one in the tables.
 */
struct waiting {
    const char *several, *one; /* NULL: the same */
    bool root;                 /* it is the root that waits */
};

static const struct waiting *waiting_in(enum rfn_pattern pattern)
{
    static const struct waiting words[] = {
        [RFN_LATE_SENDER] = {.several = "for messages (late sender)"},
        [RFN_LATE_RECEIVER] = {.several = "until their messages are received (late receiver)",
                               .one = "until its messages are received (late receiver)"},
        [RFN_WRONG_ORDER] = {.several = "for messages in wrong order"},
        [RFN_EARLY_REDUCE] = {.several = "for data (early reduce)", .root = true},
        [RFN_WAIT_AT_NX1] = {.several = "for the last rank's data (wait at N x 1)", .root = true},
        [RFN_LATE_BROADCAST] = {.several = "for the root's data (late broadcast)"},
        [RFN_WAIT_AT_NXN] = {.several = "for the last rank (wait at N x N)"},
        [RFN_NXN_COMPLETION] = {.several = "until all have data (N x N completion)"},
        [RFN_WAIT_AT_BARRIER] = {.several = "at the barrier"},
        [RFN_BARRIER_COMPLETION] = {.several = "until the barrier is over"},
        [RFN_EARLY_SCAN] = {.several = "for the ranks before them (early scan)",
                            .one = "for the ranks before it (early scan)"},
        [RFN_WAIT_AT_INIT] = {.several = "at the start (wait at init)"},
        [RFN_WAIT_AT_FINALIZE] = {.several = "at the end (wait at finalize)"},
        [RFN_EARLY_FENCE] = {.several = "at the fence (early fence)"},
        [RFN_LATE_POST] = {.several = "until a window may be used (late post)"},
        [RFN_EARLY_WAIT] = {.several = "until their window is not used any more (early wait)",
                            .one = "until its window is not used any more (early wait)"},
        [RFN_LOCK_CONTENTION] = {.several = "for the lock (lock contention)"}};
    static const struct waiting unknown = {.several = ""};
    bool known = (size_t)pattern < sizeof words / sizeof *words && words[pattern].several;
    return known ? &words[pattern] : &unknown;
}

/* "rank 1 waits until its messages are received (late receiver)" */
static void append_others_wait(struct rfn_text *text, const struct rfn_finding *finding)
{
    const struct waiting *words = waiting_in(finding->pattern);
    bool alone = finding->waiting != RFN_SEVERAL_RANKS && !words->root;
    if (alone)
        rfn_text_format(text, "rank %u waits ", finding->waiting);
    else
        rfn_text_string(text, words->root ? "the root waits " : "others wait ");
    rfn_text_string(text, alone && words->one ? words->one : words->several);
}

static bool same_site(struct rfn_call_site a, struct rfn_call_site b)
{
    return a.function == b.function && a.path == b.path;
}

/* ": others wait for messages (late sender) in exchange() [halo.c:88] and 2 more places. " */
static void append_wait(struct rfn_text *text, const struct rfn_report *report,
                        const struct rfn_finding *finding, const struct rfn_activity *activity)
{
    rfn_text_string(text, ": ");
    append_others_wait(text, finding);
    rfn_text_string(text, " in ");
    if (activity->kind == RFN_ACTIVITY_MPI && same_site(activity->at, finding->waited))
        rfn_text_string(text, "the same call");
    else
        rfn_call_site_place(text, report->archive, finding->waited);
    if (finding->sites > 1)
        rfn_text_format(text, " and %zu more place%s", finding->sites - 1,
                        finding->sites == 2 ? "" : "s");
    rfn_text_string(text, ". ");
}

/* Waits as short as a message takes on a network: not each is to blame, but their number. */
enum { SHORT_NS = 10000, MANY = 1000 };

/* Of the call and pattern that a finding names; the number of its waits goes to *count. */
static int64_t mean_wait(const struct rfn_report *report, const struct rfn_finding *finding,
                         uint64_t *count)
{
    for (size_t i = 0; i < report->waits->n_rows; i++) {
        const struct rfn_wait_row *row = &report->waits->rows[i];
        const struct rfn_call_site site = {row->function, row->path};
        if (row->pattern == finding->pattern && row->count && same_site(site, finding->waited)) {
            *count = row->count;
            return row->total_ns / (int64_t)(row->count < INT64_MAX ? row->count : INT64_MAX);
        }
    }
    *count = 0;
    return 0;
}

/* Whether those that are late compute no longer in all than the mean. */
static bool computes_no_more(const struct rfn_report *report, const struct rfn_finding *finding)
{
    const double mean = (double)report->efficiency.mean_outside_ns;
    for (uint32_t i = 0; i < rfn_late_ranks(finding->ranks, finding->n_ranks); i++) {
        const struct rfn_profile_rank *of = &report->profile->ranks[finding->ranks[i].rank];
        if (of->threads > 1 || (double)rfn_profile_outside_ns(of) * RFN_BALANCED > mean)
            return false;
    }
    return true;
}

static enum rfn_lateness lateness_of(const struct rfn_report *report,
                                     const struct rfn_finding *finding)
{
    enum rfn_lateness lateness = rfn_lateness_of(finding->ranks, finding->n_ranks,
                                                 report->waits->n_ranks);
    return lateness != RFN_LATE_ALIKE && computes_no_more(report, finding) ? RFN_LATE_EVEN
                                                                           : lateness;
}

static void append_advice(struct rfn_text *text, const struct rfn_report *report,
                          const struct rfn_finding *finding, const struct rfn_activity *activity)
{
    uint64_t count;
    int64_t mean = mean_wait(report, finding, &count);
    const struct rfn_advised doing = {
        .kind = activity->kind,
        .class_ = rfn_call_site_class(report->archive, activity->at),
        .collective = rfn_call_site_collective(report->archive, activity->at),
        .polls = rfn_activity_polls(report->archive, activity)};
    if (count >= MANY && mean < SHORT_NS)
        rfn_text_format(text,
                        "These waits are short, %s on average, but many: communicate less often, "
                        "with more data at a time, or have several messages under way.",
                        rfn_time_text(mean).text);
    else
        rfn_text_string(text, rfn_advice(finding->pattern, doing, lateness_of(report, finding),
                                         rfn_report_missing(report) > 0));
    if (doing.kind == RFN_ACTIVITY_COMPUTE && finding->n_ranks > 0 &&
        report->profile->ranks[finding->ranks[0].rank].threads > 1)
        rfn_text_format(text, " Rank %u has several threads, and may wait for one of them there.",
                        finding->ranks[0].rank);
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
    rfn_text_format(&text, " costs %s of all ranks' time (%s of %s)",
                    rfn_share_text(rfn_report_share(report, finding->ns)).text,
                    rfn_time_text(finding->ns).text, rfn_time_text(report->efficiency.all_ns).text);
    append_wait(&text, report, finding, activity);
    append_advice(&text, report, finding, activity);
    rfn_text_format(out, "%zu. ", number);
    append_sentence(out, report, &text, INDENT);
}

/* What takes time where waiting does not. */
static void append_busiest(struct rfn_text *text, const struct rfn_report *report)
{
    int64_t busy;
    const struct rfn_profile_row *row = busiest_row(report, &busy);
    if (!row || rfn_report_share(report, busy) < TRIFLE) {
        if (report->efficiency.parallel >= 0.5)
            rfn_text_string(text, " What takes the time is the program's own computing.");
        return;
    }
    rfn_text_format(text, " Most of the other time in MPI, %s, is spent ",
                    rfn_share_text(rfn_report_share(report, busy)).text);
    append_row(text, report, row);
    rfn_text_char(text, '.');
}

static void append_unexplained(struct rfn_text *text, const struct rfn_report *report)
{
    double unexplained = rfn_report_share(report, report->waits->unexplained_ns);
    if (unexplained >= TRIFLE && !report->ranks && !report->call_path)
        rfn_text_format(text, " Of %s it is not known what for.", rfn_share_text(unexplained).text);
}

static void append_no_waits(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    uint32_t missing = rfn_report_missing(report);
    int64_t ns = report->waits->total_ns, busy;
    if (report->run->ranks == 1)
        rfn_text_string(&text, "One rank alone waits for no other.");
    else if (missing + 1 == report->run->ranks)
        rfn_text_string(&text, "Of one rank alone it is not known how long it waited for others.");
    else if (report->ranks || report->call_path)
        rfn_text_string(&text, "None of the causes asked for costs more than " TRIFLE_TEXT
                               " of all ranks' time.");
    else if (rfn_report_share(report, ns) < TRIFLE && has_unseen_waits(report))
        rfn_text_format(&text, "Wait states are found in %s of all ranks' time only.",
                        rfn_share_text(rfn_report_share(report, ns)).text);
    else if (rfn_report_share(report, ns) < TRIFLE)
        rfn_text_format(&text, "%s hardly wait for each other: %s of their time.",
                        missing ? "The ranks that are here" : "Ranks",
                        rfn_share_text(rfn_report_share(report, ns)).text);
    else
        rfn_text_format(&text,
                        "Ranks wait for each other during %s of their time, but no single cause "
                        "costs more than %s.",
                        rfn_share_text(rfn_report_share(report, ns)).text, TRIFLE_TEXT);
    append_unexplained(&text, report);
    if (!report->ranks && !report->call_path && !blamed_row(report, &busy))
        append_busiest(&text, report);
    append_sentence(out, report, &text, INDENT);
}

static void append_rest(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    rfn_text_string(&text, has_unseen_waits(report)
                               ? "Nothing else that is seen as waits costs more than " TRIFLE_TEXT
                                 " of all ranks' time."
                               : "Nothing else that ranks wait for costs more than " TRIFLE_TEXT
                                 " of their time.");
    append_unexplained(&text, report);
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
    rfn_text_string(&text, "Efficiency and waits need times, and ");
    rfn_text_string(&text, report->profile->times
                               ? "nothing that has times is here."
                               : "this archive has none (it was recorded with --time=none): only "
                                 "counts and bytes follow.");
    append_sentence(out, report, &text, INDENT);
}

/* What follows from times is approximate. Times of two ranks may be those of different iterations:
 * receives before their sends show by how much, and a logical clock would only move them further.
 */
static void append_reduced(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    rfn_text_string(&text, "Reduced: ");
    rfn_reduction_append(&text, report->run);
    rfn_text_string(&text, ", so that waits and causes are approximate");
    if (is_backward(report))
        rfn_text_format(&text, ", single waits by %s and more",
                        rfn_time_text(report->waits->matching.backward_max_ns).text);
    rfn_text_string(&text, ". How far single times differ: refrain info --variation.");
    append_sentence(out, report, &text, INDENT);
}

static void append_forced(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text text = {0};
    rfn_text_string(&text, "Merged: ");
    rfn_forced_append(&text, report->run);
    rfn_text_string(&text, ": what follows of messages, waits and causes is approximate.");
    append_sentence(out, report, &text, INDENT);
}

void rfn_report_head(struct rfn_text *out, const struct rfn_report *report)
{
    append_run(out, report);
    if (report->run->forced)
        append_forced(out, report);
    if (report->ranks)
        append_absent(out, report);
    if (!rfn_report_has_waits(report)) {
        append_no_times(out, report);
        return;
    }
    if (report->run->reduced)
        append_reduced(out, report);
    append_efficiency(out, report);
    if (is_backward(report) && !report->run->reduced)
        append_clocks(out, report);
    append_crowding(out, report);
    append_findings(out, report);
}
