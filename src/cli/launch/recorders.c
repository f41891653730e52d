#include "cli/launch/recorders.h"

#include "cli/launch/mpi_environment.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct rfn_recorder rfn_recorders[RFN_RECORDERS] = {
    {RFN_MPI_OPENMPI, "openmpi", "Open MPI", "libopenmpi-dev"},
    {RFN_MPI_MPICH, "mpich", "MPICH", "libmpich-dev"},
    {RFN_MPI_ABI, "mpiabi", "the standard ABI of MPI", NULL}};

const struct rfn_recorder *rfn_recorder_of(enum rfn_mpi mpi)
{
    for (size_t i = 0; i < RFN_RECORDERS; i++) {
        if (rfn_recorders[i].mpi == mpi)
            return &rfn_recorders[i];
    }
    return NULL;
}

const struct rfn_recorder *rfn_recorder_named(const char *flavour)
{
    for (size_t i = 0; i < RFN_RECORDERS; i++) {
        if (strcmp(rfn_recorders[i].flavour, flavour) == 0)
            return &rfn_recorders[i];
    }
    return NULL;
}

bool rfn_recorder_find(const struct rfn_recorder *recorder, char *path)
{
    char name[64];
    snprintf(name, sizeof name, "librefrain-%s.so", recorder->flavour);
    return rfn_find_part(name, R_OK, path);
}
