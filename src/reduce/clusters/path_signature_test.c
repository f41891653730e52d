/* Call-path signatures of folded sequences: the same events, folded or not, have the same one in
 * every form; how often loops were repeated only shows in the strict one. Programs are random
 * trees of loops, some of which are left out now and then. */
#include "reduce/clusters/path_signature.h"

#include "support/fold_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SYMBOLS = 12, SILENT = 3, EVENTS_MAX = 1 << 18 };

/* Symbols 0 to SILENT - 1 do not count; two symbols share a call path. */
static uint64_t call_hashes[SYMBOLS];

static uint32_t events[EVENTS_MAX];
static size_t n_events;

static void set_call_hashes(void)
{
    for (uint32_t i = 0; i < SYMBOLS; i++)
        call_hashes[i] = i < SILENT ? 0 : 0x9e3779b97f4a7c15u * (i + 1);
    call_hashes[SYMBOLS - 1] = call_hashes[SYMBOLS - 2];
}

static int no_trips(void *context, uint32_t loop, struct rfn_column_cursor *cursor)
{
    (void)context;
    (void)loop;
    (void)cursor;
    return RFN_E_CORRUPT;
}

static uint64_t flat_signature(enum rfn_path_form form)
{
    static rfn_node nodes[EVENTS_MAX];
    uint64_t signature;
    for (size_t i = 0; i < n_events; i++)
        nodes[i] = rfn_node_symbol(events[i]);
    struct rfn_path_source source = {.top = {nodes, n_events},
                                     .n_symbols = SYMBOLS,
                                     .call_hashes = call_hashes,
                                     .trips = no_trips,
                                     .events = n_events};
    assert_int_equal(rfn_path_signature(&source, (enum rfn_path_form)form, &signature), 0);
    return signature;
}

static uint64_t folded_signature(enum rfn_path_form form)
{
    struct rfn_fold *fold = rfn_fold_new(0);
    struct rfn_path_nodes *loops;
    struct rfn_path_source source;
    uint64_t signature;
    for (size_t i = 0; i < n_events; i++)
        assert_int_equal(rfn_fold_append(fold, events[i]), 0);
    assert_int_equal(fold_source(fold, call_hashes, SYMBOLS, &loops, &source), 0);
    assert_int_equal(rfn_path_signature(&source, (enum rfn_path_form)form, &signature), 0);
    free(loops);
    rfn_fold_free(fold);
    return signature;
}

/* ---- random programs ---- */

enum { ITEMS = 4, DEPTH = 3 };

struct part {
    uint32_t symbol; /* if there is no body */
    struct part *body[ITEMS];
    unsigned n, least, most; /* trips */
};

static struct part *random_part(unsigned depth, unsigned least)
{
    struct part *part = calloc(1, sizeof *part);
    part->symbol = (uint32_t)rand() % SYMBOLS;
    if (depth == 0 || rand() % 3 == 0)
        return part;
    part->n = 1 + (unsigned)rand() % ITEMS;
    part->least = least;
    part->most = 1 + (unsigned)rand() % 4;
    for (unsigned i = 0; i < part->n; i++)
        part->body[i] = random_part(depth - 1, least);
    return part;
}

static void free_part(struct part *part)
{
    for (unsigned i = 0; i < part->n; i++)
        free_part(part->body[i]);
    free(part);
}

static void run_part(const struct part *part)
{
    if (part->n == 0) {
        assert_true(n_events < EVENTS_MAX);
        events[n_events++] = part->symbol;
        return;
    }
    unsigned trips = part->least + (unsigned)rand() % (part->most - part->least + 1);
    for (unsigned t = 0; t < trips; t++) {
        for (unsigned i = 0; i < part->n; i++)
            run_part(part->body[i]);
    }
}

static void run_program(const struct part *part)
{
    n_events = 0;
    for (unsigned i = 0; i < 1 + (unsigned)rand() % 3; i++)
        run_part(part);
}

static void test_unfolding(void **state)
{
    (void)state;
    srand(1);
    set_call_hashes();
    for (unsigned i = 0; i < 1500; i++) {
        struct part *program = random_part(DEPTH, i & 1);
        run_program(program);
        for (int form = RFN_PATHS_ELASTIC; form <= RFN_PATHS_XOR; form++)
            assert_true(flat_signature((enum rfn_path_form)form) ==
                        folded_signature((enum rfn_path_form)form));
        free_part(program);
    }
}

