/* order.h - the lesser and the greater of two. */
#ifndef RFN_BASE_ORDER_H
#define RFN_BASE_ORDER_H

#include <stdint.h>

static inline int64_t rfn_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t rfn_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
