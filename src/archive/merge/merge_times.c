/* Times are copied as they are stored. Four things make that more than a copy:
 *
 * - A time set has the number of its lowest stream, which changes; that of a chunk PROFILES says
 *   which time sets are in it, without gaps. Where there would be gaps, or others in between, its
 *   PROFILEs are taken out and gathered anew; of these only the lists are decoded.
 * - Times of clock 3 count from the earliest start of all streams, which changes with the streams:
 *   their clock's start is moved.
 * - A PROFILE of another clock is on the clock of the time set's lowest stream, which therefore has
 *   to be kept.
 * - Where ranks were compared, those of several archives may have the same times: equal ones are
 *   shared again.
 */
#include "archive/merge/merge_internal.h"
#include "archive/read/reduced_timing.h"
#include "reduce/columns/list_writer.h"

#include <stdlib.h>
#include <string.h>

/* ---- when runs began ---- */

/* What is known of a host's clock. */
struct host {
    const struct rfn_clock *clock; /* to the reference's; NULL: none */
    uint64_t offset;               /* realtime - monotonic of its first stream */
};

static int64_t new_host(const struct rfn_archive_merge *joining,
                        const struct rfn_archive_merge_input *input, uint32_t host)
{
    return rfn_archive_merge_number(joining, input, RFN_DEFINITION_HOST, host);
}

static int64_t new_host_of(const struct rfn_archive_merge *joining,
                           const struct rfn_archive_merge_stream *stream)
{
    const struct rfn_archive_merge_input *input = &joining->inputs[stream->input];
    return new_host(joining, input,
                    (uint32_t)rfn_stream_word(input->archive, RFN_WORD_HOST, stream->stream));
}

/* The first archive that has CLOCKS; others have the same (rfn_archive_merge_add_clocks). */
static const struct rfn_archive_merge_input *with_clocks(const struct rfn_archive_merge *joining)
{
    for (size_t i = 0; i < joining->n_inputs; i++) {
        if (joining->inputs[i].archive->clocks.hosts)
            return &joining->inputs[i];
    }
    return NULL;
}

/* As the reader will (reader.c, find_origin). */
static void find_hosts(const struct rfn_archive_merge *joining, struct host *hosts)
{
    const struct rfn_archive_merge_input *input = with_clocks(joining);
    for (uint32_t i = joining->n_streams; i-- > 0;) {
        const struct rfn_archive_merge_stream *stream = &joining->streams[i];
        hosts[new_host_of(joining, stream)].offset = (uint64_t)rfn_stream_word(
            rfn_archive_merge_archive(joining, i), RFN_WORD_REALTIME, stream->stream);
    }
    if (!input)
        return;
    const struct rfn_host_clocks *clocks = &input->archive->clocks;
    uint64_t reference = hosts[new_host(joining, input, clocks->reference)].offset;
    for (uint32_t i = 0; i < clocks->n_hosts; i++) {
        const struct rfn_clock *clock = rfn_host_clock(clocks, i);
        if (clock)
            hosts[new_host(joining, input, i)] = (struct host){clock, reference};
    }
}

/* The start of a stream on the clock that all share; of the new archive, or of its own. */
static uint64_t start_of(const struct rfn_archive *archive, uint32_t stream,
                         const struct rfn_clock *clock, uint64_t offset)
{
    struct rfn_clock_place place = {0};
    uint64_t start = (uint64_t)rfn_stream_word(archive, RFN_WORD_START, stream);
    return (clock ? rfn_clock_ns(clock, &place, start) : start) + offset;
}

static uint64_t new_start(const struct rfn_archive_merge *joining, const struct host *hosts,
                          uint32_t number)
{
    const struct rfn_archive_merge_stream *stream = &joining->streams[number];
    const struct host *host = &hosts[new_host_of(joining, stream)];
    return start_of(joining->inputs[stream->input].archive, stream->stream, host->clock,
                    host->offset);
}

static uint64_t old_start(const struct rfn_archive *archive, uint32_t stream)
{
    uint32_t host = (uint32_t)rfn_stream_word(archive, RFN_WORD_HOST, stream);
    return start_of(archive, stream, rfn_host_clock(&archive->clocks, host),
                    archive->host_offsets[host]);
}

/* The stream that begins first of those that are kept of an archive is a mark on both axes of
 * time. */
