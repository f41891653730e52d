/* The methods. Each is a constant, with what only it needs before it. Those that measure are put
 * together from differences of two elements, tests of two vectors, and what a threshold allows. */
#include "reduce/segments/segment_starts.h"
#include "reduce/segments/similarity.h"
#include "reduce/segments/wave.h"

#include <string.h>

/* ---- parts ---- */

static double absolute(double a, double b)
{
    return a > b ? a - b : b - a;
}

static double squared(double a, double b)
{
    return (a - b) * (a - b);
}

/* Sums of even and odd elements, side by side, so that a machine can add both at once. Sums only
 * grow: most vectors that are not similar are known after a few elements, STRIDE at a time. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));
enum { STRIDE = 4 };

static inline pair pair_less(const double *a, const double *b)
{
    pair first, second;
    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    return first - second;
}

static bool near_absolute_sum(const double *a, const double *b, size_t n, double allowed)
{
    double even = 0, odd = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        even += absolute(a[i], b[i]);
        odd += absolute(a[i + 1], b[i + 1]);
        if (even + odd > allowed)
            return false;
    }
    even += n % 2 ? absolute(a[n - 1], b[n - 1]) : 0;
    return even + odd <= allowed;
}

static bool near_squared_sum(const double *a, const double *b, size_t n, double allowed)
{
    pair sums = {0, 0};
    size_t i = 0;
    for (; i + STRIDE <= n; i += STRIDE) {
        pair first = pair_less(a + i, b + i), second = pair_less(a + i + 2, b + i + 2);
        sums += first * first;
        sums += second * second;
        if (sums[0] + sums[1] > allowed)
            return false;
    }
    double even = sums[0], odd = sums[1];
    for (; i < n; i += 2) {
        even += squared(a[i], b[i]);
        odd += i + 1 < n ? squared(a[i + 1], b[i + 1]) : 0;
    }
    return even + odd <= allowed;
}

static bool near_absolute_largest(const double *a, const double *b, size_t n, double allowed)
{
    for (size_t i = 0; i < n; i++) {
        if (absolute(a[i], b[i]) > allowed)
            return false;
    }
    return true;
}

static double share(double threshold, double largest)
{
    return threshold * largest;
}

static double share_squared(double threshold, double largest)
{
    double share = rfn_larger(threshold * largest, 0);
    return share * share;
}

/* ---- the methods of the paper ---- */

/* Relative difference: each pair differs by at most a share of the larger one (Mohror, Eq. 1). */
static double amount(double a)
{
    return a < 0 ? -a : a;
}

/* Vectors have no negative elements, unless clocks ran backwards: then the larger amount counts. */
static double relative(double a, double b)
{
    double larger = rfn_larger(amount(a), amount(b));
    return larger > 0 ? amount(a - b) / larger : 0;
}

static bool near_relative(const double *a, const double *b, size_t n, double allowed)
{
    for (size_t i = 0; i < n; i++) {
        if (relative(a[i], b[i]) > allowed)
            return false;
    }
    return true;
}

static double threshold_itself(double threshold, double largest)
{
    (void)largest;
    return threshold;
}

const struct rfn_similarity rfn_rel_diff = {.name = "relDiff",
                                            .unit = "",
                                            .within = 0.8,
                                            .across = 0.8,
                                            .difference = relative,
                                            .near = near_relative,
                                            .allowed = threshold_itself};

/* Absolute difference: each pair differs by at most the threshold (Mohror, 4.3.1.2). It is in
 * microseconds, the vectors in nanoseconds. */
static double threshold_ns(double threshold, double largest)
{
    (void)largest;
    return threshold * 1000;
}

const struct rfn_similarity rfn_abs_diff = {.name = "absDiff",
                                            .unit = "us",
                                            .within = 1000,
                                            .across = 10000,
                                            .difference = absolute,
                                            .near = near_absolute_largest,
                                            .allowed = threshold_ns};

/* Manhattan distance: the sum of all differences is at most a share of the largest element (Mohror,
 * Eq. 2 with m = 1). */
