#include "cli/expressions.h"

#include "cli/args/command.h"
#include "cli/text/json.h"

void rfn_expression_argument(struct argp_state *state, const char *text,
                             struct rfn_expressions *expressions)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_expressions_add(expressions, text, &diag) < 0)
        argp_error(state, "--expression: %s", diag.text);
}

void rfn_plugin_argument(struct argp_state *state, const char *file,
                         struct rfn_expressions *expressions)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_expressions_add_plugin(expressions, file, &diag) < 0)
        argp_failure(state, RFN_EXIT_FAILURE, 0, "%s", diag.text);
}

/* "7 parameters without an expression, 3 got one of those given (1 is in the file, ...)" */
void rfn_expression_counts_append(struct rfn_text *out, const struct rfn_expression_counts *counts,
                                  bool file)
{
    rfn_text_format(out, "%s parameter%s without an expression, ",
                    rfn_count_text(counts->parameters).text, counts->parameters == 1 ? "" : "s");
    rfn_text_format(out, "%s got one of those given", rfn_count_text(counts->found).text);
    if (file && counts->stored < counts->found)
        rfn_text_format(out, " (%s in the file; the others are no shorter so)",
                        rfn_count_text(counts->stored).text);
    if (counts->misfits)
        rfn_text_format(out, "; %s of plug-ins did not fit", rfn_count_text(counts->misfits).text);
    if (counts->malformed)
        rfn_text_format(out, "; %s of plug-ins %s no expression%s",
                        rfn_count_text(counts->malformed).text,
                        counts->malformed == 1 ? "was" : "were", counts->malformed == 1 ? "" : "s");
}

void rfn_expression_counts_warn(const struct rfn_expression_counts *counts)
{
    struct rfn_text text = {0};
    if (!counts->first_malformed)
        return;
    rfn_text_printable(&text, counts->first_malformed);
    rfn_text_char(&text, '\0');
    if (!text.failed)
        rfn_command_error("the plug-in gave a wrong expression: %s", text.data);
    rfn_text_release(&text);
}

json_t *rfn_json_expression_counts(const struct rfn_expression_counts *counts)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "parameters", counts->parameters);
    RFN_JSON_SET(value, "found", counts->found);
    RFN_JSON_SET(value, "stored", counts->stored);
    RFN_JSON_SET(value, "misfits", counts->misfits);
    RFN_JSON_SET(value, "malformed", counts->malformed);
    RFN_JSON_SET(value, "first_malformed", counts->first_malformed);
    return value;
}
