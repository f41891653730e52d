/* keep_internal.h - what the parts of record/keep share. windows.h tells the whole. */
#ifndef RFN_RECORD_KEEP_KEEP_INTERNAL_H
#define RFN_RECORD_KEEP_KEEP_INTERNAL_H

#include "base/map.h"
#include "record/keep/windows.h"
#include "record/samples/sampled_calls.h"
#include "reduce/aggregate/window.h"

/* A call that is held: its event's words follow in the window. */
struct rec_held_call {
    uint64_t words;      /* where they begin */
    uint64_t requests;   /* that the stream had made before it */
    uint32_t n_made;     /* requests that it made */
    uint32_t sends;      /* the end that it sends; NONE */
    uint32_t wants, has; /* ends of messages that it posts or completes, and those that are known */
    uint32_t function;
};

/* A request of an earlier window that a call of this one completes. */
struct rec_late_request {
    uint32_t call;
    uint64_t number;
};

/* Calls since the last turn. */
struct rec_window {
    struct rfn_window_head head;
    struct rfn_window_call *calls;
    struct rec_held_call *held;
    struct rfn_window_end *ends;
    struct rfn_window_share *shares;
    struct rfn_window_pair *pairs;
    struct rec_late_request *late;
    int64_t *words;
    size_t calls_capacity, held_capacity, ends_capacity, shares_capacity, pairs_capacity,
        late_capacity, words_capacity, n_words, n_late;
    uint64_t first;         /* call, of all that the stream has made */
    uint64_t first_request; /* that the stream makes in it */
    uint8_t *completed;     /* by request of the window, up to n_completed */
    size_t n_completed, completed_capacity;
};

struct rec_keep {
    struct rec_stream *stream; /* whose calls are held; NULL: none yet */
    struct rec_window window;
    uint64_t taken;                 /* calls, with those handed on */
    uint64_t requests;              /* that the stream had made behind the last of them */
    uint64_t clock;                 /* a number of ranks with one clock: all have it */
    uint64_t last_enter, last_exit; /* ns */
    uint32_t rank;
    bool polled;  /* the last one was an unsuccessful poll */
    bool gave_up; /* from now on all stays; atomic */
};

extern struct rec_keep rec_keep;

/* Of any thread. */
static inline void rec_keep_give_up(void)
{
    __atomic_store_n(&rec_keep.gave_up, true, __ATOMIC_RELAXED);
}

static inline bool rec_keep_gave_up(void)
{
    return __atomic_load_n(&rec_keep.gave_up, __ATOMIC_RELAXED);
}

/* Whether calls of the stream are held. */
static inline bool rec_keep_holds(const struct rec_stream *stream)
{
    return stream->number == 0;
}

/* ---- held_calls.c ---- */

extern const struct rec_keeper rec_keep_keeper;
/* The window is used again. */
void rec_window_begin(const struct rfn_window_head *head);
/* Hands on the window's calls whose bit is not set; bits NULL: all. RFN_E_NOMEM. */
int rec_window_hand_on(const uint8_t *bits);
/* Behind the last call. RFN_E_NOMEM. */
int rec_held_end(void);
void rec_held_release(void);

/* ---- describe_calls.c ---- */

/* Prepares for functions of MPI. RFN_E_NOMEM. */
int rec_describe_begin(void);
/* Listens to requests and messages. */
extern const struct rec_follower rec_keep_follower;
/* The flags of an event before anybody says more of it. */
uint64_t rec_describe_flags(const struct rfn_event *event);
/* Marks the calls of the window, which ends, whose parts are not all known. */
void rec_describe_end(void);
void rec_describe_release(void);

#endif
