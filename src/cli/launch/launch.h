/* launch.h - command lines of MPI launchers: where the program starts.
 *
 * `refrain record mpirun -n 8 ./app` puts the recorder between the launcher and the program, so it
 * has to know which of the launcher's options take a value. Tables of those are here; an option
 * that is in no table counts as one without. A word `--` says where the program starts without any
 * table.
 */
#ifndef RFN_CLI_LAUNCH_LAUNCH_H
#define RFN_CLI_LAUNCH_LAUNCH_H

#include <stdbool.h>

enum rfn_launcher {
    RFN_LAUNCHER_NONE,    /* no launcher: the program itself */
    RFN_LAUNCHER_OPENMPI, /* mpirun of Open MPI, orterun, prterun, prun */
    RFN_LAUNCHER_HYDRA,   /* mpiexec of MPICH, Intel MPI, MVAPICH */
    RFN_LAUNCHER_SLURM,   /* srun */
    RFN_LAUNCHER_EITHER   /* mpirun or mpiexec of whoever: the options of both MPIs */
};

enum rfn_launch_fault {
    RFN_LAUNCH_OK,
    RFN_LAUNCH_NO_PROGRAM, /* only options */
    RFN_LAUNCH_MPMD,       /* several programs, separated by ':' */
    RFN_LAUNCH_FILE        /* the programs stand in a file: see option */
};

struct rfn_launch {
    enum rfn_launcher launcher;
    int program;    /* index of the program in argv */
    bool marked;    /* argv[program - 1] is the mark `--`, which the launcher must not see */
    bool elsewhere; /* an option changes the directory or path in which programs are looked for */
    const char *option; /* RFN_LAUNCH_FILE: the option that names the file */
};

/* What a word is as the name of a launcher: by its last path component, and for a plain mpirun or
 * mpiexec by the file that it links to, found in PATH. */
enum rfn_launcher rfn_launcher_of(const char *word);

/* Finds the program in argv[0 .. argc - 1], where argv[0] is a launcher of the given kind. */
enum rfn_launch_fault rfn_launch_parse(enum rfn_launcher launcher, int argc, char *const *argv,
                                       struct rfn_launch *launch);

/* The file that executing `word` would run, as execvp(3) finds it, to be freed. NULL with *denied
 * set if there is one that may not be executed, else NULL. */
char *rfn_launch_find(const char *word, bool *denied);

/* The word by which env(1), if that is argv[0], takes LD_PRELOAD from the program that it starts or
 * gives it another one; NULL: it does not. argv ends with NULL. */
const char *rfn_launch_drops_preload(char *const *argv);

#endif
