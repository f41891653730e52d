#define _POSIX_C_SOURCE 200809L /* newlocale, uselocale */
#include "base/c_numbers.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* Begins and ends what this thread does in the locale "C". The C library has that one: nothing is
 * allocated. */
static locale_t enter(locale_t *own)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *own = c ? uselocale(c) : (locale_t)0;
    return c;
}

static void leave(locale_t c, locale_t own)
{
    if (!c)
        return;
    uselocale(own);
    freelocale(c);
}

int rfn_c_vprint(char *to, size_t size, const char *format, va_list args)
{
    locale_t own, c = enter(&own);
    int n = vsnprintf(to, size, format, args);
    leave(c, own);
    return n;
}

int rfn_c_print(char *to, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = rfn_c_vprint(to, size, format, args);
    va_end(args);
    return n;
}

double rfn_c_double(const char *text, char **end)
{
    locale_t own, c = enter(&own);
    double value = strtod(text, end);
    leave(c, own);
    return value;
}
