/* pieces.h - how long messages take, by size: lines that hold for a range of sizes each.
 *
 * An MPI sends messages of different sizes in different ways, and within each of them time grows
 * evenly with size. Where one way ends is not known before, so the sizes between which the pieces
 * break are those for which the lines fit the measurements best: piecewise linear regression of the
 * relative errors, with the number of pieces that Bayes' information criterion chooses.
 */
#ifndef RFN_CALIBRATE_PIECES_H
#define RFN_CALIBRATE_PIECES_H

#include <stddef.h>
#include <stdint.h>

enum { CAL_MOST_POINTS = 128, CAL_MOST_PIECES = 8, CAL_LEAST_POINTS = 4 /* of a piece */ };

/* A measurement. */
struct cal_point {
    int64_t bytes;
    double ns; /* more than 0 */
};

/* Messages from one size to another take latency_ns + bytes * ns_per_byte; neither is negative. */
struct cal_piece {
    int64_t from_bytes, to_bytes;
    double latency_ns, ns_per_byte;
};

/* Leaves out the points that took a quarter longer than the middle one of the five sizes around
 * them, and than the size before lets expect at most: something else held these messages up.
 * Returns how many are left, in front. */
size_t cal_points_undisturbed(struct cal_point *points, size_t n);

/* Fits pieces to n points of ascending sizes, at most CAL_MOST_POINTS. The first begins with the
 * first point, the last ends with the last one, and each other one begins a byte behind the one
 * before, which ends with a point. Returns how many pieces there are, at most CAL_MOST_PIECES; 0
 * without points. */
size_t cal_pieces_fit(const struct cal_point *points, size_t n, struct cal_piece *pieces);

/* Gives each piece the line that fits all of these points best that lie in it, in place of its own;
 * where it ends stays. A piece with fewer than two sizes stays as it is. Ascending sizes, any
 * number of points of each. */
void cal_pieces_refit(struct cal_piece *pieces, size_t n_pieces, const struct cal_point *points,
                      size_t n);

/* Joins neighbours into one piece until at most `most` are left: those first whose common line
 * costs least, in squared relative errors at the points that lie in both. Points as for
 * cal_pieces_refit. Returns how many pieces there are. */
size_t cal_pieces_merge(struct cal_piece *pieces, size_t n_pieces, size_t most,
                        const struct cal_point *points, size_t n);

/* How long a message takes. There is a piece; beyond the last one that one holds. */
double cal_pieces_ns(const struct cal_piece *pieces, size_t n, int64_t bytes);

/* What each byte of a large message takes: the median of the pieces' at 16 KiB, 32 KiB ... 16 MiB.
 */
double cal_pieces_ns_per_byte(const struct cal_piece *pieces, size_t n);

#endif
