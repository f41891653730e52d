/* one_sided.c - objects: a window, and of it
 *
 *   members   per rank of its communicator: how many fences it has entered, its access epoch (from
 *             Win_start to Win_complete) and its exposure epoch (from Win_post to Win_wait)
 *   fences    those that some rank has entered and some has not left
 *   pairs     per (origin, target): how many starts and posts named the other, and the points of
 *             posts and completes that the other side has not passed yet
 *   locks     who holds which (rma_locks.c)
 *
 * Everything is bounded: what nobody comes to fetch, because its rank is not in the archive, goes
 * when there is too much of it.
 */
#include "analyze/match/one_sided.h"

#include "analyze/match/rma_locks.h"
#include "analyze/match/topology.h"
#include "base/grow.h"
#include "base/map.h"

#include <stdlib.h>

/* Assertions are recorded as the numbers that the MPI has for them. */
static const struct {
    const char *flavour;
    int64_t no_check, no_precede;
} assertions[] = {
    {"mpich", 1024, 8192},
    {"openmpi", 1, 2},
    {"smpi", 16, 4},
};

enum { BACKLOG_MAX = 1024 };

/* Points number first, first + 1, ... that somebody may still ask for. */
struct queue {
    uint64_t first;
    size_t n, capacity;
    struct rfn_point *points;
};

struct pair {
    uint64_t starts, posts;
    struct queue posted, completed;
};

struct peer {
    uint32_t rank; /* in the communicator */
    uint64_t number;
};

/* An access or exposure epoch: whom it is with. */
struct epoch {
    size_t n;
    struct peer peers[];
};

struct member {
    uint64_t fences;
    struct epoch *access, *exposure;
};

struct fence {
    uint32_t entered, left;
    struct rfn_point latest;
};

struct window {
    uint32_t comm, size;
    uint64_t number;             /* of the windows made on comm */
    uint32_t expected;           /* ranks of which the archive has events */
    uint32_t made, freed, calls; /* ranks that have, ranks that had it, calls under way */
    bool lost;                   /* a group was not known: posts and starts cannot be counted */
    struct member *members;
    struct fence *fences;
    uint64_t first_fence;
    size_t n_fences, fences_capacity;
    struct rfn_map pairs; /* origin, target -> struct pair */
    struct rfn_rma_locks contention;
    struct window *next; /* of all windows */
};

/* What a stream is in. */
struct call {
    enum rfn_operation operation;
    bool no_wait; /* a fence that need not synchronize, a poll without success */
    struct window *window;
    uint32_t own, target; /* ranks in the communicator */
    uint64_t fence;
    int64_t entered_ns;
};

struct rfn_one_sided {
    const struct rfn_archive *archive;
    struct rfn_mpi_groups *groups;
    uint32_t n_streams, n_ranks;
    int64_t no_check, no_precede;
    struct call *calls;    /* per stream */
    bool *present;         /* per rank: the archive has its events */
    struct rfn_map making; /* communicator, rank -> how many windows it made */
    struct rfn_map shared; /* communicator, number -> struct window */
    struct rfn_map bound;  /* rank, slot -> struct window */
    struct window *windows;
};

static uint64_t key_of(uint64_t high, uint64_t low)
{
    return high << 32 | low;
}

/* ---- once ---- */

static void learn_archive(struct rfn_one_sided *os)
{
    const struct rfn_run *run = rfn_archive_run(os->archive);
    for (uint32_t i = 0; i < os->n_streams; i++) {
        struct rfn_stream_info stream = rfn_archive_stream(os->archive, i);
        if (stream.readable && stream.rank < os->n_ranks)
            os->present[stream.rank] = true;
    }
    for (size_t i = 0; run->flavour && i < sizeof assertions / sizeof *assertions; i++) {
        if (strcmp(assertions[i].flavour, run->flavour) == 0) {
            os->no_check = assertions[i].no_check;
            os->no_precede = assertions[i].no_precede;
        }
    }
}

