/* suggest.h - the word that a mistyped one was probably meant to be.
 *
 * The distance of two words is the number of letters inserted, deleted, replaced or swapped with
 * their neighbour (Damerau's distance, adjacent swaps only).
 */
#ifndef RFN_CLI_ARGS_SUGGEST_H
#define RFN_CLI_ARGS_SUGGEST_H

#include <stddef.h>

/* The nearest of n words, the first among equals, or NULL when none is near: within two changes,
 * and fewer changes than the word has letters, or beginning with the word. Borrowed from words. */
const char *rfn_suggest(const char *word, const char *const *words, size_t n);

/* The distance; words longer than 63 letters are cut there. */
unsigned rfn_word_distance(const char *a, const char *b);

#endif
