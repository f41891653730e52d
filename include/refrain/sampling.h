/* sampling.h - latencies of messages from a sample: which messages are chosen, the data kept of
 * them, and how sure an estimate is.
 *
 * A long run sends too many messages to keep them all. A sampler measures some, at random or by a
 * rule (struct rfn_sample_strategy), and adds each to a row per category: source, destination, call
 * site of the send and of the receive, size class (Vetter 2001, 3). It counts all messages and
 * their bytes exactly. The latency of a message is the time from the start of the send to the end
 * of the call that completes its receive.
 *
 * The recorder samples while a program runs (`refrain record --sample`), and `refrain sample` does
 * the same with the messages of a full archive: both choose the same messages. doc/sampling.md has
 * the rules and the statistics.
 */
#ifndef REFRAIN_SAMPLING_H
#define REFRAIN_SAMPLING_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- which messages are measured ---- */

enum rfn_sample_kind {
    RFN_SAMPLE_OFF,
    RFN_SAMPLE_RANDOM,   /* each with the same probability */
    RFN_SAMPLE_ADAPTIVE, /* the first of each channel, then ever fewer */
    RFN_SAMPLE_COUNTER,  /* of a rank's sends every N-th, give or take V */
    RFN_SAMPLE_TIMER     /* the first send when a time T, give or take V, has passed since the last
                            sampled one */
};

struct rfn_sample_strategy {
    enum rfn_sample_kind kind;
    double rate;       /* RANDOM: 0 < rate <= 1 */
    uint64_t period;   /* COUNTER: messages; TIMER: ns; ADAPTIVE: messages that are all measured */
    uint64_t variance; /* V, in the same unit; less than the period */
    uint64_t seed;     /* the same on all ranks */
};

/* Reads "off", "random:0.01", "adaptive", "adaptive:N", "counter:100", "counter:100+-10" (or the
 * sign for plus or minus in UTF-8), "timer:1ms+-100us". The seed stays as it is. RFN_E_USAGE: *diag
 * says what a strategy is. */
int rfn_sample_strategy_parse(const char *text, struct rfn_sample_strategy *strategy,
                              struct rfn_diag *diag);
enum { RFN_SAMPLE_TEXT = 64 };
/* The same text in its shortest form. */
void rfn_sample_strategy_text(const struct rfn_sample_strategy *strategy,
                              char text[RFN_SAMPLE_TEXT]);

/* ---- the data kept ---- */

enum rfn_sample_analysis {
    RFN_SAMPLE_STAT, /* count, least, greatest, mean, deviation */
    RFN_SAMPLE_FREQ, /* these and a histogram */
    RFN_SAMPLE_WRITE /* these and the samples themselves */
};

/* Histogram of latencies: 32 buckets in each octave from 64 ns to 2^36 ns (69 s). A quantile is
 * wrong by at most 1.6 %. Shorter and longer latencies are in the first and the last bucket. */
enum { RFN_SAMPLE_OCTAVE = 32, RFN_SAMPLE_FIRST_BIT = 6, RFN_SAMPLE_LAST_BIT = 36 };
enum { RFN_SAMPLE_BUCKETS = RFN_SAMPLE_OCTAVE * (RFN_SAMPLE_LAST_BIT - RFN_SAMPLE_FIRST_BIT) };

static inline unsigned rfn_sample_bucket(double ns)
{
    union {
        double value;
        uint64_t bits;
    } of = {.value = ns};
    const int64_t bucket = (int64_t)(of.bits >> (52 - 5)) -
                           (1023 + RFN_SAMPLE_FIRST_BIT) * RFN_SAMPLE_OCTAVE;
    return bucket < 0 || !(ns > 0)        ? 0
           : bucket >= RFN_SAMPLE_BUCKETS ? RFN_SAMPLE_BUCKETS - 1
                                          : (unsigned)bucket;
}

/* The lower limit of a bucket in ns, for numbers up to RFN_SAMPLE_BUCKETS: the inverse of
 * rfn_sample_bucket. */
static inline double rfn_sample_bucket_ns(unsigned bucket)
{
    const union {
        uint64_t bits;
        double value;
    } of = {.bits = (uint64_t)(bucket + (1023 + RFN_SAMPLE_FIRST_BIT) * RFN_SAMPLE_OCTAVE)
                    << (52 - 5)};
    return of.value;
}

