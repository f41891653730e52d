/* Sequences up to repetition, against the definition: for words of few call hashes, equality by
 * Green and Rees' recursion, written down as it stands. */
#include "reduce/fold/elastic_signature.h"

#include "reduce/clusters/path_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t hashes[8] = {11, 222, 3333, 44444, 555555, 6666666, 77777777, 8};

/* asked: the signature is asked for after each call, which changes nothing. */
static uint64_t signature_of(const uint32_t *numbers, size_t n, bool asked)
{
    struct rfn_elastic elastic = {0};
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rfn_elastic_append(&elastic, hashes[numbers[i]]), 0);
        if (asked)
            rfn_elastic_signature(&elastic);
    }
    uint64_t signature = rfn_elastic_signature(&elastic);
    rfn_elastic_release(&elastic);
    return signature;
}

static uint64_t of_text(const char *text)
{
    uint32_t numbers[256];
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        numbers[i] = (uint32_t)(text[i] - 'a');
    return signature_of(numbers, n, false);
}

/* ---- the definition ---- */

static unsigned content(const uint32_t *numbers, size_t n)
{
    unsigned set = 0;
    for (size_t i = 0; i < n; i++)
        set |= 1U << numbers[i];
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

static size_t random_word(uint32_t *numbers, size_t most, uint32_t n_call_hashes)
{
    size_t n = 1 + (size_t)rand() % most;
    for (size_t i = 0; i < n; i++)
        numbers[i] = (uint32_t)rand() % n_call_hashes;
    return n;
}

static void test_known(void **state)
{
    (void)state;
    assert_true(of_text("a") == of_text("aaaa"));
    assert_true(of_text("abc") != of_text("ab"));
    assert_true(of_text("abababc") == of_text("abc"));
    assert_true(of_text("abab") != of_text("baba"));
    assert_true(of_text("abba") != of_text("abab"));
    assert_true(of_text("abba") == of_text("aba"));
    assert_true(of_text("abc") != of_text("acb"));
    assert_true(of_text("abcabc") == of_text("abc"));
    /* What follows of these demands: the middle does not show. */
    assert_true(of_text("abcacbabc") == of_text("abc"));
    assert_true(of_text("") != of_text("a"));
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
        found[i] = signature_of(words[i], LENGTH, false);
        bool fresh = true;
        for (unsigned k = 0; k < i; k++) {
            bool same = found[i] == found[k];
            assert_int_equal(same, equal_words(words[i], LENGTH, words[k], LENGTH));
            fresh &= !same;
        }
        classes += fresh;
    }
    /* The free band on 3 call hashes has 159 elements; 6 call hashes are too few for some. */
    assert_in_range(classes, 60, 159);
}

static void test_random_pairs(void **state)
{
    (void)state;
    srand(5);
    unsigned equal = 0;
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t a[24], b[24];
        uint32_t n_call_hashes = 2 + (uint32_t)rand() % 4;
        size_t n = random_word(a, 24, n_call_hashes), m = random_word(b, 24, n_call_hashes);
        bool same = equal_words(a, n, b, m);
        equal += same;
        assert_int_equal(signature_of(a, n, i & 1) == signature_of(b, m, i & 2), same);
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
        assert_true(signature_of(word, n, false) == signature_of(more, out, i & 1));
    }
}

static void append(struct rfn_elastic *elastic, uint64_t call_hash)
{
    assert_int_equal(rfn_elastic_append(elastic, call_hash), 0);
}

/* 20 call hashes in turn: the first of each takes a hash for each one before it, and these one for
 * what they were left to do; in the second turn each takes 19; then there is nothing new. */
static void test_work(void **state)
{
    (void)state;
    enum { CALL_HASHES = 20, TURNS = 1000 };
    struct rfn_elastic elastic = {0};
    uint64_t after[3], signature = 0;
    for (size_t i = 0; i < TURNS; i++) {
        for (uint64_t call_hash = 1; call_hash <= CALL_HASHES; call_hash++)
            append(&elastic, call_hash);
        if (i < 3)
            after[i] = elastic.work;
        assert_true(!i || signature == rfn_elastic_signature(&elastic));
        signature = rfn_elastic_signature(&elastic);
    }
    assert_int_equal(after[0], CALL_HASHES * (CALL_HASHES - 1) / 2 + CALL_HASHES - 1);
    assert_int_equal(after[1] - after[0], 1 + CALL_HASHES * (CALL_HASHES - 1));
    assert_int_equal(after[2], 1 + after[1]); /* which the question for the signature takes */
    assert_int_equal(elastic.work, after[2]);
    assert_int_equal(elastic.taken, CALL_HASHES * TURNS);
    rfn_elastic_release(&elastic);
}

