/* utf8.h - whether bytes are characters. */
#ifndef RFN_BASE_UTF8_H
#define RFN_BASE_UTF8_H

#include <stddef.h>

/* How many of the n bytes (at least one) the character takes that they begin with; 0: they begin
 * with none. Characters are what RFC 3629 has: the shortest form, no surrogates, up to U+10FFFF. */
size_t rfn_utf8_length(const char *bytes, size_t n);

#endif
