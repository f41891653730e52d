#include "cli/args/unknown_option.h"

#include "cli/args/suggest.h"

#include <stdio.h>
#include <string.h>

/* The option of a long name, or of a beginning of it; NULL: none. */
static const struct argp_option *find_long(const struct argp_option *options, const char *name,
                                           size_t length)
{
    const struct argp_option *found = NULL;
    for (const struct argp_option *o = options; o && !rfn_option_is_last(o); o++) {
        if (!o->name || strncmp(o->name, name, length) != 0)
            continue;
        found = o;
        if (!o->name[length])
            break;
    }
    return found;
}

static const struct argp_option *find_short(const struct argp_option *options, char letter)
{
    for (const struct argp_option *o = options; o && !rfn_option_is_last(o); o++) {
        if (letter != 0 && o->key == letter)
            return o;
    }
    return NULL;
}

/* The option of a word that begins with '-', and whether its value is the next word. *attached: its
 * value, if any, is a part of the word. */
static const struct argp_option *find_option(const struct rfn_command *command, const char *word,
                                             bool *attached)
{
    static const struct argp_option builtin[] = {
        {"help", '?', NULL, 0, "", 0}, {"usage", 'U', NULL, 0, "", 0}, {0}};
    const bool is_long = word[1] == '-';
    const size_t length = is_long ? strcspn(word + 2, "=") : 1;
    *attached = is_long ? word[2 + length] == '=' : word[2] != 0;
    const struct argp_option *of[] = {command->options, builtin}, *found = NULL;
    for (size_t i = 0; i < 2 && !found; i++)
        found = is_long ? find_long(of[i], word + 2, length) : find_short(of[i], word[1]);
    return found;
}

const char *rfn_unknown_option(const struct rfn_command *command, int argc, char **argv)
{
    const bool runs_program = strncmp(command->usage, "PROGRAM", strlen("PROGRAM")) == 0;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool attached;
        if (argv[i][0] != '-' || !argv[i][1]) {
            if (runs_program)
                return NULL;
            continue;
        }
        const struct argp_option *option = find_option(command, argv[i], &attached);
        if (!option)
            return argv[i];
        i += option->arg && !(option->flags & OPTION_ARG_OPTIONAL) && !attached;
    }
    return NULL;
}

const char *rfn_nearest_option(const struct rfn_command *command, const char *word)
{
    const char *names[RFN_COMMAND_OPTIONS];
    char name[64];
    size_t n = 0;
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    for (const struct argp_option *o = command->options; o && !rfn_option_is_last(o); o++) {
        if (o->name && !(o->flags & OPTION_HIDDEN) && n < RFN_COMMAND_OPTIONS)
            names[n++] = o->name;
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    return rfn_suggest(name, names, n);
}
