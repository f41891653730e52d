/* Regions in a process that never initializes MPI. With an argument: begun before MPI is there (a
 * library that is loaded later), ended afterwards. */
#include <dlfcn.h>
#include <refrain/region.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    refrain_region_begin("alone");
    for (int i = 0; i < 1000; i++) {
        refrain_region_begin("step");
        refrain_region_end("step");
    }
    if (argc > 1) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
        int (*exchange)(void) = library ? (int (*)(void))dlsym(library, "exchange") : NULL;
        if (!exchange || exchange() != 0)
            return 1;
        refrain_region_begin("after");
        refrain_region_end("after");
    }
    refrain_region_end("alone");
    puts("done");
    return 0;
}
