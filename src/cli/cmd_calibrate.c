/* cmd_calibrate.c - `refrain calibrate`: measure the network between two ranks.
 *
 * The verb runs once per rank and becomes the program that measures with the launcher's MPI
 * (src/calibrate).
 */
#include "cli/args/file_argument.h"
#include "cli/args/mpi_program.h"
#include "cli/launch/mpi_environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SECONDS = 256, KEY_MPI, KEY_PLATFORM, KEY_HOSTS, KEY_CORES, KEY_SPEED };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write FILE (default: network.json)", 0},
    {"platform", KEY_PLATFORM, "P.xml", 0, "Write a platform for refrain predict", 0},
    {"hosts", KEY_HOSTS, "N", 0, "Hosts of the cluster (default: ranks of this job)", 0},
    {"cores", KEY_CORES, "N", 0, "Cores of each host (default: as this host)", 0},
    {"speed", KEY_SPEED, "F", 0, "Flop per second of a core (1e9)", 0},
    {"force", 'f', NULL, 0, "Replace files that exist", 0},
    {"seconds", KEY_SECONDS, "S", 0, "Measure for about S seconds (6)", 0},
    {"mpi", KEY_MPI, "MPI", 0, "openmpi, mpich or mpiabi, if the launcher does not tell", 0},
    {0}};

struct arguments {
    struct rfn_output_argument written;
    const char *mpi, *platform, *hosts, *cores;
    double seconds, speed; /* 0: not given */
};

/* What goes into a platform only. */
static void check(struct argp_state *state, const struct arguments *arguments)
{
    const char *output = arguments->written.output;
    const char *option = arguments->hosts       ? "hosts"
                         : arguments->cores     ? "cores"
                         : arguments->speed > 0 ? "speed"
                                                : NULL;
    if (option && !arguments->platform)
        argp_error(state, "--%s describes the cluster that --platform writes, which is missing",
                   option);
    if (output && arguments->platform && strcmp(output, arguments->platform) == 0)
        argp_error(state, "--output and --platform are both %s", output);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case KEY_SECONDS:
        arguments->seconds = rfn_positive_argument(state, arg, "seconds", 3600);
        return 0;
    case KEY_PLATFORM:
        if (!arg[0] || arg[0] == '-')
            argp_error(state, "--platform is the name of a file, not '%s'", arg);
        arguments->platform = arg;
        return 0;
    case KEY_SPEED:
        arguments->speed = rfn_positive_argument(state, arg, "speed", 1e18);
        return 0;
    case KEY_HOSTS:
    case KEY_CORES:
        (void)rfn_number_argument(state, arg,
                                  key == KEY_HOSTS ? "number of hosts" : "number of cores");
        *(key == KEY_HOSTS ? &arguments->hosts : &arguments->cores) = arg;
        return 0;
    case KEY_MPI:
        arguments->mpi = rfn_mpi_argument(state, arg);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option; -o %s writes that file", arg, arg);
        return 0;
    case ARGP_KEY_END:
        check(state, arguments);
        return 0;
    default:
        return key == 'j' ? ARGP_ERR_UNKNOWN
                          : rfn_output_argument_parse(key, arg, state, &arguments->written);
    }
}

/* Room for the words of the program, and their number. */
struct words {
    char text[8][4200], *all[9];
    int n;
};

static void add(struct words *words, const char *option, const char *value)
{
    char *word = words->text[words->n];
    snprintf(word, sizeof words->text[0], "%s%s", option, value);
    words->all[words->n++] = word;
}

static void add_number(struct words *words, const char *option, double value)
{
    char number[32];
    snprintf(number, sizeof number, "%.17g", value);
    add(words, option, number);
}

static int become(const struct arguments *arguments, const char *name, const char *flavour)
{
    struct words words = {.n = 0};
    add(&words, "", name);
    if (arguments->written.output)
        add(&words, "", arguments->written.output);
    if (arguments->platform)
        add(&words, "--platform=", arguments->platform);
    if (arguments->hosts)
        add(&words, "--hosts=", arguments->hosts);
    if (arguments->cores)
        add(&words, "--cores=", arguments->cores);
    if (arguments->speed > 0)
        add_number(&words, "--speed=", arguments->speed);
    if (arguments->seconds > 0)
        add_number(&words, "--seconds=", arguments->seconds);
    if (arguments->written.force)
        add(&words, "--force", "");
    return rfn_become_mpi_program("calibrate", flavour, words.all);
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct arguments arguments = {0};
    rfn_command_parse(command, parse, argc, argv, &arguments);
    if (!arguments.written.output && !arguments.platform)
        arguments.written.output = "network.json";
    const char *flavour = arguments.mpi ? arguments.mpi : rfn_job_flavour();
    if (!flavour) {
        rfn_command_error(
            "calibrate is an MPI job of two ranks: mpirun -n 2 refrain calibrate %s %s "
            "(if this is one already, name its MPI: --mpi=openmpi or --mpi=mpich)",
            arguments.platform ? "--platform" : "-o",
            arguments.platform ? arguments.platform : arguments.written.output);
        return RFN_EXIT_USAGE;
    }
    return become(&arguments, argv[0], flavour);
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
             "refrain whatif and refrain report take it with --network. With --platform P.xml it "
             "also measures what calls take, and writes a cluster with this network, for refrain "
             "predict. Of more ranks the first and the last one measure, the others wait.",
    .options = options,
    .values = "--mpi=openmpi,mpich,mpiabi",
    .per_rank = true,
    .run = run,
};
