/* What reading reduced archives takes of memory. Of its allocations each fails once, and it gives
 * up with RFN_E_NOMEM and leaves nothing behind. And segments that are not executed again are not
 * kept: many take no more than few. */
#include "support/reduced_model.h"

#include "support/read_job.h"

/* ---- each allocation fails ---- */

static void test_each_allocation_fails(void **state)
{
    (void)state;
    struct read_job full = {write_archive(SOUND, true, true), 0, true};
    assert_int_equal(read_archive(&full), 0); /* what is made once */
    rfn_buf_release(&full.file);
    for (unsigned variant = 0; variant < 8; variant++) {
        struct reduced_run *run = new_run(shapes[variant % N_SHAPES], variant | (variant & 2) << 3,
                                          variant);
        struct read_job job = {write_reduced(run), variant & 1 ? 0 : RFN_RESIDENT_MAX, variant & 4};
        assert_int_equal(fail_each(100, read_archive, &job), 0);
        rfn_buf_release(&job.file);
        delete_run(run);
    }
}

/* ---- memory does not grow with segments ---- */

/* So many segments of one event, all new, kept or not. */
static struct rfn_buf write_new(int64_t n, bool keep)
{
    static struct reduced_run run;
    struct made_set *set = &run.sets[0];
    uint64_t random = 1;
    run = (struct reduced_run){.clock = 3};
    run.shape = (struct shape){.top = {1, {LOOP(0)}},
                               .loops = {{1, {SYMBOL(PLAIN_0)}}},
                               .n_loops = 1,
                               .cuts = {1},
                               .least = {(unsigned)n},
                               .more = {1}};
    make_model();
    number_made_contexts(&run);
    execute_all(&run, NULL);
    set->n = (size_t)n;
    set->events = calloc(set->n, sizeof *set->events);
    assert_non_null(set->events);
    for (int64_t i = 0; i < n; i++) {
        set->events[i].polls = 1;
        add_number(&set->words[PLAIN_0][GAP], (int64_t)(noise(&random) % 60000));
        add_number(&set->words[PLAIN_0][DURATION], (int64_t)(noise(&random) % 60000));
        add_number(&set->contexts[0][RFN_PROFILE_REPRESENTATIVE], i);
        add_number(&set->contexts[0][RFN_PROFILE_CORRECTION], 0);
        add_number(&set->contexts[0][RFN_PROFILE_PACE], (int64_t)(noise(&random) % 100));
        add_number(&set->contexts[0][RFN_PROFILE_KEPT], keep);
    }
    struct rfn_buf file = write_reduced(&run);
    free_reduced(&run);
    return file;
}

static size_t peak_of(int64_t n, bool keep)
{
    struct rfn_archive *archive;
    struct rfn_diag diag = {.text = ""};
    struct rfn_buf file = write_new(n, keep);
    size_t before = peak = heap;
    assert_int_equal(rfn_archive_open_memory(file.data, file.size, &archive, &diag), 0);
    archive->chunks.resident_max = 0;
    assert_int_equal(read_to_end(archive, 1, &diag), 0);
    rfn_archive_close(archive);
    assert_int_equal(heap, before);
    size_t most = peak - before;
    rfn_buf_release(&file);
    return most;
}

static void test_memory_is_bounded(void **state)
{
    (void)state;
    enum { FEW = 30000, MANY = 8 * FEW };
    size_t few = peak_of(FEW, false), many = peak_of(MANY, false);
    size_t kept = peak_of(FEW, true);
    print_message("peak: %zu and %zu bytes; with all segments kept %zu\n", few, many, kept);
    assert_true(many < few + few / 50);
    assert_true(kept > few + 20 * (size_t)FEW); /* else this would show nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