struct rfn_one_sided *rfn_one_sided_new(const struct rfn_archive *archive,
                                        struct rfn_mpi_groups *groups)
{
    struct rfn_one_sided *os = calloc(1, sizeof *os);
    if (!os)
        return NULL;
    os->archive = archive;
    os->groups = groups;
    os->n_streams = rfn_archive_run(archive)->streams;
    os->n_ranks = rfn_archive_run(archive)->ranks;
    os->calls = calloc((size_t)os->n_streams + 1, sizeof *os->calls);
    os->present = calloc((size_t)os->n_ranks + 1, sizeof *os->present);
    if (!os->calls || !os->present) {
        rfn_one_sided_free(os);
        return NULL;
    }
    learn_archive(os);
    return os;
}

static void free_pair(void *value)
{
    struct pair *pair = value;
    free(pair->posted.points);
    free(pair->completed.points);
    free(pair);
}

/* All that a window needs while it is in use. */
static void release_window(struct window *window)
{
    for (uint32_t i = 0; window->members && i < window->size; i++) {
        free(window->members[i].access);
        free(window->members[i].exposure);
    }
    free(window->members);
    free(window->fences);
    window->members = NULL;
    window->fences = NULL;
    window->n_fences = window->fences_capacity = 0;
    rfn_map_release_objects(&window->pairs, free_pair);
    rfn_rma_locks_release(&window->contention);
}

void rfn_one_sided_free(struct rfn_one_sided *os)
{
    if (!os)
        return;
    for (struct window *window = os->windows, *next; window; window = next) {
        next = window->next;
        release_window(window);
        free(window);
    }
    rfn_map_release(&os->making);
    rfn_map_release(&os->shared);
    rfn_map_release(&os->bound);
    free(os->calls);
    free(os->present);
    free(os);
}

bool rfn_one_sided_concerns(const struct rfn_one_sided *os, uint32_t function)
{
    const struct rfn_call *call = rfn_archive_call(os->archive, function);
    /* They stand beside each other in the table of operations. */
    bool synchronizes = call->operation >= RFN_MPI_Win_free &&
                        call->operation <= RFN_MPI_Win_flush_local_all;
    return call->out[RFN_OUT_WIN] >= 0 || synchronizes ||
           (call->class_ == RFN_CLASS_RMA && call->in[RFN_IN_RANK] >= 0);
}

/* ---- windows ---- */

static struct window *window_of(const struct rfn_one_sided *os, uint32_t rank, int64_t slot)
{
    if (slot < 0 || slot > UINT32_MAX)
        return NULL;
    return rfn_map_object(&os->bound, key_of(rank, (uint64_t)slot));
}

/* How many members of a communicator have events. Goes over whichever is less, the members or the
 * ranks of the archive, since a communicator may claim any size. */
static uint32_t count_present(const struct rfn_one_sided *os, uint32_t comm, uint32_t size)
{
    uint32_t n = 0;
    for (uint32_t i = 0; size <= os->n_ranks && i < size; i++) {
        int64_t rank = rfn_comm_world_rank(os->archive, comm, false, i);
        n += rank >= 0 && rank < os->n_ranks && os->present[rank];
    }
    for (uint32_t i = 0; size > os->n_ranks && i < os->n_ranks; i++)
        n += os->present[i] && rfn_comm_rank_of(os->archive, comm, i) >= 0;
    return n;
}

static struct window *new_window(struct rfn_one_sided *os, uint32_t comm, uint64_t number)
{
    const struct rfn_comm_info *info = rfn_archive_comm(os->archive, comm);
    struct window *window = calloc(1, sizeof *window);
    if (!window)
        return NULL;
    window->comm = comm;
    window->size = info->size;
    window->number = number;
    window->expected = info->kind == RFN_COMM_SELF ? 1 : count_present(os, comm, info->size);
    window->next = os->windows;
    os->windows = window;
    return window;
}

