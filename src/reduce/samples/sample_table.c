#include "reduce/samples/sample_table.h"

#include "base/grow.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

static uint32_t bits_of_index(uint32_t capacity)
{
    uint32_t bits = 4;
    while (UINT64_C(1) << bits < (uint64_t)capacity * 2)
        bits++;
    return bits;
}

size_t rfn_sample_table_offset(uint32_t capacity)
{
    return sizeof(struct rfn_sample_table) + (sizeof(uint32_t) << bits_of_index(capacity));
}

size_t rfn_sample_table_bytes(uint32_t capacity)
{
    return rfn_sample_table_offset(capacity) + capacity * sizeof(struct rfn_sample_row);
}

struct rfn_sample_table *rfn_sample_table_init(void *memory, uint32_t capacity)
{
    struct rfn_sample_table *table = memory;
    table->capacity = table->room = capacity;
    table->hash_bits = bits_of_index(capacity);
    return table;
}

static uint32_t *index_of(struct rfn_sample_table *table)
{
    return (uint32_t *)(void *)(table + 1);
}

static bool key_equal(const struct rfn_sample_key *a, const struct rfn_sample_key *b)
{
    return a->source == b->source && a->dest == b->dest && a->send == b->send &&
           a->receive == b->receive && a->size_class == b->size_class;
}

/* Where in the index the row of a key is, or 0 for it. */
static uint32_t *find_place(struct rfn_sample_table *table, const struct rfn_sample_key *key)
{
    const uint64_t ranks = (uint64_t)(uint32_t)key->source << 32 | (uint32_t)key->dest;
    const uint64_t ends = rfn_hash_mix(rfn_hash_mix(rfn_hash_mix(0, ranks), key->send),
                                       key->receive);
    const uint64_t hash = rfn_hash_mix(ends, key->size_class);
    const struct rfn_sample_row *rows = rfn_sample_table_rows(table);
    uint32_t *index = index_of(table), last = ((uint32_t)1 << table->hash_bits) - 1;
    uint32_t at = (uint32_t)(hash >> 32) & last;
    while (index[at] && !key_equal(&rows[index[at] - 1].key, key))
        at = (at + 1) & last;
    return &index[at];
}

/* ---- giving up rows when there is no more room ----
 *
 * Rows of the three kinds are never put together, and of each kind half are given up, as their
 * counts are not comparable: senders count all messages, receivers the sampled ones.
 */

enum kind { SENT, RECEIVED, COLLECTIVE, KINDS };

static enum kind kind_of(const struct rfn_sample_key *key)
{
    return key->dest == RFN_SAMPLE_COLLECTIVE   ? COLLECTIVE
           : key->receive == RFN_SAMPLE_NO_SITE ? SENT
                                                : RECEIVED;
}

/* The key of any ranks; of that one the key of all that is left, which stays what it is. */
static struct rfn_sample_key widened(const struct rfn_sample_key *key)
{
    const enum kind kind = kind_of(key);
    struct rfn_sample_key wide = *key;
    wide.source = RFN_SAMPLE_ANY;
    wide.dest = kind == COLLECTIVE ? RFN_SAMPLE_COLLECTIVE : RFN_SAMPLE_ANY;
    if (key->source == wide.source && key->dest == wide.dest) {
        wide.send = RFN_SAMPLE_OTHER_SITE;
        wide.receive = kind == RECEIVED ? RFN_SAMPLE_OTHER_SITE : RFN_SAMPLE_NO_SITE;
        wide.size_class = RFN_SAMPLE_ANY_SIZE;
    }
    return wide;
}

static bool is_other(const struct rfn_sample_key *key)
{
    const struct rfn_sample_key wide = widened(key);
    return key_equal(&wide, key);
}

static uint64_t count_of(const struct rfn_sample_row *row)
{
    return row->messages + row->n;
}

/* Half of a kind's rows: all with counts below `count`, and so many with just that. */
struct fewest {
    uint64_t count;
    uint32_t equal;
};

static uint32_t rows_up_to(struct rfn_sample_table *table, enum kind kind, uint64_t count)
{
    const struct rfn_sample_row *rows = rfn_sample_table_rows(table);
    uint32_t n = 0;
    for (uint32_t i = 0; i < table->n_rows; i++)
        n += kind_of(&rows[i].key) == kind && !is_other(&rows[i].key) &&
             count_of(&rows[i]) <= count;
    return n;
}

