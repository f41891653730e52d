/* MPI that is loaded while the program runs, and reached in several ways.
 *
 *   late default LIBRARY           functions from dlsym(RTLD_DEFAULT)
 *   late handle LIBRARY            functions from dlsym(handle)
 *   late plugin LIBRARY PLUGIN     a plugin that is bound when it calls (this file with -DPLUGIN)
 *   late deep LIBRARY PLUGIN       the same, loaded past everything else
 *
 * Run alone: one process sends to itself. "expect" here is what programs/expect.h says.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void *library, *whose;

static void *find(const char *name)
{
    dlerror();
    void *found = dlsym(whose, name);
    if (!found || dlerror()) {
        fprintf(stderr, "late: no %s\n", name);
        _Exit(96);
    }
    return found;
}

#ifdef OPEN_MPI /* handles are data of the library */
#undef MPI_COMM_WORLD
#undef MPI_INT
#define MPI_COMM_WORLD ((MPI_Comm)dlsym(library, "ompi_mpi_comm_world"))
#define MPI_INT        ((MPI_Datatype)dlsym(library, "ompi_mpi_int"))
#endif

#ifndef PLUGIN /* every function is looked up when it is called */
#define MPI_Init     ((int (*)(int *, char ***))find("MPI_Init"))
#define MPI_Finalize ((int (*)(void))find("MPI_Finalize"))
#define MPI_Irecv \
    ((int (*)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))find("MPI_Irecv"))
#define MPI_Send  ((int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm))find("MPI_Send"))
#define PMPI_Send ((int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm))find("PMPI_Send"))
#define MPI_Wait  ((int (*)(MPI_Request *, MPI_Status *))find("MPI_Wait"))
#endif

#include "expect.h"

int run(void *mpi)
{
    int in[4], out[4] = {0};
    MPI_Request request;
    MPI_Status status;
    library = mpi;
    CALL(MPI_Init(NULL, NULL), "%s", "");
    for (int i = 0; i < 3; i++) {
        CALL(MPI_Irecv(in, 4, MPI_INT, 0, 5, MPI_COMM_WORLD, &request),
             "count=4 source=0 tag=5 comm=world");
        CALL(MPI_Send(out, 3 - i, MPI_INT, 0, 5, MPI_COMM_WORLD), "dest=0 tag=5 bytes=%d",
             4 * (3 - i));
        CALL(MPI_Wait(&request, &status), "bytes=%d", 4 * (3 - i));
    }
    CALL(MPI_Irecv(in, 4, MPI_INT, 0, 6, MPI_COMM_WORLD, &request), "tag=6");
    PMPI_Send(out, 4, MPI_INT, 0, 6, MPI_COMM_WORLD); /* as it means to: not to be seen */
    CALL(MPI_Wait(&request, &status), "tag=6 bytes=16");
    return expect_finalize(0);
}

#ifndef PLUGIN
int main(int argc, char **argv)
{
    if (argc < 3 || !(library = dlopen(argv[2], RTLD_LAZY | RTLD_GLOBAL)))
        return 98;
    whose = strcmp(argv[1], "handle") == 0 ? library : RTLD_DEFAULT;
    if (argc < 4)
        return run(library);
    const int deep = strcmp(argv[1], "deep") == 0 ? RTLD_DEEPBIND : 0;
    void *plugin = dlopen(argv[3], RTLD_LAZY | deep);
    int (*run_plugin)(void *) = plugin ? dlsym(plugin, "run") : NULL;
    return run_plugin ? run_plugin(library) : 97;
}
#endif
