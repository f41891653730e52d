/* Two tables are generated, as `case` clauses: the options of each verb, and what stands behind an
 * option. The rest of the script is the same whatever the verbs are.
 *
 * In bash "=" is a word of its own: --time=no is the words --time, =, no. */
#include "cli/completion/completion.h"

#include <string.h>

static const char head[] = "# bash completion for refrain, made by `refrain completion bash`.\n"
                           "\n"
                           "_refrain_reply()\n"
                           "{\n"
                           "    mapfile -t COMPREPLY < <(compgen \"$@\" | sort -u)\n"
                           "    compopt -o filenames 2>/dev/null\n"
                           "}\n"
                           "\n"
                           "# The place of the first word that is no option, nor belongs to one.\n"
                           "_refrain_first()\n"
                           "{\n"
                           "    local at option\n"
                           "    for ((at = 2; at < COMP_CWORD; at++)); do\n"
                           "        option=$(_refrain_value \"$1\" \"${COMP_WORDS[at]}\")\n"
                           "        if [[ ${COMP_WORDS[at]} == -- ]]; then\n"
                           "            break\n"
                           "        elif [[ ${COMP_WORDS[at + 1]} == = ]]; then\n"
                           "            ((at += 2))\n"
                           "        elif [[ $option ]]; then\n"
                           "            ((at++))\n"
                           "        elif [[ ${COMP_WORDS[at]} != -* ]]; then\n"
                           "            break\n"
                           "        fi\n"
                           "    done\n"
                           "    echo \"$at\"\n"
                           "}\n"
                           "\n";

static const char tail[] =
    "_refrain()\n"
    "{\n"
    "    local verb=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} value first\n"
    "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    COMPREPLY=()\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        _refrain_reply -W \"$(_refrain_verbs) help --help --version\" -- \"$word\"\n"
    "        return\n"
    "    fi\n"
    "    if [[ $word == = ]]; then\n"
    "        word=\n"
    "    elif [[ $before == = ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    value=$(_refrain_value \"$verb\" \"$before\")\n"
    "    first=$(_refrain_first \"$verb\")\n"
    "    if [[ $verb == help ]]; then\n"
    "        _refrain_reply -W \"$(_refrain_verbs)\" -- \"$word\"\n"
    "    elif ((first < COMP_CWORD)) && [[ $(_refrain_arguments \"$verb\") == program ]]; then\n"
    "        if declare -F _command_offset >/dev/null; then\n"
    "            _command_offset \"$first\"\n"
    "        else\n"
    "            _refrain_reply -f -- \"$word\"\n"
    "        fi\n"
    "    elif [[ $value == file ]]; then\n"
    "        _refrain_reply -f -- \"$word\"\n"
    "    elif [[ $value ]]; then\n"
    "        _refrain_reply -W \"${value#any}\" -- \"$word\"\n"
    "    elif [[ $word == -* ]]; then\n"
    "        _refrain_reply -W \"$(_refrain_options \"$verb\") --help\" -- \"$word\"\n"
    "    elif [[ $(_refrain_arguments \"$verb\") == program ]]; then\n"
    "        _refrain_reply -c -- \"$word\"\n"
    "        [[ $word == */* ]] && _refrain_reply -f -- \"$word\"\n"
    "    elif [[ $verb == control && $before == sample ]]; then\n"
    "        _refrain_reply -W \"random: adaptive counter: timer: off\" -- \"$word\"\n"
    "    elif [[ $verb == control ]] && ((first < COMP_CWORD)); then\n"
    "        _refrain_reply -W sample= -- \"$word\"\n"
    "    elif [[ $(_refrain_arguments \"$verb\") == job ]]; then\n"
    "        _refrain_reply -W \"$(\"${COMP_WORDS[0]}\" watch 2>/dev/null | awk 'NR > 1 {print "
    "$1}')\" -- \"$word\"\n"
    "    else\n"
    "        _refrain_reply -d -- \"$word\"\n"
    "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X '!*.rfn' -- \"$word\")\n"
    "    fi\n"
    "}\n"
    "complete -F _refrain refrain\n";

static void append_verbs(struct rfn_text *out, const struct rfn_command *const *commands, size_t n)
{
    rfn_text_string(out, "_refrain_verbs()\n{\n    echo");
    for (size_t i = 0; i < n; i++)
        rfn_text_format(out, " %s", commands[i]->name);
    rfn_text_string(out, "\n}\n\n");
}

static void append_name(struct rfn_text *out, const struct rfn_command *command,
                        const struct argp_option *option)
{
    (void)command;
    rfn_text_format(out, " --%s", option->name);
}

static void append_options(struct rfn_text *out, const struct rfn_command *const *commands,
                           size_t n)
{
    rfn_text_string(out, "_refrain_options()\n{\n    case $1 in\n");
    for (size_t i = 0; i < n; i++) {
        rfn_text_format(out, "    %s) echo", commands[i]->name);
        rfn_completion_options(out, commands[i], append_name);
        rfn_text_string(out, " ;;\n");
    }
    rfn_text_string(out, "    esac\n}\n\n");
}

static void append_value(struct rfn_text *out, const struct rfn_command *command,
                         const struct argp_option *option)
{
    if (!option->arg)
        return;
    rfn_text_format(out, "    %s:--%s", command->name, option->name);
    if (rfn_option_letter(option))
        rfn_text_format(out, "|%s:-%c", command->name, option->key);
    rfn_text_string(out, ") echo '");
    rfn_text_string(out, rfn_option_takes_file(option) ? "file" : "any ");
    if (!rfn_option_takes_file(option))
        rfn_completion_values(out, rfn_option_values(command, option));
    rfn_text_string(out, "' ;;\n");
}

/* What stands behind an option: file, any and the usual words, or nothing. */
static void append_values(struct rfn_text *out, const struct rfn_command *const *commands, size_t n)
{
    rfn_text_string(out, "_refrain_value()\n{\n    case $1:$2 in\n");
    for (size_t i = 0; i < n; i++)
        rfn_completion_options(out, commands[i], append_value);
    rfn_text_string(out, "    esac\n}\n\n");
}

static void append_arguments(struct rfn_text *out, const struct rfn_command *const *commands,
                             size_t n)
{
    rfn_text_string(out, "_refrain_arguments()\n{\n    case $1 in\n");
    for (size_t i = 0; i < n; i++) {
        const enum rfn_completes what = rfn_completes(commands[i]);
        if (what != RFN_COMPLETES_ARCHIVES)
            rfn_text_format(out, "    %s) echo %s ;;\n", commands[i]->name,
                            what == RFN_COMPLETES_JOB ? "job" : "program");
    }
    rfn_text_string(out, "    esac\n}\n\n");
}

void rfn_completion_bash(struct rfn_text *out, const struct rfn_command *const *commands, size_t n)
{
    rfn_text_string(out, head);
    append_verbs(out, commands, n);
    append_options(out, commands, n);
    append_values(out, commands, n);
    append_arguments(out, commands, n);
    rfn_text_string(out, tail);
}
