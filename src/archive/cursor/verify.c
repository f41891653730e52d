/* Verification looks at every byte of the file once:
 *
 *   container   the header, the table of contents and the zero bytes between chunks; that every
 *               chunk belongs to something and nothing is missing
 *   contents    everything is read as for analysis, which checks checksums, references and sizes;
 *               every stream is expanded to its end, and nothing may be left over in any column
 *   sums        events and calls are as many as STREAMS says
 *   signatures  those in STREAMS tell apart what calls do
 *
 * Streams of one group with the same values differ in RANK_PARAMS only, which is checked as a whole
 * when it is read: without a TIMING or PROFILE chunk, one expansion stands for all of them. */
#include "archive/cursor/cursor.h"
#include "archive/cursor/stream_signatures.h"
#include "archive/cursor/time_spreads.h"
#include "archive/read/cluster_parts.h"
#include "archive/read/reader.h"
#include "event/kind.h"
#include "refrain/aggregation.h"
#include "refrain/open_calls.h"
#include "refrain/sampling.h"
#include "refrain/usage.h"

#include <inttypes.h>
#include <stdlib.h>

enum { GAP_BLOCK = 4096, PROGRESS_EVENTS = 1 << 18 };

/* A few bytes can stand for more events than can be expanded while fuzzing. */
#ifdef RFN_FUZZING
enum { EVENTS_MAX = 1 << 12 };
#define ENOUGH(events) ((events) >= EVENTS_MAX)
#else
#define ENOUGH(events) false
#endif

/* What has been done: expanded without TIMING; lists read. */
enum { EXPANDED = 1, LISTS_READ = 2 };

struct verifier {
    const struct rfn_archive *archive;
    void (*progress)(void *context, double share);
    void *context;
    uint64_t total, done; /* events */
    uint8_t *sets_done;   /* per value set: EXPANDED, LISTS_READ */
    struct rfn_diag *diag;
};

/* ---- container ---- */

static int corrupt(const struct verifier *verifier, uint64_t offset, const char *what)
{
    return rfn_fail(verifier->diag, RFN_E_CORRUPT, (int64_t)offset, -1,
                    "%s: damaged at offset %" PRIu64 ": %s", verifier->archive->chunks.path, offset,
                    what);
}

static int check_gap(const struct verifier *verifier, uint64_t from, uint64_t to)
{
    uint8_t bytes[GAP_BLOCK];
    while (from < to) {
        size_t n = to - from < sizeof bytes ? (size_t)(to - from) : sizeof bytes;
        RFN_TRY(rfn_chunks_read(&verifier->archive->chunks, from, bytes, n, verifier->diag));
        for (size_t i = 0; i < n; i++) {
            if (bytes[i] != 0)
                return corrupt(verifier, from + i, "bytes between chunks are not zero");
        }
        from += n;
    }
    return 0;
}

/* Whether a time set has this number: that of its lowest stream. */
static bool is_time_set(const struct rfn_archive *archive, uint64_t id)
{
    return id < archive->n_streams && rfn_stream_times(archive, (uint32_t)id) == id;
}

/* Whether nothing else has the times of what is in a PROFILES. */
static bool profiles_belong(const struct rfn_archive *archive, const struct rfn_toc_entry *entry)
{
    uint32_t first = rfn_time_set_table_first(entry->id), end = rfn_time_set_table_end(entry->id);
    if (!is_time_set(archive, first) || first >= end || end > archive->n_streams)
        return false;
    for (uint32_t i = first; i < end; i++) {
        int64_t found = is_time_set(archive, i) ? rfn_reduced_timing_find(archive, i) : -1;
        if (found >= 0 && &archive->chunks.entries[found] != entry)
            return false;
    }
    return true;
}

/* Whether no other CLUSTERS has a group of this one. */
static bool clusters_belong(const struct rfn_archive *archive, const struct rfn_toc_entry *entry)
{
    uint32_t first = (uint32_t)(entry->id >> 32), end = (uint32_t)entry->id;
    for (uint32_t i = first; i < end && end <= archive->n_groups; i++) {
        int64_t found = rfn_chunks_find_range(&archive->chunks, RFN_CHUNK_CLUSTERS, i);
        if (found < 0 || &archive->chunks.entries[found] != entry)
            return false;
    }
    return first < end && end <= archive->n_groups;
}

