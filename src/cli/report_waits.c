/* report_waits.c - wait states, what causes them, the critical path, and what could not be joined.
 *
 * Rows are numbers; what they are about stands below them, where there is room for call paths. On
 * narrow pages the least important columns are left out.
 */
#include "cli/report.h"
#include "cli/table.h"
#include "cli/wrap.h"
#include "refrain/explain.h"

#include <stdio.h>
#include <stdlib.h>

enum { NOTE_INDENT = 6 };

static void share_cells(struct rfn_table *table, int64_t ns, double share)
{
    rfn_table_cell(table, rfn_time_text(ns).text);
    rfn_table_cell(table, rfn_share_text(share).text);
}

static size_t note_width(const struct rfn_report *report)
{
    return report->width - NOTE_INDENT;
}

static void path_line(struct rfn_text *note, const struct rfn_report *report,
                      struct rfn_call_site site)
{
    struct rfn_text line = {0};
    rfn_text_string(&line, "in ");
    rfn_call_site_path(&line, report->archive, site, note_width(report) - 3);
    rfn_text_wrap(note, &line, note_width(report), 2);
    rfn_text_release(&line);
}

/* line: what stands before; is released. */
static void activity_line(struct rfn_text *note, const struct rfn_report *report, uint32_t activity,
                          struct rfn_text *line)
{
    rfn_activity_append(line, report->archive, rfn_report_activity(report, activity));
    rfn_text_wrap(note, line, note_width(report), 2);
    rfn_text_release(line);
}

/* ---- wait states ---- */

/* The rank asked for that waits longest. */
static void longest_cell(struct rfn_table *table, const struct rfn_report *report,
                         const struct rfn_wait_row *row)
{
    uint32_t longest = UINT32_MAX;
    char text[64] = "";
    for (uint32_t i = 0; i < report->waits->n_ranks; i++) {
        if (rfn_report_shows_rank(report, i) &&
            (longest == UINT32_MAX || row->ns_by_rank[i] > row->ns_by_rank[longest]))
            longest = i;
    }
    if (longest != UINT32_MAX)
        snprintf(text, sizeof text, "rank %u", longest);
    rfn_table_cell(table, text);
}

static void wait_row(struct rfn_table *table, const struct rfn_report *report,
                     const struct rfn_wait_row *row, int64_t ns)
{
    struct rfn_text note = {0};
    share_cells(table, ns, rfn_report_share(report, ns));
    if (!report->ranks) { /* known of all ranks together only */
        rfn_table_cell(table, rfn_count_text(row->count).text);
        rfn_table_cell(table, rfn_time_text(row->max_ns).text);
    }
    longest_cell(table, report, row);
    rfn_table_cell(table, rfn_pattern_words(row->pattern));
    path_line(&note, report, (struct rfn_call_site){row->function, row->path});
    rfn_table_note_text(table, &note);
}

static void append_wait_states(struct rfn_text *out, const struct rfn_report *report)
{
    static const char *const names[] = {"time", "share", "waits", "longest", "most", "pattern"};
    struct rfn_table table;
    static const unsigned spare[] = {3, 2};
    bool counts = !report->ranks;
    size_t n;
    struct rfn_shown_wait *shown = rfn_report_shown_waits(report, &n);
    out->failed |= !shown;
    rfn_table_init(&table, counts ? "rrrrll" : "rrll");
    rfn_table_cells(&table, names, 2);
    rfn_table_cells(&table, names + (counts ? 2 : 4), counts ? 4 : 2);
    for (size_t i = 0; i < n && i < report->top; i++)
        wait_row(&table, report, shown[i].row, shown[i].ns);
    free(shown);
    rfn_text_string(out, n ? "\nWait states" : "\nWait states: none");
    rfn_report_of_ranks(out, report);
    rfn_report_end_title(out, report, n);
    rfn_table_fit(&table, report->width, spare, counts ? 2 : 0);
    if (n)
        rfn_table_print(&table, NOTE_INDENT, out);
    rfn_table_release(&table);
}

/* ---- causes ---- */

static void cause_row(struct rfn_table *table, const struct rfn_report *report,
                      const struct rfn_cause *cause)
{
    struct rfn_text late = {0}, note = {0};
    share_cells(table, cause->total_ns, rfn_report_share(report, cause->total_ns));
    rfn_table_cell(table, rfn_time_text(cause->direct_ns).text);
    rfn_table_cell(table, rfn_time_text(cause->total_ns - cause->direct_ns).text);
    rfn_table_cell(table, rfn_pattern_words(cause->pattern));
    rfn_late_ranks_append(&late, cause->ranks, cause->n_ranks, report->waits->n_ranks);
    rfn_text_char(&late, ' ');
    activity_line(&note, report, cause->activity, &late);
    path_line(&note, report, cause->waited);
    rfn_table_note_text(table, &note);
}

static void append_unexplained(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_waits *waits = report->waits;
    struct rfn_text text = {0};
    if (waits->unexplained_ns <= 0 || report->ranks || report->call_path)
        return;
    rfn_text_format(&text,
                    "%s of waiting, %s of all ranks' time, has no known cause: collective calls "
                    "being completed, or something missing.",
                    rfn_time_text(waits->unexplained_ns).text,
                    rfn_share_text(rfn_report_share(report, waits->unexplained_ns)).text);
    rfn_text_spaces(out, 2);
    rfn_text_wrap(out, &text, report->width, 2);
    rfn_text_release(&text);
}

