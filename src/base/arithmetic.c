#include "base/arithmetic.h"

#if defined __x86_64__
#include <xmmintrin.h>

unsigned rfn_arithmetic_begin(void)
{
    enum { DEFAULTS = 0x1f80 }; /* no traps, nearest, denormals as they are */
    const unsigned programs = _mm_getcsr();
    _mm_setcsr(DEFAULTS);
    return programs;
}

void rfn_arithmetic_end(unsigned programs)
{
    _mm_setcsr(programs);
}
#else
unsigned rfn_arithmetic_begin(void)
{
    return 0;
}

void rfn_arithmetic_end(unsigned programs)
{
    (void)programs;
}
#endif
