/* otf2_thread.h - a location of an OTF2 trace while its events are read and become a stream.
 *
 * OTF2 tells of a call of MPI that a region is entered, what happens in it (a message is sent, a
 * request completes), and that the region is left. What happens is gathered until then, and decides
 * together with the region's name on the event (otf2_calls.c).
 *
 * What a receive or a nonblocking collective call is about OTF2 tells only where it completes. So
 * events wait in a line until all before them are known, then they are written. The line has an
 * end: when it is full, its first event is written as a call of which nothing is known but that it
 * made a request.
 */
#ifndef RFN_CONVERT_OTF2_OTF2_THREAD_H
#define RFN_CONVERT_OTF2_OTF2_THREAD_H

#include "convert/otf2/otf2_definitions.h"
#include "convert/otf2/otf2_operations.h"
#include "refrain/convert.h"
#include "refrain/writer.h"

/* What happens in a call. */
enum otf2_happening_kind {
    OTF2_SENDS,
    OTF2_ISENDS,
    OTF2_RECEIVES,
    OTF2_IRECEIVES, /* posts a receive */
    OTF2_COLLECTIVE,
    OTF2_ICOLLECTIVE, /* begins a nonblocking one */
    OTF2_COMPLETES,   /* a request; it may be one that receives, or of a collective */
    OTF2_CANCELLED,
    OTF2_TESTS,
    OTF2_PUTS,         /* any access to a window */
    OTF2_SYNCHRONIZES, /* a window: made, freed, fenced, locked, ... */
    OTF2_HAPPENINGS
};

struct otf2_happening {
    enum otf2_happening_kind kind;
    int64_t ns;
    uint64_t request;
    struct otf2_comm *comm; /* NULL: none is told */
    int64_t peer, tag;
    uint64_t bytes, received;    /* of collectives sent and received */
    bool receives;               /* COMPLETES: a message, all of the above */
    OTF2_CollectiveOp operation; /* COMPLETES: COLLECTIVES_NONE unless it is one */
    int64_t root;
    uint64_t window;
    bool shared; /* a lock */
};

/* What all locations share. */
struct otf2_reading {
    const char *path;
    struct otf2_definitions definitions;
    struct rfn_writer *writer;
    struct otf2_node root;
    struct rfn_map nodes; /* hash of parent and frame -> node */
    int64_t byte_type, world;
    bool network_sizes; /* a collective's sizes are those of all messages, as Score-P says them */
    int32_t own[RFN_FORMS][2]; /* functions for what happens outside of a call that fits, + 1 */
    int32_t by_operation[2][24];
    struct otf2_errors errors;
    struct rfn_otf2_summary *summary;
    struct rfn_diag *diag;
};

/* A region that is open. */
struct otf2_open {
    const struct otf2_region *region;
    struct otf2_node *node; /* the call path with it */
    bool told;              /* the region's begin is in the archive */
};

/* An event in the line. */
struct otf2_waiting {
    struct rfn_record record;
    int64_t in[RFN_FORM_INPUTS], out[RFN_FORM_OUTCOMES];
    const struct otf2_region *region; /* that made it */
    bool open;                        /* not all of it is known */
};

/* A request that was made and has not completed. */
struct otf2_request {
    uint64_t number;      /* of creation in the stream */
    uint64_t place;       /* of its event, counted from the first that was in the line */
    bool waits, receives; /* it is in the line, open; a message */
};

struct otf2_thread {
    struct otf2_reading *reading;
    const struct otf2_location *location;
    int64_t stream; /* -1: it has none yet */
    struct otf2_open *open;
    size_t n_open, open_capacity;
    struct otf2_node *node;
    const struct otf2_region *call; /* the call of MPI that it is in; NULL: in none */
    size_t call_at;                 /* its place in `open` */
    int64_t enter_ns, last_ns;      /* of the call; of the last event */
    uint64_t polls;                 /* that the call stands for, if it is an unsuccessful one */
    struct otf2_happening *happenings;
    size_t n_happenings, happenings_capacity;
    struct otf2_comm *made; /* the communicator that the call has made; NULL: none */
    struct otf2_waiting *line;
    size_t line_mask;
    uint64_t first, next;    /* events of the line: from first to next - 1 */
    struct rfn_map requests; /* of OTF2 -> object */
    uint64_t made_requests;
    struct rfn_map windows; /* of OTF2 -> handle's number */
    uint64_t made_windows;
    int64_t counter, counted, entered; /* the metric: now, at the last call's end, at its begin */
    int64_t *words;                    /* of a list */
    size_t words_capacity;
    int error; /* what went wrong, with the reading's diag */
};

/* ---- otf2_thread.c ---- */

int rfn_otf2_thread_init(struct otf2_thread *thread, struct otf2_reading *reading,
                         const struct otf2_location *location);
void rfn_otf2_thread_release(struct otf2_thread *thread);
/* The reading's diag says what is wrong at the location; returns RFN_E_CORRUPT. */
int rfn_otf2_contradicts(const struct otf2_thread *thread, const char *what);

/* node: of a calling context; NULL: of the open regions. line: of the function that it is entered
 * from; 0: not known. */
int rfn_otf2_enter(struct otf2_thread *thread, int64_t ns, const struct otf2_region *region,
                   struct otf2_node *node, uint32_t line);
int rfn_otf2_leave(struct otf2_thread *thread, int64_t ns, const struct otf2_region *region);
/* In the call at hand; outside of one it is a call of its own that takes no time. */
int rfn_otf2_happens(struct otf2_thread *thread, const struct otf2_happening *happening);
/* Closes what is open, and writes what waits. */
int rfn_otf2_end(struct otf2_thread *thread);

struct otf2_node *rfn_otf2_node(struct otf2_reading *reading, struct otf2_node *parent,
                                const char *function, const char *file, uint32_t line);
/* NULL: out of memory, or contexts that contain each other. */
struct otf2_node *rfn_otf2_context_node(struct otf2_reading *reading, uint64_t context);

/* An event of the thread in its line, to be filled in: function, inputs, outcomes. NULL: error. */
struct otf2_waiting *rfn_otf2_wait(struct otf2_thread *thread, int64_t enter_ns, int64_t exit_ns,
                                   struct otf2_node *node);
/* The event that waits at a place. */
static inline struct otf2_waiting *rfn_otf2_waiting(const struct otf2_thread *thread,
                                                    uint64_t place)
{
    return &thread->line[place & thread->line_mask];
}
/* Writes what does not wait any more. */
int rfn_otf2_write_known(struct otf2_thread *thread);

/* The number of a communicator in the archive. */
int64_t rfn_otf2_comm(struct otf2_reading *reading, struct otf2_comm *comm);
/* The rank that the thread's process has in it; -1: none. */
int64_t rfn_otf2_own_rank(const struct otf2_thread *thread, struct otf2_comm *comm);
/* The rank in it that events mean by `rank`; -1: it has none. */
int64_t rfn_otf2_comm_rank(const struct otf2_thread *thread, struct otf2_comm *comm, int64_t rank);

/* ---- otf2_calls.c ---- */

/* The call at hand ends. */
int rfn_otf2_call(struct otf2_thread *thread, int64_t exit_ns);
/* Makes an event that waits and whose request nobody has completed one of which nothing is known.
 */
int rfn_otf2_give_up(struct otf2_thread *thread, struct otf2_waiting *waiting);
/* A begin or end of a region of the program. */
int rfn_otf2_mark(struct otf2_thread *thread, int64_t ns, const struct otf2_region *region,
                  struct otf2_node *node, bool begins);

#endif
