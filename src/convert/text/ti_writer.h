/* ti_writer.h - a rank's actions as lines of time-independent text.
 *
 * Messages of sub-communicators are told apart by their tags, as text has no communicators:
 * rfn_text_tag (ti_expand.h). `wait SOURCE DEST TAG` names the request of the key that was posted
 * first, as SimGrid's replay takes it; a wait for all that is pending is one `waitall`.
 */
#ifndef RFN_CONVERT_TEXT_TI_WRITER_H
#define RFN_CONVERT_TEXT_TI_WRITER_H

#include "base/buf.h"
#include "base/map.h"
#include "convert/text/ti_expand.h"
#include "refrain/actions_out.h"

struct rfn_ti_writer {
    struct rfn_actions *actions; /* for communicators */
    enum rfn_text_dialect dialect;
    uint32_t rank, n_ranks;
    struct rfn_actions_summary *summary;
    struct rfn_buf *text;   /* lines are appended */
    char head[16];          /* "RANK " */
    bool begun, ended;      /* init, finalize are written */
    double computed;        /* since the last line */
    struct rfn_map pending; /* request -> its key, or a group of them */
    int64_t *order;         /* requests that are pending, as they were posted: of the thesis only */
    size_t n_order, order_capacity;
    size_t n_groups;
    uint64_t *waited; /* keys of the messages that the wait at hand is for */
    size_t n_waited, waited_capacity;
    struct rfn_expansion expansion;
    int64_t parts; /* requests that were made here */
    char fault[160];
};

/* All zeros but actions, dialect, rank, n_ranks, summary and text. */
void rfn_ti_writer_release(struct rfn_ti_writer *writer);
/* RFN_E_UNSUPPORTED: fault says what the dialect cannot say; RFN_E_NOMEM. */
int rfn_ti_write(struct rfn_ti_writer *writer, const struct rfn_action *action);
/* Behind the last action. */
int rfn_ti_write_end(struct rfn_ti_writer *writer);

#endif
