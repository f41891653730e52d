#include "convert/text/ti_dialect.h"

#include <inttypes.h>
#include <string.h>

static void keep_unclear(struct rfn_ti_evidence *evidence, const char *path, uint64_t number,
                         const char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (length >= sizeof evidence->unclear)
        length = sizeof evidence->unclear - 1;
    evidence->unclear_path = path;
    evidence->unclear_line = number;
    rfn_ti_readings(line, length, &evidence->readings);
    memcpy(evidence->unclear, line, length);
    evidence->unclear[length] = '\0';
}

void rfn_ti_evidence_line(struct rfn_ti_evidence *evidence, const char *path, uint64_t number,
                          const char *line, size_t length)
{
    const enum rfn_ti_line told = rfn_ti_line_dialect(line, length);
    if (told == RFN_TI_EITHER || evidence->dialect != RFN_TEXT_ANY)
        return;
    if (told == RFN_TI_UNCLEAR) {
        if (!evidence->unclear_path)
            keep_unclear(evidence, path, number, line, length);
        return;
    }
    evidence->dialect = told == RFN_TI_THESIS ? RFN_TEXT_THESIS : RFN_TEXT_SIMGRID;
    evidence->path = path;
    evidence->line = number;
}

int rfn_ti_evidence_file(struct rfn_ti_evidence *evidence, const char *path, struct rfn_diag *diag)
{
    struct rfn_text_stream *stream;
    const char *line;
    size_t length;
    int got = 0;
    if (evidence->dialect != RFN_TEXT_ANY)
        return 0;
    RFN_TRY(rfn_text_stream_open(path, &stream, diag));
    while (evidence->dialect == RFN_TEXT_ANY &&
           (got = rfn_text_stream_line(stream, &line, &length, diag)) > 0)
        rfn_ti_evidence_line(evidence, path, rfn_text_stream_number(stream), line, length);
    rfn_text_stream_close(stream);
    return got < 0 ? got : 0;
}

/* "1 element", "512 elements" */
static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static int refuse(const struct rfn_ti_evidence *evidence, struct rfn_diag *diag)
{
    const struct rfn_ti_readings is = evidence->readings;
    return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                    "%s:%" PRIu64 ": \"%s\" is of either dialect, and no line says which: "
                    "SimGrid's reads %" PRId64 " element%s with tag %" PRId64
                    ", the thesis' %" PRId64 " element%s of %" PRId64
                    " byte%s; name the dialect with --from=simgrid or "
                    "--from=thesis",
                    evidence->unclear_path, evidence->unclear_line, evidence->unclear,
                    is.simgrid_count, plural(is.simgrid_count), is.tag, is.thesis_count,
                    plural(is.thesis_count), is.thesis_bytes, plural(is.thesis_bytes));
}

int rfn_ti_evidence_decide(const struct rfn_ti_evidence *evidence, enum rfn_text_dialect *dialect,
                           struct rfn_diag *diag)
{
    /* Where each line means the same, either will do. */
    *dialect = evidence->dialect == RFN_TEXT_ANY ? RFN_TEXT_SIMGRID : evidence->dialect;
    return evidence->dialect == RFN_TEXT_ANY && evidence->unclear_path ? refuse(evidence, diag) : 0;
}
