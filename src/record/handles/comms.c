/* Communicators: lookup, identity, members.
 *
 * Lookup happens on every call: a small direct-mapped cache from handle to entry lies in front of
 * the map.
 *
 * Identity. Matching needs to know which communicator of one process is which of another, and
 * asking would cost communication inside calls that did none. But all members of a creation take
 * part in it, in the same order, so all can count alike:
 *
 * - Collective over the parent (dup, split, create, Cart_*, Intercomm_merge, ...): the key is the
 *   parent's identity and the function; the parent's members count.
 * - MPI_Comm_create_group: parent's identity, function, tag, members; the new members count.
 * - MPI_Intercomm_create, MPI_*_from_group(s): function, tag, members; the new members count.
 * - MPI_Comm_accept, _connect, _join: members; the new members count.
 * - First seen without a creation: members; the new members count.
 *
 * identity = hash(key, how many with this key and these members before, members). The members are
 * in it because one split makes several communicators with the same key; each of their members has
 * seen as many before. Members of an intercommunicator are hashed without order of the two groups.
 * Across jobs (spawn, connect), each with its own MPI_COMM_WORLD, this does not hold.
 *
 * A program that makes and frees a communicator in every step is to look the same in every step,
 * and to take no more memory. So a communicator that is freed gives its entry, number and identity
 * to the next one of equal key and members: all members free and make it in one order. Readers tell
 * messages and calls on the two apart by their order, as they do on one communicator. Not so with
 * several threads, whose order may differ between ranks, nor where more than key and members
 * describes it: topologies, and the members of other jobs.
 *
 * Members are runs of world ranks, found with MPI_Group_translate_ranks. Groups are interned, and
 * duplicates take over their parent's, without asking MPI.
 */
#include "record/handles/comms.h"
#include "base/grow.h"
#include "base/map.h"
#include "record/core/job.h"
#include "record/core/tables.h"
#include "record/handles/params.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_BITS = 6 };

struct cached {
    uint64_t key;
    struct rec_comm *comm; /* NULL: free */
};

static struct cached cache[1 << CACHE_BITS];
static struct rec_comm **comms;
static uint32_t n_comms;
static size_t comms_capacity;
static struct rfn_map by_handle; /* handle to number */
static struct rfn_map ordinals;  /* key of a creation, and members, to how many there were */
static struct rfn_map freed;     /* the same to the entry that may be used again */
static struct rfn_map groups;    /* hash to struct rec_ranks */
static MPI_Group world_group;    /* borrowed from job.h */
static uint64_t removals;        /* of handles, see tables.h */
static bool awake;               /* the first two communicators are there */
static struct rec_comm *later;   /* entries with later_of: of calls that are being recorded */
unsigned rec_comms_on_their_way; /* how many these are */

static uint64_t hash_words(const uint64_t *words, size_t n)
{
    return rfn_hash_bytes(words, n * sizeof *words);
}

/* ---- groups ---- */

static struct rec_ranks *make_ranks(const int *world_ranks, uint32_t n)
{
    struct rec_ranks *ranks = malloc(sizeof *ranks + n * sizeof *ranks->runs);
    if (!ranks)
        return NULL;
    *ranks = (struct rec_ranks){.size = n, .lowest = REC_RANK_FOREIGN};
    struct rec_rank_run *run = NULL;
    for (uint32_t i = 0; i < n; i++) {
        bool foreign = world_ranks[i] < 0; /* MPI_UNDEFINED */
        uint32_t rank = foreign ? REC_RANK_FOREIGN : (uint32_t)world_ranks[i];
        ranks->foreign += foreign;
        if (rank < ranks->lowest)
            ranks->lowest = rank;
        if (run && run->count == 1 && (run->start == REC_RANK_FOREIGN) == foreign)
            run->stride = (int32_t)(rank - run->start);
        if (run && (run->start == REC_RANK_FOREIGN) == foreign &&
            rank == run->start + run->count * (uint32_t)run->stride) {
            run->count++;
        } else {
            run = &ranks->runs[ranks->n_runs++];
            *run = (struct rec_rank_run){rank, 1, 0};
        }
    }
    ranks->hash = rfn_hash_bytes(ranks->runs, ranks->n_runs * sizeof *ranks->runs);
    return ranks;
}

/* Takes ownership of ranks and gives the one that stands for all equal ones; NULL without memory.
 * The hash decides: it also decides in identities, which other processes compare. */
