/* announcements.c - senders tell receivers of the messages that are sampled.
 *
 * Announcements for one rank are gathered. In a call of the program that leaves, a rank looks: it
 * sends full batches, and begins to receive one that has come. It looks when DUE ends of messages
 * have been chosen since it last did, and every AGE_NS, when it sends all. Looking costs more than
 * the time that it takes: where ranks share a core, MPI may hand that to another rank whenever it
 * is asked in vain.
 *
 * Sends are synchronous (MPI_Issend), at most SLOTS at a time, so that no more than these are ever
 * on their way, however slow a receiver is; what cannot be sent yet waits, in bounded memory. A
 * batch may need its sender for the rest of it, which may be outside MPI for long, or wait there
 * for this rank: so receiving is not waited for, either. BATCH keeps a batch below what MPIs send
 * at once (4 KiB with their own head, in Open MPI on one node).
 *
 * In the end each rank learns how many batches were sent to it, and receives the rest. MPI
 * keeps the order of batches between two ranks, so announcements of a channel come in the order of
 * its messages.
 */
#include "base/grow.h"
#include "record/core/job.h"
#include "record/core/options.h"
#include "record/samples/samples_internal.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 2, BATCH = 43, PIECE = 4096, SLOTS = 4, RECEIVE_AT_ONCE = 8, QUEUE_SHARE = 16 };
enum { LOOK_NS = 20000, AGE_NS = 100000000 };
/* Ends of messages after which a rank looks. Where the sender decides alone the receiver keeps an
 * end of each message, and looks when about a batch was chosen of them. */
enum { DUE = 64, DUE_MOST = 2048 };

/* Under SMPI looking takes simulated time: all is sent in the end. */
#ifdef RFN_FLAVOUR_SMPI
enum { WHILE_RUNNING = false };
#else
enum { WHILE_RUNNING = true };
#endif

struct announcement {
    uint64_t channel, position, sent, site, bytes, host;
    int64_t common_ns;          /* when it was sent */
    struct rec_far_least least; /* of messages that the sender got from the receiver */
    double rate;
    uint64_t uncertain;
};

/* Of one receiver. */
struct queue {
    struct announcement *items; /* from `first` to n - 1 */
    size_t first, n, capacity;
    uint32_t rank;
    uint64_t batches; /* sent to it */
    struct queue *next;
};

_Static_assert(BATCH * sizeof(struct announcement) <= 3840, "MPIs send a batch at once");

struct slot {
    MPI_Request request;
    bool used;
    struct announcement items[BATCH];
};

static struct rfn_map queues; /* by rank */
static struct queue *first_queue;
static struct slot *slots; /* SLOTS of them */
static struct slot *landing;
static uint64_t received;                 /* batches */
static size_t queued;                     /* announcements in all queues */
static uint64_t earliest_look, next_look; /* quanta */

static uint64_t quanta_of(double ns)
{
    return (uint64_t)(ns / rec_sampling.quantum_ns) + 1;
}

bool rec_announcements_start(void)
{
    slots = calloc(SLOTS, sizeof *slots);
    landing = calloc(1, sizeof *landing);
    return slots && landing;
}

/* ---- queues ---- */

static struct queue *queue_for(uint32_t dest)
{
    struct queue *queue = rfn_map_object(&queues, dest);
    if (queue)
        return queue;
    queue = rfn_map_make_object(&queues, dest, sizeof *queue);
    if (queue) {
        queue->rank = dest;
        queue->next = first_queue;
        first_queue = queue;
    }
    return queue;
}

static bool has_room(struct queue *queue)
{
    if (WHILE_RUNNING &&
        (queued + 1) * sizeof *queue->items > rec_options.memory_bytes / QUEUE_SHARE)
        return false;
    return RFN_GROW(queue->items, queue->capacity, queue->n + 1) == 0;
}

static struct slot *free_slot(void)
{
    for (int i = 0; i < SLOTS; i++) {
        if (!slots[i].used)
            return &slots[i];
    }
    return NULL;
}

static size_t waiting(const struct queue *queue)
{
    return queue->n - queue->first;
}

/* The first announcements are on their way. The rest moves to the front now and then. */
static void shorten(struct queue *queue, size_t n)
{
    queue->first += n;
    queued -= n;
    if (waiting(queue) > 0 && queue->first < PIECE)
        return;
    memmove(queue->items, queue->items + queue->first, waiting(queue) * sizeof *queue->items);
    queue->n -= queue->first;
    queue->first = 0;
}

