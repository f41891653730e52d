/* Windows whose decision is known by thought: which calls of two or three ranks may go. */
#include "reduce/aggregate/window.h"

#include "event/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 16 };

/* A rank's part, made call by call. */
struct rank {
    struct rfn_window_head head;
    struct rfn_window_call calls[CALLS];
    struct rfn_window_end ends[CALLS];
    struct rfn_window_share shares[CALLS];
    struct rfn_window_pair pairs[CALLS];
};

static const struct rfn_window_rules rules = {.least_ns = 1000, .least_bytes = 4096};

static uint32_t call(struct rank *rank, uint64_t enter, uint64_t exit)
{
    rank->calls[rank->head.n_calls] = (struct rfn_window_call){enter, exit, 0};
    return rank->head.n_calls++;
}

static void sends(struct rank *rank, uint64_t position, uint32_t post, uint32_t done,
                  uint64_t bytes)
{
    rank->ends[rank->head.n_ends++] = (struct rfn_window_end){.channel = 7,
                                                              .position = position,
                                                              .bytes = bytes,
                                                              .post = post,
                                                              .done = done,
                                                              .mode = RFN_SEND_STANDARD};
}

static void receives(struct rank *rank, uint64_t position, uint32_t post, uint32_t done)
{
    rank->ends[rank->head.n_ends++] = (struct rfn_window_end){
        .channel = 7, .position = position, .post = post, .done = done, .received = 1};
}

static void meets(struct rank *rank, uint64_t number, uint32_t at, uint32_t size)
{
    rank->shares[rank->head.n_shares++] = (struct rfn_window_share){.comm = 1,
                                                                    .number = number,
                                                                    .call = at,
                                                                    .size = size,
                                                                    .kind = RFN_CALL_BARRIER,
                                                                    .all_meet = 1};
}

/* All ranks have been in a call that ended at 100. */
static struct rank opened(void)
{
    return (struct rank){.head = {.opened_enter = 50, .opened_exit = 100}};
}

/* Compares which calls go with text, "10" of two calls; a space between ranks. */
static void check(struct rank *ranks, uint32_t n, const struct rfn_window_rules *by,
                  const char *expected)
{
    struct rfn_window_part parts[3] = {0};
    uint8_t goes[3 * CALLS];
    char text[4 * CALLS] = "";
    const uint8_t *at = goes;
    for (uint32_t i = 0; i < n; i++)
        parts[i] = (struct rfn_window_part){ranks[i].head, ranks[i].calls, ranks[i].ends,
                                            ranks[i].shares, ranks[i].pairs};
    assert_int_equal(rfn_window_decide(parts, n, by, goes), 0);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < ranks[i].head.n_calls; k++)
            strcat(text, *at++ ? "1" : "0");
        strcat(text, i + 1 < n ? " " : "");
    }
    assert_string_equal(text, expected);
}

/* One after the other, in step: a message goes, and a barrier. */
static void test_in_step(void **unused)
{
    (void)unused;
    struct rank ranks[2] = {opened(), opened()};
    sends(&ranks[0], 4, 0, call(&ranks[0], 110, 120), 8);
    receives(&ranks[1], 4, 0, call(&ranks[1], 105, 130));
    meets(&ranks[0], 0, call(&ranks[0], 200, 210), 2);
    meets(&ranks[1], 0, call(&ranks[1], 150, 210), 2);
    check(ranks, 2, &rules, "11 11");
    struct rfn_window_rules whole = rules;
    whole.whole = 1;
    check(ranks, 2, &whole, "01 01"); /* of each rank the first */
}

/* A rank that computed for long is late in its own way, until a barrier. */
static void test_computes(void **unused)
{
    (void)unused;
    struct rank ranks[2] = {opened(), opened()};
    sends(&ranks[0], 0, 0, call(&ranks[0], 5000, 5010), 8); /* behind a long computation */
    receives(&ranks[1], 0, 0, call(&ranks[1], 4500, 5020)); /* and so is this one */
    meets(&ranks[0], 0, call(&ranks[0], 5100, 5300), 2);
    meets(&ranks[1], 0, call(&ranks[1], 5200, 5300), 2);
    sends(&ranks[0], 1, 2, call(&ranks[0], 5400, 5410), 8);
    receives(&ranks[1], 1, 2, call(&ranks[1], 5390, 5450));
    check(ranks, 2, &rules, "001 001");
}

