/* Rows of categories; what is given up keeps its sums; bytes, good ones and any. */
#include "reduce/samples/sample_table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

/* Its memory is followed by bytes that nobody may write to. */
enum { GUARD = 64 };

static struct rfn_sample_table *make_table(uint32_t capacity)
{
    const size_t bytes = rfn_sample_table_bytes(capacity);
    uint8_t *memory = calloc(1, bytes + GUARD);
    assert_non_null(memory);
    memset(memory + bytes, 0xa5, GUARD);
    return rfn_sample_table_init(memory, capacity);
}

static void free_table(struct rfn_sample_table *table)
{
    const uint8_t *guard = (uint8_t *)table + rfn_sample_table_bytes(table->capacity);
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(guard[i], 0xa5);
    assert_true(table->n_rows <= table->capacity);
    free(table);
}

static struct rfn_sample_key sent(int32_t source, int32_t dest, uint64_t send, uint8_t size_class)
{
    return (struct rfn_sample_key){source, dest, send, RFN_SAMPLE_NO_SITE, size_class};
}

static struct rfn_sample_key received(int32_t source, int32_t dest, uint64_t send, uint64_t receive)
{
    return (struct rfn_sample_key){source, dest, send, receive, 4};
}

static struct rfn_sample_key collective(int32_t source, uint64_t call)
{
    return (struct rfn_sample_key){source, RFN_SAMPLE_COLLECTIVE, call, RFN_SAMPLE_NO_SITE, 4};
}

static void count(struct rfn_sample_table *table, struct rfn_sample_key key, uint64_t messages)
{
    struct rfn_sample_row *row = rfn_sample_table_row(table, &key);
    row->messages += messages;
    row->bytes += 8 * messages;
}

static void sample(struct rfn_sample_table *table, struct rfn_sample_key key, double ns,
                   double weight)
{
    const struct rfn_sample_values values = {.latency_ns = ns,
                                             .waited_ns = ns / 2,
                                             .lay_ns = 1,
                                             .bytes = 8,
                                             .weight = weight,
                                             .clean = (uint64_t)fabs(ns) % 2};
    rfn_sample_row_sample(rfn_sample_table_row(table, &key), &values, true);
}

static struct rfn_sample_row *look_up(struct rfn_sample_table *table, struct rfn_sample_key key)
{
    const uint32_t before = table->n_rows;
    struct rfn_sample_row *row = rfn_sample_table_row(table, &key);
    assert_int_equal(table->n_rows, before);
    return row;
}

/* ---- rows ---- */

static void test_rows(void **state)
{
    (void)state;
    enum { EACH = 6 };
    struct rfn_sample_table *table = make_table(2 * EACH * EACH);
    for (int round = 0; round < 3; round++)
        for (int32_t source = 0; source < EACH; source++)
            for (int32_t dest = 0; dest < EACH; dest++) {
                count(table, sent(source, dest, 100, 4), 10);
                sample(table, received(source, dest, 100, 200), 1000 * source + dest + round, 1);
            }
    assert_int_equal(table->n_rows, 2 * EACH * EACH);
    assert_int_equal(table->generation, 0);
    for (int32_t source = 0; source < EACH; source++)
        for (int32_t dest = 0; dest < EACH; dest++) {
            const struct rfn_sample_row *row = look_up(table, sent(source, dest, 100, 4));
            assert_int_equal(row->messages, 30);
            assert_int_equal(row->bytes, 240);
            assert_int_equal(row->n, 0);
            row = look_up(table, received(source, dest, 100, 200));
            const double first = 1000 * source + dest;
            assert_int_equal(row->messages, 0);
            assert_int_equal(row->n, 3);
            assert_true(row->min_ns == first && row->max_ns == first + 2);
            assert_true(fabs(row->mean_ns - first - 1) < 1e-9);
            assert_true(fabs(row->moment2 - 2) < 1e-9);
            assert_true(row->sampled_bytes == 24 && row->lay_ns == 3);
        }
    free_table(table);
}

