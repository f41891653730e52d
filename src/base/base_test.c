/* Tests of the small modules: buf, map, arena, grow, error. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/rope.h"
#include "base/system.h"
#include "support/spill_model.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void test_numbers(void **state)
{
    (void)state;
    static const int64_t values[] = {0,         1,         -1,        63,        64,
                                     -64,       -65,       127,       128,       INT32_MAX,
                                     INT32_MIN, INT64_MAX, INT64_MIN, 1LL << 62, -(1LL << 62)};
    struct rfn_buf buf = RFN_BUF_INIT;
    size_t n = sizeof values / sizeof *values;
    for (size_t i = 0; i < n; i++) {
        rfn_buf_svarint(&buf, values[i]);
        rfn_buf_varint(&buf, (uint64_t)values[i]);
        rfn_buf_u64(&buf, (uint64_t)values[i]);
        rfn_buf_u32(&buf, (uint32_t)values[i]);
    }
    rfn_buf_string(&buf, "text");
    struct rfn_reader reader = rfn_reader_over(buf.data, buf.size);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rfn_reader_svarint(&reader), values[i]);
        assert_int_equal(rfn_reader_varint(&reader), (uint64_t)values[i]);
        assert_int_equal(rfn_reader_u64(&reader), (uint64_t)values[i]);
        assert_int_equal(rfn_reader_u32(&reader), (uint32_t)values[i]);
    }
    size_t size;
    assert_memory_equal(rfn_reader_blob(&reader, &size), "text", 4);
    assert_int_equal(size, 4);
    assert_int_equal(rfn_reader_left(&reader), 0);
    rfn_buf_release(&buf);
}

/* Sizes of the page refrain-archive(5): zigzag, seven bits a byte. */
static void test_bytes(void **state)
{
    (void)state;
    struct rfn_buf buf = RFN_BUF_INIT;
    rfn_buf_varint(&buf, 300);
    rfn_buf_svarint(&buf, -2);
    rfn_buf_u32(&buf, 0x01020304);
    assert_int_equal(buf.size, 7);
    assert_memory_equal(buf.data, "\xac\x02\x03\x04\x03\x02\x01", 7);
    rfn_buf_release(&buf);
}

static void test_malformed(void **state)
{
    (void)state;
    static const uint8_t endless[11] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t overflow[10] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
    const struct {
        const uint8_t *bytes;
        size_t size;
    } cases[] = {{endless, 11}, {overflow, 10}, {endless, 3}, {endless, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rfn_reader reader = rfn_reader_over(cases[i].bytes, cases[i].size);
        assert_int_equal(rfn_reader_varint(&reader), 0);
        assert_true(reader.failed);
        assert_int_equal(rfn_reader_left(&reader), 0);
        assert_null(rfn_reader_bytes(&reader, 1));
    }
    static const uint8_t long_blob[] = {200, 1, 'a'};
    struct rfn_reader reader = rfn_reader_over(long_blob, sizeof long_blob);
    size_t size;
    assert_null(rfn_reader_blob(&reader, &size));
    assert_true(reader.failed);
}

/* Random puts, removals and look-ups, beside a plain array. */
static void test_map(void **state)
{
    (void)state;
    enum { KEYS = 500 };
    struct rfn_map map = RFN_MAP_INIT;
    int64_t model[KEYS];
    uint64_t n = 0;
    memset(model, -1, sizeof model);
    srand(3);
    for (int i = 0; i < 200000; i++) {
        uint64_t k = (uint64_t)(rand() % KEYS), key = k * 0x100000000u;
        switch (rand() % 3) {
        case 0:
            n += model[k] < 0;
            model[k] = rand();
            assert_int_equal(rfn_map_put(&map, key, (uint64_t)model[k]), 0);
            break;
        case 1:
            assert_int_equal(rfn_map_remove(&map, key), model[k] >= 0);
            n -= model[k] >= 0;
            model[k] = -1;
            break;
        default: {
            const uint64_t *value = rfn_map_get(&map, key);
            assert_int_equal(value ? (int64_t)*value : -1, model[k]);
        }
        }
        assert_int_equal(map.n, n);
    }
    rfn_map_release(&map);
}

static void test_arena(void **state)
{
    (void)state;
    struct rfn_arena arena = RFN_ARENA_INIT;
    char *copies[1000];
    for (size_t i = 0; i < 1000; i++) {
        char text[64];
        memset(text, 'a' + (int)(i % 26), sizeof text);
        copies[i] = rfn_arena_copy(&arena, text, i % 64);
        assert_int_equal((uintptr_t)copies[i] % _Alignof(max_align_t), 0);
    }
    char *large = rfn_arena_alloc(&arena, 5 << 20);
    memset(large, 1, 5 << 20);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(strlen(copies[i]), i % 64);
        for (size_t k = 0; k < i % 64; k++)
            assert_int_equal(copies[i][k], 'a' + (int)(i % 26));
    }
    assert_null(rfn_arena_alloc(&arena, SIZE_MAX - 3));
    rfn_arena_release(&arena);
}

