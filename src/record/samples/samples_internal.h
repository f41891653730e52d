/* samples_internal.h - what the parts of message sampling share. sampled_calls.h tells the whole.
 */
#ifndef RFN_RECORD_SAMPLES_SAMPLES_INTERNAL_H
#define RFN_RECORD_SAMPLES_SAMPLES_INTERNAL_H

#include "base/map.h"
#include "record/core/exchange_mpi.h"
#include "record/core/recorder.h"
#include "record/handles/comms.h"
#include "record/handles/params.h"
#include "record/samples/sampled_calls.h"
#include "reduce/samples/sample_counts.h"
#include "reduce/samples/sample_table.h"
#include "reduce/samples/strategy.h"
#include "reduce/samples/where.h"

/* A rank counts the messages of at most so many channels that it sends on, and of as many that it
 * receives from: a program may use a new tag for each message. Others are not sampled. */
/* Of partitioned messages half of that: each init makes one, and they stay. */
enum { REC_MOST_CHANNELS = 8192 };

/* What this process samples. */
struct rec_sampling {
    bool on;
    bool told; /* messages are sampled; else they are only followed (rec_follower) */
    struct rfn_sample_strategy strategy;
    enum rfn_sample_analysis analysis;
    bool changed; /* the strategy, while the program ran */
    uint32_t rank;
    double quantum_ns;
    uint64_t host; /* rec_clock_sync_host */
    uint64_t messages, bytes, sampled, not_kept;
    uint64_t call; /* the one at hand, as rec_follower counts */
    uint32_t due;  /* what was chosen, or kept, since announcements were looked for */
    struct rfn_sample_table *table;
    struct rfn_sample_counts *counts;
    struct rec_exchange exchange; /* a communicator for announcements */
};

extern struct rec_sampling rec_sampling;

/* MPI does not say, as of a receive that was too short. */
#define REC_UNKNOWN_BYTES UINT64_MAX

/* A message at one of its ends. Times are in quanta. */
struct rec_message_end {
    struct rec_message_end *next;
    uint64_t position; /* in its channel */
    uint64_t site, bytes;
    double rate;   /* with which this end chose it; 0: the sender decides alone */
    uint64_t sent; /* at the sender: when the send began */
    uint64_t posted, entered, received; /* at the receiver, see struct rfn_sample */
    bool waits;                         /* the call that completed the receive was no test */
    bool uncertain;    /* threads receive, one may have been cancelled, or several are */
    uint64_t host;     /* of the sender; equal where clocks are */
    int64_t common_ns; /* when it was sent, by the clock of rank 0's node; 0: not known */
    uint64_t post_call, done_call; /* at the receiver, as rec_follower counts */
};

struct rec_message_ends {
    struct rec_message_end *first, **last;
    size_t n;
};

struct rec_posted_receive;

/* What comes to this rank on a channel. */
struct rec_in_channel {
    uint64_t hash, position; /* the next one */
    uint32_t source;         /* rank of MPI_COMM_WORLD */
    bool known;              /* the three that follow; else only announcements came yet */
    uint32_t comm;
    int64_t source_in_comm, tag;
    const struct rec_stream *stream; /* that received first */
    bool uncertain;                  /* threads receive, or one may have been cancelled */
    uint32_t parts;           /* partitioned receives made here: each has a channel of its own */
    bool waits_for_wildcards; /* it is in a list of such channels */
    struct rec_in_channel *next_waiting;
    struct rec_posted_receive *first, *last;     /* in the order in which they were posted */
    struct rec_message_ends received, announced; /* one of them is empty */
};

/* ---- message_ends.c ---- */

/* The channel of a hash, made if it is new; NULL without room. part: of a partitioned message. */
struct rec_in_channel *rec_in_channel(uint64_t hash, uint32_t source, bool part);
/* One end of a message is there; copied. Makes a sample when the other one is, too. */
void rec_end_received(struct rec_in_channel *channel, const struct rec_message_end *end);
void rec_end_announced(struct rec_in_channel *channel, const struct rec_message_end *end);
/* A sample of a row of the table, or a dropped message. */
void rec_sample_dropped(enum rfn_sample_drop why);
void rec_sample_row(const struct rfn_sample_key *key, const struct rfn_sample_values *values);
/* Keeps one for itself, with WRITE, while there is room. */
void rec_keep_sample(const struct rfn_raw_sample *sample);
/* Drops what has no other end, when all announcements are there. */
void rec_ends_settle(void);
void rec_ends_release(void);

/* ---- posted_receives.c ---- */

/* A receive that has been posted and is not done. source and tag may be MPI's wildcards. `call` is
 * the one that posts it, at `posted`. NULL without memory: then nothing is sampled any more that
 * this rank receives. */
struct rec_posted_receive *rec_post_receive(const struct rec_call *call,
                                            const struct rec_comm *comm, int64_t source,
                                            int64_t tag);
/* What it got. The call that completed it is about to leave; when it has left, it says so. bytes
 * may be REC_UNKNOWN_BYTES. */
void rec_receive_done(struct rec_posted_receive *receive, const struct rec_call *call,
                      int64_t source, int64_t tag, uint64_t bytes);