/* Each part of a key makes a row of its own. */
static void test_keys(void **state)
{
    (void)state;
    struct rfn_sample_table *table = make_table(8);
    const struct rfn_sample_key keys[] = {{1, 2, 3, 4, 5}, {9, 2, 3, 4, 5}, {1, 9, 3, 4, 5},
                                          {1, 2, 9, 4, 5}, {1, 2, 3, 9, 5}, {1, 2, 3, 4, 9}};
    for (size_t i = 0; i < 6; i++)
        count(table, keys[i], i + 1);
    assert_int_equal(table->n_rows, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(look_up(table, keys[i])->messages, i + 1);
    free_table(table);
}

/* Weights 1, 3, 2 and latencies 70, 100, 130: by hand. */
static void test_weights(void **state)
{
    (void)state;
    struct rfn_sample_table *table = make_table(8);
    const struct rfn_sample_key key = received(0, 1, 2, 3);
    sample(table, key, 70, 1);
    sample(table, key, 101, 3);
    sample(table, key, 130, 2);
    const struct rfn_sample_row *row = look_up(table, key);
    assert_true(row->weight == 6 && row->weight2 == 14 && row->n == 3);
    assert_true(fabs(row->mean_ns - 633.0 / 6) < 1e-12 * 100);
    /* 70^2 + 3 * 101^2 + 2 * 130^2 - 633^2 / 6 */
    assert_true(fabs(row->moment2 - (4900 + 30603 + 33800 - 66781.5)) < 1e-9);
    assert_true(row->waited_ns == 633.0 / 2 && row->lay_ns == 6 && row->sampled_bytes == 48);
    assert_true(row->clean == 1 && row->clean_min_ns == 101 && row->clean_sum_ns == 101);
    assert_true(row->buckets[rfn_sample_bucket(70)] == 1 &&
                row->buckets[rfn_sample_bucket(101)] == 3 &&
                row->buckets[rfn_sample_bucket(130)] == 2);
    free_table(table);
}

/* ---- giving up ---- */

/* By kind: messages that senders counted, samples, calls of collective operations. */
struct sums {
    uint64_t messages, bytes, n, clean;
    double weight, weight2, sampled_bytes, total_ns, waited_ns, lay_ns, clean_sum_ns, buckets;
    double min_ns, max_ns;
};

static void add_row(struct sums *sums, const struct rfn_sample_row *row)
{
    sums->messages += row->messages;
    sums->bytes += row->bytes;
    if (row->n && (!sums->n || row->min_ns < sums->min_ns))
        sums->min_ns = row->min_ns;
    if (row->n && (!sums->n || row->max_ns > sums->max_ns))
        sums->max_ns = row->max_ns;
    sums->n += row->n;
    sums->clean += row->clean;
    sums->weight += row->weight;
    sums->weight2 += row->weight2;
    sums->sampled_bytes += row->sampled_bytes;
    sums->total_ns += row->mean_ns * row->weight;
    sums->waited_ns += row->waited_ns;
    sums->lay_ns += row->lay_ns;
    sums->clean_sum_ns += row->clean_sum_ns;
    for (unsigned i = 0; i < RFN_SAMPLE_BUCKETS; i++)
        sums->buckets += row->buckets[i] * i;
}

static unsigned kind_of(const struct rfn_sample_key *key)
{
    return key->dest == RFN_SAMPLE_COLLECTIVE ? 2 : key->receive == RFN_SAMPLE_NO_SITE ? 0 : 1;
}

static void sum_up(struct rfn_sample_table *table, struct sums sums[3])
{
    memset(sums, 0, 3 * sizeof *sums);
    const struct rfn_sample_row *rows = rfn_sample_table_rows(table);
    for (uint32_t i = 0; i < table->n_rows; i++) {
        const unsigned kind = kind_of(&rows[i].key);
        assert_true(kind == 0 || rows[i].messages == 0);
        assert_true(kind == 0 || rows[i].n > 0);
        add_row(&sums[kind], &rows[i]);
    }
}

/* All numbers are whole, so that their sums are exact in any order; of means only nearly. */
static void assert_same_sums(struct rfn_sample_table *a, struct rfn_sample_table *b)
{
    struct sums x[3], y[3];
    sum_up(a, x);
    sum_up(b, y);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(fabs(x[i].total_ns - y[i].total_ns) <= 1e-12 * fabs(y[i].total_ns));
        x[i].total_ns = y[i].total_ns = 0;
        assert_memory_equal(&x[i], &y[i], sizeof x[i]);
    }
}

