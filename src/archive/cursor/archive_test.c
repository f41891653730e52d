/* Tests of reading. A model of a small run makes the events, a writer of its own the archive
 * (archive_model.h). Then:
 *
 *   what the archive says, and every event through a cursor, is compared with the model
 *   every byte is damaged, and the file cut at every length: nothing crashes, verification reports
 *   it, and what can still be read is right
 *   payloads with right checksums that contradict themselves are refused
 *
 * With the arguments "bench N" it measures cursors on N events; with "seeds DIR" it writes archives
 * for the fuzzer. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, mkstemp */

#include "archive/cursor/stream_signatures.h"
#include "archive/read/event_payloads.h"
#include "support/rounds.h"
#include "support/sampled_model.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- comparing ---- */

static int64_t expected_word(const struct model_stream *stream, uint8_t kind, int64_t word)
{
    static const int64_t types[] = {2, 1, 0};
    if (kind == RFN_KIND_TYPE && word >= 0)
        return types[word];
    return kind == RFN_KIND_COMM && word >= 0 ? archive_comm(stream, word) : word;
}

static bool same_words(const struct model_stream *stream, const struct model_event *event,
                       const struct rfn_record *record)
{
    const struct schema *schema = &schemas[event->symbol];
    for (int i = 0; i < schema->n_in; i++) {
        if (record->in[i] != expected_word(stream, schema->params[i].kind, event->in[i]))
            return false;
    }
    for (int i = 0; i < schema->n_out; i++) {
        if (record->out[i] !=
            expected_word(stream, schema->params[schema->n_in + i].kind, event->out[i]))
            return false;
    }
    return true;
}

/* Whether the list that a word names has the model's words, or cannot be had. */
static bool same_list(const struct model_stream *stream, const struct rfn_cursor *cursor,
                      uint8_t kind, int64_t word)
{
    size_t n;
    const int64_t *words = rfn_cursor_list(cursor, word, &n, kind);
    if (!(kind & RFN_KIND_LIST) || word < 1 || word > LISTS || !words)
        return !words || word > 0;
    if (n != list_lengths[word - 1])
        return false;
    for (size_t i = 0; i < n; i++) {
        if (words[i] !=
            expected_word(stream, kind & (uint8_t)~RFN_KIND_LIST, list_words[word - 1][i]))
            return false;
    }
    return true;
}

static bool same_lists(const struct model_stream *stream, const struct rfn_cursor *cursor,
                       const struct rfn_record *record)
{
    const struct schema *schema = &schemas[record->function];
    for (int i = 0; i < schema->n_in; i++) {
        if (!same_list(stream, cursor, schema->params[i].kind, record->in[i]))
            return false;
    }
    return true;
}

/* The earliest start is that of stream 0. */
static bool same_times(const struct model_stream *stream, const struct model_event *event,
                       const struct rfn_record *record, bool clocks)
{
    const bool is_last = event == &stream->events[stream->n - 1];
    const uint64_t late = is_last && model_late > 0 ? (uint64_t)model_late : 0;
    uint64_t origin = realtime_of(&model[0], model[0].start);
    int64_t enter = (int64_t)(aligned_of(stream, event->enter, clocks) - origin);
    int64_t exit = (int64_t)(aligned_of(stream, event->exit + late, clocks) - origin);
    int64_t inside = (int64_t)(aligned_of(stream, event->enter + event->inside + late, clocks) -
                               origin);
    return record->enter_ns == enter && record->exit_ns == exit &&
           record->inside_ns == inside - enter;
}

static bool same_event(const struct model_stream *stream, size_t e, const struct rfn_record *record,
                       bool times, bool clocks, bool volume)
{
    const struct model_event *event = &stream->events[e];
    return record->index == e && record->symbol == (uint32_t)event->symbol &&
           record->function == (uint32_t)event->symbol &&
           record->path == (uint32_t)event->symbol % 2 &&
           record->error == (event->symbol == FINALIZE ? 5u : 0u) &&
           record->varying == moved_of(event->symbol) &&
           record->failed_poll == (event->symbol == TEST) &&
           record->polls == (uint64_t)event->polls && same_words(stream, event, record) &&
           record->volume_gap == (volume ? event->volume_gap : 0) &&
           record->volume_inside == (volume ? event->volume_inside : 0) &&
           (times ? same_times(stream, event, record, clocks)
                  : record->enter_ns == 0 && record->exit_ns == 0);
}

/* Reads a stream and compares; 0, or the error that ended it. */
static int read_stream(const struct rfn_archive *archive, uint32_t number, bool times,
                       struct rfn_diag *diag)
{
    const struct model_stream *stream = &model[number];
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    bool volume = rfn_archive_run(archive)->volume && number + 1 < N_STREAMS;
    bool clocks = archive->chunks.minor >= 2;
    assert_int_equal(rfn_archive_stream(archive, number).volume, volume);
    RFN_TRY(rfn_cursor_open(archive, number, &cursor, diag));
    size_t e = 0;
    int more;
    while ((more = rfn_cursor_next(cursor, &record, diag)) > 0) {
        assert_true(e < stream->n);
        assert_true(same_event(stream, e, record, times, clocks, volume));
        assert_true(same_lists(stream, cursor, record));
        e++;
    }
    if (more == 0)
        assert_int_equal(e, stream->n);
    rfn_cursor_close(cursor);
    return more;
}

/* ---- tests ---- */

static struct rfn_archive *open_bytes(const struct rfn_buf *file)
{
    struct rfn_archive *archive = NULL;
    struct rfn_diag diag = {0};
    int error = rfn_archive_open_memory(file->data, file->size, &archive, &diag);
    if (error)
        print_error("%s\n", diag.text);
    assert_int_equal(error, 0);
    return archive;
}

/* The same, but what is read from now on is read in windows, however small it is. */
static struct rfn_archive *open_windowed(const struct rfn_buf *file)
{
    struct rfn_archive *archive = open_bytes(file);
    archive->chunks.resident_max = 0;
    return archive;
}

