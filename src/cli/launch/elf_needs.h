/* elf_needs.h - which MPI a program uses, before it runs.
 *
 * The libraries that the program needs, and those that they need, are searched as the dynamic
 * loader would, nearest first, until one is an MPI library. Which MPI it is says the library itself
 * (Open MPI's has a symbol of its own), because both have used the name libmpi.so.12; a library
 * that is not found is judged by its name.
 */
#ifndef RFN_CLI_LAUNCH_ELF_NEEDS_H
#define RFN_CLI_LAUNCH_ELF_NEEDS_H

#include "refrain/error.h"

#include <stdbool.h>

enum rfn_mpi {
    RFN_MPI_NONE,
    RFN_MPI_MPICH, /* and what shares its binary interface: MVAPICH, Intel MPI, Cray MPICH */
    RFN_MPI_OPENMPI,
    RFN_MPI_ABI, /* any MPI that has the standard ABI of MPI 5.0 */
    RFN_MPI_SMPI,
    RFN_MPI_OTHER /* an MPI library that has no recorder */
};

struct rfn_needs {
    bool elf;     /* false: a script, or no program at all */
    bool native;  /* for this machine */
    bool dynamic; /* libraries can be put in front of it */
    bool inside;  /* defines MPI_Init itself and needs no MPI library: MPI is linked statically */
    enum rfn_mpi mpi;
    char library[256]; /* the name under which the MPI library is needed; empty for NONE */
    char first[4096];  /* a sanitizer's library, which has to be loaded before all others, or "" */
};

/* Looks at the program at path. RFN_E_NOTFOUND: cannot be opened; RFN_E_CORRUPT: a broken ELF
 * file; RFN_E_NOMEM. A file that is not ELF is no error. */
int rfn_elf_needs(const char *path, struct rfn_needs *needs);

/* What a library's name alone says: MPICH for libmpich.so.12, OTHER for libmpi.so.12, which two
 * MPIs have used, and for every libmpi of an unknown version; NONE for what is no MPI library. */
enum rfn_mpi rfn_mpi_of_name(const char *soname);
/* The same of the file at path (may be NULL), which tells more than its name. */
enum rfn_mpi rfn_mpi_of_library(const char *soname, const char *path);

#endif