static int find_starts(struct rfn_archive_merge *joining)
{
    struct host *hosts = calloc(joining->merge.definitions[RFN_DEFINITION_HOST].n + 1,
                                sizeof *hosts);
    uint64_t earliest = 0;
    if (!hosts)
        return RFN_E_NOMEM;
    find_hosts(joining, hosts);
    for (uint32_t i = 0; i < joining->n_streams; i++) {
        uint64_t start = new_start(joining, hosts, i);
        if (i == 0 || (int64_t)(start - earliest) < 0)
            earliest = start;
    }
    for (size_t i = 0; i < joining->n_inputs; i++) {
        struct rfn_archive_merge_input *input = &joining->inputs[i];
        const struct rfn_archive *archive = input->archive;
        uint32_t first = RFN_JOIN_NONE;
        for (uint32_t k = 0; k < archive->n_streams; k++) {
            if (input->streams[k] != RFN_JOIN_NONE &&
                (first == RFN_JOIN_NONE ||
                 (int64_t)(old_start(archive, k) - old_start(archive, first)) < 0))
                first = k;
        }
        uint64_t before = old_start(archive, first) - archive->start_ns;
        input->later_ns = new_start(joining, hosts, input->streams[first]) - earliest - before;
    }
    free(hosts);
    return 0;
}

/* ---- time sets ---- */

int rfn_archive_merge_time_sets(struct rfn_archive_merge *joining)
{
    for (size_t i = 0; i < joining->n_inputs; i++) {
        struct rfn_archive_merge_input *input = &joining->inputs[i];
        size_t n = input->archive->n_streams + (size_t)1;
        input->apart = -1;
        input->time_sets = malloc(n * sizeof *input->time_sets);
        input->written = calloc(n, sizeof *input->written);
        if (!input->time_sets || !input->written)
            return RFN_E_NOMEM;
        memset(input->time_sets, 0xff, n * sizeof *input->time_sets); /* RFN_JOIN_NONE */
    }
    for (uint32_t i = 0; i < joining->n_streams; i++) {
        const struct rfn_archive_merge_stream *stream = &joining->streams[i];
        struct rfn_archive_merge_input *input = &joining->inputs[stream->input];
        uint32_t old = rfn_stream_times(input->archive, stream->stream);
        if (input->time_sets[old] == RFN_JOIN_NONE)
            input->time_sets[old] = i;
    }
    return find_starts(joining);
}

/* ---- a PROFILE ---- */

/* A time set, and where it goes. */
struct moving {
    struct rfn_archive_merge *joining;
    struct rfn_archive_merge_input *input;
    uint32_t old, number;
};

/* Whether ranks of other archives may have the same times. */
static bool shares_times(const struct moving *moving)
{
    return rfn_archive_run(moving->input->archive)->across != NULL;
}

static bool loses_owner(const struct moving *moving)
{
    return moving->input->streams[moving->old] == RFN_JOIN_NONE;
}

static int without_owner(const struct moving *moving)
{
    const struct rfn_archive *archive = moving->input->archive;
    return rfn_fail(moving->joining->diag, RFN_E_UNSUPPORTED, -1, -1,
                    "%s: rank %u has the times of rank %u (they were recorded with --across), "
                    "which has to be kept, too",
                    archive->chunks.path, moving->joining->streams[moving->number].rank,
                    rfn_archive_stream(archive, moving->old).rank);
}

/* Where in a PROFILE the start of its clock stands, if that is of the run. Else 0. */
static size_t find_clock_start(const struct rfn_payload *payload)
{
    struct rfn_payload_reader scan;
    rfn_payload_reader_begin(&scan, payload);
    uint64_t flags = rfn_payload_reader_varint(&scan);
    uint8_t kind = rfn_reader_u8(rfn_payload_reader_next(&scan, 1));
    uint64_t pairs = rfn_payload_reader_varint(&scan);
    bool there = !rfn_payload_reader_failed(&scan) && rfn_payload_reader_left(&scan) >= 8;
    bool of_the_run = flags & RFN_TIMING_TIMES && kind == RFN_CLOCK_OF_THE_RUN && pairs == 0;
    return there && of_the_run ? rfn_payload_reader_at(&scan) : 0;
}

