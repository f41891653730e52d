#include "cli/reduction.h"

#include "cli/file_argument.h"
#include "cli/json.h"
#include "cli/units.h"
#include "refrain/trace_profile.h"

#include <string.h>

/* ---- what can be asked ---- */

void rfn_record_argument(struct argp_state *state, enum rfn_record_option option, const char *arg)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    char named[32];
    snprintf(named, sizeof named, "--%s", rfn_record_row(option)->option);
    if (rfn_record_check(option, named, arg, &diag) < 0)
        argp_error(state, "%s", diag.text);
}

void rfn_across_argument(struct argp_state *state, const char *given, const char *similar,
                         char *text)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_across_text(given, similar, text, &diag) < 0)
        argp_error(state, "--across: %s", diag.text);
}

/* ---- what an archive says ---- */

/* "avgWave:0.2" as "avgWave 0.2". */
static void append_method(struct rfn_text *out, const char *method)
{
    size_t from = out->n;
    rfn_text_printable(out, method);
    for (size_t i = from; i < out->n && !out->failed; i++) {
        if (out->data[i] == ':')
            out->data[i] = ' ';
    }
}

/* What became of --across=one. */
static void append_stand_ins(struct rfn_text *out, const struct rfn_run_reduction *of)
{
    if (of->time_sets < of->streams)
        rfn_text_format(out,
                        ", and times of one rank stand for those of its cluster (those of %s "
                        "thread%s for %s)",
                        rfn_count_text(of->time_sets).text, of->time_sets == 1 ? "" : "s",
                        rfn_count_text(of->streams).text);
    else
        rfn_text_string(out, ", each rank's its own, as no two have the same loops and parameters");
}

void rfn_reduction_append(struct rfn_text *out, const struct rfn_run *run)
{
    rfn_text_string(out, "times are those of similar iterations (");
    append_method(out, run->similar);
    bool one = run->across && strcmp(run->across, "one") == 0;
    if (run->across && !one) {
        rfn_text_string(out, ", across processes ");
        append_method(out, run->across);
        if (run->reduction.time_sets >= run->reduction.streams)
            rfn_text_string(out, ", where no two went alike");
    }
    rfn_text_char(out, ')');
    if (one)
        append_stand_ins(out, &run->reduction);
}

void rfn_forced_append(struct rfn_text *out, const struct rfn_run *run)
{
    rfn_text_string(out, "some parameters are those of the lowest rank of each cluster (");
    rfn_text_printable(out, run->forced);
    rfn_text_string(out, "), and messages may not match");
}

/* The file may say anything. */
static double difference(uint64_t a, uint64_t b)
{
    return a > b ? (double)(a - b) : 0;
}

double rfn_reduction_degree(const struct rfn_run *run)
{
    const struct rfn_run_reduction *of = &run->reduction;
    double matches = difference(of->executions, of->representatives);
    double possible = difference(of->executions, of->kinds);
    if (run->across) {
        matches += difference(of->streams, of->time_sets);
        possible += difference(of->streams, of->classes);
    }
    return matches < possible ? matches / possible : 1;
}

static void append_segments(struct rfn_text *out, const struct rfn_run *run)
{
    const struct rfn_run_reduction *of = &run->reduction;
    rfn_text_format(out, "%-12s%s of %s kind%s, %s kept; %s start%s corrected", "Segments",
                    rfn_count_text(of->executions).text, rfn_count_text(of->kinds).text,
                    of->kinds == 1 ? "" : "s", rfn_count_text(of->representatives).text,
                    rfn_count_text(of->corrections).text, of->corrections == 1 ? "" : "s");
    if (of->widened)
        rfn_text_format(out, "; the threshold of %s kind%s widened",
                        rfn_count_text(of->widened).text, of->widened == 1 ? "" : "s");
    rfn_text_format(out, "\n%-12s%s of what can match\n", "Matching",
                    rfn_share_text(rfn_reduction_degree(run)).text);
}

static void append_full_size(struct rfn_text *out, const struct rfn_run *run)
{
    uint64_t full = run->reduction.full_bytes;
    rfn_text_format(out, "%-12s%s in full, of which this is %.3g %%\n", "Was",
                    rfn_bytes_text(full).text, 100 * (double)run->file_bytes / (double)full);
}

void rfn_reduction_lines(struct rfn_text *out, const struct rfn_run *run)
{
    const struct rfn_run_reduction *of = &run->reduction;
    if (run->forced) {
        rfn_text_format(out, "%-12s", "Merged");
        rfn_forced_append(out, run);
        rfn_text_char(out, '\n');
    }
    if (!run->reduced)
        return;
    rfn_text_format(out, "%-12s", "Reduced");
    rfn_reduction_append(out, run);
    rfn_text_string(out, of->exact_starts ? "; starts are exact\n" : "\n");
    append_segments(out, run);
    if (run->across)
        rfn_text_format(out, "%-12s%s of %s threads, which are of %s class%s\n", "Times of",
                        rfn_count_text(of->time_sets).text, rfn_count_text(of->streams).text,
                        rfn_count_text(of->classes).text, of->classes == 1 ? "" : "es");
    if (of->full_bytes)
        append_full_size(out, run);
}

json_t *rfn_json_reduction(const struct rfn_run *run)
{
    const struct rfn_run_reduction *of = &run->reduction;
    if (!run->reduced)
        return json_null();
    json_t *value = json_object();
    json_object_set_new(value, "similarity", rfn_json_text(run->similar));
    json_object_set_new(value, "across", run->across ? rfn_json_text(run->across) : json_null());
    json_object_set_new(value, "exact_starts", json_boolean(of->exact_starts));
    json_object_set_new(value, "min_calls", json_integer(of->min_calls));
    json_object_set_new(value, "segments", rfn_json_count(of->executions));
    json_object_set_new(value, "kinds", rfn_json_count(of->kinds));
    json_object_set_new(value, "kept", rfn_json_count(of->representatives));
    json_object_set_new(value, "corrections", rfn_json_count(of->corrections));
    json_object_set_new(value, "threads", rfn_json_count(of->streams));
    json_object_set_new(value, "classes", rfn_json_count(of->classes));
    json_object_set_new(value, "time_sets", rfn_json_count(of->time_sets));
    json_object_set_new(value, "widened", rfn_json_count(of->widened));
    json_object_set_new(value, "degree_of_matching", json_real(rfn_reduction_degree(run)));
    json_object_set_new(value, "full_bytes",
                        of->full_bytes ? rfn_json_count(of->full_bytes) : json_null());
    return value;
}
