/* text_bytes.h - any bytes as a text, for fuzzers of what people type. */
#ifndef RFN_TESTS_SUPPORT_TEXT_BYTES_H
#define RFN_TESTS_SUPPORT_TEXT_BYTES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Up to the first zero; to be freed. It ends where its memory does: reading on is seen. */
static inline char *text_of_bytes(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        abort();
    if (size)
        memcpy(text, bytes, size);
    text[size] = '\0';
    const size_t length = strlen(text);
    char *exact = realloc(text, length + 1);
    return exact ? exact : text;
}

#endif
