/* What reading takes of memory. Of its allocations each fails once, and it gives up with
 * RFN_E_NOMEM and leaves nothing behind, with all payloads in memory and with none. And a long run
 * takes no more than a short one: profile and waits of a ring of ranks with irregular times, whose
 * messages are received soon and whose lists are ever new, have the same peak with eight times as
 * many events. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include "refrain/profile.h"
#include "refrain/waits.h"
#include "support/archive_model.h"
#include "support/read_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- each allocation fails ---- */

static void test_each_allocation_fails(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        struct read_job job = {write_archive(SOUND, variant & 1, true),
                               variant & 2 ? 0 : RFN_RESIDENT_MAX, false};
        assert_int_equal(fail_each(100, read_archive, &job), 0);
        rfn_buf_release(&job.file);
    }
}

/* ---- a ring: each rank sends to the next, receives from the one before, and all exchange data
 * according to a list of counts that has not been there before, again and again ---- */

enum { SENDS, RECEIVES, EXCHANGES, N_CALLS };

struct ring {
    struct rfn_column times[N_RANKS][N_CALLS][2], counts, lengths, words, lists;
    struct rfn_buf marks[N_RANKS];
    uint64_t last_mark[N_RANKS];
    uint64_t now[N_RANKS]; /* quanta */
    uint64_t random;
};

static void append(struct rfn_column *column, uint64_t value)
{
    assert_int_equal(rfn_column_append(column, (int64_t)value), 0);
}

static void ring_event(struct ring *ring, uint32_t rank, uint64_t round, int call, uint64_t gap,
                       uint64_t exit)
{
    uint64_t enter = ring->now[rank] + gap, event = N_CALLS * round + (uint64_t)call;
    append(&ring->times[rank][call][0], gap);
    append(&ring->times[rank][call][1], exit - enter);
    ring->now[rank] = exit;
    if (event == 0 || event % 65536)
        return;
    rfn_buf_varint(&ring->marks[rank], enter - ring->last_mark[rank]);
    ring->last_mark[rank] = enter;
}

/* Each rank is very late once, early, so that short runs have columns of wide values, too. */
static void ring_send(struct ring *ring, uint32_t rank, uint64_t round, uint64_t *sent)
{
    uint64_t gap = noise(&ring->random) % 30000, takes = noise(&ring->random) % 3000;
    gap += round == rank ? 200000 : 0;
    *sent = ring->now[rank] + gap;
    ring_event(ring, rank, round, SENDS, gap, *sent + takes);
}

static void ring_receive(struct ring *ring, uint32_t rank, uint64_t round, uint64_t sent)
{
    uint64_t gap = noise(&ring->random) % 3000, enter = ring->now[rank] + gap;
    uint64_t exit = (sent > enter ? sent : enter) + 600 + noise(&ring->random) % 3000;
    ring_event(ring, rank, round, RECEIVES, gap, exit);
}

static void ring_exchange(struct ring *ring, uint32_t rank, uint64_t round)
{
    uint64_t gap = noise(&ring->random) % 3000;
    ring_event(ring, rank, round, EXCHANGES, gap,
               ring->now[rank] + gap + noise(&ring->random) % 3000);
}

/* Words of one width, so that short runs need it, too. */
static void ring_list(struct ring *ring, uint64_t round)
{
    uint64_t n = 1 + noise(&ring->random) % 12;
    append(&ring->lengths, n);
    append(&ring->lists, round + 1);
    for (uint64_t i = 0; i < n; i++)
        append(&ring->words, noise(&ring->random) % 50000);
}

static void begin_ring(struct ring *ring)
{
    *ring = (struct ring){.random = 7};
    rfn_column_init(&ring->counts);
    rfn_column_init(&ring->lengths);
    rfn_column_init(&ring->words);
    rfn_column_init(&ring->lists);
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        ring->now[rank] = ring->last_mark[rank] = 1000;
        for (int k = 0; k < N_CALLS * 2; k++)
            rfn_column_init(&ring->times[rank][k / 2][k % 2]);
    }
}

