/* otf2_definitions.h - what events of an OTF2 trace refer to, read and checked.
 *
 * Numbers of OTF2's definitions may be any: maps lead from them to what is kept. Of the regions,
 * communicators and calling contexts that events use, an archive gets a definition when the first
 * one does.
 */
#ifndef RFN_CONVERT_OTF2_OTF2_DEFINITIONS_H
#define RFN_CONVERT_OTF2_OTF2_DEFINITIONS_H

#include "base/arena.h"
#include "base/map.h"
#include "convert/mpi_schema.h"
#include "convert/otf2/otf2_library.h"
#include "refrain/event.h"

#include <stdbool.h>

enum otf2_region_kind {
    OTF2_REGION_FRAME, /* a function of the program: in call paths */
    OTF2_REGION_MPI,
    OTF2_REGION_USER /* a part of it that the user has named */
};

struct otf2_region {
    const char *name, *file; /* of MPI's functions in the standard's spelling */
    uint32_t line;
    enum otf2_region_kind kind;
    struct rfn_mpi_kind mpi;
    int64_t number;                  /* of a user's region in the archive; -1: not yet defined */
    int32_t functions[RFN_FORMS][2]; /* of the archive by form and nonblocking, + 1; 0: none yet */
};

/* A place in the tree of call paths: a function's frame, and what it was called from. */
struct otf2_node {
    struct otf2_node *parent; /* NULL: the root, which is no frame */
    const char *function, *file;
    uint32_t line, depth;
    int64_t path; /* of the archive; -1: not yet defined */
};

/* A calling context: where a thread was, as a sampling recorder tells. */
struct otf2_context {
    const struct otf2_region *region;
    const char *file;
    uint32_t line;
    uint32_t parent;
    struct otf2_node *node; /* NULL: not yet made */
};

struct otf2_group {
    uint64_t *members; /* of COMM_LOCATIONS locations, of COMM_GROUP ranks in the world */
    uint32_t n;
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    bool global; /* events say ranks in the world */
};

struct otf2_comm {
    const struct otf2_group *group, *remote; /* remote: of an inter-communicator */
    const char *name;
    bool is_world;
    int64_t number; /* of the archive; -1: not yet defined */
    /* The rank that the location at hand has in it, and of whom that was asked. */
    uint64_t asked;
    int64_t own_rank;
    bool own_remote; /* it is in the second group */
};

struct otf2_location {
    uint64_t ref, events;
    uint32_t group;
    bool is_thread;  /* of a process, no accelerator and no metric */
    int64_t rank;    /* -1: of none */
    uint32_t thread; /* of the rank */
};

struct otf2_process {
    const char *host;
};

struct otf2_definitions {
    struct rfn_arena arena;
    struct rfn_map strings, regions, contexts, code, groups, comms, windows, processes, hosts,
        members, classes, instances;
    struct otf2_location *locations;
    size_t n_locations, locations_capacity;
    uint64_t resolution, offset, realtime; /* ticks per second, first tick; ns since 1970, 0 */
    const struct otf2_group *world;        /* the locations of MPI's ranks */
    struct otf2_comm *world_comm;          /* NULL: events do not name it */
    const char *metric;                    /* the name of the one that is read; NULL: none */
    bool metric_is_total;                  /* its values go on from each other */
    int64_t line_attribute; /* of Enter: OTF2_LINE_ATTRIBUTE of otf2_library.h; -1: there is none */
    int64_t polls_attribute; /* OTF2_POLLS_ATTRIBUTE, likewise */
    bool failed;             /* out of memory */
    char fault[160];         /* what contradicts itself; "": nothing */
};

/* Reads the global definitions. metric: the name of the wanted one; NULL: one that counts
 * instructions. RFN_E_CORRUPT, RFN_E_NOTFOUND (no such metric), RFN_E_UNSUPPORTED (no ranks of
 * MPI), RFN_E_NOMEM. */
int rfn_otf2_define(OTF2_Reader *reader, const struct otf2_errors *errors, const char *path,
                    const char *metric, struct otf2_definitions *definitions,
                    struct rfn_diag *diag);
void rfn_otf2_definitions_release(struct otf2_definitions *definitions);

/* Where the chosen metric stands in events of this one (a class or an instance); -1: nowhere. */
int rfn_otf2_metric_place(const struct otf2_definitions *definitions, OTF2_MetricRef metric);

#endif
