#include "refrain/behaviour.h"

#define FAKE_EVENTS 1024
#include "analyze/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct rfn_behaviour *read_behaviour(void)
{
    struct rfn_behaviour *behaviour = NULL;
    assert_int_equal(rfn_behaviour_new(&fake, NULL, &behaviour, NULL), 0);
    return behaviour;
}

/* When the four ranks are done with their work, and when the step is over for all of them. */
struct step {
    int64_t work[4], end;
};

static const struct step first_late = {{800, 800, 300, 300}, 1000};
static const struct step third_late = {{300, 300, 1800, 300}, 2000};
static const struct step none_late = {{300, 300, 300, 300}, 500};

static void write_begin(void)
{
    fake_reset();
    for (uint32_t rank = 0; rank < 4; rank++) {
        fake_segment(rank, 0);
        EVENT(rank, INIT, 0, 0, 100, 0);
    }
}

/* Work, a barrier; returns the end. */
static int64_t write_step(const struct step *step, int64_t start)
{
    for (uint32_t rank = 0; rank < 4; rank++) {
        fake_segment(rank, 1);
        EVENT(rank, BARRIER, 1, start + step->work[rank], start + step->end, 0);
    }
    return start + step->end;
}

static void write_end(int64_t at)
{
    for (uint32_t rank = 0; rank < 4; rank++) {
        fake_segment(rank, 2);
        EVENT(rank, FINALIZE, 3, at, at + 100, 0);
    }
}

/* 80 % of the time the ranks 0 and 1 are late, 15 % rank 2 is, 5 % nobody. */
static void write_example(void)
{
    int64_t at = 100;
    write_begin();
    for (int i = 0; i < 160; i++)
        at = write_step(&first_late, at);
    for (int i = 0; i < 15; i++)
        at = write_step(&third_late, at);
    for (int i = 0; i < 20; i++)
        at = write_step(&none_late, at);
    write_end(at);
}

static void test_example(void **state)
{
    (void)state;
    write_example();
    struct rfn_behaviour *behaviour = read_behaviour();
    assert_int_equal(behaviour->n_loops, 1);
    const struct rfn_behaviour_loop *loop = behaviour->loops;
    assert_int_equal(loop->steps, 195);
    assert_int_equal(loop->n_streams, 4);
    assert_int_equal(loop->n_ranks, 4);
    assert_int_equal(loop->ranks[3], 3);
    assert_int_equal(loop->ns, 200000);
    assert_true(loop->share > 0.998 && loop->share < 1);
    assert_int_equal(loop->first.function, FAKE_BARRIER);
    assert_int_equal(loop->n_patterns, 3);
    assert_int_equal(loop->other_steps, 0);
    const struct rfn_behaviour_pattern *patterns = loop->patterns;
    assert_int_equal(patterns[0].steps, 160);
    assert_int_equal(patterns[0].ns, 160000);
    assert_true(patterns[0].waiting);
    assert_false(patterns[0].varying);
    assert_int_equal(patterns[0].n_late, 2);
    assert_int_equal(patterns[0].late[0], 0);
    assert_int_equal(patterns[0].late[1], 1);
    assert_int_equal(patterns[0].waited.function, FAKE_BARRIER);
    assert_int_equal(patterns[0].wait_ns, 500);
    assert_true(patterns[0].has_cause);
    assert_int_equal(patterns[0].cause.kind, RFN_ACTIVITY_COMPUTE);
    assert_int_equal(patterns[0].cause.at.path, 1);
    assert_int_equal(patterns[0].excess_ns, 500);
    assert_int_equal(patterns[1].steps, 15);
    assert_int_equal(patterns[1].ns, 30000);
    assert_int_equal(patterns[1].n_late, 1);
    assert_int_equal(patterns[1].late[0], 2);
    assert_int_equal(patterns[1].wait_ns, 1500);
    assert_int_equal(patterns[2].steps, 20);
    assert_int_equal(patterns[2].ns, 10000);
    assert_false(patterns[2].waiting);
    rfn_behaviour_free(behaviour);
}

/* Rare steps in which a single rank is late, another one each time, are one pattern. */
static void test_varying(void **state)
{
    (void)state;
    int64_t at = 100;
    write_begin();
    for (int i = 0; i < 200; i++) {
        struct step step = none_late;
        if (i % 50 == 0) {
            step.work[i / 50] = 1300;
            step.end = 1500;
        }
        at = write_step(&step, at);
    }
    write_end(at);
    struct rfn_behaviour *behaviour = read_behaviour();
    const struct rfn_behaviour_loop *loop = behaviour->loops;
    assert_int_equal(loop->n_patterns, 2);
    assert_int_equal(loop->patterns[0].steps, 196);
    assert_false(loop->patterns[0].waiting);
    assert_int_equal(loop->patterns[1].steps, 4);
    assert_true(loop->patterns[1].varying);
    assert_int_equal(loop->patterns[1].n_late, 4);
    assert_int_equal(loop->patterns[1].late[2], 2);
    assert_int_equal(loop->patterns[1].wait_ns, 1000);
    rfn_behaviour_free(behaviour);
}

/* Ranks that go round more often are not in step with the others. */
static void test_other_counts(void **state)
{
    (void)state;
    int64_t at = 100;
    write_begin();
    for (int i = 0; i < 50; i++)
        at = write_step(&first_late, at);
    fake_segment(3, 1);
    EVENT(3, BARRIER, 1, at + 300, at + 1000, 0);
    write_end(at + 1000);
    struct rfn_behaviour *behaviour = read_behaviour();
    assert_int_equal(behaviour->n_loops, 1);
    assert_int_equal(behaviour->loops->n_ranks, 3);
    assert_int_equal(behaviour->loops->patterns[0].n_late, 2);
    rfn_behaviour_free(behaviour);
}

static void test_nothing_in_step(void **state)
{
    (void)state;
    write_begin();
    write_end(100);
    struct rfn_behaviour *behaviour = read_behaviour();
    assert_int_equal(behaviour->n_loops, 0);
    assert_false(behaviour->too_irregular);
    rfn_behaviour_free(behaviour);

    write_example();
    fake.run.times = false;
    behaviour = read_behaviour();
    assert_int_equal(behaviour->n_loops, 0);
    rfn_behaviour_free(behaviour);
}

static void test_unknown_method(void **state)
{
    (void)state;
    struct rfn_behaviour *behaviour;
    struct rfn_diag diag = {0};
    write_example();
    assert_int_equal(rfn_behaviour_new(&fake, "cosine", &behaviour, &diag), RFN_E_USAGE);
    assert_non_null(strstr(diag.text, "cosine"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),        cmocka_unit_test(test_varying),
        cmocka_unit_test(test_other_counts),   cmocka_unit_test(test_nothing_in_step),
        cmocka_unit_test(test_unknown_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
