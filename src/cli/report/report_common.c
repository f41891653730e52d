/* report_common.c - what the parts of the report share. */
#include "cli/report/report.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"
#include "cli/text/wrap.h"
#include "refrain/event.h"

#include <stdio.h>

bool rfn_report_setup(const struct rfn_report *report, const struct rfn_profile_row *row)
{
    return rfn_archive_function(report->archive, row->function)->class_ == RFN_CLASS_SETUP;
}

double rfn_report_share(const struct rfn_report *report, int64_t ns)
{
    double all = (double)report->efficiency.all_ns;
    return all > 0 ? (double)ns / all : 0;
}

bool rfn_report_waits_at_ends(const struct rfn_report *report, enum rfn_pattern pattern)
{
    const struct rfn_measured run = rfn_report_measured(report);
    return !rfn_measured_counts(&run, pattern);
}

double rfn_report_balance(const struct rfn_spread *time)
{
    const double mean = time->ranks ? (double)time->total_ns / time->ranks : 0;
    return time->max_ns > 0 ? mean / (double)time->max_ns : 1;
}

bool rfn_report_has_waits(const struct rfn_report *report)
{
    return report->waits->times && report->efficiency.all_ns > 0;
}

uint32_t rfn_report_missing(const struct rfn_report *report)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < report->profile->n_ranks; i++)
        missing += report->profile->ranks[i].threads == 0;
    return missing;
}

struct rfn_quantity rfn_report_volume(const struct rfn_report *report, uint64_t volume)
{
    bool ns = strcmp(report->run->volume_unit, "ns") == 0 && volume <= INT64_MAX;
    return ns ? rfn_time_text((int64_t)volume) : rfn_count_text(volume);
}

void rfn_report_end_title(struct rfn_text *out, const struct rfn_report *report, size_t n)
{
    struct rfn_text title = {0};
    size_t start = out->n;
    if (n > report->top)
        rfn_text_format(out, " (%zu of %zu; --all shows all)", report->top, n);
    while (start > 0 && out->data[start - 1] != '\n')
        start--;
    rfn_text_bytes(&title, out->data + start, out->n - start);
    out->n = start;
    if (report->colors)
        rfn_text_string(out, RFN_BOLD);
    rfn_text_wrap(out, &title, report->width, 2);
    if (report->colors && !out->failed) {
        out->n--; /* the end of the line */
        rfn_text_string(out, RFN_PLAIN "\n");
    }
    rfn_text_release(&title);
}

void rfn_report_of_ranks(struct rfn_text *out, const struct rfn_report *report)
{
    for (size_t i = 0; report->ranks && i < report->ranks->n; i++) {
        const struct rfn_rank_range *range = &report->ranks->ranges[i];
        bool several = report->ranks->n > 1 || range->first != range->last;
        rfn_text_string(out, i ? "," : several ? " of ranks " : " of rank ");
        rfn_text_unsigned(out, range->first);
        if (range->last != range->first)
            rfn_text_format(out, "-%u", range->last);
    }
}

void rfn_report_sentence(struct rfn_text *out, const struct rfn_report *report,
                         struct rfn_text *sentence, size_t indent)
{
    rfn_text_wrap(out, sentence, report->width, indent);
    rfn_text_release(sentence);
}

void rfn_report_path_note(struct rfn_table *table, const struct rfn_report *report, uint32_t path)
{
    struct rfn_text line = {0}, note = {0};
    rfn_call_path_short(&line, report->archive, path, report->width - 6);
    rfn_text_wrap(&note, &line, report->width - 6, 2);
    rfn_table_note(table, &note);
    rfn_text_release(&line);
}

void rfn_report_size_cell(struct rfn_table *table, unsigned bin)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char text[80];
    if (bin <= 1)
        snprintf(text, sizeof text, "%u B", bin);
    else if (bin <= 10)
        snprintf(text, sizeof text, "%u - %u B", 1u << (bin - 1), (1u << bin) - 1);
    else
        snprintf(text, sizeof text, "from %u %s", 1u << (bin - 1) % 10, units[(bin - 1) / 10]);
    rfn_table_cell(table, text);
}

struct rfn_measured rfn_report_measured(const struct rfn_report *report)
{
    return (struct rfn_measured){report->archive, report->profile, report->waits,
                                 report->efficiency, report->usage};
}

int rfn_report_stories_init(struct rfn_stories *stories, const struct rfn_report *report,
                            const struct rfn_measured *run)
{
    const struct rfn_cause_choice choice = {rfn_report_shows_cause, report};
    return rfn_stories_init(stories, run, report->ranks || report->call_path ? &choice : NULL);
}
