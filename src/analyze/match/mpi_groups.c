/* mpi_groups.c - lists of members are interned by their hash and counted; a map leads from
 * (process, slot) to a list.
 *
 * An MPI may give one handle twice (Open MPI does for MPI_Comm_group), to be freed twice. The
 * recorder gives its slot back at the first MPI_Group_free, and takes the lowest free one when the
 * handle comes again, which is mostly the same. So it is counted how often a slot was handed out,
 * and forgotten when it was freed as often.
 *
 * Members that are not in MPI_COMM_WORLD keep their places in the list, because MPI_Group_incl
 * counts them.
 */
#include "analyze/match/mpi_groups.h"

#include "analyze/match/topology.h"
#include "base/grow.h"
#include "base/map.h"

#include <stdlib.h>
#include <strings.h>

enum {
    MEMBERS_MAX = 1 << 24, /* groups that claim to be larger are not believed */
    ALL_MAX = 1 << 26      /* when all groups together have so many members, more are not known */
};
#define FOREIGN UINT32_MAX /* a member that is not in MPI_COMM_WORLD */

struct members {
    uint64_t hash, users;
    struct members *next; /* of the same hash */
    uint32_t n, n_foreign;
    uint32_t ranks[];
};

/* What a slot is. */
struct handle {
    struct members *members;
    uint32_t times; /* it was handed out */
};

struct rfn_mpi_groups {
    const struct rfn_archive *archive;
    uint32_t n_ranks;
    struct rfn_map interned; /* hash -> struct members */
    struct rfn_map handles;  /* process and slot -> struct handle */
    struct rfn_map of_comm;  /* communicator * 2 + second group -> struct members */
    struct rfn_map windows;  /* process and slot -> communicator */
    uint64_t n_all;          /* members of all lists */
    bool *marks;             /* per rank, all false between calls */
    uint32_t *known; /* for rfn_mpi_groups_members: as long as the longest list that it is for */
    size_t known_capacity;
};

struct rfn_mpi_groups *rfn_mpi_groups_new(const struct rfn_archive *archive)
{
    struct rfn_mpi_groups *groups = calloc(1, sizeof *groups);
    if (!groups)
        return NULL;
    groups->archive = archive;
    groups->n_ranks = rfn_archive_run(archive)->ranks;
    groups->marks = calloc((size_t)groups->n_ranks + 1, sizeof *groups->marks);
    if (groups->marks)
        return groups;
    free(groups);
    return NULL;
}

static void free_chain(void *first)
{
    for (struct members *members = first, *next; members; members = next) {
        next = members->next;
        free(members);
    }
}

void rfn_mpi_groups_free(struct rfn_mpi_groups *groups)
{
    if (!groups)
        return;
    rfn_map_release_objects(&groups->interned, free_chain);
    rfn_map_release_objects(&groups->handles, free);
    rfn_map_release(&groups->of_comm);
    rfn_map_release(&groups->windows);
    free(groups->marks);
    free(groups->known);
    free(groups);
}

bool rfn_mpi_groups_concerns(const struct rfn_mpi_groups *groups, uint32_t function)
{
    const struct rfn_call *call = rfn_archive_call(groups->archive, function);
    return call->out[RFN_OUT_GROUP] >= 0 || call->out[RFN_OUT_WIN] >= 0 ||
           call->operation == RFN_MPI_Group_free || call->operation == RFN_MPI_Win_free;
}

/* ---- interned lists ---- */

static struct members *new_members(uint32_t n)
{
    struct members *members = malloc(sizeof *members + (size_t)n * sizeof *members->ranks);
    if (members)
        *members = (struct members){.n = n};
    return members;
}

