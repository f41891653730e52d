/* Everything that is folded must unfold to what it was, at any moment; regular programs must fold
 * to about the size of their text; the work per symbol must not grow with the sequence. Sequences
 * are made by small programs of loops, by formulas, and by trying all short ones. */
#include "reduce/fold/elastic_signature.h"
#include "reduce/fold/fold.h"
#include "support/rounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

struct sequence {
    uint32_t *symbols;
    size_t n, capacity;
    uint64_t random;
};

static uint32_t random_below(struct sequence *sequence, uint32_t limit)
{
    sequence->random = sequence->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((sequence->random >> 33) % limit);
}

static void put(struct sequence *sequence, uint32_t symbol)
{
    if (sequence->n == sequence->capacity) {
        sequence->capacity = sequence->capacity ? 2 * sequence->capacity : 1024;
        sequence->symbols = realloc(sequence->symbols,
                                    sequence->capacity * sizeof *sequence->symbols);
        assert_non_null(sequence->symbols);
    }
    sequence->symbols[sequence->n++] = symbol;
}

static void put_range(struct sequence *sequence, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        put(sequence, first + i);
}

/* ---- what every fold must satisfy ---- */

struct comparison {
    const uint32_t *symbols;
    size_t n, at;
};

static int compare_symbol(void *context, uint32_t symbol)
{
    struct comparison *comparison = context;
    if (comparison->at == comparison->n || comparison->symbols[comparison->at] != symbol)
        return 1;
    comparison->at++;
    return 0;
}

static void check_exact(const struct rfn_fold *fold, const uint32_t *symbols, size_t n)
{
    struct comparison comparison = {symbols, n, 0};
    assert_int_equal(rfn_fold_unfold(fold, compare_symbol, &comparison), 0);
    assert_int_equal(comparison.at, n);
}

/* An unfolding of its own, from the view and the columns alone. */
struct reader {
    const struct rfn_fold *fold;
    struct rfn_buf coded;
    struct rfn_column_cursor *cursors;
    struct comparison comparison;
    size_t empty_at; /* symbols so far when a body last had none, */
    uint32_t empty;  /* and how many had none then */
};

static void read_nodes(struct reader *reader, const rfn_node *nodes, size_t n);

static void read_trip(struct reader *reader, const rfn_node *body, size_t length)
{
    size_t before = reader->comparison.at;
    read_nodes(reader, body, length);
    if (reader->comparison.at > before)
        return;
    reader->empty = reader->empty_at == before ? reader->empty + 1 : 1;
    reader->empty_at = before;
    assert_in_range(reader->empty, 1, RFN_EMPTY_TRIPS_MAX);
}

static void read_nodes(struct reader *reader, const rfn_node *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t index = rfn_node_index(nodes[i]);
        if (!rfn_node_is_loop(nodes[i])) {
            assert_int_equal(compare_symbol(&reader->comparison, index), 0);
            continue;
        }
        size_t length;
        int64_t trips = 0;
        const rfn_node *body = rfn_fold_body(reader->fold, index, &length);
        assert_int_equal(rfn_column_next(&reader->cursors[index], &trips), 0);
        while (trips-- > 0)
            read_trip(reader, body, length);
    }
}

static void check_view(const struct rfn_fold *fold, const uint32_t *symbols, size_t n)
{
    struct rfn_fold_view view;
    struct reader reader = {.fold = fold, .comparison = {symbols, n, 0}};
    rfn_fold_view(fold, &view);
    reader.cursors = calloc(view.n_loops + 1, sizeof *reader.cursors);
    assert_non_null(reader.cursors);
    for (uint32_t i = 0; i < view.n_loops; i++)
        rfn_column_write(rfn_fold_trips(fold, i), &reader.coded);
    struct rfn_reader bytes = rfn_reader_over(reader.coded.data, reader.coded.size);
    for (uint32_t i = 0; i < view.n_loops; i++)
        assert_int_equal(rfn_column_open(&reader.cursors[i], &bytes), 0);
    read_nodes(&reader, view.top, view.n_top);
    assert_int_equal(reader.comparison.at, n);
    for (uint32_t i = 0; i < view.n_loops; i++) {
        assert_int_equal(rfn_column_at(&reader.cursors[i]), reader.cursors[i].n);
        rfn_column_close(&reader.cursors[i]);
    }
    free(reader.cursors);
    rfn_buf_release(&reader.coded);
}

