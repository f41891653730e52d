/* compare_sides.c - several runs of each of two sides.
 *
 * Sums are taken from each run. For other rows each run gives its values by names. Sorted by names
 * and runs, what belongs together stands together; several values of one name in a run, as of calls
 * in other lines, add up. */
#include "base/grow.h"
#include "explain/compare_runs.h"
#include "explain/name_chain.h"

#include <stdlib.h>

/* Causes below this share of a run's time count as 0. */
#define LEAST_CAUSE (RFN_TRIFLE / 10)

static size_t all_runs(const struct rfn_compared_sides *compared)
{
    return compared->n[0] + compared->n[1];
}

/* ---- rows ---- */

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static struct rfn_row_range range_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return (struct rfn_row_range){values[0], (values[(n - 1) / 2] + values[n / 2]) / 2,
                                  values[n - 1]};
}

/* values: by run; they are sorted. There is room for the row. */
static int add_row(struct rfn_compared_sides *compared, enum rfn_row_kind kind,
                   enum rfn_row_unit unit, const char *name, size_t length, double *values)
{
    struct rfn_row_change *row = &compared->rows[compared->n_rows];
    const struct rfn_row_range a = range_of(values, compared->n[0]),
                               b = range_of(values + compared->n[0], compared->n[1]);
    const bool differ = a.median < b.median || a.median > b.median;
    const bool overlap = a.least <= b.largest && b.least <= a.largest;
    char *copy = malloc(length + 1);
    if (!copy)
        return RFN_E_NOMEM;
    if (length)
        memcpy(copy, name, length);
    copy[length] = 0;
    *row = (struct rfn_row_change){copy, kind, unit, {a, b}, differ && overlap};
    compared->n_rows++;
    return 0;
}

/* ---- sums ---- */

/* Names are those of the page of two runs. */
enum sum {
    RUN_TIME,
    SPENT,
    PARALLEL = SPENT + RFN_SPENDINGS,
    BALANCE,
    COMMUNICATION,
    CALLS,
    MESSAGES,
    SENT_BYTES,
    COLLECTIVE_BYTES,
    SUMS
};

static const struct {
    const char *name;
    enum rfn_row_unit unit;
} sums[SUMS] = {[RUN_TIME] = {"run time", RFN_ROW_NS},
                [SPENT + RFN_SPENT_COMPUTING] = {"computing", RFN_ROW_NS},
                [SPENT + RFN_SPENT_WAITING] = {"waiting", RFN_ROW_NS},
                [SPENT + RFN_SPENT_IN_MPI] = {"in MPI otherwise", RFN_ROW_NS},
                [SPENT + RFN_SPENT_IN_SETUP] = {"in Init and Finalize", RFN_ROW_NS},
                [SPENT + RFN_SPENT_OUTSIDE] = {"before and after them", RFN_ROW_NS},
                [PARALLEL] = {"parallel efficiency", RFN_ROW_SHARE},
                [BALANCE] = {"load balance", RFN_ROW_SHARE},
                [COMMUNICATION] = {"communication", RFN_ROW_SHARE},
                [CALLS] = {"MPI calls", RFN_ROW_COUNT},
                [MESSAGES] = {"messages", RFN_ROW_COUNT},
                [SENT_BYTES] = {"bytes in messages", RFN_ROW_BYTES},
                [COLLECTIVE_BYTES] = {"bytes of collectives", RFN_ROW_BYTES}};

static double sum_of(const struct rfn_compared_run *run, enum sum sum)
{
    const struct rfn_efficiency *e = &run->measured.efficiency;
    switch (sum) {
    case RUN_TIME:
        return (double)run->run_ns;
    case PARALLEL:
        return e->parallel;
    case BALANCE:
        return e->load_balance;
    case COMMUNICATION:
        return e->communication;
    case CALLS:
        return (double)run->calls;
    case MESSAGES:
        return (double)run->messages;
    case SENT_BYTES:
        return (double)run->sent_bytes;
    case COLLECTIVE_BYTES:
        return (double)run->collective_bytes;
    default:
        return run->spent_ns[sum - SPENT];
    }
}

static int add_sums(struct rfn_compared_sides *compared, double *per_run)
{
    for (int sum = compared->times ? 0 : CALLS; sum < SUMS; sum++) {
        for (size_t i = 0; i < all_runs(compared); i++)
            per_run[i] = sum_of(&compared->runs[i], (enum sum)sum);
        RFN_TRY(add_row(compared, RFN_ROW_SUM, sums[sum].unit, sums[sum].name,
                        strlen(sums[sum].name), per_run));
    }
    return 0;
}

/* ---- values by names ---- */

struct value {
    struct rfn_text name;
    enum rfn_row_kind kind;
    size_t run;
    double ns; /* of a rank on average */
};

