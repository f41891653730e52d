#include "refrain/behaviour.h"

#define FAKE_EVENTS 8192
#include "support/fake_archive.h"

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

/* Ranks may go round more often than others. */
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
    const struct rfn_behaviour_loop *loop = behaviour->loops;
    assert_int_equal(loop->n_ranks, 4);
    assert_int_equal(loop->steps, 51);
    assert_int_equal(loop->looked_at, 51);
    assert_int_equal(loop->n_patterns, 2);
    assert_int_equal(loop->patterns[0].steps, 50);
    assert_int_equal(loop->patterns[0].n_late, 2);
    assert_int_equal(loop->patterns[0].lost_ns, 50 * 2 * 500);
    assert_int_equal(loop->patterns[1].steps, 1);
    assert_false(loop->patterns[1].waiting);
    rfn_behaviour_free(behaviour);
}

/* A step that consists of a call at another site, in another context. */
static int64_t write_other(const struct step *step, uint32_t context, uint32_t path, int64_t start)
{
    for (uint32_t rank = 0; rank < 4; rank++) {
        fake_segment(rank, context);
        EVENT(rank, BARRIER, path, start + step->work[rank], start + step->end, 0);
    }
    return start + step->end;
}

static const struct rfn_behaviour_loop *loop_at(const struct rfn_behaviour *behaviour,
                                                uint32_t path)
{
    for (size_t i = 0; i < behaviour->n_loops; i++) {
        if (behaviour->loops[i].first.path == path)
            return &behaviour->loops[i];
    }
    fail();
    return NULL;
}

/* Two loops of equally many steps; the second rank has them folded in another way, so that its
 * contexts come in another order, and the third one's first step is in no loop. */
static void test_equal_counts(void **state)
{
    (void)state;
    int64_t at = 100;
    write_begin();
    fake.groups = true;
    for (int i = 0; i < 60; i++)
        at = write_step(&first_late, at);
    for (int i = 0; i < 60; i++)
        at = write_other(&third_late, 4, 5, at);
    write_end(at);
    for (size_t i = 0; i < fake.streams[1].n; i++) {
        struct rfn_segment_place *place = &fake.streams[1].events[i].place;
        place->context = place->context == 1 ? 4 : place->context == 4 ? 1 : place->context;
        fake.streams[1].events[i].record.context = place->context;
    }
    struct rfn_behaviour *behaviour = read_behaviour();
    assert_int_equal(behaviour->n_loops, 2);
    const struct rfn_behaviour_loop *one = loop_at(behaviour, 1), *other = loop_at(behaviour, 5);
    assert_int_equal(one->n_ranks, 4);
    assert_int_equal(one->n_patterns, 1);
    assert_int_equal(one->patterns[0].steps, 60);
    assert_int_equal(one->patterns[0].n_late, 2);
    assert_int_equal(one->patterns[0].wait_ns, 500);
    assert_int_equal(other->n_ranks, 4);
    assert_int_equal(other->n_patterns, 1);
    assert_int_equal(other->patterns[0].n_late, 1);
    assert_int_equal(other->patterns[0].late[0], 2);
    assert_int_equal(other->patterns[0].wait_ns, 1500);
    rfn_behaviour_free(behaviour);
}

/* A rank's first iteration differs and is a context of its own: those that follow are still the
 * same steps as on the others, of which odd and even ones behave differently. */
static void test_peeled(void **state)
{
    (void)state;
    int64_t at = 100;
    write_begin();
    fake.groups = true;
    for (int i = 0; i < 40; i++)
        at = write_step(i % 2 ? &third_late : &first_late, at);
    write_end(at);
    fake.streams[0].events[1].place.context = 5;
    fake.streams[0].events[1].record.context = 5;
    struct rfn_behaviour *behaviour = read_behaviour();
    assert_int_equal(behaviour->n_loops, 1);
    assert_int_equal(behaviour->loops->steps, 40);
    assert_int_equal(behaviour->loops->n_patterns, 2);
    assert_int_equal(behaviour->loops->patterns[0].steps, 20);
    assert_int_equal(behaviour->loops->patterns[1].steps, 20);
    rfn_behaviour_free(behaviour);
}

