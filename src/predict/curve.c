/* curve.c - the run time as a function of what something takes: all its breakpoints (Eisner and
 * Severance's method), and what it may take before the run is 1 % longer.
 *
 * The run time is the longest of many paths, each a line: it is convex. Where the lines at the ends
 * of an interval meet there is either a breakpoint, or the function is above them, and the interval
 * is cut there. Slopes are told from two more lanes, a little before and behind.
 */
#include "refrain/predict.h"

#include "base/grow.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 16, AT_ONCE = 20, EACH = 3, LANES = EACH * AT_ONCE, POINTS_MAX = 256 };

/* Of the range: how far beside a point its slopes are measured. */
static const double BESIDE = 5e-4;

struct probe {
    double factor, run_ns, before, behind; /* slopes */
    double expected_ns;                    /* where two lines meet here; 0: nothing is expected */
    bool closed;                           /* from here to the next one it is a line */
};

struct drawing {
    const struct rfn_archive *archive;
    const struct rfn_predict_options *given;
    const struct rfn_assumption *assumptions;
    size_t n;
    struct rfn_assumption *lists; /* LANES of them */
    struct rfn_lane lanes[LANES];
    struct probe *probes;
    size_t n_probes, capacity;
    double beside, tolerance_ns;
    struct rfn_diag *diag;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* ---- run times at some factors ---- */

static void set_lane(struct drawing *drawing, size_t lane, double factor)
{
    const struct rfn_lane *given = &drawing->given->lanes[0];
    const size_t n = given->n + drawing->n;
    struct rfn_assumption *list = drawing->lists + lane * n;
    for (size_t i = 0; i < given->n; i++)
        list[i] = given->assumptions[i];
    for (size_t i = 0; i < drawing->n; i++) {
        list[given->n + i] = drawing->assumptions[i];
        list[given->n + i].factor = factor;
    }
    drawing->lanes[lane] = (struct rfn_lane){list, n};
}

/* Each event's time is rounded: some times the root of their number, about. */
static double rounding_ns(uint64_t events)
{
    double root = 1;
    while (root * root < (double)events)
        root *= 2;
    return 2 + root / 4;
}

static int predict(struct drawing *drawing, const double *factors, size_t n, double *run_ns)
{
    struct rfn_predict_options options = *drawing->given;
    struct rfn_prediction prediction;
    for (size_t i = 0; i < n; i++)
        set_lane(drawing, i, factors[i]);
    options.lanes = drawing->lanes;
    options.n = n;
    RFN_TRY(rfn_predict(drawing->archive, &options, &prediction, drawing->diag));
    for (size_t i = 0; i < n; i++)
        run_ns[i] = (double)prediction.predicted_ns[i];
    drawing->tolerance_ns = rounding_ns(prediction.events);
    rfn_prediction_release(&prediction);
    return 0;
}

/* ---- breakpoints ---- */

static int by_factor(const void *left, const void *right)
{
    const struct probe *a = left, *b = right;
    return a->factor < b->factor ? -1 : a->factor > b->factor;
}

/* Probes some factors, and puts them among the others. expected_ns: by factor, or NULL. */
static int probe(struct drawing *drawing, const double *factors, const double *expected_ns,
                 size_t n)
{
    double at[LANES], run_ns[LANES];
    for (size_t i = 0; i < n; i++) {
        at[EACH * i] = larger(factors[i] - drawing->beside, 0);
        at[EACH * i + 1] = factors[i];
        at[EACH * i + 2] = factors[i] + drawing->beside;
    }
    RFN_TRY(predict(drawing, at, EACH * n, run_ns));
    RFN_TRY(RFN_GROW(drawing->probes, drawing->capacity, drawing->n_probes + n));
    for (size_t i = 0; i < n; i++) {
        const double *x = at + EACH * i, *y = run_ns + EACH * i;
        const double behind = (y[2] - y[1]) / (x[2] - x[1]);
        drawing->probes[drawing->n_probes++] = (struct probe){
            .factor = x[1],
            .run_ns = y[1],
            .before = x[1] > x[0] ? (y[1] - y[0]) / (x[1] - x[0]) : behind,
            .behind = behind,
            .expected_ns = expected_ns ? expected_ns[i] : 0};
    }
    qsort(drawing->probes, drawing->n_probes, sizeof *drawing->probes, by_factor);
    return 0;
}

/* By how much slopes must differ to be told apart. */
static double least_turn(const struct drawing *drawing)
{
    return 2 * drawing->tolerance_ns / drawing->beside;
}

/* Where the lines of an interval meet, and how long the run takes there at least. false: they are
 * one line, or too close to each other to be told apart. */
static bool find_meeting(const struct drawing *drawing, const struct probe *a,
                         const struct probe *b, double *at, double *expected_ns)
{
    if (b->factor - a->factor < 4 * drawing->beside || b->before - a->behind < least_turn(drawing))
        return false;
    *at = (b->run_ns - b->before * b->factor - a->run_ns + a->behind * a->factor) /
          (a->behind - b->before);
    *at = smaller(larger(*at, a->factor + drawing->beside), b->factor - drawing->beside);
    *expected_ns = a->run_ns + a->behind * (*at - a->factor);
    return true;
}

/* Where a breakpoint was found that was expected, no other is beside it. */
static void close_found(struct drawing *drawing)
{
    for (size_t i = 1; i + 1 < drawing->n_probes; i++) {
        struct probe *at = &drawing->probes[i];
        if (at->expected_ns > 0 && at->run_ns - at->expected_ns < 4 * drawing->tolerance_ns)
            at->closed = at[-1].closed = true;
        at->expected_ns = 0;
    }
}

/* One more round. 1: there was something to do; 0; or an error. */
static int refine(struct drawing *drawing)
{
    double factors[AT_ONCE], expected_ns[AT_ONCE];
    size_t n = 0;
    for (size_t i = 0; i + 1 < drawing->n_probes && n < AT_ONCE; i++) {
        struct probe *a = &drawing->probes[i];
        if (a->closed)
            continue;
        a->closed = !find_meeting(drawing, a, a + 1, &factors[n], &expected_ns[n]);
        n += !a->closed;
    }
    if (!n || drawing->n_probes + n > POINTS_MAX)
        return 0;
    RFN_TRY(probe(drawing, factors, expected_ns, n));
    close_found(drawing);
    return 1;
}

/* Probes between which the line goes straight on are none. */
static int take_points(const struct drawing *drawing, struct rfn_curve *curve)
{
    curve->points = calloc(drawing->n_probes + 1, sizeof *curve->points);
    if (!curve->points)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < drawing->n_probes; i++) {
        const struct probe *at = &drawing->probes[i];
        const bool end = i == 0 || i + 1 == drawing->n_probes;
        if (end || fabs(at->behind - at->before) >= least_turn(drawing))
            curve->points[curve->n++] = (struct rfn_curve_point){at->factor, (int64_t)at->run_ns};
    }
    return 0;
}