/* The window that a rank's next call on the communicator makes. A process alone has its own. */
static struct window *join_window(struct rfn_one_sided *os, uint32_t comm, uint32_t rank)
{
    if (rfn_archive_comm(os->archive, comm)->kind == RFN_COMM_SELF)
        return new_window(os, comm, 0);
    const uint64_t *count = rfn_map_get(&os->making, key_of(comm, rank));
    uint64_t number = count ? *count : 0;
    if (rfn_map_put(&os->making, key_of(comm, rank), number + 1) < 0)
        return NULL;
    uint64_t key = key_of(comm, number & UINT32_MAX);
    struct window *window = rfn_map_object(&os->shared, key);
    if (window)
        return window;
    window = new_window(os, comm, number);
    if (window && rfn_map_put_object(&os->shared, key, window) < 0)
        return NULL; /* os->windows has it */
    return window;
}

static void delete_window(struct rfn_one_sided *os, struct window *window)
{
    struct window **link = &os->windows;
    uint64_t key = key_of(window->comm, window->number & UINT32_MAX);
    if (rfn_map_object(&os->shared, key) == window)
        rfn_map_remove(&os->shared, key);
    while (*link != window)
        link = &(*link)->next;
    *link = window->next;
    release_window(window);
    free(window);
}

/* The window goes with its last rank; of ranks that are cut off little is kept. */
static void tidy_window(struct rfn_one_sided *os, struct window *window)
{
    if (window->calls || window->freed < window->made)
        return;
    if (window->freed >= window->expected)
        delete_window(os, window);
    else
        release_window(window);
}

static void unbind(struct rfn_one_sided *os, uint32_t rank, int64_t slot)
{
    struct window *window = window_of(os, rank, slot);
    if (!window)
        return;
    rfn_map_remove(&os->bound, key_of(rank, (uint64_t)slot));
    window->freed++;
    tidy_window(os, window);
}

static int make_window(struct rfn_one_sided *os, const struct rfn_call_event *event)
{
    const uint32_t rank = event->rank;
    int64_t comm = rfn_word(event, RFN_IN_COMM, -1), slot = rfn_made(event, RFN_OUT_WIN);
    if (comm < 0 || comm >= rfn_archive_comms(os->archive) ||
        rfn_archive_comm(os->archive, (uint32_t)comm)->kind == RFN_COMM_INTER ||
        !rfn_comm_countable(os->archive, (uint32_t)comm) ||
        rfn_comm_rank_of(os->archive, (uint32_t)comm, rank) < 0)
        return 0;
    struct window *window = join_window(os, (uint32_t)comm, rank);
    if (!window)
        return RFN_E_NOMEM;
    window->made++;
    if (slot < 0 || slot > UINT32_MAX) {
        window->freed++;
        tidy_window(os, window);
        return 0;
    }
    unbind(os, rank, slot);
    return rfn_map_put_object(&os->bound, key_of(rank, (uint64_t)slot), window);
}

/* The member that a rank is; NULL: out of memory. */
static struct member *member_of(struct window *window, uint32_t own)
{
    if (!window->members)
        window->members = calloc((size_t)window->size + 1, sizeof *window->members);
    return window->members ? &window->members[own] : NULL;
}

/* ---- fences ---- */

static struct fence *fence_of(const struct window *window, uint64_t number)
{
    uint64_t at = number - window->first_fence;
    return number >= window->first_fence && at < window->n_fences ? &window->fences[at] : NULL;
}

/* Forgets fences that all have left, and what is too old. */
static void drop_fences(struct window *window)
{
    size_t n = 0;
    while (n < window->n_fences &&
           (window->fences[n].left >= window->expected || window->n_fences - n > BACKLOG_MAX))
        n++;
    if (n == 0)
        return;
    window->n_fences -= n;
    window->first_fence += n;
    memmove(window->fences, window->fences + n, window->n_fences * sizeof *window->fences);
}

static int enter_fence(struct window *window, struct call *call, struct rfn_point here)
{
    struct member *member = member_of(window, call->own);
    if (!member)
        return RFN_E_NOMEM;
    call->fence = member->fences++;
    while (call->fence >= window->first_fence + window->n_fences) {
        RFN_TRY(RFN_GROW(window->fences, window->fences_capacity, window->n_fences + 1));
        window->fences[window->n_fences++] = (struct fence){0};
    }
    struct fence *fence = fence_of(window, call->fence);
    if (fence && (fence->entered++ == 0 || here.ns > fence->latest.ns))
        fence->latest = here;
    drop_fences(window);
    return 0;
}