/* In any order each call takes what lies between, at most twice, however long it goes on. */
static void test_work_in_disorder(void **state)
{
    (void)state;
    enum { CALL_HASHES = 40, PARTS = 10, EACH = 100000 };
    struct rfn_elastic elastic = {0};
    uint64_t before = 0;
    srand(3);
    for (int part = 0; part < PARTS; part++) {
        for (int i = 0; i < EACH; i++)
            append(&elastic, 1 + (uint64_t)rand() % CALL_HASHES);
        assert_in_range(elastic.work - before, EACH, (uint64_t)EACH * CALL_HASHES);
        before = elastic.work;
    }
    assert_false(rfn_elastic_is_slow(&elastic));
    rfn_elastic_release(&elastic);
    for (int i = 0; i < EACH && !rfn_elastic_is_slow(&elastic); i++)
        append(&elastic, 1 + (uint64_t)rand() % (CALL_HASHES * CALL_HASHES));
    assert_true(rfn_elastic_is_slow(&elastic));
    rfn_elastic_release(&elastic);
}

/* What is a loop of a loop and now and then leaves something out, in 400,000 calls: most steps
 * are known, more than wait at once. Beside it an elastic signature that never knows any: of the
 * whole sequence again, made short. */
static void test_steps(void **state)
{
    (void)state;
    enum { ROUNDS = 20000, MOMENTS = 20 };
    struct rfn_elastic elastic = {0};
    struct rfn_path_word word = {0};
    struct rfn_path_alphabet alphabet;
    srand(4);
    assert_int_equal(rfn_path_alphabet_init(&alphabet, 8), 0);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t numbers[100], n = 0;
        for (int k = rand() % 4; k >= 0; k--) {
            numbers[n++] = 0;
            for (int l = rand() % 4; l > 0; l--) {
                numbers[n++] = 1;
                numbers[n++] = 2 + (uint32_t)(rand() % 8 == 0);
            }
            numbers[n++] = i % 1000 ? 4 : 5;
        }
        numbers[n++] = i < ROUNDS / 2 ? 6 : 7;
        assert_int_equal(rfn_path_word_append(&word, &alphabet, numbers, n), 0);
        for (uint32_t k = 0; k < n; k++)
            append(&elastic, hashes[numbers[k]]);
        if (i % (ROUNDS / MOMENTS) != 7)
            continue;
        rfn_path_word_shorten(&word, &alphabet);
        assert_true(rfn_elastic_signature(&elastic) == signature_of(word.numbers, word.n, true));
    }
    assert_true(elastic.work < elastic.taken * 4);
    rfn_path_word_release(&word);
    rfn_path_alphabet_release(&alphabet);
    rfn_elastic_release(&elastic);
}

/* The sequence so far and 159 classes: all that there are of 3 call hashes, with none 160. */
static void test_free_band(void **state)
{
    (void)state;
    enum { LENGTH = 8, WORDS = 3 * 3 * 3 * 3 * 3 * 3 * 3 * 3, CLASSES = 159 };
    uint64_t classes[CLASSES];
    size_t n = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        struct rfn_elastic elastic = {0};
        for (unsigned k = 0, rest = i; k < LENGTH; k++, rest /= 3) {
            assert_int_equal(rfn_elastic_append(&elastic, hashes[rest % 3]), 0);
            uint64_t signature = rfn_elastic_signature(&elastic);
            size_t at = 0;
            while (at < n && classes[at] != signature)
                at++;
            assert_true(at < CLASSES);
            if (at == n)
                classes[n++] = signature;
        }
        rfn_elastic_release(&elastic);
    }
    assert_int_equal(n, CLASSES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),        cmocka_unit_test(test_all_short_words),
        cmocka_unit_test(test_random_pairs), cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_work),         cmocka_unit_test(test_work_in_disorder),
        cmocka_unit_test(test_steps),        cmocka_unit_test(test_free_band),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
