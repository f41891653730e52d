/* predict_internal.h - what the parts of the engine share (refrain/predict.h; doc/whatif.md).
 *
 *   predict.c          the run: what streams compute and post, when their calls end
 *   predict_needs.c    what a call needs of others, as recorded
 *   predict_lanes.c    what lanes assume of computations, calls, messages, the network
 *   predict_events.c   the run as a graph, for what single events save
 */
#ifndef RFN_PREDICT_PREDICT_INTERNAL_H
#define RFN_PREDICT_PREDICT_INTERNAL_H

#include "base/grow.h"
#include "predict/event_graph.h"
#include "predict/watch.h"

/* ---- what lanes assume ---- */

/* Of an activity, in one lane. */
struct rfn_engine_effect {
    uint32_t lane;
    const struct rfn_assumption *assumption;
};

/* Of each activity, found when it comes first. */
struct rfn_engine_effects {
    bool known;
    struct rfn_engine_effect *items; /* by lane */
    size_t n;
    uint32_t *first; /* by lane: its first item, and the end; NULL: there are none */
};

/* ---- messages and collective calls in flight ---- */

/* Vectors of lanes, by number. With a graph they have one more place, for the node that the first
 * lane's time is of. */
struct rfn_engine_vectors {
    int64_t *items;
    size_t capacity;
};

struct rfn_engine_collective {
    int64_t *latest; /* of all, of data, of the root, of the others: four vectors */
    int64_t *places; /* of each place, where the kind of call asks for it; NULL */
    bool begun;
};

enum { RFN_ENGINE_ALL, RFN_ENGINE_DATA, RFN_ENGINE_ROOT, RFN_ENGINE_OTHERS, RFN_ENGINE_LATEST };

struct rfn_engine_mark {
    bool any;
    uint64_t event;
    int64_t enter_ns;
};

/* Points that others may wait for at windows, the last of them. */
enum { RFN_ENGINE_MARKS = 64 };

/* When a message was there, as recorded and in the first lane. */
struct rfn_engine_arrival {
    bool any;
    int64_t recorded_ns, predicted_ns;
};

struct rfn_engine_stream {
    int64_t *early;  /* D */
    int64_t *polled; /* D when the phase of polls began; NULL: there was none */
    int64_t *marked; /* RFN_ENGINE_MARKS vectors; NULL: none */
    int64_t last_ns; /* exit of its last call */
    int64_t outside_ns;
    uint32_t node, polled_node;         /* where it is, and where the phase of polls began */
    size_t next_point;                  /* that it comes to */
    struct rfn_engine_arrival wildcard; /* of the last message that it took as it came */
    struct rfn_engine_mark marks[RFN_ENGINE_MARKS];
    size_t n_marks;
};

/* What a call needs was there when the first vector (of a rendezvous both) had come, and `way_ns`
 * later. */
struct rfn_engine_source {
    const struct rfn_need *need;
    const int64_t *first, *second; /* second: NULL: no lane has a rendezvous */
    int64_t ready_ns, way_ns;      /* as recorded */
    int64_t bytes;
    bool message, rendezvous, synchronous;
    bool taken;    /* a send that needs its receive */
    bool wildcard; /* of several that may come, as they come */
};

struct rfn_engine {
    const struct rfn_archive *archive;
    const struct rfn_predict_options *options;
    const struct rfn_network *network;
    const struct rfn_lane *given;
    size_t n, width;                       /* lanes; of a vector */
    struct rfn_graph *graph;               /* of the first lane; NULL: not asked for */
    const struct rfn_engine_events *asked; /* with a graph */
    int64_t least_eager;                   /* S of all lanes */
    const struct rfn_predict_watch *watch; /* or NULL */
    struct rfn_watched_need *watched;      /* what it is told of the call at hand */
    size_t watched_capacity, n_sources;    /* of that call */
    struct rfn_steps *steps;
    struct rfn_engine_effects *effects; /* by activity */
    size_t effects_capacity;
    struct rfn_network *networks; /* by lane */
    bool *ideal, *differs;        /* by lane: its network */
    uint32_t *special;            /* lanes whose network differs */
    size_t n_network;
    struct rfn_engine_vectors messages,
        receives; /* when they were posted; of a message behind it that of its
          receive, where that is over before the send is */
    struct rfn_engine_collective *collectives;
    size_t collectives_capacity;
    struct rfn_engine_stream *streams;
    int64_t *exits;                    /* of the call at hand, by lane */
    struct rfn_engine_source *sources; /* of its needs */
    size_t sources_capacity;
    struct rfn_engine_vectors latest; /* of places, by need */
    struct rfn_prediction *prediction;
};

