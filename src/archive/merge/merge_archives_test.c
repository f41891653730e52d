/* Parts of a small archive that comes through the real reader, and parts put together again: of
 * each version, full, reduced and clustered, with each byte damaged. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "refrain/merge_archives.h"
#include "refrain/trace_profile.h"
#include "support/sampled_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = 3, PATH_BYTES = 96 };

static char folder[] = "/tmp/refrain-merge-XXXXXX", path[PATH_BYTES], whole[PATH_BYTES],
            parts[PARTS][PATH_BYTES];

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out.rfn", folder);
    snprintf(whole, sizeof whole, "%s/whole.rfn", folder);
    for (int i = 0; i < PARTS; i++)
        snprintf(parts[i], sizeof parts[i], "%s/part%d.rfn", folder, i);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    unlink(whole);
    for (int i = 0; i < PARTS; i++)
        unlink(parts[i]);
    return rmdir(folder);
}

static struct rfn_archive *open_bytes(const struct rfn_buf *file)
{
    struct rfn_archive *archive = NULL;
    assert_int_equal(rfn_archive_open_memory(file->data, file->size, &archive, NULL), 0);
    return archive;
}

/* Whose ranks are 0 and 2, 1, and 3: time sets of one part lie between those of others. */
static const uint32_t parted[PARTS] = {1u << 0 | 1u << 2, 1u << 1, 1u << 3};

static bool is_among(const void *ranks, uint32_t rank)
{
    return *(const uint32_t *)ranks >> rank & 1;
}

static int take(const struct rfn_archive *archive, uint32_t ranks, const char *to,
                struct rfn_merge_result *merged)
{
    const struct rfn_rank_choice choice = {is_among, &ranks};
    const struct rfn_merge_options options = {.choice = &choice};
    struct rfn_diag diag = {0};
    int error = rfn_merge_archives(&archive, 1, &options, to, true, merged, &diag);
    assert_true(error == 0 || diag.text[0]);
    return error;
}

static int merge(const struct rfn_archive *const *archives, size_t n, const char *to,
                 struct rfn_merge_result *merged, struct rfn_diag *diag)
{
    *diag = (struct rfn_diag){0};
    int error = rfn_merge_archives(archives, n, NULL, to, true, merged, diag);
    assert_true(error == 0 || diag->text[0]);
    return error;
}

static void expect_verified(const char *file, int expected)
{
    struct rfn_diag diag = {0};
    int error = rfn_archive_verify(file, NULL, NULL, &diag);
    if (error != expected)
        print_error("%s\n", diag.text);
    assert_int_equal(error, expected);
}

/* ---- what is there ---- */

static void expect_words(const int64_t *words, const int64_t *expected, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(words[i], expected[i]);
}

static void expect_record(const struct rfn_function_info *function, const struct rfn_record *record,
                          const struct rfn_record *expected, int64_t later_ns)
{
    assert_int_equal(record->symbol, expected->symbol);
    assert_int_equal(record->function, expected->function);
    assert_int_equal(record->path, expected->path);
    assert_int_equal(record->error, expected->error);
    expect_words(record->in, expected->in, function->n_in);
    expect_words(record->out, expected->out, function->n_out);
    assert_int_equal(record->enter_ns, expected->enter_ns + later_ns);
    assert_int_equal(record->exit_ns, expected->exit_ns + later_ns);
    assert_int_equal(record->polls, expected->polls);
    assert_int_equal(record->inside_ns, expected->inside_ns);
    assert_int_equal(record->volume_gap, expected->volume_gap);
    assert_int_equal(record->volume_inside, expected->volume_inside);
}

/* Times of a part count from its own start: all of them are off by as much. *later_ns: INT64_MAX
 * while that is not known. */
static void expect_stream(const struct rfn_archive *archive, uint32_t stream,
                          const struct rfn_archive *full, uint32_t of, int64_t *later_ns)
{
    const struct rfn_record *record, *expected;
    struct rfn_cursor *left, *right;
    assert_int_equal(rfn_cursor_open(archive, stream, &left, NULL), 0);
    assert_int_equal(rfn_cursor_open(full, of, &right, NULL), 0);
    while (rfn_cursor_next(right, &expected, NULL) > 0) {
        assert_int_equal(rfn_cursor_next(left, &record, NULL), 1);
        if (*later_ns == INT64_MAX)
            *later_ns = record->enter_ns - expected->enter_ns;
        expect_record(rfn_archive_function(archive, record->function), record, expected, *later_ns);
    }
    assert_int_equal(rfn_cursor_next(left, &record, NULL), 0);
    rfn_cursor_close(left);
    rfn_cursor_close(right);
}

