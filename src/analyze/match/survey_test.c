/* What can be replayed, and what would wait forever; and what requests become. */
#include "analyze/match/survey.h"

#include "analyze/match/lookahead.h"
#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PLAIN = RFN_BUFFER_PLAIN, DOUBLE = 1, WORLD = 0, ASKED = RFN_AS_POSTED };
#define RECENT(distance) ((distance)*4 + RFN_REQUEST_RECENT)
#define SLOT(slot)       ((slot)*4 + RFN_REQUEST_SLOT)

static struct rfn_treatments operations;
static struct rfn_volumes *volumes;
static struct rfn_diag diag;

static bool can_issue(enum rfn_operation operation, enum rfn_call_variant variant)
{
    (void)variant;
    return operation != RFN_MPI_OTHER && operation != RFN_MPI_File_close;
}

static int setup(void **state)
{
    (void)state;
    fake_reset();
    diag = (struct rfn_diag){.file_offset = -1, .rank = -1};
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        EVENT(rank, INIT, 0, rank, 10 + rank, 0);
    volumes = rfn_volumes_new(&fake);
    return volumes ? rfn_treatments_init(&operations, &fake, can_issue) : -1;
}

static int teardown(void **state)
{
    (void)state;
    rfn_treatments_release(&operations);
    rfn_volumes_free(volumes);
    return 0;
}

static void finalize(void)
{
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        EVENT(rank, FINALIZE, 0, 100, 110 + rank, 0);
}

/* Sums over the ranks; the last rank's survey. */
struct sums {
    uint64_t messages, collectives, received, skipped_reads;
    bool wants_fates;
};

static struct sums survey_all(void)
{
    struct sums sums = {0};
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        struct rfn_survey survey;
        assert_int_equal(rfn_survey_init(&survey, &operations, volumes, rank, &diag), 0);
        assert_int_equal(survey.begin_ns, 10 + rank);
        assert_int_equal(survey.end_ns, 110 + rank);
        sums.messages += survey.messages;
        sums.collectives += survey.collectives;
        sums.received += survey.received_messages;
        sums.skipped_reads += survey.skipped[FAKE_FILE_READ];
        sums.wants_fates |= survey.wants_fates;
        rfn_survey_release(&survey);
    }
    return sums;
}

static int survey_one(uint32_t rank)
{
    struct rfn_survey survey;
    int error = rfn_survey_init(&survey, &operations, volumes, rank, &diag);
    rfn_survey_release(&survey);
    return error;
}

static void send(uint32_t rank, int64_t dest, int64_t tag)
{
    EVENT(rank, SEND_, 0, 20, 21, PLAIN, 1, DOUBLE, dest, tag, WORLD);
}

static void recv(uint32_t rank, int64_t source, int64_t tag)
{
    EVENT(rank, RECV_, 0, 20, 21, PLAIN, 4, DOUBLE, RFN_ANY, RFN_ANY, WORLD, source, tag, 8);
}

static void test_messages(void **state)
{
    (void)state;
    send(0, 1, 7);
    send(2, 1, 7);
    send(3, RFN_PROC_NULL, 7);
    recv(1, 2, 7);
    recv(1, 0, 7);
    finalize();
    struct sums sums = survey_all();
    assert_int_equal(sums.messages, 0);
    assert_int_equal(sums.received, 2);
    assert_false(sums.wants_fates); /* a blocking receive says itself what came */
}

/* They are counted, and need no handle that is known. */
static void test_polls(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct rfn_record *polls = EVENT(1, TEST, 0, 20 + 20 * i, 40 + 20 * i, SLOT(3), 0);
        polls->failed_poll = true;
        polls->polls = 7;
        polls->inside_ns = 5;
    }
    finalize();
    struct rfn_survey survey;
    assert_int_equal(rfn_survey_init(&survey, &operations, volumes, 1, &diag), 0);
    assert_int_equal(survey.polls, 14);
    assert_int_equal(survey.polls_ns, 10);
    assert_int_equal(survey.issued, 0);
    rfn_survey_release(&survey);
}

static void test_unmatched(void **state)
{
    (void)state;
    send(0, 1, 7);
    recv(1, 0, 8); /* another tag */
    finalize();
    assert_int_not_equal(survey_all().messages, 0);
}