const struct rfn_similarity rfn_manhattan = {.name = "manhattan",
                                             .unit = "",
                                             .within = 0.4,
                                             .across = 0.4,
                                             .difference = absolute,
                                             .near = near_absolute_sum,
                                             .added = true,
                                             .allowed = share};

/* Euclidean distance, compared by squares: at most a share of the largest element (Mohror, Eq. 2
 * with m = 2). */
const struct rfn_similarity rfn_euclidean = {.name = "euclidean",
                                             .unit = "",
                                             .within = 0.2,
                                             .across = 0.4,
                                             .difference = squared,
                                             .near = near_squared_sum,
                                             .added = true,
                                             .allowed = share_squared};

/* Chebyshev distance: the largest difference is at most a share of the largest element (Mohror, Eq.
 * 2 with m to infinity). */
const struct rfn_similarity rfn_chebyshev = {.name = "chebyshev",
                                             .unit = "",
                                             .within = 0.2,
                                             .across = 0.4,
                                             .difference = absolute,
                                             .near = near_absolute_largest,
                                             .allowed = share};

/* Average wavelet transform: averages and half-differences of pairs, again of the averages; then
 * Euclidean distance, at most a share of the largest element of the transforms (Mohror, 4.3.1.4).
 */
static void average_wave(double *vector, size_t n)
{
    rfn_wave_transform(vector, n, 0.5);
}

const struct rfn_similarity rfn_avg_wave = {.name = "avgWave",
                                            .unit = "",
                                            .within = 0.2,
                                            .across = 0.4,
                                            .transformed = rfn_wave_length,
                                            .transform = average_wave,
                                            .difference = squared,
                                            .near = near_squared_sum,
                                            .added = true,
                                            .allowed = share_squared};

/* Haar wavelet transform: as avgWave, with the square root of 2 in place of 2, so that the
 * transforms are as far from each other as the vectors (Mohror, 4.3.1.4). */
static void haar_wave(double *vector, size_t n)
{
    const double root_of_half = 0.70710678118654752440;
    rfn_wave_transform(vector, n, root_of_half);
}

const struct rfn_similarity rfn_haar_wave = {.name = "haarWave",
                                             .unit = "",
                                             .within = 0.2,
                                             .across = 0.4,
                                             .transformed = rfn_wave_length,
                                             .transform = haar_wave,
                                             .difference = squared,
                                             .near = near_squared_sum,
                                             .added = true,
                                             .allowed = share_squared};

/* Keeps the first k segments of a kind; what comes later is taken to be like them
 * (Mohror, 4.3.2.1). */
static uint32_t kept_first(double threshold)
{
    return threshold < 1 ? 1 : threshold > (double)UINT32_MAX ? UINT32_MAX : (uint32_t)threshold;
}

const struct rfn_similarity rfn_iter_k = {
    .name = "iterK", .unit = "segments", .within = 10, .across = -1, .kept = kept_first};

/* Keeps one segment of a kind, the average of all (Mohror, 4.3.2.2). It has no threshold. */
static uint32_t kept_one(double threshold)
{
    (void)threshold;
    return 1;
}

const struct rfn_similarity rfn_iter_avg = {
    .name = "iterAvg", .unit = "", .within = 0, .across = -1, .kept = kept_one, .averages = true};

/* ---- our own ---- */

/* Chebyshev distance with something for the machine: the largest difference is at most a share of
 * the largest element and a millisecond together. A machine's noise has a length of its own: it is
 * most of a short iteration and nothing of a long one. Segments that are one-way may differ by 2.5
 * times as much: their noise is between two ranks. Not in Mohror; doc/study.md tells why it is
 * there, and where the numbers come from.
 */
const struct rfn_similarity rfn_jitter = {.name = "jitter",
                                          .unit = "",
                                          .within = 0.02,
                                          .across = 0.4,
                                          .difference = absolute,
                                          .near = near_absolute_largest,
                                          .allowed = share,
                                          .more_ns = 1000000,
                                          .one_way = 2.5,
                                          .one_way_starts = RFN_ONE_WAY_STARTS,
                                          .stretched = true};
