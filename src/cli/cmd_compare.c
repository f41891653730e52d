/* cmd_compare.c - refrain compare: what a reduced archive saves and what it loses. */
#include "cli/activity_text.h"
#include "cli/command.h"
#include "cli/file_argument.h"
#include "cli/hosts.h"
#include "cli/json.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/units.h"
#include "cli/wrap.h"
#include "refrain/compare.h"

#include <stdlib.h>
#include <string.h>

enum { TOP = 15, NOTE_INDENT = 6 };

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "print everything as JSON", 0},
    {"top", 't', "N", 0, "show N rows of trends that are not retained (15; with --json all)", 0},
    {0},
};

struct options {
    struct rfn_file_argument given; /* first: its parser gets what is not parsed here */
    const char *reduced;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    if (key == ARGP_KEY_ARG && given->given.file) {
        if (given->reduced)
            argp_error(state, "two files at a time");
        given->reduced = arg;
        return 0;
    }
    if (key == ARGP_KEY_END && !given->reduced)
        argp_error(state, "which files? Two of one run: the full one, then the reduced one");
    return key == ARGP_KEY_NO_ARGS ? 0 : rfn_file_argument_parse(key, arg, state);
}

/* Two open archives and what they were found to differ in. */
struct compared {
    const char *full_file, *reduced_file;
    struct rfn_archive *full, *reduced;
    struct rfn_comparison *comparison;
    bool two_runs; /* then the times of the first, and of the second */
    struct rfn_run_times before, after;
    size_t top;
};

static struct rfn_call_site site_of(const struct rfn_trend_change *change)
{
    return (struct rfn_call_site){change->function, change->path};
}

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
    struct rfn_text path = {0};
    json_t *value = json_object();
    rfn_call_site_path(&path, compared->full, site_of(change), SIZE_MAX);
    json_object_set_new(value, "change", rfn_json_text(kind_of(change)));
    json_object_set_new(value, "pattern", rfn_json_text(rfn_pattern_name(change->pattern)));
    json_object_set_new(value, "function",
                        rfn_json_text(rfn_call_site_function(compared->full, site_of(change))));
    json_object_set_new(value, "call_path", rfn_json_of_text(&path));
    json_object_set_new(value, "frames", rfn_report_frames_json(compared->full, change->path));
    json_object_set_new(value, "rank", json_integer(change->rank));
    json_object_set_new(value, "share_before", json_real(change->full_share));
    json_object_set_new(value, "share_after", json_real(change->reduced_share));
    json_object_set_new(value, "class_before",
                        json_integer(rfn_severity_class(change->full_share)));
    json_object_set_new(value, "class_after",
                        json_integer(rfn_severity_class(change->reduced_share)));
    return value;
}

static void set_measures(json_t *value, const struct rfn_comparison *found)
{
    json_object_set_new(value, "events", rfn_json_count(found->events));
    json_object_set_new(value, "full_bytes", rfn_json_count(found->full_bytes));
    json_object_set_new(value, "reduced_bytes", rfn_json_count(found->reduced_bytes));
    json_object_set_new(value, "size_percent", json_real(found->size_percent));
    json_object_set_new(value, "degree_of_matching", json_real(found->degree_of_matching));
    json_object_set_new(value, "degree_within", json_real(found->degree_within));
    json_object_set_new(value, "degree_across", json_real(found->degree_across));
    json_object_set_new(value, "approximation_distance_us",
                        json_real(found->approximation_distance_us));
    json_object_set_new(value, "largest_distance_us", json_real(found->largest_distance_us));
    json_object_set_new(value, "run_time_ns", json_integer(found->full_times.run_ns));
    json_object_set_new(value, "outside_ns_before", json_integer(found->full_outside_ns));
    json_object_set_new(value, "outside_ns_after", json_integer(found->reduced_outside_ns));
    json_object_set_new(value, "trends_retained", json_boolean(found->trends_retained));
    json_object_set_new(value, "trends", rfn_json_count(found->trends));
    json_object_set_new(value, "trends_changed", rfn_json_count(found->n_changes));
    json_object_set_new(value, "largest_change", json_real(found->largest_change));
}

