/* Opens bytes as an archive, looks at everything it says, reads its streams and verifies it.
 *
 * To be built with -DRFN_FUZZING: checksums are then not compared (the fuzzer would not get past
 * them) and sizes that a few bytes can claim are limited. `archive_test seeds DIR` writes archives
 * to start from, `representatives_test seeds DIR` reduced and `reduce_archive_test seeds DIR`
 * clustered ones:
 *
 *   archive_test seeds corpus && representatives_test seeds corpus &&
 *   reduce_archive_test seeds corpus
 *   archive_fuzz -max_len=8192 corpus
 *
 * tests/fuzz/archive_fuzz has one of a program whose ranks have loops in common. */
#include "archive/cursor/time_spreads.h"
#include "archive/read/reader.h"
#include "refrain/event.h"

#include <stdlib.h>

enum { EVENTS = 2048, STREAMS = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The compiler must not leave out what is only looked at. */
static volatile uint64_t looked_at;

static void look_at_text(const char *text)
{
    looked_at += text ? strlen(text) : 0;
}

static void look_at_definitions(const struct rfn_archive *archive)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    look_at_text(run->recorder);
    look_at_text(run->command);
    for (uint32_t i = 0; i < rfn_archive_hosts(archive); i++) {
        struct rfn_host_info host = rfn_archive_host(archive, i);
        look_at_text(host.name);
        for (uint32_t k = 0; k < host.n_offsets; k++)
            looked_at += host.offsets[k].round_trip_ns;
    }
    for (uint32_t i = 0; i < rfn_archive_locations(archive); i++) {
        struct rfn_location location = rfn_archive_location(archive, i);
        look_at_text(location.function);
        look_at_text(location.module);
    }
    for (uint32_t i = 0; i < rfn_archive_paths(archive); i++) {
        struct rfn_path path = rfn_archive_path(archive, i);
        for (uint32_t k = 0; k < path.n_frames; k++)
            look_at_text(rfn_archive_location(archive, path.frames[k]).file);
    }
    for (uint32_t i = 0; i < rfn_archive_datatypes(archive); i++)
        look_at_text(rfn_archive_datatype(archive, i)->name);
    for (uint32_t i = 0; i < rfn_archive_comms(archive); i++) {
        for (uint32_t rank = 0; rank < 8; rank++) {
            looked_at += (uint64_t)rfn_comm_world_rank(archive, i, rank & 1, rank);
            looked_at += (uint64_t)rfn_comm_rank_of(archive, i, rank);
            looked_at += (uint64_t)rfn_comm_peer(archive, i, rank, rank / 2);
        }
    }
}

/* All lists of an event may be in use at once. */
static void look_at_lists(const struct rfn_cursor *cursor, const struct rfn_record *record,
                          const struct rfn_function_info *function)
{
    const int64_t *lists[2 * RFN_PARAMS_MAX];
    size_t lengths[2 * RFN_PARAMS_MAX];
    unsigned n = 0;
    for (unsigned i = 0; i < function->n_in; i++, n++)
        lists[n] = rfn_cursor_list(cursor, record->in[i], &lengths[n], function->params[i].kind);
    for (unsigned i = 0; i < function->n_out; i++, n++)
        lists[n] = rfn_cursor_list(cursor, record->out[i], &lengths[n], function->params[n].kind);
    for (unsigned i = 0; i < n; i++) {
        for (size_t k = 0; k < lengths[i]; k++)
            looked_at += (uint64_t)lists[i][k];
    }
}

static void look_at_record(const struct rfn_archive *archive, const struct rfn_cursor *cursor,
                           const struct rfn_record *record)
{
    const struct rfn_function_info *function = rfn_archive_function(archive, record->function);
    looked_at += rfn_archive_path(archive, record->path).n_frames;
    look_at_lists(cursor, record, function);
    for (unsigned i = 0; i < function->n_in; i++) {
        uint8_t kind = function->params[i].kind;
        if (kind == RFN_KIND_TYPE && record->in[i] >= 0)
            look_at_text(rfn_archive_datatype(archive, (uint32_t)record->in[i])->name);
        if (kind == RFN_KIND_COMM && record->in[i] >= 0)
            looked_at += rfn_archive_comm(archive, (uint32_t)record->in[i])->size;
    }
}

