/* wrap.h - sentences as lines of a page's width. */
#ifndef RFN_CLI_TEXT_WRAP_H
#define RFN_CLI_TEXT_WRAP_H

#include "cli/text/print_text.h"

/* Appends the words of `text` and a newline. The first line goes on where the last line of `out`
 * stands, further ones are indented. A number and its unit stay together. A word that is longer
 * than a line is broken: no line is wider than the page. */
void rfn_text_wrap(struct rfn_text *out, const struct rfn_text *text, size_t width, size_t indent);

/* How many lines, as wrapped, text has. */
size_t rfn_text_lines(const struct rfn_text *text);

/* How many columns text takes: bytes of UTF-8 that continue a character take
 * none, nor do the escape sequences of colours. */
size_t rfn_text_columns(const char *text, size_t n);

#endif
