/* page_file.c - the HTML file: the template, and in it each part of an archive as a script element
 * of a type that no browser runs, compressed by gzip, in base64. */
#include "convert/text/text_sink.h"
#include "view/page_parts.h"
#include "view/page_template.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef RFN_HAVE_ZLIB
#include <zlib.h>
#endif

struct rfn_page {
    struct rfn_text_sink *sink;
    const char *path; /* borrowed */
    bool force;
    unsigned archives;
};

const char *rfn_page_missing(void)
{
    return rfn_page_template_missing;
}

/* ---- compression and base64 ---- */

static int compress_part(const struct rfn_buf *part, struct rfn_buf *out)
{
#ifdef RFN_HAVE_ZLIB
    enum { GZIP = 16 + MAX_WBITS, MEMORY = 9 };
    z_stream stream = {.next_in = part->data};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return RFN_E_NOMEM;
    int state = Z_OK;
    for (size_t left = part->size; state == Z_OK;) {
        enum { PIECE = 1 << 20 };
        const size_t piece = left < PIECE ? left : PIECE;
        uint8_t *to = rfn_buf_reserve(out, PIECE);
        if (!to)
            break;
        if (!stream.avail_in) {
            stream.avail_in = (uInt)piece;
            left -= piece;
        }
        stream.next_out = to;
        stream.avail_out = PIECE;
        state = deflate(&stream, left ? Z_NO_FLUSH : Z_FINISH);
        out->size += PIECE - stream.avail_out;
    }
    deflateEnd(&stream);
    return state == Z_STREAM_END ? rfn_buf_status(out) : RFN_E_NOMEM;
#else
    (void)part, (void)out;
    return RFN_E_UNSUPPORTED;
#endif
}

/* The bytes of `from` in base64; flows to the file. */
static int put_base64(struct rfn_page *page, const struct rfn_buf *from, struct rfn_diag *diag)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < from->size; at += 3) {
        const size_t n = from->size - at < 3 ? from->size - at : 3;
        const uint32_t bits = (uint32_t)from->data[at] << 16 |
                              (n > 1 ? (uint32_t)from->data[at + 1] << 8 : 0) |
                              (n > 2 ? from->data[at + 2] : 0);
        const char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                              n > 1 ? digits[bits >> 6 & 63] : '=',
                              n > 2 ? digits[bits & 63] : '='};
        rfn_buf_bytes(rfn_text_sink_text(page->sink), four, sizeof four);
        if (at % (1 << 18) == 0)
            RFN_TRY(rfn_text_sink_flow(page->sink, diag));
    }
    return 0;
}

/* ---- parts ---- */

static int put_text(struct rfn_page *page, const void *text, size_t size, struct rfn_diag *diag)
{
    rfn_buf_bytes(rfn_text_sink_text(page->sink), text, size);
    return rfn_text_sink_flow(page->sink, diag);
}

/* Empties the part. */
static int put_part(struct rfn_page *page, const char *name, struct rfn_buf *part,
                    struct rfn_diag *diag)
{
    char tag[80];
    struct rfn_buf small = RFN_BUF_INIT;
    int n = snprintf(tag, sizeof tag, "<script type=\"text/plain\" id=\"%s-%u\">", name,
                     page->archives);
    int error = compress_part(part, &small);
    if (!error)
        error = put_text(page, tag, (size_t)n, diag);
    if (!error)
        error = put_base64(page, &small, diag);
    if (!error)
        error = put_text(page, "</script>\n", strlen("</script>\n"), diag);
    rfn_buf_release(&small);
    part->size = 0;
    return error;
}

static int put_parts(struct rfn_page *page, const struct rfn_page_archive *archive,
                     void (*progress)(void *context, double share), void *context,
                     struct rfn_buf *part, struct rfn_diag *diag)
{
    RFN_TRY(rfn_page_overview_part(archive, progress, context, part));
    RFN_TRY(put_part(page, "overview", part, diag));
    RFN_TRY(rfn_page_waits_part(archive->waits, part));
    RFN_TRY(put_part(page, "waits", part, diag));
    RFN_TRY(rfn_page_names_part(archive->archive, part));
    RFN_TRY(put_part(page, "names", part, diag));
    rfn_buf_bytes(part, archive->report, archive->report_size);
    RFN_TRY(put_part(page, "report", part, diag));
    if (archive->whatif) {
        rfn_buf_bytes(part, archive->whatif, strlen(archive->whatif));
        RFN_TRY(put_part(page, "whatif", part, diag));
    }
    RFN_TRY(rfn_page_archive_part(archive->archive, part, diag));
    return put_part(page, "archive", part, diag);
}

int rfn_page_add(struct rfn_page *page, const struct rfn_page_archive *archive,
                 void (*progress)(void *context, double share), void *context,
                 struct rfn_diag *diag)
{
    struct rfn_buf part = RFN_BUF_INIT;
    const int error = put_parts(page, archive, progress, context, &part, diag);
    rfn_buf_release(&part);
    page->archives++;
    return error;
}

/* ---- the file ---- */

int rfn_page_open(const char *path, bool force, struct rfn_page **page, struct rfn_diag *diag)
{
    if (rfn_page_template_missing)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "this build of refrain has no page; install the packages %s (Debian's "
                        "names) and build it again",
                        rfn_page_template_missing);
    struct rfn_page *opened = calloc(1, sizeof *opened);
    if (!opened)
        return RFN_E_NOMEM;
    *opened = (struct rfn_page){.path = path, .force = force};
    int error = rfn_text_sink_open(path, force, &opened->sink, diag);
    if (error) {
        free(opened);
        return error;
    }
    error = put_text(opened, rfn_page_head, rfn_page_head_size, diag);
    if (error)
        rfn_page_cancel(opened);
    else
        *page = opened;
    return error;
}

int rfn_page_close(struct rfn_page *page, uint64_t *bytes, struct rfn_diag *diag)
{
    uint64_t text = 0;
    int error = put_text(page, rfn_page_tail, rfn_page_tail_size, diag);
    *bytes = 0;
    if (error)
        rfn_text_sink_cancel(page->sink);
    else
        error = rfn_text_sink_close(page->sink, &text, bytes, diag);
    if (!error)
        error = rfn_text_sink_place(page->path, page->force, diag);
    free(page);
    return error;
}

void rfn_page_cancel(struct rfn_page *page)
{
    rfn_text_sink_cancel(page->sink);
    free(page);
}
