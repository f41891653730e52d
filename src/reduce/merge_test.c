/* Ranks are threads here; messages go through a mailbox per pair. */
#include "reduce/merge.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_RANKS = 40 };

struct mail {
    struct rfn_buf bytes;
    struct mail *next;
};

struct world {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    struct mail *boxes[MAX_RANKS][MAX_RANKS]; /* [to][from], oldest first */
    int size, failing;                        /* rank that fails, or -1 */
};

struct member {
    struct world *world;
    struct rfn_exchange exchange;
    struct rfn_merge merge;
    struct rfn_tables tables, more;
    struct rfn_map set;
    struct rfn_survey survey;
    struct rfn_buf down;
    int results[4];
};

static int send_mail(void *context, int to, const void *bytes, size_t size)
{
    struct member *member = context;
    struct world *world = member->world;
    struct mail *mail = calloc(1, sizeof *mail);
    rfn_buf_bytes(&mail->bytes, bytes, size);
    pthread_mutex_lock(&world->mutex);
    struct mail **box = &world->boxes[to][member->exchange.rank];
    while (*box)
        box = &(*box)->next;
    *box = mail;
    pthread_cond_broadcast(&world->arrived);
    pthread_mutex_unlock(&world->mutex);
    return 0;
}

static int receive_mail(void *context, int from, struct rfn_buf *bytes)
{
    struct member *member = context;
    struct world *world = member->world;
    pthread_mutex_lock(&world->mutex);
    struct mail **box = &world->boxes[member->exchange.rank][from];
    while (!*box)
        pthread_cond_wait(&world->arrived, &world->mutex);
    struct mail *mail = *box;
    *box = mail->next;
    pthread_mutex_unlock(&world->mutex);
    rfn_buf_bytes(bytes, mail->bytes.data, mail->bytes.size);
    rfn_buf_release(&mail->bytes);
    free(mail);
    return 0;
}

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
    rfn_map_put(&member->set, (uint64_t)rank / 4, 0);
}

static void *run_member(void *argument)
{
    struct member *member = argument;
    int error = member->exchange.rank == member->world->failing ? RFN_E_NOMEM : 0;
    contribute(member);
    member->survey = (struct rfn_survey){.set = &member->set,
                                         .counts = {1, (uint64_t)member->exchange.rank + 1}};
    struct rfn_tables *tables[] = {&member->tables, &member->more};
    member->results[0] = rfn_survey_run(&member->survey, &member->exchange, error);
    member->results[1] = rfn_merge_run(&member->merge, &member->exchange, error);
    member->results[2] = rfn_tables_run(tables, 2, &member->exchange, error);
    if (member->exchange.rank == 0)
        rfn_buf_string(&member->down, "from rank 0");
    member->results[3] = rfn_exchange_down(&member->exchange, &member->down, error);
    return NULL;
}

static void run_world(struct world *world, struct member *members, int size, int failing)
{
    pthread_t threads[MAX_RANKS];
    memset(world, 0, sizeof *world);
    pthread_mutex_init(&world->mutex, NULL);
    pthread_cond_init(&world->arrived, NULL);
    world->size = size;
    world->failing = failing;
    for (int rank = 0; rank < size; rank++) {
        members[rank] = (struct member){.world = world};
        members[rank].exchange = (struct rfn_exchange){.rank = rank,
                                                       .size = size,
                                                       .context = &members[rank],
                                                       .send = send_mail,
                                                       .receive = receive_mail};
    }
    for (int rank = 0; rank < size; rank++)
        assert_int_equal(pthread_create(&threads[rank], NULL, run_member, &members[rank]), 0);
    for (int rank = 0; rank < size; rank++)
        pthread_join(threads[rank], NULL);
}

static void release_world(struct world *world, struct member *members)
{
    for (int rank = 0; rank < world->size; rank++) {
        rfn_merge_release(&members[rank].merge);
        rfn_tables_release(&members[rank].tables);
        rfn_tables_release(&members[rank].more);
        rfn_map_release(&members[rank].set);
        rfn_buf_release(&members[rank].down);
    }
    pthread_mutex_destroy(&world->mutex);
    pthread_cond_destroy(&world->arrived);
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
    static struct world world;
    static struct member members[MAX_RANKS];
    for (int size = 1; size <= MAX_RANKS; size += size < 20 ? 1 : 5) {
        run_world(&world, members, size, -1);
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
        release_world(&world, members);
    }
}

/* One rank fails in everything: nobody hangs, and those who need its part learn of it. */
static void test_failure(void **state)
{
    (void)state;
    static struct world world;
    static struct member members[MAX_RANKS];
    for (int size = 2; size <= 17; size += 3) {
        for (int failing = 0; failing < size; failing++) {
            run_world(&world, members, size, failing);
            for (int rank = 0; rank < size; rank++) {
                for (int i = 0; i < 2; i++)
                    assert_true(members[rank].results[i] < 0);
            }
            assert_true(members[0].results[2] < 0);
            release_world(&world, members);
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
