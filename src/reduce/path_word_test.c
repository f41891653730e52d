/* Sequences up to repetition, against the definition: for words over few letters, equality by
 * Green and Rees' recursion, written down as it stands. */
#include "reduce/path_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t hashes[8] = {11, 222, 3333, 44444, 555555, 6666666, 77777777, 8};
enum { LETTERS = 8 };

static uint64_t hash_of(const uint32_t *letters, size_t n, bool shorten)
{
    struct rfn_path_word word = {0};
    struct rfn_path_alphabet alphabet;
    uint64_t hash = 0;
    assert_int_equal(rfn_path_alphabet_init(&alphabet, LETTERS), 0);
    assert_int_equal(rfn_path_word_append(&word, &alphabet, letters, n), 0);
    if (shorten)
        rfn_path_word_shorten(&word, &alphabet);
    assert_int_equal(rfn_path_word_hash(&word, hashes, LETTERS, &hash), 0);
    rfn_path_word_release(&word);
    rfn_path_alphabet_release(&alphabet);
    return hash;
}

static uint64_t hash_text(const char *text)
{
    uint32_t letters[256];
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        letters[i] = (uint32_t)(text[i] - 'a');
    assert_true(hash_of(letters, n, true) == hash_of(letters, n, false));
    return hash_of(letters, n, true);
}

/* ---- the definition ---- */

static unsigned content(const uint32_t *letters, size_t n)
{
    unsigned set = 0;
    for (size_t i = 0; i < n; i++)
        set |= 1U << letters[i];
    return set;
}

static bool equal_words(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    unsigned set = content(a, n);
    if (set != content(b, m))
        return false;
    if (!set)
        return true;
    size_t i = n, k = m;
    while (content(a, i - 1) == set)
        i--;
    while (content(b, k - 1) == set)
        k--;
    if (a[i - 1] != b[k - 1] || !equal_words(a, i - 1, b, k - 1))
        return false;
    i = 0, k = 0;
    while (content(a + i + 1, n - i - 1) == set)
        i++;
    while (content(b + k + 1, m - k - 1) == set)
        k++;
    return a[i] == b[k] && equal_words(a + i + 1, n - i - 1, b + k + 1, m - k - 1);
}

static size_t random_word(uint32_t *letters, size_t most, uint32_t n_letters)
{
    size_t n = 1 + (size_t)rand() % most;
    for (size_t i = 0; i < n; i++)
        letters[i] = (uint32_t)rand() % n_letters;
    return n;
}

static void test_known(void **state)
{
    (void)state;
    assert_true(hash_text("a") == hash_text("aaaa"));
    assert_true(hash_text("abc") != hash_text("ab"));
    assert_true(hash_text("abababc") == hash_text("abc"));
    assert_true(hash_text("abab") != hash_text("baba"));
    assert_true(hash_text("abba") != hash_text("abab"));
    assert_true(hash_text("abba") == hash_text("aba"));
    assert_true(hash_text("abc") != hash_text("acb"));
    assert_true(hash_text("abcabc") == hash_text("abc"));
    /* What follows of these demands: the middle does not show. */
    assert_true(hash_text("abcacbabc") == hash_text("abc"));
    assert_true(hash_text("") != hash_text("a"));
}

static void test_all_short_words(void **state)
{
    (void)state;
    enum { LENGTH = 6, WORDS = 3 * 3 * 3 * 3 * 3 * 3 };
    static uint32_t words[WORDS][LENGTH];
    static uint64_t found[WORDS];
    unsigned classes = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        for (unsigned k = 0, rest = i; k < LENGTH; k++, rest /= 3)
            words[i][k] = rest % 3;
        found[i] = hash_of(words[i], LENGTH, false);
        bool fresh = true;
        for (unsigned k = 0; k < i; k++) {
            bool same = found[i] == found[k];
            assert_int_equal(same, equal_words(words[i], LENGTH, words[k], LENGTH));
            fresh &= !same;
        }
        classes += fresh;
    }
    /* The free band on 3 letters has 159 elements; 6 letters are too few for some. */
    assert_in_range(classes, 60, 159);
}

static void test_random_pairs(void **state)
{
    (void)state;
    srand(5);
    unsigned equal = 0;
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t a[24], b[24];
        uint32_t n_letters = 2 + (uint32_t)rand() % 4;
        size_t n = random_word(a, 24, n_letters), m = random_word(b, 24, n_letters);
        bool same = equal_words(a, n, b, m);
        equal += same;
        assert_int_equal(hash_of(a, n, i & 1) == hash_of(b, m, i & 2), same);
    }
    assert_true(equal > 500);
}

/* Any stretch of a random word any number of times. */
static void test_repeats(void **state)
{
    (void)state;
    srand(7);
    for (unsigned i = 0; i < 5000; i++) {
        uint32_t word[40], more[40 + 8 * 40];
        size_t n = random_word(word, 40, 2 + (uint32_t)rand() % 6), out = 0;
        size_t from = (size_t)rand() % n, to = from + 1 + (size_t)rand() % (n - from);
        unsigned times = 1 + (unsigned)rand() % 8;
        for (size_t k = 0; k < from; k++)
            more[out++] = word[k];
        for (unsigned t = 0; t < times; t++) {
            memcpy(more + out, word + from, (to - from) * sizeof *word);
            out += to - from;
        }
        memcpy(more + out, word + to, (n - to) * sizeof *word);
        out += n - to;
        assert_true(hash_of(word, n, false) == hash_of(more, out, i & 1));
    }
}

/* A long word, letter by letter: it stays short, and means the same. */
static void test_long(void **state)
{
    (void)state;
    struct rfn_path_word word = {0};
    struct rfn_path_alphabet alphabet;
    static uint32_t all[100000];
    uint64_t hash;
    srand(9);
    assert_int_equal(rfn_path_alphabet_init(&alphabet, LETTERS), 0);
    size_t largest = 0;
    for (size_t i = 0; i < 100000; i++) {
        all[i] = i < 5 ? 6 : i == 99999 ? 7 : (uint32_t)rand() % 5;
        assert_int_equal(rfn_path_word_append(&word, &alphabet, &all[i], 1), 0);
        largest = word.n > largest ? word.n : largest;
    }
    assert_true(largest <= 1024);
    assert_int_equal(rfn_path_word_hash(&word, hashes, LETTERS, &hash), 0);
    rfn_path_word_release(&word);
    assert_true(hash == hash_of(all, 100000, false));
    rfn_path_alphabet_release(&alphabet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),        cmocka_unit_test(test_all_short_words),
        cmocka_unit_test(test_random_pairs), cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
