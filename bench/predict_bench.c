/* predict_bench.c - how fast predictions are: seconds with one assumption, and with as many at
 * once.
 *
 *     predict_bench ARCHIVE LANES
 *
 * Lane k assumes that the computation of rank k, counted around, takes half as long. Prints the
 * events, seconds of CPU time with one lane and with LANES of them. */
#include "refrain/predict.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LANES_MAX = 64 };

struct half {
    bool *ranks;
    struct rfn_assumption assumption;
};

static void fail(const char *what)
{
    fprintf(stderr, "predict_bench: %s\n", what);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double predict(const struct rfn_archive *archive, const struct rfn_lane *lanes, size_t n,
                      uint64_t *events)
{
    static const struct rfn_network network = {.latency_ns = 1000,
                                               .overhead_ns = 200,
                                               .gap_ns = 200,
                                               .gap_per_byte_ns = 1,
                                               .eager_bytes = 8192};
    const struct rfn_predict_options options = {.network = &network, .lanes = lanes, .n = n};
    struct rfn_prediction prediction;
    struct rfn_diag diag = {.rank = -1, .file_offset = -1};
    const double start = seconds();
    if (rfn_predict(archive, &options, &prediction, &diag) < 0)
        fail(diag.text);
    *events = prediction.events;
    rfn_prediction_release(&prediction);
    return seconds() - start;
}

int main(int argc, char **argv)
{
    struct half halves[LANES_MAX] = {{NULL}};
    struct rfn_lane lanes[LANES_MAX];
    struct rfn_archive *archive;
    struct rfn_diag diag;
    uint64_t events;
    const int n = argc == 3 ? atoi(argv[2]) : 0;
    if (n < 1 || n > LANES_MAX)
        fail("usage: predict_bench ARCHIVE LANES, 1 to 64 of them");
    if (rfn_archive_open(argv[1], &archive, &diag) < 0)
        fail(diag.text);
    const uint32_t ranks = rfn_archive_run(archive)->ranks;
    for (int k = 0; k < n; k++) {
        halves[k].ranks = calloc((size_t)ranks + 1, sizeof *halves[k].ranks);
        if (!halves[k].ranks)
            fail("out of memory");
        halves[k].ranks[(uint32_t)k % ranks] = true;
        halves[k].assumption = (struct rfn_assumption){
            .what = RFN_ASSUME_COMPUTE, .factor = 0.5, .ranks = halves[k].ranks};
        lanes[k] = (struct rfn_lane){&halves[k].assumption, 1};
    }
    const double one = predict(archive, lanes, 1, &events);
    const double all = predict(archive, lanes, (size_t)n, &events);
    printf("%llu %.6f %.6f\n", (unsigned long long)events, one, all);
    for (int k = 0; k < n; k++)
        free(halves[k].ranks);
    rfn_archive_close(archive);
    return 0;
}