static struct rfn_sample_key random_key(unsigned kind, unsigned ranks, unsigned sites)
{
    const int32_t a = (int32_t)draw(ranks), b = (int32_t)draw(ranks);
    const uint64_t send = 1 + draw(sites), receive = 1 + draw(sites);
    return kind == 0   ? sent(a, b, send, (uint8_t)draw(8))
           : kind == 1 ? received(a, b, send, receive)
                       : collective(a, send);
}

/* The same to a table with room for few and to one with room for all. */
static void add_at_random(struct rfn_sample_table *few, struct rfn_sample_table *all,
                          unsigned kinds, unsigned ranks, unsigned sites)
{
    const unsigned kind = (unsigned)draw(kinds);
    const struct rfn_sample_key key = random_key(kind, ranks, sites);
    const uint64_t number = 1 + draw(5);
    if (kind == 0) {
        count(few, key, number);
        count(all, key, number);
        return;
    }
    const double ns = (double)(2 * draw(1 << draw(30))), weight = (double)number;
    sample(few, key, ns, weight);
    sample(all, key, ns, weight);
}

static void test_sums_stay(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        random_state = round;
        const unsigned kinds = 1 + round % 3, ranks = 1 + (unsigned)draw(40),
                       sites = 1 + (unsigned)draw(20);
        struct rfn_sample_table *few = make_table(8 + (uint32_t)draw(1 + round));
        struct rfn_sample_table *all = make_table(1500);
        for (unsigned i = 0; i < 1000; i++) {
            add_at_random(few, all, kinds, ranks, sites);
            assert_true(few->n_rows <= few->capacity);
        }
        assert_int_equal(all->generation, 0);
        assert_int_equal(few->generation % 2, 0);
        assert_same_sums(few, all);
        free_table(few);
        free_table(all);
    }
}

/* What there is much of keeps its row, exactly, whatever else comes. */
static void test_much_stays(void **state)
{
    (void)state;
    enum { MUCH = 20, CAPACITY = 128 };
    struct rfn_sample_table *table = make_table(CAPACITY);
    for (int32_t i = 0; i < MUCH; i++) {
        count(table, sent(i, i + 1, 100, 4), 5000);
        for (int n = 0; n < 50; n++)
            sample(table, received(i, i + 1, 100, 200), 1000, 100);
    }
    for (int32_t i = 0; i < 5000; i++) {
        count(table, sent(i, 7000, 1000 + (uint64_t)i, 3), 1);
        sample(table, received(7000, i, 300, 1000 + (uint64_t)i), 2000, 1);
    }
    assert_true(table->generation > 0);
    for (int32_t i = 0; i < MUCH; i++) {
        assert_int_equal(look_up(table, sent(i, i + 1, 100, 4))->messages, 5000);
        assert_int_equal(look_up(table, received(i, i + 1, 100, 200))->n, 50);
    }
    const struct rfn_sample_key others = {RFN_SAMPLE_ANY, RFN_SAMPLE_ANY, RFN_SAMPLE_OTHER_SITE,
                                          RFN_SAMPLE_NO_SITE, RFN_SAMPLE_ANY_SIZE};
    assert_in_range(look_up(table, others)->messages, 5000 - CAPACITY, 5000);
    struct rfn_sample_key samples = others;
    samples.receive = RFN_SAMPLE_OTHER_SITE;
    assert_in_range(look_up(table, samples)->n, 5000 - CAPACITY, 5000);
    free_table(table);
}

