#include "reduce/merge.h"

#include "reduce/mailboxes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { MOST_RANKS = 40 };

struct member {
    struct rfn_exchange exchange;
    struct rfn_merge merge;
    struct rfn_tables tables, more;
    struct rfn_map set;
    struct rfn_survey survey;
    struct rfn_buf down;
    bool fails;
    int results[4];
};

/* Structure of rank r: class r % 3; values: class r % 2; definitions: one common, one per class,
 * one of its own for even ranks. */
static struct rfn_hash128 digest_of(int class_)
{
    return rfn_hash128_bytes(&class_, sizeof class_);
}

static void contribute(struct member *member)
{
    int rank = member->exchange.rank;
    char text[32];
    rfn_merge_init(&member->merge);
    rfn_merge_define(&member->merge, RFN_DEFINITION_HOST, 0, "node", 4, NULL);
    snprintf(text, sizeof text, "class %d", rank % 3);
    rfn_merge_define(&member->merge, RFN_DEFINITION_PATH, 0, text, strlen(text), NULL);
    if (rank % 2 == 0)
        rfn_merge_define(&member->merge, RFN_DEFINITION_COMM, 1000 + (uint64_t)rank, "even", 4,
                         NULL);
    rfn_merge_stream(&member->merge, (uint64_t)rank, digest_of(rank % 3), digest_of(rank % 2));
    rfn_tables_init(&member->tables, 3);
    struct rfn_table *table = rfn_tables_use(&member->tables, (size_t)(rank % 3), 2);
    rfn_runs_append(&table->slots[0], rank + 1, true, rank); /* the next rank */
    rfn_runs_append(&table->slots[1], rank % 2 ? 5 : rank * rank, true, rank);
    rfn_tables_init(&member->more, 1);
    rfn_runs_append(&rfn_tables_use(&member->more, 0, 1)->slots[0], rank, true, rank);
    rfn_survey_add(&member->set, (uint64_t)rank / 4);
}

static void *run_member(void *argument)
{
    struct member *member = argument;
    int error = member->fails ? RFN_E_NOMEM : 0;
    contribute(member);
    member->survey = (struct rfn_survey){.set = &member->set,
                                         .counts = {1, (uint64_t)member->exchange.rank + 1},
                                         .least = (member->exchange.rank + 5) % 7 - 3};
    struct rfn_tables *tables[] = {&member->tables, &member->more};
    member->results[0] = rfn_survey_run(&member->survey, &member->exchange, error);
    member->results[1] = rfn_merge_run(&member->merge, &member->exchange, error);
    member->results[2] = rfn_tables_run(tables, 2, &member->exchange, error);
    if (member->exchange.rank == 0)
        rfn_buf_string(&member->down, "from rank 0");
    member->results[3] = rfn_exchange_down(&member->exchange, &member->down, error);
    return NULL;
}

/* failing: a rank, or -1. */
static void run_all(struct member *members, int size, int failing)
{
    static struct world world;
    for (int rank = 0; rank < size; rank++)
        members[rank] = (struct member){.fails = rank == failing};
    run_world(&world, size, run_member, members, sizeof *members,
              offsetof(struct member, exchange));
}

static void release_all(struct member *members, int size)
{
    for (int rank = 0; rank < size; rank++) {
        rfn_merge_release(&members[rank].merge);
        rfn_tables_release(&members[rank].tables);
        rfn_tables_release(&members[rank].more);
        rfn_map_release(&members[rank].set);
        rfn_buf_release(&members[rank].down);
    }
}

/* Of each key, whether it was contributed more than once; the smallest number of the first ranks.
 */
static void check_survey(const struct rfn_survey *survey, int size)
{
    for (int key = 0; key < (size + 3) / 4; key++)
        assert_int_equal(*rfn_map_get(survey->set, (uint64_t)key), 4 * key + 1 < size ? 2 : 1);
    assert_int_equal(survey->least, size < 3 ? 2 : -3);
}

