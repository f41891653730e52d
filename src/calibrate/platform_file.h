/* platform_file.h - the measured network as a platform that SimGrid and `refrain predict` read: a
 * cluster of equal hosts, and the parameters of MPI on it.
 *
 * Each host has a link in each direction, so a message passes two. Their bandwidth is what large
 * messages have, the median over sizes from 16 KiB on, and the two latencies are what the smallest
 * messages take; other sizes have factors. Up to 16 bytes of a message are its envelope in this
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

/* Writes the file. There are pieces of the network. RFN_E_IO. */
int cal_platform_write(const struct cal_network_model *model, const struct cal_cluster *cluster,
                       FILE *out);

#endif
