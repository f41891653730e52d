#define _POSIX_C_SOURCE 200809L /* realpath, strdup, access */
#define _XOPEN_SOURCE   700
#include "cli/launch/launch.h"

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

static const struct {
    int launchers, values;
    const char *names;
} mpi_options[] = {
    {OPENMPI | HYDRA, 1, "n np bind-to host hostfile machinefile map-by path wd wdir"},
    {OPENMPI, 1,
     "c N H x am cf cartofile cpu-list cpu-set cpus-per-proc cpus-per-rank daemonize-to "
     "debugger default-hostfile display dvm-uri hnp launch-agent max-restarts max-vm-size "
     "npernode npersocket num-ppn ompi-server output output-filename output-proctable "
     "personality ppr prefix preload-files rank-by rankfile report-events report-uri rf rtos "
     "runtime-options set-sid stdin timeout tune with-ft xml-file xterm"},
    {OPENMPI, 2, "gmca gpmixmca gprtemca mca omca pmixmca prtemca"},
    {HYDRA, 1,
     "arch bootstrap bootstrap-exec bootstrap-exec-args ckpoint-interval ckpoint-num "
     "ckpoint-prefix ckpointlib demux envlist envexcl errfile errfile-pattern f genvexcl "
     "genvlist gpus-per-proc gtool gtoolfile hostlist hosts iface launcher launcher-exec "
     "localhost machine machines machinelist membind nameserver order-nodes outfile "
     "outfile-pattern output-from perhost ppn prepend-pattern rmk rr-type soft topolib tmpdir "
     "umask usize"},
    {HYDRA, 2, "env genv"},
    {OPENMPI, FILE_VALUE, "app"},
    {HYDRA, FILE_VALUE, "configfile"},
};

/* srun(1): letters that take a value, and long options that take none (the others do, unless the
 * value is part of the word). */
static const char srun_value_letters[] = "AaBbCcDdeGgiJLMmNnopPqRrSTtUWwx";
static const char srun_flags[] =
    "contiguous disable-status exact exclusive help het-group-all hold immediate interactive "
    "kill-on-bad-exit label nice no-allocate no-kill no-requeue oversubscribe overcommit "
    "overlap preserve-env propagate pty quiet quit-on-interrupt reboot requeue resv-ports "
    "spread-job stdout-unbuffered unbuffered usage use-min-nodes verbose version wait-all-nodes";
/* Letters whose value is optional, and so never a word of its own. */
static const char srun_optional_letters[] = "IKk";

/* Options after which a program is looked for in another directory than the current one. */
static const char moving_options[] =
    "wd wdir path prefix configfile D chdir preload-files s preload-binary";

/* ---- which launcher ---- */

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether n bytes are one of the words in a list. */
static bool one_of(const char *word, size_t n, const char *list)
{
    for (size_t length; *list; list += length, list += *list == ' ') {
        length = strcspn(list, " ");
        if (length == n && memcmp(list, word, n) == 0)
            return true;
    }
    return false;
}

static enum rfn_launcher launcher_by_name(const char *name)
{
    static const struct {
        enum rfn_launcher launcher;
        const char *names;
    } launchers[] = {
        {RFN_LAUNCHER_SLURM, "srun"},
        {RFN_LAUNCHER_OPENMPI, "mpirun.openmpi mpiexec.openmpi orterun prterun prun oshrun"},
        {RFN_LAUNCHER_HYDRA, "mpirun.mpich mpiexec.mpich mpiexec.hydra hydra mpirun.mvapich "
                             "mpiexec.mvapich"},
        {RFN_LAUNCHER_EITHER, "mpirun mpiexec"}};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (one_of(name, strlen(name), launchers[i].names))
            return launchers[i].launcher;
    }
    return RFN_LAUNCHER_NONE;
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

/* How many of the following words belong to an option of srun, whose short options may be clustered
 * and carry their value: -n8, -ln8. */
static int srun_values(const char *word)
{
    if (strcmp(word, "--multi-prog") == 0)
        return FILE_VALUE;
    if (word[1] == '-')
        return strchr(word, '=') || one_of(word + 2, strlen(word + 2), srun_flags) ? 0 : 1;
    for (const char *letter = word + 1; *letter; letter++) {
        if (strchr(srun_optional_letters, *letter))
            return 0;
        if (strchr(srun_value_letters, *letter))
            return letter[1] ? 0 : 1;
    }
    return 0;
}

