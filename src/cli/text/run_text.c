#include "cli/text/run_text.h"

#include "cli/text/json.h"
#include "refrain/recording.h"

void rfn_mpi_append(struct rfn_text *out, const struct rfn_run *run)
{
    struct rfn_text mpi = {0};
    rfn_text_printable(&mpi, run->mpi ? run->mpi : "?");
    const char *words = rfn_text_terminated(&mpi);
    rfn_text_bytes(out, words, strcspn(words, ","));
    out->failed |= mpi.failed;
    rfn_text_release(&mpi);
}

void rfn_reduction_append(struct rfn_text *out, const struct rfn_run *run)
{
    const struct rfn_run_reduction *of = &run->reduction;
    bool one = run->across && strcmp(run->across, "one") == 0;
    size_t from = out->n;
    rfn_text_string(out, "times are those of similar iterations (");
    rfn_text_printable(out, run->similar);
    if (run->across && !one) {
        rfn_text_string(out, ", across processes ");
        rfn_text_printable(out, run->across);
        if (of->time_sets >= of->streams)
            rfn_text_string(out, ", where no two went alike");
    }
    for (size_t i = from; i < out->n && !out->failed; i++) {
        if (out->data[i] == ':') /* "avgWave:0.2" as "avgWave 0.2" */
            out->data[i] = ' ';
    }
    rfn_text_char(out, ')');
    if (one && of->time_sets < of->streams)
        rfn_text_format(out,
                        ", and times of one rank stand for those of its cluster (those of %s "
                        "thread%s for %s)",
                        rfn_count_text(of->time_sets).text, of->time_sets == 1 ? "" : "s",
                        rfn_count_text(of->streams).text);
    else if (one)
        rfn_text_string(out, ", each rank's its own, as no two have the same loops and parameters");
}

void rfn_forced_append(struct rfn_text *out, const struct rfn_run *run)
{
    rfn_text_string(out, "some parameters are those of the lowest rank of each cluster (");
    rfn_text_printable(out, run->forced);
    rfn_text_string(out, "), and messages may not match");
}

void rfn_predicted_append(struct rfn_text *out, const struct rfn_run *run)
{
    rfn_text_string(out, "times are predicted, not recorded: ");
    if (run->predicted[0])
        rfn_text_printable(out, run->predicted);
    else
        rfn_text_string(out, "nothing is assumed");
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

void rfn_path_ends_line(struct rfn_text *text, const struct rfn_run *run, int width)
{
    const struct rfn_path_ends *ends = &run->path_ends;
    if (ends->inner == 0)
        return;
    rfn_text_format(text, "%-*s", width, "Paths");
    if (ends->outer == 1)
        rfn_text_string(text, "the outermost frame and ");
    else if (ends->outer > 1)
        rfn_text_format(text, "the %u outermost frames and ", ends->outer);
    if (ends->inner == 1)
        rfn_text_string(text, "the innermost frame");
    else
        rfn_text_format(text, "the %u innermost frames", ends->inner);
    rfn_text_string(text, " only (--call-path-match)\n");
}

void rfn_reduction_lines(struct rfn_text *out, const struct rfn_run *run)
{
    const struct rfn_run_reduction *of = &run->reduction;
    if (run->predicted) {
        rfn_text_format(out, "%-12s", "Predicted");
        rfn_predicted_append(out, run);
        rfn_text_char(out, '\n');
    }
    if (run->forced) {
        rfn_text_format(out, "%-12s", "Merged");
        rfn_forced_append(out, run);
        rfn_text_char(out, '\n');
    }
    if (run->times && !run->reduced)
        rfn_text_format(out,
                        "%-12sfull: of every event (each thread's take at most %s, or "
                        "--time=full)\n",
                        "Times", rfn_bytes_text(rfn_short_times(run->ranks)).text);
    if (!run->reduced)
        return;
    rfn_text_format(out, "%-12s", "Reduced");
    rfn_reduction_append(out, run);
    rfn_text_string(out, of->exact_starts ? "; starts are exact" : "");
    if (of->long_streams)
        rfn_text_format(out, ", as full ones of %s thread%s take more than %s",
                        rfn_count_text(of->long_streams).text, of->long_streams == 1 ? "" : "s",
                        rfn_bytes_text(rfn_short_times(run->ranks)).text);
    rfn_text_format(out, "\n%-12s%s of %s kind%s, %s kept; %s start%s corrected", "Segments",
                    rfn_count_text(of->executions).text, rfn_count_text(of->kinds).text,
                    of->kinds == 1 ? "" : "s", rfn_count_text(of->representatives).text,
                    rfn_count_text(of->corrections).text, of->corrections == 1 ? "" : "s");
    if (of->widened)
        rfn_text_format(out, "; the threshold of %s kind%s widened",
                        rfn_count_text(of->widened).text, of->widened == 1 ? "" : "s");
    rfn_text_format(out, "\n%-12s%s of what can match\n", "Matching",
                    rfn_share_text(rfn_reduction_degree(run)).text);
    if (run->across)
        rfn_text_format(out, "%-12s%s of %s threads, which are of %s class%s\n", "Times of",
                        rfn_count_text(of->time_sets).text, rfn_count_text(of->streams).text,
                        rfn_count_text(of->classes).text, of->classes == 1 ? "" : "es");
    if (of->full_bytes)
        rfn_text_format(out, "%-12s%s in full, of which this is %.3g %%\n", "Was",
                        rfn_bytes_text(of->full_bytes).text,
                        100 * (double)run->file_bytes / (double)of->full_bytes);
}

json_t *rfn_json_reduction(const struct rfn_run *run)
{
    const struct rfn_run_reduction *of = &run->reduction;
    if (!run->reduced)
        return json_null();
    json_t *value = json_object();
    RFN_JSON_SET(value, "similarity", run->similar);
    RFN_JSON_SET(value, "across", run->across ? rfn_json_text(run->across) : json_null());
    RFN_JSON_SET(value, "exact_starts", of->exact_starts);
    RFN_JSON_SET(value, "min_calls", of->min_calls);
    RFN_JSON_SET(value, "segments", of->executions);
    RFN_JSON_SET(value, "kinds", of->kinds);
    RFN_JSON_SET(value, "kept", of->representatives);
    RFN_JSON_SET(value, "corrections", of->corrections);
    RFN_JSON_SET(value, "long_threads", of->long_streams);
    RFN_JSON_SET(value, "threads", of->streams);
    RFN_JSON_SET(value, "classes", of->classes);
    RFN_JSON_SET(value, "time_sets", of->time_sets);
    RFN_JSON_SET(value, "widened", of->widened);
    RFN_JSON_SET(value, "degree_of_matching", rfn_reduction_degree(run));
    RFN_JSON_SET(value, "full_bytes",
                 of->full_bytes ? rfn_json_count(of->full_bytes) : json_null());
    return value;
}
