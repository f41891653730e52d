/* Reducing a small archive that comes through the real reader: of each version, with every method,
 * with each byte damaged. What is written is read and verified again.
 *
 * With the arguments "seeds DIR" it writes archives, also clustered, for the fuzzers; with "unpack
 * FROM TO" an archive whose chunks are not compressed. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "archive/write/forced_parameters.h"
#include "refrain/trace_profile.h"
#include "support/sampled_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/refrain-reduce-XXXXXX", path[64];

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out.rfn", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static struct rfn_archive *open_bytes(const struct rfn_buf *file)
{
    struct rfn_archive *archive = NULL;
    assert_int_equal(rfn_archive_open_memory(file->data, file->size, &archive, NULL), 0);
    return archive;
}

static struct rfn_archive *open_reduced(void)
{
    struct rfn_archive *archive;
    struct rfn_diag diag = {0};
    int error = rfn_archive_verify(path, NULL, NULL, &diag);
    if (error)
        print_error("%s\n", diag.text);
    assert_int_equal(error, 0);
    assert_int_equal(rfn_archive_open(path, &archive, NULL), 0);
    return archive;
}

static int reduce_as(const struct rfn_archive *archive, const char *similar, const char *across,
                     bool cluster, struct rfn_reduction *reduction)
{
    struct rfn_trace_profile_options options = {.similar = similar,
                                                .across = across,
                                                .min_calls = 1,
                                                .exact_starts = true,
                                                .cluster = cluster};
    struct rfn_diag diag = {0};
    int error = rfn_reduce(archive, &options, path, true, reduction, &diag);
    assert_true(error == 0 || diag.text[0]);
    return error;
}

static int reduce(const struct rfn_archive *archive, const char *similar, const char *across,
                  struct rfn_reduction *reduction)
{
    return reduce_as(archive, similar, across, false, reduction);
}

static int cluster(const struct rfn_archive *archive, struct rfn_reduction *reduction)
{
    return reduce_as(archive, NULL, NULL, true, reduction);
}

static void expect_words(const int64_t *words, const int64_t *expected, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(words[i], expected[i]);
}

/* Events are equal; times, polls and volumes if `all`. */
static void expect_record(const struct rfn_archive *archive, const struct rfn_record *record,
                          const struct rfn_record *expected, bool all)
{
    const struct rfn_function_info *function = rfn_archive_function(archive, record->function);
    assert_int_equal(record->symbol, expected->symbol);
    assert_int_equal(record->path, expected->path);
    assert_int_equal(record->error, expected->error);
    expect_words(record->in, expected->in, function->n_in);
    expect_words(record->out, expected->out, function->n_out);
    if (!all)
        return;
    assert_int_equal(record->enter_ns, expected->enter_ns);
    assert_int_equal(record->exit_ns, expected->exit_ns);
    assert_int_equal(record->polls, expected->polls);
    assert_int_equal(record->inside_ns, expected->inside_ns);
    assert_int_equal(record->volume_gap, expected->volume_gap);
    assert_int_equal(record->volume_inside, expected->volume_inside);
}

static void expect_stream(const struct rfn_archive *archive, const struct rfn_archive *full,
                          uint32_t stream, bool all)
{
    const struct rfn_record *record, *expected;
    struct rfn_cursor *left, *right;
    assert_int_equal(rfn_cursor_open(archive, stream, &left, NULL), 0);
    assert_int_equal(rfn_cursor_open(full, stream, &right, NULL), 0);
    while (rfn_cursor_next(right, &expected, NULL) > 0) {
        assert_int_equal(rfn_cursor_next(left, &record, NULL), 1);
        expect_record(archive, record, expected, all);
    }
    assert_int_equal(rfn_cursor_next(left, &record, NULL), 0);
    rfn_cursor_close(left);
    rfn_cursor_close(right);
}

