#include "archive/read/host_clocks.h"

#include <stdlib.h>

static const char malformed[] = "the measurements of a host's clock are malformed";

enum { LEAST_BYTES = 10 }; /* of a measurement: time, offset, round trip */

static uint64_t reference_time(const struct rfn_clock_offset *offset)
{
    return offset->monotonic_ns + (uint64_t)offset->offset_ns;
}

static const char *read_offsets(struct rfn_host_clock *host, struct rfn_reader *reader)
{
    uint32_t n = rfn_reader_count(reader, LEAST_BYTES);
    if (reader->failed || n == 0)
        return malformed;
    host->offsets = malloc(n * sizeof *host->offsets);
    if (!host->offsets)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < n; i++) {
        struct rfn_clock_offset *to = &host->offsets[i];
        to->monotonic_ns = rfn_reader_u64(reader);
        to->offset_ns = rfn_reader_svarint(reader);
        to->round_trip_ns = rfn_reader_varint(reader);
        if (reader->failed || (i > 0 && (to->monotonic_ns < to[-1].monotonic_ns ||
                                         reference_time(to) < reference_time(&to[-1]))))
            return malformed;
    }
    host->n = n;
    return NULL;
}

/* At most a segment between each two measurements and two at the ends. A segment is used from its
 * first time on, the first one before, too; of two that begin at the same time, the later. */
static const char *make_clock(struct rfn_host_clock *host)
{
    struct rfn_clock *clock = &host->to_reference;
    const struct rfn_clock_offset *first = host->offsets, *last = &host->offsets[host->n - 1];
    bool drift = last->monotonic_ns - first->monotonic_ns >= RFN_CLOCKS_DRIFT_NS;
    clock->segments = malloc((host->n + (size_t)2) * sizeof *clock->segments);
    if (!clock->segments)
        return rfn_out_of_memory;
    uint64_t pair[2] = {first->monotonic_ns, reference_time(first)};
    if (!drift)
        clock->segments[clock->n++] = (struct rfn_clock_segment){pair[0], pair[1], 1, 0, 0};
    for (uint32_t i = 1; i < host->n; i++) {
        const uint64_t next[2] = {host->offsets[i].monotonic_ns, reference_time(&host->offsets[i])};
        if (next[0] == pair[0])
            continue;
        clock->segments[clock->n++] = rfn_clock_segment_of(pair, next);
        memcpy(pair, next, sizeof pair);
    }
    if (!drift && clock->n > 1)
        clock->segments[clock->n++] = (struct rfn_clock_segment){pair[0], pair[1], 1, 0, 0};
    return NULL;
}

const char *rfn_host_clocks_read(struct rfn_host_clocks *clocks, const struct rfn_payload *payload,
                                 uint32_t n_hosts, bool exact)
{
    struct rfn_reader reader = rfn_reader_over(payload->data, payload->size);
    static const char not_in_order[] = "its hosts are not in order, or do not exist";
    uint64_t reference = rfn_reader_varint(&reader), n = rfn_reader_varint(&reader), lowest = 0;
    if (reader.failed || reference >= n_hosts || n > n_hosts)
        return not_in_order;
    clocks->hosts = calloc(n_hosts, sizeof *clocks->hosts);
    if (!clocks->hosts)
        return rfn_out_of_memory;
    clocks->reference = (uint32_t)reference;
    clocks->n_hosts = n_hosts;
    const char *fault = NULL;
    for (uint64_t i = 0; i < n && !fault; i++) {
        uint64_t number = rfn_reader_varint(&reader);
        if (reader.failed || number < lowest || number >= n_hosts)
            return not_in_order;
        lowest = number + 1;
        fault = read_offsets(&clocks->hosts[number], &reader);
        if (!fault)
            fault = make_clock(&clocks->hosts[number]);
    }
    return !fault && exact && rfn_reader_left(&reader) ? "there are bytes behind its end" : fault;
}

void rfn_host_clocks_release(struct rfn_host_clocks *clocks)
{
    for (uint32_t i = 0; i < clocks->n_hosts; i++) {
        free(clocks->hosts[i].offsets);
        rfn_clock_release(&clocks->hosts[i].to_reference);
    }
    free(clocks->hosts);
    *clocks = (struct rfn_host_clocks){0};
}
