/* pack_usage.h - for the archive: USAGE, what a stream's process used, and what its threads did in
 * the gaps between their calls (record/core/usage.h); CORES, which cores it had (core_windows.h).
 */
#ifndef RFN_RECORD_FINISH_PACK_USAGE_H
#define RFN_RECORD_FINISH_PACK_USAGE_H

#include "record/finish/definitions.h"

/* Appends what USAGE has of a stream, behind its number, if there is anything to say; its sites
 * have the archive's numbers. Of the process's first stream also what the process used.
 * RFN_E_NOMEM. */
int rec_pack_usage(const struct rec_stream_definitions *of, struct rfn_buf *out);
/* The same of CORES, of the process's first stream. */
int rec_pack_cores(const struct rec_stream_definitions *of, struct rfn_buf *out);

#endif