static const struct rec_ranks *intern_ranks(struct rec_ranks *ranks)
{
    if (!ranks)
        return NULL;
    const struct rec_ranks *known = rfn_map_object(&groups, ranks->hash);
    if (known) {
        free(ranks);
        return known;
    }
    struct rec_ranks *small = realloc(ranks, sizeof *ranks + ranks->n_runs * sizeof *ranks->runs);
    if (small)
        ranks = small;
    if (rfn_map_put_object(&groups, ranks->hash, ranks) < 0) {
        free(ranks);
        return NULL;
    }
    return ranks;
}

/* The world ranks of a group. */
static const struct rec_ranks *ranks_of_group(MPI_Group group)
{
    int n = 0;
    if (rec_mpi.MPI_Group_size(group, &n) != MPI_SUCCESS)
        return NULL;
    int *ranks = malloc(2 * (size_t)n * sizeof *ranks + 1), *world = ranks + n;
    if (!ranks)
        return NULL;
    for (int i = 0; i < n; i++)
        ranks[i] = i;
    const struct rec_ranks *result = NULL;
    if (rec_mpi.MPI_Group_translate_ranks(group, n, ranks, world_group, world) == MPI_SUCCESS)
        result = intern_ranks(make_ranks(world, (uint32_t)n));
    free(ranks);
    return result;
}

static const struct rec_ranks *world_ranks(uint32_t size)
{
    struct rec_ranks *ranks = malloc(sizeof *ranks + sizeof *ranks->runs);
    if (!ranks)
        return NULL;
    *ranks = (struct rec_ranks){.size = size, .n_runs = 1};
    ranks->runs[0] = (struct rec_rank_run){0, size, size > 1};
    ranks->hash = rfn_hash_bytes(ranks->runs, sizeof *ranks->runs);
    return intern_ranks(ranks);
}

static const struct rec_ranks *ranks_of_comm(MPI_Comm comm, bool remote)
{
    MPI_Group group;
    int rc = remote ? rec_mpi.MPI_Comm_remote_group(comm, &group)
                    : rec_mpi.MPI_Comm_group(comm, &group);
    if (rc != MPI_SUCCESS)
        return NULL;
    const struct rec_ranks *ranks = ranks_of_group(group);
    rec_mpi.MPI_Group_free(&group);
    return ranks;
}

/* ---- entries ---- */

static struct rec_comm *new_comm(enum rec_comm_kind kind)
{
    struct rec_comm *comm = malloc(sizeof *comm);
    if (!comm || RFN_GROW(comms, comms_capacity, n_comms + 1) < 0) {
        free(comm);
        return NULL;
    }
    *comm = (struct rec_comm){.number = n_comms, .kind = kind, .n_in = -1, .n_out = -1};
    comms[n_comms++] = comm;
    return comm;
}

static void set_members(struct rec_comm *comm, const struct rec_ranks *local,
                        const struct rec_ranks *remote)
{
    comm->local = local;
    comm->remote = remote;
    comm->size = local->size;
    comm->remote_size = remote ? remote->size : 0;
    comm->lowest = remote && remote->lowest < local->lowest ? remote->lowest : local->lowest;
}

/* Asks MPI for everything but the identity. */
static int ask_members(struct rec_comm *comm, MPI_Comm handle)
{
    int inter = 0, rank = 0;
    if (rec_mpi.MPI_Comm_test_inter(handle, &inter) != MPI_SUCCESS ||
        rec_mpi.MPI_Comm_rank(handle, &rank) != MPI_SUCCESS)
        return RFN_E_NOTFOUND;
    const struct rec_ranks *local = ranks_of_comm(handle, false);
    const struct rec_ranks *remote = inter ? ranks_of_comm(handle, true) : NULL;
    if (!local || (inter && !remote))
        return RFN_E_NOMEM;
    comm->kind = inter ? REC_COMM_INTER : REC_COMM_INTRA;
    comm->my_rank = (uint32_t)rank;
    set_members(comm, local, remote);
    return 0;
}

static int bind_handle(struct rec_comm *comm, MPI_Comm handle)
{
    uint64_t key = REC_KEY(handle);
    RFN_TRY(rfn_map_put(&by_handle, key, comm->number));
    cache[rec_key_place(key, CACHE_BITS)] = (struct cached){key, comm};
    return 0;
}

/* ---- identity ---- */

