/* Tests of an archive that several processes write, some of it before all of them are there. What
 * the file has in the end is looked at chunk by chunk, from its beginning, without the table of
 * contents: nothing else may be between them. */
#include "record/output.h"

#include "archive/chunks.h"
#include "record/forked_ranks.h"
#include "record/options.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { RANKS = 5, UNSHARED = 3, LARGE = 60000, SPILLED = 150000, OWN = 300, SCRIBBLE = 0x5a };
enum { META = 900, PART = 901, TIMES = 902 }; /* types of chunks, which nobody knows */

/* What happens between the times that are written ahead and those in the end. */
struct course {
    size_t front;    /* bytes of rank 0's chunk */
    size_t added;    /* bytes, to the times of odd ranks */
    int idle;        /* a rank without times; -1: none */
    bool no_name;    /* the file cannot be given one */
    bool taken;      /* the program has got a rank's descriptor for another file */
    int taken_of;    /* which rank's */
    bool limited;    /* no rank can write ahead: files must not be large by then */
    bool unshared;   /* rank UNSHARED cannot open the file in the end */
    bool scribble;   /* somebody has written into what stands there */
    bool changed;    /* of the large part of times a byte is another one */
    bool none_ahead; /* nothing is written ahead at all */
    bool only_times; /* ranks other than 0 have nothing else */
    int with_part;   /* but this one; 0: none */
    bool late;       /* rank 0 opens the file when others have closed it */
    bool whole;      /* times are whole when they are written ahead */
    bool alone;      /* then rank 0 completes the archive without the others */
    bool masked;     /* ranks other than 0 let nobody read their files */
    bool at_once;    /* rank 0 ends the file when it has heard of all ranks */
    int refused;     /* files must not be large in the end for this rank; 0: for none */
    int lost;        /* a rank that cannot read its times when it sends them; 0: none */
};

static struct course course;
static struct rec_ahead ahead = REC_AHEAD_INIT;
static char folder[64], path[128], other_path[128];
static uint64_t *unnamed; /* inode of the file in which times stand; all processes share it */

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

/* A rank's times: own bytes, borrowed ones, a stretch of a spill, own bytes, and what is added. */
struct times {
    struct rfn_rope rope;
    uint8_t *own, *large, *spilled, *added;
    struct rfn_spill spill;
};

static void make_times(struct times *times, int rank, size_t added)
{
    *times = (struct times){.own = bytes_of(rank, 0, OWN),
                            .large = bytes_of(rank, 1, LARGE),
                            .spilled = bytes_of(rank, 2, SPILLED),
                            .added = bytes_of(rank, 3, added)};
    times->spill = (struct rfn_spill){.context = times->spilled, .read = read_spill};
    const struct rfn_extent extent = {10, SPILLED - 10};
    rfn_buf_bytes(&times->rope.bytes, times->own, OWN);
    rfn_rope_borrow(&times->rope, times->large, LARGE);
    rfn_rope_extent(&times->rope, &times->spill, &extent);
    rfn_buf_bytes(&times->rope.bytes, times->own, OWN / 2);
    rfn_buf_bytes(&times->rope.bytes, times->added, added);
}

static void release_times(struct times *times)
{
    rfn_rope_release(&times->rope);
    free(times->own);
    free(times->large);
    free(times->spilled);
    free(times->added);
}

static size_t added_of(int rank)
{
    return rank % 2 ? course.added : 0;
}

static struct rfn_hash128 digest_of(int rank)
{
    struct times times;
    struct rfn_hash128 digest;
    make_times(&times, rank, added_of(rank));
    times.large[LARGE / 2] ^= course.changed ? 0x80 : 0;
    assert_int_equal(rfn_rope_hash128(&times.rope, 0, &digest), 0);
    release_times(&times);
    return digest;
}

static size_t part_size(int rank)
{
    const bool has_part = !course.only_times || rank == course.with_part;
    return rank == 0 ? course.front : has_part ? (size_t)(200 + 50 * rank) : 0;
}

/* ---- a rank ---- */

static int merge_nothing(void *state, int child, const uint8_t *bytes, size_t size)
{
    (void)state, (void)child, (void)bytes;
    return size ? RFN_E_EXCHANGE : 0;
}

static int write_nothing(void *state, struct rfn_buf *out)
{
    (void)state;
    return rfn_buf_status(out);
}