/* ---- what it may take ---- */

/* In three passes: powers of 2 from 1 on, then the interval that holds the factor in LANES parts,
 * twice. */
static int tolerate(struct drawing *drawing, struct rfn_curve *curve)
{
    enum { POWERS = 21, PASSES = 3 };
    double at[LANES], run_ns[LANES], from = 1, to = INFINITY;
    double most_ns = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        const size_t n = pass ? LANES : POWERS;
        for (size_t i = 0; i < n; i++)
            at[i] = pass ? from + (to - from) * (double)i / (LANES - 1) : (double)(1 << i);
        RFN_TRY(predict(drawing, at, n, run_ns));
        if (!pass)
            most_ns = 1.01 * run_ns[0];
        size_t i = 1;
        while (i < n && run_ns[i] <= most_ns)
            i++;
        if (i == n && !pass)
            break;
        i = i < n ? i : n - 1;
        from = at[i - 1];
        to = at[i];
    }
    curve->tolerated = to == INFINITY ? INFINITY : from;
    return 0;
}

static int draw(struct drawing *drawing, double from, double to, struct rfn_curve *curve)
{
    const double ends[] = {from, from < 1 && 1 < to ? 1 : (from + to) / 2, to};
    int more = 1;
    RFN_TRY(probe(drawing, ends, NULL, 3));
    for (int round = 0; round < ROUNDS && more > 0; round++)
        more = refine(drawing);
    RFN_TRY(more);
    RFN_TRY(take_points(drawing, curve));
    return tolerate(drawing, curve);
}

int rfn_predict_curve(const struct rfn_archive *archive, const struct rfn_predict_options *given,
                      const struct rfn_assumption *assumptions, size_t n, double from, double to,
                      struct rfn_curve *curve, struct rfn_diag *diag)
{
    struct drawing drawing = {.archive = archive,
                              .given = given,
                              .assumptions = assumptions,
                              .n = n,
                              .beside = (to - from) * BESIDE,
                              .diag = diag};
    *curve = (struct rfn_curve){.tolerated = INFINITY};
    drawing.lists = calloc(LANES * (given->lanes[0].n + n), sizeof *drawing.lists);
    int error = drawing.lists ? draw(&drawing, from, to, curve) : RFN_E_NOMEM;
    free(drawing.lists);
    free(drawing.probes);
    if (error < 0)
        rfn_curve_release(curve);
    return error;
}

void rfn_curve_release(struct rfn_curve *curve)
{
    free(curve->points);
    *curve = (struct rfn_curve){.points = NULL};
}
