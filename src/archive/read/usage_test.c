/* Tests of USAGE and CORES: what is read is what was written, and what contradicts itself is
 * refused. */
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
static int read_chunk(uint32_t type, struct rfn_buf *payload, unsigned minor,
                      struct rfn_usage *usage)
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
    add_chunk(&writer, type, 0, payload);
    write_tail(&writer);
    assert_int_equal(rfn_archive_open_memory(writer.file.data, writer.file.size, &archive, &diag),
                     0);
    const int error = rfn_usage_read(archive, usage, &diag);
    rfn_archive_close(archive);
    rfn_buf_release(&writer.file);
    rfn_buf_release(payload);
    return error;
}

static int read_usage(struct rfn_buf *payload, unsigned minor, struct rfn_usage *usage)
{
    return read_chunk(RFN_CHUNK_USAGE, payload, minor, usage);
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

/* ---- CORES ---- */

/* A mask of two bytes, OMP_NUM_THREADS 4, and windows of these numbers. */
static void put_cores(struct rfn_buf *out, uint64_t gap, uint8_t high, const uint64_t *us,
                      uint64_t n_windows)
{
    rfn_buf_varint(out, gap);
    rfn_buf_blob(out, (const uint8_t[]){0x05, high}, 2);
    rfn_buf_varint(out, 4);
    rfn_buf_varint(out, n_windows);
    for (uint64_t i = 0; i < 3 * n_windows; i++)
        rfn_buf_varint(out, us[i]);
}

static void test_cores(void **state)
{
    (void)state;
    struct rfn_buf out = RFN_BUF_INIT;
    struct rfn_usage usage;
    put_cores(&out, 1, 0x80, (const uint64_t[]){100, 30, 70, 200, 50, 1}, 2);
    put_cores(&out, 1, 0x01, NULL, 0);
    assert_int_equal(read_chunk(RFN_CHUNK_CORES, &out, RFN_FORMAT_MINOR, &usage), 0);
    assert_int_equal(usage.n, 0);
    assert_int_equal(usage.n_cores, 2);
    assert_int_equal(usage.cores[0].stream, 1);
    assert_int_equal(usage.cores[1].stream, 3);
    const struct rfn_process_cores *one = rfn_usage_cores_of_rank(&usage, 1);
    assert_ptr_equal(one, &usage.cores[0]);
    assert_null(rfn_usage_cores_of_rank(&usage, 0));
    assert_null(rfn_usage_cores_of_rank(&usage, 2));
    assert_int_equal(rfn_usage_cores_of_rank(&usage, 3)->n_windows, 0);
    assert_int_equal(rfn_process_cores_count(one), 3);
    assert_int_equal(rfn_process_cores_count(&usage.cores[1]), 3);
    assert_int_equal(usage.cores[1].mask[1], 0x01);
    assert_int_equal(one->omp_threads, 4);
    assert_int_equal(one->n_windows, 2);
    assert_int_equal(one->windows[1].on_core_ns, 50000);
    const struct rfn_core_window sum = rfn_process_cores_sum(one);
    assert_int_equal(sum.wall_ns, 300000);
    assert_int_equal(sum.on_core_ns, 80000);
    assert_int_equal(sum.runnable_ns, 71000);
    rfn_usage_release(&usage);
}

static void refuse_cores(struct rfn_buf *payload)
{
    struct rfn_usage usage;
    assert_int_equal(read_chunk(RFN_CHUNK_CORES, payload, RFN_FORMAT_MINOR, &usage), RFN_E_CORRUPT);
    rfn_usage_release(&usage);
}

static void test_wrong_cores(void **state)
{
    (void)state;
    struct rfn_buf out = RFN_BUF_INIT, whole = RFN_BUF_INIT;
    static const uint64_t us[] = {1, 2, 3, INT64_MAX / 1000, 4, 5};
    put_cores(&out, N_STREAMS, 1, us, 1); /* no such stream */
    refuse_cores(&out);
    put_cores(&out, 0, 0, us, 1); /* the mask ends with zeros */
    refuse_cores(&out);
    put_cores(&out, 0, 1, us, 2); /* too long together */
    refuse_cores(&out);
    put_cores(&whole, 0, 1, us, 1);
    for (size_t size = 1; size < whole.size; size++) {
        rfn_buf_bytes(&out, whole.data, size);
        refuse_cores(&out);
    }
    rfn_buf_release(&whole);
}

static void test_older_cores(void **state)
{
    (void)state;
    struct rfn_buf out = RFN_BUF_INIT;
    struct rfn_usage usage;
    rfn_buf_varint(&out, UINT64_MAX);
    assert_int_equal(read_chunk(RFN_CHUNK_CORES, &out, RFN_CORES_SINCE_MINOR - 1, &usage), 0);
    assert_int_equal(usage.n_cores, 0);
    rfn_usage_release(&usage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_older),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_wrong_cores),
        cmocka_unit_test(test_older_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