/* Of many pairs at one pair of call sites one row becomes, for any ranks; sizes stay apart. */
static void test_any_ranks(void **state)
{
    (void)state;
    struct rfn_sample_table *table = make_table(64);
    for (int32_t i = 0; i < 1000; i++) {
        sample(table, received(i, i + 1, 100, 200), 1000, 1);
        count(table, sent(i, i + 1, 100, i % 2 ? 4 : 9), 1);
        sample(table, collective(i, 300), 500, 1);
    }
    const struct rfn_sample_key any = {RFN_SAMPLE_ANY, RFN_SAMPLE_ANY, 100, 200, 4};
    const struct rfn_sample_key small = {RFN_SAMPLE_ANY, RFN_SAMPLE_ANY, 100, 0, 4};
    const struct rfn_sample_key large = {RFN_SAMPLE_ANY, RFN_SAMPLE_ANY, 100, 0, 9};
    const struct rfn_sample_key calls = {RFN_SAMPLE_ANY, RFN_SAMPLE_COLLECTIVE, 300, 0, 4};
    assert_in_range(look_up(table, any)->n, 900, 1000);
    assert_in_range(look_up(table, small)->messages, 400, 500);
    assert_in_range(look_up(table, large)->messages, 400, 500);
    assert_in_range(look_up(table, calls)->n, 900, 1000);
    free_table(table);
}

/* ---- two tables ---- */

static void assert_near(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-12 * fabs(b));
}

static void test_add(void **state)
{
    (void)state;
    struct rfn_sample_table *parts[2] = {make_table(128), make_table(128)}, *all = make_table(128);
    random_state = 1;
    for (unsigned i = 0; i < 20000; i++) {
        const struct rfn_sample_key key = random_key((unsigned)draw(3), 2, 2);
        const double ns = exp((double)draw(1000) / 100), weight = 1.0 / (double)(1 + draw(3));
        sample(parts[draw(2)], key, ns, weight);
        sample(all, key, ns, weight);
    }
    parts[0]->dropped[RFN_SAMPLE_NO_ROOM] = 3;
    parts[1]->dropped[RFN_SAMPLE_NO_ROOM] = 4;
    rfn_sample_table_add(parts[0], parts[1]);
    assert_int_equal(parts[0]->dropped[RFN_SAMPLE_NO_ROOM], 7);
    assert_int_equal(parts[0]->n_rows, all->n_rows);
    const struct rfn_sample_row *rows = rfn_sample_table_rows(all);
    for (uint32_t i = 0; i < all->n_rows; i++) {
        const struct rfn_sample_row *a = look_up(parts[0], rows[i].key), *b = &rows[i];
        assert_int_equal(a->n, b->n);
        assert_int_equal(a->clean, b->clean);
        assert_true(a->min_ns == b->min_ns && a->max_ns == b->max_ns);
        assert_true(a->clean_min_ns == b->clean_min_ns);
        assert_near(a->weight, b->weight);
        assert_near(a->weight2, b->weight2);
        assert_near(a->mean_ns, b->mean_ns);
        assert_near(a->moment2, b->moment2);
        assert_near(a->sampled_bytes, b->sampled_bytes);
        assert_near(a->waited_ns, b->waited_ns);
        assert_near(a->lay_ns, b->lay_ns);
        assert_near(a->clean_sum_ns, b->clean_sum_ns);
        for (unsigned k = 0; k < RFN_SAMPLE_BUCKETS; k++)
            assert_near(a->buckets[k], b->buckets[k]);
    }
    for (int i = 0; i < 2; i++)
        free_table(parts[i]);
    free_table(all);
}

/* ---- bytes ---- */

