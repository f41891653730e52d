/* All ranks' operations of a collective call, played on a model of the data: each rank must end
 * with the pieces, or the contributions of all ranks, that MPI says; every message must be received
 * with its size; and no rank may wait for ever, although sends are over only when they are
 * received.
 *
 * A place of the data knows whose contributions are in it, as a set of ranks. What a message
 * carries is what its sender has when it posts it; a receive takes it when it is waited for. In
 * reductions two sets of contributions are added if they have no rank in common; a set may be
 * replaced by one that contains it; everything else would count a contribution twice. */
#include "simulate/collectives/coll_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    RANKS = 320,
    WORDS = RANKS / 64,
    PLACES = 34 * 34,
    REQUESTS = 4 * RANKS,
    MESSAGES = 1 << 17
};

struct set {
    uint64_t words[WORDS];
};

static struct set only(uint32_t rank)
{
    struct set set = {{0}};
    set.words[rank / 64] = (uint64_t)1 << rank % 64;
    return set;
}

static struct set up_to(uint32_t n)
{
    struct set set = {{0}};
    for (uint32_t i = 0; i < n; i++)
        set.words[i / 64] |= (uint64_t)1 << i % 64;
    return set;
}

static bool contains(const struct set *a, const struct set *b)
{
    for (int i = 0; i < WORDS; i++)
        if (b->words[i] & ~a->words[i])
            return false;
    return true;
}

static bool disjoint(const struct set *a, const struct set *b)
{
    for (int i = 0; i < WORDS; i++)
        if (a->words[i] & b->words[i])
            return false;
    return true;
}

static void add(struct set *a, const struct set *b)
{
    for (int i = 0; i < WORDS; i++)
        a->words[i] |= b->words[i];
}

/* ---- the call that is played ---- */

struct message {
    uint32_t from, to;
    int32_t tag;
    int64_t bytes, at;
    bool sent, posted; /* by the one, and by the other */
    uint32_t first, n; /* carried: places of `carried` */
    uint32_t next;     /* between the two; UINT32_MAX: the last */
};

struct rank {
    struct rfn_coll_ops ops;
    size_t next;
    uint32_t posted; /* requests */
    uint32_t requests[REQUESTS];
    bool receives[REQUESTS];
    bool entered; /* its blocking operation was posted: message `blocking` */
    uint32_t blocking;
};

static struct {
    enum rfn_coll_choice choice;
    enum rfn_action_kind kind;
    uint32_t size, root;
    int64_t bytes;
    int64_t sizes[RANKS]; /* blocks of V kinds */
    int64_t element;
    bool blocks;
    struct set all;
    uint32_t places;
    int64_t at[PLACES]; /* of places in a buffer */
    struct rank ranks[RANKS];
    struct set *state, *result; /* by rank and place; result: of scans */
    struct message *messages;
    uint32_t n_messages;
    uint32_t between[RANKS][RANKS]; /* the first message that may be open; UINT32_MAX: none */
    struct set *carried;
    uint32_t *carried_places;
    size_t n_carried, carried_capacity;
} play;

static struct set *state_of(uint32_t rank, uint32_t place)
{
    return &play.state[(size_t)rank * play.places + place];
}

static bool is_reduction(void)
{
    return play.kind == RFN_ACTION_REDUCE || play.kind == RFN_ACTION_ALLREDUCE ||
           play.kind == RFN_ACTION_SCAN || play.kind == RFN_ACTION_EXSCAN ||
           play.kind == RFN_ACTION_REDUCE_SCATTER;
}

static bool is_alltoall(void)
{
    return play.kind == RFN_ACTION_ALLTOALL || play.kind == RFN_ACTION_ALLTOALLV;
}

static bool has_blocks(void)
{
    return play.kind >= RFN_ACTION_GATHER && !is_alltoall();
}

static bool is_v(void)
{
    return play.kind == RFN_ACTION_GATHERV || play.kind == RFN_ACTION_SCATTERV ||
           play.kind == RFN_ACTION_ALLGATHERV || play.kind == RFN_ACTION_ALLTOALLV ||
           play.kind == RFN_ACTION_REDUCE_SCATTER;
}

/* From and to matter to alltoallv only. */
static int64_t block_bytes(uint32_t from, uint32_t to)
{
    return !is_v()                             ? play.bytes
           : play.kind == RFN_ACTION_ALLTOALLV ? play.sizes[(from + 3 * to) % play.size]
                                               : play.sizes[to];
}

