#define _POSIX_C_SOURCE 200809L /* realpath, strdup, access */
#define _XOPEN_SOURCE   700
#include "cli/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- tables ----
 *
 * A set of launchers and how many values an option takes from the following words. Options of the
 * two MPIs may be written with one dash or two; the names here are without. */

enum { OPENMPI = 1, HYDRA = 2 };
enum { FILE_VALUE = -1 }; /* a value that is a file which names the programs */

struct value_option {
    const char *name;
    int launchers, values;
};

static const struct value_option mpi_options[] = {
    {"n", OPENMPI | HYDRA, 1},
    {"np", OPENMPI | HYDRA, 1},
    {"c", OPENMPI, 1},
    {"N", OPENMPI, 1},
    {"H", OPENMPI, 1},
    {"x", OPENMPI, 1},
    {"am", OPENMPI, 1},
    {"app", OPENMPI, FILE_VALUE},
    {"bind-to", OPENMPI | HYDRA, 1},
    {"cf", OPENMPI, 1},
    {"cartofile", OPENMPI, 1},
    {"cpu-list", OPENMPI, 1},
    {"cpu-set", OPENMPI, 1},
    {"cpus-per-proc", OPENMPI, 1},
    {"cpus-per-rank", OPENMPI, 1},
    {"daemonize-to", OPENMPI, 1},
    {"debugger", OPENMPI, 1},
    {"default-hostfile", OPENMPI, 1},
    {"display", OPENMPI, 1},
    {"dvm-uri", OPENMPI, 1},
    {"gmca", OPENMPI, 2},
    {"gpmixmca", OPENMPI, 2},
    {"gprtemca", OPENMPI, 2},
    {"hnp", OPENMPI, 1},
    {"host", OPENMPI | HYDRA, 1},
    {"hostfile", OPENMPI | HYDRA, 1},
    {"launch-agent", OPENMPI, 1},
    {"machinefile", OPENMPI | HYDRA, 1},
    {"map-by", OPENMPI | HYDRA, 1},
    {"max-restarts", OPENMPI, 1},
    {"max-vm-size", OPENMPI, 1},
    {"mca", OPENMPI, 2},
    {"npernode", OPENMPI, 1},
    {"npersocket", OPENMPI, 1},
    {"num-ppn", OPENMPI, 1},
    {"ompi-server", OPENMPI, 1},
    {"omca", OPENMPI, 2},
    {"output", OPENMPI, 1},
    {"output-filename", OPENMPI, 1},
    {"output-proctable", OPENMPI, 1},
    {"path", OPENMPI | HYDRA, 1},
    {"personality", OPENMPI, 1},
    {"pmixmca", OPENMPI, 2},
    {"ppr", OPENMPI, 1},
    {"prefix", OPENMPI, 1},
    {"preload-files", OPENMPI, 1},
    {"prtemca", OPENMPI, 2},
    {"rank-by", OPENMPI, 1},
    {"rankfile", OPENMPI, 1},
    {"report-events", OPENMPI, 1},
    {"report-uri", OPENMPI, 1},
    {"rf", OPENMPI, 1},
    {"rtos", OPENMPI, 1},
    {"runtime-options", OPENMPI, 1},
    {"set-sid", OPENMPI, 1},
    {"stdin", OPENMPI, 1},
    {"timeout", OPENMPI, 1},
    {"tune", OPENMPI, 1},
    {"wd", OPENMPI | HYDRA, 1},
    {"wdir", OPENMPI | HYDRA, 1},
    {"with-ft", OPENMPI, 1},
    {"xml-file", OPENMPI, 1},
    {"xterm", OPENMPI, 1},
    {"arch", HYDRA, 1},
    {"bootstrap", HYDRA, 1},
    {"bootstrap-exec", HYDRA, 1},
    {"bootstrap-exec-args", HYDRA, 1},
    {"ckpoint-interval", HYDRA, 1},
    {"ckpoint-num", HYDRA, 1},
    {"ckpoint-prefix", HYDRA, 1},
    {"ckpointlib", HYDRA, 1},
    {"configfile", HYDRA, FILE_VALUE},
    {"demux", HYDRA, 1},
    {"env", HYDRA, 2},
    {"envlist", HYDRA, 1},
    {"envexcl", HYDRA, 1},
    {"errfile", HYDRA, 1},
    {"errfile-pattern", HYDRA, 1},
    {"f", HYDRA, 1},
    {"genv", HYDRA, 2},
    {"genvexcl", HYDRA, 1},
    {"genvlist", HYDRA, 1},
    {"gpus-per-proc", HYDRA, 1},
    {"gtool", HYDRA, 1},
    {"gtoolfile", HYDRA, 1},
    {"hostlist", HYDRA, 1},
    {"hosts", HYDRA, 1},
    {"iface", HYDRA, 1},
    {"launcher", HYDRA, 1},
    {"launcher-exec", HYDRA, 1},
    {"localhost", HYDRA, 1},
    {"machine", HYDRA, 1},
    {"machines", HYDRA, 1},
    {"machinelist", HYDRA, 1},
    {"membind", HYDRA, 1},
    {"nameserver", HYDRA, 1},
    {"order-nodes", HYDRA, 1},
    {"outfile", HYDRA, 1},
    {"outfile-pattern", HYDRA, 1},
    {"output-from", HYDRA, 1},
    {"perhost", HYDRA, 1},
    {"ppn", HYDRA, 1},
    {"prepend-pattern", HYDRA, 1},
    {"rmk", HYDRA, 1},
    {"rr-type", HYDRA, 1},
    {"soft", HYDRA, 1},
    {"topolib", HYDRA, 1},
    {"tmpdir", HYDRA, 1},
    {"umask", HYDRA, 1},
    {"usize", HYDRA, 1},
    {NULL, 0, 0},
};

