/* The profile of runs that are small enough to be worked out by hand. */
#include "refrain/profile.h"

#include "analyze/profile/messages.h"
#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, DOUBLE = 1, WORLD = 0, ASKED = RFN_AS_POSTED };
#define RECENT(distance) ((distance)*4 + RFN_REQUEST_RECENT)
#define SLOT(slot)       ((slot)*4 + RFN_REQUEST_SLOT)
#define FOREIGN(thread, number) \
    (((number) << RFN_FOREIGN_BITS | (thread)) * 4 + RFN_REQUEST_FOREIGN)

static struct rfn_profile *profile;

static int setup(void **state)
{
    (void)state;
    fake_reset();
    profile = NULL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_profile_free(profile);
    return 0;
}

static void make(void)
{
    struct rfn_diag diag = {0};
    assert_int_equal(rfn_profile_new(&fake, NULL, NULL, &profile, &diag), 0);
}

static const struct rfn_profile_row *row_of(uint32_t function, uint32_t path)
{
    for (size_t i = 0; i < profile->n_rows; i++) {
        if (profile->rows[i].function == function && profile->rows[i].path == path)
            return &profile->rows[i];
    }
    fail_msg("no row for function %u, path %u", function, path);
    return NULL;
}

static void expect_pair(size_t i, uint32_t source, uint32_t dest, uint64_t messages, uint64_t bytes)
{
    assert_true(i < profile->n_pairs);
    assert_int_equal(profile->pairs[i].source, source);
    assert_int_equal(profile->pairs[i].dest, dest);
    assert_int_equal(profile->pairs[i].messages, messages);
    assert_int_equal(profile->pairs[i].bytes, bytes);
}

static void test_bins(void **state)
{
    (void)state;
    assert_int_equal(rfn_size_bin(0), 0);
    assert_int_equal(rfn_size_bin(1), 1);
    assert_int_equal(rfn_size_bin(2), 2);
    assert_int_equal(rfn_size_bin(3), 2);
    assert_int_equal(rfn_size_bin(4), 3);
    assert_int_equal(rfn_size_bin(1023), 10);
    assert_int_equal(rfn_size_bin(1024), 11);
    assert_int_equal(rfn_size_bin(UINT64_MAX), 64);
}

/* Rank 0 sends 100 bytes 3 times and 200 bytes once to rank 1, which receives with a wildcard. */
static void write_ping(void)
{
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        EVENT(rank, INIT, 0, 10 + rank, 20, 0);
    for (int i = 0; i < 4; i++) {
        int64_t at = 100 + 100 * i, bytes = i == 2 ? 200 : 100;
        EVENT(0, SEND_, 1, at, at + 10, PLAIN, bytes, BYTE, 1, 7, WORLD)->symbol = 1;
        EVENT(1, RECV_, 2, at, at + 30 + i, PLAIN, 400, BYTE, RFN_ANY, 7, WORLD, 0, ASKED, bytes);
    }
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        EVENT(rank, FINALIZE, 3, 990, 1010 - rank, 0);
    for (int i = 0; i < 4; i++)
        fake.streams[0].events[1 + i].record.varying = 2; /* the count */
}

static void test_ping(void **state)
{
    (void)state;
    write_ping();
    make();
    assert_int_equal(profile->start_ns, 10);
    assert_int_equal(profile->end_ns, 1010);
    assert_int_equal(profile->events, 16);
    const struct rfn_profile_row *send = row_of(FAKE_SEND_, 1), *recv = row_of(FAKE_RECV_, 2);
    assert_int_equal(send->calls, 4);
    assert_int_equal(send->bytes, 500);
    assert_int_equal(send->time.total_ns, 40);
    assert_int_equal(send->time.ranks, 1);
    assert_int_equal(recv->received_bytes, 500);
    assert_int_equal(recv->bytes, 500);
    assert_int_equal(recv->min_ns, 30);
    assert_int_equal(recv->max_ns, 33);
    assert_int_equal(recv->time.max_rank, 1);
    assert_int_equal(profile->n_pairs, 1);
    expect_pair(0, 0, 1, 4, 500);
    assert_int_equal(profile->point_to_point[7].count, 3); /* 64 to 127 bytes */
    assert_int_equal(profile->point_to_point[7].bytes, 300);
    assert_int_equal(profile->point_to_point[8].count, 1);
    /* Most time first: Recv 126, Finalize 74, Send 40, Init 34. */
    assert_int_equal(profile->rows[0].function, FAKE_RECV_);
    assert_int_equal(profile->rows[1].function, FAKE_FINALIZE);
    assert_int_equal(profile->rows[1].time.min_ns, 17);
    assert_int_equal(profile->rows[1].time.min_rank, 3);
}

