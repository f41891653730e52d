/* sampled_calls.h - measures latencies of some messages while the program runs.
 *
 * Without a word on the wire: the sender and the receiver of a message both know its channel
 * (communicator, source, destination, tag) and its position there, and decide by a hash of the two
 * whether it is sampled (reduce/samples/strategy.h).
 *
 * - The sender counts the messages of each channel, in the order of its calls.
 * - The receiver does, in the order in which receives were posted: MPI gives the k-th message of a
 *   channel to the k-th receive that takes one from it. Which channel a receive with wildcards
 *   takes from is known when it is done; later ones that might be of the same channel wait for that
 *   (posted_receives.c).
 * - The sender announces what it knows of a sampled message (when, where, how many bytes) in
 *   batches, on a communicator of the recorder's own. They are sent and received in calls that the
 *   program makes anyway, and nobody waits for them (announcements.c).
 * - The receiver joins both ends (message_ends.c). Both lists of a channel are in the order of
 *   positions, so an end that has no other one is noticed, dropped and counted.
 *
 * Strategies where only the sender decides work in the same way, but the receiver keeps every end
 * until the next announcement of its channel.
 */
#ifndef RFN_RECORD_SAMPLES_SAMPLED_CALLS_H
#define RFN_RECORD_SAMPLES_SAMPLED_CALLS_H

#include "archive/samples_format.h"
#include "event/calls.h"
#include "record/core/recorder.h"
#include "refrain/sampling.h"

/* Follows all messages of the process: which call posts an end of a message, which one ends it, and
 * which message of its channel it is. It counts the calls of the process's one stream, from 0. */
struct rec_follower {
    uint64_t (*taken)(void); /* so many calls have become events */
    void (*made)(const struct rec_call *call, struct rec_request *request);
    void (*completed)(const struct rec_call *call, struct rec_request *request, bool got);
    void (*freed)(struct rec_request *request);
    void (*sent)(const struct rec_call *call, uint64_t channel, uint64_t position, uint64_t bytes);
    void (*received)(uint64_t channel, uint64_t position, uint64_t post_call, uint64_t done_call);
    void (*called)(const struct rec_call *call, const struct rfn_call *role); /* last */
};
/* Set before rec_sampling_start, which then begins also if nothing is to be sampled. */
extern const struct rec_follower *rec_follower;
/* In MPI_Init, behind that: nobody wants to know. */
void rec_stop_following(void);
/* Whether messages are followed. */
bool rec_messages_are_followed(void);

/* Begins to sample, if it is wanted, when MPI has started. Collective over the job. */
void rec_sampling_start(void);
/* The program wishes another strategy, as rfn_sample_strategy_parse reads it. 1: it is taken; 0:
 * nothing is sampled; -1: it is none. */
int rec_sample_wish(const char *text);

/* Collective, in the end, if all ranks sample: announcements that are on their way arrive. */
int rec_sampling_end(void);
/* Of a rank that ends alone. */
void rec_sampling_end_alone(void);
/* Whether this process samples messages. */
bool rec_sampling_is_on(void);

/* What this process has, between the end and the release. */
struct rec_sampled {
    struct rfn_sample_table *table;
    struct rfn_sample_counts *counts;
    uint64_t messages, bytes, sampled;
    uint64_t not_kept; /* samples, with WRITE, for which there was no room */
    bool changed;
    enum rfn_sample_analysis analysis;
};
struct rec_sampled rec_sampled(void);
/* Rows that a table of categories has room for, by --memory. */
uint32_t rec_sampling_rows(void);
/* The hash that rows have for a site of a stream; 0: it is in none. */
uint64_t rec_sampled_site(const struct rec_stream *stream, uint32_t site);

/* The samples themselves, with WRITE; borrowed until the release. They may be sorted. */
struct rfn_raw_sample *rec_kept_samples(size_t *n);

void rec_sampling_release(void);

#endif
