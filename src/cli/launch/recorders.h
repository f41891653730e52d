/* recorders.h - which MPIs Refrain has recorders for, and where they are. */
#ifndef RFN_CLI_LAUNCH_RECORDERS_H
#define RFN_CLI_LAUNCH_RECORDERS_H

#include "cli/launch/elf_needs.h"

#include <stddef.h>

struct rfn_recorder {
    enum rfn_mpi mpi;
    const char *flavour; /* the word of --mpi */
    const char *text;    /* the MPI's name for people */
    const char *package; /* what brings it, in Debian; NULL: it needs nothing */
};

enum { RFN_RECORDERS = 3 };
extern const struct rfn_recorder rfn_recorders[RFN_RECORDERS];

/* NULL: there is none. */
const struct rfn_recorder *rfn_recorder_of(enum rfn_mpi mpi);
const struct rfn_recorder *rfn_recorder_named(const char *flavour);

/* Where the recorder's file is, if it was built. *path holds at least PATH_MAX bytes. */
bool rfn_recorder_find(const struct rfn_recorder *recorder, char *path);

#endif