/* The rest of a call from its enter to a point, or to its end if that is earlier. */
static void wait_until(const struct call *call, struct rfn_point left, struct rfn_point until,
                       enum rfn_pattern pattern, struct rfn_wait *wait)
{
    int64_t end = until.ns < left.ns ? until.ns : left.ns;
    if (end <= call->entered_ns)
        return;
    *wait = (struct rfn_wait){.pattern = pattern, .ns = end - call->entered_ns, .until = until};
}

static void leave_fence(struct call *call, struct rfn_point left, struct rfn_wait *wait)
{
    struct fence *fence = fence_of(call->window, call->fence);
    if (!fence)
        return;
    bool all = fence->entered >= call->window->expected;
    if (!call->no_wait || (all && fence->latest.ns <= left.ns))
        wait_until(call, left, fence->latest, RFN_WAIT_AT_FENCE, wait);
    fence->left++;
    drop_fences(call->window);
}

/* ---- posts and starts ---- */

static struct pair *pair_of(struct window *window, uint32_t origin, uint32_t target)
{
    return rfn_map_make_object(&window->pairs, key_of(origin, target), sizeof(struct pair));
}

static struct pair *known_pair(const struct window *window, uint32_t origin, uint32_t target)
{
    return rfn_map_object(&window->pairs, key_of(origin, target));
}

static int push_point(struct queue *queue, uint64_t number, struct rfn_point point)
{
    if (queue->n == BACKLOG_MAX || number != queue->first + queue->n) {
        queue->first = number;
        queue->n = 0;
    }
    RFN_TRY(RFN_GROW(queue->points, queue->capacity, queue->n + 1));
    queue->points[queue->n++] = point;
    return 0;
}

/* Forgets the points up to a number. */
static void pop_points(struct queue *queue, uint64_t number)
{
    size_t n = 0;
    while (n < queue->n && queue->first + n <= number)
        n++;
    queue->first += n;
    queue->n -= n;
    if (n)
        memmove(queue->points, queue->points + n, queue->n * sizeof *queue->points);
}

static const struct rfn_point *find_point(const struct queue *queue, uint64_t number)
{
    uint64_t at = number - queue->first;
    return number >= queue->first && at < queue->n ? &queue->points[at] : NULL;
}

/* An epoch with the members of a group that are in the window and in the archive; NULL and 0 when
 * the group is not known. */
static int new_epoch(struct rfn_one_sided *os, const struct window *window, uint32_t rank,
                     int64_t group, struct epoch **epoch)
{
    size_t n;
    const uint32_t *ranks = rfn_mpi_groups_members(os->groups, rank, group, &n);
    *epoch = NULL;
    if (!ranks)
        return 0;
    struct epoch *made = malloc(sizeof *made + n * sizeof *made->peers);
    if (!made)
        return RFN_E_NOMEM;
    made->n = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t peer = rfn_comm_rank_of(os->archive, window->comm, ranks[i]);
        if (peer >= 0 && peer < window->size && os->present[ranks[i]])
            made->peers[made->n++] = (struct peer){(uint32_t)peer, 0};
    }
    *epoch = made;
    return 0;
}

static int enter_start(struct window *window, const struct call *call, struct epoch *epoch)
{
    struct member *member = member_of(window, call->own);
    if (!member) {
        free(epoch);
        return RFN_E_NOMEM;
    }
    free(member->access);
    member->access = epoch;
    for (size_t i = 0; i < epoch->n; i++) {
        struct pair *pair = pair_of(window, call->own, epoch->peers[i].rank);
        if (!pair)
            return RFN_E_NOMEM;
        epoch->peers[i].number = pair->starts++;
    }
    return 0;
}

