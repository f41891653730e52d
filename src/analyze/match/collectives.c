#include "analyze/match/collectives.h"

#include "base/grow.h"
#include "base/map.h"
#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

/* The latest of some enters. */
struct latest {
    struct rfn_point point;
    bool any;
};

struct instance {
    enum rfn_call_kind kind;
    uint32_t object;
    uint64_t number; /* among those of its object */
    uint32_t entered, left;
    struct latest all, data;   /* of all; of those that move data */
    struct rfn_point earliest; /* of those that move data and are not the root, */
    struct latest others;      /* and the latest of these */
    struct rfn_point root;
    bool has_earliest, has_root, has_exit;
    int64_t first_exit_ns;
    struct latest *enters; /* per place, of SCAN and NEIGHBOR, else NULL */
    uint32_t *askers;      /* streams */
    size_t n_askers, askers_capacity;
    uint32_t next_free; /* + 1 */
};

struct object {
    int64_t comm; /* whose members it has; -1: all ranks */
    uint32_t size, present;
    uint64_t *calls;  /* per place: made so far */
    uint32_t *set_up; /* per place: persistent calls set up so far; NULL: none */
    /* Instances under way: number n (+ 1) at n & mask, 0: not there. */
    uint32_t *instances;
    uint64_t first, end, mask;
};

struct rfn_collectives {
    struct rfn_collectives_setup setup;
    struct object *objects;
    size_t n_objects, objects_capacity;
    struct rfn_map index; /* see key_of -> object */
    struct rfn_map files; /* rank, handle -> object */
    struct instance *instances;
    size_t n_instances, instances_capacity;
    uint32_t free;
    uint64_t joined, begun;
};

struct rfn_collectives *rfn_collectives_new(const struct rfn_collectives_setup *setup)
{
    struct rfn_collectives *collectives = calloc(1, sizeof *collectives);
    if (collectives)
        collectives->setup = *setup;
    return collectives;
}

void rfn_collectives_free(struct rfn_collectives *collectives)
{
    if (!collectives)
        return;
    for (size_t i = 0; i < collectives->n_objects; i++) {
        free(collectives->objects[i].calls);
        free(collectives->objects[i].set_up);
        free(collectives->objects[i].instances);
    }
    for (size_t i = 0; i < collectives->n_instances; i++) {
        free(collectives->instances[i].enters);
        free(collectives->instances[i].askers);
    }
    free(collectives->objects);
    free(collectives->instances);
    rfn_map_release(&collectives->index);
    rfn_map_release(&collectives->files);
    free(collectives);
}

/* ---- objects ---- */

enum origin { OF_COMM, OF_RUN, OF_STARTS, OF_FILE };

/* From the object, or communicator, that it comes from, and a number there. */
static uint64_t key_of(enum origin origin, uint64_t from, uint64_t number)
{
    return (uint64_t)origin << 62 | (from & 0x3fffffff) << 32 | (number & 0xffffffff);
}

/* Members of both groups. */
static uint32_t size_of(const struct rfn_archive *archive, int64_t comm)
{
    if (comm < 0 || rfn_archive_comm(archive, (uint32_t)comm)->kind == RFN_COMM_WORLD)
        return rfn_archive_run(archive)->ranks;
    const struct rfn_comm_info *info = rfn_archive_comm(archive, (uint32_t)comm);
    return info->size + info->remote_size;
}

static int64_t member(const struct rfn_archive *archive, int64_t comm, uint32_t place)
{
    if (comm < 0)
        return place;
    const struct rfn_comm_info *info = rfn_archive_comm(archive, (uint32_t)comm);
    bool second = info->kind == RFN_COMM_INTER && place >= info->size;
    return rfn_comm_world_rank(archive, (uint32_t)comm, second,
                               second ? place - info->size : place);
}

static uint32_t present_of(const struct rfn_collectives *collectives, int64_t comm, uint32_t size)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < size; i++) {
        int64_t rank = member(collectives->setup.archive, comm, i);
        n += rank >= 0 && !collectives->setup.absent[rank];
    }
    return n;
}

