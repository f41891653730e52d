#include "record/samples/sampled_calls.h"

#include "base/grow.h"
#include "event/calls.h"
#include "record/core/clock_sync.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/core/tables.h"
#include "record/handles/types.h"
#include "record/samples/samples_internal.h"
#include "reduce/samples/live_segment.h"

#include <stdlib.h>
#include <string.h>

struct rec_sampling rec_sampling;
const struct rec_follower *rec_follower;

/* Rows of a rank's table: 1 MiB. */
enum { ROWS = 128 };

/* What this rank sends on a channel. */
struct out_channel {
    uint64_t hash, position;         /* of the next message */
    uint32_t dest;                   /* rank of MPI_COMM_WORLD */
    const struct rec_stream *stream; /* that sent first */
    bool uncertain;                  /* several threads send */
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
    struct rfn_sample_row *row; /* valid in its generation of the table */
    uint32_t generation;
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

static struct rfn_call *roles; /* by function */
static struct sent_kind kinds[1 << KIND_BITS];
static struct rfn_map out_channels;       /* by hash */
static struct rec_posted_receive **taken; /* by matched probes, by slot of the message */
static size_t taken_capacity;
static struct rfn_sampler sampler, member; /* of messages, of collective calls */
static struct rfn_live_segment live;       /* has the table */
static uint32_t wish_seen;
static bool sends_uncertain; /* one was cancelled */
static unsigned char locked;

static void lock(void)
{
    if (__builtin_expect(rec_threads_multiple, 0))
        rec_spin_wait(&locked);
}

static void unlock(void)
{
    __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

/* ---- names that all ranks share ---- */

uint64_t rec_sample_site(const struct rec_call *call)
{
    struct rec_stream *stream = rec_sample_stream(call);
    const uint32_t site = call->site;
    if (call->off)
        return RFN_SAMPLE_NO_SITE;
    if (RFN_GROW_ZEROED(stream->site_hashes, stream->n_site_hashes, (size_t)site + 1) < 0)
        return RFN_SAMPLE_OTHER_SITE;
    if (!stream->site_hashes[site])
        stream->site_hashes[site] = rec_call_hash(&stream->sites, site);
    return stream->site_hashes[site];
}

uint64_t rec_sampled_site(const struct rec_stream *stream, uint32_t site)
{
    return site < stream->n_site_hashes ? stream->site_hashes[site] : RFN_SAMPLE_NO_SITE;
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
    if (channel || out_channels.n >= REC_MOST_CHANNELS)
        return channel;
    channel = rfn_map_make_object(&out_channels, hash, sizeof *channel);
    if (channel)
        *channel = (struct out_channel){.hash = hash, .dest = (uint32_t)world, .stream = stream};
    return channel;
}

static struct rfn_sample_row *find_row(const struct sent_kind *kind)
{
    const int32_t dest = kind->said.tag == RFN_SAMPLE_COLLECTIVE_TAG ? RFN_SAMPLE_COLLECTIVE
                         : kind->channel                             ? (int32_t)kind->channel->dest
                                                                     : RFN_SAMPLE_ANY;
    const struct rfn_sample_key key = {.source = (int32_t)rec_sampling.rank,
                                       .dest = dest,
                                       .send = kind->site_hash,
                                       .receive = RFN_SAMPLE_NO_SITE,
                                       .size_class = rfn_sample_size_class(kind->bytes)};
    return rfn_sample_table_row(rec_sampling.table, &key);
}

static uint64_t bytes_of(int64_t count, int64_t type)
{
    const struct rec_type *of = type >= 0 && type < rec_types_count() ? rec_type((uint32_t)type)
                                                                      : NULL;
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
                               .generation = rec_sampling.table->generation - 1};
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

/* A message to another job, or on a channel for which there is no room: it counts, in a row of any
 * destination. */
__attribute__((noinline)) static void
send_unfollowed(const struct rec_call *call, const struct rec_comm *comm, struct sent_kind *kind)
{
    const bool foreign = rec_world_rank(comm, kind->said.dest) < 0;
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
        send_unfollowed(call, comm, kind);
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
    end.foreign = false;
    if (!partitioned) {
        rec_announce(channel->dest, channel->hash, &end);
        return;
    }
    partitioned->end = end;
    partitioned->channel = channel;
    partitioned->announces = true;
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
    if (slot < 0 || got.source < 0 || !call->comm ||
        RFN_GROW_ZEROED(taken, taken_capacity, (size_t)slot + 1) < 0)
        return;
    taken[slot] = rec_post_receive(call, call->comm, got.source, got.tag);
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

static void set_up(const struct rec_call *call, const struct rfn_call *role,
                   struct rec_request *request)
{
    struct persistent *persistent = calloc(1, sizeof *persistent);
    const struct said said = said_by(call, role);
    request->sampled = persistent;
    if (!persistent)
        return;
    *persistent = (struct persistent){.role = role,
                                      .comm = call->comm,
                                      .dest = said.dest,
                                      .send_tag = said.tag,
                                      .count = said.count,
                                      .type = said.type,
                                      .source = request->source,
                                      .receive_tag = request->tag,
                                      .partitions = input(call, role->in[RFN_IN_partitions], 0)};
    if (persistent->partitions && rfn_call_receives(role))
        rec_receive_partitioned(call->comm, persistent->source, persistent->receive_tag, 1);
}

static void take_down(struct persistent *persistent)
{
    if (persistent->partitions && rfn_call_receives(persistent->role))
        rec_receive_partitioned(persistent->comm, persistent->source, persistent->receive_tag, -1);
    free(persistent);
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

static void collective(const struct rec_call *call, const struct rfn_call *role)
{
    double rate;
    struct said said = said_by(call, role);
    said.dest = 0;
    said.tag = RFN_SAMPLE_COLLECTIVE_TAG;
    struct sent_kind *kind = call->comm ? kind_of(call, call->comm, &said) : NULL;
    if (!kind || !kind->channel)
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
    if (role->kind == RFN_CALL_OTHER && !rec_follower)
        return;
    const bool happened = call->rc == MPI_SUCCESS ||
                          rec_error_class(call->rc) == (uint32_t)MPI_ERR_TRUNCATE;
    lock();
    if (rec_follower)
        rec_sampling.call = rec_follower->taken() - 1;
    if (happened && role->kind != RFN_CALL_OTHER && role->kind <= RFN_CALL_READY)
        communicate(call, role);
    else if (call->rc == MPI_SUCCESS &&
             rfn_sample_is_collective(role->class_, rec_functions[call->function].flags))
        collective(call, role);
    if (stream->received)
        rec_receives_left(call);
    if (rec_follower)
        rec_follower->called(call, role);
    rec_announcements_progress(call->exit);
    unlock();
}

static void on_made(const struct rec_call *call, struct rec_request *request)
{
    const struct rfn_call *role = &roles[call->function];
    request->sampled = NULL;
    lock();
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
    unlock();
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
    lock();
    if (rec_follower)
        rec_sampling.call = rec_follower->taken();
    if (rec_follower)
        rec_follower->completed(call, request, source != RFN_UNKNOWN && bytes != RFN_UNKNOWN);
    struct rec_posted_receive *receive = receive_of(request);
    if (receive && source == RFN_UNKNOWN)
        rec_receive_cancelled(receive);
    else if (receive)
        rec_receive_done(receive, call, source, tag,
                         bytes < 0 ? REC_UNKNOWN_BYTES : (uint64_t)bytes);
    unlock();
}

static void on_freed(struct rec_request *request)
{
    lock();
    if (rec_follower)
        rec_follower->freed(request);
    struct rec_posted_receive *receive = receive_of(request);
    if (receive)
        rec_receive_lost(receive, request->flags & REC_REQUEST_CANCELLED);
    if (request->flags & REC_REQUEST_PERSISTENT && request->sampled)
        take_down(request->sampled);
    request->sampled = NULL;
    unlock();
}

/* ---- start and end ---- */

/* It may be that a message is not there which was counted: positions are not known any more. */
static void on_send_cancelled(void)
{
    sends_uncertain = true;
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

#ifdef RFN_FLAVOUR_SMPI /* simulated time is nothing to watch */
static bool make_table(void)
{
    void *memory = calloc(1, rfn_sample_table_bytes(ROWS));
    rec_sampling.table = memory ? rfn_sample_table_init(memory, ROWS) : NULL;
    return memory != NULL;
}

static void release_table(void)
{
    free(rec_sampling.table);
}
#else
static bool make_table(void)
{
    if (!rec_sampling.told) { /* nothing to watch */
        rec_sampling.table = calloc(1, rfn_sample_table_bytes(ROWS));
        if (rec_sampling.table)
            rec_sampling.table = rfn_sample_table_init(rec_sampling.table, ROWS);
        return rec_sampling.table != NULL;
    }
    const struct rfn_live_owner owner = {.archive = rec_options.output,
                                         .program = rec_options.program,
                                         .rank = rec_sampling.rank,
                                         .ranks = (uint32_t)rec_job_size()};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_live_segment_create(&live, &owner, ROWS, &diag) < 0)
        return false;
    if (diag.text[0] && rec_job_is_first() && !rec_options.quiet)
        rec_message("the job cannot be watched: %s", diag.text);
    rec_sampling.table = live.table;
    return true;
}

static void release_table(void)
{
    if (rec_sampling.told)
        rfn_live_segment_remove(&live);
    else
        free(rec_sampling.table);
}
#endif

/* ---- who watches, and steers ---- */

static void start_samplers(void)
{
    rfn_sampler_init(&sampler, &rec_sampling.strategy, rec_sampling.rank);
    rfn_sampler_init(&member, &rec_sampling.strategy, ~rec_sampling.rank);
}

static void show_strategy(void)
{
    char text[RFN_SAMPLE_TEXT];
    rfn_sample_strategy_text(&rec_sampling.strategy, text);
    if (live.header)
        rfn_live_text_write(&live.header->in_use, text);
}

static int change_strategy(const char *text)
{
    struct rfn_sample_strategy strategy = rec_sampling.strategy;
    RFN_TRY(rfn_sample_strategy_parse(text, &strategy, NULL));
    rec_sampling.strategy = strategy;
    rec_sampling.changed = true;
    start_samplers();
    show_strategy();
    return 0;
}

int rec_sample_wish(const char *text)
{
    if (!rec_sampling_is_on())
        return 0;
    lock();
    const int error = change_strategy(text);
    unlock();
    return error < 0 ? -1 : 1;
}

void rec_sampling_show(void)
{
    char wish[RFN_SAMPLE_TEXT];
    if (!live.header)
        return;
    __atomic_store_n(&live.header->messages, rec_sampling.messages, __ATOMIC_RELAXED);
    __atomic_store_n(&live.header->bytes, rec_sampling.bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&live.header->sampled, rec_sampling.sampled, __ATOMIC_RELAXED);
    if (rfn_live_text_read(&live.header->wish, &wish_seen, wish))
        change_strategy(wish);
}

static enum rfn_sample_analysis own_analysis(void)
{
    const char *text = rec_options_text(RFN_RECORD_SAMPLE_ANALYSIS);
    return strcmp(text, "stat") == 0    ? RFN_SAMPLE_STAT
           : strcmp(text, "write") == 0 ? RFN_SAMPLE_WRITE
                                        : RFN_SAMPLE_FREQ;
}

/* Ranks whose clocks can be compared have one number. */
static uint64_t own_clock(void)
{
#ifdef RFN_FLAVOUR_SMPI /* simulated time is the same everywhere */
    return 0;
#else
    return rec_clock_sync_host();
#endif
}

/* All ranks sample, or none. */
static bool begin(void)
{
    const char *problem = NULL;
    if (rec_exchange_open(&rec_sampling.exchange, true) < 0)
        problem = "MPI has no communicator left for the recorder";
    else if (!rec_all_say(rec_sampling.exchange.comm,
                          make_roles() && make_table() && rec_announcements_start()))
        problem = "a rank is out of memory";
    if (problem && rec_job_is_first())
        rec_message("no messages are sampled: %s", problem);
    return !problem;
}

void rec_sampling_start(void)
{
    const char *text = rec_options.texts[RFN_RECORD_SAMPLE];
    if ((!text && !rec_follower) || rec_sampling.on || rec_state != REC_RECORDING)
        return;
    rec_sampling.told = text;
    rec_sampling.strategy.seed = strtoull(rec_options_text(RFN_RECORD_SAMPLE_SEED), NULL, 10);
    rfn_sample_strategy_parse(text ? text : "off", &rec_sampling.strategy, NULL);
    if (text)
        rfn_sample_where_parse(rec_options_text(RFN_RECORD_SAMPLE_WHERE), &rec_conditions, NULL);
    rec_sampling.analysis = own_analysis();
    rec_sampling.rank = (uint32_t)rec_job_rank();
    rec_sampling.quantum_ns = rec_clock.tick_ns * (double)(UINT64_C(1) << rec_clock.shift);
    rec_sampling.host = own_clock();
    start_samplers();
    rec_sampling.on = begin();
    show_strategy();
    rec_listen = rec_sampling.on ? on_call : NULL;
    rec_listen_requests = rec_sampling.on ? &request_listener : NULL;
}

bool rec_sampling_is_on(void)
{
    return rec_sampling.on && rec_sampling.told;
}

bool rec_messages_are_followed(void)
{
    return rec_sampling.on;
}

int rec_sampling_end(void)
{
    rec_listen_requests = NULL;
    rec_sampling_show();
    if (live.header)
        __atomic_store_n(&live.header->ended, 1, __ATOMIC_RELAXED);
    const int error = rec_announcements_end();
    if (!error)
        rec_ends_settle();
    rec_exchange_close(&rec_sampling.exchange);
    return error;
}

struct rec_sampled rec_sampled(void)
{
    return (struct rec_sampled){.table = rec_sampling.table,
                                .messages = rec_sampling.messages,
                                .bytes = rec_sampling.bytes,
                                .sampled = rec_sampling.sampled,
                                .not_kept = rec_sampling.not_kept,
                                .changed = rec_sampling.changed,
                                .analysis = rec_sampling.analysis};
}

void rec_sampling_release(void)
{
    rec_listen = NULL;
    rec_listen_requests = NULL; /* threads may still be in MPI when a process ends alone */
    rec_announcements_release();
    rec_ends_release();
    rec_receives_release();
    rec_conditions_release();
    rfn_map_release_objects(&out_channels, free);
    free(taken);
    free(roles);
    taken = NULL;
    taken_capacity = 0;
    roles = NULL;
    if (rec_sampling.table)
        release_table();
    live = (struct rfn_live_segment){0};
    rec_sampling = (struct rec_sampling){0};
}
