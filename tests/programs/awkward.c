/* A program that does one thing which a recorder must survive, named by its first argument. Rank r
 * sends ROUNDS messages around a ring before; the program's exit code is 5 on all ranks. */
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
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 100, WANTED_EXIT = 5 };

static int rank, size;
static jmp_buf back;

static void ring(void)
{
    int in, out = rank;
    for (int i = 0; i < ROUNDS; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- what is awkward ---- */

static void jump(MPI_Comm *comm, int *code, ...)
{
    longjmp(back, 1);
}

static void leave_by_jump(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (rank == 1 && !setjmp(back))
        MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void use_up_communicators(void)
{
    MPI_Comm comm;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 5000 && MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS; i++)
        continue;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void close_standard(void)
{
    for (int fd = 0; fd <= 2; fd++)
        close(fd);
}

static void break_pipe(void)
{
    int ends[2];
    if (pipe(ends) == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
    }
}

static void limit_files_to(rlim_t bytes)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void limit_files(void)
{
    limit_files_to(600); /* less than an archive; more than the ranks say, if that goes to a file */
}

static void allow_no_files(void)
{
    limit_files_to(0);
}

static void run_out_of_files(void)
{
    while (open("/dev/null", O_RDONLY) >= 0)
        continue;
}

/* These ranks cannot open the archive, as if they did not share rank 0's file system. */
static void keep_files_to_rank_0(void)
{
    if (rank > 0)
        run_out_of_files();
}

/* A child of rank 0 ends without exec, through exit handlers and destructors. */
static void end_child(void)
{
    fflush(stdout);
    pid_t child = rank == 0 ? fork() : -1;
    if (child == 0)
        exit(WANTED_EXIT);
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void move_away(void)
{
    char folder[] = "/tmp/refrain-awkward-XXXXXX";
    umask(077);
    if (mkdtemp(folder) && chdir(folder) == 0)
        rmdir(folder);
}

/* Rank 1 has no memory for what it does, each call with other parameters. */
static void run_out_of_memory(void)
{
    enum { N = 100000 };
    static int ranks[N], there[N];
    struct rlimit limit, old;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (rank != 1 || !file || fscanf(file, "%ld", &pages) != 1 || getrlimit(RLIMIT_AS, &old))
        return;
    limit = old;
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (2 << 20);
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    setrlimit(RLIMIT_AS, &limit);
    for (int i = 0; i < 400; i++) {
        for (int k = 0; k < N; k++)
            ranks[k] = (int)((unsigned)rand() / 7 % (unsigned)size);
        MPI_Group_translate_ranks(group, N, ranks, group, there);
    }
    setrlimit(RLIMIT_AS, &old);
    MPI_Group_free(&group);
}

static int deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int me;
    MPI_Comm_rank(comm, &me);
    MPI_Barrier(MPI_COMM_SELF);
    return MPI_SUCCESS;
}

/* The callback runs inside MPI_Finalize. */
static void call_from_finalize(void)
{
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
}

static void ask_late(void)
{
    int flag = 0;
    if (MPI_Finalized(&flag) != MPI_SUCCESS || !flag)
        _exit(9);
}

static void call_after_finalize(void)
{
    atexit(ask_late);
}

static void *ask_always(void *unused)
{
    for (int flag = 0; !flag;)
        MPI_Finalized(&flag);
    return NULL;
}

static pthread_t asking;

/* MPI_Finalized may be called by any thread at any time, also during MPI_Finalize. */
static void ask_from_thread(void)
{
    pthread_create(&asking, NULL, ask_always, NULL);
}

static void *finalize(void *unused)
{
    ring();
    MPI_Finalize();
    return NULL;
}

static const struct {
    const char *name;
    void (*act)(void);
} acts[] = {
    {"jump", leave_by_jump},
    {"communicators", use_up_communicators},
    {"closed", close_standard},
    {"pipe", break_pipe},
    {"limit", limit_files},
    {"none_allowed", allow_no_files},
    {"descriptors", run_out_of_files},
    {"gathered", keep_files_to_rank_0},
    {"fork", end_child},
    {"moved", move_away},
    {"memory", run_out_of_memory},
    {"callback", call_from_finalize},
    {"late", call_after_finalize},
    {"asking", ask_from_thread},
};

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int other_thread = strcmp(what, "thread") == 0, provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, other_thread ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ring();
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        if (strcmp(what, acts[i].name) == 0)
            acts[i].act();
    }
    if (other_thread) {
        pthread_create(&thread, NULL, finalize, NULL);
        pthread_join(thread, NULL);
    } else {
        MPI_Finalize();
    }
    if (asking)
        pthread_join(asking, NULL);
    return WANTED_EXIT;
}