static void check_all_streams(const struct rfn_archive *archive, bool times)
{
    struct rfn_diag diag = {0};
    for (uint32_t i = 0; i < N_STREAMS; i++) {
        int error = read_stream(archive, i, times, &diag);
        if (error)
            print_error("%s\n", diag.text);
        assert_int_equal(error, 0);
    }
}

static void test_events(void **state)
{
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        bool times = variant & 1;
        struct rfn_buf file = write_archive(SOUND, variant >> 1 & 1, times);
        struct rfn_archive *archive = variant & 4 ? open_windowed(&file) : open_bytes(&file);
        struct rfn_diag diag = {0};
        assert_true(rfn_archive_complete(archive, NULL));
        check_all_streams(archive, times);
        check_all_streams(archive, times); /* once more, from what is kept */
        int error = rfn_archive_verify_open(archive, NULL, NULL, &diag);
        if (error)
            print_error("%s\n", diag.text);
        assert_int_equal(error, 0);
        rfn_archive_close(archive);
        rfn_buf_release(&file);
    }
}

/* The last event ends when STREAMS says, if that is later than its own times do. */
static void test_ends(void **state)
{
    (void)state;
    const int64_t late[] = {1, 300, 3000000, -300};
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        model_late = late[i];
        struct rfn_buf file = write_archive(SOUND, true, true);
        struct rfn_archive *archive = i % 2 ? open_windowed(&file) : open_bytes(&file);
        check_all_streams(archive, true);
        assert_int_equal(rfn_archive_verify_open(archive, NULL, NULL, NULL), 0);
        rfn_archive_close(archive);
        rfn_buf_release(&file);
        file = write_version(RFN_ENDS_SINCE_MINOR - 1, SOUND, true, true);
        archive = open_bytes(&file);
        model_late = 0;
        check_all_streams(archive, true);
        rfn_archive_close(archive);
        rfn_buf_release(&file);
    }
}

/* Archives of before there were volumes, and of before there were clocks: hosts are aligned by the
 * time of day. */
static void test_first_versions(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < 8; variant++) {
        bool times = variant & 1;
        struct rfn_buf file = write_version(variant >> 2, SOUND, variant >> 1 & 1, times);
        struct rfn_archive *archive = open_bytes(&file);
        assert_int_equal(rfn_archive_run(archive)->volume != NULL, (variant & 6) == 6);
        assert_null(rfn_archive_host(archive, 1).offsets);
        check_all_streams(archive, times);
        assert_int_equal(rfn_archive_verify_open(archive, NULL, NULL, NULL), 0);
        rfn_archive_close(archive);
        rfn_buf_release(&file);
    }
}

static void test_run(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, true, true);
    struct rfn_archive *archive = open_bytes(&file);
    const struct rfn_run *run = rfn_archive_run(archive);
    assert_string_equal(run->recorder, "refrain 0.1.0");
    assert_string_equal(run->program, "/bin/model");
    assert_string_equal(run->command, "./model 4 5");
    assert_string_equal(run->mpi, "MPI of the test");
    assert_string_equal(run->flavour, "mpich");
    assert_int_equal(run->start_realtime_ns, 1700000000000000000);
    assert_int_equal(run->ranks, N_RANKS);
    assert_int_equal(run->streams, N_STREAMS);
    assert_true(run->times && !run->all_polls);
    assert_string_equal(run->volume, "papi:model");
    assert_string_equal(run->volume_unit, "ticks");
    assert_int_equal(run->path_ends.outer, 3);
    assert_int_equal(run->path_ends.inner, 2);
    assert_true(run->resolution_ns > 0.3333 && run->resolution_ns < 0.3334);
    assert_true(run->merge_seconds > 0.00249 && run->merge_seconds < 0.00251);
    assert_int_equal(run->file_bytes, file.size);
    assert_int_equal(run->merging.messages, 1000);
    assert_int_equal(run->merging.bytes, 1001);
    assert_int_equal(run->merging.trace_bytes, 1002);
    assert_int_equal(run->merging.all_bytes, 1003);
    assert_int_equal(run->merging.all_definition_bytes, 1004);
    assert_int_equal(run->merging.online.merges, 2000);
    assert_int_equal(run->merging.online.ns, 2001);
    assert_int_equal(run->merging.online.bytes, 2002);
    assert_int_equal(run->merging.online.messages, 2003);
    for (uint32_t i = 0; i < N_STREAMS; i++) {
        struct rfn_stream_info info = rfn_archive_stream(archive, i);
        assert_int_equal(info.rank, model[i].rank);
        assert_int_equal(info.thread, model[i].thread);
        assert_int_equal(info.group, model[i].group);
        assert_string_equal(info.host, model[i].host ? "node2" : "node1");
        assert_int_equal(info.events, model[i].n);
        assert_int_equal(info.calls, model[i].calls);
        assert_true(info.readable);
    }
    assert_int_equal(rfn_archive_hosts(archive), 2);
    struct rfn_host_info host = rfn_archive_host(archive, 0);
    assert_string_equal(host.name, "node1");
    assert_int_equal(host.cores, 8);
    assert_true(host.reference && host.n_offsets == 0 && !host.offsets);
    host = rfn_archive_host(archive, 1);
    assert_string_equal(host.name, "node2");
    assert_int_equal(host.cores, 0);
    assert_true(!host.reference && host.n_offsets == 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(host.offsets[i].monotonic_ns, model_offsets[i].monotonic_ns);
        assert_int_equal(host.offsets[i].offset_ns, model_offsets[i].offset_ns);
        assert_int_equal(host.offsets[i].round_trip_ns, model_offsets[i].round_trip_ns);
    }
    assert_int_equal(rfn_archive_groups(archive), N_GROUPS);
    struct rfn_group_info group = rfn_archive_group(archive, 0);
    assert_int_equal(group.n_members, 4);
    assert_int_equal(group.members[3], 3);
    assert_int_equal(group.symbols, N_SYMBOLS);
    assert_int_equal(group.loops, 2);
    assert_int_equal(group.nodes, 10);
    assert_true(group.bytes > 0);
    assert_int_equal(rfn_archive_group(archive, 1).members[0], 4);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

