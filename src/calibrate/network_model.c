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

struct cal_span cal_samples_span(const struct cal_samples *samples)
{
    double sorted[CAL_SAMPLES];
    const size_t many = kept(samples);
    if (!many)
        return (struct cal_span){0, 0};
    memcpy(sorted, samples->ns, many * sizeof *sorted);
    qsort(sorted, many, sizeof *sorted, compare);
    return (struct cal_span){sorted[0], sorted[many / 2]};
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

/* Measurements of several sizes: the shortest of each, and all. */
struct fitted {
    struct cal_point shortest[CAL_MOST_POINTS];
    struct cal_point *raw;
    size_t n, n_raw;
    bool jumped; /* the last size is left out: it is as those of the next way of sending */
};

/* Measurements of the sizes that nothing disturbed. */
static void append_all_raw(struct fitted *fitted, const struct cal_samples *samples, size_t n_sizes)
{
    size_t k = 0;
    for (size_t i = 0; fitted->raw && i < n_sizes && k < fitted->n; i++) {
        if (samples[i].bytes != fitted->shortest[k].bytes)
            continue;
        fitted->n_raw = append_raw(&samples[i], fitted->raw, fitted->n_raw);
        k++;
    }
}

/* Sizes up to most_bytes. The pieces keep points that the caller frees. */
static struct fitted fit_points(const struct cal_samples *samples, size_t n_sizes,
                                int64_t most_bytes, struct cal_pieces *pieces)
{
    struct fitted fitted = {.raw = malloc(MOST_RAW * sizeof *fitted.raw)};
    for (size_t i = 0; i < n_sizes && samples[i].bytes <= most_bytes; i++) {
        if (samples[i].n)
            fitted.shortest[fitted.n++] = (struct cal_point){samples[i].bytes,
                                                             cal_samples_shortest(&samples[i])};
    }
    fitted.n = cal_points_undisturbed(fitted.shortest, fitted.n);
    fitted.jumped = fitted.n > 2 && most_bytes < INT64_MAX && jumps(&fitted.shortest[fitted.n - 2]);
    fitted.n -= fitted.jumped;
    append_all_raw(&fitted, samples, n_sizes);
    pieces->n = cal_pieces_fit(fitted.shortest, fitted.n, pieces->pieces);
    cal_pieces_refit(pieces->pieces, pieces->n, fitted.raw, fitted.n_raw);
    return fitted;
}

static void fit(const struct cal_samples *samples, size_t n_sizes, int64_t most_bytes,
                struct cal_pieces *pieces)
{
    free(fit_points(samples, n_sizes, most_bytes, pieces).raw);
}

double cal_network_model_ns(const struct cal_pieces *pieces, int64_t bytes)
{
    return pieces->n ? cal_pieces_ns(pieces->pieces, pieces->n, bytes) : 0;
}

/* The network has a tenth of half a round trip or more. */
static const double LEAST_SHARE = 0.1;

static void scale(struct cal_samples *samples, double factor)
{
    for (size_t k = 0; k < kept(samples); k++)
        samples->ns[k] = fmax(samples->ns[k] * factor, LEAST_NS);
}

/* Copies of the calls' measurements, shortened where they are longer than the whole message: first
 * all sends, then all receives. NULL: memory ran out. */
static struct cal_samples *shortened_calls(const struct cal_messages *messages)
{
    const size_t n = messages->n_sizes;
    struct cal_samples *calls = calloc(2 * n + 1, sizeof *calls);
    for (size_t i = 0; calls && i < n; i++) {
        calls[i] = messages->sends[i];
        calls[n + i] = messages->receives[i];
        const double most = (1 - LEAST_SHARE) * cal_samples_shortest(&messages->halves[i]);
        const double both = cal_samples_shortest(&calls[i]) + cal_samples_shortest(&calls[n + i]);
        if (isfinite(both) && both > most) {
            scale(&calls[i], most / both);
            scale(&calls[n + i], most / both);
        }
    }
    return calls;
}

/* Half of a round trip, less what the calls on both sides take. */
static double network_ns(const struct cal_network_model *model, int64_t bytes, double half_ns)
{
    if (bytes > model->detached_bytes)
        return half_ns;
    const double calls = cal_network_model_ns(&model->send, bytes) +
                         cal_network_model_ns(&model->receive, bytes);
    return fmax(half_ns - calls, half_ns * LEAST_SHARE);
}

/* What the network takes, by size. */
static struct cal_samples *network_samples(const struct cal_network_model *model,
                                           const struct cal_messages *messages)
{
    struct cal_samples *network = calloc(messages->n_sizes + 1, sizeof *network);
    for (size_t i = 0; network && i < messages->n_sizes; i++) {
        const struct cal_samples *halves = &messages->halves[i];
        network[i].bytes = halves->bytes;
        for (size_t k = 0; k < kept(halves); k++)
            cal_samples_add(&network[i], network_ns(model, halves->bytes, halves->ns[k]));
    }
    return network;
}

/* Both ways of sending together may have more pieces than there is room for. */
static void join_ways(struct cal_pieces ways[2], const struct fitted fitted[2],
                      int64_t detached_bytes, struct cal_pieces *network)
{
    struct cal_piece all[2 * CAL_MOST_PIECES];
    struct cal_point *points = malloc(2 * CAL_MOST_POINTS * sizeof *points);
    size_t n = 0, n_points = 0;
    if (ways[0].n)
        ways[0].pieces[ways[0].n - 1].to_bytes = fitted[0].jumped
                                                     ? fitted[0].shortest[fitted[0].n].bytes - 1
                                                     : detached_bytes;
    if (ways[0].n && ways[1].n)
        ways[1].pieces[0].from_bytes = ways[0].pieces[ways[0].n - 1].to_bytes + 1;
    for (int way = 0; points && way < 2; way++) {
        memcpy(all + n, ways[way].pieces, ways[way].n * sizeof *all);
        memcpy(points + n_points, fitted[way].shortest, fitted[way].n * sizeof *points);
        n += ways[way].n;
        n_points += fitted[way].n;
    }
    network->n = cal_pieces_merge(all, n, CAL_MOST_PIECES, points, n_points);
    memcpy(network->pieces, all, network->n * sizeof *all);
    free(points);
}

/* The ways of sending end pieces, too: messages of each are fitted apart. */
static void fit_network(struct cal_network_model *model, const struct cal_messages *messages)
{
    struct cal_samples *network = network_samples(model, messages);
    const size_t n = messages->n_sizes;
    struct cal_pieces ways[2];
    struct fitted fitted[2];
    size_t detached = 0;
    if (!network)
        return;
    while (detached < n && network[detached].bytes <= model->detached_bytes)
        detached++;
    fitted[0] = fit_points(network, detached, model->detached_bytes, &ways[0]);
    fitted[1] = fit_points(network + detached, n - detached, INT64_MAX, &ways[1]);
    join_ways(ways, fitted, model->detached_bytes, &model->network);
    free(fitted[0].raw);
    free(fitted[1].raw);
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
    struct cal_samples *calls = shortened_calls(messages);
    if (!calls)
        return;
    fit(calls, n, detached, &model->send);
    fit(messages->isends, n, INT64_MAX, &model->isend);
    fit(calls + n, n, detached, &model->receive);
    free(calls);
    fit_network(model, messages);
    model->eager_bytes = eager_bytes(model, messages);
    model->both_ways = both_ways(model, messages);
}
