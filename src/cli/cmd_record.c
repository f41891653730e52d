/* cmd_record.c - `refrain record`: run a program with the recorder in front of its MPI.
 *
 * The verb runs once per rank, in the place of the program: it finds out which MPI the program uses
 * (elf_needs.h), adds the recorder for that MPI to LD_PRELOAD, hands its options over in REFRAIN_*
 * variables, and executes the program; from then on there is no trace of it but the recorder. So
 * every launcher works, because the launcher starts `refrain` like any program.
 *
 * Given a launcher's command line, the verb puts itself into the place of the program and executes
 * the launcher. Mistakes that can be seen then are told then, once; on the ranks only the
 * first of a program speaks.
 *
 * A program that needs no MPI library may load one later (a script, an interpreter, a wrapper that
 * executes the real program). The recorder sleeps until MPI is there, but the two MPIs' recorders
 * cannot both be loaded: --mpi or the launcher's environment tells which.
 *
 * For processes that the recorded program starts (MPI_Comm_spawn), the recorder puts the verb in
 * the place of the command, with --in-place. Then nothing is refused: what cannot be recorded runs
 * all the same.
 */
#define _POSIX_C_SOURCE 200809L /* setenv, strdup */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/args/reduction.h"
#include "cli/launch/elf_needs.h"
#include "cli/launch/launch.h"
#include "cli/launch/mpi_environment.h"
#include "cli/launch/output_name.h"
#include "cli/launch/recorders.h"
#include "cli/launch/snapshots.h"
#include "cli/launch/writable.h"
#include "refrain/journal.h"
#include "refrain/record_options.h"
#include "refrain/recording.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 }; /* as a shell's */

struct options {
    const char *texts[RFN_RECORD_WITH_OPTION]; /* as they were given; NULL: not */
    const char *mpi;                           /* NULL: found out */
    const char *snapshot_every;                /* NULL: no snapshots */
    char *output;        /* the archive's name, with values in it; NULL: its default */
    bool in_place;       /* of a command of MPI_Comm_spawn */
    const char **beside; /* with in_place: the files of all commands of the job */
    size_t n_beside;
    int program;  /* index of the first word after the options */
    char **given; /* the options' words */
    int n_given;
};

/* ---- messages ---- */

/* What is refused now will run all the same; of that, whether to be silent. */
static bool is_refused_softly, is_silent;

static int refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Tells why the program is not started and returns the exit status. */
static int refuse(int status, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (is_refused_softly ? rfn_job_is_first() && !is_silent : rfn_job_speaks())
        rfn_command_error(is_refused_softly ? "not recorded: %s" : "%s", text);
    return status;
}

static int no_memory(void)
{
    return refuse(RFN_EXIT_FAILURE, "%s", rfn_error_text(RFN_E_NOMEM));
}

/* ---- this tool and its recorders ---- */

static int no_recorder(const struct rfn_recorder *recorder)
{
    char own[PATH_MAX] = "";
    if (!rfn_own_path(own, sizeof own))
        return refuse(
            RFN_EXIT_FAILURE,
            "the recorder cannot be found, as this program's own path is not known: there "
            "is no /proc; start refrain by its path");
    return refuse(RFN_EXIT_FAILURE,
                  "the recorder for %s, librefrain-%s.so, is not there (looked beside %s): Refrain "
                  "was built without %s; install that package and build Refrain again",
                  recorder->text, recorder->flavour, own,
                  recorder->package ? recorder->package : "it");
}

/* ---- which recorder ---- */

static int refuse_library(const char *program, const struct rfn_needs *needs)
{
    if (needs->mpi == RFN_MPI_SMPI)
        return refuse(RFN_EXIT_USAGE,
                      "%s is an SMPI program (it needs %s), into which no recorder can be loaded; "
                      "link it with librefrain-smpi.a",
                      program, needs->library);
    return refuse(RFN_EXIT_USAGE,
                  "%s needs %s, an MPI that Refrain has no recorder for (it has some for MPICH, "
                  "Open MPI, and each MPI with the standard ABI, libmpi_abi.so.1); if it is one of "
                  "these under another name, say --mpi=mpich, --mpi=openmpi or --mpi=mpiabi",
                  program, needs->library);
}

