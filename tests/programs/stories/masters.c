/* A rank that answers the others, and ranks that only look like it. */
#include "stories.h"

/* Workers: a task of 6, its result, the next task, until a task is negative. */
WORK void execute(int master)
{
    for (int task;;) {
        MPI_Recv(&task, 1, MPI_INT, master, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task < 0)
            return;
        work(6);
        send_to(master);
    }
}

/* Rank 0 hands out tasks; it takes half as long for a result as they for a task. */
static void serve(int any)
{
    int task = 0, left = steps * (size - 1), open = 0;
    MPI_Status status = {0};
    for (int i = 1; i < size; i++, open++, left--)
        MPI_Send(&task, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    for (int next = 1; open > 0; next = next % (size - 1) + 1) {
        MPI_Recv(&task, 1, MPI_INT, any ? MPI_ANY_SOURCE : next, 0, MPI_COMM_WORLD, &status);
        work(3);
        task = left-- > 0 ? 0 : -1;
        open -= task < 0;
        MPI_Send(&task, 1, MPI_INT, any ? status.MPI_SOURCE : next, 0, MPI_COMM_WORLD);
    }
}

static void master(void)
{
    if (rank == 0)
        serve(1);
    else
        execute(0);
}

static void fixed_order(void)
{
    if (rank == 0)
        serve(0);
    else
        execute(0);
}

/* Two workers exchange one word in the end. */
static void workers_talk(void)
{
    master();
    if (rank == 1)
        send_to(2);
    if (rank == 2)
        receive_from(1);
}

/* The last rank looks at what has come before it receives it, and answers with a value. */
static void lookups(void)
{
    int last = size - 1, word;
    for (int left = steps * last; rank == last && left > 0; left--) {
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
        MPI_Recv(&word, 1, MPI_INT, status.MPI_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(2);
        MPI_Send(&word, 1, MPI_INT, status.MPI_SOURCE, 8, MPI_COMM_WORLD);
    }
    for (int i = 0; rank < last && i < steps; i++) {
        work(1 + rank);
        MPI_Sendrecv(&rank, 1, MPI_INT, last, 7, &word, 1, MPI_INT, last, 8, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

/* A counter: whoever asks gets the next number. Rank 0 keeps a receive posted. */
static void counter(void)
{
    int word, number = 0, left = steps * (size - 1);
    MPI_Request request;
    MPI_Status status;
    for (; rank == 0 && left > 0; left--) {
        MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
        work(0.5);
        number++;
        MPI_Send(&number, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; rank > 0 && i < steps; i++) {
        work(2);
        send_to(0);
        receive_from(0);
    }
}

/* Rank 0 takes results as they come, but nobody waits for an answer before the next barrier. */
static void collector(void)
{
    for (int i = 0; i < steps; i++) {
        if (rank > 0)
            send_to(0);
        for (int k = 1; rank == 0 && k < size; k++)
            receive_from(MPI_ANY_SOURCE);
        work(rank > 0 ? 6 : 27);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const struct program programs[] = {
        {"master", master},   {"fixed_order", fixed_order}, {"workers_talk", workers_talk},
        {"lookups", lookups}, {"counter", counter},         {"collector", collector},
        {NULL, NULL}};
    return run_program(argc, argv, programs);
}
