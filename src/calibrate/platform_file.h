/* platform_file.h - the measured network as a platform that SimGrid and `refrain predict` read: a
 * cluster of equal hosts, and the parameters of MPI on it.
 *
 * Each host has a link in each direction, so a message passes two. Their bandwidth is what large
 * messages have, the median over sizes from 16 KiB on, or more if other sizes could not be as fast
 * as they are; and the two latencies are what the smallest messages take. Other sizes have
 * factors. Up to 16 bytes of a message are its envelope in this
 * model, and thresholds of factors count them. A host that sends and receives at once may have less
 * than twice the bandwidth: then a limiter says how much.
 */
#ifndef RFN_CALIBRATE_PLATFORM_FILE_H
#define RFN_CALIBRATE_PLATFORM_FILE_H

#include "calibrate/network_model.h"

#include <stdbool.h>
#include <stdio.h>

struct cal_cluster {
    unsigned hosts, cores;
    double speed;     /* of a core, flop per second: what a volume is divided by */
    bool on_one_node; /* the network was measured within a node: it is the loopback, too */
};

/* How long a message takes on the platform that is written, from its send to its receive. There are
 * pieces of the network. */
double cal_platform_ns(const struct cal_network_model *model, int64_t bytes);

/* A size for which that is more than CAL_MOST_OFF below the shortest measurement, or above the
 * middle one. */
struct cal_misfit {
    size_t size; /* its number */
    double measured_ns, written_ns;
    double off; /* the longer one divided by the shorter one */
};
/* Compares all sizes: how many are off, the worst first. misfits has room for n_sizes. */
size_t cal_platform_misfits(const struct cal_network_model *model,
                            const struct cal_messages *messages, struct cal_misfit *misfits);

/* Writes the file. There are pieces of the network. RFN_E_IO. */
int cal_platform_write(const struct cal_network_model *model, const struct cal_cluster *cluster,
                       FILE *out);

#endif
