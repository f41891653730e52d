#include "reduce/segments/wave.h"

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

/* In which order the elements lie no distance sees, as long as it is the same for all vectors of a
 * length. Those of later levels first is best: what concerns all of a segment is where segments
 * that are not alike differ most. */
void rfn_wave_transform(double *vector, size_t n, double factor)
{
    double sums[LARGE / 2];
    size_t half = n / 2;
    if (n > LARGE) {
        /* All levels in place. The differences stay where the pair's second element was. */
        for (size_t step = 1; step < n; step *= 2) {
            for (size_t i = 0; i + step < n; i += 2 * step) {
                double a = vector[i], b = vector[i + step];
                vector[i] = (a + b) * factor;
                vector[i + step] = (b - a) * factor;
            }
        }
        return;
    }
    if (!half)
        return;
    /* The first level: from the back, as the differences overwrite what has been read. */
    for (size_t i = half; i >= 2; i -= 2)
        transform_two(vector + 2 * i - 4, factor, sums + i - 2, vector + half + i - 2);
    if (half % 2)
        transform_one(vector, factor, sums, vector + half);
    while (half /= 2) { /* a later level, of sums, which become half as many */
        for (size_t i = 0; i + 1 < half; i += 2)
            transform_two(sums + 2 * i, factor, sums + i, vector + half + i);
        if (half % 2)
            transform_one(sums, factor, sums, vector + half);
    }
    vector[0] = sums[0];
}
