/* predicted_file.c - refrain whatif -o: the predicted run as an archive. */
#include "cli/args/command.h"
#include "cli/text/json.h"
#include "cli/text/terminal.h"
#include "cli/whatif/whatif.h"

#include <string.h>

/* "rank:3 x 0.5, compute:smooth at most 1 ms"; before it the assumptions with which the file was
 * predicted itself. */
static void append_assumed(struct rfn_text *text, const struct rfn_whatif *whatif)
{
    const char *before = rfn_archive_run(whatif->run->archive)->predicted;
    if (before)
        rfn_text_printable(text, before);
    for (size_t i = 0; i < whatif->n_given; i++) {
        rfn_text_string(text, i ? ", " : before && before[0] ? ", then " : "");
        rfn_selector_append(text, &whatif->given[i]);
        if (whatif->caps_ns[i])
            rfn_text_format(text, " at most %s", rfn_time_text(whatif->caps_ns[i]).text);
        else
            rfn_text_format(text, " x %g", whatif->factors[i]);
    }
}

static int print_text(const struct rfn_whatif *whatif, const struct rfn_prediction *prediction,
                      const char *path, const char *assumed, uint64_t bytes)
{
    struct rfn_text out = {0};
    rfn_text_printable(&out, path);
    rfn_text_format(&out, ": %s", rfn_time_text(prediction->predicted_ns[0]).text);
    if (assumed[0])
        rfn_text_format(&out, " with %s", assumed);
    rfn_text_format(&out, ", instead of %s; %s\n", rfn_time_text(prediction->recorded_ns).text,
                    rfn_bytes_text(bytes).text);
    return rfn_command_print(&out, whatif->file, RFN_EXIT_OK);
}

static int print_json(const struct rfn_whatif *whatif, const struct rfn_prediction *prediction,
                      const char *path, const char *assumed, uint64_t bytes)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "schema", (uint32_t)1);
    RFN_JSON_SET(value, "file", whatif->file);
    RFN_JSON_SET(value, "output", path);
    RFN_JSON_SET(value, "predicted", assumed);
    RFN_JSON_SET(value, "recorded_seconds", rfn_json_seconds((double)prediction->recorded_ns));
    RFN_JSON_SET(value, "predicted_seconds", rfn_json_seconds((double)prediction->predicted_ns[0]));
    RFN_JSON_SET(value, "bytes", bytes);
    return rfn_command_print_json(value, RFN_EXIT_OK);
}

static int fail(const struct rfn_whatif *whatif, const char *path, int error,
                const struct rfn_diag *diag)
{
    if (error == RFN_E_EXISTS) {
        rfn_command_error("%s exists already; --force replaces it", path);
        return RFN_EXIT_FAILURE;
    }
    return rfn_command_fail(error == RFN_E_USAGE || error == RFN_E_IO ? NULL : whatif->file, error,
                            diag);
}

int rfn_whatif_write(const struct rfn_whatif *whatif, const struct rfn_lane *lane, const char *path,
                     bool force, bool json)
{
    struct rfn_progress progress = {.what = "predicting"};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_prediction prediction;
    struct rfn_text text = {0};
    uint64_t bytes;
    append_assumed(&text, whatif);
    const char *assumed = rfn_text_terminated(&text);
    const struct rfn_predict_options options = {.network = &whatif->network,
                                                .lanes = lane,
                                                .n = 1,
                                                .progress = rfn_progress_show,
                                                .context = &progress};
    int error = rfn_predict_write(whatif->run->archive, &options, assumed, path, force, &prediction,
                                  &bytes, &diag);
    rfn_progress_done(&progress);
    int status = error  ? fail(whatif, path, error, &diag)
                 : json ? print_json(whatif, &prediction, path, assumed, bytes)
                        : print_text(whatif, &prediction, path, assumed, bytes);
    if (!error)
        rfn_prediction_release(&prediction);
    rfn_text_release(&text);
    return status;
}
