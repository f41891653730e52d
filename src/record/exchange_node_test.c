/* Tests of messages through shared memory, between processes. That an archive is the same with and
 * without it is tested with whole runs (tests/test_recorder.py). */
#include "record/forked_ranks.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_RANKS = FORKED_RANKS_MAX };

/* Below, at and above one, two and three pieces of a message. */
static const size_t sizes[] = {0, 1, 8, 32751, 32752, 32753, 65504, 65505, 98256, 98257, 1000003};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* What the k-th message from one rank to another says. */
static uint8_t byte_of(int from, int to, size_t k, size_t at)
{
    return (uint8_t)((size_t)from * 31 + (size_t)to * 17 + k * 7 + at + (at >> 13));
}

static bool send_one(struct rec_node_exchange *node, int to, size_t k)
{
    uint8_t *bytes = malloc(sizes[k] + 1);
    for (size_t i = 0; bytes && i < sizes[k]; i++)
        bytes[i] = byte_of(node->exchange.rank, to, k, i);
    bool sent = bytes && node->exchange.send(node->exchange.context, to, bytes, sizes[k]) == 0;
    free(bytes);
    return sent;
}

/* Appended to what is there. */
static bool receive_one(struct rec_node_exchange *node, int from, size_t k)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    rfn_buf_u8(&bytes, 99);
    bool right = node->exchange.receive(node->exchange.context, from, &bytes) == 0 &&
                 bytes.size == sizes[k] + 1 && bytes.data[0] == 99;
    for (size_t i = 0; right && i < sizes[k]; i++)
        right = bytes.data[i + 1] == byte_of(from, node->exchange.rank, k, i);
    rfn_buf_release(&bytes);
    return right;
}

/* ---- what ranks do; whether all went well ---- */

/* Messages of all sizes up the tree, down, and from all to rank 0 one after the other, of which
 * some are left out. */
static bool exchange_sizes(struct rec_node_exchange *node)
{
    const int rank = node->exchange.rank, size = node->exchange.size;
    bool right = true;
    for (size_t k = 0; k < N_SIZES; k++) {
        int step = 1;
        for (; step < size && !(rank & step); step *= 2) {
            if (rank + step < size)
                right = receive_one(node, rank + step, k) && send_one(node, rank + step, k) &&
                        right;
        }
        if (rank > 0)
            right = send_one(node, rank - step, k) && receive_one(node, rank - step, k) && right;
    }
    for (size_t k = 0; k < N_SIZES && rank > 0; k++)
        right = send_one(node, 0, k) && right;
    for (int from = 1; from < size && rank == 0; from++) {
        for (size_t k = 0; k < N_SIZES; k++) {
            const bool skips = (k + (size_t)from) % 3 == 0;
            right = (skips ? (node->exchange.skip)(node->exchange.context, from) == 0
                           : receive_one(node, from, k)) &&
                    right;
        }
    }
    return right;
}

static bool tell_words(struct rec_node_exchange *node)
{
    bool right = true;
    for (uint64_t i = 1; i <= 20; i++) {
        const uint64_t said = i * UINT64_C(0x9e3779b97f4a7c15);
        uint64_t word = node->exchange.rank ? 0 : said;
        right = rfn_exchange_tell(&node->exchange, &word) == 0 && word == said && right;
    }
    return right;
}

struct sum {
    uint64_t ranks, total;
};

static int add(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct sum *sum = state;
    uint64_t theirs;
    (void)child;
    if (size != sizeof theirs)
        return RFN_E_EXCHANGE;
    memcpy(&theirs, bytes, size);
    sum->ranks += theirs;
    return 0;
}

static int write_sum(void *state, struct rfn_buf *out)
{
    const struct sum *sum = state;
    rfn_buf_bytes(out, &sum->ranks, sizeof sum->ranks);
    return rfn_buf_status(out);
}

static int turn(void *state)
{
    struct sum *sum = state;
    sum->total = sum->ranks;
    return 0;
}

static int write_down(void *state, int child, struct rfn_buf *out)
{
    const struct sum *sum = state;
    (void)child;
    rfn_buf_bytes(out, &sum->total, sizeof sum->total);
    return rfn_buf_status(out);
}

static int read_down(void *state, const uint8_t *bytes, size_t size)
{
    struct sum *sum = state;
    if (size != sizeof sum->total)
        return RFN_E_EXCHANGE;
    memcpy(&sum->total, bytes, size);
    return 0;
}