struct values {
    struct value *all;
    size_t n, capacity;
};

/* Takes the name. */
static int add_value(struct values *values, enum rfn_row_kind kind, size_t run, double ns,
                     struct rfn_text *name)
{
    if (name->failed || RFN_GROW(values->all, values->capacity, values->n + 1) < 0) {
        rfn_text_release(name);
        return RFN_E_NOMEM;
    }
    values->all[values->n++] = (struct value){*name, kind, run, ns};
    return 0;
}

/* Names that are each ended by a newline, as "MPI_Recv < exchange < main". */
static void append_chain(struct rfn_text *name, const char *chain, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (chain[i] != '\n')
            rfn_text_char(name, chain[i]);
        else if (i + 1 < n)
            rfn_text_string(name, " < ");
    }
}

static int add_calls(struct values *values, size_t number, const struct rfn_compared_run *run)
{
    const struct rfn_profile *profile = run->measured.profile;
    for (size_t i = 0; i < profile->n_rows; i++) {
        const struct rfn_profile_row *row = &profile->rows[i];
        struct rfn_text chain = {0}, name = {0};
        rfn_name_chain_append(&chain, run->measured.archive,
                              (struct rfn_call_site){row->function, row->path});
        append_chain(&name, chain.data, chain.failed ? 0 : chain.n);
        name.failed |= chain.failed;
        rfn_text_release(&chain);
        RFN_TRY(add_value(values, RFN_ROW_CALL, number,
                          rfn_of_a_rank(run, (double)row->time.total_ns), &name));
    }
    return 0;
}

static int add_regions(struct values *values, size_t number, const struct rfn_compared_run *run)
{
    const struct rfn_profile *profile = run->measured.profile;
    for (size_t i = 0; i < profile->n_regions; i++) {
        struct rfn_text name = {0};
        rfn_text_string(&name, "region ");
        rfn_name_append(&name, profile->regions[i].name);
        RFN_TRY(add_value(values, RFN_ROW_REGION, number,
                          rfn_of_a_rank(run, (double)profile->regions[i].time.total_ns), &name));
    }
    return 0;
}

struct part {
    const char *data;
    size_t n;
};

/* The line that begins at *at; *at is behind it then. */
static struct part next_line(const char **at, const char *end)
{
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    const struct part line = {*at, (size_t)((stop ? stop : end) - *at)};
    *at = stop ? stop + 1 : end;
    return line;
}

/* "compute in do_work, region smoothing, at MPI_Recv < exchange < main" */
static void append_cause(struct rfn_text *name, const struct rfn_text *key)
{
    const char *at = key->data, *const end = key->data + key->n;
    const struct part kind = next_line(&at, end), region = next_line(&at, end),
                      function = next_line(&at, end);
    rfn_text_format(name, "%.*s", (int)kind.n, kind.data);
    if (function.n)
        rfn_text_format(name, " in %.*s", (int)function.n, function.data);
    if (region.n)
        rfn_text_format(name, ", region %.*s", (int)region.n, region.data);
    if (at < end)
        rfn_text_string(name, ", at ");
    append_chain(name, at, (size_t)(end - at));
}

static int add_causes(struct values *values, size_t number, const struct rfn_compared_run *run)
{
    for (size_t i = 0; i < run->findings.n; i++) {
        const struct rfn_finding *finding = &run->findings.findings[i];
        struct rfn_text key = {0}, name = {0};
        rfn_finding_key(&key, &run->measured, finding);
        if (!key.failed)
            append_cause(&name, &key);
        name.failed |= key.failed;
        rfn_text_release(&key);
        RFN_TRY(add_value(values, RFN_ROW_CAUSE, number, rfn_of_a_rank(run, (double)finding->ns),
                          &name));
    }
    return 0;
}

static int add_values(struct values *values, const struct rfn_compared_sides *compared)
{
    for (size_t i = 0; compared->times && i < all_runs(compared); i++) {
        RFN_TRY(add_calls(values, i, &compared->runs[i]));
        RFN_TRY(add_causes(values, i, &compared->runs[i]));
        RFN_TRY(add_regions(values, i, &compared->runs[i]));
    }
    return 0;
}

static int compare_names(const struct value *a, const struct value *b)
{
    const size_t n = a->name.n < b->name.n ? a->name.n : b->name.n;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    const int order = n ? memcmp(a->name.data, b->name.data, n) : 0;
    return order ? order : a->name.n < b->name.n ? -1 : a->name.n > b->name.n;
}

static int by_name(const void *left, const void *right)
{
    return compare_names(left, right);
}