/* Of the function, as "name:line" joined by spaces; "?": it is not known. */
static void expect_calls(const struct rfn_archive *archive, uint32_t from, uint32_t to,
                         const char *expected)
{
    struct rfn_program_call calls[2];
    char text[100] = "", *at = text;
    uint32_t n;
    if (!rfn_archive_calls_between(archive, from, to, calls, 2, &n))
        strcpy(text, "?");
    else
        at += sprintf(at, "%u", n);
    for (uint32_t i = 0; i < n && i < 2; i++)
        at += sprintf(at, " %s:%u%s", calls[i].function ? calls[i].function : "-", calls[i].line,
                      calls[i].library ? " library" : "");
    assert_string_equal(text, expected);
}

/* Location 0 is in line 10 of main. */
static void check_calls_between(const struct rfn_archive *archive)
{
    expect_calls(archive, RFN_NO_LOCATION, 0, "2 prepare:9 -:10");
    expect_calls(archive, 0, RFN_NO_LOCATION, "2 smooth:10 smooth:12 library");
    expect_calls(archive, 0, 0,
                 "3 smooth:10 smooth:12 library"); /* and behind them the one before 0 */
    expect_calls(archive, 1, RFN_NO_LOCATION, "?");
    expect_calls(archive, 0, 1, "?");
    expect_calls(archive, RFN_NO_LOCATION, RFN_NO_LOCATION, "?");
}

static void test_definitions(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, true, true);
    struct rfn_archive *archive = open_bytes(&file);
    assert_int_equal(rfn_archive_paths(archive), 2);
    struct rfn_path path = rfn_archive_path(archive, 0);
    assert_int_equal(path.n_frames, 2);
    struct rfn_location location = rfn_archive_location(archive, path.frames[0]);
    assert_string_equal(location.function, "solve");
    assert_string_equal(location.file, "model.c");
    assert_string_equal(location.module, "/bin/model");
    assert_int_equal(location.line, 11);
    assert_int_equal(location.offset, 0x1001);
    check_calls_between(archive);
    location = rfn_archive_location(archive, 2);
    assert_true(!location.function && !location.file && location.line == 0);
    assert_int_equal(rfn_archive_functions(archive), N_SYMBOLS);
    const struct rfn_function_info *test = rfn_archive_function(archive, TEST);
    assert_string_equal(test->name, "MPI_Test");
    assert_int_equal(test->flags, RFN_FUNCTION_POLL);
    assert_string_equal(test->params[2].name, "done");
    assert_int_equal(test->params[2].flags, RFN_PARAM_OUT);
    assert_int_equal(rfn_archive_regions(archive), 2);
    assert_string_equal(rfn_archive_region(archive, 1), "solve");
    assert_int_equal(rfn_archive_datatypes(archive), 4);
    assert_string_equal(rfn_archive_datatype(archive, 2)->name, "vector(4,1,10,MPI_DOUBLE)");
    assert_int_equal(rfn_archive_datatype(archive, 2)->extent, 248);
    assert_string_equal(rfn_archive_datatype(archive, 3)->name,
                        "struct(2,1,3,vector(4,1,10,MPI_DOUBLE),MPI_INT)");
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

static void test_comms(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, true, true);
    struct rfn_archive *archive = open_bytes(&file);
    assert_int_equal(rfn_archive_comms(archive), 5);
    assert_int_equal(rfn_archive_comm(archive, 0)->size, 4);
    assert_int_equal(rfn_archive_comm(archive, 4)->remote_size, 3);
    assert_int_equal(rfn_comm_world_rank(archive, 0, false, 3), 3);
    assert_int_equal(rfn_comm_world_rank(archive, 0, false, 4), -1);
    assert_int_equal(rfn_comm_world_rank(archive, 1, false, 2), 2);
    assert_int_equal(rfn_comm_world_rank(archive, 3, false, 0), 3);
    assert_int_equal(rfn_comm_world_rank(archive, 3, false, 1), 1);
    assert_int_equal(rfn_comm_world_rank(archive, 4, true, 1), 3);
    assert_int_equal(rfn_comm_world_rank(archive, 4, true, 2), -1); /* of another job */
    assert_int_equal(rfn_comm_rank_of(archive, 3, 1), 1);
    assert_int_equal(rfn_comm_rank_of(archive, 3, 3), 0);
    assert_int_equal(rfn_comm_rank_of(archive, 3, 2), -1);
    assert_int_equal(rfn_comm_rank_of(archive, 2, 1), -1);
    assert_int_equal(rfn_comm_rank_of(archive, 1, 3), 0);
    assert_int_equal(rfn_comm_peer(archive, 1, 3, 0), 3);
    assert_int_equal(rfn_comm_peer(archive, 4, 0, 1), 3);
    assert_int_equal(rfn_comm_peer(archive, 4, 3, 1), 2);
    assert_int_equal(rfn_comm_peer(archive, 0, 3, RFN_PROC_NULL), -1);
    assert_int_equal(rfn_comm_peers(archive, 4, 0), 3);
    assert_int_equal(rfn_comm_peers(archive, 4, 1), 2);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

static void test_lists(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, true, true);
    struct rfn_archive *archive = open_bytes(&file);
    struct rfn_cursor *cursor;
    size_t n;
    assert_int_equal(rfn_cursor_open(archive, 1, &cursor, NULL), 0);
    const int64_t *plain = rfn_cursor_list(cursor, 1, &n, RFN_KIND_LIST | RFN_KIND_COUNT);
    assert_int_equal(n, 4);
    assert_memory_equal(plain, list_words[0], 4 * sizeof *plain);
    const int64_t *types = rfn_cursor_list(cursor, 1, &n, RFN_KIND_LIST | RFN_KIND_TYPE);
    assert_memory_equal(types, ((const int64_t[]){2, 1, 2, -1}), 4 * sizeof *types);
    assert_ptr_equal(types, rfn_cursor_list(cursor, 1, &n, RFN_KIND_LIST | RFN_KIND_TYPE));
    assert_int_equal(rfn_cursor_list(cursor, 4, &n, RFN_KIND_STRING)[0], 2);
    assert_int_equal(n, 1);
    const int64_t none[] = {0, -1, LISTS + 1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_null(rfn_cursor_list(cursor, none[i], &n, RFN_KIND_STRING));
        assert_int_equal(n, 0);
    }
    rfn_cursor_close(cursor);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

