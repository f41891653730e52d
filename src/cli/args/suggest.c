/* The distance is the usual dynamic programme: row i holds the distances of a's first i letters to
 * every beginning of b; three rows are kept, because a swap looks two rows back. */
#include "cli/args/suggest.h"

#include <string.h>

enum { LETTERS = 63 };

static unsigned length_of(const char *word)
{
    unsigned n = 0;
    while (n < LETTERS && word[n])
        n++;
    return n;
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned rfn_word_distance(const char *a, const char *b)
{
    unsigned rows[3][LETTERS + 1];
    unsigned n = length_of(a), m = length_of(b);
    for (unsigned j = 0; j <= m; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= n; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *swap = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= m; j++) {
            row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smaller(row[j], smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], swap[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *rfn_suggest(const char *word, const char *const *words, size_t n)
{
    const char *near = NULL;
    unsigned least = 3;
    size_t length = strlen(word);
    for (size_t i = 0; i < n; i++) {
        unsigned distance = rfn_word_distance(word, words[i]);
        if (length > 1 && strncmp(word, words[i], length) == 0)
            distance = 1; /* a beginning, however much is missing */
        if (distance < least && distance < length) {
            least = distance;
            near = words[i];
        }
    }
    return near;
}
