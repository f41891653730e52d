/* cursor.h - what verification asks of a cursor beyond refrain/archive.h. */
#ifndef RFN_ARCHIVE_CURSOR_H
#define RFN_ARCHIVE_CURSOR_H

#include "refrain/archive.h"

#include <stdint.h>

/* After the last event: whether everything there was to read has been read, so that no column is
 * longer than the structure says and no time mark is left. RFN_E_CORRUPT, RFN_E_NOMEM. */
int rfn_cursor_finish(struct rfn_cursor *cursor, struct rfn_diag *diag);

/* Whether the events' polls add up to the calls that there were: in reduced times, how often was
 * polled is that of alike segments. */
bool rfn_cursor_counts_calls(const struct rfn_cursor *cursor);

/* How many lists the cursor's stream has. */
uint64_t rfn_cursor_lists(const struct rfn_cursor *cursor);
/* Whether the words of a list are local datatypes that exist (negative words are special). */
bool rfn_cursor_list_types_exist(const struct rfn_cursor *cursor, uint64_t number);

#endif
