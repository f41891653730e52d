/* Sums of spreads against known answers and plain calculation; merging in any order and along any
 * tree, through messages or not, has one result; and messages that are wrong are refused. */
#include "reduce/merge/spreads.h"

#include "support/mailboxes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t noise(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 33;
}

/* ---- sums ---- */

static struct rfn_spread_sums sums_of(const uint64_t *times, size_t n)
{
    struct rfn_spread_sums sums = {0};
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rfn_spread_sums_add(&sums, times[i]), 0);
    return sums;
}

static void test_known(void **state)
{
    (void)state;
    static const uint64_t times[] = {2, 4, 4, 4, 5, 5, 7, 9};
    static const uint64_t bins[] = {1, 6, 1}; /* 2-3, 4-7, 8-15 */
    struct rfn_spread_sums sums = sums_of(times, 8);
    assert_int_equal(sums.n, 8);
    assert_int_equal(sums.min, 2);
    assert_int_equal(sums.max, 9);
    assert_int_equal(rfn_spread_sums_mean(&sums), 5);
    assert_int_equal(rfn_spread_sums_deviation(&sums), 2);
    assert_int_equal(sums.first_bin, 2);
    assert_int_equal(sums.n_bins, 3);
    assert_memory_equal(sums.bins, bins, sizeof bins);
    rfn_spread_sums_release(&sums);
    assert_int_equal(rfn_spread_sums_mean(&sums), 0);
    assert_int_equal(rfn_spread_sums_deviation(&sums), 0);
    /* Larger than double or 64 bits would have them: 2^62 + 1, 2^62 + 3, and zeros. */
    uint64_t large[] = {(UINT64_C(1) << 62) + 1, (UINT64_C(1) << 62) + 3};
    sums = sums_of(large, 2);
    assert_int_equal(rfn_spread_sums_mean(&sums), (UINT64_C(1) << 62) + 2);
    assert_int_equal(rfn_spread_sums_deviation(&sums), 1);
    assert_int_equal(sums.n_bins, 1);
    assert_int_equal(rfn_spread_sums_add(&sums, 0), 0);
    assert_int_equal(sums.first_bin, 0);
    assert_int_equal(sums.n_bins, 64);
    rfn_spread_sums_release(&sums);
    assert_int_equal(rfn_spread_bin(UINT64_MAX), RFN_SPREAD_BINS - 1);
}

static void test_random(void **state)
{
    (void)state;
    uint64_t random = 3, times[200];
    for (int round = 0; round < 200; round++) {
        double sum = 0, squares = 0;
        size_t n = 1 + noise(&random) % 200;
        for (size_t i = 0; i < n; i++) {
            times[i] = noise(&random) >> (round % 4 ? noise(&random) % 31 : 20);
            sum += (double)times[i];
        }
        for (size_t i = 0; i < n; i++)
            squares += ((double)times[i] - sum / (double)n) * ((double)times[i] - sum / (double)n);
        struct rfn_spread_sums sums = sums_of(times, n);
        double deviation = sqrt(squares / (double)n);
        assert_int_equal(rfn_spread_sums_mean(&sums), (uint64_t)(sum / (double)n));
        assert_true(fabs((double)rfn_spread_sums_deviation(&sums) - deviation) <
                    1.001 + deviation * 1e-9);
        rfn_spread_sums_release(&sums);
    }
}

/* ---- merging ---- */

enum { STREAMS = 40, CLUSTERS = 3, PLACES = 50 };

/* A stream's own events: of cluster stream % 3, at some places. */
static struct rfn_spread_table table_of(uint64_t stream)
{
    struct rfn_spread_table table = {0};
    uint64_t random = stream + 1, n = noise(&random) % 200;
    for (uint64_t i = 0; i < n; i++) {
        /* Few follow each other, but for the last, which anything follows. */
        size_t place = i % 4 ? (i + stream) % 9 : noise(&random) % PLACES;
        int64_t gap = (int64_t)(place % 3 ? noise(&random) % 100000 : 7) - 5;
        int64_t enter = (int64_t)(noise(&random) % 1000);
        assert_int_equal(rfn_spread_table_event(&table, place, enter - gap, enter,
                                                enter + (int64_t)(noise(&random) % 500)),
                         0);
    }
    return table;
}

static struct rfn_spreads spreads_of(uint64_t stream)
{
    struct rfn_spreads spreads = {0};
    struct rfn_spread_table table = table_of(stream);
    struct rfn_hash128 digest = rfn_sites_digest((struct rfn_hash128){0}, stream % CLUSTERS, 1);
    assert_int_equal(rfn_spreads_add(&spreads, digest, stream, &table), 0);
    rfn_spread_table_release(&table);
    return spreads;
}

static int compare_first(const void *a, const void *b)
{
    const struct rfn_cluster_sums *left = a, *right = b;
    return (left->first_stream > right->first_stream) - (left->first_stream < right->first_stream);
}

