/* copy_text.h - strdup by way of malloc: tests that let allocations fail see it. */
#ifndef RFN_BASE_COPY_TEXT_H
#define RFN_BASE_COPY_TEXT_H

#include <stdlib.h>
#include <string.h>

/* To be freed; NULL: out of memory. */
static inline char *rfn_copy_text(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

#endif
