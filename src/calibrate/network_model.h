/* network_model.h - SMPI's model of messages from measurements: what calls take on both sides, what
 * the network takes, and where an MPI sends in another way (Markomanolis, 4.1; doc/whatif.md).
 *
 * A message of n bytes takes send(n) + network(n) + receive(n) from the call that sends it to the
 * end of the receive that waits for it. Sends up to detached_bytes are over before the receive has
 * begun, and those up to eager_bytes have arrived by then. Larger ones wait for the receive, and
 * both sides are in the call meanwhile: all that they take is the network's. MPI_Isend takes
 * isend(n), whatever the size.
 *
 * Where both sides copy a message at the same time, send(n) and receive(n) together can be longer
 * than the whole: both are then shortened in the same proportion, so that a tenth is left for the
 * network, and the sum is what was measured.
 *
 * Where pieces end is found by the shortest measurement of each size, which nothing disturbed; the
 * lines are least squares over all measurements but the disturbed ones, so that what scatters
 * counts as it does in programs.
 */
#ifndef RFN_CALIBRATE_NETWORK_MODEL_H
#define RFN_CALIBRATE_NETWORK_MODEL_H

#include "calibrate/pieces.h"

enum { CAL_SAMPLES = 16 };

/* Measurements of a size: the last ones. */
struct cal_samples {
    int64_t bytes;
    double ns[CAL_SAMPLES];
    size_t n; /* of all times */
};

void cal_samples_add(struct cal_samples *samples, double ns);
/* INFINITY: there is none. */
double cal_samples_shortest(const struct cal_samples *samples);

struct cal_pieces {
    struct cal_piece pieces[CAL_MOST_PIECES];
    size_t n;
};

/* All by size, ascending, n_sizes of each; sizes without samples are left out. */
struct cal_messages {
    const struct cal_samples *halves;         /* of round trips */
    const struct cal_samples *sends, *isends; /* calls whose receives are posted */
    const struct cal_samples *receives;       /* calls that complete what has arrived */
    const struct cal_samples *late_receives;  /* of what was sent long before */
    size_t n_sizes;
    int64_t detached_bytes;    /* -1: none */
    int64_t exchange_bytes[2]; /* ascending, of MPI_Sendrecv on both sides at once, */
    double exchange_ns[2];     /* and how long it takes; INFINITY: not known */
};

struct cal_network_model {
    struct cal_pieces send, isend, receive, network;
    int64_t eager_bytes, detached_bytes;
    double both_ways; /* bytes per ns in both directions at once, beside the calls; 0: unknown */
};

/* At most CAL_MOST_POINTS sizes. */
void cal_network_model_fit(struct cal_network_model *model, const struct cal_messages *messages);

/* How far what is written for a message may be off what was measured. */
#define CAL_MOST_OFF 0.2

/* The shortest and the middle one of a size's measurements, from its send to its receive. 0: there
 * is none. */
struct cal_span {
    double shortest_ns, middle_ns;
};
struct cal_span cal_samples_span(const struct cal_samples *samples);

/* 0 without pieces. */
double cal_network_model_ns(const struct cal_pieces *pieces, int64_t bytes);

#endif