/* In place of a rank. */
enum {
    RFN_SAMPLE_ANY = -1,       /* several: there was no room for each */
    RFN_SAMPLE_COLLECTIVE = -2 /* as destination: no message, but calls of a collective operation;
                                  the latency is the time in the call */
};

/* Collective calls are sampled like messages of a rank to itself with this tag. Their position is
 * how many the rank made on the communicator before. COUNTER and TIMER decide about them by a
 * sampler of their own: of sends it stays every N-th. Bytes are the call's count and datatype (of
 * the send buffer, where there are two); 0 where they are lists, or mean nothing on the rank. */
#define RFN_SAMPLE_COLLECTIVE_TAG (-1000)

/* Whether calls of a function (enum rfn_class, enum rfn_function_flag) are sampled so: those that
 * move data or synchronize, blocking or not. */
static inline bool rfn_sample_is_collective(uint8_t class_, uint8_t flags)
{
    return class_ >= RFN_CLASS_BARRIER && class_ <= RFN_CLASS_NEIGHBOR &&
           !(flags & RFN_FUNCTION_PERSISTENT);
}

/* A call site. In an archive a function and a path of its, in the recorder hashes. */
#define RFN_SAMPLE_NO_SITE    UINT64_C(0)
#define RFN_SAMPLE_OTHER_SITE UINT64_MAX /* several: there was no room for each */

static inline uint64_t rfn_sample_site(uint32_t function, uint32_t path)
{
    return ((uint64_t)function << 32 | path) + 1;
}
static inline uint32_t rfn_sample_function(uint64_t site)
{
    return (uint32_t)((site - 1) >> 32);
}
static inline uint32_t rfn_sample_path(uint64_t site)
{
    return (uint32_t)(site - 1);
}

/* Sizes are classed by powers of two: class 0 has messages without data, class c messages of
 * 2^(c-1) to 2^c - 1 bytes. */
static inline uint8_t rfn_sample_size_class(uint64_t bytes)
{
    return bytes ? (uint8_t)(64 - __builtin_clzll(bytes)) : 0;
}
static inline uint64_t rfn_sample_bytes_from(uint8_t size_class)
{
    return size_class ? UINT64_C(1) << (size_class - 1) : 0;
}

enum { RFN_SAMPLE_ANY_SIZE = 255 };

struct rfn_sample_key {
    int32_t source, dest;   /* ranks of MPI_COMM_WORLD */
    uint64_t send, receive; /* call sites. receive is NO_SITE in rows that senders count, and of
                               collective calls */
    uint8_t size_class;
};

/* A category. Senders count all messages: rows without a site of receive have `messages` and
 * `bytes`. Receivers know the latencies of sampled messages: rows with one have the rest. A sample
 * has a weight, 1 / the probability with which it was chosen; 1 where that is unknown. */
struct rfn_sample_row {
    struct rfn_sample_key key;
    uint64_t messages, bytes;
    uint64_t n;                         /* samples */
    double weight, weight2;             /* sums of w, w^2 */
    double sampled_bytes;               /* sum of w bytes */
    double mean_ns, moment2;            /* sum w x / sum w; sum w (x - mean)^2 */
    double min_ns, max_ns;              /* of the latency */
    double waited_ns, lay_ns;           /* sums of w x: how long the receiver waited for the send
                                           to begin, or the message for its receive */
    uint64_t clean;                     /* samples that show the network: posted before the send
                                           began, and the receiver waited in MPI */
    double clean_min_ns, clean_sum_ns;  /* without weights */
    double buckets[RFN_SAMPLE_BUCKETS]; /* sums of w */
};

/* How many messages a rank sent to another one, of a size class, and how many of them were sampled:
 * exact, whatever became of the categories. Where there was no room for a pair of ranks, both are
 * RFN_SAMPLE_ANY; then any pair may have more messages than its rows say. Collective calls are in
 * categories only. */
struct rfn_sample_count {
    int32_t source, dest;
    uint8_t size_class;
    uint64_t messages, bytes, samples;
};

/* One message. Times are ns as the events of an archive have them. */
struct rfn_sample {
    int32_t source, dest;
    uint64_t send, receive; /* call sites */
    uint64_t bytes;
    uint64_t channel, position; /* rfn_sample_channel; how many messages went before it there */
    double weight;
    int64_t sent_ns;     /* the start of the send */
    int64_t posted_ns;   /* the call that posted the receive entered */
    int64_t entered_ns;  /* the call that completed it entered, */
    int64_t received_ns; /* and left */
};