static uint64_t hash_members(const struct rec_comm *comm)
{
    uint64_t a = comm->local->hash, b = comm->remote ? comm->remote->hash : 0;
    return hash_words((uint64_t[]){a < b ? a : b, a < b ? b : a}, 2);
}

/* How many creations with this key and these members there were; counts one more. */
static uint64_t next_ordinal(uint64_t key)
{
    uint64_t *count = rfn_map_get(&ordinals, key);
    if (count)
        return (*count)++;
    if (rfn_map_put(&ordinals, key, 1) < 0)
        rec_stop("out of memory for communicators");
    return 0;
}

enum rule { ON_PARENT, BY_NEW_MEMBERS, BY_NEW_MEMBERS_ON_PARENT, BY_CONNECTION, EXISTING };

static enum rule rule_of(const char *function)
{
    static const struct {
        const char *function;
        enum rule rule;
    } rules[] = {
        {"MPI_Comm_create_group", BY_NEW_MEMBERS_ON_PARENT},
        {"MPI_Intercomm_create", BY_NEW_MEMBERS},
        {"MPI_Comm_create_from_group", BY_NEW_MEMBERS},
        {"MPI_Intercomm_create_from_groups", BY_NEW_MEMBERS},
        {"MPI_Comm_accept", BY_CONNECTION},
        {"MPI_Comm_connect", BY_CONNECTION},
        {"MPI_Comm_join", BY_CONNECTION},
        {"MPI_Comm_get_parent", EXISTING},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].function, function) == 0)
            return rules[i].rule;
    }
    return ON_PARENT;
}

/* Hash of the tag or string tag among the call's inputs; 0 without. A string is hashed by its
 * bytes, as the numbers of lists differ between processes. */
static uint64_t hash_tags(struct rec_call *call)
{
    const struct rfn_function_info *function = &rec_functions[call->function];
    uint64_t hash = 0;
    for (uint32_t i = 0; i < function->n_in && i < call->n_in; i++) {
        uint64_t word = (uint64_t)call->in[i];
        if (function->params[i].kind == RFN_KIND_STRING && call->in[i] > 0) {
            size_t n;
            const int64_t *words = rfn_stream_list_words(rec_stream_of(call)->events,
                                                         (size_t)call->in[i], &n);
            word = rfn_hash_bytes(words, n * sizeof *words);
        } else if (function->params[i].kind != RFN_KIND_TAG) {
            continue;
        }
        hash = hash_words((uint64_t[]){hash, word}, 2);
    }
    return hash;
}

/* The key of the creation in this call, for a communicator with these members (0 when the rule
 * does not need them). */
static uint64_t creation_key(struct rec_call *call, enum rule rule, uint64_t members)
{
    /* Who accepts and who connects get the same communicator. Archives have hashes of the word. */
    const char *name = rule == BY_CONNECTION ? "meeting" : rec_functions[call->function].name;
    bool on_parent = (rule == ON_PARENT || rule == BY_NEW_MEMBERS_ON_PARENT) && call->comm;
    uint64_t words[] = {rfn_hash_bytes(name, strlen(name)), on_parent ? call->comm->identity : 0,
                        rule == ON_PARENT || rule == BY_CONNECTION ? 0 : hash_tags(call),
                        rule == ON_PARENT && on_parent ? 0 : members};
    return hash_words(words, sizeof words / sizeof *words);
}

/* A duplicate has its parent's members. */
static bool is_duplicate(const struct rec_call *call)
{
    return call->comm && (call->function == REC_FN_MPI_Comm_dup ||
                          call->function == REC_FN_MPI_Comm_dup_with_info ||
                          call->function == REC_FN_MPI_Comm_idup
#if MPI_VERSION >= 4
                          || call->function == REC_FN_MPI_Comm_idup_with_info
#endif
                         );
}

/* Whether the number of the communicator may be used again when it is freed. */
static bool is_reusable(const struct rec_call *call, enum rule rule, const struct rec_comm *comm)
{
    return call && rule == ON_PARENT && !rec_threads_multiple && comm->kind == REC_COMM_INTRA &&
           !comm->local->foreign &&
           (call->function == REC_FN_MPI_Comm_split || call->function == REC_FN_MPI_Comm_create ||
            call->function == REC_FN_MPI_Comm_split_type || is_duplicate(call));
}

