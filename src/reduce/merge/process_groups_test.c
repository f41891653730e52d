/* Streams that share times: groups that are known, on any number of ranks; what the tree finds is
 * what joining the lists of all ranks in one process finds; limits; a rank that fails. */
#include "reduce/merge/process_groups.h"

#include "support/fake_profile.h"
#include "support/mailboxes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { THREADS = 3 };

/* What a stream is: a profile, in a class. */
struct given {
    struct fake_stream fake;
    uint64_t group;
};

struct member {
    struct rfn_exchange exchange;
    struct rfn_process_groups groups;
    unsigned threads;
    size_t max_bytes;
    bool fails;
    int result;
};

static const struct fake_stream plain = {
    .begin = 1000, .unit = 1, .work = 5000, .wait = 300, .steps = 40};

static struct given (*given_of)(uint64_t stream);
static struct rfn_criterion criterion;

static int add_stream(struct rfn_time_sets *sets, uint64_t stream)
{
    struct given given = given_of(stream);
    struct rfn_stream_profile *profile = fake_profile(&given.fake, "absDiff:0");
    struct rfn_hash128 class_ = rfn_time_class(profile, given.group, false);
    int added = criterion.method->all_alike
                    ? 1 + rfn_time_sets_add_class(sets, stream, class_)
                    : rfn_time_sets_add(sets, stream, class_, profile, &RFN_TIME_LINE_NS, 0);
    rfn_stream_profile_free(profile);
    return added;
}

static void *run_member(void *argument)
{
    struct member *member = argument;
    struct rfn_process_groups *groups = &member->groups;
    *groups = (struct rfn_process_groups){.criterion = &criterion, .max_bytes = member->max_bytes};
    uint64_t first = (uint64_t)member->exchange.rank * member->threads;
    int error = member->fails ? RFN_E_NOMEM : 0;
    for (uint64_t i = 0; i < member->threads && !error; i++)
        error = add_stream(&groups->sets, first + i) == 1 ? 0 : RFN_E_NOMEM;
    member->result = rfn_process_groups_run(groups, &member->exchange, error);
    return NULL;
}

static struct world world;
static struct member members[MAX_RANKS];

static void run(int size, unsigned threads, size_t max_bytes, int failing)
{
    for (int rank = 0; rank < size; rank++)
        members[rank] = (struct member){
            .threads = threads, .max_bytes = max_bytes, .fails = rank == failing};
    run_world(&world, size, run_member, members, sizeof *members,
              offsetof(struct member, exchange));
    for (int rank = 0; rank < size; rank++) {
        assert_int_equal(members[rank].exchange.held, 0);
        assert_int_equal(members[rank].groups.sets.n, 0);
        assert_true(members[rank].result || members[rank].groups.streams);
    }
}

static void release(int size)
{
    for (int rank = 0; rank < size; rank++)
        rfn_process_groups_release(&members[rank].groups);
}

static uint64_t found(uint64_t stream)
{
    const struct member *member = &members[stream / members[0].threads];
    return member->groups.streams[stream % member->threads];
}

static void choose(struct given (*given)(uint64_t stream), const char *text)
{
    given_of = given;
    assert_int_equal(rfn_across_parse(text, &criterion, NULL), 0);
}

/* ---- known groups ---- */

/* Every third is a microsecond slower at each step, every fifth of another group. */
static struct given three_sorts(uint64_t stream)
{
    struct given given = {.fake = plain};
    given.fake.work += stream % 3 == 2 ? 1000 : (int64_t)(stream % 2);
    given.group = stream % 5 == 4;
    return given;
}

static uint64_t sort_of(uint64_t stream)
{
    return (stream % 3 == 2 ? 1u : 0u) + (stream % 5 == 4 ? 2u : 0u);
}

static uint64_t first_like(uint64_t stream)
{
    for (uint64_t i = 0;; i++) {
        if (sort_of(i) == sort_of(stream))
            return i;
    }
}

