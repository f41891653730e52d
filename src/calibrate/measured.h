/* measured.h - the parameters of LogGPS from measured times, and the file that holds them
 * (refrain-calibrate(1)).
 */
#ifndef RFN_CALIBRATE_MEASURED_H
#define RFN_CALIBRATE_MEASURED_H

#include "calibrate/pieces.h"
#include "refrain/error.h"
#include "refrain/network.h"

#include <stdio.h>

/* The shortest of each, in ns. */
struct cal_shortest {
    double send, receive;           /* calls for one message of a byte that do not wait */
    double short_train, long_train; /* of so many messages, from the first to the answer: */
    int short_messages, long_messages;
};

struct cal_measured {
    const char *mpi, *flavour;
    const char *hosts[2];
    int ranks[2];
    struct rfn_network network;
    struct cal_piece pieces[CAL_MOST_PIECES];
    size_t n_pieces;
};

/* Fills network and pieces. o is the mean of the calls that send and receive, and at most a third
 * of what a message of a byte takes, as L + 2 o is that; g is what another message adds to a train,
 * and at least o. Points are ascending sizes, and are changed; there is one. */
void cal_measured_fit(struct cal_measured *measured, struct cal_point *points, size_t n,
                      const struct cal_shortest *shortest, int64_t eager_bytes);

/* Writes the file. RFN_E_NOMEM, RFN_E_IO with errno: then a part of it may be written. */
int cal_measured_write(const struct cal_measured *measured, FILE *out);

/* The same for people. */
void cal_measured_print(const struct cal_measured *measured, FILE *out);

#endif
