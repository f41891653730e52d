/* progress.h - telling how far a conversion is. */
#ifndef RFN_CONVERT_PROGRESS_H
#define RFN_CONVERT_PROGRESS_H

#include "refrain/convert.h"

/* progress may be NULL: nobody wants to know. share: 0 to 1. */
static inline void rfn_convert_tell(const struct rfn_convert_progress *progress, double share)
{
    if (progress && progress->tell)
        progress->tell(progress->context, share);
}

#endif
