#include "base/grow.h"
#include "record/core/options.h"
#include "record/samples/samples_internal.h"

#include <stdlib.h>

/* Ends that wait for the other one take at most this share of --memory. Under SMPI announcements
 * come only in the end. */
#ifdef RFN_FLAVOUR_SMPI
enum { ENDS_SHARE = 2 };
#else
enum { ENDS_SHARE = 16 };
#endif
enum { KEPT_SHARE = 4, BLOCK = 256 };

/* Ends in blocks; those that are free are a list. */
struct block {
    struct block *next;
    struct rec_message_end ends[BLOCK];
};

static struct rfn_map channels; /* by hash */
static struct block *blocks;
static size_t n_blocks;
static bool full; /* no further channel: later messages of one would count from 0 */
static struct rec_message_end *free_ends;
static struct rfn_raw_sample *kept;
static size_t n_kept, kept_capacity;

/* ---- room for ends ---- */

static bool make_block(void)
{
    struct block *block = NULL;
    if ((n_blocks + 1) * sizeof *block <= rec_options.memory_bytes / ENDS_SHARE)
        block = malloc(sizeof *block);
    if (!block)
        return false;
    block->next = blocks;
    blocks = block;
    n_blocks++;
    for (size_t i = 0; i < BLOCK; i++) {
        block->ends[i].next = free_ends;
        free_ends = &block->ends[i];
    }
    return true;
}

static struct rec_message_end *take_end(const struct rec_message_end *content)
{
    if (!free_ends && !make_block())
        return NULL;
    struct rec_message_end *end = free_ends;
    free_ends = end->next;
    *end = *content;
    end->next = NULL;
    return end;
}

static void append(struct rec_message_ends *ends, struct rec_message_end *end)
{
    *ends->last = end;
    ends->last = &end->next;
    ends->n++;
}

static void drop_first(struct rec_message_ends *ends)
{
    struct rec_message_end *end = ends->first;
    ends->first = end->next;
    ends->n--;
    if (!ends->first)
        ends->last = &ends->first;
    end->next = free_ends;
    free_ends = end;
}

struct rec_in_channel *rec_in_channel(uint64_t hash, uint32_t source, bool part)
{
    struct rec_in_channel *channel = rfn_map_object(&channels, hash);
    full |= channels.n >= REC_MOST_CHANNELS;
    if (channel || full || (part && channels.n >= REC_MOST_CHANNELS / 2))
        return channel;
    channel = rfn_map_make_object(&channels, hash, sizeof *channel);
    full |= !channel;
    if (channel) {
        channel->hash = hash;
        channel->source = source;
        channel->received.last = &channel->received.first;
        channel->announced.last = &channel->announced.first;
    }
    return channel;
}

/* ---- samples ---- */

void rec_sample_dropped(enum rfn_sample_drop why)
{
    rec_sampling.table->dropped[why]++;
}

void rec_sample_row(const struct rfn_sample_key *key, const struct rfn_sample_values *values)
{
    rfn_sample_row_sample(rec_sampling_row(key), values, rec_sampling.analysis != RFN_SAMPLE_STAT);
    rec_sampling.sampled++;
}

static double ns_between(uint64_t from, uint64_t to)
{
    return to > from ? (double)(to - from) * rec_sampling.quantum_ns : 0;
}

/* 1 / the probability that both ends choose it; 1 where the sender decided by a rule. */
static double weight_of(const struct rec_message_end *announced,
                        const struct rec_message_end *received)
{
    const double rate = announced->rate < received->rate ? announced->rate : received->rate;
    return rate > 0 ? 1 / rate : 1;
}

static bool room_for_kept(void)
{
    return (n_kept + 1) * sizeof *kept <= rec_options.memory_bytes / KEPT_SHARE &&
           RFN_GROW(kept, kept_capacity, n_kept + 1) == 0;
}

void rec_keep_sample(const struct rfn_raw_sample *sample)
{
    if (room_for_kept())
        kept[n_kept++] = *sample;
    else
        rec_sampling.not_kept++;
}

struct rfn_raw_sample *rec_kept_samples(size_t *n)
{
    *n = n_kept;
    return kept;
}