static int64_t object_of(struct rfn_collectives *collectives, uint64_t key, int64_t comm)
{
    const uint64_t *known = rfn_map_get(&collectives->index, key);
    if (known)
        return (int64_t)*known;
    size_t n = collectives->n_objects;
    RFN_TRY(RFN_GROW(collectives->objects, collectives->objects_capacity, n + 1));
    struct object *object = &collectives->objects[n];
    uint32_t size = size_of(collectives->setup.archive, comm);
    *object = (struct object){
        .comm = comm, .size = size, .present = present_of(collectives, comm, size), .mask = 3};
    object->calls = calloc((size_t)size + 1, sizeof *object->calls);
    object->instances = calloc(object->mask + 1, sizeof *object->instances);
    collectives->n_objects++;
    if (!object->calls || !object->instances)
        return RFN_E_NOMEM;
    RFN_TRY(rfn_map_put(&collectives->index, key, n));
    return (int64_t)n;
}

int64_t rfn_collectives_of_comm(struct rfn_collectives *collectives, int64_t comm)
{
    const struct rfn_archive *archive = collectives->setup.archive;
    if (comm < 0 || comm >= rfn_archive_comms(archive) ||
        rfn_archive_comm(archive, (uint32_t)comm)->kind == RFN_COMM_SELF ||
        !rfn_comm_countable(archive, (uint32_t)comm))
        return RFN_E_NOTFOUND;
    return object_of(collectives, key_of(OF_COMM, (uint64_t)comm, 0), comm);
}

int64_t rfn_collectives_of_run(struct rfn_collectives *collectives, bool end)
{
    return object_of(collectives, key_of(OF_RUN, 0, end), -1);
}

int64_t rfn_collectives_of_starts(struct rfn_collectives *collectives, uint32_t object,
                                  uint32_t place)
{
    struct object *of = &collectives->objects[object];
    if (!of->set_up)
        of->set_up = calloc((size_t)of->size + 1, sizeof *of->set_up);
    if (!of->set_up)
        return RFN_E_NOMEM;
    return object_of(collectives, key_of(OF_STARTS, object, of->set_up[place]++), of->comm);
}

static uint64_t handle_of(uint32_t rank, int64_t file)
{
    return (uint64_t)rank << 32 | (uint64_t)file;
}

int64_t rfn_collectives_of_file(struct rfn_collectives *collectives, uint32_t rank, int64_t file)
{
    const uint64_t *object = rfn_map_get(&collectives->files, handle_of(rank, file));
    return object && file >= 0 ? (int64_t)*object : RFN_E_NOTFOUND;
}

int rfn_collectives_opened(struct rfn_collectives *collectives, const struct rfn_share *share,
                           uint32_t rank, int64_t file)
{
    const struct instance *instance = &collectives->instances[share->instance];
    uint64_t key = key_of(OF_FILE, instance->object, instance->number);
    int64_t object = object_of(collectives, key, collectives->objects[instance->object].comm);
    RFN_TRY((int)(object < 0 ? object : 0));
    return file < 0 ? 0 : rfn_map_put(&collectives->files, handle_of(rank, file), (uint64_t)object);
}

int64_t rfn_collectives_place(const struct rfn_collectives *collectives, uint32_t object,
                              uint32_t rank)
{
    const struct rfn_archive *archive = collectives->setup.archive;
    const struct object *of = &collectives->objects[object];
    if (of->comm < 0)
        return rank < of->size ? (int64_t)rank : RFN_E_NOTFOUND;
    int64_t place = rfn_comm_rank_of(archive, (uint32_t)of->comm, rank);
    if (place >= 0 && member(archive, of->comm, (uint32_t)place) != (int64_t)rank)
        place += rfn_archive_comm(archive, (uint32_t)of->comm)->size;
    return place >= 0 && place < of->size ? place : RFN_E_NOTFOUND;
}

/* ---- instances ---- */

/* Makes room for one more instance in the ring. */
static int widen(struct object *object)
{
    if (object->end - object->first <= object->mask)
        return 0;
    uint64_t mask = object->mask * 2 + 1;
    uint32_t *wider = calloc(mask + 1, sizeof *wider);
    if (!wider)
        return RFN_E_NOMEM;
    for (uint64_t i = object->first; i < object->end; i++)
        wider[i & mask] = object->instances[i & object->mask];
    free(object->instances);
    object->instances = wider;
    object->mask = mask;
    return 0;
}

