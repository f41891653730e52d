/* report_waits.c - wait states, what causes them, the critical path, and what could not be joined.
 *
 * Rows are numbers; what they are about stands below them, where there is room for call paths. On
 * narrow pages the least important columns are left out.
 */
#include "cli/report/report.h"
#include "cli/text/table.h"
#include "cli/text/wrap.h"

#include <stdio.h>
#include <stdlib.h>

enum { NOTE_INDENT = 6 };

/* A line of a note, which is released. */
static void note_line(struct rfn_text *note, const struct rfn_report *report, struct rfn_text *line)
{
    rfn_text_wrap(note, line, report->width - NOTE_INDENT, 2);
    rfn_text_release(line);
}

static void path_line(struct rfn_text *note, const struct rfn_report *report,
                      struct rfn_call_site site)
{
    struct rfn_text line = {0};
    rfn_text_string(&line, "in ");
    rfn_call_site_path(&line, report->archive, site, report->width - NOTE_INDENT - 3);
    note_line(note, report, &line);
}

/* ---- wait states ---- */

static void order_line(struct rfn_text *note, const struct rfn_report *report, int64_t ns)
{
    struct rfn_text line = {0};
    rfn_text_format(
        &line,
        "up to %s of it in wrong order: other messages lay there, and the ranks computed "
        "after receiving them",
        rfn_time_text(ns).text);
    note_line(note, report, &line);
}

static struct rfn_quantity share_of(const struct rfn_report *report, enum rfn_pattern pattern,
                                    int64_t ns)
{
    return rfn_report_waits_at_ends(report, pattern) ? (struct rfn_quantity){"-"}
                                                     : rfn_share_text(rfn_report_share(report, ns));
}

static void wait_row(struct rfn_table *table, const struct rfn_report *report,
                     const struct rfn_shown_wait *shown)
{
    const struct rfn_wait_row *row = shown->row;
    uint32_t longest = UINT32_MAX; /* the rank asked for that waits longest */
    char rank[16] = "";
    struct rfn_text note = {0};
    for (uint32_t i = 0; i < report->waits->n_ranks; i++) {
        if (rfn_report_shows_rank(report, i) &&
            (longest == UINT32_MAX || row->ns_by_rank[i] > row->ns_by_rank[longest]))
            longest = i;
    }
    if (longest != UINT32_MAX)
        snprintf(rank, sizeof rank, "rank %u", longest);
    const struct rfn_quantity time = rfn_time_text(shown->ns),
                              share = share_of(report, row->pattern, shown->ns);
    if (report->ranks) /* counts are known of all ranks together only */
        rfn_table_row(table, "%s\t%s\t%s\t%s", time.text, share.text, rank,
                      rfn_pattern_words(row->pattern));
    else
        rfn_table_row(table, "%s\t%s\t%s\t%s\t%s\t%s", time.text, share.text,
                      rfn_count_text(row->count).text, rfn_time_text(row->max_ns).text, rank,
                      rfn_pattern_words(row->pattern));
    path_line(&note, report, (struct rfn_call_site){row->function, row->path});
    if (row->wrong_order_ns > 0)
        order_line(&note, report, row->wrong_order_ns);
    rfn_table_note(table, &note);
}

static void append_wait_states(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_table table;
    size_t n;
    struct rfn_shown_wait *shown = rfn_report_shown_waits(report, &n);
    out->failed |= !shown;
    rfn_table_init(&table, report->ranks ? "rrll" : "rrrrll",
                   report->ranks ? "time\tshare\tmost\tpattern"
                                 : "time\tshare\twaits\tlongest\tmost\tpattern");
    for (size_t i = 0; i < n && i < report->top; i++)
        wait_row(&table, report, &shown[i]);
    free(shown);
    rfn_text_string(out, n ? "\nWhere do ranks wait? Wait states"
                           : "\nWhere do ranks wait? Wait states: none");
    rfn_report_of_ranks(out, report);
    rfn_report_end_title(out, report, n);
    rfn_table_fit(&table, report->width, (const unsigned[]){3, 2}, report->ranks ? 0 : 2);
    rfn_table_print(&table, NOTE_INDENT, n ? out : NULL);
}

/* ---- causes ---- */

