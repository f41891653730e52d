#include "reduce/path_word.h"

#include "base/grow.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { REDUCE_FIRST = 256, DEPTH_MAX = 48 };
static const uint64_t WORK_MAX = (uint64_t)1 << 28;

int rfn_path_alphabet_init(struct rfn_path_alphabet *alphabet, uint32_t n_letters)
{
    *alphabet = (struct rfn_path_alphabet){.n_letters = n_letters};
    alphabet->seen = calloc(n_letters + (size_t)1, sizeof *alphabet->seen);
    return alphabet->seen ? 0 : RFN_E_NOMEM;
}

void rfn_path_alphabet_release(struct rfn_path_alphabet *alphabet)
{
    free(alphabet->seen);
}

void rfn_path_word_release(struct rfn_path_word *word)
{
    free(word->letters);
    *word = (struct rfn_path_word){0};
}

/* ---- shortening ---- */

static bool first_seen(struct rfn_path_alphabet *alphabet, uint32_t letter)
{
    bool is = alphabet->seen[letter] != alphabet->stamp;
    alphabet->seen[letter] = alphabet->stamp;
    return is;
}

/* Where the shortest prefix of [from, to) with all its letters has its last one, and the shortest
 * suffix its first. Returns how many letters there are. */
static size_t find_covers(const uint32_t *letters, size_t from, size_t to,
                          struct rfn_path_alphabet *alphabet, size_t *prefix_end,
                          size_t *suffix_begin)
{
    size_t n = 0;
    alphabet->stamp++;
    for (size_t i = from; i < to; i++) {
        if (first_seen(alphabet, letters[i])) {
            *prefix_end = i;
            n++;
        }
    }
    alphabet->stamp++;
    for (size_t i = to; i-- > from;) {
        if (first_seen(alphabet, letters[i]))
            *suffix_begin = i;
    }
    return n;
}

/* Moves [from, to), shortened, to `out` <= from; returns the place behind it. Each stretch that it
 * goes into lacks a letter of this one. */
static size_t shorten(uint32_t *letters, size_t from, size_t to, size_t out, unsigned depth,
                      struct rfn_path_alphabet *alphabet)
{
    size_t a = from, b = from;
    if (to == from)
        return out;
    if (to - from <= 2 || depth == DEPTH_MAX ||
        find_covers(letters, from, to, alphabet, &a, &b) == to - from) {
        if (to == from + 2 && letters[from] == letters[from + 1])
            to--;
        memmove(letters + out, letters + from, (to - from) * sizeof *letters);
        return out + (to - from);
    }
    size_t first = a < b ? a : b, second = a < b ? b : a;
    bool middle = b < a; /* the covers overlap */
    out = shorten(letters, from, first, out, depth + 1, alphabet);
    letters[out++] = letters[first];
    if (middle)
        out = shorten(letters, first + 1, second, out, depth + 1, alphabet);
    if (second > first)
        letters[out++] = letters[second];
    return shorten(letters, second + 1, to, out, depth + 1, alphabet);
}

void rfn_path_word_shorten(struct rfn_path_word *word, struct rfn_path_alphabet *alphabet)
{
    if (word->n)
        word->n = shorten(word->letters, 0, word->n, 0, 0, alphabet);
    word->reduce_at = word->n < REDUCE_FIRST / 2 ? REDUCE_FIRST : 2 * word->n;
}

int rfn_path_word_append(struct rfn_path_word *word, struct rfn_path_alphabet *alphabet,
                         const uint32_t *letters, size_t n)
{
    if (n == 0)
        return 0;
    if (!word->reduce_at)
        word->reduce_at = REDUCE_FIRST;
    if (word->n + n > word->reduce_at && word->n > REDUCE_FIRST / 2)
        rfn_path_word_shorten(word, alphabet);
    if (n > RFN_PATH_WORD_MAX - word->n)
        return RFN_E_RANGE;
    RFN_TRY(RFN_GROW(word->letters, word->capacity, word->n + n));
    memcpy(word->letters + word->n, letters, n * sizeof *letters);
    word->n += n;
    return 0;
}

/* ---- the hash ----
 *
 * Level k has, for each place i, the longest stretch from i on that has k letters, which ends
 * before ends[i] (NONE: there is none), and its hash; and the same backwards from each place. */

#define NONE SIZE_MAX

struct levels {
    const uint32_t *letters;
    const uint64_t *hashes;
    size_t n;
    uint32_t *counts;            /* per letter, in the stretch */
    size_t *ends[2], *begins[2]; /* of this level and the one before, n + 1 each */
    uint64_t *from[2], *to[2];   /* hashes of the stretches */
};

