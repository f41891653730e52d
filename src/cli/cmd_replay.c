/* cmd_replay.c - `refrain replay`: issue what was recorded anew, on as many ranks.
 *
 * The verb runs once per rank and becomes the program that replays with the launcher's MPI
 * (src/replay), which is not a part of the tool, so that the tool needs no MPI. Here the command
 * line is checked and brought into the form that the program takes.
 */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/args/mpi_program.h"
#include "cli/launch/mpi_environment.h"
#include "refrain/archive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_AGAINST = 256,
    KEY_REPEAT,
    KEY_SCALE,
    KEY_NO_COMPUTE,
    KEY_COMPUTE,
    KEY_MPI,
    KEY_TIMEOUT
};

static const struct argp_option options[] = {
    {"against", KEY_AGAINST, "FULL", 0, "Replay this full archive in turn, and compare", 0},
    {"repeat", KEY_REPEAT, "N", 0, "Replay N times and take the median (1)", 0},
    {"scale-compute", KEY_SCALE, "F", 0, "Compute F times as long between calls", 0},
    {"no-compute", KEY_NO_COMPUTE, NULL, 0, "Issue one call directly after the other", 0},
    {"compute", KEY_COMPUTE, "HOW", 0, "busy or sleep (default: busy, if cores suffice)", 0},
    {"mpi", KEY_MPI, "MPI", 0, "openmpi, mpich or mpiabi, if the launcher does not tell", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "End a replay that makes no progress for so long", 0},
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0}};

enum { WORDS_MAX = 12, REPEATS_MAX = 1000, TIMEOUT_MAX = 10000000 };

struct arguments {
    struct rfn_file_argument given; /* first: its parser takes what is not an option of ours */
    const char *mpi;
    char *words[WORDS_MAX]; /* for the program that replays */
    int n_words;
};

/* Adds NAME=VALUE to the words, or NAME. An option that is given twice counts as it was given last.
 */
static void add_word(struct argp_state *state, const char *name, const char *value)
{
    struct arguments *arguments = state->input;
    size_t length = strlen(name), size = length + (value ? strlen(value) : 0) + 2;
    char *word = malloc(size);
    int at = 1;
    if (!word) {
        argp_failure(state, RFN_EXIT_FAILURE, 0, "%s", rfn_error_text(RFN_E_NOMEM));
        return;
    }
    snprintf(word, size, "%s%s%s", name, value ? "=" : "", value ? value : "");
    while (at < arguments->n_words && strncmp(arguments->words[at], name, length) != 0)
        at++;
    if (at < arguments->n_words)
        free(arguments->words[at]);
    else
        arguments->n_words++;
    arguments->words[at] = word;
}

/* What is computed is scaled or left out. */
static void check_computing(struct argp_state *state, const char *other)
{
    const struct arguments *arguments = state->input;
    for (int i = 1; i < arguments->n_words; i++) {
        if (strncmp(arguments->words[i], other, strlen(other)) == 0)
            argp_error(state, "--scale-compute and --no-compute exclude each other");
    }
}

static void check_number(struct argp_state *state, const char *option, const char *arg, long most)
{
    char *end;
    long number = strtol(arg, &end, 10);
    if (arg[0] < '1' || arg[0] > '9' || *end || number > most)
        argp_error(state, "--%s is a whole number from 1 to %ld, not '%s'", option, most, arg);
}

static void check_word(struct argp_state *state, const char *option, const char *arg, const char *a,
                       const char *b)
{
    if (strcmp(arg, a) != 0 && strcmp(arg, b) != 0)
        argp_error(state, "--%s is '%s' or '%s', not '%s'", option, a, b, arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    char *end;
    double factor;
    switch (key) {
    case KEY_AGAINST:
        if (!arg[0])
            argp_error(state, "the name of the archive of --against is empty");
        add_word(state, "--against", arg);
        return 0;
    case KEY_REPEAT:
        check_number(state, "repeat", arg, REPEATS_MAX);
        add_word(state, "--repeat", arg);
        return 0;
    case KEY_SCALE:
        factor = strtod(arg, &end);
        if (end == arg || *end || !isfinite(factor) || factor < 0)
            argp_error(state, "--scale-compute is a number from 0 on, not '%s'", arg);
        check_computing(state, "--no-compute");
        add_word(state, "--scale-compute", arg);
        return 0;
    case KEY_NO_COMPUTE:
        check_computing(state, "--scale-compute");
        add_word(state, "--no-compute", NULL);
        return 0;
    case KEY_COMPUTE:
        check_word(state, "compute", arg, "busy", "sleep");
        add_word(state, "--compute", arg);
        return 0;
    case KEY_MPI:
        arguments->mpi = rfn_mpi_argument(state, arg);
        return 0;
    case KEY_TIMEOUT:
        check_number(state, "timeout", arg, TIMEOUT_MAX);
        add_word(state, "--timeout", arg);
        return 0;
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

/* Outside of a job: how many ranks it takes, if the archive tells. */
static int refuse_alone(const char *file)
{
    struct rfn_archive *archive;
    int status = rfn_command_open_calls(file, &archive);
    if (status)
        return status;
    uint32_t ranks = rfn_archive_run(archive)->ranks;
    rfn_archive_close(archive);
    rfn_command_error(
        "a replay is an MPI job of %u rank%s: mpirun -n %u refrain replay %s (if this "
        "is one already, name its MPI: --mpi=openmpi or --mpi=mpich)",
        ranks, ranks == 1 ? "" : "s", ranks, file);
    return RFN_EXIT_USAGE;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    static char end[] = "--", json[] = "--json";
    struct arguments arguments = {.words = {argv[0]}, .n_words = 1};
    rfn_command_parse(command, parse, argc, argv, &arguments);
    const char *flavour = arguments.mpi ? arguments.mpi : rfn_job_flavour();
    if (!flavour)
        return refuse_alone(arguments.given.file);
    if (arguments.given.json)
        arguments.words[arguments.n_words++] = json;
    arguments.words[arguments.n_words++] = end;
    arguments.words[arguments.n_words++] = (char *)arguments.given.file;
    return rfn_become_mpi_program("replay", flavour, arguments.words);
}

const struct rfn_command rfn_cmd_replay = {
    .name = "replay",
    .summary = "Issues the recorded calls again, on as many ranks, and times that",
    .usage = "FILE",
    .about =
        "Runs as an MPI job of as many ranks as were recorded:\n"
        "\n"
        "  mpirun -n 8 refrain replay app.8.rfn\n"
        "\n"
        "Messages, collective calls and the like have the recorded sizes and partners; for what "
        "the program computed between them stands a loop, or sleep. Every message is checked when "
        "it is received. Prints how long the replay took, how long the run did, and the accuracy "
        "ACC = 1 - |t - t'| / t.",
    .options = options,
    .values = "--compute=busy,sleep --mpi=openmpi,mpich,mpiabi",
    .per_rank = true,
    .run = run,
};