static struct rfn_sample_table *random_table(void)
{
    struct rfn_sample_table *table = make_table(64);
    random_state = 5;
    for (unsigned i = 0; i < 1000; i++) {
        const unsigned kind = (unsigned)draw(3);
        const struct rfn_sample_key key = random_key(kind, 50, 50);
        if (kind == 0)
            count(table, key, 1 + draw(UINT64_C(1) << draw(31)));
        else /* clocks can be wrong, and weights need not be whole */
            sample(table, key, (double)draw(1 << 20) - 1000, i % 3 ? 8 : 1 / 0.03);
    }
    for (int i = 0; i < RFN_SAMPLE_DROPS; i++)
        table->dropped[i] = 1 + draw(1000);
    return table;
}

static void assert_equal_rows(const struct rfn_sample_row *a, const struct rfn_sample_row *b,
                              size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct rfn_sample_row x = a[i], y = b[i];
        assert_int_equal(x.key.source, y.key.source);
        assert_int_equal(x.key.dest, y.key.dest);
        assert_int_equal(x.key.send, y.key.send);
        assert_int_equal(x.key.receive, y.key.receive);
        assert_int_equal(x.key.size_class, y.key.size_class);
        memset(&x.key, 0, sizeof x.key); /* as there are gaps in it */
        memset(&y.key, 0, sizeof y.key);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    struct rfn_sample_table *table = random_table(), *again = make_table(64);
    struct rfn_buf bytes = RFN_BUF_INIT;
    rfn_sample_table_pack(table, &bytes);
    assert_int_equal(rfn_buf_status(&bytes), 0);

    struct rfn_sample_row *rows;
    size_t n_rows;
    uint64_t dropped[RFN_SAMPLE_DROPS];
    assert_int_equal(rfn_sample_rows_unpack(bytes.data, bytes.size, &rows, &n_rows, dropped), 0);
    assert_int_equal(n_rows, table->n_rows);
    assert_equal_rows(rows, rfn_sample_table_rows(table), n_rows);
    assert_memory_equal(dropped, table->dropped, sizeof dropped);
    free(rows);

    assert_int_equal(rfn_sample_table_unpack(again, bytes.data, bytes.size), 0);
    assert_int_equal(again->n_rows, table->n_rows);
    assert_equal_rows(rfn_sample_table_rows(again), rfn_sample_table_rows(table), table->n_rows);
    assert_memory_equal(again->dropped, table->dropped, sizeof dropped);
    assert_int_equal(rfn_sample_table_unpack(again, bytes.data, bytes.size), 0);
    assert_int_equal(again->n_rows, table->n_rows);
    assert_int_equal(rfn_sample_table_rows(again)[0].n, 2 * rfn_sample_table_rows(table)[0].n);
    rfn_buf_release(&bytes);
    free_table(table);
    free_table(again);
}

static void test_empty(void **state)
{
    (void)state;
    struct rfn_sample_table *table = make_table(8);
    struct rfn_buf bytes = RFN_BUF_INIT;
    struct rfn_sample_row *rows;
    size_t n_rows;
    uint64_t dropped[RFN_SAMPLE_DROPS];
    rfn_sample_table_pack(table, &bytes);
    assert_int_equal(bytes.size, RFN_SAMPLE_DROPS + 1);
    assert_int_equal(rfn_sample_table_unpack(table, bytes.data, bytes.size), 0);
    assert_int_equal(rfn_sample_rows_unpack(bytes.data, bytes.size, &rows, &n_rows, dropped), 0);
    assert_int_equal(n_rows, 0);
    free(rows);
    rfn_buf_release(&bytes);
    free_table(table);
}

/* Both ways of unpacking agree on whether bytes are good. */
static int unpack_both(const uint8_t *bytes, size_t size)
{
    struct rfn_sample_table *table = make_table(8);
    struct rfn_sample_row *rows;
    size_t n_rows;
    uint64_t dropped[RFN_SAMPLE_DROPS];
    uint8_t *exact = malloc(size ? size : 1); /* a byte too far is a fault of a sanitizer */
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    const int error = rfn_sample_table_unpack(table, exact, size);
    assert_int_equal(rfn_sample_rows_unpack(exact, size, &rows, &n_rows, dropped), error);
    assert_true(error == 0 || (error == RFN_E_CORRUPT && !rows && n_rows == 0));
    free(exact);
    free(rows);
    free_table(table);
    return error;
}

