/* similarity.h - when two segments went alike (Mohror 2010, 4.3; doc/trace-profiling.md).
 *
 * A segment's vector is 0, the enter and exit of each of its events since its start, and its end,
 * in nanoseconds. Only vectors of segments of equal context and equal events are compared, so they
 * are equally long. Methods that measure are one test in four parts:
 *
 *     transform both vectors; take the difference of each pair of elements; combine the differences
 * (add them, or take the largest); compare with what the threshold allows for the larger of both
 * vectors' largest elements.
 *
 * An index finds what is similar without testing everything (vector_index.h). For that, a
 * difference must not fall when its arguments move apart, and what is allowed must not fall when
 * the largest element grows. The other methods (iterK, iterAvg) do not look at the vectors: they
 * keep the first segments of a kind.
 *
 * Each method is a constant in similarity_methods.c, and listed in similarity.c; rfn_manhattan is
 * the one to copy.
 */
#ifndef RFN_REDUCE_SEGMENTS_SIMILARITY_H
#define RFN_REDUCE_SEGMENTS_SIMILARITY_H

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rfn_similarity {
    const char *name;
    const char *unit; /* of the threshold, "" for a plain number */
    double within,
        across; /* default thresholds; across is negative where the method makes no sense */

    /* ---- methods that measure; the others have no difference ---- */

    /* How long the transform of a vector of n elements is; NULL: there is no transform. */
    size_t (*transformed)(size_t n);
    /* Transforms in place; `n` is that length, elements behind the vector's end are 0. */
    void (*transform)(double *vector, size_t n);
    double (*difference)(double a, double b); /* of one pair of elements, not negative */
    bool added;                               /* differences are added; else the largest counts */
    /* Whether the combined difference of n pairs is at most this: the above in one loop, as
     * segments are compared all the time. The order of a and b does not matter. */
    bool (*near)(const double *a, const double *b, size_t n, double allowed);
    /* The largest combined difference of similar vectors. largest: of all elements of both. */
    double (*allowed)(double threshold, double largest);
    uint64_t more_ns; /* what is added to the largest element and to lengths before that; segments
                         that are shorter are kept as averages */
    /* Segments that are one-way (rfn_roles_one_way) are similar at so many times the threshold, are
     * kept as averages, and start within `one_way_starts` times the tolerance. 0: they are like
     * others. */
    double one_way;
    unsigned one_way_starts;
    bool stretched; /* a segment lasts until the next one starts, and what is in it is moved in
                       proportion */

    /* ---- methods that keep the first ---- */

    uint32_t (*kept)(double threshold); /* so many segments of a kind */
    bool averages;                      /* the representative is the average of all; kept() is 1 */

    /* ---- not a method: what executed the same segments shares times, whatever they are ---- */

    bool all_alike; /* across processes only */
};

extern const struct rfn_similarity rfn_one_of_class;
extern const struct rfn_similarity rfn_rel_diff, rfn_abs_diff, rfn_manhattan, rfn_euclidean,
    rfn_chebyshev, rfn_avg_wave, rfn_haar_wave, rfn_iter_k, rfn_iter_avg, rfn_jitter;

/* All methods, in the order of the paper, then our own. NULL from the end on. */
const struct rfn_similarity *rfn_similarity_method(size_t i);

/* What iterK's later executions refer to. */
enum rfn_later { RFN_LATER_LAST, RFN_LATER_AVERAGE, RFN_LATER_CENTROID };

/* A method and its threshold. */
struct rfn_criterion {
    const struct rfn_similarity *method;
    double threshold;
    enum rfn_later later;
    double more; /* the method's more_ns; in other units if the vectors are in others */
};

/* Reads "METHOD", "METHOD:THRESHOLD" or "iterK:K:average" (or centroid). Thresholds are numbers
 * from 0 on, K and absDiff's too; without one it is the default within a process, or across, if
 * `across`. RFN_E_USAGE; *diag then says what is possible. */
int rfn_criterion_parse(const char *text, bool across, struct rfn_criterion *criterion,
                        struct rfn_diag *diag);

/* The same across processes, where there is also "one": one process's times stand for all of its
 * class (process_groups.h). */
int rfn_across_parse(const char *text, struct rfn_criterion *criterion, struct rfn_diag *diag);

/* The criterion as text that parse reads, with its threshold: "avgWave:0.2". */
enum { RFN_CRITERION_TEXT = 64 };
void rfn_criterion_text(const struct rfn_criterion *criterion, char text[RFN_CRITERION_TEXT]);

/* ---- applying a method that measures ---- */

/* A transformed vector. */
struct rfn_wave {
    const double *elements;
    double largest; /* of the elements */
};

/* (fmax is a call into the mathematics library, which the recorder does without.) */
static inline double rfn_larger(double a, double b)
{
    return a > b ? a : b;
}

/* What is allowed of vectors with this largest element. */
static inline double rfn_criterion_allowed(const struct rfn_criterion *criterion, double largest)
{
    return criterion->method->allowed(criterion->threshold, largest + criterion->more);
}

/* How many elements the transform of a vector of n has. */
size_t rfn_similarity_length(const struct rfn_similarity *method, size_t n);
/* Transforms n numbers into `elements`, which has room for rfn_similarity_length() of them. Returns
 * the largest element. */
double rfn_similarity_transform(const struct rfn_similarity *method, const int64_t *vector,
                                size_t n, double *elements);
/* Whether two transformed vectors of `length` elements are similar. The order of a and b does not
 * matter. */
bool rfn_similar(const struct rfn_criterion *criterion, const struct rfn_wave *a,
                 const struct rfn_wave *b, size_t length);
/* The combined difference, as it is compared with what is allowed (for euclidean distances:
 * squared). */
double rfn_similarity_distance(const struct rfn_similarity *method, const double *a,
                               const double *b, size_t length);

#endif
