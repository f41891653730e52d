/* random_program.h - random parallel programs, with the times that their calls would take.
 *
 * A program is made step by step, so that what a call depends on is made in its own step or before:
 * it cannot deadlock. Its calls then get times from what they depend on (run_program).
 *
 * Channels have a number of sends and of receives; the k-th send goes with the k-th receive. In
 * programs with wildcards a tag belongs to one sender, so that it is known whose message comes.
 *
 * To be included by one test program once, behind fake_archive.h, whose ranks, communicators and
 * functions are used, and cmocka.h. Ranks have one thread.
 */
#ifndef RFN_TESTS_SUPPORT_RANDOM_PROGRAM_H
#define RFN_TESTS_SUPPORT_RANDOM_PROGRAM_H

#include "support/fake_archive.h"

enum {
    RANKS = FAKE_RANKS,
    STEPS = 60,
    EVENTS = 200, /* of a rank */
    MESSAGES = 256,
    INSTANCES = STEPS + 4,
    TAGS = 3,
    CHANNELS = RANKS * RANKS * (TAGS + 1),
    PENDING = 64, /* requests of a rank */
    PARTS = 4     /* that a call waits for */
};
enum { EAGER = 1000 }; /* the largest message that a standard send does not wait with */

/* ---- random numbers ---- */

static uint64_t state_of_random;

