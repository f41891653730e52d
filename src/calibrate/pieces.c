#include "calibrate/pieces.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* ---- disturbed measurements ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Time grows with size, at most as size does, or falls and jumps where another way of sending
 * begins. So of undisturbed neighbours the middle one takes no more than their median, or else no
 * more than the one before lets expect. */
static bool is_disturbed(const struct cal_point *points, size_t i, const struct cal_point *before)
{
    enum { NEAR = 2, AROUND = 2 * NEAR + 1 };
    const double grown = before->ns * (double)points[i].bytes / (double)before->bytes;
    double ns[AROUND];
    for (size_t k = 0; k < AROUND; k++)
        ns[k] = points[i + k - NEAR].ns;
    qsort(ns, AROUND, sizeof *ns, compare);
    return points[i].ns > 1.25 * ns[NEAR] && points[i].ns > 1.25 * grown;
}

size_t cal_points_undisturbed(struct cal_point *points, size_t n)
{
    bool disturbed[CAL_MOST_POINTS] = {false};
    size_t kept = 0, before = 1;
    for (size_t i = 2; i + 2 < n; i++) {
        disturbed[i] = is_disturbed(points, i, &points[before]);
        if (!disturbed[i])
            before = i;
    }
    for (size_t i = 0; i < n; i++) {
        if (!disturbed[i])
            points[kept++] = points[i];
    }
    return kept;
}

/* ---- a line ---- */

struct line {
    double latency_ns, ns_per_byte;
    double error; /* sum of the squared relative ones */
};

static struct line judged(const struct cal_point *points, size_t n, double latency_ns,
                          double ns_per_byte)
{
    struct line line = {latency_ns, ns_per_byte, 0};
    for (size_t i = 0; i < n; i++) {
        const double fitted = latency_ns + (double)points[i].bytes * ns_per_byte;
        line.error += (fitted / points[i].ns - 1) * (fitted / points[i].ns - 1);
    }
    return line;
}

/* The line with the least error that nowhere goes below 0 and nowhere falls. */
static struct line line_through(const struct cal_point *points, size_t n)
{
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, sxx = 0, sxy = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = (double)points[i].bytes, y = points[i].ns, weight = 1 / (y * y);
        w += weight, wx += weight * x, wy += weight * y;
        wxx += weight * x * x, wxy += weight * x * y;
    }
    for (size_t i = 0; i < n; i++) { /* around the mean, where little is lost to rounding */
        const double x = (double)points[i].bytes - wx / w, y = points[i].ns - wy / w;
        const double weight = 1 / (points[i].ns * points[i].ns);
        sxx += weight * x * x, sxy += weight * x * y;
    }
    const double slope = sxx > 0 ? sxy / sxx : 0, latency = (wy - slope * wx) / w;
    if (slope >= 0 && latency >= 0)
        return judged(points, n, latency, slope);
    return slope < 0 ? judged(points, n, wy / w, 0) : judged(points, n, 0, wxy / wxx);
}

/* ---- pieces ---- */

/* By the best way to cut the first points into pieces: its error, and where the last piece begins.
 */
struct cuts {
    double error[CAL_MOST_PIECES + 1][CAL_MOST_POINTS + 1];
    uint8_t begin[CAL_MOST_PIECES + 1][CAL_MOST_POINTS + 1];
};

/* Dynamic programming: the best pieces for all points but the last piece's are part of the best for
 * all. */
static void cut(const struct cal_point *points, size_t n, struct cuts *cuts)
{
    for (size_t pieces = 0; pieces <= CAL_MOST_PIECES; pieces++) {
        for (size_t end = 0; end <= n; end++)
            cuts->error[pieces][end] = !pieces && !end ? 0 : INFINITY;
    }
    for (size_t begin = 0; begin < n; begin++) {
        const size_t least = begin + (n < CAL_LEAST_POINTS ? n : CAL_LEAST_POINTS);
        for (size_t end = least; end <= n; end++) {
            const double error = line_through(points + begin, end - begin).error;
            for (size_t pieces = 1; pieces <= CAL_MOST_PIECES; pieces++) {
                if (cuts->error[pieces - 1][begin] + error < cuts->error[pieces][end]) {
                    cuts->error[pieces][end] = cuts->error[pieces - 1][begin] + error;
                    cuts->begin[pieces][end] = (uint8_t)begin;
                }
            }
        }
    }
}

/* Three numbers for a piece, its line and its end, have to be worth it. Errors below half a percent
 * are as good as none. */
static size_t best_number(const struct cuts *cuts, size_t n)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t pieces = 1; pieces <= CAL_MOST_PIECES; pieces++) {
        const double variance = cuts->error[pieces][n] / (double)n + 0.005 * 0.005;
        const double criterion = (double)n * log(variance) + 3 * (double)pieces * log((double)n);
        if (criterion < least) {
            least = criterion;
            best = pieces;
        }
    }
    return best;
}

