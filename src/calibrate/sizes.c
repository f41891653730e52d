#include "calibrate/sizes.h"

#include <math.h>
#include <stdlib.h>

/* splitmix64: the next number of 64 random bits. */
static uint64_t next(uint64_t *random)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static double next_share(uint64_t *random) /* from 0, below 1 */
{
    return (double)(next(random) >> 11) * 0x1p-53;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

size_t cal_sizes(int64_t *bytes, int64_t eager_bytes, uint64_t *random)
{
    const double octaves = log2((double)CAL_MOST_BYTES);
    size_t n = 0, kept = 0;
    bytes[n++] = 1;
    bytes[n++] = CAL_MOST_BYTES;
    for (int i = 1; i < CAL_SIZES; i++)
        bytes[n++] = (int64_t)exp2((i + next_share(random)) * octaves / CAL_SIZES);
    if (eager_bytes > 0 && eager_bytes < CAL_MOST_BYTES) {
        bytes[n++] = eager_bytes;
        bytes[n++] = eager_bytes + 1;
    }
    qsort(bytes, n, sizeof *bytes, compare);
    for (size_t i = 0; i < n; i++) {
        if (!kept || bytes[i] != bytes[kept - 1])
            bytes[kept++] = bytes[i];
    }
    return kept;
}

void cal_shuffle(size_t *order, size_t n, uint64_t *random)
{
    for (size_t i = 0; i < n; i++) {
        const size_t k = (size_t)(next_share(random) * (double)(i + 1));
        order[i] = order[k];
        order[k] = i;
    }
}