/* Puts a communicator that is freed to those that may be used again. Without memory it is not. */
static void give(struct rec_comm *comm)
{
    struct rec_comm *others = comm->reuse ? rfn_map_object(&freed, comm->reuse) : NULL;
    if (!comm->reuse || rec_threads_multiple)
        return;
    comm->next_freed = others;
    rfn_map_put_object(&freed, comm->reuse, comm);
}

static struct rec_comm *take(uint64_t key)
{
    struct rec_comm *comm = key ? rfn_map_object(&freed, key) : NULL;
    if (comm)
        rfn_map_put_object(&freed, key, comm->next_freed);
    return comm;
}

/* ---- the table ---- */

static int wake(void)
{
    int size = 0, rank = 0;
    RFN_TRY(rec_job_group(&world_group));
    rec_mpi.MPI_Group_size(world_group, &size);
    rec_mpi.MPI_Group_rank(world_group, &rank);
    const struct rec_ranks *all = world_ranks((uint32_t)size);
    const struct rec_ranks *me = intern_ranks(make_ranks(&rank, 1));
    struct rec_comm *world = new_comm(REC_COMM_WORLD);
    struct rec_comm *self = world ? new_comm(REC_COMM_SELF) : NULL;
    if (!all || !me || !self)
        return RFN_E_NOMEM;
    world->identity = rfn_hash_bytes("MPI_COMM_WORLD", 14);
    world->my_rank = (uint32_t)rank;
    set_members(world, all, NULL);
    self->identity = rfn_hash_bytes("MPI_COMM_SELF", 13);
    set_members(self, me, NULL);
    if (rec_job_in_world()) {
        RFN_TRY(bind_handle(world, MPI_COMM_WORLD));
        RFN_TRY(bind_handle(self, MPI_COMM_SELF));
    }
    return 0;
}

static int ensure_awake(void)
{
    if (__builtin_expect(awake, 1))
        return 0;
    int error = wake();
    if (error < 0)
        rec_stop("cannot learn about MPI_COMM_WORLD: %s", rfn_error_text(error));
    else
        awake = true;
    return error;
}

/* The entry of a communicator that the call made or, with MPI_COMM_NULL, will make. call NULL: no
 * recorded call made it. */
static struct rec_comm *register_comm(struct rec_call *call, MPI_Comm handle, enum rule rule)
{
    const struct rec_comm *parent = call && is_duplicate(call) ? call->comm : NULL;
    struct rec_comm *comm = new_comm(parent && parent->kind == REC_COMM_INTER ? REC_COMM_INTER
                                                                              : REC_COMM_INTRA);
    int error = comm ? 0 : RFN_E_NOMEM;
    if (comm && parent) {
        set_members(comm, parent->local, parent->remote);
        comm->my_rank = parent->my_rank;
    } else if (comm) {
        error = ask_members(comm, handle);
    }
    const uint64_t members = error == 0 ? hash_members(comm) : 0;
    uint64_t key = call ? creation_key(call, rule, members) : 0;
    key = hash_words((uint64_t[]){key, members}, 2);
    if (error == 0 && is_reusable(call, rule, comm)) {
        struct rec_comm *former = take(key);
        comm->reuse = key;
        if (former) {
            free(comms[--n_comms]);
            comm = former;
        }
    }
    if (error == 0 && handle != MPI_COMM_NULL)
        error = bind_handle(comm, handle);
    if (error < 0) {
        if (comm && comm->number + 1 == n_comms)
            free(comms[--n_comms]);
        /* A handle that MPI itself does not know is the program's affair. */
        if (error != RFN_E_NOTFOUND)
            rec_stop("out of memory for communicators");
        return NULL;
    }
    if (!comm->identity)
        comm->identity = hash_words((uint64_t[]){key, next_ordinal(key), members}, 3);
    return comm;
}

static struct rec_comm *find_slowly(MPI_Comm handle)
{
    if (handle == MPI_COMM_NULL || ensure_awake() < 0)
        return NULL;
    uint64_t key = REC_KEY(handle);
    const uint64_t *number = rfn_map_get(&by_handle, key);
    if (number) {
        struct rec_comm *comm = comms[*number];
        cache[rec_key_place(key, CACHE_BITS)] = (struct cached){key, comm};
        return comm;
    }
    if (handle != MPI_COMM_WORLD && handle != MPI_COMM_SELF)
        return register_comm(NULL, handle, EXISTING);
    /* First seen after a start with a session. */
    struct rec_comm *comm = comms[handle == MPI_COMM_WORLD ? 0 : 1];
    if (bind_handle(comm, handle) < 0)
        rec_stop("out of memory for communicators");
    return comm;
}

