/* host_clocks.h - CLOCKS: what is measured of the hosts' clocks, and the correction made from it.
 *
 * Every listed host gets a clock that converts its CLOCK_MONOTONIC to that of the reference host,
 * by the arithmetic that converts quanta to nanoseconds: pairs of (its time, the reference's time)
 * make segments, computed once when the archive is opened. At both ends, where measurements are too
 * close to each other to tell a drift, a segment of slope 1 keeps the nearest offset.
 */
#ifndef RFN_ARCHIVE_READ_HOST_CLOCKS_H
#define RFN_ARCHIVE_READ_HOST_CLOCKS_H

#include "archive/read/event_payloads.h"
#include "refrain/archive.h"

#include <stddef.h>
#include <stdint.h>

/* A drift from measurements that are less apart is not continued beyond them. */
#define RFN_CLOCKS_DRIFT_NS UINT64_C(10000000000)

struct rfn_host_clocks {
    uint32_t reference, n_hosts;
    struct rfn_host_clock {
        struct rfn_clock_offset *offsets; /* as they were measured */
        uint32_t n;                       /* 0: the host is not listed */
        struct rfn_clock to_reference;
    } * hosts; /* n_hosts, by number; NULL: there are no CLOCKS */
};

/* *clocks is all zero before; to be released even on failure. NULL or what is wrong. */
const char *rfn_host_clocks_read(struct rfn_host_clocks *clocks, const struct rfn_payload *payload,
                                 uint32_t n_hosts, bool exact);
void rfn_host_clocks_release(struct rfn_host_clocks *clocks);

/* What converts a host's CLOCK_MONOTONIC (rfn_clock_ns) to the reference's; NULL for hosts that are
 * not listed. */
static inline const struct rfn_clock *rfn_host_clock(const struct rfn_host_clocks *clocks,
                                                     uint32_t host)
{
    return clocks->hosts && clocks->hosts[host].n ? &clocks->hosts[host].to_reference : NULL;
}

/* Quanta of a clock as CLOCK_MONOTONIC: of the reference host where the own host has a correction
 * (else NULL). Where both were read last is kept by the caller, first all zeros. */
static inline uint64_t rfn_corrected_ns(const struct rfn_clock *clock,
                                        struct rfn_clock_place *place,
                                        const struct rfn_clock *correction,
                                        struct rfn_clock_place *correction_place, uint64_t quanta)
{
    const uint64_t ns = rfn_clock_ns(clock, place, quanta);
    if (__builtin_expect(correction != NULL, 0))
        return rfn_clock_ns(correction, correction_place, ns);
    return ns;
}

#endif