/* Bodies hold loops of lower numbers only; figures agree with the view. */
static void check_form(const struct rfn_fold *fold)
{
    struct rfn_fold_view view;
    struct rfn_fold_stats stats;
    rfn_fold_view(fold, &view);
    rfn_fold_stats(fold, &stats);
    uint64_t nodes = view.n_top;
    for (uint32_t i = 0; i < view.n_loops; i++) {
        size_t length;
        const rfn_node *body = rfn_fold_body(fold, i, &length);
        assert_true(length > 0);
        nodes += length;
        for (size_t k = 0; k < length; k++)
            assert_true(!rfn_node_is_loop(body[k]) || rfn_node_index(body[k]) < i);
    }
    for (size_t k = 0; k < view.n_top; k++)
        assert_true(!rfn_node_is_loop(view.top[k]) || rfn_node_index(view.top[k]) < view.n_loops);
    assert_int_equal(stats.nodes, nodes);
}

/* ---- whom the fold tells ---- */

/* What it is told, up to repetition. */
struct watcher {
    struct rfn_elastic told;
    uint64_t n;
};

static void take(struct rfn_elastic *elastic, uint32_t symbol)
{
    assert_int_equal(rfn_elastic_append(elastic, symbol * UINT64_C(0x9e3779b97f4a7c15) + 1), 0);
}

static void hear(void *context, const rfn_node *symbols, size_t n)
{
    struct watcher *watcher = context;
    watcher->n += n;
    for (size_t i = 0; i < n; i++) {
        assert_false(rfn_node_is_loop(symbols[i]));
        take(&watcher->told, rfn_node_index(symbols[i]));
    }
}

/* All but repetitions, also when it is asked for what is held back after every `each` symbols. */
static void check_told(const uint32_t *symbols, size_t n, size_t each, uint32_t max_nodes)
{
    struct rfn_fold *fold = rfn_fold_new(max_nodes);
    struct watcher watcher = {0};
    struct rfn_elastic all = {0};
    assert_non_null(fold);
    rfn_fold_watch_by(fold, hear, &watcher);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rfn_fold_append(fold, symbols[i]), 0);
        take(&all, symbols[i]);
        if ((i + 1) % each && i + 1 < n)
            continue;
        rfn_fold_tell(fold);
        assert_true(watcher.n <= i + 1);
        assert_true(rfn_elastic_signature(&watcher.told) == rfn_elastic_signature(&all));
    }
    rfn_elastic_release(&watcher.told);
    rfn_elastic_release(&all);
    rfn_fold_free(fold);
}

/* Of loops that go on nothing is told, whatever their trips. */
static void test_told(void **state)
{
    (void)state;
    struct rfn_fold *fold = rfn_fold_new(0);
    struct watcher watcher = {0};
    assert_non_null(fold);
    rfn_fold_watch_by(fold, hear, &watcher);
    for (uint32_t i = 0; i < 1000; i++) {
        for (uint32_t k = 0; k < 5; k++)
            assert_int_equal(rfn_fold_append(fold, k), 0);
    }
    assert_int_equal(watcher.n, 10); /* the second iteration is known to be one when it ends */
    assert_int_equal(rfn_fold_append(fold, 0), 0);
    assert_int_equal(rfn_fold_append(fold, 1), 0);
    assert_int_equal(watcher.n, 10);
    rfn_fold_tell(fold);
    rfn_fold_tell(fold);
    assert_int_equal(watcher.n, 12);
    for (uint32_t k = 2; k < 5; k++)
        assert_int_equal(rfn_fold_append(fold, k), 0);
    assert_int_equal(watcher.n, 15);
    assert_int_equal(rfn_fold_append(fold, 0), 0);
    assert_int_equal(rfn_fold_append(fold, 7), 0);
    assert_int_equal(watcher.n, 17);
    rfn_fold_watch_by(fold, NULL, NULL);
    assert_int_equal(rfn_fold_append(fold, 8), 0);
    assert_int_equal(watcher.n, 17);
    rfn_elastic_release(&watcher.told);
    rfn_fold_free(fold);
}