/* Rounds, of which one rank fails in some: then all do, on the way up or down. */
static bool run_rounds(struct rec_node_exchange *node)
{
    static const struct rfn_round round = {.merge = add,
                                           .write = write_sum,
                                           .turn = turn,
                                           .write_down = write_down,
                                           .read_down = read_down};
    const int size = node->exchange.size;
    bool right = true;
    for (int i = 0; i < 30; i++) {
        struct sum sum = {.ranks = (uint64_t)node->exchange.rank + 1};
        const bool fails = i % 3 == 2;
        const int own = fails && node->exchange.rank == i % size ? RFN_E_NOMEM : 0;
        int error = rfn_exchange_round(&node->exchange, &round, &sum, own);
        uint64_t expected = (uint64_t)size * ((uint64_t)size + 1) / 2;
        right = right && (fails ? error < 0 : error == 0 && sum.total == expected);
    }
    return right;
}

/* A rank without memory for a message takes it nevertheless, and what comes next is right. */
static bool have_no_memory(struct rec_node_exchange *node)
{
    struct rfn_buf none = {.failed = true};
    const size_t large = N_SIZES - 1;
    if (node->exchange.rank == 1)
        return send_one(node, 0, large) && send_one(node, 0, large);
    return node->exchange.rank > 1 ||
           (node->exchange.receive(node->exchange.context, 1, &none) == RFN_E_NOMEM &&
            receive_one(node, 1, large));
}

/* What is not sent in the tree has no way. */
static bool send_elsewhere(struct rec_node_exchange *node)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    return node->exchange.send(node->exchange.context, node->exchange.rank, "", 1) ==
               RFN_E_EXCHANGE &&
           node->exchange.receive(node->exchange.context, node->exchange.size, &bytes) ==
               RFN_E_EXCHANGE &&
           (node->exchange.rank != 1 ||
            node->exchange.send(node->exchange.context, 2, "", 1) == RFN_E_EXCHANGE);
}

static void test_sizes(void **state)
{
    (void)state;
    const int ranks[] = {2, 3, 8, 13, 64, 66};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        run_forked_ranks(ranks[i], exchange_sizes);
}

static void test_words(void **state)
{
    (void)state;
    for (int size = 2; size <= 9; size++)
        run_forked_ranks(size, tell_words);
    run_forked_ranks(MAX_RANKS, tell_words);
}

static void test_rounds(void **state)
{
    (void)state;
    for (int size = 2; size <= 9; size++)
        run_forked_ranks(size, run_rounds);
    run_forked_ranks(MAX_RANKS, run_rounds);
}

static void test_no_memory(void **state)
{
    (void)state;
    run_forked_ranks(2, have_no_memory);
    run_forked_ranks(4, have_no_memory);
}

static void test_no_way(void **state)
{
    (void)state;
    run_forked_ranks(3, send_elsewhere);
}

/* A rank that ends leaves nobody waiting, whether it was to send or to receive. */
static bool end_early(struct rec_node_exchange *node)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    const size_t large = N_SIZES - 1;
    if (node->exchange.rank == 1)
        return receive_one(node, 0, 1) && send_one(node, 0, 1); /* and no more */
    if (node->exchange.rank > 1)
        return true;
    return send_one(node, 1, 1) && receive_one(node, 1, 1) &&
           node->exchange.receive(node->exchange.context, 1, &bytes) == RFN_E_EXCHANGE &&
           !send_one(node, 1, large);
}

static void test_ended(void **state)
{
    (void)state;
    run_forked_ranks(3, end_early);
}

/* Nor does one that has joined, and ends before it sends anything. */
static void test_ended_silently(void **state)
{
    (void)state;
    struct rec_node_name name = rec_node_offer(2);
    struct rec_node_exchange node;
    struct rfn_buf bytes = RFN_BUF_INIT;
    int status;
    pid_t other = fork();
    assert_true(other >= 0);
    if (other == 0)
        _exit(!rec_node_join(&node, &name, 1, 2));
    assert_true(rec_node_join(&node, &name, 0, 2));
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
    rec_node_withdraw(&name);
    alarm(FORKED_RANKS_SECONDS);
    assert_int_equal(node.exchange.receive(node.exchange.context, 1, &bytes), RFN_E_EXCHANGE);
    alarm(0);
    rfn_buf_release(&bytes);
    rec_node_leave(&node);
}

/* What ranks claim one after the other is theirs alone, and together all of it. */
static bool claim_some(struct rec_node_exchange *node)
{
    enum { CLAIMS = 100 };
    const uint64_t rank = (uint64_t)node->exchange.rank, size = (uint64_t)node->exchange.size;
    uint64_t last = 0, word = 0;
    struct sum sum = {.ranks = 0};
    static const struct rfn_round round = {.merge = add, .write = write_sum};
    for (uint64_t i = 0; i < CLAIMS; i++) {
        const uint64_t before = rec_node_claim(node, rank + 1);
        if (i > 0 && before < last + rank + 1)
            return false;
        last = before;
    }
    return rfn_exchange_climb(&node->exchange, &round, &sum, 0) == 0 &&
           rfn_exchange_tell(&node->exchange, &word) == 0 &&
           rec_node_claimed(node) == CLAIMS * size * (size + 1) / 2;
}