/* A program in front of which nothing can be put. 0: it is not one. */
static int refuse_kind(const struct options *options, const char *file, const char *program,
                       const struct rfn_needs *needs)
{
    struct stat status;
    if (!needs->native)
        return refuse(
            RFN_EXIT_USAGE,
            "%s is for another machine or word size than this refrain; build both for the same",
            program);
    if (needs->inside || (!needs->dynamic && !options->mpi))
        return refuse(RFN_EXIT_USAGE,
                      "%s is linked statically%s, so the recorder cannot be loaded into it; link "
                      "it with shared libraries",
                      program, needs->inside ? " with its MPI" : "");
    if (stat(file, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)))
        return refuse(RFN_EXIT_USAGE,
                      "%s has the set-user-ID or set-group-ID bit, so the system loads no recorder "
                      "into it; record a copy without that bit",
                      program);
    return 0;
}

/* Looks at the program and finds its MPI's flavour, NULL if its libraries do not tell. Returns 0,
 * or the exit status after telling why the program cannot be recorded. */
static int inspect(const struct options *options, const char *file, const char *program,
                   struct rfn_needs *needs, const char **flavour)
{
    int error = rfn_elf_needs(file, needs);
    if (error < 0)
        return refuse(error == RFN_E_CORRUPT ? RFN_EXIT_BAD_INPUT : RFN_EXIT_FAILURE,
                      "cannot read %s: %s", program, rfn_error_text(error));
    int status = refuse_kind(options, file, program, needs);
    if (status != 0)
        return status;
    const struct rfn_recorder *of = rfn_recorder_of(needs->mpi);
    *flavour = of ? of->flavour : NULL;
    if (of && options->mpi && strcmp(options->mpi, of->flavour) != 0)
        return refuse(RFN_EXIT_USAGE, "--mpi=%s, but %s needs %s, which is %s", options->mpi,
                      program, needs->library, of->text);
    if (needs->mpi == RFN_MPI_SMPI || (needs->mpi == RFN_MPI_OTHER && !options->mpi))
        return refuse_library(program, needs);
    if (!*flavour)
        *flavour = options->mpi;
    return 0;
}

/* The same, sure: the flavour and its recorder, *recorder of PATH_MAX bytes. */
static int choose_recorder(const struct options *options, const char *file, const char *program,
                           struct rfn_needs *needs, char *recorder)
{
    const char *flavour;
    int status = inspect(options, file, program, needs, &flavour);
    if (status != 0)
        return status;
    if (!flavour)
        flavour = rfn_job_flavour();
    if (!flavour)
        return refuse(RFN_EXIT_USAGE,
                      "%s %s, so that its MPI cannot be told; if it loads MPI later or starts a "
                      "program that does, name the MPI: --mpi=openmpi, mpich or mpiabi",
                      program, needs->elf ? "needs no MPI library" : "is a script");
    const struct rfn_recorder *of = rfn_recorder_named(flavour);
    if (!rfn_recorder_find(of, recorder))
        return no_recorder(of);
    if (strpbrk(recorder, ": "))
        return refuse(RFN_EXIT_FAILURE,
                      "%s cannot be preloaded, because its path has a space or a colon; install "
                      "Refrain in another folder",
                      recorder);
    return 0;
}

/* ---- starting the program ---- */

/* The words with spaces between them, to be freed. */
static char *join(char *const *words)
{
    size_t size = 1;
    for (char *const *word = words; *word; word++)
        size += strlen(*word) + 1;
    char *text = malloc(size), *end = text;
    for (char *const *word = words; text && *word; word++) {
        size_t n = strlen(*word);
        memcpy(end, *word, n);
        end += n;
        *end++ = ' ';
    }
    if (text)
        end[end > text ? -1 : 0] = 0;
    return text;
}

static char *join_path(const char *directory, const char *path)
{
    size_t size = strlen(directory) + strlen(path) + 2;
    char *joined = malloc(size);
    if (joined)
        snprintf(joined, size, "%s/%s", directory, path);
    return joined;
}

/* The path from the root, to be freed: programs change their directory before they finish. */
static char *absolute(const char *path)
{
    char here[PATH_MAX];
    if (path[0] == '/' || !getcwd(here, sizeof here))
        return strdup(path);
    return join_path(here, path);
}

/* The same of a name with variables, unless it begins with one, which may hold a path. */
static char *absolute_pattern(const char *pattern)
{
    char here[PATH_MAX];
    if (pattern[0] == '/' || strncmp(pattern, "%{", 2) == 0 || !getcwd(here, sizeof here))
        return strdup(pattern);
    char *quoted = rfn_output_quoted(here);
    char *joined = quoted ? join_path(quoted, pattern) : NULL;
    free(quoted);
    return joined;
}

/* Where each node's journals go, to be freed; NULL: beside the archive, or no memory. */
static char *journal_directory(const struct options *options)
{
    const char *given = options->texts[RFN_RECORD_JOURNAL_DIR];
    return given ? absolute(given) : NULL;
}