/* ---- checks of whole sequences ---- */

static struct rfn_fold *fold_of(const struct sequence *sequence)
{
    struct rfn_fold *fold = rfn_fold_new(0);
    assert_non_null(fold);
    for (size_t i = 0; i < sequence->n; i++)
        assert_int_equal(rfn_fold_append(fold, sequence->symbols[i]), 0);
    return fold;
}

static bool has_few_symbols(const struct sequence *sequence)
{
    for (size_t i = 0; i < sequence->n; i++) {
        if (sequence->symbols[i] >= 200)
            return false;
    }
    return true;
}

/* Folds, checks and empties the sequence; returns the figures. */
static struct rfn_fold_stats check_fold(struct sequence *sequence)
{
    struct rfn_fold *fold = fold_of(sequence);
    struct rfn_fold_stats stats;
    check_form(fold);
    check_exact(fold, sequence->symbols, sequence->n);
    check_view(fold, sequence->symbols, sequence->n);
    rfn_fold_stats(fold, &stats);
    assert_int_equal(stats.appended, sequence->n);
    rfn_fold_free(fold);
    if (has_few_symbols(sequence)) /* as many hashes for each */
        check_told(sequence->symbols, sequence->n, 1 + sequence->n / 10, 0);
    sequence->n = 0;
    return stats;
}

/* The same with a check after every symbol. */
static void check_every_moment(const uint32_t *symbols, size_t n)
{
    struct rfn_fold *fold = rfn_fold_new(0);
    assert_non_null(fold);
    check_exact(fold, symbols, 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rfn_fold_append(fold, symbols[i]), 0);
        check_exact(fold, symbols, i + 1);
        check_view(fold, symbols, i + 1);
        check_form(fold);
    }
    rfn_fold_free(fold);
    for (size_t each = 1; each < 8; each++)
        check_told(symbols, n, each, 0);
}

/* ---- small cases ---- */

static void test_known_structures(void **state)
{
    (void)state;
    struct sequence sequence = {0};
    struct rfn_fold_view view;
    size_t length;
    put(&sequence, 7);
    for (int i = 0; i < 5; i++)
        put_range(&sequence, 1, 3);
    put(&sequence, 9);
    struct rfn_fold *fold = fold_of(&sequence); /* 7 (1 2 3)*5 9 */
    rfn_fold_view(fold, &view);
    assert_int_equal(view.n_top, 3);
    assert_int_equal(view.n_loops, 1);
    assert_int_equal(view.top[0], rfn_node_symbol(7));
    assert_int_equal(view.top[1], rfn_node_loop(0));
    assert_int_equal(view.top[2], rfn_node_symbol(9));
    const rfn_node *body = rfn_fold_body(fold, 0, &length);
    assert_int_equal(length, 3);
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(body[k], rfn_node_symbol(1 + k));
    assert_int_equal(rfn_fold_trips(fold, 0)->n, 1);
    assert_int_equal(rfn_fold_trips(fold, 0)->last, 5);
    rfn_fold_free(fold);
    free(sequence.symbols);
}

static int stop_at_third(void *context, uint32_t symbol)
{
    (void)symbol;
    return ++*(int *)context == 3 ? 42 : 0;
}

