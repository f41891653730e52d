#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */

#include "convert/text/text_sink.h"

#include "base/copy_text.h"
#include "base/part_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef RFN_HAVE_ZLIB
#include <zlib.h>
#endif
#include <zstd.h>

enum {
    TEXT = 64 * 1024,
    LEVEL = 3,
    WINDOW_LOG = 17 /* a reader has a window per rank */
};

struct rfn_text_sink {
    char *path, *part; /* part: where it is written until it is whole */
    bool force;
    int file;
    struct rfn_buf text, packed;
    ZSTD_CCtx *zstd; /* NULL: not by it */
#ifdef RFN_HAVE_ZLIB
    z_stream gzip;
    bool is_gzip;
#endif
    uint64_t bytes, file_bytes;
};

static bool ends_in(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n > m && strcmp(path + n - m, end) == 0;
}

size_t rfn_text_sink_suffix(const char *path)
{
    return ends_in(path, ".gz") ? 3 : ends_in(path, ".zst") ? 4 : 0;
}

static int io_error(const struct rfn_text_sink *sink, struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot write %s: %s", sink->path, strerror(errno));
}

static int begin_zstd(struct rfn_text_sink *sink)
{
    sink->zstd = ZSTD_createCCtx();
    if (!sink->zstd)
        return RFN_E_NOMEM;
    ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_windowLog, WINDOW_LOG);
    return 0;
}

static int begin_gzip(struct rfn_text_sink *sink, struct rfn_diag *diag)
{
#ifdef RFN_HAVE_ZLIB
    (void)diag;
    sink->is_gzip = deflateInit2(&sink->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                                 Z_DEFAULT_STRATEGY) == Z_OK;
    return sink->is_gzip ? 0 : RFN_E_NOMEM;
#else
    return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                    "cannot write %s: this build knows no gzip; write .zst, or install zlib1g-dev "
                    "and build again",
                    sink->path);
#endif
}

static int begin(struct rfn_text_sink *sink, struct rfn_diag *diag)
{
    if (!sink->path || !sink->part)
        return RFN_E_NOMEM;
    if (ends_in(sink->path, ".zst"))
        RFN_TRY(begin_zstd(sink));
    if (ends_in(sink->path, ".gz"))
        RFN_TRY(begin_gzip(sink, diag));
    /* Somebody may have put a link in place of PATH.part; PATH itself is the user's word. */
    const int links = strcmp(sink->part, sink->path) == 0 ? 0 : O_NOFOLLOW;
    sink->file = open(sink->part,
                      O_WRONLY | O_CREAT | O_CLOEXEC | links | (sink->force ? O_TRUNC : O_EXCL),
                      0666);
    if (sink->file < 0 && errno == EEXIST)
        return rfn_fail(diag, RFN_E_EXISTS, -1, -1, "%s exists already", sink->path);
    return sink->file < 0 ? io_error(sink, diag) : 0;
}

static void release(struct rfn_text_sink *sink)
{
#ifdef RFN_HAVE_ZLIB
    if (sink->is_gzip)
        deflateEnd(&sink->gzip);
#endif
    ZSTD_freeCCtx(sink->zstd);
    if (sink->file >= 0)
        close(sink->file);
    rfn_buf_release(&sink->text);
    rfn_buf_release(&sink->packed);
    free(sink->path);
    free(sink->part);
    free(sink);
}

int rfn_text_sink_open(const char *path, bool force, struct rfn_text_sink **sink,
                       struct rfn_diag *diag)
{
    *sink = calloc(1, sizeof **sink);
    if (!*sink)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
    (*sink)->file = -1;
    (*sink)->force = force;
    (*sink)->path = rfn_copy_text(path);
    (*sink)->part = rfn_part_path(path, force);
    const int error = begin(*sink, diag);
    if (error < 0) {
        release(*sink);
        *sink = NULL;
    }
    return error == RFN_E_NOMEM ? rfn_fail(diag, error, -1, -1, "out of memory") : error;
}

struct rfn_buf *rfn_text_sink_text(struct rfn_text_sink *sink)
{
    return &sink->text;
}

