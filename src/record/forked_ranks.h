/* forked_ranks.h - for tests: ranks that are processes of their own and share the memory of a node,
 * without MPI.
 */
#ifndef RFN_RECORD_FORKED_RANKS_H
#define RFN_RECORD_FORKED_RANKS_H

#include "record/exchange_node.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FORKED_RANKS_SECONDS = 60, FORKED_RANKS_MAX = 66 };

/* The job's barrier: all have joined, as rank 0's process hears. */
static bool wait_for_forked_ranks(int say, int hear)
{
    char byte = 0;
    return write(say, &byte, 1) == 1 && read(hear, &byte, 1) == 1;
}

static int be_forked_rank(const struct rec_node_name *name, int rank, int size, const int pipes[4],
                          bool (*act)(struct rec_node_exchange *node))
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    struct rec_node_exchange node;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL); /* no rank goes on as the test */
    alarm(FORKED_RANKS_SECONDS);
    bool joined = rec_node_join(&node, name, rank, size);
    if (!wait_for_forked_ranks(pipes[1], pipes[2]) || !joined)
        return 2;
    bool right = act(&node);
    rec_node_leave(&node);
    rec_node_leave(&node);
    return right ? 0 : 1;
}

static void run_forked_ranks(int size, bool (*act)(struct rec_node_exchange *node))
{
    static pid_t tester;
    if (tester && tester != getpid())
        _exit(3); /* a rank in which an assertion has failed, and which goes on as the test */
    tester = getpid();
    struct rec_node_name name = rec_node_offer(size);
    int pipes[4], status;
    char byte = 0;
    pid_t ranks[FORKED_RANKS_MAX];
    assert_true(name.nonce != 0);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(pipe(pipes + 2), 0);
    for (int rank = 0; rank < size; rank++) {
        ranks[rank] = fork();
        assert_true(ranks[rank] >= 0);
        if (ranks[rank] == 0)
            _exit(be_forked_rank(&name, rank, size, pipes, act));
    }
    for (int joined = 0; joined < size; joined++)
        assert_int_equal(read(pipes[0], &byte, 1), 1);
    rec_node_withdraw(&name);
    for (int rank = 0; rank < size; rank++)
        assert_int_equal(write(pipes[3], &byte, 1), 1);
    for (int rank = 0; rank < size; rank++) {
        pid_t ended = wait(&status);
        assert_int_equal(status, 0);
        assert_true(ended > 0);
    }
    for (int i = 0; i < 4; i++)
        close(pipes[i]);
}

#endif