static void check_numbers(const struct member *member, int size)
{
    const struct rfn_merge *merge = &member->merge;
    int classes = size < 3 ? size : 3;
    assert_int_equal(merge->groups.n, classes);
    assert_int_equal(merge->values.n, size < 2 ? size : 2);
    for (int c = 0; c < classes; c++) {
        assert_int_equal(rfn_merge_distinct(&merge->groups, digest_of(c)), c);
        assert_int_equal(merge->groups.items[c].first, c);
    }
    assert_int_equal(rfn_merge_distinct(&merge->groups, digest_of(17)), -1);
    assert_int_equal(merge->definitions[RFN_DEFINITION_HOST].n, 1);
    assert_int_equal(merge->definitions[RFN_DEFINITION_PATH].n, classes);
    assert_int_equal(merge->definitions[RFN_DEFINITION_COMM].n, (size + 1) / 2);
    for (int rank = 0; rank < size; rank += 2)
        assert_int_equal(rfn_merge_number(merge, RFN_DEFINITION_COMM, 1000 + (uint64_t)rank),
                         rank / 2);
}

/* The words that the packed runs of a table's slot stand for. */
static void check_slot(const struct rfn_runs *runs, int group, int size, int64_t (*word)(int rank))
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    rfn_runs_pack(runs, &bytes);
    struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
    int rank = group;
    while (rfn_reader_left(&reader)) {
        uint64_t head = rfn_reader_varint(&reader);
        int64_t value = rfn_reader_svarint(&reader);
        for (uint64_t i = 0; i < head >> 2; i++, rank += 3)
            assert_int_equal(value + (head & 1 ? rank : 0), word(rank));
    }
    assert_false(reader.failed);
    assert_true(rank >= size);
    rfn_buf_release(&bytes);
}

static int64_t next_rank(int rank)
{
    return rank + 1;
}

static int64_t mixed(int rank)
{
    return rank % 2 ? 5 : rank * rank;
}

static void test_merge(void **state)
{
    (void)state;
    static struct member members[MOST_RANKS];
    for (int size = 1; size <= MOST_RANKS; size += size < 20 ? 1 : 5) {
        run_all(members, size, -1);
        for (int rank = 0; rank < size; rank++) {
            const struct member *member = &members[rank];
            for (int i = 0; i < 4; i++)
                assert_int_equal(member->results[i], 0);
            assert_int_equal(member->survey.before[0], rank);
            assert_int_equal(member->survey.total[0], size);
            assert_int_equal(member->survey.before[1], rank * (rank + 1) / 2);
            assert_int_equal(member->survey.total[1], size * (size + 1) / 2);
            /* At least the tables of tables, at most some kilobytes for so little. */
            assert_in_range(member->exchange.peak, 3 * sizeof(struct rfn_table), 64 << 10);
            assert_true(member->exchange.held <= member->exchange.peak);
            assert_int_equal(member->set.n, (size + 3) / 4);
            check_survey(&member->survey, size);
            assert_int_equal(member->down.size, 12);
            check_numbers(member, size);
        }
        for (int group = 0; group < 3 && group < size; group++) {
            const struct rfn_table *table = &members[0].tables.tables[group];
            assert_int_equal(table->n_slots, 2);
            assert_int_equal(table->slots[0].n, 1); /* one run: own rank + 1 */
            check_slot(&table->slots[0], group, size, next_rank);
            check_slot(&table->slots[1], group, size, mixed);
        }
        assert_int_equal(members[0].more.tables[0].slots[0].n, 1); /* one run: own rank */
        release_all(members, size);
    }
}

/* One rank fails in everything: nobody hangs, and those who need its part learn of it. */
static void test_failure(void **state)
{
    (void)state;
    static struct member members[MOST_RANKS];
    for (int size = 2; size <= 17; size += 3) {
        for (int failing = 0; failing < size; failing++) {
            run_all(members, size, failing);
            for (int rank = 0; rank < size; rank++) {
                for (int i = 0; i < 2; i++)
                    assert_true(members[rank].results[i] < 0);
            }
            assert_true(members[0].results[2] < 0);
            release_all(members, size);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
