/* Archives whose groups have symbols and loops in common: what is stored once of them, and each
 * allocation failing while that is made and read. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "archive/read/cluster_parts.h"
#include "refrain/trace_profile.h"
#include "support/archive_model.h"
#include "support/fail_each.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64], path[96];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/refrain-common-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out.rfn", folder);
}

/* ---- an archive of groups of different shapes ---- */

/* A group has SYMBOLS of the POOL, each beginning further on; what all have is in LOOPS of pairs,
 * which are visited once, for two trips. The top has the other symbols, too. */
enum { POOL = 60, SYMBOLS = 40, STEP = 7, LOOPS_OF_ALL = 6, FIRST_PAIR = 22, TRIPS = 2 };
enum { EVENTS = SYMBOLS + 2 * LOOPS_OF_ALL * TRIPS };

static void put_run(struct rfn_buf *out, unsigned form, int64_t value)
{
    rfn_buf_varint(out, N_RANKS * 4 + form);
    rfn_buf_svarint(out, value);
}

/* Each rank is a stream, a group and a value set. */
static void put_streams(struct writer *writer)
{
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_varint(&out, N_RANKS);
    for (int word = 0; word < RFN_STREAM_WORDS; word++) {
        bool own = word == RFN_WORD_RANK || word == RFN_WORD_GROUP || word == RFN_WORD_VALUES ||
                   word == RFN_WORD_TIMES;
        put_run(&out, own, word == RFN_WORD_EVENTS || word == RFN_WORD_CALLS ? EVENTS : 0);
    }
    add_chunk(writer, RFN_CHUNK_STREAMS, 0, &out);
}

/* Of one member each: the partner of each symbol, and a communicator. */
static void put_rank_params(struct writer *writer, uint32_t group)
{
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_varint(&out, SYMBOLS + 1);
    for (int i = 0; i < SYMBOLS + 1; i++) {
        rfn_buf_varint(&out, 4);
        rfn_buf_svarint(&out, i < SYMBOLS ? 2 : 0);
    }
    add_chunk(writer, RFN_CHUNK_RANK_PARAMS, group, &out);
}

static void put_values(struct writer *writer, uint32_t set)
{
    static const uint8_t trips[] = {1, 4, 0, 0, 1, 2 * TRIPS};
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_bytes(&out, "\0\0\0\0\0", 5); /* no lists */
    for (int i = 0; i < LOOPS_OF_ALL; i++)
        rfn_buf_bytes(&out, trips, sizeof trips);
    add_chunk(writer, RFN_CHUNK_VALUES, set, &out);
}

static void put_structure(struct writer *writer, uint32_t group)
{
    static const uint8_t tables[] = {1, SEND, 0, 1, 0, 1, SYMBOLS};
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_bytes(&out, tables, sizeof tables);
    for (unsigned i = 0; i < SYMBOLS; i++) {
        unsigned kind = (i + STEP * group) % POOL;
        rfn_buf_bytes(&out, "\0\0\0", 3);
        rfn_buf_svarint(&out, kind * kind * 7919); /* count, datatype, tag, communicator */
        rfn_buf_svarint(&out, 0);
        rfn_buf_svarint(&out, kind);
        rfn_buf_svarint(&out, 0);
    }
    rfn_buf_varint(&out, LOOPS_OF_ALL);
    for (unsigned i = 0; i < LOOPS_OF_ALL; i++) {
        unsigned first = FIRST_PAIR + 2 * i - STEP * group;
        rfn_buf_varint(&out, 2);
        rfn_buf_varint(&out, 2 * first);
        rfn_buf_varint(&out, 2 * (first + 1));
    }
    rfn_buf_varint(&out, SYMBOLS + LOOPS_OF_ALL);
    for (unsigned i = 0; i < SYMBOLS; i++)
        rfn_buf_varint(&out, 2 * (i * 11 % SYMBOLS));
    for (unsigned i = 0; i < LOOPS_OF_ALL; i++)
        rfn_buf_varint(&out, 2 * i + 1);
    add_chunk(writer, RFN_CHUNK_STRUCTURE, group, &out);
}

static struct rfn_buf write_groups(void)
{
    struct writer writer = {.compress = true, .minor = RFN_FORMAT_MINOR};
    uint8_t header[RFN_HEADER_BYTES];
    rfn_header_write(header, RFN_STATE_WRITING, 0, 0);
    rfn_buf_bytes(&writer.file, header, sizeof header);
    write_meta(&writer);
    write_definitions(&writer);
    put_streams(&writer);
    for (uint32_t group = 0; group < N_RANKS; group++)
        put_rank_params(&writer, group);
    for (uint32_t group = 0; group < N_RANKS; group++) {
        put_structure(&writer, group);
        put_values(&writer, group);
    }
    write_tail(&writer);
    assert_false(writer.file.failed);
    return writer.file;
}

static struct rfn_archive *open_bytes(const struct rfn_buf *file)
{
    struct rfn_archive *archive;
    struct rfn_diag diag = {0};
    if (rfn_archive_open_memory(file->data, file->size, &archive, &diag) < 0)
        fail_msg("%s", diag.text);
    return archive;
}