/* The same of mpirun, mpiexec and srun. */
static int values_of(enum rfn_launcher launcher, const char *word)
{
    const char *name = word + (word[1] == '-' ? 2 : 1);
    int launchers = launcher == RFN_LAUNCHER_OPENMPI ? OPENMPI
                    : launcher == RFN_LAUNCHER_HYDRA ? HYDRA
                                                     : OPENMPI | HYDRA;
    if (launcher == RFN_LAUNCHER_SLURM)
        return srun_values(word);
    for (size_t i = 0; i < sizeof mpi_options / sizeof *mpi_options; i++) {
        if ((mpi_options[i].launchers & launchers) &&
            one_of(name, strlen(name), mpi_options[i].names))
            return mpi_options[i].values;
    }
    return 0;
}

static bool can_run(const char *word)
{
    bool denied;
    char *file = rfn_launch_find(word, &denied);
    bool found = file != NULL;
    free(file);
    return found || denied;
}

enum rfn_launch_fault rfn_launch_parse(enum rfn_launcher launcher, int argc, char *const *argv,
                                       struct rfn_launch *launch)
{
    *launch = (struct rfn_launch){.launcher = launcher};
    int i = 1;
    while (i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0) {
        const char *name = argv[i] + (argv[i][1] == '-' ? 2 : 1);
        int values = values_of(launcher, argv[i]);
        launch->elsewhere |= one_of(name, strcspn(name, "="), moving_options);
        if (values == FILE_VALUE) {
            launch->option = argv[i];
            return RFN_LAUNCH_FILE;
        }
        i += 1 + values;
    }
    /* An option that no table knows may have taken a word: then the mark is further on. */
    if (i < argc && !can_run(argv[i])) {
        int mark = i;
        while (mark < argc && strcmp(argv[mark], "--") != 0)
            mark++;
        i = mark < argc ? mark : i;
    }
    launch->marked = i < argc && strcmp(argv[i], "--") == 0;
    launch->program = i + launch->marked;
    if (launch->program >= argc)
        return RFN_LAUNCH_NO_PROGRAM;
    for (i = launch->program + 1; i < argc; i++) {
        if (strcmp(argv[i], ":") == 0)
            return RFN_LAUNCH_MPMD;
    }
    return RFN_LAUNCH_OK;
}

/* ---- finding programs ---- */

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
        size_t n = strcspn(at, ":"), size = n + strlen(word) + 3;
        char *path = malloc(size);
        if (path)
            snprintf(path, size, "%.*s/%s", (int)(n ? n : 1), n ? at : ".", word);
        if (path && runnable(path, denied))
            return path;
        free(path);
        at = at[n] ? at + n + 1 : NULL;
    }
    return NULL;
}

/* ---- env ---- */

static bool begins(const char *word, const char *with)
{
    return strncmp(word, with, strlen(with)) == 0;
}

/* Looks at an option of env. *value: the next word is its value. */
static bool is_dropping(const char *word, const char *next, bool *value)
{
    static const char ignore[] = "--ignore-environment", unset[] = "--unset";
    *value = false;
    if (word[1] == '-') {
        const char *name = begins(word, "--unset=") ? word + strlen("--unset=") : next;
        *value = strcmp(word, unset) == 0 || strcmp(word, "--chdir") == 0;
        return (begins(word, "--ign") && begins(ignore, word)) ||
               (begins(word, unset) && name && strcmp(name, "LD_PRELOAD") == 0);
    }
    for (const char *letter = word + 1; *letter; letter++) {
        if (*letter == 'i')
            return true;
        if (!strchr("uCS", *letter))
            continue;
        const char *argument = letter[1] ? letter + 1 : next;
        *value = !letter[1];
        return *letter == 'u' && argument && strcmp(argument, "LD_PRELOAD") == 0;
    }
    return !word[1]; /* "-" is short for -i */
}

const char *rfn_launch_drops_preload(char *const *argv)
{
    bool options = true, value;
    if (strcmp(last_component(argv[0]), "env") != 0)
        return NULL;
    for (char *const *word = argv + 1; *word; word++) {
        if (options && strcmp(*word, "--") == 0) {
            options = false;
        } else if (options && (*word)[0] == '-') {
            if (is_dropping(*word, word[1], &value))
                return *word;
            word += value && word[1];
        } else if (strchr(*word, '=')) {
            options = false;
            if (begins(*word, "LD_PRELOAD="))
                return *word;
        } else {
            return NULL;
        }
    }
    return NULL;
}
