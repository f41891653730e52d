/* Words that are made shorter mean the same. */
#include "reduce/clusters/path_word.h"

#include "reduce/fold/elastic_signature.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CALL_HASHES = 8 };

static uint64_t signature_of(const uint32_t *numbers, size_t n)
{
    struct rfn_elastic elastic = {0};
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rfn_elastic_append(&elastic, numbers[i] + 1), 0);
    uint64_t signature = rfn_elastic_signature(&elastic);
    rfn_elastic_release(&elastic);
    return signature;
}

static void test_shorter(void **state)
{
    (void)state;
    struct rfn_path_alphabet alphabet;
    uint64_t hashes[CALL_HASHES], hash;
    size_t before = 0, after = 0;
    for (uint64_t i = 0; i < CALL_HASHES; i++)
        hashes[i] = i + 1;
    srand(5);
    assert_int_equal(rfn_path_alphabet_init(&alphabet, CALL_HASHES), 0);
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t numbers[100], n_call_hashes = 1 + (uint32_t)rand() % CALL_HASHES;
        size_t n = (size_t)rand() % 100;
        struct rfn_path_word word = {0};
        for (size_t k = 0; k < n; k++)
            numbers[k] = (uint32_t)rand() % n_call_hashes;
        assert_int_equal(rfn_path_word_append(&word, &alphabet, numbers, n), 0);
        rfn_path_word_shorten(&word, &alphabet);
        assert_true(word.n <= n);
        assert_true(signature_of(word.numbers, word.n) == signature_of(numbers, n));
        assert_int_equal(rfn_path_word_hash(&word, hashes, CALL_HASHES, &hash), 0);
        assert_true(hash == signature_of(numbers, n));
        before += n;
        after += word.n;
        rfn_path_word_release(&word);
    }
    rfn_path_alphabet_release(&alphabet);
    assert_true(after < before / 4 * 3);
}

/* A long word, call by call: it stays short, and means the same. */
static void test_long(void **state)
{
    (void)state;
    struct rfn_path_word word = {0};
    struct rfn_path_alphabet alphabet;
    static uint32_t all[100000];
    srand(9);
    assert_int_equal(rfn_path_alphabet_init(&alphabet, CALL_HASHES), 0);
    size_t largest = 0;
    for (size_t i = 0; i < 100000; i++) {
        all[i] = i < 5 ? 6 : i == 99999 ? 7 : (uint32_t)rand() % 5;
        assert_int_equal(rfn_path_word_append(&word, &alphabet, &all[i], 1), 0);
        largest = word.n > largest ? word.n : largest;
    }
    assert_true(largest <= 1024);
    assert_true(signature_of(word.numbers, word.n) == signature_of(all, 100000));
    rfn_path_word_release(&word);
    rfn_path_alphabet_release(&alphabet);
}

/* What would take minutes is hashed as it is. */
static void test_large(void **state)
{
    (void)state;
    enum { MANY = 50000 };
    static uint64_t hashes[MANY];
    struct rfn_path_word word = {0};
    struct rfn_path_alphabet alphabet;
    uint64_t hash, once;
    assert_int_equal(rfn_path_alphabet_init(&alphabet, MANY), 0);
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        hashes[i % MANY] = i % MANY + UINT64_C(1);
        assert_int_equal(rfn_path_word_append(&word, &alphabet, &(uint32_t){i % MANY}, 1), 0);
        if (i + 1 == MANY)
            assert_int_equal(rfn_path_word_hash(&word, hashes, MANY, &once), 0);
    }
    assert_int_equal(rfn_path_word_hash(&word, hashes, MANY, &hash), 0);
    assert_true(hash != once);
    rfn_path_word_release(&word);
    rfn_path_alphabet_release(&alphabet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shorter), cmocka_unit_test(test_long),
                                       cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
