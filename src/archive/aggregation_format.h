/* aggregation_format.h - writes AGGREGATED (refrain-archive(5)). */
#ifndef RFN_ARCHIVE_AGGREGATION_FORMAT_H
#define RFN_ARCHIVE_AGGREGATION_FORMAT_H

#include "base/buf.h"
#include "refrain/aggregation.h"

/* The payload, of n streams. */
void rfn_pack_aggregation(const struct rfn_aggregation *of, uint32_t n, struct rfn_buf *out);

#endif
