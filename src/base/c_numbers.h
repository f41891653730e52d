/* c_numbers.h - numbers as in C, with a point, in any language.
 *
 * The recorder and the library are parts of programs that may have called setlocale: printf would
 * then write 0,346, and strtod would not read 0.346.
 */
#ifndef RFN_BASE_C_NUMBERS_H
#define RFN_BASE_C_NUMBERS_H

#include <stdarg.h>
#include <stddef.h>

/* As snprintf, vsnprintf and strtod of the C library. */
int rfn_c_print(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int rfn_c_vprint(char *to, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
double rfn_c_double(const char *text, char **end);

#endif