/* A list that cannot be read: there is none then, and the cursor goes no further. Lists that no
 * event has do not matter but to verification. */
static void test_damaged_lists(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        bool used = variant & 1;
        struct rfn_buf file = write_archive(used ? LIST_WORDS_DAMAGED : LISTS_UNUSED_DAMAGED, true,
                                            true);
        struct rfn_archive *archive = variant & 2 ? open_windowed(&file) : open_bytes(&file);
        struct rfn_diag diag = {.text = ""};
        const struct rfn_record *record;
        struct rfn_cursor *cursor;
        size_t n = 1;
        assert_int_equal(rfn_cursor_open(archive, 0, &cursor, &diag), 0);
        while (rfn_cursor_next(cursor, &record, &diag) > 0 && record->function != ALLTOALLW)
            ;
        assert_int_equal(record->function, ALLTOALLW);
        assert_non_null(rfn_cursor_list(cursor, record->in[0], &n, RFN_KIND_LIST | RFN_KIND_TYPE));
        assert_int_equal(n, list_lengths[record->in[0] - 1]);
        if (used)
            assert_null(rfn_cursor_list(cursor, record->in[1], &n, RFN_KIND_LIST));
        assert_int_equal(n, used ? 0 : 4);
        assert_int_equal(rfn_cursor_next(cursor, &record, &diag), used ? RFN_E_CORRUPT : 1);
        assert_true(!used || strstr(diag.text, "the words of lists are malformed"));
        assert_int_equal(rfn_cursor_next(cursor, &record, &diag), used ? RFN_E_CORRUPT : 1);
        rfn_cursor_close(cursor);
        rfn_archive_close(archive);
        rfn_buf_release(&file);
    }
}

/* Groups of 60 ranks as runs with strides that interleave, and foreign processes in the middle. */
static void test_rank_lists(void **state)
{
    (void)state;
    static const int64_t runs[][3] = {{50, 10, -2}, {0, 10, 3}, {RFN_RANK_FOREIGN, 4, 0},
                                      {1, 10, 3},   {59, 1, 0}, {31, 9, 2}};
    uint32_t expected[60], n = 0;
    struct rfn_buf bytes = RFN_BUF_INIT;
    rfn_buf_varint(&bytes, 46);
    rfn_buf_varint(&bytes, 6);
    for (int r = 0; r < 6; r++) {
        rfn_buf_varint(&bytes, (uint64_t)runs[r][0]);
        rfn_buf_varint(&bytes, (uint64_t)runs[r][1]);
        rfn_buf_svarint(&bytes, runs[r][2]);
        for (int64_t i = 0; i < runs[r][1]; i++)
            expected[n++] = (uint32_t)(runs[r][0] + i * runs[r][2]);
    }
    struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
    struct rfn_arena arena = RFN_ARENA_INIT;
    struct rfn_rank_list list;
    assert_null(rfn_rank_list_read(&list, &reader, 60, &arena));
    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(rfn_rank_list_world(&list, i),
                         i >= n || expected[i] == RFN_RANK_FOREIGN ? -1 : (int64_t)expected[i]);
    for (uint32_t rank = 0; rank < 70; rank++) {
        int64_t at = rfn_rank_list_find(&list, rank), any = -1;
        for (uint32_t i = 0; i < n; i++)
            any = expected[i] == rank ? (int64_t)i : any;
        assert_true(any < 0 ? at < 0 : at >= 0 && expected[at] == rank);
    }
    rfn_arena_release(&arena);
    rfn_buf_release(&bytes);
}

/* Random clocks over days: exact to a nanosecond against exact arithmetic, never backwards. */
static void test_clock(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (int round = 0; round < 200; round++) {
        struct rfn_buf bytes = RFN_BUF_INIT;
        uint64_t pairs[8][2], quanta = noise(&random) << 20, ns = noise(&random) << 10;
        uint64_t days = UINT64_C(86400000000000);
        rfn_buf_varint(&bytes, 1);
        rfn_buf_u8(&bytes, 0);
        rfn_buf_varint(&bytes, 8);
        for (int i = 0; i < 8; i++) {
            pairs[i][0] = quanta;
            pairs[i][1] = ns;
            rfn_buf_u64(&bytes, quanta);
            rfn_buf_u64(&bytes, ns);
            rfn_buf_u64(&bytes, ns + 77);
            uint64_t step = 1 + (noise(&random) * 7919) % (round % 2 ? days : 1000000);
            ns += step;
            quanta += 1 + step * (1 + noise(&random) % 4000) / (round % 3 ? 1000 : 100000);
        }
        rfn_buf_u64(&bytes, pairs[0][0]);
        const struct rfn_payload payload = {.data = bytes.data, .size = bytes.size};
        struct rfn_payload_reader scan;
        struct rfn_clock clock;
        uint64_t flags;
        rfn_payload_reader_begin(&scan, &payload);
        assert_null(rfn_clock_read(&clock, &flags, &scan));
        assert_true(flags == RFN_TIMING_TIMES && clock.realtime_offset == 77);
        struct rfn_clock_place place = {0};
        uint64_t before = 0;
        for (int i = 0; i < 7; i++) {
            uint64_t width = pairs[i + 1][0] - pairs[i][0], rise = pairs[i + 1][1] - pairs[i][1];
            for (uint64_t k = 0; k <= 64; k++) {
                uint64_t at = (uint64_t)((rfn_u128)width * k / 64);
                uint64_t exact = pairs[i][1] + (uint64_t)((rfn_u128)at * rise / width);
                uint64_t got = rfn_clock_ns(&clock, &place, pairs[i][0] + at);
                assert_true(got >= exact && got - exact <= 1);
                assert_true(got >= before);
                before = got;
            }
            assert_int_equal(before, pairs[i + 1][1]);
        }
        rfn_clock_release(&clock);
        rfn_buf_release(&bytes);
    }
}

