/* Tests of SAMPLES and SAMPLE_COLUMNS: what is read is what was written, times are those of events
 * to the nanosecond, and what contradicts itself is refused. */
#include "support/sampled_model.h"

static struct rfn_archive *open_bytes(const struct rfn_buf *file)
{
    struct rfn_archive *archive;
    assert_int_equal(rfn_archive_open_memory(file->data, file->size, &archive, NULL), 0);
    return archive;
}

static int read_bytes(const struct rfn_buf *file, struct rfn_samples *samples)
{
    struct rfn_archive *archive = open_bytes(file);
    struct rfn_diag diag = {.text = ""};
    const int error = rfn_samples_read(archive, samples, &diag);
    assert_true(error == 0 || diag.text[0]);
    rfn_archive_close(archive);
    return error;
}

static struct rfn_buf write_sampled(bool compress, bool times)
{
    model_more = add_samples;
    struct rfn_buf file = write_archive(SOUND, compress, times);
    model_more = NULL;
    return file;
}

/* ---- what was written ---- */

static void expect_rows(const struct rfn_samples *samples)
{
    const uint64_t send = rfn_sample_site(SEND, 1), receive = rfn_sample_site(RECV, 0);
    const struct rfn_sample_row *counted = &samples->rows[0], *known = &samples->rows[1],
                                *other = &samples->rows[2];
    assert_int_equal(samples->n_rows, 3);
    assert_int_equal(counted->key.source, 0);
    assert_int_equal(counted->key.dest, 1);
    assert_true(counted->key.send == send && counted->key.receive == RFN_SAMPLE_NO_SITE);
    assert_int_equal(counted->key.size_class, 4);
    assert_int_equal(counted->messages, 1000);
    assert_int_equal(counted->bytes, 8000);
    assert_int_equal(counted->n, 0);
    assert_true(known->key.send == send && known->key.receive == receive);
    assert_int_equal(known->n, 3);
    assert_true(known->weight == 12 && known->mean_ns == 2000 && known->max_ns == 3000);
    assert_true(known->waited_ns == 24 && known->clean == 1 && known->clean_min_ns == 2000);
    assert_true(known->buckets[rfn_sample_bucket(1000)] == 4);
    assert_int_equal(other->key.source, RFN_SAMPLE_ANY);
    assert_true(other->key.send == send && other->key.receive == RFN_SAMPLE_OTHER_SITE);
    assert_int_equal(other->key.size_class, RFN_SAMPLE_ANY_SIZE);
    assert_true(other->weight == 1.25 && other->min_ns == 70.5);
}

static void expect_head(const struct rfn_samples *samples)
{
    assert_true(samples->known && samples->changed && !samples->alone);
    assert_int_equal(samples->analysis, RFN_SAMPLE_WRITE);
    assert_string_equal(samples->strategy, "random:0.25");
    assert_string_equal(samples->where, "size>=8");
    assert_int_equal(samples->messages, 1000);
    assert_int_equal(samples->bytes, 8000);
    assert_int_equal(samples->sampled, N_SAMPLES);
    for (int i = 0; i < RFN_SAMPLE_DROPS; i++)
        assert_int_equal(samples->dropped[i], i == RFN_SAMPLE_UNCERTAIN ? 17 : 0);
}

static void expect_counts(const struct rfn_samples *samples)
{
    const struct rfn_sample_count *pair = &samples->counts[0], *any = &samples->counts[1];
    assert_int_equal(samples->n_counts, 2);
    assert_true(pair->source == 0 && pair->dest == 1 && pair->size_class == 4);
    assert_true(pair->messages == 1000 && pair->bytes == 8000 && pair->samples == 3);
    assert_true(any->source == RFN_SAMPLE_ANY && any->dest == RFN_SAMPLE_ANY);
    assert_true(any->size_class == 64 && any->messages == 7 && any->bytes == UINT64_MAX);
}

/* Enter and exit of all events of a rank, as analyses get them. */
struct event_times {
    int64_t enter[EVENTS_CAPACITY], exit[EVENTS_CAPACITY];
};

static void read_events(const struct rfn_archive *archive, struct event_times times[N_RANKS])
{
    for (uint32_t rank = 0; rank < N_RANKS; rank++) { /* the stream with its number */
        const struct rfn_record *record;
        struct rfn_cursor *cursor;
        assert_int_equal(rfn_cursor_open(archive, rank, &cursor, NULL), 0);
        for (size_t i = 0; rfn_cursor_next(cursor, &record, NULL) > 0; i++) {
            times[rank].enter[i] = record->enter_ns;
            times[rank].exit[i] = record->exit_ns;
        }
        rfn_cursor_close(cursor);
    }
}

