/* cmd_recover.c - refrain recover: an archive of what a run has left that did not end. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cli/recovery.h"

#include <stdlib.h>
#include <string.h>

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0,
     "The archive that is made (default: the first folder's name without .journal); of several "
     "runs, and where another run's archive has the default name, with a number: app.4.2.rfn",
     0},
    {"force", 'f', NULL, 0, "Replace OUT if there is such a file", 0},
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0}};

struct arguments {
    struct rfn_recovery recovery;
    const char **folders; /* with room for all arguments */
    size_t n_folders;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        arguments->folders[arguments->n_folders++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->n_folders)
            argp_error(state, "no folder given, as in refrain recover FILE.rfn.journal");
        return 0;
    default:
        return rfn_output_argument_parse(key, arg, state, &arguments->recovery.written);
    }
}

/* Makes the archive of the run that is chosen; its name goes to *name, to be freed. taken: names of
 * n others. */
static int make_one(const struct arguments *arguments, const struct rfn_journals *journals,
                    const char *output, char **name, char *const *taken, size_t n)
{
    struct rfn_recovery recovery = arguments->recovery;
    struct rfn_merge_result made;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const bool numbered = !recovery.written.output || journals->n_runs > 1;
    *name = numbered ? rfn_recovery_numbered(&recovery, output, journals, taken, n)
                     : strdup(output);
    if (!*name)
        return rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    recovery.written.output = *name;
    recovery.is_one_of_runs = journals->n_runs > 1;
    recovery.is_first = true;
    const int error = rfn_recovery_make(&recovery, journals, &made, &diag);
    return error ? rfn_recovery_fail(&recovery, error, &diag)
                 : rfn_recovery_print(&recovery, journals, &made);
}

/* The archives of all runs; one that goes on has no end that could be recovered, unless it is alone
 * there. Of the statuses the first one that is not 0. */
static int make_all(const struct arguments *arguments, struct rfn_journals *journals,
                    const char *output)
{
    char **names = calloc(journals->n_runs, sizeof *names);
    size_t n = 0;
    int status = names ? RFN_EXIT_OK : rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    for (size_t run = 0; names && run < journals->n_runs; run++) {
        rfn_journals_choose(journals, run);
        if (journals->n_runs > 1 && rfn_recovery_goes_on(journals)) {
            rfn_command_error("%s: a run goes on and is left out; 'refrain snapshot' makes an "
                              "archive of it",
                              journals->name);
            continue;
        }
        const int one = make_one(arguments, journals, output, &names[n], names, n);
        n += names[n] != NULL;
        status = status ? status : one;
    }
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return status || n ? status : RFN_EXIT_FAILURE;
}

static int recover(const struct arguments *arguments, const char *output)
{
    struct rfn_journals *journals;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const int error = rfn_journals_open(arguments->folders, arguments->n_folders, &journals, &diag);
    if (error)
        return rfn_command_fail(NULL, error, &diag);
    const int status = make_all(arguments, journals, output);
    rfn_journals_close(journals);
    return status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct arguments arguments = {.folders = calloc((size_t)argc, sizeof *arguments.folders)};
    if (!arguments.folders)
        return rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    rfn_command_parse(command, parse, argc, argv, &arguments);
    const char *given = arguments.recovery.written.output;
    char *by_default = given ? NULL : rfn_recovery_name(arguments.folders[0]);
    const char *output = given ? given : by_default;
    const int status = output ? recover(&arguments, output) : RFN_EXIT_USAGE;
    free(by_default);
    free(arguments.folders);
    return status;
}

const struct rfn_command rfn_cmd_recover = {
    .name = "recover",
    .summary = "Makes an archive of a run that was killed",
    .usage = "FOLDER...",
    .about =
        "FOLDER is FILE.rfn.journal, where each rank of a run saves what it has recorded about "
        "every second (refrain record --journal, and any run after a minute). It is there as "
        "long as the run goes on, and afterwards if it did not come to MPI_Finalize. If several "
        "runs "
        "have left something there, each gets an archive. Where each "
        "node has one of its own (refrain record --journal-dir) name all of them. All other "
        "commands take one folder in place of an archive, too; 'refrain snapshot' is for runs "
        "that go on. Exits with 3 where ranks are missing.",
    .options = options,
    .run = run,
};