/* ---- clustered ---- */

static int cluster(const struct rfn_buf *file, uint64_t *size)
{
    const struct rfn_trace_profile_options options = {.cluster = true};
    struct rfn_archive *archive;
    struct rfn_reduction reduction = {0};
    RFN_TRY(rfn_archive_open_memory(file->data, file->size, &archive, NULL));
    int error = rfn_reduce(archive, &options, path, true, &reduction, NULL);
    rfn_archive_close(archive);
    *size = error ? 0 : reduction.bytes;
    return error;
}

static struct rfn_buf take_file(uint64_t size)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    FILE *from = fopen(path, "rb");
    assert_non_null(from);
    assert_non_null(rfn_buf_reserve(&bytes, size));
    assert_int_equal(fread(bytes.data, 1, size, from), size);
    bytes.size = size;
    fclose(from);
    assert_int_equal(unlink(path), 0);
    return bytes;
}

static struct rfn_buf cluster_bytes(const struct rfn_buf *file)
{
    uint64_t size;
    assert_int_equal(cluster(file, &size), 0);
    return take_file(size);
}

static void expect_part(const struct rfn_archive *archive, const struct rfn_archive *full,
                        uint32_t type, uint32_t id)
{
    struct rfn_payload found, expected;
    struct rfn_part *part;
    assert_int_equal(rfn_part_use(archive, RFN_CHUNK_STRUCTURE, id, NULL, &part, NULL), 0);
    const struct rfn_structure *structure = &part->u.structure;
    assert_int_equal(rfn_part_load(archive, type, id, structure, &found, NULL), 0);
    assert_int_equal(rfn_part_load(full, type, id, structure, &expected, NULL), 0);
    assert_int_equal(found.size, expected.size);
    assert_memory_equal(found.data, expected.data, found.size);
    rfn_payload_release(&found);
    rfn_payload_release(&expected);
    rfn_part_done(archive, part);
}

/* All of it is there, once: what four groups have, and bytes are counted. */
static void test_common(void **state)
{
    (void)state;
    static const uint32_t types[] = {RFN_CHUNK_STRUCTURE, RFN_CHUNK_RANK_PARAMS, RFN_CHUNK_VALUES};
    const struct rfn_common *common;
    struct rfn_parameter_sizes sizes, before;
    struct rfn_buf file = write_groups(), clustered = cluster_bytes(&file);
    struct rfn_archive *full = open_bytes(&file), *archive = open_bytes(&clustered);
    assert_int_equal(rfn_archive_verify_open(full, NULL, NULL, NULL), 0);
    assert_int_equal(rfn_archive_verify_open(archive, NULL, NULL, NULL), 0);
    assert_true(rfn_common_find(archive) >= 0);
    assert_int_equal(rfn_common_use(archive, &common, NULL), 0);
    assert_int_equal(common->n_sites, 1);
    assert_int_equal(common->n_symbols, POOL);
    assert_int_equal(common->n_loops, LOOPS_OF_ALL);
    for (size_t i = 0; i < 3; i++) {
        for (uint32_t id = 0; id < N_RANKS; id++)
            expect_part(archive, full, types[i], id);
    }
    assert_int_equal(rfn_archive_parameter_sizes(archive, &sizes, NULL), 0);
    assert_int_equal(rfn_archive_parameter_sizes(full, &before, NULL), 0);
    assert_int_equal(sizes.unclustered_bytes, before.bytes);
    uint64_t bytes = 0;
    for (size_t i = 0; i < archive->chunks.n; i++) {
        const struct rfn_toc_entry *entry = &archive->chunks.entries[i];
        if (entry->type == RFN_CHUNK_COMMON || entry->type == RFN_CHUNK_CLUSTERS)
            bytes += rfn_chunk_bytes(entry);
    }
    assert_int_equal(sizes.bytes, bytes);
    rfn_archive_close(archive);
    rfn_archive_close(full);
    rfn_buf_release(&clustered);
    rfn_buf_release(&file);
}

/* ---- each allocation fails ---- */

static int cluster_once(const void *of)
{
    uint64_t size;
    int error = cluster(of, &size);
    assert_int_equal(unlink(path), error ? -1 : 0);
    return error;
}

static int read_all(const void *of)
{
    const struct rfn_buf *file = of;
    struct rfn_archive *archive;
    RFN_TRY(rfn_archive_open_memory(file->data, file->size, &archive, NULL));
    int error = rfn_archive_verify_open(archive, NULL, NULL, NULL);
    rfn_archive_close(archive);
    return error;
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    struct rfn_buf file = write_groups(), clustered = cluster_bytes(&file);
    fail_each(200, cluster_once, &file); /* coding and compressing can do without */
    fail_each(200, cluster_once, &clustered);
    assert_int_equal(fail_each(100, read_all, &clustered), 0);
    rfn_buf_release(&clustered);
    rfn_buf_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common),
        cmocka_unit_test(test_each_allocation_fails),
    };
    make_folder();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return rmdir(folder) < 0 || failed;
}