static bool wait_for_all(struct rec_node_exchange *node)
{
    static const struct rfn_round round = {.merge = merge_nothing, .write = write_nothing};
    uint64_t word = 0;
    return rfn_exchange_climb(&node->exchange, &round, NULL, 0) == 0 &&
           rfn_exchange_tell(&node->exchange, &word) == 0;
}

static void limit_files(rlim_t bytes)
{
    const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
}

static struct times times_ahead; /* whole ones stay where they are */

static void write_ahead(struct rec_node_exchange *node)
{
    const struct rfn_toc_entry entry = {.type = TIMES, .id = (uint64_t)node->exchange.rank};
    make_times(&times_ahead, node->exchange.rank, 0);
    if (course.limited)
        limit_files(1000);
    if (course.masked && node->exchange.rank > 0)
        umask(0777);
    rec_ahead_write(&ahead, node, &entry, course.whole, &times_ahead.rope);
    if (course.limited)
        limit_files(RLIM_INFINITY);
}

/* Into the middle of the borrowed bytes, by rank 0, which has the file open. */
static bool scribble(uint64_t offset)
{
    const uint8_t byte = SCRIBBLE;
    return pwrite(ahead.fd, &byte, 1, (off_t)offset) == 1;
}

enum { RESERVE = 1 << 14 }; /* all ranks have too little for more */

static uint64_t scribbled_at(void)
{
    return RFN_HEADER_BYTES + RESERVE + RFN_CHUNK_HEADER_BYTES + OWN + LARGE / 2;
}

/* Gives rank 0 a file that can have no name in the folder. */
static bool lose_name(void)
{
    int other = memfd_create("other", MFD_CLOEXEC);
    bool replaced = other >= 0 && dup2(other, ahead.fd) == ahead.fd;
    close(other);
    return replaced;
}

/* Gives the rank another file, which has a name. */
static bool take_descriptor(void)
{
    int other = open(other_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool taken = write(other, folder, sizeof folder) == sizeof folder &&
                 dup2(other, ahead.fd) == ahead.fd;
    close(other);
    return taken;
}

static bool no_more_descriptors(void)
{
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    return setrlimit(RLIMIT_NOFILE, &none) == 0;
}

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
    if (!error && ahead.whole)
        rec_output_chunk_whole(output);
    else if (!error && rank != course.idle)
        error = rec_output_chunk_claimed(output, TIMES, (uint64_t)rank, &times->rope);
    return error;
}

/* Whether a rank without ranks below it has sent what the course says: where it has what, that this
 * is written, and a word after each. */
static bool has_sent(const struct rfn_exchange *exchange, uint64_t before)
{
    const uint64_t words = course.none_ahead ? 1 : 2;
    return exchange->rank % 2 == 0 ||
           exchange->messages_sent - before == (course.at_once ? 2 : 2 + words);
}

static bool write_archive(struct rec_node_exchange *node)
{
    const int rank = node->exchange.rank;
    const uint64_t before = node->exchange.messages_sent;
    struct rec_archive_result result = {0};
    struct rec_output output = {.ahead = &ahead};
    struct times times;
    make_times(&times, rank, added_of(rank));
    times.large[LARGE / 2] ^= course.changed ? 0x80 : 0;
    int error = make_chunks(&output, &times, rank);
    error = rec_output_write(&output, &node->exchange, error, &result);
    rec_output_release(&output);
    release_times(&times);
    const bool fails = course.refused || (course.lost && (rank == 0 || rank == course.lost));
    return (error == 0) == !fails && has_sent(&node->exchange, before);
}

/* Each rank's entry goes to rank 0, which completes the archive; the others hear of it. */
static int gather_entry(void *standing, int rank, int part, const uint8_t *bytes, size_t size,
                        bool *wants)
{
    (void)rank, (void)part;
    *wants = false;
    rfn_buf_bytes(standing, bytes, size);
    return rfn_buf_status(standing);
}

static int complete(struct rfn_exchange *exchange, const struct rfn_buf *standing)
{
    struct rec_archive_result result = {0};
    struct rec_output output = {.ahead = &ahead};
    int error = make_chunks(&output, &(struct times){0}, 0);
    rfn_rope_release(&output.claimed);
    const int fd = error ? error : rec_output_create(&output, exchange, &result);
    if (fd >= 0)
        error = rec_output_complete(&output, exchange, fd, standing, 0, &result);
    rec_output_release(&output);
    return fd < 0 ? fd : error;
}