static uint64_t next_random(void)
{
    uint64_t x = state_of_random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* From 0 to n - 1. */
static uint32_t below(uint32_t n)
{
    return (uint32_t)(next_random() % n);
}

/* Mostly short, sometimes long. */
static int64_t some_time(void)
{
    return 1 + below(below(4) ? 5000 : 100000);
}

/* ---- programs ---- */

struct place {
    uint32_t rank, index;
};

struct message {
    struct place send, post; /* the calls that begin them */
    uint32_t channel, source, dest;
    int64_t comm, tag, bytes, latency;
    bool sent, posted, synchronous, wildcard;
};

struct channel {
    uint32_t messages[MESSAGES], sends, posts;
};

struct instance {
    enum fake_function function; /* the blocking one */
    int64_t comm, root;
    struct place enters[RANKS]; /* by rank in comm */
    uint32_t n;
    bool empty[RANKS]; /* moves no data */
};

/* What a call waits for, or a request is for. */
enum part_kind { SENDS, RECEIVES, JOINS };
struct part {
    enum part_kind kind;
    uint32_t number; /* of the message or instance */
    struct place made;
};

struct event {
    enum fake_function function;
    uint32_t path;
    struct part parts[PARTS];
    uint32_t n_parts;
    bool completes; /* parts are requests */
    bool begins;    /* the one part is a request from now on */
    uint32_t slot;  /* + 1: of a persistent request that is made, or started */
    int64_t gap_ns, cost_ns, enter_ns, exit_ns;
    /* the oracle's */
    enum rfn_pattern pattern;
    int64_t wait_ns, completion_ns;
    int64_t order_ns; /* of the wait: another order of receiving would have saved it */
    int64_t after_ns; /* waited after that, as the root of a Gather */
    struct place until, after;
};

static struct program {
    struct event events[RANKS][EVENTS];
    uint32_t n[RANKS];
    struct message messages[MESSAGES];
    uint32_t n_messages;
    struct channel channels[CHANNELS];
    struct instance instances[INSTANCES];
    uint32_t n_instances;
    struct part pending[RANKS][PENDING];
    uint32_t n_pending[RANKS], n_slots[RANKS];
    bool wildcards;
} program;

static struct event *event_at(struct place place)
{
    return &program.events[place.rank][place.index];
}

static struct event *add(uint32_t rank, enum fake_function function)
{
    assert_true(program.n[rank] < EVENTS);
    struct event *event = &program.events[rank][program.n[rank]++];
    *event = (struct event){.function = function,
                            .path = below(3),
                            .gap_ns = rank == 0 || below(8) ? some_time() : 0,
                            .cost_ns = 1 + below(500)};
    return event;
}

static struct place last_of(uint32_t rank)
{
    return (struct place){rank, program.n[rank] - 1};
}

/* A call has a part: it waits for it, or makes a request. */
static void give_part(uint32_t rank, enum part_kind kind, uint32_t number, bool begins)
{
    struct place made = last_of(rank);
    struct event *event = event_at(made);
    const struct part part = {kind, number, made};
    event->parts[event->n_parts++] = part;
    event->begins = begins;
    if (!begins)
        return;
    assert_true(program.n_pending[rank] < PENDING);
    program.pending[rank][program.n_pending[rank]++] = part;
}

static uint32_t channel_of(uint32_t source, uint32_t dest, uint32_t tag)
{
    return (source * RANKS + dest) * (TAGS + 1) + tag;
}

/* The k-th message of a channel, made when its send or its receive is. */
static uint32_t message_of(uint32_t channel, uint32_t k)
{
    struct channel *of = &program.channels[channel];
    if (k < of->sends || k < of->posts)
        return of->messages[k];
    assert_true(program.n_messages < MESSAGES);
    uint32_t source = channel / (TAGS + 1) / RANKS, tag = channel % (TAGS + 1);
    program.messages[program.n_messages] = (struct message){
        .channel = channel,
        .source = source,
        .dest = channel / (TAGS + 1) % RANKS,
        .comm = tag % 2 ? 4 : 0,
        .tag = tag + (program.wildcards ? source * 10 : 0),
        .latency = some_time()};
    of->messages[k] = program.n_messages;
    return program.n_messages++;
}

static uint32_t send_part(uint32_t channel, int64_t bytes, bool synchronous, bool begins)
{
    uint32_t number = message_of(channel, program.channels[channel].sends);
    struct message *message = &program.messages[number];
    program.channels[channel].sends++;
    message->send = last_of(message->source);
    message->sent = true;
    message->bytes = bytes;
    message->synchronous = synchronous;
    give_part(message->source, SENDS, number, begins);
    return number;
}

static void post_part(uint32_t channel, bool begins)
{
    uint32_t number = message_of(channel, program.channels[channel].posts);
    struct message *message = &program.messages[number];
    program.channels[channel].posts++;
    message->post = last_of(message->dest);
    message->posted = true;
    message->wildcard = program.wildcards && below(2);
    give_part(message->dest, RECEIVES, number, begins);
}

/* A nonblocking call, or a persistent request that is made and started. */
static void add_begin(uint32_t rank, enum fake_function nonblocking, enum fake_function init)
{
    if (below(3)) {
        add(rank, nonblocking);
        return;
    }
    add(rank, init)->slot = ++program.n_slots[rank];
    add(rank, FAKE_START)->slot = program.n_slots[rank];
}

/* Whether a send would find its receive posted, by the program's order. */
static bool is_expected(uint32_t channel)
{
    return program.channels[channel].posts > program.channels[channel].sends;
}

static void add_send(uint32_t source, uint32_t channel)
{
    static const enum fake_function functions[] = {FAKE_SEND_, FAKE_SSEND, FAKE_ISEND, FAKE_ISSEND};
    enum fake_function function = functions[below(4)];
    bool begins = function == FAKE_ISEND || function == FAKE_ISSEND;
    if (!begins && !is_expected(channel))
        function = FAKE_SEND_; /* and an eager one, below */
    bool large = below(2) && (begins || is_expected(channel));
    int64_t bytes = large ? EAGER * 2 + below(5) : 1 + below(EAGER);
    if (function == FAKE_ISEND)
        add_begin(source, FAKE_ISEND, FAKE_SEND_INIT);
    else
        add(source, function);
    send_part(channel, bytes, function == FAKE_SSEND || function == FAKE_ISSEND, begins);
}

static void add_receive(uint32_t dest, uint32_t channel)
{
    bool begins = below(2) || program.channels[channel].sends <= program.channels[channel].posts;
    if (begins)
        add_begin(dest, FAKE_IRECV, FAKE_RECV_INIT);
    else
        add(dest, FAKE_RECV_);
    post_part(channel, begins);
}

/* A synchronous send and its receive, both blocking. */
static void add_blocking(uint32_t source, uint32_t dest, uint32_t channel)
{
    if (program.channels[channel].sends != program.channels[channel].posts)
        return;
    bool large = below(2);
    add(source, large ? FAKE_SEND_ : FAKE_SSEND);
    add(dest, FAKE_RECV_);
    send_part(channel, large ? EAGER * 3 : 7, !large, false);
    post_part(channel, false);
}

static void add_message(void)
{
    uint32_t source = below(RANKS), dest = (source + 1 + below(RANKS - 1)) % RANKS;
    uint32_t channel = channel_of(source, dest, below(TAGS));
    switch (below(4)) {
    case 0:
        add_blocking(source, dest, channel);
        break;
    case 1:
        add_receive(dest, channel);
        break;
    default:
        add_send(source, channel);
        break;
    }
}

/* All ranks send to the right and receive from the left at once; a tag of its own. */
static void add_shift(void)
{
    for (uint32_t rank = 0; rank < RANKS; rank++)
        add(rank, FAKE_SENDRECV);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        send_part(channel_of(rank, (rank + 1) % RANKS, TAGS), 1 + below(EAGER), false, false);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        post_part(channel_of((rank + RANKS - 1) % RANKS, rank, TAGS), false);
}

static void add_collective(enum fake_function function, int64_t comm)
{
    uint32_t number = program.n_instances++;
    struct instance *instance = &program.instances[number];
    uint32_t size = rfn_archive_comm(&fake, (uint32_t)comm)->size;
    bool begins = function == FAKE_ALLREDUCE && below(3) == 0;
    *instance = (struct instance){.function = function, .comm = comm, .root = below(size)};
    for (uint32_t i = 0; i < size; i++) {
        uint32_t rank = (uint32_t)rfn_comm_world_rank(&fake, (uint32_t)comm, false, i);
        add(rank, begins ? FAKE_IALLREDUCE : function);
        instance->enters[instance->n++] = last_of(rank);
        instance->empty[i] = function == FAKE_GATHER_ && below(4) == 0;
        give_part(rank, JOINS, number, begins);
    }
}

static void add_some_collective(void)
{
    static const enum fake_function functions[] = {FAKE_BARRIER, FAKE_ALLREDUCE, FAKE_BCAST,
                                                   FAKE_GATHER_, FAKE_SCAN,      FAKE_COMM_DUP};
    static const int64_t comms[] = {0, 2, 4, 7};
    enum fake_function function = functions[below(6)];
    add_collective(function, function == FAKE_COMM_DUP ? 0 : comms[below(4)]);
}

/* ---- completion ---- */

/* Whether what it takes to complete the request is in the program. */
static bool can_complete(const struct part *part)
{
    const struct message *message = &program.messages[part->number];
    if (part->kind == JOINS)
        return true;
    if (part->kind == RECEIVES)
        return message->sent;
    return message->posted || (!message->synchronous && message->bytes <= EAGER);
}

static void complete(uint32_t rank, uint32_t at)
{
    struct event *event = event_at(last_of(rank));
    event->completes = true;
    event->parts[event->n_parts++] = program.pending[rank][at];
    program.pending[rank][at] = program.pending[rank][--program.n_pending[rank]];
}

/* Whether the request may be completed together with others: those of messages. Where it is not
 * known whose message comes, it is not known how large an eager one is, so only receives. */
static bool is_social(const struct part *part)
{
    return part->kind == RECEIVES || (part->kind == SENDS && !program.wildcards);
}

static void add_wait(uint32_t rank)
{
    uint32_t n = program.n_pending[rank], wanted = 1 + below(PARTS);
    uint32_t at = n ? below(n) : 0;
    if (!n || !can_complete(&program.pending[rank][at]))
        return;
    bool alone = wanted == 1 || !is_social(&program.pending[rank][at]);
    struct event *event = add(rank, alone ? FAKE_WAIT : FAKE_WAITALL);
    complete(rank, at);
    for (uint32_t i = 0; !alone && i < program.n_pending[rank] && event->n_parts < wanted;) {
        const struct part *part = &program.pending[rank][i];
        if (is_social(part) && can_complete(part))
            complete(rank, i);
        else
            i++;
    }
}

/* What is left over: receives for sends, sends for receives, and all requests. */
static void finish(void)
{
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        uint32_t source = channel / (TAGS + 1) / RANKS, dest = channel / (TAGS + 1) % RANKS;
        while (program.channels[channel].sends > program.channels[channel].posts)
            add_receive(dest, channel);
        while (program.channels[channel].posts > program.channels[channel].sends)
            add_send(source, channel);
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        while (program.n_pending[rank])
            add_wait(rank);
    }
    if (below(2))
        add_collective(FAKE_FINALIZE, 0);
}