static void set_places(void)
{
    play.places = has_blocks() ? play.size : is_alltoall() ? play.size * play.size : 0;
    if (play.places > 0)
        return;
    const int64_t parts[] = {play.size, coll_power_below(play.size)};
    play.at[play.places++] = 0;
    if (play.bytes > 1)
        play.at[play.places++] = play.bytes - 1;
    for (int p = 0; play.kind != RFN_ACTION_BARRIER && p < 2; p++)
        for (int64_t i = 0; i < parts[p]; i++)
            for (int64_t d = -1; d <= 1 && play.places < PLACES; d++) {
                int64_t at = play.bytes * i / parts[p] + d;
                if (at > 0 && at < play.bytes)
                    play.at[play.places++] = at;
            }
}

static void set_state(void)
{
    for (uint32_t r = 0; r < play.size; r++)
        for (uint32_t p = 0; p < play.places; p++) {
            bool has = is_alltoall()                   ? p / play.size == r
                       : play.kind == RFN_ACTION_BCAST ? r == play.root
                       : play.kind == RFN_ACTION_SCATTER || play.kind == RFN_ACTION_SCATTERV
                           ? r == play.root
                       : has_blocks() && !is_reduction() ? p == r
                                                         : true;
            *state_of(r, p) = has ? only(r) : up_to(0);
            play.result[(size_t)r * play.places + p] = play.kind == RFN_ACTION_SCAN ? only(r)
                                                                                    : up_to(0);
        }
}

/* ---- what a message carries ---- */

static void carry(struct message *message, uint32_t place)
{
    if (play.n_carried == play.carried_capacity) {
        play.carried_capacity = play.carried_capacity ? 2 * play.carried_capacity : 1 << 16;
        play.carried = realloc(play.carried, play.carried_capacity * sizeof *play.carried);
        play.carried_places = realloc(play.carried_places,
                                      play.carried_capacity * sizeof *play.carried_places);
    }
    play.carried[play.n_carried] = *state_of(message->from, place);
    play.carried_places[play.n_carried++] = place;
    message->n++;
}

static void carry_blocks(struct message *message)
{
    int64_t left = message->bytes;
    uint32_t block = (uint32_t)message->at;
    assert_in_range(message->at, 0, play.size - 1);
    for (uint32_t i = 0; left > 0; i++, block = (block + 1) % play.size) {
        assert_true(i < play.size);
        left -= block_bytes(message->from, block);
        assert_true(left >= 0);
        carry(message, block);
    }
}

/* Of Bruck's algorithm: all blocks that are here and move now. */
static void carry_step(struct message *message)
{
    uint32_t step = (uint32_t)(-1 - message->at), before = (1u << step) - 1;
    int64_t bytes = 0;
    for (uint32_t p = 0; p < play.places; p++) {
        uint32_t from = p / play.size, way = (p % play.size + play.size - from) % play.size;
        if (!(way >> step & 1) || (from + (way & before)) % play.size != message->from)
            continue;
        assert_false(disjoint(state_of(message->from, p), state_of(message->from, p)));
        carry(message, p);
        bytes += play.bytes;
    }
    assert_int_equal(message->bytes, bytes);
}

static void carry_all(struct message *message)
{
    message->first = (uint32_t)play.n_carried;
    if (is_alltoall() && message->at < 0) {
        carry_step(message);
    } else if (is_alltoall()) {
        uint32_t from = (uint32_t)message->at / play.size, to = (uint32_t)message->at % play.size;
        assert_int_equal(message->bytes, block_bytes(from, to));
        carry(message, (uint32_t)message->at);
    } else if (has_blocks()) {
        carry_blocks(message);
    } else {
        for (uint32_t p = 0; p < play.places; p++)
            if (play.kind == RFN_ACTION_BARRIER ||
                (play.at[p] >= message->at && play.at[p] < message->at + message->bytes))
                carry(message, p);
    }
}

static void merge(uint32_t rank, const struct message *message)
{
    for (uint32_t i = 0; i < message->n; i++) {
        const struct set *came = &play.carried[message->first + i];
        uint32_t place = play.carried_places[message->first + i];
        struct set *here = state_of(rank, place);
        if (is_reduction())
            assert_true(disjoint(here, came) || contains(came, here));
        if (play.kind == RFN_ACTION_ALLGATHER)
            assert_true(disjoint(here, came)); /* nothing comes twice */
        add(here, came);
        struct set *result = &play.result[(size_t)rank * play.places + place];
        if ((play.kind == RFN_ACTION_SCAN || play.kind == RFN_ACTION_EXSCAN) &&
            message->from < rank) {
            assert_true(disjoint(result, came));
            add(result, came);
        }
    }
}

/* ---- playing ---- */