static int enter_post(struct window *window, const struct call *call, struct epoch *epoch,
                      struct rfn_point here)
{
    struct member *member = member_of(window, call->own);
    if (!member) {
        free(epoch);
        return RFN_E_NOMEM;
    }
    free(member->exposure);
    member->exposure = epoch;
    for (size_t i = 0; i < epoch->n; i++) {
        struct pair *pair = pair_of(window, epoch->peers[i].rank, call->own);
        if (!pair)
            return RFN_E_NOMEM;
        epoch->peers[i].number = pair->posts++;
        RFN_TRY(push_point(&pair->posted, epoch->peers[i].number, here));
    }
    return 0;
}

/* Win_start and Win_post. Without its group nothing can be counted any more. */
static int enter_epoch(struct rfn_one_sided *os, const struct rfn_call_event *event,
                       const struct call *call, struct rfn_point here)
{
    struct epoch *epoch;
    struct window *window = call->window;
    RFN_TRY(new_epoch(os, window, event->rank, rfn_word(event, RFN_IN_GROUP, -1), &epoch));
    if (!epoch) {
        window->lost = true;
        return 0;
    }
    return call->operation == RFN_MPI_Win_start ? enter_start(window, call, epoch)
                                                : enter_post(window, call, epoch, here);
}

static const struct epoch *access_of(const struct call *call)
{
    const struct window *window = call->window;
    return window->members && !window->lost ? window->members[call->own].access : NULL;
}

static const struct epoch *exposure_of(const struct call *call)
{
    const struct window *window = call->window;
    return window->members && !window->lost ? window->members[call->own].exposure : NULL;
}

static int enter_complete(const struct call *call, struct rfn_point here)
{
    const struct epoch *epoch = access_of(call);
    for (size_t i = 0; epoch && i < epoch->n; i++) {
        struct pair *pair = pair_of(call->window, call->own, epoch->peers[i].rank);
        if (!pair)
            return RFN_E_NOMEM;
        RFN_TRY(push_point(&pair->completed, epoch->peers[i].number, here));
    }
    return 0;
}

/* The post of a peer that the own start goes with; NULL when it has not come. */
static const struct rfn_point *post_of(const struct call *call, const struct peer *peer)
{
    const struct pair *pair = known_pair(call->window, call->own, peer->rank);
    return pair ? find_point(&pair->posted, peer->number) : NULL;
}

static const struct rfn_point *complete_of(const struct call *call, const struct peer *peer)
{
    const struct pair *pair = known_pair(call->window, peer->rank, call->own);
    return pair ? find_point(&pair->completed, peer->number) : NULL;
}

/* The latest of the peers' points, of all or of one; NULL when there is none. */
static const struct rfn_point *
latest_of(const struct call *call, const struct epoch *epoch, uint32_t target,
          const struct rfn_point *(*point_of)(const struct call *, const struct peer *))
{
    const struct rfn_point *latest = NULL;
    for (size_t i = 0; i < epoch->n; i++) {
        if (target != RFN_ALL_TARGETS && epoch->peers[i].rank != target)
            continue;
        const struct rfn_point *point = point_of(call, &epoch->peers[i]);
        if (point && (!latest || point->ns > latest->ns))
            latest = point;
    }
    return latest;
}

static void leave_access(const struct call *call, struct rfn_point left, struct rfn_wait *wait)
{
    const struct epoch *epoch = access_of(call);
    const struct rfn_point *post = epoch ? latest_of(call, epoch, call->target, post_of) : NULL;
    if (post && post->ns <= left.ns)
        wait_until(call, left, *post, RFN_LATE_POST, wait);
}

static void leave_complete(const struct call *call, struct rfn_point left, struct rfn_wait *wait)
{
    leave_access(call, left, wait);
    struct member *member = call->window->members ? &call->window->members[call->own] : NULL;
    struct epoch *epoch = member ? member->access : NULL;
    for (size_t i = 0; epoch && i < epoch->n; i++) {
        struct pair *pair = known_pair(call->window, call->own, epoch->peers[i].rank);
        if (pair)
            pop_points(&pair->posted, epoch->peers[i].number);
    }
    free(epoch);
    if (member)
        member->access = NULL;
}

