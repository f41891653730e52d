/* two_runs.c - two runs side by side, as text: the answer in a sentence, what the runs are, sums,
 * what costs time, call paths and regions. */
#include "cli/compare/compare.h"
#include "cli/text/hosts.h"
#include "cli/text/run_text.h"
#include "cli/text/table.h"
#include "cli/text/wrap.h"

#include <stdio.h>
#include <stdlib.h>

enum { INDENT = 3, NOTE_INDENT = 6 };

/* ---- quantities ---- */

static struct rfn_quantity with_sign(bool less, struct rfn_quantity size)
{
    struct rfn_quantity text;
    snprintf(text.text, sizeof text.text, "%c%.30s", less ? '-' : '+', size.text);
    return text;
}

static struct rfn_quantity plain(const char *words)
{
    struct rfn_quantity text;
    snprintf(text.text, sizeof text.text, "%s", words);
    return text;
}

/* "-1.07 s"; "same" */
static struct rfn_quantity time_change(double by_ns)
{
    int64_t ns = (int64_t)(by_ns < 0 ? 0.5 - by_ns : 0.5 + by_ns);
    return ns ? with_sign(by_ns < 0, rfn_time_text(ns)) : plain("same");
}

static struct rfn_quantity count_change(uint64_t a, uint64_t b,
                                        struct rfn_quantity (*text)(uint64_t))
{
    return a == b ? plain("same") : with_sign(b < a, text(b < a ? a - b : b - a));
}

static struct rfn_quantity points(double a, double b)
{
    double by = 100 * (b - a);
    struct rfn_quantity text;
    snprintf(text.text, sizeof text.text, "%+.1f points", by);
    return by > -0.05 && by < 0.05 ? plain("same") : text;
}

/* ---- what the runs are ---- */

static void append_sentence(struct rfn_text *out, const struct rfn_compare_options *given,
                            struct rfn_text *sentence, size_t indent)
{
    rfn_text_wrap(out, sentence, given->width, indent);
    rfn_text_release(sentence);
}

static void append_hosts(struct rfn_text *text, const struct rfn_archive *archive)
{
    size_t n;
    struct rfn_host *hosts = rfn_hosts_of(archive, &n);
    text->failed |= !hosts;
    rfn_text_string(text, n ? " of " : "");
    if (hosts && n == 1)
        rfn_text_printable(text, hosts[0].name);
    else if (hosts && n)
        rfn_text_format(text, "%zu hosts", n);
    free(hosts);
}

void rfn_compare_file_append(struct rfn_text *text, const char *file,
                             const struct rfn_compared_run *run)
{
    const struct rfn_archive *archive = run->measured.archive;
    const struct rfn_run *about = rfn_archive_run(archive);
    rfn_text_printable(text, file);
    rfn_text_string(text, ": ");
    rfn_text_printable(text, about->program ? about->program : "?");
    rfn_text_format(text, " on %u rank%s", run->ranks, run->ranks == 1 ? "" : "s");
    append_hosts(text, archive);
    rfn_text_string(text, about->mpi ? "; " : "");
    if (about->mpi)
        rfn_mpi_append(text, about);
    if (about->predicted) {
        rfn_text_string(text, "; ");
        rfn_predicted_append(text, about);
    }
    if (!run->times)
        rfn_text_string(text, "; without times");
    if (about->reduced) {
        rfn_text_string(text, "; ");
        rfn_reduction_append(text, about);
    }
}

/* One run twice: the user may want to know what reducing lost. */
static bool is_one_run(const struct rfn_compared_runs *compared)
{
    const struct rfn_run *a = rfn_archive_run(compared->runs[0].measured.archive);
    const struct rfn_run *b = rfn_archive_run(compared->runs[1].measured.archive);
    return a->start_realtime_ns && a->start_realtime_ns == b->start_realtime_ns &&
           a->reduced != b->reduced;
}

/* What limits the comparison. */
static void append_notes(struct rfn_text *out, const struct rfn_compare_options *given,
                         const struct rfn_compared_runs *compared)
{
    struct rfn_text text = {0};
    for (unsigned i = 0; i < 2; i++)
        rfn_compare_cores_append(&text, i ? "B" : "A", &compared->runs[i]);
    rfn_compare_cores_print(out, given, &text);
    rfn_compare_conditions_print(out, given, compared->runs);
    if (compared->other_programs || compared->nothing_common) {
        rfn_text_string(&text, compared->other_programs ? "The programs have different names"
                                                        : "The programs have one name");
        rfn_text_string(&text, compared->nothing_common
                                   ? ", and the runs have no call path in common."
                                   : "; call paths are matched by the names of functions.");
        append_sentence(out, given, &text, INDENT);
    }
    if (is_one_run(compared)) {
        rfn_text_string(&text, "Both are of one run: refrain compare --reduction tells what "
                               "reducing loses.");
        append_sentence(out, given, &text, INDENT);
    }
}