static struct fewest find_fewest(struct rfn_sample_table *table, enum kind kind)
{
    const uint32_t half = (rows_up_to(table, kind, UINT64_MAX) + 1) / 2;
    uint64_t least = 0, most = 1;
    while (rows_up_to(table, kind, most) < half)
        most = most << 1 | 1;
    while (least < most) {
        const uint64_t middle = least + (most - least) / 2;
        if (rows_up_to(table, kind, middle) >= half)
            most = middle;
        else
            least = middle + 1;
    }
    return (struct fewest){least, half - (least ? rows_up_to(table, kind, least - 1) : 0)};
}

/* First all of the fewest, then what has become of them if it has still no more. */
enum turn { TO_ANY_RANKS, TO_OTHERS };

static bool goes(const struct rfn_sample_row *row, struct fewest *fewest, enum turn turn)
{
    const uint64_t count = count_of(row);
    if (turn == TO_OTHERS)
        return row->key.source == RFN_SAMPLE_ANY && count <= fewest->count;
    if (is_other(&row->key) || count > fewest->count)
        return false;
    if (count < fewest->count)
        return true;
    return fewest->equal > 0 && fewest->equal-- > 0;
}

/* Rows move towards the beginning, over those that are gone. */
static void widen(struct rfn_sample_table *table, struct fewest fewest[KINDS], enum turn turn)
{
    struct rfn_sample_row *rows = rfn_sample_table_rows(table);
    const uint32_t n_rows = table->n_rows;
    memset(index_of(table), 0, sizeof(uint32_t) << table->hash_bits);
    table->n_rows = 0;
    for (uint32_t i = 0; i < n_rows; i++) {
        struct rfn_sample_row *row = &rows[i];
        if (goes(row, &fewest[kind_of(&row->key)], turn))
            row->key = widened(&row->key);
        uint32_t *place = find_place(table, &row->key);
        if (*place) {
            rfn_sample_row_add(&rows[*place - 1], row);
        } else {
            if (table->n_rows < i)
                rows[table->n_rows] = *row;
            *place = ++table->n_rows;
        }
    }
}

/* At least one row becomes free: a row that stays for any ranks has more than each of the two or
 * more that went into it, so that of k rows given up at most k / 2 rows stay, or, where there are
 * only one or two, the kind's "other"; and there are 8 rows for three kinds. */
static void give_up_half(struct rfn_sample_table *table)
{
    struct fewest fewest[KINDS];
    for (enum kind kind = 0; kind < KINDS; kind++)
        fewest[kind] = find_fewest(table, kind);
    widen(table, fewest, TO_ANY_RANKS);
    widen(table, fewest, TO_OTHERS);
}

struct rfn_sample_row *rfn_sample_table_row(struct rfn_sample_table *table,
                                            const struct rfn_sample_key *key)
{
    struct rfn_sample_row *rows = rfn_sample_table_rows(table);
    uint32_t *place = find_place(table, key);
    if (!*place && table->n_rows == table->room) {
        __atomic_fetch_add(&table->generation, 1, __ATOMIC_SEQ_CST);
        give_up_half(table);
        __atomic_fetch_add(&table->generation, 1, __ATOMIC_SEQ_CST);
        place = find_place(table, key);
    }
    if (!*place) {
        struct rfn_sample_row *row = &rows[table->n_rows];
        memset(row, 0, sizeof *row);
        row->key = *key;
        *place = ++table->n_rows;
    }
    return &rows[*place - 1];
}

/* ---- adding ---- */

/* Mean and sum of squares as samples come: West, Updating mean and variance estimates, 1979. */
void rfn_sample_row_sample(struct rfn_sample_row *row, const struct rfn_sample_values *values,
                           bool histogram)
{
    const double ns = values->latency_ns, weight = values->weight;
    row->min_ns = row->n && row->min_ns < ns ? row->min_ns : ns;
    row->max_ns = row->n && row->max_ns > ns ? row->max_ns : ns;
    row->n++;
    row->weight += weight;
    row->weight2 += weight * weight;
    const double further = ns - row->mean_ns;
    row->mean_ns += further * (weight / row->weight);
    row->moment2 += weight * further * (ns - row->mean_ns);
    row->sampled_bytes += weight * values->bytes;
    row->waited_ns += weight * values->waited_ns;
    row->lay_ns += weight * values->lay_ns;
    if (values->clean) {
        row->clean_min_ns = row->clean && row->clean_min_ns < ns ? row->clean_min_ns : ns;
        row->clean_sum_ns += ns;
        row->clean++;
    }
    if (histogram)
        row->buckets[rfn_sample_bucket(ns)] += weight;
}