/* Takes the new list over; the list to use instead, with one more user. NULL: out of memory. */
static struct members *intern(struct rfn_mpi_groups *groups, struct members *members)
{
    members->hash = rfn_hash_bytes(members->ranks, members->n * sizeof *members->ranks);
    const uint64_t *first = rfn_map_get(&groups->interned, members->hash);
    members->next = first ? (struct members *)(uintptr_t)*first : NULL;
    for (struct members *other = members->next; other; other = other->next) {
        if (other->n == members->n &&
            memcmp(members->ranks, other->ranks, other->n * sizeof *other->ranks) == 0) {
            free(members);
            other->users++;
            return other;
        }
    }
    for (uint32_t i = 0; i < members->n; i++)
        members->n_foreign += members->ranks[i] == FOREIGN;
    if ((members->n_foreign && RFN_GROW(groups->known, groups->known_capacity, members->n) < 0) ||
        rfn_map_put_object(&groups->interned, members->hash, members) < 0) {
        free(members);
        return NULL;
    }
    groups->n_all += members->n;
    members->users = 1;
    return members;
}

/* One user less; without users the list goes. */
static void drop(struct rfn_mpi_groups *groups, struct members *members)
{
    if (!members || --members->users)
        return;
    uint64_t *first = rfn_map_get(&groups->interned, members->hash);
    struct members *before = (struct members *)(uintptr_t)*first;
    if (before != members) {
        while (before->next != members)
            before = before->next;
        before->next = members->next;
    } else if (members->next) {
        *first = (uint64_t)(uintptr_t)members->next;
    } else {
        rfn_map_remove(&groups->interned, members->hash);
    }
    groups->n_all -= members->n;
    free(members);
}

/* ---- handles ---- */

static bool has_key(int64_t slot)
{
    return slot >= 0 && slot <= UINT32_MAX;
}

static uint64_t key_of(uint32_t rank, int64_t slot)
{
    return (uint64_t)rank << 32 | (uint64_t)slot;
}

static struct handle *handle_of(const struct rfn_mpi_groups *groups, uint32_t rank, int64_t slot)
{
    return has_key(slot) ? rfn_map_object(&groups->handles, key_of(rank, slot)) : NULL;
}

static void forget(struct rfn_mpi_groups *groups, uint32_t rank, int64_t slot)
{
    struct handle *handle = handle_of(groups, rank, slot);
    if (!handle)
        return;
    drop(groups, handle->members);
    free(handle);
    rfn_map_remove(&groups->handles, key_of(rank, slot));
}

/* Takes over the list: this is what the slot is now. NULL: it is not known. */
static int set_handle(struct rfn_mpi_groups *groups, uint32_t rank, int64_t slot,
                      struct members *members)
{
    struct handle *handle = handle_of(groups, rank, slot);
    if (handle && members && handle->members == members) {
        drop(groups, members);
        handle->times += handle->times < UINT32_MAX;
        return 0;
    }
    forget(groups, rank, slot);
    if (!has_key(slot) || !members) {
        drop(groups, members);
        return 0;
    }
    handle = malloc(sizeof *handle);
    if (!handle || rfn_map_put_object(&groups->handles, key_of(rank, slot), handle) < 0) {
        free(handle);
        drop(groups, members);
        return RFN_E_NOMEM;
    }
    *handle = (struct handle){members, 1};
    return 0;
}

static void free_handle(struct rfn_mpi_groups *groups, uint32_t rank, int64_t slot)
{
    struct handle *handle = handle_of(groups, rank, slot);
    if (handle && --handle->times == 0)
        forget(groups, rank, slot);
}

enum { EMPTY = -2 }; /* MPI_GROUP_EMPTY; -1 is MPI_GROUP_NULL (event/kind.c) */

/* What a handle is, NULL when it is not known. */
static const struct members *find(const struct rfn_mpi_groups *groups, uint32_t rank, int64_t word)
{
    static const struct members empty;
    const struct handle *handle = handle_of(groups, rank, word);
    if (word == EMPTY)
        return &empty;
    return handle ? handle->members : NULL;
}

/* ---- groups of communicators ---- */

/* Whether `rank` is in the second group of an inter-communicator. */
static bool is_second(const struct rfn_mpi_groups *groups, uint32_t comm, uint32_t rank)
{
    int64_t own = rfn_comm_rank_of(groups->archive, comm, rank);
    return own < 0 || rfn_comm_world_rank(groups->archive, comm, false, (uint32_t)own) != rank;
}

