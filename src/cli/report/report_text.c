/* report_text.c - the page that a performance analyst reads first.
 *
 * The first lines (report_head.c); what ran; efficiency; wait states, causes and the critical path;
 * time per rank; the program's regions; functions; call paths; message sizes and who sends to whom;
 * latencies of messages that were sampled.
 * Init and Finalize stand in a table of their own, so that they do not hide the rest.
 */
#include "cli/report/report.h"
#include "cli/text/hosts.h"
#include "cli/text/run_text.h"
#include "cli/text/spawned_jobs.h"
#include "cli/text/table.h"
#include "cli/text/wrap.h"
#include "refrain/demangle.h"

#include <stdlib.h>
#include <time.h>

/* ---- header ---- */

/* line: is released. */
static void append_text(struct rfn_text *out, const struct rfn_report *report, const char *name,
                        struct rfn_text *line)
{
    rfn_text_format(out, "%-10s", name);
    rfn_report_sentence(out, report, line, 10);
}

static void append_line(struct rfn_text *out, const struct rfn_report *report, const char *name,
                        const char *text)
{
    struct rfn_text line = {0};
    rfn_text_printable(&line, text ? text : "?");
    append_text(out, report, name, &line);
}

static void append_ranks(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_run *run = report->run;
    struct rfn_text line = {0};
    rfn_text_unsigned(&line, run->ranks);
    if (run->streams > run->ranks)
        rfn_text_format(&line, ", with %u threads that call MPI", run->streams);
    rfn_text_string(&line, ", on ");
    rfn_hosts_append(&line, report->archive);
    append_text(out, report, "Ranks", &line);
}

