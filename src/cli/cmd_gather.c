/* cmd_gather.c - `refrain gather`: one archive of the time-independent text of many hosts.
 *
 * The verb runs once per process and becomes the program that gathers with the launcher's MPI
 * (src/gather).
 */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "cli/args/file_argument.h"
#include "cli/args/mpi_program.h"
#include "cli/launch/mpi_environment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEY_ARITY = 256, KEY_RANKS, KEY_MPI, KEY_FROM, ARITY_MOST = 64, RANKS_MOST = 1 << 24 };

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "The archive that is made", 0},
    {"force", 'f', NULL, 0, "Replace OUT if there is such a file", 0},
    {"ranks", KEY_RANKS, "N", 0, "Require ranks 0 to N - 1", 0},
    {"arity", KEY_ARITY, "K", 0, "Merge K archives at a time (default: automatic)", 0},
    {"from", KEY_FROM, "DIALECT", 0, "Of the text: simgrid or thesis", 0},
    {"mpi", KEY_MPI, "MPI", 0, "openmpi, mpich or mpiabi, if the launcher does not tell", 0},
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0}};

struct arguments {
    struct rfn_output_argument written;
    char *folder;
    const char *mpi;
    enum rfn_text_dialect from;
    long arity, ranks; /* 0: not given */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case KEY_ARITY:
        arguments->arity = rfn_whole_argument(state, arg, "arity", 2, ARITY_MOST);
        return 0;
    case KEY_RANKS:
        arguments->ranks = rfn_whole_argument(state, arg, "ranks", 1, RANKS_MOST);
        return 0;
    case KEY_FROM:
        arguments->from = rfn_dialect_argument(state, arg);
        return 0;
    case KEY_MPI:
        arguments->mpi = rfn_mpi_argument(state, arg);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->folder)
            argp_error(state, "one folder at a time");
        arguments->folder = arg;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->folder)
            argp_error(state, "which folder?");
        if (!arguments->written.output)
            argp_error(state, "where to? (-o OUT)");
        return 0;
    default:
        return rfn_output_argument_parse(key, arg, state, &arguments->written);
    }
}

/* Outside of a job a process gathers alone, with whichever MPI is there. NULL: it is in a job, but
 * of an unknown MPI. */
static const char *find_flavour(const struct arguments *arguments)
{
    char path[PATH_MAX];
    const char *flavour = arguments->mpi ? arguments->mpi : rfn_job_flavour();
    if (flavour || rfn_job_size() > 1)
        return flavour;
    return rfn_find_part("refrain-gather-mpich", X_OK, path) ? "mpich" : "openmpi";
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    static char force[] = "--force", json[] = "--json";
    struct arguments arguments = {0};
    char arity[32], ranks[32], from[32];
    rfn_command_parse(command, parse, argc, argv, &arguments);
    const char *flavour = find_flavour(&arguments);
    char *words[9] = {argv[0], arguments.folder, (char *)arguments.written.output};
    int n = 3;
    if (!flavour) {
        if (rfn_job_speaks())
            rfn_command_error("the launcher does not tell its MPI; name it: --mpi=openmpi or "
                              "--mpi=mpich");
        return RFN_EXIT_USAGE;
    }
    snprintf(arity, sizeof arity, "--arity=%ld", arguments.arity);
    snprintf(ranks, sizeof ranks, "--ranks=%ld", arguments.ranks);
    snprintf(from, sizeof from, "--from=%d", arguments.from);
    words[n++] = from;
    words[n++] = arity;
    words[n++] = ranks;
    if (arguments.written.force)
        words[n++] = force;
    if (arguments.written.json)
        words[n++] = json;
    return rfn_become_mpi_program("gather", flavour, words);
}

const struct rfn_command rfn_cmd_gather = {
    .name = "gather",
    .summary = "Makes one archive of the time-independent text of many hosts",
    .usage = "DIR -o OUT",
    .about =
        "DIR has a file of time-independent text per rank, as tracers leave them and refrain "
        "convert writes them, on each host those of the ranks that ran there. Runs as an MPI job "
        "with one process or more per host:\n"
        "\n"
        "  mpirun -n 4 refrain gather /tmp/traces -o app.rfn\n"
        "\n"
        "Each process makes archives of files that it sees, the processes of a host and of a "
        "shared folder in turn; these are merged along a tree, and process 0 writes OUT. Without "
        "a launcher one process does it alone.",
    .options = options,
    .values = "--mpi=openmpi,mpich,mpiabi --from=simgrid,thesis",
    .per_rank = true,
    .run = run,
};
