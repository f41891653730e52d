#include "record/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rec_options rec_options = {.times = true};

static bool is(const char *variable, const char *value)
{
    const char *set = getenv(variable);
    return set && strcmp(set, value) == 0;
}

static char *copy_of(const char *variable)
{
    const char *set = getenv(variable);
    return set && *set ? strdup(set) : NULL;
}

/* The process's arguments, separated by spaces. */
static char *own_command(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen("/proc/self/cmdline", "re");
    if (!file)
        return NULL;
    FILE *out = open_memstream(&text, &size);
    for (int c; out && (c = getc(file)) != EOF;)
        putc(c ? c : ' ', out);
    fclose(file);
    if (out)
        fclose(out);
    while (text && size > 0 && text[size - 1] == ' ')
        text[--size] = 0;
    return text;
}

void rec_options_read(void)
{
    rec_options.output = copy_of("REFRAIN_OUTPUT");
    rec_options.program = copy_of("REFRAIN_PROGRAM");
    rec_options.command = copy_of("REFRAIN_COMMAND");
    if (!rec_options.program)
        rec_options.program = strdup(program_invocation_short_name);
    if (!rec_options.command)
        rec_options.command = own_command();
    rec_options.directory = getcwd(NULL, 0);
    rec_options.force = is("REFRAIN_FORCE", "1");
    rec_options.times = !is("REFRAIN_TIME", "none");
    rec_options.all_polls = is("REFRAIN_POLLS", "all");
    rec_options.quiet = is("REFRAIN_QUIET", "1");
}

/* Removes one path from LD_PRELOAD, a list separated by colons or spaces. */
static void drop_preload(const char *path)
{
    const char *list = getenv("LD_PRELOAD");
    if (!list)
        return;
    char *copy = strdup(list), *rest = calloc(1, strlen(list) + 1), *state = NULL;
    for (char *word = copy ? strtok_r(copy, ": ", &state) : NULL; word && rest;
         word = strtok_r(NULL, ": ", &state)) {
        if (strcmp(word, path) == 0)
            continue;
        if (*rest)
            strcat(rest, ":");
        strcat(rest, word);
    }
    if (rest && *rest)
        setenv("LD_PRELOAD", rest, 1);
    else
        unsetenv("LD_PRELOAD");
    free(copy);
    free(rest);
}

void rec_options_clean_environment(void)
{
#ifndef RFN_FLAVOUR_SMPI /* there all ranks share one environment, and nothing is preloaded */
    static const char *const variables[] = {"REFRAIN_OUTPUT",  "REFRAIN_FORCE",   "REFRAIN_TIME",
                                            "REFRAIN_POLLS",   "REFRAIN_PROGRAM", "REFRAIN_COMMAND",
                                            "REFRAIN_PRELOAD", "REFRAIN_QUIET",   "REFRAIN_CLOCK"};
    const char *preload = getenv("REFRAIN_PRELOAD");
    if (preload)
        drop_preload(preload);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
#endif
}
