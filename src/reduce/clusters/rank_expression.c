/* Each form is proposed from a few values, then checked against all by evaluating it. */
#include "reduce/clusters/rank_expression.h"

#include "reduce/clusters/rank_formula.h"
#include "refrain/event.h"

#include <string.h>

/* Two ranks that are each other's partners are always some xor of each other. */
enum { D = RFN_EXPRESSION_DIMENSIONS, XOR_LEAST = 4, AFFINE_LEAST = 4 };

/* ---- evaluating; arithmetic is modulo 2^64 ---- */

static void coordinates(const struct rfn_rank_expression *grid, uint32_t rank, uint32_t *at)
{
    for (uint32_t i = grid->n_dimensions; i-- > 0; rank /= grid->dimensions[i])
        at[i] = rank % grid->dimensions[i];
}

static int64_t shifted(const struct rfn_rank_expression *expression, uint32_t rank, uint32_t size)
{
    struct rfn_rank_expression grid = *expression;
    uint32_t at[D] = {0};
    int64_t value = 0;
    if (grid.n_dimensions == 1)
        grid.dimensions[0] = size; /* each rank's own communicator */
    coordinates(&grid, rank, at);
    for (uint32_t i = 0; i < grid.n_dimensions; i++) {
        int64_t side = grid.dimensions[i], to = (int64_t)at[i] + grid.factors[i];
        if (grid.open >> i & 1 && (to < 0 || to >= side))
            return RFN_PROC_NULL;
        value = value * side + (to % side + side) % side;
    }
    return value;
}

int64_t rfn_rank_expression_value(const struct rfn_rank_expression *expression, uint32_t rank,
                                  uint32_t size)
{
    uint32_t at[D] = {0}, n = expression->n_dimensions;
    int64_t value = 0;
    switch (expression->form) {
    case RFN_EXPRESSION_OFFSET:
        return (int64_t)((uint64_t)expression->offset + rank);
    case RFN_EXPRESSION_SHIFTED:
        return shifted(expression, rank, size);
    case RFN_EXPRESSION_XOR:
        return expression->offset ^ (int64_t)rank;
    case RFN_EXPRESSION_PERMUTED:
        coordinates(expression, rank, at);
        for (uint32_t i = 0; i < n; i++)
            value = value * expression->dimensions[expression->order[i]] + at[expression->order[i]];
        return value;
    case RFN_EXPRESSION_AFFINE:
        coordinates(expression, rank, at);
        value = expression->offset;
        for (uint32_t i = 0; i < n; i++)
            value = (int64_t)((uint64_t)value + (uint64_t)expression->factors[i] * at[i]);
        return value;
    case RFN_EXPRESSION_FORMULA:
        if (!rfn_formula_value(expression->formula, expression->formula_size, rank, size, &value))
            value = 0;
        return expression->coded ? (int64_t)rfn_zigzag(value) : value;
    default:
        return expression->offset;
    }
}

/* ---- as bytes ---- */

enum { GRID_MAX = INT32_MAX }; /* ranks on a grid; a shift is no longer */

/* The dimensions in which it is shifted. */
static uint32_t shifted_in(const struct rfn_rank_expression *expression)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < expression->n_dimensions; i++)
        mask |= (uint32_t)(expression->factors[i] != 0) << i;
    return mask;
}

/* How open dimensions are written: none, all in which it is shifted, or (one more than) a mask. */
enum { OPEN_NONE, OPEN_ALL, OPEN_MASK = 1, OPEN_MOST = OPEN_MASK + (1 << D) - 2 };

/* A mask is of some of those in which it is shifted, and not all of them. */
static bool set_open(struct rfn_rank_expression *expression, uint32_t word)
{
    uint32_t all = shifted_in(expression);
    expression->open = word <= OPEN_ALL ? all * word : word - OPEN_MASK;
    return word <= OPEN_ALL || (expression->open != all && !(expression->open & ~all));
}

void rfn_rank_expression_write(const struct rfn_rank_expression *expression, struct rfn_buf *out)
{
    enum rfn_expression_form form = expression->form;
    rfn_buf_varint(out, form);
    if (form == RFN_EXPRESSION_FORMULA) {
        rfn_buf_varint(out, expression->coded);
        rfn_buf_varint(out, expression->dimensions[0]);
        rfn_buf_blob(out, expression->formula, expression->formula_size);
        return;
    }
    if (form == RFN_EXPRESSION_SHIFTED)
        rfn_buf_varint(out, !expression->open ? (uint32_t)OPEN_NONE
                            : expression->open == shifted_in(expression)
                                ? (uint32_t)OPEN_ALL
                                : OPEN_MASK + expression->open);
    else if (form != RFN_EXPRESSION_PERMUTED)
        rfn_buf_svarint(out, expression->offset);
    if (form == RFN_EXPRESSION_OFFSET || form == RFN_EXPRESSION_XOR)
        return;
    rfn_buf_varint(out, expression->n_dimensions);
    for (uint32_t i = 0; i < expression->n_dimensions; i++) {
        rfn_buf_varint(out, expression->dimensions[i]);
        if (form == RFN_EXPRESSION_PERMUTED)
            rfn_buf_varint(out, expression->order[i]);
        else
            rfn_buf_svarint(out, expression->factors[i]);
    }
}