/* Whether a chunk is one that something refers to. */
static bool belongs(const struct rfn_archive *archive, const struct rfn_toc_entry *entry)
{
    switch (entry->type) {
    case RFN_CHUNK_META:
    case RFN_CHUNK_DEFINITIONS:
    case RFN_CHUNK_STREAMS:
    case RFN_CHUNK_CLOCKS:
        return entry->id == 0;
    case RFN_CHUNK_STRUCTURE:
    case RFN_CHUNK_RANK_PARAMS:
        return entry->id < archive->n_groups &&
               !rfn_group_is_clustered(archive, (uint32_t)entry->id);
    case RFN_CHUNK_CLUSTERS:
        return clusters_belong(archive, entry);
    case RFN_CHUNK_COMMON:
        return entry->id == 0 && archive->first_set;
    case RFN_CHUNK_VALUES:
        return entry->id < archive->n_value_sets;
    case RFN_CHUNK_TIMING:
        return is_time_set(archive, entry->id) &&
               rfn_reduced_timing_find(archive, (uint32_t)entry->id) < 0;
    case RFN_CHUNK_PROFILE:
        return is_time_set(archive, entry->id) && archive->dictionary.run.reduced;
    case RFN_CHUNK_PROFILES:
        return archive->dictionary.run.reduced && profiles_belong(archive, entry);
    case RFN_CHUNK_SITE_SPREADS:
        return archive->dictionary.run.reduced && entry->id == 0 &&
               rfn_chunks_find(&archive->chunks, RFN_CHUNK_SPREADS, 0) < 0;
    case RFN_CHUNK_SPREADS:
        return archive->dictionary.run.reduced && entry->id == 0;
    case RFN_CHUNK_USAGE:
    case RFN_CHUNK_CORES:
    case RFN_CHUNK_OPEN:
    case RFN_CHUNK_AGGREGATED:
    case RFN_CHUNK_SAMPLES:
        return entry->id == 0;
    case RFN_CHUNK_SAMPLE_COLUMNS:
        return rfn_chunks_find(&archive->chunks, RFN_CHUNK_SAMPLES, 0) >= 0;
    default:
        return false;
    }
}

/* META, DEFINITIONS, STREAMS and RANK_PARAMS stand before the chunks that hold events. */
static bool holds_events(uint32_t type)
{
    return type == RFN_CHUNK_STRUCTURE || type == RFN_CHUNK_VALUES || type == RFN_CHUNK_TIMING ||
           type == RFN_CHUNK_PROFILE || type == RFN_CHUNK_PROFILES || type == RFN_CHUNK_CLUSTERS ||
           type == RFN_CHUNK_SITE_SPREADS || type == RFN_CHUNK_SPREADS ||
           type == RFN_CHUNK_COMMON || type == RFN_CHUNK_USAGE || type == RFN_CHUNK_CORES ||
           type == RFN_CHUNK_OPEN || type == RFN_CHUNK_AGGREGATED || type == RFN_CHUNK_SAMPLES ||
           type == RFN_CHUNK_SAMPLE_COLUMNS;
}

/* Chunks are read later, but for those of other types, of which only the checksums are looked at:
 * nothing refers to them. CLOCKS stands before RANK_PARAMS, and COMMON before CLUSTERS, so that
 * whoever finds enough of a file that was cut has what it needs. */
static int check_chunks(const struct verifier *verifier, uint64_t *at)
{
    const struct rfn_chunks *chunks = &verifier->archive->chunks;
    bool events = false, rank_params = false, clusters = false; /* there was one before */
    for (size_t i = 0; i < chunks->n; i++) {
        const struct rfn_toc_entry *entry = &chunks->entries[i];
        const char *fault = NULL;
        RFN_TRY(check_gap(verifier, *at, entry->offset));
        *at = entry->offset + RFN_CHUNK_HEADER_BYTES + entry->stored_size;
        if (!rfn_chunks_know(chunks, entry->type)) {
            struct rfn_payload payload;
            RFN_TRY(rfn_chunks_load_events(chunks, entry, &payload, verifier->diag));
            rfn_payload_release(&payload);
            continue;
        }
        if (!belongs(verifier->archive, entry))
            fault = "the chunk belongs to nothing";
        else if (events && !holds_events(entry->type))
            fault = "the chunk must stand before those with events";
        else if (rank_params && entry->type == RFN_CHUNK_CLOCKS)
            fault = "the chunk must stand before those of RANK_PARAMS";
        else if (clusters && entry->type == RFN_CHUNK_COMMON)
            fault = "the chunk must stand before those of clusters";
        if (fault)
            return corrupt(verifier, entry->offset, fault);
        events |= holds_events(entry->type);
        rank_params |= entry->type == RFN_CHUNK_RANK_PARAMS;
        clusters |= entry->type == RFN_CHUNK_CLUSTERS;
    }
    return 0;
}