static void append_causes(struct rfn_text *out, const struct rfn_report *report)
{
    static const char *const names[] = {"time", "share", "direct", "indirect", "pattern"};
    struct rfn_table table;
    static const unsigned spare[] = {3, 2};
    size_t n = 0;
    rfn_table_init(&table, "rrrrl");
    rfn_table_cells(&table, names, 5);
    for (size_t i = 0; i < report->waits->n_causes; i++) {
        const struct rfn_cause *cause = &report->waits->causes[i];
        if (rfn_report_shows_cause(report, cause) && n++ < report->top)
            cause_row(&table, report, cause);
    }
    if (n) {
        rfn_text_string(out, "\nCauses: who was late doing what, and in which call others waited");
        rfn_report_end_title(out, report, n);
        rfn_table_fit(&table, report->width, spare, 2);
        rfn_table_print(&table, NOTE_INDENT, out);
    }
    rfn_table_release(&table);
    append_unexplained(out, report);
}

/* ---- the critical path ---- */

static void critical_row(struct rfn_table *table, const struct rfn_report *report,
                         const struct rfn_critical_row *row)
{
    double length = (double)report->waits->critical_ns;
    struct rfn_text note = {0}, line = {0};
    share_cells(table, row->ns, length > 0 ? (double)row->ns / length : 0);
    rfn_table_cell(table, rfn_time_text((int64_t)row->mean_ns).text);
    rfn_table_cell(table, rfn_time_text((int64_t)row->imbalance_ns).text);
    activity_line(&note, report, row->activity, &line);
    rfn_table_note_text(table, &note);
}

static void append_critical_path(struct rfn_text *out, const struct rfn_report *report)
{
    static const char *const names[] = {"time", "share", "mean of ranks", "imbalance"};
    const struct rfn_waits *waits = report->waits;
    struct rfn_table table;
    size_t n = 0;
    rfn_table_init(&table, "rrrr");
    rfn_table_cells(&table, names, 4);
    for (size_t i = 0; i < waits->n_critical; i++) {
        if (rfn_report_shows_activity(report, waits->critical[i].activity) && n++ < report->top)
            critical_row(&table, report, &waits->critical[i]);
    }
    if (n) {
        rfn_text_format(out, "\nCritical path: %s, ends on rank %u",
                        rfn_time_text(waits->critical_ns).text, waits->critical_rank);
        rfn_report_end_title(out, report, n);
        rfn_table_print(&table, NOTE_INDENT, out);
    }
    rfn_table_release(&table);
}

/* ---- matching ---- */

/* ", 12 sends without a receive" */
static void append_count(struct rfn_text *text, uint64_t count, const char *one, const char *many)
{
    if (count)
        rfn_text_format(text, ", %s %s", rfn_count_text(count).text, count == 1 ? one : many);
}

static void append_messages(struct rfn_text *text, const struct rfn_matching *m)
{
    if (!m->messages && !m->unmatched_receives && !m->cancelled && !m->foreign)
        rfn_text_string(text, "no messages");
    else
        rfn_text_format(text, "%s message%s", rfn_count_text(m->messages).text,
                        m->messages == 1 ? "" : "s");
    if (m->messages && m->matched == m->messages && !m->unmatched_sends)
        rfn_text_string(text, m->messages == 1 ? ", matched" : ", all matched");
    else if (m->messages)
        rfn_text_format(text, ", %s of them matched", rfn_count_text(m->matched).text);
    append_count(text, m->unmatched_sends, "send without a receive", "sends without a receive");
    append_count(text, m->unmatched_receives, "receive without a send", "receives without a send");
    append_count(text, m->cancelled, "cancelled", "cancelled");
    append_count(text, m->foreign, "to or from another job", "to or from other jobs");
    rfn_text_string(text, "; ");
}

static void append_collectives(struct rfn_text *text, const struct rfn_matching *m)
{
    uint64_t all = m->collectives + m->unmatched_collectives;
    if (all)
        rfn_text_format(text, "%s collective call%s", rfn_count_text(all).text,
                        all == 1 ? "" : "s");
    else
        rfn_text_string(text, "no collective calls");
    if (all && m->unmatched_collectives == all)
        rfn_text_string(text, ", with ranks missing");
    else if (m->unmatched_collectives)
        rfn_text_format(text, ", %s of them with ranks missing",
                        rfn_count_text(m->unmatched_collectives).text);
    else if (all)
        rfn_text_string(text, all == 1 ? ", matched" : ", all matched");
    rfn_text_char(text, '.');
}

static void append_backward(struct rfn_text *text, const struct rfn_report *report)
{
    const struct rfn_matching *m = &report->waits->matching;
    if (!m->backward)
        return;
    rfn_text_format(text, " %s %s before the send began, by up to %s: %s",
                    rfn_count_text(m->backward).text,
                    m->backward == 1 ? "receive ended" : "receives ended",
                    rfn_time_text(m->backward_max_ns).text,
                    report->run->reduced ? "reduced times of ranks do not fit together"
                                         : "clocks of ranks disagree");
    if (m->fixed)
        rfn_text_string(text, ", repaired by a logical clock.");
    else
        rfn_text_string(
            text, report->run->reduced ? "." : "; --fix-clocks repairs that by a logical clock.");
}

static void append_matching(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_matching *m = &report->waits->matching;
    struct rfn_text text = {0};
    append_messages(&text, m);
    append_collectives(&text, m);
    append_backward(&text, report);
    rfn_text_string(out, "\nMatching: ");
    rfn_text_wrap(out, &text, report->width, 2);
    rfn_text_release(&text);
}

void rfn_report_waits(struct rfn_text *out, const struct rfn_report *report)
{
    if (rfn_report_has_waits(report)) {
        append_wait_states(out, report);
        append_causes(out, report);
        append_critical_path(out, report);
    }
    append_matching(out, report);
}