/* Two runs of one program whose loops are executed at least once. */
static void test_trips(void **state)
{
    (void)state;
    unsigned differ = 0;
    srand(2);
    set_call_hashes();
    for (unsigned i = 0; i < 1000; i++) {
        struct part *program = random_part(DEPTH, 1);
        uint64_t elastic[2], strict[2];
        for (int k = 0; k < 2; k++) {
            run_program(program);
            elastic[k] = folded_signature(RFN_PATHS_ELASTIC);
            strict[k] = folded_signature(RFN_PATHS_STRICT);
        }
        assert_true(elastic[0] == elastic[1]);
        differ += strict[0] != strict[1];
        free_part(program);
    }
    assert_true(differ > 300);
}

static void set_events(const char *text)
{
    for (n_events = 0; text[n_events]; n_events++)
        events[n_events] = (uint32_t)(text[n_events] - 'a');
}

static bool same(enum rfn_path_form form, const char *a, const char *b)
{
    set_events(a);
    uint64_t first = folded_signature(form);
    set_events(b);
    return first == folded_signature(form);
}

/* a, b and c do not count; d, e, ... do; k and l are one call path. */
static void test_known(void **state)
{
    (void)state;
    set_call_hashes();
    assert_true(same(RFN_PATHS_ELASTIC, "dededef", "adcebf"));
    assert_true(same(RFN_PATHS_ELASTIC, "dkdldkdl", "dk"));
    assert_false(same(RFN_PATHS_ELASTIC, "dedef", "ef"));
    assert_false(same(RFN_PATHS_ELASTIC, "de", "ed"));
    assert_false(same(RFN_PATHS_STRICT, "dedef", "def"));
    assert_true(same(RFN_PATHS_STRICT, "dkdlaf", "dldkcbf"));
    assert_true(same(RFN_PATHS_XOR, "dkdlaf", "dldkcbf"));
    assert_false(same(RFN_PATHS_XOR, "de", "ed"));
}

/* The paper's form by its formula. */
static void test_xor(void **state)
{
    (void)state;
    srand(3);
    set_call_hashes();
    uint64_t sum = 0, counted = 0;
    for (n_events = 0; n_events < 777; n_events++) {
        uint32_t symbol = events[n_events] = (uint32_t)rand() % 2 + SILENT;
        sum ^= (counted++ % 10 + 1) * call_hashes[symbol];
    }
    assert_true(folded_signature(RFN_PATHS_XOR) == sum);
    /* 20 equal events: each factor twice. */
    for (n_events = 0; n_events < 20; n_events++)
        events[n_events] = SILENT;
    assert_true(folded_signature(RFN_PATHS_XOR) == 0);
}

/* 10^12 events in a few nodes. */
static int trips_of(void *context, uint32_t loop, struct rfn_column_cursor *cursor)
{
    (void)loop;
    rfn_column_open_growing(cursor, context);
    return 0;
}

static int trips_of_each(void *context, uint32_t loop, struct rfn_column_cursor *cursor)
{
    rfn_column_open_growing(cursor, (struct rfn_column *)context + loop);
    return 0;
}

static struct rfn_path_source nest(const rfn_node *top, const struct rfn_path_nodes *loops,
                                   uint32_t n_loops, struct rfn_column *trips, uint64_t n)
{
    return (struct rfn_path_source){.top = {top, 1},
                                    .loops = loops,
                                    .n_loops = n_loops,
                                    .n_symbols = SYMBOLS,
                                    .call_hashes = call_hashes,
                                    .trips = trips_of,
                                    .context = trips,
                                    .events = n};
}

static void test_large(void **state)
{
    (void)state;
    const rfn_node inner[] = {rfn_node_symbol(4), rfn_node_symbol(5)};
    const rfn_node outer[] = {rfn_node_loop(0), rfn_node_symbol(6)}, top[] = {rfn_node_loop(1)};
    const struct rfn_path_nodes loops[] = {{inner, 2}, {outer, 2}};
    struct rfn_column trips;
    uint64_t signature[3];
    set_call_hashes();
    rfn_column_init(&trips);
    for (int i = 0; i < 3; i++)
        assert_int_equal(rfn_column_append(&trips, 1000000), 0);
    const struct rfn_path_source source = nest(top, loops, 2, &trips, 1u << 31);
    for (int form = 0; form < 3; form++)
        assert_int_equal(rfn_path_signature(&source, (enum rfn_path_form)form, &signature[form]),
                         0);
    set_events("efg");
    assert_true(signature[0] == flat_signature(RFN_PATHS_ELASTIC));
    rfn_column_release(&trips);
}

/* ---- pieces, and limits ---- */

/* Symbols, a few at a time. */
struct pieces {
    rfn_node nodes[64];
    size_t n, at, size;
};

