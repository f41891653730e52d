/* Loads its MPI while it runs, as interpreters do. ranks: any
 *
 *   loader LIBRARY
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc < 2 || !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))
        return 98;
    int (*init)(int *, char ***) = dlsym(RTLD_DEFAULT, "MPI_Init");
    int (*version)(int *, int *) = dlsym(RTLD_DEFAULT, "MPI_Get_version");
    int (*finalize)(void) = dlsym(RTLD_DEFAULT, "MPI_Finalize");
    int major = 0, minor = 0;
    if (!init || !version || !finalize)
        return 97;
    init(&argc, &argv);
    version(&major, &minor);
    finalize();
    printf("ran %d.%d\n", major, minor);
    return 0;
}
