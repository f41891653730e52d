/* report_text.c - the page that a performance analyst reads first.
 *
 * The five lines that matter; what ran; efficiency; wait states, causes and the critical path; time
 * per rank; the program's regions; functions; call paths; message sizes and who sends to whom. Init
 * and Finalize stand in a table of their own, so that they do not hide the rest.
 */
#include "cli/activity_text.h"
#include "cli/call_path.h"
#include "cli/children.h"
#include "cli/hosts.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/units.h"
#include "cli/wrap.h"
#include "refrain/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FUNCTIONS_SHOWN = 8 };

/* ---- what the sections share ---- */

bool rfn_report_setup(const struct rfn_report *report, const struct rfn_profile_row *row)
{
    return rfn_archive_function(report->archive, row->function)->class_ == RFN_CLASS_SETUP;
}

double rfn_report_share(const struct rfn_report *report, int64_t ns)
{
    double all = (double)report->efficiency.all_ns;
    return all > 0 ? (double)ns / all : 0;
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
        rfn_text_format(out, " (%zu of %zu; --top %zu shows all)", report->top, n, n);
    while (start > 0 && out->data[start - 1] != '\n')
        start--;
    rfn_text_bytes(&title, out->data + start, out->n - start);
    out->n = start;
    rfn_text_wrap(out, &title, report->width, 2);
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

const char *rfn_report_string(struct rfn_text *text)
{
    rfn_text_char(text, '\0');
    if (text->failed)
        return "?";
    text->n--;
    return text->data;
}

/* ---- header ---- */

/* line: is released. */
static void append_text(struct rfn_text *out, const struct rfn_report *report, const char *name,
                        struct rfn_text *line)
{
    rfn_text_format(out, "%-10s", name);
    rfn_text_wrap(out, line, report->width, 10);
    rfn_text_release(line);
}

static void append_line(struct rfn_text *out, const struct rfn_report *report, const char *name,
                        const char *text)
{
    struct rfn_text line = {0};
    rfn_text_printable(&line, text ? text : "?");
    append_text(out, report, name, &line);
}

/* Up to the first comma: Open MPI goes on with where it was built. */
static void append_mpi(struct rfn_text *out, const struct rfn_report *report)
{
    const char *version = report->run->mpi;
    char text[128];
    snprintf(text, sizeof text, "%.*s", (int)(version ? strcspn(version, ",") : 0),
             version ? version : "");
    append_line(out, report, "MPI", text);
}

static void append_date(struct rfn_text *out, const struct rfn_run *run)
{
    char date[64] = "at an unknown time";
    time_t start = (time_t)(run->start_realtime_ns / 1000000000);
    const struct tm *utc = run->start_realtime_ns > 0 ? gmtime(&start) : NULL;
    if (utc)
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", utc);
    rfn_text_format(out, "%-10s%s by ", "Recorded", date);
    rfn_text_printable(out, run->recorder ? run->recorder : "?");
    rfn_text_char(out, '\n');
}

/* What the program did not let be recorded. */
static void append_pauses(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    double all = (double)report->efficiency.all_ns + (double)profile->unrecorded_ns;
    struct rfn_text line = {0};
    if (profile->times && all > 0)
        rfn_text_format(&line,
                        "%s of the time of all ranks was not recorded (MPI_Pcontrol) and is "
                        "left out below",
                        rfn_share_text((double)profile->unrecorded_ns / all).text);
    else
        rfn_text_string(&line, "a part of the run was not recorded (MPI_Pcontrol)");
    append_text(out, report, "Paused", &line);
}

/* What looks like the program's calls and is the recorder's. */
static void append_meetings(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_run_meetings *before = &report->run->merging.before;
    double span = (double)(report->profile->end_ns - report->profile->start_ns);
    struct rfn_text line = {0};
    rfn_text_format(&line, "in %s meeting%s (--merge-interval): %s on rank 0",
                    rfn_count_text(before->meetings).text, before->meetings == 1 ? "" : "s",
                    rfn_time_text((int64_t)before->ns).text);
    if (span > 0)
        rfn_text_format(&line, " (%s of the run time)",
                        rfn_share_text((double)before->ns / span).text);
    rfn_text_string(&line, ", which are in the calls of all ranks before them");
    append_text(out, report, "Merged", &line);
}

static void append_ranks(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_run *run = report->run;
    struct rfn_text line = {0};
    struct rfn_hosts hosts;
    rfn_text_unsigned(&line, run->ranks);
    if (run->streams > run->ranks)
        rfn_text_format(&line, ", with %u threads that call MPI", run->streams);
    if (rfn_hosts_init(&hosts, report->archive) == 0) {
        rfn_text_string(&line, ", on ");
        rfn_hosts_append(&line, &hosts);
        rfn_hosts_release(&hosts);
    } else {
        line.failed = true;
    }
    append_text(out, report, "Ranks", &line);
}

/* What most call paths lack that a compiler can give. */
static void append_symbols(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    size_t places = 0, functions = 0, lines = 0;
    for (size_t i = 0; i < profile->n_rows; i++) {
        const struct rfn_call_site site = {profile->rows[i].function, profile->rows[i].path};
        struct rfn_location location;
        if (!rfn_call_site_location(report->archive, site, &location))
            continue;
        places++;
        functions += location.function != NULL;
        lines += location.file && location.line;
    }
    if (2 * functions < places)
        append_line(
            out, report, "Symbols",
            "the program has hardly any: compile it with -g and do not strip it, to see its "
            "functions and lines here");
    else if (2 * lines < places)
        append_line(out, report, "Symbols",
                    "the program has hardly any line numbers: compile it with -g to see them here");
}

static void append_run_time(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    struct rfn_text line = {0};
    rfn_text_format(&line, "%s, from the first %s",
                    rfn_time_text(profile->end_ns - profile->start_ns).text,
                    rfn_report_missing(report) ? "to the last event that is here"
                                               : "Init to the last Finalize");
    append_text(out, report, "Run time", &line);
}

static void append_header(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_run *run = report->run;
    const struct rfn_profile *profile = report->profile;
    append_line(out, report, "Program", run->program);
    append_line(out, report, "Command", run->command);
    append_ranks(out, report);
    append_mpi(out, report);
    append_date(out, run);
    append_symbols(out, report);
    rfn_path_ends_line(out, run, 10);
    rfn_children_line(out, report->archive, 10);
    rfn_text_format(out, "%-10s%s", "MPI calls", rfn_count_text(profile->calls).text);
    if (profile->failed_polls)
        rfn_text_format(out, ", %s of them unsuccessful polls",
                        rfn_count_text(profile->failed_polls).text);
    rfn_text_char(out, '\n');
    if (profile->times)
        append_run_time(out, report);
    else
        rfn_text_string(out, "Run time  not known: the archive has no times\n");
    if (profile->paused)
        append_pauses(out, report);
    if (profile->times && run->merging.before.meetings)
        append_meetings(out, report);
}

/* ---- regions ---- */

static void mean_cell(struct rfn_table *table, const struct rfn_spread *spread)
{
    int64_t mean = spread->ranks ? spread->total_ns / spread->ranks : 0;
    rfn_table_cell(table, rfn_time_text(mean).text);
}

static void region_row(struct rfn_table *table, const struct rfn_report *report,
                       const struct rfn_region_row *row)
{
    struct rfn_text name = {0};
    if (report->profile->times) {
        rfn_table_cell(table, rfn_time_text(row->time.total_ns).text);
        rfn_table_cell(table, rfn_share_text(rfn_report_share(report, row->time.total_ns)).text);
        rfn_table_cell(table, rfn_time_text(row->time.min_ns).text);
        mean_cell(table, &row->time);
        rfn_table_cell(table, rfn_time_text(row->time.max_ns).text);
        mean_cell(table, &row->mpi);
    }
    rfn_table_cell(table, rfn_count_text(row->visits).text);
    rfn_table_cell(table, rfn_count_text(row->time.ranks).text);
    rfn_text_printable(&name, row->name);
    rfn_table_text(table, &name);
}

/* Functions that were called too often (refrain record --functions-rate), at most as many as
 * regions are shown. */
static void append_unrecorded(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    size_t shown = 0;
    for (size_t i = 0; i < profile->n_regions && shown < report->top; i++) {
        const struct rfn_region_row *row = &profile->regions[i];
        if (!row->unrecorded)
            continue;
        shown++;
        rfn_text_string(out, "  ");
        rfn_text_printable(out, row->name);
        rfn_text_format(out, ": %s call%s not recorded, as it was called too often\n",
                        rfn_count_text(row->unrecorded).text, row->unrecorded == 1 ? "" : "s");
    }
}

static void append_regions(struct rfn_text *out, const struct rfn_report *report)
{
    static const char *const titles[] = {"time",        "share",  "min",   "mean",  "max",
                                         "mean in MPI", "visits", "ranks", "region"};
    static const unsigned spare[] = {2, 7, 4}; /* min, ranks, max */
    const struct rfn_profile *profile = report->profile;
    bool times = profile->times;
    size_t skipped = times ? 0 : 6;
    size_t shown = profile->n_regions < report->top ? profile->n_regions : report->top;
    struct rfn_table table;
    if (!profile->n_regions)
        return;
    rfn_table_init(&table, times ? "rrrrrrrrl" : "rrl");
    rfn_table_cells(&table, titles + skipped, sizeof titles / sizeof *titles - skipped);
    for (size_t i = 0; i < shown; i++)
        region_row(&table, report, &profile->regions[i]);
    rfn_text_string(out, "\nRegions, with all that is inside; min, mean and max over ranks");
    rfn_report_end_title(out, report, profile->n_regions);
    rfn_table_fit(&table, report->width, spare, times ? 3 : 0);
    rfn_table_print(&table, 2, out);
    rfn_table_release(&table);
    append_unrecorded(out, report);
}

/* ---- functions ---- */

struct sum {
    uint32_t function;
    uint64_t calls, bytes;
    int64_t time_ns;
};

static int by_time(const void *left, const void *right)
{
    const struct sum *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns > b->time_ns ? -1 : 1;
    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

/* Sums per function, most time first; the number of those with calls goes to *n. */
static struct sum *sums_of(const struct rfn_report *report, size_t *n)
{
    uint32_t functions = rfn_archive_functions(report->archive);
    struct sum *sums = calloc((size_t)functions + 1, sizeof *sums);
    *n = 0;
    if (!sums)
        return NULL;
    for (uint32_t i = 0; i < functions; i++)
        sums[i].function = i;
    for (size_t i = 0; i < report->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &report->profile->rows[i];
        struct sum *sum = &sums[row->function];
        if (rfn_report_setup(report, row) ||
            !rfn_report_shows_call(report, row->function, row->path))
            continue;
        *n += sum->calls == 0;
        sum->calls += row->calls;
        sum->bytes += row->bytes;
        sum->time_ns += row->time.total_ns;
    }
    qsort(sums, functions, sizeof *sums, by_time);
    return sums;
}

static void sum_row(struct rfn_table *table, const struct rfn_report *report, const struct sum *sum)
{
    if (report->profile->times) {
        rfn_table_cell(table, rfn_time_text(sum->time_ns).text);
        rfn_table_cell(table, rfn_share_text(rfn_report_share(report, sum->time_ns)).text);
    }
    rfn_table_cell(table, rfn_count_text(sum->calls).text);
    rfn_table_cell(table, sum->bytes ? rfn_bytes_text(sum->bytes).text : "");
    rfn_table_cell(table, rfn_archive_function(report->archive, sum->function)->name);
}

static void append_functions(struct rfn_text *out, const struct rfn_report *report)
{
    static const char *const titles[] = {"time", "share", "calls", "bytes", "function"};
    bool times = report->profile->times;
    struct rfn_table table;
    size_t n, skipped = times ? 0 : 2;
    struct sum *sums = sums_of(report, &n);
    out->failed |= !sums;
    if (!sums || n == 0) {
        free(sums);
        return;
    }
    rfn_table_init(&table, times ? "rrrrl" : "rrl");
    rfn_table_cells(&table, titles + skipped, sizeof titles / sizeof *titles - skipped);
    size_t shown = n < FUNCTIONS_SHOWN ? n : FUNCTIONS_SHOWN;
    for (size_t i = 0; i < shown; i++)
        sum_row(&table, report, &sums[i]);
    rfn_text_string(out, "\nFunctions, all ranks together");
    if (shown < n)
        rfn_text_format(out, " (%zu of %zu)", shown, n);
    rfn_text_char(out, '\n');
    rfn_table_print(&table, 2, out);
    rfn_table_release(&table);
    free(sums);
}

/* ---- call paths ---- */

/* The columns of the page's tables of call paths. */
static void path_table(struct rfn_table *table, const struct rfn_report *report)
{
    static const char *const times[] = {"time", "share", "min", "mean", "max"};
    static const char *const others[] = {"calls", "bytes", "ranks"};
    bool with_times = report->profile->times, with_volume = report->run->volume;
    const char *kinds = with_times ? "rrrrrrrrrrl" : "rrrrrl";
    rfn_table_init(table, with_volume ? kinds : kinds + 2);
    rfn_table_cells(table, times, with_times ? sizeof times / sizeof *times : 0);
    rfn_table_cells(table, others, sizeof others / sizeof *others);
    if (with_volume) {
        rfn_table_cell(table, "volume in");
        rfn_table_cell(table, "before");
    }
    rfn_table_cell(table, "function");
}

static void path_row(struct rfn_table *table, const struct rfn_report *report,
                     const struct rfn_profile_row *row)
{
    const struct rfn_spread *time = &row->time;
    if (report->profile->times) {
        rfn_table_cell(table, rfn_time_text(time->total_ns).text);
        rfn_table_cell(table, rfn_share_text(rfn_report_share(report, time->total_ns)).text);
        rfn_table_cell(table, rfn_time_text(time->min_ns).text);
        rfn_table_cell(table, rfn_time_text(time->ranks ? time->total_ns / time->ranks : 0).text);
        rfn_table_cell(table, rfn_time_text(time->max_ns).text);
    }
    rfn_table_cell(table, rfn_count_text(row->calls).text);
    rfn_table_cell(table, row->bytes ? rfn_bytes_text(row->bytes).text : "");
    rfn_table_cell(table, rfn_count_text(time->ranks).text);
    if (report->run->volume) {
        rfn_table_cell(table, rfn_report_volume(report, row->volume_inside).text);
        rfn_table_cell(table, rfn_report_volume(report, row->volume_before).text);
    }
    rfn_table_cell(table, rfn_archive_function(report->archive, row->function)->name);
}

static void path_note(struct rfn_table *table, const struct rfn_report *report, uint32_t path,
                      size_t width)
{
    struct rfn_text line = {0}, note = {0};
    rfn_call_path_short(&line, report->archive, path, width);
    rfn_text_wrap(&note, &line, width, 2);
    rfn_table_note_text(table, &note);
    rfn_text_release(&line);
}

/* The rows of one kind, at most `top`; returns how many there are. */
static size_t path_rows(struct rfn_table *table, const struct rfn_report *report, bool setup,
                        size_t top)
{
    size_t n = 0;
    for (size_t i = 0; i < report->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &report->profile->rows[i];
        if (rfn_report_setup(report, row) != setup ||
            !rfn_report_shows_call(report, row->function, row->path))
            continue;
        if (n++ >= top)
            continue;
        path_row(table, report, row);
        if (!setup)
            path_note(table, report, row->path, report->width - 6);
    }
    return n;
}

/* On narrow pages without min, max, ranks, volume before, bytes. */
static void print_paths(struct rfn_text *out, const struct rfn_report *report,
                        struct rfn_table *table)
{
    static const unsigned spare[] = {2, 7, 9, 4, 6};
    bool volume = report->run->volume != NULL;
    if (report->profile->times) {
        const unsigned plain[] = {2, 7, 4, 6};
        rfn_table_fit(table, report->width, volume ? spare : plain, volume ? 5 : 4);
    }
    rfn_table_print(table, 6, out);
    rfn_table_release(table);
}

static void append_paths(struct rfn_text *out, const struct rfn_report *report)
{
    bool times = report->profile->times;
    struct rfn_table table;
    path_table(&table, report);
    size_t n = path_rows(&table, report, false, report->top);
    if (n == 0) {
        rfn_table_release(&table);
        return;
    }
    rfn_text_string(out, times ? "\nCall paths by time in MPI; min, mean and max over ranks"
                               : "\nCall paths by bytes");
    rfn_report_end_title(out, report, n);
    print_paths(out, report, &table);
}

static void append_setup(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_table table;
    path_table(&table, report);
    if (path_rows(&table, report, true, SIZE_MAX)) {
        rfn_text_string(out, "\nSetup\n");
        print_paths(out, report, &table);
    } else {
        rfn_table_release(&table);
    }
}

/* ---- the page ---- */

static void append_incomplete(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_text line = {0};
    rfn_text_format(&line, "incomplete: %s", report->incomplete);
    rfn_text_wrap(out, &line, report->width, 2);
    rfn_text_release(&line);
}

void rfn_report_text(struct rfn_text *out, const struct rfn_report *report)
{
    if (report->incomplete)
        append_incomplete(out, report);
    rfn_report_head(out, report);
    rfn_text_char(out, '\n');
    append_header(out, report);
    if (report->profile->unreadable)
        rfn_text_format(out, "%-10s%u of %u threads, so far as they go\n", "Damaged",
                        report->profile->unreadable, report->run->streams);
    rfn_report_efficiency(out, report);
    rfn_report_waits(out, report);
    rfn_report_behaviour(out, report);
    rfn_report_alike(out, report);
    if (report->profile->times)
        rfn_report_rank_times(out, report);
    if (report->run->volume)
        rfn_report_rank_volumes(out, report);
    append_regions(out, report);
    append_functions(out, report);
    append_paths(out, report);
    append_setup(out, report);
    rfn_report_messages(out, report);
}