static void test_claims(void **state)
{
    (void)state;
    run_forked_ranks(2, claim_some);
    run_forked_ranks(8, claim_some);
}

/* ---- ranks that come one after the other ---- */

static struct rec_node_exchange *waiting;

static bool claim_once(void)
{
    static bool claimed;
    if (!claimed)
        rec_node_claim(waiting, 1);
    claimed = true;
    return false;
}

static bool claim_each_time(void)
{
    rec_node_claim(waiting, 1);
    return false;
}

/* What a rank says: all bits but one of the lowest eight. */
static unsigned says(int rank)
{
    return ~(1U << rank % 8);
}

/* The last one to come does so when all others have waited for a while. Its time is not the latest
 * one: all times differ, as sizes are no multiple of 7. */
static bool come(struct rec_node_exchange *node, int last)
{
    const int rank = node->exchange.rank, size = node->exchange.size;
    const uint64_t word = UINT64_C(0x123456789abcdef0) + (uint64_t)rank;
    unsigned all = ~0U;
    for (int i = 0; i < size; i++)
        all &= says(i);
    waiting = node;
    while (rank == last && rec_node_claimed(node) < (uint64_t)size - 1)
        usleep(1000);
    rec_node_come(node, 1000 + rank * 7 % size, says(rank), word);
    node->meanwhile = claim_once;
    const struct rec_node_all found = rec_node_wait_for_all(node);
    return rec_node_claimed(node) == (uint64_t)size - 1 && found.last_came == 999 + size &&
           found.say == all && found.word == UINT64_C(0x123456789abcdef0);
}

static bool first_comes_last(struct rec_node_exchange *node)
{
    return come(node, 0);
}

static bool another_comes_last(struct rec_node_exchange *node)
{
    return come(node, node->exchange.size - 1);
}

static void nothing(int number)
{
    (void)number;
}

