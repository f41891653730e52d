#include "replay/arguments.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS_MAX = 1000, TIMEOUT_MAX = 10000000 };

/* What follows NAME= in a word, or NULL. */
static const char *value_of(const char *word, const char *name)
{
    size_t n = strlen(name);
    return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

static int wrong(struct rfn_diag *diag, const char *word)
{
    return rfn_fail(diag, RFN_E_USAGE, -1, -1, "replay: wrong argument '%.200s'", word);
}

/* A whole number from 1 on. */
static int number(const char *text, long most, long *value)
{
    char *end;
    *value = strtol(text, &end, 10);
    return text[0] >= '1' && text[0] <= '9' && !*end && *value <= most ? 0 : RFN_E_USAGE;
}

static int factor(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value) && *value >= 0 ? 0 : RFN_E_USAGE;
}

static int compute(const char *text, enum rpl_compute *value)
{
    *value = strcmp(text, "busy") == 0 ? RPL_COMPUTE_BUSY : RPL_COMPUTE_SLEEP;
    return strcmp(text, "busy") == 0 || strcmp(text, "sleep") == 0 ? 0 : RFN_E_USAGE;
}

static int parse_word(struct rpl_arguments *words, const char *word)
{
    const char *value;
    long n;
    if ((value = value_of(word, "--against"))) {
        words->against = value;
    } else if ((value = value_of(word, "--repeat"))) {
        RFN_TRY(number(value, REPEATS_MAX, &n));
        words->repeats = (int)n;
    } else if ((value = value_of(word, "--timeout"))) {
        RFN_TRY(number(value, TIMEOUT_MAX, &n));
        words->timeout_seconds = (unsigned)n;
    } else if ((value = value_of(word, "--scale-compute"))) {
        RFN_TRY(factor(value, &words->scale));
    } else if ((value = value_of(word, "--compute"))) {
        RFN_TRY(compute(value, &words->compute));
    } else if (strcmp(word, "--no-compute") == 0) {
        words->scale = 0;
    } else if (strcmp(word, "--json") == 0) {
        words->json = true;
    } else if (word[0] == '-' || words->file) {
        return RFN_E_USAGE;
    } else {
        words->file = word;
    }
    return 0;
}

int rpl_arguments_parse(struct rpl_arguments *words, int argc, char **argv, struct rfn_diag *diag)
{
    bool only_files = false;
    *words = (struct rpl_arguments){.scale = 1};
    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0) {
            only_files = true;
        } else if (only_files && !words->file) {
            words->file = argv[i];
        } else if (only_files || parse_word(words, argv[i]) < 0) {
            return wrong(diag, argv[i]);
        }
    }
    if (!words->file)
        return rfn_fail(diag, RFN_E_USAGE, -1, -1, "replay: which archive?");
    return 0;
}