static int check_container(const struct verifier *verifier)
{
    const struct rfn_archive *archive = verifier->archive;
    const struct rfn_chunks *chunks = &archive->chunks;
    const struct {
        uint32_t type, n;
        const char *name;
    } parts[] = {{RFN_CHUNK_STRUCTURE, archive->n_groups, "STRUCTURE"},
                 {RFN_CHUNK_RANK_PARAMS, archive->n_groups, "RANK_PARAMS"},
                 {RFN_CHUNK_VALUES, archive->n_value_sets, "VALUES"}};
    uint64_t at = RFN_HEADER_BYTES;
    RFN_TRY(check_chunks(verifier, &at));
    RFN_TRY(check_gap(verifier, at, chunks->toc_offset));
    at = chunks->toc_offset + RFN_CHUNK_HEADER_BYTES + chunks->toc_stored;
    if (chunks->said_bytes - at >= RFN_CHUNK_ALIGNMENT || chunks->file_bytes != chunks->said_bytes)
        return corrupt(verifier, at, "there are bytes behind the table of contents");
    RFN_TRY(check_gap(verifier, at, chunks->file_bytes));
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        for (uint32_t i = 0; i < parts[k].n; i++) {
            if (rfn_part_find(archive, parts[k].type, i) < 0)
                return rfn_archive_missing(archive, parts[k].name, i, verifier->diag);
        }
    }
    return 0;
}

/* ---- events ---- */

/* Numbers of lists are those of lists that exist, and the lists are well formed. */
static const char *word_fault(const struct rfn_cursor *cursor, uint8_t kind, int64_t word)
{
    bool list = (kind & RFN_KIND_LIST) || kind == RFN_KIND_STRING || kind == RFN_KIND_COMPLETIONS;
    if (!list || word <= 0)
        return NULL;
    if ((uint64_t)word > rfn_cursor_lists(cursor))
        return "an event refers to a list that does not exist";
    if (kind == (RFN_KIND_LIST | RFN_KIND_TYPE) &&
        !rfn_cursor_list_types_exist(cursor, (uint64_t)word))
        return "a list refers to a datatype that does not exist";
    size_t n;
    rfn_cursor_list(cursor, word, &n, kind);
    if (kind == RFN_KIND_COMPLETIONS && n % RFN_COMPLETION_WORDS != 0)
        return "a list of completions is malformed";
    return NULL;
}

static const char *record_fault(const struct rfn_archive *archive, const struct rfn_cursor *cursor,
                                const struct rfn_record *record)
{
    const struct rfn_function_info *function = &archive->dictionary.functions[record->function];
    const unsigned n_in = function->n_in, n = n_in + function->n_out;
    const char *fault = NULL;
    for (unsigned i = 0; i < n && !fault; i++)
        fault = word_fault(cursor, function->params[i].kind,
                           i < n_in ? record->in[i] : record->out[i - n_in]);
    return fault;
}

static void tell_progress(struct verifier *verifier)
{
    if (verifier->progress)
        verifier->progress(verifier->context, verifier->total
                                                  ? (double)verifier->done / (double)verifier->total
                                                  : 1.0);
}