static void expect_part(const char *file, const struct rfn_archive *full, uint32_t ranks)
{
    struct rfn_archive *archive;
    int64_t later_ns = INT64_MAX;
    uint32_t at = 0;
    const char *why;
    assert_int_equal(rfn_archive_open(file, &archive, NULL), 0);
    assert_int_equal(rfn_archive_run(archive)->ranks, N_RANKS);
    assert_int_equal(rfn_archive_run(archive)->clustered, rfn_archive_run(full)->clustered);
    assert_false(rfn_archive_complete(archive, &why));
    assert_non_null(strstr(why, "of 4 ranks"));
    for (uint32_t i = 0; i < N_STREAMS; i++) {
        struct rfn_stream_info info = rfn_archive_stream(full, i), own;
        if (!(ranks >> info.rank & 1))
            continue;
        own = rfn_archive_stream(archive, at);
        assert_int_equal(own.rank, info.rank);
        assert_int_equal(own.thread, info.thread);
        assert_string_equal(own.host, info.host);
        expect_stream(archive, at++, full, i, &later_ns);
    }
    assert_int_equal(rfn_archive_run(archive)->streams, at);
    assert_true(later_ns <= 0);
    rfn_archive_close(archive);
    expect_verified(file, RFN_E_INCOMPLETE);
}

static void expect_reduction(const struct rfn_run_reduction *reduction,
                             const struct rfn_run_reduction *expected)
{
    assert_int_equal(reduction->executions, expected->executions);
    assert_int_equal(reduction->kinds, expected->kinds);
    assert_int_equal(reduction->representatives, expected->representatives);
    assert_int_equal(reduction->corrections, expected->corrections);
    assert_int_equal(reduction->streams, expected->streams);
    assert_int_equal(reduction->classes, expected->classes);
    assert_int_equal(reduction->full_bytes, expected->full_bytes);
    assert_int_equal(reduction->min_calls, expected->min_calls);
}

/* Those that streams of several parts share are shared again. */
static void expect_time_sets(const struct rfn_archive *archive, const struct rfn_archive *full)
{
    for (uint32_t i = 0; i < N_STREAMS; i++)
        assert_int_equal(rfn_stream_times(archive, i), rfn_stream_times(full, i));
    assert_int_equal(rfn_archive_run(archive)->reduction.time_sets,
                     rfn_archive_run(full)->reduction.time_sets);
}

static void expect_whole(const char *file, const struct rfn_archive *full)
{
    struct rfn_archive *archive;
    const struct rfn_run *run, *before = rfn_archive_run(full);
    int64_t later_ns = 0;
    expect_verified(file, 0);
    assert_int_equal(rfn_archive_open(file, &archive, NULL), 0);
    run = rfn_archive_run(archive);
    assert_int_equal(run->streams, N_STREAMS);
    assert_string_equal(run->command, before->command);
    assert_int_equal(run->start_realtime_ns, before->start_realtime_ns);
    assert_true(run->merge_seconds == before->merge_seconds);
    assert_int_equal(run->reduced, before->reduced);
    expect_reduction(&run->reduction, &before->reduction);
    assert_int_equal(rfn_archive_groups(archive), rfn_archive_groups(full));
    assert_int_equal(rfn_archive_comms(archive), rfn_archive_comms(full));
    assert_int_equal(rfn_archive_regions(archive), rfn_archive_regions(full));
    assert_int_equal(archive->n_value_sets, full->n_value_sets);
    assert_int_equal(archive->first_set != NULL, full->first_set != NULL);
    for (uint32_t i = 0; i < N_STREAMS; i++)
        expect_stream(archive, i, full, i, &later_ns);
    expect_time_sets(archive, full);
    for (uint32_t i = 0; i < rfn_archive_datatypes(full); i++)
        assert_string_equal(rfn_archive_datatype(archive, i)->name,
                            rfn_archive_datatype(full, i)->name);
    rfn_archive_close(archive);
}

