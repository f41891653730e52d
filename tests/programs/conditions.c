/* What the recorder must bear, or leave as it is, and endings.c does not do.
 *
 *     conditions HOW [N]
 *
 * What a way is stands beside its function. Each prints something, so that it shows if what the
 * program does is changed. ranks: any
 */
#define _GNU_SOURCE
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, size;
static long n;

static int finish(const char *text)
{
    printf("rank %d: %s\n", rank, text);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* ---- signals ---- */

static void own_handler(int number)
{
    (void)number;
}

/* A letter for each signal's action: default, ignored, own, handled by somebody else; a
 * capital one if it is blocked in this thread. And whether there is another stack for handlers. */
static void print_signals(void)
{
    struct sigaction action;
    stack_t other;
    sigset_t blocked;
    char letters[NSIG + 1] = "";
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    sigaltstack(NULL, &other);
    for (int number = 1; number < NSIG; number++) {
        if (sigaction(number, NULL, &action) != 0)
            memset(&action, 0, sizeof action);
        const char letter = action.sa_handler == SIG_DFL       ? 'd'
                            : action.sa_handler == SIG_IGN     ? 'i'
                            : action.sa_handler == own_handler ? 'o'
                                                               : 'h';
        letters[number - 1] = sigismember(&blocked, number) == 1 ? letter - 32 : letter;
    }
    printf("rank %d: %s %d\n", rank, letters, !(other.ss_flags & SS_DISABLE));
    fflush(stdout);
}

static int signals(void)
{
    signal(SIGTERM, own_handler);
    signal(SIGUSR1, SIG_IGN);
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    print_signals();
    MPI_Finalize();
    return 0;
}

/* All ranks together: one that dies while another is inside of MPI makes that end in a way of its
 * own. */
static int die_of(int number)
{
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(200000);
    raise(number);
    return 0;
}

static int aborted(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(200000);
    abort();
}

static int terminated(void)
{
    return die_of(SIGTERM);
}

static sigjmp_buf back;

static void jump(int number)
{
    siglongjmp(back, number);
}

static void raise_signal(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    raise(SIGUSR1);
}

/* The handler of a signal jumps out of a call, from where MPI bears it: its error handler. */
static int jump_out(void)
{
    MPI_Errhandler handler;
    int in = 0;
    signal(SIGUSR1, jump);
    MPI_Comm_create_errhandler(raise_signal, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0)
            MPI_Send(&rank, 1, MPI_INT, size, 1, MPI_COMM_WORLD);
        MPI_Sendrecv(&rank, 1, MPI_INT, rank, 1, &in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Errhandler_free(&handler);
    return finish(in == rank ? "jumped" : "lost a message");
}

/* ---- a library that starts MPI again ---- */

/* As some that look at MPI_Initialized, or at nothing, do. */
static int start_again(void)
{
    int over = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&over);
    printf("rank %d: over %d\n", rank, over);
    fflush(stdout);
    usleep(200000);
    MPI_Init(NULL, NULL); /* MPI ends the process */
    printf("not reached\n");
    return 0;
}

/* ---- much of something ---- */

/* Communicators that are used and freed at once. */
static int communicators(void)
{
    int sum = 0, one = 1, all;
    for (long i = 0; i < n; i++) {
        MPI_Comm comm;
        if (i % 2)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        else
            MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
        sum += all;
        MPI_Comm_free(&comm);
    }
    return finish(sum == n * size ? "all used" : "not all used");
}

/* Receives that are all open when the first message comes. */
static int requests(void)
{
    MPI_Request *open = malloc((size_t)n * sizeof *open);
    int *in = calloc((size_t)n, sizeof *in);
    int good = 0, next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < n; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, before, 1, MPI_COMM_WORLD, &open[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        MPI_Send(&i, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Waitall((int)n, open, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        good += in[i] == i;
    return finish(good == n ? "all came" : "not all came");
}

static void *send_to_self(void *unused)
{
    int in, own;
    MPI_Comm_rank(MPI_COMM_SELF, &own);
    MPI_Sendrecv(&own, 1, MPI_INT, own, 1, &in, 1, MPI_INT, own, 1, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    return unused;
}

/* Threads that come and go, some of them at a time; with the smallest stack there is. */
static int threads(void)
{
    enum { AT_ONCE = 4 };
    pthread_t thread[AT_ONCE];
    pthread_attr_t smallest;
    pthread_attr_init(&smallest);
    pthread_attr_setstacksize(&smallest, PTHREAD_STACK_MIN);
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < AT_ONCE; k++) {
            if (pthread_create(&thread[k], k % 2 ? &smallest : NULL, send_to_self, NULL) != 0)
                return 1;
        }
        for (int k = 0; k < AT_ONCE; k++)
            pthread_join(thread[k], NULL);
    }
    return finish("threads are done");
}

/* Calls whose parameters do not repeat: the archive is large. */
static int different(void)
{
    int in, out = 0;
    for (long i = 0; i < n; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, rank, rand() % 30000, &in, 1, MPI_INT, rank, MPI_ANY_TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return finish("done");
}

/* From here on the process gets no more than N KiB. */
static int scarce(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        return 1;
    fclose(file);
    printf("rank %d: scarce\n", rank);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    const rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)n * 1024;
    setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
    MPI_Finalize();
    return 0;
}

/* Calls over some time. */
static int linger(void)
{
    for (long i = 0; i < n; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(500);
    }
    return finish("done");
}

static const struct {
    const char *name;
    int (*run)(void);
} ways[] = {
    {"signals", signals},   {"aborted", aborted},         {"terminated", terminated},
    {"jump-out", jump_out}, {"start-again", start_again}, {"communicators", communicators},
    {"requests", requests}, {"threads", threads},         {"different", different},
    {"scarce", scarce},     {"linger", linger},
};

int main(int argc, char **argv)
{
    int provided;
    const char *how = argc > 1 ? argv[1] : "";
    n = argc > 2 ? atol(argv[2]) : 0;
    MPI_Init_thread(&argc, &argv,
                    strcmp(how, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(how, ways[i].name) == 0)
            return ways[i].run();
    }
    return 100;
}
