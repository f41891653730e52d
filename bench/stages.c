/* stages.c - where the nanoseconds of a recorded call go, stage by stage, without MPI.
 *
 * Each stage is timed alone on what a loop of Irecv, Send and Wait gives it: the clock, the cached
 * call path, the signature's lookup, the folding, the columns. One line per stage:
 *
 *     stage <tab> ns per call
 */
#include "record/callpath/sites.h"
#include "record/core/clock.h"
#include "reduce/fold/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 3, ROUNDS = 2000000 };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void print_stage(const char *name, double start, double calls)
{
    printf("%s\t%.1f\n", name, (now_ns() - start) / calls);
}

/* ---- clock: two readings a call ---- */

static void clock_stage(void)
{
    uint64_t sum = 0;
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++)
        sum += rec_now() + rec_now();
    print_stage("clock", start, ROUNDS);
    if (sum == 1)
        puts("");
}

/* ---- call path: from a wrapper four frames below main ---- */

static struct rec_sites sites;
static volatile uint32_t seen;

__attribute__((noinline)) static void wrapper(void)
{
    seen = rec_site(&sites, 1, __builtin_frame_address(0));
}

__attribute__((noinline)) static void frames(int depth, int n)
{
    if (depth > 0) {
        frames(depth - 1, n);
        __asm__ volatile("");
        return;
    }
    for (int i = 0; i < n; i++) {
        wrapper();
        wrapper();
        wrapper();
    }
}

static void path_stage(void)
{
    frames(2, 1);
    double start = now_ns();
    frames(2, ROUNDS);
    print_stage("call path", start, (double)ROUNDS * CALLS);
}

/* ---- the reducer ---- */

static const struct rfn_param_info params[] = {
    {"buf", RFN_KIND_BUFFER, 0},  {"count", RFN_KIND_COUNT, 0}, {"datatype", RFN_KIND_TYPE, 0},
    {"source", RFN_KIND_RANK, 0}, {"tag", RFN_KIND_TAG, 0},     {"comm", RFN_KIND_COMM, 0},
};
static const struct rfn_function_info functions[] = {
    {"MPI_Irecv", RFN_CLASS_RECV, 0, 6, 0, params}};

static double stream_ns(bool times)
{
    struct rfn_stream_options options = {.functions = functions, .times = times};
    struct rfn_stream *stream = rfn_stream_new(&options);
    int64_t words[CALLS][6] = {{0, 1, 0, 0, 1, 1}, {0, 1, 0, 0, 2, 1}, {0, 1, 0, 0, 3, 1}};
    uint64_t now = 0;
    unsigned noise = 1;
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        for (uint32_t k = 0; k < CALLS; k++) {
            noise = noise * 1664525u + 1013904223u;
            struct rfn_event event = {.site = k,
                                      .in = words[k],
                                      .enter = now + 60 + (noise >> 28),
                                      .exit = now + 160 + (noise >> 24 & 15) + (noise >> 28)};
            now = event.exit;
            if (rfn_stream_event(stream, &event) < 0)
                abort();
        }
    }
    double ns = (now_ns() - start) / ((double)ROUNDS * CALLS);
    rfn_stream_free(stream);
    return ns;
}

static double fold_ns(void)
{
    struct rfn_fold *fold = rfn_fold_new(0);
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        for (uint32_t k = 0; k < CALLS; k++) {
            if (rfn_fold_append(fold, k) < 0)
                abort();
        }
    }
    double ns = (now_ns() - start) / ((double)ROUNDS * CALLS);
    rfn_fold_free(fold);
    return ns;
}

int main(void)
{
    rec_clock_init(1, NULL);
    if (rec_sites_init(&sites) < 0)
        return 1;
    clock_stage();
    path_stage();
    double fold = fold_ns(), structure = stream_ns(false), all = stream_ns(true);
    printf("signature\t%.1f\nfolding\t%.1f\ncolumns of times\t%.1f\n", structure - fold, fold,
           all - structure);
    rec_sites_release(&sites);
    return 0;
}