static uint32_t known_rank(const struct rfn_mpi_groups *groups, int64_t rank)
{
    return rank >= 0 && rank < groups->n_ranks ? (uint32_t)rank : FOREIGN;
}

static int list_comm(struct rfn_mpi_groups *groups, uint32_t comm, bool second, uint32_t rank,
                     struct members **made)
{
    const struct rfn_comm_info *info = rfn_archive_comm(groups->archive, comm);
    struct members *members = new_members(second ? info->remote_size : info->size);
    if (!members)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < members->n; i++)
        members->ranks[i] = known_rank(groups,
                                       rfn_comm_world_rank(groups->archive, comm, second,
                                                           info->kind == RFN_COMM_SELF ? rank : i));
    *made = intern(groups, members);
    return *made ? 0 : RFN_E_NOMEM;
}

/* The group of a communicator is listed once and kept. */
static int comm_members(struct rfn_mpi_groups *groups, int64_t comm, bool remote, uint32_t rank,
                        struct members **made)
{
    if (comm < 0 || comm >= rfn_archive_comms(groups->archive))
        return 0;
    const struct rfn_comm_info *info = rfn_archive_comm(groups->archive, (uint32_t)comm);
    bool inter = info->kind == RFN_COMM_INTER;
    bool second = inter && is_second(groups, (uint32_t)comm, rank) != remote;
    if ((remote && !inter) || info->size > MEMBERS_MAX || info->remote_size > MEMBERS_MAX ||
        !rfn_comm_countable(groups->archive, (uint32_t)comm))
        return 0;
    if (info->kind == RFN_COMM_SELF)
        return list_comm(groups, (uint32_t)comm, false, rank, made);
    uint64_t key = (uint64_t)comm * 2 + second;
    const uint64_t *known = rfn_map_get(&groups->of_comm, key);
    if (!known) {
        RFN_TRY(list_comm(groups, (uint32_t)comm, second, rank, made));
        RFN_TRY(rfn_map_put_object(&groups->of_comm, key, *made));
    } else {
        *made = (struct members *)(uintptr_t)*known;
    }
    (*made)->users++; /* this one for the caller, the first for of_comm */
    return 0;
}

/* Process sets that every MPI has; their names are not case-sensitive. */
static int pset_members(struct rfn_mpi_groups *groups, const int64_t *name, size_t n, uint32_t rank,
                        struct members **made)
{
    char text[16] = {0};
    for (size_t i = 0; i < n && i < sizeof text - 1; i++)
        text[i] = (char)name[i];
    bool world = strcasecmp(text, "mpi://WORLD") == 0;
    if (!world && strcasecmp(text, "mpi://SELF") != 0)
        return 0;
    struct members *members = new_members(world ? groups->n_ranks : 1);
    if (!members)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < members->n; i++)
        members->ranks[i] = world ? i : rank;
    *made = intern(groups, members);
    return *made ? 0 : RFN_E_NOMEM;
}

/* ---- groups of groups ---- */

/* The list of those members of a group whose `chosen` is wanted, in the group's order. */
static int choose(struct rfn_mpi_groups *groups, const struct members *group, const bool *chosen,
                  bool wanted, struct members **made)
{
    struct members *members = new_members(group->n);
    if (!members)
        return RFN_E_NOMEM;
    members->n = 0;
    for (uint32_t i = 0; i < group->n; i++) {
        if (chosen[i] == wanted)
            members->ranks[members->n++] = group->ranks[i];
    }
    *made = intern(groups, members);
    return *made ? 0 : RFN_E_NOMEM;
}

/* Positions in a group that arguments name, in their order, no more than the group has. */
struct positions {
    uint32_t *at;
    size_t n;
    uint32_t of;
};

static bool put_position(struct positions *positions, int64_t position)
{
    if (position < 0 || position >= positions->of || positions->n == positions->of)
        return false;
    positions->at[positions->n++] = (uint32_t)position;
    return true;
}

