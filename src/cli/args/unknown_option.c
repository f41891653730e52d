#include "cli/args/unknown_option.h"

#include "cli/args/suggest.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { BUILT_IN = 2, LETTERS = 3 + 3 * RFN_COMMAND_OPTIONS };

/* A verb's options, and argp's own, for getopt_long. */
struct names {
    struct option longs[RFN_COMMAND_OPTIONS + BUILT_IN + 1];
    char letters[LETTERS];
};

static int argument_of(const struct argp_option *option)
{
    return !option->arg                          ? no_argument
           : option->flags & OPTION_ARG_OPTIONAL ? optional_argument
                                                 : required_argument;
}

/* "-": argv keeps its order, and each word that is no option is told; ":": so are missing values.
 */
static struct names names_of(const struct rfn_command *command)
{
    static const char *const colons[] = {
        [no_argument] = "", [required_argument] = ":", [optional_argument] = "::"};
    struct names names = {.letters = "-:"};
    size_t n = 0, at = strlen(names.letters);
    for (const struct argp_option *o = command->options; o && !rfn_option_is_last(o); o++) {
        if (o->name)
            names.longs[n++] = (struct option){o->name, argument_of(o), NULL, 0};
        if (rfn_option_letter(o))
            at += (size_t)snprintf(names.letters + at, LETTERS - at, "%c%s", o->key,
                                   colons[argument_of(o)]);
    }
    names.longs[n++] = (struct option){"help", no_argument, NULL, 0};
    names.longs[n] = (struct option){"usage", no_argument, NULL, 0};
    return names;
}

/* Whether a word begins like an option that there is: then argp tells the fault. */
static bool begins_option(const struct names *names, const char *word)
{
    const size_t length = strcspn(word, "=");
    for (const struct option *o = names->longs; o->name; o++) {
        if (strncmp(o->name, word, length) == 0)
            return true;
    }
    return false;
}

bool rfn_unknown_option(const struct rfn_command *command, int argc, char **argv, char *name,
                        size_t size)
{
    const struct names names = names_of(command);
    int found;
    opterr = 0;
    optind = 0; /* from the start */
    while ((found = getopt_long(argc, argv, names.letters, names.longs, NULL)) != -1) {
        if (found == 1 && rfn_command_runs_program(command))
            return false;
        if (found != '?' || optopt == '?') /* argp's short --help */
            continue;
        const char *word = argv[optind - 1];
        if (optopt)
            snprintf(name, size, "-%c", optopt);
        else if (!begins_option(&names, word + 2))
            snprintf(name, size, "%.*s", (int)strcspn(word, "="), word);
        else
            continue;
        return true;
    }
    return false;
}

const char *rfn_nearest_option(const struct rfn_command *command, const char *name)
{
    const char *names[RFN_COMMAND_OPTIONS];
    size_t n = 0;
    if (strncmp(name, "--", 2) != 0)
        return NULL;
    for (const struct argp_option *o = command->options; o && !rfn_option_is_last(o); o++) {
        if (o->name && !(o->flags & OPTION_HIDDEN))
            names[n++] = o->name;
    }
    return rfn_suggest(name + 2, names, n);
}
