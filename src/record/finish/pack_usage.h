/* pack_usage.h - USAGE: what a stream's process used, and what its threads did in the gaps between
 * their calls (record/core/usage.h), for the archive.
 */
#ifndef RFN_RECORD_FINISH_PACK_USAGE_H
#define RFN_RECORD_FINISH_PACK_USAGE_H

#include "record/finish/definitions.h"

#include <stdbool.h>

/* Whether there is anything to say. */
bool rec_usage_has(const struct rec_stream_definitions *of);
/* Appends what USAGE has of a stream, behind its number; its sites have the archive's numbers. Of
 * the process's first stream also what the process used. RFN_E_NOMEM. */
int rec_pack_usage(const struct rec_stream_definitions *of, struct rfn_buf *out);

#endif