static int add_named_rows(struct rfn_compared_sides *compared, struct values *values,
                          double *per_run)
{
    if (values->n)
        qsort(values->all, values->n, sizeof *values->all, by_name);
    for (size_t i = 0, end; i < values->n; i = end) {
        const struct value *first = &values->all[i];
        for (size_t k = 0; k < all_runs(compared); k++)
            per_run[k] = 0;
        for (end = i; end < values->n && compare_names(first, &values->all[end]) == 0; end++)
            per_run[values->all[end].run] += values->all[end].ns;
        RFN_TRY(
            add_row(compared, first->kind, RFN_ROW_NS, first->name.data, first->name.n, per_run));
    }
    return 0;
}

static double larger_median(const struct rfn_row_change *row)
{
    return row->of[0].median > row->of[1].median ? row->of[0].median : row->of[1].median;
}

static int by_size(const void *left, const void *right)
{
    const struct rfn_row_change *a = left, *b = right;
    const double first = larger_median(a), second = larger_median(b);
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return first > second ? -1 : first < second ? 1 : strcmp(a->name, b->name);
}

/* ---- both sides ---- */

static int make_rows(struct rfn_compared_sides *compared, struct values *values, double *per_run)
{
    RFN_TRY(add_values(values, compared));
    compared->rows = calloc(SUMS + values->n, sizeof *compared->rows);
    if (!compared->rows || !per_run)
        return RFN_E_NOMEM;
    RFN_TRY(add_sums(compared, per_run));
    const size_t n_sums = compared->n_rows;
    RFN_TRY(add_named_rows(compared, values, per_run));
    qsort(compared->rows + n_sums, compared->n_rows - n_sums, sizeof *compared->rows, by_size);
    return 0;
}

static int sum_runs(struct rfn_compared_sides *compared, const struct rfn_measured *runs)
{
    compared->times = true;
    for (size_t i = 0; i < all_runs(compared); i++) {
        struct rfn_compared_run *run = &compared->runs[i];
        RFN_TRY(rfn_compared_run_init(run, &runs[i], LEAST_CAUSE, SIZE_MAX));
        compared->times &= run->times;
        compared->other_programs |= strcmp(rfn_compared_program(&compared->runs[0]),
                                           rfn_compared_program(run)) != 0;
    }
    return 0;
}

int rfn_compared_sides_init(struct rfn_compared_sides *compared, const struct rfn_measured *runs,
                            const size_t n[2])
{
    struct values values = {0};
    *compared = (struct rfn_compared_sides){.n = {n[0], n[1]}};
    compared->runs = calloc(all_runs(compared), sizeof *compared->runs);
    double *per_run = calloc(all_runs(compared), sizeof *per_run);
    int error = compared->runs ? sum_runs(compared, runs) : RFN_E_NOMEM;
    if (!error)
        error = make_rows(compared, &values, per_run);
    for (size_t i = 0; i < values.n; i++)
        rfn_text_release(&values.all[i].name);
    free(values.all);
    free(per_run);
    return error;
}

void rfn_compared_sides_release(struct rfn_compared_sides *compared)
{
    for (size_t i = 0; compared->runs && i < all_runs(compared); i++)
        rfn_findings_release(&compared->runs[i].findings);
    for (size_t i = 0; i < compared->n_rows; i++)
        free(compared->rows[i].name);
    free(compared->runs);
    free(compared->rows);
    *compared = (struct rfn_compared_sides){0};
}

/* ---- in a sentence ---- */

static struct rfn_quantity time_of(double ns)
{
    return rfn_time_text((int64_t)(ns + 0.5));
}

void rfn_compared_sides_append(struct rfn_text *text, const struct rfn_compared_sides *compared)
{
    if (!compared->times) {
        rfn_text_string(text, "How long the runs take is not known: not all of them have times.");
        return;
    }
    const struct rfn_row_change *row = &compared->rows[RUN_TIME];
    const struct rfn_row_range *a = &row->of[0], *b = &row->of[1];
    const bool longer = b->median > a->median;
    const double ratio = longer ? b->median / a->median : a->median / b->median;
    const bool differ = !rfn_about_as_long(a->median, b->median);
    if (row->noise || !differ)
        rfn_text_string(text, "B takes about as long as A");
    else
        rfn_text_format(text,
                        longer ? "B takes %.2f times as long as A" : "B is %.2f times as fast as A",
                        ratio);
    rfn_text_format(text, ", by the medians: %s -> %s", time_of(a->median).text,
                    time_of(b->median).text);
    if (row->noise)
        rfn_text_format(text, "; that is noise: A takes %s to %s, B %s to %s.",
                        time_of(a->least).text, time_of(a->largest).text, time_of(b->least).text,
                        time_of(b->largest).text);
    else
        rfn_text_string(text, differ ? "; the ranges do not overlap." : ".");
}