static void test_persistent(void **state)
{
    (void)state;
    EVENT(0, SEND_INIT, 0, 20, 21, PLAIN, 1, DOUBLE, 1, 5, WORLD, SLOT(0));
    for (int i = 0; i < 3; i++) {
        EVENT(0, START, 0, 22, 23, SLOT(0));
        EVENT(0, WAIT, 0, 24, 25, SLOT(0), 0);
        recv(1, 0, 5);
    }
    finalize();
    assert_int_equal(survey_all().messages, 0);
}

/* A receive that is freed while it is active gets its message, whether it is persistent or not; one
 * that is not active has had those that it waited for. */
static void test_freed(void **state)
{
    (void)state;
    EVENT(1, RECV_INIT, 0, 20, 21, PLAIN, 4, DOUBLE, 0, 5, WORLD, SLOT(0));
    EVENT(1, START, 0, 22, 23, SLOT(0));
    EVENT(1, REQUEST_FREE, 0, 24, 25, SLOT(0));
    EVENT(1, IRECV, 0, 26, 27, PLAIN, 4, DOUBLE, 0, 6, WORLD);
    EVENT(1, REQUEST_FREE, 0, 28, 29, RECENT(1));
    EVENT(1, RECV_INIT, 0, 30, 31, PLAIN, 4, DOUBLE, 0, 7, WORLD, SLOT(0));
    EVENT(1, START, 0, 32, 33, SLOT(0));
    EVENT(1, WAIT, 0, 34, 35, SLOT(0), LIST(0, 0, 7, 8, 0, 0));
    EVENT(1, REQUEST_FREE, 0, 36, 37, SLOT(0));
    for (int64_t tag = 5; tag <= 7; tag++)
        send(0, 1, tag);
    finalize();
    struct sums sums = survey_all();
    assert_int_equal(sums.messages, 0);
    assert_int_equal(sums.received, 3);
}

/* A send that was cancelled is not received, and a receive that was cancelled got nothing. */
static void test_cancelled(void **state)
{
    (void)state;
    int64_t cancelled = LIST(0, ASKED, ASKED, ASKED, 0, RFN_COMPLETION_CANCELLED);
    EVENT(0, ISEND, 0, 20, 21, PLAIN, 1, DOUBLE, 1, 5, WORLD);
    EVENT(0, CANCEL, 0, 22, 23, RECENT(1));
    EVENT(0, WAIT, 0, 24, 25, RECENT(1), cancelled);
    EVENT(1, IRECV, 0, 20, 21, PLAIN, 1, DOUBLE, 0, 5, WORLD);
    EVENT(1, CANCEL, 0, 22, 23, RECENT(1));
    EVENT(1, WAIT, 0, 24, 25, RECENT(1), cancelled);
    finalize();
    struct sums sums = survey_all();
    assert_int_equal(sums.messages, 0);
    assert_int_equal(sums.received, 0);
    assert_true(sums.wants_fates);
}

/* A receive that was cancelled and freed left the message to the next one. */
static void test_cancelled_and_freed(void **state)
{
    (void)state;
    EVENT(0, SEND_, 0, 20, 21, PLAIN, 1, DOUBLE, 1, 5, WORLD);
    EVENT(1, IRECV, 0, 20, 21, PLAIN, 1, DOUBLE, 0, 5, WORLD);
    EVENT(1, CANCEL, 0, 22, 23, RECENT(1));
    EVENT(1, REQUEST_FREE, 0, 24, 25, RECENT(1));
    EVENT(1, RECV_, 0, 26, 27, PLAIN, 1, DOUBLE, 0, 5, WORLD, ASKED, ASKED, ASKED);
    finalize();
    struct sums sums = survey_all();
    assert_int_equal(sums.messages, 0);
    assert_int_equal(sums.received, 1);
    assert_true(sums.wants_fates);
}

/* Requests on a communicator that no call has made: neither end is there, whatever they complete,
 * and whatever a request of the same number was before. */