static void expect_sample(const struct rfn_sample *sample, uint32_t rank, uint32_t k,
                          const struct event_times times[N_RANKS])
{
    const struct rfn_raw_sample raw = model_sample(rank, k);
    const struct event_times *source = &times[raw.source], *dest = &times[rank];
    const uint64_t receive = raw.receive == RECV_HASH ? rfn_sample_site(RECV, 0)
                                                      : RFN_SAMPLE_OTHER_SITE;
    assert_int_equal(sample->source, raw.source);
    assert_int_equal(sample->dest, rank);
    assert_true(sample->send == rfn_sample_site(SEND, 1) && sample->receive == receive);
    assert_true(sample->bytes == raw.bytes && sample->channel == raw.channel);
    assert_true(sample->position == k && sample->weight == raw.weight);
    assert_int_equal(sample->sent_ns, source->enter[sent_by(rank, k) - model[raw.source].events]);
    assert_int_equal(sample->posted_ns, dest->enter[posted_by(rank, k) - model[rank].events]);
    assert_int_equal(sample->entered_ns, dest->enter[received_by(rank, k) - model[rank].events]);
    assert_int_equal(sample->received_ns, dest->exit[received_by(rank, k) - model[rank].events]);
}

/* The two hosts' clocks differ, and are corrected by CLOCKS. */
static void test_what_was_written(void **state)
{
    (void)state;
    for (int compress = 0; compress < 2; compress++) {
        static struct event_times times[N_RANKS];
        struct rfn_buf file = write_sampled(compress, true);
        struct rfn_archive *archive = open_bytes(&file);
        struct rfn_samples samples, rows;
        assert_int_equal(rfn_archive_verify_open(archive, NULL, NULL, NULL), 0);
        assert_int_equal(rfn_samples_read(archive, &samples, NULL), 0);
        assert_int_equal(rfn_samples_read_rows(archive, &rows, NULL), 0);
        expect_head(&samples);
        expect_rows(&samples);
        expect_counts(&samples);
        expect_head(&rows);
        expect_rows(&rows);
        assert_int_equal(rows.n_samples, 0);
        assert_int_equal(samples.n_samples, N_SAMPLES);
        read_events(archive, times);
        for (uint32_t i = 0; i < N_SAMPLES; i++) {
            const uint32_t rank = i / SAMPLES_EACH;
            expect_sample(&samples.samples[i], rank < RANK_WITHOUT ? rank : rank + 1,
                          i % SAMPLES_EACH, times);
        }
        rfn_samples_release(&samples);
        rfn_samples_release(&rows);
        rfn_archive_close(archive);
        rfn_buf_release(&file);
    }
}

static void test_without(void **state)
{
    (void)state;
    struct rfn_samples samples;
    struct rfn_buf file = write_archive(SOUND, true, true);
    assert_int_equal(read_bytes(&file, &samples), 0);
    assert_false(samples.known);
    assert_int_equal(samples.n_rows + samples.n_samples, 0);
    rfn_samples_release(&samples);
    rfn_buf_release(&file);
}

/* In older files the types mean nothing. */
static void test_older(void **state)
{
    (void)state;
    struct rfn_samples samples;
    model_more = add_samples;
    struct rfn_buf file = write_version(RFN_SAMPLES_SINCE_MINOR - 1, SOUND, false, true);
    model_more = NULL;
    assert_int_equal(read_bytes(&file, &samples), 0);
    assert_false(samples.known);
    rfn_samples_release(&samples);
    rfn_buf_release(&file);
}

/* ---- what is wrong ---- */

static void add_lonely_samples(struct writer *writer)
{
    write_samples(writer);
    write_sample_columns(writer, 0); /* from ranks 1, 2, 3, 0, 1 */
    write_sample_columns(writer, 1); /* from ranks 2, 3, 0, 1, 2 */
}

/* A process that wrote alone has samples of messages that others sent. */
static void test_without_clocks(void **state)
{
    (void)state;
    struct rfn_samples samples;
    model_more = add_lonely_samples;
    struct rfn_buf file = write_archive(SOUND, false, true);
    model_more = NULL;
    assert_int_equal(read_bytes(&file, &samples), 0);
    static const struct {
        int32_t source, dest;
        uint64_t position;
    } expected[] = {{1, 0, 0}, {0, 0, 3}, {1, 0, 4}, {0, 1, 2}, {1, 1, 3}};
    assert_int_equal(samples.n_samples, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(samples.samples[i].source, expected[i].source);
        assert_int_equal(samples.samples[i].dest, expected[i].dest);
        assert_int_equal(samples.samples[i].position, expected[i].position);
    }
    rfn_samples_release(&samples);
    rfn_buf_release(&file);
}

/* The payload of a chunk that the model has, as it is or damaged, with all that it needs. */
static struct rfn_buf damaged; /* of what model_more adds */
static uint32_t damaged_type;