static bool is_over(uint32_t message)
{
    return play.messages[message].sent && play.messages[message].posted;
}

/* The first message between the two that the other one has posted, and this one has not; or a new
 * one. */
static struct message *find(uint32_t from, uint32_t to, const struct rfn_coll_op *op, bool sends)
{
    assert_true(to < play.size && from < play.size && to != from);
    uint32_t *at = &play.between[from][to];
    while (*at != UINT32_MAX && is_over(*at))
        *at = play.messages[*at].next;
    for (; *at != UINT32_MAX; at = &play.messages[*at].next) {
        struct message *m = &play.messages[*at];
        if (m->tag == op->tag && (sends ? !m->sent : !m->posted))
            return m;
    }
    assert_true(play.n_messages < MESSAGES);
    *at = play.n_messages;
    struct message *message = &play.messages[play.n_messages++];
    *message = (struct message){.from = from,
                                .to = to,
                                .tag = op->tag,
                                .bytes = op->bytes,
                                .at = op->at,
                                .next = UINT32_MAX};
    return message;
}

static uint32_t post(uint32_t rank, const struct rfn_coll_op *op, bool sends)
{
    uint32_t from = sends ? rank : op->peer, to = sends ? op->peer : rank;
    assert_true(op->tag < 0 && op->bytes >= 0);
    struct message *message = find(from, to, op, sends);
    assert_int_equal(message->bytes, op->bytes);
    if (op->bytes > 0)
        assert_int_equal(message->at, op->at);
    if (sends)
        carry_all(message);
    *(sends ? &message->sent : &message->posted) = true;
    return (uint32_t)(message - play.messages);
}

static bool wait_is_over(struct rank *rank, uint32_t number, const struct rfn_coll_op *op)
{
    assert_true(op->first + op->n <= rank->posted && op->n > 0);
    for (uint64_t i = op->first; i < op->first + op->n; i++)
        if (!is_over(rank->requests[i]))
            return false;
    for (uint64_t i = op->first; i < op->first + op->n; i++)
        if (rank->receives[i]) {
            merge(number, &play.messages[rank->requests[i]]);
            rank->receives[i] = false;
        }
    return true;
}

static bool blocking_is_over(struct rank *rank, uint32_t number, const struct rfn_coll_op *op)
{
    if (!rank->entered)
        rank->blocking = post(number, op, op->kind == RFN_COLL_SEND);
    rank->entered = !is_over(rank->blocking);
    if (!rank->entered && op->kind == RFN_COLL_RECV)
        merge(number, &play.messages[rank->blocking]);
    return !rank->entered;
}

static bool step(struct rank *rank, uint32_t number)
{
    const struct rfn_coll_op *op = &rank->ops.ops[rank->next];
    switch (op->kind) {
    case RFN_COLL_WAIT:
        return wait_is_over(rank, number, op);
    case RFN_COLL_SEND:
    case RFN_COLL_RECV:
        return blocking_is_over(rank, number, op);
    case RFN_COLL_COMPUTE:
        return true;
    default:
        assert_true(rank->posted < REQUESTS);
        rank->receives[rank->posted] = op->kind == RFN_COLL_IRECV;
        rank->requests[rank->posted++] = post(number, op, op->kind == RFN_COLL_ISEND);
        return true;
    }
}

static void run_all(void)
{
    bool moved = true;
    uint32_t left = play.size;
    while (moved && left > 0) {
        moved = false;
        left = 0;
        for (uint32_t r = 0; r < play.size; r++) {
            struct rank *rank = &play.ranks[r];
            for (; rank->next < rank->ops.n && step(rank, r); moved = true)
                rank->next++;
            left += rank->next < rank->ops.n;
        }
    }
    assert_int_equal(left, 0); /* else a deadlock */
    for (uint32_t i = 0; i < play.n_messages; i++)
        assert_true(is_over(i));
    for (uint32_t r = 0; r < play.size; r++) {
        assert_int_equal(play.ranks[r].posted, play.ranks[r].ops.requests);
        for (uint32_t i = 0; i < play.ranks[r].posted; i++)
            assert_false(play.ranks[r].receives[i]); /* else it was not waited for */
    }
}

/* ---- what must be there ---- */

static bool is_empty_place(uint32_t place)
{
    if (has_blocks())
        return block_bytes(0, place) == 0;
    if (is_alltoall())
        return block_bytes(place / play.size, place % play.size) == 0;
    return play.kind != RFN_ACTION_BARRIER && play.bytes == 0;
}

