/* Random use of the heap against what should be in it. The heap is in no library that tests are
 * linked with: it is for SMPI's only. */
#include "record/core/smpi_heap.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PIECES = 300, ROUNDS = 200000 };

static struct piece {
    uint8_t *memory;
    size_t size;
    uint8_t value; /* of all its bytes */
} pieces[PIECES];

static uint32_t next_random(void)
{
    static uint64_t sequence = 1;
    sequence = sequence * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(sequence >> 33);
}

/* Small ones often, large ones now and then. */
static size_t random_size(void)
{
    return next_random() % ((size_t)2 << next_random() % 18);
}

static void check(const struct piece *piece, size_t size)
{
    for (size_t i = 0; i < size; i++)
        assert_int_equal(piece->memory[i], piece->value);
}

static void fill(struct piece *piece, size_t size)
{
    piece->size = size;
    piece->value = (uint8_t)next_random();
    assert_int_equal((uintptr_t)piece->memory % 16, 0);
    memset(piece->memory, piece->value, size);
}

static void replace(struct piece *piece, unsigned how)
{
    size_t size = random_size() + 1, kept = size < piece->size ? size : piece->size;
    if (how == 0) { /* larger or smaller */
        piece->memory = rec_smpi_heap_realloc(piece->memory, size);
        check(piece, kept);
    } else {
        rec_smpi_heap_free(piece->memory);
        piece->memory = how == 1 ? rec_smpi_heap_malloc(size) : rec_smpi_heap_calloc(size, 1);
    }
    assert_non_null(piece->memory);
    for (size_t i = 0; how == 2 && i < size; i++)
        assert_int_equal(piece->memory[i], 0);
    fill(piece, size);
}

static void test_random_use(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct piece *piece = &pieces[next_random() % PIECES];
        check(piece, piece->size < 64 ? piece->size : 64);
        replace(piece, next_random() % 3);
    }
    for (unsigned i = 0; i < PIECES; i++) {
        check(&pieces[i], pieces[i].size);
        rec_smpi_heap_free(pieces[i].memory);
    }
    assert_in_range(n_blocks, 1, 12); /* free memory is used again */
}

/* What the C library has allocated is freed and resized by it. */
static void test_memory_of_others(void **state)
{
    (void)state;
    char *text = strdup("text");
    text = rec_smpi_heap_realloc(text, 100000);
    assert_string_equal(text, "text");
    rec_smpi_heap_free(text);
    rec_smpi_heap_free(NULL);
    assert_null(rec_smpi_heap_calloc(SIZE_MAX / 2, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_use),
        cmocka_unit_test(test_memory_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
