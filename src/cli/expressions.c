#include "cli/expressions.h"

#include "cli/command.h"
#include "cli/json.h"

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
        rfn_command_error("what a plug-in gave is no expression: %s", text.data);
    rfn_text_release(&text);
}

json_t *rfn_json_expression_counts(const struct rfn_expression_counts *counts)
{
    json_t *value = json_object();
    json_object_set_new(value, "parameters", rfn_json_count(counts->parameters));
    json_object_set_new(value, "found", rfn_json_count(counts->found));
    json_object_set_new(value, "stored", rfn_json_count(counts->stored));
    json_object_set_new(value, "misfits", rfn_json_count(counts->misfits));
    json_object_set_new(value, "malformed", rfn_json_count(counts->malformed));
    json_object_set_new(value, "first_malformed", rfn_json_text(counts->first_malformed));
    return value;
}
