/* sites_bench.c - what a call path costs: hits in the cache by depth of the stack, and full walks.
 *
 * Usage: sites_bench [hits]. Prints a line per depth: frames of the path, nanoseconds per hit in
 * the best of five rounds, microseconds per full walk. With an argument it makes that many hits at
 * 8 frames and nothing else, for counting instructions. Functions keep a frame pointer or not as
 * the command line of the compiler says.
 */
#include "record/callpath/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HITS = 10000000, WALKS = 20000, ROUNDS = 5 };

/* What the loop at the bottom of the stack does. */
struct work {
    struct rec_sites *sites;
    unsigned long calls;
    uint32_t (*call)(struct rec_sites *);
    uint32_t site;
};

__attribute__((noinline)) static uint32_t call_hit(struct rec_sites *sites)
{
    uint32_t site = rec_site(sites, 1, __builtin_frame_address(0));
    __asm__ volatile("" ::: "memory");
    return site;
}

__attribute__((noinline)) static uint32_t call_nothing(struct rec_sites *sites)
{
    (void)sites;
    uint32_t site = (uint32_t)(uintptr_t)__builtin_frame_address(0);
    __asm__ volatile("" ::: "memory");
    return site;
}

/* The function's number changes with every call, so that no earlier walk fits. */
__attribute__((noinline)) static uint32_t call_walk(struct rec_sites *sites)
{
    static uint32_t function;
    uint32_t site = rec_site_walk(sites, 1000 + function++, __builtin_frame_address(0));
    __asm__ volatile("" ::: "memory");
    return site;
}

static void descend(struct work *work, unsigned depth);
static void (*volatile deeper)(struct work *, unsigned) = descend;

static void descend(struct work *work, unsigned depth)
{
    if (depth > 0) {
        deeper(work, depth - 1);
    } else {
        for (unsigned long i = 0; i < work->calls; i++)
            work->site = work->call(work->sites);
    }
    __asm__ volatile("" ::: "memory");
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds per call at a path of that many frames (main is one, the lowest descend another). */
static double measure(struct work work, unsigned frames)
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        deeper(&work, frames - 2);
        double taken = seconds() - start;
        best = taken < best ? taken : best;
    }
    return best / (double)work.calls;
}

static double measure_walks(unsigned frames)
{
    struct rec_sites sites;
    if (rec_sites_init(&sites) < 0)
        return 0;
    double walk = measure((struct work){&sites, WALKS, call_walk, 0}, frames);
    rec_sites_release(&sites);
    return walk;
}

int main(int argc, char **argv)
{
    struct rec_sites sites;
    if (rec_sites_init(&sites) < 0)
        return 1;
    if (argc > 1) {
        struct work work = {&sites, strtoul(argv[1], NULL, 10), call_hit, 0};
        deeper(&work, 6);
        rec_sites_release(&sites);
        return 0;
    }
    static const unsigned depths[] = {4, 8, 16, 32};
    printf("frames  ns/hit  us/walk\n");
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        double empty = measure((struct work){&sites, HITS, call_nothing, 0}, depths[i]);
        double hit = measure((struct work){&sites, HITS, call_hit, 0}, depths[i]);
        printf("%6u  %6.2f  %7.2f\n", depths[i], 1e9 * (hit - empty),
               1e6 * measure_walks(depths[i]));
    }
    rec_sites_release(&sites);
    return 0;
}