static void expect_reduced(const struct rfn_archive *full, const char *similar, bool all)
{
    struct rfn_reduction reduction;
    assert_int_equal(reduce(full, similar, NULL, &reduction), 0);
    struct rfn_archive *archive = open_reduced();
    const struct rfn_run *run = rfn_archive_run(archive), *before = rfn_archive_run(full);
    assert_int_equal(run->file_bytes, reduction.bytes);
    assert_int_equal(before->file_bytes, reduction.full_bytes);
    assert_true(run->reduced);
    assert_string_equal(run->similar, similar);
    assert_string_equal(run->command, before->command);
    assert_int_equal(run->reduction.executions, reduction.stats.executions);
    assert_true(run->merge_seconds == before->merge_seconds);
    assert_memory_equal(&run->merging, &before->merging, sizeof run->merging);
    for (uint32_t i = 0; i < run->streams; i++)
        expect_stream(archive, full, i, all);
    rfn_archive_close(archive);
}

/* A threshold of 0 keeps all there is, of archives that older versions have written, too. */
static void test_versions(void **state)
{
    (void)state;
    for (unsigned minor = 0; minor <= RFN_FORMAT_MINOR; minor++) {
        for (int compress = 0; compress < 2; compress++) {
            struct rfn_buf file = write_version(minor, SOUND, compress, true);
            struct rfn_archive *full = open_bytes(&file);
            expect_reduced(full, "chebyshev:0", true);
            rfn_archive_close(full);
            rfn_buf_release(&file);
        }
    }
}

/* Times of samples stay what they are: those of full times, also where events have others now. */
static void test_samples(void **state)
{
    (void)state;
    struct rfn_reduction reduction;
    model_more = add_samples;
    struct rfn_buf file = write_archive(SOUND, true, true);
    model_more = NULL;
    struct rfn_archive *full = open_bytes(&file);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(
            turn ? cluster(full, &reduction) : reduce(full, "iterAvg", NULL, &reduction), 0);
        struct rfn_archive *archive = open_reduced();
        expect_same_samples(archive, full, true);
        rfn_archive_close(archive);
    }
    rfn_archive_close(full);
    rfn_buf_release(&file);
}

static void test_methods(void **state)
{
    (void)state;
    static const char *const methods[] = {"relDiff:0.8",     "absDiff:1000",  "manhattan:0.4",
                                          "euclidean:0.2",   "chebyshev:0.2", "avgWave:0.2",
                                          "haarWave:0.2",    "iterK:10",      "iterK:1:centroid",
                                          "iterK:1:average", "iterAvg"};
    struct rfn_buf file = write_archive(SOUND, true, true);
    struct rfn_archive *full = open_bytes(&file);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        expect_reduced(full, methods[i], false);
    rfn_archive_close(full);
    rfn_buf_release(&file);
}

/* The streams 0 to 2 execute the same segments at different times: with a threshold that allows
 * anything they share the times of the first. */
static void test_across(void **state)
{
    (void)state;
    struct rfn_reduction reduction;
    struct rfn_buf file = write_archive(SOUND, false, true);
    struct rfn_archive *full = open_bytes(&file);
    assert_int_equal(reduce(full, "absDiff:0", "absDiff:1e9", &reduction), 0);
    assert_int_equal(reduction.stats.groups, reduction.stats.classes);
    assert_true(reduction.stats.groups < N_STREAMS);
    struct rfn_archive *archive = open_reduced();
    for (uint32_t i = 0; i < N_STREAMS; i++) {
        uint32_t times = rfn_stream_times(archive, i);
        assert_true(times <= i);
        expect_stream(archive, full, i, times == i);
    }
    rfn_archive_close(archive);
    rfn_archive_close(full);
    rfn_buf_release(&file);
}