/* Counts the events of all streams; NULL when one is not as long as it should be. */
static void *count_events(void *archive)
{
    for (uint32_t i = 0; i < 20 * N_STREAMS; i++) {
        const struct rfn_record *record;
        struct rfn_cursor *cursor;
        size_t n = 0;
        if (rfn_cursor_open(archive, i % N_STREAMS, &cursor, NULL) < 0)
            return NULL;
        while (rfn_cursor_next(cursor, &record, NULL) > 0)
            n++;
        rfn_cursor_close(cursor);
        if (n != model[i % N_STREAMS].n || !rfn_archive_group(archive, i % N_GROUPS).symbols)
            return NULL;
    }
    return archive;
}

static void test_threads(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, true, true);
    struct rfn_archive *archive = open_bytes(&file);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_events, archive), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, archive);
    }
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

/* ---- damage ---- */

/* Opens what is left of an archive and reads all that can be read. Everything that is delivered is
 * compared; failures name a place. Returns whether everything could be read. */
static bool read_damaged(const uint8_t *bytes, size_t size, size_t resident_max)
{
    struct rfn_archive *archive;
    struct rfn_diag diag = {.file_offset = -2};
    int error = rfn_archive_open_memory(bytes, size, &archive, &diag);
    if (error < 0) {
        assert_true(diag.text[0] != 0 && diag.file_offset >= -1);
        return false;
    }
    const char *why;
    archive->chunks.resident_max = resident_max;
    bool complete = rfn_archive_complete(archive, &why), all = complete;
    assert_true(complete || *why);
    for (uint32_t i = 0; i < N_STREAMS; i++) {
        diag = (struct rfn_diag){.file_offset = -2};
        error = read_stream(archive, i, true, &diag);
        assert_true(error == 0 || diag.text[0] != 0);
        assert_true(error != RFN_E_CORRUPT || diag.file_offset >= 0);
        if (!complete)
            assert_true(rfn_archive_stream(archive, i).readable || error == RFN_E_INCOMPLETE);
        all &= error == 0;
    }
    diag = (struct rfn_diag){0};
    error = rfn_archive_verify_open(archive, NULL, NULL, &diag);
    assert_true(error == 0 || diag.text[0] != 0);
    rfn_archive_close(archive);
    return all && error == 0;
}

static void test_flips(void **state)
{
    (void)state;
    static const uint8_t patterns[] = {0x01, 0x80, 0xff};
    for (int compress = 0; compress < 2; compress++) {
        struct rfn_buf file = write_archive(SOUND, compress, true);
        assert_true(read_damaged(file.data, file.size, RFN_RESIDENT_MAX));
        for (size_t i = 0; i < file.size; i++) {
            for (size_t k = RFN_SANITIZED ? i % 3 : 0; k < sizeof patterns;
                 k += RFN_SANITIZED ? 3 : 1) {
                file.data[i] ^= patterns[k];
                assert_false(read_damaged(file.data, file.size, k ? RFN_RESIDENT_MAX : 0));
                file.data[i] ^= patterns[k];
            }
        }
        rfn_buf_release(&file);
    }
}

/* The bytes are copied, so that reading beyond the cut is seen by a sanitizer. */
static void test_cuts(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, true, true);
    for (size_t size = 0; size < file.size; size++) {
        uint8_t *bytes = malloc(size + 1);
        memcpy(bytes, file.data, size);
        assert_false(read_damaged(bytes, size, size % 2 ? RFN_RESIDENT_MAX : 0));
        free(bytes);
    }
    rfn_header_write(file.data, RFN_STATE_WRITING, 0, 0);
    struct rfn_archive *archive = open_bytes(&file);
    assert_false(rfn_archive_complete(archive, NULL));
    check_all_streams(archive, true);
    assert_int_equal(rfn_archive_verify_open(archive, NULL, NULL, NULL), RFN_E_INCOMPLETE);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

/* Opens and verifies. */
static int verify_bytes(const struct rfn_buf *file, size_t resident_max, struct rfn_diag *diag)
{
    struct rfn_archive *archive;
    *diag = (struct rfn_diag){.text = ""};
    RFN_TRY(rfn_archive_open_memory(file->data, file->size, &archive, diag));
    archive->chunks.resident_max = resident_max;
    int error = rfn_archive_verify_open(archive, NULL, NULL, diag);
    rfn_archive_close(archive);
    return error;
}

/* Read in windows or not, the same is said of them. */
static void test_contradictions(void **state)
{
    (void)state;
    for (int i = 2 * (SOUND + 1); i < 2 * N_FAULTS; i++) {
        bool compress = i % 2;
        struct rfn_buf file = write_archive((enum fault)(i / 2), compress, true);
        struct rfn_diag diag, windowed;
        int error = verify_bytes(&file, RFN_RESIDENT_MAX, &diag);
        if (error != RFN_E_CORRUPT && compress)
            print_error("fault %d: %d %s\n", i / 2, error, diag.text);
        assert_true(error == RFN_E_CORRUPT || !compress); /* without, there are no volumes */
        assert_true(!error || diag.text[0]);
        assert_int_equal(verify_bytes(&file, 0, &windowed), error);
        assert_string_equal(windowed.text, diag.text);
        assert_int_equal(windowed.file_offset, diag.file_offset);
        rfn_buf_release(&file);
    }
}