/* Words and sums that are wrong come from the values of the stream. */
static int stream_fault(const struct verifier *verifier, uint32_t stream, uint64_t event,
                        const char *fault)
{
    const struct rfn_archive *archive = verifier->archive;
    uint64_t values = (uint64_t)rfn_stream_word(archive, RFN_WORD_VALUES, stream);
    int64_t entry = rfn_chunks_find(&archive->chunks, RFN_CHUNK_VALUES, values);
    int rank = (int)rfn_stream_word(archive, RFN_WORD_RANK, stream);
    uint64_t offset = entry < 0 ? 0 : archive->chunks.entries[entry].offset;
    return rfn_fail(verifier->diag, RFN_E_CORRUPT, (int64_t)offset, rank,
                    "%s: damaged at offset %" PRIu64 " (rank %d, stream %" PRIu32 ", event %" PRIu64
                    "): %s",
                    archive->chunks.path, offset, rank, stream, event, fault);
}

/* Expands the stream; whether calls and regions add up to what STREAMS says. */
static int check_events(struct verifier *verifier, uint32_t stream, struct rfn_cursor *cursor)
{
    const struct rfn_archive *archive = verifier->archive;
    const struct rfn_record *record;
    uint64_t calls = 0, regions = 0;
    int more;
    while ((more = rfn_cursor_next(cursor, &record, verifier->diag)) > 0) {
        const char *fault = record_fault(archive, cursor, record);
        if (fault)
            return stream_fault(verifier, stream, record->index, fault);
        calls += record->polls;
        regions += !rfn_class_is_mpi(archive->dictionary.functions[record->function].class_);
        if (++verifier->done % PROGRESS_EVENTS == 0)
            tell_progress(verifier);
        if (ENOUGH(record->index))
            return RFN_E_RANGE;
    }
    RFN_TRY(more);
    RFN_TRY(rfn_cursor_finish(cursor, verifier->diag));
    if (regions == (uint64_t)rfn_stream_word(archive, RFN_WORD_REGIONS, stream) &&
        (!rfn_cursor_counts_calls(cursor) ||
         calls == (uint64_t)rfn_stream_word(archive, RFN_WORD_CALLS, stream)))
        return 0;
    return stream_fault(verifier, stream,
                        (uint64_t)rfn_stream_word(archive, RFN_WORD_EVENTS, stream),
                        "there are not as many calls as STREAMS says");
}

static bool has_times(const struct rfn_archive *archive, uint32_t stream)
{
    return rfn_timing_find(archive, stream) >= 0 || rfn_reduced_timing_find(archive, stream) >= 0;
}

static int check_stream(struct verifier *verifier, uint32_t stream)
{
    const struct rfn_archive *archive = verifier->archive;
    uint8_t *set_done = &verifier->sets_done[rfn_stream_word(archive, RFN_WORD_VALUES, stream)];
    bool has_timing = has_times(archive, stream);
    struct rfn_cursor *cursor;
    RFN_TRY(rfn_cursor_open(archive, stream, &cursor, verifier->diag));
    int error = 0;
    if (has_timing || !(*set_done & EXPANDED))
        error = check_events(verifier, stream, cursor);
    else
        verifier->done += (uint64_t)rfn_stream_word(archive, RFN_WORD_EVENTS, stream);
    if (!error && !(*set_done & LISTS_READ))
        error = rfn_cursor_check_lists(cursor, verifier->diag);
    struct rfn_open_call open;
    if (!error)
        error = rfn_cursor_open_call(cursor, &open, verifier->diag);
    *set_done |= LISTS_READ | (has_timing ? 0 : EXPANDED);
    rfn_cursor_close(cursor);
    return error == RFN_E_RANGE || error > 0 ? 0 : error;
}

/* Streams that share their values make the same calls, and without times are as long as each other;
 * only reduced times are shared. */
static int check_sharing(const struct verifier *verifier)
{
    const struct rfn_archive *archive = verifier->archive;
    uint32_t *first = malloc((archive->n_value_sets + (size_t)1) * sizeof *first);
    if (!first)
        return RFN_E_NOMEM;
    for (uint32_t i = archive->n_streams; i-- > 0;)
        first[rfn_stream_word(archive, RFN_WORD_VALUES, i)] = i;
    const char *fault = NULL;
    for (uint32_t i = 0; i < archive->n_streams && !fault; i++) {
        uint32_t like = first[rfn_stream_word(archive, RFN_WORD_VALUES, i)];
        bool timing = has_times(archive, i);
        if (rfn_stream_word(archive, RFN_WORD_EVENTS, i) !=
                rfn_stream_word(archive, RFN_WORD_EVENTS, like) ||
            (!timing && rfn_stream_word(archive, RFN_WORD_CALLS, i) !=
                            rfn_stream_word(archive, RFN_WORD_CALLS, like)))
            fault = "streams with the same values have different numbers of events";
        if (rfn_stream_word(archive, RFN_WORD_SIGNATURE, i) !=
            rfn_stream_word(archive, RFN_WORD_SIGNATURE, like))
            fault = "streams with the same values have different signatures";
        if (rfn_stream_times(archive, i) != i && rfn_reduced_timing_find(archive, i) < 0)
            fault = "streams share times that are not reduced";
    }
    free(first);
    if (!fault)
        return 0;
    int64_t entry = rfn_chunks_find(&archive->chunks, RFN_CHUNK_STREAMS, 0);
    return corrupt(verifier, archive->chunks.entries[entry].offset, fault);
}