static bool write_alone(struct rec_node_exchange *node)
{
    struct rfn_buf standing = RFN_BUF_INIT;
    struct rfn_gathering gathering = {.take = gather_entry, .state = &standing};
    struct rfn_exchange *exchange = &node->exchange;
    uint64_t error = 0;
    if (exchange->rank != course.idle)
        rfn_buf_bytes(gathering.own, &ahead.entry, sizeof ahead.entry);
    bool right = rfn_exchange_gather(exchange, &gathering, 0) == 0;
    if (exchange->rank == 0)
        error = (uint64_t)complete(exchange, &standing);
    right = rfn_exchange_tell(exchange, &error) == 0 && right;
    rfn_buf_release(gathering.own);
    rfn_buf_release(&standing);
    if (course.no_name || course.refused)
        return right && (int)error == (course.no_name ? RFN_E_UNSUPPORTED : RFN_E_IO);
    return right && error == 0;
}

static bool take_part(struct rec_node_exchange *node)
{
    const int rank = node->exchange.rank;
    if (rank != course.idle && !course.none_ahead)
        write_ahead(node);
    if (!wait_for_all(node))
        return false;
    if (rank == 0 && course.late)
        usleep(100000);
    rec_ahead_settle(&ahead, node, course.whole);
    const int fd = ahead.fd;
    if (rank == 0)
        *unnamed = ahead.file.inode;
    bool right = (ahead.n_parts > 0) ==
                 (rank != course.idle && !course.none_ahead && !course.limited);
    if (rank == 0 && course.scribble)
        right = scribble(scribbled_at()) && right;
    if (rank == 0 && course.no_name)
        right = lose_name() && right;
    const bool taken = course.taken && rank == course.taken_of;
    if (taken)
        right = take_descriptor() && right;
    if (!course.late && !wait_for_all(node))
        return false;
    if (rank == UNSHARED && course.unshared)
        right = no_more_descriptors() && right;
    if (course.refused && rank == course.refused % RANKS) {
        signal(SIGXFSZ, SIG_IGN);
        limit_files(1000);
    }
    if (course.lost &&
        rank == course.lost) /* for the checksum, and for the file, if it sees that */
        readable = (rank == UNSHARED ? 1 : 2) * (SPILLED - 10);
    right = (course.alone ? write_alone : write_archive)(node) && right;
    if (fd >= 0 && !course.alone) /* the file is closed, and no other one */
        right = ahead.fd < 0 && (fcntl(fd, F_GETFD) >= 0) == taken && right;
    rec_ahead_release(&ahead);
    release_times(&times_ahead);
    return right;
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
    uint64_t first; /* where the first chunk of times begins */
};

static void look_at(const uint8_t *chunk, uint64_t stored, uint64_t offset, struct found *found)
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
        const struct rfn_hash128 digest = digest_of(rank);
        struct rfn_rope rope = RFN_ROPE_INIT;
        struct rfn_hash128 here;
        rfn_rope_borrow(&rope, payload, stored);
        assert_int_equal(rfn_rope_hash128(&rope, 0, &here), 0);
        assert_true(rfn_hash128_equal(here, digest));
        rfn_rope_release(&rope);
        found->first = found->times++ ? found->first : offset;
        return;
    }
    uint8_t *expected = bytes_of(rank, 4, part_size(rank));
    assert_int_equal(type, rank ? PART : META);
    assert_int_equal(stored, part_size(rank));
    assert_memory_equal(payload, expected, stored);
    free(expected);
    found->parts++;
}