static void test_known(void **state)
{
    (void)state;
    choose(three_sorts, "absDiff:1");
    for (unsigned threads = 1; threads <= THREADS; threads += 2) {
        for (int size = 1; size <= 33; size += size < 10 ? 1 : 7) {
            uint64_t n = (uint64_t)size * threads, sets = 0;
            run(size, threads, 0, -1);
            for (uint64_t i = 0; i < n; i++) {
                assert_int_equal(found(i), first_like(i));
                sets += first_like(i) == i;
            }
            assert_int_equal(members[0].groups.n_sets, sets);
            release(size);
        }
    }
}

/* One of each class: whatever its times are, and however little room there is for copies. */
static void test_one(void **state)
{
    (void)state;
    choose(three_sorts, "one");
    for (unsigned threads = 1; threads <= THREADS; threads += 2) {
        for (int size = 1; size <= 33; size += size < 10 ? 1 : 7) {
            uint64_t n = (uint64_t)size * threads;
            run(size, threads, 1, -1);
            for (uint64_t i = 0; i < n; i++)
                assert_int_equal(found(i), i % 5 == 4 ? 4 : 0);
            assert_int_equal(members[0].groups.n_sets, n > 4 ? 2 : 1);
            assert_true(world.received[0] < 1024);
            release(size);
        }
    }
}

/* All alike: rank 0 gets one copy per level, not one per rank. */
static struct given all_alike(uint64_t stream)
{
    (void)stream;
    return (struct given){.fake = plain};
}

static void test_bytes(void **state)
{
    (void)state;
    struct rfn_time_sets one = {0};
    choose(all_alike, "absDiff:0");
    assert_int_equal(add_stream(&one, 0), 1);
    run(64, 1, 0, -1);
    assert_in_range(world.received[0], 6 * one.bytes, 6 * (one.bytes + 32));
    assert_int_equal(members[0].groups.n_sets, 1);
    release(64);
    rfn_time_sets_release(&one);
}

/* ---- by chance: as in one process ---- */

static struct given noisy(uint64_t stream)
{
    struct given given = {.fake = plain};
    given.fake.noise = 1 + stream * 7919 % 11;
    given.fake.steps = 2 + (unsigned)(stream % 2);
    given.fake.work += (int64_t)(stream * 31 % 7) * 12;
    return given;
}

static uint64_t stands_for[MAX_RANKS * THREADS];

/* Joins lists as the page says. */
static void join(struct rfn_time_sets *left, struct rfn_time_sets *right)
{
    uint32_t joined[MAX_RANKS * THREADS];
    uint64_t streams[MAX_RANKS * THREADS];
    size_t n = right->n;
    for (size_t i = 0; i < n; i++)
        streams[i] = right->sets[i].stream;
    assert_int_equal(rfn_time_sets_join(left, right, &criterion, 0, joined), 0);
    for (size_t i = 0; i < n; i++) {
        if (joined[i] != RFN_TIME_SET_ALONE)
            stands_for[streams[i]] = left->sets[joined[i]].stream;
    }
}

static size_t join_all(int size, unsigned threads)
{
    static struct rfn_time_sets lists[MAX_RANKS];
    for (uint64_t i = 0; i < (uint64_t)size * threads; i++) {
        struct rfn_time_sets one = {0};
        assert_int_equal(add_stream(&one, i), 1);
        join(&lists[i / threads], &one);
    }
    for (int step = 1; step < size; step *= 2) {
        for (int i = 0; i + step < size; i += 2 * step)
            join(&lists[i], &lists[i + step]);
    }
    size_t n = lists[0].n;
    rfn_time_sets_release(&lists[0]);
    for (uint64_t i = 0; i < (uint64_t)size * threads; i++)
        stands_for[i] = stands_for[stands_for[i]];
    return n;
}

/* Members are within as many thresholds of what stands for them as there are levels. */
static void check_distance(uint64_t stream, uint64_t representative, double levels)
{
    struct rfn_criterion own = criterion;
    struct rfn_time_sets sets = {0};
    uint32_t joined;
    own.threshold *= levels;
    assert_int_equal(add_stream(&sets, representative), 1);
    struct rfn_time_sets right = {0};
    assert_int_equal(add_stream(&right, stream), 1);
    assert_int_equal(rfn_time_sets_join(&sets, &right, &own, 0, &joined), 0);
    assert_int_equal(joined, 0);
    rfn_time_sets_release(&sets);
}

