#include "analyze/hang/hang_objects.h"

#include "analyze/match/mpi_groups.h"
#include "analyze/match/rma_locks.h"
#include "base/hash.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* Of an origin and a target at a window. */
struct pair {
    uint64_t starts, posts, completes;
    bool accessed, exposed; /* in the epoch that the origin, the target is in */
};

/* Whom an epoch is with. */
struct epoch {
    size_t n;
    uint32_t peers[];
};

struct rfn_hang_objects {
    const struct rfn_archive *archive;
    struct rfn_mpi_groups *groups;
    struct rfn_map made;   /* communicator, kind, rank -> how many it made */
    struct rfn_map places; /* communicator, kind, number -> place */
    struct rfn_map bound;  /* rank, kind, handle -> place */
    uint64_t n_places;
    struct rfn_map pairs;      /* place, origin, target -> struct pair */
    struct rfn_map epochs;     /* place, rank, whether it is the origin -> struct epoch */
    struct rfn_map locks;      /* place, rank, target -> 1: shared, 2: exclusive */
    struct rfn_map exclusives; /* place, rank -> how many it holds */
};

static uint64_t key_of(int64_t a, int64_t b, int64_t c)
{
    const int64_t parts[] = {a, b, c};
    return rfn_hash_bytes(parts, sizeof parts);
}

struct rfn_hang_objects *rfn_hang_objects_new(const struct rfn_archive *archive)
{
    struct rfn_hang_objects *objects = calloc(1, sizeof *objects);
    if (!objects)
        return NULL;
    objects->archive = archive;
    objects->groups = rfn_mpi_groups_new(archive);
    if (objects->groups)
        return objects;
    free(objects);
    return NULL;
}

void rfn_hang_objects_free(struct rfn_hang_objects *objects)
{
    if (!objects)
        return;
    rfn_mpi_groups_free(objects->groups);
    rfn_map_release(&objects->made);
    rfn_map_release(&objects->places);
    rfn_map_release(&objects->bound);
    rfn_map_release_objects(&objects->pairs, free);
    rfn_map_release_objects(&objects->epochs, free);
    rfn_map_release(&objects->locks);
    rfn_map_release(&objects->exclusives);
    free(objects);
}

/* ---- places ---- */

/* The object that the rank's call has made is the same as that of the others with its number. */
static int bind(struct rfn_hang_objects *objects, const struct rfn_call_event *event,
                enum rfn_outcome kind)
{
    const int64_t comm = rfn_word(event, RFN_IN_COMM, -1), handle = rfn_made(event, kind);
    rfn_map_remove(&objects->bound, key_of(event->rank, kind, handle)); /* handles come again */
    if (comm < 0 || comm >= rfn_archive_comms(objects->archive) || handle < 0 ||
        rfn_archive_comm(objects->archive, (uint32_t)comm)->kind == RFN_COMM_SELF)
        return 0;
    const uint64_t of_rank = key_of(comm, kind, event->rank);
    const uint64_t *made = rfn_map_get(&objects->made, of_rank);
    const uint64_t number = made ? *made : 0;
    if (rfn_map_put(&objects->made, of_rank, number + 1) < 0)
        return RFN_E_NOMEM;
    const uint64_t key = key_of(comm, kind, (int64_t)number);
    const uint64_t *known = rfn_map_get(&objects->places, key);
    const uint64_t place = known ? *known : ++objects->n_places << 32 | (uint64_t)comm;
    if (!known && rfn_map_put(&objects->places, key, place) < 0)
        return RFN_E_NOMEM;
    return rfn_map_put(&objects->bound, key_of(event->rank, kind, handle), place);
}

static int64_t bound_at(const struct rfn_hang_objects *objects, const struct rfn_call_event *event,
                        enum rfn_input input, enum rfn_outcome kind)
{
    const int64_t handle = rfn_word(event, input, -1);
    const uint64_t *place = rfn_map_get(&objects->bound, key_of(event->rank, kind, handle));
    return place && *place <= INT64_MAX ? (int64_t)*place : -1;
}

static int64_t window_of(const struct rfn_hang_objects *objects, const struct rfn_call_event *event)
{
    return bound_at(objects, event, RFN_IN_WIN, RFN_OUT_WIN);
}

int64_t rfn_hang_place_of(const struct rfn_hang_objects *objects,
                          const struct rfn_call_event *event)
{
    const struct rfn_call *call = event->call;
    if (call->operation == RFN_MPI_Win_fence || call->operation == RFN_MPI_Win_free)
        return window_of(objects, event);
    if (!rfn_call_is_collective(call))
        return -1;
    return rfn_has(event, RFN_IN_COMM) ? rfn_word(event, RFN_IN_COMM, -1)
                                       : bound_at(objects, event, RFN_IN_FILE, RFN_OUT_FILE);
}

