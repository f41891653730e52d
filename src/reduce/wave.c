#include "reduce/wave.h"

size_t rfn_wave_length(size_t n)
{
    size_t length = 1;
    while (length < n)
        length *= 2;
    return length;
}

/* One level in place: sums of pairs to the front. The differences are put where the pair's second
 * element was, and stay there: in which order they lie no distance sees, as long as it is the same
 * for all. */
void rfn_wave_transform(double *vector, size_t n, double factor)
{
    for (size_t step = 1; step < n; step *= 2) {
        for (size_t i = 0; i + step < n; i += 2 * step) {
            double a = vector[i], b = vector[i + step];
            vector[i] = (a + b) * factor;
            vector[i + step] = (b - a) * factor;
        }
    }
}