static bool put_range(struct positions *positions, const int64_t *range)
{
    int64_t first = range[0], last = range[1], stride = range[2];
    if (stride == 0 || first < 0 || first >= positions->of || last < 0 || last >= positions->of)
        return false;
    if (stride > positions->of || stride < -(int64_t)positions->of) /* then it is one position */
        return put_position(positions, first);
    for (int64_t at = first; stride > 0 ? at <= last : at >= last; at += stride) {
        if (!put_position(positions, at))
            return false;
    }
    return true;
}

static bool list_positions(const struct rfn_call_event *event, struct positions *positions)
{
    size_t n;
    bool ranges = rfn_has(event, RFN_IN_ranges);
    const int64_t *words = ranges ? rfn_word_list(event, RFN_IN_ranges, RFN_KIND_INT, &n)
                                  : rfn_word_list(event, RFN_IN_ranks, RFN_KIND_RANK, &n);
    for (size_t i = 0; i + (ranges ? 2 : 0) < n; i += ranges ? 3 : 1) {
        if (!(ranges ? put_range(positions, words + i) : put_position(positions, words[i])))
            return false;
    }
    return true;
}

static int include(struct rfn_mpi_groups *groups, const struct members *group,
                   const struct positions *positions, struct members **made)
{
    struct members *members = new_members((uint32_t)positions->n);
    if (!members)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < positions->n; i++)
        members->ranks[i] = group->ranks[positions->at[i]];
    *made = intern(groups, members);
    return *made ? 0 : RFN_E_NOMEM;
}

static int exclude(struct rfn_mpi_groups *groups, const struct members *group,
                   const struct positions *positions, struct members **made)
{
    bool *chosen = calloc((size_t)group->n + 1, sizeof *chosen);
    if (!chosen)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < positions->n; i++)
        chosen[positions->at[i]] = true;
    int error = choose(groups, group, chosen, false, made);
    free(chosen);
    return error;
}

static int select_members(struct rfn_mpi_groups *groups, const struct rfn_call_event *event,
                          struct members **made)
{
    const struct members *group = find(groups, event->rank, rfn_word(event, RFN_IN_GROUP, -1));
    if (!group)
        return 0;
    struct positions positions = {.of = group->n};
    positions.at = malloc(((size_t)group->n + 1) * sizeof *positions.at);
    if (!positions.at)
        return RFN_E_NOMEM;
    int error = 0;
    bool excludes = event->call->operation == RFN_MPI_Group_excl ||
                    event->call->operation == RFN_MPI_Group_range_excl;
    if (list_positions(event, &positions))
        error = (excludes ? exclude : include)(groups, group, &positions, made);
    free(positions.at);
    return error;
}

static void mark(struct rfn_mpi_groups *groups, const struct members *members, bool on)
{
    for (uint32_t i = 0; i < members->n; i++) {
        if (members->ranks[i] != FOREIGN)
            groups->marks[members->ranks[i]] = on;
    }
}

/* Of `list`, those that are marked, or those that are not, go behind what is in `members`. */
static void append(const struct rfn_mpi_groups *groups, struct members *members,
                   const struct members *list, bool marked)
{
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t rank = list->ranks[i];
        if ((rank != FOREIGN && groups->marks[rank]) == marked)
            members->ranks[members->n++] = list->ranks[i];
    }
}

/* Processes outside of MPI_COMM_WORLD are taken for different ones. */
static int combine(struct rfn_mpi_groups *groups, const struct rfn_call_event *event,
                   struct members **made)
{
    const struct members *a = find(groups, event->rank, rfn_word(event, RFN_IN_GROUP, -1));
    const struct members *b = find(groups, event->rank, rfn_word(event, RFN_IN_group2, -1));
    if (!a || !b || a->n + b->n > MEMBERS_MAX)
        return 0;
    struct members *members = new_members(a->n + b->n);
    if (!members)
        return RFN_E_NOMEM;
    members->n = 0;
    if (event->call->operation == RFN_MPI_Group_union) {
        memcpy(members->ranks, a->ranks, a->n * sizeof *a->ranks);
        members->n = a->n;
        mark(groups, a, true);
        append(groups, members, b, false);
        mark(groups, a, false);
    } else {
        mark(groups, b, true);
        append(groups, members, a, event->call->operation == RFN_MPI_Group_intersection);
        mark(groups, b, false);
    }
    *made = intern(groups, members);
    return *made ? 0 : RFN_E_NOMEM;
}

