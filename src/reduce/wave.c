#include "reduce/wave.h"

#include <string.h>

enum { LARGE = 512 }; /* longer vectors have no room on the stack */

size_t rfn_wave_length(size_t n)
{
    size_t length = 1;
    while (length < n)
        length *= 2;
    return length;
}

/* Two elements side by side, for machines that compute with both at once. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));

static inline pair load(const double *from)
{
    pair both;
    memcpy(&both, from, sizeof both);
    return both;
}

static inline void store(double *to, pair both)
{
    memcpy(to, &both, sizeof both);
}

/* Two pairs of elements: their sums and their differences. */
static inline void transform_two(const double *from, double factor, double *sums,
                                 double *differences)
{
    const pair factors = {factor, factor}, first = load(from), second = load(from + 2);
    const pair a = {first[0], second[0]}, b = {first[1], second[1]};
    store(sums, (a + b) * factors);
    store(differences, (b - a) * factors);
}

static inline void transform_one(const double *from, double factor, double *sum, double *difference)
{
    double a = from[0], b = from[1];
    *sum = (a + b) * factor;
    *difference = (b - a) * factor;
}

/* The first level: from the back, as the differences overwrite what has been read. */
static void transform_vector(double *vector, size_t half, double factor, double *sums)
{
    for (size_t i = half; i >= 2; i -= 2)
        transform_two(vector + 2 * i - 4, factor, sums + i - 2, vector + half + i - 2);
    if (half % 2)
        transform_one(vector, factor, sums, vector + half);
}

/* A later level, of sums, which become half as many. */
static void transform_sums(double *sums, size_t half, double factor, double *differences)
{
    for (size_t i = 0; i + 1 < half; i += 2)
        transform_two(sums + 2 * i, factor, sums + i, differences + i);
    if (half % 2)
        transform_one(sums, factor, sums, differences);
}

/* All levels in place. The differences stay where the pair's second element was. */
static void transform_large(double *vector, size_t n, double factor)
{
    for (size_t step = 1; step < n; step *= 2) {
        for (size_t i = 0; i + step < n; i += 2 * step) {
            double a = vector[i], b = vector[i + step];
            vector[i] = (a + b) * factor;
            vector[i + step] = (b - a) * factor;
        }
    }
}

/* In which order the elements lie no distance sees, as long as it is the same for all vectors of a
 * length. Those of later levels first is best: what concerns all of a segment is where segments
 * that are not alike differ most. */
void rfn_wave_transform(double *vector, size_t n, double factor)
{
    double sums[LARGE / 2];
    size_t half = n / 2;
    if (n > LARGE) {
        transform_large(vector, n, factor);
        return;
    }
    if (!half)
        return;
    transform_vector(vector, half, factor, sums);
    while (half /= 2)
        transform_sums(sums, half, factor, vector + half);
    vector[0] = sums[0];
}
