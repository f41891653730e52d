/* Quantities, runs of ranks and escapes: what text for people is made of. */
#include "refrain/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void expect_text(struct rfn_text *text, const char *expected)
{
    assert_string_equal(rfn_text_terminated(text), expected);
    text->n = 0;
}

static void test_time(void **state)
{
    (void)state;
    assert_string_equal(rfn_time_text(0).text, "0 s");
    assert_string_equal(rfn_time_text(999).text, "999 ns");
    assert_string_equal(rfn_time_text(1000).text, "1.00 us");
    assert_string_equal(rfn_time_text(12345).text, "12.3 us");
    assert_string_equal(rfn_time_text(999600).text, "1.00 ms");
    assert_string_equal(rfn_time_text(1234567890).text, "1.23 s");
    assert_string_equal(rfn_time_text(123456000000).text, "123 s");
    assert_string_equal(rfn_time_text(12345678000000).text, "12,346 s");
    assert_string_equal(rfn_time_text(-1500).text, "-1.50 us");
    assert_string_equal(rfn_time_text(INT64_MIN).text, "-9,223,372,037 s");
}

static void test_bytes(void **state)
{
    (void)state;
    assert_string_equal(rfn_bytes_text(0).text, "0 B");
    assert_string_equal(rfn_bytes_text(1023).text, "1023 B");
    assert_string_equal(rfn_bytes_text(1024).text, "1.00 KiB");
    assert_string_equal(rfn_bytes_text(1536).text, "1.50 KiB");
    assert_string_equal(rfn_bytes_text(1048575).text, "1.00 MiB");
    assert_string_equal(rfn_bytes_text(UINT64_MAX).text, "16.0 EiB");
    assert_string_equal(rfn_bytes_short(0).text, ".");
    assert_string_equal(rfn_bytes_short(999).text, "999");
    assert_string_equal(rfn_bytes_short(1000).text, "1.0K");
    assert_string_equal(rfn_bytes_short(1023 * 1024).text, "1.0M");
    assert_string_equal(rfn_bytes_short(500 * 1024).text, "500K");
}

/* A cell of the communication matrix is never wider than its column. */
static void test_short_is_short(void **state)
{
    (void)state;
    for (uint64_t bytes = 1; bytes < UINT64_MAX / 3; bytes += bytes / 7 + 1)
        assert_true(strlen(rfn_bytes_short(bytes).text) <= 4);
}

static void test_counts(void **state)
{
    (void)state;
    assert_string_equal(rfn_count_text(0).text, "0");
    assert_string_equal(rfn_count_text(999).text, "999");
    assert_string_equal(rfn_count_text(1000).text, "1,000");
    assert_string_equal(rfn_count_text(123456789).text, "123,456,789");
    assert_string_equal(rfn_count_text(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(rfn_share_text(0).text, "0.00 %");
    assert_string_equal(rfn_share_text(0.00001).text, "<0.01 %");
    assert_string_equal(rfn_share_text(0.0123).text, "1.23 %");
    assert_string_equal(rfn_share_text(0.5).text, "50.0 %");
}

/* Numbers as printf writes them. */
static void test_numbers(void **state)
{
    (void)state;
    struct rfn_text text = {0};
    char expected[64];
    for (uint64_t value = 0; value < UINT64_MAX / 3; value += value / 5 + 1) {
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
        rfn_text_unsigned(&text, value);
        expect_text(&text, expected);
        snprintf(expected, sizeof expected, "%lld", -(long long)value);
        rfn_text_signed(&text, -(int64_t)value);
        expect_text(&text, expected);
    }
    rfn_text_signed(&text, INT64_MIN);
    expect_text(&text, "-9223372036854775808");
    rfn_text_release(&text);
}

static void test_escapes(void **state)
{
    (void)state;
    struct rfn_text text = {0};
    rfn_text_escaped(&text, "a b\tc\nd\\e\x1b", 10);
    expect_text(&text, "a\\sb\\tc\\nd\\\\e\\x1b");
    rfn_text_escaped(&text, "\0x", 2);
    expect_text(&text, "\\x00x");
    rfn_text_printable(&text, "a b\x1b[1m");
    expect_text(&text, "a b\\x1b[1m");
    rfn_text_release(&text);
}

/* Characters stay; bytes that are no part of one are escaped, and with them nothing else. */
static void test_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *escaped;
    } cases[] = {
        {"gr\303\266\303\237e", "gr\303\266\303\237e"},
        {"\303\266\377\303\266", "\303\266\\xff\303\266"},
        {"\342\202\254 \360\235\204\236", "\342\202\254 \360\235\204\236"},
        {"cut \342\202", "cut \\xe2\\x82"},                   /* its third byte is missing */
        {"long \300\257", "long \\xc0\\xaf"},                 /* '/' in two bytes */
        {"half \355\240\200", "half \\xed\\xa0\\x80"},        /* a surrogate */
        {"far \364\220\200\200", "far \\xf4\\x90\\x80\\x80"}, /* beyond U+10FFFF */
    };
    struct rfn_text text = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rfn_text_printable(&text, cases[i].bytes);
        expect_text(&text, cases[i].escaped);
        rfn_text_utf8(&text, cases[i].bytes);
        expect_text(&text, cases[i].escaped);
    }
    rfn_text_printable(&text, "\302\2331m\302\240"); /* a terminal takes U+009B as ESC [ */
    expect_text(&text, "\\xc2\\x9b1m\302\240");
    rfn_text_utf8(&text, "a\\\n");
    expect_text(&text, "a\\\n");
    rfn_text_release(&text);
}

static void expect_ranks(const char *expected, const uint32_t *ranks, size_t n)
{
    struct rfn_text text = {0};
    rfn_text_ranks(&text, ranks, n);
    expect_text(&text, expected);
    rfn_text_release(&text);
}

static void test_ranks(void **state)
{
    (void)state;
    expect_ranks("", NULL, 0);
    expect_ranks("7", (const uint32_t[]){7}, 1);
    expect_ranks("0-3,8,12", (const uint32_t[]){0, 1, 2, 3, 8, 12}, 6);
    expect_ranks("0-12 by 4", (const uint32_t[]){0, 4, 8, 12}, 4);
    expect_ranks("1,5", (const uint32_t[]){1, 5}, 2);
    expect_ranks("1-2", (const uint32_t[]){1, 2}, 2);
    expect_ranks("0,2-3,7-15 by 4", (const uint32_t[]){0, 2, 3, 7, 11, 15}, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),    cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_counts),  cmocka_unit_test(test_short_is_short),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_utf8),    cmocka_unit_test(test_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
