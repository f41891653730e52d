/* The command is looked for before it is given away, in the ways that MPIs look for it, because MPI
 * has errors for a command that is not there, and a tool that is started in its place has none:
 *
 *   DIR/NAME   is relative to the working directory of the new process: the info's wdir, or the
 *              root's own directory
 *   NAME       is looked for in PATH, then in the working directory
 *
 * All processes of a new job must be recorded or none, as they wait for each other in the end. They
 * are programs of several commands only in MPI_Comm_spawn_multiple; then every tool is told all of
 * the files (--beside), so that all come to the same decision.
 */
#include "record/wrap/spawn.h"

#include "record/core/archive_file.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/handles/comms.h"
#include "record/handles/params.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef RFN_FLAVOUR_SMPI /* which has the prototype of MPI-2 */
#define CONST
#else
#define CONST const
#endif

enum { OWN_WORDS = 5 + RFN_RECORD_WITH_OPTION }; /* at most, beside one --beside per command */

/* ---- the command's file ---- */

/* The value of an info's key, in text of PATH_MAX + 1 bytes. */
static bool info_value(MPI_Info info, const char *key, char *text)
{
    int found = 0;
    return info != MPI_INFO_NULL &&
           rec_mpi.MPI_Info_get(info, key, PATH_MAX, text, &found) == MPI_SUCCESS && found;
}

/* directory/name in path, of PATH_MAX bytes; whether such a program is there. */
static bool is_in(const char *directory, size_t length, const char *name, char *path)
{
    struct stat status;
    int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, directory, name);
    return n > 0 && n < PATH_MAX && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           access(path, X_OK) == 0;
}

static bool find_in_path(const char *name, const char *directory, char *path)
{
    const char *list = getenv("PATH");
    for (const char *at = list ? list : ""; *at;) {
        size_t length = strcspn(at, ":");
        if (at[0] == '/' && is_in(at, length, name, path))
            return true;
        at += length;
        at += *at == ':';
    }
    return is_in(directory, strlen(directory), name, path);
}

/* The file of a command, in path of PATH_MAX bytes. */
static bool find_command(const char *command, MPI_Info info, char *path)
{
    char directory[PATH_MAX + 1], here[PATH_MAX + 1];
    if (!command)
        return false;
    if (command[0] == '/')
        return is_in("", 0, command + 1, path);
    if (!getcwd(here, sizeof here))
        return false;
    if (!info_value(info, "wdir", directory)) {
        strcpy(directory, here);
    } else if (directory[0] != '/') {
        char given[PATH_MAX + 1];
        strcpy(given, directory);
        int n = snprintf(directory, sizeof directory, "%s/%s", here, given);
        if (n < 0 || (size_t)n >= sizeof directory)
            return false;
    }
    if (strchr(command, '/'))
        return is_in(directory, strlen(directory), command, path);
    return find_in_path(command, directory, path);
}

static bool is_tool(const char *path)
{
    struct stat tool, other;
    return stat(rec_options.tool, &tool) == 0 && stat(path, &other) == 0 &&
           tool.st_ino == other.st_ino && tool.st_dev == other.st_dev;
}

/* Whether MPI is asked to do with the file what only the program's own file is good for. */
static bool is_moved(const char *command, MPI_Info info)
{
    static const char *const keys[] = {"ompi_preload_binary", "preload_binary", "ompi_non_mpi",
                                       NULL};
    char value[PATH_MAX + 1];
    for (const char *const *key = keys; *key; key++) {
        if (info_value(info, *key, value) && strcmp(value, "false") != 0)
            return true;
    }
#ifdef RFN_FLAVOUR_MPICH /* Open MPI 4 pays no attention to it */
    return command[0] != '/' && info_value(info, "path", value);
#else
    (void)command;
    return false;
#endif
}

/* ---- the archive's name ---- */

/* The parent's archive with .spawnN before the suffix, in path of PATH_MAX bytes; N counts on where
 * files are in the way. Other ranks than the first put their number in front of it. */
