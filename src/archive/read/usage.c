#include "refrain/usage.h"

#include "archive/read/reader.h"
#include "archive/usage_format.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

static const char malformed[] = "it is malformed";

enum { GAP_BYTES = 7, WORK_BYTES = 2, WINDOW_BYTES = 3 }; /* at least: a byte for each number */

struct reading {
    const struct rfn_archive *archive;
    struct rfn_reader reader;
    struct rfn_usage *usage;
    size_t streams_capacity, gaps_capacity, recording_capacity, cores_capacity, windows_capacity,
        masks_capacity;
};

static uint64_t read_scaled(struct rfn_reader *reader, uint64_t unit)
{
    return rfn_reader_limited(reader, INT64_MAX / unit) * unit;
}

static void read_process(struct rfn_reader *reader, bool knows_waiting,
                         struct rfn_process_usage *process)
{
    process->known = true;
    process->wall_ns = read_scaled(reader, RFN_USAGE_NS);
    process->cpu_ns = read_scaled(reader, RFN_USAGE_NS);
    process->knows_waiting = knows_waiting;
    if (knows_waiting)
        process->core_wait_ns = read_scaled(reader, RFN_USAGE_NS);
    process->switches = rfn_reader_varint(reader);
    process->preemptions = rfn_reader_varint(reader);
    process->peak_bytes = read_scaled(reader, RFN_USAGE_BYTES);
}

static const char *read_gap(struct reading *reading, struct rfn_gap_usage *gap)
{
    const struct rfn_archive *archive = reading->archive;
    struct rfn_reader *reader = &reading->reader;
    const uint32_t functions = rfn_archive_functions(archive), paths = rfn_archive_paths(archive);
    gap->before_function = rfn_reader_index(reader, functions);
    gap->before_path = rfn_reader_index(reader, paths);
    gap->at_function = rfn_reader_index(reader, functions);
    gap->at_path = rfn_reader_index(reader, paths);
    gap->wall_ns = read_scaled(reader, RFN_USAGE_NS);
    gap->cpu_ns = read_scaled(reader, RFN_USAGE_NS);
    gap->core_wait_ns = rfn_reader_limited(reader, gap->wall_ns / RFN_USAGE_NS) * RFN_USAGE_NS;
    return reader->failed ? malformed : NULL;
}

static const char *read_recording(struct reading *reading, struct rfn_stream_usage *of)
{
    struct rfn_reader *reader = &reading->reader;
    struct rfn_usage *usage = reading->usage;
    uint64_t before = 0;
    of->recording_ns = read_scaled(reader, RFN_USAGE_NS);
    of->n_recording = rfn_reader_count(reader, WORK_BYTES);
    if (reader->failed)
        return malformed;
    if (RFN_GROW(usage->recording, reading->recording_capacity,
                 usage->n_recording + of->n_recording) < 0)
        return rfn_out_of_memory;
    for (size_t i = 0; i < of->n_recording; i++) {
        const uint64_t from = before + rfn_reader_limited(reader, INT64_MAX - before);
        before = from + rfn_reader_limited(reader, INT64_MAX - from);
        usage->recording[usage->n_recording++] = (struct rfn_own_work){from, before};
    }
    return reader->failed ? malformed : NULL;
}