/* Sets a variable of the recorder, or removes one that the environment had. */
static bool set(const char *name, const char *value)
{
    return value ? setenv(name, value, 1) == 0 : unsetenv(name) == 0;
}

/* Other libraries' places in LD_PRELOAD come first; before all of them a sanitizer's, whose path
 * may be "": else it ends the program. */
static bool set_preload(const char *sanitizer, const char *recorder)
{
    const char *others = getenv("LD_PRELOAD");
    others = others ? others : "";
    size_t size = strlen(sanitizer) + strlen(others) + strlen(recorder) + 3;
    char *list = malloc(size), *own = malloc(size);
    bool ok = list && own;
    if (ok) {
        snprintf(own, size, "%s%s%s", sanitizer, sanitizer[0] ? ":" : "", recorder);
        snprintf(list, size, "%s%s%s%s%s", sanitizer, sanitizer[0] ? ":" : "", others,
                 others[0] ? ":" : "", recorder);
        ok = set("REFRAIN_PRELOAD", own) && set("LD_PRELOAD", list);
    }
    free(list);
    free(own);
    return ok;
}

static bool set_environment(const struct options *options, const struct rfn_needs *needs,
                            const char *recorder, char **argv)
{
    char *command = join(argv);
    char *output = options->output ? absolute(options->output) : NULL;
    char *journals = journal_directory(options);
    char pid[32], tool[PATH_MAX], word[16];
    snprintf(pid, sizeof pid, "%ld", (long)getpid()); /* the program will have the same */
    bool ok = command && (output || !options->output) &&
              (journals || !options->texts[RFN_RECORD_JOURNAL_DIR]) && set("REFRAIN_PID", pid) &&
              set("REFRAIN_COMMAND", command) &&
              set("REFRAIN_TOOL", rfn_own_path(tool, sizeof tool) ? tool : NULL) &&
              set_preload(needs->first, recorder);
    for (enum rfn_record_option i = 0; i < RFN_RECORD_WITH_OPTION && ok; i++) {
        const struct rfn_record_row *row = rfn_record_row(i);
        const char *text = i == RFN_RECORD_OUTPUT        ? output
                           : i == RFN_RECORD_JOURNAL_DIR ? journals
                                                         : options->texts[i];
        if (text && row->kind == RFN_KIND_SWITCH) {
            snprintf(word, sizeof word, "%.*s", (int)strcspn(row->values, ","), row->values);
            text = word;
        }
        ok = set(row->variable, text);
    }
    free(command);
    free(output);
    free(journals);
    return ok;
}

static int cannot_execute(const char *file)
{
    int status = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    return refuse(status, "%s cannot be executed: %s", file, strerror(errno));
}

static int not_found(const char *word, bool denied)
{
    if (denied)
        return refuse(EXIT_NOT_EXECUTABLE, "%s is not executable", word);
    return refuse(EXIT_NOT_FOUND, "%s: there is no such program%s", word,
                  strchr(word, '/') ? ""
                                    : " in PATH (for one in this directory write ./ before it)");
}

/* Whether all processes of the job are on this machine, and so find the same files. */
static bool is_on_one_host(void)
{
    static const char *const sizes[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                           {"PMI_SIZE", "MPI_LOCALNRANKS"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *all = getenv(sizes[i][0]), *here = getenv(sizes[i][1]);
        if (all)
            return here && strcmp(all, here) == 0;
    }
    return getenv("SLURM_PROCID") == NULL;
}

/* The exit status of an error about the archive, which is told. */
static int output_status(int error, const struct rfn_diag *diag)
{
    return error == 0
               ? 0
               : refuse(error == RFN_E_USAGE ? RFN_EXIT_USAGE : RFN_EXIT_FAILURE, "%s", diag->text);
}

/* Whether an archive can be written under the name that it has by default. */
static int check_default(const struct options *options, const char *program, struct rfn_diag *diag)
{
    char *name;
    RFN_TRY(rfn_writable_in(".", "archive", diag));
    RFN_TRY(rfn_output_name("%e.%r.rfn", program, &name, diag));
    int error = rfn_writable(name, options->texts[RFN_RECORD_FORCE], diag);
    free(name);
    return error;
}

/* Whether rank 0 will be able to write the archive: better told now than after a long run. Without
 * a name it goes where the program starts; a script may go elsewhere before. Where other ranks may
 * find other files nothing is said: those that are refused would leave the others waiting. */
static int check_output(const struct options *options, const struct rfn_needs *needs,
                        const char *program)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = 0;
    if (!is_on_one_host())
        return 0;
    if (options->output)
        error = rfn_writable(options->output, options->texts[RFN_RECORD_FORCE], &diag);
    else if (needs->mpi != RFN_MPI_NONE)
        error = check_default(options, program, &diag);
    return output_status(error, &diag);
}