static void add_step(void)
{
    switch (below(12)) {
    case 0:
    case 1:
        add_some_collective();
        break;
    case 2:
        if (!program.wildcards)
            add_shift();
        break;
    case 3:
    case 4:
    case 5:
        add_wait(below(RANKS));
        break;
    case 6:
        add(below(RANKS), FAKE_PCONTROL);
        break;
    default:
        add_message();
        break;
    }
}

static void make_program(uint64_t seed)
{
    memset(&program, 0, sizeof program);
    state_of_random = seed;
    program.wildcards = seed % 4 == 3;
    uint32_t steps = 1 + below(STEPS);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        add(rank, FAKE_PCONTROL);
    if (below(2))
        add_collective(FAKE_INIT, 0);
    for (uint32_t i = 0; i < steps && program.n_messages + CHANNELS < MESSAGES; i++)
        add_step();
    finish();
}

/* ---- times ---- */

static uint32_t reached[RANKS]; /* the call that a rank has entered */

static bool has_entered(struct place place)
{
    return place.index <= reached[place.rank];
}

static int64_t latest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool is_rendezvous(const struct message *message)
{
    return message->synchronous || message->bytes > EAGER;
}

/* The members of a collective call whose enter a member cannot go on before: from..to - 1. */
static void depends_on(const struct instance *instance, uint32_t place, uint32_t *from,
                       uint32_t *to)
{
    bool root = place == instance->root;
    *from = 0;
    *to = instance->n;
    if (instance->function == FAKE_SCAN)
        *to = place + 1;
    else if (instance->function == FAKE_GATHER_ && !root)
        *to = 0;
    else if (instance->function == FAKE_BCAST) {
        *from = (uint32_t)instance->root;
        *to = *from + !root;
    }
}