/* All chunks of the file; nothing but zeros is between them. */
static struct found walk(const uint8_t *bytes, uint64_t size)
{
    struct found found = {0};
    for (uint64_t at = RFN_HEADER_BYTES; at < size;) {
        if (get(bytes + at, 8) == 0) {
            at += 8;
            continue;
        }
        assert_true(size - at >= RFN_CHUNK_HEADER_BYTES);
        assert_int_equal(get(bytes + at, 4), RFN_CHUNK_MAGIC);
        const struct rfn_toc_entry entry = {.stored_size = get(bytes + at + 24, 8)};
        assert_true(entry.stored_size <= size - at - RFN_CHUNK_HEADER_BYTES);
        assert_true(is_whole(bytes + at, entry.stored_size));
        look_at(bytes + at, entry.stored_size, at, &found);
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
    snprintf(other_path, sizeof other_path, "%s/other", folder);
    rec_options.output = path;
    rec_options.ahead_bytes = 1000;
}

static void end(void)
{
    rec_ahead_release(&ahead);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* there was nothing else */
}

/* What ranks claim, but for one that has no times: a chunk each, and some bytes to spare. */
static uint64_t claimed(void)
{
    struct times times;
    make_times(&times, 0, 0);
    const struct rfn_toc_entry entry = {.stored_size = rfn_rope_size(&times.rope)};
    release_times(&times);
    return (rfn_chunk_bytes(&entry) + (course.whole ? 64 : 256)) *
           (uint64_t)(RANKS - (course.idle >= 0));
}

/* Where what is claimed begins in the end. Behind rank 0's part there are some bytes for more of
 * it, unless they are more than a 128th of the file. */
static uint64_t begin_of_claims(void)
{
    const uint64_t part = RFN_CHUNK_HEADER_BYTES + (course.front + 7) / 8 * 8;
    const uint64_t all = RFN_HEADER_BYTES + RESERVE + claimed() + part;
    const bool fits = part <= RESERVE && RESERVE - part <= all / 128;
    return RFN_HEADER_BYTES + (fits ? RESERVE : part);
}

/* Takes back what was scribbled into the chunk that begins where claims do. */
static void mend(uint8_t *bytes)
{
    uint8_t *chunk = bytes + begin_of_claims();
    uint8_t *scribbled = chunk + RFN_CHUNK_HEADER_BYTES + OWN + LARGE / 2;
    uint8_t *large = bytes_of((int)get(chunk + 8, 8), 1, LARGE);
    assert_int_equal(*scribbled, SCRIBBLE);
    *scribbled = large[LARGE / 2];
    free(large);
}

/* The program's file, which has the descriptor, stays as it is. */
static void check_other(void)
{
    char there[2 * sizeof folder];
    FILE *in = fopen(other_path, "r");
    assert_non_null(in);
    assert_int_equal(fread(there, 1, sizeof there, in), sizeof folder);
    assert_memory_equal(there, folder, sizeof folder);
    fclose(in);
    assert_int_equal(unlink(other_path), 0);
}

/* As rank 0 creates files, whoever has opened this one. */
static void check_mode(void)
{
    struct stat status;
    const mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0666 & ~mask);
}

static struct found run(const struct course *wanted)
{
    uint64_t size;
    begin(wanted);
    run_forked_ranks(RANKS, take_part);
    check_mode();
    uint8_t *bytes = read_archive(&size);
    if (wanted->scribble)
        mend(bytes);
    struct found found = walk(bytes, size);
    check_contents(bytes, size, &found);
    free(bytes);
    if (wanted->taken)
        check_other();
    end();
    assert_int_equal(found.parts, wanted->only_times ? 1 + (wanted->with_part > 0) : RANKS);
    assert_int_equal(found.times, RANKS - (wanted->idle >= 0));
    assert_int_equal(found.contents, 1);
    return found;
}

/* Times as they were; with more behind them, that just fits into what is claimed, or not. */
static void test_claimed(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 100, 200, 300, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct found found = run(&(struct course){.front = 500, .added = sizes[i], .idle = -1});
        if (sizes[i] < 300)
            assert_int_equal(found.first, begin_of_claims());
    }
}

/* Where ranks have nothing but what they claim, rank 0 needs to hear of each only once. */
static void test_at_once(void **state)
{
    (void)state;
    const struct course courses[] = {{.front = 500, .idle = -1},
                                     {.front = 500, .idle = 2, .added = 100},
                                     {.front = 500, .idle = -1, .changed = true},
                                     {.front = 100000, .idle = -1, .changed = true},
                                     {.front = 12000, .idle = -1, .scribble = true},
                                     {.front = 500, .idle = 0, .scribble = true},
                                     {.front = 500, .idle = 0, .limited = true},
                                     {.front = 500, .idle = 0, .late = true},
                                     {.front = 500, .idle = 1, .unshared = true},
                                     {.front = 100000, .idle = 3, .unshared = true},
                                     {.front = 500, .idle = -1, .whole = true},
                                     {.front = 12000, .idle = -1, .whole = true, .scribble = true},
                                     {.front = 500, .idle = 1, .whole = true, .scribble = true},
                                     {.front = 100000, .idle = 0, .whole = true}};
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
        struct course wanted = courses[i];
        wanted.only_times = wanted.at_once = true;
        const struct found found = run(&wanted);
        assert_int_equal(found.first, begin_of_claims());
    }
}

