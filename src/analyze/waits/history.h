/* history.h - what one stream has done, as far back as others may ask.
 *
 * The last activities are kept one by one. *Marks* are points that the stream
 * has in common with others: the last collective call on a communicator (identified by a key), and
 * the beginning (key RFN_MARK_BEGINNING). What falls out of the log is added to the sums of the
 * marks before it, so that the time since a mark is known per activity however long ago it was.
 * Points that a pair of streams has in common, their last message, are kept only as far as the log
 * goes.
 */
#ifndef RFN_ANALYZE_WAITS_HISTORY_H
#define RFN_ANALYZE_WAITS_HISTORY_H

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RFN_HISTORY_MARKS = 10 };

/* In place of an activity: waiting, of which the rest is the number of the cause. */
#define RFN_PASSED_ON      UINT32_C(0x80000000)
#define RFN_MARK_BEGINNING UINT64_MAX
#define RFN_NOTHING_LATE   UINT32_MAX

struct rfn_done {
    uint32_t what; /* activity, or RFN_PASSED_ON + cause */
    int64_t ns;
};

/* An entry of a log: what takes longer than fits is several. */
struct rfn_logged {
    uint32_t what, ns;
};

struct rfn_mark {
    uint64_t key, count, at;
    uint32_t late_by;      /* an activity, if the stream was later there than others; or
                              RFN_NOTHING_LATE */
    struct rfn_done *sums; /* of what has fallen out of the log since `at` */
    size_t n_sums, capacity;
};

struct rfn_history {
    struct rfn_logged *log; /* entry i at i & mask */
    uint64_t mask;
    uint64_t at;    /* entries so far */
    uint64_t first; /* the oldest that is still in the log */
    uint64_t full;  /* so many entries before it has to be made room for the next one */
    struct rfn_mark marks[RFN_HISTORY_MARKS];
    unsigned n_marks;
    uint64_t marked; /* where the last mark was made */
};

/* Sums per `what`, of one question; of a whole analysis there is one. Activities and causes of
 * waiting take turns in the list. Adding to a log makes room here, so that asking need not. */
struct rfn_sums {
    int64_t *ns;       /* at rfn_sums_at; of those that have been touched */
    uint32_t *asked;   /* by which question it was touched last */
    uint32_t question; /* the number of this one; 0: none */
    uint32_t *touched;
    size_t n_touched, capacity; /* there is room for, of which each array has at least as much: */
    size_t ns_capacity, asked_capacity, touched_capacity;
};

static inline uint32_t rfn_sums_at(uint32_t what)
{
    return what << 1 | what >> 31;
}
/* Makes room for a sum; RFN_E_NOMEM. */
int rfn_sums_grow(struct rfn_sums *sums, uint32_t what);

/* length: of the log, a power of two. RFN_E_NOMEM. */
int rfn_history_init(struct rfn_history *history, size_t length);
void rfn_history_release(struct rfn_history *history);
void rfn_sums_release(struct rfn_sums *sums);

/* The stream has done something, for ns >= 0; sums: those that questions about it are asked with.
 * RFN_E_NOMEM. */
int rfn_history_make_room(struct rfn_history *history, struct rfn_sums *sums);
int rfn_history_add_long(struct rfn_history *history, struct rfn_sums *sums, uint32_t what,
                         int64_t ns);
static inline int rfn_history_add(struct rfn_history *history, struct rfn_sums *sums, uint32_t what,
                                  int64_t ns)
{
    if (__builtin_expect(ns > UINT32_MAX, 0))
        return rfn_history_add_long(history, sums, what, ns);
    if (__builtin_expect(rfn_sums_at(what) >= sums->capacity, 0))
        RFN_TRY(rfn_sums_grow(sums, what));
    if (__builtin_expect(history->at == history->full, 0))
        RFN_TRY(rfn_history_make_room(history, sums));
    history->log[history->at++ & history->mask] = (struct rfn_logged){what, (uint32_t)ns};
    return 0;
}

/* The stream is now, in a call, in step with all that make a mark of the same key and count; counts
 * of a key ascend. */
void rfn_history_mark(struct rfn_history *history, uint64_t key, uint64_t count, uint32_t late_by);

/* Where two streams were in step: positions, and which marks they are of if they are (else NULL).
 */
struct rfn_in_step {
    uint64_t at[2];
    const struct rfn_mark *mark[2];
};
/* The last such place by marks, before the points a_at and b_at. There always is one: the
 * beginning. */
struct rfn_in_step rfn_history_in_step(const struct rfn_history *a, uint64_t a_at,
                                       const struct rfn_history *b, uint64_t b_at);

/* Begins a question: all sums are 0. */
void rfn_sums_reset(struct rfn_sums *sums);
/* Whether something has been added to a sum, for which there is room. */
static inline bool rfn_sums_has(const struct rfn_sums *sums, uint32_t what)
{
    return sums->asked[rfn_sums_at(what)] == sums->question;
}
/* There must be room for it. */
static inline int64_t rfn_sums_of(const struct rfn_sums *sums, uint32_t what)
{
    return rfn_sums_has(sums, what) ? sums->ns[rfn_sums_at(what)] : 0;
}
/* Adds what the stream did from `from` (a mark's, if mark is not NULL) to `to`, times sign (1, -1).
 * What is older than the log and has no mark is left out. */
void rfn_history_sum(const struct rfn_history *history, const struct rfn_mark *mark, uint64_t from,
                     uint64_t to, int sign, struct rfn_sums *sums);

#endif