/* srun(1): letters that take a value, and long options that take none (the others do, unless the
 * value is part of the word). */
static const char srun_value_letters[] = "AaBbCcDdeGgiJLMmNnopPqRrSTtUWwx";
static const char *const srun_flags[] = {"contiguous",
                                         "disable-status",
                                         "exact",
                                         "exclusive",
                                         "help",
                                         "het-group-all",
                                         "hold",
                                         "immediate",
                                         "interactive",
                                         "kill-on-bad-exit",
                                         "label",
                                         "nice",
                                         "no-allocate",
                                         "no-kill",
                                         "no-requeue",
                                         "oversubscribe",
                                         "overcommit",
                                         "overlap",
                                         "preserve-env",
                                         "propagate",
                                         "pty",
                                         "quiet",
                                         "quit-on-interrupt",
                                         "reboot",
                                         "requeue",
                                         "resv-ports",
                                         "spread-job",
                                         "stdout-unbuffered",
                                         "unbuffered",
                                         "usage",
                                         "use-min-nodes",
                                         "verbose",
                                         "version",
                                         "wait-all-nodes",
                                         NULL};
/* Letters whose value is optional, and so never a word of its own. */
static const char srun_optional_letters[] = "IKk";

/* Options after which a program is looked for in another directory than the current one. */
static const char *const moving_options[] = {
    "wd",    "wdir",          "path", "prefix",         "configfile", "D",
    "chdir", "preload-files", "s",    "preload-binary", NULL};

/* ---- which launcher ---- */

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool one_of(const char *word, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(word, *list) == 0)
            return true;
    }
    return false;
}

static enum rfn_launcher launcher_by_name(const char *name)
{
    static const char *const openmpi[] = {"mpirun.openmpi", "mpiexec.openmpi", "orterun", "prterun",
                                          "prun",           "oshrun",          NULL};
    static const char *const hydra[] = {"mpirun.mpich",
                                        "mpiexec.mpich",
                                        "mpiexec.hydra",
                                        "hydra",
                                        "mpirun.mvapich",
                                        "mpiexec.mvapich",
                                        NULL};
    static const char *const either[] = {"mpirun", "mpiexec", NULL};
    if (strcmp(name, "srun") == 0)
        return RFN_LAUNCHER_SLURM;
    if (one_of(name, openmpi))
        return RFN_LAUNCHER_OPENMPI;
    if (one_of(name, hydra))
        return RFN_LAUNCHER_HYDRA;
    return one_of(name, either) ? RFN_LAUNCHER_EITHER : RFN_LAUNCHER_NONE;
}

enum rfn_launcher rfn_launcher_of(const char *word)
{
    enum rfn_launcher launcher = launcher_by_name(last_component(word));
    if (launcher != RFN_LAUNCHER_EITHER)
        return launcher;
    bool denied;
    char *file = rfn_launch_find(word, &denied);
    char *real = file ? realpath(file, NULL) : NULL;
    enum rfn_launcher linked = real ? launcher_by_name(last_component(real)) : RFN_LAUNCHER_NONE;
    free(real);
    free(file);
    return linked == RFN_LAUNCHER_NONE ? launcher : linked;
}