void rfn_sample_table_add(struct rfn_sample_table *table, struct rfn_sample_table *from)
{
    const struct rfn_sample_row *rows = rfn_sample_table_rows(from);
    for (uint32_t i = 0; i < from->n_rows; i++)
        rfn_sample_row_add(rfn_sample_table_row(table, &rows[i].key), &rows[i]);
    for (int i = 0; i < RFN_SAMPLE_DROPS; i++)
        table->dropped[i] += from->dropped[i];
}

/* ---- bytes ----
 *
 * The numbers of dropped messages, how many rows there are, then the rows, in varints where nothing
 * else is said:
 *   source, dest (signed), send, receive (8 bytes each), size class (1 byte), messages, bytes, n
 *   if n > 0: weight, weight2, sampled_bytes, mean, moment2, min, max, waited, lay (numbers), clean
 *   if clean > 0: the least and the sum of clean latencies (numbers)
 *   if n > 0: how many buckets are not 0; for each how many before it are, and its number
 * A number is 2 v if it is a whole one, v, below 2^53, as most are: sums of weights and of ns;
 * else 1, then 8 bytes of a double: little-endian, IEEE 754.
 */

enum { ROW_BYTES = 22 }; /* at least */

static const double MOST = 1e100; /* any file's sums stay finite, squared and multiplied too */

static void put_number(struct rfn_buf *out, double number)
{
    if (number >= 0 && number < 0x1p53 && number == (double)(uint64_t)number) {
        rfn_buf_varint(out, (uint64_t)number << 1);
        return;
    }
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    rfn_buf_varint(out, 1);
    rfn_buf_u64(out, bits);
}

static double get_number(struct rfn_reader *reader, double least)
{
    const uint64_t word = rfn_reader_varint(reader);
    double number = (double)(word >> 1);
    if (word & 1) {
        const uint64_t bits = rfn_reader_u64(reader);
        memcpy(&number, &bits, sizeof number);
    }
    if ((word & 1 && word != 1) || !(number >= least && number <= MOST))
        reader->failed = true;
    return reader->failed ? 0 : number;
}

static void put_buckets(struct rfn_buf *out, const double buckets[RFN_SAMPLE_BUCKETS])
{
    unsigned n = 0, next = 0;
    for (unsigned i = 0; i < RFN_SAMPLE_BUCKETS; i++)
        n += buckets[i] > 0;
    rfn_buf_varint(out, n);
    for (unsigned i = 0; i < RFN_SAMPLE_BUCKETS; i++) {
        if (!(buckets[i] > 0))
            continue;
        rfn_buf_varint(out, i - next);
        put_number(out, buckets[i]);
        next = i + 1;
    }
}

static void get_buckets(struct rfn_reader *reader, double buckets[RFN_SAMPLE_BUCKETS])
{
    const uint64_t n = rfn_reader_limited(reader, RFN_SAMPLE_BUCKETS);
    uint32_t next = 0;
    for (uint64_t i = 0; i < n; i++) {
        next += rfn_reader_index(reader, RFN_SAMPLE_BUCKETS - next);
        if (reader->failed) /* there may be none left */
            return;
        buckets[next++] = get_number(reader, 0);
    }
}

static void put_latencies(struct rfn_buf *out, const struct rfn_sample_row *row)
{
    const double numbers[] = {row->weight,  row->weight2,   row->sampled_bytes,
                              row->mean_ns, row->moment2,   row->min_ns,
                              row->max_ns,  row->waited_ns, row->lay_ns};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(out, numbers[i]);
    rfn_buf_varint(out, row->clean);
    if (row->clean) {
        put_number(out, row->clean_min_ns);
        put_number(out, row->clean_sum_ns);
    }
    put_buckets(out, row->buckets);
}

static void get_latencies(struct rfn_reader *reader, struct rfn_sample_row *row)
{
    row->weight = get_number(reader, 0);
    row->weight2 = get_number(reader, 0);
    row->sampled_bytes = get_number(reader, 0);
    row->mean_ns = get_number(reader, -MOST);
    row->moment2 = get_number(reader, 0);
    row->min_ns = get_number(reader, -MOST);
    row->max_ns = get_number(reader, row->min_ns);
    row->waited_ns = get_number(reader, 0);
    row->lay_ns = get_number(reader, 0);
    row->clean = rfn_reader_limited(reader, row->n);
    if (row->clean) {
        row->clean_min_ns = get_number(reader, -MOST);
        row->clean_sum_ns = get_number(reader, -MOST);
    }
    get_buckets(reader, row->buckets);
    if (!(row->weight > 0 && row->weight2 > 0))
        reader->failed = true;
}

