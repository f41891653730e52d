#include "refrain/shell_word.h"

#include <string.h>

const char *rfn_shell_word(const char *name, char *text, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._/+,:=@%-",
                      quote[] = "'\\''";
    size_t n = 0;
    if (*name && !name[strspn(name, plain)])
        return name;
    for (const char *at = name; *at; at++)
        n += *at == '\'' ? strlen(quote) : 1;
    if (n + strlen("''") >= size)
        return name;
    char *to = text;
    *to++ = '\'';
    for (const char *at = name; *at; at++) {
        const size_t more = *at == '\'' ? strlen(quote) : 1;
        memcpy(to, *at == '\'' ? quote : at, more);
        to += more;
    }
    memcpy(to, "'", 2);
    return text;
}
