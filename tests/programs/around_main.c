/* A library that starts MPI before main and ends it after main, as a static object of C++ does, and
 * with -DMAIN the program that uses it. ranks: any */
#ifdef MAIN

#include <unistd.h>

void work(void);

int main(void)
{
    work();
    write(STDOUT_FILENO, "main is over\n", 13); /* as one: the launcher may mix ranks' output */
    return 0;
}

#else

#include <mpi.h>
#include <stddef.h>

__attribute__((constructor)) static void begin(void)
{
    MPI_Init(NULL, NULL);
}

void work(void)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

__attribute__((destructor)) static void end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

#endif
