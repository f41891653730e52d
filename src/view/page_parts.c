#include "view/page_parts.h"

#include "archive/read/reader.h"
#include "base/map.h"
#include "refrain/demangle.h"

#include <stdlib.h>

/* ---- the archive ---- */

enum { MOST_BYTES = 1 << 30 };

/* What the page shows of these is in the report already. */
static bool is_of_use(uint32_t type)
{
    return type != RFN_CHUNK_SPREADS && type != RFN_CHUNK_SITE_SPREADS &&
           type != RFN_CHUNK_SAMPLES && type != RFN_CHUNK_SAMPLE_COLUMNS &&
           type != RFN_CHUNK_USAGE && type != RFN_CHUNK_CORES && type != RFN_CHUNK_TOC;
}

static int add_chunk(const struct rfn_chunks *chunks, struct rfn_toc_entry *entry,
                     struct rfn_buf *out, struct rfn_diag *diag)
{
    struct rfn_payload payload;
    if (out->size > MOST_BYTES)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "%s: too large for a page: more than 1 GiB when unpacked; run refrain "
                        "reduce first",
                        chunks->path);
    RFN_TRY(rfn_chunks_load(chunks, entry, &payload, diag));
    entry->offset = out->size;
    entry->stored_size = rfn_chunk_append(out, entry->type, entry->id, payload.data, payload.size,
                                          false);
    rfn_payload_release(&payload);
    return rfn_buf_status(out);
}

int rfn_page_archive_part(const struct rfn_archive *archive, struct rfn_buf *out,
                          struct rfn_diag *diag)
{
    const struct rfn_chunks *chunks = &archive->chunks;
    struct rfn_toc_entry *entries = malloc((chunks->n + 1) * sizeof *entries);
    struct rfn_buf contents = RFN_BUF_INIT;
    size_t n = 0;
    int error = entries ? 0 : RFN_E_NOMEM;
    if (rfn_buf_reserve(out, RFN_HEADER_BYTES))
        out->size += RFN_HEADER_BYTES;
    bool whole = archive->complete;
    for (size_t i = 0; i < chunks->n && !error; i++) {
        if (!is_of_use(chunks->entries[i].type))
            continue;
        entries[n] = chunks->entries[i];
        error = add_chunk(chunks, &entries[n], out, diag);
        /* Without a damaged chunk the page's archive is an incomplete one. */
        const bool damaged = error == RFN_E_CORRUPT || error == RFN_E_INCOMPLETE;
        n += !damaged;
        whole &= !damaged;
        error = damaged ? 0 : error;
    }
    const uint64_t toc = whole ? out->size : 0;
    if (!error && whole) {
        rfn_toc_append(&contents, entries, n);
        rfn_chunk_append(out, RFN_CHUNK_TOC, 0, contents.data, contents.size, false);
        out->failed |= contents.failed;
    }
    if (!error)
        error = rfn_buf_status(out);
    if (!error)
        rfn_header_write(out->data, toc ? RFN_STATE_WHOLE : RFN_STATE_WRITING, toc,
                         toc ? out->size : 0);
    rfn_buf_release(&contents);
    free(entries);
    return error;
}

/* ---- the overview ---- */

enum { MOST_BINS = 1 << 14, LEAST_BINS = 256, PLANES = 2 };

struct overview {
    struct rfn_timeline_window window;
    struct rfn_timeline_bin *bins; /* of one stream */
    uint8_t *cells, *planes[PLANES];
};

/* What cannot be read is shown as far as it can: RFN_E_NOMEM only. */
static int read_stream(const struct rfn_archive *archive, uint32_t stream,
                       struct overview *overview)
{
    struct rfn_timeline *timeline;
    int error = rfn_timeline_open(archive, stream, &timeline, NULL);
    if (!error) {
        error = rfn_timeline_add(timeline, &overview->window, overview->bins, NULL);
        rfn_timeline_close(timeline);
    }
    return error == RFN_E_NOMEM ? error : 0;
}

/* As many shares as a screen shows differences: noise is not to make the page large. */
static uint8_t rounded(uint8_t share)
{
    enum { STEP = 16 };
    const unsigned up = (share + STEP / 2u) / STEP * STEP;
    return (uint8_t)(up > UINT8_MAX ? UINT8_MAX : up);
}

static int overview_of(const struct rfn_archive *archive, uint32_t stream,
                       struct overview *overview)
{
    const uint32_t n = overview->window.n;
    memset(overview->bins, 0, n * sizeof *overview->bins);
    RFN_TRY(read_stream(archive, stream, overview));
    rfn_timeline_pack(&overview->window, overview->bins, overview->cells);
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *cell = &overview->cells[i * RFN_TIMELINE_CELL_BYTES];
        overview->planes[0][(size_t)stream * n + i] = cell[0];
        overview->planes[1][(size_t)stream * n + i] = rounded(cell[1]);
    }
    return 0;
}