static void test_efficiency(void **state)
{
    (void)state;
    write_ping();
    make();
    /* T is 1000. In MPI: 10 + 40 + 20, 9 + 126 + 19, 8 + 18, 7 + 17. */
    struct rfn_efficiency efficiency = rfn_profile_efficiency(profile);
    assert_int_equal(profile->ranks[0].mpi_ns, 70);
    assert_int_equal(profile->ranks[1].mpi_ns, 154);
    assert_int_equal(profile->ranks[1].setup_ns, 28);
    assert_int_equal(efficiency.all_ns, 4000);
    /* Spans are 1000, 998, 996, 994: a rank's time begins with its own Init. */
    assert_int_equal(efficiency.max_outside_ns, 970);
    assert_int_equal(efficiency.max_outside_rank, 2);
    assert_int_equal(efficiency.min_outside_rank, 1);
    assert_true(efficiency.mpi_share * 4000 > 273.999 && efficiency.mpi_share * 4000 < 274.001);
    assert_true(efficiency.load_balance * 970 > 928.499 && efficiency.load_balance * 970 < 928.501);
    double product = efficiency.load_balance * efficiency.communication;
    assert_true(product - efficiency.parallel < 1e-12 && efficiency.parallel - product < 1e-12);
}

/* Bytes of a nonblocking receive count when it completes, with what really came. */
static void test_requests(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        EVENT(2, IRECV, 5, 0, 1, PLAIN, 10, DOUBLE, RFN_ANY, 1, WORLD);
        EVENT(2, ISEND, 6, 0, 1, PLAIN, 2, DOUBLE, 3, 1, WORLD);
        EVENT(2, WAITALL, 7, 0, 1, 2, LIST(RECENT(2), RECENT(1)), LIST(0, 3, ASKED, 8 * i, 0, 0));
    }
    make();
    assert_int_equal(row_of(FAKE_IRECV, 5)->received_bytes, 24);
    assert_int_equal(row_of(FAKE_IRECV, 5)->bytes, 24);
    assert_int_equal(row_of(FAKE_ISEND, 6)->sent_bytes, 48);
    assert_int_equal(row_of(FAKE_WAITALL, 7)->bytes, 0);
    assert_int_equal(profile->n_pairs, 1);
    expect_pair(0, 2, 3, 3, 48);
}

static void test_persistent(void **state)
{
    (void)state;
    EVENT(1, SEND_INIT, 5, 0, 1, PLAIN, 4, DOUBLE, 0, 1, WORLD, SLOT(0));
    EVENT(1, RECV_INIT, 6, 0, 1, PLAIN, 4, DOUBLE, 0, 1, WORLD, SLOT(1));
    for (int i = 0; i < 5; i++) {
        EVENT(1, STARTALL, 7, 0, 1, 2, LIST(SLOT(0), SLOT(1)));
        EVENT(1, WAITALL, 8, 0, 1, 2, LIST(SLOT(0), SLOT(1)), 0);
    }
    make();
    assert_int_equal(row_of(FAKE_SEND_INIT, 5)->sent_bytes, 160);
    assert_int_equal(row_of(FAKE_RECV_INIT, 6)->received_bytes, 160);
    assert_int_equal(profile->n_pairs, 1);
    expect_pair(0, 1, 0, 5, 160);
}

/* What one thread begins another completes, or starts: it counts for the call that made it, whose
 * symbol is of the other thread's stream. */
static void test_threads(void **state)
{
    (void)state;
    fake.run.streams = FAKE_RANKS + 1;
    for (uint32_t i = 0; i <= FAKE_RANKS; i++) {
        fake.streams[i].rank = i ? i - 1 : 0;
        fake.streams[i].thread = i == 1;
    }
    EVENT(0, IRECV, 5, 0, 1, PLAIN, 10, DOUBLE, 3, 1, WORLD)->symbol = 0;
    EVENT(0, SEND_INIT, 6, 2, 3, PLAIN, 4, DOUBLE, 2, 1, WORLD, SLOT(0))->symbol = 1;
    EVENT(1, WAITALL, 7, 10, 11, 1, LIST(FOREIGN(0, 0)), 0)->symbol = 0;
    EVENT(1, STARTALL, 8, 12, 13, 1, LIST(SLOT(0)))->symbol = 1;
    make();
    assert_int_equal(row_of(FAKE_IRECV, 5)->received_bytes, 80);
    assert_int_equal(row_of(FAKE_WAITALL, 7)->received_bytes, 0);
    assert_int_equal(row_of(FAKE_SEND_INIT, 6)->sent_bytes, 32);
    assert_int_equal(profile->ranks[0].threads, 2);
    assert_int_equal(profile->n_pairs, 1);
    expect_pair(0, 0, 2, 1, 32);
}

