/* mpi_experiments.h - what two ranks do to measure the network between them.
 *
 * One rank leads: it tells the other one, which serves, what to do next, until it says that this
 * was all. Each function below is called by the leading rank and returns when the other one is
 * ready for the next experiment. Times are in ns.
 */
#ifndef RFN_CALIBRATE_MPI_EXPERIMENTS_H
#define RFN_CALIBRATE_MPI_EXPERIMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct cal_pair {
    int other;                         /* the rank at the other end, */
    bool on_one_node;                  /* where this one is */
    char *sent, *received, *received2; /* CAL_MOST_BYTES each */
};

/* Messages one after the other, to receives that are posted. */
struct cal_train {
    double send_ns;    /* of a call that sends */
    double receive_ns; /* of completing a receive */
    double all_ns;     /* from the first send to an answer to all of them */
};

/* n messages of so many bytes, at most CAL_MOST_TRAIN, and CAL_MOST_BYTES in all. pause_ns: the
 * receiver completes them so much later, when all have come: it does not wait. */
enum { CAL_MOST_TRAIN = 256 };
struct cal_train cal_send_train(const struct cal_pair *pair, int n, int64_t bytes,
                                int64_t pause_ns);

/* Whether a send is over before its receive is posted, which is so much later. */
bool cal_send_early(const struct cal_pair *pair, int64_t bytes, int64_t pause_ns);

/* What MPI_Recv takes that is called so much later than its message was sent. */
double cal_receive_late(const struct cal_pair *pair, int64_t bytes, int64_t pause_ns);

/* The shortest of n round trips of messages whose receives are posted. */
struct cal_round_trip {
    double half_ns; /* of all */
    double send_ns; /* of the call that sends: MPI_Send, or MPI_Isend */
};
struct cal_round_trip cal_send_back_and_forth(const struct cal_pair *pair, int64_t bytes, int n,
                                              bool isends);

/* The shortest of n exchanges, in which both send at the same time. */
double cal_exchange(const struct cal_pair *pair, int64_t bytes, int n);

/* To be called last. */
void cal_lead_ends(const struct cal_pair *pair);

/* The other rank's part, until the leading one ends. */
void cal_serve(const struct cal_pair *pair);

int64_t cal_now_ns(void);
void cal_sleep(int64_t ns);

#endif