static void test_unfold_stops(void **state)
{
    (void)state;
    struct rfn_fold *fold = rfn_fold_new(0);
    int calls = 0;
    assert_int_equal(rfn_fold_unfold(fold, stop_at_third, &calls), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(rfn_fold_append(fold, 5), 0);
    assert_int_equal(rfn_fold_unfold(fold, stop_at_third, &calls), 42);
    assert_int_equal(calls, 3);
    rfn_fold_free(fold);
}

/* Symbol numbers need not be dense. */
static void test_large_symbols(void **state)
{
    (void)state;
    const uint32_t symbols[] = {0x7ffffffe, 0, 0x40000000, 0x7ffffffe, 0, 0x40000000, 0x7ffffffe};
    check_every_moment(symbols, sizeof symbols / sizeof symbols[0]);
}

/* All sequences of a length: their beginnings are all shorter ones. */
static void check_all_short(uint32_t alphabet, uint32_t length, bool every_moment)
{
    uint32_t symbols[32] = {0};
    for (;;) {
        if (every_moment) {
            check_every_moment(symbols, length);
        } else {
            struct rfn_fold *fold = rfn_fold_new(0);
            for (uint32_t i = 0; i < length; i++)
                assert_int_equal(rfn_fold_append(fold, symbols[i]), 0);
            check_exact(fold, symbols, length);
            check_form(fold);
            rfn_fold_free(fold);
        }
        uint32_t i = length;
        while (i && symbols[i - 1] == alphabet - 1)
            symbols[--i] = 0;
        if (!i)
            return;
        symbols[i - 1]++;
    }
}

static void test_all_short(void **state)
{
    (void)state;
    for (uint32_t length = 1; length <= (RFN_SANITIZED ? 13 : 16); length++)
        check_all_short(2, length, length == 10);
    for (uint32_t length = 1; length <= (RFN_SANITIZED ? 8 : 10); length++)
        check_all_short(3, length, length == 7);
    check_all_short(4, 7, false);
}

static void test_random(void **state)
{
    (void)state;
    struct sequence sequence = {.random = 2};
    for (uint32_t alphabet = 1; alphabet <= 10; alphabet++) {
        for (uint32_t n = 1; n <= 30000; n = n * 3 + 1) {
            for (uint32_t i = 0; i < n; i++)
                put(&sequence, random_below(&sequence, alphabet));
            check_fold(&sequence);
        }
        for (uint32_t i = 0; i < 200; i++)
            put(&sequence, random_below(&sequence, alphabet));
        check_every_moment(sequence.symbols, sequence.n);
        sequence.n = 0;
    }
    free(sequence.symbols);
}

/* ---- loops whose trips vary ---- */

/* for i: 0; 1 for low to high times; 2 */
static void put_nest(struct sequence *sequence, uint32_t low, uint32_t high)
{
    put(sequence, 0);
    for (uint32_t k = low + random_below(sequence, high - low + 1); k; k--)
        put(sequence, 1);
    put(sequence, 2);
}

static void put_deep_nest(struct sequence *sequence, uint32_t depth, uint32_t low, uint32_t high)
{
    put(sequence, 2 * depth);
    if (depth) {
        for (uint32_t k = low + random_below(sequence, high - low + 1); k; k--)
            put_deep_nest(sequence, depth - 1, low, high);
    }
    put(sequence, 2 * depth + 1);
}

static void test_elastic(void **state)
{
    (void)state;
    struct sequence sequence = {.random = 3};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (uint32_t n = 100; n <= 1600; n *= 4) {
            sequence.random = seed * 1000003;
            for (uint32_t i = 0; i < n; i++)
                put_nest(&sequence, 1, 3);
            assert_true(check_fold(&sequence).nodes <= 10);
            for (uint32_t i = 0; i < n; i++)
                put_nest(&sequence, 0, 3);
            assert_true(check_fold(&sequence).nodes <= 20);
        }
    }
    free(sequence.symbols);
}

static void test_million_visits(void **state)
{
    (void)state;
    struct sequence sequence = {.random = 4};
    for (uint32_t i = 0; i < 1000000; i++)
        put_nest(&sequence, 0, 3);
    assert_true(check_fold(&sequence).nodes < 50);
    free(sequence.symbols);
}

static int compare_counts(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* With deeper nests of 0 to 3 trips it is a matter of luck which bodies are learnt first: the
 * middle of several seeds is small, none goes on growing. */
static void test_deep_elastic(void **state)
{
    (void)state;
    enum { SEEDS = 15 };
    static const uint64_t middle[] = {20, 40, 60, 200}, most[] = {20, 250, 500, 4000};
    struct sequence sequence = {0};
    for (uint32_t depth = 1; depth <= 4; depth++) {
        uint64_t nodes[SEEDS];
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            sequence.random = seed * 77777 + 1;
            for (uint32_t i = 0; i < 3000; i++)
                put_deep_nest(&sequence, depth, 0, 3);
            nodes[seed] = check_fold(&sequence).nodes;
        }
        qsort(nodes, SEEDS, sizeof *nodes, compare_counts);
        assert_true(nodes[SEEDS / 2] < middle[depth - 1]);
        assert_true(nodes[SEEDS - 1] < most[depth - 1]);
    }
    free(sequence.symbols);
}