static int64_t new_instance(struct rfn_collectives *collectives, enum rfn_call_kind kind,
                            uint32_t object, uint64_t number)
{
    uint32_t at = collectives->free - 1;
    if (collectives->free) {
        collectives->free = collectives->instances[at].next_free;
    } else {
        RFN_TRY(RFN_GROW(collectives->instances, collectives->instances_capacity,
                         collectives->n_instances + 1));
        at = (uint32_t)collectives->n_instances++;
        collectives->instances[at] = (struct instance){0};
    }
    struct instance *instance = &collectives->instances[at];
    *instance = (struct instance){.kind = kind,
                                  .object = object,
                                  .number = number,
                                  .askers = instance->askers,
                                  .askers_capacity = instance->askers_capacity};
    collectives->begun++;
    if (kind != RFN_CALL_SCAN && kind != RFN_CALL_NEIGHBOR)
        return at;
    instance->enters = calloc((size_t)collectives->objects[object].size + 1,
                              sizeof *instance->enters);
    return instance->enters ? (int64_t)at : RFN_E_NOMEM;
}

static int64_t instance_of(struct rfn_collectives *collectives,
                           const struct rfn_collective_call *call, uint64_t number)
{
    struct object *object = &collectives->objects[call->object];
    while (object->end <= number) {
        RFN_TRY(widen(object));
        object->instances[object->end++ & object->mask] = 0;
    }
    uint32_t *at = &object->instances[number & object->mask];
    if (!*at) {
        int64_t made = new_instance(collectives, call->kind, call->object, number);
        RFN_TRY((int)(made < 0 ? made : 0));
        *at = (uint32_t)made + 1;
    }
    return *at - 1;
}

static void give_up(struct rfn_collectives *collectives, uint32_t at)
{
    struct instance *instance = &collectives->instances[at];
    struct object *object = &collectives->objects[instance->object];
    object->instances[instance->number & object->mask] = 0;
    while (object->first < object->end && object->first <= instance->number &&
           !object->instances[object->first & object->mask])
        object->first++;
    free(instance->enters);
    instance->enters = NULL;
    instance->next_free = collectives->free;
    collectives->free = at + 1;
}

/* ---- entering ---- */

static void take_latest(struct latest *latest, struct rfn_point here)
{
    if (!latest->any || here.ns > latest->point.ns)
        *latest = (struct latest){here, true};
}

static bool rooted(enum rfn_call_kind kind)
{
    return kind == RFN_CALL_ONE_TO_ALL || kind == RFN_CALL_ALL_TO_ONE;
}

/* Of an inter-communicator a number as root is that of a rank of the other group. */
static bool is_root(const struct rfn_collectives *collectives,
                    const struct rfn_collective_call *call)
{
    int64_t comm = collectives->objects[call->object].comm;
    if (call->root == RFN_ROOT)
        return true;
    if (comm >= 0 &&
        rfn_archive_comm(collectives->setup.archive, (uint32_t)comm)->kind == RFN_COMM_INTER)
        return false;
    return rooted(call->kind) && call->root == call->place;
}

static void take_part(struct instance *instance, const struct rfn_share *share,
                      struct rfn_point here)
{
    instance->entered++;
    take_latest(&instance->all, here);
    if (share->data)
        take_latest(&instance->data, here);
    if (instance->enters)
        take_latest(&instance->enters[share->place], here);
    if (share->root) {
        instance->root = here;
        instance->has_root = true;
    } else if (share->data) {
        take_latest(&instance->others, here);
        if (!instance->has_earliest || here.ns < instance->earliest.ns)
            instance->earliest = here;
        instance->has_earliest = true;
    }
}

int rfn_collectives_enter(struct rfn_collectives *collectives,
                          const struct rfn_collective_call *call, struct rfn_point here,
                          struct rfn_share *share)
{
    uint64_t number = collectives->objects[call->object].calls[call->place]++;
    int64_t at = instance_of(collectives, call, number);
    RFN_TRY((int)(at < 0 ? at : 0));
    struct instance *instance = &collectives->instances[at];
    *share = (struct rfn_share){.instance = (uint32_t)at,
                                .place = call->place,
                                .root = is_root(collectives, call),
                                .none = rooted(call->kind) && call->root == RFN_PROC_NULL,
                                .data = call->data};
    take_part(instance, share, here);
    const struct object *object = &collectives->objects[call->object];
    if (instance->entered == object->size)
        collectives->joined++;
    if (instance->entered >= object->present || share->root || instance->enters) {
        for (size_t i = 0; i < instance->n_askers; i++)
            collectives->setup.wake(collectives->setup.context, instance->askers[i]);
        instance->n_askers = 0;
    }
    return 0;
}

