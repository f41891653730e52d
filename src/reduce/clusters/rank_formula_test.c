/* Formulas with known values and faults; random ones against what they were made of; any bytes. */
#include "reduce/clusters/rank_formula.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int64_t value_of(const char *text, int64_t r, int64_t n)
{
    int64_t value;
    if (!rfn_formula_value(text, strlen(text), r, n, &value))
        fail_msg("'%s' has no value", text);
    return value;
}

static void assert_none(const char *text)
{
    int64_t value;
    size_t at;
    assert_null(rfn_formula_fault(text, strlen(text), &at));
    assert_false(rfn_formula_value(text, strlen(text), 3, 8, &value));
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value; /* for r = 3, n = 8 */
    } known[] = {
        {"r", 3},
        {" n ", 8},
        {"null", -2},
        {"9223372036854775807", INT64_MAX},
        {"0x7fffffffffffffff", INT64_MAX},
        {"0xFf", 255},
        {"-9223372036854775807 - 1", INT64_MIN},
        {"r+1*2", 5},
        {"(r+1)*2", 8},
        {"10-3-2", 5},
        {"-7/2", -4},
        {"7/-2", -4},
        {"-7%3", 2},
        {"7%-3", -2},
        {"-9223372036854775807%-1", 0},
        {"(r-4)%n", 7},
        {"1<<3+1", 16},
        {"-5>>1", -3},
        {"-1<<63", INT64_MIN},
        {"0<<63", 0},
        {"r&1<<1|4", 6},
        {"6^3&1", 7},
        {"~r", -4},
        {"!r+!0", 1},
        {"- - -r", -3},
        {"+r", 3},
        {"r<4==1", 1},
        {"r>=3&&r<=3", 1},
        {"r!=3||n>7", 1},
        {"0||0", 0},
        {"1&&0", 0},
        {"r==0?null:r-1", 2},
        {"r==3?null:1/0", -2},
        {"r<2?1:r<4?2:3", 2},
        {"1?0?5:6:7", 6},
        {"0&&1/0", 0},
        {"1||1/0", 1},
        {"min(r,n,2)+max(r,n)", 10},
        {"max((r),-1) % 2", 1},
        {"1003/n+(r<1003%n)", 125},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (value_of(known[i].text, 3, 8) != known[i].value)
            fail_msg("%s", known[i].text);
    }
    assert_int_equal(value_of("1003/n+(r<1003%n)", 2, 8), 126);
}