size_t cal_pieces_fit(const struct cal_point *points, size_t n, struct cal_piece *pieces)
{
    struct cuts cuts;
    if (!n)
        return 0;
    cut(points, n, &cuts);
    const size_t best = best_number(&cuts, n);
    size_t end = n;
    for (size_t i = best; i > 0; i--) {
        const size_t begin = cuts.begin[i][end];
        const struct line line = line_through(points + begin, end - begin);
        pieces[i - 1] = (struct cal_piece){begin ? points[begin - 1].bytes + 1 : points[0].bytes,
                                           points[end - 1].bytes, line.latency_ns,
                                           line.ns_per_byte};
        end = begin;
    }
    return best;
}

void cal_pieces_refit(struct cal_piece *pieces, size_t n_pieces, const struct cal_point *points,
                      size_t n)
{
    size_t begin = 0;
    for (size_t i = 0; i < n_pieces; i++) {
        size_t end = begin;
        while (end < n && points[end].bytes <= pieces[i].to_bytes)
            end++;
        if (end > begin && points[begin].bytes < points[end - 1].bytes) {
            const struct line line = line_through(points + begin, end - begin);
            pieces[i].latency_ns = line.latency_ns;
            pieces[i].ns_per_byte = line.ns_per_byte;
        }
        begin = end;
    }
}

/* ---- fewer pieces ---- */

/* Of ascending points those in the sizes from one to another: the first, and how many. */
static size_t points_within(const struct cal_point *points, size_t n, int64_t from_bytes,
                            int64_t to_bytes, size_t *many)
{
    size_t begin = 0, end;
    while (begin < n && points[begin].bytes < from_bytes)
        begin++;
    for (end = begin; end < n && points[end].bytes <= to_bytes; end++)
        ;
    *many = end - begin;
    return begin;
}

/* Two neighbours as one piece, and what that adds to the error. A line through no point, or one
 * size, is no better than the first one's. */
static double joined(const struct cal_piece *two, const struct cal_point *points, size_t n,
                     struct cal_piece *piece)
{
    size_t many;
    const size_t begin = points_within(points, n, two[0].from_bytes, two[1].to_bytes, &many);
    const struct cal_point *inside = points + begin;
    double apart = 0;
    *piece = two[0];
    piece->to_bytes = two[1].to_bytes;
    for (size_t i = 0; i < many; i++) {
        const struct cal_piece *own = &two[inside[i].bytes > two[0].to_bytes];
        const double fitted = own->latency_ns + (double)inside[i].bytes * own->ns_per_byte;
        apart += (fitted / inside[i].ns - 1) * (fitted / inside[i].ns - 1);
    }
    if (many < 2 || inside[0].bytes == inside[many - 1].bytes)
        return 0;
    const struct line line = line_through(inside, many);
    piece->latency_ns = line.latency_ns;
    piece->ns_per_byte = line.ns_per_byte;
    return line.error - apart;
}

size_t cal_pieces_merge(struct cal_piece *pieces, size_t n_pieces, size_t most,
                        const struct cal_point *points, size_t n)
{
    while (n_pieces > most && n_pieces > 1) {
        struct cal_piece best = {0};
        double least = INFINITY;
        size_t at = 0;
        for (size_t i = 0; i + 1 < n_pieces; i++) {
            struct cal_piece piece;
            const double cost = joined(&pieces[i], points, n, &piece);
            if (cost < least) {
                least = cost;
                best = piece;
                at = i;
            }
        }
        pieces[at] = best;
        for (size_t i = at + 1; i + 1 < n_pieces; i++)
            pieces[i] = pieces[i + 1];
        n_pieces--;
    }
    return n_pieces;
}

/* ---- what they tell ---- */

static const struct cal_piece *piece_of(const struct cal_piece *pieces, size_t n, int64_t bytes)
{
    size_t i = 0;
    while (i + 1 < n && bytes > pieces[i].to_bytes)
        i++;
    return &pieces[i];
}

double cal_pieces_ns(const struct cal_piece *pieces, size_t n, int64_t bytes)
{
    const struct cal_piece *piece = piece_of(pieces, n, bytes);
    return piece->latency_ns + (double)bytes * piece->ns_per_byte;
}

double cal_pieces_ns_per_byte(const struct cal_piece *pieces, size_t n)
{
    enum { FROM = 14, TO = 24, SIZES = TO - FROM + 1 };
    double ns[SIZES];
    for (int i = 0; i < SIZES; i++)
        ns[i] = piece_of(pieces, n, INT64_C(1) << (FROM + i))->ns_per_byte;
    qsort(ns, SIZES, sizeof *ns, compare);
    return ns[SIZES / 2];
}
