/* Signatures of the forms of the paper: of what they depend, and that it is nothing else. */
#include "analyze/clusters/paper_signatures.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, DOUBLE = 1, WORLD = 0, SELF = 1, MAX = -2, SUM = -4 };

#define CALL(rank, function, ...) \
    fake_event(rank, FAKE_##function, 0, 0, 0, (const int64_t[]){__VA_ARGS__})
#define SEND_TO(rank, count, dest, tag, comm) \
    CALL(rank, SEND_, PLAIN, count, DOUBLE, dest, tag, comm)
#define RECV_FROM(rank, count, source, comm) \
    CALL(rank, RECV_, PLAIN, count, DOUBLE, source, 0, comm, RFN_AS_POSTED, RFN_AS_POSTED, 8)

static int setup(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

/* Whether two ranks have the same reference signature; streams are numbered as ranks. */
static bool same(uint32_t a, uint32_t b)
{
    int64_t x[2], y[2];
    assert_int_equal(rfn_reference_signature(&fake, a, a + 1, x, NULL), 0);
    assert_int_equal(rfn_reference_signature(&fake, b, b + 1, y, NULL), 0);
    return x[0] == y[0] && x[1] == y[1];
}

static uint64_t paper(uint32_t rank)
{
    int64_t word;
    assert_int_equal(rfn_paper_parameters(&fake, rank, rank + 1, &word, NULL), 0);
    return (uint64_t)word;
}

static uint64_t bits(uint64_t count, uint64_t dest, uint64_t source, uint64_t rest)
{
    return count | dest << RFN_PAPER_DEST | source << RFN_PAPER_SOURCE | rest;
}

static uint64_t bit(int at)
{
    return (uint64_t)1 << at;
}

/* A ring: partners are told as offsets, round the world and round a smaller communicator, on which
 * ranks 1 and 3 are 0 and 1. */
static void test_relative(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 4; rank++)
        SEND_TO(rank, 5, (rank + 1) % 4, 0, WORLD);
    assert_true(same(0, 1) && same(1, 2) && same(2, 3));
    SEND_TO(1, 5, 1, 0, 2);
    SEND_TO(3, 5, 0, 0, 2);
    assert_true(same(1, 3));
    SEND_TO(1, 5, 1, 0, 2);
    SEND_TO(3, 5, 1, 0, 2);
    assert_false(same(1, 3));
}

/* Special values are nobody's offset, and roots are ranks. */
static void test_absolute(void **state)
{
    (void)state;
    SEND_TO(0, 5, RFN_PROC_NULL, 0, WORLD);
    SEND_TO(1, 5, RFN_PROC_NULL, 0, WORLD);
    CALL(0, BCAST, PLAIN, 5, DOUBLE, 3, WORLD);
    CALL(1, BCAST, PLAIN, 5, DOUBLE, 3, WORLD);
    assert_true(same(0, 1));
    CALL(0, BCAST, PLAIN, 5, DOUBLE, 0, WORLD);
    CALL(1, BCAST, PLAIN, 5, DOUBLE, 1, WORLD);
    assert_false(same(0, 1));
}

/* Tags, counts in another order, counts once more, and a call that is another. */
static void test_all_inputs(void **state)
{
    (void)state;
    const int64_t counts[4][2] = {{1, 2}, {1, 2}, {2, 1}, {1, 2}};
    for (uint32_t rank = 0; rank < 4; rank++) {
        for (int i = 0; i < 2; i++)
            SEND_TO(rank, counts[rank][i], (rank + 1) % 4, rank == 3, WORLD);
    }
    assert_true(same(0, 1));
    assert_false(same(0, 2));
    assert_false(same(0, 3));
    SEND_TO(1, 2, 2, 0, WORLD);
    assert_false(same(0, 1));
    CALL(0, ISEND, PLAIN, 2, DOUBLE, 1, 0, WORLD);
    assert_false(same(0, 1));
}

/* Unsuccessful polls and regions are no events, outcomes no inputs. */
static void test_left_out(void **state)
{
    (void)state;
    RECV_FROM(0, 1, RFN_ANY, WORLD);
    CALL(1, RECV_, PLAIN, 1, DOUBLE, RFN_ANY, 0, WORLD, 2, 7, 0);
    CALL(1, IPROBE, RFN_ANY, RFN_ANY, WORLD, 0, 0, 0)->failed_poll = true;
    CALL(1, BEGIN, 0);
    assert_true(same(0, 1));
}

static void alltoallv(uint32_t rank, int64_t sent, int64_t received)
{
    CALL(rank, ALLTOALLW, PLAIN, sent, LIST(0, 8, 16, 24), LIST(BYTE, BYTE, BYTE, BYTE), PLAIN,
         received, LIST(0, 8, 16, 24), LIST(BYTE, BYTE, BYTE, BYTE), WORLD);
}

/* Lists have equal words in the same order, whatever their numbers are; one word less is another
 * list, even if the next one has one more. */
static void test_lists(void **state)
{
    (void)state;
    alltoallv(0, LIST(1, 2, 3, 4), LIST(5, 6));
    alltoallv(1, LIST(1, 2, 3, 4), LIST(5, 6));
    alltoallv(2, LIST(1, 3, 2, 4), LIST(5, 6));
    alltoallv(3, LIST(1, 2, 3), LIST(4, 5, 6));
    assert_true(same(0, 1));
    assert_false(same(0, 2));
    assert_false(same(0, 3));
    alltoallv(0, RFN_LIST_ABSENT, 0);
    alltoallv(1, 0, 0);
    assert_false(same(0, 1));
}

/* Neighbours of which a communicator is made are partners. */
static void test_neighbours(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 3; rank++)
        CALL(rank, ADJACENT, WORLD, 1, LIST((rank + 3) % 4), RFN_LIST_UNWEIGHTED, 1,
             LIST(rank == 2 ? 0 : rank + 1), RFN_LIST_UNWEIGHTED, -1, 0, 4);
    assert_true(same(0, 1));
    assert_false(same(0, 2));
}

