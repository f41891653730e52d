#include "reduce/pace.h"

enum { CALLS_MAX = 1 << 30 };

uint64_t rfn_pace_next(uint64_t calls, uint64_t done, uint64_t every)
{
    const double most = calls < CALLS_MAX / 2 ? 2.0 * (double)calls : CALLS_MAX;
    const double wanted = done ? (double)calls * ((double)every / (double)done) : most;
    return wanted >= most ? (uint64_t)most : wanted < 1 ? 1 : (uint64_t)(wanted + 0.5);
}
