/* platform_bytes.h - platforms from bytes in memory. */
#ifndef RFN_TESTS_SUPPORT_PLATFORM_BYTES_H
#define RFN_TESTS_SUPPORT_PLATFORM_BYTES_H

#include "simulate/platform/platform_internal.h"

struct platform_bytes {
    const char *at;
    size_t left;
};

static inline int platform_bytes_input(void *context, char *bytes, int capacity)
{
    struct platform_bytes *from = context;
    const size_t n = from->left < (size_t)capacity ? from->left : (size_t)capacity;
    memcpy(bytes, from->at, n);
    from->at += n;
    from->left -= n;
    return (int)n;
}

/* Reads it as a file of the name p.xml. */
static inline int platform_of_bytes(const char *bytes, size_t size, struct rfn_platform **platform,
                                    struct rfn_diag *diag)
{
    struct platform_bytes from = {bytes, size};
    return rfn_platform_read_from("p.xml", platform_bytes_input, &from, platform, diag);
}

#endif
