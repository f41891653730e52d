#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rfn_command_parse(const struct rfn_command *command, argp_parser_t parser, int argc,
                       char **argv, void *input)
{
    /* argp prints what stands before \v above the options and the rest below them. */
    char doc[8192];
    snprintf(doc, sizeof doc, "%s.\v%s", command->summary, command->about ? command->about : "");
    const struct argp argp = {
        .options = command->options, .parser = parser, .args_doc = command->usage, .doc = doc};
    argp_err_exit_status = RFN_EXIT_USAGE;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, input);
}

void rfn_command_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fputs("refrain: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static int exit_status(int error)
{
    switch (error) {
    case RFN_E_USAGE:
        return RFN_EXIT_USAGE;
    case RFN_E_CORRUPT:
    case RFN_E_INCOMPLETE:
    case RFN_E_VERSION:
        return RFN_EXIT_BAD_INPUT;
    default:
        return RFN_EXIT_FAILURE;
    }
}

int rfn_command_fail(const char *file, int error, const struct rfn_diag *diag)
{
    const char *text = diag && diag->text[0] ? diag->text : rfn_error_text(error);
    if (file && !strstr(text, file))
        rfn_command_error("%s: %s", file, text);
    else
        rfn_command_error("%s", text);
    return exit_status(error);
}