/* The first and the last rank of a row only send or only receive; all are in the same place. */
static void test_different_calls(void **state)
{
    (void)state;
    write_begin();
    fake.groups = true;
    for (int64_t i = 0; i < 30; i++) {
        for (uint32_t rank = 0; rank < 4; rank++) {
            int64_t at = 100 + 1000 * i;
            fake_segment(rank, rank ? 1 : 3);
            if (rank > 0)
                EVENT(rank, RECV_, 2, at + 100, at + 600, 0, 1, 0, rank - 1, 0, 0, rank - 1, 0, 1);
            if (rank < 3)
                EVENT(rank, SEND_, 4, at + (rank ? 800 : 500), at + 1000, 0, 1, 0, rank + 1, 0, 0);
        }
    }
    write_end(30100);
    struct rfn_behaviour *behaviour = read_behaviour();
    assert_int_equal(behaviour->n_loops, 1);
    assert_int_equal(behaviour->loops->n_ranks, 4);
    assert_int_equal(behaviour->loops->steps, 30);
    assert_int_equal(behaviour->loops->n_patterns, 1);
    rfn_behaviour_free(behaviour);
}

/* Inner loops go round twice on two ranks, and three times on the others, between barriers: their
 * first rounds are one step, and so on. */
static void test_inner_loops(void **state)
{
    (void)state;
    write_begin();
    fake.around[1] = 6 + 1;
    int64_t at = 100;
    for (int i = 0; i < 30; i++, at += 1000) {
        for (uint32_t rank = 0; rank < 4; rank++) {
            int64_t late = i % 2 ? 50 : 0, rounds = rank < 2 ? 2 : 3;
            for (int64_t j = 0; j < rounds; j++) {
                fake_segment(rank, 1);
                EVENT(rank, SENDRECV, 1, at + 100 * (j + 1) - 90 + late, at + 100 * (j + 1), 0, 1,
                      0, rank, 0, 0, 1, 0, rank, 0, 0, rank, 0, 1);
            }
            fake_segment(rank, 6);
            EVENT(rank, BARRIER, 7, at + 100 * rounds + 10, at + 1000, 0);
        }
    }
    write_end(at);
    struct rfn_behaviour *behaviour = read_behaviour();
    const struct rfn_behaviour_loop *inner = loop_at(behaviour, 1), *outer = loop_at(behaviour, 7);
    assert_int_equal(outer->steps, 30);
    assert_int_equal(inner->steps, 90);
    assert_int_equal(inner->n_ranks, 4);
    for (size_t i = 0; i < inner->n_patterns; i++)
        assert_false(inner->patterns[i].waiting);
    rfn_behaviour_free(behaviour);
}

/* Of many steps some are looked at, with the waits. */
static void test_sample(void **state)
{
    (void)state;
    struct rfn_behaviour *behaviour, *all;
    struct rfn_waits_options options = {.behaviour = &behaviour};
    struct rfn_waits *waits;
    int64_t at = 100;
    write_begin();
    for (int i = 0; i < 8000; i++)
        at = write_step(i % 4 ? &first_late : &third_late, at);
    write_end(at);
    assert_int_equal(rfn_waits_new(&fake, &options, NULL, NULL, &waits, NULL), 0);
    rfn_waits_free(waits);
    options = (struct rfn_waits_options){.behaviour = &all, .all_steps = true};
    assert_int_equal(rfn_waits_new(&fake, &options, NULL, NULL, &waits, NULL), 0);
    rfn_waits_free(waits);

    const struct rfn_behaviour_loop *some = behaviour->loops, *every = all->loops;
    assert_int_equal(every->steps, 8000);
    assert_int_equal(every->looked_at, 8000);
    assert_int_equal(every->patterns[0].steps, 6000);
    assert_int_equal(every->ns, every->looked_at_ns);
    assert_int_equal(some->steps, 8000);
    assert_in_range(some->looked_at, 500, 3000);
    assert_int_equal(some->n_patterns, 2);
    double share = (double)some->patterns[0].steps / (double)some->looked_at;
    assert_true(share > 0.74 && share < 0.76);
    assert_true(some->share / every->share > 0.98 && some->share / every->share < 1.02);
    rfn_behaviour_free(behaviour);
    rfn_behaviour_free(all);
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
        cmocka_unit_test(test_unknown_method), cmocka_unit_test(test_equal_counts),
        cmocka_unit_test(test_peeled),         cmocka_unit_test(test_different_calls),
        cmocka_unit_test(test_inner_loops),    cmocka_unit_test(test_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
