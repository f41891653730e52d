#define _GNU_SOURCE /* clock_gettime, nanosleep, sched_getcpu */
#include "calibrate/mpi_experiments.h"

#include <mpi.h>

#include <math.h>
#include <sched.h>
#include <time.h>

/* ---- time ---- */

int64_t cal_now_ns(void)
{
#ifdef RFN_SIMULATED
    return (int64_t)(PMPI_Wtime() * 1e9 + 0.5);
#else
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
#endif
}

void cal_sleep(int64_t ns)
{
    struct timespec time = {ns / 1000000000, ns % 1000000000};
#ifdef RFN_SIMULATED
    smpi_nanosleep(&time, NULL);
#else
    nanosleep(&time, NULL);
#endif
}

/* ---- cores ---- */

/* On a busy machine both ranks may be on one core, where they take turns. The serving one then goes
 * to another one, if it may run on any other; which cores it may run on stays as it is. */
static void leave_core(size_t core)
{
    cpu_set_t allowed, others;
    if (sched_getcpu() != (int)core || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    others = allowed;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) && sched_setaffinity(0, sizeof others, &others) == 0)
        sched_setaffinity(0, sizeof allowed, &allowed);
}

/* ---- what the ranks tell each other ---- */

enum { TAG_TASK, TAG_READY, TAG_ANSWER, TAG_DATA, TAG_NEVER };
enum task_kind { TASK_END, TASK_TRAIN, TASK_EARLY, TASK_BACK_AND_FORTH, TASK_EXCHANGE, TASK_LATE };

struct task {
    int64_t kind, bytes, n, pause_ns, core; /* core: of the leading rank */
};

enum { TASK_WORDS = sizeof(struct task) / sizeof(int64_t) };

static void give(const struct cal_pair *pair, struct task task)
{
    task.core = sched_getcpu();
    PMPI_Send(&task, TASK_WORDS, MPI_INT64_T, pair->other, TAG_TASK, MPI_COMM_WORLD);
}

static struct task take(const struct cal_pair *pair)
{
    struct task task;
    PMPI_Recv(&task, TASK_WORDS, MPI_INT64_T, pair->other, TAG_TASK, MPI_COMM_WORLD,
              MPI_STATUS_IGNORE);
    if (pair->on_one_node)
        leave_core((size_t)task.core);
    return task;
}

static void say_ready(const struct cal_pair *pair)
{
    PMPI_Send(NULL, 0, MPI_BYTE, pair->other, TAG_READY, MPI_COMM_WORLD);
}

