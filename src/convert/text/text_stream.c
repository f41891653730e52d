#define _POSIX_C_SOURCE 200809L /* pread, strdup */

#include "convert/text/text_stream.h"

#include "base/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef RFN_HAVE_ZLIB
#include <zlib.h>
#endif
#include <zstd.h>

enum {
    PIECE = 32 * 1024,   /* of the file, compressed, at a time */
    TEXT = 64 * 1024,    /* of text at a time */
    LINE_MAX_ = 64 << 20 /* longer lines are none of a trace */
};

enum form { FORM_PLAIN, FORM_GZIP, FORM_ZSTD };

struct rfn_text_stream {
    char *path;
    enum form form;
    uint64_t file_bytes, at; /* of the file: what has been read */
    uint8_t *piece;          /* compressed */
    size_t piece_at, piece_end;
    bool middle; /* of a compressed frame */
    ZSTD_DStream *zstd;
#ifdef RFN_HAVE_ZLIB
    z_stream gzip;
    bool gzip_open;
#endif
    char *text;
    size_t capacity, from, to; /* of text: what has not been delivered */
    bool over;
    uint64_t number;
};

static int io_error(const struct rfn_text_stream *stream, struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot read %s: %s", stream->path, strerror(errno));
}

/* Up to size bytes from where the stream is in its file. *n = 0: it is at the end. */
static int read_file(struct rfn_text_stream *stream, void *to, size_t size, size_t *n,
                     struct rfn_diag *diag)
{
    int file = open(stream->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return io_error(stream, diag);
    ssize_t got;
    do
        got = pread(file, to, size, (off_t)stream->at);
    while (got < 0 && errno == EINTR);
    const int error = got < 0 ? io_error(stream, diag) : 0;
    close(file);
    *n = got > 0 ? (size_t)got : 0;
    stream->at += *n;
    return error;
}

/* ---- opening ---- */

static int find_size(struct rfn_text_stream *stream, struct rfn_diag *diag)
{
    struct stat status;
    if (stat(stream->path, &status) < 0)
        return io_error(stream, diag);
    if (!S_ISREG(status.st_mode))
        return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot read %s: it is not a file", stream->path);
    stream->file_bytes = (uint64_t)status.st_size;
    return 0;
}

static int begin_gzip(struct rfn_text_stream *stream, struct rfn_diag *diag)
{
#ifdef RFN_HAVE_ZLIB
    (void)diag;
    stream->gzip_open = inflateInit2(&stream->gzip, 15 + 16) == Z_OK;
    return stream->gzip_open ? 0 : RFN_E_NOMEM;
#else
    return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                    "cannot read %s: this build knows no gzip; install zlib1g-dev and build again",
                    stream->path);
#endif
}

static int find_form(struct rfn_text_stream *stream, struct rfn_diag *diag)
{
    static const uint8_t gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    uint8_t magic[4] = {0};
    size_t n;
    RFN_TRY(read_file(stream, magic, sizeof magic, &n, diag));
    stream->at = 0;
    if (n >= sizeof gzip && memcmp(magic, gzip, sizeof gzip) == 0)
        stream->form = FORM_GZIP;
    else if (n == sizeof zstd && memcmp(magic, zstd, sizeof zstd) == 0)
        stream->form = FORM_ZSTD;
    if (stream->form == FORM_PLAIN)
        return 0;
    stream->piece = malloc(PIECE);
    if (!stream->piece)
        return RFN_E_NOMEM;
    if (stream->form == FORM_GZIP)
        return begin_gzip(stream, diag);
    stream->zstd = ZSTD_createDStream();
    return stream->zstd ? 0 : RFN_E_NOMEM;
}

int rfn_text_stream_open(const char *path, struct rfn_text_stream **stream, struct rfn_diag *diag)
{
    struct rfn_text_stream *made = calloc(1, sizeof *made);
    int error = RFN_E_NOMEM;
    *stream = NULL;
    if (made)
        made->path = strdup(path);
    if (made && made->path)
        error = find_size(made, diag);
    if (!error)
        error = find_form(made, diag);
    if (!error)
        *stream = made;
    else
        rfn_text_stream_close(made);
    return error == RFN_E_NOMEM ? rfn_fail(diag, error, -1, -1, "out of memory") : error;
}

void rfn_text_stream_close(struct rfn_text_stream *stream)
{
    if (!stream)
        return;
#ifdef RFN_HAVE_ZLIB
    if (stream->gzip_open)
        inflateEnd(&stream->gzip);
#endif
    ZSTD_freeDStream(stream->zstd);
    free(stream->piece);
    free(stream->text);
    free(stream->path);
    free(stream);
}

/* ---- text ---- */

