/* call_times.c - how long each of very many MPI calls takes, as the program sees it: run plain and
 * recorded, the difference of the distributions is what recording adds, and how seldom it adds
 * much.
 *
 *     call_times iprobe N      N unsuccessful MPI_Iprobe on one rank
 *     call_times self N        N times Irecv, Send to self, Wait on one rank
 *
 * The end of a call is the beginning of the next one: no time lies between them. Prints the
 * ns within which half, 99 %, 99.9 % and 99.99 % of the calls end, and the ns of the longest call.
 * The first tenth is not counted.
 *
 * The histogram has 32 buckets per power of two: a number is right to 1.6 %.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FINE = 5, PER_POWER = 1 << FINE, BUCKETS = (64 - FINE + 1) * PER_POWER };

static uint64_t histogram[BUCKETS], longest_ns, last_ns;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Of numbers below PER_POWER each has a bucket of its own. */
static unsigned bucket_of(uint64_t ns)
{
    unsigned shift = 0;
    while (ns >> shift >= 2 * PER_POWER)
        shift++;
    return shift * PER_POWER + (unsigned)(ns >> shift);
}

static double middle_of(unsigned bucket)
{
    const unsigned shift = bucket < 2 * PER_POWER ? 0 : bucket / PER_POWER - 1;
    const double width = (double)(UINT64_C(1) << shift);
    return (bucket - shift * PER_POWER) * width + (width - 1) / 2;
}

static void count_call(void)
{
    const uint64_t now = now_ns(), ns = now - last_ns;
    histogram[bucket_of(ns)]++;
    longest_ns = ns > longest_ns ? ns : longest_ns;
    last_ns = now;
}

static double quantile(double share)
{
    uint64_t calls = 0, before = 0;
    unsigned at = 0;
    for (unsigned i = 0; i < BUCKETS; i++)
        calls += histogram[i];
    while (at < BUCKETS - 1 && (double)(before += histogram[at]) < share * (double)calls)
        at++;
    return middle_of(at);
}

static void iprobe(long n)
{
    for (long i = 0; i < n; i++) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        count_call();
    }
}

static void self(long n)
{
    for (long i = 0; i < n; i++) {
        double in, out = 1;
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &request);
        count_call();
        MPI_Send(&out, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF);
        count_call();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        count_call();
    }
}

static void measure(void (*calls)(long n), long n)
{
    last_ns = now_ns();
    calls(n / 10);
    memset(histogram, 0, sizeof histogram);
    longest_ns = 0;
    calls(n);
    printf("%.1f %.1f %.1f %.1f %.1f\n", quantile(0.5), quantile(0.99), quantile(0.999),
           quantile(0.9999), (double)longest_ns);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 2)
        measure(strcmp(argv[1], "iprobe") == 0 ? iprobe : self, atol(argv[2]));
    MPI_Finalize();
    return 0;
}
