/* Time in calls that move data, for which nobody waits. Here messages take time: see
 * test_stories.py. */
#include "stories.h"

#define right ((rank + 1) % size)
#define left  ((rank + size - 1) % size)

/* Word after word to the next rank. */
WORK void words(int messages, int bytes)
{
    char to[65536] = {0}, from[65536];
    for (int i = 0; i < messages; i++) {
        MPI_Send(to, bytes, MPI_CHAR, right, 0, MPI_COMM_WORLD);
        MPI_Recv(from, bytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* 100 at a time, after some work. */
static void word_by_word(int bytes, double length)
{
    for (int i = 0; i < steps; i++) {
        work(length);
        words(100, bytes);
    }
}

static void small_words(void)
{
    word_by_word(8, 1);
}

static void page_size(void)
{
    word_by_word(4096, 1);
}

static void above_page_size(void)
{
    word_by_word(4104, 1);
}

static void much_work(void)
{
    word_by_word(8, 5);
}

/* Edges of a block in both directions, and corners. */
static void edges(void)
{
    enum { EDGES = 4, BYTES = 64 };
    static char to[EDGES][BYTES], from[EDGES][BYTES];
    for (int i = 0; i < steps; i++) {
        MPI_Request requests[2 * EDGES];
        work(0.02);
        for (int e = 0; e < EDGES; e++) {
            MPI_Irecv(from[e], BYTES, MPI_CHAR, e % 2 ? left : right, e, MPI_COMM_WORLD,
                      &requests[e]);
            MPI_Isend(to[e], BYTES, MPI_CHAR, e % 2 ? right : left, e, MPI_COMM_WORLD,
                      &requests[EDGES + e]);
        }
        MPI_Waitall(2 * EDGES, requests, MPI_STATUSES_IGNORE);
    }
}

/* Particles that leave to either side, one message each. */
static void particles(void)
{
    double particle[6] = {0}, other[6];
    for (int i = 0; i < steps; i++) {
        work(0.5);
        for (int k = 0; k < 25; k++) {
            MPI_Sendrecv(particle, 6, MPI_DOUBLE, right, 0, other, 6, MPI_DOUBLE, left, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Sendrecv(particle, 6, MPI_DOUBLE, left, 1, other, 6, MPI_DOUBLE, right, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* One question after the other to a neighbour, each of which has an answer. */
WORK void ask(int questions)
{
    for (int i = 0; i < questions; i++) {
        if (rank % 2 == 0) {
            send_to(rank + 1);
            receive_from(rank + 1);
        } else {
            receive_from(rank - 1);
            send_to(rank - 1);
        }
    }
}

static void questions(void)
{
    for (int i = 0; i < steps; i++) {
        work(1);
        ask(100);
    }
}

enum { LARGE = 4000000 }; /* bytes: 4 ms */
static char large_to[LARGE], large_from[LARGE];

/* Large faces, while nobody computes; so many bytes, so much work behind them, so much meanwhile.
 */
static void face(int bytes, double behind, double meanwhile)
{
    for (int i = 0; i < steps; i++) {
        MPI_Request requests[2];
        work(behind);
        MPI_Irecv(large_from, bytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(large_to, bytes, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[1]);
        if (meanwhile > 0)
            work(meanwhile);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void faces(void)
{
    face(LARGE, 1, 0);
}

static void half_overlap(void)
{
    face(LARGE, 1, 0.2);
}

static void full_overlap(void)
{
    face(LARGE, 1, 0.5);
}

static void rare_faces(void)
{
    face(LARGE, 8, 0);
}

/* 0.09 ms each, and 0.11 ms. */
static void short_faces(void)
{
    face(70000, 0.02, 0);
}

static void longer_faces(void)
{
    face(90000, 0.02, 0);
}

/* Requests that are made once. */
static void persistent_faces(void)
{
    MPI_Request requests[2];
    MPI_Recv_init(large_from, LARGE, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(large_to, LARGE, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < steps; i++) {
        work(1);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Blocking calls, which cannot overlap. */
static void exchanges(void)
{
    for (int i = 0; i < steps; i++) {
        work(1);
        MPI_Sendrecv(large_to, LARGE, MPI_CHAR, right, 0, large_from, LARGE, MPI_CHAR, left, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Rank 1 computes longer, for which all wait, and faces move. */
static void faces_and_slow_rank(void)
{
    for (int i = 0; i < steps; i++) {
        MPI_Request requests[2];
        work(rank == 1 ? 3 : 1);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Irecv(large_from, LARGE, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(large_to, LARGE, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const struct program programs[] = {{"small_words", small_words},
                                       {"page_size", page_size},
                                       {"above_page_size", above_page_size},
                                       {"much_work", much_work},
                                       {"edges", edges},
                                       {"particles", particles},
                                       {"questions", questions},
                                       {"faces", faces},
                                       {"half_overlap", half_overlap},
                                       {"full_overlap", full_overlap},
                                       {"rare_faces", rare_faces},
                                       {"short_faces", short_faces},
                                       {"longer_faces", longer_faces},
                                       {"persistent_faces", persistent_faces},
                                       {"exchanges", exchanges},
                                       {"faces_and_slow_rank", faces_and_slow_rank},
                                       {NULL, NULL}};
    return run_program(argc, argv, programs);
}