/* Has who looks on see a step. */
#define RFN_ENGINE_WATCH(engine, hook, ...)                                           \
    ((engine)->watch && (engine)->watch->steps && (engine)->watch->steps->hook        \
         ? (engine)->watch->steps->hook((engine)->watch->steps->context, __VA_ARGS__) \
         : 0)

/* ---- calls ---- */

/* The call at hand. */
struct rfn_engine_call {
    const struct rfn_step *step;
    const struct rfn_engine_effects *effects;
    const int64_t *early; /* when it was entered */
    size_t n_sources;
    int64_t own_ns;  /* what it takes when all is there */
    double bytes[2]; /* of messages that it needs: to come, to be taken */
};

/* A request for single events. */
struct rfn_engine_events {
    size_t most;
    struct rfn_event_gains *gains;
};

/* ---- small things ---- */

/* Damaged archives have any times and sizes. */
static inline int64_t rfn_nearest(double ns)
{
    const double bound = 4e18;
    ns = ns < -bound ? -bound : ns < bound ? ns : bound;
    return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

static inline int64_t rfn_times(double factor, int64_t ns)
{
    return rfn_nearest(factor * (double)ns);
}

/* The vector of a number, for which there is room then; NULL: no memory. */
static inline int64_t *rfn_engine_vector(struct rfn_engine_vectors *vectors, uint32_t number,
                                         size_t n)
{
    if (RFN_GROW_ZEROED(vectors->items, vectors->capacity, ((size_t)number + 1) * n) < 0)
        return NULL;
    return vectors->items + (size_t)number * n;
}

/* Larger messages, and those that say so, go only when their receive is posted. */
static inline bool rfn_is_rendezvous(const struct rfn_engine_source *source, int64_t eager_bytes)
{
    return source->second && (source->synchronous || source->bytes > eager_bytes);
}

/* Whether a lane needs it. */
static inline bool rfn_is_needed(const struct rfn_engine_source *source, bool rendezvous)
{
    return rendezvous || !source->taken;
}

/* What a message takes when both ends are ready for it. */
static inline double rfn_way_ns(const struct rfn_network *network, int64_t bytes, bool rendezvous)
{
    return (rendezvous ? 2 : 1) * (network->overhead_ns + network->latency_ns) +
           (bytes > 1 ? (double)(bytes - 1) : 0) * network->gap_per_byte_ns;
}

/* ---- predict_lanes.c ---- */

/* NULL: no memory. */
const struct rfn_engine_effects *rfn_engine_effects_of(struct rfn_engine *engine,
                                                       uint32_t activity);
/* How long a lane assumes that something takes. */
int64_t rfn_engine_assumed_ns(const struct rfn_engine_effects *effects, uint32_t lane,
                              const struct rfn_step *step, enum rfn_assumed what, int64_t ns);
/* What the network is in each lane. RFN_E_NOMEM. */
int rfn_engine_init_lanes(struct rfn_engine *engine);
/* The way of what a call needs, in one lane. */
int64_t rfn_engine_lane_way(const struct rfn_engine *engine, const struct rfn_engine_source *source,
                            uint32_t lane, const struct rfn_engine_call *call, bool rendezvous);
/* What a call takes itself, in one lane. */
int64_t rfn_engine_lane_own(const struct rfn_engine *engine, const struct rfn_engine_call *call,
                            uint32_t lane);

/* ---- predict_needs.c ---- */

/* Puts what the call needs into engine->sources: *n. RFN_E_NOMEM. */
int rfn_engine_find_sources(struct rfn_engine *engine, const struct rfn_step *step, size_t *n);

/* ---- predict_events.c ---- */

/* Where a stream is; the first time that is where it begins. RFN_E_NOMEM. */
int64_t rfn_engine_node(struct rfn_engine *engine, const struct rfn_step *step);
/* The stream goes on to a node at ns, by what its step did. RFN_E_NOMEM. */
int rfn_engine_go_on(struct rfn_engine *engine, const struct rfn_step *step, bool call,
                     uint32_t tail, int64_t weight, int64_t ns);
/* The later of two nodes: a new one. RFN_E_NOMEM. */
int64_t rfn_engine_later(struct rfn_graph *graph, int64_t a, int64_t b);
/* The call as an event of the graph: what it needs, in the first lane, which has its exit. */
int rfn_engine_draw(struct rfn_engine *engine, const struct rfn_engine_call *call, uint32_t tail);

/* ---- predict.c ---- */

/* Predicts; then `done`, where it is there, before what the engine knows is gone. */
int rfn_engine_predict(struct rfn_engine *engine,
                       int (*done)(struct rfn_engine *engine, void *context), void *context,
                       struct rfn_diag *diag);

#endif
