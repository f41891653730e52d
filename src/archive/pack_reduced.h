/* pack_reduced.h - PROFILE of a stream whose times were reduced while it was recorded. */
#ifndef RFN_ARCHIVE_PACK_REDUCED_H
#define RFN_ARCHIVE_PACK_REDUCED_H

#include "archive/pack_profile.h"

/* Makes the payload, as rfn_pack_profile does, after rfn_stream_reduce. The rope borrows from the
 * stream and from *times, which is to be released in any case. RFN_E_NOMEM, or an error of the
 * stream's spill. */
int rfn_pack_reduced(const struct rfn_stream *stream, const struct rfn_pack_clock *clock,
                     struct rfn_new_times *times, struct rfn_rope *out);

#endif
