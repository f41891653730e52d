/* stream_signatures.h - the call-path signatures that STREAMS has, of the recorder.
 */
#ifndef RFN_ARCHIVE_STREAM_SIGNATURES_H
#define RFN_ARCHIVE_STREAM_SIGNATURES_H

#include "archive/reader.h"

/* That of a rank is its first stream's, or of several what comes of one after the other. */
uint64_t rfn_join_signatures(uint64_t before, uint64_t next);

/* Whether all streams have a signature in STREAMS. */
bool rfn_archive_is_signed(const struct rfn_archive *archive);

/* Whether the signatures in STREAMS tell the same streams apart as those of the elastic form do,
 * made anew of what is there. RFN_E_CORRUPT, RFN_E_NOMEM, and the errors of reading. */
int rfn_archive_check_signatures(const struct rfn_archive *archive, struct rfn_diag *diag);

#endif