/* Puts values into the archive's name. One of processes that a program starts is taken as it is. */
static int name_output(struct options *options, const char *program)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const char *given = options->texts[RFN_RECORD_OUTPUT];
    if (!given)
        return 0;
    if (!options->in_place)
        return output_status(rfn_output_name(given, program, &options->output, &diag), &diag);
    options->output = strdup(given);
    return options->output ? 0 : no_memory();
}

/* A program that takes the recorder out of the environment before it starts another one. */
static int check_environment(char *const *argv)
{
    const char *word = rfn_launch_drops_preload(argv);
    return !word
               ? 0
               : refuse(RFN_EXIT_USAGE,
                        "%s %s takes the recorder (LD_PRELOAD) from the program, and nothing would "
                        "be recorded: put 'refrain record' behind it, as in: %s %s ... refrain "
                        "record ./app",
                        argv[0], word, argv[0], word);
}

/* Whether the volume can be counted on this machine. */
static int check_volume(const struct options *options)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const char *volume = options->texts[RFN_RECORD_VOLUME];
    if (!volume || rfn_volume_probe(volume, &diag) == 0)
        return 0;
    return refuse(RFN_EXIT_FAILURE, "--volume=%s: %s", volume, diag.text);
}

/* ---- snapshots ---- */

/* The archive that the job is to write, from the root; to be freed, or NULL without memory. */
static char *archive_of(const struct options *options, const char *program)
{
    char *by_default = NULL;
    if (!options->output)
        rfn_output_name("%e.%r.rfn", program, &by_default, NULL);
    const char *name = options->output ? options->output : by_default;
    char *path = name ? absolute(name) : NULL;
    free(by_default);
    return path;
}

static int snapshot_archive(const struct options *options, const char *archive,
                            struct rfn_diag *diag)
{
    char folder[PATH_MAX];
    char *output = rfn_snapshot_name(archive), *directory = journal_directory(options);
    const struct rfn_snapshots asked = {folder, output, options->snapshot_every};
    int error = output ? rfn_journal_folder(archive, directory, folder, sizeof folder)
                       : RFN_E_NOMEM;
    if (!error)
        error = rfn_snapshots_start(&asked, diag);
    free(output);
    free(directory);
    return error;
}

/* Has a process of its own take snapshots of the job. The job runs without them where that cannot
 * be. */
static void start_snapshots(const struct options *options, const char *program)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    char *archive = archive_of(options, program);
    const int error = archive ? snapshot_archive(options, archive, &diag) : RFN_E_NOMEM;
    if (error)
        rfn_command_error("no snapshots are taken: %s",
                          diag.text[0] ? diag.text : rfn_error_text(error));
    free(archive);
}

/* Whether it is known what the archive will be called. */
static int check_snapshots(const struct options *options, const struct rfn_needs *needs,
                           const char *program)
{
    if (!options->snapshot_every || options->output || needs->mpi != RFN_MPI_NONE)
        return 0;
    return refuse(RFN_EXIT_USAGE,
                  "--snapshot-every needs the archive's name (-o FILE): %s starts the program that "
                  "calls MPI, or loads MPI, later",
                  program);
}

/* Whether this node's journals can be written. As with the archive, where others may find other
 * folders nothing is said. */
static int check_journals(const struct options *options)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const char *given = options->texts[RFN_RECORD_JOURNAL_DIR];
    return given && is_on_one_host()
               ? output_status(rfn_writable_in(given, "journal", &diag), &diag)
               : 0;
}

/* ---- a program ---- */

static int run_program(struct options *options, char **argv)
{
    bool denied;
    char *file = rfn_launch_find(argv[0], &denied);
    if (!file)
        return not_found(argv[0], denied);
    char recorder[PATH_MAX];
    struct rfn_needs needs;
    int status = check_environment(argv);
    if (status == 0)
        status = choose_recorder(options, file, argv[0], &needs, recorder);
    if (status == 0)
        status = name_output(options, argv[0]);
    if (status == 0)
        status = check_output(options, &needs, argv[0]);
    if (status == 0)
        status = check_snapshots(options, &needs, argv[0]);
    if (status == 0)
        status = check_journals(options);
    if (status == 0 && is_on_one_host()) /* elsewhere others may go on: the recorder will tell */
        status = check_volume(options);
    if (status == 0 && options->snapshot_every && rfn_job_is_first())
        start_snapshots(options, argv[0]); /* before the recorder is in the environment */
    if (status == 0 && !set_environment(options, &needs, recorder, argv))
        status = no_memory();
    if (status == 0) {
        execv(file, argv);
        status = cannot_execute(file);
    }
    free(file);
    free(options->output);
    return status;
}

