#include "cli/predict/compared.h"

#include "cli/compare/opened_runs.h"

int rfn_prediction_compare(const struct rfn_prediction_compared *what, struct rfn_text *out,
                           json_t **value)
{
    char *names[] = {(char *)what->real, (char *)what->name};
    const char *const files[] = {what->real, what->predicted};
    const struct rfn_compare_options how = {
        .files = names, .n_files = 2, .json = what->json, .top = what->top, .width = what->width};
    struct rfn_opened_runs opened;
    struct rfn_compared_runs compared;
    int status = rfn_opened_runs_init(&opened, files, 2);
    if (opened.n == 2) {
        status = rfn_command_tell_missing(opened.archives[0], what->real, what->json ? NULL : out,
                                          status);
        if (rfn_compared_runs_init(&compared, opened.runs) < 0)
            status = rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
        else if (what->json)
            *value = rfn_compare_two_json(&how, &compared);
        else
            rfn_compare_two_text(out, &how, &compared);
        rfn_compared_runs_release(&compared);
    }
    rfn_opened_runs_release(&opened);
    return status;
}
