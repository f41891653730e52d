#include "replay/check_received.h"

#include "replay/message_ids.h"

#include <inttypes.h>
#include <stdio.h>

static bool has_other_size(const struct rfn_volume *recorded, int64_t bytes, char *text,
                           size_t size)
{
    if (bytes == recorded->received_bytes)
        return false;
    snprintf(text, size,
             "received %" PRId64 " bytes from rank %" PRId64 ", where %" PRId64 " were recorded",
             bytes, recorded->source, recorded->received_bytes);
    return true;
}

static bool is_another(const struct rfn_volume *recorded, int64_t bytes, const uint64_t *stamp,
                       const void *buffer, char *text, size_t size)
{
    if (!stamp || rpl_message_id_fits(*stamp, buffer, bytes))
        return false;
    snprintf(text, size,
             "received another message of %" PRId64 " bytes from rank %" PRId64
             " than was recorded",
             bytes, recorded->source);
    return true;
}

bool rpl_check_received(const struct rfn_volume *recorded, int64_t bytes, const uint64_t *stamp,
                        const void *buffer, char *text, size_t size)
{
    if (recorded->source == RFN_PROC_NULL || recorded->received_bytes < 0)
        return false;
    return has_other_size(recorded, bytes, text, size) ||
           is_another(recorded, bytes, stamp, buffer, text, size);
}
