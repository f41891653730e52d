/* How long an append to a fold takes, and what is left of the sequence: one line per workload and
 * length. The time per append has to stay flat as the sequence grows. Beside it, how long it takes
 * when the signature of the sequence is kept, and how many hashes that makes; -: it is given up.
 *
 *     fold_bench [LONGEST]      the longest sequence, by default 100000000 symbols
 */
#define _POSIX_C_SOURCE 199309L

#include "reduce/fold/elastic_signature.h"
#include "reduce/fold/fold.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHUNK = 1 << 16, PERIOD = 10000 };

/* Symbols are made in chunks, outside of the time that is measured. */
struct source {
    uint32_t symbols[CHUNK];
    uint32_t n;
    uint64_t made, random;
    uint64_t state[4];
};

static uint32_t random_below(struct source *source, uint32_t limit)
{
    source->random = source->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((source->random >> 33) % limit);
}

static void put(struct source *source, uint32_t symbol)
{
    source->symbols[source->n++] = symbol;
    source->made++;
}

static void body_of_20(struct source *source)
{
    put(source, (uint32_t)(source->made % 20));
}

/* for i: a; b for 0 to 3 times; c */
static void trips_0_to_3(struct source *source)
{
    put(source, 0);
    for (uint32_t k = random_below(source, 4); k; k--)
        put(source, 1);
    put(source, 2);
}

static void trips_1_to_3(struct source *source)
{
    put(source, 0);
    for (uint32_t k = 1 + random_below(source, 3); k; k--)
        put(source, 1);
}

/* Three loops deep, 0 to 3 trips on each level. */
static void three_deep(struct source *source)
{
    put(source, 0);
    for (uint32_t i = random_below(source, 4); i; i--) {
        put(source, 1);
        for (uint32_t j = random_below(source, 4); j; j--) {
            put(source, 2);
            for (uint32_t k = random_below(source, 4); k; k--)
                put(source, 3);
            put(source, 4);
        }
        put(source, 5);
    }
    put(source, 6);
}

/* A wavefront code: time steps of two sweeps over planes, each with receives and sends. */
static void wavefront(struct source *source)
{
    for (uint32_t sweep = 0; sweep < 2; sweep++) {
        for (uint32_t plane = 0; plane < 30; plane++) {
            for (uint32_t call = 0; call < 4; call++)
                put(source, 8 * sweep + call);
        }
    }
    for (uint32_t face = 0; face < 4; face++)
        put(source, 20 + face);
    if (++source->state[0] % 20 == 0)
        put(source, 30);
}

static void random_of(struct source *source, uint32_t alphabet)
{
    put(source, random_below(source, alphabet));
}

static void random_of_2(struct source *source)
{
    random_of(source, 2);
}

static void random_of_10(struct source *source)
{
    random_of(source, 10);
}

static void random_of_1000(struct source *source)
{
    random_of(source, 1000);
}

/* The n-th symbol is whether the golden ratio's multiples cross an integer. */
static void fibonacci(struct source *source)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u;
    uint64_t before = source->state[0];
    source->state[0] += golden;
    put(source, source->state[0] < before);
}

static void period(struct source *source)
{
    put(source, (uint32_t)(source->made % PERIOD));
}

/* Each symbol of the period stands in it 100 times. */
static void period_of_few(struct source *source)
{
    uint64_t x = source->made % PERIOD * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    put(source, (uint32_t)((x ^ x >> 32) % 100));
}

/* Matches that fail late: a body of 100 whose last symbol differs more often than not. */
static void late_failures(struct source *source)
{
    uint64_t at = source->made % 100;
    put(source, at < 99 ? (uint32_t)at : 99 + random_below(source, 50));
}

