/* Rounds of calls with a log of the program's own, which survives SIGKILL.
 *
 *     logged_rounds LOG ROUNDS PAUSE [END]
 *
 * Each rank writes a line of 16 bytes per call that has returned to LOG.RANK, a file that it shares
 * with the page cache: u32 function (an index into FUNCTIONS of test_journal.py), i32 peer, u32
 * bytes, u32 milliseconds since 1970 modulo 2^32. Every PAUSE rounds it sleeps for a millisecond
 * (0: never). END: what it does after the rounds: "exit", "_exit", "handler" (exit from a
 * signal's handler), "abort", "crash", "hang"; nothing: MPI_Finalize.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { INIT, RANK, SIZE, SENDRECV, BARRIER, ALLREDUCE, ISEND, IRECV, WAITALL, BCAST };
enum { MOST = 1 << 22 };

static struct line {
    uint32_t function;
    int32_t peer;
    uint32_t bytes, ms;
} * lines;
static uint32_t n;

static void note(uint32_t function, int peer, unsigned bytes)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (n == MOST)
        return;
    lines[n].peer = peer;
    lines[n].bytes = bytes;
    lines[n].ms = (uint32_t)((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
    __atomic_store_n(&lines[n].function, function + 1, __ATOMIC_RELEASE);
    n++;
}

static unsigned random_of(unsigned i)
{
    i = (i ^ 61) ^ i >> 16;
    i *= 9;
    i ^= i >> 4;
    i *= 0x27d4eb2d;
    return i ^ i >> 15;
}

static void play(int rank, int ranks, unsigned i)
{
    static char out[4096], in[4096];
    const unsigned drawn = random_of(i), bytes = drawn >> 8 & 1023;
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    switch (i % 5 ? drawn % 8 : 8) {
    case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        note(BARRIER, -1, 0);
        break;
    case 1: {
        int sum;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        note(ALLREDUCE, -1, 1);
        break;
    }
    case 2: {
        MPI_Request requests[2];
        MPI_Irecv(in, 1024, MPI_CHAR, before, 2, MPI_COMM_WORLD, &requests[0]);
        note(IRECV, before, 1024);
        MPI_Isend(out, (int)bytes, MPI_CHAR, next, 2, MPI_COMM_WORLD, &requests[1]);
        note(ISEND, next, bytes);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        note(WAITALL, -1, 2);
        break;
    }
    case 3:
        MPI_Bcast(out, (int)bytes, MPI_CHAR, (int)(drawn >> 20) % ranks, MPI_COMM_WORLD);
        note(BCAST, (int)(drawn >> 20) % ranks, bytes);
        break;
    default:
        MPI_Sendrecv(out, (int)(i % 5 ? 64 : bytes), MPI_CHAR, next, 1, in, 1024, MPI_CHAR, before,
                     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        note(SENDRECV, next, i % 5 ? 64 : bytes);
    }
}

static void leave(int unused)
{
    (void)unused;
    exit(4);
}

static void end(const char *how)
{
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "handler") == 0) {
        signal(SIGTERM, leave);
        raise(SIGTERM);
    }
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(how, "crash") == 0)
        raise(SIGSEGV);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    int rank, ranks;
    char path[4096];
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", argv[1], rank);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || ftruncate(file, MOST * sizeof *lines) < 0)
        return 2;
    lines = mmap(NULL, MOST * sizeof *lines, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (lines == MAP_FAILED)
        return 2;
    note(INIT, -1, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    note(RANK, -1, 0);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    note(SIZE, -1, 0);
    const unsigned rounds = (unsigned)atol(argv[2]), pause = (unsigned)atol(argv[3]);
    for (unsigned i = 0; i < rounds; i++) {
        play(rank, ranks, i);
        if (pause && i % pause == 0)
            usleep(1000);
    }
    if (argc > 4)
        end(argv[4]);
    MPI_Finalize();
    return 0;
}