static void check_place(uint32_t rank, uint32_t place)
{
    struct set want = play.all, root = only(play.root), all = play.all;
    const struct set *have = state_of(rank, place);
    switch (play.kind) {
    case RFN_ACTION_BCAST:
        want = root;
        break;
    case RFN_ACTION_REDUCE:
        want = rank == play.root ? all : *have;
        break;
    case RFN_ACTION_SCAN:
        want = up_to(rank + 1);
        break;
    case RFN_ACTION_EXSCAN:
        want = up_to(rank);
        break;
    case RFN_ACTION_GATHER:
    case RFN_ACTION_GATHERV:
        want = rank == play.root ? only(place) : *have;
        break;
    case RFN_ACTION_ALLGATHER:
    case RFN_ACTION_ALLGATHERV:
        want = only(place);
        break;
    case RFN_ACTION_SCATTER:
    case RFN_ACTION_SCATTERV:
        want = rank == place ? root : *have;
        break;
    case RFN_ACTION_REDUCE_SCATTER:
        want = rank == place ? all : *have;
        break;
    case RFN_ACTION_ALLTOALL:
    case RFN_ACTION_ALLTOALLV:
        want = place % play.size == rank ? only(place / play.size) : *have;
        break;
    default:
        break;
    }
    if (play.kind == RFN_ACTION_SCAN || play.kind == RFN_ACTION_EXSCAN)
        have = &play.result[(size_t)rank * play.places + place];
    if (is_empty_place(place))
        return;
    assert_memory_equal(have, &want, sizeof want);
}

/* ---- calls ---- */

static struct rfn_action action_of(uint32_t rank, int64_t *sends, int64_t *receives)
{
    struct rfn_action action = {.kind = play.kind,
                                .blocks = play.blocks,
                                .root = play.root,
                                .type_bytes = (uint32_t)play.element,
                                .bytes = play.bytes,
                                .receive_bytes = play.bytes};
    for (uint32_t i = 0; is_v() && i < play.size; i++) {
        sends[i] = block_bytes(rank, i);
        receives[i] = play.kind == RFN_ACTION_ALLTOALLV ? block_bytes(i, rank)
                                                        : block_bytes(rank, i);
    }
    bool is_root = rank == play.root;
    if (is_v() && (play.kind != RFN_ACTION_SCATTERV || is_root))
        action.sends = sends;
    if (is_v() && (play.kind != RFN_ACTION_GATHERV || is_root))
        action.receives = receives;
    if (is_v() && play.kind != RFN_ACTION_ALLTOALLV)
        action.bytes = action.receive_bytes = block_bytes(rank, rank);
    if (play.kind == RFN_ACTION_GATHER && !is_root)
        action.receive_bytes = -1; /* not to be looked at */
    if (play.kind == RFN_ACTION_SCATTER && !is_root)
        action.bytes = -1;
    return action;
}

static void make_ops(void)
{
    int64_t sends[RANKS], receives[RANKS];
    for (uint32_t r = 0; r < play.size; r++) {
        struct rank *rank = &play.ranks[r];
        struct rfn_action action = action_of(r, sends, receives);
        action.volume = is_reduction() ? 7 : 0;
        assert_int_equal(rfn_collective_ops(play.choice, &action, play.size, r, &rank->ops), 0);
        rank->next = rank->posted = 0;
        rank->entered = false;
        if (is_reduction())
            assert_int_equal(rank->ops.ops[rank->ops.n - 1].kind, RFN_COLL_COMPUTE);
    }
}

static void play_call(void)
{
    set_places();
    play.all = up_to(play.size);
    size_t n = (size_t)play.size * play.places;
    play.state = malloc(n * sizeof *play.state);
    play.result = malloc(n * sizeof *play.result);
    play.n_messages = 0;
    for (uint32_t r = 0; r < play.size; r++)
        memset(play.between[r], 0xff, sizeof play.between[r]);
    play.n_carried = 0;
    set_state();
    make_ops();
    run_all();
    for (uint32_t r = 0; r < play.size; r++)
        for (uint32_t p = 0; p < play.places; p++)
            check_place(r, p);
    free(play.state);
    free(play.result);
}

static const int64_t byte_sizes[] = {0, 1, 24, 300, 1000, 3000, 20000, 70000, 300000, 2 << 20};

/* Every second size; the others with another number of ranks. */
static void play_sizes(void)
{
    for (size_t i = play.size / 2 % 2; i < sizeof byte_sizes / sizeof *byte_sizes; i += 2) {
        play.bytes = byte_sizes[i] / play.element * play.element;
        for (uint32_t b = 0; b < play.size; b++) /* some are empty */
            play.sizes[b] = b % 3 == 1 ? 0 : (play.bytes / 8 + b) * play.element;
        play_call();
        for (uint32_t b = 0; is_v() && b < play.size; b++)
            play.sizes[b] = play.bytes;
        if (is_v())
            play_call();
    }
}