static void test_by_chance(void **state)
{
    (void)state;
    choose(noisy, "absDiff:0.1");
    for (int size = 1; size <= 64; size = size * 2 + size % 3) {
        for (unsigned threads = 1; threads <= THREADS; threads += 2) {
            size_t n = join_all(size, threads);
            run(size, threads, 0, -1);
            assert_int_equal(members[0].groups.n_sets, n);
            for (uint64_t i = 0; i < (uint64_t)size * threads; i++) {
                assert_int_equal(found(i), stands_for[i]);
                check_distance(i, found(i), 8);
            }
            assert_true((size == 1 || n > 1) && (size < 16 || n < (size_t)size * threads));
            release(size);
        }
    }
}

/* ---- limits ---- */

/* Each differs from all before it. */
static struct given all_different(uint64_t stream)
{
    struct given given = {.fake = plain};
    given.fake.work += (int64_t)stream * 1000;
    given.fake.steps = 3;
    return given;
}

/* A class has no more sets than that; what comes later joins none, but whoever is like one of the
 * first still does. */
static struct given different_then_first(uint64_t stream)
{
    return all_different(stream < 65 * THREADS ? stream : 0);
}

static void test_sets_of_class(void **state)
{
    (void)state;
    choose(different_then_first, "absDiff:0.01");
    run(66, THREADS, 0, -1);
    for (uint64_t i = 0; i < 66 * THREADS; i++)
        assert_int_equal(found(i), i < 65 * THREADS ? i : 0);
    assert_int_equal(members[0].groups.n_sets, 65 * THREADS);
    release(66);
}

/* Copies that find no room are of sets that stand alone. */
static void test_room(void **state)
{
    (void)state;
    struct rfn_time_sets one = {0};
    choose(three_sorts, "absDiff:1");
    assert_int_equal(add_stream(&one, 0), 1);
    for (size_t room = 0; room < 4; room++) {
        run(16, 1, room * one.bytes + one.bytes / 2, -1);
        uint64_t sets = 0, others = 0;
        for (uint64_t i = 0; i < 16; i++) {
            assert_true(found(i) == i || found(i) == found(found(i)));
            assert_true(sort_of(found(i)) == sort_of(i));
            sets += found(i) == i;
            others += found(i) != first_like(i);
            assert_true(members[i].exchange.peak < 4 * (room + 1) * one.bytes + 4096);
        }
        assert_int_equal(members[0].groups.n_sets, sets);
        assert_true(room ? sets < 16 : sets == 16);
        assert_true(others > 0 || room > 1);
        release(16);
    }
    rfn_time_sets_release(&one);
}

/* Of streams that no other one can match nobody has a copy; they are counted all the same. */
static void *run_alone(void *argument)
{
    struct member *member = argument;
    member->groups = (struct rfn_process_groups){.criterion = &criterion, .alone = 2};
    member->result = rfn_process_groups_run(&member->groups, &member->exchange, 0);
    return NULL;
}

static void test_alone(void **state)
{
    (void)state;
    memset(members, 0, sizeof members);
    run_world(&world, 7, run_alone, members, sizeof *members, offsetof(struct member, exchange));
    assert_int_equal(members[0].groups.n_sets, 14);
    assert_true(world.received[0] < 64);
    release(7);
}

/* One rank fails: all ranks know, and nobody hangs. */
static void test_failure(void **state)
{
    (void)state;
    choose(all_alike, "absDiff:0");
    for (int size = 1; size <= 16; size += 3) {
        for (int failing = 0; failing < size; failing++) {
            run(size, 1, 0, failing);
            for (int rank = 0; rank < size; rank++) {
                assert_true(members[rank].result < 0);
                assert_null(members[rank].groups.streams);
            }
            release(size);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),         cmocka_unit_test(test_one),
        cmocka_unit_test(test_bytes),         cmocka_unit_test(test_by_chance),
        cmocka_unit_test(test_sets_of_class), cmocka_unit_test(test_room),
        cmocka_unit_test(test_alone),         cmocka_unit_test(test_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
