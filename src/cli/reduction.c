#include "cli/reduction.h"

#include "cli/file_argument.h"
#include "refrain/trace_profile.h"

#include <string.h>

void rfn_similar_argument(struct argp_state *state, const char *arg)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_similarity_check(arg, &diag) < 0)
        argp_error(state, "--similar: %s", diag.text);
}

void rfn_merge_parameter_argument(struct argp_state *state, const char *arg)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_forced_check(arg, &diag) < 0)
        argp_error(state, "--merge-parameter: %s", diag.text);
}

uint32_t rfn_min_calls_argument(struct argp_state *state, const char *arg)
{
    uint64_t n = rfn_number_argument(state, arg, "number for --segment-min-calls");
    if (n < 1 || n > INT32_MAX)
        argp_error(state, "--segment-min-calls is a whole number from 1 on, not '%s'", arg);
    return (uint32_t)n;
}

bool rfn_starts_argument(struct argp_state *state, const char *arg)
{
    bool exact = strcmp(arg, "exact") == 0;
    if (!exact && strcmp(arg, "predicted") != 0)
        argp_error(state, "--starts is 'exact' or 'predicted', not '%s'", arg);
    return exact;
}

void rfn_across_argument(struct argp_state *state, const char *given, const char *similar,
                         char *text)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_across_text(given, similar, text, &diag) < 0)
        argp_error(state, "--across: %s", diag.text);
}