static void test_file(void **state)
{
    (void)state;
    char path[] = "/tmp/archive_testXXXXXX";
    int fd = mkstemp(path);
    struct rfn_buf file = write_archive(SOUND, true, true);
    assert_int_equal(write(fd, file.data, file.size), (ssize_t)file.size);
    struct rfn_archive *archive;
    struct rfn_diag diag = {0};
    assert_int_equal(rfn_archive_open(path, &archive, &diag), 0);
    check_all_streams(archive, true);
    assert_int_equal(rfn_archive_verify(path, NULL, NULL, &diag), 0);
    assert_int_equal(ftruncate(fd, (off_t)file.size / 2), 0); /* under its reader */
    int error = 0;
    for (uint32_t i = 0; i < N_STREAMS; i++)
        error |= read_stream(archive, i, true, &diag);
    assert_int_not_equal(error, 0);
    rfn_archive_close(archive);
    assert_int_equal(rfn_archive_verify(path, NULL, NULL, &diag), RFN_E_INCOMPLETE);
    file.data[8] = 2; /* major version */
    uint64_t sum = rfn_hash_bytes(file.data, 56);
    memcpy(file.data + 56, &sum, 8);
    assert_int_equal(rfn_archive_open_memory(file.data, file.size, &archive, &diag), RFN_E_VERSION);
    close(fd);
    unlink(path);
    assert_int_equal(rfn_archive_open(path, &archive, &diag), RFN_E_IO);
    rfn_buf_release(&file);
}

/* ---- signatures ---- */

static void test_signatures(void **state)
{
    (void)state;
    for (enum fault fault = SIGNED; fault <= SOUND; fault++) {
        struct rfn_buf file = write_archive(fault, true, true);
        struct rfn_archive *archive = open_bytes(&file);
        assert_int_equal(rfn_archive_verify_open(archive, NULL, NULL, NULL), 0);
        assert_int_equal(rfn_archive_is_signed(archive), fault == SIGNED);
        for (uint32_t i = 0; i < N_STREAMS; i++)
            assert_int_equal(rfn_stream_word(archive, RFN_WORD_SIGNATURE, i),
                             fault == SIGNED ? 100 + model[i].set : 0);
        rfn_archive_close(archive);
        rfn_buf_release(&file);
    }
}

/* ---- speed ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Measured with one long stream: a loop of send and receive, n events in all. */
static struct rfn_buf write_long(uint64_t n, bool times)
{
    struct writer writer = {.compress = true, .times = times, .minor = RFN_FORMAT_MINOR};
    uint8_t header[RFN_HEADER_BYTES];
    uint64_t random = 3, before = 1000;
    make_model();
    rfn_header_write(header, RFN_STATE_WRITING, 0, 0);
    rfn_buf_bytes(&writer.file, header, sizeof header);
    write_meta(&writer);
    write_definitions(&writer);
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_bytes(&out, "\1\4\0\4\0\4\0\4\0\4\0", 11);
    model[0].start = before;
    const uint64_t words[] = {
        n, n, times ? monotonic_of(before) : 0, times ? offset_of(&model[0]) : 0, 0, 0, 0, 0, 0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        rfn_buf_varint(&out, 4);
        rfn_buf_svarint(&out, (int64_t)words[i]);
    }
    add_chunk(&writer, RFN_CHUNK_STREAMS, 0, &out);
    rfn_buf_bytes(&out, "\5\4\0\4\0\4\0\4\0\4\0", 11);
    add_chunk(&writer, RFN_CHUNK_RANK_PARAMS, 0, &out);
    rfn_buf_bytes(&out, "\2\2\0\3\1\3\2\1\0\3", 10); /* sites, types, communicators */
    rfn_buf_bytes(&out, "\2\0\0\1\2\16\0", 7);       /* Send: count is moved */
    rfn_buf_bytes(&out, "\2\0\20\200\1\4\1", 7);     /* Recv: communicator is moved */
    rfn_buf_bytes(&out, "\1\2\0\2\1\1", 6);          /* one loop */
    add_chunk(&writer, RFN_CHUNK_STRUCTURE, 0, &out);
    write_lists(SOUND, &out);
    for (int c = 0; c < 6; c++) { /* trips; count; communicator, source, tag, bytes */
        struct column_writer column;
        begin_column(&column, &out);
        for (uint64_t i = 0; i < (c ? n / 2 : 1); i++) {
            int64_t values[] = {(int64_t)n / 2,
                                (int64_t)(i % 100),
                                0,
                                RFN_AS_POSTED,
                                (int64_t)((i % RFN_COLUMN_BLOCK * 2654435761u >> 9) % 100),
                                RFN_AS_POSTED};
            add_value(&column, values[c]);
        }
        end_column(&column);
    }
    add_chunk(&writer, RFN_CHUNK_VALUES, 0, &out);
    rfn_buf_varint(&out, times);
    if (times) {
        struct rfn_buf marks = RFN_BUF_INIT;
        write_clock(&writer, &model[0], &out);
        struct column_writer columns[4];
        struct rfn_buf parts[4] = {RFN_BUF_INIT, RFN_BUF_INIT, RFN_BUF_INIT, RFN_BUF_INIT};
        uint64_t at = before, mark = before;
        for (int c = 0; c < 4; c++)
            begin_column(&columns[c], &parts[c]);
        for (uint64_t i = 0; i < n; i++) {
            int64_t gap = (int64_t)(noise(&random) % 3000), d = (int64_t)(noise(&random) % 900);
            add_value(&columns[i % 2 * 2], gap);
            add_value(&columns[i % 2 * 2 + 1], d);
            if (i && i % 65536 == 0) {
                rfn_buf_varint(&marks, at + (uint64_t)gap - mark);
                mark = at + (uint64_t)gap;
            }
            at += (uint64_t)(gap + d);
        }
        out.size--; /* the number of marks */
        rfn_buf_varint(&out, (n - 1) / 65536);
        rfn_buf_bytes(&out, marks.data, marks.size);
        rfn_buf_release(&marks);
        for (int c = 0; c < 4; c++) {
            end_column(&columns[c]);
            rfn_buf_bytes(&out, parts[c].data, parts[c].size);
            rfn_buf_release(&parts[c]);
        }
        add_chunk(&writer, RFN_CHUNK_TIMING, 0, &out);
    }
    rfn_buf_release(&out);
    write_tail(&writer);
    return writer.file;
}

