/* reduction_loss.c - what a reduced archive saves and what it loses: compare --reduction. */
#include "cli/compare/compare.h"
#include "cli/text/json.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"
#include "cli/text/wrap.h"
#include "refrain/compare.h"
#include "refrain/explain.h"

#include <stdlib.h>
#include <string.h>

enum { NOTE_INDENT = 6 };

/* Two open archives and what they were found to differ in. */
struct compared {
    const char *full_file, *reduced_file;
    struct rfn_archive *full, *reduced;
    struct rfn_comparison *comparison;
    bool two_runs;
    size_t top, width;
};

/* Of the reduced archive, seen from the full one. */
static const char *kind_of(const struct rfn_trend_change *change)
{
    if (!rfn_severity_class(change->full_share))
        return "appeared";
    return rfn_severity_class(change->reduced_share) ? "changed" : "lost";
}

/* ---- JSON ---- */

static json_t *change_json(const struct compared *compared, const struct rfn_trend_change *change)
{
    const struct rfn_call_site site = {change->function, change->path};
    json_t *value = json_object();
    RFN_JSON_SET(value, "change", kind_of(change));
    RFN_JSON_SET(value, "pattern", rfn_pattern_name(change->pattern));
    RFN_JSON_SET(value, "function", rfn_call_site_function(compared->full, site)->name);
    RFN_JSON_SET(value, "call_path", rfn_json_call_path(compared->full, site));
    RFN_JSON_SET(value, "frames", rfn_json_frames(compared->full, change->path));
    RFN_JSON_SET(value, "rank", change->rank);
    RFN_JSON_SET(value, "share_before", change->full_share);
    RFN_JSON_SET(value, "share_after", change->reduced_share);
    RFN_JSON_SET(value, "class_before", json_integer(rfn_severity_class(change->full_share)));
    RFN_JSON_SET(value, "class_after", json_integer(rfn_severity_class(change->reduced_share)));
    return value;
}

static void set_measures(json_t *value, const struct rfn_comparison *found)
{
    RFN_JSON_SET(value, "events", found->events);
    RFN_JSON_SET(value, "full_bytes", found->full_bytes);
    RFN_JSON_SET(value, "reduced_bytes", found->reduced_bytes);
    RFN_JSON_SET(value, "size_percent", found->size_percent);
    RFN_JSON_SET(value, "degree_of_matching", found->degree_of_matching);
    RFN_JSON_SET(value, "degree_within", found->degree_within);
    RFN_JSON_SET(value, "degree_across", found->degree_across);
    RFN_JSON_SET(value, "approximation_distance_us", found->approximation_distance_us);
    RFN_JSON_SET(value, "largest_distance_us", found->largest_distance_us);
    RFN_JSON_SET(value, "run_time_ns", found->full_times.run_ns);
    RFN_JSON_SET(value, "outside_ns_before", found->full_outside_ns);
    RFN_JSON_SET(value, "outside_ns_after", found->reduced_outside_ns);
    RFN_JSON_SET(value, "trends_retained", found->trends_retained);
    RFN_JSON_SET(value, "trends", found->trends);
    RFN_JSON_SET(value, "trends_changed", found->n_changes);
    RFN_JSON_SET(value, "largest_change", found->largest_change);
}

static int print_json(const struct compared *compared, int status)
{
    const struct rfn_comparison *found = compared->comparison;
    const struct rfn_run *run = rfn_archive_run(compared->reduced);
    const struct rfn_run_times *times[] = {&found->full_times, &found->reduced_times};
    json_t *value = json_object(), *changes = json_array();
    json_t *runs = compared->two_runs ? json_array() : json_null();
    for (int i = 0; i < 2 && compared->two_runs; i++) {
        json_t *one = json_object();
        RFN_JSON_SET(one, "run_time_ns", times[i]->run_ns);
        RFN_JSON_SET(one, "mpi_share", times[i]->mpi_share);
        RFN_JSON_SET(one, "wait_share", times[i]->wait_share);
        json_array_append_new(runs, one);
    }
    RFN_JSON_SET(value, "full", compared->full_file);
    RFN_JSON_SET(value, "reduced", compared->reduced_file);
    RFN_JSON_SET(value, "runs", runs);
    RFN_JSON_SET(value, "similarity", run->similar);
    RFN_JSON_SET(value, "across", run->across);
    RFN_JSON_SET(value, "exact_starts", run->reduction.exact_starts);
    set_measures(value, found);
    for (size_t i = 0; i < found->n_changes && i < compared->top; i++)
        json_array_append_new(changes, change_json(compared, &found->changes[i]));
    RFN_JSON_SET(value, "changes", changes);
    return rfn_command_print_json(value, status);
}