static bool send_signals(void)
{
    timer_t timer;
    const struct itimerspec often = {{0, 500000}, {0, 500000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    signal(SIGUSR1, nothing);
    return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
           timer_settime(timer, 0, &often, NULL) == 0;
}

/* Signals come more often than naps end, but for one now and then. */
static bool wait_among_signals(struct rec_node_exchange *node)
{
    enum { TIMES = 20, LOOKS = 10000 };
    waiting = node;
    if (node->exchange.rank != 0) {
        rec_node_come(node, 1, 0, 0);
        node->meanwhile = claim_each_time;
        return send_signals() && rec_node_wait_for_all(node).last_came == 2;
    }
    for (int i = 0; i < LOOKS && rec_node_claimed(node) < TIMES; i++)
        usleep(1000);
    rec_node_come(node, 2, 0, 0);
    return rec_node_claimed(node) >= TIMES;
}

static void test_coming(void **state)
{
    (void)state;
    const int sizes_of_jobs[] = {1, 2, 5, 20, 66};
    for (size_t i = 0; i < sizeof sizes_of_jobs / sizeof *sizes_of_jobs; i++) {
        run_forked_ranks(sizes_of_jobs[i], first_comes_last);
        run_forked_ranks(sizes_of_jobs[i], another_comes_last);
    }
    run_forked_ranks(2, wait_among_signals);
}

static const uint64_t noted[REC_NODE_NOTE] = {3, 1, 4, UINT64_MAX};

static bool is_noted(const struct rec_node_exchange *node)
{
    uint64_t note[REC_NODE_NOTE];
    return rec_node_noted(node, note) && memcmp(note, noted, sizeof note) == 0;
}

/* One rank notes, after a while, and only one may; the others wait for it. */
static bool note(struct rec_node_exchange *node)
{
    if (!rec_node_may_note(node))
        return is_noted(node);
    usleep(20000);
    rec_node_note(node, noted);
    rec_node_claim(node, 1);
    return is_noted(node) && !rec_node_may_note(node) && rec_node_claimed(node) == 1;
}

/* He who may has gone. */
static bool note_nothing(struct rec_node_exchange *node)
{
    uint64_t none[REC_NODE_NOTE];
    return rec_node_may_note(node) || !rec_node_noted(node, none);
}

static bool ask_too_early(struct rec_node_exchange *node)
{
    uint64_t none[REC_NODE_NOTE];
    return !rec_node_noted(node, none);
}

/* One of all. */
static bool tell(struct rec_node_exchange *node)
{
    rec_node_claim(node, rec_node_is_to_tell(node));
    rec_node_come(node, 1, 0, 0);
    rec_node_wait_for_all(node);
    return rec_node_claimed(node) == 1 && !rec_node_is_to_tell(node);
}

static void test_notes(void **state)
{
    (void)state;
    run_forked_ranks(2, note);
    run_forked_ranks(20, note);
    run_forked_ranks(3, note_nothing);
    run_forked_ranks(2, ask_too_early);
    run_forked_ranks(1, tell);
    run_forked_ranks(20, tell);
}

/* ---- what cannot be joined ---- */

/* The lowest descriptor that is free: the same before and after, if none was left open. */
static int next_descriptor(void)
{
    int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

static void refuse(struct rec_node_name name, int size)
{
    struct rec_node_exchange node;
    const int next = next_descriptor();
    assert_false(rec_node_join(&node, &name, 1, size));
    assert_null(node.memory);
    assert_int_equal(next_descriptor(), next);
    rec_node_leave(&node);
}

static void test_refused(void **state)
{
    (void)state;
    int pipes[2];
    const int next = next_descriptor();
    struct rec_node_name name = rec_node_offer(4), other = name;
    struct rec_node_exchange node;
    assert_int_equal(pipe(pipes), 0); /* whose opening waits for the other end */
    refuse((struct rec_node_name){0}, 4);
    other.nonce++;
    refuse(other, 4);
    other = name;
    other.fd = pipes[0];
    refuse(other, 4);
    other.fd = -1;
    refuse(other, 4);
    other = name;
    other.process = -1;
    refuse(other, 4);
    other.process = 1;
    refuse(other, 4);
    refuse(name, 5); /* as of another job */
    assert_true(rec_node_join(&node, &name, 1, 4));
    other = name;
    rec_node_withdraw(&name);
    assert_int_equal(name.nonce, 0);
    refuse(other, 4); /* who was told before */
    rec_node_leave(&node);
    close(pipes[0]);
    close(pipes[1]);
    assert_int_equal(next_descriptor(), next);
}

/* Another file of that name, which is no memory of ours. */
static void test_too_short(void **state)
{
    (void)state;
    struct rec_node_name name = rec_node_offer(4);
    assert_int_equal(ftruncate((int)name.fd, 100), 0);
    refuse(name, 4);
    rec_node_withdraw(&name);
}

/* A program that may not write large files, or open any more, lives on without the memory. */
static void test_limited(void **state)
{
    (void)state;
    const int next = next_descriptor();
    struct rlimit size, files, small = {.rlim_cur = 4096}, few = {.rlim_cur = (rlim_t)next};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &size), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    small.rlim_max = size.rlim_max;
    few.rlim_max = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(rec_node_offer(4).nonce, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &size), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(rec_node_offer(4).nonce, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    assert_int_equal(next_descriptor(), next);
}

static size_t bytes_there(const struct rec_node_name *name)
{
    struct stat status;
    assert_int_equal(fstat((int)name->fd, &status), 0);
    return (size_t)status.st_blocks * 512;
}

/* Who has joined has room for the head, and its three boxes. */
static void test_room(void **state)
{
    (void)state;
    enum { RANKS = 8 };
    struct rec_node_name name = rec_node_offer(RANKS);
    assert_int_equal(bytes_there(&name), 0);
    for (int rank = 0; rank < RANKS; rank++) {
        struct rec_node_exchange node;
        assert_true(rec_node_join(&node, &name, rank, RANKS));
        assert_int_equal(bytes_there(&name), (1 + 3 * (rank + 1)) << 16);
        rec_node_leave(&node);
    }
    rec_node_withdraw(&name);
}

/* Who has no address space for the memory lives on without it. */
static void test_no_space(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    struct rec_node_name name = rec_node_offer(MANY);
    struct rlimit space, limited;
    assert_int_equal(getrlimit(RLIMIT_AS, &space), 0);
    limited = (struct rlimit){.rlim_cur = (rlim_t)1 << 32, .rlim_max = space.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &limited), 0);
    refuse(name, MANY);
    assert_int_equal(setrlimit(RLIMIT_AS, &space), 0);
    rec_node_withdraw(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),          cmocka_unit_test(test_words),
        cmocka_unit_test(test_rounds),         cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_way),         cmocka_unit_test(test_ended),
        cmocka_unit_test(test_ended_silently), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_short),      cmocka_unit_test(test_limited),
        cmocka_unit_test(test_claims),         cmocka_unit_test(test_coming),
        cmocka_unit_test(test_notes),          cmocka_unit_test(test_room),
        cmocka_unit_test(test_no_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