static void put_double(struct rfn_buf *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    rfn_buf_u64(out, bits);
}

static uint32_t bins_for(uint32_t cells, uint32_t streams)
{
    const uint32_t n = streams ? cells / streams : cells;
    return n > MOST_BINS ? MOST_BINS : n < LEAST_BINS ? LEAST_BINS : n;
}

int rfn_page_overview_part(const struct rfn_page_archive *of,
                           void (*progress)(void *context, double share), void *context,
                           struct rfn_buf *out)
{
    const uint32_t streams = rfn_archive_run(of->archive)->streams;
    struct overview overview = {.window.n = bins_for(of->cells, streams)};
    const size_t plane = (size_t)streams * overview.window.n;
    RFN_TRY(rfn_timeline_ends(of->archive, &overview.window.from_ns, &overview.window.to_ns));
    rfn_buf_u32(out, streams);
    rfn_buf_u32(out, overview.window.n);
    put_double(out, (double)overview.window.from_ns);
    put_double(out, (double)overview.window.to_ns);
    uint8_t *planes = rfn_buf_reserve(out, PLANES * plane);
    overview.bins = calloc(overview.window.n, sizeof *overview.bins);
    overview.cells = malloc((size_t)overview.window.n * RFN_TIMELINE_CELL_BYTES);
    int error = planes && overview.bins && overview.cells ? 0 : RFN_E_NOMEM;
    for (size_t i = 0; i < PLANES && !error; i++)
        overview.planes[i] = planes + i * plane;
    for (uint32_t i = 0; i < streams && !error; i++) {
        error = overview_of(of->archive, i, &overview);
        if (progress)
            progress(context, (double)(i + 1) / streams);
    }
    if (!error)
        out->size += PLANES * plane;
    free(overview.bins);
    free(overview.cells);
    return error;
}

/* ---- waits ---- */

/* A number of the wait i, by column. */
static void put_wait(const struct rfn_seen_waits *waits, size_t i, unsigned column,
                     struct rfn_buf *out)
{
    const struct rfn_wait_seen *wait = &waits->items[i];
    const struct rfn_wait_seen *before = i ? wait - 1 : NULL;
    const bool same = before && before->stream == wait->stream;
    switch (column) {
    case 0:
        rfn_buf_varint(out, wait->stream - (before ? before->stream : 0));
        return;
    case 1:
        rfn_buf_svarint(out, wait->from_ns - (same ? before->to_ns : 0));
        return;
    case 2:
        rfn_buf_varint(out, (uint64_t)(wait->to_ns - wait->from_ns));
        return;
    case 3:
        rfn_buf_varint(out, wait->pattern);
        return;
    case 4:
        rfn_buf_varint(out, wait->late_stream == RFN_NO_STREAM ? 0 : wait->late_stream + 1ul);
        return;
    default:
        rfn_buf_svarint(out, wait->late_stream == RFN_NO_STREAM ? 0 : wait->late_ns - wait->to_ns);
        return;
    }
}

int rfn_page_waits_part(const struct rfn_seen_waits *waits, struct rfn_buf *out)
{
    enum { COLUMNS = 6 };
    rfn_buf_varint(out, waits->all);
    rfn_buf_varint(out, waits->n);
    for (unsigned column = 0; column < COLUMNS; column++) {
        for (size_t i = 0; i < waits->n; i++)
            put_wait(waits, i, column, out);
    }
    return rfn_buf_status(out);
}

/* ---- names ---- */

static void put_name(const char *name, struct rfn_buf *out)
{
    char *plain = name ? rfn_demangle(name, true) : NULL;
    char *shorter = name ? rfn_short_name(name, true) : NULL;
    if (shorter && strcmp(shorter, name) != 0) {
        rfn_buf_string(out, name);
        rfn_buf_string(out, shorter);
        rfn_buf_string(out, plain ? plain : name);
    }
    free(shorter);
    free(plain);
}

/* Locations in a function share its name. */
int rfn_page_names_part(const struct rfn_archive *archive, struct rfn_buf *out)
{
    const uint32_t n = rfn_archive_locations(archive);
    uint64_t *names = malloc(((size_t)n + 1) * sizeof *names);
    uint32_t *first = malloc(((size_t)n + 1) * sizeof *first);
    for (uint32_t i = 0; names && i < n; i++)
        names[i] = (uintptr_t)rfn_archive_location(archive, i).function;
    int error = names && first ? rfn_first_equal(names, n, first) : RFN_E_NOMEM;
    for (uint32_t i = 0; !error && i < n; i++) {
        if (first[i] == i)
            put_name(rfn_archive_location(archive, i).function, out);
    }
    free(first);
    free(names);
    return error ? error : rfn_buf_status(out);
}
