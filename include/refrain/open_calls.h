/* open_calls.h - what each thread was doing when its record ends: of a run that did not end, in an
 * archive that was made of journals (refrain/journal.h).
 */
#ifndef REFRAIN_OPEN_CALLS_H
#define REFRAIN_OPEN_CALLS_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

enum rfn_open_kind {
    RFN_OPEN_CALL,   /* it was in the call */
    RFN_OPEN_POLLS,  /* it was calling it again and again, in vain */
    RFN_OPEN_OUTSIDE /* it was not in MPI; the call is the last one before */
};

struct rfn_open_call {
    enum rfn_open_kind kind;
    int64_t since_ns; /* since 1970: when the call, or the first poll, began; OUTSIDE: when the last
                         call ended */
    int64_t until_ns; /* since 1970: when this was so */
    /* The call as an event that would come next: function, path, polls and, unless OUTSIDE, `in`
     * mean something. */
    struct rfn_record record;
};

/* Of the cursor's stream; the record is borrowed until the cursor is closed, its lists as the lists
 * of any record. 1; 0: it is not known; or RFN_E_CORRUPT, RFN_E_IO, RFN_E_NOMEM. */
int rfn_cursor_open_call(struct rfn_cursor *cursor, struct rfn_open_call *open,
                         struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
