/* Tests of an archive that several processes write. What the file has in the end is looked at chunk
 * by chunk, from its beginning, without the table of contents: nothing else may be between them. */
#include "record/finish/parallel_write.h"

#include "archive/read/chunks.h"
#include "record/core/options.h"
#include "support/forked_ranks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { RANKS = 5, UNSHARED = 3, LARGE = 60000, SPILLED = 150000, OWN = 300 };
enum { META = 900, PART = 901, TIMES = 902 }; /* types of chunks, which nobody knows */

struct course {
    size_t front;  /* bytes of rank 0's chunk */
    int idle;      /* a rank without times; -1: none */
    int with_part; /* the only rank but 0 with a chunk beside its times; -1: all have one */
    bool unshared; /* rank UNSHARED cannot open the file */
    int refused;   /* files must not be large for this rank, RANKS stands for 0; 0: for none */
    int failing;   /* a rank that has failed before, RANKS stands for 0; 0: none */
    int lost;      /* a rank that cannot read its times when it sends or writes them; 0: none */
};

static struct course course;
static char folder[64], path[128];

/* ---- what ranks have ---- */

static uint8_t *bytes_of(int rank, uint64_t seed, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    uint64_t x = (uint64_t)rank * 1000 + seed + 1;
    for (size_t i = 0; bytes && i < size; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (uint8_t)(x >> 56 | 1); /* no zeros: they are between chunks */
    }
    return bytes;
}

static uint64_t readable = UINT64_MAX; /* bytes of the spill, altogether */

static int read_spill(void *context, uint64_t offset, void *bytes, size_t size)
{
    if (size > readable)
        return RFN_E_IO;
    readable -= size;
    memcpy(bytes, (const uint8_t *)context + offset, size);
    return 0;
}

/* A rank's times: own bytes, borrowed ones, a stretch of a spill, own bytes. */
struct times {
    struct rfn_rope rope;
    uint8_t *own, *large, *spilled;
    struct rfn_spill spill;
};

static void make_times(struct times *times, int rank)
{
    *times = (struct times){.own = bytes_of(rank, 0, OWN),
                            .large = bytes_of(rank, 1, LARGE),
                            .spilled = bytes_of(rank, 2, SPILLED)};
    times->spill = (struct rfn_spill){.context = times->spilled, .read = read_spill};
    const struct rfn_extent extent = {10, SPILLED - 10};
    rfn_buf_bytes(&times->rope.bytes, times->own, OWN);
    rfn_rope_borrow(&times->rope, times->large, LARGE);
    rfn_rope_extent(&times->rope, &times->spill, &extent);
    rfn_buf_bytes(&times->rope.bytes, times->own, OWN / 2);
}

static void release_times(struct times *times)
{
    rfn_rope_release(&times->rope);
    free(times->own);
    free(times->large);
    free(times->spilled);
}

static size_t part_size(int rank)
{
    const bool has_part = course.with_part < 0 || rank == course.with_part;
    return rank == 0 ? course.front : has_part ? (size_t)(200 + 50 * rank) : 0;
}

/* ---- a rank ---- */

static int make_chunks(struct rec_output *output, struct times *times, int rank)
{
    struct rfn_rope part = RFN_ROPE_INIT;
    uint8_t *bytes = bytes_of(rank, 4, part_size(rank));
    int error = 0;
    rfn_buf_bytes(&part.bytes, bytes, part_size(rank));
    free(bytes);
    if (part_size(rank))
        error = rec_output_chunk(output, rank ? PART : META, (uint64_t)rank, &part, false, NULL);
    rfn_rope_release(&part);
    if (!error && rank != course.idle)
        error = rec_output_chunk(output, TIMES, (uint64_t)rank, &times->rope, false, NULL);
    return error;
}