/* ---- in the place of a command of MPI_Comm_spawn ---- */

/* The file that MPI would have executed, to be freed: MPI looks in the current directory last. */
static char *find_in_place(const char *word, bool *denied)
{
    char path[PATH_MAX];
    char *file = rfn_launch_find(word, denied);
    if (file || strchr(word, '/') || snprintf(path, sizeof path, "./%s", word) >= PATH_MAX)
        return file;
    return rfn_launch_find(path, denied);
}

/* The recorder of the program, if all programs of the job have the same; else the exit status that
 * would be given for it. */
static int choose_for_all(const struct options *options, const char *file, const char *program,
                          struct rfn_needs *needs, char *recorder)
{
    char other[PATH_MAX];
    struct rfn_needs others;
    int status = choose_recorder(options, file, program, needs, recorder);
    for (size_t i = 0; i < options->n_beside && status == 0; i++) {
        const char *beside = options->beside[i];
        status = choose_recorder(options, beside, beside, &others, other);
        if (status == 0 && strcmp(recorder, other) != 0)
            status = refuse(RFN_EXIT_USAGE,
                            "%s and %s use different MPIs: build them with the same", program,
                            beside);
    }
    return status;
}

static int run_in_place(struct options *options, char **argv)
{
    bool denied;
    char recorder[PATH_MAX];
    struct rfn_needs needs;
    char *file = find_in_place(argv[0], &denied);
    if (!file)
        return not_found(argv[0], denied);
    is_refused_softly = true;
    is_silent = options->texts[RFN_RECORD_QUIET];
    int status = choose_for_all(options, file, argv[0], &needs, recorder);
    if (status == 0)
        status = name_output(options, argv[0]);
    if (status == 0)
        status = check_output(options, &needs, argv[0]);
    if (status == 0 && !set_environment(options, &needs, recorder, argv))
        no_memory();
    is_refused_softly = false;
    execv(file, argv);
    status = cannot_execute(file);
    free(file);
    free(options->output);
    return status;
}

/* ---- starting a launcher ---- */

/* Checks what can be known before the launcher runs, on this machine. */
static int check_program(const struct options *options, const struct rfn_launch *launch,
                         char *const *argv)
{
    bool denied;
    const char *program = argv[0];
    char *file = rfn_launch_find(program, &denied);
    if (!file && launch->elsewhere)
        return 0;
    if (!file && denied)
        return not_found(program, true);
    if (!file)
        return refuse(
            EXIT_NOT_FOUND,
            "'%s' is taken for the program that the launcher starts, but there is no such "
            "program; if the program comes later, put -- before it",
            program);
    struct rfn_needs needs;
    const char *flavour;
    char recorder[PATH_MAX];
    int status = check_environment(argv);
    if (status == 0)
        status = inspect(options, file, program, &needs, &flavour);
    /* About a program whose libraries do not tell, the launcher's environment will. */
    if (status == 0 && flavour && !rfn_recorder_find(rfn_recorder_named(flavour), recorder))
        status = no_recorder(rfn_recorder_named(flavour));
    free(file);
    return status == 0 && !launch->elsewhere ? check_volume(options) : status;
}

/* The ranks put values into the archive's name: this process looks only whether they can. */
static int check_variables(const struct options *options)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const char *given = options->texts[RFN_RECORD_OUTPUT];
    return given ? output_status(rfn_output_name(given, NULL, NULL, &diag), &diag) : 0;
}

static int refuse_launch(enum rfn_launch_fault fault, const struct rfn_launch *launch,
                         const char *launcher)
{
    switch (fault) {
    case RFN_LAUNCH_MPMD:
        return refuse(RFN_EXIT_USAGE,
                      "%s starts several programs (':'): put 'refrain record' before each of them "
                      "instead, as in: %s -n 1 refrain record ./a : -n 2 refrain record ./b",
                      launcher, launcher);
    case RFN_LAUNCH_FILE:
        return refuse(RFN_EXIT_USAGE,
                      "%s takes its programs from a file (%s): put 'refrain record' before each "
                      "program there instead",
                      launcher, launch->option);
    default:
        return refuse(RFN_EXIT_USAGE, "%s is given no program to start", launcher);
    }
}

/* Writes "refrain record OPTIONS -o OUTPUT --journal-dir DIR --" to words, the options as they were
 * given; returns the number of words. The names (may be NULL) are absolute, as ranks may start
 * elsewhere. */