static int check_streams(struct verifier *verifier)
{
    const struct rfn_archive *archive = verifier->archive;
    RFN_TRY(check_sharing(verifier));
    for (uint32_t i = 0; i < archive->n_streams; i++)
        verifier->total += (uint64_t)rfn_stream_word(archive, RFN_WORD_EVENTS, i);
    for (uint32_t i = 0; i < archive->n_streams; i++) {
        RFN_TRY(check_stream(verifier, i));
        if (i % 64 == 0)
            tell_progress(verifier);
    }
    return 0;
}

static int check_usage(const struct verifier *verifier)
{
    struct rfn_usage usage;
    const int error = rfn_usage_read(verifier->archive, &usage, verifier->diag);
    rfn_usage_release(&usage);
    return error;
}

static int check_aggregation(const struct verifier *verifier)
{
    struct rfn_aggregation aggregation;
    const int error = rfn_aggregation_read(verifier->archive, &aggregation, verifier->diag);
    rfn_aggregation_release(&aggregation);
    return error;
}

static int check_samples(const struct verifier *verifier)
{
    struct rfn_samples samples;
    const int error = rfn_samples_read(verifier->archive, &samples, verifier->diag);
    rfn_samples_release(&samples);
    return error;
}

static int verify(struct verifier *verifier)
{
    const struct rfn_archive *archive = verifier->archive;
    const struct rfn_common *common;
    if (!archive->complete)
        return rfn_fail(verifier->diag, archive->chunks.fault, -1, -1, "%s: %s",
                        archive->chunks.path, archive->why);
    RFN_TRY(check_container(verifier));
    if (rfn_common_find(archive) >= 0) /* also what no shape refers to */
        RFN_TRY(rfn_common_use(archive, &common, verifier->diag));
    verifier->sets_done = calloc(archive->n_value_sets + (size_t)1, sizeof *verifier->sets_done);
    if (!verifier->sets_done)
        return RFN_E_NOMEM;
    int error = check_streams(verifier);
    free(verifier->sets_done);
    if (!error)
        error = rfn_archive_check_signatures(archive, verifier->diag);
    if (!error)
        error = rfn_time_spreads_check(archive, verifier->diag);
    if (!error)
        error = check_usage(verifier);
    if (!error)
        error = check_aggregation(verifier);
    return error ? error : check_samples(verifier);
}

int rfn_archive_verify_open(const struct rfn_archive *archive,
                            void (*progress)(void *context, double share), void *context,
                            struct rfn_diag *diag)
{
    struct verifier verifier = {
        .archive = archive, .progress = progress, .context = context, .diag = diag};
    int error = verify(&verifier);
    if (error == RFN_E_NOMEM)
        return rfn_archive_no_memory(archive, diag);
    if (error == 0 && archive->missing[0])
        return rfn_fail(diag, RFN_E_INCOMPLETE, -1, -1, "%s: what it has is undamaged, but %s%s",
                        archive->chunks.path,
                        archive->dictionary.run.recovered.recovered ? "" : "only ",
                        archive->missing);
    if (error == 0 && progress)
        progress(context, 1.0);
    return error;
}

int rfn_archive_verify(const char *path, void (*progress)(void *context, double share),
                       void *context, struct rfn_diag *diag)
{
    struct rfn_archive *archive;
    RFN_TRY(rfn_archive_open(path, &archive, diag));
    int error = rfn_archive_verify_open(archive, progress, context, diag);
    rfn_archive_close(archive);
    return error;
}