/* Takes it apart, and joins the parts in another order. */
static void take_apart(const struct rfn_archive *full)
{
    struct rfn_archive *archives[PARTS];
    struct rfn_merge_result merged;
    struct rfn_diag diag;
    uint64_t events = 0;
    for (int i = 0; i < PARTS; i++) {
        assert_int_equal(take(full, parted[i], parts[i], &merged), 0);
        assert_int_equal(merged.missing, i == 0 ? 2 : 3);
        events += merged.events;
        expect_part(parts[i], full, parted[i]);
        assert_int_equal(rfn_archive_open(parts[i], &archives[PARTS - 1 - i], NULL), 0);
    }
    assert_int_equal(
        merge((const struct rfn_archive *const *)archives, PARTS, whole, &merged, &diag), 0);
    assert_int_equal(merged.missing, 0);
    assert_int_equal(merged.events, events);
    assert_int_equal(merged.clustered, full->first_set != NULL);
    for (int i = 0; i < PARTS; i++)
        rfn_archive_close(archives[i]);
    expect_whole(whole, full);
}

/* ---- the tests ---- */

static void test_versions(void **state)
{
    (void)state;
    for (unsigned minor = 0; minor <= RFN_FORMAT_MINOR; minor++) {
        for (int way = 0; way < 4; way++) {
            struct rfn_buf file = write_version(minor, SOUND, way & 1, way & 2);
            struct rfn_archive *full = open_bytes(&file);
            full->chunks.resident_max = way & 1 ? 64 : RFN_RESIDENT_MAX; /* values in stores */
            take_apart(full);
            rfn_archive_close(full);
            rfn_buf_release(&file);
        }
    }
}

/* Samples are of all ranks of a file: no part has them, nor has what is joined. */
static void test_samples(void **state)
{
    (void)state;
    struct rfn_merge_result merged;
    struct rfn_samples samples;
    struct rfn_archive *part;
    struct rfn_diag diag;
    model_more = add_samples;
    struct rfn_buf file = write_archive(SOUND, true, true);
    model_more = NULL;
    struct rfn_archive *full = open_bytes(&file);
    const struct rfn_archive *const all[] = {full};
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(
            turn ? merge(all, 1, path, &merged, &diag) : take(full, parted[0], path, &merged), 0);
        assert_true(merged.samples_left_out);
        expect_verified(path, turn ? 0 : RFN_E_INCOMPLETE);
        assert_int_equal(rfn_archive_open(path, &part, NULL), 0);
        assert_int_equal(rfn_samples_read(part, &samples, NULL), 0);
        assert_false(samples.known);
        rfn_samples_release(&samples);
        rfn_archive_close(part);
    }
    rfn_archive_close(full);
    rfn_buf_release(&file);
}

/* Streams keep their signatures, also where those of one group have several. */
static void test_signatures(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SIGNED, true, true);
    struct rfn_archive *full = open_bytes(&file), *joined;
    const struct rfn_archive *const all[] = {full};
    struct rfn_merge_result merged;
    struct rfn_diag diag;
    assert_int_equal(merge(all, 1, path, &merged, &diag), 0);
    assert_int_equal(rfn_archive_open(path, &joined, NULL), 0);
    assert_int_equal(rfn_archive_verify_open(joined, NULL, NULL, NULL), 0);
    assert_int_equal(joined->n_groups, full->n_groups);
    for (uint32_t i = 0; i < N_STREAMS; i++)
        assert_int_equal(rfn_stream_word(joined, RFN_WORD_SIGNATURE, i), 100 + model[i].set);
    rfn_archive_close(joined);
    rfn_archive_close(full);
    rfn_buf_release(&file);
}

/* Ranks 0 and 2 of one archive and the others of another, joined at `path`. Ranks 0, 1 and 2 have
 * the same values. */
static struct rfn_archive *join_two(enum fault even, enum fault odd)
{
    const enum fault faults[] = {even, odd};
    struct rfn_archive *taken[2], *joined;
    struct rfn_merge_result merged;
    struct rfn_diag diag;
    for (int i = 0; i < 2; i++) {
        struct rfn_buf file = write_archive(faults[i], true, true);
        struct rfn_archive *full = open_bytes(&file);
        assert_int_equal(take(full, i ? 1u << 1 | 1u << 3 : 1u << 0 | 1u << 2, parts[i], &merged),
                         0);
        rfn_archive_close(full);
        rfn_buf_release(&file);
        assert_int_equal(rfn_archive_open(parts[i], &taken[i], NULL), 0);
    }
    assert_int_equal(merge((const struct rfn_archive *const *)taken, 2, path, &merged, &diag), 0);
    for (int i = 0; i < 2; i++)
        rfn_archive_close(taken[i]);
    expect_verified(path, 0);
    assert_int_equal(rfn_archive_open(path, &joined, NULL), 0);
    return joined;
}