static const char *read_stream(struct reading *reading, uint32_t stream)
{
    struct rfn_reader *reader = &reading->reader;
    struct rfn_usage *usage = reading->usage;
    const uint64_t flags = rfn_reader_varint(reader);
    if (RFN_GROW(usage->streams, reading->streams_capacity, usage->n + 1) < 0)
        return rfn_out_of_memory;
    struct rfn_stream_usage *of = &usage->streams[usage->n++];
    *of = (struct rfn_stream_usage){.stream = stream,
                                    .rank = rfn_archive_stream(reading->archive, stream).rank};
    if (flags & RFN_USAGE_PROCESS)
        read_process(reader, flags & RFN_USAGE_CORE_WAIT, &of->process);
    const char *fault = flags & RFN_USAGE_RECORDING ? read_recording(reading, of) : NULL;
    if (fault)
        return fault;
    if (flags & RFN_USAGE_PATHS_CUT)
        of->path_frames = (uint32_t)rfn_reader_limited(reader, UINT32_MAX);
    of->n_gaps = rfn_reader_count(reader, GAP_BYTES);
    if (reader->failed)
        return malformed;
    if (RFN_GROW(usage->gaps, reading->gaps_capacity, usage->n_gaps + of->n_gaps) < 0)
        return rfn_out_of_memory;
    for (size_t i = 0; i < of->n_gaps && !fault; i++)
        fault = read_gap(reading, &usage->gaps[usage->n_gaps++]);
    return fault;
}

/* ---- CORES ---- */

static const char *read_mask(struct reading *reading, struct rfn_process_cores *of)
{
    struct rfn_usage *usage = reading->usage;
    const uint8_t *mask = rfn_reader_blob(&reading->reader, &of->mask_bytes);
    if (!mask || (of->mask_bytes && !mask[of->mask_bytes - 1]))
        return malformed;
    if (RFN_GROW(usage->masks, reading->masks_capacity, usage->n_masks + of->mask_bytes) < 0)
        return rfn_out_of_memory;
    if (of->mask_bytes)
        memcpy(usage->masks + usage->n_masks, mask, of->mask_bytes);
    usage->n_masks += of->mask_bytes;
    return NULL;
}

static const char *read_windows(struct reading *reading, struct rfn_process_cores *of)
{
    struct rfn_reader *reader = &reading->reader;
    struct rfn_usage *usage = reading->usage;
    of->n_windows = rfn_reader_count(reader, WINDOW_BYTES);
    if (reader->failed)
        return malformed;
    if (RFN_GROW(usage->windows, reading->windows_capacity, usage->n_windows + of->n_windows) < 0)
        return rfn_out_of_memory;
    uint64_t left[3] = {INT64_MAX / RFN_USAGE_NS, INT64_MAX / RFN_USAGE_NS,
                        INT64_MAX / RFN_USAGE_NS}; /* sums fit, too */
    for (size_t i = 0; i < of->n_windows; i++) {
        uint64_t us[3];
        for (int k = 0; k < 3; k++) {
            us[k] = rfn_reader_limited(reader, left[k]);
            left[k] -= us[k];
        }
        usage->windows[usage->n_windows++] = (struct rfn_core_window){
            us[0] * RFN_USAGE_NS, us[1] * RFN_USAGE_NS, us[2] * RFN_USAGE_NS};
    }
    return reader->failed ? malformed : NULL;
}

static const char *read_cores(struct reading *reading, uint32_t stream)
{
    struct rfn_usage *usage = reading->usage;
    if (RFN_GROW(usage->cores, reading->cores_capacity, usage->n_cores + 1) < 0)
        return rfn_out_of_memory;
    struct rfn_process_cores *of = &usage->cores[usage->n_cores++];
    *of = (struct rfn_process_cores){.stream = stream,
                                     .rank = rfn_archive_stream(reading->archive, stream).rank};
    const char *fault = read_mask(reading, of);
    of->omp_threads = fault ? 0 : (uint32_t)rfn_reader_limited(&reading->reader, UINT32_MAX);
    return fault ? fault : read_windows(reading, of);
}

/* ---- both ---- */

typedef const char *read_part(struct reading *reading, uint32_t stream);

static const char *read_payload(struct reading *reading, uint32_t n_streams, read_part *read)
{
    struct rfn_reader *reader = &reading->reader;
    const char *fault = NULL;
    for (uint64_t stream = 0; rfn_reader_left(reader) && !fault; stream++) {
        stream += rfn_reader_limited(reader, n_streams);
        if (reader->failed || stream >= n_streams)
            return "it has a stream that is not there";
        fault = read(reading, (uint32_t)stream);
    }
    return fault;
}

