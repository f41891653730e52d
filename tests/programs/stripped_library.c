/* The library of stripped.c: of its functions only library_begin and library_step can be seen from
 * outside. The others lie behind them in this order. */
#include <mpi.h>
#include <time.h>

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

__attribute__((noinline)) double (*library_step(void))(double, int);

__attribute__((noinline)) void library_begin(void)
{
    sleep_ms(1);
}

static __attribute__((noinline)) double hidden_sum(double value)
{
    double sum;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum + 1;
}

static __attribute__((noinline)) double hidden_work(double value, int late)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (late)
        sleep_ms(25);
    return hidden_sum(value) * 2;
}

double (*library_step(void))(double, int)
{
    return hidden_work;
}