static void refuse_large_files(void)
{
    const struct rlimit limit = {.rlim_cur = 1000, .rlim_max = RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static bool take_part(struct rfn_exchange *exchange)
{
    const int rank = exchange->rank;
    const struct rlimit no_files = {.rlim_cur = 0, .rlim_max = 0};
    struct rec_archive_result result = {0};
    struct rec_output output = REC_OUTPUT_INIT;
    struct times times;
    make_times(&times, rank);
    if (rank == UNSHARED && course.unshared)
        setrlimit(RLIMIT_NOFILE, &no_files);
    if (course.refused && rank == course.refused % RANKS)
        refuse_large_files();
    int error = make_chunks(&output, &times, rank);
    if (course.lost && rank == course.lost)
        readable = 0;
    if (course.failing && rank == course.failing % RANKS)
        error = RFN_E_NOMEM;
    error = rec_output_write(&output, exchange, error, &result);
    rec_output_release(&output);
    release_times(&times);
    const bool fails = course.refused || course.failing || course.lost;
    if (rank == 0 && !fails)
        return error == 0 && strcmp(result.path, path) == 0 && !result.problem[0] &&
               result.complete_ns > 0;
    if (rank == 0)
        return error < 0 && result.problem[0];
    /* A rank that has sent or written its part learns of others' failures, but not that rank 0
     * could not write what was sent to it. */
    return (error < 0) == fails || (course.unshared && rank != course.lost);
}

/* ---- the file ---- */

static uint64_t get(const uint8_t *bytes, unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = n; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static bool is_whole(const uint8_t *chunk, uint64_t stored)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, chunk, RFN_CHUNK_SUMMED_BYTES);
    XXH3_64bits_update(&state, chunk + RFN_CHUNK_HEADER_BYTES, stored);
    return XXH3_64bits_digest(&state) == get(chunk + RFN_CHUNK_SUMMED_BYTES, 8);
}

struct found {
    int parts, times, contents;
};

static void look_at(const uint8_t *chunk, uint64_t stored, struct found *found)
{
    const uint64_t type = get(chunk + 4, 4);
    const int rank = (int)get(chunk + 8, 8);
    const uint8_t *payload = chunk + RFN_CHUNK_HEADER_BYTES;
    if (type == RFN_CHUNK_TOC) {
        found->contents++;
        return;
    }
    assert_true(rank < RANKS);
    if (type == TIMES) {
        struct rfn_rope here = RFN_ROPE_INIT;
        struct rfn_hash128 digest, expected;
        struct times times;
        make_times(&times, rank);
        rfn_rope_borrow(&here, payload, stored);
        assert_int_equal(rfn_rope_hash128(&here, 0, &digest), 0);
        assert_int_equal(rfn_rope_hash128(&times.rope, 0, &expected), 0);
        assert_true(rfn_hash128_equal(digest, expected));
        rfn_rope_release(&here);
        release_times(&times);
        found->times++;
        return;
    }
    uint8_t *expected = bytes_of(rank, 4, part_size(rank));
    assert_int_equal(type, rank ? PART : META);
    assert_int_equal(stored, part_size(rank));
    assert_memory_equal(payload, expected, stored);
    free(expected);
    found->parts++;
}

/* All chunks of the file; nothing is between them. */
static struct found walk(const uint8_t *bytes, uint64_t size)
{
    struct found found = {0};
    for (uint64_t at = RFN_HEADER_BYTES; at < size;) {
        assert_true(size - at >= RFN_CHUNK_HEADER_BYTES);
        assert_int_equal(get(bytes + at, 4), RFN_CHUNK_MAGIC);
        const struct rfn_toc_entry entry = {.stored_size = get(bytes + at + 24, 8)};
        assert_true(entry.stored_size <= size - at - RFN_CHUNK_HEADER_BYTES);
        assert_true(is_whole(bytes + at, entry.stored_size));
        look_at(bytes + at, entry.stored_size, &found);
        at += rfn_chunk_bytes(&entry);
    }
    return found;
}

/* The table of contents has all of them, where they are. */
static void check_contents(const uint8_t *bytes, uint64_t size, const struct found *found)
{
    struct rfn_chunks chunks;
    struct rfn_diag diag;
    assert_int_equal(rfn_chunks_open_memory(&chunks, bytes, size, &diag), 0);
    assert_true(chunks.complete);
    assert_int_equal(chunks.n, found->parts + found->times);
    for (size_t i = 0; i < chunks.n; i++) {
        const struct rfn_toc_entry *entry = &chunks.entries[i];
        const uint8_t *chunk = bytes + entry->offset;
        assert_int_equal(get(chunk, 4), RFN_CHUNK_MAGIC);
        assert_int_equal(get(chunk + 4, 4), entry->type);
        assert_int_equal(get(chunk + 8, 8), entry->id);
        assert_int_equal(get(chunk + 24, 8), entry->stored_size);
    }
    rfn_chunks_close(&chunks);
}

static uint8_t *read_archive(uint64_t *size)
{
    struct stat status;
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_int_equal(fstat(fileno(in), &status), 0);
    uint8_t *bytes = malloc((size_t)status.st_size);
    assert_non_null(bytes);
    *size = (uint64_t)status.st_size;
    assert_int_equal(fread(bytes, 1, *size, in), *size);
    fclose(in);
    assert_int_equal(get(bytes + 16, 8), RFN_STATE_WHOLE);
    assert_int_equal(get(bytes + 32, 8), *size);
    return bytes;
}

/* ---- courses ---- */

static void begin(const struct course *wanted)
{
    course = *wanted;
    snprintf(folder, sizeof folder, "/tmp/refrain-output-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/all.rfn", folder);
    rec_options.output = path;
}

static void end(void)
{
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* there was nothing else */
}

static void run(const struct course *wanted)
{
    uint64_t size;
    begin(wanted);
    run_forked_ranks(RANKS, take_part);
    uint8_t *bytes = read_archive(&size);
    const struct found found = walk(bytes, size);
    check_contents(bytes, size, &found);
    free(bytes);
    end();
    assert_int_equal(found.parts, wanted->with_part < 0 ? RANKS : 1 + (wanted->with_part > 0));
    assert_int_equal(found.times, RANKS - (wanted->idle >= 0));
    assert_int_equal(found.contents, 1);
}

/* All ranks know that there is no archive, and none is left. */
static void run_in_vain(const struct course *wanted)
{
    begin(wanted);
    run_forked_ranks(RANKS, take_part);
    assert_int_equal(access(path, F_OK), -1);
    end();
}

/* Each rank writes its own part, as large as it is. */
static void test_written(void **state)
{
    (void)state;
    const struct course courses[] = {{.front = 500, .idle = -1, .with_part = -1},
                                     {.front = 1000000, .idle = 2, .with_part = -1},
                                     {.front = 1, .idle = 0},
                                     {.front = 500, .idle = 3, .with_part = 4}};
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++)
        run(&courses[i]);
}

