/* event_messages.h - the messages that a call sends, or receives, in the few numbers that a trace
 * has room for. */
#ifndef RFN_CONVERT_EVENT_MESSAGES_H
#define RFN_CONVERT_EVENT_MESSAGES_H

#include "refrain/match.h"

struct rfn_event_messages {
    size_t n;
    uint32_t peer;      /* of the last one, RFN_NO_PEER: not known */
    int64_t tag, bytes; /* tag of the last one; bytes of all, -1: not known */
};

/* Those that the call posts, when it enters, or completes, when it leaves; without cancelled ones.
 */
struct rfn_event_messages rfn_event_messages(const struct rfn_match_event *event,
                                             enum rfn_match_what what);

#endif