static void leave_wait(const struct call *call, struct rfn_point left, struct rfn_wait *wait)
{
    struct epoch *epoch = (struct epoch *)exposure_of(call);
    if (!epoch || call->no_wait)
        return;
    const struct rfn_point *complete = latest_of(call, epoch, RFN_ALL_TARGETS, complete_of);
    if (complete)
        wait_until(call, left, *complete, RFN_LATE_COMPLETE, wait);
    for (size_t i = 0; i < epoch->n; i++) {
        struct pair *pair = known_pair(call->window, epoch->peers[i].rank, call->own);
        if (pair)
            pop_points(&pair->completed, epoch->peers[i].number);
    }
    free(epoch);
    call->window->members[call->own].exposure = NULL;
}

/* ---- locks ---- */

static struct rfn_lock_call lock_call(const struct call *call)
{
    bool locking = call->operation == RFN_MPI_Win_lock || call->operation == RFN_MPI_Win_lock_all;
    return (struct rfn_lock_call){call->own, call->target, locking, call->entered_ns};
}

static int enter_lock(const struct rfn_one_sided *os, const struct rfn_call_event *event,
                      const struct call *call)
{
    int64_t type = rfn_word(event, RFN_IN_lock_type, 0); /* of Win_lock_all shared */
    bool no_check = rfn_word(event, RFN_IN_assert, 0) & os->no_check;
    struct rfn_lock_call locking = lock_call(call);
    return rfn_rma_locks_lock(&call->window->contention, &locking, rfn_lock_is_exclusive(type),
                              no_check);
}

/* The end of a call that may be in a lock epoch, or else in an access epoch. */
static int leave_locked(const struct call *call, struct rfn_point left, struct rfn_wait *wait)
{
    struct rfn_rma_locks *contention = &call->window->contention;
    struct rfn_lock_call locked = lock_call(call);
    struct rfn_point until;
    if (!rfn_rma_locks_around(contention, &locked))
        leave_access(call, left, wait);
    else if (rfn_rma_locks_waited(contention, &locked, left.ns, &until))
        wait_until(call, left, until, RFN_LOCK_CONTENTION, wait);
    if (locked.locking)
        rfn_rma_locks_locked(contention, &locked, left.ns);
    if (call->operation == RFN_MPI_Win_unlock || call->operation == RFN_MPI_Win_unlock_all)
        return rfn_rma_locks_unlocked(contention, &locked, left);
    return 0;
}

/* ---- calls ---- */

/* What a call is on; false when that makes no sense. */
static bool understand(const struct rfn_one_sided *os, const struct rfn_call_event *event,
                       struct call *call)
{
    const uint32_t rank = event->rank;
    struct window *window = window_of(os, rank, rfn_word(event, RFN_IN_WIN, -1));
    if (!window)
        return false;
    int64_t own = rfn_comm_rank_of(os->archive, window->comm, rank);
    int64_t target = rfn_word(event, RFN_IN_RANK, -1);
    if (own < 0 || own >= window->size ||
        (rfn_has(event, RFN_IN_RANK) && (target < 0 || target >= window->size)))
        return false;
    call->operation = (enum rfn_operation)event->call->operation;
    call->window = window;
    call->own = (uint32_t)own;
    call->target = rfn_has(event, RFN_IN_RANK) ? (uint32_t)target : RFN_ALL_TARGETS;
    call->no_wait = event->record->failed_poll ||
                    (call->operation == RFN_MPI_Win_fence &&
                     (rfn_word(event, RFN_IN_assert, 0) & os->no_precede));
    return true;
}

static int begin(struct rfn_one_sided *os, const struct rfn_call_event *event, struct call *call,
                 struct rfn_point here)
{
    struct rfn_lock_call locking;
    switch (call->operation) {
    case RFN_MPI_Win_fence:
        return enter_fence(call->window, call, here);
    case RFN_MPI_Win_start:
    case RFN_MPI_Win_post:
        return enter_epoch(os, event, call, here);
    case RFN_MPI_Win_complete:
        return enter_complete(call, here);
    case RFN_MPI_Win_lock:
    case RFN_MPI_Win_lock_all:
        return enter_lock(os, event, call);
    case RFN_MPI_Win_unlock:
    case RFN_MPI_Win_unlock_all:
        locking = lock_call(call);
        return rfn_rma_locks_unlock(&call->window->contention, &locking, here);
    default:
        return 0;
    }
}