static void test_skipped_requests(void **state)
{
    (void)state;
    enum { MISSING = 4 };
    for (int64_t comm = WORLD; comm <= MISSING; comm += MISSING) {
        EVENT(0, ISEND, 0, 20, 21, PLAIN, 1, DOUBLE, 1, 5, comm);
        EVENT(0, WAIT, 0, 22, 23, RECENT(1), 0);
        EVENT(1, IRECV, 0, 20, 21, PLAIN, 1, DOUBLE, 0, 5, comm);
        EVENT(1, WAIT, 0, 22, 23, RECENT(1), LIST(0, 0, 5, 8, 0, 0));
    }
    EVENT(1, RECV_INIT, 0, 24, 25, PLAIN, 1, DOUBLE, 0, 6, MISSING, SLOT(0));
    for (int i = 0; i < 2; i++) {
        EVENT(1, START, 0, 26, 27, SLOT(0));
        EVENT(1, WAIT, 0, 28, 29, SLOT(0), LIST(0, 0, 6, 8, 0, 0));
    }
    EVENT(1, START, 0, 30, 31, SLOT(0));
    EVENT(1, REQUEST_FREE, 0, 32, 33, SLOT(0));
    finalize();
    struct sums sums = survey_all();
    assert_int_equal(sums.messages, 0);
    assert_int_equal(sums.received, 1);
    assert_false(sums.wants_fates);
}

static void test_collectives(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        EVENT(rank, BARRIER, 0, 20, 21, WORLD);
        EVENT(rank, BCAST, 0, 22, 23, PLAIN, 1, DOUBLE, 0, WORLD);
    }
    finalize();
    assert_int_equal(survey_all().collectives, 0);
}

static void test_collectives_in_another_order(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        if (rank != 2)
            EVENT(rank, BARRIER, 0, 20, 21, WORLD);
        EVENT(rank, BCAST, 0, 22, 23, PLAIN, 1, DOUBLE, 0, WORLD);
        if (rank == 2)
            EVENT(rank, BARRIER, 0, 24, 25, WORLD);
    }
    finalize();
    assert_int_not_equal(survey_all().collectives, 0);
}

static void test_skipped(void **state)
{
    (void)state;
    EVENT(0, FILE_READ, 0, 20, 21, 0, PLAIN, 1, DOUBLE, 8);
    finalize();
    assert_int_equal(survey_all().skipped_reads, 1);
}

static void test_refused(void **state)
{
    (void)state;
    send(0, 1, 7);
    assert_int_equal(survey_one(0), RFN_E_UNSUPPORTED); /* no MPI_Finalize */
    assert_non_null(strstr(diag.text, "MPI_Finalize"));
    EVENT(1, WAIT, 0, 24, 25, RECENT(1), 0)->error = 14;
    finalize();
    assert_int_equal(survey_one(1), RFN_E_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "MPI_Wait"));
    EVENT(2, BARRIER, 0, 120, 121, WORLD);
    assert_int_equal(survey_one(2), RFN_E_UNSUPPORTED); /* after MPI_Finalize */
    recv(3, RFN_UNKNOWN, 7);
    assert_int_equal(survey_one(3), RFN_E_UNSUPPORTED);
}

static void test_too_large(void **state)
{
    (void)state;
    EVENT(0, ALLREDUCE, 0, 20, 21, PLAIN, PLAIN, INT64_C(1) << 29, DOUBLE, 0, WORLD);
    int64_t counts = LIST(1 << 27, 1 << 27, 1, 1), places = LIST(0, 0, 0, 0);
    EVENT(1, ALLGATHERV, 0, 20, 21, PLAIN, 1, DOUBLE, PLAIN, counts, places, DOUBLE, WORLD);
    finalize();
    assert_int_equal(survey_one(0), RFN_E_UNSUPPORTED);
    assert_int_equal(survey_one(1), RFN_E_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "2 GiB"));
}

/* Of MPI_Alltoallw, where each part has a type of its own. */
static void test_too_large_by_types(void **state)
{
    (void)state;
    enum { BYTE = 0, LARGE = 2 };
    int64_t none = LIST(0, 0, 0, 0), places = LIST(0, 0, 0, 0);
    int64_t counts = LIST(1 << 27, 1, 1, 1), forged = LIST(INT64_MAX, INT64_MAX, 1, 1);
    int64_t bytes = LIST(BYTE, BYTE, BYTE, BYTE), types = LIST(LARGE, BYTE, BYTE, BYTE);
    EVENT(0, ALLTOALLW, 0, 20, 21, PLAIN, counts, places, types, PLAIN, none, places, bytes, WORLD);
    EVENT(1, ALLTOALLW, 0, 20, 21, PLAIN, none, places, bytes, PLAIN, counts, places, types, WORLD);
    EVENT(2, NEIGHBOR, 0, 20, 21, PLAIN, none, places, bytes, PLAIN, forged, places, types, WORLD);
    EVENT(3, ALLTOALLW, 0, 20, 21, PLAIN, counts, places, bytes, PLAIN, none, places, bytes, WORLD);
    finalize();
    for (uint32_t rank = 0; rank < 3; rank++) {
        diag.text[0] = '\0';
        assert_int_equal(survey_one(rank), RFN_E_UNSUPPORTED);
        assert_non_null(strstr(diag.text, "2 GiB"));
    }
    assert_int_equal(survey_one(3), 0);
}