/* A receiver that has waited is as late as the sender, or as itself; when that answers, both are.
 */
static void test_answer(void **unused)
{
    (void)unused;
    struct rank ranks[2] = {opened(), opened()};
    sends(&ranks[0], 0, 0, call(&ranks[0], 5000, 5010), 8);
    receives(&ranks[1], 0, 0, call(&ranks[1], 4500, 5020));
    sends(&ranks[1], 10, 1, call(&ranks[1], 5030, 5040), 8);
    receives(&ranks[0], 10, 1, call(&ranks[0], 5020, 5060));
    sends(&ranks[0], 1, 2, call(&ranks[0], 5070, 5080), 8);
    receives(&ranks[1], 1, 2, call(&ranks[1], 5050, 5090));
    check(ranks, 2, &rules, "001 001");
}

/* Large ones stay, those without another end, and what an assumption may be about. */
static void test_stays(void **unused)
{
    (void)unused;
    struct rank ranks[2] = {opened(), opened()};
    sends(&ranks[0], 0, 0, call(&ranks[0], 110, 120), 4096);
    receives(&ranks[1], 0, 0, call(&ranks[1], 105, 130));
    check(ranks, 2, &rules, "0 0");
    ranks[0].ends[0].bytes = 8;
    check(ranks, 2, &rules, "1 1");
    ranks[1].ends[0].position = 1;
    check(ranks, 2, &rules, "0 0");
    ranks[1].ends[0].position = 0;
    ranks[1].calls[0].exit = 1105;
    check(ranks, 2, &rules, "0 0");
}

/* Calls that only go together: one of them stays. A third rank's barrier is not there. */
static void test_together(void **unused)
{
    (void)unused;
    struct rank ranks[3] = {opened(), opened(), opened()};
    call(&ranks[0], 110, 120);
    call(&ranks[0], 130, 140);
    call(&ranks[0], 150, 160);
    ranks[0].pairs[ranks[0].head.n_pairs++] = (struct rfn_window_pair){0, 2};
    ranks[0].calls[2].flags = RFN_WINDOW_STAYS;
    check(ranks, 1, &rules, "010");
    meets(&ranks[1], 0, call(&ranks[1], 150, 210), 3);
    meets(&ranks[0], 0, 1, 3);
    check(ranks, 2, &rules, "000 0");
    meets(&ranks[2], 0, call(&ranks[2], 150, 210), 3);
    check(ranks, 3, &rules, "010 1 1");
    ranks[2].head.useless = 1;
    check(ranks, 3, &rules, "000 0 0");
}

/* A message that came before it was sent: nobody waits for the other for ever. */
static void test_wrong_times(void **unused)
{
    (void)unused;
    struct rank ranks[2] = {opened(), opened()};
    receives(&ranks[0], 5, 0, call(&ranks[0], 110, 120));
    sends(&ranks[0], 6, 1, call(&ranks[0], 130, 140), 8);
    receives(&ranks[1], 6, 0, call(&ranks[1], 110, 120));
    sends(&ranks[1], 5, 1, call(&ranks[1], 130, 140), 8);
    check(ranks, 2, &rules, "00 00");
}

static void test_parts(void **unused)
{
    (void)unused;
    struct {
        struct rfn_window_head head;
        struct rfn_window_call call;
        struct rfn_window_pair pair;
    } bytes = {.head = {.n_calls = 1, .n_pairs = 1}};
    struct rfn_window_part part;
    assert_int_equal(rfn_window_bytes(&bytes.head), sizeof bytes);
    assert_true(rfn_window_part_at(&bytes, sizeof bytes, &part));
    assert_false(rfn_window_part_at(&bytes, sizeof bytes - 1, &part));
    assert_false(rfn_window_part_at(&bytes, 8, &part));
    bytes.pair.b = 1; /* no such call */
    assert_false(rfn_window_part_at(&bytes, sizeof bytes, &part));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_step),  cmocka_unit_test(test_computes),
        cmocka_unit_test(test_answer),   cmocka_unit_test(test_stays),
        cmocka_unit_test(test_together), cmocka_unit_test(test_wrong_times),
        cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