static bool choose_archive(char *path)
{
    static unsigned count;
    char stem[PATH_MAX], place[32] = "";
    if (rec_archive_name(stem, sizeof stem, rec_job_size(), 1) < 0)
        return false;
    size_t length = strlen(stem);
    if (length > 4 && strcmp(stem + length - 4, ".rfn") == 0)
        stem[length - 4] = 0;
    if (rec_job_rank() > 0)
        snprintf(place, sizeof place, ".rank%d", rec_job_rank());
    struct stat status;
    for (int tries = 0; tries < 10000; tries++) {
        int n = snprintf(path, PATH_MAX, "%s%s.spawn%u.rfn", stem, place,
                         __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
        if (n < 0 || n >= PATH_MAX)
            return false;
        if (rec_options.force || lstat(path, &status) != 0)
            return true;
    }
    return false;
}

/* ---- the words ---- */

struct words {
    char **words;
    size_t n, capacity;
    bool failed;
};

static void add(struct words *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct words *list, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (list->n == list->capacity || vasprintf(&list->words[list->n], format, args) < 0)
        list->failed = true;
    else
        list->n++;
    va_end(args);
}

/* What the recorder was told of this program holds for those that it starts. */
static void add_own_options(struct words *list)
{
    for (enum rfn_record_option i = 0; i < RFN_RECORD_WITH_OPTION; i++) {
        const struct rfn_record_row *row = rfn_record_row(i);
        const char *text = rec_options.texts[i];
        if (i == RFN_RECORD_OUTPUT || !text)
            continue;
        if (row->kind == RFN_KIND_SWITCH)
            add(list, "--%s", row->option);
        else
            add(list, "--%s=%s", row->option, text);
    }
}

/* The arguments of the tool that stands in for one command; NULL without memory. */
static char **make_argv(const char *archive, const char *command, char *const *argv,
                        char *const *files, int n_files)
{
    size_t n_arguments = 0;
    while (argv && argv[n_arguments])
        n_arguments++;
    struct words list = {.capacity = OWN_WORDS + (size_t)n_files + n_arguments};
    list.words = calloc(list.capacity + 1, sizeof *list.words);
    if (!list.words)
        return NULL;
    add(&list, "record");
    add(&list, "--in-place");
    add(&list, "--output=%s", archive);
    add_own_options(&list);
    for (int i = 0; n_files > 1 && i < n_files; i++)
        add(&list, "--beside=%s", files[i]);
    add(&list, "--");
    add(&list, "%s", command);
    for (size_t i = 0; i < n_arguments; i++)
        add(&list, "%s", argv[i]);
    if (!list.failed)
        return list.words;
    for (size_t i = 0; i < list.n; i++)
        free(list.words[i]);
    free(list.words);
    return NULL;
}

/* ---- preparing ---- */

static void not_recorded(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says once why processes that the program starts are not recorded. */
static void not_recorded(const char *format, ...)
{
    static bool told;
    char text[PATH_MAX + 128];
    if (rec_options.quiet || __atomic_exchange_n(&told, true, __ATOMIC_ACQ_REL))
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rec_message("processes that the program starts are not recorded: %s", text);
}

static void free_all(char **words, int n)
{
    for (int i = 0; words && i < n; i++)
        free(words[i]);
    free(words);
}

/* Whether the tool may stand in for the command, whose file goes to path; else says why not. */
static bool may_stand_in(const char *command, MPI_Info info, char *path)
{
    if (!find_command(command, info, path)) {
        not_recorded("%s is not found", command ? command : "the command");
        return false;
    }
    if (is_moved(command, info)) {
        not_recorded("what the call tells MPI holds for %s alone", command);
        return false;
    }
    return !is_tool(path); /* which is there on purpose */
}

/* The files of all commands, or NULL: these are not recorded. */
static char **find_all(int n, char *const *commands, const MPI_Info *infos)
{
    char path[PATH_MAX];
    char **files = calloc((size_t)n + 1, sizeof *files);
    bool ok = files != NULL;
    for (int i = 0; i < n && ok; i++) {
        ok = may_stand_in(commands[i], infos ? infos[i] : MPI_INFO_NULL, path);
        ok = ok && (files[i] = strdup(path));
    }
    if (ok)
        return files;
    free_all(files, n);
    return NULL;
}

static bool fill(struct rec_spawn *spawn, char *const *commands, char **const *argvs,
                 const char *archive, char *const *files)
{
    spawn->commands = calloc((size_t)spawn->n + 1, sizeof *spawn->commands);
    spawn->argvs = calloc((size_t)spawn->n + 1, sizeof *spawn->argvs);
    const char *slash = strrchr(archive, '/');
    spawn->archive = strdup(slash ? slash + 1 : archive);
    bool ok = spawn->commands && spawn->argvs && spawn->archive;
    for (int i = 0; i < spawn->n && ok; i++) {
        spawn->commands[i] = strdup(rec_options.tool);
        spawn->argvs[i] = make_argv(archive, commands[i], argvs ? argvs[i] : NULL, files, spawn->n);
        ok = spawn->commands[i] && spawn->argvs[i];
    }
    return ok;
}

void rec_spawn_prepare(struct rec_spawn *spawn, int n, char *const *commands, char **const *argvs,
                       const MPI_Info *infos)
{
    *spawn = (struct rec_spawn){.n = n};
    if (!rec_options.children || n <= 0)
        return;
    if (!rec_options.tool) {
        not_recorded("this one was not started by refrain record");
        return;
    }
    char archive[PATH_MAX];
    char **files = find_all(n, commands, infos);
    if (files && (!choose_archive(archive) || !fill(spawn, commands, argvs, archive, files))) {
        rec_spawn_release(spawn);
        not_recorded("%s", rfn_error_text(RFN_E_NOMEM));
    }
    free_all(files, n);
}

void rec_spawn_release(struct rec_spawn *spawn)
{
    for (int i = 0; spawn->argvs && i < spawn->n; i++) {
        for (char **word = spawn->argvs[i]; word && *word; word++)
            free(*word);
        free(spawn->argvs[i]);
    }
    free(spawn->argvs);
    free_all(spawn->commands, spawn->n);
    free(spawn->archive);
    *spawn = (struct rec_spawn){0};
}

/* ---- the wrappers ---- */

/* What both calls have in common after MPI's. */
static void leave(struct rec_call *call, const MPI_Comm *intercomm, struct rec_spawn *spawn)
{
    if (call->rc == MPI_SUCCESS) {
        rec_out_comm(call, *intercomm);
        rec_out_string(call, spawn->archive);
    } else {
        rec_out_unknown(call, 2);
    }
    rec_leave(call);
    rec_spawn_release(spawn);
}

REC_EXPORT int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info,
                              int root, MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Comm_spawn, __builtin_frame_address(0));
    struct rec_spawn spawn = {0};
    if (!call)
        return rec_next.MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm,
                                       array_of_errcodes);
    if (rec_comm_is_root(comm, root)) {
        rec_in_string(call, command);
        rec_in_int(call, maxprocs);
        rec_in_info(call, info);
        rec_spawn_prepare(&spawn, 1, (char *[]){(char *)command}, (char **[]){argv}, &info);
    } else {
        rec_in_int(call, RFN_LIST_ABSENT);
        rec_in_int(call, RFN_UNKNOWN);
        rec_in_int(call, -1);
    }
    rec_in_rank(call, root);
    rec_in_comm(call, comm);
    rec_begin(call);
    int rc = rec_next.MPI_Comm_spawn(spawn.commands ? spawn.commands[0] : command,
                                     spawn.commands ? spawn.argvs[0] : argv, maxprocs, info, root,
                                     comm, intercomm, array_of_errcodes);
    rec_end(call, rc);
    leave(call, intercomm, &spawn);
    return rc;
}

