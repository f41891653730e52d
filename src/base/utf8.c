#include "base/utf8.h"

#include <stdint.h>

size_t rfn_utf8_length(const char *bytes, size_t n)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* of so many bytes */
    unsigned char first = (unsigned char)bytes[0];
    size_t length = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length <= 1)
        return length;
    if (first > 0xf4 || length > n)
        return 0;
    uint32_t character = first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)bytes[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | ((unsigned char)bytes[i] & 0x3f);
    }
    if (character < least[length] || character > 0x10ffff || (character >> 11) == 0x1b)
        return 0;
    return length;
}