/* A signature of one archive is that of equal streams of others; two of one set are none. */
static void test_some_signed(void **state)
{
    (void)state;
    static const struct {
        enum fault even, odd;
        uint64_t signatures[N_STREAMS];
    } cases[] = {{SIGNED, SOUND, {100, 100, 100, 0, 0}},
                 {SOUND, SIGNED, {100, 100, 100, 101, 102}},
                 {SIGNED, TWO_SIGNATURES, {0, 0, 0, 0, 0}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct rfn_archive *joined = join_two(cases[k].even, cases[k].odd);
        for (uint32_t i = 0; i < N_STREAMS; i++)
            assert_int_equal(rfn_stream_word(joined, RFN_WORD_SIGNATURE, i),
                             cases[k].signatures[i]);
        rfn_archive_close(joined);
    }
}

/* Reduces the model's archive to `path`. across: also processes are compared. */
static struct rfn_archive *open_reduced(const char *similar, const char *across, bool cluster)
{
    struct rfn_trace_profile_options options = {.similar = similar,
                                                .across = across,
                                                .min_calls = 1,
                                                .memory_bytes = 1 << 20,
                                                .cluster = cluster};
    struct rfn_reduction reduction;
    struct rfn_buf file = write_archive(SOUND, false, true);
    struct rfn_archive *archive = open_bytes(&file);
    assert_int_equal(rfn_reduce(archive, &options, path, true, &reduction, NULL), 0);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
    assert_int_equal(rfn_archive_open(path, &archive, NULL), 0);
    return archive;
}

/* PROFILES is taken apart, and times of it count from another start. */
static void test_reduced(void **state)
{
    (void)state;
    static const char *const across[] = {NULL, "absDiff:1e9"};
    for (int way = 0; way < 4; way++) {
        struct rfn_archive *full = open_reduced("absDiff:1000", across[way & 1], way & 2);
        take_apart(full);
        rfn_archive_close(full);
    }
}

static void test_clustered(void **state)
{
    (void)state;
    struct rfn_archive *full = open_reduced(NULL, NULL, true);
    assert_non_null(full->first_set);
    take_apart(full);
    rfn_archive_close(full);
}

static void read_file(const char *name, struct rfn_buf *bytes)
{
    FILE *file = fopen(name, "rb");
    uint8_t block[4096];
    assert_non_null(file);
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;)
        rfn_buf_bytes(bytes, block, n);
    fclose(file);
}

/* What has been merged is taken apart and merged to the same bytes. */
static void test_again(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, true, true), once = RFN_BUF_INIT,
                   twice = RFN_BUF_INIT;
    struct rfn_archive *full = open_bytes(&file);
    take_apart(full);
    rfn_archive_close(full);
    read_file(whole, &once);
    full = open_bytes(&once);
    take_apart(full);
    rfn_archive_close(full);
    read_file(whole, &twice);
    assert_int_equal(once.size, twice.size);
    assert_memory_equal(once.data, twice.data, once.size);
    rfn_buf_release(&file);
    rfn_buf_release(&once);
    rfn_buf_release(&twice);
}

static void expect_refused(const struct rfn_archive *a, const struct rfn_archive *b, int expected,
                           const char *text)
{
    const struct rfn_archive *archives[] = {a, b};
    struct rfn_merge_result merged;
    struct rfn_diag diag;
    unlink(whole);
    assert_int_equal(merge(archives, b ? 2 : 1, whole, &merged, &diag), expected);
    if (!strstr(diag.text, text))
        print_error("%s\n", diag.text);
    assert_non_null(strstr(diag.text, text));
    assert_int_equal(access(whole, F_OK), -1);
}

static struct rfn_archive *part_of(const struct rfn_archive *full, int part)
{
    struct rfn_merge_result merged;
    struct rfn_archive *archive;
    assert_int_equal(take(full, parted[part], parts[part], &merged), 0);
    assert_int_equal(rfn_archive_open(parts[part], &archive, NULL), 0);
    return archive;
}

