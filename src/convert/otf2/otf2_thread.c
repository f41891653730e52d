#include "convert/otf2/otf2_thread.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE_FIRST = 64,
    LINE_MAX = 1 << 18, /* events that wait, of some 300 bytes each */
    FRAMES_MAX = 4096,  /* of a call path: the innermost ones */
    CONTEXTS_MAX = 4096 /* inside each other */
};

static int no_memory(const struct otf2_thread *thread)
{
    return rfn_fail(thread->reading->diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

int rfn_otf2_contradicts(const struct otf2_thread *thread, const char *what)
{
    return rfn_fail(thread->reading->diag, RFN_E_CORRUPT, -1, (int)thread->location->rank,
                    "%s: location %llu (rank %lld): %s", thread->reading->path,
                    (unsigned long long)thread->location->ref, (long long)thread->location->rank,
                    what);
}

int rfn_otf2_thread_init(struct otf2_thread *thread, struct otf2_reading *reading,
                         const struct otf2_location *location)
{
    *thread = (struct otf2_thread){.reading = reading,
                                   .location = location,
                                   .stream = -1,
                                   .node = &reading->root,
                                   .line = calloc(LINE_FIRST, sizeof *thread->line),
                                   .line_mask = LINE_FIRST - 1};
    return thread->line ? 0 : no_memory(thread);
}

void rfn_otf2_thread_release(struct otf2_thread *thread)
{
    free(thread->open);
    free(thread->happenings);
    free(thread->line);
    free(thread->words);
    rfn_map_release_objects(&thread->requests, free);
    rfn_map_release(&thread->windows);
}

/* ---- call paths ---- */

struct otf2_node *rfn_otf2_node(struct otf2_reading *reading, struct otf2_node *parent,
                                const char *function, const char *file, uint32_t line)
{
    const uint64_t words[] = {(uintptr_t)parent, (uintptr_t)function, (uintptr_t)file, line};
    const uint64_t key = rfn_hash_bytes(words, sizeof words);
    struct otf2_node *node = rfn_map_object(&reading->nodes, key);
    if (node)
        return node;
    node = rfn_arena_zeroed(&reading->definitions.arena, 1, sizeof *node);
    if (!node || rfn_map_put_object(&reading->nodes, key, node) < 0)
        return NULL;
    *node = (struct otf2_node){parent, function, file, line, parent->depth + 1, -1};
    return node;
}

struct otf2_node *rfn_otf2_context_node(struct otf2_reading *reading, uint64_t ref)
{
    const struct rfn_map *contexts = &reading->definitions.contexts;
    struct otf2_context *way[CONTEXTS_MAX], *at = rfn_map_object(contexts, ref);
    size_t n = 0;
    for (; at && !at->node; at = rfn_map_object(contexts, at->parent)) {
        if (n == CONTEXTS_MAX)
            return NULL;
        way[n++] = at;
    }
    struct otf2_node *node = at ? at->node : &reading->root;
    while (n && node) {
        const struct otf2_context *of = way[--n];
        node = rfn_otf2_node(reading, node, of->region->name, of->file, of->line);
        way[n]->node = node;
    }
    return node;
}

static int64_t path_of(const struct otf2_thread *thread, struct otf2_node *node)
{
    if (node->path >= 0)
        return node->path;
    const size_t most = node->depth < FRAMES_MAX ? node->depth : FRAMES_MAX;
    struct rfn_location *frames = calloc(most + 1, sizeof *frames);
    const struct otf2_node *at = node;
    if (!frames)
        return no_memory(thread);
    for (size_t i = 0; i < most; i++, at = at->parent)
        frames[i] = (struct rfn_location){
            .function = at->function, .file = at->file, .line = at->line, .module = ""};
    node->path = rfn_writer_path(thread->reading->writer, frames, most);
    free(frames);
    return node->path;
}

/* ---- the line ---- */

static int start_stream(struct otf2_thread *thread)
{
    struct otf2_reading *reading = thread->reading;
    const struct otf2_process *process = rfn_map_object(&reading->definitions.processes,
                                                        thread->location->group);
    const int64_t host = rfn_writer_host(reading->writer, process ? process->host : "", 0);
    RFN_TRY((int)(host < 0 ? host : 0));
    thread->stream = rfn_writer_stream(reading->writer, (uint32_t)thread->location->rank,
                                       thread->location->thread, (uint32_t)host,
                                       reading->definitions.metric != NULL);
    RFN_TRY((int)(thread->stream < 0 ? thread->stream : 0));
    reading->summary->streams++;
    return 0;
}

static int write_first(struct otf2_thread *thread)
{
    struct otf2_waiting *waiting = rfn_otf2_waiting(thread, thread->first);
    if (waiting->open)
        RFN_TRY(rfn_otf2_give_up(thread, waiting));
    waiting->record.in = waiting->in;
    waiting->record.out = waiting->out;
    thread->first++;
    return rfn_writer_event(thread->reading->writer, (uint32_t)thread->stream, &waiting->record);
}

int rfn_otf2_write_known(struct otf2_thread *thread)
{
    while (thread->first < thread->next && !rfn_otf2_waiting(thread, thread->first)->open)
        RFN_TRY(write_first(thread));
    return 0;
}

static int make_room(struct otf2_thread *thread)
{
    const size_t size = thread->line_mask + 1;
    if (thread->next - thread->first < size)
        return 0;
    if (size == LINE_MAX)
        return write_first(thread);
    struct otf2_waiting *larger = calloc(2 * size, sizeof *larger);
    if (!larger)
        return no_memory(thread);
    for (uint64_t i = thread->first; i < thread->next; i++)
        larger[i & (2 * size - 1)] = thread->line[i & thread->line_mask];
    free(thread->line);
    thread->line = larger;
    thread->line_mask = 2 * size - 1;
    return 0;
}

struct otf2_waiting *rfn_otf2_wait(struct otf2_thread *thread, int64_t enter_ns, int64_t exit_ns,
                                   struct otf2_node *node)
{
    if (thread->stream < 0)
        thread->error = start_stream(thread);
    if (!thread->error)
        thread->error = make_room(thread);
    const int64_t path = thread->error ? -1 : path_of(thread, node);
    if (path < 0 && !thread->error)
        thread->error = (int)path;
    if (thread->error)
        return NULL;
    struct otf2_waiting *waiting = rfn_otf2_waiting(thread, thread->next++);
    *waiting = (struct otf2_waiting){.record = {.enter_ns = enter_ns,
                                                .exit_ns = exit_ns,
                                                .inside_ns = exit_ns - enter_ns,
                                                .polls = 1,
                                                .path = (uint32_t)path},
                                     .region = thread->call};
    return waiting;
}

/* ---- regions ---- */

/* The call path of what is entered at this line of the innermost function; NULL: out of memory. */
static struct otf2_node *path_at(const struct otf2_thread *thread, uint32_t line)
{
    const struct otf2_node *at = thread->node;
    if (!line || !at->parent)
        return thread->node;
    return rfn_otf2_node(thread->reading, at->parent, at->function, at->file, line);
}

static void begin_call(struct otf2_thread *thread, int64_t ns, const struct otf2_region *region)
{
    thread->call = region;
    thread->call_at = thread->n_open;
    thread->enter_ns = ns;
    thread->entered = thread->counter;
}

int rfn_otf2_enter(struct otf2_thread *thread, int64_t ns, const struct otf2_region *region,
                   struct otf2_node *node, uint32_t line)
{
    struct otf2_open open = {.region = region, .node = thread->node};
    thread->last_ns = ns;
    if (RFN_GROW(thread->open, thread->open_capacity, thread->n_open + 1) < 0)
        return no_memory(thread);
    if (thread->call) {
        /* What MPI does inside of a call is no call. */
    } else if (region->kind == OTF2_REGION_MPI) {
        begin_call(thread, ns, region);
        open.node = node && node->parent ? node->parent : path_at(thread, line);
    } else if (region->kind == OTF2_REGION_USER) {
        open.told = thread->stream >= 0 || thread->location->thread == 0;
        if (open.told) {
            struct otf2_node *at = path_at(thread, line);
            RFN_TRY(at ? rfn_otf2_mark(thread, ns, region, at, true) : no_memory(thread));
        }
    } else {
        struct otf2_node *from = path_at(thread, line);
        open.node = node || !from ? node
                                  : rfn_otf2_node(thread->reading, from, region->name, region->file,
                                                  region->line);
    }
    if (!open.node)
        return no_memory(thread);
    thread->open[thread->n_open++] = open;
    thread->node = open.node;
    return 0;
}

static int close_top(struct otf2_thread *thread, int64_t ns)
{
    const struct otf2_open top = thread->open[--thread->n_open];
    if (thread->call && thread->n_open == thread->call_at) {
        RFN_TRY(rfn_otf2_call(thread, ns));
        thread->call = NULL;
        thread->made = NULL;
        thread->n_happenings = 0;
    } else if (top.told) {
        RFN_TRY(rfn_otf2_mark(thread, ns, top.region, top.node, false));
    }
    thread->node = thread->n_open ? thread->open[thread->n_open - 1].node : &thread->reading->root;
    return 0;
}

/* A region that is not open may have been entered before recording began. */
int rfn_otf2_leave(struct otf2_thread *thread, int64_t ns, const struct otf2_region *region)
{
    size_t at = thread->n_open;
    thread->last_ns = ns;
    while (at && thread->open[at - 1].region != region)
        at--;
    while (at && thread->n_open >= at)
        RFN_TRY(close_top(thread, ns));
    return 0;
}

int rfn_otf2_happens(struct otf2_thread *thread, const struct otf2_happening *happening)
{
    thread->last_ns = happening->ns;
    if (RFN_GROW(thread->happenings, thread->happenings_capacity, thread->n_happenings + 1) < 0)
        return no_memory(thread);
    thread->happenings[thread->n_happenings++] = *happening;
    if (thread->call)
        return 0;
    thread->enter_ns = happening->ns;
    thread->entered = thread->counter;
    thread->reading->summary->left_out.outside += happening->kind != OTF2_TESTS;
    RFN_TRY(rfn_otf2_call(thread, happening->ns));
    thread->n_happenings = 0;
    return 0;
}

int rfn_otf2_end(struct otf2_thread *thread)
{
    while (thread->n_open)
        RFN_TRY(close_top(thread, thread->last_ns));
    if (thread->stream < 0 && thread->location->thread == 0)
        RFN_TRY(start_stream(thread));
    while (thread->first < thread->next)
        RFN_TRY(write_first(thread));
    return 0;
}

/* ---- communicators ---- */

/* The rank in the world of a member, -1: none. */
static int64_t world_rank(const struct otf2_definitions *of, const struct otf2_group *group,
                          uint32_t i)
{
    if (group->type != OTF2_GROUP_TYPE_COMM_LOCATIONS)
        return group->members[i] < of->world->n ? (int64_t)group->members[i] : -1;
    for (uint32_t k = 0; k < of->world->n; k++) {
        const uint32_t at = (i + k) % of->world->n;
        if (of->world->members[at] == group->members[i])
            return at;
    }
    return -1;
}

static int64_t *members_of(const struct otf2_reading *reading, const struct otf2_group *group)
{
    int64_t *members = calloc((size_t)group->n + 1, sizeof *members);
    for (uint32_t i = 0; members && i < group->n; i++)
        members[i] = world_rank(&reading->definitions, group, i);
    return members;
}

int64_t rfn_otf2_comm(struct otf2_reading *reading, struct otf2_comm *comm)
{
    struct otf2_group none = {0};
    const struct otf2_group *remote = comm->remote ? comm->remote : &none;
    const bool self = comm->group->type == OTF2_GROUP_TYPE_COMM_SELF;
    if (comm->is_world)
        return reading->world;
    if (comm->number >= 0)
        return comm->number;
    int64_t *members = members_of(reading, self ? &none : comm->group);
    int64_t *others = members_of(reading, remote);
    if (members && others)
        comm->number = rfn_writer_comm(reading->writer,
                                       self           ? RFN_COMM_SELF
                                       : comm->remote ? RFN_COMM_INTER
                                                      : RFN_COMM_INTRA,
                                       members, self ? 0 : comm->group->n, others, remote->n);
    else
        comm->number = rfn_fail(reading->diag, RFN_E_NOMEM, -1, -1, "out of memory");
    free(members);
    free(others);
    return comm->number;
}

static int64_t rank_in(const struct otf2_definitions *of, const struct otf2_group *group,
                       int64_t rank)
{
    /* Mostly a communicator's first ranks are the world's, in its order. */
    for (uint32_t i = 0; i < group->n; i++) {
        const uint32_t at = (uint32_t)(((uint64_t)rank + i) % group->n);
        if (world_rank(of, group, at) == rank)
            return at;
    }
    return -1;
}

int64_t rfn_otf2_own_rank(const struct otf2_thread *thread, struct otf2_comm *comm)
{
    const struct otf2_definitions *of = &thread->reading->definitions;
    const int64_t rank = thread->location->rank;
    if (comm->asked == thread->location->ref)
        return comm->own_rank;
    comm->asked = thread->location->ref;
    comm->own_remote = false;
    if (comm->group->type == OTF2_GROUP_TYPE_COMM_SELF) {
        comm->own_rank = 0;
        return 0;
    }
    comm->own_rank = comm->is_world ? rank : rank_in(of, comm->group, rank);
    if (comm->own_rank < 0 && comm->remote) {
        comm->own_rank = rank_in(of, comm->remote, rank);
        comm->own_remote = comm->own_rank >= 0;
    }
    return comm->own_rank;
}

int64_t rfn_otf2_comm_rank(const struct otf2_thread *thread, struct otf2_comm *comm, int64_t rank)
{
    const struct otf2_group *group = comm->group;
    rfn_otf2_own_rank(thread, comm);
    if (comm->remote && !comm->own_remote)
        group = comm->remote;
    if (group->type == OTF2_GROUP_TYPE_COMM_SELF)
        return rank == 0 || (group->global && rank == thread->location->rank) ? 0 : -1;
    if (group->global)
        rank = rank_in(&thread->reading->definitions, group, rank);
    return rank >= 0 && rank < group->n ? rank : -1;
}
