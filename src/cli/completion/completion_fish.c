/* A line of fish's `complete` for each verb, option and argument. */
#include "cli/completion/completion.h"

#include <string.h>

static const char head[] = "# fish completion for refrain, made by `refrain completion fish`.\n"
                           "complete -c refrain -n __fish_use_subcommand -f\n";

static void append_quoted(struct rfn_text *out, const char *words)
{
    rfn_text_char(out, '\'');
    for (; words && *words; words++) {
        if (strchr("'\\", *words))
            rfn_text_char(out, '\\');
        rfn_text_char(out, *words);
    }
    rfn_text_char(out, '\'');
}

static void append_condition(struct rfn_text *out, const struct rfn_command *command)
{
    rfn_text_format(out, "complete -c refrain -n '__fish_seen_subcommand_from %s'", command->name);
}

static void append_option(struct rfn_text *out, const struct rfn_command *command,
                          const struct argp_option *option)
{
    append_condition(out, command);
    rfn_text_format(out, " -l %s", option->name);
    if (rfn_option_letter(option))
        rfn_text_format(out, " -s %c", option->key);
    if (rfn_option_takes_file(option)) {
        rfn_text_string(out, " -r -F");
    } else if (option->arg) {
        rfn_text_string(out, option->flags & OPTION_ARG_OPTIONAL ? " -f -a '" : " -r -f -a '");
        rfn_completion_values(out, rfn_option_values(command, option));
        rfn_text_char(out, '\'');
    }
    rfn_text_string(out, " -d ");
    append_quoted(out, option->doc);
    rfn_text_char(out, '\n');
}

static void append_arguments(struct rfn_text *out, const struct rfn_command *command)
{
    static const char *const arguments[] = {
        [RFN_COMPLETES_ARCHIVES] = " -F",
        [RFN_COMPLETES_PROGRAM] = " -x -a '(__fish_complete_subcommand --fcs-skip=2)'",
        [RFN_COMPLETES_JOB] = " -x -a \"(refrain watch 2>/dev/null | awk 'NR > 1 {print \\$1}')\"",
    };
    append_condition(out, command);
    rfn_text_format(out, "%s\n", arguments[rfn_completes(command)]);
}

void rfn_completion_fish(struct rfn_text *out, const struct rfn_command *const *commands, size_t n)
{
    rfn_text_string(out, head);
    for (size_t i = 0; i < n; i++) {
        rfn_text_format(out, "complete -c refrain -n __fish_use_subcommand -f -a %s -d ",
                        commands[i]->name);
        append_quoted(out, commands[i]->summary);
        rfn_text_char(out, '\n');
        append_arguments(out, commands[i]);
        rfn_completion_options(out, commands[i], append_option);
    }
}