/* ---- text ---- */

static void name_line(struct rfn_text *out, const char *name, const char *file, uint64_t bytes)
{
    rfn_text_format(out, "%-20s", name);
    rfn_text_printable(out, file);
    rfn_text_format(out, ", %s\n", rfn_bytes_text(bytes).text);
}

static void how_line(struct rfn_text *out, const struct rfn_run *run)
{
    if (!run->reduced)
        return;
    rfn_text_format(out, "%-20sby ", "");
    rfn_text_printable(out, run->similar);
    if (run->across && strcmp(run->across, "one") == 0) {
        rfn_text_string(out, ", times of one rank for those of its cluster");
    } else if (run->across) {
        rfn_text_string(out, ", across processes by ");
        rfn_text_printable(out, run->across);
    }
    rfn_text_string(out, run->reduction.exact_starts ? ", exact starts\n" : "\n");
}

static void append_runs(struct rfn_text *out, const struct rfn_run_times *before,
                        const struct rfn_run_times *after)
{
    rfn_text_format(out, "%-20s%s and %s", "Run time", rfn_time_text(before->run_ns).text,
                    rfn_time_text(after->run_ns).text);
    if (before->run_ns > 0)
        rfn_text_format(out, ": the second took %.2f times as long",
                        (double)after->run_ns / (double)before->run_ns);
    rfn_text_format(out, "\n%-20s%s and %s of all ranks' time\n", "In MPI",
                    rfn_share_text(before->mpi_share).text, rfn_share_text(after->mpi_share).text);
    rfn_text_format(out, "%-20s%s and %s of all ranks' time\n", "Waiting",
                    rfn_share_text(before->wait_share).text,
                    rfn_share_text(after->wait_share).text);
}

static void append_measures(struct rfn_text *out, const struct compared *compared)
{
    const struct rfn_comparison *found = compared->comparison;
    const int64_t ranks = rfn_archive_run(compared->full)->ranks;
    const bool two = compared->two_runs; /* neither is what the other was reduced to */
    name_line(out, two ? "First" : "Full", compared->full_file, found->full_bytes);
    name_line(out, two ? "Second" : "Reduced", compared->reduced_file, found->reduced_bytes);
    how_line(out, rfn_archive_run(compared->reduced));
    rfn_text_format(out, "%-20s%.3g %%\n", "Size", found->size_percent);
    rfn_text_format(out, "%-20s%s (within processes %s, across %s)\n", "Degree of matching",
                    rfn_share_text(found->degree_of_matching).text,
                    rfn_share_text(found->degree_within).text,
                    rfn_share_text(found->degree_across).text);
    rfn_text_format(out, "%-20s%s at most, for 90 %% of them; all by %s at most\n",
                    two ? "Times differ by" : "Times are off by",
                    rfn_time_text((int64_t)(1e3 * found->approximation_distance_us)).text,
                    rfn_time_text((int64_t)(1e3 * found->largest_distance_us)).text);
    rfn_text_format(out, "%-20s%s of a rank on average, %s %s\n", "Outside of MPI",
                    rfn_time_text(found->full_outside_ns / ranks).text,
                    two ? "in the second run" : "when reduced",
                    rfn_time_text(found->reduced_outside_ns / ranks).text);
    if (found->trends_retained)
        rfn_text_format(out, "%-20s%s, all %s\n", "Trends", two ? "the same" : "retained",
                        rfn_count_text(found->trends).text);
    else
        rfn_text_format(out, "%-20s%s: %s changed, lost or appeared; the %s has %s\n", "Trends",
                        two ? "not the same" : "not retained",
                        rfn_count_text(found->n_changes).text, two ? "first run" : "full archive",
                        rfn_count_text(found->trends).text);
}