/* Receives and sends of a wavefront code: sweeps of planes, with other symbols for the first and
 * the last plane, in time steps, in phases of different length. */
static void test_wavefront(void **state)
{
    (void)state;
    struct sequence sequence = {.random = 5};
    for (uint32_t phase = 0; phase < 40; phase++) {
        for (uint32_t step = 0; step < 10 + phase % 3; step++) {
            for (uint32_t sweep = 0; sweep < 2; sweep++) {
                put(&sequence, 40 + sweep);
                for (uint32_t plane = 0; plane < 31; plane++)
                    put_range(&sequence, 10 * sweep, 4);
                put_range(&sequence, 10 * sweep + 4, 2);
            }
            put_range(&sequence, 50, 4);
        }
        put(&sequence, 60);
    }
    assert_true(check_fold(&sequence).nodes <= 2 * 20);
    free(sequence.symbols);
}

/* Every k-th iteration does something else. */
static void test_rare_iterations(void **state)
{
    (void)state;
    struct sequence sequence = {.random = 6};
    for (uint32_t every = 2; every <= 50; every++) {
        for (uint32_t i = 1; i <= 5000; i++) {
            put_range(&sequence, 0, 5);
            put(&sequence, i % every == 0 ? 9 : 5);
            put_range(&sequence, 6, 3);
        }
        assert_true(check_fold(&sequence).nodes <= 4 * 18);
    }
    free(sequence.symbols);
}

/* ---- sequences with little to fold ---- */

static void test_fibonacci(void **state)
{
    (void)state;
    struct sequence sequence = {0};
    put(&sequence, 0);
    put(&sequence, 1);
    size_t shorter = 1;
    while (sequence.n < 300000) { /* w(n + 1) = w(n) w(n - 1) */
        size_t n = sequence.n;
        for (size_t i = 0; i < shorter; i++)
            put(&sequence, sequence.symbols[i]);
        shorter = n;
    }
    check_every_moment(sequence.symbols, 300);
    assert_true(check_fold(&sequence).comparisons < 300000 * 8);
    free(sequence.symbols);
}

enum { PERIOD = 10000 };

static void test_long_period(void **state)
{
    (void)state;
    struct sequence sequence = {.random = 7};
    for (uint32_t i = 0; i < 20 * PERIOD; i++)
        put(&sequence, i % PERIOD);
    assert_true(check_fold(&sequence).nodes <= PERIOD + 1);
    /* the same symbols over and over within the period */
    for (uint32_t i = 0; i < PERIOD; i++)
        put(&sequence, random_below(&sequence, 100));
    for (uint32_t i = 0; i < 19 * PERIOD; i++)
        put(&sequence, sequence.symbols[i]);
    assert_true(check_fold(&sequence).nodes <= 3 * PERIOD);
    free(sequence.symbols);
}

static void test_interrupted_period(void **state)
{
    (void)state;
    struct sequence sequence = {.random = 8};
    for (uint32_t i = 0; i < 100 * PERIOD; i++) {
        put(&sequence, i % PERIOD);
        if (random_below(&sequence, 5 * PERIOD) == 0)
            put(&sequence, PERIOD + random_below(&sequence, 3));
    }
    check_fold(&sequence);
    free(sequence.symbols);
}

/* ---- random programs ---- */

/* A program is a list of statements: symbols and loops. */
struct statement {
    uint32_t symbol;
    uint32_t low, high; /* trips of a loop */
    struct statement *body;
    uint32_t n; /* statements in body; 0: a symbol */
};

struct grammar {
    uint32_t alphabet; /* symbols are drawn from; 0: all different */
    uint32_t used;     /* symbols made so far */
    uint32_t statements;
    uint32_t low, vary; /* trips of each loop: from `low` up, varying by up to `vary` */
};

