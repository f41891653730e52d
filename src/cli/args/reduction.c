#include "cli/args/reduction.h"

#include "cli/args/file_argument.h"
#include "refrain/trace_profile.h"

#include <string.h>

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