/* Whether they are lines of one row: only ranks and shares differ. */
static bool together(const struct rfn_trend_change *a, const struct rfn_trend_change *b)
{
    return a->pattern == b->pattern && a->function == b->function && a->path == b->path &&
           rfn_severity_class(a->full_share) == rfn_severity_class(b->full_share) &&
           rfn_severity_class(a->reduced_share) == rfn_severity_class(b->reduced_share);
}

static int by_number(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return first < second ? -1 : first > second;
}

/* The row of a change and of others that belong to it, whose ranks are given. */
static void change_row(struct rfn_table *table, const struct compared *compared,
                       const struct rfn_trend_change *change, uint32_t *ranks, size_t n)
{
    const struct rfn_call_site site = {change->function, change->path};
    size_t width = compared->width - NOTE_INDENT;
    struct rfn_text which = {0}, line = {0}, note = {0};
    qsort(ranks, n, sizeof *ranks, by_number);
    rfn_text_ranks(&which, ranks, n);
    rfn_table_row(table, "%s, %s\t%s, %s\t%s\t%s", rfn_share_text(change->full_share).text,
                  rfn_severity_words(rfn_severity_class(change->full_share)),
                  rfn_share_text(change->reduced_share).text,
                  rfn_severity_words(rfn_severity_class(change->reduced_share)), kind_of(change),
                  rfn_pattern_words(change->pattern));
    rfn_table_text(table, &which);
    rfn_text_string(&line, "in ");
    rfn_call_site_path(&line, compared->full, site, width - 3);
    rfn_text_wrap(&note, &line, width, 2);
    rfn_table_note(table, &note);
    rfn_text_release(&line);
}

static void append_changes(struct rfn_text *out, const struct compared *compared)
{
    const struct rfn_comparison *found = compared->comparison;
    uint32_t *ranks = calloc(found->n_changes, sizeof *ranks);
    bool *shown = calloc(found->n_changes, sizeof *shown), two = compared->two_runs;
    size_t rows = 0;
    struct rfn_table table;
    out->failed |= !ranks || !shown;
    rfn_table_init(&table, "rrlll",
                   two ? "first\tsecond\tchange\tpattern\tranks"
                       : "full\treduced\tchange\tpattern\tranks");
    for (size_t i = 0; i < found->n_changes && ranks && shown; i++) {
        size_t n = 0;
        for (size_t k = i; k < found->n_changes && !shown[i]; k++) {
            if (shown[k] || !together(&found->changes[i], &found->changes[k]))
                continue;
            shown[k] = k > i;
            ranks[n++] = found->changes[k].rank;
        }
        if (n && rows++ < compared->top)
            change_row(&table, compared, &found->changes[i], ranks, n);
    }
    rfn_text_format(out, "\nTrends that %s: shares of the %s, on the rank with the largest change",
                    two ? "differ" : "are not retained",
                    two ? "first one's run time" : "full archive's run time");
    if (rows > compared->top)
        rfn_text_format(out, " (%zu of %zu; --all shows all)", compared->top, rows);
    rfn_text_char(out, '\n');
    rfn_table_print(&table, NOTE_INDENT, out);
    free(ranks);
    free(shown);
}

/* ---- both ---- */

/* When recording began: 0 if they began at one time, as two archives of one run have it, 1 if not,
 * -1 if that is not known of both. */
static int compare_starts(const struct compared *compared)
{
    int64_t a = rfn_archive_run(compared->full)->start_realtime_ns;
    int64_t b = rfn_archive_run(compared->reduced)->start_realtime_ns;
    return a && b ? a != b : -1;
}

static int measure_run(const struct rfn_archive *archive, struct rfn_run_times *times,
                       struct rfn_diag *diag)
{
    struct rfn_progress progress = {.what = "reading events"};
    struct rfn_profile *profile;
    struct rfn_waits *waits;
    const struct rfn_waits_options how = {.profile = &profile};
    int error = rfn_waits_new(archive, &how, rfn_progress_show, &progress, &waits, diag);
    rfn_progress_done(&progress);
    if (error < 0)
        return error;
    error = waits->error;
    if (error)
        *diag = waits->diag;
    else
        *times = rfn_run_times_of(profile, waits);
    rfn_waits_free(waits);
    rfn_profile_free(profile);
    return error;
}