static bool read_grid(struct rfn_rank_expression *expression, struct rfn_reader *reader)
{
    uint64_t n = 1;
    uint32_t seen = 0; /* digits */
    expression->n_dimensions = (uint32_t)rfn_reader_limited(reader, D);
    if (expression->n_dimensions == 0)
        return false;
    for (uint32_t i = 0; i < expression->n_dimensions && !reader->failed; i++) {
        n *= expression->dimensions[i] = (uint32_t)rfn_reader_limited(reader, GRID_MAX);
        if (n == 0 || n > GRID_MAX)
            return false;
        if (expression->form == RFN_EXPRESSION_PERMUTED)
            expression->order[i] = (uint32_t)rfn_reader_limited(reader,
                                                                expression->n_dimensions - 1);
        else
            expression->factors[i] = rfn_reader_svarint(reader);
        seen |= 1u << expression->order[i];
        if (expression->form == RFN_EXPRESSION_SHIFTED &&
            (expression->factors[i] > GRID_MAX || expression->factors[i] < -GRID_MAX))
            return false;
    }
    return expression->form != RFN_EXPRESSION_PERMUTED ||
           seen == (1u << expression->n_dimensions) - 1;
}

static bool read_formula(struct rfn_rank_expression *expression, struct rfn_reader *reader)
{
    size_t size, at;
    expression->coded = rfn_reader_limited(reader, 1);
    expression->n_dimensions = 1;
    expression->dimensions[0] = (uint32_t)rfn_reader_limited(reader, GRID_MAX);
    expression->formula = (const char *)rfn_reader_blob(reader, &size);
    if (reader->failed || rfn_formula_fault(expression->formula, size, &at))
        return false;
    expression->formula_size = (uint32_t)size;
    return expression->dimensions[0] > 0;
}

bool rfn_rank_expression_read(struct rfn_rank_expression *expression, struct rfn_reader *reader)
{
    uint64_t form = rfn_reader_limited(reader, RFN_EXPRESSION_FORMULA);
    *expression = (struct rfn_rank_expression){.form = (enum rfn_expression_form)form};
    bool known = form >= RFN_EXPRESSION_OFFSET;
    uint32_t open = OPEN_NONE;
    if (form == RFN_EXPRESSION_FORMULA) {
        reader->failed |= !read_formula(expression, reader);
        return !reader->failed;
    }
    if (form == RFN_EXPRESSION_SHIFTED)
        open = (uint32_t)rfn_reader_limited(reader, OPEN_MOST);
    else if (form != RFN_EXPRESSION_PERMUTED)
        expression->offset = rfn_reader_svarint(reader);
    if (known && form != RFN_EXPRESSION_OFFSET && form != RFN_EXPRESSION_XOR)
        known = read_grid(expression, reader) && set_open(expression, open);
    reader->failed |= !known;
    return !reader->failed;
}

/* ---- fitting ---- */

struct values {
    const struct rfn_rank_value *at;
    size_t n;
    const struct rfn_rank_value *first; /* that is no MPI_PROC_NULL */
    bool ends;                          /* some are */
    bool ranks;                         /* all others are ranks */
    uint32_t size;                      /* of all communicators; 0: they differ */
    size_t *odd;                        /* the value that the last expression did not give */
};

static bool gives(const struct rfn_rank_expression *expression, const struct rfn_rank_value *value)
{
    return rfn_rank_expression_value(expression, value->rank, value->size) == value->value;
}

/* What one expression does not give, many others do not: that is tried first. */
static bool fits(const struct rfn_rank_expression *expression, const struct values *values)
{
    if (*values->odd < values->n && !gives(expression, &values->at[*values->odd]))
        return false;
    for (size_t i = 0; i < values->n; i++) {
        if (!gives(expression, &values->at[i])) {
            *values->odd = i;
            return false;
        }
    }
    return true;
}

/* Forms of one number. */
static bool fit_number(struct rfn_rank_expression *expression, const struct values *values,
                       enum rfn_expression_form form, int64_t offset)
{
    *expression = (struct rfn_rank_expression){.form = form, .offset = offset};
    return fits(expression, values);
}

/* A shift is told by one value, up to the side's length: the shorter way. With open ends both ways
 * are possible, and the values tell. */
