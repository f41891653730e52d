#include "calibrate/network_model.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- measurements ---- */

enum { MOST_RAW = CAL_MOST_POINTS * CAL_SAMPLES };
static const double LEAST_NS = 0.01; /* a clock may tell 0 */

void cal_samples_add(struct cal_samples *samples, double ns)
{
    samples->ns[samples->n++ % CAL_SAMPLES] = fmax(ns, LEAST_NS);
}

static size_t kept(const struct cal_samples *samples)
{
    return samples->n < CAL_SAMPLES ? samples->n : CAL_SAMPLES;
}

double cal_samples_shortest(const struct cal_samples *samples)
{
    double shortest = INFINITY;
    for (size_t i = 0; i < kept(samples); i++)
        shortest = fmin(shortest, samples->ns[i]);
    return shortest;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Appends a size's measurements, but for those that took half as long again as the middle one. */
static size_t append_raw(const struct cal_samples *samples, struct cal_point *raw, size_t n)
{
    double sorted[CAL_SAMPLES];
    const size_t many = kept(samples);
    memcpy(sorted, samples->ns, many * sizeof *sorted);
    qsort(sorted, many, sizeof *sorted, compare);
    for (size_t i = 0; i < many && sorted[i] <= 1.5 * sorted[many / 2]; i++)
        raw[n++] = (struct cal_point){samples->bytes, sorted[i]};
    return n;
}

/* ---- fitting ---- */

/* Whether the second of two sizes takes a quarter longer than the first lets expect at most: where
 * a way of sending ends, the network may already treat the last sizes as larger ones. */
static bool jumps(const struct cal_point *two)
{
    return two[1].ns > 1.25 * two[0].ns * (double)two[1].bytes / (double)two[0].bytes;
}

/* Sizes up to most_bytes. */
static void fit(const struct cal_samples *samples, size_t n_sizes, int64_t most_bytes,
                struct cal_pieces *pieces)
{
    struct cal_point shortest[CAL_MOST_POINTS];
    struct cal_point *raw = malloc(MOST_RAW * sizeof *raw);
    size_t n = 0, n_raw = 0;
    for (size_t i = 0; i < n_sizes && samples[i].bytes <= most_bytes; i++) {
        if (!samples[i].n)
            continue;
        shortest[n++] = (struct cal_point){samples[i].bytes, cal_samples_shortest(&samples[i])};
        n_raw = raw ? append_raw(&samples[i], raw, n_raw) : 0;
    }
    n = cal_points_undisturbed(shortest, n);
    if (n > 2 && most_bytes < INT64_MAX && jumps(&shortest[n - 2]))
        n--;
    pieces->n = cal_pieces_fit(shortest, n, pieces->pieces);
    cal_pieces_refit(pieces->pieces, pieces->n, raw, n_raw);
    free(raw);
}

double cal_network_model_ns(const struct cal_pieces *pieces, int64_t bytes)
{
    return pieces->n ? cal_pieces_ns(pieces->pieces, pieces->n, bytes) : 0;
}

/* Half of a round trip, less what the calls on both sides take, but no less than a tenth: where
 * both sides copy at once they hide behind each other. */
static double network_ns(const struct cal_network_model *model, int64_t bytes, double half_ns)
{
    if (bytes > model->detached_bytes)
        return half_ns;
    const double calls = cal_network_model_ns(&model->send, bytes) +
                         cal_network_model_ns(&model->receive, bytes);
    return fmax(half_ns - calls, half_ns / 10);
}

/* The ways of sending end pieces, too: messages of each are fitted apart. */
static void fit_network(struct cal_network_model *model, const struct cal_messages *messages)
{
    struct cal_samples *network = calloc(messages->n_sizes, sizeof *network);
    const int64_t ends[] = {model->detached_bytes, INT64_MAX};
    size_t from = 0;
    for (size_t i = 0; network && i < messages->n_sizes; i++) {
        const struct cal_samples *halves = &messages->halves[i];
        network[i].bytes = halves->bytes;
        for (size_t k = 0; k < kept(halves); k++)
            cal_samples_add(&network[i], network_ns(model, halves->bytes, halves->ns[k]));
    }
    for (int way = 0; network && way < 2; way++) {
        struct cal_pieces part;
        size_t to = from;
        while (to < messages->n_sizes && network[to].bytes <= ends[way])
            to++;
        fit(network + from, to - from, ends[way], &part);
        if (part.n && model->network.n)
            part.pieces[0].from_bytes = model->network.pieces[model->network.n - 1].to_bytes + 1;
        if (part.n && way == 0)
            part.pieces[part.n - 1].to_bytes = model->detached_bytes;
        for (size_t i = 0; i < part.n && model->network.n < CAL_MOST_PIECES; i++)
            model->network.pieces[model->network.n++] = part.pieces[i];
        from = to;
    }
    free(network);
}

/* The largest message that a late receive finds there: it takes less than half of what the network
 * takes longer than a receive whose message has come. -1: none. */
static int64_t eager_bytes(const struct cal_network_model *model,
                           const struct cal_messages *messages)
{
    int64_t eager = -1;
    size_t late = 0; /* in a row */
    for (size_t i = 0; i < messages->n_sizes && late < 2; i++) {
        const struct cal_samples *of = &messages->late_receives[i];
        if (!of->n)
            continue;
        const double there = cal_samples_shortest(&messages->receives[i]) +
                             cal_network_model_ns(&model->network, of->bytes) / 2;
        late = cal_samples_shortest(of) < there ? 0 : late + 1;
        if (!late)
            eager = of->bytes;
    }
    return eager;
}

/* What another byte takes, beside the latency, and beside the call that sends, as MPI_Isend does.
 */
static double both_ways(const struct cal_network_model *model, const struct cal_messages *messages)
{
    double ns[2];
    for (int i = 0; i < 2; i++)
        ns[i] = messages->exchange_ns[i] -
                cal_network_model_ns(&model->isend, messages->exchange_bytes[i]);
    return isfinite(ns[0]) && isfinite(ns[1]) && ns[1] > ns[0]
               ? 2 * (double)(messages->exchange_bytes[1] - messages->exchange_bytes[0]) /
                     (ns[1] - ns[0])
               : 0;
}

void cal_network_model_fit(struct cal_network_model *model, const struct cal_messages *messages)
{
    const size_t n = messages->n_sizes;
    const int64_t detached = messages->detached_bytes;
    *model = (struct cal_network_model){.eager_bytes = -1, .detached_bytes = detached};
    fit(messages->sends, n, detached, &model->send);
    fit(messages->isends, n, INT64_MAX, &model->isend);
    fit(messages->receives, n, detached, &model->receive);
    fit_network(model, messages);
    model->eager_bytes = eager_bytes(model, messages);
    model->both_ways = both_ways(model, messages);
}