/* A call that never left, which only a damaged order of calls can bring, is over. */
static void end_call(struct rfn_one_sided *os, struct call *call)
{
    struct window *window = call->window;
    *call = (struct call){0};
    if (window) {
        window->calls--;
        tidy_window(os, window);
    }
}

int rfn_one_sided_enter(struct rfn_one_sided *os, const struct rfn_call_event *event,
                        struct rfn_point here)
{
    if (!rfn_one_sided_concerns(os, event->record->function) || event->rank >= os->n_ranks ||
        here.stream >= os->n_streams)
        return 0;
    struct call *call = &os->calls[here.stream], entered = {0};
    end_call(os, call);
    if (event->call->out[RFN_OUT_WIN] >= 0)
        return make_window(os, event);
    if (event->record->error)
        return 0;
    if (event->call->operation == RFN_MPI_Win_free) {
        unbind(os, event->rank, rfn_word(event, RFN_IN_WIN, -1));
        return 0;
    }
    if (!understand(os, event, &entered))
        return 0;
    entered.entered_ns = here.ns;
    *call = entered;
    call->window->calls++;
    return begin(os, event, call, here);
}

bool rfn_one_sided_window(const struct rfn_one_sided *os, uint32_t stream, uint32_t *comm,
                          uint64_t *number, int64_t *target)
{
    const struct call *call = &os->calls[stream];
    if (!call->window)
        return false;
    *comm = call->window->comm;
    *number = call->window->number;
    *target = call->target == RFN_ALL_TARGETS ? -1 : (int64_t)call->target;
    return true;
}

static bool all_there(const struct call *call, const struct epoch *epoch,
                      const struct rfn_point *(*point_of)(const struct call *, const struct peer *))
{
    for (size_t i = 0; epoch && i < epoch->n; i++) {
        if (!point_of(call, &epoch->peers[i]))
            return false;
    }
    return true;
}

bool rfn_one_sided_ready(const struct rfn_one_sided *os, uint32_t stream)
{
    if (stream >= os->n_streams || !os->calls[stream].window || os->calls[stream].no_wait)
        return true;
    const struct call *call = &os->calls[stream];
    const struct fence *fence;
    switch (call->operation) {
    case RFN_MPI_Win_fence:
        fence = fence_of(call->window, call->fence);
        return !fence || fence->entered >= call->window->expected;
    case RFN_MPI_Win_complete:
        return all_there(call, access_of(call), post_of);
    case RFN_MPI_Win_wait:
    case RFN_MPI_Win_test:
        return all_there(call, exposure_of(call), complete_of);
    default:
        return true; /* what comes later cannot have been waited for */
    }
}

static int leave(struct call *call, struct rfn_point left, struct rfn_wait *wait)
{
    switch (call->operation) {
    case RFN_MPI_Win_fence:
        leave_fence(call, left, wait);
        return 0;
    case RFN_MPI_Win_post:
        return 0;
    case RFN_MPI_Win_start:
        leave_access(call, left, wait);
        return 0;
    case RFN_MPI_Win_complete:
        leave_complete(call, left, wait);
        return 0;
    case RFN_MPI_Win_wait:
    case RFN_MPI_Win_test:
        leave_wait(call, left, wait);
        return 0;
    default:
        return leave_locked(call, left, wait);
    }
}

int rfn_one_sided_leave(struct rfn_one_sided *os, struct rfn_point left, struct rfn_wait *wait)
{
    *wait = (struct rfn_wait){0};
    if (left.stream >= os->n_streams || !os->calls[left.stream].window)
        return 0;
    struct call *call = &os->calls[left.stream];
    int error = leave(call, left, wait);
    end_call(os, call);
    return error;
}