static void test_refused(void **state)
{
    (void)state;
    struct rfn_reduction reduction;
    struct rfn_buf file = write_archive(SOUND, false, false);
    struct rfn_archive *full = open_bytes(&file);
    assert_int_equal(reduce(full, "avgWave", NULL, &reduction), RFN_E_UNSUPPORTED);
    rfn_archive_close(full);
    rfn_buf_release(&file);
    file = write_version(RFN_FORMAT_MINOR + 1, SOUND, false, true);
    full = open_bytes(&file);
    assert_int_equal(reduce(full, "avgWave", NULL, &reduction), RFN_E_VERSION);
    rfn_archive_close(full);
    rfn_buf_release(&file);
    file = write_archive(SOUND, false, true);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file.data, 1, file.size, out), file.size);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(rfn_archive_open(path, &full, NULL), 0);
    assert_int_equal(reduce(full, "avgWave", NULL, &reduction), RFN_E_USAGE); /* its own name */
    rfn_archive_close(full);
    full = open_bytes(&file);
    assert_int_equal(reduce(full, "avgWave", NULL, &reduction), 0);
    rfn_archive_close(full);
    rfn_buf_release(&file);
    assert_int_equal(rfn_archive_open(path, &full, NULL), 0);
    assert_int_equal(reduce(full, "avgWave", NULL, &reduction), RFN_E_UNSUPPORTED);
    rfn_archive_close(full);
}

/* Damaged archives: an error, or a file. Of what verification lets pass, a sound one. */
static bool try_bytes(const struct rfn_buf *file, const char *similar, const char *across)
{
    struct rfn_reduction reduction;
    struct rfn_diag diag = {0};
    struct rfn_archive *archive;
    if (rfn_archive_open_memory(file->data, file->size, &archive, NULL) < 0)
        return false;
    bool sound = rfn_archive_verify_open(archive, NULL, NULL, NULL) == 0;
    int error = reduce_as(archive, similar, across, !across, &reduction);
    rfn_archive_close(archive);
    assert_true(error == 0 || !sound);
    if (error)
        return false;
    error = rfn_archive_verify(path, NULL, NULL, &diag);
    if (error && sound)
        print_error("%s\n", diag.text);
    assert_true(error == 0 || !sound);
    return true;
}

static void test_flips(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, false, true);
    size_t files = 0;
    for (size_t i = 0; i < file.size; i++) {
        uint8_t before = file.data[i];
        file.data[i] ^= (uint8_t)(1u << i % 8);
        files += try_bytes(&file, "absDiff:1", "absDiff:1e9");
        files += try_bytes(&file, NULL, NULL);
        file.data[i] = before;
    }
    assert_true(files > 0);
    rfn_buf_release(&file);
}

/* Archives that contradict themselves under right checksums. */
static void test_contradictions(void **state)
{
    (void)state;
    size_t files = 0;
    for (enum fault fault = SOUND; fault < N_FAULTS; fault++) {
        struct rfn_buf file = write_archive(fault, fault % 2, true);
        files += try_bytes(&file, "absDiff:1", "absDiff:1e9");
        files += try_bytes(&file, NULL, NULL);
        rfn_buf_release(&file);
    }
    assert_true(files > 0);
}

static int merge_as(const struct rfn_archive *archive, const char *merge)
{
    struct rfn_trace_profile_options options = {.cluster = true, .forced = merge};
    struct rfn_reduction reduction;
    struct rfn_diag diag = {0};
    int error = rfn_reduce(archive, &options, path, true, &reduction, &diag);
    assert_true(error == 0 || diag.text[0]);
    return error;
}

static bool try_merging(const struct rfn_buf *file)
{
    struct rfn_archive *archive;
    if (rfn_archive_open_memory(file->data, file->size, &archive, NULL) < 0)
        return false;
    bool sound = rfn_archive_verify_open(archive, NULL, NULL, NULL) == 0;
    int error = merge_as(archive, "peer,root,count,exact,comm,place,tag");
    rfn_archive_close(archive);
    assert_true(error == 0 || !sound);
    assert_true(error || !sound || rfn_archive_verify(path, NULL, NULL, NULL) == 0);
    return error == 0;
}

/* ---- clusters ---- */

