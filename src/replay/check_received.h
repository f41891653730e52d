/* check_received.h - whether a message that a replay received is the one that was recorded.
 */
#ifndef RFN_REPLAY_CHECK_RECEIVED_H
#define RFN_REPLAY_CHECK_RECEIVED_H

#include "refrain/volume.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether `bytes` in the buffer (-1: MPI does not tell) are not what was recorded; then the text
 * says how. stamp: what the message is to carry (message_ids.h), NULL when it is not known. A
 * receive from no one, and what receives nothing, is never wrong. */
bool rpl_check_received(const struct rfn_volume *recorded, int64_t bytes, const uint64_t *stamp,
                        const void *buffer, char *text, size_t size);

#endif