static void test_damaged(void **state)
{
    (void)state;
    finalize();
    fake.streams[0].fails_with = RFN_E_CORRUPT;
    fake.streams[1].opens_with = RFN_E_INCOMPLETE;
    assert_int_equal(survey_one(0), RFN_E_CORRUPT);
    assert_int_equal(survey_one(1), RFN_E_INCOMPLETE);
}

/* Words that mean nothing are no crash. */
static void test_nonsense(void **state)
{
    (void)state;
    static const int64_t words[] = {INT64_MIN, -1, 0, 1, 77, INT32_MAX, INT64_MAX};
    enum { N = sizeof words / sizeof *words };
    for (int function = 0; function < N_FAKE_FUNCTIONS; function++) {
        for (unsigned k = 0; k < N; k++) {
            int64_t in[2 * RFN_PARAMS_MAX];
            for (unsigned i = 0; i < 2 * RFN_PARAMS_MAX; i++)
                in[i] = words[(i + k) % N];
            fake.streams[0].n = 1;
            fake_event(0, (enum fake_function)function, 0, 20, 21, in);
            EVENT(0, FINALIZE, 0, 100, 110, 0);
            int error = survey_one(0);
            assert_true(error == 0 || error == RFN_E_UNSUPPORTED || error == RFN_E_NOMEM);
        }
    }
}

static void test_threads(void **state)
{
    (void)state;
    uint32_t stream = 99;
    assert_int_equal(rfn_survey_stream(&fake, 2, &stream, &diag), 0);
    assert_int_equal(stream, 2);
    assert_int_equal(rfn_survey_stream(&fake, FAKE_RANKS, &stream, &diag), RFN_E_NOTFOUND);
    fake.run.streams = FAKE_RANKS + 1;
    fake_event(FAKE_RANKS, FAKE_BARRIER, 0, 20, 21, (const int64_t[]){WORLD});
    assert_int_equal(rfn_survey_stream(&fake, 0, &stream, &diag), RFN_E_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "several threads"));
}

/* ---- fates ---- */

static struct rfn_fate next_fate(struct rfn_fates *fates)
{
    struct rfn_fate fate = {0};
    assert_int_equal(rfn_fates_next(fates, &fate, &diag), 0);
    return fate;
}

static void expect_fate(struct rfn_fates *fates, int64_t source, int64_t tag, bool cancelled)
{
    struct rfn_fate fate = next_fate(fates);
    assert_int_equal(fate.source, source);
    assert_int_equal(fate.tag, tag);
    assert_int_equal(fate.cancelled, cancelled);
}

/* A request that has no fate gets the id of a cancelled one whose fate has not been asked for. */
static void test_fate_of_an_id(void **state)
{
    (void)state;
    struct rfn_fates *fates;
    EVENT(0, IRECV, 0, 20, 21, PLAIN, 4, DOUBLE, 1, 3, WORLD);
    EVENT(0, IRECV, 0, 20, 21, PLAIN, 4, DOUBLE, 1, 4, WORLD);
    EVENT(0, CANCEL, 0, 22, 23, RECENT(1));
    EVENT(0, WAIT, 0, 24, 25, RECENT(1), LIST(0, ASKED, ASKED, ASKED, 0, RFN_COMPLETION_CANCELLED));
    EVENT(0, IBARRIER, 0, 26, 27, WORLD);
    EVENT(0, WAIT, 0, 28, 29, RECENT(1), 0);
    EVENT(0, IRECV, 0, 30, 31, PLAIN, 4, DOUBLE, 1, 6, WORLD);
    EVENT(0, CANCEL, 0, 32, 33, RECENT(1));
    EVENT(0, REQUEST_FREE, 0, 34, 35, RECENT(1));
    EVENT(0, WAIT, 0, 36, 37, RECENT(4), LIST(0, ASKED, ASKED, 8, 0, 0));
    finalize();
    assert_int_equal(rfn_fates_open(&fates, &fake, volumes, 0, &diag), 0);
    expect_fate(fates, 1, 3, false);
    assert_true(next_fate(fates).cancelled);
    assert_true(next_fate(fates).cancelled);
    rfn_fates_close(fates);
}

