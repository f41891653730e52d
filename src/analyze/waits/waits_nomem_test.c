/* The analysis of waits out of memory: of all its allocations each fails once, and it gives up with
 * RFN_E_NOMEM and leaves nothing behind. The archive is made so that every module has something to
 * keep. So do the other walks over it. And what an archive claims is not taken for a reason to
 * allocate. */
#include "refrain/match.h"
#include "refrain/sampling.h"
#include "refrain/waits.h"

#define FAKE_EVENTS 4096
#define FAKE_LISTS  64
#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fail_each.h"

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, WORLD = 0, SUM = 0, AS = RFN_AS_POSTED, SIZE = 100 };
#define RECENT(distance) ((distance)*4 + RFN_REQUEST_RECENT)
#define SLOT(slot)       ((slot)*4 + RFN_REQUEST_SLOT)

/* ---- the archive ---- */

static int64_t now; /* calls come one after another, and those of several ranks overlap */

#define CALL(rank, function, ...) (now += 10, EVENT(rank, function, 0, now, now + 25, __VA_ARGS__))

static void all(void (*call)(uint32_t rank))
{
    for (uint32_t rank = 0; rank < 4; rank++)
        call(rank);
    now += 40;
}

static void barrier(uint32_t rank)
{
    CALL(rank, BARRIER, WORLD);
}

static void messages(void)
{
    CALL(1, RECV_, PLAIN, SIZE, BYTE, 0, 5, WORLD, AS, AS, AS);
    CALL(0, SEND_, PLAIN, SIZE, BYTE, 1, 5, WORLD);
    now += 40;
    CALL(2, SSEND, PLAIN, SIZE, BYTE, 3, 5, WORLD);
    CALL(3, RECV_, PLAIN, SIZE, BYTE, 2, 5, WORLD, AS, AS, AS);
    now += 40;
    CALL(1, PROBE, 0, 9, WORLD, AS, AS, AS);
    CALL(0, SEND_, PLAIN, SIZE, BYTE, 1, 9, WORLD);
    CALL(1, MPROBE, RFN_ANY, 9, WORLD, 3, 0, AS, SIZE);
    CALL(1, MRECV, PLAIN, SIZE, BYTE, 3, AS, AS, AS);
    now += 40;
}

/* Of r1 the second receive with a wildcard completes first. */
static void wildcards(void)
{
    CALL(1, IRECV, PLAIN, SIZE, BYTE, RFN_ANY, 7, WORLD);
    CALL(1, IRECV, PLAIN, SIZE, BYTE, RFN_ANY, 7, WORLD);
    now += 40;
    CALL(1, WAIT, RECENT(1), LIST(0, 2, AS, AS, 0, 0));
    CALL(2, SEND_, PLAIN, SIZE, BYTE, 1, 7, WORLD);
    now += 40;
    CALL(1, WAIT, RECENT(2), LIST(0, 0, AS, AS, 0, 0));
    CALL(0, SEND_, PLAIN, SIZE, BYTE, 1, 7, WORLD);
    now += 40;
}

static void persistent(void)
{
    CALL(0, PSEND_INIT, PLAIN, 2, SIZE, BYTE, 1, 5, WORLD, SLOT(0));
    CALL(1, PRECV_INIT, PLAIN, 2, SIZE, BYTE, 0, 5, WORLD, SLOT(0));
    CALL(0, SEND_INIT, PLAIN, SIZE, BYTE, 1, 6, WORLD, SLOT(70000));
    CALL(1, RECV_INIT, PLAIN, SIZE, BYTE, 0, 6, WORLD, SLOT(1));
    CALL(1, STARTALL, 2, LIST(SLOT(0), SLOT(1)));
    CALL(0, STARTALL, 2, LIST(SLOT(0), SLOT(70000)));
    CALL(0, PREADY_RANGE, 0, 1, SLOT(0));
    CALL(0, WAITALL, 2, LIST(SLOT(0), SLOT(70000)), 0);
    CALL(1, WAITALL, 2, LIST(SLOT(0), SLOT(1)), 0);
    now += 40;
}

