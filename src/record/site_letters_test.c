/* Letters of call paths: the same wherever a path stands, others for other functions and frames. */
#include "record/site_letters.h"

#include "record/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t letter_of(struct rec_sites *sites, uint32_t function, uint64_t offset)
{
    const struct rec_frame frame = {.module = 0, .offset = offset};
    return rec_site_letter(sites, rec_site_of_frame(sites, function, &frame));
}

static __attribute__((noinline)) uint64_t walked_letter(struct rec_sites *sites, uint32_t function)
{
    uint64_t letter = rec_site_letter(sites, rec_site(sites, function, __builtin_frame_address(0)));
    return letter + (letter == 0); /* no tail call */
}

static void test_letters(void **state)
{
    (void)state;
    enum { FUNCTIONS = 3, OFFSETS = 20, N = FUNCTIONS * OFFSETS };
    struct rec_sites sites[2];
    uint64_t letters[2][N], walked[2];
    const volatile int two = 2; /* not unrolled: there is one place that calls */
    for (int i = 0; i < two; i++) {
        assert_int_equal(rec_sites_init(&sites[i]), 0);
        walked[i] = walked_letter(&sites[i], REC_FN_MPI_Send); /* there is a module now */
        for (uint32_t k = 0; k < N; k++) {
            uint32_t at = i ? N - 1 - k : k; /* numbers of sites differ */
            letters[i][at] = letter_of(&sites[i], REC_FN_MPI_Send + at % FUNCTIONS, at / FUNCTIONS);
        }
    }
    assert_true(walked[0] == walked[1]); /* called from one place */
    for (uint32_t k = 0; k < N; k++) {
        assert_true(letters[0][k] == letters[1][k]);
        for (uint32_t l = 0; l < k; l++)
            assert_true(letters[0][k] != letters[0][l]);
    }
    for (int i = 0; i < 2; i++)
        rec_sites_release(&sites[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_letters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