static void bench_one(uint64_t n, bool times)
{
    struct rfn_buf file = write_long(n, times);
    struct rfn_archive *archive = open_bytes(&file);
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    struct rfn_diag diag = {0};
    int64_t sum = 0;
    uint64_t events = 0;
    int more;
    double start = now();
    if (rfn_cursor_open(archive, 0, &cursor, &diag) < 0)
        print_error("%s\n", diag.text);
    while ((more = rfn_cursor_next(cursor, &record, &diag)) > 0) {
        sum += record->in[0] + record->exit_ns;
        events++;
    }
    double seconds = now() - start;
    if (more < 0 || events != n)
        print_error("%s\n", diag.text);
    printf("%s times: %" PRIu64 " events, %.1f million events per second, file %zu bytes (%" PRId64
           ")\n",
           times ? "with" : "without", events, 1e-6 * (double)events / seconds, file.size, sum);
    rfn_cursor_close(cursor);
    start = now();
    int error = rfn_archive_verify_open(archive, NULL, NULL, &diag);
    printf("verification: %.1f million events per second%s%s\n", 1e-6 * (double)n / (now() - start),
           error ? ": " : "", error ? diag.text : "");
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

/* A loop that does not cut: its segment is cut every so often. */
static void expect_long_segments(const struct rfn_archive *archive)
{
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    uint64_t n = 0;
    assert_int_equal(rfn_cursor_open(archive, 0, &cursor, NULL), 0);
    assert_int_equal(rfn_cursor_cut_segments(cursor, 3, NULL), 0);
    for (; rfn_cursor_next(cursor, &record, NULL) > 0; n++) {
        struct rfn_segment_place place = rfn_cursor_place(cursor);
        assert_int_equal(place.context, 0);
        assert_int_equal(place.begins, n % RFN_SEGMENT_EVENTS_MAX == 0);
    }
    assert_int_equal(n, 200000);
    rfn_cursor_close(cursor);
}

/* A long stream: several blocks per column, and time marks. It is one of four ranks, the others
 * have left nothing: then all is right, but the archive is not complete. */
static void test_long(void **state)
{
    (void)state;
    for (int times = 0; times < 2; times++) {
        struct rfn_buf file = write_long(200000, times);
        struct rfn_archive *archive = open_bytes(&file);
        struct rfn_diag diag = {0};
        assert_int_equal(rfn_archive_verify_open(archive, NULL, NULL, &diag), RFN_E_INCOMPLETE);
        assert_non_null(strstr(diag.text, "only 1 of 4 ranks is here"));
        const char *why = NULL;
        assert_false(rfn_archive_complete(archive, &why));
        assert_non_null(strstr(why, "1 of 4 ranks"));
        expect_long_segments(archive);
        rfn_archive_close(archive);
        rfn_buf_release(&file);
    }
}

/* ---- what does not fit into memory ---- */

static uint64_t stream_digest(const struct rfn_archive *archive, int *error, struct rfn_diag *diag)
{
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    uint64_t digest = 0;
    *error = rfn_cursor_open(archive, 0, &cursor, diag);
    if (*error < 0)
        return 0;
    while ((*error = rfn_cursor_next(cursor, &record, diag)) > 0) {
        const int64_t words[] = {record->enter_ns, record->exit_ns, record->in[0], record->in[4],
                                 record->symbol ? record->out[1] : 0};
        digest = digest * 31 + rfn_hash_bytes(words, sizeof words);
    }
    rfn_cursor_close(cursor);
    return digest;
}

enum way { TO_SCRATCH, TO_MEMORY, NO_FOLDER, NO_ROOM, N_WAYS };

static void limit_files(rlim_t size)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Where the VALUES are: read once more by themselves, as the archive keeps those that it has. */
static void check_scratch(const struct rfn_archive *archive, bool used)
{
    const struct rfn_chunks *chunks = &archive->chunks;
    const struct rfn_toc_entry *entry =
        &chunks->entries[rfn_chunks_find(chunks, RFN_CHUNK_VALUES, 0)];
    uint64_t end = chunks->scratch->end;
    struct rfn_payload again;
    assert_int_equal(rfn_chunks_load_events(chunks, entry, &again, NULL), 0);
    assert_int_equal(again.data == NULL, used);
    assert_true(again.size > RFN_RESIDENT_MAX && end == (used ? again.size : 0));
    assert_int_equal(chunks->scratch->end, end);
    rfn_payload_release(&again);
}

/* VALUES that are large when they are decompressed go to a temporary file, once; where there is
 * none they are read all the same. */
static void test_large_values(void **state)
{
    (void)state;
    struct rfn_buf file = write_long(200000, true);
    uint64_t digests[N_WAYS];
    for (int way = 0; way < N_WAYS; way++) {
        struct rfn_archive *archive = open_bytes(&file);
        struct rfn_diag diag = {.text = ""};
        int error;
        if (way == TO_MEMORY)
            archive->chunks.resident_max = SIZE_MAX;
        if (way == NO_FOLDER)
            setenv("TMPDIR", "/there/is/no/such/folder", 1);
        if (way == NO_ROOM)
            limit_files(10000);
        digests[way] = stream_digest(archive, &error, &diag);
        assert_int_equal(error, 0);
        check_scratch(archive, way == TO_SCRATCH);
        assert_true(digests[way] == digests[TO_SCRATCH]);
        rfn_archive_close(archive);
        unsetenv("TMPDIR");
    }
    limit_files(RLIM_INFINITY);
    rfn_buf_release(&file);
}

/* The VALUES of a file, damaged under a right checksum. */
static void damage_values(struct rfn_buf *file, size_t at)
{
    struct rfn_archive *archive = open_bytes(file);
    const struct rfn_chunks *chunks = &archive->chunks;
    const struct rfn_toc_entry *entry =
        &chunks->entries[rfn_chunks_find(chunks, RFN_CHUNK_VALUES, 0)];
    uint8_t *header = file->data + entry->offset, *stored = header + RFN_CHUNK_HEADER_BYTES;
    XXH3_state_t state;
    stored[at % entry->stored_size] ^= 0x15;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, header, RFN_CHUNK_SUMMED_BYTES);
    XXH3_64bits_update(&state, stored, (size_t)entry->stored_size);
    rfn_representative_store_64(header + RFN_CHUNK_SUMMED_BYTES, XXH3_64bits_digest(&state));
    rfn_archive_close(archive);
}