static void collective(uint32_t rank)
{
    CALL(rank, ALLREDUCE, PLAIN, PLAIN, 8, BYTE, SUM, WORLD);
    CALL(rank, SCAN, PLAIN, PLAIN, 8, BYTE, SUM, 4);
    CALL(rank, GATHER_, PLAIN, 8, BYTE, PLAIN, 8, BYTE, 0, WORLD);
    CALL(rank, IBARRIER, WORLD);
    CALL(rank, WAIT, RECENT(1), 0);
    CALL(rank, BARRIER_INIT, WORLD, SLOT(2));
    CALL(rank, START, SLOT(2));
    CALL(rank, WAIT, SLOT(2), 0);
    CALL(rank, FILE_OPEN, WORLD, 5);
    CALL(rank, FILE_READ_ALL, 5, PLAIN, 8, BYTE, 8);
}

static void topology(uint32_t rank)
{
    static int64_t dims, periods, left, right, index, edges;
    if (rank == 0) {
        dims = LIST(4);
        periods = LIST(0);
        left = LIST(1, 2);
        right = LIST(3);
        index = LIST(1, 2, 3, 4);
        edges = LIST(1, 0, 3, 2);
    }
    CALL(rank, CART_CREATE, WORLD, 1, dims, periods, 0, 4);
    CALL(rank, GRAPH_CREATE, WORLD, 4, index, edges, 0, 5);
    CALL(rank, ADJACENT, WORLD, 2, left, 0, 1, right, 0, 0, 0, 6);
    CALL(rank, NEIGHBOR_ALL, PLAIN, 1, BYTE, PLAIN, 1, BYTE, 4);
    CALL(rank, NEIGHBOR_ALL, PLAIN, 1, BYTE, PLAIN, 1, BYTE, 6);
}

static void window(uint32_t rank)
{
    static int64_t others;
    others = rank ? others : LIST(1, 2);
    CALL(rank, WIN_CREATE, 0, 8, 1, -1, WORLD, 0);
    CALL(rank, FENCE, 0, 0);
    CALL(rank, COMM_GROUP, WORLD, 0);
    CALL(rank, INCL, 0, 2, others, 1);
    CALL(rank, DIFFERENCE, 0, 1, 2);
    CALL(rank, COMM_GROUP, 8, 3);
    CALL(rank, WIN_POST, rank == 0 || rank == 3 ? 1 : 2, 0, 0);
    CALL(rank, WIN_START, rank == 0 || rank == 3 ? 1 : 2, 0, 0);
}

static void close_window(uint32_t rank)
{
    CALL(rank, WIN_COMPLETE, 0);
    CALL(rank, WIN_WAIT, 0);
    CALL(rank, LOCK, 1, 2, 0, 0);
    CALL(rank, UNLOCK, 2, 0);
    CALL(rank, WIN_POST, 3, 0, 0);
    CALL(rank, WIN_FREE, 0);
}

static void regions_and_polls(void)
{
    CALL(3, BEGIN, 1);
    CALL(3, BEGIN, 2);
    struct rfn_record *polls = CALL(3, IPROBE, 2, 8, WORLD, AS, AS, AS);
    polls->failed_poll = true;
    polls->polls = 5;
    polls->inside_ns = 10;
    now += 40;
    CALL(3, IPROBE, 2, 8, WORLD, AS, AS, AS);
    CALL(2, SEND_, PLAIN, SIZE, BYTE, 3, 8, WORLD);
    now += 40;
    CALL(3, RECV_, PLAIN, SIZE, BYTE, 2, 8, WORLD, AS, AS, AS);
    CALL(3, END, 1);
}

/* r0 does more than its log holds. */
static void long_history(void)
{
    for (int i = 0; i < 2200; i++)
        CALL(0, PCONTROL, i % 5);
    now += 40;
}

static void make_archive(void)
{
    fake_reset();
    now = 0;
    all(barrier);
    messages();
    wildcards();
    persistent();
    all(collective);
    all(topology);
    all(window);
    all(close_window);
    regions_and_polls();
    long_history();
    all(barrier);
    messages();
}

/* ---- the tests ---- */

static int analyse(const void *of)
{
    (void)of;
    struct rfn_diag diag = {.text = ""};
    struct rfn_waits *waits = NULL;
    const struct rfn_waits_options options = {.fix_clocks = true};
    int error = rfn_waits_new(&fake, &options, NULL, NULL, &waits, &diag);
    if (error < 0)
        assert_string_equal(diag.text, "out of memory");
    else
        rfn_waits_free(waits);
    return error;
}

