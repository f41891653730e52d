/* cmd_calibrate.c - `refrain calibrate`: measure the network between two ranks.
 *
 * The verb runs once per rank and becomes the program that measures with the launcher's MPI
 * (src/calibrate).
 */
#include "cli/args/command.h"
#include "cli/args/mpi_program.h"
#include "cli/launch/mpi_environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SECONDS = 256, KEY_MPI };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write FILE (network.json)", 0},
    {"force", 'f', NULL, 0, "Replace FILE if there is such a file", 0},
    {"seconds", KEY_SECONDS, "S", 0, "Measure for about so many seconds (6)", 0},
    {"mpi", KEY_MPI, "MPI", 0, "openmpi or mpich: where the launcher does not tell", 0},
    {0}};

struct arguments {
    const char *output, *mpi;
    bool force;
    double seconds; /* 0: not given */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    char *end;
    switch (key) {
    case 'o':
        if (!arg[0] || arg[0] == '-')
            argp_error(state, "--output is the name of a file, not '%s'", arg);
        arguments->output = arg;
        return 0;
    case 'f':
        arguments->force = true;
        return 0;
    case KEY_SECONDS:
        arguments->seconds = strtod(arg, &end);
        if (end == arg || *end || !(arguments->seconds > 0 && arguments->seconds <= 3600))
            argp_error(state, "--seconds is more than 0 and at most 3600, not '%s'", arg);
        return 0;
    case KEY_MPI:
        if (strcmp(arg, "openmpi") != 0 && strcmp(arg, "mpich") != 0)
            argp_error(state, "--mpi is 'openmpi' or 'mpich', not '%s'", arg);
        arguments->mpi = arg;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option; -o %s writes that file", arg, arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    static char force[] = "--force";
    struct arguments arguments = {.output = "network.json"};
    char seconds[64];
    char *words[5] = {argv[0]};
    int n = 1;
    rfn_command_parse(command, parse, argc, argv, &arguments);
    const char *flavour = arguments.mpi ? arguments.mpi : rfn_job_flavour();
    if (!flavour) {
        rfn_command_error(
            "calibrate is an MPI job of two ranks: mpirun -n 2 refrain calibrate -o %s "
            "(if this is one already, name its MPI: --mpi=openmpi or --mpi=mpich)",
            arguments.output);
        return RFN_EXIT_USAGE;
    }
    words[n++] = (char *)arguments.output;
    if (arguments.force)
        words[n++] = force;
    snprintf(seconds, sizeof seconds, "--seconds=%.17g", arguments.seconds);
    if (arguments.seconds > 0)
        words[n++] = seconds;
    return rfn_become_mpi_program("calibrate", flavour, words);
}

const struct rfn_command rfn_cmd_calibrate = {
    .name = "calibrate",
    .summary = "Measures the network between two ranks, for predictions",
    .usage = "",
    .about = "Runs as an MPI job of two ranks, on one node or on two:\n"
             "\n"
             "  mpirun -n 2 refrain calibrate -o network.json\n"
             "\n"
             "The file holds L, o, g, G and S of LogGPS, and how long messages of each size take; "
             "refrain whatif and refrain report take it with --network. Of more ranks the first "
             "and the last one measure, the others wait.",
    .options = options,
    .values = "--mpi=openmpi,mpich",
    .per_rank = true,
    .run = run,
};