static void test_refused(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, false, true);
    struct rfn_buf bare_file = write_archive(SOUND, false, false);
    struct rfn_buf later_file = write_version(RFN_FORMAT_MINOR + 1, SOUND, false, true);
    struct rfn_archive *full = open_bytes(&file), *bare = open_bytes(&bare_file), *cut;
    struct rfn_archive *later = open_bytes(&later_file);
    struct rfn_archive *a = part_of(full, 0), *b = part_of(bare, 1);
    struct rfn_merge_result merged;
    struct rfn_diag diag;
    expect_refused(a, full, RFN_E_UNSUPPORTED, "rank 0 is in two archives: ");
    expect_refused(full, a, RFN_E_UNSUPPORTED, parts[0]);
    expect_refused(a, b, RFN_E_UNSUPPORTED, "not of one run: whether there are times: 1 and 0");
    expect_refused(later, NULL, RFN_E_VERSION, "later version");
    assert_int_equal(take(full, 1u << 9, whole, &merged), RFN_E_UNSUPPORTED);
    assert_int_equal(rfn_archive_open_memory(file.data, file.size - 9, &cut, NULL), 0);
    expect_refused(cut, NULL, RFN_E_INCOMPLETE, "only whole archives");
    const struct rfn_archive *one = a;
    assert_int_equal(merge(&one, 1, parts[0], &merged, &diag), RFN_E_USAGE); /* its own name */
    struct rfn_archive *opened[] = {full, bare, later, a, b, cut};
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
        rfn_archive_close(opened[i]);
    rfn_buf_release(&file);
    rfn_buf_release(&bare_file);
    rfn_buf_release(&later_file);
}

/* The payload of META or DEFINITIONS, which come first in the file. */
static uint8_t *payload_of(struct rfn_buf *file, uint32_t type, size_t *size)
{
    uint8_t *chunk = file->data + RFN_HEADER_BYTES;
    if (type == RFN_CHUNK_DEFINITIONS)
        chunk += rfn_chunk_bytes(&(struct rfn_toc_entry){.stored_size = rfn_get_u64(chunk + 24)});
    assert_int_equal(rfn_get_u32(chunk + 4), type);
    *size = (size_t)rfn_get_u64(chunk + 24);
    return chunk + RFN_CHUNK_HEADER_BYTES;
}

static void sum_again(uint8_t *payload, size_t size)
{
    uint8_t *chunk = payload - RFN_CHUNK_HEADER_BYTES;
    XXH3_state_t sum;
    XXH3_64bits_reset(&sum);
    XXH3_64bits_update(&sum, chunk, RFN_CHUNK_SUMMED_BYTES);
    XXH3_64bits_update(&sum, payload, size);
    rfn_representative_store_64(chunk + RFN_CHUNK_SUMMED_BYTES, XXH3_64bits_digest(&sum));
}

static size_t find_bytes(const uint8_t *payload, size_t size, const void *bytes, size_t n)
{
    size_t at = 0;
    while (at + n <= size && memcmp(payload + at, bytes, n) != 0)
        at++;
    assert_true(at + n <= size);
    return at;
}

static void change_text(struct rfn_buf *file, uint32_t type, const char *before, const char *after)
{
    size_t size;
    uint8_t *payload = payload_of(file, type, &size);
    memcpy(payload + find_bytes(payload, size, before, strlen(before)), after, strlen(before));
    sum_again(payload, size);
}

static void test_other_runs(void **state)
{
    (void)state;
    enum { META = RFN_CHUNK_META, DEFINITIONS = RFN_CHUNK_DEFINITIONS };
    static const struct {
        uint32_t type;
        const char *before, *after, *text;
    } changes[] = {{META, "/bin/model", "/bin/modem", "programs are '/bin/model' and '/bin/modem'"},
                   {META, "./model 4 5", "./model 4 6", "commands are"},
                   {META, "MPI of the test", "MPI of the text", "MPIs are"},
                   {DEFINITIONS, "setup", "setuq", "a communicator or region is not the same"}};
    struct rfn_buf file = write_archive(SOUND, false, true);
    struct rfn_archive *full = open_bytes(&file), *a = part_of(full, 0);
    rfn_archive_close(full);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        change_text(&file, changes[i].type, changes[i].before, changes[i].after);
        struct rfn_archive *other = open_bytes(&file), *b = part_of(other, 1);
        expect_refused(a, b, RFN_E_UNSUPPORTED, changes[i].text);
        rfn_archive_close(b);
        rfn_archive_close(other);
        change_text(&file, changes[i].type, changes[i].after, changes[i].before);
    }
    rfn_archive_close(a);
    rfn_buf_release(&file);
}