static void expect_clustered(const struct rfn_archive *full, bool all)
{
    struct rfn_archive *archive = open_reduced();
    struct rfn_parameter_sizes sizes, before;
    assert_int_equal(rfn_archive_parameter_sizes(archive, &sizes, NULL), 0);
    assert_int_equal(rfn_archive_parameter_sizes(full, &before, NULL), 0);
    assert_int_equal(sizes.clustered_groups, N_GROUPS);
    assert_int_equal(before.clustered_groups, 0);
    assert_int_equal(before.bytes, before.unclustered_bytes);
    assert_int_equal(sizes.unclustered_bytes, before.bytes);
    assert_true(sizes.bytes < before.bytes);
    for (uint32_t i = 0; i < rfn_archive_run(full)->streams; i++)
        expect_stream(archive, full, i, all);
    rfn_archive_close(archive);
}

/* Nothing is lost, of archives that older versions have written neither; and the file is smaller.
 */
static void test_clusters(void **state)
{
    (void)state;
    struct rfn_reduction reduction;
    for (unsigned minor = 0; minor <= RFN_FORMAT_MINOR; minor++) {
        for (int way = 0; way < 4; way++) {
            struct rfn_buf file = write_version(minor, SOUND, way & 1, way & 2);
            struct rfn_archive *full = open_bytes(&file);
            assert_int_equal(cluster(full, &reduction), 0);
            assert_true(reduction.bytes < reduction.full_bytes);
            expect_clustered(full, true);
            rfn_archive_close(full);
            rfn_buf_release(&file);
        }
    }
}

/* Together with reduced times, in either order. */
static void test_clusters_and_times(void **state)
{
    (void)state;
    struct rfn_reduction reduction;
    struct rfn_archive *clustered;
    struct rfn_buf file = write_archive(SOUND, false, true);
    struct rfn_archive *full = open_bytes(&file);
    assert_int_equal(reduce_as(full, "chebyshev:0", "chebyshev:0", true, &reduction), 0);
    expect_clustered(full, true);
    assert_int_equal(rfn_archive_open(path, &clustered, NULL), 0);
    assert_int_equal(cluster(clustered, &reduction), RFN_E_USAGE); /* its own name */
    rfn_archive_close(clustered);
    assert_int_equal(cluster(full, &reduction), 0);
    assert_int_equal(rfn_archive_open(path, &clustered, NULL), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(reduce(clustered, "chebyshev:0", NULL, &reduction), 0);
    rfn_archive_close(clustered);
    expect_clustered(full, true);
    rfn_archive_close(full);
    rfn_buf_release(&file);
}

/* ---- forced merging ---- */

/* Returns the roles of which the event has other words than before. */
static unsigned expect_merged_record(const struct rfn_archive *archive, unsigned roles,
                                     const struct rfn_record *record,
                                     const struct rfn_record *before)
{
    unsigned changed = 0;
    const struct rfn_function_info *function = rfn_archive_function(archive, record->function);
    assert_int_equal(record->symbol, before->symbol);
    assert_int_equal(record->path, before->path);
    assert_int_equal(record->enter_ns, before->enter_ns);
    expect_words(record->out, before->out, function->n_out);
    for (unsigned i = 0; i < function->n_in; i++) {
        unsigned role = rfn_forced_role_of(function, i);
        if (!(role & roles) || record->varying >> i & 1)
            assert_int_equal(record->in[i], before->in[i]);
        else if (record->in[i] != before->in[i])
            changed |= role;
    }
    return changed;
}

/* What the archive says of it are the roles of which there are other words. */
static void expect_merged_roles(const struct rfn_archive *archive, unsigned changed)
{
    char names[RFN_FORCED_TEXT];
    rfn_forced_roles_text(changed, names);
    if (changed)
        assert_string_equal(rfn_archive_run(archive)->forced, names);
    else
        assert_null(rfn_archive_run(archive)->forced);
}

static unsigned expect_merged(const struct rfn_archive *full, unsigned roles)
{
    struct rfn_archive *archive = open_reduced();
    unsigned changed = 0;
    for (uint32_t i = 0; i < N_STREAMS; i++) {
        const struct rfn_record *record, *before;
        struct rfn_cursor *left, *right;
        assert_int_equal(rfn_cursor_open(archive, i, &left, NULL), 0);
        assert_int_equal(rfn_cursor_open(full, i, &right, NULL), 0);
        while (rfn_cursor_next(right, &before, NULL) > 0) {
            assert_int_equal(rfn_cursor_next(left, &record, NULL), 1);
            changed |= expect_merged_record(archive, roles, record, before);
        }
        rfn_cursor_close(left);
        rfn_cursor_close(right);
    }
    expect_merged_roles(archive, changed);
    rfn_archive_close(archive);
    return changed;
}

/* Each role by itself, and all together: what is not of it stays; and what is damaged gives an
 * error or a file, as ever. Then a reduction of times leaves the word of it. */
static void test_merged(void **state)
{
    (void)state;
    static const char *const merges[] = {
        "peer", "root",  "count", "exact",
        "comm", "place", "tag",   "peer,root,count,exact,comm,place,tag"};
    struct rfn_buf file = write_archive(SOUND, false, true);
    struct rfn_archive *full = open_bytes(&file);
    unsigned all = 0;
    for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) {
        assert_int_equal(merge_as(full, merges[i]), 0);
        all |= expect_merged(full, i < 7 ? 1u << i : 127);
    }
    assert_int_equal(all, RFN_FORCED_PEER | RFN_FORCED_PLACE); /* in others ranks are equal */
    assert_int_equal(merge_as(full, "peers"), RFN_E_USAGE);
    assert_int_equal(merge_as(full, "peer"), 0);
    rfn_archive_close(full);
    struct rfn_reduction reduction;
    assert_int_equal(rfn_archive_open(path, &full, NULL), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(reduce(full, "chebyshev:0", NULL, &reduction), 0);
    rfn_archive_close(full);
    full = open_reduced();
    assert_string_equal(rfn_archive_run(full)->forced, "peer");
    rfn_archive_close(full);
    rfn_buf_release(&file);
}

static void test_merged_flips(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, false, false);
    size_t files = 0;
    for (size_t i = 0; i < file.size; i++) {
        uint8_t before = file.data[i];
        file.data[i] ^= (uint8_t)(1u << i % 8);
        files += try_merging(&file);
        file.data[i] = before;
    }
    assert_true(files > 0);
    rfn_buf_release(&file);
    for (enum fault fault = SOUND; fault < N_FAULTS; fault++) {
        file = write_archive(fault, fault % 2, true);
        try_merging(&file);
        rfn_buf_release(&file);
    }
}