static inline double rfn_sample_latency_ns(const struct rfn_sample *sample)
{
    return (double)sample->received_ns - (double)sample->sent_ns;
}

/* Why messages that were chosen are no samples. */
enum rfn_sample_drop {
    RFN_SAMPLE_ONE_SIDED, /* only one end chose it: the rate was being changed */
    RFN_SAMPLE_NO_ROOM,   /* there was no memory to keep an end until the other one came */
    RFN_SAMPLE_UNCERTAIN, /* threads, cancelled sends: it is not certain which receive is its */
    RFN_SAMPLE_DISAGREE,  /* the ends differ in their bytes */
    RFN_SAMPLE_FOREIGN,   /* the other end is another job's, or on a node with another clock */
    RFN_SAMPLE_DROPS
};

/* ---- the samples of an archive ---- */

struct rfn_samples {
    bool known; /* whether the archive has samples; the rest is empty otherwise */
    bool alone; /* events were not recorded: there is no trace beside the samples */
    enum rfn_sample_analysis analysis;
    char strategy[RFN_SAMPLE_TEXT]; /* of the start */
    bool changed;                   /* while the program ran */
    char *where;                    /* which messages, as --sample-where has it; "": all */
    uint64_t messages, bytes, sampled;
    uint64_t dropped[RFN_SAMPLE_DROPS];
    struct rfn_sample_row *rows; /* sites are functions and paths of the archive */
    size_t n_rows;
    struct rfn_sample_count *counts; /* by pair and size; NULL: an older archive has none */
    size_t n_counts;
    struct rfn_sample *samples; /* with WRITE; by receiver, in the order of their ends */
    size_t n_samples;
};

/* Reads the samples. *samples is to be released, also after an error. RFN_E_CORRUPT, RFN_E_NOMEM,
 * errors of reading. */
int rfn_samples_read(const struct rfn_archive *archive, struct rfn_samples *samples,
                     struct rfn_diag *diag);
/* The same without `samples`, the messages one by one, which may be many. */
int rfn_samples_read_rows(const struct rfn_archive *archive, struct rfn_samples *samples,
                          struct rfn_diag *diag);
void rfn_samples_release(struct rfn_samples *samples);

/* Samples the messages of a full archive as the recorder would have: the same messages, with the
 * latencies that they have in the archive. With WRITE the samples are kept. *samples is to be
 * released, also after an error. RFN_E_UNSUPPORTED: the archive has no times of all its events;
 * RFN_E_NOMEM; errors of rfn_match_run: then messages that could be read are sampled. Memory grows
 * with channels, categories and messages under way, with WRITE also with samples. */
int rfn_samples_take(const struct rfn_archive *archive, const struct rfn_sample_strategy *strategy,
                     enum rfn_sample_analysis analysis, struct rfn_samples *samples,
                     struct rfn_diag *diag);

/* ---- estimates ---- */

struct rfn_sample_interval {
    double value, low, high; /* NAN: the samples are too few to say */
};

/* 95 % intervals for all messages of a category. `messages` is how many there are in the
 * population (a real number: of a category that senders did not count it is an estimate; 0: not
 * known). Weighted means by Student's t; of quantiles order statistics (Wilks), by the binomial
 * distribution; n is (sum w)^2 / sum w^2. Both have the correction for a finite population: where
 * all messages were sampled, the interval of a mean is the value. A quantile is the middle of its
 * bucket. Its interval has at least that bucket, and is NAN on a side where the samples are too few
 * to say, as of p99 above, with less than 368 of many messages. 0 < q < 1; without a histogram all
 * is NAN. */
struct rfn_sample_interval rfn_sample_mean(const struct rfn_sample_row *row, double messages);
struct rfn_sample_interval rfn_sample_quantile(const struct rfn_sample_row *row, double q,
                                               double messages);
/* Of the messages, not of the mean. NAN with less than two samples. */
double rfn_sample_deviation_ns(const struct rfn_sample_row *row);

/* Adds the numbers of `from` to `to`, whose key stays. */
void rfn_sample_row_add(struct rfn_sample_row *to, const struct rfn_sample_row *from);

#pragma GCC visibility pop

#endif
