/* one_way.h - segments that lateness goes through in one direction at most.
 *
 * Who receives and then sends hands its lateness on, and who meets all others makes all of them
 * wait: the exact moment matters, and to ranks that this one never talks to. A segment that only
 * sends, or only receives, is an end of the chain: waits there are between two ranks, and sums of
 * them are what matters.
 */
#ifndef RFN_REDUCE_ONE_WAY_H
#define RFN_REDUCE_ONE_WAY_H

#include "refrain/event.h"

#include <stdbool.h>

/* What the calls of a segment do, as bits. */
enum rfn_role {
    RFN_ROLE_SENDS = 1,
    RFN_ROLE_RECEIVES = 2,
    RFN_ROLE_ONE_TO_ALL = 4,
    RFN_ROLE_ALL_TO_ONE = 8,
    RFN_ROLE_COMPLETES = 16, /* goes with any of these */
    RFN_ROLE_MEETS = 32      /* waits for others that wait for it, or may do so */
};

/* The role of a call of the class; 0: it concerns nobody else. */
static inline uint8_t rfn_class_role(uint8_t class_)
{
    switch (class_) {
    case RFN_CLASS_SEND:
    case RFN_CLASS_SSEND:
        return RFN_ROLE_SENDS;
    case RFN_CLASS_RECV:
    case RFN_CLASS_PROBE:
        return RFN_ROLE_RECEIVES;
    case RFN_CLASS_ONE_TO_ALL:
        return RFN_ROLE_ONE_TO_ALL;
    case RFN_CLASS_ALL_TO_ONE:
        return RFN_ROLE_ALL_TO_ONE;
    case RFN_CLASS_COMPLETION:
        return RFN_ROLE_COMPLETES;
    case RFN_CLASS_OTHER:
    case RFN_CLASS_REGION:
    case RFN_CLASS_SEGMENT_BEGIN:
    case RFN_CLASS_SEGMENT_END:
    case RFN_CLASS_UNRECORDED:
        return 0;
    default:
        return RFN_ROLE_MEETS;
    }
}

/* Whether calls with these roles are of one sort, besides completions. */
static inline bool rfn_roles_one_way(uint8_t roles)
{
    uint8_t rest = roles & (uint8_t)~RFN_ROLE_COMPLETES;
    return roles && !(rest & RFN_ROLE_MEETS) && (rest & (rest - 1)) == 0;
}

#endif
