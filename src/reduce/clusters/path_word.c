#include "reduce/clusters/path_word.h"

#include "base/grow.h"
#include "base/hash.h"
#include "reduce/fold/elastic_signature.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { REDUCE_FIRST = 256, DEPTH_MAX = 48 };
static const uint64_t WORK_MAX = (uint64_t)1 << 28;

int rfn_path_alphabet_init(struct rfn_path_alphabet *alphabet, uint32_t n_call_hashes)
{
    *alphabet = (struct rfn_path_alphabet){0};
    alphabet->seen = calloc(n_call_hashes + (size_t)1, sizeof *alphabet->seen);
    return alphabet->seen ? 0 : RFN_E_NOMEM;
}

void rfn_path_alphabet_release(struct rfn_path_alphabet *alphabet)
{
    free(alphabet->seen);
}

void rfn_path_word_release(struct rfn_path_word *word)
{
    free(word->numbers);
    *word = (struct rfn_path_word){0};
}

/* ---- shortening ---- */

static bool first_seen(struct rfn_path_alphabet *alphabet, uint32_t number)
{
    bool is = alphabet->seen[number] != alphabet->stamp;
    alphabet->seen[number] = alphabet->stamp;
    return is;
}

/* Where the shortest prefix of [from, to) with all its call hashes has its last one, and the
 * shortest suffix its first. Returns how many call hashes there are. */
static size_t find_covers(const uint32_t *numbers, size_t from, size_t to,
                          struct rfn_path_alphabet *alphabet, size_t *prefix_end,
                          size_t *suffix_begin)
{
    size_t n = 0;
    alphabet->stamp++;
    for (size_t i = from; i < to; i++) {
        if (first_seen(alphabet, numbers[i])) {
            *prefix_end = i;
            n++;
        }
    }
    alphabet->stamp++;
    for (size_t i = to; i-- > from;) {
        if (first_seen(alphabet, numbers[i]))
            *suffix_begin = i;
    }
    return n;
}

/* Moves [from, to), shortened, to `out` <= from; returns the place behind it. Each stretch that it
 * goes into lacks a call hash of this one. */
static size_t shorten(uint32_t *numbers, size_t from, size_t to, size_t out, unsigned depth,
                      struct rfn_path_alphabet *alphabet)
{
    size_t a = from, b = from;
    if (to == from)
        return out;
    if (to - from <= 2 || depth == DEPTH_MAX ||
        find_covers(numbers, from, to, alphabet, &a, &b) == to - from) {
        if (to == from + 2 && numbers[from] == numbers[from + 1])
            to--;
        memmove(numbers + out, numbers + from, (to - from) * sizeof *numbers);
        return out + (to - from);
    }
    size_t first = a < b ? a : b, second = a < b ? b : a;
    bool middle = b < a; /* the covers overlap */
    out = shorten(numbers, from, first, out, depth + 1, alphabet);
    numbers[out++] = numbers[first];
    if (middle)
        out = shorten(numbers, first + 1, second, out, depth + 1, alphabet);
    if (second > first)
        numbers[out++] = numbers[second];
    return shorten(numbers, second + 1, to, out, depth + 1, alphabet);
}

void rfn_path_word_shorten(struct rfn_path_word *word, struct rfn_path_alphabet *alphabet)
{
    if (word->n)
        word->n = shorten(word->numbers, 0, word->n, 0, 0, alphabet);
    word->reduce_at = word->n < REDUCE_FIRST / 2 ? REDUCE_FIRST : 2 * word->n;
}

int rfn_path_word_append(struct rfn_path_word *word, struct rfn_path_alphabet *alphabet,
                         const uint32_t *numbers, size_t n)
{
    if (n == 0)
        return 0;
    if (!word->reduce_at)
        word->reduce_at = REDUCE_FIRST;
    if (word->n + n > word->reduce_at && word->n > REDUCE_FIRST / 2)
        rfn_path_word_shorten(word, alphabet);
    if (n > RFN_PATH_WORD_MAX - word->n)
        return RFN_E_RANGE;
    RFN_TRY(RFN_GROW(word->numbers, word->capacity, word->n + n));
    memcpy(word->numbers + word->n, numbers, n * sizeof *numbers);
    word->n += n;
    return 0;
}

int rfn_path_word_hash(const struct rfn_path_word *word, const uint64_t *hashes,
                       uint32_t n_call_hashes, uint64_t *hash)
{
    struct rfn_elastic elastic = {0};
    int error = 0;
    if (n_call_hashes && word->n > WORK_MAX / n_call_hashes) {
        *hash = 0; /* of the word as it is */
        for (size_t i = 0; i < word->n; i++) {
            const uint64_t words[] = {*hash, hashes[word->numbers[i]]};
            *hash = rfn_hash_bytes(words, sizeof words);
        }
        return 0;
    }
    for (size_t i = 0; i < word->n && !error; i++)
        error = rfn_elastic_append(&elastic, hashes[word->numbers[i]]);
    if (!error)
        *hash = rfn_elastic_signature(&elastic);
    rfn_elastic_release(&elastic);
    return error;
}