static json_t *run_json(const struct rfn_run_times *times)
{
    json_t *value = json_object();
    json_object_set_new(value, "run_time_ns", json_integer(times->run_ns));
    json_object_set_new(value, "mpi_share", json_real(times->mpi_share));
    json_object_set_new(value, "wait_share", json_real(times->wait_share));
    return value;
}

static json_t *runs_json(const struct compared *compared)
{
    if (!compared->two_runs)
        return json_null();
    json_t *list = json_array();
    json_array_append_new(list, run_json(&compared->before));
    json_array_append_new(list, run_json(&compared->after));
    return list;
}

static int print_json(const struct compared *compared, int status)
{
    const struct rfn_run *run = rfn_archive_run(compared->reduced);
    json_t *value = json_object(), *changes = json_array();
    json_object_set_new(value, "full", rfn_json_text(compared->full_file));
    json_object_set_new(value, "reduced", rfn_json_text(compared->reduced_file));
    json_object_set_new(value, "runs", runs_json(compared));
    json_object_set_new(value, "similarity", rfn_json_text(run->similar));
    json_object_set_new(value, "across", rfn_json_text(run->across));
    json_object_set_new(value, "exact_starts", json_boolean(run->reduction.exact_starts));
    set_measures(value, compared->comparison);
    for (size_t i = 0; i < compared->comparison->n_changes && i < compared->top; i++)
        json_array_append_new(changes, change_json(compared, &compared->comparison->changes[i]));
    json_object_set_new(value, "changes", changes);
    return rfn_json_print(value, status);
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

static void append_runs(struct rfn_text *out, const struct compared *compared)
{
    const struct rfn_run_times *before = &compared->before, *after = &compared->after;
    if (!compared->two_runs)
        return;
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

/* Neither of two runs is what the other was reduced to. */
static const char *word(const struct compared *compared, const char *of_one_run,
                        const char *of_two_runs)
{
    return compared->two_runs ? of_two_runs : of_one_run;
}

static void append_measures(struct rfn_text *out, const struct compared *compared)
{
    const struct rfn_comparison *found = compared->comparison;
    name_line(out, word(compared, "Full", "First"), compared->full_file, found->full_bytes);
    name_line(out, word(compared, "Reduced", "Second"), compared->reduced_file,
              found->reduced_bytes);
    how_line(out, rfn_archive_run(compared->reduced));
    rfn_text_format(out, "%-20s%.3g %%\n", "Size", found->size_percent);
    rfn_text_format(out, "%-20s%s (within processes %s, across %s)\n", "Degree of matching",
                    rfn_share_text(found->degree_of_matching).text,
                    rfn_share_text(found->degree_within).text,
                    rfn_share_text(found->degree_across).text);
    rfn_text_format(out, "%-20s%s at most, for 90 %% of them; all by %s at most\n",
                    word(compared, "Times are off by", "Times differ by"),
                    rfn_time_text((int64_t)(1e3 * found->approximation_distance_us)).text,
                    rfn_time_text((int64_t)(1e3 * found->largest_distance_us)).text);
    const int64_t ranks = rfn_archive_run(compared->full)->ranks;
    rfn_text_format(out, "%-20s%s of a rank on average", "Outside of MPI",
                    rfn_time_text(found->full_outside_ns / ranks).text);
    rfn_text_format(out, ", %s %s\n", word(compared, "when reduced", "in the second run"),
                    rfn_time_text(found->reduced_outside_ns / ranks).text);
    rfn_text_format(out, "%-20s", "Trends");
    if (found->trends_retained)
        rfn_text_format(out, "%s, all %s\n", word(compared, "retained", "the same"),
                        rfn_count_text(found->trends).text);
    else
        rfn_text_format(
            out, "%s: %s changed, lost or appeared; the %s has %s\n",
            word(compared, "not retained", "not the same"), rfn_count_text(found->n_changes).text,
            word(compared, "full archive", "first run"), rfn_count_text(found->trends).text);
}

static void share_cell(struct rfn_table *table, double share)
{
    struct rfn_text text = {0};
    rfn_text_format(&text, "%s, %s", rfn_share_text(share).text,
                    rfn_severity_words(rfn_severity_class(share)));
    rfn_table_text(table, &text);
}

static void path_note(struct rfn_table *table, const struct compared *compared,
                      const struct rfn_trend_change *change)
{
    size_t width = rfn_terminal_columns() - NOTE_INDENT;
    struct rfn_text line = {0}, note = {0};
    rfn_text_string(&line, "in ");
    rfn_call_site_path(&line, compared->full, site_of(change), width - 3);
    rfn_text_wrap(&note, &line, width, 2);
    rfn_table_note_text(table, &note);
    rfn_text_release(&line);
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

static void ranks_cell(struct rfn_table *table, uint32_t *ranks, size_t n)
{
    struct rfn_text text = {0};
    qsort(ranks, n, sizeof *ranks, by_number);
    rfn_ranks_append(&text, ranks, n);
    rfn_table_text(table, &text);
}

/* The row of a change and of those after it that belong to it, which are marked as shown. */
static void change_row(struct rfn_table *table, const struct compared *compared, size_t number,
                       bool *shown, uint32_t *ranks)
{
    const struct rfn_comparison *found = compared->comparison;
    const struct rfn_trend_change *change = &found->changes[number];
    size_t n = 0;
    for (size_t i = number; i < found->n_changes; i++) {
        if (!shown[i] && together(change, &found->changes[i])) {
            shown[i] = true;
            ranks[n++] = found->changes[i].rank;
        }
    }
    share_cell(table, change->full_share);
    share_cell(table, change->reduced_share);
    rfn_table_cell(table, kind_of(change));
    rfn_table_cell(table, rfn_pattern_words(change->pattern));
    ranks_cell(table, ranks, n);
    path_note(table, compared, change);
}

/* How many rows there are. */
static size_t fill_changes(struct rfn_table *table, const struct compared *compared, bool *shown,
                           uint32_t *ranks)
{
    const char *const titles[] = {word(compared, "full", "first"),
                                  word(compared, "reduced", "second"), "change", "pattern",
                                  "ranks"};
    size_t rows = 0;
    struct rfn_table rest; /* rows that are only counted */
    rfn_table_init(table, "rrlll");
    rfn_table_init(&rest, "rrlll");
    rfn_table_cells(table, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < compared->comparison->n_changes; i++) {
        if (!shown[i])
            change_row(rows++ < compared->top ? table : &rest, compared, i, shown, ranks);
    }
    rfn_table_release(&rest);
    return rows;
}

static void append_changes(struct rfn_text *out, const struct compared *compared)
{
    size_t n = compared->comparison->n_changes;
    uint32_t *ranks = calloc(n, sizeof *ranks);
    bool *shown = calloc(n, sizeof *shown);
    struct rfn_table table;
    out->failed |= !ranks || !shown;
    if (ranks && shown) {
        size_t rows = fill_changes(&table, compared, shown, ranks);
        rfn_text_format(out,
                        "\nTrends that %s: shares of the %s, on the rank with the largest change",
                        word(compared, "are not retained", "differ"),
                        word(compared, "full archive's run time", "first one's run time"));
        if (rows > compared->top)
            rfn_text_format(out, " (%zu of %zu; --top %zu shows all)", compared->top, rows, rows);
        rfn_text_string(out, "\n");
        rfn_table_print(&table, NOTE_INDENT, out);
        rfn_table_release(&table);
    }
    free(ranks);
    free(shown);
}

/* Where nothing else can be compared, the run times; the exit status. */
static int print_text(const struct compared *compared, int status)
{
    struct rfn_text out = {0};
    append_runs(&out, compared);
    if (compared->comparison)
        append_measures(&out, compared);
    if (compared->comparison && !compared->comparison->trends_retained)
        append_changes(&out, compared);
    if (out.failed)
        status = rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    else
        rfn_text_print(&out);
    rfn_text_release(&out);
    return status;
}

/* ---- the verb ---- */

static int fail(const struct compared *compared, int error, const struct rfn_archive *concerned,
                const struct rfn_diag *diag)
{
    const char *file = NULL;
    if (concerned)
        file = concerned == compared->full ? compared->full_file : compared->reduced_file;
    return rfn_command_fail(file, error, diag);
}

/* A file that was cut behind its last event; the exit status. */
static int check_complete(const struct rfn_archive *archive, const char *file, int status)
{
    const char *why = NULL;
    if (rfn_archive_complete(archive, &why))
        return status;
    rfn_command_error("%s: incomplete: %s", file, why ? why : "the file was cut short");
    return RFN_EXIT_BAD_INPUT;
}

static int open_both(struct compared *compared)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = rfn_archive_open(compared->full_file, &compared->full, &diag);
    if (error < 0)
        return rfn_command_fail(compared->full_file, error, &diag);
    error = rfn_archive_open(compared->reduced_file, &compared->reduced, &diag);
    if (error == 0)
        return RFN_EXIT_OK;
    rfn_archive_close(compared->full);
    return rfn_command_fail(compared->reduced_file, error, &diag);
}

/* The other way round, what is lost would be told as what is gained; the exit status. */
static int check_order(const struct compared *compared)
{
    if (!rfn_archive_run(compared->full)->reduced || rfn_archive_run(compared->reduced)->reduced)
        return RFN_EXIT_OK;
    rfn_command_error("%s is a reduced archive, and %s is not: the full one comes first, as in "
                      "refrain compare %s %s",
                      compared->full_file, compared->reduced_file, compared->reduced_file,
                      compared->full_file);
    return RFN_EXIT_USAGE;
}

/* When recording began, if that is known of both; two archives of one run have the same. */
static bool have_starts(const struct compared *compared)
{
    return rfn_archive_run(compared->full)->start_realtime_ns &&
           rfn_archive_run(compared->reduced)->start_realtime_ns;
}

static bool have_one_start(const struct compared *compared)
{
    return rfn_archive_run(compared->full)->start_realtime_ns ==
           rfn_archive_run(compared->reduced)->start_realtime_ns;
}

/* Of two runs it is told how these differ. */
static void look_for_two_runs(struct compared *compared)
{
    compared->two_runs = have_starts(compared) && !have_one_start(compared);
    if (compared->two_runs)
        rfn_command_error("%s and %s are of two runs, which began at different times: it is told "
                          "how these differ, not what reducing loses (refrain reduce %s makes an "
                          "archive to compare it with)",
                          compared->full_file, compared->reduced_file, compared->full_file);
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

/* Of runs that have other events; the exit status. */
static int print_times(struct compared *compared)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = measure_run(compared->full, &compared->before, &diag);
    if (error < 0)
        return fail(compared, error, compared->full, &diag);
    error = measure_run(compared->reduced, &compared->after, &diag);
    if (error < 0)
        return fail(compared, error, compared->reduced, &diag);
    compared->two_runs = true;
    return print_text(compared, RFN_EXIT_OK);
}

static int compare(struct compared *compared, bool json)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "comparing"};
    const struct rfn_archive *concerned = NULL;
    int error = rfn_comparison_new(compared->full, compared->reduced, rfn_progress_show, &progress,
                                   &compared->comparison, &concerned, &diag);
    rfn_progress_done(&progress);
    if (error == RFN_E_USAGE && !json && !(have_starts(compared) && have_one_start(compared)))
        print_times(compared);
    if (error < 0)
        return fail(compared, error, concerned, &diag);
    compared->before = compared->comparison->full_times;
    compared->after = compared->comparison->reduced_times;
    int status = check_complete(compared->full, compared->full_file, RFN_EXIT_OK);
    status = check_complete(compared->reduced, compared->reduced_file, status);
    status = json ? print_json(compared, status) : print_text(compared, status);
    rfn_comparison_free(compared->comparison);
    return status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {0};
    rfn_command_parse(command, parse, argc, argv, &given);
    const struct rfn_file_argument *file = &given.given;
    struct compared compared = {.full_file = file->file, .reduced_file = given.reduced};
    compared.top = file->top_given ? (size_t)file->top : file->json ? SIZE_MAX : TOP;
    int status = open_both(&compared);
    if (status)
        return status;
    status = check_order(&compared);
    if (status == RFN_EXIT_OK) {
        look_for_two_runs(&compared);
        status = compare(&compared, file->json);
    }
    rfn_archive_close(compared.reduced);
    rfn_archive_close(compared.full);
    return status;
}

const struct rfn_command rfn_cmd_compare = {
    .name = "compare",
    .summary = "Measures what a reduced archive saves and what it loses",
    .usage = "FULL REDUCED",
    .about = "Both must have the same events. Prints the size, the degree of matching, how far "
             "times are off, and whether the same ranks still wait for the same reasons; of two "
             "runs first how long they took.",
    .options = options,
    .run = run,
};