/* But not where something is left to be written, or claims are elsewhere than they were. */
static void test_not_at_once(void **state)
{
    (void)state;
    const struct course courses[] = {{.front = 500, .idle = -1, .added = 5000},
                                     {.front = 500, .idle = -1, .with_part = 3},
                                     {.front = 500, .idle = -1, .with_part = 3, .whole = true},
                                     {.front = 500, .idle = -1, .no_name = true, .whole = true},
                                     {.front = 500, .idle = -1, .taken = true, .whole = true},
                                     {.front = 500, .idle = 2, .with_part = 2},
                                     {.front = 500, .idle = -1, .no_name = true},
                                     {.front = 500, .idle = 1, .taken = true},
                                     {.front = 500, .idle = -1, .taken = true, .taken_of = 3},
                                     {.front = 500, .idle = -1, .none_ahead = true}};
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
        struct course wanted = courses[i];
        wanted.only_times = true;
        run(&wanted);
    }
}

/* A rank that cannot write what has changed: all know that there is no archive, and none is left.
 */
static void test_refused(void **state)
{
    (void)state;
    for (int rank = 1; rank <= RANKS; rank++) {
        begin(&(struct course){
            .front = 500, .idle = -1, .only_times = true, .changed = true, .refused = rank});
        run_forked_ranks(RANKS, take_part);
        assert_int_equal(access(path, F_OK), -1);
        end();
    }
}

/* A rank that cannot send all that it has claimed, when rank 0 writes for all. */
static void test_lost(void **state)
{
    (void)state;
    for (int rank = 1; rank < RANKS; rank++) {
        begin(&(struct course){.front = 500, .idle = -1, .unshared = true, .lost = rank});
        run_forked_ranks(RANKS, take_part);
        assert_int_equal(access(path, F_OK), -1);
        end();
    }
}

/* What stands in the file already is not written again. */
static void test_standing(void **state)
{
    (void)state;
    run(&(struct course){.front = 12000, .idle = -1, .scribble = true});
    run(&(struct course){.front = 500, .idle = 2, .added = 100, .scribble = true});
}

/* But what has changed is. */
static void test_changed(void **state)
{
    (void)state;
    struct found found = run(&(struct course){.front = 500, .idle = -1, .changed = true});
    assert_int_equal(found.first, begin_of_claims());
}

/* Rank 0's part is larger than the room that is left for it, or as large, or much smaller. */
static void test_large_front(void **state)
{
    (void)state;
    const size_t room = RESERVE - RFN_CHUNK_HEADER_BYTES;
    const size_t fronts[] = {100, room / 2, room - 8, room, room + 1, 2 * room, 1000000};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        struct found found = run(&(struct course){.front = fronts[i], .added = 40, .idle = 1});
        assert_int_equal(found.first, begin_of_claims());
        assert_int_equal(found.first == RFN_HEADER_BYTES + RESERVE, i == 2 || i == 3);
    }
}

/* Another file, in which nothing stands, takes the place of that which can have no name. */
static void test_no_name(void **state)
{
    (void)state;
    run(&(struct course){.front = 500, .idle = -1, .no_name = true});
    run(&(struct course){.front = 100000, .added = 5000, .idle = 0, .no_name = true});
}

static void test_taken(void **state)
{
    (void)state;
    run(&(struct course){.front = 500, .idle = -1, .taken = true});
}

static void test_limited(void **state)
{
    (void)state;
    run(&(struct course){.front = 500, .idle = 0, .masked = true});
    run(&(struct course){.front = 500, .idle = -1, .limited = true});
}

/* Rank 0 writes for all, what they have claimed as well. */
static void test_gathered(void **state)
{
    (void)state;
    run(&(struct course){.front = 500, .idle = -1, .unshared = true});
    run(&(struct course){.front = 100000, .idle = 2, .added = 300, .unshared = true});
    run(&(struct course){.front = 500, .idle = 2, .added = 100, .unshared = true, .no_name = true});
}

static void test_none_ahead(void **state)
{
    (void)state;
    struct found found = run(&(struct course){.front = 500, .idle = -1, .none_ahead = true});
    assert_true(found.first < RFN_HEADER_BYTES + RESERVE);
    run(&(struct course){.front = 500, .idle = 3, .unshared = true, .none_ahead = true});
}

