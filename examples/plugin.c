/* A plug-in for `refrain reduce --cluster` and `refrain info --clusters`: what ranks send in a fast
 * Fourier transform. The text of an expression depends on the number of ranks and on what is seen
 * of the amounts, so that it is computed here.
 *
 *     cc -shared -fPIC -o plugin.so plugin.c
 *     refrain reduce --cluster --plugin ./plugin.so fft.rfn -o fft.small.rfn
 */
#include <refrain/plugin.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The rank whose bits are those of r in reverse order: "r>>3&1|r>>1&2|r<<1&4|r<<3&8" for 16. */
static int reversed_bits(uint32_t ranks, char *text, size_t size)
{
    int bits = 0, length = 0;
    while (bits < 31 && UINT32_C(1) << bits < ranks)
        bits++;
    if (UINT32_C(1) << bits != ranks)
        return 0;
    for (int to = 0; to < bits && (size_t)length < size; to++) {
        int by = bits - 1 - 2 * to; /* bit bits - 1 - to goes to bit `to` */
        length += snprintf(text + length, size - (size_t)length, "%sr%s%d&%" PRIu32, to ? "|" : "",
                           by < 0 ? "<<" : ">>", by < 0 ? -by : by, UINT32_C(1) << to);
    }
    return length;
}

/* The parabola through the amounts of the ranks 0, 1 and 2. */
static int parabola(const struct refrain_parameter *parameter, char *text, size_t size)
{
    int64_t at[3];
    unsigned seen = 0;
    for (size_t i = 0; i < parameter->n; i++) {
        uint32_t rank = parameter->values[i].rank;
        if (rank > 2)
            continue;
        at[rank] = parameter->values[i].value;
        seen |= 1u << rank;
        if (at[rank] < 0 || at[rank] > INT32_MAX)
            return 0;
    }
    if (seen != 7)
        return 0;
    int64_t twice = at[2] - 2 * at[1] + at[0]; /* the second difference */
    return snprintf(text, size, "%" PRId64 "+%" PRId64 "*r+%" PRId64 "*r*(r-1)/2", at[0],
                    at[1] - at[0], twice);
}

int refrain_expression(const struct refrain_parameter *parameter, char *text, size_t size)
{
    if (!strcmp(parameter->role, "peer"))
        return reversed_bits(parameter->values[0].size, text, size);
    if (!strcmp(parameter->role, "count"))
        return parabola(parameter, text, size);
    return 0; /* nothing to say */
}
