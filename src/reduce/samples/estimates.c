/* What a sample says of all messages, and how sure it is; the formulas are in doc/sampling.md. */
#include "refrain/sampling.h"

#include <assert.h>
#include <math.h>

/* Two-sided intervals of 95 %: of the normal distribution Z is the 97.5 % quantile. */
static const double ALPHA = 0.05, Z = 1.959963984540054;

static const struct rfn_sample_interval unknown = {NAN, NAN, NAN};

/* ---- distributions ----
 *
 * The recorder is linked without the mathematical library, and this is part of what it contains.
 */

/* Newton's method (Heron's), from half the exponent on. */
static double square_root(double x)
{
    union {
        double value;
        uint64_t bits;
    } root = {.value = x};
    if (!(x > 0))
        return 0;
    root.bits = (root.bits >> 1) + (UINT64_C(1023) << 51); /* within 6 % */
    for (int i = 0; i < 5; i++)
        root.value = 0.5 * (root.value + x / root.value);
    return root.value;
}

/* The 97.5 % quantile of Student's t. From 10 degrees of freedom on Fisher's expansion
 * (Abramowitz and Stegun, 26.7.5) is right to 0.00001; below it are the values of tables. */
static double student_t(double degrees)
{
    static const double few[] = {12.7062047, 4.3026527, 3.1824463, 2.7764451, 2.5705818,
                                 2.4469119,  2.3646243, 2.3060041, 2.2621572};
    enum { FEW = sizeof few / sizeof *few };
    if (degrees < FEW + 1)
        return few[degrees < 1 ? 0 : (int)degrees - 1];
    const double z2 = Z * Z, part = 1 / degrees;
    const double g1 = (z2 + 1) * Z / 4;
    const double g2 = ((5 * z2 + 16) * z2 + 3) * Z / 96;
    const double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * Z / 384;
    const double g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * Z / 92160;
    return Z + (((g4 * part + g3) * part + g2) * part + g1) * part;
}

/* The quantile ALPHA / 2 or 1 - ALPHA / 2 of the binomial distribution: the least k that has so
 * much of it at or below. n is a whole number.
 *
 * Terms are taken relative to the one at the mode; each gives the next. Where there are many, the
 * normal distribution corrected for skewness (Cornish and Fisher) is right to 1. */
static double binomial_quantile(double n, double q, bool upper)
{
    static const double MANY = 1e4, NOTHING = 1e-20;
    const double variance = n * q * (1 - q), odds = q / (1 - q);
    if (variance > MANY) {
        const double deviations = upper ? Z : -Z;
        return (double)(int64_t)(n * q + deviations * square_root(variance) +
                                 (Z * Z - 1) * (1 - 2 * q) / 6 + 0.5);
    }
    double mode = (double)(uint64_t)((n + 1) * q);
    mode = mode < n ? mode : n;
    double k = mode, term = 1, total = 1;
    for (; k < n && term > NOTHING; k++)
        total += term *= (n - k) / (k + 1) * odds;
    for (k = mode, term = 1; k > 0 && term > NOTHING; k--)
        total += term *= k / ((n - k + 1) * odds);
    const double wanted = total * (upper ? 1 - ALPHA / 2 : ALPHA / 2);
    for (double reached = term; k < n && reached < wanted; k++)
        reached += term *= (n - k) / (k + 1) * odds;
    return k;
}

/* ---- samples ---- */

/* How many samples of equal weights are as good: Kish, Survey sampling, 1965, 11.7. */
static double effective_samples(const struct rfn_sample_row *row)
{
    const double n = row->weight * row->weight / row->weight2;
    return n < (double)row->n ? n : (double)row->n;
}

static bool all_sampled(const struct rfn_sample_row *row, double messages)
{
    return messages > 0 && (double)row->n >= messages;
}

/* Variances are less by 1 - n / N, as of n of N nothing is left to chance: Cochran, Sampling
 * techniques, 1977, 2.6. Above 0; 1 where N is not known. */
static double left_to_chance(double n, double messages)
{
    static const double LEAST = 1e-12;
    if (!(messages > 0))
        return 1;
    const double left = 1 - n / messages;
    return left > LEAST ? left : LEAST;
}

double rfn_sample_deviation_ns(const struct rfn_sample_row *row)
{
    if (row->n < 2)
        return NAN;
    const double n = effective_samples(row);
    return n > 1 ? square_root(row->moment2 / row->weight * (n / (n - 1))) : NAN;
}

struct rfn_sample_interval rfn_sample_mean(const struct rfn_sample_row *row, double messages)
{
    if (!row->n)
        return unknown;
    const double mean = row->mean_ns, n = effective_samples(row);
    if (all_sampled(row, messages))
        return (struct rfn_sample_interval){mean, mean, mean};
    if (!(n >= 2))
        return (struct rfn_sample_interval){mean, NAN, NAN};
    const double half = student_t(n - 1) * rfn_sample_deviation_ns(row) *
                        square_root(left_to_chance(n, messages) / n);
    /* A latency is not negative, except where clocks are wrong. */
    const double low = row->min_ns >= 0 && mean >= 0 && mean < half ? 0 : mean - half;
    return (struct rfn_sample_interval){mean, low, mean + half};
}