static int own_words(const struct options *options, char *own, char *output, char *journals,
                     char **words)
{
    static char record[] = "record", dash_o[] = "-o", dir[] = "--journal-dir", end[] = "--";
    int n = 0;
    words[n++] = own;
    words[n++] = record;
    for (int i = 0; i < options->n_given; i++)
        words[n++] = options->given[i];
    if (n > 2 && strcmp(words[n - 1], end) == 0)
        n--;
    if (output) {
        words[n++] = dash_o;
        words[n++] = output;
    }
    if (journals) {
        words[n++] = dir;
        words[n++] = journals;
    }
    words[n++] = end;
    return n;
}

static int exec_launcher(const struct options *options, const struct rfn_launch *launch, int argc,
                         char **argv)
{
    char own[PATH_MAX];
    bool denied;
    if (!rfn_own_path(own, sizeof own))
        return refuse(
            RFN_EXIT_FAILURE,
            "this program's own path is not known: there is no /proc; start refrain by its path");
    const char *given = options->texts[RFN_RECORD_OUTPUT];
    char *output = given ? absolute_pattern(given) : NULL, *journals = journal_directory(options);
    char **words = calloc((size_t)(argc + options->n_given) + 8, sizeof *words);
    char *file = rfn_launch_find(argv[0], &denied);
    int status = RFN_EXIT_FAILURE;
    if (!words || (given && !output) || (options->texts[RFN_RECORD_JOURNAL_DIR] && !journals)) {
        status = no_memory();
    } else if (!file) {
        status = not_found(argv[0], denied);
    } else {
        int n = launch->program - launch->marked;
        memcpy(words, argv, (size_t)n * sizeof *words);
        n += own_words(options, own, output, journals, words + n);
        memcpy(words + n, argv + launch->program, (size_t)(argc - launch->program) * sizeof *words);
        execv(file, words);
        status = cannot_execute(file);
    }
    free(output);
    free(journals);
    free(words);
    free(file);
    return status;
}

static int run_launcher(const struct options *options, enum rfn_launcher launcher, int argc,
                        char **argv)
{
    struct rfn_launch launch;
    enum rfn_launch_fault fault = rfn_launch_parse(launcher, argc, argv, &launch);
    if (fault != RFN_LAUNCH_OK)
        return refuse_launch(fault, &launch, argv[0]);
    int status = check_program(options, &launch, argv + launch.program);
    if (status == 0)
        status = check_variables(options);
    return status == 0 ? exec_launcher(options, &launch, argc, argv) : status;
}

/* ---- the verb ---- */

enum {
    KEY_MPI = 512,
    KEY_SNAPSHOT_EVERY,
    KEY_IN_PLACE,
    KEY_BESIDE
}; /* behind the keys of the table */