/* ---- epochs ---- */

static const struct pair *pair_of(const struct rfn_hang_objects *objects, int64_t place,
                                  int64_t origin, int64_t target)
{
    return rfn_map_object(&objects->pairs, key_of(place, origin, target));
}

static struct pair *make_pair(struct rfn_hang_objects *objects, int64_t place, int64_t origin,
                              int64_t target)
{
    return rfn_map_make_object(&objects->pairs, key_of(place, origin, target), sizeof(struct pair));
}

static int keep_epoch(struct rfn_hang_objects *objects, uint64_t key, const uint32_t *members,
                      size_t n)
{
    struct epoch *epoch = malloc(sizeof *epoch + n * sizeof *members);
    if (!epoch)
        return RFN_E_NOMEM;
    epoch->n = n;
    if (n)
        memcpy(epoch->peers, members, n * sizeof *members);
    free(rfn_map_object(&objects->epochs, key));
    const int error = rfn_map_put_object(&objects->epochs, key, epoch);
    if (error < 0) {
        rfn_map_remove(&objects->epochs, key);
        free(epoch);
    }
    return error;
}

/* The rank begins an epoch with the members of a group. */
static int begin_epoch(struct rfn_hang_objects *objects, const struct rfn_call_event *event,
                       int64_t place)
{
    size_t n;
    const uint32_t *members = rfn_mpi_groups_members(objects->groups, event->rank,
                                                     rfn_word(event, RFN_IN_GROUP, -1), &n);
    const bool posts = event->call->operation == RFN_MPI_Win_post;
    if (members && keep_epoch(objects, key_of(place, event->rank, !posts), members, n) < 0)
        return RFN_E_NOMEM;
    for (size_t i = 0; members && i < n; i++) {
        struct pair *pair = posts ? make_pair(objects, place, members[i], event->rank)
                                  : make_pair(objects, place, event->rank, members[i]);
        if (!pair)
            return RFN_E_NOMEM;
        pair->posts += posts;
        pair->starts += !posts;
        pair->exposed |= posts;
        pair->accessed |= !posts;
    }
    return 0;
}

/* The rank ends its epoch, as the origin or the target. */
static void end_epoch(const struct rfn_hang_objects *objects, uint32_t rank, int64_t place,
                      bool origin)
{
    const struct epoch *epoch = rfn_map_object(&objects->epochs, key_of(place, rank, origin));
    for (size_t i = 0; epoch && i < epoch->n; i++) {
        const uint32_t other = epoch->peers[i];
        struct pair *pair = rfn_map_object(&objects->pairs, origin ? key_of(place, rank, other)
                                                                   : key_of(place, other, rank));
        if (!pair)
            continue;
        pair->completes += origin && pair->accessed;
        if (origin)
            pair->accessed = false;
        else
            pair->exposed = false;
    }
}

/* ---- locks ---- */

static int64_t target_of(const struct rfn_call_event *event)
{
    return rfn_word(event, RFN_IN_RANK, RFN_ALL_TARGETS);
}

static int count_exclusive(struct rfn_hang_objects *objects, int64_t place, uint32_t rank,
                           bool more)
{
    const uint64_t key = key_of(place, rank, -1);
    const uint64_t *n = rfn_map_get(&objects->exclusives, key);
    return rfn_map_put(&objects->exclusives, key, (n ? *n : 0) + (more ? 1 : UINT64_MAX));
}

static int unlock(struct rfn_hang_objects *objects, uint32_t rank, int64_t place, int64_t target)
{
    const uint64_t key = key_of(place, rank, target);
    const uint64_t *lock = rfn_map_get(&objects->locks, key);
    const bool exclusive = lock && *lock == 2;
    rfn_map_remove(&objects->locks, key);
    return exclusive ? count_exclusive(objects, place, rank, false) : 0;
}

static int lock(struct rfn_hang_objects *objects, const struct rfn_call_event *event, int64_t place)
{
    const bool exclusive = rfn_lock_is_exclusive(rfn_word(event, RFN_IN_lock_type, 0));
    RFN_TRY(unlock(objects, event->rank, place, target_of(event)));
    RFN_TRY(rfn_map_put(&objects->locks, key_of(place, event->rank, target_of(event)),
                        exclusive ? 2 : 1));
    return exclusive ? count_exclusive(objects, place, event->rank, true) : 0;
}

/* The strongest lock that the rank holds of a target: 0: none. */
static uint64_t held(const struct rfn_hang_objects *objects, int64_t place, uint32_t rank,
                     int64_t target)
{
    const uint64_t *one = rfn_map_get(&objects->locks, key_of(place, rank, target));
    const uint64_t *all = rfn_map_get(&objects->locks, key_of(place, rank, RFN_ALL_TARGETS));
    const uint64_t *n = target == RFN_ALL_TARGETS
                            ? rfn_map_get(&objects->exclusives, key_of(place, rank, -1))
                            : NULL;
    if (n && *n)
        return 2;
    return one ? *one : all ? *all : 0;
}