/* ---- events ---- */

/* The group that the call made, one user more; NULL when it is not known. */
static int make(struct rfn_mpi_groups *groups, const struct rfn_call_event *event,
                struct members **made)
{
    size_t n;
    const int64_t *name;
    const uint64_t *comm;
    const uint32_t rank = event->rank;
    int64_t win = rfn_word(event, RFN_IN_WIN, -1);
    switch (event->call->operation) {
    case RFN_MPI_Comm_group:
        return comm_members(groups, rfn_word(event, RFN_IN_COMM, -1), false, rank, made);
    case RFN_MPI_Comm_remote_group:
        return comm_members(groups, rfn_word(event, RFN_IN_COMM, -1), true, rank, made);
    case RFN_MPI_Group_from_session_pset:
        name = rfn_word_list(event, RFN_IN_pset_name, RFN_KIND_STRING, &n);
        return pset_members(groups, name, n, rank, made);
    case RFN_MPI_Win_get_group:
        comm = has_key(win) ? rfn_map_get(&groups->windows, key_of(rank, win)) : NULL;
        return comm ? comm_members(groups, (int64_t)*comm, false, rank, made) : 0;
    case RFN_MPI_Group_incl:
    case RFN_MPI_Group_excl:
    case RFN_MPI_Group_range_incl:
    case RFN_MPI_Group_range_excl:
        return select_members(groups, event, made);
    case RFN_MPI_Group_union:
    case RFN_MPI_Group_intersection:
    case RFN_MPI_Group_difference:
        return combine(groups, event, made);
    default:
        return 0;
    }
}

int rfn_mpi_groups_event(struct rfn_mpi_groups *groups, const struct rfn_call_event *event)
{
    struct members *made = NULL;
    const uint32_t rank = event->rank;
    int64_t comm = rfn_word(event, RFN_IN_COMM, -1), win = rfn_word(event, RFN_IN_WIN, -1);
    if (!rfn_mpi_groups_concerns(groups, event->record->function) || event->record->error ||
        rank >= groups->n_ranks)
        return 0;
    switch (event->call->operation) {
    case RFN_MPI_Group_free:
        free_handle(groups, rank, rfn_word(event, RFN_IN_GROUP, -1));
        return 0;
    case RFN_MPI_Win_free:
        if (has_key(win))
            rfn_map_remove(&groups->windows, key_of(rank, win));
        return 0;
    default:
        break;
    }
    if (event->call->out[RFN_OUT_WIN] >= 0) {
        win = rfn_made(event, RFN_OUT_WIN);
        return has_key(win) && comm >= 0
                   ? rfn_map_put(&groups->windows, key_of(rank, win), (uint64_t)comm)
                   : 0;
    }
    RFN_TRY(make(groups, event, &made));
    if (made && groups->n_all > ALL_MAX) {
        drop(groups, made);
        made = NULL;
    }
    return set_handle(groups, rank, rfn_made(event, RFN_OUT_GROUP), made);
}

/* ---- questions ---- */

/* The members without those that are not in MPI_COMM_WORLD. */
static const uint32_t *without_foreign(struct rfn_mpi_groups *groups, const struct members *members,
                                       size_t *n)
{
    for (uint32_t i = 0; i < members->n; i++) {
        if (members->ranks[i] != FOREIGN)
            groups->known[(*n)++] = members->ranks[i];
    }
    return groups->known;
}

const uint32_t *rfn_mpi_groups_members(struct rfn_mpi_groups *groups, uint32_t rank, int64_t handle,
                                       size_t *n)
{
    const struct members *members = find(groups, rank, handle);
    *n = 0;
    if (!members)
        return NULL;
    if (members->n_foreign)
        return without_foreign(groups, members, n);
    *n = members->n;
    return members->ranks;
}