static void wait_ready(const struct cal_pair *pair)
{
    PMPI_Recv(NULL, 0, MPI_BYTE, pair->other, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_data(const struct cal_pair *pair, int64_t bytes)
{
    PMPI_Send(pair->sent, (int)bytes, MPI_BYTE, pair->other, TAG_DATA, MPI_COMM_WORLD);
}

static void post_data(const struct cal_pair *pair, char *received, int64_t bytes,
                      MPI_Request *request)
{
    PMPI_Irecv(received, (int)bytes, MPI_BYTE, pair->other, TAG_DATA, MPI_COMM_WORLD, request);
}

/* Keeps the core busy: then the measurement finds it as in a program; inside of MPI or not. There
 * the rank asks for what never comes, often enough where it is kept from its core: some MPIs move
 * even eager messages only while the receiver is inside. Simulated time passes in sleep. */
static void pass_time(const struct cal_pair *pair, int64_t ns, bool inside)
{
#ifdef RFN_SIMULATED
    (void)pair, (void)inside;
    cal_sleep(ns);
#else
    const int64_t end = cal_now_ns() + ns;
    for (int polls = 0, found; (inside && polls < 100) || cal_now_ns() < end; polls++) {
        if (inside)
            PMPI_Iprobe(pair->other, TAG_NEVER, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
#endif
}

/* ---- a train ---- */

struct cal_train cal_send_train(const struct cal_pair *pair, int n, int64_t bytes, int64_t pause_ns)
{
    double served_ns;
    give(pair, (struct task){TASK_TRAIN, bytes, n, pause_ns, 0});
    wait_ready(pair);
    const int64_t begin = cal_now_ns();
    for (int i = 0; i < n; i++)
        send_data(pair, bytes);
    const int64_t sent = cal_now_ns();
    PMPI_Recv(&served_ns, 1, MPI_DOUBLE, pair->other, TAG_ANSWER, MPI_COMM_WORLD,
              MPI_STATUS_IGNORE);
    const int64_t end = cal_now_ns();
    return (struct cal_train){(double)(sent - begin) / n, served_ns / n, (double)(end - begin)};
}

static void serve_train(const struct cal_pair *pair, const struct task *task)
{
    MPI_Request requests[CAL_MOST_TRAIN];
    MPI_Status statuses[CAL_MOST_TRAIN];
    for (int i = 0; i < task->n; i++)
        post_data(pair, pair->received + i * task->bytes, task->bytes, &requests[i]);
    say_ready(pair);
    pass_time(pair, task->pause_ns, false);
    const int64_t begin = cal_now_ns();
    PMPI_Waitall((int)task->n, requests, statuses);
    const double served_ns = (double)(cal_now_ns() - begin);
    PMPI_Send(&served_ns, 1, MPI_DOUBLE, pair->other, TAG_ANSWER, MPI_COMM_WORLD);
}

/* ---- early or not ---- */

/* The receiver waits a while from when it gets its task, says that it is about to post, and posts a
 * while later. If that word has not come when the send is over, it was over before the receive was
 * posted. The sender is on its core when it gives the task, so it sends at once. */
bool cal_send_early(const struct cal_pair *pair, int64_t bytes, int64_t pause_ns)
{
    int about_to_post;
    give(pair, (struct task){TASK_EARLY, bytes, 1, pause_ns, 0});
    send_data(pair, bytes);
    PMPI_Iprobe(pair->other, TAG_READY, MPI_COMM_WORLD, &about_to_post, MPI_STATUS_IGNORE);
    wait_ready(pair);
    return !about_to_post;
}

static void serve_early(const struct cal_pair *pair, const struct task *task)
{
    pass_time(pair, task->pause_ns, true);
    say_ready(pair);
    pass_time(pair, task->pause_ns, true);
    PMPI_Recv(pair->received, (int)task->bytes, MPI_BYTE, pair->other, TAG_DATA, MPI_COMM_WORLD,
              MPI_STATUS_IGNORE);
}

/* ---- a late receive ---- */

double cal_receive_late(const struct cal_pair *pair, int64_t bytes, int64_t pause_ns)
{
    double received_ns;
    give(pair, (struct task){TASK_LATE, bytes, 1, pause_ns, 0});
    send_data(pair, bytes);
    PMPI_Recv(&received_ns, 1, MPI_DOUBLE, pair->other, TAG_ANSWER, MPI_COMM_WORLD,
              MPI_STATUS_IGNORE);
    return received_ns;
}

static void serve_late(const struct cal_pair *pair, const struct task *task)
{
    pass_time(pair, task->pause_ns, true);
    const int64_t begin = cal_now_ns();
    PMPI_Recv(pair->received, (int)task->bytes, MPI_BYTE, pair->other, TAG_DATA, MPI_COMM_WORLD,
              MPI_STATUS_IGNORE);
    const double received_ns = (double)(cal_now_ns() - begin);
    PMPI_Send(&received_ns, 1, MPI_DOUBLE, pair->other, TAG_ANSWER, MPI_COMM_WORLD);
}

/* ---- back and forth ---- */

struct cal_round_trip cal_send_back_and_forth(const struct cal_pair *pair, int64_t bytes, int n,
                                              bool isends)
{
    struct cal_round_trip shortest = {INFINITY, INFINITY};
    give(pair, (struct task){TASK_BACK_AND_FORTH, bytes, n, 0, 0});
    wait_ready(pair);
    for (int i = 0; i < n; i++) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Status statuses[2];
        post_data(pair, pair->received, bytes, &requests[0]);
        const int64_t begin = cal_now_ns();
        if (isends)
            PMPI_Isend(pair->sent, (int)bytes, MPI_BYTE, pair->other, TAG_DATA, MPI_COMM_WORLD,
                       &requests[1]);
        else
            send_data(pair, bytes);
        const int64_t sent = cal_now_ns();
        PMPI_Waitall(2, requests, statuses);
        shortest.half_ns = fmin(shortest.half_ns, (double)(cal_now_ns() - begin) / 2);
        shortest.send_ns = fmin(shortest.send_ns, (double)(sent - begin));
    }
    return shortest;
}

/* Two receives are posted at a time: posting the next one is no part of a round trip. */
static void serve_back_and_forth(const struct cal_pair *pair, const struct task *task)
{
    char *const received[] = {pair->received, pair->received2};
    MPI_Request requests[2];
    for (int i = 0; i < 2 && i < task->n; i++)
        post_data(pair, received[i], task->bytes, &requests[i]);
    say_ready(pair);
    for (int i = 0; i < task->n; i++) {
        PMPI_Wait(&requests[i % 2], MPI_STATUS_IGNORE);
        send_data(pair, task->bytes);
        if (i + 2 < task->n)
            post_data(pair, received[i % 2], task->bytes, &requests[i % 2]);
    }
}

/* ---- both ways at once ---- */

static double exchange(const struct cal_pair *pair, int64_t bytes, int n)
{
    double shortest = INFINITY;
    for (int i = 0; i < n; i++) {
        const int64_t begin = cal_now_ns();
        PMPI_Sendrecv(pair->sent, (int)bytes, MPI_BYTE, pair->other, TAG_DATA, pair->received,
                      (int)bytes, MPI_BYTE, pair->other, TAG_DATA, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE);
        shortest = fmin(shortest, (double)(cal_now_ns() - begin));
    }
    return shortest;
}

double cal_exchange(const struct cal_pair *pair, int64_t bytes, int n)
{
    give(pair, (struct task){TASK_EXCHANGE, bytes, n, 0, 0});
    wait_ready(pair);
    return exchange(pair, bytes, n);
}

static void serve_exchange(const struct cal_pair *pair, const struct task *task)
{
    say_ready(pair);
    exchange(pair, task->bytes, (int)task->n);
}

/* ---- the ranks' parts ---- */

void cal_lead_ends(const struct cal_pair *pair)
{
    give(pair, (struct task){TASK_END, 0, 0, 0, 0});
}

void cal_serve(const struct cal_pair *pair)
{
    for (;;) {
        const struct task task = take(pair);
        switch (task.kind) {
        case TASK_TRAIN:
            serve_train(pair, &task);
            break;
        case TASK_EARLY:
            serve_early(pair, &task);
            break;
        case TASK_BACK_AND_FORTH:
            serve_back_and_forth(pair, &task);
            break;
        case TASK_LATE:
            serve_late(pair, &task);
            break;
        case TASK_EXCHANGE:
            serve_exchange(pair, &task);
            break;
        default:
            return;
        }
    }
}