/* ---- leaving ---- */

/* The latest enter of those that a rank depends on; *missing: some of them has not entered. */
static struct latest latest_of(const struct rfn_collectives *collectives,
                               const struct instance *instance, uint32_t place, bool *missing)
{
    const struct object *object = &collectives->objects[instance->object];
    struct latest latest = {0};
    *missing = false;
    uint32_t n = place + 1;
    const uint32_t *sources = NULL;
    if (instance->kind == RFN_CALL_NEIGHBOR) {
        size_t n_sources = 0;
        if (object->comm >= 0)
            sources = rfn_topology_sources(collectives->setup.topologies, (uint32_t)object->comm,
                                           place, &n_sources);
        n = (uint32_t)n_sources;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = sources ? sources[i] : i;
        if (other >= object->size)
            continue;
        if (instance->enters[other].any)
            take_latest(&latest, instance->enters[other].point);
        else
            *missing = true;
    }
    return latest;
}

static bool is_ready(const struct rfn_collectives *collectives, const struct instance *instance,
                     const struct rfn_share *share)
{
    bool missing;
    if (instance->entered >= collectives->objects[instance->object].present || share->none)
        return true;
    switch (instance->kind) {
    case RFN_CALL_ONE_TO_ALL:
        return share->root || instance->has_root || !share->data;
    case RFN_CALL_ALL_TO_ONE:
        return !share->root;
    case RFN_CALL_SCAN:
    case RFN_CALL_NEIGHBOR:
        latest_of(collectives, instance, share->place, &missing);
        return !missing;
    default:
        return false;
    }
}

int rfn_collectives_ready(struct rfn_collectives *collectives, const struct rfn_share *share,
                          uint32_t stream)
{
    struct instance *instance = &collectives->instances[share->instance];
    if (is_ready(collectives, instance, share))
        return 1;
    RFN_TRY(RFN_GROW(instance->askers, instance->askers_capacity, instance->n_askers + 1));
    instance->askers[instance->n_askers++] = stream;
    return 0;
}

static enum rfn_pattern pattern_of(enum rfn_call_kind kind)
{
    switch (kind) {
    case RFN_CALL_BARRIER:
        return RFN_WAIT_AT_BARRIER;
    case RFN_CALL_ONE_TO_ALL:
        return RFN_LATE_BROADCAST;
    case RFN_CALL_ALL_TO_ONE:
        return RFN_EARLY_REDUCE;
    case RFN_CALL_SCAN:
        return RFN_EARLY_SCAN;
    case RFN_CALL_INIT:
        return RFN_WAIT_AT_INIT;
    case RFN_CALL_FINALIZE:
        return RFN_WAIT_AT_FINALIZE;
    default:
        return RFN_WAIT_AT_NXN;
    }
}

/* Whom the rank waits for: false if for nobody. */
static bool awaited(const struct rfn_collectives *collectives, const struct instance *instance,
                    const struct rfn_share *share, struct rfn_point *point)
{
    struct latest latest = instance->data.any ? instance->data : instance->all;
    bool missing;
    switch (instance->kind) {
    case RFN_CALL_ONE_TO_ALL:
        *point = instance->root;
        return instance->has_root && !share->root && share->data;
    case RFN_CALL_ALL_TO_ONE:
        *point = instance->earliest;
        return instance->has_earliest && share->root;
    case RFN_CALL_SCAN:
    case RFN_CALL_NEIGHBOR:
        latest = latest_of(collectives, instance, share->place, &missing);
        break;
    default:
        break;
    }
    *point = latest.point;
    return latest.any && (share->data || !instance->data.any);
}

/* The first exit is noted. */
static void note_exit(struct instance *instance, int64_t exit_ns)
{
    if (!instance->has_exit)
        instance->first_exit_ns = exit_ns;
    instance->has_exit = true;
}

/* Some calls need not synchronize. */
static bool synchronized(const struct instance *instance, int64_t exit_ns,
                         const struct rfn_point *until)
{
    return !(instance->kind == RFN_CALL_MAKE && instance->first_exit_ns < until->ns) &&
           !(instance->kind == RFN_CALL_INIT && exit_ns < until->ns);
}