static void cause_row(struct rfn_table *table, const struct rfn_report *report,
                      const struct rfn_cause *cause)
{
    struct rfn_text late = {0}, note = {0};
    rfn_table_row(table, "%s\t%s\t%s\t%s\t%s", rfn_time_text(cause->total_ns).text,
                  share_of(report, cause->pattern, cause->total_ns).text,
                  rfn_time_text(cause->direct_ns).text,
                  rfn_time_text(cause->total_ns - cause->direct_ns).text,
                  rfn_pattern_words(cause->pattern));
    rfn_late_ranks_append(&late, cause->ranks, cause->n_ranks, report->waits->n_ranks);
    rfn_text_char(&late, ' ');
    rfn_activity_append(&late, report->archive, rfn_report_activity(report, cause->activity));
    note_line(&note, report, &late);
    path_line(&note, report, cause->waited);
    rfn_table_note(table, &note);
}

static void append_causes(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_waits *waits = report->waits;
    struct rfn_table table;
    struct rfn_text text = {0};
    size_t n = 0;
    rfn_table_init(&table, "rrrrl", "time\tshare\tdirect\tindirect\tpattern");
    for (size_t i = 0; i < waits->n_causes; i++) {
        if (rfn_report_shows_cause(report, &waits->causes[i]) && n++ < report->top)
            cause_row(&table, report, &waits->causes[i]);
    }
    if (n) {
        rfn_text_string(out, "\nWho made them wait? Causes: who was late doing what, where others "
                             "waited");
        rfn_report_end_title(out, report, n);
        rfn_table_fit(&table, report->width, (const unsigned[]){3, 2}, 2);
    }
    rfn_table_print(&table, NOTE_INDENT, n ? out : NULL);
    if (waits->unexplained_ns <= 0 || report->ranks || report->call_path)
        return;
    rfn_text_format(&text,
                    "%s of waiting, %s of all ranks' time, has no known cause: collective calls "
                    "being completed, or something missing.",
                    rfn_time_text(waits->unexplained_ns).text,
                    rfn_share_text(rfn_report_share(report, waits->unexplained_ns)).text);
    rfn_text_spaces(out, 2);
    rfn_report_sentence(out, report, &text, 2);
}

/* ---- the critical path ---- */

static void append_critical_path(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_waits *waits = report->waits;
    double length = (double)waits->critical_ns;
    struct rfn_table table;
    size_t n = 0;
    rfn_table_init(&table, "rrrr", "time\tshare\tmean of ranks\timbalance");
    for (size_t i = 0; i < waits->n_critical; i++) {
        const struct rfn_critical_row *row = &waits->critical[i];
        struct rfn_text note = {0}, line = {0};
        if (!rfn_report_shows_activity(report, row->activity) || n++ >= report->top)
            continue;
        rfn_table_row(&table, "%s\t%s\t%s\t%s", rfn_time_text(row->ns).text,
                      rfn_share_text(length > 0 ? (double)row->ns / length : 0).text,
                      rfn_time_text((int64_t)row->mean_ns).text,
                      rfn_time_text((int64_t)row->imbalance_ns).text);
        rfn_activity_append(&line, report->archive, rfn_report_activity(report, row->activity));
        note_line(&note, report, &line);
        rfn_table_note(&table, &note);
    }
    if (n) {
        rfn_text_format(out,
                        "\nWhich path decides the run time? Critical path: %s, ends on rank %u",
                        rfn_time_text(waits->critical_ns).text, waits->critical_rank);
        rfn_report_end_title(out, report, n);
    }
    rfn_table_print(&table, NOTE_INDENT, n ? out : NULL);
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

static void append_matching(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_matching *m = &report->waits->matching;
    const char *what = report->run->reduced ? "reduced times of ranks do not fit together"
                                            : "clocks of ranks disagree";
    struct rfn_text text = {0};
    append_messages(&text, m);
    append_collectives(&text, m);
    if (m->backward)
        rfn_text_format(&text, " %s %s before the send began, by up to %s: %s%s",
                        rfn_count_text(m->backward).text,
                        m->backward == 1 ? "receive ended" : "receives ended",
                        rfn_time_text(m->backward_max_ns).text, what,
                        m->fixed               ? ", repaired by a logical clock."
                        : report->run->reduced ? "."
                                               : "; --fix-clocks repairs that by a logical clock.");
    rfn_text_string(out, "\nMatching: ");
    rfn_report_sentence(out, report, &text, 2);
}

void rfn_report_waits(struct rfn_text *out, const struct rfn_report *report)
{
    if (rfn_report_has_waits(report)) {
        append_wait_states(out, report);
        append_causes(out, report);
        if (!report->profile->region) /* it leads through all of the run */
            append_critical_path(out, report);
    }
    append_matching(out, report);
}