/* Rank 0 writes for all when a rank cannot open the file. */
static void test_gathered(void **state)
{
    (void)state;
    run(&(struct course){.front = 500, .idle = -1, .with_part = -1, .unshared = true});
    run(&(struct course){.front = 100000, .idle = 2, .unshared = true});
}

/* A rank that has failed, or cannot write or read its part. */
static void test_failure(void **state)
{
    (void)state;
    for (int rank = 1; rank <= RANKS; rank++) {
        run_in_vain(&(struct course){.front = 500, .idle = -1, .with_part = -1, .refused = rank});
        run_in_vain(&(struct course){.front = 500, .idle = -1, .with_part = -1, .failing = rank});
    }
    for (int rank = 1; rank < RANKS; rank++) {
        run_in_vain(&(struct course){.front = 500, .idle = -1, .with_part = -1, .lost = rank});
        run_in_vain(&(struct course){
            .front = 500, .idle = -1, .with_part = -1, .lost = rank, .unshared = true});
    }
}

/* A name that is another file's is not taken, unless that is wanted. */
static void test_names(void **state)
{
    (void)state;
    char first[sizeof path];
    begin(&(struct course){.front = 500, .idle = -1, .with_part = -1});
    memcpy(first, path, sizeof first);
    rec_options.output = first;
    FILE *other = fopen(first, "w");
    assert_non_null(other);
    assert_int_equal(fclose(other), 0);
    snprintf(path, sizeof path, "%s/all.2.rfn", folder);
    run_forked_ranks(RANKS, take_part);
    struct stat status;
    assert_int_equal(stat(first, &status), 0);
    assert_int_equal(status.st_size, 0);
    assert_int_equal(unlink(path), 0);
    memcpy(path, first, sizeof path);
    /* A file that is older than the run, whose clock is at 0 here. */
    const struct timespec before[2] = {{.tv_sec = -1}, {.tv_sec = -1}};
    assert_int_equal(utimensat(AT_FDCWD, first, before, 0), 0);
    const bool force = rec_options.force;
    rec_options.force = true;
    run_forked_ranks(RANKS, take_part);
    rec_options.force = force;
    assert_int_equal(stat(first, &status), 0);
    assert_true(status.st_size > RANKS * SPILLED);
    rec_options.output = path;
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_gathered),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
