/* shell_word.h - names of files in commands that a message tells the user to type. */
#ifndef REFRAIN_SHELL_WORD_H
#define REFRAIN_SHELL_WORD_H

#pragma GCC visibility push(default)

#include <stddef.h>

/* The name as a shell takes it: itself, or in single quotes, in text of `size` bytes, if it has
 * characters that mean something to a shell. A name that does not fit is returned as it is. */
const char *rfn_shell_word(const char *name, char *text, size_t size);

#pragma GCC visibility pop

#endif
