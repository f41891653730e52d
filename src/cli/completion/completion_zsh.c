/* Each verb becomes a call of zsh's _arguments, with a specification per option. */
#include "cli/completion/completion.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
    "#compdef refrain\n"
    "# zsh completion for refrain, made by `refrain completion zsh`.\n"
    "\n"
    "_refrain_jobs()\n"
    "{\n"
    "    local -a jobs\n"
    "    jobs=(${(f)\"$(refrain watch 2>/dev/null | awk 'NR > 1 {print $1}')\"})\n"
    "    compadd -a jobs\n"
    "}\n"
    "\n"
    "_refrain()\n"
    "{\n"
    "    local -a verbs\n"
    "    verbs=(\n";

/* In single quotes, of a specification in which brackets and colons end a part. */
static void append_part(struct rfn_text *out, const char *words)
{
    for (; words && *words; words++) {
        if (strchr("[]:\\", *words))
            rfn_text_char(out, '\\');
        rfn_text_string(out, *words == '\'' ? "'\\''" : (char[]){*words, 0});
    }
}

static void append_value(struct rfn_text *out, const struct rfn_command *command,
                         const struct argp_option *option)
{
    const char *values = rfn_option_values(command, option);
    rfn_text_string(out, option->flags & OPTION_ARG_OPTIONAL ? "::" : ":");
    append_part(out, option->arg);
    rfn_text_string(out, rfn_option_takes_file(option) ? ":_files" : *values ? ":(" : ": ");
    rfn_completion_values(out, values);
    rfn_text_string(out, *values ? ")" : ""); /* none: the argument's name is shown */
}

/* '-o+[words]:FILE:_files' or '--output=[words]:FILE:_files' */
static void append_form(struct rfn_text *out, const struct rfn_command *command,
                        const struct argp_option *option, const char *form, const char *behind)
{
    rfn_text_format(out, "            '%s%s[", form, option->arg ? behind : "");
    append_part(out, option->doc);
    rfn_text_char(out, ']');
    if (option->arg)
        append_value(out, command, option);
    rfn_text_string(out, "' \\\n");
}

static void append_option(struct rfn_text *out, const struct rfn_command *command,
                          const struct argp_option *option)
{
    char form[64];
    snprintf(form, sizeof form, "--%s", option->name);
    append_form(out, command, option, form, option->flags & OPTION_ARG_OPTIONAL ? "=-" : "=");
    snprintf(form, sizeof form, "-%c", rfn_option_letter(option));
    if (form[1])
        append_form(out, command, option, form, "+");
}

static void append_arguments(struct rfn_text *out, const struct rfn_command *command)
{
    static const char *const arguments[] = {
        [RFN_COMPLETES_ARCHIVES] = "'*:archive:_files'",
        [RFN_COMPLETES_PROGRAM] = "'(-):program:_command_names -e' '*::arguments:_normal'",
        [RFN_COMPLETES_JOB] = "'*:job:_refrain_jobs'",
    };
    rfn_text_format(out, "            %s ;;\n", arguments[rfn_completes(command)]);
}

void rfn_completion_zsh(struct rfn_text *out, const struct rfn_command *const *commands, size_t n)
{
    rfn_text_string(out, head);
    for (size_t i = 0; i < n; i++) {
        rfn_text_format(out, "        '%s:", commands[i]->name);
        append_part(out, commands[i]->summary);
        rfn_text_string(out, "'\n");
    }
    rfn_text_string(out, "    )\n"
                         "    if ((CURRENT == 2)); then\n"
                         "        _describe command verbs\n"
                         "        return\n"
                         "    fi\n"
                         "    local verb=$words[2]\n"
                         "    shift words\n"
                         "    ((CURRENT--))\n"
                         "    case $verb in\n"
                         "    help)\n"
                         "        _describe command verbs ;;\n");
    for (size_t i = 0; i < n; i++) {
        rfn_text_format(out, "    %s)\n        _arguments -S \\\n", commands[i]->name);
        rfn_completion_options(out, commands[i], append_option);
        rfn_text_string(out, "            '--help[Show the options]' \\\n");
        append_arguments(out, commands[i]);
    }
    rfn_text_string(out, "    esac\n}\n\n_refrain \"$@\"\n");
}
