/* Ranks that merge out of memory: of all allocations of a rank each fails once; that is said, and
 * nothing is left behind. What the other rank says is what it says when nothing fails. */
#include "reduce/merge/merge.h"

#include "support/mailboxes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/fail_each.h"

enum { MESSAGES = 8, MESSAGE_MOST = 4096 };

/* What a rank has sent, and what it would be sent. */
static struct said {
    uint8_t bytes[MESSAGES][MESSAGE_MOST];
    size_t sizes[MESSAGES], n;
} said[2];

static int remember(void *context, int to, const void *bytes, size_t size)
{
    struct said *by = &said[1 - to];
    assert_true(by->n < MESSAGES && size <= MESSAGE_MOST);
    memcpy(by->bytes[by->n], bytes, size);
    by->sizes[by->n++] = size;
    return send_mail(context, to, bytes, size);
}

static int drop(void *context, int to, const void *bytes, size_t size)
{
    (void)context, (void)to, (void)bytes, (void)size;
    return 0;
}

/* context: how many messages have been given. */
static int give(void *context, int from, struct rfn_buf *bytes)
{
    size_t *n = context, i = (*n)++;
    assert_true(i < said[from].n);
    rfn_buf_bytes(bytes, said[from].bytes[i], said[from].sizes[i]);
    return rfn_buf_status(bytes);
}

struct member {
    struct rfn_exchange exchange;
    int error;
};

static int describe(struct rfn_merge *merge, int rank)
{
    char text[200];
    snprintf(text, sizeof text, "%0190d", rank);
    RFN_TRY(rfn_merge_define(merge, RFN_DEFINITION_PATH, 0, text, strlen(text), NULL));
    RFN_TRY(rfn_merge_define(merge, RFN_DEFINITION_COMM, 17, rank ? NULL : "x", !rank, NULL));
    struct rfn_stream_digests digests = {.shape = 1,
                                         .structure = {2, (uint64_t)rank},
                                         .content = {3, 3},
                                         .shape_bytes = 10,
                                         .content_bytes = 10};
    return rfn_merge_stream(merge, &digests);
}

static int collect(struct rfn_tables *tables, struct rfn_root_blobs *parcels,
                   struct rfn_exchange *exchange, int error)
{
    struct rfn_tables *const all[] = {tables};
    struct rfn_collection collection = {.tables = all, .n_tables = 1, .parcels = parcels};
    if (!error)
        error = rfn_tables_init(tables, 1);
    struct rfn_table *table = error ? NULL : rfn_tables_use(tables, 0, 1);
    if (!error)
        error = table ? rfn_rank_runs_append(table->slots, exchange->rank, true, 7) : RFN_E_NOMEM;
    if (!error)
        error = rfn_root_blobs_add(parcels, 1, 2, "parcel", 6);
    return rfn_collect(&collection, exchange, error);
}

static int run_rank(struct rfn_exchange *exchange)
{
    struct rfn_merge merge;
    struct rfn_tables tables = {0};
    struct rfn_root_blobs parcels = {0};
    rfn_merge_init(&merge);
    merge.together = 1000;
    int error = rfn_merge_define(&merge, RFN_DEFINITION_HOST, 0, exchange->rank ? "b" : "a", 1,
                                 NULL);
    error = rfn_merge_definitions(&merge, exchange, error);
    if (!error)
        error = describe(&merge, exchange->rank);
    error = rfn_merge_run(&merge, exchange, error);
    if (!error)
        assert_int_equal(rfn_stream_class_of(&merge.streams, 0, RFN_KIND_OF_GROUP).number,
                         exchange->rank);
    error = collect(&tables, &parcels, exchange, error);
    rfn_merge_release(&merge);
    rfn_tables_release(&tables);
    rfn_root_blobs_release(&parcels);
    return error;
}

static void *act(void *argument)
{
    struct member *member = argument;
    member->exchange.send = remember;
    member->error = run_rank(&member->exchange);
    return NULL;
}

static int replay(const void *of)
{
    int rank = *(const int *)of;
    size_t given = 0;
    struct rfn_exchange exchange = {
        .rank = rank, .size = 2, .context = &given, .send = drop, .receive = give};
    int error = run_rank(&exchange);
    assert_int_equal(given, said[1 - rank].n); /* nobody waits for a message that does not come */
    return error;
}

static void test_ranks(void **state)
{
    (void)state;
    static struct member members[2];
    static struct world world;
    run_world(&world, 2, act, members, sizeof *members, offsetof(struct member, exchange));
    assert_true(members[0].error == 0 && members[1].error == 0);
    assert_true(said[1].n == 3 && said[0].n == 4);
    fail_each(20, replay, &(int){0});
    fail_each(20, replay, &(int){1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