/* Communicators are numbered as a rank gets to know them: those of ranks differ, but not who uses
 * which of two that it has made. */
static void test_communicators(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 3; rank++) {
        CALL(rank, COMM_DUP, WORLD, rank == 1 ? 6 : 4);
        CALL(rank, COMM_DUP, WORLD, 5);
        CALL(rank, BARRIER, rank == 0 ? 4 : rank == 1 ? 6 : 5);
    }
    assert_true(same(0, 1));
    assert_false(same(0, 2));
    CALL(0, BARRIER, SELF);
    CALL(1, BARRIER, WORLD);
    assert_false(same(0, 1));
}

/* What a second thread does is not the same if the first one does it. */
static void test_threads(void **state)
{
    (void)state;
    int64_t one[2], both[2];
    CALL(0, BARRIER, WORLD);
    assert_int_equal(rfn_reference_signature(&fake, 0, 1, one, NULL), 0);
    fake.run.streams = 2;
    fake.streams[1].rank = 0;
    fake.streams[1].thread = 1;
    assert_int_equal(rfn_reference_signature(&fake, 0, 2, both, NULL), 0);
    assert_true(one[0] != both[0] && one[1] != both[1]);
}

/* Averages of counts, of who gets and of who sends, round the communicator, rounded down. */
static void test_averages(void **state)
{
    (void)state;
    uint64_t rest = bit(51) | bit(63);
    SEND_TO(3, 10, 0, 1, WORLD); /* 1 further */
    SEND_TO(3, 21, 2, 2, WORLD); /* 3 */
    SEND_TO(3, 33, 2, 3, WORLD); /* 3 */
    assert_int_equal(paper(3), bits(64 / 3, 7 / 3, 0, rest));
    RECV_FROM(3, 0, 1, WORLD); /* 2 */
    RECV_FROM(3, 0, RFN_ANY, WORLD);
    RECV_FROM(3, 0, RFN_PROC_NULL, WORLD);
    assert_int_equal(paper(3), bits(64 / 6, 7 / 3, 2, rest));
    SEND_TO(3, 65536 * 7 - 64, 0, 0, WORLD);
    assert_int_equal(paper(3), bits(0, 8 / 4, 2, rest)); /* 65536 does not fit */
}

/* Tags, the order, and which call it was do not show. */
static void test_lost(void **state)
{
    (void)state;
    SEND_TO(0, 1, 1, 7, WORLD);
    SEND_TO(0, 3, 3, 7, WORLD);
    CALL(1, ISEND, PLAIN, 2, DOUBLE, 3, 0, WORLD);
    assert_int_equal(paper(0), paper(1));
    assert_false(same(0, 1));
}

static void test_kinds(void **state)
{
    (void)state;
    CALL(0, BARRIER, SELF);
    assert_int_equal(paper(0), bit(62));
    CALL(0, BCAST, PLAIN, 4, BYTE, 2, 4); /* neither of its root nor of a communicator of its own */
    assert_int_equal(paper(0), bits(4, 0, 0, bit(62) | bit(53)));
    CALL(0, ALLREDUCE, PLAIN, PLAIN, 4, 2, MAX, WORLD); /* a type without a bit */
    assert_int_equal(paper(0), bits(4, 0, 0, bit(62) | bit(63) | bit(53) | bit(54) | bit(55)));
    CALL(1, ALLREDUCE, PLAIN, PLAIN, 4, DOUBLE, SUM, WORLD);
    CALL(1, ALLREDUCE, PLAIN, PLAIN, 4, DOUBLE, 0, WORLD); /* of the program */
    assert_int_equal(paper(1), bits(4, 0, 0, bit(63) | bit(51) | bit(57) | bit(61)));
    alltoallv(2, LIST(1, 2, 3, 4), LIST(5, 5, 6, 8));
    assert_int_equal(paper(2), bits(34 / 8, 0, 0, bit(63) | bit(53)));
}

static void test_errors(void **state)
{
    (void)state;
    int64_t words[2];
    CALL(0, BARRIER, WORLD);
    fake.streams[0].fails_with = RFN_E_CORRUPT;
    assert_int_equal(rfn_reference_signature(&fake, 0, 1, words, NULL), RFN_E_CORRUPT);
    assert_int_equal(rfn_paper_parameters(&fake, 0, 1, words, NULL), RFN_E_CORRUPT);
    fake.streams[0].opens_with = RFN_E_NOMEM;
    assert_int_equal(rfn_reference_signature(&fake, 0, 1, words, NULL), RFN_E_NOMEM);
    assert_int_equal(rfn_paper_parameters(&fake, 0, 1, words, NULL), RFN_E_NOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_relative, setup),
        cmocka_unit_test_setup(test_absolute, setup),
        cmocka_unit_test_setup(test_all_inputs, setup),
        cmocka_unit_test_setup(test_left_out, setup),
        cmocka_unit_test_setup(test_lists, setup),
        cmocka_unit_test_setup(test_neighbours, setup),
        cmocka_unit_test_setup(test_communicators, setup),
        cmocka_unit_test_setup(test_threads, setup),
        cmocka_unit_test_setup(test_averages, setup),
        cmocka_unit_test_setup(test_lost, setup),
        cmocka_unit_test_setup(test_kinds, setup),
        cmocka_unit_test_setup(test_errors, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
