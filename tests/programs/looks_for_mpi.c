/* looks_for_mpi.c - a program that is not linked with MPI and asks whether it is there, as
 * libraries do that work with and without it.
 *
 *   looks_for_mpi                          asks
 *   looks_for_mpi global LIBRARY           asks, loads MPI for all, asks, and uses it
 *   looks_for_mpi local LIBRARY PLUGIN     the same, but MPI is the plugin's alone (compiled of
 * this file with -DPLUGIN), which asks, too
 *
 * It asks by dlsym, or compiled with -DWEAK by a weak reference. All it finds is on its output.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int asking(int *);
typedef int starting(int *, char ***);
typedef int ending(void);

#ifdef WEAK
extern asking MPI_Initialized __attribute__((weak));
#define FOUND (MPI_Initialized)
#else
#define FOUND ((asking *)dlsym(RTLD_DEFAULT, "MPI_Initialized"))
#endif

void ask(const char *who)
{
    asking *initialized = FOUND;
    int is = -1;
    if (!initialized) {
        printf("%s: no MPI\n", who);
        return;
    }
    const int error = initialized(&is);
    printf("%s: MPI, %d %d\n", who, error, is);
}

#ifdef PLUGIN
#include <mpi.h>

void use(void)
{
    int rank, size;
    ask("plugin");
    MPI_Init(NULL, NULL);
    ask("plugin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d of %d\n", rank, size);
    MPI_Finalize();
}
#else
static void use_global(void *library)
{
    starting *init = (starting *)dlsym(library, "MPI_Init");
    ending *finalize = (ending *)dlsym(library, "MPI_Finalize");
    init(NULL, NULL);
    ask("initialized");
    finalize();
}

int main(int argc, char **argv)
{
    ask("at first");
    if (argc > 2 && strcmp(argv[1], "global") == 0) {
        void *library = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
        ask("loaded");
        use_global(library);
    } else if (argc > 3) {
        void *plugin = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
        ending *use = plugin ? (ending *)dlsym(plugin, "use") : NULL;
        if (!use)
            puts(dlerror());
        ask("loaded");
        use();
        ask("in the end");
    }
    return 0;
}
#endif
