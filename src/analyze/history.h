/* history.h - what one stream has done, as far back as others may ask.
 *
 * The last activities are kept one by one. *Marks* are points that the stream
 * has in common with others: the last collective call on a communicator (identified by a key), and
 * the beginning (key RFN_MARK_BEGINNING). What falls out of the log is added to the sums of the
 * marks before it, so that the time since a mark is known per activity however long ago it was.
 * Points that a pair of streams has in common, their last message, are kept only as far as the log
 * goes.
 */
#ifndef RFN_ANALYZE_HISTORY_H
#define RFN_ANALYZE_HISTORY_H

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RFN_HISTORY_MARKS = 10 };

/* In place of an activity: waiting, of which the rest is the number of the cause. */
#define RFN_PASSED_ON      UINT32_C(0x80000000)
#define RFN_MARK_BEGINNING UINT64_MAX

struct rfn_done {
    uint32_t what; /* activity, or RFN_PASSED_ON + cause */
    int64_t ns;
};

struct rfn_mark {
    uint64_t key, count, at;
    struct rfn_done *sums; /* of what has fallen out of the log since `at` */
    size_t n_sums, capacity;
};

struct rfn_history {
    struct rfn_done *log; /* entry i at i & mask */
    uint64_t mask;
    uint64_t at;    /* entries so far */
    uint64_t first; /* the oldest that is still in the log */
    struct rfn_mark marks[RFN_HISTORY_MARKS];
    unsigned n_marks;
};

/* Sums per `what`, of one question; of a whole analysis there is one. Activities and causes of
 * waiting take turns in the list. */
struct rfn_sums {
    struct rfn_sum {
        int64_t ns;
        uint64_t question;
    } * items;
    size_t capacity;
    uint64_t question;
    uint32_t *touched;
    size_t n_touched, touched_capacity;
};

/* length: of the log, a power of two. RFN_E_NOMEM. */
int rfn_history_init(struct rfn_history *history, size_t length);
void rfn_history_release(struct rfn_history *history);
void rfn_sums_release(struct rfn_sums *sums);

/* The stream has done something; RFN_E_NOMEM. */
int rfn_history_add_slow(struct rfn_history *history, struct rfn_sums *sums);
static inline int rfn_history_add(struct rfn_history *history, struct rfn_sums *sums, uint32_t what,
                                  int64_t ns)
{
    if (history->at - history->first > history->mask)
        RFN_TRY(rfn_history_add_slow(history, sums));
    history->log[history->at++ & history->mask] = (struct rfn_done){what, ns};
    return 0;
}

/* The stream is now in step with all that make a mark of the same key and count; counts of a key
 * ascend. */
void rfn_history_mark(struct rfn_history *history, uint64_t key, uint64_t count);

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
static inline uint32_t rfn_sums_at(uint32_t what)
{
    return what << 1 | what >> 31;
}
static inline int64_t rfn_sums_of(const struct rfn_sums *sums, uint32_t what)
{
    return sums->items[rfn_sums_at(what)].ns;
}
/* Adds ns; RFN_E_NOMEM. */
int rfn_sums_add_new(struct rfn_sums *sums, uint32_t what, int64_t ns);
static inline int rfn_sums_add(struct rfn_sums *sums, uint32_t what, int64_t ns)
{
    uint32_t at = rfn_sums_at(what);
    if (at < sums->capacity && sums->items[at].question == sums->question) {
        sums->items[at].ns += ns;
        return 0;
    }
    return rfn_sums_add_new(sums, what, ns);
}
/* Adds what the stream did from `from` (a mark's, if mark is not NULL) to `to`, times sign. What is
 * older than the log and has no mark is left out. */
int rfn_history_sum(const struct rfn_history *history, const struct rfn_mark *mark, uint64_t from,
                    uint64_t to, int sign, struct rfn_sums *sums);

#endif
