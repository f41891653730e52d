/* What structures have in common, out of memory: of all allocations of packing it and of making the
 * structures of it each fails once. */
#include "archive/read/common_loops.h"
#include "support/common_model.h"
#include "support/fail_each.h"

enum { STRUCTURES = 12 };

struct job {
    struct model_structure structures[STRUCTURES];
    struct rfn_buf references[STRUCTURES], common;
};

static int add_all(struct rfn_common_table *table, const struct job *job)
{
    struct rfn_buf out = RFN_BUF_INIT;
    int error = 0;
    for (int i = 0; i < STRUCTURES && !error; i++) {
        error = rfn_common_add(table, job->structures[i].numbers.at, job->structures[i].numbers.n,
                               &out);
        error = error == RFN_E_UNSUPPORTED ? 0 : error;
    }
    rfn_buf_release(&out);
    return error;
}

static int pack_all(const void *of)
{
    struct rfn_common_table table;
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_common_table_init(&table, model_dictionary(), SIZE_MAX);
    int error = add_all(&table, of);
    if (!error)
        error = rfn_common_pack(&table, &out);
    rfn_buf_release(&out);
    rfn_common_table_release(&table);
    return error;
}

static const char *expand(const struct rfn_common *common, const struct rfn_buf *references)
{
    struct rfn_numbers numbers = {0};
    struct rfn_reader reader = rfn_reader_over(references->data, references->size);
    const char *fault = rfn_common_expand(common, &reader, 1000, &numbers);
    free(numbers.at);
    return fault;
}

static int read_all(const void *of)
{
    const struct job *job = of;
    struct rfn_common common;
    const struct rfn_payload payload = {.data = job->common.data, .size = job->common.size};
    const char *fault = rfn_common_read(&common, model_dictionary(), &payload, true);
    for (int i = 0; i < STRUCTURES && !fault; i++) {
        if (!job->structures[i].twice)
            fault = expand(&common, &job->references[i]);
    }
    rfn_common_release(&common);
    return fault ? rfn_fault_error(fault) : 0;
}

static void make_job(struct job *job)
{
    struct rfn_common_table table;
    *job = (struct job){0};
    rfn_common_table_init(&table, model_dictionary(), SIZE_MAX);
    for (int i = 0; i < STRUCTURES; i++) {
        job->structures[i] = make_structure();
        rfn_common_add(&table, job->structures[i].numbers.at, job->structures[i].numbers.n,
                       &job->references[i]);
    }
    assert_int_equal(rfn_common_pack(&table, &job->common), 0);
    rfn_common_table_release(&table);
}

static void release_job(struct job *job)
{
    for (int i = 0; i < STRUCTURES; i++) {
        free(job->structures[i].numbers.at);
        rfn_buf_release(&job->references[i]);
    }
    rfn_buf_release(&job->common);
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 10; round++) {
        struct job job;
        make_job(&job);
        assert_int_equal(fail_each(30, pack_all, &job), 0);
        assert_int_equal(fail_each(30, read_all, &job), 0);
        release_job(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