static void append_runs(struct rfn_text *out, const struct rfn_compare_options *given,
                        const struct rfn_compared_runs *compared)
{
    rfn_text_char(out, '\n');
    for (unsigned i = 0; i < 2; i++) {
        struct rfn_text text = {0};
        rfn_text_format(out, "%c  ", i ? 'B' : 'A');
        rfn_compare_file_append(&text, given->files[i], &compared->runs[i]);
        append_sentence(out, given, &text, INDENT);
    }
}

/* ---- sums ---- */

static void time_row(struct rfn_table *table, const char *what, double a, double b)
{
    rfn_table_row(table, "%s\t%s\t%s\t%s", what, rfn_time_text((int64_t)(a + 0.5)).text,
                  rfn_time_text((int64_t)(b + 0.5)).text, time_change(b - a).text);
}

static void share_row(struct rfn_table *table, const char *what, double a, double b)
{
    rfn_table_row(table, "%s\t%s\t%s\t%s", what, rfn_share_text(a).text, rfn_share_text(b).text,
                  points(a, b).text);
}

static void count_row(struct rfn_table *table, const char *what, uint64_t a, uint64_t b,
                      struct rfn_quantity (*text)(uint64_t))
{
    rfn_table_row(table, "%s\t%s\t%s\t%s", what, text(a).text, text(b).text,
                  count_change(a, b, text).text);
}

static void time_rows(struct rfn_table *table, const struct rfn_compared_run *a,
                      const struct rfn_compared_run *b)
{
    static const char *const spendings[RFN_SPENDINGS] = {
        "  computing", "  waiting", "  in MPI otherwise", "  in Init and Finalize",
        "  before and after them"};
    const struct rfn_efficiency *before = &a->measured.efficiency, *after = &b->measured.efficiency;
    time_row(table, "run time", (double)a->run_ns, (double)b->run_ns);
    rfn_table_row(table, "of a rank on average\t\t\t");
    for (int i = 0; i < RFN_SPENDINGS; i++)
        time_row(table, spendings[i], a->spent_ns[i], b->spent_ns[i]);
    share_row(table, "parallel efficiency", before->parallel, after->parallel);
    share_row(table, "  load balance", before->load_balance, after->load_balance);
    share_row(table, "  communication", before->communication, after->communication);
}

static void append_sums(struct rfn_text *out, const struct rfn_compared_runs *compared)
{
    const struct rfn_compared_run *a = &compared->runs[0], *b = &compared->runs[1];
    struct rfn_table table;
    rfn_table_init(&table, "lrrr", "\tA\tB\tchange");
    count_row(&table, "ranks", a->ranks, b->ranks, rfn_count_text);
    if (a->times && b->times)
        time_rows(&table, a, b);
    count_row(&table, "MPI calls", a->calls, b->calls, rfn_count_text);
    count_row(&table, "messages", a->messages, b->messages, rfn_count_text);
    count_row(&table, "bytes in messages", a->sent_bytes, b->sent_bytes, rfn_bytes_text);
    count_row(&table, "bytes of collectives", a->collective_bytes, b->collective_bytes,
              rfn_bytes_text);
    rfn_text_char(out, '\n');
    rfn_table_print(&table, 2, out);
}

/* ---- what costs time ---- */

/* Where one finding stands for several: what they cost together. */
static void append_alike(struct rfn_text *text, const struct rfn_measured *run, uint32_t n,
                         int64_t ns)
{
    if (n > 1)
        rfn_text_format(text, " With %u more in calls of the same functions, %s (%s).", n - 1,
                        rfn_share_text(rfn_measured_share(run, (double)ns)).text,
                        rfn_time_text(ns).text);
}