/* Of runs that have other events nothing else can be compared. */
static void print_times(const struct compared *compared)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_run_times before, after;
    struct rfn_text out = {0};
    int error = measure_run(compared->full, &before, &diag);
    if (error < 0) {
        rfn_command_fail(compared->full_file, error, &diag);
    } else if ((error = measure_run(compared->reduced, &after, &diag)) < 0) {
        rfn_command_fail(compared->reduced_file, error, &diag);
    } else {
        append_runs(&out, &before, &after);
        rfn_command_print_page(&out, NULL, RFN_EXIT_OK);
    }
}

static int print_text(struct rfn_text *out, const struct compared *compared, int status)
{
    const struct rfn_comparison *found = compared->comparison;
    if (compared->two_runs)
        append_runs(out, &found->full_times, &found->reduced_times);
    append_measures(out, compared);
    if (!found->trends_retained)
        append_changes(out, compared);
    return rfn_command_print_page(out, NULL, status);
}

static int compare(struct compared *compared, bool json)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "comparing"};
    const struct rfn_archive *concerned = NULL;
    const char *file = NULL;
    int error = rfn_comparison_new(compared->full, compared->reduced, rfn_progress_show, &progress,
                                   &compared->comparison, &concerned, &diag);
    rfn_progress_done(&progress);
    if (error == RFN_E_USAGE && !json && compare_starts(compared) != 0)
        print_times(compared);
    if (concerned)
        file = concerned == compared->full ? compared->full_file : compared->reduced_file;
    /* What an incomplete file lacks looks like other events. */
    const char *why;
    const bool complete = rfn_archive_complete(compared->full, &why) &&
                          rfn_archive_complete(compared->reduced, &why);
    if (error < 0) {
        const int failed = rfn_command_fail(file, error, &diag);
        return complete || failed != RFN_EXIT_USAGE ? failed : RFN_EXIT_BAD_INPUT;
    }
    struct rfn_text out = {0}, *page = json ? NULL : &out;
    int status = rfn_command_tell_missing(compared->full, compared->full_file, page, RFN_EXIT_OK);
    status = rfn_command_tell_missing(compared->reduced, compared->reduced_file, page, status);
    status = json ? print_json(compared, status) : print_text(&out, compared, status);
    rfn_comparison_free(compared->comparison);
    return status;
}

/* Tells what the two are that are compared; the exit status. */
static int check(struct compared *compared)
{
    /* The other way round, what is lost would be told as what is gained. */
    if (rfn_archive_run(compared->full)->reduced && !rfn_archive_run(compared->reduced)->reduced) {
        rfn_command_error("%s is a reduced archive, and %s is not: the full one comes first, as in "
                          "refrain compare --reduction %s %s",
                          compared->full_file, compared->reduced_file, compared->reduced_file,
                          compared->full_file);
        return RFN_EXIT_USAGE;
    }
    compared->two_runs = compare_starts(compared) > 0;
    if (compared->two_runs)
        rfn_command_error("%s and %s are of two runs, which began at different times: this is how "
                          "they differ, not what reducing loses (refrain reduce %s makes an "
                          "archive to compare it with; without --reduction, two runs are compared)",
                          compared->full_file, compared->reduced_file, compared->full_file);
    return RFN_EXIT_OK;
}

int rfn_compare_reduction(const struct rfn_compare_options *given)
{
    struct compared compared = {.full_file = given->files[0],
                                .reduced_file = given->files[1],
                                .top = given->top,
                                .width = given->width};
    int status = rfn_command_open_calls(compared.full_file, &compared.full);
    if (status)
        return status;
    status = rfn_command_open_calls(compared.reduced_file, &compared.reduced);
    if (!status) {
        status = check(&compared);
        if (!status)
            status = compare(&compared, given->json);
        rfn_archive_close(compared.reduced);
    }
    rfn_archive_close(compared.full);
    return status;
}
