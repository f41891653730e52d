/* network.h - the parameters of a network under LogGPS (Ino et al.): the costs of a message.
 *
 * `refrain calibrate` measures them, rfn_network_estimate (refrain/predict.h) takes them from the
 * messages of an archive.
 */
#ifndef REFRAIN_NETWORK_H
#define REFRAIN_NETWORK_H

#pragma GCC visibility push(default)

#include <stdint.h>

/* Times in nanoseconds. */
struct rfn_network {
    double latency_ns;      /* L, of the first byte */
    double overhead_ns;     /* o, of a processor, to send or receive */
    double gap_ns;          /* g, between two messages of a process */
    double gap_per_byte_ns; /* G */
    int64_t eager_bytes;    /* S: larger messages wait for their receive (rendezvous) */
};

/* Where nothing is known. Each MPI sends messages eagerly that are no larger than S here, unless it
 * is asked not to: the limits that Open MPI and MPICH come with are 4 KiB and more. */
static inline struct rfn_network rfn_network_assumed(void)
{
    return (struct rfn_network){.latency_ns = 1000,
                                .overhead_ns = 200,
                                .gap_ns = 200,
                                .gap_per_byte_ns = 1,
                                .eager_bytes = 512};
}

#pragma GCC visibility pop

#endif