/* In order of streams, which merging in any order does not give. */
static struct rfn_buf bytes_of(struct rfn_spreads *spreads)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    qsort(spreads->clusters, spreads->n, sizeof *spreads->clusters, compare_first);
    rfn_spreads_write(spreads, &bytes);
    assert_int_equal(rfn_buf_status(&bytes), 0);
    return bytes;
}

static void merge(struct rfn_spreads *to, struct rfn_spreads *from)
{
    struct rfn_buf message = RFN_BUF_INIT;
    rfn_spreads_write(from, &message);
    assert_int_equal(rfn_spreads_read(to, message.data, message.size), 0);
    rfn_buf_release(&message);
    rfn_spreads_release(from);
}

/* All streams' own, merged pair by pair as chance wants it. */
static struct rfn_buf merge_by_chance(uint64_t seed)
{
    struct rfn_spreads parts[STREAMS];
    size_t n = STREAMS;
    for (size_t i = 0; i < n; i++)
        parts[i] = spreads_of(i);
    while (n > 1) {
        size_t from = noise(&seed) % n, to = (from + 1 + noise(&seed) % (n - 1)) % n;
        merge(&parts[to], &parts[from]);
        parts[from] = parts[--n];
    }
    struct rfn_buf bytes = bytes_of(&parts[0]);
    rfn_spreads_release(&parts[0]);
    return bytes;
}

/* All of them one after the other, without messages. */
static struct rfn_buf merge_in_order(void)
{
    struct rfn_spreads spreads = {0};
    for (uint64_t i = 0; i < STREAMS; i++) {
        struct rfn_spread_table table = table_of(i);
        struct rfn_hash128 digest = rfn_sites_digest((struct rfn_hash128){0}, i % CLUSTERS, 1);
        assert_int_equal(rfn_spreads_add(&spreads, digest, i, &table), 0);
        rfn_spread_table_release(&table);
    }
    assert_int_equal(spreads.n, CLUSTERS);
    size_t full = 0;
    for (size_t i = 0; i < PLACES; i++)
        full += spreads.clusters[0].table.places[i].full;
    assert_true(full > 0 && full < PLACES);
    struct rfn_buf bytes = bytes_of(&spreads);
    rfn_spreads_release(&spreads);
    return bytes;
}

static void test_associative(void **state)
{
    (void)state;
    struct rfn_buf expected = merge_in_order();
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct rfn_buf found = merge_by_chance(seed);
        assert_int_equal(found.size, expected.size);
        assert_memory_equal(found.data, expected.data, found.size);
        rfn_buf_release(&found);
    }
    rfn_buf_release(&expected);
}

/* The site that any other follows is one position as soon as there are too many. */
static void test_full(void **state)
{
    (void)state;
    struct rfn_spread_table table = {0};
    const struct rfn_place_sums *place;
    for (uint32_t site = 1; site <= RFN_SITES_BEFORE_MOST; site++) {
        assert_int_equal(rfn_spread_table_event(&table, 2 * site, 0, 1, 2), 0);
        assert_int_equal(rfn_spread_table_event(&table, 0, 2, 2 + site, 3 + 2 * site), 0);
    }
    place = &table.places[0];
    assert_false(place->full);
    assert_int_equal(place->sites_before, RFN_SITES_BEFORE_MOST);
    for (const struct rfn_position_sums *sums = place->first; sums; sums = sums->next)
        assert_int_equal(sums->before.sum, sums->after);
    size_t bytes = table.bytes;
    assert_int_equal(rfn_spread_table_event(&table, 200, 0, 1, 2), 0);
    assert_int_equal(rfn_spread_table_event(&table, 0, 2, 2 + 100, 3 + 200), 0);
    place = &table.places[0];
    assert_true(place->full && !place->first->next && table.bytes < bytes + 4096);
    assert_int_equal(place->first->after, RFN_NO_SITE_BEFORE);
    assert_int_equal(place->first->duration.n, RFN_SITES_BEFORE_MOST + 1);
    assert_int_equal(place->first->before.sum, 16 * 17 / 2 + 100);
    rfn_spread_table_release(&table);
}

/* ---- over ranks ---- */

struct member {
    struct rfn_exchange exchange;
    struct rfn_spreads spreads;
    size_t max_bytes;
    bool fails;
    int result;
};

static void *run_member(void *argument)
{
    struct member *member = argument;
    member->spreads = spreads_of((uint64_t)member->exchange.rank);
    member->spreads.max_bytes = member->max_bytes;
    member->result = rfn_spreads_run(&member->spreads, &member->exchange,
                                     member->fails ? RFN_E_NOMEM : 0);
    return NULL;
}

