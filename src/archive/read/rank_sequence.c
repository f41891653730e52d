#include "archive/read/rank_sequence.h"

#include "reduce/merge/rank_runs.h"

#include <stdlib.h>

/* How a sequence is written. */
enum { AS_RUNS, AS_WORDS, AS_DIFFERENCES, N_WAYS };

int64_t rfn_stretch_word(const struct rfn_stretch *stretch, int64_t reference)
{
    if (stretch->form == RFN_RUN_EXPRESSION)
        return rfn_rank_expression_at(&stretch->expression, (uint32_t)reference);
    uint64_t base = stretch->form == RFN_RUN_RELATIVE ? (uint64_t)reference : 0;
    return (int64_t)((uint64_t)stretch->value + base);
}

/* ---- reading ---- */

/* Who wants which part of a sequence. */
struct wish {
    uint32_t from, end;
    const char *(*visit)(void *context, const struct rfn_stretch *stretch);
    void *context;
};

static const char *take_runs(struct rfn_reader *reader, uint32_t n, const struct wish *wish)
{
    const char *fault = NULL;
    for (uint32_t at = 0, end; at < n && !fault; at = end) {
        uint64_t head = rfn_reader_varint(reader), count = head >> 2;
        struct rfn_stretch stretch = {.form = (enum rfn_run_form)(head & 3)};
        if (stretch.form == RFN_RUN_EXPRESSION)
            rfn_rank_expression_read(&stretch.expression, reader);
        else
            stretch.value = rfn_reader_svarint(reader);
        if (reader->failed || count == 0 || count > n - at || stretch.form >= RFN_RUN_FORMS)
            return "runs over ranks are malformed";
        end = at + (uint32_t)count;
        uint32_t from = at > wish->from ? at : wish->from, to = end < wish->end ? end : wish->end;
        stretch.count = to - from;
        if (from < to)
            fault = wish->visit(wish->context, &stretch);
    }
    return fault;
}

static const char *take_column(struct rfn_reader *reader, uint32_t n, bool relative,
                               const struct wish *wish)
{
    struct rfn_stretch stretch = {.count = 1,
                                  .form = relative ? RFN_RUN_RELATIVE : RFN_RUN_ABSOLUTE};
    struct rfn_column_cursor column;
    int error = rfn_column_open(&column, reader);
    if (error < 0)
        return rfn_column_fault(error);
    const char *fault = column.n == n ? NULL : "a sequence over ranks has another length";
    bool wanted = !fault && wish->from < wish->end;
    if (wanted)
        error = rfn_column_skip(&column, wish->from);
    for (uint32_t i = wish->from; i < wish->end && wanted && !error && !fault; i++) {
        error = rfn_column_next(&column, &stretch.value);
        if (!error)
            fault = wish->visit(wish->context, &stretch);
    }
    if (error < 0)
        fault = rfn_column_fault(error);
    if (wanted && !fault && wish->end == n)
        fault = rfn_column_left_over(&column);
    rfn_column_close(&column);
    return fault;
}

const char *rfn_sequence_take(struct rfn_reader *reader, uint32_t n, uint32_t from, uint32_t end,
                              const char *(*visit)(void *context,
                                                   const struct rfn_stretch *stretch),
                              void *context)
{
    struct wish wish = {.from = from, .end = end, .visit = visit, .context = context};
    uint64_t way = rfn_reader_limited(reader, N_WAYS - 1);
    if (reader->failed)
        return "a sequence over ranks is malformed";
    return way == AS_RUNS ? take_runs(reader, n, &wish)
                          : take_column(reader, n, way == AS_DIFFERENCES, &wish);
}

/* ---- writing ---- */

/* The ways to write it that there are, in the order in which they are tried. */
enum { RUNS, EXPRESSION, FORMULA, WORDS, DIFFERENCES, TRIED };

static int write_runs(const struct rfn_rank_value *members, size_t n, size_t *n_runs,
                      struct rfn_buf *out)
{
    struct rfn_rank_runs runs = RFN_RUNS_INIT;
    int error = 0;
    for (size_t i = 0; i < n && !error; i++)
        error = rfn_rank_runs_append(&runs, members[i].value, true, members[i].rank);
    rfn_buf_varint(out, AS_RUNS);
    if (!error)
        rfn_rank_runs_pack(&runs, out);
    *n_runs = runs.n;
    rfn_rank_runs_release(&runs);
    return error;
}