static void sample(const struct rec_in_channel *channel, const struct rec_message_end *announced,
                   const struct rec_message_end *received)
{
    const bool far = announced->host != rec_sampling.host;
    const uint64_t over = received->received;
    uint64_t sent = announced->sent;
    if (far && !rec_far_sent(channel->source, announced->common_ns, &sent)) {
        rec_sample_dropped(RFN_SAMPLE_FOREIGN);
        return;
    }
    const struct rfn_sample_key key = {.source = (int32_t)channel->source,
                                       .dest = (int32_t)rec_sampling.rank,
                                       .send = announced->site,
                                       .receive = received->site,
                                       .size_class = rfn_sample_size_class(announced->bytes)};
    const struct rfn_sample_values values = {
        .latency_ns = ns_between(sent, over),
        .waited_ns = ns_between(received->entered, sent < over ? sent : over),
        .lay_ns = ns_between(sent, received->posted),
        .bytes = (double)announced->bytes,
        .weight = weight_of(announced, received),
        .clean = received->waits && received->posted < sent && received->entered < sent};
    rec_sample_row(&key, &values);
    rfn_sample_counts_row(rec_sampling.counts, key.source, key.dest, key.size_class)->samples++;
    if (far && values.clean)
        rec_far_clean(channel->source, announced->common_ns, over);
    if (rec_sampling.analysis != RFN_SAMPLE_WRITE)
        return;
    rec_keep_sample(&(struct rfn_raw_sample){.source = channel->source,
                                             .send = key.send,
                                             .receive = key.receive,
                                             .bytes = announced->bytes,
                                             .channel = channel->hash,
                                             .position = announced->position,
                                             .weight = values.weight,
                                             .sent = announced->sent,
                                             .posted = received->posted,
                                             .entered = received->entered,
                                             .received = over});
}

/* ---- both ends ---- */

/* Only one end of a message is there. Where the sender decides alone, or conditions do, the
 * receiver has kept it without knowing whether it was chosen. */
static void drop_alone(struct rec_message_ends *ends, bool announced)
{
    if (announced || (ends->first->rate > 0 && !rec_conditions.any))
        rec_sample_dropped(ends->first->uncertain ? RFN_SAMPLE_UNCERTAIN : RFN_SAMPLE_ONE_SIDED);
    drop_first(ends);
}

static void join(struct rec_in_channel *channel)
{
    struct rec_message_ends *announced = &channel->announced, *received = &channel->received;
    while (announced->first && received->first) {
        const struct rec_message_end *a = announced->first, *r = received->first;
        if (a->position != r->position) {
            drop_alone(a->position < r->position ? announced : received, a->position < r->position);
            continue;
        }
        if (a->uncertain || r->uncertain)
            rec_sample_dropped(RFN_SAMPLE_UNCERTAIN);
        else if (r->bytes != a->bytes && r->bytes != REC_UNKNOWN_BYTES)
            rec_sample_dropped(RFN_SAMPLE_DISAGREE);
        else
            sample(channel, a, r);
        drop_first(announced);
        drop_first(received);
    }
}

/* Until it is told which messages were chosen, a rank keeps the latest ends of each channel, which
 * share the room. */
static void make_room_untold(struct rec_in_channel *channel)
{
    const size_t all = rec_options.memory_bytes / ENDS_SHARE / sizeof(struct rec_message_end);
    while (channel->received.first && channel->received.n >= all / 2 / channels.n)
        drop_first(&channel->received);
}

void rec_end_received(struct rec_in_channel *channel, const struct rec_message_end *end)
{
    if (rec_is_untold(&rec_sampling.strategy))
        make_room_untold(channel);
    struct rec_message_end *own = take_end(end);
    if (!own) {
        if (end->rate > 0)
            rec_sample_dropped(RFN_SAMPLE_NO_ROOM);
        return;
    }
    append(&channel->received, own);
    rec_sampling.due++;
    if (channel->announced.first)
        join(channel);
}

void rec_end_announced(struct rec_in_channel *channel, const struct rec_message_end *end)
{
    struct rec_message_end *own = take_end(end);
    if (!own) {
        rec_sample_dropped(RFN_SAMPLE_NO_ROOM);
        return;
    }
    append(&channel->announced, own);
    if (channel->received.first)
        join(channel);
}

/* An end without another one in the end. */
static void drop_rest(struct rec_in_channel *channel)
{
    while (channel->announced.first)
        drop_alone(&channel->announced, true);
    while (channel->received.first)
        drop_alone(&channel->received, false);
}

void rec_ends_settle(void)
{
    for (uint64_t i = 0; channels.slots && i <= channels.mask; i++) {
        if (channels.slots[i].used)
            drop_rest((struct rec_in_channel *)(uintptr_t)channels.slots[i].value);
    }
}

void rec_ends_release(void)
{
    rfn_map_release_objects(&channels, free);
    while (blocks) {
        struct block *block = blocks;
        blocks = block->next;
        free(block);
    }
    n_blocks = 0;
    full = false;
    free_ends = NULL;
    free(kept);
    kept = NULL;
    n_kept = kept_capacity = 0;
}