static bool fit_shifts_with(struct rfn_rank_expression *expression, const struct values *values,
                            uint32_t open)
{
    uint32_t from[D] = {0}, to[D] = {0};
    coordinates(expression, values->first->rank, from);
    coordinates(expression, (uint32_t)values->first->value, to);
    for (uint32_t i = 0; i < expression->n_dimensions; i++) {
        int64_t side = expression->dimensions[i], shift = (int64_t)to[i] - (int64_t)from[i];
        bool round = !(open >> i & 1);
        if (round && shift > side / 2)
            shift -= side;
        if (round && shift < -((side - 1) / 2))
            shift += side;
        expression->factors[i] = shift;
    }
    expression->open = open & shifted_in(expression);
    return fits(expression, values);
}

static bool may_be_shifted(const struct rfn_rank_expression *expression,
                           const struct values *values)
{
    return values->ranks && values->n >= 2 * (size_t)expression->n_dimensions;
}

/* Round in all dimensions, or in none if there are ends. */
static bool fit_shifts(struct rfn_rank_expression *expression, const struct values *values)
{
    expression->form = RFN_EXPRESSION_SHIFTED;
    return may_be_shifted(expression, values) &&
           fit_shifts_with(expression, values, values->ends ? ~UINT32_C(0) : 0);
}

/* Round in some dimensions, in as many as possible. */
static bool fit_partly_open(struct rfn_rank_expression *expression, const struct values *values)
{
    static const uint32_t masks[] = {1, 2, 4, 3, 5, 6};
    expression->form = RFN_EXPRESSION_SHIFTED;
    for (size_t i = 0; may_be_shifted(expression, values) && i < sizeof masks / sizeof *masks;
         i++) {
        if (masks[i] < (1u << expression->n_dimensions) - 1 &&
            fit_shifts_with(expression, values, masks[i]))
            return true;
    }
    return false;
}

