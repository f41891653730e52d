#define _POSIX_C_SOURCE 200809L /* dup2, fileno */
#include "cli/args/file_argument.h"
#include "cli/launch/recorders.h"

#include "cli/text/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool rfn_is_archive_file(const char *path)
{
    static const char magic[] = {'\x89', 'R', 'F', 'N'};
    char first[sizeof magic];
    FILE *file = fopen(path, "rb");
    const bool archive = file && fread(first, 1, sizeof first, file) == sizeof first &&
                         memcmp(first, magic, sizeof magic) == 0;
    if (file)
        fclose(file);
    return archive;
}

void rfn_rank_argument(struct argp_state *state, const char *text, struct rfn_rank_filter *ranks)
{
    rfn_rank_filter_release(ranks);
    if (rfn_rank_filter_init(ranks, text) < 0)
        argp_error(state, "'%s' is not a list of ranks, such as 3 or 0-3,7", text);
}

uint64_t rfn_number_argument(struct argp_state *state, const char *text, const char *what)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || text[0] < '0' || text[0] > '9')
        argp_error(state, "'%s' is not a %s", text, what);
    return value;
}

int64_t rfn_time_argument(struct argp_state *state, const char *text, const char *option)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double value = strtod(text, &end), ns = -1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (end != text && strcmp(end, units[i].name) == 0)
            ns = value * units[i].ns;
    }
    if (!(ns >= 0 && ns < 9e18))
        argp_error(state, "--%s takes a time like 1.5s, 20ms or 300 (nanoseconds), not '%s'",
                   option, text);
    return (int64_t)(ns + 0.5);
}

void rfn_window_argument(struct argp_state *state, const char *text, const char *option,
                         int64_t *from_ns, int64_t *to_ns)
{
    char from[64];
    const char *dash = strchr(text, '-');
    const size_t n = dash ? (size_t)(dash - text) : 0;
    if (!dash || n >= sizeof from || (n == 0 && !dash[1])) {
        argp_error(state, "--%s takes FROM-TO, such as 1.5s-2s, 3s- or -20ms, not '%s'", option,
                   text);
        return;
    }
    memcpy(from, text, n);
    from[n] = '\0';
    if (n)
        *from_ns = rfn_time_argument(state, from, option);
    if (dash[1])
        *to_ns = rfn_time_argument(state, dash + 1, option);
    if (*from_ns > *to_ns)
        argp_error(state, "--%s begins behind its end: '%s'", option, text);
}

double rfn_positive_argument(struct argp_state *state, const char *text, const char *option,
                             double most)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number > 0 && number <= most))
        argp_error(state, "--%s is a number above 0 and at most %g, not '%s'", option, most, text);
    return number;
}

long rfn_whole_argument(struct argp_state *state, const char *text, const char *option, long least,
                        long most)
{
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < least || number > most)
        argp_error(state, "--%s is a whole number from %ld to %ld, not '%s'", option, least, most,
                   text);
    return number;
}

enum rfn_colors rfn_colors_argument(struct argp_state *state, const char *text)
{
    static const char *const words[] = {
        [RFN_COLORS_AUTO] = "auto", [RFN_COLORS_ALWAYS] = "always", [RFN_COLORS_NEVER] = "never"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, words[i]) == 0)
            return (enum rfn_colors)i;
    }
    argp_error(state, "--color is auto, always or never, not '%s'", text);
    return RFN_COLORS_AUTO;
}

bool rfn_colors_wanted(enum rfn_colors colors)
{
    return colors == RFN_COLORS_ALWAYS || (colors == RFN_COLORS_AUTO && rfn_terminal_colors());
}

/* Copies all of it to a file that is standard input from then on. */
static bool spool(const char *path)
{
    static char bytes[1 << 16];
    FILE *in = fopen(path, "rb"), *out = in ? tmpfile() : NULL;
    bool copied = out != NULL;
    for (size_t n; copied && (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        copied = fwrite(bytes, 1, n, out) == n;
    copied = copied && !ferror(in) && fflush(out) == 0 && dup2(fileno(out), STDIN_FILENO) >= 0;
    if (in)
        fclose(in);
    if (out)
        fclose(out);
    return copied;
}

const char *rfn_input_argument(struct argp_state *state, const char *path)
{
    struct stat status;
    path = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    if (stat(path, &status) < 0 || !S_ISFIFO(status.st_mode))
        return path; /* reading it tells what is wrong */
    if (!spool(path))
        argp_failure(state, RFN_EXIT_FAILURE, errno, "cannot copy %s to a temporary file in /tmp",
                     path);
    return "/dev/stdin";
}

enum rfn_text_dialect rfn_dialect_argument(struct argp_state *state, const char *text)
{
    if (strcmp(text, "simgrid") == 0)
        return RFN_TEXT_SIMGRID;
    if (strcmp(text, "thesis") != 0)
        argp_error(state, "--from is simgrid or thesis, not '%s'", text);
    return RFN_TEXT_THESIS;
}

const char *rfn_mpi_argument(struct argp_state *state, const char *text)
{
    if (!rfn_recorder_named(text))
        argp_error(state, "--mpi is 'openmpi', 'mpich' or 'mpiabi', not '%s'", text);
    return text;
}

double rfn_scale_argument(struct argp_state *state, char *text)
{
    char *equals = strrchr(text, '='), *end = NULL;
    const double factor = equals ? strtod(equals + 1, &end) : -1;
    if (!equals || end == equals + 1 || *end || !(factor >= 0 && factor <= 1e6))
        argp_error(state, "--scale takes SELECTOR=F, F a number from 0, not '%s'", text);
    *equals = '\0';
    return factor;
}

error_t rfn_output_argument_parse(int key, char *arg, struct argp_state *state,
                                  struct rfn_output_argument *given)
{
    switch (key) {
    case 'o':
        if (!arg[0] || arg[0] == '-')
            argp_error(state, "--output is the name of a file, not '%s'", arg);
        given->output = arg;
        return 0;
    case 'f':
        given->force = true;
        return 0;
    case 'j':
        given->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

error_t rfn_file_argument_parse(int key, char *arg, struct argp_state *state)
{
    struct rfn_file_argument *given = state->input;
    switch (key) {
    case 'j':
        given->json = true;
        return 0;
    case 't':
        given->top = rfn_number_argument(state, arg, "number");
        given->top_given = true;
        return 0;
    case ARGP_KEY_ARG:
        if (given->file)
            argp_error(state,
                       "one file at a time, not '%s' and '%s' (the value of an option may need a "
                       "'=' before it)",
                       given->file, arg);
        given->file = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which file?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}
