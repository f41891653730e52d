#include "cli/keep_predictions.h"

#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/text/json.h"
#include "cli/text/print_text.h"
#include "cli/text/terminal.h"
#include "cli/whatif/selector.h"

#include <stdio.h>
#include <string.h>

void rfn_keep_predictions_argument(struct argp_state *state, const char *text,
                                   struct rfn_aggregate_options *options)
{
    const char *comma = text ? strchr(text, ',') : NULL;
    char time[32];
    const size_t length = comma ? (size_t)(comma - text) : text ? strlen(text) : 0;
    *options = (struct rfn_aggregate_options){.least_ns = -1, .least_bytes = -1};
    if (length >= sizeof time)
        argp_error(state, "--keep-predictions takes TIME[,SIZE], not '%s'", text);
    snprintf(time, sizeof time, "%.*s", (int)length, text ? text : "");
    if (length)
        options->least_ns = rfn_time_argument(state, time, "keep-predictions");
    if (!comma)
        return;
    char *end;
    options->least_bytes = rfn_selector_size(comma + 1, &end);
    if (options->least_bytes < 0 || *end)
        argp_error(state, "--keep-predictions takes a size like 64K behind the comma, not '%s'",
                   comma + 1);
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100 * (double)part / (double)all : 100;
}

static int print_json(const struct rfn_aggregate_result *result, const char *output, int status)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "file", output);
    RFN_JSON_SET(value, "full_bytes", result->bytes_before);
    RFN_JSON_SET(value, "bytes", result->bytes);
    RFN_JSON_SET(value, "size_percent", percent(result->bytes, result->bytes_before));
    RFN_JSON_SET(value, "full_events", result->events_before);
    RFN_JSON_SET(value, "events", result->events);
    RFN_JSON_SET(value, "events_percent", percent(result->events, result->events_before));
    RFN_JSON_SET(value, "least_seconds", rfn_json_seconds((double)result->least_ns));
    RFN_JSON_SET(value, "least_bytes", result->least_bytes);
    return rfn_command_print_json(value, status);
}

/* "kept.rfn: 3,204 of 9,600 events (33.4 %), 61.2 KiB of 160 KiB; assumptions may be about what
 * takes 1.2 ms or more, and messages of 64 KiB or more" */
static int print_text(const struct rfn_aggregate_result *result, const char *output, int status)
{
    struct rfn_text text = {0};
    rfn_text_printable(&text, output);
    rfn_text_format(&text, ": %s of %s events (%.3g %%), %s of %s",
                    rfn_count_text(result->events).text, rfn_count_text(result->events_before).text,
                    percent(result->events, result->events_before),
                    rfn_bytes_text(result->bytes).text, rfn_bytes_text(result->bytes_before).text);
    rfn_text_format(&text,
                    "; assumptions may be about what takes %s or more, and messages of %s or "
                    "more\n",
                    rfn_time_text(result->least_ns).text,
                    rfn_bytes_text((uint64_t)result->least_bytes).text);
    return rfn_command_print(&text, NULL, status);
}

int rfn_keep_predictions(const struct rfn_archive *archive, const char *file,
                         struct rfn_aggregate_options *options, const char *output, bool force,
                         bool json)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "aggregating"};
    struct rfn_aggregate_result result;
    options->progress = rfn_progress_show;
    options->context = &progress;
    const int error = rfn_aggregate(archive, options, output, force, &result, &diag);
    rfn_progress_done(&progress);
    if (error == RFN_E_EXISTS) {
        rfn_command_error("%s exists already; --force replaces it", output);
        return RFN_EXIT_FAILURE;
    }
    if (error < 0)
        return rfn_command_fail(error == RFN_E_USAGE || error == RFN_E_IO ? NULL : file, error,
                                &diag);
    const int status = rfn_command_check_complete(archive, file, RFN_EXIT_OK);
    return json ? print_json(&result, output, status) : print_text(&result, output, status);
}