/* What has been read of a stream. */
static struct look {
    int64_t enter_ns, exit_ns;
    uint64_t polls;
    uint32_t symbol;
} looked[EVENTS];

/* A seek to an event that has been read fails, or finds it. */
static void look_again(const struct rfn_archive *archive, uint32_t stream, uint32_t n)
{
    struct rfn_diag diag;
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    if (n == 0 || rfn_cursor_open(archive, stream, &cursor, &diag) < 0)
        return;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t event = (uint32_t)((uint64_t)n * (i * 5 % 4) / 4);
        bool found = rfn_cursor_seek(cursor, event, &diag) == 0;
        if (found && rfn_cursor_next(cursor, &record, &diag) > 0 &&
            (record->index != event || record->symbol != looked[event].symbol ||
             record->polls != looked[event].polls || record->enter_ns != looked[event].enter_ns ||
             record->exit_ns != looked[event].exit_ns))
            abort();
    }
    if (rfn_archive_stream(archive, stream).events <= EVENTS)
        rfn_cursor_seek_time(cursor, looked[n / 2].exit_ns, &diag);
    rfn_cursor_close(cursor);
}

static void look_at_stream(const struct rfn_archive *archive, uint32_t stream)
{
    struct rfn_diag diag;
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    struct rfn_stream_info info = rfn_archive_stream(archive, stream);
    look_at_text(info.host);
    if (rfn_cursor_open(archive, stream, &cursor, &diag) < 0)
        return;
    uint32_t contexts = rfn_cursor_cut_segments(cursor, 2, &diag) < 0 ? 0
                                                                      : rfn_cursor_contexts(cursor);
    uint32_t n = 0;
    for (; n < EVENTS && rfn_cursor_next(cursor, &record, &diag) > 0; n++) {
        look_at_record(archive, cursor, record);
        if (contexts && rfn_cursor_place(cursor).context >= contexts)
            abort();
        looked[n] = (struct look){record->enter_ns, record->exit_ns, record->polls, record->symbol};
    }
    rfn_cursor_close(cursor);
    look_again(archive, stream, n);
}

/* Those that the archive keeps: others need all of its events, which may be very many. */
static void look_at_spreads(const struct rfn_archive *archive)
{
    struct rfn_time_spreads *spreads;
    struct rfn_diag diag;
    size_t n;
    if (rfn_time_spreads_find(archive) < 0 || rfn_time_spreads_new(archive, &spreads, &diag) < 0)
        return;
    const struct rfn_position_spread *positions = rfn_time_spreads_positions(spreads, &n);
    for (size_t i = 0; i < n; i++) {
        struct rfn_spread_cluster cluster = rfn_time_spreads_cluster(spreads, positions[i].cluster);
        looked_at += cluster.streams[cluster.n_streams - 1];
        look_at_text(rfn_archive_function(archive, positions[i].function)->name);
        for (uint32_t k = 0; k < positions[i].duration.n_bins; k++)
            looked_at += positions[i].duration.bins[k];
    }
    rfn_time_spreads_free(spreads);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_archive *archive;
    struct rfn_diag diag = {.file_offset = -1};
    if (rfn_archive_open_memory(bytes, size, &archive, &diag) < 0) {
        if (!diag.text[0])
            abort();
        return 0;
    }
    look_at_definitions(archive);
    for (uint32_t i = 0; i < rfn_archive_groups(archive); i++)
        looked_at += rfn_archive_group(archive, i).nodes;
    for (uint32_t i = 0; i < rfn_archive_run(archive)->streams && i < STREAMS; i++)
        look_at_stream(archive, i);
    look_at_spreads(archive);
    if (rfn_archive_verify_open(archive, NULL, NULL, &diag) < 0 && !diag.text[0])
        abort();
    rfn_archive_close(archive);
    return 0;
}