static void test_grow(void **state)
{
    (void)state;
    int *array = NULL;
    size_t capacity = 0;
    for (size_t n = 1; n < 5000; n++) {
        assert_int_equal(RFN_GROW(array, capacity, n), 0);
        assert_true(capacity >= n);
        array[n - 1] = (int)n;
    }
    for (size_t n = 1; n < 5000; n++)
        assert_int_equal(array[n - 1], n);
    assert_int_equal(RFN_GROW(array, capacity, SIZE_MAX / 2), RFN_E_NOMEM);
    free(array);
}

/* ---- pools ---- */

/* What was given back is taken first, the last one first; others are behind what there is. */
static void test_pool(void **state)
{
    (void)state;
    struct element {
        int value;
        uint32_t next;
    } *pool = NULL;
    size_t capacity = 0, n = 0;
    uint32_t first = 0;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(RFN_POOL_TAKE(pool, capacity, n, first, next), i);
        pool[i].value = i;
    }
    RFN_POOL_GIVE(pool, first, next, 7);
    RFN_POOL_GIVE(pool, first, next, 0);
    RFN_POOL_GIVE(pool, first, next, 99);
    assert_int_equal(RFN_POOL_TAKE(pool, capacity, n, first, next), 99);
    assert_int_equal(RFN_POOL_TAKE(pool, capacity, n, first, next), 0);
    assert_int_equal(RFN_POOL_TAKE(pool, capacity, n, first, next), 7);
    assert_int_equal(RFN_POOL_TAKE(pool, capacity, n, first, next), 100);
    assert_int_equal(n, 101);
    for (int i = 0; i < 100; i++)
        assert_int_equal(pool[i].value, i);
    free(pool);
}

static void test_pool_nomem(void **state)
{
    (void)state;
    uint64_t *none = NULL;
    size_t capacity = 0, n = SIZE_MAX / 2;
    assert_int_equal(rfn_pool_append(&n, RFN_GROW(none, capacity, n + 1)), RFN_E_NOMEM);
    assert_int_equal(n, SIZE_MAX / 2);
    assert_null(none);
}

/* ---- ropes ---- */

/* What is read of a rope: what lasts only when the walk is over. */
struct reading {
    uint8_t *bytes;
    size_t at;
    struct {
        const uint8_t *bytes;
        size_t at, size;
    } lasting[100];
    size_t n_lasting;
};

static int note_lasting(void *context, const uint8_t *bytes, size_t size)
{
    struct reading *reading = context;
    assert_true(reading->n_lasting < 100);
    reading->lasting[reading->n_lasting].bytes = bytes;
    reading->lasting[reading->n_lasting].at = reading->at;
    reading->lasting[reading->n_lasting++].size = size;
    reading->at += size;
    return 0;
}

static int copy_passing(void *context, const uint8_t *bytes, size_t size)
{
    struct reading *reading = context;
    memcpy(reading->bytes + reading->at, bytes, size);
    reading->at += size;
    return 0;
}

static void expect_walked(const struct rfn_rope *rope, const struct rfn_buf *expected)
{
    static const struct rfn_rope_visitor visitor = {note_lasting, copy_passing};
    struct reading reading = {.bytes = calloc(1, expected->size + 1)};
    assert_non_null(reading.bytes);
    assert_int_equal(rfn_rope_walk(rope, &visitor, &reading), 0);
    assert_int_equal(reading.at, expected->size);
    for (size_t i = 0; i < reading.n_lasting; i++)
        memcpy(reading.bytes + reading.lasting[i].at, reading.lasting[i].bytes,
               reading.lasting[i].size);
    assert_memory_equal(reading.bytes, expected->data, expected->size);
    free(reading.bytes);
}