/* Two orders of two digits, six of three; the first is the rank itself. */
static bool fit_permuted(struct rfn_rank_expression *expression, const struct values *values)
{
    static const uint32_t orders[][D] = {{1, 0, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    size_t n = expression->n_dimensions == 2 ? 1 : sizeof orders / sizeof *orders;
    if (!values->ranks || expression->n_dimensions < 2 || values->n < 3)
        return false;
    expression->form = RFN_EXPRESSION_PERMUTED;
    for (size_t i = 0; i < n; i++) {
        memcpy(expression->order, orders[i], sizeof orders[i]);
        if (fits(expression, values))
            return true;
    }
    return false;
}

/* Finds two values whose ranks differ in one coordinate only, and from them its factor; a
 * coordinate that is the same for all needs none. */
static bool find_factor(struct rfn_rank_expression *expression, const struct values *values,
                        uint32_t dimension)
{
    uint32_t first[D] = {0}, at[D] = {0};
    bool varies = false;
    coordinates(expression, values->at[0].rank, first);
    for (size_t i = 1; i < values->n; i++) {
        coordinates(expression, values->at[i].rank, at);
        if (at[dimension] == first[dimension])
            continue;
        varies = true;
        bool alone = true;
        for (uint32_t k = 0; k < expression->n_dimensions; k++)
            alone &= k == dimension || at[k] == first[k];
        if (!alone)
            continue;
        int64_t step = (int64_t)at[dimension] - (int64_t)first[dimension], change;
        if (__builtin_sub_overflow(values->at[i].value, values->at[0].value, &change) ||
            change == INT64_MIN || change % step != 0)
            return false;
        expression->factors[dimension] = change / step;
        return true;
    }
    return !varies;
}

/* An offset of 0, factors of 0 and 1 are not free: coordinates as they are, colours and keys of
 * splits. */
static size_t free_numbers(const struct rfn_rank_expression *expression)
{
    size_t n = expression->offset != 0;
    for (uint32_t i = 0; i < expression->n_dimensions; i++)
        n += expression->factors[i] != 0 && expression->factors[i] != 1;
    return n;
}

/* No MPI_PROC_NULL, as above. */
static bool fit_affine(struct rfn_rank_expression *expression, const struct values *values)
{
    uint32_t at[D] = {0};
    if (values->ends)
        return false;
    expression->form = RFN_EXPRESSION_AFFINE;
    for (uint32_t i = 0; i < expression->n_dimensions; i++) {
        if (!find_factor(expression, values, i))
            return false;
    }
    uint64_t offset = (uint64_t)values->at[0].value;
    coordinates(expression, values->at[0].rank, at);
    for (uint32_t i = 0; i < expression->n_dimensions; i++)
        offset -= (uint64_t)expression->factors[i] * at[i];
    expression->offset = (int64_t)offset;
    return values->n >= AFFINE_LEAST && values->n >= 2 * free_numbers(expression) &&
           fits(expression, values);
}

/* No number of 32 bits has more divisors. */
enum { DIVISORS_MOST = 1920 };

/* What a grid may have as one of several sides: the divisors of its size but 1 and itself,
 * ascending. */
struct sides {
    uint32_t n, of[DIVISORS_MOST + 1]; /* one more, which is larger than all */
};

/* O(sqrt(size)). */
static void find_sides(struct sides *sides, uint32_t size)
{
    uint32_t large[DIVISORS_MOST / 2], n_large = 0;
    sides->n = 0;
    for (uint32_t a = 2; (uint64_t)a * a <= size; a++) {
        if (size % a)
            continue;
        sides->of[sides->n++] = a;
        if (size / a != a)
            large[n_large++] = size / a;
    }
    while (n_large > 0)
        sides->of[sides->n++] = large[--n_large];
    sides->of[sides->n] = UINT32_MAX;
}

typedef bool fit_on_grid(struct rfn_rank_expression *expression, const struct values *values);

static bool try_grid(struct rfn_rank_expression *expression, const struct values *values,
                     uint32_t n, const uint32_t *dimensions, fit_on_grid *fit)
{
    *expression = (struct rfn_rank_expression){.n_dimensions = n};
    memcpy(expression->dimensions, dimensions, n * sizeof *dimensions);
    return fit(expression, values);
}

/* All grids of so many dimensions, with sides of at least 2 if there are several. */
static bool try_grids(struct rfn_rank_expression *expression, const struct values *values,
                      const struct sides *sides, uint32_t n, fit_on_grid *fit)
{
    if (n == 1)
        return try_grid(expression, values, 1, &values->at[0].size, fit);
    for (uint32_t i = 0; i < sides->n; i++) {
        uint32_t a = sides->of[i], rest = values->size / a;
        if (n == 2 && try_grid(expression, values, 2, (uint32_t[]){a, rest}, fit))
            return true;
        for (uint32_t k = 0; n == 3 && sides->of[k] <= rest / 2; k++) {
            uint32_t b = sides->of[k];
            if (rest % b == 0 && try_grid(expression, values, 3, (uint32_t[]){a, b, rest / b}, fit))
                return true;
        }
    }
    return false;
}

/* Grids of 1 to D or 2 to D dimensions. */
static bool try_all_grids(struct rfn_rank_expression *expression, const struct values *values,
                          const struct sides *sides, uint32_t least, fit_on_grid *fit)
{
    for (uint32_t n = least; n <= D; n++) {
        if (try_grids(expression, values, sides, n, fit))
            return true;
    }
    return false;
}

static bool fit_some(struct rfn_rank_expression *expression, const struct values *values)
{
    struct sides sides; /* large: not to be cleared for the first forms, which need none */
    if (fit_number(expression, values, RFN_EXPRESSION_CONSTANT, values->at[0].value))
        return true;
    if (!values->first)
        return false;
    const int64_t rank = values->first->rank, value = values->first->value;
    /* No MPI_PROC_NULL: it is a number, but that rank 1 less 3 is the same one means nothing. */
    if (!values->ends && fit_number(expression, values, RFN_EXPRESSION_OFFSET,
                                    (int64_t)((uint64_t)value - (uint64_t)rank)))
        return true;
    if (try_grids(expression, values, NULL, 1, fit_shifts) ||
        (values->ranks && values->n >= XOR_LEAST &&
         fit_number(expression, values, RFN_EXPRESSION_XOR, value ^ rank)))
        return true;
    if (!values->size)
        return false;
    find_sides(&sides, values->size);
    return try_all_grids(expression, values, &sides, 2, fit_shifts) ||
           try_all_grids(expression, values, &sides, 2, fit_permuted) ||
           try_all_grids(expression, values, &sides, 1, fit_affine) ||
           (values->ends && try_all_grids(expression, values, &sides, 2, fit_partly_open));
}

struct rfn_rank_expression rfn_rank_expression_fit(const struct rfn_rank_value *at, size_t n,
                                                   bool ranks)
{
    struct rfn_rank_expression expression;
    size_t odd = 0;
    struct values values = {.at = at, .n = n, .ranks = ranks, .size = at[0].size, .odd = &odd};
    for (size_t i = 0; i < n; i++) {
        bool end = ranks && at[i].value == RFN_PROC_NULL;
        values.ends |= end;
        if (end)
            continue;
        values.first = values.first ? values.first : &at[i];
        values.ranks &= at[i].value >= 0 && at[i].value < at[i].size;
        if (at[i].size != values.size)
            values.size = 0;
    }
    if (fit_some(&expression, &values))
        return expression;
    return (struct rfn_rank_expression){.form = RFN_EXPRESSION_NONE};
}