#define OPTION(id, option, key, variable, kind, group, argument, values, preset, help) \
    {option, key ? key : 256 + RFN_RECORD_##id, argument, 0, help, RFN_OPTIONS_##group},
static const struct argp_option options_of_record[] = {
    {"mpi", KEY_MPI, "MPI", 0, "openmpi, mpich or mpiabi, for scripts and programs that load MPI",
     RFN_OPTIONS_COMMON},
    {"snapshot-every", KEY_SNAPSHOT_EVERY, "TIME", 0,
     "Make an archive of the running job, every 60s", RFN_OPTIONS_COMMON},
    {NULL, 'n', "RANKS", OPTION_HIDDEN, NULL, RFN_OPTIONS_COMMON}, /* the launcher's */
    /* For the recorder itself: see src/record/wrap/spawn.h. */
    {"in-place", KEY_IN_PLACE, NULL, OPTION_HIDDEN, NULL, RFN_OPTIONS_COMMON},
    {"beside", KEY_BESIDE, "FILE", OPTION_HIDDEN, NULL, RFN_OPTIONS_COMMON},
    RFN_RECORD_OPTIONS(OPTION) /* common ones are in front */
    {.doc = "More:", .group = RFN_OPTIONS_MORE},
    {.doc = "How times are reduced and ranks are clustered:", .group = RFN_OPTIONS_RESEARCH},
    {0}};

/* For completion: "--time=reduced,full,none ..." */
#define VALUES_SWITCH(option, values)
#define VALUES_CHECKED(option, values)
#define VALUES_TEXT(option, values)
#define VALUES_WORD(option, values) "--" option "=" values " "
#define VALUES(id, option, key, variable, kind, group, argument, values, preset, help) \
    VALUES_##kind(option, values)

/* Options that are of no use without another one, or with one, are a misunderstanding. */
/* Refuses those options of a list that are given: "--NAME WHY". */
static void refuse_options(struct argp_state *state, const struct options *options,
                           const enum rfn_record_option *list, size_t n, const char *why)
{
    for (size_t i = 0; i < n; i++) {
        if (options->texts[list[i]])
            argp_error(state, "--%s %s", rfn_record_row(list[i])->option, why);
    }
}

#define REFUSE(list, why) refuse_options(state, options, list, sizeof(list) / sizeof *(list), why)

static void check_part(struct argp_state *state, const struct options *options)
{
    const char *from = options->texts[RFN_RECORD_FROM], *until = options->texts[RFN_RECORD_UNTIL];
    long begin, end;
    if (from && until && sscanf(from, "segment=%ld", &begin) == 1 &&
        sscanf(until, "segment=%ld", &end) == 1 && begin > end)
        argp_error(state, "--until=%s is before --from=%s", until, from);
}

static void check_times(struct argp_state *state, const struct options *options)
{
    static const enum rfn_record_option timed[] = {
        RFN_RECORD_TIME,       RFN_RECORD_RESOLUTION,        RFN_RECORD_SAMPLE,
        RFN_RECORD_SIMILARITY, RFN_RECORD_SEGMENT_MIN_CALLS, RFN_RECORD_SEGMENT_STARTS,
        RFN_RECORD_ACROSS,     RFN_RECORD_FUNCTIONS_MIN};
    static const enum rfn_record_option reducing[] = {RFN_RECORD_SIMILARITY,
                                                      RFN_RECORD_SEGMENT_MIN_CALLS,
                                                      RFN_RECORD_SEGMENT_STARTS, RFN_RECORD_ACROSS};
    const char *time = options->texts[RFN_RECORD_TIME];
    const bool keeps = options->texts[RFN_RECORD_KEEP_PREDICTIONS];
    const bool reduces = !time || strcmp(time, "auto") == 0 || strcmp(time, "reduced") == 0;
    char why[64];
    if (options->texts[RFN_RECORD_TIME_INDEPENDENT])
        REFUSE(timed, "is about times, and --time-independent records none");
    snprintf(why, sizeof why, "is about reduced times, not --time=%s",
             keeps || !time ? "full" : time);
    if (keeps || !reduces)
        REFUSE(reducing, why);
    if (options->texts[RFN_RECORD_ACROSS]) {
        const char *similarity = options->texts[RFN_RECORD_SIMILARITY];
        char text[RFN_ACROSS_TEXT];
        rfn_across_argument(state, options->texts[RFN_RECORD_ACROSS],
                            similarity ? similarity : RFN_SIMILARITY_DEFAULT, text);
    }
}

static void check_journal(struct argp_state *state, const struct options *options)
{
    const char *saves = options->snapshot_every ? "snapshot-every" : "journal";
    if (!options->texts[RFN_RECORD_JOURNAL])
        return;
    if (options->texts[RFN_RECORD_NO_JOURNAL])
        argp_error(state, "--%s and --no-journal exclude each other", saves);
    if (options->texts[RFN_RECORD_KEEP_PREDICTIONS] || options->texts[RFN_RECORD_SAMPLE])
        argp_error(state,
                   "--%s saves a trace while the program runs, and none is kept with --sample or "
                   "--keep-predictions",
                   saves);
}

static void check_sampling(struct argp_state *state, const struct options *options)
{
    static const enum rfn_record_option sampling[] = {
        RFN_RECORD_SAMPLE_ANALYSIS, RFN_RECORD_SAMPLE_WHERE, RFN_RECORD_SAMPLE_SEED};
    static const enum rfn_record_option traced[] = {RFN_RECORD_WITH_TRACE};
    static const enum rfn_record_option tracing[] = {RFN_RECORD_TIME,
                                                     RFN_RECORD_VOLUME,
                                                     RFN_RECORD_FUNCTIONS,
                                                     RFN_RECORD_SIMILARITY,
                                                     RFN_RECORD_ACROSS,
                                                     RFN_RECORD_POLLS,
                                                     RFN_RECORD_IGNORE_PARAMETER,
                                                     RFN_RECORD_MERGE_INTERVAL,
                                                     RFN_RECORD_INCLUDE,
                                                     RFN_RECORD_EXCLUDE,
                                                     RFN_RECORD_MAX_CALLS,
                                                     RFN_RECORD_FROM,
                                                     RFN_RECORD_UNTIL,
                                                     RFN_RECORD_MAX_SIZE};
    static const char lacks[] = "is about sampled messages: give --sample, too";
    const bool samples = options->texts[RFN_RECORD_SAMPLE];
    const bool keeps = options->texts[RFN_RECORD_KEEP_PREDICTIONS];
    if (!samples && !keeps)
        REFUSE(traced, lacks);
    if (!samples)
        REFUSE(sampling, lacks);
    if (samples && !options->texts[RFN_RECORD_WITH_TRACE])
        REFUSE(tracing, "is about the trace, and --sample keeps none: give --with-trace, too");
}

static void check_kept(struct argp_state *state, const struct options *options)
{
    static const enum rfn_record_option limiting[] = {RFN_RECORD_INCLUDE,   RFN_RECORD_EXCLUDE,
                                                      RFN_RECORD_MAX_CALLS, RFN_RECORD_FROM,
                                                      RFN_RECORD_UNTIL,     RFN_RECORD_MAX_SIZE};
    const char *time = options->texts[RFN_RECORD_TIME];
    if (!options->texts[RFN_RECORD_KEEP_PREDICTIONS])
        return;
    if (options->texts[RFN_RECORD_SAMPLE])
        argp_error(state, "--keep-predictions cannot be combined with --sample");
    if (time && strcmp(time, "full") != 0)
        argp_error(state,
                   "--keep-predictions keeps the times of all calls that stay, which "
                   "--time=%s does not",
                   time);
    REFUSE(limiting, "leaves out calls that --keep-predictions has to see");
}

static void check_together(struct argp_state *state, const struct options *options)
{
    static const enum rfn_record_option clustering[] = {RFN_RECORD_MERGE_INTERVAL,
                                                        RFN_RECORD_IGNORE_PARAMETER};
    check_journal(state, options);
    check_kept(state, options);
    check_part(state, options);
    check_sampling(state, options);
    check_times(state, options);
    if (options->texts[RFN_RECORD_CLUSTER])
        REFUSE(clustering, "is about clustering, which --no-cluster leaves out");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    for (enum rfn_record_option i = 0; i < RFN_RECORD_WITH_OPTION; i++) {
        if (rfn_record_row(i)->key != key)
            continue;
        if (arg)
            rfn_record_argument(state, i, arg);
        options->texts[i] = arg ? arg : "";
        return 0;
    }
    switch (key) {
    case KEY_MPI:
        (void)rfn_mpi_argument(state, arg);
        options->mpi = arg;
        return 0;
    case KEY_SNAPSHOT_EVERY:
        if (!rfn_snapshot_interval_parse(arg))
            argp_error(state, "--snapshot-every is " RFN_SNAPSHOT_INTERVALS ", not '%s'", arg);
        options->snapshot_every = arg;
        options->texts[RFN_RECORD_JOURNAL] = "";
        return 0;
    case 'n': /* and -np */
        argp_error(
            state,
            "the launcher takes the number of ranks, as in: mpirun -n 4 refrain record ./app");
        return 0;
    case KEY_IN_PLACE:
        options->in_place = true;
        return 0;
    case KEY_BESIDE:
        options->beside[options->n_beside++] = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no program is given");
        return 0;
    case ARGP_KEY_ARG:          /* the program: what follows is its own */
        if (!options->in_place) /* its options were taken already */
            check_together(state, options);
        options->program = state->next - 1;
        state->next = state->argc;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int run_record(const struct rfn_command *command, int argc, char **argv)
{
    struct options options = {0};
    options.beside = calloc((size_t)argc + 1,
                            sizeof *options.beside); /* until the program starts */
    if (!options.beside)
        return no_memory();
    rfn_command_parse(command, parse_option, argc, argv, &options);
    options.given = argv + 1;
    options.n_given = options.program - 1;
    argc -= options.program;
    argv += options.program;
    if (options.in_place)
        return run_in_place(&options, argv);
    enum rfn_launcher launcher = rfn_launcher_of(argv[0]);
    if (launcher != RFN_LAUNCHER_NONE)
        return run_launcher(&options, launcher, argc, argv);
    return run_program(&options, argv);
}

const struct rfn_command rfn_cmd_record = {
    .name = "record",
    .summary = "Runs an MPI program and records what it does",
    .usage = "PROGRAM [ARGUMENT...]\nLAUNCHER [OPTION...] PROGRAM [ARGUMENT...]",
    .about = "Put it between the launcher and the program, or before the launcher:\n"
             "\n"
             "  mpirun -n 8 refrain record ./app input\n"
             "  refrain record mpirun -n 8 ./app input\n"
             "\n"
             "The program runs as ever, without a change, and leaves app.8.rfn in the current "
             "directory. "
             "Compile it with -g to see files and lines.",
    .options = options_of_record,
    .values = RFN_RECORD_OPTIONS(VALUES) RFN_SIMILARITY_VALUES " " RFN_ACROSS_VALUES
                                                               " --mpi=openmpi,mpich,mpiabi",
    .per_rank = true,
    .run = run_record,
};