/* The 8 bytes of the start as they are to be. */
static int move_start(const struct moving *moving, const struct rfn_payload *payload, size_t at,
                      uint8_t bytes[8])
{
    int error = rfn_payload_read(payload, at, bytes, 8);
    if (error < 0)
        return rfn_payload_fault(payload, rfn_read_fault(error), moving->joining->diag);
    rfn_representative_store_64(bytes, rfn_load_64(bytes) + moving->input->later_ns);
    return 0;
}

static int add_moved(const struct moving *moving, const struct rfn_payload *payload, size_t at)
{
    struct rfn_rope rope = RFN_ROPE_INIT;
    uint8_t start[8];
    RFN_TRY(move_start(moving, payload, at, start));
    rfn_archive_merge_name_bytes(payload, 0, at, &rope);
    rfn_buf_bytes(&rope.bytes, start, sizeof start);
    rfn_archive_merge_name_bytes(payload, at + sizeof start, payload->size, &rope);
    int error = rfn_rewrite_add(&moving->joining->rewrite, RFN_CHUNK_PROFILE, moving->number,
                                &rope);
    rfn_rope_release(&rope);
    return error;
}

static int copy(const struct moving *moving, int64_t entry, uint64_t id)
{
    return rfn_rewrite_copy_of(&moving->joining->rewrite, moving->input->archive, (size_t)entry,
                               id);
}

/* A PROFILE that has a chunk of its own, and will have one. */
static int add_alone(const struct moving *moving)
{
    const struct rfn_chunks *chunks = &moving->input->archive->chunks;
    int64_t entry = rfn_reduced_timing_find(moving->input->archive, moving->old);
    struct rfn_payload payload;
    RFN_TRY(rfn_rewrite_add_gathered(&moving->joining->rewrite, &moving->joining->gathered));
    if (moving->input->later_ns == 0 && !loses_owner(moving))
        return copy(moving, entry, moving->number);
    RFN_TRY(
        rfn_chunks_load_events(chunks, &chunks->entries[entry], &payload, moving->joining->diag));
    size_t at = find_clock_start(&payload);
    int error = at                    ? add_moved(moving, &payload, at)
                : loses_owner(moving) ? without_owner(moving)
                                      : copy(moving, entry, moving->number);
    rfn_payload_release(&payload);
    return error;
}

/* ---- PROFILES ---- */

/* Whether a chunk can be copied, which needs this id then: it has the time sets of a range, in the
 * same order. */
static bool stays_together(const struct moving *moving, uint64_t *id)
{
    const struct rfn_archive *archive = moving->input->archive;
    uint32_t end = rfn_time_set_table_end(*id), first = RFN_JOIN_NONE, last = 0, n = 0, range = 0;
    if (moving->input->later_ns || shares_times(moving))
        return false;
    for (uint32_t i = rfn_time_set_table_first(*id); i < end && i < archive->n_streams; i++) {
        uint32_t number = moving->input->time_sets[i];
        if (rfn_stream_times(archive, i) != i)
            continue;
        if (number == RFN_JOIN_NONE || moving->input->streams[i] == RFN_JOIN_NONE || number < last)
            return false;
        first = n++ ? first : number;
        last = number;
    }
    for (uint32_t i = first; i <= last; i++)
        range += rfn_archive_merge_time_set(moving->joining, i) == i;
    *id = rfn_time_set_table_id(first, last + 1);
    return n == range;
}

/* More values, in all lists of a PROFILE, than any writer puts into PROFILES: decoding them would
 * take long. */
enum { LISTS_MAX = 1 << 22, TOO_LONG = 1 };

/* Decodes the lists of all contexts. */
static int copy_lists(const struct rfn_timing *timing, const struct rfn_reduced_timing *reduced,
                      struct rfn_column *to)
{
    uint64_t left = LISTS_MAX;
    int error = 0;
    for (uint32_t i = 0; i < reduced->n_contexts; i++)
        rfn_column_init(&to[i]);
    for (uint32_t i = 0; i < reduced->n_contexts && !error; i++) {
        struct rfn_list_cursor lists[1 + RFN_GUIDES_MAX];
        memset(lists, 0, sizeof lists);
        error = rfn_reduced_timing_list(reduced, timing, i, lists);
        uint64_t n = lists[0].column.n;
        if (!error && n > left)
            error = TOO_LONG;
        left -= error ? 0 : n;
        for (int64_t value; n > 0 && !error; n--) {
            error = rfn_list_next(&lists[0], &value);
            if (!error)
                error = rfn_column_append(&to[i], value);
        }
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
            rfn_column_close(&lists[k].column);
    }
    return error;
}

