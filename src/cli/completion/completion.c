#include "cli/completion/completion.h"

#include <string.h>

enum rfn_completes rfn_completes(const struct rfn_command *command)
{
    if (rfn_command_runs_program(command))
        return RFN_COMPLETES_PROGRAM;
    return strstr(command->usage, "NAME") ? RFN_COMPLETES_JOB : RFN_COMPLETES_ARCHIVES;
}

void rfn_completion_options(struct rfn_text *out, const struct rfn_command *command,
                            rfn_append_option *append)
{
    const struct argp_option *option = command->options;
    for (; option && !rfn_option_is_last(option); option++) {
        if (option->name && !(option->flags & OPTION_HIDDEN))
            append(out, command, option);
    }
}

bool rfn_option_takes_file(const struct argp_option *option)
{
    static const char *const names[] = {"FILE",  "OUT",     "DIR",   "FULL",    "REAL",
                                        "HOSTS", "NETWORK", "P.xml", "RUN.rfn", "FILE.so"};
    for (size_t i = 0; option->arg && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(option->arg, names[i]) == 0)
            return true;
    }
    return false;
}

/* The command has "... --option=a,b ...". */
const char *rfn_option_values(const struct rfn_command *command, const struct argp_option *option)
{
    const size_t length = strlen(option->name);
    const char *at = command->values ? command->values : "";
    for (; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (strncmp(at, "--", 2) == 0 && strncmp(at + 2, option->name, length) == 0 &&
            at[2 + length] == '=')
            return at + length + 3;
    }
    return at;
}

void rfn_completion_values(struct rfn_text *out, const char *values)
{
    for (; *values && *values != ' '; values++)
        rfn_text_char(out, *values == ',' ? ' ' : *values);
}
