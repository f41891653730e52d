/* window.h - the calls of all ranks between two moments at which all ranks were in one collective
 * call, and which of them predictions do not need.
 *
 * Each rank describes its calls of a window as a part: a header, its calls in order, and the ends
 * of messages, parts in collective calls, and pairs of calls that only go together, each in an
 * array. A rank that has all parts decides (Ino et al., R1 to R3, as predict/equal_delays.h does it
 * of an archive): it goes through the calls in happened-before order with the delay of each rank, a
 * form (delay_form.h). A call that leaves the delay as it was may go, if all that hang together
 * with it may: both ends of messages, what makes a request and what names it, all parts of a
 * collective call.
 *
 * What is decided holds with every network: whether a message is eager, and how long its way is,
 * are not known while the program runs. What cannot be told stays, as do calls whose other ends are
 * not in the window.
 *
 * Times are ns of one clock. Of ranks with different clocks nothing is told by their times.
 */
#ifndef RFN_REDUCE_AGGREGATE_WINDOW_H
#define RFN_REDUCE_AGGREGATE_WINDOW_H

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rfn_window_flag {
    RFN_WINDOW_STAYS = 1,  /* the call stays */
    RFN_WINDOW_UNKNOWN = 2 /* and what it needs is not known */
};

struct rfn_window_call {
    uint64_t enter, exit;
    uint64_t flags;
};

#define RFN_WINDOW_NONE UINT32_MAX

/* One end of a message. Calls are numbers in the part. */
struct rfn_window_end {
    uint64_t channel, position; /* which message: both ends agree */
    uint64_t bytes;             /* as sent; 0 at the receiver */
    uint32_t post, done;        /* the calls that post and end it; NONE: in no call of the window */
    uint8_t received;           /* this is the receiver's end */
    uint8_t mode;               /* at the sender: enum rfn_send_mode */
};

/* A part in a blocking collective call. */
struct rfn_window_share {
    uint64_t comm, number; /* which call: all members agree */
    uint32_t call, size;   /* members */
    uint8_t kind;          /* enum rfn_call_kind */
    uint8_t root;          /* the rank is the root */
    uint8_t all_meet;      /* no member leaves before all have entered */
};

/* Two calls that only go together. */
struct rfn_window_pair {
    uint32_t a, b;
};

struct rfn_window_head {
    uint64_t clock;        /* ranks with one clock have one number */
    uint64_t before;       /* calls of the rank before the window */
    uint64_t opened_enter; /* the collective call of all ranks that ended the window before; */
    uint64_t opened_exit;  /* 0 and 0: there was none */
    uint32_t n_calls, n_ends, n_shares, n_pairs;
    uint64_t useless; /* the rank does not hold its calls any more, or they have threads */
};

/* Borrowed arrays. */
struct rfn_window_part {
    struct rfn_window_head head;
    const struct rfn_window_call *calls;
    const struct rfn_window_end *ends;
    const struct rfn_window_share *shares;
    const struct rfn_window_pair *pairs;
};

struct rfn_window_rules {
    int64_t least_ns,
        least_bytes; /* assumptions may be about what takes so long, or so many bytes */
    uint64_t whole;  /* the first calls of the run, of all ranks, stay */
};

/* A part lies behind its header in one piece of memory: bytes that it takes, and the part that
 * begins there. false: there are other numbers of bytes, or numbers of calls that do not exist. */
size_t rfn_window_bytes(const struct rfn_window_head *head);
bool rfn_window_part_at(const void *bytes, size_t size, struct rfn_window_part *part);

/* Sets goes[first call of part r + i] for each call. RFN_E_NOMEM. */
int rfn_window_decide(const struct rfn_window_part *parts, uint32_t n,
                      const struct rfn_window_rules *rules, uint8_t *goes);

#endif