static const struct workload {
    const char *name;
    void (*make)(struct source *source);
    uint64_t longest; /* sequences without structure need memory for every symbol */
} workloads[] = {
    {"body of 20", body_of_20, UINT64_MAX},
    {"nest, trips 0 to 3", trips_0_to_3, UINT64_MAX},
    {"nest, trips 1 to 3", trips_1_to_3, UINT64_MAX},
    {"3 deep, trips 0 to 3", three_deep, UINT64_MAX},
    {"wavefront", wavefront, UINT64_MAX},
    {"late failures", late_failures, UINT64_MAX},
    {"period 10000", period, UINT64_MAX},
    {"period 10000 of 100", period_of_few, UINT64_MAX},
    {"Fibonacci", fibonacci, UINT64_MAX},
    {"random of 2", random_of_2, UINT64_MAX},
    {"random of 10", random_of_10, 10000000},
    {"random of 1000", random_of_1000, 10000000},
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A fold, and who is told what it is a fold of; and the time that was spent. */
struct side {
    struct rfn_fold *fold;
    struct rfn_elastic signature;
    bool slow;
    uint64_t ns;
};

static void sign(void *context, const rfn_node *symbols, size_t n)
{
    struct side *side = context;
    for (size_t i = 0; i < n && !side->slow; i++) {
        uint64_t call_hash = (symbols[i] + UINT64_C(1)) * 0x9e3779b97f4a7c15u;
        int error = rfn_elastic_append(&side->signature, call_hash);
        side->slow = error || rfn_elastic_is_slow(&side->signature);
    }
    if (side->slow)
        rfn_fold_watch_by(side->fold, NULL, NULL);
}

static int append(struct side *side, const uint32_t *symbols, size_t n)
{
    uint64_t begin = now_ns();
    int error = 0;
    for (size_t i = 0; i < n && !error; i++)
        error = rfn_fold_append(side->fold, symbols[i]);
    side->ns += now_ns() - begin;
    return error;
}

static void print_line(const char *name, uint64_t n, const struct side *plain,
                       const struct side *signing)
{
    struct rfn_fold_stats stats;
    rfn_fold_stats(plain->fold, &stats);
    printf("%-22s %10" PRIu64 " %8.1f %9" PRIu64 " %9.3f %12zu %8.1f ", name, n,
           (double)plain->ns / (double)n, stats.nodes, (double)stats.comparisons / (double)n,
           stats.bytes, (double)signing->ns / (double)n);
    if (signing->slow)
        printf("%9s\n", "-");
    else
        printf("%9.3f\n", (double)signing->signature.work / (double)n);
    fflush(stdout);
}

/* One sequence; a line at 10^5 symbols and at every power of ten after it. */
static bool run(const struct workload *workload, uint64_t longest)
{
    static struct source source;
    struct side plain = {.fold = rfn_fold_new(0)}, signing = {.fold = rfn_fold_new(0)};
    int error = plain.fold && signing.fold ? 0 : RFN_E_NOMEM;
    source = (struct source){.random = 1};
    if (longest > workload->longest)
        longest = workload->longest;
    if (!error)
        rfn_fold_watch_by(signing.fold, sign, &signing);
    uint64_t n = 0, line = 100000;
    while (!error && line <= longest) {
        source.n = 0;
        while (source.n < CHUNK - 1000)
            workload->make(&source);
        for (uint32_t at = 0, end; !error && at < source.n && line <= longest; at = end) {
            end = source.n - at < line - n ? source.n : at + (uint32_t)(line - n);
            n += end - at;
            error = append(&plain, source.symbols + at, end - at);
            if (!error)
                error = append(&signing, source.symbols + at, end - at);
            if (n == line) {
                print_line(workload->name, n, &plain, &signing);
                line *= 10;
            }
        }
    }
    rfn_fold_free(plain.fold);
    rfn_fold_free(signing.fold);
    rfn_elastic_release(&signing.signature);
    return !error;
}

int main(int argc, char **argv)
{
    uint64_t longest = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000;
    bool ok = true;
    printf("%-22s %10s %8s %9s %9s %12s %8s %9s\n", "workload", "symbols", "ns each", "nodes",
           "cmp each", "bytes", "signed", "hashes");
    for (size_t i = 0; ok && i < sizeof workloads / sizeof workloads[0]; i++)
        ok = run(&workloads[i], longest);
    if (!ok)
        fprintf(stderr, "fold_bench: out of memory\n");
    return ok ? 0 : 1;
}