REC_EXPORT int MPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                                       CONST int array_of_maxprocs[],
                                       CONST MPI_Info array_of_info[], int root, MPI_Comm comm,
                                       MPI_Comm *intercomm, int array_of_errcodes[])
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Comm_spawn_multiple, __builtin_frame_address(0));
    struct rec_spawn spawn = {0};
    if (!call)
        return rec_next.MPI_Comm_spawn_multiple(count, array_of_commands, array_of_argv,
                                                array_of_maxprocs, array_of_info, root, comm,
                                                intercomm, array_of_errcodes);
    if (rec_comm_is_root(comm, root)) {
        rec_in_int(call, count);
        rec_in_ints(call, array_of_maxprocs, count);
        rec_in_infos(call, array_of_info, count);
        rec_spawn_prepare(&spawn, count, array_of_commands, array_of_argv, array_of_info);
    } else {
        rec_in_int(call, RFN_UNKNOWN);
        rec_in_int(call, RFN_LIST_ABSENT);
        rec_in_int(call, RFN_LIST_ABSENT);
    }
    rec_in_rank(call, root);
    rec_in_comm(call, comm);
    rec_begin(call);
    int rc = rec_next.MPI_Comm_spawn_multiple(
        count, spawn.commands ? spawn.commands : array_of_commands,
        spawn.commands ? spawn.argvs : array_of_argv, array_of_maxprocs, array_of_info, root, comm,
        intercomm, array_of_errcodes);
    rec_end(call, rc);
    leave(call, intercomm, &spawn);
    return rc;
}