static inline struct rec_comm *find(MPI_Comm handle)
{
    uint64_t key = REC_KEY(handle);
    struct cached *cached = &cache[rec_key_place(key, CACHE_BITS)];
    if (__builtin_expect(cached->key == key && cached->comm, 1))
        return cached->comm;
    return find_slowly(handle);
}

/* With several threads: without the lock when this one has looked the handle up before. */
__attribute__((noinline)) static const struct rec_comm *find_threaded(MPI_Comm handle)
{
    uint64_t key = REC_KEY(handle);
    struct rec_stream *stream = rec_this_stream;
    struct rec_find *recent = NULL;
    if (stream) {
        recent = &stream->recent.comms[rec_key_place(key, REC_RECENT_COMM_BITS)];
        if (__builtin_expect(rec_find_holds(recent, key, &removals), 1))
            return recent->what;
    }
    rec_lock();
    const struct rec_comm *found = find(handle);
    uint64_t now = removals;
    rec_unlock();
    if (recent)
        *recent = (struct rec_find){key, now, found, 0, NULL};
    return found;
}

static inline const struct rec_comm *look_up(MPI_Comm handle)
{
    return __builtin_expect(rec_threads_multiple, 0) ? find_threaded(handle) : find(handle);
}

const struct rec_comm *rec_comm_of(MPI_Comm comm)
{
    return look_up(comm);
}

uint32_t rec_comms_count(void)
{
    rec_lock();
    uint32_t n = ensure_awake() < 0 ? 0 : n_comms;
    rec_unlock();
    return n;
}

const struct rec_comm *rec_comm(uint32_t number)
{
    return number < n_comms ? comms[number] : NULL;
}

void rec_comms_release(void)
{
    for (uint32_t i = 0; i < n_comms; i++) {
        free(comms[i]->name);
        free(comms[i]);
    }
    free(comms);
    comms = NULL;
    later = NULL;
    rec_comms_on_their_way = 0;
    n_comms = 0;
    comms_capacity = 0;
    rfn_map_release(&by_handle);
    rfn_map_release(&ordinals);
    rfn_map_release(&freed);
    rfn_map_release_objects(&groups, free);
    memset(cache, 0, sizeof cache);
    rec_count_removal(&removals);
    int finalized = 1;
    rec_mpi.MPI_Finalized(&finalized);
    if (awake && !finalized)
        rec_job_release();
    awake = false;
}

/* ---- words ---- */

void rec_in_comm(struct rec_call *call, MPI_Comm comm)
{
    const struct rec_comm *found = look_up(comm);
    if (__builtin_expect(found != NULL, 1)) {
        call->comm = found;
        rec_push_in(call, found->number);
    } else {
        rec_push_in(call, comm == MPI_COMM_NULL ? -1 : RFN_UNKNOWN);
    }
}

static int64_t made_word(struct rec_call *call, MPI_Comm comm)
{
    enum rule rule = rule_of(rec_functions[call->function].name);
    if (comm == MPI_COMM_NULL)
        return -1;
    if (ensure_awake() < 0)
        return RFN_UNKNOWN;
    struct rec_comm *made = rule == EXISTING ? find(comm) : register_comm(call, comm, rule);
    return made ? (int64_t)made->number : RFN_UNKNOWN;
}

void rec_out_comm(struct rec_call *call, MPI_Comm comm)
{
    int64_t word = RFN_UNKNOWN;
    if (rec_has_outcome(call)) {
        rec_lock();
        word = made_word(call, comm);
        rec_unlock();
    }
    rec_push_out(call, word);
}

void rec_out_comm_later(struct rec_call *call, MPI_Comm *comm)
{
    int64_t word = RFN_UNKNOWN;
    if (rec_has_outcome(call) && is_duplicate(call)) {
        rec_lock();
        rec_comm_take_later(call); /* of an earlier call that has made no request */
        struct rec_comm *made = register_comm(call, MPI_COMM_NULL, ON_PARENT);
        if (made) {
            made->where = comm;
            made->later_of = call;
            made->next_later = later;
            later = made;
            rec_comms_on_their_way++;
            word = made->number;
        }
        rec_unlock();
    }
    rec_push_out(call, word);
}