/* Only what gives every word to whoever reads it. */
static bool gives_all(const struct rfn_rank_expression *expression,
                      const struct rfn_rank_value *members, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (rfn_rank_expression_at(expression, members[i].rank) != members[i].value)
            return false;
    }
    return true;
}

static bool all_in_communicators(const struct rfn_rank_value *members, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (members[i].rank >= members[i].size)
            return false;
    }
    return true;
}

static void write_expression(const struct rfn_rank_expression *expression, size_t n,
                             struct rfn_buf *out)
{
    rfn_buf_varint(out, AS_RUNS);
    rfn_buf_varint(out, (uint64_t)n << 2 | RFN_RUN_EXPRESSION);
    rfn_rank_expression_write(expression, out);
}

static void fit_expression(const struct rfn_rank_value *members, size_t n, bool ranks,
                           struct rfn_buf *out)
{
    if (!all_in_communicators(members, n))
        return;
    struct rfn_rank_expression found = rfn_rank_expression_fit(members, n, ranks);
    if (found.form > RFN_EXPRESSION_CONSTANT && gives_all(&found, members, n))
        write_expression(&found, n, out);
}

/* What users have: it is to give words that all readers get with one n. */
static int find_formula(const struct rfn_rank_value *members, size_t n,
                        const struct rfn_sought_parameter *parameter,
                        struct rfn_expression_finder *finder, struct rfn_buf *out)
{
    struct rfn_rank_expression found;
    struct rfn_rank_value *values = malloc(n * sizeof *values);
    if (!values)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        values[i] = members[i];
        if (parameter->size)
            values[i].size = parameter->size;
        if (parameter->coded)
            values[i].value = rfn_unzigzag((uint64_t)members[i].value);
    }
    finder->asked++;
    int there = 0;
    if (all_in_communicators(values, n))
        there = finder->find(finder->context, parameter, values, n, &found);
    if (there > 0) {
        found.coded = parameter->coded;
        found.n_dimensions = 1;
        found.dimensions[0] = values[0].size;
    }
    if (there > 0 && gives_all(&found, members, n)) {
        finder->found++;
        write_expression(&found, n, out);
    }
    free(values);
    return there < 0 ? there : 0;
}

static int write_column(const struct rfn_rank_value *members, size_t n, bool relative,
                        struct rfn_buf *out)
{
    struct rfn_column column;
    int error = 0;
    rfn_column_init(&column);
    for (size_t i = 0; i < n && !error; i++)
        error = rfn_column_append(
            &column, (int64_t)((uint64_t)members[i].value - (relative ? members[i].rank : 0)));
    rfn_buf_varint(out, relative ? AS_DIFFERENCES : AS_WORDS);
    if (!error)
        rfn_column_write(&column, out);
    rfn_column_release(&column);
    return error;
}

/* The fewest bytes win, of equally many the first. */
static int choose(const struct rfn_buf *tried, struct rfn_buf *out)
{
    int best = RUNS;
    for (int i = 0; i < TRIED; i++) {
        out->failed |= tried[i].failed;
        if (tried[i].size && tried[i].size < tried[best].size)
            best = i;
    }
    rfn_buf_bytes(out, tried[best].data, tried[best].size);
    return best;
}

int rfn_sequence_write_parameter(const struct rfn_rank_value *members, size_t n, bool ranks,
                                 const struct rfn_sought_parameter *parameter,
                                 struct rfn_expression_finder *finder, struct rfn_buf *out)
{
    struct rfn_buf tried[TRIED] = {RFN_BUF_INIT};
    size_t n_runs;
    int error = write_runs(members, n, &n_runs, &tried[RUNS]);
    fit_expression(members, n, ranks, &tried[EXPRESSION]);
    if (!error && finder && n_runs > 1 && !tried[EXPRESSION].size)
        error = find_formula(members, n, parameter, finder, &tried[FORMULA]);
    for (int i = WORDS; i < TRIED && !error; i++)
        error = write_column(members, n, i == DIFFERENCES, &tried[i]);
    if (!error && choose(tried, out) == FORMULA)
        finder->stored++;
    for (int i = 0; i < TRIED; i++)
        rfn_buf_release(&tried[i]);
    return error ? error : rfn_buf_status(out);
}

int rfn_sequence_write(const struct rfn_rank_value *members, size_t n, bool ranks,
                       struct rfn_buf *out)
{
    return rfn_sequence_write_parameter(members, n, ranks, NULL, NULL, out);
}
