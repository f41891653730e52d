/* rewrite_facts.h - what an archive that is made of others has of them: META and STREAMS as they
 * had them, but for what the caller changes, and all other chunks as they are stored.
 */
#ifndef RFN_ARCHIVE_WRITE_REWRITE_FACTS_H
#define RFN_ARCHIVE_WRITE_REWRITE_FACTS_H

#include "archive/write/pack.h"
#include "archive/write/rewrite.h"

/* META says this of the run (pack.h). RFN_E_NOMEM, RFN_E_IO (the temporary file). */
int rfn_rewrite_add_meta(struct rfn_rewrite *rewrite, const struct rfn_run *run);

/* Adds STREAMS of n streams, of which `word` knows the words. Errors as above. */
int rfn_rewrite_add_streams(struct rfn_rewrite *rewrite, uint32_t n,
                            int64_t (*word)(const void *context, enum rfn_stream_word word,
                                            uint32_t stream),
                            const void *context);

/* Takes over all chunks of the old archive whose types stay, but STREAMS and TOC. Types that its
 * version does not have mean nothing there, and do not stay. RFN_E_NOMEM, RFN_E_IO, RFN_E_CORRUPT.
 */
int rfn_rewrite_copy_others(struct rfn_rewrite *rewrite,
                            bool (*stays)(const void *context, uint32_t type), const void *context,
                            struct rfn_diag *diag);

#endif