static void make_ring(struct ring *ring, uint64_t rounds)
{
    begin_ring(ring);
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t sent[N_RANKS];
        for (uint32_t rank = 0; rank < N_RANKS; rank++)
            ring_send(ring, rank, i, &sent[rank]);
        for (uint32_t rank = 0; rank < N_RANKS; rank++)
            ring_receive(ring, rank, i, sent[(rank + N_RANKS - 1) % N_RANKS]);
        for (uint32_t rank = 0; rank < N_RANKS; rank++)
            ring_exchange(ring, rank, i);
        append(&ring->counts, noise(&ring->random) % 10000000);
        ring_list(ring, i);
    }
}

static void write_streams_of_ring(struct writer *writer, uint64_t events)
{
    const uint64_t words[RFN_STREAM_WORDS] = {[RFN_WORD_EVENTS] = events,
                                              [RFN_WORD_CALLS] = events,
                                              [RFN_WORD_START] = monotonic_of(1000),
                                              [RFN_WORD_REALTIME] = offset_of(&model[0])};
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_varint(&out, N_RANKS);
    for (int i = 0; i < RFN_STREAM_WORDS; i++) {
        bool relative = i == RFN_WORD_RANK || i == RFN_WORD_TIMES;
        rfn_buf_varint(&out, N_RANKS * 4u + relative);
        rfn_buf_svarint(&out, (int64_t)words[i]);
    }
    add_chunk(writer, RFN_CHUNK_STREAMS, 0, &out);
}

static void write_structure_of_ring(struct writer *writer)
{
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_bytes(&out, "\5\15\2\4\0\4\6\15\1\20\0\20\2\20\1", 15); /* dest, source, comms */
    add_chunk(writer, RFN_CHUNK_RANK_PARAMS, 0, &out);
    rfn_buf_bytes(&out, "\3\2\0\3\1\5\0\3\2\1\0\3", 12); /* sites, types, communicators */
    rfn_buf_bytes(&out, "\3\0\0\1\2\16\0", 7);           /* Send: count is moved, tag 7 */
    rfn_buf_bytes(&out, "\2\0\0\200\1\2\16\0", 8);       /* Recv of tag 7 */
    rfn_buf_bytes(&out, "\4\0\3\0", 4);                  /* Alltoallw: both lists are moved */
    rfn_buf_bytes(&out, "\1\3\0\2\4\1\1", 7);            /* one loop */
    add_chunk(writer, RFN_CHUNK_STRUCTURE, 0, &out);
}

static void write_constant(struct rfn_buf *out, int64_t value, uint64_t n)
{
    struct rfn_column column;
    rfn_column_init(&column);
    for (uint64_t i = 0; i < n; i++)
        append(&column, (uint64_t)value);
    rfn_column_write(&column, out);
    rfn_column_release(&column);
}

static void write_and_release(struct rfn_column *column, struct rfn_buf *out)
{
    rfn_column_write(column, out);
    rfn_column_release(column);
}

static void write_values_of_ring(struct writer *writer, struct ring *ring)
{
    struct rfn_buf out = RFN_BUF_INIT;
    const uint64_t n = ring->counts.n;
    rfn_buf_varint(&out, ring->lengths.n);
    write_and_release(&ring->lengths, &out);
    write_and_release(&ring->words, &out);
    write_constant(&out, (int64_t)n, 1);
    write_and_release(&ring->counts, &out);
    for (int i = 0; i < 3; i++) /* source, tag, bytes */
        write_constant(&out, RFN_AS_POSTED, n);
    rfn_column_write(&ring->lists, &out); /* as datatypes, most of which do not exist */
    write_and_release(&ring->lists, &out);
    write_constant(&out, 0, n);
    assert_true(out.size > RFN_RESIDENT_MAX);
    add_chunk(writer, RFN_CHUNK_VALUES, 0, &out);
}

