#include "refrain/aggregation.h"

#include "archive/read/reader.h"
#include "base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char malformed[] = "it is malformed";

enum { ACTIVITY_BYTES = 3, GAP_BYTES = 2 }; /* at least */

struct reading {
    const struct rfn_archive *archive;
    struct rfn_reader reader;
    struct rfn_aggregation *to;
    size_t capacity;
};

static double read_double(struct reading *reading)
{
    const uint64_t bits = rfn_reader_u64(&reading->reader);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!(isfinite(value) && value >= 0))
        reading->reader.failed = true;
    return value;
}

static const char *read_head(struct reading *reading)
{
    struct rfn_reader *reader = &reading->reader;
    struct rfn_aggregation *to = reading->to;
    to->any = true;
    to->least_ns = (int64_t)rfn_reader_limited(reader, INT64_MAX);
    to->least_bytes = (int64_t)rfn_reader_limited(reader, INT64_MAX);
    to->terms = (uint32_t)rfn_reader_limited(reader, UINT32_MAX);
    to->network.latency_ns = read_double(reading);
    to->network.overhead_ns = read_double(reading);
    to->network.gap_ns = read_double(reading);
    to->network.gap_per_byte_ns = read_double(reading);
    to->network.eager_bytes = (int64_t)rfn_reader_limited(reader, INT64_MAX);
    to->messages = rfn_reader_varint(reader);
    to->events = rfn_reader_varint(reader);
    to->file_bytes = rfn_reader_varint(reader);
    return reader->failed ? malformed : NULL;
}

static struct rfn_call_site read_site(struct reading *reading)
{
    const uint32_t function = rfn_reader_index(&reading->reader,
                                               rfn_archive_functions(reading->archive));
    return (struct rfn_call_site){
        function, rfn_reader_index(&reading->reader, rfn_archive_paths(reading->archive))};
}

static const char *read_fixed(struct reading *reading)
{
    struct rfn_reader *reader = &reading->reader;
    struct rfn_aggregation *to = reading->to;
    const uint64_t regions = rfn_archive_regions(reading->archive);
    to->n_fixed = rfn_reader_count(reader, ACTIVITY_BYTES);
    to->fixed = calloc(to->n_fixed + 1, sizeof *to->fixed);
    if (!to->fixed)
        return rfn_out_of_memory;
    for (size_t i = 0; i < to->n_fixed && !reader->failed; i++) {
        const bool call = rfn_reader_limited(reader, 1);
        struct rfn_activity *activity = &to->fixed[i];
        *activity = (struct rfn_activity){.kind = call ? RFN_ACTIVITY_MPI : RFN_ACTIVITY_COMPUTE,
                                          .at = read_site(reading),
                                          .region = RFN_NO_REGION};
        if (call)
            continue;
        activity->before = read_site(reading);
        const uint64_t region = rfn_reader_limited(reader, regions);
        activity->region = region ? (uint32_t)(region - 1) : RFN_NO_REGION;
    }
    return reader->failed ? malformed : NULL;
}

static const char *read_stream(struct reading *reading, uint32_t stream)
{
    struct rfn_reader *reader = &reading->reader;
    struct rfn_aggregation *to = reading->to;
    const uint64_t events = rfn_archive_stream(reading->archive, stream).events;
    const size_t n = rfn_reader_count(reader, GAP_BYTES);
    uint64_t before = 0;
    if (reader->failed)
        return malformed;
    if (RFN_GROW(to->gaps, reading->capacity, to->n_gaps + n) < 0)
        return rfn_out_of_memory;
    for (size_t i = 0; i < n; i++) {
        const uint64_t more = rfn_reader_varint(reader), left_out = rfn_reader_varint(reader);
        if (reader->failed || !more || !left_out || more > events || before >= events - more)
            return malformed;
        before += more;
        to->gaps[to->n_gaps++] = (struct rfn_aggregated_gap){before, left_out};
    }
    to->streams[stream].n = n;
    return NULL;
}

static const char *read_payload(struct reading *reading)
{
    struct rfn_aggregation *to = reading->to;
    const uint32_t n = reading->archive->n_streams;
    const char *fault = read_head(reading);
    if (!fault)
        fault = read_fixed(reading);
    if (!fault) {
        to->streams = calloc((size_t)n + 1, sizeof *to->streams);
        fault = to->streams ? NULL : rfn_out_of_memory;
    }
    for (uint32_t i = 0; i < n && !fault; i++)
        fault = read_stream(reading, i);
    if (!fault && reading->archive->exact && rfn_reader_left(&reading->reader))
        fault = "there are bytes behind its end";
    const struct rfn_aggregated_gap *gaps = to->gaps;
    for (uint32_t i = 0; i < n && !fault; i++) {
        to->streams[i].gaps = gaps;
        gaps += to->streams[i].n;
    }
    return fault;
}

int rfn_aggregation_read(const struct rfn_archive *archive, struct rfn_aggregation *aggregation,
                         struct rfn_diag *diag)
{
    struct reading reading = {.archive = archive, .to = aggregation};
    struct rfn_payload payload;
    *aggregation = (struct rfn_aggregation){0};
    if (!rfn_chunks_know(&archive->chunks, RFN_CHUNK_AGGREGATED))
        return 0;
    const int64_t entry = rfn_chunks_find(&archive->chunks, RFN_CHUNK_AGGREGATED, 0);
    if (entry < 0)
        return 0;
    RFN_TRY(rfn_chunks_load(&archive->chunks, &archive->chunks.entries[entry], &payload, diag));
    reading.reader = rfn_reader_over(payload.data, payload.size);
    const int error = rfn_payload_fault(&payload, read_payload(&reading), diag);
    rfn_payload_release(&payload);
    return error;
}

void rfn_aggregation_release(struct rfn_aggregation *aggregation)
{
    free(aggregation->fixed);
    free(aggregation->streams);
    free(aggregation->gaps);
    *aggregation = (struct rfn_aggregation){0};
}
