/* Which parameters are meant, what a rank gets in place of its own word, and numbers of structures
 * that are taken from another group's. */
#include "archive/write/forced_parameters.h"

#include "archive/write/pack_clusters.h"
#include "event/kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_names(void **state)
{
    (void)state;
    unsigned roles = 0;
    char text[RFN_FORCED_TEXT];
    struct rfn_diag diag = {0};
    assert_int_equal(rfn_forced_roles_parse("peer", &roles, NULL), 0);
    assert_int_equal(roles, RFN_FORCED_PEER);
    assert_int_equal(rfn_forced_roles_parse("tag,count,peer,tag", &roles, NULL), 0);
    assert_int_equal(roles, RFN_FORCED_PEER | RFN_FORCED_COUNT | RFN_FORCED_TAG);
    rfn_forced_roles_text(roles, text);
    assert_string_equal(text, "peer,count,tag");
    assert_int_equal(rfn_forced_roles_parse("peer,root,count,exact,comm,place,tag", &roles, NULL),
                     0);
    assert_int_equal(roles, 127);
    rfn_forced_roles_text(roles, text);
    assert_string_equal(text, "peer,root,count,exact,comm,place,tag");
    rfn_forced_roles_text(0, text);
    assert_string_equal(text, "");
    static const char *const wrong[] = {
        "",      ",",   "peer,",      ",peer",
        "peers", "pee", "peer count", "a name that is far too long to be one of them"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(rfn_forced_check(wrong[i], &diag), RFN_E_USAGE);
    assert_non_null(strstr(diag.text, "no parameters 'a name"));
}

static const struct rfn_param_info params[] = {
    {"count", RFN_KIND_COUNT, 0}, {"type", RFN_KIND_TYPE, 0},
    {"peer", RFN_KIND_RANK, 0},   {"tag", RFN_KIND_TAG, 0},
    {"comm", RFN_KIND_COMM, 0},   {"colour", RFN_KIND_PLACE, 0},
    {"op", RFN_KIND_OP, 0},       {"counts", RFN_KIND_COUNT | RFN_KIND_LIST, 0},
    {"bytes", RFN_KIND_BYTES, 0}, {"request", RFN_KIND_REQUEST, 0}};

enum { N_PARAMS = sizeof params / sizeof *params };

static const struct rfn_function_info function = {
    .name = "MPI_All", .class_ = RFN_CLASS_SEND, .n_in = N_PARAMS, .params = params};

static void test_roles(void **state)
{
    (void)state;
    static const unsigned roles[N_PARAMS] = {RFN_FORCED_COUNT, RFN_FORCED_EXACT,
                                             RFN_FORCED_PEER,  RFN_FORCED_TAG,
                                             RFN_FORCED_COMM,  RFN_FORCED_PLACE,
                                             RFN_FORCED_EXACT, 0,
                                             RFN_FORCED_COUNT, 0};
    for (unsigned i = 0; i < N_PARAMS; i++)
        assert_int_equal(rfn_forced_role_of(&function, i), roles[i]);
    struct rfn_function_info rooted = function;
    rooted.class_ = RFN_CLASS_ONE_TO_ALL;
    assert_int_equal(rfn_forced_role_of(&rooted, 2), RFN_FORCED_ROOT);
    rooted.class_ = RFN_CLASS_ALL_TO_ONE;
    assert_int_equal(rfn_forced_role_of(&rooted, 2), RFN_FORCED_ROOT);
}

/* ---- words ---- */

static void expect_word(unsigned role, struct rfn_rank_value own, struct rfn_rank_value lowest,
                        int64_t expected)
{
    assert_int_equal(rfn_force_word(role, &own, &lowest), expected);
}

static void test_words(void **state)
{
    (void)state;
    /* A ring stays one, whichever way round and however large. */
    for (uint32_t rank = 0; rank < 8; rank++) {
        expect_word(RFN_FORCED_PEER, (struct rfn_rank_value){rank, 8, 5},
                    (struct rfn_rank_value){0, 8, 1}, (rank + 1) % 8);
        expect_word(RFN_FORCED_PEER, (struct rfn_rank_value){rank, 8, 5},
                    (struct rfn_rank_value){0, 8, 7}, (rank + 7) % 8);
    }
    for (uint32_t rank = 0; rank < 5; rank++)
        expect_word(RFN_FORCED_PEER, (struct rfn_rank_value){rank, 5, 5},
                    (struct rfn_rank_value){0, 100, 99}, (rank + 4) % 5);
    /* Special values are kept; so is all that is not merged. */
    expect_word(RFN_FORCED_PEER, (struct rfn_rank_value){3, 8, 5},
                (struct rfn_rank_value){0, 8, RFN_PROC_NULL}, RFN_PROC_NULL);
    expect_word(RFN_FORCED_ROOT, (struct rfn_rank_value){3, 8, 5},
                (struct rfn_rank_value){0, 8, RFN_ROOT}, RFN_ROOT);
    expect_word(0, (struct rfn_rank_value){3, 8, 5}, (struct rfn_rank_value){0, 8, 1}, 5);
    expect_word(RFN_FORCED_ROOT, (struct rfn_rank_value){3, 8, 5}, (struct rfn_rank_value){2, 8, 6},
                6);
    expect_word(RFN_FORCED_ROOT, (struct rfn_rank_value){3, 4, 1}, (struct rfn_rank_value){2, 8, 6},
                2);
    expect_word(RFN_FORCED_PLACE, (struct rfn_rank_value){3, 8, 5},
                (struct rfn_rank_value){2, 8, -70}, -70);
    /* Any numbers of a damaged archive. */
    expect_word(RFN_FORCED_PEER, (struct rfn_rank_value){UINT32_MAX, 0, 5},
                (struct rfn_rank_value){7, 0, INT64_MAX}, INT64_MAX);
    expect_word(RFN_FORCED_ROOT, (struct rfn_rank_value){3, 0, 5},
                (struct rfn_rank_value){0, 0, INT64_MAX}, INT64_MAX);
    expect_word(RFN_FORCED_PEER, (struct rfn_rank_value){UINT32_MAX - 1, UINT32_MAX, 5},
                (struct rfn_rank_value){0, UINT32_MAX, 2}, 1);
}

/* ---- structures ---- */

static struct rfn_symbol_info symbol = {.function = 0, .moved = 1u << 8};

/* One site, two datatypes, three communicators, one symbol, whose bytes are in a column; no loops,
 * a top of one node. */
static const uint8_t lowest[] = {1, 0,  9, 2,  7,  6,  3,  1,  0, 0, 128,
                                 2, 20, 2, 22, 24, 26, 28, 30, 0, 1, 0};
static const uint8_t other[] = {1, 0,  9, 2,  5,  4,  3,  1,  0, 0, 128,
                                2, 10, 0, 12, 14, 16, 18, 20, 0, 1, 0};

static const struct rfn_structure structure = {
    .n_sites = 1, .n_types = 2, .n_comms = 3, .n_symbols = 1, .symbols = &symbol};
static const struct rfn_function_info functions[] = {
    {.class_ = RFN_CLASS_SEND, .n_in = N_PARAMS, .params = params}};

static int merge(unsigned roles, size_t size, unsigned *changed, struct rfn_buf *out)
{
    struct rfn_dictionary dictionary = {.functions = (struct rfn_function_info *)functions};
    const struct rfn_pack_bytes own = {other, size};
    const struct rfn_pack_bytes reference = {lowest, sizeof lowest};
    *changed = 0;
    return rfn_force_structure(&dictionary, &structure, roles, &own, &reference, changed, out);
}

static void expect_merged(unsigned roles, unsigned changing, const size_t *from_lowest, size_t n)
{
    unsigned changed;
    uint8_t expected[sizeof other];
    struct rfn_buf out = RFN_BUF_INIT;
    memcpy(expected, other, sizeof other);
    for (size_t i = 0; i < n; i++)
        expected[from_lowest[i]] = lowest[from_lowest[i]];
    assert_int_equal(merge(roles, sizeof other, &changed, &out), 0);
    assert_int_equal(changed, changing);
    assert_int_equal(out.size, sizeof expected);
    assert_memory_equal(out.data, expected, sizeof expected);
    rfn_buf_release(&out);
}

/* Inputs in the structure: count 12, type 13, tag 14, comm 15, op 16, list 17, request 18. */
static void test_structures(void **state)
{
    (void)state;
    const unsigned three = RFN_FORCED_TAG | RFN_FORCED_COMM | RFN_FORCED_PEER;
    expect_merged(0, 0, NULL, 0);
    expect_merged(RFN_FORCED_PEER | RFN_FORCED_PLACE, 0, NULL, 0);
    expect_merged(RFN_FORCED_COUNT, RFN_FORCED_COUNT, (const size_t[]){12}, 1);
    expect_merged(RFN_FORCED_EXACT, RFN_FORCED_EXACT, (const size_t[]){4, 5, 13, 16}, 4);
    expect_merged(three, RFN_FORCED_TAG | RFN_FORCED_COMM, (const size_t[]){14, 15}, 2);
    for (size_t size = 0; size < sizeof other; size++) {
        struct rfn_buf out = RFN_BUF_INIT;
        unsigned changed;
        assert_int_equal(merge(127, size, &changed, &out), RFN_E_UNSUPPORTED);
        rfn_buf_release(&out);
    }
}

/* The lowest rank itself, and all that are as it is, keep what they have. */
static void test_equal_structures(void **state)
{
    (void)state;
    struct rfn_dictionary dictionary = {.functions = (struct rfn_function_info *)functions};
    const struct rfn_pack_bytes both = {lowest, sizeof lowest};
    struct rfn_buf out = RFN_BUF_INIT;
    unsigned changed = 0;
    assert_int_equal(
        rfn_force_structure(&dictionary, &structure, 127, &both, &both, &changed, &out), 0);
    assert_int_equal(changed, 0);
    assert_memory_equal(out.data, lowest, sizeof lowest);
    rfn_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_structures),
        cmocka_unit_test(test_equal_structures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