void rec_receives_left(const struct rec_call *call);
/* What a matched probe has taken is received by this call. */
void rec_receive_reposted(struct rec_posted_receive *receive, const struct rec_call *call);
/* It was cancelled, and got nothing. */
void rec_receive_cancelled(struct rec_posted_receive *receive);
/* The program gave it up while it was under way: it gets something, at some time; or nothing, if it
 * was cancelled in time. */
void rec_receive_lost(struct rec_posted_receive *receive, bool cancelled);
/* Nobody knows any more which messages receives get. */
void rec_receives_uncertain(void);
/* The call makes a partitioned receive. Returns the tag of its channel (reduce/samples/strategy.h).
 */
int64_t rec_receive_part_tag(const struct rec_call *call, int64_t source, int64_t tag);
/* A call that receives at once. */
void rec_received(const struct rec_call *call, int64_t source, int64_t tag, uint64_t bytes);
void rec_receives_release(void);

/* ---- announcements.c ---- */

/* False: out of memory. */
bool rec_announcements_start(void);
/* Tells the receiver of a message that is sampled. */
void rec_announce(uint32_t dest, uint64_t channel, const struct rec_message_end *end);
/* Sends and receives what there is, without waiting; now: quanta. */
void rec_announcements_progress(uint64_t now);
/* Collective, in the end: all announcements arrive. RFN_E_NOMEM, RFN_E_EXCHANGE. */
int rec_announcements_end(void);
/* Of a rank that ends without the others: what it would have told them is dropped. */
void rec_announcements_end_alone(void);
void rec_announcements_release(void);

/* ---- far_clocks.c ---- */

/* The least time of clean messages in a span of time, where clocks are not corrected; span 0: there
 * were none. */
struct rec_far_least {
    int64_t span;
    double ns;
};

/* Collective. RFN_E_NOMEM, RFN_E_EXCHANGE. */
int rec_far_start(struct rec_exchange *exchange);
void rec_far_release(void);
/* A moment on the common clock, that of rank 0's node; 0: it is not known. */
int64_t rec_far_common_ns(uint64_t quanta);
/* When a rank of another node sent, on this node's clock. False: not known. */
bool rec_far_sent(uint32_t rank, int64_t common_ns, uint64_t *quanta);
/* A clean message came from it. */
void rec_far_clean(uint32_t rank, int64_t sent_ns, uint64_t received);
/* The least of what came from it in the last span. */
struct rec_far_least rec_far_least(uint32_t rank, uint64_t now);
/* What it says of messages from here. */
void rec_far_told(uint32_t rank, struct rec_far_least least);

/* ---- conditions.c ---- */

extern struct rfn_sample_where rec_conditions;

/* Whether receivers cannot know which messages are sampled until they are told. */
static inline bool rec_is_untold(const struct rfn_sample_strategy *strategy)
{
    return !rfn_sample_agrees(strategy) || rec_conditions.any;
}

/* Whether the call, which sends so many bytes on the communicator, may be sampled by what does not
 * change while it is at its site. */
bool rec_conditions_take(const struct rec_call *call, const struct rec_comm *comm, uint64_t bytes);
/* A call that may change what holds for the calls behind it. */
void rec_conditions_follow(const struct rec_call *call);
void rec_conditions_release(void);

/* Whether what the stream is in may be sampled. */
bool rec_conditions_hold(const struct rec_stream *stream);

/* ---- sampling.c ---- */

/* The row of a category, for which the table grows if it can. */
struct rfn_sample_row *rec_sampling_row(const struct rfn_sample_key *key);

/* Shows to others what was counted, and takes their wish. */
void rec_sampling_show(void);

/* ---- sampled_calls.c ---- */

/* False: out of memory. */
bool rec_calls_start(void);
/* From now on each call is listened to. */
void rec_calls_listen(void);
void rec_calls_release(void);
/* rec_sampling.strategy has changed. */
void rec_calls_strategy(void);
/* With MPI_THREAD_MULTIPLE one thread at a time changes what this process samples. */
void rec_sampling_lock(void);
void rec_sampling_unlock(void);

/* A hash of the call's site that is the same on all ranks; NO_SITE of a call that is not recorded.
 */
uint64_t rec_sample_site(const struct rec_call *call);

static inline struct rec_stream *rec_sample_stream(const struct rec_call *call)
{
    return rec_stream_of((struct rec_call *)(uintptr_t)call);
}

/* Where two words go in a table that remembers what calls say. */
static inline size_t rec_sample_place(uint64_t a, uint64_t b, unsigned bits)
{
    return (size_t)((a * 0x9e3779b97f4a7c15u ^ b * 0xd6e8feb86659fd93u) *
                        UINT64_C(0xd1342543de82ef95) >>
                    (64 - bits));
}

/* Whether another thread is in a call that might receive from the channel, too: then it is not
 * known which of them got its message first. */
bool rec_others_might_receive(const struct rec_in_channel *channel);

/* Calls look up their sites and communicators again: a communicator has got a name. */
void rec_sample_forget(void);

/* The rank of MPI_COMM_WORLD that a peer's rank in a communicator is; -1: none. */
int64_t rec_world_rank(const struct rec_comm *comm, int64_t rank);

#endif