/* Whether another part of one archive had the same times, which its ranks then share again; if not,
 * others may have them. A failure is 0, too: times are there once more. */
static bool is_there(const struct moving *moving, const struct rfn_column *lists, size_t n,
                     const uint8_t *rest, size_t size)
{
    struct rfn_map *known = &moving->joining->known_times;
    uint64_t hash = rfn_hash_mix(rfn_hash_bytes(rest, size),
                                 moving->joining->streams[moving->number].group);
    struct rfn_coder_memory memory = {0};
    struct rfn_buf packed = RFN_BUF_INIT;
    int error = 0;
    for (size_t i = 0; i < n && !error; i++)
        error = rfn_list_pack(NULL, &lists[i], NULL, &memory, &packed);
    rfn_coder_memory_release(&memory);
    hash = rfn_hash_mix(hash, rfn_hash_bytes(packed.data, packed.size));
    rfn_buf_release(&packed);
    const uint64_t *number = error ? NULL : rfn_map_get(known, hash);
    if (number)
        moving->input->time_sets[moving->old] = (uint32_t)*number;
    else if (!error)
        rfn_map_put(known, hash, moving->number);
    return number != NULL;
}

/* Takes a PROFILE out of its chunk: what stands before its lists is there, lists are decoded; or
 * TOO_LONG. */
static int gather(const struct moving *moving, const struct rfn_timing *timing,
                  const struct rfn_reduced_timing *reduced)
{
    const struct rfn_payload *payload = &timing->payload;
    size_t at = find_clock_start(payload), n = reduced->n_contexts;
    if (!at && loses_owner(moving))
        return without_owner(moving);
    struct rfn_column *lists = calloc(n + 1, sizeof *lists);
    int error = lists ? copy_lists(timing, reduced, lists) : RFN_E_NOMEM;
    const char *fault = error < 0 ? rfn_column_fault(error) : NULL;
    if (!fault && at)
        error = move_start(moving, payload, at, payload->data + at);
    size_t size = rfn_reduced_timing_lists(reduced);
    bool there = !fault && !error && at && shares_times(moving) &&
                 is_there(moving, lists, n, payload->data, size);
    if (!fault && !error && !there)
        error = rfn_gathered_add_packed(&moving->joining->gathered, moving->number, payload->data,
                                        size, lists, n);
    for (size_t i = 0; i < n && lists; i++)
        rfn_column_release(&lists[i]);
    free(lists);
    return fault ? rfn_payload_fault(payload, fault, moving->joining->diag) : error;
}

/* What cannot be taken out keeps a chunk of its own, if it has one. */
static int add_taken(const struct moving *moving)
{
    struct rfn_archive_merge *joining = moving->joining;
    const struct rfn_archive *archive = moving->input->archive;
    struct rfn_reduced_timing reduced;
    struct rfn_timing timing;
    struct rfn_part *structure;
    uint32_t group = (uint32_t)rfn_stream_word(archive, RFN_WORD_GROUP, moving->old);
    RFN_TRY(rfn_part_use(archive, RFN_CHUNK_STRUCTURE, group, NULL, &structure, joining->diag));
    int error = rfn_times_load(archive, moving->old, &structure->u.structure, &timing, &reduced,
                               joining->diag);
    bool large = !error && !timing.payload.data;
    if (!error && !large)
        error = gather(moving, &timing, &reduced);
    large |= error == TOO_LONG;
    rfn_timing_release(&timing);
    rfn_reduced_timing_release(&reduced);
    rfn_part_done(archive, structure);
    RFN_TRY(error);
    int64_t entry = rfn_reduced_timing_find(archive, moving->old);
    if (large && archive->chunks.entries[entry].type == RFN_CHUNK_PROFILES)
        return rfn_fail(joining->diag, RFN_E_CORRUPT, -1,
                        (int)joining->streams[moving->number].rank,
                        "%s: damaged: a rank has executed more segments than an archive can hold",
                        archive->chunks.path);
    if (large)
        return add_alone(moving);
    return rfn_gathered_enough(&joining->gathered)
               ? rfn_rewrite_add_gathered(&joining->rewrite, &joining->gathered)
               : 0;
}

