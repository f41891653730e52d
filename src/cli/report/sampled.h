/* sampled.h - what samples say of messages, by what they have in common.
 *
 * Senders count every message in rows without a site of receive; rows with one hold the latencies
 * of those that were sampled (refrain/sampling.h). Rows with something in common make a group. Its
 * messages are those that senders counted or, where a group is about the place of receive and there
 * are several for one sender, a part of them, by the weights of the samples. What was sent without
 * any sample is a group, too, without latencies.
 *
 * Rows that were given up for want of room are of any ranks, and their messages and samples are
 * missing in the groups they were of. Messages and bytes of pairs, of sizes and of all are counted
 * apart (rfn_samples.counts): these groups have exact numbers all the same. Where the rows of two
 * ranks and a size have less than was counted apart, their categories say that they lack some.
 */
#ifndef RFN_CLI_REPORT_SAMPLED_H
#define RFN_CLI_REPORT_SAMPLED_H

#include "refrain/sampling.h"

/* What is in common. All but the last are about messages. */
enum rfn_sampled_by {
    RFN_SAMPLED_ALL,        /* everything */
    RFN_SAMPLED_CATEGORY,   /* ranks, call sites, size: a category */
    RFN_SAMPLED_PAIR,       /* ranks */
    RFN_SAMPLED_SITES,      /* call sites of send and receive */
    RFN_SAMPLED_SIZE,       /* size class */
    RFN_SAMPLED_COLLECTIVE, /* the call site, of collective calls */
    RFN_SAMPLED_BYS
};

/* Bins of a histogram, four in each octave of the latency: so many of the samples' buckets each. */
enum { RFN_SAMPLED_BIN_BUCKETS = RFN_SAMPLE_OCTAVE / 4 };
enum { RFN_SAMPLED_BINS = RFN_SAMPLE_BUCKETS / RFN_SAMPLED_BIN_BUCKETS };

/* The lower limit of a bin, in ns; the upper one is that of bin + 1. */
static inline double rfn_sampled_bin_ns(unsigned bin)
{
    return rfn_sample_bucket_ns(bin * RFN_SAMPLED_BIN_BUCKETS);
}

struct rfn_sampled {
    struct rfn_sample_key key; /* what is in common; ANY, OTHER_SITE, ANY_SIZE for the rest. receive
                                  is NO_SITE where no message of the category was sampled */
    double messages, bytes;
    bool estimated; /* they are, or are too few; else they were counted */
    bool partial;   /* messages or samples of it may be in rows of any ranks, for want of room */
    uint64_t n, clean;
    struct rfn_sample_interval mean, median, p99; /* NAN where it is not known */
    double deviation_ns, min_ns, max_ns;          /* NAN without a sample, ... */
    double waited_ns, lay_ns;                     /* on average */
    double clean_min_ns;                          /* NAN without a clean one */
    double bins[RFN_SAMPLED_BINS];                /* shares of the messages; zeros without a
                                                     histogram */
};

struct rfn_sampled_list {
    struct rfn_sampled *items; /* by size: the smallest first, else the longest 99th percentile,
                                  then the longest mean */
    size_t n;
    const struct rfn_sampled **by_key; /* the same, in order of their keys */
};

/* The groups of the rows that `shows` takes by their keys (NULL: all). *list is to be released.
 * RFN_E_NOMEM. */
int rfn_sampled_list(struct rfn_sampled_list *list, const struct rfn_samples *samples,
                     enum rfn_sampled_by by,
                     bool (*shows)(const void *context, const struct rfn_sample_key *key),
                     const void *context);
void rfn_sampled_release(struct rfn_sampled_list *list);

/* The group with the same key; NULL: there is none. */
const struct rfn_sampled *rfn_sampled_find(const struct rfn_sampled_list *list,
                                           const struct rfn_sample_key *key);

/* Of how many intervals of categories (mean, median, 99th percentile) how many contain what all
 * messages have; intervals without both ends are none. */
struct rfn_sampled_coverage {
    uint64_t intervals, contain;
};
struct rfn_sampled_coverage rfn_sampled_coverage(const struct rfn_sampled_list *categories,
                                                 const struct rfn_sampled_list *all);
/* By which part of it a value may be off: rounding, and half of a histogram's bucket. */
#define RFN_SAMPLED_MEAN_OFF     1e-12
#define RFN_SAMPLED_QUANTILE_OFF (0.5 / RFN_SAMPLE_OCTAVE)
/* Whether an interval contains a value that may be off. */
bool rfn_sampled_contains(const struct rfn_sample_interval *interval, double value, double off);

#endif
