#include "cli/text/trace_model.h"

#include "cli/text/json.h"

int rfn_trace_model_make(struct rfn_trace_model *model, const struct rfn_archive *archive,
                         const char *similar, struct rfn_diag *diag)
{
    struct rfn_trace_profile_options options = {.similar = similar, .min_calls = 1};
    struct rfn_trace_profile *profile;
    RFN_TRY(rfn_trace_profile_new(archive, &options, &profile, diag));
    *model = (struct rfn_trace_model){.similar = similar,
                                      .stats = rfn_trace_profile_stats(profile)};
    int error = rfn_trace_profile_measure(profile, &model->measures, diag);
    rfn_trace_profile_free(profile);
    return error;
}

static void line(struct rfn_text *out, const char *name, const char *value, const char *more)
{
    rfn_text_format(out, "  %-20s%s%s\n", name, value, more);
}

void rfn_trace_model_append(struct rfn_text *out, const struct rfn_trace_model *model)
{
    const struct rfn_trace_profile_stats *stats = &model->stats;
    const struct rfn_reduction_measures *measures = &model->measures;
    rfn_text_string(out, "\nAs a trace profile, with alike segments (iterations of loops, and what "
                         "lies between) kept once: ");
    rfn_text_printable(out, model->similar);
    rfn_text_string(out, "\n");
    if (!stats->streams) {
        rfn_text_string(out, "  Nothing that has times is here.\n");
        return;
    }
    line(out, "Segments", rfn_count_text(stats->executions).text, "");
    line(out, "Kept", rfn_count_text(stats->representatives).text, "");
    line(out, "Of different kinds", rfn_count_text(stats->kinds).text, "");
    line(out, "Degree of matching", rfn_share_text(measures->degree_of_matching).text, "");
    rfn_text_format(out, "  %-20s%s at most, for 90 %% of them\n", "Times are off by",
                    rfn_time_text((int64_t)(1e3 * measures->approximation_distance_us)).text);
    line(out, "Memory", rfn_bytes_text(stats->memory_bytes).text,
         " while recording, on the rank that needs most");
    line(out, "Traditional trace", rfn_bytes_text(measures->model_full_bytes).text,
         ", by Mohror's model");
    rfn_text_format(out, "  %-20s%s, by Mohror's model (%.3g %% of that)\n", "Trace profile",
                    rfn_bytes_text(measures->model_profile_bytes).text,
                    measures->model_size_percent);
}

json_t *rfn_json_trace_model(const struct rfn_trace_model *model)
{
    const struct rfn_trace_profile_stats *stats = &model->stats;
    const struct rfn_reduction_measures *measures = &model->measures;
    json_t *value = json_object();
    RFN_JSON_SET(value, "similarity", model->similar);
    RFN_JSON_SET(value, "segments", stats->executions);
    RFN_JSON_SET(value, "kinds", stats->kinds);
    RFN_JSON_SET(value, "kept", stats->representatives);
    RFN_JSON_SET(value, "degree_of_matching", measures->degree_of_matching);
    RFN_JSON_SET(value, "approximation_distance_us", measures->approximation_distance_us);
    RFN_JSON_SET(value, "memory_bytes", stats->memory_bytes);
    RFN_JSON_SET(value, "trace_bytes", measures->model_full_bytes);
    RFN_JSON_SET(value, "profile_bytes", measures->model_profile_bytes);
    RFN_JSON_SET(value, "size_percent", measures->model_size_percent);
    return value;
}