/* Which MPI, and when it was recorded. */
static void append_recording(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_run *run = report->run;
    char date[64] = "at an unknown time";
    time_t start = (time_t)(run->start_realtime_ns / 1000000000);
    const struct tm *utc = run->start_realtime_ns > 0 ? gmtime(&start) : NULL;
    struct rfn_text version = {0};
    rfn_mpi_append(&version, run);
    append_text(out, report, "MPI", &version);
    if (utc)
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", utc);
    rfn_text_format(out, "%-10s%s by ", "Recorded", date);
    rfn_text_printable(out, run->recorder ? run->recorder : "?");
    rfn_text_char(out, '\n');
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
        functions += location.function && !rfn_name_distance(location.function);
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

/* How long it ran, what of that was not recorded, and what looks like the program's calls and is
 * the recorder's. */
static void append_run_time(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    const struct rfn_run_online_merges *online = &report->run->merging.online;
    int64_t span = profile->end_ns - profile->start_ns;
    const char *by = report->run->limits ? "--from, --until, --max-size or MPI_Pcontrol"
                                         : "MPI_Pcontrol";
    double unrecorded = 0;
    struct rfn_text time = {0}, paused = {0}, merged = {0};
    if (profile->times && rfn_report_missing(report)) { /* else the first line says it */
        rfn_text_format(&time, "%s, from the first to the last event in this archive",
                        rfn_time_text(span).text);
        append_text(out, report, "Run time", &time);
    }
    for (uint32_t i = 0; i < profile->n_ranks; i++)
        unrecorded += (double)profile->ranks[i].main_unrecorded_ns;
    if (profile->paused && profile->times && report->efficiency.all_ns > 0)
        rfn_text_format(
            &paused, "%s of the time of all ranks was not recorded (%s) and is left out below",
            rfn_share_text(unrecorded / ((double)report->efficiency.all_ns + unrecorded)).text, by);
    else if (profile->paused)
        rfn_text_format(&paused, "a part of the run was not recorded (%s)", by);
    if (profile->paused)
        append_text(out, report, "Paused", &paused);
    if (!profile->times || !online->merges)
        return;
    rfn_text_format(&merged, "in %s online merge%s (--merge-interval): %s on rank 0",
                    rfn_count_text(online->merges).text, online->merges == 1 ? "" : "s",
                    rfn_time_text((int64_t)online->ns).text);
    if (span > 0)
        rfn_text_format(&merged, " (%s of the run time)",
                        rfn_share_text((double)online->ns / (double)span).text);
    rfn_text_string(&merged, ", which counts as recording");
    append_text(out, report, "Merged", &merged);
}

/* "0.8 % of the time of all ranks (1.20 s), between calls". */
static void append_own_work(struct rfn_text *out, const struct rfn_report *report)
{
    const double share = rfn_report_recording_share(report);
    struct rfn_text text = {0};
    if (share <= 0)
        return;
    rfn_text_format(&text, "%s of the time of all ranks (%s), between calls",
                    rfn_share_text(share).text, rfn_time_text(report->profile->recording_ns).text);
    append_text(out, report, "Recording", &text);
}

static void append_header(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_run *run = report->run;
    const struct rfn_profile *profile = report->profile;
    append_line(out, report, "Command", run->command);
    append_ranks(out, report);
    append_recording(out, report);
    append_symbols(out, report);
    rfn_path_ends_line(out, run, 10);
    rfn_spawned_jobs_line(out, report->archive, 10);
    rfn_text_format(out, "%-10s%s", "MPI calls", rfn_count_text(profile->calls).text);
    if (profile->failed_polls)
        rfn_text_format(out, ", %s of them unsuccessful polls",
                        rfn_count_text(profile->failed_polls).text);
    rfn_text_char(out, '\n');
    append_run_time(out, report);
    append_own_work(out, report);
    rfn_report_memory(out, report);
    if (profile->unreadable)
        rfn_text_format(out, "%-10s%u of %u threads, so far as they go\n", "Damaged",
                        profile->unreadable, run->streams);
}

/* ---- regions ---- */

static int64_t mean_of(const struct rfn_spread *spread)
{
    return spread->ranks ? spread->total_ns / spread->ranks : 0;
}

static void append_regions(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    size_t n = profile->n_regions, shown = n < report->top ? n : report->top, unrecorded = 0;
    struct rfn_table table;
    if (!n)
        return;
    rfn_table_init(&table, profile->times ? "rrrrrrrrrrrl" : "rrrl",
                   profile->times ? "time\tshare\tmin\tmean\tmax\tmean in MPI\twaiting\tbalance\t"
                                    "visits\tmessages\tranks\tregion"
                                  : "visits\tmessages\tranks\tregion");
    for (size_t i = 0; i < shown; i++) {
        const struct rfn_region_row *row = &profile->regions[i];
        if (profile->times)
            rfn_table_row(
                &table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", rfn_time_text(row->time.total_ns).text,
                rfn_share_text(rfn_report_share(report, row->time.total_ns)).text,
                rfn_time_text(row->time.min_ns).text, rfn_time_text(mean_of(&row->time)).text,
                rfn_time_text(row->time.max_ns).text, rfn_time_text(mean_of(&row->mpi)).text,
                rfn_time_text(row->waiting_ns).text,
                rfn_share_text(rfn_report_balance(&row->outside)).text);
        rfn_table_row(&table, "%s\t%s\t%s", rfn_count_text(row->visits).text,
                      rfn_count_text(row->messages).text, rfn_count_text(row->time.ranks).text);
        rfn_table_name(&table, row->name);
    }
    rfn_text_string(
        out,
        "\nWhat do regions take? Regions, with all that is inside; mean and max are of a rank");
    rfn_report_end_title(out, report, n);
    /* On narrow pages without min, ranks, messages, max, balance, mean in MPI, mean. */
    rfn_table_fit(&table, report->width, (const unsigned[]){2, 10, 9, 4, 7, 5, 3},
                  profile->times ? 7 : 0);
    rfn_table_print(&table, 2, out);
    for (size_t i = 0; i < n && unrecorded < report->top; i++) {
        const struct rfn_region_row *row = &profile->regions[i];
        if (!row->unrecorded || profile->region)
            continue;
        unrecorded++;
        rfn_text_string(out, "  ");
        rfn_text_printable(out, row->name);
        rfn_text_format(out, ": %s call%s not recorded, as it was called too often\n",
                        rfn_count_text(row->unrecorded).text, row->unrecorded == 1 ? "" : "s");
    }
}

/* ---- call paths ---- */

static void path_row(struct rfn_table *table, const struct rfn_report *report,
                     const struct rfn_profile_row *row)
{
    const struct rfn_spread *time = &row->time;
    if (report->profile->times)
        rfn_table_cell(table, rfn_time_text(time->total_ns).text);
    if (report->profile->times && !rfn_report_setup(report, row))
        rfn_table_cell(table, rfn_share_text(rfn_report_share(report, time->total_ns)).text);
    if (report->profile->times)
        rfn_table_row(table, "%s\t%s\t%s", rfn_time_text(time->min_ns).text,
                      rfn_time_text(mean_of(time)).text, rfn_time_text(time->max_ns).text);
    rfn_table_row(table, "%s\t%s\t%s", rfn_count_text(row->calls).text,
                  row->bytes ? rfn_bytes_text(row->bytes).text : "",
                  rfn_count_text(time->ranks).text);
    if (report->run->volume)
        rfn_table_row(table, "%s\t%s", rfn_report_volume(report, row->volume_inside).text,
                      rfn_report_volume(report, row->volume_before).text);
    rfn_table_name(table, rfn_archive_function(report->archive, row->function)->name);
}

/* Call paths of setup, or all others, of these at most `top`. Shares are of the time between Init
 * and Finalize, so setup has none. */
static void append_paths(struct rfn_text *out, const struct rfn_report *report, bool setup)
{
    bool times = report->profile->times, volume = report->run->volume != NULL;
    const char *kinds = times ? "rrrrrrrrrrl" : "rrrrrl";
    struct rfn_table table;
    size_t n = 0;
    const unsigned gone = times && setup;
    rfn_table_init(&table, (volume ? kinds : kinds + 2) + gone, NULL);
    if (times)
        rfn_table_row(&table, setup ? "time\tmin\tmean\tmax" : "time\tshare\tmin\tmean\tmax");
    rfn_table_row(&table, volume ? "calls\tbytes\tranks\tvolume in\tbefore\tfunction"
                                 : "calls\tbytes\tranks\tfunction");
    for (size_t i = 0; i < report->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &report->profile->rows[i];
        if (rfn_report_setup(report, row) != setup ||
            !rfn_report_shows_call(report, row->function, row->path))
            continue;
        if (n++ >= report->top && !setup)
            continue;
        path_row(&table, report, row);
        if (!setup)
            rfn_report_path_note(&table, report, row->path);
    }
    if (n && setup) {
        rfn_text_string(out, "\nWhat do Init and Finalize take?");
        rfn_report_end_title(out, report, 0);
    } else if (n) {
        rfn_text_string(
            out, times
                     ? "\nWhere are they called? Call paths by time in MPI; mean and max are of a "
                       "rank"
                     : "\nWhere are they called? Call paths by bytes");
        rfn_report_end_title(out, report, n);
    }
    /* On narrow pages without min, ranks, volume before, max, bytes, mean. */
    if (times && volume)
        rfn_table_fit(
            &table, report->width,
            (const unsigned[]){2 - gone, 7 - gone, 9 - gone, 4 - gone, 6 - gone, 3 - gone}, 6);
    else if (times)
        rfn_table_fit(&table, report->width,
                      (const unsigned[]){2 - gone, 7 - gone, 4 - gone, 6 - gone, 3 - gone}, 5);
    rfn_table_print(&table, 6, n ? out : NULL);
}

/* ---- the page ---- */

/* Of a run of which there are samples only. */
static void append_sampled_run(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    struct rfn_text text = {0};
    rfn_text_printable(&text, report->run->program ? report->run->program : "?");
    rfn_text_format(&text, " on %u rank%s", report->run->ranks, report->run->ranks == 1 ? "" : "s");
    if (profile->times && profile->end_ns > profile->start_ns)
        rfn_text_format(&text, " ran for %s",
                        rfn_time_text(profile->end_ns - profile->start_ns).text);
    rfn_text_string(&text, ". This archive has a sample of its messages, and no other events: why "
                           "it took so long is not known (record --sample --with-trace keeps "
                           "both).");
    rfn_report_sentence(out, report, &text, 3);
    if (report->head_only)
        return;
    rfn_text_char(out, '\n');
    append_line(out, report, "Command", report->run->command);
    append_ranks(out, report);
    append_recording(out, report);
    rfn_path_ends_line(out, report->run, 10);
}

void rfn_report_text(struct rfn_text *out, const struct rfn_report *report)
{
    if (rfn_report_only_samples(report)) {
        append_sampled_run(out, report);
        rfn_report_samples(out, report);
        return;
    }
    rfn_report_head(out, report);
    if (report->head_only) {
        append_symbols(out, report);
        return;
    }
    rfn_text_char(out, '\n');
    append_header(out, report);
    rfn_report_efficiency(out, report);
    rfn_report_windows(out, report);
    rfn_report_waits(out, report);
    rfn_report_behaviour(out, report);
    rfn_report_alike(out, report);
    if (report->profile->times)
        rfn_report_rank_times(out, report);
    if (report->run->volume)
        rfn_report_rank_volumes(out, report);
    rfn_report_by_host(out, report);
    append_regions(out, report);
    rfn_report_files(out, report);
    rfn_report_functions(out, report);
    append_paths(out, report, false);
    append_paths(out, report, true);
    rfn_report_messages(out, report);
    rfn_report_samples(out, report);
}