static uint64_t join(uint64_t prefix, uint64_t last, uint64_t first, uint64_t suffix)
{
    const uint64_t words[4] = {prefix, last, first, suffix};
    return rfn_hash_bytes(words, sizeof words);
}

static void find_ends(struct levels *levels, size_t k, size_t *ends)
{
    size_t end = 0, distinct = 0;
    for (size_t i = 0; i <= levels->n; i++) {
        while (end < levels->n && (distinct < k || levels->counts[levels->letters[end]]))
            distinct += levels->counts[levels->letters[end++]]++ == 0;
        ends[i] = distinct == k ? end : NONE;
        if (i < levels->n && end > i)
            distinct -= --levels->counts[levels->letters[i]] == 0;
    }
}

static void find_begins(struct levels *levels, size_t k, size_t *begins)
{
    size_t begin = levels->n, distinct = 0;
    for (size_t i = levels->n + 1; i-- > 0;) {
        while (begin > 0 && (distinct < k || levels->counts[levels->letters[begin - 1]]))
            distinct += levels->counts[levels->letters[--begin]]++ == 0;
        begins[i] = distinct == k ? begin : NONE;
        if (i > 0 && begin < i)
            distinct -= --levels->counts[levels->letters[i - 1]] == 0;
    }
}

/* The hash of the stretch [begin, end), which has a letter more than the level before. */
static uint64_t hash_stretch(const struct levels *levels, int before, size_t begin, size_t end)
{
    size_t last = levels->ends[before][begin], first = levels->begins[before][end] - 1;
    return join(levels->from[before][begin], levels->hashes[levels->letters[last]],
                levels->hashes[levels->letters[first]], levels->to[before][end]);
}

static void next_level(struct levels *levels, size_t k)
{
    int now = k & 1, before = !now;
    find_ends(levels, k, levels->ends[now]);
    find_begins(levels, k, levels->begins[now]);
    for (size_t i = 0; i <= levels->n; i++) {
        if (levels->ends[now][i] != NONE)
            levels->from[now][i] = hash_stretch(levels, before, i, levels->ends[now][i]);
        if (levels->begins[now][i] != NONE)
            levels->to[now][i] = hash_stretch(levels, before, levels->begins[now][i], i);
    }
}

/* Level 0: empty stretches. */
static void first_level(struct levels *levels)
{
    for (size_t i = 0; i <= levels->n; i++) {
        levels->ends[0][i] = levels->begins[0][i] = i;
        levels->from[0][i] = levels->to[0][i] = 0;
    }
}

static size_t count_letters(const struct rfn_path_word *word, uint32_t *counts)
{
    size_t n = 0;
    for (size_t i = 0; i < word->n; i++)
        n += counts[word->letters[i]]++ == 0;
    for (size_t i = 0; i < word->n; i++)
        counts[word->letters[i]] = 0;
    return n;
}

static uint64_t hash_as_it_is(const struct rfn_path_word *word, const uint64_t *hashes)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < word->n; i++)
        hash = join(hash, hashes[word->letters[i]], 0, 1);
    return hash;
}

static int hash_by_levels(struct levels *levels, size_t distinct, uint64_t *hash)
{
    size_t rows = levels->n + 1;
    size_t *places = malloc(4 * rows * sizeof *places);
    uint64_t *values = malloc(4 * rows * sizeof *values);
    bool room = places && values;
    for (size_t i = 0; i < 2 && room; i++) {
        levels->ends[i] = places + i * rows;
        levels->begins[i] = places + (2 + i) * rows;
        levels->from[i] = values + i * rows;
        levels->to[i] = values + (2 + i) * rows;
    }
    if (room) {
        first_level(levels);
        for (size_t k = 1; k <= distinct; k++)
            next_level(levels, k);
        *hash = levels->from[distinct & 1][0];
    }
    free(places);
    free(values);
    return room ? 0 : RFN_E_NOMEM;
}

int rfn_path_word_hash(const struct rfn_path_word *word, const uint64_t *hashes, uint32_t n_letters,
                       uint64_t *hash)
{
    struct levels levels = {.letters = word->letters, .hashes = hashes, .n = word->n};
    int error = 0;
    levels.counts = calloc(n_letters + (size_t)1, sizeof *levels.counts);
    if (!levels.counts)
        return RFN_E_NOMEM;
    size_t distinct = count_letters(word, levels.counts);
    if (distinct == 0 || word->n <= WORK_MAX / distinct)
        error = hash_by_levels(&levels, distinct, hash);
    else
        *hash = hash_as_it_is(word, hashes);
    free(levels.counts);
    return error;
}
