#include "reduce/merge/merge.h"

#include "support/mailboxes.h"

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
    struct rfn_root_blobs parcels;
    struct rfn_collection collection;
    uint64_t collected[2]; /* messages and bytes that this rank has sent until then */
    struct rfn_map set;
    struct rfn_survey survey;
    struct rfn_buf down;
    bool fails;
    int results[4];
};

/* Structure of rank r: class r % 3, of shape 0 but for class 1; content of the values: class r % 2;
 * definitions: one common, one per class, one of its own for even ranks. */
static struct rfn_hash128 digest_of(int class_)
{
    return rfn_hash128_bytes(&class_, sizeof class_);
}

static struct rfn_stream_digests digests_of(int rank)
{
    return (struct rfn_stream_digests){.shape = digest_of(rank % 3 == 1).low,
                                       .structure = digest_of(rank % 3),
                                       .content = digest_of(rank % 2),
                                       .shape_bytes = 10,
                                       .content_bytes = 20};
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
    const struct rfn_stream_digests digests = digests_of(rank);
    rfn_merge_stream(&member->merge, &digests);
    member->merge.together = rank == 0 ? 1 << 20 : 0;
    rfn_root_blobs_add(&member->parcels, 1, (uint64_t)rank, text, strlen(text));
    rfn_tables_init(&member->tables, 3);
    struct rfn_table *table = rfn_tables_use(&member->tables, (size_t)(rank % 3), 2);
    rfn_rank_runs_append(&table->slots[0], rank + 1, true, rank); /* the next rank */
    rfn_rank_runs_append(&table->slots[1], rank % 2 ? 5 : rank * rank, true, rank);
    rfn_tables_init(&member->more, 1);
    rfn_rank_runs_append(&rfn_tables_use(&member->more, 0, 1)->slots[0], rank, true, rank);
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
    member->collection = (struct rfn_collection){
        .tables = tables,
        .n_tables = 2,
        .parcels = &member->parcels,
        .sums = {member->exchange.messages_sent, member->exchange.bytes_sent, 1}};
    member->results[2] = rfn_collect(&member->collection, &member->exchange, error);
    member->collected[0] = member->exchange.messages_sent;
    member->collected[1] = member->exchange.bytes_sent;
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
        rfn_root_blobs_release(&members[rank].parcels);
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

/* Groups of shape 0 are those of classes 0 and 2. */
static int group_of(int rank, int size)
{
    if (rank % 3 == 0 || size < 3)
        return rank % 3;
    return rank % 3 == 2 ? 1 : 2;
}

/* Value sets are in order of their groups, of a group in order of rank: r and r + 3 share one with
 * r + 6 and r + 9. */
static int values_of(int rank, int size)
{
    int number = 0;
    for (int r = 0; r < size && r < 6; r++) {
        int group = group_of(r, size), own = group_of(rank, size);
        number += group < own || (group == own && r < rank % 6);
    }
    return number;
}

/* Of that rank's stream, which is the i-th of those that have been added here. */
static void check_fates(const struct rfn_stream_classes *kinds, size_t i, int rank, int size)
{
    struct rfn_stream_class_of fates[RFN_STREAM_KINDS];
    for (enum rfn_stream_class k = 0; k < RFN_STREAM_KINDS; k++) {
        fates[k] = rfn_stream_class_of(kinds, i, k);
        assert_true(fates[k].together);
    }
    assert_int_equal(fates[RFN_KIND_OF_SHAPE].number, rank % 3 == 1);
    assert_int_equal(fates[RFN_KIND_OF_SHAPE].first, rank < 2);
    assert_int_equal(fates[RFN_KIND_OF_CONTENT].number, rank % 2);
    assert_int_equal(fates[RFN_KIND_OF_CONTENT].first, rank < 2);
    assert_int_equal(fates[RFN_KIND_OF_GROUP].number, group_of(rank, size));
    assert_int_equal(fates[RFN_KIND_OF_GROUP].first, rank < 3);
    assert_int_equal(fates[RFN_KIND_OF_VALUES].number, values_of(rank, size));
    assert_int_equal(fates[RFN_KIND_OF_VALUES].first, rank < 6);
    assert_int_equal(kinds->of[RFN_KIND_OF_GROUP].total, size < 3 ? size : 3);
    assert_int_equal(kinds->of[RFN_KIND_OF_VALUES].total, size < 6 ? size : 6);
}

/* Each rank knows the numbers of what it brought, and rank 0 all. */
static void check_numbers(const struct member *member, int size)
{
    const struct rfn_merge *merge = &member->merge;
    int own = member->exchange.rank;
    char text[32];
    assert_int_equal(rfn_merge_number(merge, RFN_DEFINITION_HOST, rfn_hash_bytes("node", 4)), 0);
    snprintf(text, sizeof text, "class %d", own % 3);
    assert_int_equal(
        rfn_merge_number(merge, RFN_DEFINITION_PATH, rfn_hash_bytes(text, strlen(text))), own % 3);
    assert_int_equal(rfn_merge_number(merge, RFN_DEFINITION_PATH, 17), -1);
    for (int rank = 0; rank < size; rank += 2) {
        if (own == 0 || rank == own)
            assert_int_equal(rfn_merge_number(merge, RFN_DEFINITION_COMM, 1000 + (uint64_t)rank),
                             rank / 2);
    }
    assert_int_equal(member->collection.sums[2] == (uint64_t)size, own == 0 || size == 1);
    check_fates(&member->merge.streams, 0, own, size);
}

/* Rank 0 knows what all ranks have sent, for the collection, too. */
static void check_sent(const struct member *members, int size)
{
    const uint64_t *sums = members[0].collection.sums, once = (uint64_t)size - 1;
    for (int i = 0; i < 2; i++) {
        uint64_t all = 0;
        for (int rank = 0; rank < size; rank++)
            all += members[rank].collected[i];
        assert_int_equal(sums[i], all);
    }
    assert_int_equal(sums[0], (2 + 3 + 1) * once); /* survey, merge, collection */
    assert_true(sums[1] >= once * 20);
}

/* Of all ranks, in their order; and all messages are counted where they arrive. */
static void check_collection(const struct member *members, int size)
{
    const struct rfn_merge *merge = &members[0].merge;
    struct rfn_reader reader = rfn_reader_over(members[0].parcels.bytes.data,
                                               members[0].parcels.bytes.size);
    struct rfn_root_blob parcel;
    for (int rank = 0; rank < size; rank++) {
        assert_true(rfn_root_blobs_next(&reader, &parcel));
        assert_int_equal(parcel.kind, 1);
        assert_int_equal(parcel.number, rank);
        assert_int_equal(parcel.size, 7);
        assert_int_equal(parcel.bytes[6], '0' + rank % 3);
    }
    assert_false(rfn_root_blobs_next(&reader, &parcel));
    assert_int_equal(merge->definitions[RFN_DEFINITION_HOST].n, 1);
    assert_int_equal(merge->definitions[RFN_DEFINITION_PATH].n, size < 3 ? size : 3);
    assert_int_equal(merge->definitions[RFN_DEFINITION_COMM].n, (size + 1) / 2);
    check_sent(members, size);
}

/* The words that the packed runs of a table's slot stand for. */
static void check_slot(const struct rfn_rank_runs *runs, int group, int size,
                       int64_t (*word)(int rank))
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    rfn_rank_runs_pack(runs, &bytes);
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
            assert_int_equal(member->survey.before, rank);
            assert_int_equal(member->survey.total[0], size);
            if (rank == 0)
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
        check_collection(members, size);
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

/* ---- ranks that are alike ---- */

struct like {
    struct rfn_exchange exchange;
    struct rfn_merge merge;
    bool differs;
    int result;
};

static void *run_like(void *argument)
{
    struct like *like = argument;
    rfn_merge_init(&like->merge);
    rfn_merge_define(&like->merge, RFN_DEFINITION_HOST, 0, "node", 4, NULL);
    rfn_merge_define(&like->merge, RFN_DEFINITION_REGION, 77, "named", 5, NULL);
    rfn_merge_stream(&like->merge,
                     &(struct rfn_stream_digests){.shape = 5,
                                                  .structure = digest_of(6),
                                                  .content = digest_of(like->differs ? 8 : 7)});
    like->merge.together = like->exchange.rank == 0 ? 1 << 20 : 0;
    like->result = rfn_merge_run(&like->merge, &like->exchange, 0);
    return NULL;
}

/* Bytes of a message with its status: what follows and what is the same; nothing more, where the
 * parent has all; else four counts, the shape (u64, twice, varint), the content and the group (the
 * same), the value set (varint, twice). */
enum { NOTHING = 1 + 2, KINDS_SENT = 1 + 2 + 4 + 17 + 17 + 17 + 2 };

/* A leaf, of an odd rank, is its parent's first child, and sends nothing but this message. */
static void check_leaf(const struct like *parent, const struct like *leaf)
{
    const uint64_t message = parent->differs || leaf->differs ? KINDS_SENT : NOTHING;
    assert_int_equal(leaf->exchange.messages_sent, 1);
    assert_int_equal(leaf->exchange.bytes_sent, message);
}

static void check_like(struct like *member, bool any_differs)
{
    const struct rfn_merge *merge = &member->merge;
    assert_int_equal(member->result, 0);
    assert_int_equal(rfn_merge_number(merge, RFN_DEFINITION_REGION, 77), 0);
    assert_int_equal(rfn_merge_number(merge, RFN_DEFINITION_HOST, rfn_hash_bytes("node", 4)), 0);
    for (int kind = 0; kind < RFN_STREAM_KINDS; kind++) {
        const bool in_two = kind == RFN_KIND_OF_CONTENT || kind == RFN_KIND_OF_VALUES;
        const struct rfn_stream_class_of fate = rfn_stream_class_of(&merge->streams, 0,
                                                                    (enum rfn_stream_class)kind);
        assert_int_equal(fate.number, in_two && member->differs);
        assert_int_equal(fate.first, member->exchange.rank == 0 || (in_two && member->differs));
        assert_true(fate.together);
        assert_int_equal(merge->streams.of[kind].total, 1 + (in_two && any_differs));
    }
}

/* What the parent has is not sent, however it came to have it. different: a rank, or -1. */
static void test_alike(void **state)
{
    (void)state;
    static struct world world;
    static struct like members[16];
    for (int size = 2; size <= 16; size++) {
        for (int different = -1; different < size; different++) {
            if (different == 0)
                continue; /* the first would have the first number */
            for (int rank = 0; rank < size; rank++)
                members[rank] = (struct like){.differs = rank == different};
            run_world(&world, size, run_like, members, sizeof *members,
                      offsetof(struct like, exchange));
            for (int rank = 0; rank < size; rank++)
                check_like(&members[rank], different >= 0);
            for (int rank = 1; rank < size; rank += 2)
                check_leaf(&members[rank - 1], &members[rank]);
            for (int rank = 0; rank < size; rank++)
                rfn_merge_release(&members[rank].merge);
        }
    }
}

/* ---- definitions that are merged before the end ---- */

enum { MERGES = 4, POOL = 24 };

/* Defines some of what there may be, each kind with contents of its own; later ones come up with
 * the merges. What the last rank has is drawn anew, others may be alike. */
struct early {
    struct rfn_exchange exchange;
    struct rfn_merge merge;
    int alike;    /* ranks that define the same */
    int fails_at; /* merge, or MERGES: never */
    bool has[RFN_DEFINITION_KINDS][POOL * MERGES];
    int64_t at_first[RFN_DEFINITION_KINDS][POOL * MERGES]; /* numbers when they were told */
    uint64_t sent[MERGES];                                 /* bytes, in each */
    int results[MERGES];
};

static size_t content_of(int kind, int i, char text[32])
{
    return (size_t)snprintf(text, 32, "%d: %d", kind, i);
}

static int64_t number_of(const struct early *early, int kind, int i)
{
    char text[32];
    size_t size = content_of(kind, i, text);
    return rfn_merge_number(&early->merge, (enum rfn_definition_kind)kind,
                            rfn_hash_bytes(text, size));
}

static void define_some(struct early *early, int merge)
{
    unsigned seed = (unsigned)(early->exchange.rank / early->alike * 7 + merge);
    for (int kind = 0; kind < RFN_DEFINITION_KINDS; kind++) {
        for (int k = 0; k < POOL / 3; k++) {
            seed = seed * 1103515245 + 12345;
            int i = (int)(seed >> 16) % (POOL * (merge + 1));
            char text[32];
            size_t size = content_of(kind, i, text);
            early->has[kind][i] = true;
            rfn_merge_define(&early->merge, (enum rfn_definition_kind)kind, 0, text, size, NULL);
        }
    }
}

/* What has been told stays. */
static void check_told(struct early *early)
{
    for (int kind = 0; kind < RFN_DEFINITION_KINDS; kind++) {
        for (int i = 0; i < POOL * MERGES; i++) {
            if (!early->has[kind][i])
                continue;
            int64_t number = number_of(early, kind, i);
            if (early->at_first[kind][i] < 0)
                early->at_first[kind][i] = number;
            assert_int_equal(early->at_first[kind][i], number);
        }
    }
}

static void *run_early(void *argument)
{
    struct early *early = argument;
    rfn_merge_init(&early->merge);
    memset(early->at_first, -1, sizeof early->at_first);
    for (int m = 0; m < MERGES; m++) {
        uint64_t before = early->exchange.bytes_sent;
        int error = m >= early->fails_at ? RFN_E_NOMEM : 0;
        if (m != 2 && !error) /* at the third there is nothing new */
            define_some(early, m);
        early->results[m] = m < MERGES - 1
                                ? rfn_merge_definitions(&early->merge, &early->exchange, error)
                                : rfn_merge_run(&early->merge, &early->exchange, error);
        early->sent[m] = early->exchange.bytes_sent - before;
        if (!early->results[m])
            check_told(early);
    }
    return NULL;
}

static void run_all_early(struct early *members, int size, int alike, int failing, int at)
{
    static struct world world;
    for (int rank = 0; rank < size; rank++)
        members[rank] = (struct early){.alike = alike, .fails_at = rank == failing ? at : MERGES};
    run_world(&world, size, run_early, members, sizeof *members, offsetof(struct early, exchange));
}

static void release_all_early(struct early *members, int size)
{
    for (int rank = 0; rank < size; rank++)
        rfn_merge_release(&members[rank].merge);
}

/* Rank 0 has what any rank has, each once, with its contents; all agree on the numbers. */
static void check_union(const struct early *members, int size, int kind)
{
    const struct rfn_definitions *all = &members[0].merge.definitions[kind];
    size_t n = 0;
    for (int i = 0; i < POOL * MERGES; i++) {
        char text[32];
        size_t length = content_of(kind, i, text);
        int64_t number = number_of(&members[0], kind, i);
        n += number >= 0;
        for (int rank = 0; rank < size; rank++) {
            if (members[rank].has[kind][i])
                assert_int_equal(number_of(&members[rank], kind, i), number);
        }
        if (number < 0)
            continue;
        assert_true((size_t)number < all->n);
        assert_int_equal(all->items[number].size, length);
        assert_memory_equal(all->items[number].bytes, text, length);
    }
    assert_int_equal(all->n, n);
    assert_int_equal(all->merged, n);
}

static void test_early(void **state)
{
    (void)state;
    static struct early members[20];
    for (int size = 1; size <= 20; size++) {
        for (int alike = 1; alike <= size; alike *= 2) {
            run_all_early(members, size, alike, -1, 0);
            for (int rank = 0; rank < size; rank++) {
                for (int m = 0; m < MERGES; m++)
                    assert_int_equal(members[rank].results[m], 0);
                assert_int_equal(rfn_merge_new(&members[rank].merge), 0);
                /* Up: nothing; to each child nothing is shown, and no numbers are told. */
                assert_true(members[rank].sent[2] <= 16 + 10 * 2 * 5);
            }
            for (int kind = 0; kind < RFN_DEFINITION_KINDS; kind++)
                check_union(members, size, kind);
            release_all_early(members, size);
        }
    }
}

/* A rank that fails in one merge: nobody hangs, rank 0 learns of it at once, and the rank itself
 * knows no numbers that others do not know. */
static void test_early_failure(void **state)
{
    (void)state;
    static struct early members[20];
    for (int size = 2; size <= 17; size += 5) {
        for (int failing = 0; failing < size; failing++) {
            for (int at = 0; at < MERGES; at++) {
                run_all_early(members, size, 2, failing, at);
                for (int rank = 0; rank < size; rank++) {
                    for (int m = 0; m < MERGES; m++)
                        assert_true(m < at ? members[rank].results[m] == 0
                                           : members[rank].results[m] < 0);
                }
                release_all_early(members, size);
            }
        }
    }
}

/* Of a run in which each call stands for so much, after some online merges. */
static uint64_t calls_after(int merges, uint64_t calls, uint64_t per_call, uint64_t every)
{
    for (int i = 0; i < merges; i++)
        calls = rfn_merge_interval_next(calls, calls * per_call, every);
    return calls;
}

static void test_pace_doubles(void **state)
{
    (void)state;
    uint64_t calls = 1;
    for (int i = 1; i <= 6; i++) {
        calls = rfn_merge_interval_next(calls, calls * 10, 1000);
        assert_int_equal(calls, 1 << i);
    }
    assert_int_equal(rfn_merge_interval_next(calls, calls * 10, 1000), 100);
    assert_int_equal(rfn_merge_interval_next(100, 1000, 1000), 100);
}

/* Whatever it was before, the interval is reached, and held. */
static void test_pace_follows(void **state)
{
    (void)state;
    for (uint64_t per_call = 1; per_call < 5000; per_call = per_call * 3 + 1) {
        uint64_t wanted = per_call < 1000 ? (1000 + per_call / 2) / per_call : 1;
        assert_int_equal(calls_after(40, 1, per_call, 1000), wanted);
        assert_int_equal(calls_after(40, 1 << 20, per_call, 1000), wanted);
    }
}

static void test_pace_limits(void **state)
{
    (void)state;
    assert_int_equal(rfn_merge_interval_next(1, 0, 1), 2); /* nothing was done */
    assert_int_equal(rfn_merge_interval_next(5, UINT64_MAX, 1), 1);
    assert_int_equal(calls_after(80, 1, 0, UINT64_MAX), 1 << 30);
    assert_int_equal(rfn_merge_interval_next(UINT64_MAX, 1, UINT64_MAX), 1 << 30);
    assert_int_equal(rfn_merge_interval_next(UINT64_MAX, 1, 1), 1 << 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),         cmocka_unit_test(test_failure),
        cmocka_unit_test(test_alike),         cmocka_unit_test(test_early),
        cmocka_unit_test(test_early_failure), cmocka_unit_test(test_pace_doubles),
        cmocka_unit_test(test_pace_follows),  cmocka_unit_test(test_pace_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