static void play_kind(enum rfn_action_kind kind, uint32_t most)
{
    play.kind = kind;
    for (play.size = 1; play.size <= most; play.size++) {
        const uint32_t roots[] = {0, play.size % 3 ? play.size - 1 : play.size / 2};
        bool rooted = kind == RFN_ACTION_BCAST || kind == RFN_ACTION_REDUCE ||
                      (kind >= RFN_ACTION_GATHER && kind <= RFN_ACTION_SCATTERV);
        for (int r = 0; r < (rooted && play.size > 1 ? 2 : 1); r++) {
            play.root = roots[r];
            play.element = play.size % 2 ? 8 : 1;
            play_sizes();
        }
    }
}

static void play_choice(enum rfn_coll_choice choice, bool blocks)
{
    play.choice = choice;
    play.blocks = blocks;
    for (int kind = RFN_ACTION_BARRIER; kind <= RFN_ACTION_REDUCE_SCATTER; kind++)
        play_kind((enum rfn_action_kind)kind, 33);
}

static void test_simgrid(void **state)
{
    (void)state;
    play_choice(RFN_COLL_CHOICE_SIMGRID, true);
}

static void test_mpich(void **state)
{
    (void)state;
    play_choice(RFN_COLL_CHOICE_MPICH, true);
}

static void test_ompi(void **state)
{
    (void)state;
    play_choice(RFN_COLL_CHOICE_OMPI, true);
}

static void test_not_blocking(void **state)
{
    (void)state;
    play_choice(RFN_COLL_CHOICE_MPICH, false);
}

/* Algorithms that are for many ranks only. */
static void test_many_ranks(void **state)
{
    const enum rfn_action_kind kinds[] = {RFN_ACTION_BARRIER, RFN_ACTION_BCAST, RFN_ACTION_REDUCE,
                                          RFN_ACTION_ALLREDUCE, RFN_ACTION_ALLGATHER};
    (void)state;
    play.blocks = true;
    play.element = 1;
    play.root = 5;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int choice = 0; choice < RFN_COLL_CHOICES; choice++)
            for (play.size = 64; play.size < RANKS; play.size += 85) {
                play.choice = (enum rfn_coll_choice)choice;
                play.kind = kinds[k];
                play.bytes = 10000;
                play_call();
            }
}

static void test_wrong(void **state)
{
    struct rfn_coll_ops ops = {0};
    struct rfn_action bcast = {.kind = RFN_ACTION_BCAST, .blocks = true, .root = 4};
    struct rfn_action compute = {.kind = RFN_ACTION_COMPUTE, .blocks = true};
    struct rfn_action gatherv = {.kind = RFN_ACTION_GATHERV, .blocks = true, .root = 1};
    (void)state;
    assert_int_equal(rfn_collective_ops(0, &bcast, 4, 0, &ops), RFN_E_USAGE);
    bcast.root = -1;
    assert_int_equal(rfn_collective_ops(0, &bcast, 4, 0, &ops), RFN_E_USAGE);
    bcast.root = 3;
    assert_int_equal(rfn_collective_ops(0, &bcast, 4, 4, &ops), RFN_E_USAGE);
    assert_int_equal(rfn_collective_ops(0, &compute, 4, 0, &ops), RFN_E_USAGE);
    assert_int_equal(rfn_collective_ops(0, &gatherv, 4, 1, &ops), RFN_E_USAGE);
    assert_int_equal(rfn_collective_ops(0, &gatherv, 4, 0, &ops), 0);
    free(ops.ops);
    assert_int_equal(rfn_coll_choice_named("mpich"), RFN_COLL_CHOICE_MPICH);
    assert_int_equal(rfn_coll_choice_named("lam"), -1);
    assert_string_equal(rfn_coll_choice_name(RFN_COLL_CHOICE_OMPI), "ompi");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simgrid),    cmocka_unit_test(test_mpich),
        cmocka_unit_test(test_ompi),       cmocka_unit_test(test_not_blocking),
        cmocka_unit_test(test_many_ranks), cmocka_unit_test(test_wrong),
    };
    play.messages = calloc(MESSAGES, sizeof *play.messages);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (uint32_t r = 0; r < RANKS; r++)
        free(play.ranks[r].ops.ops);
    free(play.messages);
    free(play.carried);
    free(play.carried_places);
    return failed;
}