/* The bytes of the file, which is removed. */
static struct rfn_buf take_file(void)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while (!feof(file)) {
        uint8_t *to = rfn_buf_reserve(&bytes, 4096);
        assert_non_null(to);
        bytes.size += fread(to, 1, 4096, file);
    }
    fclose(file);
    assert_int_equal(unlink(path), 0);
    return bytes;
}

/* What is clustered can be clustered again, damaged or not. */
static void test_clusters_again(void **state)
{
    (void)state;
    struct rfn_reduction reduction;
    for (int way = 0; way < 4; way++) {
        struct rfn_buf file = write_archive(SOUND, way & 1, way & 2);
        struct rfn_archive *full = open_bytes(&file), *clustered;
        assert_int_equal(cluster(full, &reduction), 0);
        struct rfn_buf once = take_file();
        clustered = open_bytes(&once);
        assert_int_equal(cluster(clustered, &reduction), 0);
        assert_int_equal(reduction.full_bytes, once.size);
        assert_true(reduction.bytes <= once.size);
        rfn_archive_close(clustered);
        expect_clustered(full, true);
        rfn_archive_close(full);
        for (size_t i = 0; way == 3 && i < once.size; i++) {
            uint8_t before = once.data[i];
            once.data[i] ^= (uint8_t)(1u << i % 8);
            try_bytes(&once, NULL, NULL);
            once.data[i] = before;
        }
        rfn_buf_release(&once);
        rfn_buf_release(&file);
    }
}