/* ---- quantiles ---- */

/* What the bucket can have in it, as no sample is less than min_ns or more than max_ns. A row of a
 * damaged file may have samples in buckets where none can be. */
struct stretch {
    double from_ns, to_ns;
};

static struct stretch stretch_of(const struct rfn_sample_row *row, unsigned bucket)
{
    struct stretch of = {row->min_ns, row->max_ns};
    if (bucket > 0 && rfn_sample_bucket_ns(bucket) > of.from_ns)
        of.from_ns = rfn_sample_bucket_ns(bucket);
    if (bucket + 1 < RFN_SAMPLE_BUCKETS && rfn_sample_bucket_ns(bucket + 1) < of.to_ns)
        of.to_ns = rfn_sample_bucket_ns(bucket + 1);
    of.to_ns = of.to_ns > of.from_ns ? of.to_ns : of.from_ns;
    return of;
}

/* The bucket that has a weight at or below which the lowest samples have `weight`, and which share
 * of its own they reach; RFN_SAMPLE_BUCKETS without a histogram. */
static unsigned find_bucket(const struct rfn_sample_row *row, double weight, double *share)
{
    unsigned found = RFN_SAMPLE_BUCKETS;
    double below = 0;
    for (unsigned i = 0; i < RFN_SAMPLE_BUCKETS; i++) {
        if (!(row->buckets[i] > 0))
            continue;
        found = i;
        *share = (weight - below) / row->buckets[i];
        below += row->buckets[i];
        if (below >= weight)
            break;
    }
    *share = *share < 1 ? *share : 1;
    return found;
}

/* The order statistic k of n, as if samples lay evenly in their bucket. */
static double order_statistic_ns(const struct rfn_sample_row *row, double total, double k, double n)
{
    double share = 0;
    const unsigned bucket = find_bucket(row, (k - 0.5) / n * total, &share);
    const struct stretch of = stretch_of(row, bucket);
    return of.from_ns + (of.to_ns - of.from_ns) * share;
}

/* As many samples of a population without end tell as much. */
static double whole_samples(const struct rfn_sample_row *row, double messages)
{
    static const double MOST = 0x1p50;
    const double effective = effective_samples(row);
    const double n = effective / left_to_chance(effective, messages);
    return n < MOST ? (double)(uint64_t)n : MOST;
}

/* The quantile lies between the order statistics l and u if at least l and less than u of the n
 * samples are at or below it. Many may be equal, anywhere in their bucket: so the interval has at
 * least the whole bucket of the estimate. */
struct rfn_sample_interval rfn_sample_quantile(const struct rfn_sample_row *row, double q,
                                               double messages)
{
    assert(q > 0 && q < 1);
    double total = 0, share = 0;
    for (unsigned i = 0; i < RFN_SAMPLE_BUCKETS; i++)
        total += row->buckets[i];
    const unsigned bucket = find_bucket(row, q * total, &share);
    if (!row->n || bucket == RFN_SAMPLE_BUCKETS)
        return unknown;
    const struct stretch of = stretch_of(row, bucket);
    const double value = (of.from_ns + of.to_ns) / 2;
    struct rfn_sample_interval interval = {value, of.from_ns, of.to_ns};
    if (all_sampled(row, messages))
        return interval;
    const double n = whole_samples(row, messages);
    const double l = binomial_quantile(n, q, false), u = binomial_quantile(n, q, true) + 1;
    const double low = l < 1 ? NAN : order_statistic_ns(row, total, l, n);
    const double high = u > n ? NAN : order_statistic_ns(row, total, u, n);
    interval.low = low > of.from_ns ? of.from_ns : low;
    interval.high = high < of.to_ns ? of.to_ns : high;
    return interval;
}

/* ---- sums ---- */

/* Mean and sum of squares: Chan, Golub and LeVeque, Updating formulae, 1979. */
static void add_moments(struct rfn_sample_row *to, const struct rfn_sample_row *from)
{
    const double further = from->mean_ns - to->mean_ns;
    const double share = from->weight / (to->weight + from->weight);
    to->mean_ns += further * share;
    to->moment2 += from->moment2 + further * further * to->weight * share;
    to->weight += from->weight;
    to->weight2 += from->weight2;
}

void rfn_sample_row_add(struct rfn_sample_row *to, const struct rfn_sample_row *from)
{
    to->messages += from->messages;
    to->bytes += from->bytes;
    if (!from->n)
        return;
    to->min_ns = to->n && to->min_ns < from->min_ns ? to->min_ns : from->min_ns;
    to->max_ns = to->n && to->max_ns > from->max_ns ? to->max_ns : from->max_ns;
    to->n += from->n;
    add_moments(to, from);
    to->sampled_bytes += from->sampled_bytes;
    to->waited_ns += from->waited_ns;
    to->lay_ns += from->lay_ns;
    if (from->clean)
        to->clean_min_ns = to->clean && to->clean_min_ns < from->clean_min_ns ? to->clean_min_ns
                                                                              : from->clean_min_ns;
    to->clean += from->clean;
    to->clean_sum_ns += from->clean_sum_ns;
    for (unsigned i = 0; i < RFN_SAMPLE_BUCKETS; i++)
        to->buckets[i] += from->buckets[i];
}
