#include "record/samples/sampled_calls.h"

#include "base/grow.h"
#include "event/calls.h"
#include "record/core/tables.h"
#include "record/handles/types.h"
#include "record/samples/samples_internal.h"

#include <stdlib.h>
#include <string.h>

/* What this rank sends on a channel. */
struct out_channel {
    uint64_t hash, position;         /* of the next message */
    uint32_t dest;                   /* rank of MPI_COMM_WORLD */
    const struct rec_stream *stream; /* that sent first */
    bool uncertain;                  /* several threads send */
    uint32_t parts; /* partitioned sends made here: each has a channel of its own */
};

/* What a call that sends says of its message, in words. */
struct said {
    int64_t dest, tag, count, type;
};

/* A message as a call at some site describes it; or a collective call. */
struct sent_kind {
    struct said said;
    uint32_t site, stream, comm;
    struct out_channel *channel;
    int32_t world_dest;         /* rank of MPI_COMM_WORLD; -1: of another job */
    struct rfn_sample_row *row; /* valid in its generation of the table */
    uint32_t generation;
    struct rfn_sample_count *pair; /* NULL: it is no message to a rank of this job */
    uint64_t bytes, site_hash;
    bool fits; /* conditions that do not change at the site */
};

/* What is remembered of a persistent request. */
struct persistent {
    const struct rfn_call *role;
    const struct rec_comm *comm;
    int64_t dest, send_tag, source, receive_tag, count, type;
    int64_t partitions; /* 0: it is not partitioned */
    int64_t ready;      /* of these, since its start */
    bool announces;     /* when all are */
    struct rec_message_end end;
    struct out_channel *channel;
    struct rec_posted_receive *receive;
};

enum { KIND_BITS = 8 };

const struct rec_follower *rec_follower;

static struct rfn_call *roles; /* by function */
static struct sent_kind kinds[1 << KIND_BITS];
static struct rfn_map out_channels;       /* by hash */
static struct rec_posted_receive **taken; /* by matched probes, by slot of the message */
static size_t taken_capacity;
static struct rfn_sampler sampler, member; /* of messages, of collective calls */
static bool sends_uncertain;               /* one was cancelled, or is not known */
static bool full; /* no further channel: later messages of one would count from 0 */
static unsigned char locked;

void rec_sampling_lock(void)
{
    if (__builtin_expect(rec_threads_multiple, 0))
        rec_spin_wait(&locked);
}