static int read_chunk(struct reading *reading, uint32_t type, read_part *read,
                      struct rfn_diag *diag)
{
    const struct rfn_archive *archive = reading->archive;
    struct rfn_payload payload;
    const int64_t entry = rfn_chunks_find(&archive->chunks, type, 0);
    if (entry < 0 || !rfn_chunks_know(&archive->chunks, type))
        return 0;
    RFN_TRY(rfn_chunks_load(&archive->chunks, &archive->chunks.entries[entry], &payload, diag));
    reading->reader = rfn_reader_over(payload.data, payload.size);
    const int error = rfn_payload_fault(&payload, read_payload(reading, archive->n_streams, read),
                                        diag);
    rfn_payload_release(&payload);
    return error;
}

/* Lists do not grow any more. */
static void set_pointers(struct rfn_usage *usage)
{
    size_t gaps = 0, recording = 0, windows = 0, masks = 0;
    for (size_t i = 0; i < usage->n; i++) {
        struct rfn_stream_usage *of = &usage->streams[i];
        of->gaps = of->n_gaps ? &usage->gaps[gaps] : NULL;
        gaps += of->n_gaps;
        of->recording = of->n_recording ? &usage->recording[recording] : NULL;
        recording += of->n_recording;
    }
    for (size_t i = 0; i < usage->n_cores; i++) {
        struct rfn_process_cores *of = &usage->cores[i];
        of->windows = of->n_windows ? &usage->windows[windows] : NULL;
        windows += of->n_windows;
        of->mask = of->mask_bytes ? &usage->masks[masks] : NULL;
        masks += of->mask_bytes;
    }
}

int rfn_usage_read(const struct rfn_archive *archive, struct rfn_usage *usage,
                   struct rfn_diag *diag)
{
    struct reading reading = {.archive = archive, .usage = usage};
    *usage = (struct rfn_usage){0};
    RFN_TRY(read_chunk(&reading, RFN_CHUNK_USAGE, read_stream, diag));
    RFN_TRY(read_chunk(&reading, RFN_CHUNK_CORES, read_cores, diag));
    set_pointers(usage);
    return 0;
}

void rfn_usage_release(struct rfn_usage *usage)
{
    free(usage->streams);
    free(usage->gaps);
    free(usage->recording);
    free(usage->cores);
    free(usage->windows);
    free(usage->masks);
    *usage = (struct rfn_usage){0};
}

struct rfn_process_usage rfn_usage_of_rank(const struct rfn_usage *usage, uint32_t rank)
{
    for (size_t low = 0, high = usage->n; low < high;) {
        const size_t middle = low + (high - low) / 2;
        const struct rfn_stream_usage *of = &usage->streams[middle];
        if (of->rank == rank && of->process.known)
            return of->process;
        if (of->rank >= rank)
            high = middle;
        else
            low = middle + 1;
    }
    return (struct rfn_process_usage){0};
}

const struct rfn_process_cores *rfn_usage_cores_of_rank(const struct rfn_usage *usage,
                                                        uint32_t rank)
{
    for (size_t low = 0, high = usage->n_cores; low < high;) {
        const size_t middle = low + (high - low) / 2;
        const struct rfn_process_cores *of = &usage->cores[middle];
        if (of->rank == rank)
            return of;
        if (of->rank > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

uint32_t rfn_process_cores_count(const struct rfn_process_cores *cores)
{
    uint32_t n = 0;
    for (size_t i = 0; i < cores->mask_bytes; i++)
        n += (uint32_t)__builtin_popcount(cores->mask[i]);
    return n;
}

struct rfn_core_window rfn_process_cores_sum(const struct rfn_process_cores *cores)
{
    struct rfn_core_window sum = {0};
    for (size_t i = 0; i < cores->n_windows; i++) {
        sum.wall_ns += cores->windows[i].wall_ns;
        sum.on_core_ns += cores->windows[i].on_core_ns;
        sum.runnable_ns += cores->windows[i].runnable_ns;
    }
    return sum;
}