static void test_no_value(void **state)
{
    (void)state;
    static const char *const none[] = {"r/0",
                                       "r%(n-8)",
                                       "9223372036854775807+1",
                                       "-9223372036854775807-2",
                                       "1<<63",
                                       "1<<64",
                                       "1<<-1",
                                       "1>>64",
                                       "3<<62",
                                       "-2<<63",
                                       "9223372036854775807*2",
                                       "(-9223372036854775807-1)/-1",
                                       "1?1/0:2",
                                       "1/0&&0",
                                       "1/0||1",
                                       "-(-9223372036854775807-1)",
                                       "min(1,1/0)"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_none(none[i]);
}

static void test_faults(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        const char *fault; /* a part of it */
    } known[] = {
        {"", 0, "value"},        {"  ", 2, "value"},       {"r +", 3, "value"},
        {"r 1", 2, "operator"},  {"r = 1", 2, "operator"}, {"(r", 2, "')'"},
        {"r)", 1, "operator"},   {"rank", 0, "name"},      {"R", 0, "name"},
        {"min(r)", 5, "','"},    {"min r", 4, "'('"},      {"max(r,2", 7, "')'"},
        {"r ? 1", 5, "':'"},     {"0 ? x : 1", 4, "name"}, {"9223372036854775808", 18, "64 bits"},
        {"12a", 2, "malformed"}, {"0x", 2, "malformed"},   {"0xg", 2, "malformed"},
        {"r;n", 1, "operator"},  {"r=", 1, "operator"},    {"\xc3\xa9", 0, "value"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t at;
        int64_t value;
        const char *text = known[i].text, *fault = rfn_formula_fault(text, strlen(text), &at);
        if (!fault || !strstr(fault, known[i].fault) || at != known[i].at)
            fail_msg("'%s': %s at %zu", text, fault ? fault : "nothing", at);
        assert_false(rfn_formula_value(text, strlen(text), 1, 2, &value));
    }
}

/* As deep and as long as may be, and one more. */
static void test_limits(void **state)
{
    (void)state;
    char text[RFN_FORMULA_MOST + 2];
    size_t at;
    static const char *const openings[] = {"(", "-", "~", "1?1:", "min(1,"};
    for (size_t i = 0; i < 5; i++) {
        size_t size = 0, step = strlen(openings[i]);
        while (size + step < RFN_FORMULA_MOST) {
            memcpy(text + size, openings[i], step);
            size += step;
        }
        text[size++] = 'r';
        assert_string_equal(rfn_formula_fault(text, size, &at), "it is nested too deeply");
    }
    memset(text, ' ', sizeof text);
    text[0] = 'r';
    assert_null(rfn_formula_fault(text, RFN_FORMULA_MOST, &at));
    assert_string_equal(rfn_formula_fault(text, RFN_FORMULA_MOST + 1, &at), "it is too long");
    memset(text, '(', 60);
    text[60] = 'n';
    memset(text + 61, ')', 60);
    assert_null(rfn_formula_fault(text, 121, &at));
}

/* ---- random ones: a tree, its text, and its value by wide arithmetic ---- */

__extension__ typedef __int128 wide;

struct made {
    char text[4000];
    size_t size;
    int64_t r, n;
};

/* A value, or none. */
struct result {
    bool there;
    int64_t value;
};

static struct result fitting(wide value)
{
    bool there = value >= INT64_MIN && value <= INT64_MAX;
    return (struct result){there, there ? (int64_t)value : 0};
}

static void put(struct made *made, const char *text)
{
    size_t size = strlen(text);
    assert_true(made->size + size < sizeof made->text);
    memcpy(made->text + made->size, text, size);
    made->size += size;
    for (int i = rand() % 4; i > 2; i--)
        made->text[made->size++] = " \t\n"[rand() % 3];
}

static wide floored(wide a, wide b)
{
    wide down = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? down - 1 : down;
}

static struct result computed(const char *word, wide a, wide b)
{
    switch (word[0] + (word[1] ? 256 : 0)) {
    case '+':
        return fitting(a + b);
    case '-':
        return fitting(a - b);
    case '*':
        return fitting(a * b);
    case '/':
        return b ? fitting(floored(a, b)) : (struct result){0};
    case '%':
        return b ? fitting(a - b * floored(a, b)) : (struct result){0};
    case '<' + 256:
        if (word[1] == '=')
            return fitting(a <= b);
        return b < 0 || b > 63 ? (struct result){0} : fitting(a * ((wide)1 << b));
    case '>' + 256:
        if (word[1] == '=')
            return fitting(a >= b);
        return b < 0 || b > 63 ? (struct result){0} : fitting(floored(a, (wide)1 << b));
    case '&':
        return fitting((int64_t)a & (int64_t)b);
    case '|':
        return fitting((int64_t)a | (int64_t)b);
    case '^':
        return fitting((int64_t)a ^ (int64_t)b);
    case '<':
        return fitting(a < b);
    case '>':
        return fitting(a > b);
    case '=' + 256:
        return fitting(a == b);
    default:
        return fitting(a != b);
    }
}

static struct result make(struct made *made, int depth);

static struct result make_leaf(struct made *made)
{
    static const int64_t numbers[] = {0, 1, 2, 3, 7, 63, 64, 1000, INT64_MAX, INT64_MAX / 2};
    char text[32];
    switch (rand() % 4) {
    case 0:
        put(made, "r");
        return (struct result){true, made->r};
    case 1:
        put(made, "n");
        return (struct result){true, made->n};
    case 2:
        put(made, "null");
        return (struct result){true, -2};
    default:;
        int64_t number = numbers[rand() % 10];
        snprintf(text, sizeof text, rand() % 2 ? "%lld" : "0x%llx", (long long)number);
        put(made, text);
        return (struct result){true, number};
    }
}

/* Of two that are in parentheses. */
static struct result make_binary(struct made *made, int depth)
{
    static const char *const words[] = {"+", "-", "*", "/",  "%",  "<<", ">>", "&",  "|",
                                        "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||"};
    const char *word = words[rand() % 18];
    put(made, "(");
    struct result a = make(made, depth - 1);
    put(made, ")");
    put(made, word);
    put(made, "(");
    struct result b = make(made, depth - 1);
    put(made, ")");
    if (!strcmp(word, "&&") || !strcmp(word, "||")) {
        bool decided = a.there && !a.value == (word[0] == '&');
        struct result both = {a.there && b.there,
                              word[0] == '&' ? a.value && b.value : a.value || b.value};
        return decided ? (struct result){true, word[0] == '|'} : both;
    }
    return a.there && b.there ? computed(word, a.value, b.value) : (struct result){0};
}

static struct result make_choice(struct made *made, int depth)
{
    struct result condition = make_binary(made, depth - 1);
    put(made, "?");
    struct result yes = make(made, depth - 1);
    put(made, ":");
    struct result no = make(made, depth - 1);
    return condition.there ? (condition.value ? yes : no) : (struct result){0};
}

static struct result make_extreme(struct made *made, int depth)
{
    bool most = rand() % 2;
    put(made, most ? "max" : "min");
    put(made, "(");
    struct result a = make(made, depth - 1);
    put(made, ",");
    struct result b = make(made, depth - 1);
    put(made, ")");
    return (struct result){a.there && b.there, (a.value > b.value) == most ? a.value : b.value};
}

static struct result make_unary(struct made *made, int depth)
{
    static const char *const words[] = {"-", "~", "!"};
    int which = rand() % 3;
    put(made, words[which]);
    put(made, "(");
    struct result a = make(made, depth - 1);
    put(made, ")");
    if (!a.there)
        return a;
    return which == 0 ? fitting(-(wide)a.value) : fitting(which == 1 ? ~a.value : !a.value);
}

static struct result make(struct made *made, int depth)
{
    if (depth <= 0)
        return make_leaf(made);
    switch (rand() % 8) {
    case 0:
        return make_leaf(made);
    case 1:
        return make_unary(made, depth);
    case 2:
        return make_extreme(made, depth);
    case 3:
        return make_choice(made, depth);
    default:
        return make_binary(made, depth);
    }
}

static void test_random(void **state)
{
    (void)state;
    srand(1);
    unsigned there = 0, none = 0;
    for (unsigned i = 0; i < 60000; i++) {
        struct made made = {.r = rand() % 100, .n = 1 + rand() % 100};
        struct result expected = make(&made, 4);
        int64_t value;
        size_t at;
        if (made.size > RFN_FORMULA_MOST)
            continue;
        assert_null(rfn_formula_fault(made.text, made.size, &at));
        bool found = rfn_formula_value(made.text, made.size, made.r, made.n, &value);
        if (found != expected.there || (found && value != expected.value))
            fail_msg("%.*s: r %d, n %d", (int)made.size, made.text, (int)made.r, (int)made.n);
        made.size = rfn_formula_pack(made.text, made.size, made.text);
        assert_int_equal(rfn_formula_value(made.text, made.size, made.r, made.n, &value), found);
        assert_true(!found || value == expected.value);
        there += found;
        none += !found;
    }
    assert_true(there > 10000 && none > 10000);
}

/* Precedence: with and without the parentheses that C's rules put there. */
static void test_precedence(void **state)
{
    (void)state;
    static const struct {
        const char *bare, *full;
    } known[] = {{"r+n*2", "r+(n*2)"},
                 {"r<<n+1&7", "(r<<(n+1))&7"},
                 {"r==n&n!=3", "(r==n)&(n!=3)"},
                 {"r&n^7|8", "((r&n)^7)|8"},
                 {"r|n&&r^n||0", "((r|n)&&(r^n))||0"},
                 {"r<n==n>r", "(r<n)==(n>r)"},
                 {"-r%n*2/3", "(((-r)%n)*2)/3"},
                 {"~r+!n", "(~r)+(!n)"},
                 {"r-n-1", "(r-n)-1"},
                 {"r||n?r&&n?1:2:3", "(r||n)?((r&&n)?1:2):3"},
                 {"r?1:n?2:3", "r?1:(n?2:3)"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (int64_t r = 0; r < 20; r++)
            assert_int_equal(value_of(known[i].bare, r, 13), value_of(known[i].full, r, 13));
    }
}

/* Whatever the bytes, there is a fault or a value or none, and a fault lies in the text. */
static void test_bytes(void **state)
{
    (void)state;
    static const char letters[] = "rn0129xminaul()?:,+-*/%<>=!&|^~ \t";
    srand(2);
    unsigned whole = 0;
    for (unsigned i = 0; i < 300000; i++) {
        size_t size = (size_t)rand() % 12, at;
        char *text = malloc(size + 1);
        int64_t value;
        assert_non_null(text);
        for (size_t k = 0; k < size; k++)
            text[k] = rand() % 50 ? letters[rand() % (int)(sizeof letters - 1)] : (char)rand();
        const char *fault = rfn_formula_fault(text, size, &at);
        assert_true(at <= size);
        assert_true(!fault || !rfn_formula_value(text, size, 1, 2, &value));
        whole += !fault;
        free(text);
    }
    assert_true(whole > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_no_value),
        cmocka_unit_test(test_faults), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_random), cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
