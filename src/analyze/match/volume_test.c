/* Bytes of calls, by the rules of the MPI standard: each case is worked out by hand. */
#include "refrain/volume.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BYTE, DOUBLE, TRIPLE };
enum { WORLD, SELF, ODD, INTER };
enum { PLAIN = RFN_BUFFER_PLAIN, PLACE = RFN_BUFFER_IN_PLACE };
enum { NO = -1 };

/* The volume of the one event that a test has given to a rank. */
static struct rfn_volume volume_of(uint32_t rank)
{
    struct rfn_volumes *volumes = rfn_volumes_new(&fake);
    struct rfn_cursor cursor = {.archive = &fake, .stream = rank};
    const struct rfn_record *record = NULL;
    assert_non_null(volumes);
    assert_int_equal(rfn_cursor_next(&cursor, &record, NULL), 1);
    struct rfn_volume volume = rfn_volume_of(volumes, &cursor, rank, record);
    rfn_volumes_free(volumes);
    fake_reset();
    return volume;
}

static void expect(uint32_t rank, int64_t sent, int64_t received)
{
    struct rfn_volume volume = volume_of(rank);
    assert_int_equal(volume.sent_bytes, sent);
    assert_int_equal(volume.received_bytes, received);
}

static int setup(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

static void test_point_to_point(void **state)
{
    (void)state;
    EVENT(0, SEND_, 0, 0, 1, PLAIN, 10, TRIPLE, 3, 7, WORLD);
    struct rfn_volume volume = volume_of(0);
    assert_int_equal(volume.sent_bytes, 240);
    assert_int_equal(volume.received_bytes, NO);
    assert_int_equal(volume.dest, 3);
    assert_int_equal(volume.dest_world, 3);
    EVENT(1, SEND_, 0, 0, 1, PLAIN, 2, DOUBLE, 1, 7, ODD); /* rank 1 of ODD is 3 in the world */
    assert_int_equal(volume_of(1).dest_world, 3);
    EVENT(1, SEND_, 0, 0, 1, PLAIN, 2, DOUBLE, 0, 7, INTER); /* remote rank 0 is 2 */
    assert_int_equal(volume_of(1).dest_world, 2);
    EVENT(3, SEND_, 0, 0, 1, PLAIN, 2, DOUBLE, 1, 7,
          INTER); /* ... and of the other group 0 and 1 */
    assert_int_equal(volume_of(3).dest_world, 1);
    EVENT(2, SEND_, 0, 0, 1, PLAIN, 2, DOUBLE, 0, 7, SELF);
    assert_int_equal(volume_of(2).dest_world, 2);
    EVENT(0, SEND_, 0, 0, 1, PLAIN, 10, DOUBLE, RFN_PROC_NULL, 7, WORLD);
    expect(0, 0, NO);
}

static void test_receive(void **state)
{
    (void)state;
    EVENT(0, RECV_, 0, 0, 1, PLAIN, 10, DOUBLE, RFN_ANY, RFN_ANY, WORLD, 2, 5, 16);
    struct rfn_volume volume = volume_of(0);
    assert_int_equal(volume.received_bytes, 16);
    assert_int_equal(volume.source, 2);
    assert_int_equal(volume.tag, 5);
    EVENT(0, RECV_, 0, 0, 1, PLAIN, 10, DOUBLE, 3, 4, WORLD, RFN_AS_POSTED, RFN_AS_POSTED,
          RFN_AS_POSTED);
    volume = volume_of(0);
    assert_int_equal(volume.received_bytes, 80);
    assert_int_equal(volume.source, 3);
    assert_int_equal(volume.tag, 4);
    EVENT(0, SENDRECV, 0, 0, 1, PLAIN, 1, DOUBLE, 1, 5, PLAIN, 4, BYTE, RFN_ANY, 6, WORLD, 3,
          RFN_AS_POSTED, 2);
    volume = volume_of(0);
    assert_int_equal(volume.sent_bytes, 8);
    assert_int_equal(volume.received_bytes, 2);
    assert_int_equal(volume.source, 3);
    assert_int_equal(volume.tag, 6);
}

static void test_rooted(void **state)
{
    (void)state;
    EVENT(2, BCAST, 0, 0, 1, PLAIN, 5, DOUBLE, 2, WORLD);
    expect(2, 40, NO);
    EVENT(1, BCAST, 0, 0, 1, PLAIN, 5, DOUBLE, 2, WORLD);
    expect(1, NO, 40);
    EVENT(3, BCAST, 0, 0, 1, PLAIN, 5, DOUBLE, 1, ODD); /* 3 is rank 1 of ODD */
    expect(3, 40, NO);
    EVENT(0, GATHER_, 0, 0, 1, PLAIN, 5, DOUBLE, PLAIN, 5, DOUBLE, 0, WORLD);
    expect(0, 40, 160);
    EVENT(1, GATHER_, 0, 0, 1, PLAIN, 5, DOUBLE, PLAIN, RFN_UNKNOWN, -1, 0, WORLD);
    expect(1, 40, NO);
    EVENT(0, GATHER_, 0, 0, 1, PLACE, RFN_UNKNOWN, -1, PLAIN, 5, DOUBLE, 0, WORLD);
    expect(0, 40, 160);
    EVENT(0, SCATTER, 0, 0, 1, PLAIN, 5, DOUBLE, PLACE, RFN_UNKNOWN, -1, 0, WORLD);
    expect(0, 160, 40);
    EVENT(1, SCATTER, 0, 0, 1, PLAIN, RFN_UNKNOWN, -1, PLAIN, 20, BYTE, 0, WORLD);
    expect(1, NO, 20);
    EVENT(3, GATHERV, 0, 0, 1, PLACE, RFN_UNKNOWN, -1, PLAIN, LIST(1, 2, 3, 4), LIST(0, 1, 3, 6),
          DOUBLE, 3, WORLD);
    expect(3, 32, 80);
    EVENT(1, REDUCE_, 0, 0, 1, PLAIN, PLAIN, 3, DOUBLE, -4, 1, WORLD);
    expect(1, 24, 24);
    EVENT(0, REDUCE_, 0, 0, 1, PLAIN, PLAIN, 3, DOUBLE, -4, 1, WORLD);
    expect(0, 24, NO);
}

static void test_inter(void **state)
{
    (void)state;
    EVENT(0, BCAST, 0, 0, 1, PLAIN, 5, DOUBLE, RFN_ROOT, INTER);
    expect(0, 40, NO);
    EVENT(1, BCAST, 0, 0, 1, PLAIN, RFN_UNKNOWN, -1, RFN_PROC_NULL, INTER);
    expect(1, NO, NO);
    EVENT(2, BCAST, 0, 0, 1, PLAIN, 5, DOUBLE, 0, INTER);
    expect(2, NO, 40);
    EVENT(0, GATHER_, 0, 0, 1, PLAIN, RFN_UNKNOWN, -1, PLAIN, 5, DOUBLE, RFN_ROOT, INTER);
    expect(0, NO, 80);
    EVENT(0, SCATTER, 0, 0, 1, PLAIN, 5, DOUBLE, PLAIN, RFN_UNKNOWN, -1, RFN_ROOT, INTER);
    expect(0, 80, NO);
}

/* Ranks 0 and 1 on one side, 2 alone on the other. */
static void test_unequal_groups(void **state)
{
    (void)state;
    fake.comms[INTER].remote_size = 1;
    EVENT(0, ALLTOALL, 0, 0, 1, PLAIN, 2, DOUBLE, PLAIN, 2, DOUBLE, INTER);
    expect(0, 16, 16);
    EVENT(2, ALLTOALL, 0, 0, 1, PLAIN, 2, DOUBLE, PLAIN, 2, DOUBLE, INTER);
    expect(2, 32, 32);
    EVENT(2, GATHER_, 0, 0, 1, PLAIN, RFN_UNKNOWN, -1, PLAIN, 5, DOUBLE, RFN_ROOT, INTER);
    expect(2, NO, 80);
    EVENT(2, SCATTER, 0, 0, 1, PLAIN, 5, DOUBLE, PLAIN, RFN_UNKNOWN, -1, RFN_ROOT, INTER);
    expect(2, 80, NO);
}

static void test_all(void **state)
{
    (void)state;
    EVENT(0, ALLGATHER, 0, 0, 1, PLAIN, 2, DOUBLE, PLAIN, 2, DOUBLE, WORLD);
    expect(0, 16, 64);
    EVENT(0, ALLGATHER, 0, 0, 1, PLACE, RFN_UNKNOWN, -1, PLAIN, 2, DOUBLE, WORLD);
    expect(0, 16, 64);
    EVENT(2, ALLGATHERV, 0, 0, 1, PLACE, RFN_UNKNOWN, -1, PLAIN, LIST(1, 2, 3, 4), LIST(0, 1, 3, 6),
          BYTE, WORLD);
    expect(2, 3, 10);
    EVENT(0, ALLTOALL, 0, 0, 1, PLAIN, 2, DOUBLE, PLAIN, 16, BYTE, WORLD);
    expect(0, 64, 64);
    EVENT(0, ALLTOALL, 0, 0, 1, PLACE, RFN_UNKNOWN, -1, PLAIN, 3, BYTE, WORLD);
    expect(0, 12, 12);
    EVENT(1, ALLTOALLW, 0, 0, 1, PLAIN, LIST(1, 2), LIST(0, 0), LIST(DOUBLE, BYTE), PLAIN,
          LIST(3, 4), LIST(0, 0), LIST(TRIPLE, BYTE), ODD);
    expect(1, 10, 76);
    EVENT(1, ALLTOALLW, 0, 0, 1, PLACE, RFN_LIST_ABSENT, RFN_LIST_ABSENT, RFN_LIST_ABSENT, PLAIN,
          LIST(3, 4), LIST(0, 0), LIST(TRIPLE, BYTE), ODD);
    expect(1, 76, 76);
    EVENT(0, NEIGHBOR, 0, 0, 1, PLAIN, LIST(1, 1, 1), LIST(0, 0, 0), LIST(BYTE, BYTE, DOUBLE),
          PLAIN, 0, 0, 0, WORLD);
    expect(0, 10, 0);
    EVENT(0, ALLREDUCE, 0, 0, 1, PLACE, PLAIN, 3, DOUBLE, -4, WORLD);
    expect(0, 24, 24);
    EVENT(2, REDUCE_SCATTER, 0, 0, 1, PLAIN, PLAIN, LIST(1, 2, 3, 4), DOUBLE, -4, WORLD);
    expect(2, 80, 24);
    EVENT(0, EXSCAN, 0, 0, 1, PLAIN, PLAIN, 3, DOUBLE, -4, WORLD);
    expect(0, 24, 0);
    EVENT(1, EXSCAN, 0, 0, 1, PLAIN, PLAIN, 3, DOUBLE, -4, WORLD);
    expect(1, 24, 24);
    EVENT(0, BARRIER, 0, 0, 1, WORLD);
    expect(0, NO, NO);
}

static void test_one_sided_and_files(void **state)
{
    (void)state;
    EVENT(0, PUT, 0, 0, 1, PLAIN, 3, DOUBLE, 1, 0);
    expect(0, 24, NO);
    EVENT(0, GET, 0, 0, 1, PLAIN, 3, DOUBLE, 1, 0);
    expect(0, NO, 24);
    EVENT(0, GET, 0, 0, 1, PLAIN, 3, DOUBLE, RFN_PROC_NULL, 0);
    expect(0, NO, 0);
    EVENT(0, FILE_READ, 0, 0, 1, 0, PLAIN, 100, BYTE, 60);
    expect(0, NO, 60);
    EVENT(0, FILE_READ, 0, 0, 1, 0, PLAIN, 100, BYTE, RFN_AS_POSTED);
    expect(0, NO, 100);
}

/* Numbers from a damaged file do not overflow. */
static void test_absurd(void **state)
{
    (void)state;
    EVENT(0, SEND_, 0, 0, 1, PLAIN, INT64_MAX, TRIPLE, 1, 7, WORLD);
    expect(0, INT64_MAX, NO);
    EVENT(0, SEND_, 0, 0, 1, PLAIN, -9, 77, 1000, 7, 12);
    expect(0, 0, NO);
    EVENT(0, ALLGATHERV, 0, 0, 1, PLAIN, 1, BYTE, PLAIN, LIST(INT64_MAX, INT64_MAX), 0, DOUBLE,
          WORLD);
    expect(0, 1, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_point_to_point, setup),
        cmocka_unit_test_setup(test_receive, setup),
        cmocka_unit_test_setup(test_rooted, setup),
        cmocka_unit_test_setup(test_inter, setup),
        cmocka_unit_test_setup(test_unequal_groups, setup),
        cmocka_unit_test_setup(test_all, setup),
        cmocka_unit_test_setup(test_one_sided_and_files, setup),
        cmocka_unit_test_setup(test_absurd, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