static void make_body(struct sequence *random, struct grammar *grammar, uint32_t depth,
                      struct statement *parent)
{
    parent->n = 1 + random_below(random, 4);
    parent->body = calloc(parent->n, sizeof *parent->body);
    assert_non_null(parent->body);
    for (uint32_t i = 0; i < parent->n; i++) {
        struct statement *statement = &parent->body[i];
        grammar->statements++;
        statement->symbol = grammar->alphabet ? random_below(random, grammar->alphabet)
                                              : grammar->used++;
        if (depth && random_below(random, 2)) {
            statement->low = grammar->low + random_below(random, 3);
            statement->high = statement->low + random_below(random, grammar->vary + 1);
            make_body(random, grammar, depth - 1, statement);
        }
    }
}

static void free_body(struct statement *parent)
{
    for (uint32_t i = 0; i < parent->n; i++)
        free_body(&parent->body[i]);
    free(parent->body);
}

static void run_body(struct sequence *sequence, const struct statement *parent, size_t limit)
{
    for (uint32_t i = 0; i < parent->n && sequence->n < limit; i++) {
        const struct statement *statement = &parent->body[i];
        if (!statement->n) {
            put(sequence, statement->symbol);
            continue;
        }
        uint32_t more = random_below(sequence, statement->high - statement->low + 1);
        for (uint32_t k = statement->low + more; k; k--)
            run_body(sequence, statement, limit);
    }
}

/* Runs a random program many times over; returns nodes per statement of the program. */
static double check_program(struct sequence *sequence, struct grammar grammar, uint32_t depth,
                            size_t limit)
{
    struct statement program = {0};
    make_body(sequence, &grammar, depth, &program);
    for (int i = 0; i < 2000 && sequence->n < limit; i++)
        run_body(sequence, &program, limit);
    double nodes = (double)check_fold(sequence).nodes;
    free_body(&program);
    return nodes / (grammar.statements + 1);
}

static void test_programs_exact(void **state)
{
    (void)state;
    struct sequence sequence = {.random = 9};
    for (uint32_t i = 0; i < 3000; i++) {
        struct grammar grammar = {.alphabet = i % 6, .low = i / 6 % 3, .vary = i / 18 % 4};
        check_program(&sequence, grammar, i % 5, 400);
    }
    for (uint32_t i = 0; i < 200; i++) {
        struct grammar grammar = {.alphabet = i % 6, .low = i / 6 % 3, .vary = i / 18 % 4};
        check_program(&sequence, grammar, i % 5, 30000);
    }
    free(sequence.symbols);
}

/* Where calls differ by their path, a program folds to about its text. */
static void test_programs_small(void **state)
{
    (void)state;
    enum { PROGRAMS = RFN_ROUNDS(300) };
    struct sequence sequence = {.random = 10};
    double sum = 0;
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        struct grammar grammar = {.low = 2 + i % 3, .vary = i / 3 % 4};
        double ratio = check_program(&sequence, grammar, i % 5, 100000);
        assert_true(ratio < 10);
        sum += ratio;
    }
    assert_true(sum / PROGRAMS < 2);
    sum = 0;
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        struct grammar grammar = {.low = 0, .vary = i / 3 % 4};
        sum += check_program(&sequence, grammar, i % 4, 100000);
    }
    assert_true(sum / PROGRAMS < 4);
    free(sequence.symbols);
}

/* ---- the work per symbol ---- */

static double comparisons_each(void (*make)(struct sequence *), size_t n)
{
    struct sequence sequence = {.random = 11};
    struct rfn_fold *fold = rfn_fold_new(0);
    struct rfn_fold_stats stats;
    assert_non_null(fold);
    for (size_t done = 0; done < n; done += sequence.n) {
        sequence.n = 0;
        make(&sequence);
        for (size_t i = 0; i < sequence.n; i++)
            assert_int_equal(rfn_fold_append(fold, sequence.symbols[i]), 0);
    }
    rfn_fold_stats(fold, &stats);
    rfn_fold_free(fold);
    free(sequence.symbols);
    return (double)stats.comparisons / (double)stats.appended;
}