static int write_bytes(const char *seed, const struct rfn_buf *bytes)
{
    FILE *file = fopen(seed, "wb");
    size_t written = file ? fwrite(bytes->data, 1, bytes->size, file) : 0;
    return file && fclose(file) == 0 && written == bytes->size ? 0 : -1;
}

/* All chunks, not compressed: a fuzzer changes what is in them. */
static int unpack_chunks(const struct rfn_chunks *chunks, struct rfn_buf *out)
{
    struct rfn_toc_entry *entries = calloc(chunks->n + 1, sizeof *entries);
    struct rfn_buf contents = RFN_BUF_INIT;
    size_t n = 0;
    int error = entries ? 0 : RFN_E_NOMEM;
    for (size_t i = 0; i < chunks->n && !error; i++) {
        struct rfn_payload payload = {0};
        entries[n] = chunks->entries[i];
        entries[n].offset = out->size;
        if (entries[n].type == RFN_CHUNK_TOC)
            continue;
        error = rfn_chunks_load(chunks, &chunks->entries[i], &payload, NULL);
        entries[n].stored_size = rfn_chunk_append(out, entries[n].type, entries[n].id, payload.data,
                                                  payload.size, false);
        rfn_payload_release(&payload);
        n++;
    }
    uint64_t end = out->size;
    rfn_toc_append(&contents, entries, error ? 0 : n);
    rfn_chunk_append(out, RFN_CHUNK_TOC, 0, contents.data, contents.size, false);
    rfn_header_write(out->data, RFN_STATE_WHOLE, end, out->size);
    rfn_buf_release(&contents);
    free(entries);
    return error;
}

static int unpack(const char *from, const char *to)
{
    static const uint8_t header[RFN_HEADER_BYTES];
    struct rfn_archive *archive;
    struct rfn_buf out = RFN_BUF_INIT;
    int error = rfn_archive_open(from, &archive, NULL);
    if (error)
        return error;
    rfn_buf_bytes(&out, header, sizeof header);
    error = unpack_chunks(&archive->chunks, &out);
    rfn_archive_close(archive);
    if (!error)
        error = write_bytes(to, &out);
    rfn_buf_release(&out);
    return error;
}

static int write_clustered(const struct rfn_archive *full, const char *merge, const char *seed)
{
    struct rfn_reduction reduction;
    struct rfn_trace_profile_options options = {.cluster = true, .forced = merge};
    int error = rfn_reduce(full, &options, seed, true, &reduction, NULL);
    return error ? error : unpack(seed, seed);
}

/* An archive as it is, and clustered without and with merged parameters. */
static int write_seeds_of(const struct rfn_buf *file, const char *directory, int way)
{
    struct rfn_archive *full = open_bytes(file);
    char seed[512];
    snprintf(seed, sizeof seed, "%s/whole-%d.rfn", directory, way);
    int error = write_bytes(seed, file);
    snprintf(seed, sizeof seed, "%s/clusters-%d.rfn", directory, way);
    if (!error)
        error = write_clustered(full, NULL, seed);
    snprintf(seed, sizeof seed, "%s/merged-%d.rfn", directory, way);
    if (!error)
        error = write_clustered(full, "peer,count", seed);
    rfn_archive_close(full);
    return error;
}

static int write_seeds(const char *directory)
{
    int error = 0;
    for (int way = 0; way < 4 && !error; way++) {
        struct rfn_buf file = write_archive(SOUND, way & 1, way & 2);
        error = write_seeds_of(&file, directory, way);
        rfn_buf_release(&file);
    }
    return error ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "seeds") == 0)
        return write_seeds(argv[2]);
    if (argc == 4 && strcmp(argv[1], "unpack") == 0)
        return unpack(argv[2], argv[3]) ? 1 : 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),       cmocka_unit_test(test_methods),
        cmocka_unit_test(test_across),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_flips),          cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_clusters),       cmocka_unit_test(test_clusters_and_times),
        cmocka_unit_test(test_merged),         cmocka_unit_test(test_merged_flips),
        cmocka_unit_test(test_clusters_again), cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
