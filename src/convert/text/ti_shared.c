/* ti_shared.c - per rank a chain of pieces of up to 64 KiB, the last one open; pieces that are full
 * go to the temporary file while more than the bound waits in memory.
 *
 * In a piece a line is its number (8 bytes), its length (8 bytes), and its text.
 */
#define _POSIX_C_SOURCE 200809L /* strdup */

#include "convert/text/ti_shared.h"

#include "archive/temp_file.h"
#include "base/buf.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 64 * 1024, HEAD = 16 };

struct piece {
    struct piece *next;
    struct rfn_buf lines; /* empty while they are in the file: */
    uint64_t offset;
    size_t size;
};

struct queue {
    struct piece *first, *last;
    size_t at; /* in the first piece */
};

struct rfn_ti_shared {
    char *path;
    struct rfn_text_stream *stream;
    struct queue *queues; /* by rank */
    uint32_t n_ranks;
    size_t memory, waiting; /* bytes: allowed, used by full pieces */
    struct piece *free;
    struct rfn_temp_file *file; /* NULL: not needed yet */
};

static int bad_line(const struct rfn_ti_shared *shared, struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s:%llu: the line does not begin with a rank",
                    shared->path, (unsigned long long)rfn_text_stream_number(shared->stream));
}

/* ---- ranks ---- */

static int count_ranks(struct rfn_ti_shared *shared, const char *path,
                       struct rfn_ti_evidence *evidence, struct rfn_diag *diag)
{
    const char *line;
    size_t length;
    uint64_t actions = 0;
    int got;
    RFN_TRY(rfn_text_stream_open(shared->path, &shared->stream, diag));
    while ((got = rfn_text_stream_line(shared->stream, &line, &length, diag)) > 0) {
        const int64_t rank = rfn_ti_line_rank(line, length);
        if (rank == RFN_E_CORRUPT)
            return bad_line(shared, diag);
        if (evidence->dialect == RFN_TEXT_ANY)
            rfn_ti_evidence_line(evidence, path, rfn_text_stream_number(shared->stream), line,
                                 length);
        actions += rank >= 0;
        if (rank >= shared->n_ranks)
            shared->n_ranks = (uint32_t)rank + 1;
    }
    rfn_text_stream_close(shared->stream);
    shared->stream = NULL;
    if (got == 0 && !shared->n_ranks)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s has no action", shared->path);
    if (got == 0 && actions < shared->n_ranks) /* so what ranks take is no more than the file */
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1,
                        "%s: there is a rank %u, but not all ranks before it have actions",
                        shared->path, shared->n_ranks - 1);
    return got;
}

static int init(struct rfn_ti_shared *shared, const char *path, struct rfn_ti_evidence *evidence,
                struct rfn_diag *diag)
{
    shared->path = strdup(path);
    if (!shared->path)
        return RFN_E_NOMEM;
    RFN_TRY(count_ranks(shared, path, evidence, diag));
    shared->queues = calloc(shared->n_ranks, sizeof *shared->queues);
    if (!shared->queues)
        return RFN_E_NOMEM;
    return rfn_text_stream_open(path, &shared->stream, diag);
}

int rfn_ti_shared_open(const char *path, size_t memory, struct rfn_ti_evidence *evidence,
                       struct rfn_ti_shared **shared, struct rfn_diag *diag)
{
    *shared = calloc(1, sizeof **shared);
    if (!*shared)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
    (*shared)->memory = memory;
    int error = init(*shared, path, evidence, diag);
    if (error < 0) {
        rfn_ti_shared_close(*shared);
        *shared = NULL;
    }
    return error == RFN_E_NOMEM ? rfn_fail(diag, error, -1, -1, "out of memory") : error;
}

static void free_pieces(struct piece *piece)
{
    while (piece) {
        struct piece *next = piece->next;
        rfn_buf_release(&piece->lines);
        free(piece);
        piece = next;
    }
}

void rfn_ti_shared_close(struct rfn_ti_shared *shared)
{
    if (!shared)
        return;
    for (uint32_t rank = 0; shared->queues && rank < shared->n_ranks; rank++)
        free_pieces(shared->queues[rank].first);
    free_pieces(shared->free);
    rfn_temp_file_free(shared->file);
    rfn_text_stream_close(shared->stream);
    free(shared->queues);
    free(shared->path);
    free(shared);
}

uint32_t rfn_ti_shared_ranks(const struct rfn_ti_shared *shared)
{
    return shared->n_ranks;
}

/* ---- lines that wait ---- */

static int file_error(int error, struct rfn_diag *diag)
{
    if (error == RFN_E_NOMEM)
        return error;
    return rfn_fail(diag, RFN_E_IO, -1, -1,
                    "cannot keep lines of other ranks in a temporary file; have TMPDIR name a "
                    "folder with room, or give each rank a file of its own");
}