struct rec_comm *rec_comm_take_later(struct rec_call *call)
{
    struct rec_comm **at = &later;
    while (*at && (*at)->later_of != call)
        at = &(*at)->next_later;
    struct rec_comm *found = *at;
    if (!found)
        return NULL;
    *at = found->next_later;
    found->later_of = NULL;
    rec_comms_on_their_way--;
    return found;
}

void rec_comm_arrived(struct rec_comm *comm)
{
    MPI_Comm handle = comm->where ? *comm->where : MPI_COMM_NULL;
    comm->where = NULL;
    if (handle != MPI_COMM_NULL && bind_handle(comm, handle) < 0)
        rec_stop("out of memory for communicators");
}

void rec_free_comm(struct rec_call *call, MPI_Comm comm)
{
    rec_lock();
    const uint64_t *number = rfn_map_get(&by_handle, REC_KEY(comm));
    call->scratch.removed = number ? (int64_t)*number + 1 : 0;
    if (number) {
        uint64_t key = REC_KEY(comm);
        rec_count_removal(&removals);
        rfn_map_remove(&by_handle, key);
        struct cached *cached = &cache[rec_key_place(key, CACHE_BITS)];
        if (cached->key == key)
            cached->comm = NULL;
    }
    rec_unlock();
}

void rec_freed_comm(struct rec_call *call, MPI_Comm comm)
{
    int64_t number = call->scratch.removed - 1;
    call->scratch.removed = 0;
    if (number < 0)
        return;
    rec_lock();
    if (call->rc == MPI_SUCCESS)
        give(comms[number]);
    else if (bind_handle(comms[number], comm) < 0)
        rec_stop("out of memory for communicators");
    rec_unlock();
}

void rec_comm_named(struct rec_call *call, const char *name)
{
    if (!call->comm || !name)
        return;
    rec_lock();
    struct rec_comm *comm = comms[call->comm->number];
    char *copy = strdup(name);
    if (copy) {
        free(comm->name);
        comm->name = copy;
    }
    rec_unlock();
}

/* ---- questions of the wrappers ---- */

int64_t rec_comm_size(MPI_Comm comm)
{
    const struct rec_comm *found = rec_comm_of(comm);
    if (!found)
        return 0;
    return found->kind == REC_COMM_INTER ? found->remote_size : found->size;
}

bool rec_comm_is_root(MPI_Comm comm, int root)
{
    const struct rec_comm *found = rec_comm_of(comm);
    if (!found)
        return false;
    if (found->kind == REC_COMM_INTER)
        return root == MPI_ROOT;
    return root >= 0 && found->my_rank == (uint32_t)root;
}

#if defined RFN_FLAVOUR_SMPI
/* MPI_Topo_test ends the simulation; but there are no neighbourhood collectives either. */
static void ask_neighbors(MPI_Comm handle, int rank, int *n_in, int *n_out)
{
    (void)handle;
    (void)rank;
    *n_in = *n_out = 0;
}
#else
static void ask_neighbors(MPI_Comm handle, int rank, int *n_in, int *n_out)
{
    int topology = MPI_UNDEFINED, n = 0, weighted;
    *n_in = *n_out = 0;
    if (rec_mpi.MPI_Topo_test(handle, &topology) != MPI_SUCCESS)
        return;
    if (topology == MPI_CART && rec_mpi.MPI_Cartdim_get(handle, &n) == MPI_SUCCESS)
        *n_in = *n_out = 2 * n;
    else if (topology == MPI_GRAPH &&
             rec_mpi.MPI_Graph_neighbors_count(handle, rank, &n) == MPI_SUCCESS)
        *n_in = *n_out = n;
    else if (topology == MPI_DIST_GRAPH)
        rec_mpi.MPI_Dist_graph_neighbors_count(handle, n_in, n_out, &weighted);
}
#endif

void rec_comm_neighbors(MPI_Comm comm, int *n_in, int *n_out)
{
    const struct rec_comm *known = rec_comm_of(comm);
    *n_in = *n_out = 0;
    if (!known)
        return;
    if (__atomic_load_n(&known->n_in, __ATOMIC_ACQUIRE) < 0) {
        rec_lock();
        struct rec_comm *found = comms[known->number];
        if (found->n_in < 0) {
            int in = 0;
            ask_neighbors(comm, (int)found->my_rank, &in, &found->n_out);
            __atomic_store_n(&found->n_in, in, __ATOMIC_RELEASE);
        }
        rec_unlock();
    }
    *n_in = known->n_in;
    *n_out = known->n_out;
}