static void put_row(struct rfn_buf *out, const struct rfn_sample_row *row)
{
    rfn_buf_svarint(out, row->key.source);
    rfn_buf_svarint(out, row->key.dest);
    rfn_buf_u64(out, row->key.send);
    rfn_buf_u64(out, row->key.receive);
    rfn_buf_u8(out, row->key.size_class);
    rfn_buf_varint(out, row->messages);
    rfn_buf_varint(out, row->bytes);
    rfn_buf_varint(out, row->n);
    if (row->n)
        put_latencies(out, row);
}

static int32_t get_rank(struct rfn_reader *reader, int32_t least)
{
    const int64_t rank = rfn_reader_svarint(reader);
    if (rank < least || rank > INT32_MAX)
        reader->failed = true;
    return reader->failed ? 0 : (int32_t)rank;
}

static void get_row(struct rfn_reader *reader, struct rfn_sample_row *row)
{
    memset(row, 0, sizeof *row);
    row->key.source = get_rank(reader, RFN_SAMPLE_ANY);
    row->key.dest = get_rank(reader, RFN_SAMPLE_COLLECTIVE);
    row->key.send = rfn_reader_u64(reader);
    row->key.receive = rfn_reader_u64(reader);
    row->key.size_class = rfn_reader_u8(reader);
    row->messages = rfn_reader_varint(reader);
    row->bytes = rfn_reader_varint(reader);
    row->n = rfn_reader_varint(reader);
    if (row->key.size_class > 64 && row->key.size_class != RFN_SAMPLE_ANY_SIZE)
        reader->failed = true;
    if (row->n && !reader->failed)
        get_latencies(reader, row);
}

void rfn_sample_table_pack(struct rfn_sample_table *table, struct rfn_buf *out)
{
    const struct rfn_sample_row *rows = rfn_sample_table_rows(table);
    for (int i = 0; i < RFN_SAMPLE_DROPS; i++)
        rfn_buf_varint(out, table->dropped[i]);
    rfn_buf_varint(out, table->n_rows);
    for (uint32_t i = 0; i < table->n_rows; i++)
        put_row(out, &rows[i]);
}

/* Returns how many rows follow. */
static uint32_t get_head(struct rfn_reader *reader, uint64_t dropped[RFN_SAMPLE_DROPS])
{
    for (int i = 0; i < RFN_SAMPLE_DROPS; i++)
        dropped[i] = rfn_reader_varint(reader);
    return rfn_reader_count(reader, ROW_BYTES);
}

static int status_at_end(const struct rfn_reader *reader)
{
    return reader->failed || reader->at < reader->size ? RFN_E_CORRUPT : 0;
}

int rfn_sample_table_unpack(struct rfn_sample_table *table, const uint8_t *bytes, size_t size)
{
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    struct rfn_sample_row row;
    uint64_t dropped[RFN_SAMPLE_DROPS];
    const uint32_t n = get_head(&reader, dropped);
    for (uint32_t i = 0; i < n && !reader.failed; i++) {
        get_row(&reader, &row);
        if (!reader.failed)
            rfn_sample_row_add(rfn_sample_table_row(table, &row.key), &row);
    }
    for (int i = 0; i < RFN_SAMPLE_DROPS && !reader.failed; i++)
        table->dropped[i] += dropped[i];
    return status_at_end(&reader);
}

int rfn_sample_rows_unpack(const uint8_t *bytes, size_t size, struct rfn_sample_row **rows,
                           size_t *n_rows, uint64_t dropped[RFN_SAMPLE_DROPS])
{
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    const uint32_t n = get_head(&reader, dropped);
    size_t capacity = 0;
    int error = 0;
    *rows = NULL;
    *n_rows = 0;
    while (*n_rows < n && !reader.failed && !error) {
        error = RFN_GROW(*rows, capacity, *n_rows + 1);
        if (!error)
            get_row(&reader, &(*rows)[(*n_rows)++]);
    }
    error = error ? error : status_at_end(&reader);
    if (error) {
        free(*rows);
        *rows = NULL;
        *n_rows = 0;
    }
    return error;
}