static int write_file(struct rfn_text_sink *sink, const struct rfn_buf *bytes,
                      struct rfn_diag *diag)
{
    for (size_t done = 0; done < bytes->size;) {
        const ssize_t n = write(sink->file, bytes->data + done, bytes->size - done);
        if (n < 0 && errno != EINTR)
            return io_error(sink, diag);
        done += n > 0 ? (size_t)n : 0;
    }
    sink->file_bytes += bytes->size;
    return 0;
}

static int pack_zstd(struct rfn_text_sink *sink, bool last)
{
    ZSTD_inBuffer in = {sink->text.data, sink->text.size, 0};
    size_t left = 1;
    while (left) {
        uint8_t *room = rfn_buf_reserve(&sink->packed, TEXT);
        if (!room)
            return RFN_E_NOMEM;
        ZSTD_outBuffer out = {room, TEXT, 0};
        left = ZSTD_compressStream2(sink->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return RFN_E_NOMEM;
        sink->packed.size += out.pos;
        if (!last && in.pos == in.size)
            return 0;
    }
    return 0;
}

#ifdef RFN_HAVE_ZLIB
static int pack_gzip(struct rfn_text_sink *sink, bool last)
{
    z_stream *gzip = &sink->gzip;
    gzip->next_in = sink->text.data;
    gzip->avail_in = (uInt)sink->text.size;
    int result;
    do {
        uint8_t *room = rfn_buf_reserve(&sink->packed, TEXT);
        if (!room)
            return RFN_E_NOMEM;
        gzip->next_out = room;
        gzip->avail_out = TEXT;
        result = deflate(gzip, last ? Z_FINISH : Z_NO_FLUSH);
        sink->packed.size += TEXT - gzip->avail_out;
    } while (last ? result != Z_STREAM_END : gzip->avail_in || !gzip->avail_out);
    return 0;
}
#endif

static int write_text(struct rfn_text_sink *sink, bool last, struct rfn_diag *diag)
{
    bool packs = sink->zstd != NULL;
    int error = rfn_buf_status(&sink->text);
    if (!error && packs)
        error = pack_zstd(sink, last);
#ifdef RFN_HAVE_ZLIB
    if (!error && sink->is_gzip) {
        packs = true;
        error = pack_gzip(sink, last);
    }
#endif
    if (error)
        return rfn_fail(diag, error, -1, -1, "out of memory");
    RFN_TRY(write_file(sink, packs ? &sink->packed : &sink->text, diag));
    sink->bytes += sink->text.size;
    sink->text.size = sink->packed.size = 0;
    return 0;
}

int rfn_text_sink_flow(struct rfn_text_sink *sink, struct rfn_diag *diag)
{
    return sink->text.size < TEXT && !sink->text.failed ? 0 : write_text(sink, false, diag);
}

int rfn_text_sink_take(struct rfn_text_sink *sink, struct rfn_text *text, struct rfn_diag *diag)
{
    if (text->failed)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
    rfn_buf_bytes(&sink->text, text->data, text->n);
    text->n = 0;
    return rfn_text_sink_flow(sink, diag);
}

int rfn_text_sink_close(struct rfn_text_sink *sink, uint64_t *bytes, uint64_t *file_bytes,
                        struct rfn_diag *diag)
{
    int error = write_text(sink, true, diag);
    if (!error && close(sink->file) < 0)
        error = io_error(sink, diag);
    else if (error)
        close(sink->file);
    sink->file = -1;
    *bytes += sink->bytes;
    *file_bytes += sink->file_bytes;
    if (error)
        rfn_part_remove(sink->path, sink->force);
    release(sink);
    return error;
}

int rfn_text_sink_place(const char *path, bool force, struct rfn_diag *diag)
{
    if (rfn_part_place(path, force) == 0)
        return 0;
    return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot replace %s: %s", path, strerror(errno));
}

void rfn_text_sink_cancel(struct rfn_text_sink *sink)
{
    if (!sink)
        return;
    rfn_part_remove(sink->path, sink->force);
    release(sink);
}
