/* usage_format.h - USAGE and CORES as they are stored (refrain-archive(5)): their numbers, and
 * writing them. */
#ifndef RFN_ARCHIVE_USAGE_FORMAT_H
#define RFN_ARCHIVE_USAGE_FORMAT_H

#include "base/buf.h"
#include "refrain/usage.h"

/* Flags of a stream: what the process used is there; with how long it waited for a core; what the
 * recorder did; how far it cut call paths. */
enum {
    RFN_USAGE_PROCESS = 1,
    RFN_USAGE_CORE_WAIT = 2,
    RFN_USAGE_RECORDING = 4,
    RFN_USAGE_PATHS_CUT = 8
};
enum { RFN_USAGE_NS = 1000, RFN_USAGE_BYTES = 1024 }; /* units of times and of memory */

/* Appends what USAGE has of a stream, behind its number. */
void rfn_pack_usage(const struct rfn_stream_usage *of, struct rfn_buf *out);
/* The same of CORES. */
void rfn_pack_cores(const struct rfn_process_cores *of, struct rfn_buf *out);

#endif