/* Pieces of all kinds in any order are the same bytes as a plain buffer. */
static void test_rope(void **state)
{
    (void)state;
    static uint8_t text[300000];
    struct spill_model model;
    spill_model_init(&model);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)rand();
    for (int round = 0; round < 50; round++) {
        struct rfn_rope rope = RFN_ROPE_INIT, part = RFN_ROPE_INIT;
        struct rfn_buf plain = RFN_BUF_INIT, read = RFN_BUF_INIT;
        for (int i = 0; i < 20; i++) {
            size_t from = (size_t)rand() % 1000, size = (size_t)rand() % (sizeof text - from);
            struct rfn_extent extent = {.size = size};
            if (rand() % 3)
                size %= 100, extent.size = size;
            switch (rand() % 3) {
            case 0:
                rfn_buf_bytes(&part.bytes, text + from, size);
                break;
            case 1:
                rfn_rope_borrow(&part, text + from, size);
                break;
            default:
                model.spill.write(&model, text + from, size, &extent.offset);
                rfn_rope_extent(&part, &model.spill, &extent);
            }
            rfn_buf_bytes(&plain, text + from, size);
            if (rand() % 4 == 0)
                rfn_rope_join(&rope, &part);
            if (rand() % 4 == 0)
                rfn_rope_relieve(&rope, &model.spill);
        }
        rfn_rope_join(&rope, &part);
        assert_int_equal(rfn_rope_size(&part), 0);
        assert_int_equal(rfn_rope_size(&rope), plain.size);
        rfn_rope_flatten(&rope, &read);
        assert_int_equal(rfn_buf_status(&read), 0);
        assert_int_equal(read.size, plain.size);
        assert_memory_equal(read.data, plain.data, plain.size);
        expect_walked(&rope, &plain);
        struct rfn_hash128 digest, expected;
        assert_int_equal(rfn_rope_hash128(&rope, 7, &digest), 0);
        rfn_buf_u64(&plain, 7);
        expected = rfn_hash128_bytes(plain.data, plain.size);
        assert_true(rfn_hash128_equal(digest, expected));
        rfn_rope_release(&rope);
        rfn_buf_release(&plain);
        rfn_buf_release(&read);
    }
    rfn_buf_release(&model.bytes);
}

static void test_errors(void **state)
{
    (void)state;
    struct rfn_diag diag;
    assert_string_equal(rfn_error_text(0), "success");
    assert_string_equal(rfn_error_text(RFN_E_CORRUPT), "the data are damaged");
    assert_string_equal(rfn_error_text(-7), "unknown error");
    assert_int_equal(rfn_exit_status(0), RFN_EXIT_OK);
    assert_int_equal(rfn_exit_status(1), RFN_EXIT_OK);
    assert_int_equal(rfn_exit_status(RFN_E_USAGE), RFN_EXIT_USAGE);
    assert_int_equal(rfn_exit_status(RFN_E_INCOMPLETE), RFN_EXIT_BAD_INPUT);
    assert_int_equal(rfn_exit_status(RFN_E_EXISTS), RFN_EXIT_FAILURE);
    assert_int_equal(rfn_fail(&diag, RFN_E_IO, 12, 3, "%s at %d", "gone", 12), RFN_E_IO);
    assert_string_equal(diag.text, "gone at 12");
    assert_int_equal(diag.file_offset, 12);
    assert_int_equal(diag.rank, 3);
}

/* Standard input is closed, and so free for what is opened next. */
static void test_above_standard(void **state)
{
    (void)state;
    struct stat opened, kept;
    int input = dup(STDIN_FILENO), ends[2], fd;
    close(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(ends[0], STDIN_FILENO);
    assert_int_equal(fstat(ends[0], &opened), 0);
    fd = rfn_above_standard(ends[0]);
    assert_true(fd > STDERR_FILENO);
    assert_int_equal(fstat(fd, &kept), 0);
    assert_int_equal(kept.st_ino, opened.st_ino);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    assert_int_equal(rfn_above_standard(fd), fd);
    errno = ENOENT;
    assert_int_equal(rfn_above_standard(-1), -1);
    assert_int_equal(errno, ENOENT);
    close(fd);
    close(ends[1]);
    if (input >= 0) {
        assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
        close(input);
    }
}

static void test_first_equal(void **state)
{
    (void)state;
    enum { MOST = 60 };
    srand(1);
    for (int round = 0; round < 500; round++) {
        uint64_t keys[MOST];
        uint32_t first[MOST], n = (uint32_t)rand() % MOST;
        for (uint32_t i = 0; i < n; i++)
            keys[i] = (uint64_t)(rand() % 30) << 40;
        assert_int_equal(rfn_first_equal(keys, n, first), 0);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t lowest = 0;
            while (keys[lowest] != keys[i])
                lowest++;
            assert_int_equal(first[i], lowest);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_malformed),      cmocka_unit_test(test_map),
        cmocka_unit_test(test_arena),          cmocka_unit_test(test_grow),
        cmocka_unit_test(test_pool),           cmocka_unit_test(test_pool_nomem),
        cmocka_unit_test(test_rope),           cmocka_unit_test(test_errors),
        cmocka_unit_test(test_above_standard), cmocka_unit_test(test_first_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