static int see(void *context, const struct rfn_match_event *event)
{
    (void)context, (void)event;
    return 0;
}

static int see_message(void *context, const struct rfn_match_message *message)
{
    (void)context, (void)message;
    return 0;
}

static int see_collective(void *context, const struct rfn_match_collective *collective)
{
    (void)context, (void)collective;
    return 0;
}

static int walk(const void *of)
{
    (void)of;
    struct rfn_diag diag = {.text = ""};
    const struct rfn_match_hooks hooks = {
        .enter = see, .leave = see, .message = see_message, .collective = see_collective};
    int error = rfn_match_run(&fake, &hooks, NULL, &diag);
    if (error < 0)
        assert_string_equal(diag.text, "out of memory");
    return error;
}

static void test_each_allocation_of_a_walk_fails(void **state)
{
    (void)state;
    make_archive();
    assert_int_equal(fail_each(60, walk, NULL), 0);
}

static int sample(const void *of)
{
    (void)of;
    struct rfn_diag diag = {.text = ""};
    struct rfn_samples samples;
    const struct rfn_sample_strategy every = {.kind = RFN_SAMPLE_RANDOM, .rate = 1};
    int error = rfn_samples_take(&fake, &every, RFN_SAMPLE_WRITE, &samples, &diag);
    if (error < 0)
        assert_string_equal(diag.text, "out of memory");
    else
        assert_true(samples.n_samples > 10);
    free(samples.rows);
    free(samples.counts);
    free(samples.samples);
    free(samples.where);
    return error;
}

static void test_each_allocation_of_samples_fails(void **state)
{
    (void)state;
    make_archive();
    assert_int_equal(fail_each(60, sample, NULL), 0);
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    make_archive();
    assert_int_equal(fail_each(300, analyse, NULL), 0);
}

/* Lists, groups, windows, topologies and calls on communicators of a size: what does not fit what
 * is known of the run is left out, and its members are not gone through. */
static void use_communicators(uint32_t size)
{
    largest = 0;
    int64_t dims = LIST((int64_t)size), periods = LIST(0), one = LIST(0), range = LIST(0, 3, 1);
    for (int64_t comm = 2; comm < FAKE_COMMS; comm++) {
        fake.comms[comm].size = size;
        fake.comms[comm].remote_size = comm == 3 ? size : 0;
        EVENT(0, CART_CREATE, 0, 0, 1, WORLD, 1, dims, periods, 0, comm);
        EVENT(0, ADJACENT, 0, 0, 1, WORLD, 1, one, 0, 1, one, 0, 0, 0, comm);
        EVENT(0, COMM_GROUP, 0, 0, 1, comm, 0);
        EVENT(0, REMOTE_GROUP, 0, 0, 1, comm, 1);
        EVENT(0, RANGE_EXCL, 0, 0, 1, 0, 1, range, 2);
        EVENT(0, UNION, 0, 0, 1, 0, 2, 3);
        EVENT(0, WIN_CREATE, 0, 0, 1, 0, 8, 1, -1, comm, comm);
        EVENT(0, FENCE, 0, 1, 2, 0, comm);
        EVENT(0, WIN_POST, 0, 2, 3, 3, 0, comm);
        EVENT(0, WIN_START, 0, 3, 4, 3, 0, comm);
        EVENT(0, WIN_COMPLETE, 0, 4, 5, comm);
        EVENT(0, BARRIER, 0, 5, 6, comm);
        EVENT(0, SCAN, 0, 6, 7, 0, 0, 8, 0, 0, comm);
        EVENT(0, NEIGHBOR_ALL, 0, 7, 8, 0, 1, 0, 0, 1, 0, comm);
        EVENT(0, ALLGATHER, 0, 8, 9, 0, 1, 0, 0, 1, 0, comm);
    }
    failing = UINT64_MAX;
    assert_int_equal(analyse(NULL), 0);
}

static void test_large_communicators(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1 << 14, 1 << 24, INT32_MAX, UINT32_MAX};
    for (int i = 0; i < 4; i++) {
        fake_reset();
        use_communicators(sizes[i]);
        assert_true(fake.lookups < 1000000);
        assert_true(largest < 1 << 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_each_allocation_of_a_walk_fails),
        cmocka_unit_test(test_each_allocation_of_samples_fails),
        cmocka_unit_test(test_large_communicators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