static int next_piece(void *context, struct rfn_path_nodes *piece)
{
    struct pieces *pieces = context;
    size_t left = pieces->n - pieces->at;
    *piece = (struct rfn_path_nodes){pieces->nodes + pieces->at,
                                     left < pieces->size ? left : pieces->size};
    pieces->at += piece->n;
    return 0;
}

/* Whatever the pieces, the signature is that of the whole. */
static void test_pieces(void **state)
{
    (void)state;
    set_call_hashes();
    set_events("defgdefgedgffgdeeg");
    for (size_t cut = 0; cut <= n_events; cut++) {
        for (size_t size = 1; size < 5; size++) {
            struct pieces pieces = {.n = cut, .size = size};
            rfn_node top[64];
            for (size_t i = 0; i < n_events; i++)
                *(i < cut ? &pieces.nodes[i] : &top[i - cut]) = rfn_node_symbol(events[i]);
            const struct rfn_path_source source = {.top = {top, n_events - cut},
                                                   .before_top = next_piece,
                                                   .n_symbols = SYMBOLS,
                                                   .call_hashes = call_hashes,
                                                   .trips = no_trips,
                                                   .context = &pieces,
                                                   .events = n_events};
            for (int form = 0; form < 3; form++) {
                uint64_t signature;
                pieces.at = 0;
                assert_int_equal(rfn_path_signature(&source, (enum rfn_path_form)form, &signature),
                                 0);
                assert_true(signature == flat_signature((enum rfn_path_form)form));
            }
        }
    }
}

/* Just as much as is needed is enough, and nothing of it is left. Both loops' trips are 10, 1, 2,
 * 0, 1, 2, 0, ... Steps: there are 12 symbols and 2 loops; looking for the 0 takes 4 trips of each
 * loop; the inner body has 2 nodes, the top 1, the outer body 2 in each of 10 iterations; in 7 of
 * these the inner body's 2 calls are taken: 12 + 2 + 4 + 4 + 2 + 1 + 20 + 14. Calls: the inner
 * body's. Work: 3 call hashes times 7, as e f g e f g e f g g e f g e f g g ... becomes e f g e f
 * g g. */
static void test_limits(void **state)
{
    (void)state;
    const rfn_node inner[] = {rfn_node_symbol(4), rfn_node_symbol(5)};
    const rfn_node outer[] = {rfn_node_loop(0), rfn_node_symbol(6)}, top[] = {rfn_node_loop(1)};
    const struct rfn_path_nodes loops[] = {{inner, 2}, {outer, 2}};
    struct rfn_column trips;
    uint64_t signature;
    set_call_hashes();
    for (uint32_t i = 0; i < SYMBOLS; i++)
        call_hashes[i] = i >= 4 && i <= 6 ? call_hashes[i] : 0;
    rfn_column_init(&trips);
    for (int i = 0; i < 20; i++) /* the inner loop is left out: all is walked */
        assert_int_equal(rfn_column_append(&trips, i ? i % 3 : 10), 0);
    static const uint64_t needed[] = {59, 2, 7 * 3};
    struct rfn_path_source source = nest(top, loops, 2, &trips, 1000);
    for (int which = 0; which < 3; which++) {
        for (uint64_t limit = 0; limit <= needed[which] + 1; limit++) {
            struct rfn_path_limits limits = {.steps = 1000, .calls = 1000, .work = 1000};
            uint64_t *left[] = {&limits.steps, &limits.calls, &limits.work};
            *left[which] = limit;
            source.limits = &limits;
            assert_int_equal(rfn_path_signature(&source, RFN_PATHS_ELASTIC, &signature),
                             limit < needed[which] ? RFN_E_RANGE : 0);
            for (int k = 0; k < 3 && limit >= needed[which]; k++)
                assert_int_equal(*left[k], (k == which ? limit : 1000) - needed[k]);
        }
    }
    rfn_column_release(&trips);
}

static int no_piece(void *context, struct rfn_path_nodes *piece)
{
    (void)piece;
    fail_msg("%s", (const char *)context);
    return 0;
}

/* What cannot be within the limits is not looked at: too many call hashes for what may be done in
 * the end, or more symbols than may be looked at. */
