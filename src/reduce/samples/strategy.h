/* strategy.h - which messages are sampled, decided message by message.
 *
 * A channel is (communicator, source, destination, tag); MPI delivers its messages in order. So
 * both ends know a message by its channel and its position there, and both can decide by a hash of
 * the two, without a word, whether it is sampled (RANDOM, ADAPTIVE). The other strategies look at
 * what only the sender knows; a receiver then keeps what may have been chosen until it is told.
 *
 * Hash sampling is Poisson sampling: each message is chosen independently of the others.
 */
#ifndef RFN_REDUCE_SAMPLES_STRATEGY_H
#define RFN_REDUCE_SAMPLES_STRATEGY_H

#include "refrain/sampling.h"

/* The hash of a channel: of the communicator's identity, which is equal on all its members, and
 * the ranks of both ends in MPI_COMM_WORLD. */
uint64_t rfn_sample_channel(uint64_t comm_identity, uint32_t source, uint32_t dest, int64_t tag);

/* The tag that stands for a channel of partitioned messages. MPI pairs the part-th partitioned send
 * that is made on a channel with the part-th receive, apart from all other messages: each pair is a
 * channel of its own, part from 1; RFN_SAMPLE_PARTS stands for all of them. */
enum { RFN_SAMPLE_PARTS = INT32_MAX };

static inline int64_t rfn_sample_part_tag(int64_t tag, uint32_t part)
{
    return (int64_t)((uint64_t)tag + ((uint64_t)part << 32));
}

static inline bool rfn_sample_is_part(int64_t tag)
{
    return tag > INT64_C(0xffffffff);
}

/* splitmix64's finalizer: of consecutive words it makes independent ones. */
static inline uint64_t rfn_sample_mix(uint64_t word)
{
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return word ^ word >> 31;
}

/* Whether both ends can decide. */
static inline bool rfn_sample_agrees(const struct rfn_sample_strategy *strategy)
{
    return strategy->kind == RFN_SAMPLE_RANDOM || strategy->kind == RFN_SAMPLE_ADAPTIVE;
}

/* With which probability both ends choose the message at a position of a channel. ADAPTIVE: 1
 * below `period`, then 2^-(floor(log2(position / period)) + 1). */
static inline double rfn_sample_rate(const struct rfn_sample_strategy *strategy, uint64_t position)
{
    if (__builtin_expect(strategy->kind == RFN_SAMPLE_RANDOM, 1))
        return strategy->rate;
    if (strategy->kind != RFN_SAMPLE_ADAPTIVE)
        return 0;
    if (position < strategy->period)
        return 1;
    const int octave = 63 - __builtin_clzll(position / strategy->period);
    return 1.0 / (double)(UINT64_C(2) << octave);
}

/* Whether both ends choose it. A message that is chosen at some rate is chosen at all higher ones.
 */
static inline bool rfn_sample_chosen(const struct rfn_sample_strategy *strategy, uint64_t channel,
                                     uint64_t position)
{
    const double rate = rfn_sample_rate(strategy, position);
    const uint64_t drawn = rfn_sample_mix((channel ^ strategy->seed * 0xd1342543de82ef95u) +
                                          position * 0x9e3779b97f4a7c15u);
    return (double)(drawn >> 11) * 0x1p-53 < rate;
}

/* The decisions of one sender under COUNTER and TIMER (Vetter 3.1). Zeroed, it begins with the
 * next target drawn at its first send. */
struct rfn_sampler {
    uint64_t random; /* state; the rank and the seed make the first one */
    uint64_t target; /* COUNTER: sends until the next sample. TIMER: the time of the next one, ns */
    bool begun;
};

void rfn_sampler_init(struct rfn_sampler *sampler, const struct rfn_sample_strategy *strategy,
                      uint32_t rank);
/* Whether the sender's next send, which begins at now_ns, is sampled. COUNTER draws targets from
 * period - variance to period + variance sends, equally likely; TIMER times likewise, from the
 * sampled send on. */
bool rfn_sampler_chooses(struct rfn_sampler *sampler, const struct rfn_sample_strategy *strategy,
                         int64_t now_ns);

#endif