static void append_finding(struct rfn_text *text, const struct rfn_compared_runs *compared,
                           const struct rfn_finding_change *change)
{
    static const char *const words[] = {
        [RFN_CHANGE_NONE] = "as in A",   [RFN_CHANGE_MORE] = "more in B",
        [RFN_CHANGE_LESS] = "less in B", [RFN_CHANGE_RANK] = "another rank in B",
        [RFN_CHANGE_GONE] = "only in A", [RFN_CHANGE_CAME] = "only in B"};
    const struct rfn_finding *before = change->of[0], *after = change->of[1];
    const struct rfn_measured *a = &compared->runs[0].measured, *b = &compared->runs[1].measured;
    rfn_text_format(text, "%s: ", words[change->change]);
    if (after) {
        rfn_finding_append(text, b, after);
        append_alike(text, b, change->n[1], change->ns[1]);
    } else {
        rfn_finding_append(text, a, before);
        append_alike(text, a, change->n[0], change->ns[0]);
    }
    if (!before || !after)
        return;
    rfn_text_format(text, " In A %s (%s of %s): ",
                    rfn_share_text(rfn_measured_share(a, (double)change->ns[0])).text,
                    rfn_time_text(change->ns[0]).text, rfn_time_text(a->efficiency.all_ns).text);
    rfn_late_ranks_append(text, before->ranks, before->n_ranks, a->waits->n_ranks);
    rfn_text_format(text, ", %s.", rfn_pattern_words(before->pattern));
}

/* A title, and how many of all rows are shown. */
static void append_title(struct rfn_text *out, const struct rfn_compare_options *given,
                         const char *title, size_t shown, size_t n)
{
    struct rfn_text text = {0};
    rfn_text_string(&text, title);
    if (shown < n)
        rfn_text_format(&text, " (%zu of %zu; --all shows all)", shown, n);
    rfn_text_char(out, '\n');
    append_sentence(out, given, &text, 2);
}

static bool shows_finding(const struct rfn_compare_options *given,
                          const struct rfn_finding_change *change)
{
    return given->all || change->change != RFN_CHANGE_NONE;
}

static void append_findings(struct rfn_text *out, const struct rfn_compare_options *given,
                            const struct rfn_compared_runs *compared)
{
    size_t n = 0, shown = 0;
    for (size_t i = 0; i < compared->n_findings; i++)
        n += shows_finding(given, &compared->findings[i]);
    n = n < given->top ? n : given->top;
    if (!compared->n_findings)
        return;
    append_title(out, given,
                 n || !given->top ? "What costs time and differs"
                                  : "What costs time does not differ",
                 n, compared->n_findings);
    for (size_t i = 0; i < compared->n_findings && shown < n; i++) {
        struct rfn_text text = {0};
        if (!shows_finding(given, &compared->findings[i]))
            continue;
        shown++;
        rfn_text_spaces(out, 2);
        append_finding(&text, compared, &compared->findings[i]);
        append_sentence(out, given, &text, NOTE_INDENT);
    }
}

/* ---- call paths and regions ---- */

static bool have_times(const struct rfn_compared_runs *compared)
{
    return compared->runs[0].times && compared->runs[1].times;
}

static bool is_trifle(const struct rfn_compared_runs *compared, double by_ns)
{
    double least = RFN_TRIFLE * (double)compared->runs[0].run_ns;
    return by_ns > -least && by_ns < least;
}

static bool shows_call(const struct rfn_compare_options *given,
                       const struct rfn_compared_runs *compared, const struct rfn_call_change *call)
{
    if (given->all)
        return true;
    if (have_times(compared))
        return !is_trifle(compared, call->by_ns);
    return call->of[0].bytes != call->of[1].bytes || call->of[0].calls != call->of[1].calls;
}

/* Times are those of all ranks together where both runs have as many, else of a rank on average. */
static bool is_together(const struct rfn_compared_runs *compared)
{
    return compared->runs[0].present == compared->runs[1].present;
}

static double shown_ns(const struct rfn_compared_runs *compared, unsigned run, int64_t ns)
{
    return is_together(compared) ? (double)ns : rfn_of_a_rank(&compared->runs[run], (double)ns);
}

/* Two cells, A's and B's: "-" for what is not there. */
static void pair_cells(struct rfn_table *table, bool a, struct rfn_quantity before, bool b,
                       struct rfn_quantity after)
{
    rfn_table_cell(table, a ? before.text : "-");
    rfn_table_cell(table, b ? after.text : "-");
}

static void time_cells(struct rfn_table *table, const struct rfn_compared_runs *compared, bool a,
                       int64_t before, bool b, int64_t after)
{
    double first = shown_ns(compared, 0, before), second = shown_ns(compared, 1, after);
    pair_cells(table, a, rfn_time_text((int64_t)(first + 0.5)), b,
               rfn_time_text((int64_t)(second + 0.5)));
    rfn_table_cell(table, time_change(second - first).text);
}