static void make_nest(struct sequence *sequence)
{
    put_nest(sequence, 0, 3);
}

static void make_deep_nest(struct sequence *sequence)
{
    put_deep_nest(sequence, 3, 0, 3);
}

static void make_period(struct sequence *sequence)
{
    put_range(sequence, 0, PERIOD);
}

static void make_random_2(struct sequence *sequence)
{
    put(sequence, random_below(sequence, 2));
}

static void make_random_10(struct sequence *sequence)
{
    put(sequence, random_below(sequence, 10));
}

/* The last of 100 symbols decides whether there was a match. */
static void make_late_failures(struct sequence *sequence)
{
    put_range(sequence, 0, 99);
    put(sequence, 99 + random_below(sequence, 50));
}

static void test_flat(void **state)
{
    (void)state;
    enum { MANY = RFN_ROUNDS(2000000), MOST = RFN_ROUNDS(1000000) };
    assert_true(comparisons_each(make_nest, MANY) <= comparisons_each(make_nest, 100000));
    assert_true(comparisons_each(make_deep_nest, MANY) <= comparisons_each(make_deep_nest, 100000));
    assert_true(comparisons_each(make_period, MANY) <= comparisons_each(make_period, 100000));
    assert_true(comparisons_each(make_random_2, MANY) <= comparisons_each(make_random_2, 100000));
    assert_true(comparisons_each(make_late_failures, MANY) <=
                comparisons_each(make_late_failures, 100000));
    /* here the number of known bodies grows, up to how many are tried */
    assert_true(comparisons_each(make_random_10, MOST) <=
                1.5 * comparisons_each(make_random_10, 100000));
}

/* A program in its steady state takes no more memory. */
static void test_memory(void **state)
{
    (void)state;
    struct rfn_fold *fold = rfn_fold_new(0);
    struct rfn_fold_stats early, late;
    for (uint32_t i = 0; i < 2000000; i++) {
        assert_int_equal(rfn_fold_append(fold, i % 100 < 80 ? i % 4 : i % 20), 0);
        if (i == 1000)
            rfn_fold_stats(fold, &early);
    }
    rfn_fold_stats(fold, &late);
    assert_int_equal(early.bytes, late.bytes);
    rfn_fold_free(fold);
}

/* With a limit on the stack a sequence without structure takes bounded memory but for columns, and
 * is still exact; one with structure is folded as ever. */
static void test_frozen(void **state)
{
    (void)state;
    enum { N = 100000, LIMIT = 1024 };
    uint32_t *symbols = malloc(N * sizeof *symbols);
    assert_non_null(symbols);
    for (uint32_t kinds = 2; kinds < 3000; kinds *= 3) {
        struct rfn_fold *fold = rfn_fold_new(LIMIT);
        struct sequence sequence = {.random = kinds};
        for (uint32_t i = 0; i < N; i++) {
            /* stretches of disorder and of loops, so that visits are alive when nodes freeze */
            symbols[i] = i / 5000 % 2 ? i % 7 : random_below(&sequence, kinds);
            assert_int_equal(rfn_fold_append(fold, symbols[i]), 0);
            struct rfn_fold_view view;
            rfn_fold_view(fold, &view);
            assert_true(view.n_top < 2 * LIMIT);
        }
        struct rfn_fold_view view;
        rfn_fold_view(fold, &view);
        assert_true(kinds < 10 || view.frozen->n > N / 10);
        check_exact(fold, symbols, N);
        rfn_fold_free(fold);
        if (kinds < 100)
            check_told(symbols, N, 999, LIMIT);
    }
    free(symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_structures),
        cmocka_unit_test(test_unfold_stops),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_large_symbols),
        cmocka_unit_test(test_all_short),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_elastic),
        cmocka_unit_test(test_million_visits),
        cmocka_unit_test(test_deep_elastic),
        cmocka_unit_test(test_wavefront),
        cmocka_unit_test(test_rare_iterations),
        cmocka_unit_test(test_fibonacci),
        cmocka_unit_test(test_long_period),
        cmocka_unit_test(test_interrupted_period),
        cmocka_unit_test(test_programs_exact),
        cmocka_unit_test(test_programs_small),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_frozen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