/* Sends the first announcements of a queue; false: no slot is free. */
static bool send_batch(struct queue *queue)
{
    struct slot *slot = free_slot();
    const size_t n = waiting(queue) < BATCH ? waiting(queue) : BATCH;
    if (!slot)
        return false;
    memcpy(slot->items, queue->items + queue->first, n * sizeof *slot->items);
    slot->used = rec_mpi.MPI_Issend(slot->items, (int)(n * sizeof *slot->items), MPI_BYTE,
                                    (int)queue->rank, TAG, rec_sampling.exchange.comm,
                                    &slot->request) == MPI_SUCCESS;
    if (!slot->used)
        return false;
    queue->batches++;
    shorten(queue, n);
    return true;
}

void rec_announce(uint32_t dest, uint64_t channel, const struct rec_message_end *end)
{
    struct queue *queue = queue_for(dest);
    if (!queue || !has_room(queue)) {
        rec_sample_dropped(RFN_SAMPLE_NO_ROOM);
        return;
    }
    queue->items[queue->n++] = (struct announcement){.channel = channel,
                                                     .position = end->position,
                                                     .sent = end->sent,
                                                     .site = end->site,
                                                     .bytes = end->bytes,
                                                     .host = rec_sampling.host,
                                                     .common_ns = rec_far_common_ns(end->sent),
                                                     .least = rec_far_least(dest, end->sent),
                                                     .rate = end->rate,
                                                     .uncertain = end->uncertain};
    queued++;
    rec_sampling.due += waiting(queue) % BATCH == 0 ? DUE_MOST : 1;
}

/* ---- on their way ---- */

static void take(const struct announcement *items, size_t n, int source)
{
    for (size_t i = 0; i < n; i++) {
        const struct announcement *item = &items[i];
        const struct rec_message_end end = {.position = item->position,
                                            .site = item->site,
                                            .bytes = item->bytes,
                                            .rate = item->rate,
                                            .sent = item->sent,
                                            .uncertain = item->uncertain != 0,
                                            .host = item->host,
                                            .common_ns = item->common_ns};
        struct rec_in_channel *channel = rec_in_channel(item->channel, (uint32_t)source, false);
        rec_far_told((uint32_t)source, item->least);
        if (channel)
            rec_end_announced(channel, &end);
        else
            rec_sample_dropped(RFN_SAMPLE_NO_ROOM);
    }
}

/* A batch has been received. */
static void take_batch(const MPI_Status *status, const struct announcement *items)
{
    int bytes = 0;
    rec_mpi.MPI_Get_count(status, MPI_BYTE, &bytes);
    received++;
    take(items, (size_t)bytes / sizeof *items, status->MPI_SOURCE);
}

/* Begins to receive a batch, if one has come. */
static void begin_batch(void)
{
    MPI_Status status;
    int there = 0;
    if (rec_mpi.MPI_Iprobe(MPI_ANY_SOURCE, TAG, rec_sampling.exchange.comm, &there, &status) ==
            MPI_SUCCESS &&
        there)
        landing->used = rec_mpi.MPI_Irecv(landing->items, sizeof landing->items, MPI_BYTE,
                                          status.MPI_SOURCE, TAG, rec_sampling.exchange.comm,
                                          &landing->request) == MPI_SUCCESS;
}

static void receive_batches(void)
{
    for (int i = 0; i < RECEIVE_AT_ONCE; i++) {
        MPI_Status status;
        int done = 0;
        if (!landing->used)
            begin_batch();
        if (!landing->used || rec_mpi.MPI_Test(&landing->request, &done, &status) != MPI_SUCCESS ||
            !done)
            return;
        landing->used = false;
        take_batch(&status, landing->items);
    }
}