/* Of two hosts and two regions one host is left, with a right checksum, after the archive was
 * opened: streams still refer to the other one. */
static void test_changed(void **state)
{
    (void)state;
    static const uint8_t regions[] = {2, 77, 0, 0, 0, 0, 0, 0, 0};
    enum { HOSTS = 3 }; /* their number and two names, before the regions */
    struct rfn_buf file = write_archive(SOUND, false, true);
    struct rfn_archive *archive = open_bytes(&file);
    const struct rfn_merge_options options = {.clusters = RFN_MERGE_CLUSTERED};
    struct rfn_merge_result merged;
    struct rfn_diag diag = {0};
    size_t size;
    uint8_t *payload = payload_of(&file, RFN_CHUNK_DEFINITIONS, &size);
    uint8_t *hosts = payload + find_bytes(payload, size, regions, sizeof regions) - HOSTS;
    assert_int_equal(hosts[0], 2);
    hosts[0] = 1;
    hosts[2] = 0; /* no regions; behind them the cores of the host */
    hosts[4] = 0; /* no calls */
    sum_again(payload, size);
    unlink(path);
    const struct rfn_archive *one = archive;
    assert_int_equal(rfn_merge_archives(&one, 1, &options, path, true, &merged, &diag),
                     RFN_E_CORRUPT);
    assert_non_null(strstr(diag.text, "it has changed since it was opened"));
    assert_int_equal(access(path, F_OK), -1);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

/* ---- damage ---- */

/* An error, or a file; of what verification lets pass, a sound one. */
static bool try_bytes(const struct rfn_buf *file)
{
    struct rfn_archive *archives[2];
    struct rfn_merge_result merged;
    struct rfn_diag diag;
    if (rfn_archive_open_memory(file->data, file->size, &archives[0], NULL) < 0)
        return false;
    bool sound = rfn_archive_verify_open(archives[0], NULL, NULL, NULL) == 0;
    int error = take(archives[0], parted[0], parts[0], &merged);
    if (!error)
        error = take(archives[0], parted[1] | parted[2], parts[1], &merged);
    rfn_archive_close(archives[0]);
    if (error) {
        assert_false(sound);
        return false;
    }
    int opened = rfn_archive_open(parts[0], &archives[0], NULL);
    int other = rfn_archive_open(parts[1], &archives[1], NULL);
    if (!opened && !other)
        error = merge((const struct rfn_archive *const *)archives, 2, whole, &merged, &diag);
    if (!opened)
        rfn_archive_close(archives[0]);
    if (!other)
        rfn_archive_close(archives[1]);
    assert_true(!sound || (!opened && !other && !error));
    if (sound)
        expect_verified(whole, 0);
    return true;
}

static void flip_each(const struct rfn_buf *file)
{
    size_t files = 0;
    for (size_t i = 0; i < file->size; i++) {
        uint8_t before = file->data[i];
        file->data[i] ^= (uint8_t)(1u << i % 8);
        files += try_bytes(file);
        file->data[i] = before;
    }
    assert_true(files > 0);
}

static void test_flips(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, false, true), reduced = RFN_BUF_INIT;
    flip_each(&file);
    rfn_archive_close(open_reduced("absDiff:1000", "absDiff:1e9", true));
    read_file(path, &reduced);
    flip_each(&reduced);
    rfn_buf_release(&file);
    rfn_buf_release(&reduced);
}

/* Archives that contradict themselves under right checksums. */
static void test_contradictions(void **state)
{
    (void)state;
    size_t files = 0;
    for (enum fault fault = SOUND; fault < N_FAULTS; fault++) {
        struct rfn_buf file = write_archive(fault, fault % 2, true);
        files += try_bytes(&file);
        rfn_buf_release(&file);
    }
    assert_true(files > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),       cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_some_signed),    cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_clustered),      cmocka_unit_test(test_again),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_other_runs),
        cmocka_unit_test(test_changed),        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_contradictions), cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