static void test_refused_early(void **state)
{
    (void)state;
    enum { MANY = 100 };
    static uint64_t many[MANY];
    const rfn_node top[] = {rfn_node_symbol(0)};
    for (uint32_t i = 0; i < MANY; i++)
        many[i] = 0x9e3779b97f4a7c15u * (i + 1);
    static const struct rfn_path_limits few[] = {
        {.steps = 1000, .calls = 1000, .work = MANY * MANY - 1},
        {.steps = MANY - 1, .calls = 1000, .work = MANY * MANY}};
    for (size_t i = 0; i < 2; i++) {
        struct rfn_path_limits limits = few[i];
        struct rfn_path_source source = {.top = {top, 1},
                                         .before_top = no_piece,
                                         .n_symbols = MANY,
                                         .call_hashes = many,
                                         .trips = no_trips,
                                         .context = "nodes are looked at",
                                         .limits = &limits};
        uint64_t signature;
        assert_int_equal(rfn_path_signature(&source, RFN_PATHS_ELASTIC, &signature), RFN_E_RANGE);
        source.before_top = NULL;
        limits = (struct rfn_path_limits){.steps = 1000, .calls = 1000, .work = MANY * MANY};
        assert_int_equal(rfn_path_signature(&source, RFN_PATHS_ELASTIC, &signature), 0);
    }
}

/* Sources that are not what they say. */
static void test_damage(void **state)
{
    (void)state;
    const rfn_node self[] = {rfn_node_loop(0)}, none[] = {rfn_node_symbol(SYMBOLS)};
    const rfn_node far[] = {rfn_node_loop(7)};
    const rfn_node *bad[] = {self, none, far};
    struct rfn_column trips;
    uint64_t signature;
    rfn_column_init(&trips);
    set_call_hashes();
    for (size_t i = 0; i < 3; i++) {
        const struct rfn_path_nodes loops[] = {{bad[i], 1}};
        const struct rfn_path_source source = nest(self, loops, 1, &trips, 1000);
        assert_int_equal(rfn_path_signature(&source, RFN_PATHS_ELASTIC, &signature), RFN_E_CORRUPT);
    }
    rfn_column_release(&trips);
    /* The outer loop's trips never end, the inner's are 0. */
    const rfn_node inner[] = {rfn_node_symbol(4)}, outer[] = {rfn_node_loop(0)};
    const struct rfn_path_nodes loops[] = {{inner, 1}, {outer, 1}};
    const rfn_node top[] = {rfn_node_loop(1)};
    for (int64_t first = -1; first <= 0; first++) {
        rfn_column_init(&trips);
        for (int i = 0; i < 100; i++)
            assert_int_equal(rfn_column_append(&trips, i ? 0 : first ? first : INT64_MAX), 0);
        const struct rfn_path_source source = nest(top, loops, 2, &trips, 1000);
        assert_int_equal(rfn_path_signature(&source, RFN_PATHS_ELASTIC, &signature), RFN_E_CORRUPT);
        rfn_column_release(&trips);
    }
}

/* The outer loop is executed as often as is legal, the inner one in it once: there are as many
 * executions without an event before, between and behind the events as there may be. */
static void test_empty_trips(void **state)
{
    (void)state;
    const rfn_node inner[] = {rfn_node_symbol(4)}, outer[] = {rfn_node_loop(0)};
    const struct rfn_path_nodes loops[] = {{inner, 1}, {outer, 1}};
    const rfn_node top[] = {rfn_node_loop(1)};
    enum { EVENTS = 3, TRIPS = EVENTS + (EVENTS + 1) * RFN_EMPTY_TRIPS_MAX };
    struct rfn_column trips[2];
    uint64_t signature;
    set_call_hashes();
    for (int i = 0; i < 2; i++)
        rfn_column_init(&trips[i]);
    assert_int_equal(rfn_column_append(&trips[1], TRIPS), 0);
    for (int i = 1; i <= TRIPS; i++)
        assert_int_equal(rfn_column_append(&trips[0], i % (RFN_EMPTY_TRIPS_MAX + 1) == 0), 0);
    const struct rfn_path_source source = {.top = {top, 1},
                                           .loops = loops,
                                           .n_loops = 2,
                                           .n_symbols = SYMBOLS,
                                           .call_hashes = call_hashes,
                                           .trips = trips_of_each,
                                           .context = trips,
                                           .events = EVENTS};
    assert_int_equal(rfn_path_signature(&source, RFN_PATHS_ELASTIC, &signature), 0);
    set_events("e");
    assert_true(signature == flat_signature(RFN_PATHS_ELASTIC));
    for (int i = 0; i < 2; i++)
        rfn_column_release(&trips[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unfolding), cmocka_unit_test(test_trips),
        cmocka_unit_test(test_known),     cmocka_unit_test(test_xor),
        cmocka_unit_test(test_large),     cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_refused_early),
        cmocka_unit_test(test_damage),    cmocka_unit_test(test_empty_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