/* In the temporary file and in memory it is decompressed alike; what cannot be leaves nothing. */
static void test_damaged_values(void **state)
{
    (void)state;
    struct rfn_buf file = write_long(60000, false);
    int refused = 0;
    for (size_t at = 0; at < RFN_ROUNDS(200); at++) {
        int errors[2];
        struct rfn_diag diag = {.text = ""};
        damage_values(&file, at);
        for (int way = 0; way < 2; way++) {
            struct rfn_archive *archive = way ? open_windowed(&file) : open_bytes(&file);
            stream_digest(archive, &errors[way], &diag);
            assert_true(!errors[way] || strstr(diag.text, "(memory): "));
            if (way && strstr(diag.text, "the compressed data are")) {
                assert_int_equal(archive->chunks.scratch->end, 0);
                refused++;
            }
            rfn_archive_close(archive);
        }
        assert_int_equal(errors[0], errors[1]);
        assert_true(errors[0] == 0 || errors[0] == RFN_E_CORRUPT);
        damage_values(&file, at); /* as it was */
    }
    assert_true(refused > RFN_ROUNDS(10));
    rfn_buf_release(&file);
}

/* A file on disk, and an archive and a cursor that have begun to read it. */
struct opened {
    char path[32];
    int fd;
    struct rfn_archive *archive;
    struct rfn_cursor *cursor;
};

static void open_long(struct opened *opened, const struct rfn_buf *file)
{
    const struct rfn_record *record;
    strcpy(opened->path, "/tmp/archive_testXXXXXX");
    opened->fd = mkstemp(opened->path);
    assert_int_equal(write(opened->fd, file->data, file->size), (ssize_t)file->size);
    assert_int_equal(rfn_archive_open(opened->path, &opened->archive, NULL), 0);
    assert_int_equal(rfn_cursor_open(opened->archive, 0, &opened->cursor, NULL), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(rfn_cursor_next(opened->cursor, &record, NULL), 1);
}

/* Reads on to the end. */
static int read_rest(struct opened *opened, struct rfn_diag *diag)
{
    const struct rfn_record *record;
    int more;
    while ((more = rfn_cursor_next(opened->cursor, &record, diag)) > 0)
        ;
    rfn_cursor_close(opened->cursor);
    rfn_archive_close(opened->archive);
    close(opened->fd);
    unlink(opened->path);
    return more;
}

/* A file that becomes shorter, or other, after it has been checked. */
static void test_file_changes(void **state)
{
    (void)state;
    struct rfn_buf file = write_long(200000, true);
    struct opened opened;
    struct rfn_diag diag;
    char expected[64];
    open_long(&opened, &file);
    int64_t entry = rfn_chunks_find(&opened.archive->chunks, RFN_CHUNK_TIMING, 0);
    uint64_t offset = opened.archive->chunks.entries[entry].offset;
    snprintf(expected, sizeof expected, "at offset %" PRIu64 " (", offset);
    assert_int_equal(ftruncate(opened.fd, (off_t)file.size / 2), 0);
    assert_int_equal(read_rest(&opened, &diag), RFN_E_INCOMPLETE);
    assert_non_null(strstr(diag.text, expected));
    assert_non_null(strstr(diag.text, "the file has become shorter"));
    assert_int_equal(diag.file_offset, offset);

    uint8_t *other = malloc(file.size);
    for (int byte = 0; byte < 256; byte += 51) {
        open_long(&opened, &file);
        memset(other, byte, file.size);
        assert_int_equal(pwrite(opened.fd, other, file.size, 0), (ssize_t)file.size);
        assert_int_equal(read_rest(&opened, &diag), RFN_E_CORRUPT);
        assert_non_null(strstr(diag.text, expected));
    }
    for (size_t i = 0; i < file.size; i++) /* a byte in 100 */
        other[i] = (uint8_t)(file.data[i] ^ (i % 100 ? 0 : 0x40));
    open_long(&opened, &file);
    assert_int_equal(pwrite(opened.fd, other, file.size, 0), (ssize_t)file.size);
    assert_int_equal(read_rest(&opened, &diag), RFN_E_CORRUPT);
    free(other);
    rfn_buf_release(&file);
}

static bool write_sampled_seed(const char *directory)
{
    char path[512];
    model_more = add_samples;
    struct rfn_buf file = write_archive(SOUND, false, true);
    model_more = NULL;
    snprintf(path, sizeof path, "%s/seed-samples", directory);
    return write_file(path, &file);
}

static int write_seeds(const char *directory)
{
    for (enum fault fault = SOUND; fault < N_FAULTS; fault++) {
        for (int variant = 0; variant < 4; variant++) {
            char path[512];
            struct rfn_buf file = write_archive(fault, variant >> 1, variant & 1);
            snprintf(path, sizeof path, "%s/seed-%02d-%d", directory, (int)fault, variant);
            bool written = write_file(path, &file);
            if (!written)
                return 1;
        }
    }
    return write_sampled_seed(directory) ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "seeds") == 0)
        return write_seeds(argv[2]);
    if (argc == 3 && strcmp(argv[1], "bench") == 0) {
        bench_one(strtoull(argv[2], NULL, 10), false);
        bench_one(strtoull(argv[2], NULL, 10), true);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),         cmocka_unit_test(test_run),
        cmocka_unit_test(test_definitions),    cmocka_unit_test(test_comms),
        cmocka_unit_test(test_lists),          cmocka_unit_test(test_rank_lists),
        cmocka_unit_test(test_clock),          cmocka_unit_test(test_flips),
        cmocka_unit_test(test_cuts),           cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_file),           cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_long),
        cmocka_unit_test(test_first_versions), cmocka_unit_test(test_large_values),
        cmocka_unit_test(test_damaged_values), cmocka_unit_test(test_file_changes),
        cmocka_unit_test(test_damaged_lists),  cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
