/* Relative difference: each pair differs by at most a share of the larger one (Mohror, Eq. 1). */
#include "reduce/similarity.h"

static double amount(double a)
{
    return a < 0 ? -a : a;
}

/* Vectors have no negative elements, unless clocks ran backwards: then the larger amount counts. */
static double difference(double a, double b)
{
    double larger = rfn_larger(amount(a), amount(b));
    return larger > 0 ? amount(a - b) / larger : 0;
}

static bool near(const double *a, const double *b, size_t n, double allowed)
{
    for (size_t i = 0; i < n; i++) {
        if (difference(a[i], b[i]) > allowed)
            return false;
    }
    return true;
}

static double allowed(double threshold, double largest)
{
    (void)largest;
    return threshold;
}

const struct rfn_similarity rfn_rel_diff = {.name = "relDiff",
                                            .unit = "",
                                            .within = 0.8,
                                            .across = 0.8,
                                            .difference = difference,
                                            .near = near,
                                            .allowed = allowed};
