/* ti_shared.h - lines of one file that all ranks share, each rank at its own pace.
 *
 * The file is read once from its begin to its end, as far as some rank needs it. Lines of other
 * ranks wait, in memory up to a bound, then in a temporary file in the folder that TMPDIR names,
 * else in /tmp.
 */
#ifndef RFN_CONVERT_TEXT_TI_SHARED_H
#define RFN_CONVERT_TEXT_TI_SHARED_H

#include "convert/text/ti_dialect.h"

struct rfn_ti_shared;

/* Looks through the file for its ranks, and for evidence of its dialect. RFN_E_CORRUPT: a line
 * without a rank, or no rank at all; and as rfn_text_stream_open. memory: bytes that may wait in
 * memory, beside up to 64 KiB per rank. path is borrowed by the evidence. */
int rfn_ti_shared_open(const char *path, size_t memory, struct rfn_ti_evidence *evidence,
                       struct rfn_ti_shared **shared, struct rfn_diag *diag);
void rfn_ti_shared_close(struct rfn_ti_shared *shared);

/* The largest rank there is, plus 1. */
uint32_t rfn_ti_shared_ranks(const struct rfn_ti_shared *shared);
/* The rank's next line and its number in the file. 1, 0: it has no more, or an error. Borrowed
 * until the next call. */
int rfn_ti_shared_line(struct rfn_ti_shared *shared, uint32_t rank, const char **line,
                       size_t *length, uint64_t *number, struct rfn_diag *diag);

#endif
