/* cmd_recover.c - refrain recover: an archive of what a run has left that did not end. */
#include "cli/recovery.h"

#include <stdlib.h>

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0,
     "The archive that is made (default: the first folder's name without .journal)", 0},
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

static int recover(const struct arguments *arguments)
{
    const struct rfn_recovery *recovery = &arguments->recovery;
    struct rfn_journals *journals;
    struct rfn_merge_result made;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = rfn_journals_open(arguments->folders, arguments->n_folders, &journals, &diag);
    if (error)
        return rfn_command_fail(NULL, error, &diag);
    error = rfn_recovery_make(recovery, journals, &made, &diag);
    const int status = error ? rfn_recovery_fail(recovery, error, &diag)
                             : rfn_recovery_print(recovery, journals, &made);
    rfn_journals_close(journals);
    return status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct arguments arguments = {.recovery = {.is_first = true},
                                  .folders = calloc((size_t)argc, sizeof *arguments.folders)};
    if (!arguments.folders)
        return rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    rfn_command_parse(command, parse, argc, argv, &arguments);
    struct rfn_output_argument *written = &arguments.recovery.written;
    char *by_default = written->output ? NULL : rfn_recovery_name(arguments.folders[0]);
    if (by_default)
        written->output = by_default;
    const int status = written->output ? recover(&arguments) : RFN_EXIT_USAGE;
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
        "long as the run goes on, and afterwards if it did not come to MPI_Finalize. Where each "
        "node has one of its own (refrain record --journal-dir) name all of them. All other "
        "commands take one folder in place of an archive, too; 'refrain snapshot' is for runs "
        "that go on. Exits with 3 where ranks are missing.",
    .options = options,
    .run = run,
};