void rec_sampling_unlock(void)
{
    __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

/* ---- words of calls ---- */

static int64_t input(const struct rec_call *call, int8_t place, int64_t otherwise)
{
    return place < 0 ? otherwise : call->in[place];
}

static int64_t outcome(const struct rec_call *call, int8_t place)
{
    return place < 0 ? RFN_UNKNOWN : call->out[place];
}

/* ---- names that all ranks share ---- */

uint64_t rec_sample_site(const struct rec_call *call)
{
    struct rec_stream *stream = rec_sample_stream(call);
    const uint32_t site = call->site;
    if (call->off)
        return RFN_SAMPLE_NO_SITE;
    if (RFN_GROW_ZEROED(stream->sampled.hashes, stream->sampled.n_hashes, (size_t)site + 1) < 0)
        return RFN_SAMPLE_OTHER_SITE;
    if (!stream->sampled.hashes[site])
        stream->sampled.hashes[site] = rec_call_hash(&stream->sites, site);
    return stream->sampled.hashes[site];
}

uint64_t rec_sampled_site(const struct rec_stream *stream, uint32_t site)
{
    return site < stream->sampled.n_hashes ? stream->sampled.hashes[site] : RFN_SAMPLE_NO_SITE;
}

int64_t rec_world_rank(const struct rec_comm *comm, int64_t rank)
{
    const struct rec_ranks *ranks = comm->kind == REC_COMM_INTER ? comm->remote : comm->local;
    if (rank < 0 || rank >= ranks->size)
        return -1;
    for (uint32_t i = 0; i < ranks->n_runs; i++) {
        const struct rec_rank_run *run = &ranks->runs[i];
        if (rank < run->count)
            return run->start == REC_RANK_FOREIGN ? -1 : run->start + rank * run->stride;
        rank -= run->count;
    }
    return -1;
}

/* ---- sends ---- */

static struct out_channel *find_out_channel(const struct rec_comm *comm, int64_t dest, int64_t tag,
                                            const struct rec_stream *stream)
{
    const int64_t world = tag == RFN_SAMPLE_COLLECTIVE_TAG ? rec_sampling.rank
                                                           : rec_world_rank(comm, dest);
    if (world < 0)
        return NULL;
    const uint64_t hash = rfn_sample_channel(comm->identity, rec_sampling.rank, (uint32_t)world,
                                             tag);
    struct out_channel *channel = rfn_map_object(&out_channels, hash);
    full |= out_channels.n >= REC_MOST_CHANNELS;
    if (channel || full || (rfn_sample_is_part(tag) && out_channels.n >= REC_MOST_CHANNELS / 2))
        return channel;
    channel = rfn_map_make_object(&out_channels, hash, sizeof *channel);
    full |= !channel;
    if (channel)
        *channel = (struct out_channel){.hash = hash, .dest = (uint32_t)world, .stream = stream};
    return channel;
}

static struct rfn_sample_row *find_row(const struct sent_kind *kind)
{
    const bool collective = kind->said.tag == RFN_SAMPLE_COLLECTIVE_TAG;
    const struct rfn_sample_key key = {.source = (int32_t)rec_sampling.rank,
                                       .dest = collective ? RFN_SAMPLE_COLLECTIVE
                                                          : kind->world_dest,
                                       .send = kind->site_hash,
                                       .receive = RFN_SAMPLE_NO_SITE,
                                       .size_class = rfn_sample_size_class(kind->bytes)};
    return rec_sampling_row(&key);
}

static uint64_t bytes_of(int64_t count, int64_t type)
{
    rec_lock(); /* other threads make types */
    const struct rec_type *of = type >= 0 ? rec_type((uint32_t)type) : NULL;
    rec_unlock();
    return of && count > 0 && of->size > 0 ? (uint64_t)count * (uint64_t)of->size : 0;
}

__attribute__((noinline)) static void learn(struct sent_kind *kind, const struct rec_call *call,
                                            const struct rec_comm *comm, const struct said *said)
{
    const struct rec_stream *stream = rec_sample_stream(call);
    *kind = (struct sent_kind){.said = *said,
                               .site = call->off ? UINT32_MAX : call->site,
                               .stream = stream->number,
                               .comm = comm->number,
                               .site_hash = rec_sample_site(call),
                               .bytes = bytes_of(said->count, said->type),
                               .channel = find_out_channel(comm, said->dest, said->tag, stream),
                               .world_dest = said->tag == RFN_SAMPLE_COLLECTIVE_TAG
                                                 ? -1
                                                 : (int32_t)rec_world_rank(comm, said->dest),
                               .generation = rec_sampling.table->generation - 1};
    if (kind->world_dest >= 0)
        kind->pair = rfn_sample_counts_row(rec_sampling.counts, (int32_t)rec_sampling.rank,
                                           kind->world_dest, rfn_sample_size_class(kind->bytes));
    kind->fits = !rec_conditions.any || rec_conditions_take(call, comm, kind->bytes);
}

/* What the call's site and its message say, looked up once. */
static inline struct sent_kind *kind_of(const struct rec_call *call, const struct rec_comm *comm,
                                        const struct said *said)
{
    const uint32_t site = call->off ? UINT32_MAX : call->site;
    struct sent_kind *kind = &kinds[rec_sample_place(
        site ^ (uint64_t)said->dest << 32, (uint64_t)(said->tag ^ said->count << 20), KIND_BITS)];
    const uint64_t differs =
        (uint64_t)((kind->said.dest ^ said->dest) | (kind->said.tag ^ said->tag) |
                   (kind->said.count ^ said->count) | (kind->said.type ^ said->type)) |
        (kind->site ^ site) | (kind->comm ^ comm->number) |
        (kind->stream ^ rec_sample_stream(call)->number);
    if (__builtin_expect(!kind->channel || differs, 0))
        learn(kind, call, comm, said);
    return kind;
}

void rec_sample_forget(void)
{
    rec_sampling_lock();
    memset(kinds, 0, sizeof kinds);
    rec_sampling_unlock();
}

static inline void count(struct sent_kind *kind)
{
    if (__builtin_expect(kind->generation != rec_sampling.table->generation, 0)) {
        kind->row = find_row(kind);
        kind->generation = rec_sampling.table->generation;
    }
    kind->row->messages++;
    kind->row->bytes += kind->bytes;
}

static inline void count_message(struct sent_kind *kind)
{
    count(kind);
    kind->pair->messages++;
    kind->pair->bytes += kind->bytes;
    rec_sampling.messages++;
    rec_sampling.bytes += kind->bytes;
}

/* Whether the message, or the collective call, is sampled; its rate, 0 where the sender decides. */
static inline bool chooses(const struct rec_call *call, const struct sent_kind *kind,
                           uint64_t position, struct rfn_sampler *by, double *rate)
{
    const struct rfn_sample_strategy *strategy = &rec_sampling.strategy;
    if (__builtin_expect(rec_conditions.any, 0) &&
        !(kind->fits && rec_conditions_hold(rec_sample_stream(call))))
        return false;
    if (__builtin_expect(!rfn_sample_agrees(strategy), 0)) {
        *rate = 0;
        rec_sampling.due++;
        return strategy->kind != RFN_SAMPLE_OFF &&
               rfn_sampler_chooses(by, strategy,
                                   (int64_t)((double)call->enter * rec_sampling.quantum_ns));
    }
    *rate = rfn_sample_rate(strategy, position);
    return rfn_sample_chosen(strategy, kind->channel->hash, position);
}

/* ---- several threads ----
 * A thread shows what it might send or receive before MPI is called, and takes that back with the
 * lock held, when its messages have been counted. So who holds the lock sees all messages that MPI
 * may have put in order, and that are not counted yet. */

enum rec_shown_bit { SENDS = 1, RECEIVES = 2, ANY = 4 };

static uint32_t what_might(const struct rec_call *call, const struct rfn_call *role)
{
    if (role->kind == RFN_CALL_START)
        return SENDS | RECEIVES | ANY;
    if (!call->comm || role->variant == RFN_CALL_PERSISTENT)
        return 0;
    return (rfn_call_sends(role) ? SENDS : 0) |
           (rfn_call_receives(role) || role->kind == RFN_CALL_MPROBE ? RECEIVES : 0);
}

static void show(int64_t *word, int64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static void on_begin(struct rec_call *call)
{
    const struct rfn_call *role = &roles[call->function];
    struct rec_shown_call *shown = &rec_stream_of(call)->sampled.shown;
    const uint32_t what = what_might(call, role);
    if (what & ~(uint32_t)ANY && !(what & ANY)) {
        __atomic_store_n(&shown->comm, call->comm->number, __ATOMIC_RELAXED);
        show(&shown->dest, input(call, role->in[RFN_IN_dest], RFN_ANY));
        show(&shown->send_tag, input(call, role->send_tag, RFN_ANY));
        show(&shown->source, input(call, role->in[RFN_IN_source], RFN_ANY));
        show(&shown->receive_tag, input(call, role->recv_tag, RFN_ANY));
    }
    __atomic_store_n(&shown->what, what, __ATOMIC_RELEASE);
}

static void take_back(const struct rec_call *call)
{
    if (__builtin_expect(rec_threads_multiple, 0))
        __atomic_store_n(&rec_sample_stream(call)->sampled.shown.what, 0, __ATOMIC_RELEASE);
}

static bool might_be(const int64_t *word, int64_t value)
{
    const int64_t shown = __atomic_load_n(word, __ATOMIC_RELAXED);
    return shown == value || shown == RFN_ANY;
}

/* Whether a thread might send to, or receive from, a rank with a tag. */
static bool might_share(const struct rec_shown_call *shown, bool sends, uint32_t comm, int64_t peer,
                        int64_t tag)
{
    const uint32_t what = __atomic_load_n(&shown->what, __ATOMIC_ACQUIRE);
    if (what & ANY)
        return true;
    return what & (sends ? SENDS : RECEIVES) &&
           __atomic_load_n(&shown->comm, __ATOMIC_RELAXED) == comm &&
           might_be(sends ? &shown->dest : &shown->source, peer) &&
           might_be(sends ? &shown->send_tag : &shown->receive_tag, tag);
}

/* Threads other than the one whose messages the channel has had so far. */
static bool others_might(const struct rec_stream *own, bool sends, uint32_t comm, int64_t peer,
                         int64_t tag)
{
    const struct rec_stream *stream = __atomic_load_n(&rec_streams, __ATOMIC_ACQUIRE);
    for (; stream; stream = stream->next) {
        if (stream != own && might_share(&stream->sampled.shown, sends, comm, peer, tag))
            return true;
    }
    return false;
}

bool rec_others_might_receive(const struct rec_in_channel *channel)
{
    return others_might(channel->stream, false, channel->comm, channel->source_in_comm,
                        channel->tag);
}

static bool others_might_send(const struct out_channel *channel, const struct rec_comm *comm,
                              const struct said *said)
{
    return others_might(channel->stream, true, comm->number, said->dest, said->tag);
}

/* A message to another job; or on a channel for which there is no room: it counts. */
__attribute__((noinline)) static void send_unfollowed(const struct rec_call *call,
                                                      struct sent_kind *kind)
{
    const bool foreign = kind->world_dest < 0;
    if (call->off)
        return;
    if (!foreign)
        count_message(kind);
    rec_sampling.table->dropped[foreign ? RFN_SAMPLE_FOREIGN : RFN_SAMPLE_NO_ROOM]++;
}

/* The next message of its channel. partitioned: it begins later; what is known is kept there. */
static void send(const struct rec_call *call, const struct rec_comm *comm, const struct said *said,
                 struct persistent *partitioned)
{
    struct sent_kind *kind = kind_of(call, comm, said);
    struct out_channel *channel = kind->channel;
    struct rec_message_end end;
    if (!channel) {
        send_unfollowed(call, kind);
        return;
    }
    end.position = channel->position++;
    channel->uncertain |= channel->stream != rec_sample_stream(call);
    if (call->off)
        return;
    if (rec_follower && !partitioned && !channel->uncertain && !sends_uncertain)
        rec_follower->sent(call, channel->hash, end.position, kind->bytes);
    count_message(kind);
    if (!chooses(call, kind, end.position, &sampler, &end.rate))
        return;
    end.site = kind->site_hash;
    end.bytes = kind->bytes;
    end.sent = call->enter;
    end.uncertain = channel->uncertain | sends_uncertain;
    if (__builtin_expect(rec_threads_multiple, 0) && !end.uncertain)
        end.uncertain = others_might_send(channel, comm, said);
    end.host = rec_sampling.host;
    end.common_ns = 0;
    if (!partitioned) {
        rec_announce(channel->dest, channel->hash, &end);
        return;
    }
    partitioned->end = end;
    partitioned->channel = channel;
    partitioned->announces = true;
}

/* ---- what calls say ---- */

/* What a call, or the request that it makes, sends. */
static inline struct said said_by(const struct rec_call *call, const struct rfn_call *role)
{
    const bool both = role->in[RFN_IN_sendcount] >= 0;
    return (struct said){
        .dest = input(call, role->in[RFN_IN_dest], RFN_PROC_NULL),
        .tag = input(call, role->send_tag, 0),
        .count = input(call, role->in[both ? RFN_IN_sendcount : RFN_IN_count], 0) *
                 input(call, role->in[RFN_IN_partitions], 1),
        .type = input(call, role->in[both ? RFN_IN_sendtype : RFN_IN_datatype], -1)};
}

static uint64_t asked_bytes(const struct rec_call *call, const struct rfn_call *role)
{
    const bool both = role->in[RFN_IN_recvcount] >= 0;
    return bytes_of(input(call, role->in[both ? RFN_IN_recvcount : RFN_IN_count], 0) *
                        input(call, role->in[RFN_IN_partitions], 1),
                    input(call, role->in[both ? RFN_IN_recvtype : RFN_IN_datatype], -1));
}

/* What a call got of what it asked for. */
struct got {
    int64_t source, tag;
    uint64_t bytes;
};

static struct got got_by(const struct rec_call *call, const struct rfn_call *role)
{
    const int64_t source = outcome(call, role->out[RFN_OUT_RANK]),
                  tag = outcome(call, role->out[RFN_OUT_TAG]),
                  bytes = outcome(call, role->out[RFN_OUT_BYTES]);
    return (struct got){.source = source < 0 ? input(call, role->in[RFN_IN_source], -1) : source,
                        .tag = tag < 0 ? input(call, role->recv_tag, -1) : tag,
                        .bytes = bytes >= 0               ? (uint64_t)bytes
                                 : bytes == RFN_AS_POSTED ? asked_bytes(call, role)
                                                          : REC_UNKNOWN_BYTES};
}

/* ---- matched probes ---- */

static void take_matched(const struct rec_call *call, const struct rfn_call *role)
{
    const struct got got = got_by(call, role);
    const int64_t slot = outcome(call, role->out[RFN_OUT_MESSAGE]);
    if (slot < 0 || got.source < 0 || !call->comm)
        return;
    struct rec_posted_receive *receive = rec_post_receive(call, call->comm, got.source, got.tag);
    if (RFN_GROW_ZEROED(taken, taken_capacity, (size_t)slot + 1) == 0)
        taken[slot] = receive;
    else if (receive)
        rec_receive_lost(receive, false);
}

/* The receive that a matched probe stands for; the receiving call posts it. */
static struct rec_posted_receive *matched(const struct rec_call *call, const struct rfn_call *role)
{
    const int64_t slot = input(call, role->in[RFN_IN_MESSAGE], -1);
    if (slot < 0 || (size_t)slot >= taken_capacity)
        return NULL;
    struct rec_posted_receive *receive = taken[slot];
    taken[slot] = NULL;
    if (receive)
        rec_receive_reposted(receive, call);
    return receive;
}

/* ---- persistent requests ---- */

/* The call makes a partitioned send. Returns the tag of its channel. */
static int64_t send_part_tag(const struct rec_call *call, int64_t dest, int64_t tag)
{
    const struct rec_stream *stream = rec_sample_stream(call);
    const int64_t parts = rfn_sample_part_tag(tag, RFN_SAMPLE_PARTS);
    struct out_channel *all = find_out_channel(call->comm, dest, parts, stream);
    if (!all)
        return parts;
    all->uncertain |= all->stream != stream;
    const int64_t own = rfn_sample_part_tag(tag, ++all->parts);
    struct out_channel *part = find_out_channel(call->comm, dest, own, stream);
    if (part)
        part->uncertain |= all->uncertain;
    return own;
}

static void set_up(const struct rec_call *call, const struct rfn_call *role,
                   struct rec_request *request)
{
    struct persistent *persistent = calloc(1, sizeof *persistent);
    const struct said said = said_by(call, role);
    request->sampled = persistent;
    if (!persistent) { /* its messages will not be counted */
        sends_uncertain = true;
        rec_receives_uncertain();
        return;
    }
    *persistent = (struct persistent){.role = role,
                                      .comm = call->comm,
                                      .dest = said.dest,
                                      .send_tag = said.tag,
                                      .count = said.count,
                                      .type = said.type,
                                      .source = request->source,
                                      .receive_tag = request->tag,
                                      .partitions = input(call, role->in[RFN_IN_partitions], 0)};
    if (role->in[RFN_IN_partitions] < 0)
        return;
    if (rfn_call_sends(role))
        persistent->send_tag = send_part_tag(call, said.dest, said.tag);
    else
        persistent->receive_tag = rec_receive_part_tag(call, request->source, request->tag);
}

static void start(const struct rec_call *call, struct persistent *persistent)
{
    const struct rfn_call *role = persistent->role;
    persistent->ready = 0;
    persistent->announces = false;
    if (rfn_call_sends(role) && persistent->dest >= 0) {
        const struct said said = {.dest = persistent->dest,
                                  .tag = persistent->send_tag,
                                  .count = persistent->count,
                                  .type = persistent->type};
        send(call, persistent->comm, &said, persistent->partitions ? persistent : NULL);
    }
    if (rfn_call_receives(role) && persistent->source != MPI_PROC_NULL)
        persistent->receive = rec_post_receive(call, persistent->comm, persistent->source,
                                               persistent->receive_tag);
}

static void make_ready(const struct rec_call *call, const struct rfn_call *role,
                       struct persistent *persistent)
{
    const int64_t low = input(call, role->in[RFN_IN_partition_low], 0),
                  high = input(call, role->in[RFN_IN_partition_high], 0);
    persistent->ready += role->operation == RFN_MPI_Pready_range ? high - low + 1
                         : role->operation == RFN_MPI_Pready_list
                             ? input(call, role->in[RFN_IN_length], 0)
                             : 1;
    if (!persistent->announces || persistent->ready < persistent->partitions)
        return;
    persistent->announces = false;
    persistent->end.sent = call->enter;
    rec_announce(persistent->channel->dest, persistent->channel->hash, &persistent->end);
}

static void each_persistent(const struct rec_call *call, const struct rfn_call *role)
{
    for (uint32_t i = 0; i < call->n_requests; i++) {
        struct rec_request *request = call->requests[i];
        if (!request || !(request->flags & REC_REQUEST_PERSISTENT) || !request->sampled)
            continue;
        if (role->kind == RFN_CALL_START)
            start(call, request->sampled);
        else
            make_ready(call, role, request->sampled);
    }
}

/* ---- collective calls ---- */

static void sample_collective(const struct rec_call *call, const struct sent_kind *kind,
                              uint64_t position, double rate)
{
    const struct rfn_sample_values values = {.latency_ns = (double)(call->exit - call->enter) *
                                                           rec_sampling.quantum_ns,
                                             .bytes = (double)kind->bytes,
                                             .weight = rate > 0 ? 1 / rate : 1};
    rfn_sample_row_sample(kind->row, &values, rec_sampling.analysis != RFN_SAMPLE_STAT);
    if (rec_sampling.analysis != RFN_SAMPLE_WRITE)
        return;
    rec_keep_sample(&(struct rfn_raw_sample){.source = rec_sampling.rank,
                                             .send = kind->site_hash,
                                             .receive = RFN_SAMPLE_NO_SITE,
                                             .bytes = kind->bytes,
                                             .channel = kind->channel->hash,
                                             .position = position,
                                             .weight = values.weight,
                                             .sent = call->enter,
                                             .posted = call->enter,
                                             .entered = call->enter,
                                             .received = call->exit});
}

static struct sent_kind *collective_kind(const struct rec_call *call, const struct rfn_call *role)
{
    struct said said = said_by(call, role);
    said.dest = 0;
    said.tag = RFN_SAMPLE_COLLECTIVE_TAG;
    return kind_of(call, call->comm, &said);
}

static bool is_collective(const struct rec_call *call, const struct rfn_call *role)
{
    return call->comm &&
           rfn_sample_is_collective(role->class_, rec_functions[call->function].flags);
}

static void collective(const struct rec_call *call, const struct rfn_call *role)
{
    double rate;
    struct sent_kind *kind = collective_kind(call, role);
    if (!kind->channel)
        return;
    const uint64_t position = kind->channel->position++;
    if (call->off)
        return;
    count(kind);
    if (chooses(call, kind, position, &member, &rate))
        sample_collective(call, kind, position, rate);
}

/* ---- listeners ---- */

static void receive_now(const struct rec_call *call, const struct rfn_call *role)
{
    const struct got got = got_by(call, role);
    if (role->kind == RFN_CALL_MRECV) {
        struct rec_posted_receive *receive = matched(call, role);
        if (receive)
            rec_receive_done(receive, call, got.source, got.tag, got.bytes);
    } else if (got.source != RFN_PROC_NULL && call->comm) {
        rec_received(call, got.source, got.tag, got.bytes);
    }
}

/* A call of point-to-point communication that went well. */
static void communicate(const struct rec_call *call, const struct rfn_call *role)
{
    const bool at_once = role->variant == RFN_CALL_BLOCKING;
    if (role->variant == RFN_CALL_PERSISTENT)
        return;
    if (rfn_call_sends(role)) {
        const struct said said = said_by(call, role);
        if (said.dest >= 0 && call->comm)
            send(call, call->comm, &said, NULL);
    }
    if (rfn_call_receives(role) && at_once)
        receive_now(call, role);
    else if (role->kind == RFN_CALL_MPROBE && call->poll != RFN_POLL_FAILED)
        take_matched(call, role);
    else if (role->kind == RFN_CALL_START || role->kind == RFN_CALL_READY)
        each_persistent(call, role);
}

static void on_call(const struct rec_call *call, const struct rec_stream *stream)
{
    if (rec_conditions.any)
        rec_conditions_follow(call);
    if (call->function >= REC_FN_COUNT) /* a region of the program's */
        return;
    const struct rfn_call *role = &roles[call->function];
    if (role->kind == RFN_CALL_OTHER) { /* threads may make these at any time */
        if (rec_follower)
            rec_follower->called(call, role);
        return;
    }
    const bool happened = call->rc == MPI_SUCCESS ||
                          rec_error_class(call->rc) == (uint32_t)MPI_ERR_TRUNCATE;
    rec_sampling_lock();
    if (rec_follower)
        rec_sampling.call = rec_follower->taken() - 1;
    if (happened && role->kind <= RFN_CALL_READY)
        communicate(call, role);
    else if (call->rc == MPI_SUCCESS && is_collective(call, role))
        collective(call, role);
    if (stream->sampled.received)
        rec_receives_left(call);
    if (rec_follower)
        rec_follower->called(call, role);
    take_back(call);
    rec_announcements_progress(call->exit);
    rec_sampling_unlock();
}

static void on_made(const struct rec_call *call, struct rec_request *request)
{
    const struct rfn_call *role = &roles[call->function];
    request->sampled = NULL;
    rec_sampling_lock();
    if (rec_follower) {
        rec_sampling.call = rec_follower->taken();
        rec_follower->made(call, request);
    }
    if (request->flags & REC_REQUEST_PERSISTENT) {
        if (call->comm && (rfn_call_sends(role) || rfn_call_receives(role)))
            set_up(call, role, request);
    } else if (role->kind == RFN_CALL_MRECV) {
        request->sampled = matched(call, role);
    } else if (rfn_call_receives(role) && request->source != MPI_PROC_NULL && call->comm) {
        request->sampled = rec_post_receive(call, call->comm, request->source, request->tag);
    }
    rec_sampling_unlock();
}

/* The receive that a request stands for, which is over now; or NULL. */
static struct rec_posted_receive *receive_of(struct rec_request *request)
{
    struct rec_posted_receive *receive = request->sampled;
    if (request->flags & REC_REQUEST_PERSISTENT) {
        struct persistent *persistent = request->sampled;
        receive = persistent ? persistent->receive : NULL;
        if (persistent)
            persistent->receive = NULL;
    } else {
        request->sampled = NULL;
    }
    return receive;
}

static void on_completed(const struct rec_call *call, struct rec_request *request, int64_t source,
                         int64_t tag, int64_t bytes)
{
    rec_sampling_lock();
    if (rec_follower) {
        rec_sampling.call = rec_follower->taken();
        rec_follower->completed(call, request, source != RFN_UNKNOWN && bytes != RFN_UNKNOWN);
    }
    struct rec_posted_receive *receive = receive_of(request);
    if (receive && source == RFN_UNKNOWN)
        rec_receive_cancelled(receive);
    else if (receive)
        rec_receive_done(receive, call, source, tag,
                         bytes < 0 ? REC_UNKNOWN_BYTES : (uint64_t)bytes);
    rec_sampling_unlock();
}

static void on_freed(struct rec_request *request)
{
    rec_sampling_lock();
    if (rec_follower)
        rec_follower->freed(request);
    struct rec_posted_receive *receive = receive_of(request);
    if (receive)
        rec_receive_lost(receive, request->flags & REC_REQUEST_CANCELLED);
    if (request->flags & REC_REQUEST_PERSISTENT && request->sampled)
        free(request->sampled);
    request->sampled = NULL;
    rec_sampling_unlock();
}

/* ---- start and end ---- */

/* It may be that a message is not there which was counted: positions are not known any more. */
static void on_send_cancelled(void)
{
    rec_sampling_lock();
    sends_uncertain = true;
    rec_sampling_unlock();
}

static const struct rec_request_listener request_listener = {.made = on_made,
                                                             .completed = on_completed,
                                                             .freed = on_freed,
                                                             .send_cancelled = on_send_cancelled};

static bool make_roles(void)
{
    roles = calloc(REC_FN_COUNT, sizeof *roles);
    for (size_t i = 0; roles && i < REC_FN_COUNT; i++)
        rfn_call_init(&roles[i], &rec_functions[i]);
    return roles != NULL;
}

void rec_calls_strategy(void)
{
    rfn_sampler_init(&sampler, &rec_sampling.strategy, rec_sampling.rank);
    rfn_sampler_init(&member, &rec_sampling.strategy, ~rec_sampling.rank);
}

bool rec_calls_start(void)
{
    rec_calls_strategy();
    return make_roles();
}

void rec_calls_listen(void)
{
    rec_listen = on_call;
    rec_listen_requests = &request_listener;
    if (rec_threads_multiple)
        rec_listen_begin(on_begin);
}

void rec_stop_following(void)
{
    rec_follower = NULL;
    if (rec_sampling.told)
        return;
    rec_listen = NULL;
    rec_listen_requests = NULL;
}

void rec_calls_release(void)
{
    rec_listen = NULL;
    __atomic_store_n(&rec_listen_requests, NULL, __ATOMIC_RELAXED);
    rec_listen_begin(NULL); /* threads may still be in MPI when a process ends alone */
    rfn_map_release_objects(&out_channels, free);
    free(taken);
    free(roles);
    taken = NULL;
    full = false;
    taken_capacity = 0;
    roles = NULL;
}