static uint32_t place_in(const struct instance *instance, uint32_t rank)
{
    uint32_t place = 0;
    while (instance->enters[place].rank != rank)
        place++;
    return place;
}

/* When the part is over, *ns at least; false: that is not known yet. */
static bool is_over(const struct part *part, uint32_t rank, int64_t *ns)
{
    const struct message *message = &program.messages[part->number];
    const struct instance *instance = &program.instances[part->number];
    uint32_t from, to;
    if (part->kind == SENDS && !is_rendezvous(message))
        return true;
    if (part->kind != JOINS) {
        struct place other = part->kind == SENDS ? message->post : message->send;
        if (!has_entered(other))
            return false;
        *ns = latest(*ns, event_at(other)->enter_ns + (part->kind == SENDS ? 0 : message->latency));
        return true;
    }
    depends_on(instance, place_in(instance, rank), &from, &to);
    for (uint32_t i = from; i < to; i++) {
        if (!has_entered(instance->enters[i]))
            return false;
        *ns = latest(*ns, event_at(instance->enters[i])->enter_ns);
    }
    return true;
}

/* The call that a rank is in ends, if all is known; then the rank is in the next one. */
static bool advance(uint32_t rank)
{
    struct event *event = &program.events[rank][reached[rank]];
    int64_t ns = event->enter_ns;
    for (uint32_t i = 0; i < event->n_parts && !event->begins; i++) {
        if (!is_over(&event->parts[i], rank, &ns))
            return false;
    }
    event->exit_ns = ns + event->cost_ns;
    reached[rank]++;
    event[1].enter_ns = event->exit_ns + event[1].gap_ns;
    return true;
}

static void run_program(void)
{
    bool moved = true;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        reached[rank] = 0;
        program.events[rank][0].enter_ns = program.events[rank][0].gap_ns;
    }
    while (moved) {
        moved = false;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            while (reached[rank] < program.n[rank] && advance(rank))
                moved = true;
        }
    }
    for (uint32_t rank = 0; rank < RANKS; rank++)
        assert_int_equal(reached[rank], program.n[rank]);
}

#endif