/* Requests complete in another order than they were made. */
static void test_fates(void **state)
{
    (void)state;
    struct rfn_fates *fates;
    EVENT(0, IRECV, 0, 20, 21, PLAIN, 4, DOUBLE, RFN_ANY, RFN_ANY, WORLD); /* 0 */
    EVENT(0, ISEND, 0, 20, 21, PLAIN, 4, DOUBLE, 1, 3, WORLD);             /* 1 */
    EVENT(0, IRECV, 0, 20, 21, PLAIN, 4, DOUBLE, 2, RFN_ANY, WORLD);       /* 2 */
    EVENT(0, IBARRIER, 0, 20, 21, WORLD);                                  /* has no fate */
    EVENT(0, CANCEL, 0, 22, 23, RECENT(3));
    EVENT(0, WAIT, 0, 24, 25, RECENT(2), LIST(0, 2, 6, 8, 0, 0));
    EVENT(0, WAIT, 0, 24, 25, RECENT(3), LIST(0, ASKED, ASKED, ASKED, 0, RFN_COMPLETION_CANCELLED));
    EVENT(0, WAIT, 0, 24, 25, RECENT(4), LIST(0, 3, 9, 8, 0, 0));
    EVENT(0, RECV_INIT, 0, 20, 21, PLAIN, 4, DOUBLE, RFN_ANY, 5, WORLD, SLOT(0));
    for (int64_t i = 1; i < 4; i++) {
        EVENT(0, START, 0, 30, 31, SLOT(0));
        EVENT(0, WAIT, 0, 32, 33, SLOT(0), LIST(0, i, ASKED, 8, 0, 0));
    }
    finalize();
    assert_int_equal(rfn_fates_open(&fates, &fake, volumes, 0, &diag), 0);
    expect_fate(fates, 3, 9, false);
    assert_true(next_fate(fates).cancelled);
    expect_fate(fates, 2, 6, false);
    for (int64_t i = 1; i < 4; i++)
        expect_fate(fates, i, 5, false);
    struct rfn_fate fate;
    assert_int_equal(rfn_fates_next(fates, &fate, &diag), RFN_E_CORRUPT); /* no more */
    rfn_fates_close(fates);
}

/* What never completes is as it was asked for. */
static void test_open_end(void **state)
{
    (void)state;
    struct rfn_fates *fates;
    EVENT(1, IRECV, 0, 20, 21, PLAIN, 4, DOUBLE, 2, 8, WORLD);
    finalize();
    assert_int_equal(rfn_fates_open(&fates, &fake, volumes, 1, &diag), 0);
    expect_fate(fates, 2, 8, false);
    rfn_fates_close(fates);
    fake.streams[1].fails_with = RFN_E_CORRUPT;
    assert_int_equal(rfn_fates_open(&fates, &fake, volumes, 1, &diag), 0);
    struct rfn_fate fate;
    assert_int_equal(rfn_fates_next(fates, &fate, &diag), RFN_E_CORRUPT);
    rfn_fates_close(fates);
    fake.streams[1].opens_with = RFN_E_INCOMPLETE;
    assert_int_equal(rfn_fates_open(&fates, &fake, volumes, 1, &diag), RFN_E_INCOMPLETE);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_messages),         TEST(test_polls),
        TEST(test_unmatched),        TEST(test_persistent),
        TEST(test_cancelled),        TEST(test_cancelled_and_freed),
        TEST(test_collectives),      TEST(test_collectives_in_another_order),
        TEST(test_skipped),          TEST(test_refused),
        TEST(test_too_large),        TEST(test_freed),
        TEST(test_damaged),          TEST(test_nonsense),
        TEST(test_threads),          TEST(test_fates),
        TEST(test_fate_of_an_id),    TEST(test_open_end),
        TEST(test_skipped_requests), TEST(test_too_large_by_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