/* ---- where the program starts ---- */

/* How many of the following words belong to an option of mpirun or mpiexec. */
static int mpi_values(int launchers, const char *name)
{
    for (const struct value_option *option = mpi_options; option->name; option++) {
        if ((option->launchers & launchers) && strcmp(option->name, name) == 0)
            return option->values;
    }
    return 0;
}

/* The same for srun, whose short options may be clustered and carry their value: -n8, -ln8. */
static int srun_values(const char *word)
{
    if (strcmp(word, "--multi-prog") == 0)
        return FILE_VALUE;
    if (word[1] == '-')
        return strchr(word, '=') || one_of(word + 2, srun_flags) ? 0 : 1;
    for (const char *letter = word + 1; *letter; letter++) {
        if (strchr(srun_optional_letters, *letter))
            return 0;
        if (strchr(srun_value_letters, *letter))
            return letter[1] ? 0 : 1;
    }
    return 0;
}

static int values_of(enum rfn_launcher launcher, const char *word)
{
    const char *name = word + (word[1] == '-' ? 2 : 1);
    switch (launcher) {
    case RFN_LAUNCHER_SLURM:
        return srun_values(word);
    case RFN_LAUNCHER_OPENMPI:
        return mpi_values(OPENMPI, name);
    case RFN_LAUNCHER_HYDRA:
        return mpi_values(HYDRA, name);
    default:
        return mpi_values(OPENMPI | HYDRA, name);
    }
}

static bool moves(const char *word)
{
    char name[32];
    snprintf(name, sizeof name, "%s", word + (word[1] == '-' ? 2 : 1));
    name[strcspn(name, "=")] = 0;
    return one_of(name, moving_options);
}

/* The index of the first `--` from i on, or argc. */
static int find_mark(int argc, char *const *argv, int i)
{
    while (i < argc && strcmp(argv[i], "--") != 0)
        i++;
    return i;
}

static bool can_run(const char *word)
{
    bool denied;
    char *file = rfn_launch_find(word, &denied);
    bool found = file != NULL;
    free(file);
    return found || denied;
}

static enum rfn_launch_fault check_rest(int argc, char *const *argv, struct rfn_launch *launch)
{
    if (launch->program >= argc)
        return RFN_LAUNCH_NO_PROGRAM;
    for (int i = launch->program + 1; i < argc; i++) {
        if (strcmp(argv[i], ":") == 0)
            return RFN_LAUNCH_MPMD;
    }
    return RFN_LAUNCH_OK;
}

enum rfn_launch_fault rfn_launch_parse(enum rfn_launcher launcher, int argc, char *const *argv,
                                       struct rfn_launch *launch)
{
    *launch = (struct rfn_launch){.launcher = launcher};
    int i = 1;
    while (i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0) {
        int values = values_of(launcher, argv[i]);
        launch->elsewhere |= moves(argv[i]);
        if (values == FILE_VALUE) {
            launch->option = argv[i];
            return RFN_LAUNCH_FILE;
        }
        i += 1 + values;
    }
    /* An option that no table knows may have taken a word: then the mark is further on. */
    if (i < argc && !can_run(argv[i])) {
        int mark = find_mark(argc, argv, i);
        i = mark < argc ? mark : i;
    }
    launch->marked = i < argc && strcmp(argv[i], "--") == 0;
    launch->program = i + launch->marked;
    return check_rest(argc, argv, launch);
}

/* ---- finding programs ---- */

static char *join(const char *directory, size_t n, const char *word)
{
    size_t size = n + strlen(word) + 3;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%.*s/%s", (int)(n ? n : 1), n ? directory : ".", word);
    return path;
}

static bool runnable(const char *path, bool *denied)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISDIR(status.st_mode))
        return false;
    if (access(path, X_OK) == 0)
        return true;
    *denied = true;
    return false;
}

char *rfn_launch_find(const char *word, bool *denied)
{
    *denied = false;
    if (strchr(word, '/'))
        return runnable(word, denied) ? strdup(word) : NULL;
    const char *at = getenv("PATH");
    while (at && word[0]) {
        size_t n = strcspn(at, ":");
        char *path = join(at, n, word);
        if (path && runnable(path, denied))
            return path;
        free(path);
        at = at[n] ? at + n + 1 : NULL;
    }
    return NULL;
}