/* A name that is another file's is not taken, unless that is wanted. */
static void test_names(void **state)
{
    (void)state;
    const bool force = rec_options.force;
    char second[160], first[160];
    begin(&(struct course){.front = 500, .idle = -1});
    snprintf(first, sizeof first, "%s", path);
    snprintf(second, sizeof second, "%s/all.2.rfn", folder);
    FILE *other = fopen(first, "w");
    assert_non_null(other);
    assert_int_equal(fclose(other), 0);
    run_forked_ranks(RANKS, take_part);
    struct stat status;
    assert_int_equal(stat(first, &status), 0);
    assert_int_equal(status.st_size, 0);
    assert_int_equal(stat(second, &status), 0);
    assert_int_equal(status.st_ino, *unnamed);
    assert_int_equal(unlink(second), 0);
    rec_options.force = true;
    run_forked_ranks(RANKS, take_part); /* the file has lost its name, and gets none again */
    rec_options.force = force;
    assert_int_equal(stat(first, &status), 0);
    assert_true(status.st_size > RANKS * SPILLED);
    end();
}

/* Rank 0 ends what stands there already; what is scribbled there shows that it was not written
 * again. If it cannot, nothing is left, and the others hear of it. */
static void test_alone(void **state)
{
    (void)state;
    const struct course courses[] = {{.front = 500, .idle = -1},
                                     {.front = 12000, .idle = 0, .scribble = true},
                                     {.front = 500, .idle = 2, .scribble = true},
                                     {.front = 500, .idle = 3, .late = true},
                                     {.front = 100000, .idle = 1},
                                     {.front = 1000000, .idle = -1}};
    const struct course failing[] = {{.front = 500, .idle = -1, .no_name = true},
                                     {.front = 500, .idle = 2, .refused = RANKS},
                                     {.front = 100000, .idle = -1, .refused = RANKS}};
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
        struct course wanted = courses[i];
        wanted.whole = wanted.alone = wanted.only_times = true;
        const struct found found = run(&wanted);
        assert_int_equal(found.first, begin_of_claims());
    }
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        struct course wanted = failing[i];
        wanted.whole = wanted.alone = wanted.only_times = true;
        begin(&wanted);
        run_forked_ranks(RANKS, take_part);
        assert_int_equal(access(path, F_OK), -1);
        end();
    }
}

/* Whether a rank of two writes so many bytes ahead. */
static bool writes_ahead(struct rec_node_exchange *node, size_t size, bool whole)
{
    const struct rfn_toc_entry entry = {.type = TIMES};
    struct rfn_rope times = RFN_ROPE_INIT;
    uint8_t *bytes = bytes_of(0, 0, size);
    rfn_buf_bytes(&times.bytes, bytes, size);
    free(bytes);
    rec_ahead_write(&ahead, node, &entry, whole, &times);
    const bool written = ahead.fd >= 0 && ahead.size >= size && ahead.n_parts > 0;
    assert_true(written || (ahead.fd < 0 && ahead.size == 0));
    rfn_rope_release(&times);
    return written;
}

static bool write_enough(struct rec_node_exchange *node)
{
    rec_options.ahead_bytes = UINT64_MAX;
    bool right = !writes_ahead(node, LARGE, true);
    rec_options.ahead_bytes = 0;
    right = !writes_ahead(node, 0, true) && right;
    right = !writes_ahead(node, REC_TIMES_LARGE - 1, false) && right; /* few may change */
    rec_options.ahead_bytes = 2000;
    right = !writes_ahead(node, 999, true) && right;
    right = writes_ahead(node, 1000, true) && right;
    return wait_for_all(node) && right; /* others open what this one has open */
}

static bool write_nowhere(struct rec_node_exchange *node)
{
    return !writes_ahead(node, LARGE, false);
}

/* Little is not written ahead, and nothing where there is no folder. */
static void test_not_ahead(void **state)
{
    (void)state;
    begin(&(struct course){.idle = -1});
    run_forked_ranks(2, write_enough);
    snprintf(path, sizeof path, "%s/none/all.rfn", folder);
    run_forked_ranks(2, write_nowhere);
    end();
}

int main(void)
{
    unnamed = mmap(NULL, sizeof *unnamed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0);
    if (unnamed == MAP_FAILED)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claimed),  cmocka_unit_test(test_standing),
        cmocka_unit_test(test_changed),  cmocka_unit_test(test_large_front),
        cmocka_unit_test(test_no_name),  cmocka_unit_test(test_limited),
        cmocka_unit_test(test_gathered), cmocka_unit_test(test_none_ahead),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_not_ahead),
        cmocka_unit_test(test_taken),    cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_not_at_once),
        cmocka_unit_test(test_lost),     cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