static int add_of_profiles(const struct moving *moving, int64_t entry)
{
    const struct rfn_archive *archive = moving->input->archive;
    const uint64_t old = archive->chunks.entries[entry].id;
    uint64_t id = old;
    if (moving->input->apart == entry || !stays_together(moving, &id)) {
        moving->input->apart = entry;
        return add_taken(moving);
    }
    RFN_TRY(rfn_rewrite_add_gathered(&moving->joining->rewrite, &moving->joining->gathered));
    for (uint32_t i = rfn_time_set_table_first(old);
         i < rfn_time_set_table_end(old) && i < archive->n_streams; i++)
        moving->input->written[i] = true;
    return copy(moving, entry, id);
}

/* ---- the times of a stream ---- */

int rfn_archive_merge_add_times(struct rfn_archive_merge *joining, uint32_t number)
{
    const struct rfn_archive_merge_stream *stream = &joining->streams[number];
    struct rfn_archive_merge_input *input = &joining->inputs[stream->input];
    uint32_t old = rfn_stream_times(input->archive, stream->stream);
    const struct moving moving = {joining, input, old, number};
    if (input->time_sets[old] != number || input->written[old])
        return 0;
    input->written[old] = true;
    int64_t entry = rfn_reduced_timing_find(input->archive, old);
    if (entry >= 0 && input->archive->chunks.entries[entry].type == RFN_CHUNK_PROFILES)
        return add_of_profiles(&moving, entry);
    if (entry >= 0)
        return shares_times(&moving) ? add_taken(&moving) : add_alone(&moving);
    RFN_TRY(rfn_rewrite_add_gathered(&joining->rewrite, &joining->gathered));
    entry = rfn_timing_find(input->archive, old);
    return entry >= 0 ? copy(&moving, entry, number) : 0;
}

/* ---- CLOCKS ---- */

static int compare_hosts(const void *left, const void *right)
{
    const struct rfn_pack_host_clock *a = left, *b = right;
    return a->host < b->host ? -1 : a->host > b->host;
}

/* With the new numbers of hosts. */
static int pack_clocks(const struct rfn_archive_merge *joining,
                       const struct rfn_archive_merge_input *input, struct rfn_buf *out)
{
    const struct rfn_host_clocks *clocks = &input->archive->clocks;
    struct rfn_pack_host_clock *hosts = calloc(clocks->n_hosts + (size_t)1, sizeof *hosts);
    size_t n = 0;
    if (!hosts)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < clocks->n_hosts; i++) {
        if (clocks->hosts[i].n)
            hosts[n++] = (struct rfn_pack_host_clock){(uint64_t)new_host(joining, input, i),
                                                      clocks->hosts[i].offsets, clocks->hosts[i].n};
    }
    qsort(hosts, n, sizeof *hosts, compare_hosts);
    int error = rfn_pack_clocks((uint64_t)new_host(joining, input, clocks->reference), hosts, n,
                                out);
    free(hosts);
    return error;
}

/* They were measured once in a run, so all archives that have them have the same. */
int rfn_archive_merge_add_clocks(struct rfn_archive_merge *joining)
{
    const struct rfn_archive_merge_input *first = with_clocks(joining);
    struct rfn_rope payload = RFN_ROPE_INIT;
    if (!first)
        return 0;
    const struct rfn_buf *clocks = &payload.bytes;
    int error = pack_clocks(joining, first, &payload.bytes);
    for (size_t i = 0; i < joining->n_inputs && !error; i++) {
        const struct rfn_archive_merge_input *input = &joining->inputs[i];
        struct rfn_buf its = RFN_BUF_INIT;
        if (!input->archive->clocks.hosts)
            continue;
        error = pack_clocks(joining, input, &its);
        if (!error && (!clocks->data || its.size != clocks->size ||
                       memcmp(its.data, clocks->data, its.size) != 0))
            error = rfn_fail(joining->diag, RFN_E_UNSUPPORTED, -1, -1,
                             "%s and %s are not of one run: the clocks of their hosts differ",
                             first->archive->chunks.path, input->archive->chunks.path);
        rfn_buf_release(&its);
    }
    if (!error)
        error = rfn_rewrite_add(&joining->rewrite, RFN_CHUNK_CLOCKS, 0, &payload);
    rfn_rope_release(&payload);
    return error;
}