static void write_timing_of_ring(struct writer *writer, struct ring *ring, uint32_t rank,
                                 uint64_t events)
{
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_varint(&out, 1);
    write_clock(writer, &model[0], &out);
    out.size--; /* the number of marks */
    rfn_buf_varint(&out, (events - 1) / 65536);
    rfn_buf_bytes(&out, ring->marks[rank].data, ring->marks[rank].size);
    rfn_buf_release(&ring->marks[rank]);
    for (int k = 0; k < N_CALLS * 2; k++)
        write_and_release(&ring->times[rank][k / 2][k % 2], &out);
    assert_true(out.size > RFN_RESIDENT_MAX);
    add_chunk(writer, RFN_CHUNK_TIMING, rank, &out);
}

static void write_ring(const char *path, uint64_t rounds)
{
    struct writer writer = {.times = true, .minor = RFN_FORMAT_MINOR};
    struct ring ring;
    uint8_t header[RFN_HEADER_BYTES];
    make_model();
    make_ring(&ring, rounds);
    rfn_header_write(header, RFN_STATE_WRITING, 0, 0);
    rfn_buf_bytes(&writer.file, header, sizeof header);
    write_meta(&writer);
    write_definitions(&writer);
    write_streams_of_ring(&writer, N_CALLS * rounds);
    write_structure_of_ring(&writer);
    write_values_of_ring(&writer, &ring);
    for (uint32_t rank = 0; rank < N_RANKS; rank++)
        write_timing_of_ring(&writer, &ring, rank, N_CALLS * rounds);
    write_tail(&writer);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(writer.file.data, 1, writer.file.size, file), writer.file.size);
    assert_int_equal(fclose(file), 0);
    rfn_buf_release(&writer.file);
}

/* ---- memory does not grow with events ---- */

/* Profile and waits of a file; the most bytes that were in use at one time. */
static size_t peak_of(const char *path, uint64_t rounds, size_t resident_max)
{
    struct rfn_archive *archive;
    struct rfn_profile *profile;
    struct rfn_waits *waits;
    struct rfn_diag diag = {.text = ""};
    const struct rfn_waits_options options = {.fix_clocks = false};
    size_t before = peak = heap;
    assert_int_equal(rfn_archive_open(path, &archive, &diag), 0);
    archive->chunks.resident_max = resident_max;
    archive->list_bytes = 1 << 18;
    assert_int_equal(rfn_profile_new(archive, NULL, NULL, &profile, &diag), 0);
    assert_int_equal(rfn_waits_new(archive, &options, NULL, NULL, &waits, &diag), 0);
    if (profile->unreadable || waits->unreadable)
        print_error("%s%s\n", profile->diag.text, waits->diag.text);
    assert_true(profile->unreadable == 0 && waits->unreadable == 0 && waits->total_ns > 0);
    assert_int_equal(waits->matching.matched, N_RANKS * rounds);
    assert_int_equal(waits->matching.messages, N_RANKS * rounds);
    rfn_waits_free(waits);
    rfn_profile_free(profile);
    rfn_archive_close(archive);
    assert_int_equal(heap, before);
    return peak - before;
}

static void test_memory_is_bounded(void **state)
{
    (void)state;
    enum { SHORT = 15000, LONG = 8 * SHORT };
    char path[] = "/tmp/archive_nomem_testXXXXXX";
    close(mkstemp(path));
    write_ring(path, SHORT);
    size_t little = peak_of(path, SHORT, RFN_RESIDENT_MAX);
    size_t all_little = peak_of(path, SHORT, SIZE_MAX);
    write_ring(path, LONG);
    size_t much = peak_of(path, LONG, RFN_RESIDENT_MAX);
    size_t all_much = peak_of(path, LONG, SIZE_MAX);
    unlink(path);
    print_message("peak: %zu and %zu bytes; with all columns in memory %zu and %zu\n", little, much,
                  all_little, all_much);
    assert_true(much < little + little / 50);
    assert_true(all_much > 2 * all_little); /* else this would show nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
