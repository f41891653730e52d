/* expressions.h - users' expressions for parameters that differ between ranks, as options of
 * `refrain reduce` and `refrain info`, and what came of them. */
#ifndef RFN_CLI_EXPRESSIONS_H
#define RFN_CLI_EXPRESSIONS_H

#include "cli/args/command.h"
#include "cli/text/print_text.h"
#include "refrain/expression.h"

#include <argp.h>
#include <jansson.h>

#define RFN_EXPRESSION_OPTION(key)                                                                 \
    {                                                                                              \
        "expression", key, "TEXT", 0, "Try this for parameters, as '(r + n / 2) % n'; repeatable", \
            RFN_OPTIONS_MORE                                                                       \
    }
#define RFN_PLUGIN_OPTION(key)                                                             \
    {                                                                                      \
        "plugin", key, "FILE.so", 0, "Ask this shared object for expressions; repeatable", \
            RFN_OPTIONS_MORE                                                               \
    }

/* For parsers: adds what is given; what is no expression or plug-in ends the program. */
void rfn_expression_argument(struct argp_state *state, const char *text,
                             struct rfn_expressions *expressions);
void rfn_plugin_argument(struct argp_state *state, const char *file,
                         struct rfn_expressions *expressions);

/* "7 parameters without an expression, 3 got one of those given", and what else there is to say.
 * file: some are in a file. */
void rfn_expression_counts_append(struct rfn_text *out, const struct rfn_expression_counts *counts,
                                  bool file);
/* Tells on standard error that a plug-in gave what is no expression. */
void rfn_expression_counts_warn(const struct rfn_expression_counts *counts);
json_t *rfn_json_expression_counts(const struct rfn_expression_counts *counts);

#endif