/* A run of polls is one event but many calls, and its time is that inside of the calls. */
static void test_polls(void **state)
{
    (void)state;
    struct rfn_record *poll = EVENT(0, IPROBE, 4, 100, 900, RFN_ANY, 1, WORLD, RFN_UNKNOWN,
                                    RFN_UNKNOWN, RFN_UNKNOWN);
    poll->failed_poll = true;
    poll->polls = 40;
    poll->inside_ns = 80;
    EVENT(0, IPROBE, 4, 900, 905, RFN_ANY, 1, WORLD, 3, ASKED, 8);
    make();
    const struct rfn_profile_row *row = row_of(FAKE_IPROBE, 4);
    assert_int_equal(row->events, 2);
    assert_int_equal(row->calls, 41);
    assert_int_equal(row->time.total_ns, 85);
    assert_int_equal(profile->failed_polls, 40);
    assert_int_equal(row->between_polls_ns, 800 - 80);
}

static void test_collectives(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        EVENT(rank, ALLREDUCE, 1, 0, 10 + rank, PLAIN, PLAIN, 4, DOUBLE, -4, WORLD);
        EVENT(rank, BARRIER, 2, 20, 30, WORLD);
        EVENT(rank, SENDRECV, 3, 30, 40, PLAIN, 1, DOUBLE, (rank + 1) % 4, 5, PLAIN, 1, DOUBLE,
              (rank + 3) % 4, 5, WORLD, ASKED, ASKED, ASKED);
    }
    make();
    assert_int_equal(profile->collective[6].count, 4); /* 32 to 63 bytes */
    assert_int_equal(profile->collective[6].bytes, 128);
    assert_int_equal(profile->collective[0].count, 0); /* barriers move nothing */
    assert_int_equal(profile->n_pairs, 4);
    expect_pair(3, 3, 0, 1, 8);
    assert_int_equal(row_of(FAKE_SENDRECV, 3)->bytes, 32);
    assert_int_equal(row_of(FAKE_ALLREDUCE, 1)->time.total_ns, 46);
    assert_int_equal(row_of(FAKE_ALLREDUCE, 1)->time.min_rank, 0);
    assert_int_equal(row_of(FAKE_ALLREDUCE, 1)->time.max_ns, 13);
}

static void test_damage(void **state)
{
    (void)state;
    write_ping();
    fake.streams[0].fails_with = RFN_E_CORRUPT;
    make();
    assert_int_equal(profile->unreadable, 1);
    assert_int_equal(profile->error, RFN_E_CORRUPT);
    assert_int_equal(profile->diag.file_offset, 99);
    assert_int_equal(profile->events, 16); /* what came before the damage counts */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Volumes of rank 1 alone: what is before a call goes to that call's path. */
static void test_volume(void **state)
{
    (void)state;
    write_ping();
    for (size_t i = 0; i < fake.streams[1].n; i++) {
        fake.streams[1].events[i].record.volume_gap = 1000;
        fake.streams[1].events[i].record.volume_inside = (int64_t)i;
    }
    fake.streams[1].volume = true;
    make();
    const struct rfn_profile_row *row = row_of(FAKE_RECV_, 2);
    assert_int_equal(row->volume_before, 4 * 1000);
    assert_int_equal(row->volume_inside, 1 + 2 + 3 + 4);
    assert_int_equal(row_of(FAKE_SEND_, 1)->volume_inside, 0);
    assert_int_equal(profile->ranks[0].counted, 0);
    assert_int_equal(profile->ranks[1].counted, 1);
    size_t n = fake.streams[1].n; /* the last is Finalize */
    assert_int_equal(profile->ranks[1].volume_outside, n * 1000);
    assert_int_equal(profile->ranks[1].volume_mpi, n * (n - 1) / 2);
    assert_int_equal(profile->ranks[1].volume_setup, n - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bins),       TEST(test_ping),    TEST(test_efficiency),  TEST(test_requests),
        TEST(test_persistent), TEST(test_polls),   TEST(test_collectives), TEST(test_damage),
        TEST(test_volume),     TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