static void call_row(struct rfn_table *table, const struct rfn_compare_options *given,
                     const struct rfn_compared_runs *compared, const struct rfn_call_change *call)
{
    const struct rfn_call_sum *a = &call->of[0], *b = &call->of[1];
    unsigned there = b->ranks > 0;
    size_t width = given->width - NOTE_INDENT;
    struct rfn_text line = {0}, note = {0};
    if (have_times(compared)) {
        double wait = shown_ns(compared, 1, b->wait_ns) - shown_ns(compared, 0, a->wait_ns);
        time_cells(table, compared, a->ranks, a->ns, b->ranks, b->ns);
        rfn_table_cell(table, time_change(wait).text);
    }
    pair_cells(table, a->ranks, rfn_count_text(a->calls), b->ranks, rfn_count_text(b->calls));
    pair_cells(table, a->ranks, rfn_bytes_text(a->bytes), b->ranks, rfn_bytes_text(b->bytes));
    rfn_call_site_path(&line, compared->runs[there].measured.archive, call->of[there].site, width);
    rfn_text_wrap(&note, &line, width, 2);
    rfn_table_note(table, &note);
    rfn_text_release(&line);
}

static void append_calls(struct rfn_text *out, const struct rfn_compare_options *given,
                         const struct rfn_compared_runs *compared)
{
    static const unsigned may_hide[] = {7, 6, 3, 5, 4}; /* bytes, waiting, calls */
    size_t n = 0;
    struct rfn_table table;
    bool times = have_times(compared);
    rfn_table_init(&table, times ? "rrrrrrrr" : "rrrr",
                   times ? "A\tB\tchange\twaiting\tcalls A\tcalls B\tbytes A\tbytes B"
                         : "calls A\tcalls B\tbytes A\tbytes B");
    for (size_t i = 0; i < compared->n_calls && n < given->top; i++) {
        if (!shows_call(given, compared, &compared->calls[i]))
            continue;
        n++;
        call_row(&table, given, compared, &compared->calls[i]);
    }
    if (!n) {
        rfn_table_print(&table, 0, NULL);
        return;
    }
    append_title(out, given,
                 !times                  ? "Call paths that differ"
                 : is_together(compared) ? "Call paths that differ most, all ranks together"
                                         : "Call paths that differ most, a rank on average",
                 n, compared->n_calls);
    rfn_table_fit(&table, given->width, may_hide, sizeof may_hide / sizeof *may_hide);
    rfn_table_print(&table, NOTE_INDENT, out);
}

static void append_regions(struct rfn_text *out, const struct rfn_compare_options *given,
                           const struct rfn_compared_runs *compared)
{
    size_t n = 0;
    struct rfn_table table;
    rfn_table_init(&table, "rrrrrl", "A\tB\tchange\tvisits A\tvisits B\tregion");
    for (size_t i = 0; i < compared->n_regions && n < given->top; i++) {
        const struct rfn_region_row *a = compared->regions[i].of[0],
                                    *b = compared->regions[i].of[1];
        if (!given->all && is_trifle(compared, compared->regions[i].by_ns))
            continue;
        n++;
        time_cells(&table, compared, a, a ? a->time.total_ns : 0, b, b ? b->time.total_ns : 0);
        pair_cells(&table, a, rfn_count_text(a ? a->visits : 0), b,
                   rfn_count_text(b ? b->visits : 0));
        rfn_table_name(&table, a ? a->name : b->name);
    }
    if (!n || !have_times(compared)) {
        rfn_table_print(&table, 0, NULL);
        return;
    }
    append_title(out, given,
                 is_together(compared) ? "Regions that differ most, all ranks together"
                                       : "Regions that differ most, a rank on average",
                 n, compared->n_regions);
    rfn_table_fit(&table, given->width, (const unsigned[]){4, 3}, 2); /* without visits */
    rfn_table_print(&table, NOTE_INDENT, out);
}

/* ---- the page ---- */

void rfn_compare_two_text(struct rfn_text *out, const struct rfn_compare_options *given,
                          const struct rfn_compared_runs *compared)
{
    struct rfn_text text = {0};
    rfn_compared_runs_append(&text, compared);
    append_sentence(out, given, &text, INDENT);
    append_notes(out, given, compared);
    append_runs(out, given, compared);
    append_sums(out, compared);
    append_findings(out, given, compared);
    append_calls(out, given, compared);
    append_regions(out, given, compared);
}