static int damaged(const struct rfn_text_stream *stream, const char *why, struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_CORRUPT, (int64_t)stream->at, -1,
                    "cannot decompress %s, about byte %llu: %s", stream->path,
                    (unsigned long long)stream->at, why);
}

static int inflate_zstd(struct rfn_text_stream *stream, char *to, size_t size, size_t *n,
                        struct rfn_diag *diag)
{
    ZSTD_inBuffer in = {stream->piece, stream->piece_end, stream->piece_at};
    ZSTD_outBuffer out = {to, size, 0};
    const size_t result = ZSTD_decompressStream(stream->zstd, &out, &in);
    if (ZSTD_isError(result))
        return damaged(stream, ZSTD_getErrorName(result), diag);
    stream->piece_at = in.pos;
    stream->middle = result != 0;
    *n = out.pos;
    return 0;
}

#ifdef RFN_HAVE_ZLIB
/* Files may be several streams of gzip, one behind the other. */
static int inflate_gzip(struct rfn_text_stream *stream, char *to, size_t size, size_t *n,
                        struct rfn_diag *diag)
{
    z_stream *gzip = &stream->gzip;
    gzip->next_in = stream->piece + stream->piece_at;
    gzip->avail_in = (uInt)(stream->piece_end - stream->piece_at);
    gzip->next_out = (Bytef *)to;
    gzip->avail_out = (uInt)size;
    const int result = inflate(gzip, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return damaged(stream, gzip->msg ? gzip->msg : "not gzip data", diag);
    stream->piece_at = stream->piece_end - gzip->avail_in;
    stream->middle = result != Z_STREAM_END;
    if (result == Z_STREAM_END && inflateReset(gzip) != Z_OK)
        return damaged(stream, "not gzip data", diag);
    *n = size - gzip->avail_out;
    return 0;
}
#endif

static int decompress(struct rfn_text_stream *stream, char *to, size_t size, size_t *n,
                      struct rfn_diag *diag)
{
    for (*n = 0; *n == 0;) {
        if (stream->piece_at == stream->piece_end) {
            stream->piece_at = 0;
            RFN_TRY(read_file(stream, stream->piece, PIECE, &stream->piece_end, diag));
        }
        const bool at_end = stream->piece_end == 0;
        if (at_end && !stream->middle)
            return 0;
#ifdef RFN_HAVE_ZLIB
        if (stream->form == FORM_GZIP)
            RFN_TRY(inflate_gzip(stream, to, size, n, diag));
        else
#endif
            RFN_TRY(inflate_zstd(stream, to, size, n, diag));
        if (at_end && *n == 0 && stream->middle)
            return rfn_fail(diag, RFN_E_INCOMPLETE, (int64_t)stream->at, -1,
                            "cannot decompress %s: it was cut short", stream->path);
    }
    return 0;
}

/* More text behind what there is; at its end a line end is added if there is none. */
static int fill(struct rfn_text_stream *stream, struct rfn_diag *diag)
{
    size_t n = 0;
    if (stream->from) {
        memmove(stream->text, stream->text + stream->from, stream->to - stream->from);
        stream->to -= stream->from;
        stream->from = 0;
    }
    if (stream->to >= LINE_MAX_)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s:%llu: the line is longer than 64 MiB",
                        stream->path, (unsigned long long)stream->number + 1);
    if (stream->capacity - stream->to < TEXT / 2)
        RFN_TRY(RFN_GROW(stream->text, stream->capacity, stream->capacity + TEXT));
    const size_t room = stream->capacity - stream->to;
    char *to = stream->text + stream->to;
    if (stream->form == FORM_PLAIN)
        RFN_TRY(read_file(stream, to, room, &n, diag));
    else
        RFN_TRY(decompress(stream, to, room, &n, diag));
    stream->over = n == 0;
    stream->to += n;
    if (stream->over && stream->to)
        stream->text[stream->to++] = '\n'; /* there is room for it */
    return 0;
}

int rfn_text_stream_line(struct rfn_text_stream *stream, const char **line, size_t *length,
                         struct rfn_diag *diag)
{
    const char *end = NULL;
    size_t looked = 0;
    while (!end) {
        const size_t left = stream->to - stream->from;
        if (left > looked)
            end = memchr(stream->text + stream->from + looked, '\n', left - looked);
        looked = left;
        if (!end && stream->over)
            return 0;
        if (!end)
            RFN_TRY(fill(stream, diag));
    }
    *line = stream->text + stream->from;
    *length = (size_t)(end - *line);
    stream->from += *length + 1;
    stream->number++;
    return 1;
}

uint64_t rfn_text_stream_number(const struct rfn_text_stream *stream)
{
    return stream->number;
}

double rfn_text_stream_share(const struct rfn_text_stream *stream)
{
    return stream->file_bytes ? (double)stream->at / (double)stream->file_bytes : 1;
}