static void add_damaged(struct writer *writer)
{
    struct rfn_buf payload = RFN_BUF_INIT;
    rfn_buf_bytes(&payload, damaged.data, damaged.size);
    if (damaged_type == RFN_CHUNK_SAMPLE_COLUMNS)
        write_samples(writer);
    add_chunk(writer, damaged_type, damaged_type == RFN_CHUNK_SAMPLES ? 0 : 1, &payload);
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        if (rank != 1 || damaged_type == RFN_CHUNK_SAMPLES)
            write_sample_columns(writer, rank);
    }
}

static struct rfn_buf payload_of(uint32_t type, uint64_t id)
{
    struct rfn_buf file = write_sampled(false, true), copy = RFN_BUF_INIT;
    struct rfn_archive *archive = open_bytes(&file);
    const int64_t entry = rfn_chunks_find(&archive->chunks, type, id);
    struct rfn_payload payload;
    assert_true(entry >= 0);
    assert_int_equal(
        rfn_chunks_load(&archive->chunks, &archive->chunks.entries[entry], &payload, NULL), 0);
    rfn_buf_bytes(&copy, payload.data, payload.size);
    rfn_payload_release(&payload);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
    return copy;
}

static int read_damaged(void)
{
    struct rfn_samples samples;
    model_more = add_damaged;
    struct rfn_buf file = write_archive(SOUND, false, true);
    model_more = NULL;
    const int error = read_bytes(&file, &samples);
    rfn_samples_release(&samples);
    rfn_buf_release(&file);
    return error;
}

/* Each byte becomes several others: that is read or refused. Cut anywhere, or longer, it is
 * refused. */
static void sweep(uint32_t type, uint64_t id)
{
    static const uint8_t flips[] = {0x01, 0x02, 0x40, 0x80, 0xff};
    size_t refused = 0;
    damaged_type = type;
    damaged = payload_of(type, id);
    assert_int_equal(read_damaged(), 0);
    for (size_t at = 0; at < damaged.size; at++) {
        for (size_t i = 0; i < sizeof flips; i++) {
            damaged.data[at] ^= flips[i];
            const int error = read_damaged();
            damaged.data[at] ^= flips[i];
            assert_true(error == 0 || error == RFN_E_CORRUPT);
            refused += error != 0;
        }
    }
    assert_true(refused > damaged.size / 2);
    rfn_buf_u8(&damaged, 0);
    assert_int_equal(read_damaged(), RFN_E_CORRUPT);
    for (damaged.size -= 2; damaged.size > 0; damaged.size--)
        assert_int_equal(read_damaged(), RFN_E_CORRUPT);
    rfn_buf_release(&damaged);
}

/* A rank that the run does not have. */
static void add_too_many(struct writer *writer)
{
    struct rfn_buf payload = payload_of(RFN_CHUNK_SAMPLE_COLUMNS, 0);
    write_samples(writer);
    add_chunk(writer, RFN_CHUNK_SAMPLE_COLUMNS, N_RANKS, &payload);
}

/* Nothing says of how many messages they are. */
static void add_columns_only(struct writer *writer)
{
    write_sample_columns(writer, 0);
}

static void test_not_there(void **state)
{
    (void)state;
    struct rfn_buf payload = payload_of(RFN_CHUNK_SAMPLE_COLUMNS, 0);
    struct rfn_samples samples;
    damaged_type = RFN_CHUNK_SAMPLE_COLUMNS;
    damaged = payload; /* the clock of rank 0 in the chunk of rank 1 */
    assert_int_equal(read_damaged(), RFN_E_CORRUPT);
    rfn_buf_release(&payload);
    for (int turn = 0; turn < 2; turn++) {
        model_more = turn ? add_columns_only : add_too_many;
        struct rfn_buf file = write_archive(SOUND, false, true);
        model_more = NULL;
        struct rfn_archive *archive = open_bytes(&file);
        assert_int_equal(rfn_archive_verify_open(archive, NULL, NULL, NULL), RFN_E_CORRUPT);
        assert_int_equal(rfn_samples_read(archive, &samples, NULL), turn ? 0 : RFN_E_CORRUPT);
        assert_true(!turn || !samples.known);
        rfn_samples_release(&samples);
        rfn_archive_close(archive);
        rfn_buf_release(&file);
    }
}

static void test_damaged_samples(void **state)
{
    (void)state;
    sweep(RFN_CHUNK_SAMPLES, 0);
}

static void test_damaged_columns(void **state)
{
    (void)state;
    sweep(RFN_CHUNK_SAMPLE_COLUMNS, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written),
        cmocka_unit_test(test_without),
        cmocka_unit_test(test_older),
        cmocka_unit_test(test_without_clocks),
        cmocka_unit_test(test_damaged_samples),
        cmocka_unit_test(test_damaged_columns),
        cmocka_unit_test(test_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