/* ---- events ---- */

static int note_ended(struct rfn_hang_objects *objects, const struct rfn_call_event *event,
                      int64_t place)
{
    switch ((enum rfn_operation)event->call->operation) {
    case RFN_MPI_Win_post:
        return begin_epoch(objects, event, place);
    case RFN_MPI_Win_complete:
    case RFN_MPI_Win_wait:
    case RFN_MPI_Win_test:
        if (!event->record->failed_poll)
            end_epoch(objects, event->rank, place, event->call->operation == RFN_MPI_Win_complete);
        return 0;
    case RFN_MPI_Win_start:
        return begin_epoch(objects, event, place);
    case RFN_MPI_Win_lock:
    case RFN_MPI_Win_lock_all:
        return lock(objects, event, place);
    case RFN_MPI_Win_unlock:
    case RFN_MPI_Win_unlock_all:
        return unlock(objects, event->rank, place, target_of(event));
    default:
        return 0;
    }
}

int rfn_hang_objects_event(struct rfn_hang_objects *objects, const struct rfn_call_event *event,
                           bool open)
{
    if (open) { /* what it starts now is waited for in this call */
        const int64_t place = window_of(objects, event);
        return place >= 0 && event->call->operation == RFN_MPI_Win_start
                   ? begin_epoch(objects, event, place)
                   : 0;
    }
    if (rfn_mpi_groups_concerns(objects->groups, event->record->function))
        RFN_TRY(rfn_mpi_groups_event(objects->groups, event));
    if (event->record->error)
        return 0;
    if (event->call->out[RFN_OUT_WIN] >= 0)
        return bind(objects, event, RFN_OUT_WIN);
    if (event->call->out[RFN_OUT_FILE] >= 0)
        return bind(objects, event, RFN_OUT_FILE);
    const int64_t place = rfn_has(event, RFN_IN_WIN) ? window_of(objects, event) : -1;
    return place < 0 ? 0 : note_ended(objects, event, place);
}

/* ---- waits ---- */

static enum rfn_hang_what what_of(enum rfn_operation operation)
{
    switch (operation) {
    case RFN_MPI_Win_start:
    case RFN_MPI_Win_complete:
        return RFN_HANG_POST;
    case RFN_MPI_Win_wait:
    case RFN_MPI_Win_test:
        return RFN_HANG_COMPLETE;
    case RFN_MPI_Win_lock:
    case RFN_MPI_Win_lock_all:
    case RFN_MPI_Win_unlock:
    case RFN_MPI_Win_unlock_all:
    case RFN_MPI_Win_flush:
    case RFN_MPI_Win_flush_all:
        return RFN_HANG_LOCK;
    default:
        return RFN_HANG_END;
    }
}

bool rfn_hang_objects_wait(const struct rfn_hang_objects *objects,
                           const struct rfn_call_event *event, struct rfn_hang_wait *wait)
{
    const enum rfn_hang_what what = what_of((enum rfn_operation)event->call->operation);
    const int64_t place = what == RFN_HANG_END ? -1 : window_of(objects, event);
    if (place < 0)
        return false;
    *wait = (struct rfn_hang_wait){.what = what,
                                   .peer = -1,
                                   .target = target_of(event),
                                   .comm = rfn_hang_place_comm(place),
                                   .place = place,
                                   .function = event->record->function,
                                   .path = event->record->path};
    const bool locks = event->call->operation == RFN_MPI_Win_lock ||
                       event->call->operation == RFN_MPI_Win_lock_all;
    wait->exclusive = locks ? rfn_lock_is_exclusive(rfn_word(event, RFN_IN_lock_type, 0))
                            : held(objects, place, event->rank, wait->target) == 2;
    return true;
}

static bool conflicts(const struct rfn_hang_objects *objects, const struct rfn_hang_wait *wait,
                      uint32_t other)
{
    const uint64_t lock = held(objects, wait->place, other, wait->target);
    return lock == 2 || (lock && wait->exclusive);
}

bool rfn_hang_objects_waits_for(const struct rfn_hang_objects *objects, uint32_t rank,
                                const struct rfn_hang_wait *wait, uint32_t other)
{
    const struct pair *pair = wait->what == RFN_HANG_COMPLETE
                                  ? pair_of(objects, wait->place, other, rank)
                                  : pair_of(objects, wait->place, rank, other);
    switch (wait->what) {
    case RFN_HANG_POST:
        return pair && pair->accessed && pair->posts < pair->starts;
    case RFN_HANG_COMPLETE:
        return pair && pair->exposed && pair->completes < pair->posts;
    default:
        return other != rank && conflicts(objects, wait, other);
    }
}
