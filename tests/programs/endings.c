/* Ways of a program to end, or to behave on the way, that the recorder must not change.
 *
 *     endings HOW
 *
 * What a way is stands beside its function. Each prints something first, so that it shows if the
 * output of the program is touched.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank;

static void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d started\n", rank);
    fflush(stdout);
    PMPI_Barrier(
        MPI_COMM_WORLD); /* not recorded: the first that fails has the launcher end the others */
    usleep(200000);      /* some launchers lose what a process wrote shortly before it failed */
}

/* The exit status of main is that of the program. */
static int status(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 7;
}

/* Errors end the program: the default. */
static int fatal(void)
{
    int data = 0;
    MPI_Send(&data, 1, MPI_INT, 99, 1, MPI_COMM_WORLD);
    printf("not reached\n");
    MPI_Finalize();
    return 0;
}

static int abort_all(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Barrier(MPI_COMM_WORLD);
    for (;;)
        pause();
}

static int abort_by_one(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Barrier(half);
    if (rank == 1)
        MPI_Abort(half, 9);
    MPI_Barrier(MPI_COMM_WORLD);
    for (;;)
        pause();
}

static int exit_early(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    exit(3);
}

/* Rank 1; the launcher ends the other one. */
static int exit_of_one(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        exit(3);
    sleep(60);
    return 0;
}

static int exit_at_once(void)
{
    _exit(4);
}

/* All have left the barrier. A rank that dies while another one is in it makes that one end in a
 * way of its own, and launchers tell of the one or the other. */
static void leave_together(void)
{
    const struct timespec moment = {.tv_nsec = 100000000};
    MPI_Barrier(MPI_COMM_WORLD);
    nanosleep(&moment, NULL);
}

static int segfault(void)
{
    leave_together();
    raise(SIGSEGV);
    return 0;
}

static int killed(void)
{
    leave_together();
    raise(SIGKILL);
    return 0;
}

static void finalize(void)
{
    MPI_Finalize();
}

/* MPI_Finalize from an exit handler. */
static int at_exit(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    atexit(finalize);
    return 5;
}

/* Children after MPI_Init see the environment that they would see otherwise. */
static int children(void)
{
    fflush(stdout);
    if (rank == 0 && system("env | grep -e '^REFRAIN' -e '^LD_PRELOAD' | sort; echo child") != 0)
        return 1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* A child that does not execute another program, and ends by exit. */
static int forked(void)
{
    fflush(stdout);
    if (rank == 0) {
        pid_t child = fork();
        if (child == 0) {
            printf("child\n");
            exit(0);
        }
        int state;
        waitpid(child, &state, 0);
        printf("child ended with %d\n", WEXITSTATUS(state));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

static int change_directory(void)
{
    if (chdir("/") != 0)
        return 1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* No file may grow beyond a few bytes: what a full disk is, with a signal besides. */
static int limited(void)
{
    struct rlimit limit = {100, 100};
    MPI_Barrier(MPI_COMM_WORLD);
    setrlimit(RLIMIT_FSIZE, &limit);
    MPI_Finalize();
    return 0;
}

/* No more files can be opened. */
static int no_files(void)
{
    struct rlimit limit;
    MPI_Barrier(MPI_COMM_WORLD);
    getrlimit(RLIMIT_NOFILE, &limit);
    int last = open("/dev/null", O_RDONLY);
    limit.rlim_cur = (rlim_t)last;
    setrlimit(RLIMIT_NOFILE, &limit);
    MPI_Finalize();
    printf("rank %d over\n", rank);
    return 0;
}

/* The descriptor of standard error is another file's. */
static int no_stderr(void)
{
    char name[] = "/tmp/refrain-endings-XXXXXX";
    struct stat file;
    close(2);
    int own = mkstemp(name);
    unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (own != 2 || fstat(own, &file) < 0)
        return 1;
    printf("rank %d: %ld bytes in its own file\n", rank, (long)file.st_size);
    return 0;
}

/* Nobody reads what is written to standard error; SIGPIPE would end the process. */
static int broken_stderr(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    close(ends[0]);
    dup2(ends[1], 2);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    printf("rank %d over\n", rank);
    return 0;
}

static volatile sig_atomic_t ticks;

static void tick(int number)
{
    (void)number;
    ticks++;
}

/* Signals all the time. */
static int alarms(void)
{
    struct sigaction action = {.sa_handler = tick};
    struct itimerval every = {{0, 500}, {0, 500}};
    int data = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < 2000 || ticks < 20; i++) {
        MPI_Sendrecv_replace(&data, 1, MPI_INT, rank, 1, rank, 1, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_REAL, &every, NULL);
    return 0;
}

/* noinline, and something to do after the call: the frames are really there. */
__attribute__((noinline)) static int descend(int depth)
{
    volatile char room[64] = {0};
    if (depth == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        room[depth % 64] = (char)descend(depth - 1);
    return room[0];
}

/* Call paths that are longer than any that anybody expects. */
static int deep(void)
{
    for (int depth = 1; depth <= 20000; depth += 4999)
        descend(depth);
    MPI_Finalize();
    return 0;
}

static void *send_to_self(void *unused)
{
    int data = 0;
    for (int i = 0; i < 20; i++)
        MPI_Sendrecv_replace(&data, 1, MPI_INT, rank, 1, rank, 1, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    return unused;
}

/* Threads with little stack call MPI. */
static int small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    for (int i = 0; i < 5; i++) {
        if (pthread_create(&thread, &attributes, send_to_self, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    MPI_Finalize();
    return 0;
}

static jmp_buf before;

static void jump(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(before, 1);
}

/* One rank leaves a call through its error handler. */
static int jumping(void)
{
    MPI_Errhandler handler;
    int data = 0;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (rank == 0) {
        if (setjmp(before) == 0)
            MPI_Send(&data, 1, MPI_INT, 99, 1, MPI_COMM_WORLD);
        else
            printf("jumped\n");
    }
    MPI_Errhandler_free(&handler);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* The environment is emptied and the arguments are written over. */
static int no_environment(void)
{
    clearenv();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

static int plain(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} ways[] = {
    {"plain", plain},
    {"status", status},
    {"fatal", fatal},
    {"abort", abort_all},
    {"abort-by-one", abort_by_one},
    {"exit-early", exit_early},
    {"exit-of-one", exit_of_one},
    {"exit-at-once", exit_at_once},
    {"segfault", segfault},
    {"killed", killed},
    {"at-exit", at_exit},
    {"children", children},
    {"forked", forked},
    {"chdir", change_directory},
    {"limited", limited},
    {"no-files", no_files},
    {"no-stderr", no_stderr},
    {"broken-stderr", broken_stderr},
    {"alarms", alarms},
    {"deep", deep},
    {"small-stack", small_stack},
    {"jumping", jumping},
    {"no-environment", no_environment},
};

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "plain";
    int flag, provided;
    if (strcmp(how, "no-init") == 0) {
        printf("no MPI today\n");
        return 6;
    }
    if (strcmp(how, "only-initialized") == 0) {
        MPI_Initialized(&flag);
        printf("initialized %d\n", flag);
        return 6;
    }
    if (strcmp(how, "small-stack") == 0) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    } else {
        start(&argc, &argv);
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(how, ways[i].name) == 0)
            return ways[i].run();
    }
    return 100;
}