/* failing: a rank, or -1. Returns rank 0's result; its spreads are the caller's. */
static int run_all(struct member *members, int size, int failing, size_t max_bytes)
{
    static struct world world;
    for (int rank = 0; rank < size; rank++)
        members[rank] = (struct member){.fails = rank == failing, .max_bytes = max_bytes};
    run_world(&world, size, run_member, members, sizeof *members,
              offsetof(struct member, exchange));
    for (int rank = 1; rank < size; rank++)
        rfn_spreads_release(&members[rank].spreads);
    return members[0].result;
}

static void test_ranks(void **state)
{
    (void)state;
    static struct member members[STREAMS];
    struct rfn_buf expected = merge_in_order();
    assert_int_equal(run_all(members, STREAMS, -1, 0), 0);
    for (int rank = 0; rank < STREAMS; rank++)
        assert_int_equal(members[rank].exchange.held, 0);
    struct rfn_buf found = bytes_of(&members[0].spreads);
    assert_int_equal(found.size, expected.size);
    assert_memory_equal(found.data, expected.data, found.size);
    rfn_spreads_release(&members[0].spreads);
    rfn_buf_release(&found);
    rfn_buf_release(&expected);
}

static void test_failing(void **state)
{
    (void)state;
    static struct member members[STREAMS];
    for (int size = 1; size <= 9; size++) {
        for (int failing = 0; failing < size; failing++) {
            assert_int_equal(run_all(members, size, failing, 0),
                             failing ? RFN_E_EXCHANGE : RFN_E_NOMEM);
            rfn_spreads_release(&members[0].spreads);
        }
    }
    assert_true(run_all(members, STREAMS, -1, 4096) < 0); /* too much of it */
    rfn_spreads_release(&members[0].spreads);
}

/* ---- messages that are wrong ---- */

static void test_bytes(void **state)
{
    (void)state;
    struct rfn_buf message = merge_in_order();
    size_t refused = 0;
    for (size_t at = 0; at < 2 * message.size; at++) {
        struct rfn_spreads spreads = {0};
        uint8_t *byte = &message.data[at / 2], before = *byte;
        *byte ^= (uint8_t)(at % 2 ? 0xff : 1u << at / 2 % 8);
        int error = rfn_spreads_read(&spreads, message.data, message.size);
        assert_true(error == 0 || error == RFN_E_EXCHANGE || error == RFN_E_NOMEM);
        refused += error != 0;
        *byte = before;
        rfn_spreads_release(&spreads);
    }
    assert_true(refused > message.size / 8);
    for (size_t size = 0; size < message.size; size++) {
        struct rfn_spreads spreads = {0};
        assert_int_equal(rfn_spreads_read(&spreads, message.data, size), RFN_E_EXCHANGE);
        rfn_spreads_release(&spreads);
    }
    rfn_buf_release(&message);
}

/* Of a single place, which is full if head is odd: as many positions as head says, after sites 0
 * and so on, each with n times of 0 ns, of which `firsts` have none before them. */
static int read_positions(uint64_t n_places, uint64_t head, uint64_t n, uint64_t firsts)
{
    struct rfn_spread_table table = {0};
    struct rfn_buf message = RFN_BUF_INIT;
    rfn_buf_varint(&message, n_places);
    rfn_buf_varint(&message, head);
    for (uint32_t i = 0; i < head / 2; i++) {
        rfn_buf_varint(&message, 0);
        rfn_buf_varint(&message, n);
        rfn_buf_varint(&message, firsts);
        rfn_buf_bytes(&message, "\0\0\0\0", n ? n > firsts ? 4 : 2 : 0);
    }
    for (uint64_t i = 1; i < n_places; i++)
        rfn_buf_varint(&message, 0);
    struct rfn_reader reader = rfn_reader_over(message.data, message.size);
    int error = rfn_spread_table_read(&table, &reader);
    rfn_spread_table_release(&table);
    rfn_buf_release(&message);
    return error;
}

static void test_contradictions(void **state)
{
    (void)state;
    assert_int_equal(read_positions(40, 2 * 16, 3, 0), 0);
    assert_int_equal(read_positions(40, 2 * 16, 3, 3), 0);
    assert_int_equal(read_positions(40, 2 * 18, 3, 0), RFN_E_EXCHANGE); /* too many */
    assert_int_equal(read_positions(31, 2 * 17, 3, 0), 0); /* the last one is after no site */
    assert_int_equal(read_positions(29, 2 * 17, 3, 0), RFN_E_EXCHANGE); /* there is no such site */
    assert_int_equal(read_positions(40, 3, 3, 0), RFN_E_EXCHANGE);      /* full, but after a site */
    assert_int_equal(read_positions(40, 2, 3, 4), RFN_E_EXCHANGE);      /* more firsts than times */
    assert_int_equal(read_positions(40, 2, 0, 0), RFN_E_EXCHANGE);      /* nothing */
    assert_int_equal(read_positions(40, 2, UINT64_MAX / 2, 0), RFN_E_EXCHANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),       cmocka_unit_test(test_random),
        cmocka_unit_test(test_associative), cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_failing),     cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_full),        cmocka_unit_test(test_contradictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
