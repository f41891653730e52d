/* forked_ranks.h - for tests: ranks that are processes of their own and send each other messages
 * through sockets, without MPI.
 */
#ifndef RFN_TESTS_SUPPORT_FORKED_RANKS_H
#define RFN_TESTS_SUPPORT_FORKED_RANKS_H

#include "reduce/merge/exchange.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FORKED_RANKS_SECONDS = 60, FORKED_RANKS_MAX = 8 };

static int forked_sockets[FORKED_RANKS_MAX][FORKED_RANKS_MAX]; /* [own rank][other rank] */

static int transfer(bool out, int fd, void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const ssize_t n = out ? write(fd, (char *)bytes + at, size - at)
                              : read(fd, (char *)bytes + at, size - at);
        if (n <= 0)
            return RFN_E_EXCHANGE;
        at += (size_t)n;
    }
    return 0;
}

static int send_forked(void *context, int to, const void *bytes, size_t size)
{
    const struct rfn_exchange *exchange = context;
    const int fd = forked_sockets[exchange->rank][to];
    uint64_t total = size;
    RFN_TRY(transfer(true, fd, &total, sizeof total));
    return transfer(true, fd, (void *)(uintptr_t)bytes, size);
}

static int receive_forked(void *context, int from, struct rfn_buf *bytes)
{
    const struct rfn_exchange *exchange = context;
    const int fd = forked_sockets[exchange->rank][from];
    uint64_t total;
    RFN_TRY(transfer(false, fd, &total, sizeof total));
    uint8_t *to = rfn_buf_reserve(bytes, total);
    if (!to)
        return RFN_E_NOMEM;
    bytes->size += total;
    return transfer(false, fd, to, total);
}

static int tell_forked(void *context, uint64_t *word)
{
    const struct rfn_exchange *exchange = context;
    if (exchange->rank > 0)
        return transfer(false, forked_sockets[exchange->rank][0], word, sizeof *word);
    for (int rank = 1; rank < exchange->size; rank++)
        RFN_TRY(transfer(true, forked_sockets[0][rank], word, sizeof *word));
    return 0;
}

static int be_forked_rank(int rank, int size, bool (*act)(struct rfn_exchange *exchange))
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    struct rfn_exchange exchange = {.rank = rank,
                                    .size = size,
                                    .context = &exchange,
                                    .send = send_forked,
                                    .receive = receive_forked,
                                    .tell = tell_forked};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL); /* no rank goes on as the test */
    alarm(FORKED_RANKS_SECONDS);
    return act(&exchange) ? 0 : 1;
}

static void run_forked_ranks(int size, bool (*act)(struct rfn_exchange *exchange))
{
    static pid_t tester;
    int ends[2], status;
    if (tester && tester != getpid())
        _exit(3); /* a rank in which an assertion has failed, and which goes on as the test */
    tester = getpid();
    for (int a = 0; a < size; a++) {
        for (int b = a + 1; b < size; b++) {
            assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
            forked_sockets[a][b] = ends[0];
            forked_sockets[b][a] = ends[1];
        }
    }
    for (int rank = 0; rank < size; rank++) {
        const pid_t process = fork();
        assert_true(process >= 0);
        if (process == 0)
            _exit(be_forked_rank(rank, size, act));
    }
    for (int rank = 0; rank < size; rank++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    for (int a = 0; a < size; a++) {
        for (int b = 0; b < size; b++) {
            if (a != b)
                close(forked_sockets[a][b]);
        }
    }
}

#endif
