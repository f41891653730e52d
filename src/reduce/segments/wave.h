/* wave.h - the wavelet transforms of Mohror 4.3.1.4 (Fig. 12), which differ by a factor only. */
#ifndef RFN_REDUCE_SEGMENTS_WAVE_H
#define RFN_REDUCE_SEGMENTS_WAVE_H

#include <stddef.h>

/* The power of two that is not less than n. */
size_t rfn_wave_length(size_t n);
/* Of n elements, a power of two: replaces pairs (a, b) by (a + b) * factor and (b - a) * factor,
 * and goes on with the former ones. In which order all these come out no distance sees; their signs
 * matter, since the largest element counts by value. */
void rfn_wave_transform(double *vector, size_t n, double factor);

#endif
