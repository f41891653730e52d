/* ti_dialect.h - which dialect time-independent text is in.
 *
 * All files of a run are in one dialect. The first line that can be of one only decides
 * (rfn_ti_line_dialect), so a pass over the files mostly ends after a few lines. If no line
 * decides, either each means the same in both dialects, or the text is refused with both readings
 * of the first line that does not: a guess would make another program of it.
 */
#ifndef RFN_CONVERT_TEXT_TI_DIALECT_H
#define RFN_CONVERT_TEXT_TI_DIALECT_H

#include "convert/text/text_stream.h"
#include "convert/text/ti_parser.h"

/* All zeros at first. Paths are borrowed. */
struct rfn_ti_evidence {
    enum rfn_text_dialect dialect; /* RFN_TEXT_ANY: no line has decided */
    const char *path;              /* of the line that decided, and its number */
    uint64_t line;
    const char *unclear_path; /* of the first line that means two things; NULL: none */
    uint64_t unclear_line;
    char unclear[80]; /* its begin */
    struct rfn_ti_readings readings;
};

/* A line of the text. Once a line has decided, none need be shown. */
void rfn_ti_evidence_line(struct rfn_ti_evidence *evidence, const char *path, uint64_t number,
                          const char *line, size_t length);
/* All lines of a file, up to the one that decides. Errors of rfn_text_stream. */
int rfn_ti_evidence_file(struct rfn_ti_evidence *evidence, const char *path, struct rfn_diag *diag);
/* What to read the text as, after all of it was shown. RFN_E_USAGE: that is not clear. */
int rfn_ti_evidence_decide(const struct rfn_ti_evidence *evidence, enum rfn_text_dialect *dialect,
                           struct rfn_diag *diag);

#endif
