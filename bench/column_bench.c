/* column_bench.c - what value columns cost: bytes and nanoseconds per value.
 *
 *     cc -std=c11 -O2 -Isrc -Iinclude -o column_bench bench/column_bench.c build/librefrain.a -lm
 *     ./column_bench [FILE...]
 *
 * Without arguments it measures generated shapes; a FILE is a sequence of little-endian 64-bit
 * words, such as recorded durations. Per column: bits per value; beside them, as `order0`, the best
 * static histogram of the whole column: exponent and m bits of mantissa as symbols of ideal
 * length, the rest as plain bits, ten bits for each symbol's table entry, the best m (this knows
 * neither spikes between coarse buckets nor steps, repetitions or drifts, and may therefore be
 * larger); nanoseconds per value for appending with writing, and for reading.
 */
#include "reduce/columns/column.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t seed = 1;

static uint64_t noise(void)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(void)
{
    return ((double)(noise() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static int64_t constant(uint64_t i)
{
    (void)i;
    return 7;
}
static int64_t rare_change(uint64_t i)
{
    return i % 10000 == 9999;
}
static int64_t counter(uint64_t i)
{
    return (int64_t)(4096 * i);
}
static int64_t period_4(uint64_t i)
{
    return (int64_t)(1 + i % 4);
}
static int64_t broken_period(uint64_t i)
{
    return i % 1000 == 999 ? 77 : (int64_t)(i % 12 * 1024);
}
static int64_t sizes(uint64_t i)
{
    (void)i;
    return (int64_t[]){8, 8, 8, 1024, 1024, 65536, 1 << 20, 24}[noise() % 8];
}
static int64_t peers(uint64_t i)
{
    (void)i;
    return (int64_t)(noise() % 64);
}
static int64_t narrow(uint64_t i)
{
    (void)i;
    return (int64_t)lround(300 + 10 * normal());
}
static int64_t two_modes(uint64_t i)
{
    (void)i;
    return (int64_t)lround(noise() % 20 ? 300 + 10 * normal() : 20000 + 1500 * normal());
}
static int64_t log_normal(uint64_t i)
{
    (void)i;
    return (int64_t)lround(exp(7 + 0.3 * normal()));
}
static int64_t heavy_tail(uint64_t i)
{
    (void)i;
    double mode = noise() % 3 ? 400 : 2600;
    if (noise() % 100 == 0)
        return (int64_t)(mode * pow(uniform(), -1.2)) & 0x3fffffff;
    return (int64_t)lround(mode * exp(0.08 * normal()));
}
static int64_t computation(uint64_t i)
{
    (void)i;
    return (int64_t)lround(2e6 + 2e4 * normal() + (noise() % 50 ? 0 : 3e5 * uniform()));
}
static int64_t walk(uint64_t i)
{
    static int64_t at;
    at = (i ? at : 1000000000) + lround(100 * normal());
    return at;
}
static int64_t random_64(uint64_t i)
{
    (void)i;
    return (int64_t)noise();
}

static const struct shape {
    const char *name;
    int64_t (*value)(uint64_t i);
} shapes[] = {{"constant", constant},
              {"rare change", rare_change},
              {"counter", counter},
              {"period of 4", period_4},
              {"broken period", broken_period},
              {"message sizes", sizes},
              {"64 peers", peers},
              {"300 +- 10", narrow},
              {"300, 5 % 20000", two_modes},
              {"log-normal", log_normal},
              {"modes, heavy tail", heavy_tail},
              {"computation", computation},
              {"random walk", walk},
              {"random 64 bits", random_64}};

static double now_ns(void)
{
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static unsigned symbol_of(uint64_t number, unsigned mantissa, unsigned *rest)
{
    unsigned exponent = 63 - (unsigned)__builtin_clzll(number | 1);
    *rest = exponent > mantissa ? exponent - mantissa : 0;
    return (exponent << mantissa) + (unsigned)(number >> *rest & ((1u << mantissa) - 1));
}

static double order0_with(const int64_t *values, uint64_t n, unsigned mantissa)
{
    static uint64_t counts[64 << 10];
    double bits = 0;
    for (unsigned s = 0; s < 64u << mantissa; s++)
        counts[s] = 0;
    for (uint64_t i = 0; i < n; i++) {
        unsigned rest;
        counts[symbol_of(rfn_zigzag(values[i]) >> (values[i] >= 0), mantissa, &rest)]++;
        bits += rest;
    }
    for (unsigned s = 0; s < 64u << mantissa; s++) {
        if (counts[s])
            bits += 10 + (double)counts[s] * log2((double)n / (double)counts[s]);
    }
    return bits / (double)n;
}

static double order0(const int64_t *values, uint64_t n)
{
    double best = 64;
    for (unsigned mantissa = 0; mantissa <= 10; mantissa++)
        best = fmin(best, order0_with(values, n, mantissa));
    return best;
}

static int check(int error)
{
    if (error)
        fprintf(stderr, "column_bench: %s\n", rfn_error_text(error));
    return error;
}

/* Both times are the best of some rounds: what disturbs only adds. */
static int measure(const char *name, const int64_t *values, uint64_t n)
{
    enum { ROUNDS = 5 };
    double append_ns = 1e300, read_ns = 1e300;
    struct rfn_buf buf = RFN_BUF_INIT;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct rfn_column column;
        double start = now_ns();
        int error = 0;
        rfn_column_init(&column);
        for (uint64_t i = 0; i < n; i++)
            error |= rfn_column_append(&column, values[i]);
        buf.size = 0;
        rfn_column_write(&column, &buf);
        append_ns = fmin(append_ns, now_ns() - start);
        rfn_column_release(&column);
        RFN_TRY(check(error ? RFN_E_NOMEM : rfn_buf_status(&buf)));

        struct rfn_reader reader = rfn_reader_over(buf.data, buf.size);
        struct rfn_column_cursor cursor;
        uint64_t differences = 0;
        start = now_ns();
        RFN_TRY(check(rfn_column_open(&cursor, &reader)));
        for (uint64_t i = 0; i < n; i++) {
            int64_t value = 0;
            RFN_TRY(check(rfn_column_next(&cursor, &value)));
            differences += value != values[i];
        }
        read_ns = fmin(read_ns, now_ns() - start);
        rfn_column_close(&cursor);
        RFN_TRY(check(differences ? RFN_E_CORRUPT : 0));
    }
    printf("%-24s %8llu %10.3f %9.3f %9.2f %9.2f\n", name, (unsigned long long)n,
           8.0 * (double)buf.size / (double)n, order0(values, n), append_ns / (double)n,
           read_ns / (double)n);
    rfn_buf_release(&buf);
    return 0;
}

static int measure_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return RFN_E_IO;
    }
    enum { MOST = 1 << 22 };
    int64_t *values = malloc(MOST * sizeof *values);
    size_t n = values ? fread(values, sizeof *values, MOST, file) : 0;
    fclose(file);
    int error = n ? measure(path, values, n) : RFN_E_IO;
    free(values);
    return error;
}

static int measure_shapes(uint64_t n)
{
    int64_t *values = malloc(n * sizeof *values);
    int error = values ? 0 : RFN_E_NOMEM;
    for (unsigned s = 0; !error && s < sizeof shapes / sizeof *shapes; s++) {
        for (uint64_t i = 0; i < n; i++)
            values[i] = shapes[s].value(i);
        error = measure(shapes[s].name, values, n);
    }
    free(values);
    return error;
}

int main(int argc, char **argv)
{
    printf("%-24s %8s %10s %9s %9s %9s\n", "column", "values", "bits/value", "order0", "append ns",
           "read ns");
    int error = argc > 1 ? 0 : measure_shapes(500000);
    for (int i = 1; !error && i < argc; i++)
        error = measure_file(argv[i]);
    return error != 0;
}