static void test_damage(void **state)
{
    (void)state;
    struct rfn_sample_table *table = make_table(8);
    for (unsigned i = 0; i < 10; i++)
        sample(table, received(1, 2, 3, 4), 1000 + 100.5 * i, 100);
    count(table, sent(1, 2, 3, 4), 1000);
    struct rfn_buf bytes = RFN_BUF_INIT;
    rfn_sample_table_pack(table, &bytes);
    assert_int_equal(unpack_both(bytes.data, bytes.size), 0);
    for (size_t size = 0; size < bytes.size; size++)
        assert_int_equal(unpack_both(bytes.data, size), RFN_E_CORRUPT);
    for (size_t at = 0; at < bytes.size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes.data[at] ^= (uint8_t)(1 << bit);
            unpack_both(bytes.data, bytes.size);
            bytes.data[at] ^= (uint8_t)(1 << bit);
        }
    rfn_buf_u8(&bytes, 0);
    assert_int_equal(unpack_both(bytes.data, bytes.size), RFN_E_CORRUPT);
    rfn_buf_release(&bytes);
    free_table(table);
}

/* A row that one thing is wrong of. */
static void test_values_refused(void **state)
{
    (void)state;
    enum { CASES = 16 };
    for (unsigned wrong = 0; wrong <= CASES; wrong++) {
        struct rfn_sample_table *table = make_table(8);
        for (unsigned i = 0; i < 10; i++)
            sample(table, received(1, 2, 3, 4), 1001 + i, 100);
        struct rfn_sample_row *row = rfn_sample_table_rows(table);
        double *const numbers[] = {&row->weight,  &row->weight2,       &row->moment2,
                                   &row->mean_ns, &row->sampled_bytes, &row->waited_ns,
                                   &row->lay_ns,  &row->clean_sum_ns,  &row->min_ns};
        if (wrong >= 1 && wrong <= 9)
            *numbers[wrong - 1] = wrong % 2 ? NAN : INFINITY;
        const unsigned other = wrong < 10 ? 0 : wrong - 9;
        row->key.source = other == 1 ? -2 : 1;
        row->key.dest = other == 2 ? -3 : 2;
        row->key.size_class = other == 3 ? 65 : 4;
        row->clean = other == 4 ? row->n + 1 : row->clean;
        row->max_ns = other == 5 ? row->min_ns - 1 : row->max_ns;
        row->weight = other == 6 ? 0 : row->weight;
        row->buckets[500] = other == 7 ? 1e101 : 0;
        struct rfn_buf bytes = RFN_BUF_INIT;
        rfn_sample_table_pack(table, &bytes);
        if (unpack_both(bytes.data, bytes.size) != (wrong ? RFN_E_CORRUPT : 0))
            fail_msg("case %u", wrong);
        rfn_buf_release(&bytes);
        free_table(table);
    }
}

/* Behind the last bucket there is none. */
static void test_buckets_refused(void **state)
{
    (void)state;
    struct rfn_sample_table *table = make_table(8);
    sample(table, received(1, 2, 3, 4), 0x1p40, 1);
    struct rfn_buf bytes = RFN_BUF_INIT;
    rfn_sample_table_pack(table, &bytes);
    static const uint8_t last[] = {1, 0xbf, 0x07, 2}; /* one; 959 before it; a weight of 1 */
    uint8_t *end = bytes.data + bytes.size - sizeof last;
    assert_memory_equal(end, last, sizeof last);
    *end = 2;
    rfn_buf_u8(&bytes, 0);
    rfn_buf_u8(&bytes, 2);
    assert_int_equal(unpack_both(bytes.data, bytes.size), RFN_E_CORRUPT);
    rfn_buf_release(&bytes);
    free_table(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_sums_stay),
        cmocka_unit_test(test_much_stays),
        cmocka_unit_test(test_any_ranks),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_values_refused),
        cmocka_unit_test(test_buckets_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