/* A piece is full: if too much waits in memory, it goes to the file. */
static int close_piece(struct rfn_ti_shared *shared, struct piece *piece, struct rfn_diag *diag)
{
    piece->size = piece->lines.size;
    if (shared->waiting + piece->size <= shared->memory) {
        shared->waiting += piece->size;
        return 0;
    }
    if (!shared->file)
        shared->file = rfn_temp_file_new();
    if (!shared->file)
        return RFN_E_NOMEM;
    int error = rfn_temp_file_reserve(shared->file, piece->size, &piece->offset);
    if (!error)
        error = rfn_temp_file_write(shared->file, piece->offset, piece->lines.data, piece->size);
    rfn_buf_release(&piece->lines);
    return error < 0 ? file_error(error, diag) : 0;
}

/* The lines of the first piece of a queue are in memory, and no longer count as waiting. */
static int fetch_piece(struct rfn_ti_shared *shared, struct piece *piece, struct rfn_diag *diag)
{
    if (piece->lines.size) {
        shared->waiting -= piece->size;
        return 0;
    }
    uint8_t *lines = rfn_buf_reserve(&piece->lines, piece->size);
    if (!lines)
        return RFN_E_NOMEM;
    const struct rfn_spill *store = &shared->file->store;
    const int error = store->read(store->context, piece->offset, lines, piece->size);
    if (error < 0)
        return file_error(error, diag);
    piece->lines.size = piece->size;
    return 0;
}

static int add_piece(struct rfn_ti_shared *shared, struct queue *queue)
{
    struct piece *piece = shared->free;
    if (piece)
        shared->free = piece->next;
    else
        piece = calloc(1, sizeof *piece);
    if (!piece)
        return RFN_E_NOMEM;
    piece->next = NULL;
    piece->lines.size = 0;
    if (queue->last)
        queue->last->next = piece;
    else
        queue->first = piece;
    queue->last = piece;
    return 0;
}

static int enqueue(struct rfn_ti_shared *shared, struct queue *queue, const char *line,
                   size_t length, struct rfn_diag *diag)
{
    struct piece *last = queue->last;
    if (last && last->lines.size + HEAD + length > PIECE) {
        if (last != queue->first) /* the first one is being read */
            RFN_TRY(close_piece(shared, last, diag));
        last = NULL;
    }
    if (!last)
        RFN_TRY(add_piece(shared, queue));
    struct rfn_buf *lines = &queue->last->lines;
    rfn_buf_u64(lines, rfn_text_stream_number(shared->stream));
    rfn_buf_u64(lines, length);
    rfn_buf_bytes(lines, line, length);
    return rfn_buf_status(lines);
}

/* The queue's first piece has been read. */
static int next_piece(struct rfn_ti_shared *shared, struct queue *queue, struct rfn_diag *diag)
{
    struct piece *over = queue->first;
    queue->first = over->next;
    queue->at = 0;
    over->next = shared->free;
    shared->free = over;
    if (!queue->first) {
        queue->last = NULL;
        return 0;
    }
    return queue->first == queue->last ? 0 : fetch_piece(shared, queue->first, diag);
}

/* 1, or 0 when none waits. */
static int dequeue(struct rfn_ti_shared *shared, struct queue *queue, const char **line,
                   size_t *length, uint64_t *number, struct rfn_diag *diag)
{
    while (queue->first && queue->at == queue->first->lines.size)
        RFN_TRY(next_piece(shared, queue, diag));
    if (!queue->first)
        return 0;
    const uint8_t *at = queue->first->lines.data + queue->at;
    *number = rfn_load_64(at);
    *length = (size_t)rfn_load_64(at + 8);
    *line = (const char *)at + HEAD;
    queue->at += HEAD + *length;
    return 1;
}

int rfn_ti_shared_line(struct rfn_ti_shared *shared, uint32_t rank, const char **line,
                       size_t *length, uint64_t *number, struct rfn_diag *diag)
{
    int got = dequeue(shared, &shared->queues[rank], line, length, number, diag);
    while (got == 0) {
        RFN_TRY(got = rfn_text_stream_line(shared->stream, line, length, diag));
        if (got == 0)
            return 0;
        const int64_t of = rfn_ti_line_rank(*line, *length);
        *number = rfn_text_stream_number(shared->stream);
        if (of == rank)
            return 1;
        if (of == RFN_E_CORRUPT || of >= shared->n_ranks)
            return bad_line(shared, diag);
        got = 0;
        if (of >= 0)
            RFN_TRY(enqueue(shared, &shared->queues[of], *line, *length, diag));
    }
    return got;
}
