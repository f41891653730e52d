/* main.c - the tool's entry: the table of verbs, help, and the choice of a verb. */
#include "cli/args/command.h"
#include "cli/args/suggest.h"
#include "cli/completion/completion.h"
#include "cli/launch/large_pages.h"
#include "cli/text/json.h"
#include "refrain/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* In the order in which a user meets them. Those behind the first N_COMMON only have their names on
 * the first screen. */
static const struct rfn_command *const commands[] = {
    &rfn_cmd_record, &rfn_cmd_report,    &rfn_cmd_view,     &rfn_cmd_info,    &rfn_cmd_recover,
    &rfn_cmd_reduce, &rfn_cmd_compare,   &rfn_cmd_whatif,   &rfn_cmd_predict, &rfn_cmd_sample,
    &rfn_cmd_watch,  &rfn_cmd_replay,    &rfn_cmd_snapshot, &rfn_cmd_convert, &rfn_cmd_merge,
    &rfn_cmd_gather, &rfn_cmd_calibrate, &rfn_cmd_control,  &rfn_cmd_dump,    &rfn_cmd_verify,
    &rfn_cmd_doctor,
};

enum { N_COMMANDS = sizeof commands / sizeof commands[0], N_COMMON = 11 };

static const struct rfn_command *find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static void print_help(void)
{
    puts("Refrain records what an MPI program does, in one small file, and answers from that file\n"
         "why it took so long: who waits for whom, where time goes. The program stays as it is.\n"
         "\n"
         "  mpirun -n 8 refrain record ./app           run ./app as ever, and write app.8.rfn\n"
         "  refrain report app.8.rfn                   read why it took so long, on one page\n"
         "  refrain view app.8.rfn                     see it: a page for a browser, app.8.html\n"
         "  refrain report --hang app.8.rfn.journal    while it hangs: who waits for whom\n"
         "\n"
         "Commands:");
    for (size_t i = 0; i < N_COMMON; i++)
        printf("  %-9s  %s\n", commands[i]->name, commands[i]->summary);
    puts("  help       Tells more of a command, as in: refrain help record");
    for (size_t i = N_COMMON; i < N_COMMANDS; i++)
        printf("%s%s", i == N_COMMON ? "Also: " : ", ", commands[i]->name);
    puts("\n"
         "\n"
         "Open MPI, MPICH, and MPI's standard ABI; any launcher. See also: man refrain.");
}

static int unknown(const char *name)
{
    const char *names[N_COMMANDS + 1];
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i]->name;
    names[N_COMMANDS] = "help";
    const char *near = rfn_suggest(name, names, N_COMMANDS + 1);
    if (near)
        rfn_command_error("there is no command '%s'; did you mean '%s'?", name, near);
    else if (access(name, X_OK) == 0)
        rfn_command_error("there is no command '%s'; to record the program: refrain record %s",
                          name, name);
    else
        rfn_command_error("there is no command '%s'; 'refrain help' lists them", name);
    return RFN_EXIT_USAGE;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "refrain %s", command->name);
    argv[0] = name;
    return command->run(command, argc, argv);
}

static int help(int argc, char **argv)
{
    if (argc < 2) {
        print_help();
        return RFN_EXIT_OK;
    }
    if (strcmp(argv[1], "json") == 0) {
        puts("The fields of --json are in the manual: man refrain-json (section 5).");
        return RFN_EXIT_OK;
    }
    const struct rfn_command *command = find(argv[1]);
    if (!command)
        return unknown(argv[1]);
    char option[] = "--help";
    rfn_command_help_all();
    char *words[] = {argv[1], option, NULL};
    return run(command, 2, words);
}

/* `refrain completion bash`: for `make install`, and so in no list. */
static int completion(int argc, char **argv)
{
    static const struct {
        const char *shell;
        void (*append)(struct rfn_text *, const struct rfn_command *const *, size_t);
    } shells[] = {
        {"bash", rfn_completion_bash}, {"zsh", rfn_completion_zsh}, {"fish", rfn_completion_fish}};
    struct rfn_text script = {0};
    for (size_t i = 0; argc == 2 && i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(argv[1], shells[i].shell) != 0)
            continue;
        shells[i].append(&script, commands, N_COMMANDS);
        return rfn_command_print(&script, NULL, RFN_EXIT_OK);
    }
    rfn_command_error("completion is for one shell: refrain completion bash, zsh or fish");
    return RFN_EXIT_USAGE;
}

/* An archive, or the folder of a job that runs or was killed, instead of a verb. */
static bool is_record(const char *word)
{
    const size_t length = strlen(word), suffix = strlen(".rfn");
    return (length > suffix && strcmp(word + length - suffix, ".rfn") == 0) ||
           rfn_journals_are(word);
}

/* What was printed must have arrived: a full disk or a closed pipe is a failure. */
static int finish(int status)
{
    errno = 0;
    bool failed = fflush(stdout) || ferror(stdout);
    int why = rfn_text_print_error() ? rfn_text_print_error() : errno;
    if (!failed || status != RFN_EXIT_OK)
        return status;
    rfn_command_error("cannot write to standard output%s%s", why ? ": " : "",
                      why ? strerror(why) : "");
    return RFN_EXIT_FAILURE;
}

static int choose(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : NULL;
    if (!verb) {
        print_help();
        return RFN_EXIT_USAGE;
    }
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0 || strcmp(verb, "-?") == 0)
        return help(1, argv);
    if (strcmp(verb, "--version") == 0 || strcmp(verb, "-V") == 0) {
        puts("refrain " RFN_VERSION);
        return RFN_EXIT_OK;
    }
    if (verb[0] == '-') {
        rfn_command_error("unknown option '%s'; 'refrain --help' tells what there is", verb);
        return RFN_EXIT_USAGE;
    }
    if (strcmp(verb, "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(verb, "completion") == 0)
        return completion(argc - 1, argv + 1);
    const struct rfn_command *command = find(verb);
    if (command)
        return run(command, argc - 1, argv + 1);
    return is_record(verb) ? run(&rfn_cmd_report, argc, argv) : unknown(verb);
}

int main(int argc, char **argv)
{
    rfn_large_pages_prefer();
    rfn_json_init();
    return finish(choose(argc, argv));
}