struct rfn_collective_wait rfn_collectives_measure(struct rfn_collectives *collectives,
                                                   const struct rfn_share *share, int64_t enter_ns,
                                                   int64_t exit_ns)
{
    struct instance *instance = &collectives->instances[share->instance];
    enum rfn_call_kind kind = instance->kind;
    struct rfn_collective_wait found = {.wait.pattern = pattern_of(kind)};
    struct rfn_point *until = &found.wait.until;
    note_exit(instance, exit_ns);
    if (share->none || !awaited(collectives, instance, share, until))
        return found;
    if (synchronized(instance, exit_ns, until))
        found.wait.ns = rfn_most(rfn_least(until->ns, exit_ns) - enter_ns, 0);
    if (kind == RFN_CALL_ALL_TO_ONE)
        found.after = (struct rfn_wait){
            .pattern = RFN_WAIT_AT_NX1,
            .ns = rfn_most(
                rfn_least(instance->others.point.ns, exit_ns) - rfn_most(until->ns, enter_ns), 0),
            .until = instance->others.point};
    if (rooted(kind) || kind == RFN_CALL_SCAN || kind == RFN_CALL_NEIGHBOR)
        return found;
    found.in_step = exit_ns >= until->ns;
    found.key = instance->object;
    found.count = instance->number;
    if (kind == RFN_CALL_ALL_TO_ALL || kind == RFN_CALL_BARRIER) {
        int64_t there = rfn_most(rfn_most(instance->first_exit_ns, until->ns), enter_ns);
        found.completion = kind == RFN_CALL_ALL_TO_ALL ? RFN_NXN_COMPLETION
                                                       : RFN_BARRIER_COMPLETION;
        found.completion_ns = rfn_most(exit_ns - there, 0);
    }
    return found;
}

static enum rfn_collective_needs needs_of(const struct instance *instance)
{
    switch (instance->kind) {
    case RFN_CALL_ONE_TO_ALL:
        return RFN_NEEDS_ROOT;
    case RFN_CALL_ALL_TO_ONE:
        return RFN_NEEDS_OTHERS;
    case RFN_CALL_SCAN:
        return RFN_NEEDS_LOWER;
    case RFN_CALL_NEIGHBOR:
        return RFN_NEEDS_NEIGHBORS;
    default:
        return instance->data.any ? RFN_NEEDS_DATA : RFN_NEEDS_ALL;
    }
}

enum rfn_collective_needs rfn_collectives_needs(struct rfn_collectives *collectives,
                                                const struct rfn_share *share, int64_t exit_ns,
                                                int64_t *ns, const uint32_t **places,
                                                size_t *n_places)
{
    struct instance *instance = &collectives->instances[share->instance];
    const struct object *object = &collectives->objects[instance->object];
    struct rfn_point until;
    note_exit(instance, exit_ns);
    if (share->none || !awaited(collectives, instance, share, &until) ||
        !synchronized(instance, exit_ns, &until))
        return RFN_NEEDS_NOBODY;
    const enum rfn_collective_needs needs = needs_of(instance);
    *ns = needs == RFN_NEEDS_OTHERS ? instance->others.point.ns : until.ns;
    *places = NULL;
    *n_places = 0;
    if (needs == RFN_NEEDS_LOWER)
        *n_places = (size_t)share->place + 1;
    else if (needs == RFN_NEEDS_NEIGHBORS && object->comm >= 0)
        *places = rfn_topology_sources(collectives->setup.topologies, (uint32_t)object->comm,
                                       share->place, n_places);
    return needs;
}

int rfn_collectives_leave(struct rfn_collectives *collectives, const struct rfn_share *share)
{
    struct instance *instance = &collectives->instances[share->instance];
    instance->left++;
    if (instance->left < instance->entered ||
        instance->entered < collectives->objects[instance->object].present)
        return 0;
    if (collectives->setup.ended)
        RFN_TRY(collectives->setup.ended(collectives->setup.context, share->instance));
    give_up(collectives, share->instance);
    return 0;
}

int64_t rfn_collectives_comm(const struct rfn_collectives *collectives, uint32_t instance,
                             uint32_t *size)
{
    const struct object *object = &collectives->objects[collectives->instances[instance].object];
    *size = object->size;
    return object->comm;
}

bool rfn_collectives_by_place(const struct rfn_collectives *collectives, uint32_t instance)
{
    return collectives->instances[instance].enters != NULL;
}

void rfn_collectives_count(const struct rfn_collectives *collectives, uint64_t *joined,
                           uint64_t *missing)
{
    *joined = collectives->joined;
    *missing = collectives->begun - collectives->joined;
}