static void free_slots(void)
{
    for (int i = 0; i < SLOTS; i++) {
        int done = 0;
        if (slots[i].used &&
            rec_mpi.MPI_Test(&slots[i].request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done)
            slots[i].used = false;
    }
}

static void send_batches(bool all)
{
    for (struct queue *queue = first_queue; queue; queue = queue->next) {
        while (waiting(queue) >= (all ? 1 : BATCH) && send_batch(queue))
            ;
    }
}

/* After so many ends a batch may have come. */
static uint32_t due(void)
{
    const struct rfn_sample_strategy *strategy = &rec_sampling.strategy;
    if (!rec_is_untold(strategy))
        return DUE;
    return strategy->kind == RFN_SAMPLE_COUNTER && strategy->period < DUE_MOST / DUE
               ? (uint32_t)strategy->period * DUE
               : DUE_MOST;
}

void rec_announcements_progress(uint64_t now)
{
    const bool is_time = now >= next_look;
    if (!WHILE_RUNNING || now < earliest_look || !(is_time || rec_sampling.due >= due()))
        return;
    rec_sampling.due = 0;
    earliest_look = now + quanta_of(LOOK_NS);
    next_look = now + quanta_of(AGE_NS);
    free_slots();
    if (queued)
        send_batches(is_time || rec_is_untold(&rec_sampling.strategy));
    receive_batches();
    rec_sampling_show();
}

/* ---- the end ---- */

/* A rank has room for all of this before it takes part. */
struct ending {
    uint64_t *sent; /* batches, by rank; of this process, then of all */
    struct announcement *landing;
    MPI_Request *requests;
    int n;
};

static size_t pieces(const struct queue *queue)
{
    return (waiting(queue) + PIECE - 1) / PIECE;
}

static bool make_room(struct ending *ending, int size)
{
    size_t n = SLOTS;
    for (const struct queue *queue = first_queue; queue; queue = queue->next)
        n += pieces(queue);
    ending->sent = calloc((size_t)size, sizeof *ending->sent);
    ending->landing = malloc(PIECE * sizeof *ending->landing);
    ending->requests = calloc(n, sizeof *ending->requests);
    return ending->sent && ending->landing && ending->requests;
}

static void release_room(struct ending *ending)
{
    free(ending->sent);
    free(ending->landing);
    free(ending->requests);
}

/* Sends what waits; the receivers learn of the batches that could be sent. */
static int send_rest(struct ending *ending)
{
    int error = 0;
    for (struct queue *queue = first_queue; queue; queue = queue->next) {
        for (size_t at = queue->first; at < queue->n && !error; at += PIECE) {
            const size_t n = queue->n - at < PIECE ? queue->n - at : PIECE;
            if (rec_mpi.MPI_Isend(queue->items + at, (int)(n * sizeof *queue->items), MPI_BYTE,
                                  (int)queue->rank, TAG, rec_sampling.exchange.comm,
                                  &ending->requests[ending->n]) != MPI_SUCCESS)
                error = RFN_E_EXCHANGE;
            else
                ending->n++, queue->batches++;
        }
        ending->sent[queue->rank] = queue->batches;
    }
    for (int i = 0; i < SLOTS; i++) {
        if (slots[i].used)
            ending->requests[ending->n++] = slots[i].request;
        slots[i].used = false;
    }
    return error;
}

/* The batch that has begun to land is the first of its sender's. */
static int receive_begun(void)
{
    MPI_Status status;
    if (!landing->used)
        return 0;
    if (rec_mpi.MPI_Wait(&landing->request, &status) != MPI_SUCCESS)
        return RFN_E_EXCHANGE;
    landing->used = false;
    take_batch(&status, landing->items);
    return 0;
}

static int receive_rest(const struct ending *ending)
{
    RFN_TRY(receive_begun());
    while (received < ending->sent[rec_sampling.rank]) {
        MPI_Status status;
        if (rec_mpi.MPI_Recv(ending->landing, PIECE * (int)sizeof *ending->landing, MPI_BYTE,
                             MPI_ANY_SOURCE, TAG, rec_sampling.exchange.comm,
                             &status) != MPI_SUCCESS)
            return RFN_E_EXCHANGE;
        take_batch(&status, ending->landing);
    }
    return 0;
}

int rec_announcements_end(void)
{
    const MPI_Comm comm = rec_sampling.exchange.comm;
    const int size = rec_sampling.exchange.exchange.size;
    struct ending ending = {0};
    int error = rec_all_say(comm, make_room(&ending, size)) ? 0 : RFN_E_NOMEM;
    if (!error) {
        error = send_rest(&ending);
        if (rec_mpi.MPI_Allreduce(MPI_IN_PLACE, ending.sent, size, MPI_UINT64_T, MPI_SUM, comm) !=
            MPI_SUCCESS)
            error = RFN_E_EXCHANGE;
        else if (receive_rest(&ending) < 0)
            error = RFN_E_EXCHANGE;
        else if (rec_mpi.MPI_Waitall(ending.n, ending.requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
            error = RFN_E_EXCHANGE;
    }
    release_room(&ending);
    return error;
}

void rec_announcements_end_alone(void)
{
    for (struct queue *queue = first_queue; queue; queue = queue->next) {
        if (queue->rank == rec_sampling.rank)
            take(queue->items + queue->first, waiting(queue), (int)queue->rank);
        else
            rec_sampling.table->dropped[RFN_SAMPLE_ONE_SIDED] += waiting(queue);
    }
}

static void release_queue(void *object)
{
    struct queue *queue = object;
    free(queue->items);
    free(queue);
}

void rec_announcements_release(void)
{
    bool under_way = landing && landing->used; /* MPI has the memory: no end has been waited for */
    for (int i = 0; slots && i < SLOTS; i++)
        under_way |= slots[i].used;
    rfn_map_release_objects(&queues, release_queue);
    first_queue = NULL;
    if (!under_way) {
        free(slots);
        free(landing);
    }
    slots = landing = NULL;
    received = 0;
    queued = 0;
}
