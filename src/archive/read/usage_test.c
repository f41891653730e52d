/* Tests of USAGE: what is read is what was written, and what contradicts itself is refused. */
#include "refrain/usage.h"

#include "archive/usage_format.h"
#include "support/archive_model.h"

/* One stream: its number relative to the one before, and one gap between calls of the function. */
static void put_stream(struct rfn_buf *out, uint64_t gap, uint64_t flags, uint64_t function,
                       uint64_t core_wait_us)
{
    rfn_buf_varint(out, gap);
    rfn_buf_varint(out, flags);
    for (uint64_t i = 1; i <= 6 && flags & RFN_USAGE_PROCESS; i++) {
        if (i != 3 || flags & RFN_USAGE_CORE_WAIT)
            rfn_buf_varint(out, 100 * i);
    }
    rfn_buf_varint(out, 1);
    rfn_buf_varint(out, function);
    rfn_buf_varint(out, 1);
    rfn_buf_varint(out, 0);
    rfn_buf_varint(out, 0);
    rfn_buf_varint(out, 5000);
    rfn_buf_varint(out, 7000);
    rfn_buf_varint(out, core_wait_us);
}

/* The model's run, of which nothing is there but what is needed to open it, with the payload, which
 * is emptied. */
static int read_usage(struct rfn_buf *payload, unsigned minor, struct rfn_usage *usage)
{
    struct writer writer = {.times = true, .minor = minor};
    uint8_t header[RFN_HEADER_BYTES];
    struct rfn_archive *archive;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    make_model();
    rfn_header_write(header, RFN_STATE_WRITING, 0, 0);
    rfn_buf_bytes(&writer.file, header, sizeof header);
    write_meta(&writer);
    write_definitions(&writer);
    write_streams(&writer);
    add_chunk(&writer, RFN_CHUNK_USAGE, 0, payload);
    write_tail(&writer);
    assert_int_equal(rfn_archive_open_memory(writer.file.data, writer.file.size, &archive, &diag),
                     0);
    const int error = rfn_usage_read(archive, usage, &diag);
    rfn_archive_close(archive);
    rfn_buf_release(&writer.file);
    rfn_buf_release(payload);
    return error;
}

static void test_what_was_written(void **state)
{
    (void)state;
    struct rfn_buf out = RFN_BUF_INIT;
    struct rfn_usage usage;
    put_stream(&out, 1, RFN_USAGE_PROCESS | RFN_USAGE_CORE_WAIT, SEND, 5000);
    put_stream(&out, 1, RFN_USAGE_PROCESS, RECV, 0);
    put_stream(&out, 0, 0, RECV, 0); /* the second thread of the last rank */
    assert_int_equal(read_usage(&out, RFN_FORMAT_MINOR, &usage), 0);
    assert_int_equal(usage.n, 3);
    assert_int_equal(usage.n_gaps, 3);
    const uint32_t streams[] = {1, 3, 4}, ranks[] = {1, 3, 3};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(usage.streams[i].stream, streams[i]);
        assert_int_equal(usage.streams[i].rank, ranks[i]);
    }
    const struct rfn_gap_usage *gap = usage.streams[0].gaps;
    assert_int_equal(gap->before_function, SEND);
    assert_int_equal(gap->before_path, 1);
    assert_int_equal(gap->at_path, 0);
    assert_int_equal(gap->wall_ns, 5000000);
    assert_int_equal(gap->cpu_ns, 7000000);
    assert_int_equal(gap->core_wait_ns, 5000000);
    const struct rfn_process_usage one = rfn_usage_of_rank(&usage, 1);
    assert_true(one.known && one.knows_waiting);
    assert_int_equal(one.wall_ns, 100000);
    assert_int_equal(one.core_wait_ns, 300000);
    assert_int_equal(one.peak_bytes, 600 * 1024);
    assert_true(rfn_usage_of_rank(&usage, 3).known);
    assert_false(rfn_usage_of_rank(&usage, 3).knows_waiting);
    assert_int_equal(rfn_usage_of_rank(&usage, 3).preemptions, 500);
    assert_false(rfn_usage_of_rank(&usage, 0).known);
    assert_false(rfn_usage_of_rank(&usage, 2).known);
    rfn_usage_release(&usage);
}

static void refuse(struct rfn_buf *payload)
{
    struct rfn_usage usage;
    assert_int_equal(read_usage(payload, RFN_FORMAT_MINOR, &usage), RFN_E_CORRUPT);
    rfn_usage_release(&usage);
}

static void test_what_is_wrong(void **state)
{
    (void)state;
    struct rfn_buf out = RFN_BUF_INIT;
    put_stream(&out, N_STREAMS, 0, SEND, 0); /* no such stream */
    refuse(&out);
    put_stream(&out, N_STREAMS - 1, 0, SEND, 0);
    put_stream(&out, 0, 0, SEND, 0); /* one too many */
    refuse(&out);
    put_stream(&out, UINT64_MAX, 0, SEND, 0);
    refuse(&out);
    put_stream(&out, 0, 0, 1000, 0); /* no such function */
    refuse(&out);
    put_stream(&out, 0, 0, SEND, 5001); /* waits for longer than it takes */
    refuse(&out);
    rfn_buf_varint(&out, 0);
    rfn_buf_varint(&out, 0);
    rfn_buf_varint(&out, UINT64_MAX); /* gaps */
    refuse(&out);
    struct rfn_buf whole = RFN_BUF_INIT;
    put_stream(&whole, 0, RFN_USAGE_PROCESS, SEND, 0);
    for (size_t size = 1; size < whole.size; size++) {
        rfn_buf_bytes(&out, whole.data, size);
        refuse(&out);
    }
    rfn_buf_release(&whole);
}

/* In older files the type means nothing. */
static void test_older(void **state)
{
    (void)state;
    struct rfn_buf out = RFN_BUF_INIT;
    struct rfn_usage usage;
    rfn_buf_varint(&out, UINT64_MAX);
    const int error = read_usage(&out, RFN_USAGE_SINCE_MINOR - 1, &usage);
    assert_int_equal(error, 0);
    assert_int_equal(usage.n, 0);
    rfn_usage_release(&usage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_older),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
