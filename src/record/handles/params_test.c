/* An MPI program that tests params.c, handles.c, comms.c, types.c and requests.c against the MPI it
 * is linked with. Run it on 1 and on 4 ranks; every rank checks, rank 0 prints one line per test
 * with the failures of all. With the argument `bench` it prints what the tables cost instead.
 *
 * It stands in for the recorder (recorder.c, wrappers): each step makes the call of MPI itself and
 * then does what a wrapper does. What is expected comes from MPI asked in another way (group
 * translation rank by rank, MPI_Get_count), from counting by hand, or from what other ranks say.
 */
#include "base/buf.h"
#include "event/datatype.h"
#include "record/core/tables.h"
#include "record/handles/comms.h"
#include "record/handles/params.h"
#include "record/handles/types.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum rec_state rec_state = REC_RECORDING;
const struct rec_request_listener *rec_listen_requests = NULL;
bool rec_only_samples = false;
bool rec_threads_multiple;

static int failures, rank, ranks;
static bool stopped;
static struct rec_stream stream, other_stream;
static struct rec_call *const call = &stream.call;
__thread struct rec_stream *rec_this_stream = &stream;

void rec_stop(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    stopped = true;
}

void rec_limit_times(int n)
{
    (void)n;
}

static void check(bool holds, const char *what, int line)
{
    if (!holds) {
        failures++;
        fprintf(stderr, "# rank %d line %d: %s\n", rank, line, what);
    }
}

#define CHECK(holds) check((holds), #holds, __LINE__)

#define EQUAL(a, b)                                                                                \
    do {                                                                                           \
        long long left_ = (long long)(a), right_ = (long long)(b);                                 \
        if (left_ != right_) {                                                                     \
            failures++;                                                                            \
            fprintf(stderr, "# rank %d line %d: %s = %lld, not %lld\n", rank, __LINE__, #a, left_, \
                    right_);                                                                       \
        }                                                                                          \
    } while (0)

static void start_on(struct rec_stream *s, uint32_t function)
{
    struct rec_call *c = &s->call;
    c->function = function;
    c->n_in = c->n_out = c->n_requests = 0;
    c->rc = MPI_SUCCESS;
    c->poll = 0;
    c->comm = NULL;
}

static void start(uint32_t function)
{
    start_on(&stream, function);
}

/* The words of the list that a word names. */
static const int64_t *list(int64_t word, size_t *n)
{
    *n = 0;
    return word > 0 ? rfn_stream_list_words(stream.events, (size_t)word, n) : NULL;
}

static int64_t comm_word(MPI_Comm comm)
{
    start(REC_FN_MPI_Send);
    rec_in_comm(call, comm);
    return call->in[0];
}

static int64_t type_word(MPI_Datatype type)
{
    start(REC_FN_MPI_Send);
    rec_in_type(call, type);
    return call->in[0];
}

/* ---- communicators ---- */

static int64_t world_rank_of(const struct rec_ranks *group, uint32_t member)
{
    for (uint32_t i = 0; i < group->n_runs; i++) {
        const struct rec_rank_run *run = &group->runs[i];
        if (member < run->count)
            return run->start == REC_RANK_FOREIGN
                       ? -1
                       : (int64_t)run->start + (int64_t)member * run->stride;
        member -= run->count;
    }
    return -2;
}

static void check_group(const struct rec_ranks *group, MPI_Group expected)
{
    MPI_Group world;
    int n;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(expected, &n);
    EQUAL(group->size, n);
    for (int i = 0; i < n; i++) {
        int at;
        PMPI_Group_translate_ranks(expected, 1, &i, world, &at);
        EQUAL(world_rank_of(group, (uint32_t)i), at);
    }
    PMPI_Group_free(&world);
}

/* The entry holds what MPI says, and all members (of both groups) have the same identity. */
static void check_comm(const struct rec_comm *entry, MPI_Comm comm)
{
    MPI_Group group;
    int inter, size, me;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &me);
    EQUAL(entry->size, size);
    EQUAL(entry->my_rank, me);
    EQUAL(entry->kind == REC_COMM_INTER, inter);
    PMPI_Comm_group(comm, &group);
    check_group(entry->local, group);
    PMPI_Group_free(&group);
    uint64_t mine[2] = {entry->identity, entry->lowest}, theirs[2] = {0, 0};
    if (inter) {
        PMPI_Comm_remote_group(comm, &group);
        check_group(entry->remote, group);
        PMPI_Group_free(&group);
        PMPI_Comm_remote_size(comm, &size);
        EQUAL(entry->remote_size, size);
    }
    PMPI_Allreduce(mine, theirs, 2, MPI_UINT64_T, MPI_BXOR, comm);
    if (inter || size % 2)
        CHECK(size % 2 ? theirs[0] == mine[0] && theirs[1] == mine[1]
                       : theirs[0] == 0 && theirs[1] == 0);
    PMPI_Allreduce(mine, theirs, 2, MPI_UINT64_T, MPI_MAX, comm);
    CHECK(theirs[0] == mine[0] && theirs[1] == mine[1]);
}

/* Takes a new communicator in as a wrapper does; its entry, or NULL for MPI_COMM_NULL. */
static const struct rec_comm *made(MPI_Comm comm)
{
    uint32_t before = rec_comms_count();
    rec_out_comm(call, comm);
    if (comm == MPI_COMM_NULL) {
        EQUAL(call->out[0], -1);
        EQUAL(rec_comms_count(), before);
        return NULL;
    }
    const uint32_t number = (uint32_t)call->out[0];
    CHECK(number <= before && rec_comms_count() <= before + 1);
    EQUAL(comm_word(comm), number);
    check_comm(rec_comm(number), comm);
    return rec_comm(number);
}

static void free_comm(MPI_Comm *comm)
{
    MPI_Comm freed = *comm;
    start(REC_FN_MPI_Comm_free);
    rec_in_comm(call, freed);
    rec_free_comm(call, freed);
    PMPI_Comm_free(comm);
    rec_freed_comm(call, freed);
}

static void test_predefined_comms(void)
{
    EQUAL(comm_word(MPI_COMM_WORLD), 0);
    CHECK(call->comm == rec_comm(0));
    EQUAL(comm_word(MPI_COMM_SELF), 1);
    EQUAL(comm_word(MPI_COMM_NULL), -1);
    CHECK(call->comm == NULL);
    EQUAL(rec_comm(0)->kind, REC_COMM_WORLD);
    EQUAL(rec_comm(1)->kind, REC_COMM_SELF);
    EQUAL(rec_comm(0)->local->n_runs, 1);
    check_comm(rec_comm(0), MPI_COMM_WORLD);
    EQUAL(world_rank_of(rec_comm(1)->local, 0), rank);
    EQUAL(rec_comm_size(MPI_COMM_WORLD), ranks);
    EQUAL(rec_comm_size(MPI_COMM_NULL), 0);
    CHECK(rec_comm_is_root(MPI_COMM_WORLD, rank));
    CHECK(!rec_comm_is_root(MPI_COMM_WORLD, rank + 1));
}

static const struct rec_comm *duplicated(MPI_Comm *dup)
{
    start(REC_FN_MPI_Comm_dup);
    rec_in_comm(call, MPI_COMM_WORLD);
    PMPI_Comm_dup(MPI_COMM_WORLD, dup);
    return made(*dup);
}

/* Communicators that are there are different ones; those that are freed come again, unless threads
 * could free and make them in any order. */
static void test_dup(void)
{
    MPI_Comm dups[2];
    const struct rec_comm *first = duplicated(&dups[0]), *second = duplicated(&dups[1]);
    uint32_t number = rec_comms_count() - 1;
    CHECK(first->local == rec_comm(0)->local && second->local == first->local);
    CHECK(first->identity != second->identity && second->number > first->number);
    free_comm(&dups[0]);
    for (int i = 0; i < 20; i++) {
        CHECK(duplicated(&dups[0]) == first);
        EQUAL(rec_comms_count(), number + 1);
        free_comm(&dups[0]);
    }
    free_comm(&dups[1]);
    rec_threads_multiple = true;
    CHECK(duplicated(&dups[0]) != first);
    EQUAL(rec_comms_count(), ++number + 1);
    free_comm(&dups[0]);
    rec_threads_multiple = false;
    /* A communicator nobody told of is known from its first use on. */
    MPI_Comm stranger;
    PMPI_Comm_dup(MPI_COMM_WORLD, &stranger);
    EQUAL(comm_word(stranger), number + 1);
    CHECK(call->comm->local == rec_comm(0)->local);
    check_comm(call->comm, stranger);
    start(REC_FN_MPI_Comm_set_name);
    rec_in_comm(call, stranger);
    rec_in_string(call, "halo");
    CHECK(strcmp(rec_comm(number + 1)->name, "halo") == 0);
    free_comm(&stranger);
}

static void test_idup(void)
{
#if !defined RFN_FLAVOUR_SMPI
    MPI_Comm comm;
    MPI_Request request;
    MPI_Status status;
    uint32_t before = rec_comms_count();
    start(REC_FN_MPI_Comm_idup);
    rec_in_comm(call, MPI_COMM_WORLD);
    PMPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    rec_out_comm_later(call, &comm);
    rec_out_request(call, request, 0, 0, 0, -1);
    EQUAL(call->out[0], before);
    start(REC_FN_MPI_Wait);
    rec_in_request(call, request);
    EQUAL(call->in[0], rfn_request_word(RFN_REQUEST_RECENT, 1));
    PMPI_Wait(&request, &status);
    rec_out_completed_all(call, 1, &status);
    EQUAL(comm_word(comm), before);
    check_comm(rec_comm(before), comm);
    free_comm(&comm);
#endif
}

static void test_split(void)
{
    for (int round = 0; round < 3; round++) {
        MPI_Comm comm;
        start(REC_FN_MPI_Comm_split);
        rec_in_comm(call, MPI_COMM_WORLD);
        int colour = round == 2 && rank == 0 ? MPI_UNDEFINED : rank % 2;
        PMPI_Comm_split(MPI_COMM_WORLD, colour, -rank, &comm);
        const struct rec_comm *entry = made(comm);
        if (!entry)
            continue;
        EQUAL(entry->local->n_runs, 1);
        if (entry->size > 1)
            EQUAL(entry->local->runs[0].stride, -2);
        uint64_t xored;
        PMPI_Allreduce(&entry->identity, &xored, 1, MPI_UINT64_T, MPI_BXOR, comm);
        /* Ranks 0 and 1 compare: two colours are two communicators. */
        uint64_t other = 0;
        if (rank < 2 && ranks > 1 && round < 2) {
            PMPI_Sendrecv(&entry->identity, 1, MPI_UINT64_T, 1 - rank, 0, &other, 1, MPI_UINT64_T,
                          1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(other != entry->identity);
        }
        free_comm(&comm);
    }
    /* Rank 0 got no communicator in the last round; it counts all the same. */
    MPI_Comm comm;
    start(REC_FN_MPI_Comm_split);
    rec_in_comm(call, MPI_COMM_WORLD);
    PMPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    const struct rec_comm *entry = made(comm);
    CHECK(entry->local == rec_comm(0)->local);
    free_comm(&comm);
}

static void test_create_group(void)
{
    MPI_Group world, evens;
    MPI_Comm comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    int range[1][3] = {{0, ranks - 1, 2}};
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_range_incl(world, 1, range, &evens);
    for (int i = 0; i < 2; i++) {
        start(REC_FN_MPI_Comm_create);
        rec_in_comm(call, MPI_COMM_WORLD);
        PMPI_Comm_create(MPI_COMM_WORLD, evens, &comms[i]);
        const struct rec_comm *entry = made(comms[i]);
        EQUAL(entry != NULL, rank % 2 == 0);
        if (entry)
            EQUAL(entry->local->runs[0].stride, ranks > 2 ? 2 : 0);
        if (comms[i] != MPI_COMM_NULL)
            free_comm(&comms[i]);
    }
    uint64_t seen[3];
    for (int i = 0; i < 3 && rank % 2 == 0; i++) {
        MPI_Comm comm;
        start(REC_FN_MPI_Comm_create_group);
        rec_in_comm(call, MPI_COMM_WORLD);
        rec_in_group(call, evens);
        rec_in_tag(call, 7 + i / 2);
        PMPI_Comm_create_group(MPI_COMM_WORLD, evens, 7 + i / 2, &comm);
        seen[i] = made(comm)->identity;
        free_comm(&comm);
    }
    if (rank % 2 == 0)
        CHECK(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
    MPI_Group freed = evens;
    start(REC_FN_MPI_Send);
    rec_free_group(call, freed);
    PMPI_Group_free(&evens);
    rec_freed_group(call, freed);
    PMPI_Group_free(&world);
}

#if !defined RFN_FLAVOUR_SMPI /* has neither intercommunicators nor neighbourhoods */
static void test_intercomm(void)
{
    if (ranks < 2)
        return;
    MPI_Comm half, inter, merged, dup;
    PMPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    uint64_t before = 0;
    for (int i = 0; i < 2; i++) {
        start(REC_FN_MPI_Intercomm_create);
        rec_in_comm(call, half);
        rec_in_tag(call, 5);
        PMPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
        const struct rec_comm *entry = made(inter);
        CHECK(entry->identity != before);
        before = entry->identity;
        EQUAL(entry->lowest, 0);
        EQUAL(rec_comm_size(inter), entry->remote_size);
        CHECK(rec_comm_is_root(inter, MPI_ROOT) && !rec_comm_is_root(inter, 0));
        if (i == 0)
            free_comm(&inter);
    }
    start(REC_FN_MPI_Comm_dup);
    rec_in_comm(call, inter);
    PMPI_Comm_dup(inter, &dup);
    const struct rec_comm *entry = made(dup);
    CHECK(entry->remote == rec_comm_of(inter)->remote);
    start(REC_FN_MPI_Intercomm_merge);
    rec_in_comm(call, inter);
    PMPI_Intercomm_merge(inter, rank % 2 == 0, &merged);
    entry = made(merged);
    EQUAL(entry->kind, REC_COMM_INTRA);
    EQUAL(entry->size, ranks);
    free_comm(&merged);
    free_comm(&dup);
    free_comm(&inter);
    free_comm(&half);
}

static void test_topologies(void)
{
    int dims[2] = {ranks, 1}, periods[2] = {1, 0}, n_in, n_out;
    MPI_Comm comm;
    rec_comm_neighbors(MPI_COMM_WORLD, &n_in, &n_out);
    CHECK(n_in == 0 && n_out == 0);
    start(REC_FN_MPI_Cart_create);
    rec_in_comm(call, MPI_COMM_WORLD);
    PMPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    made(comm);
    rec_comm_neighbors(comm, &n_in, &n_out);
    CHECK(n_in == 4 && n_out == 4);
    free_comm(&comm);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    int sources[3] = {left, left, left}, targets[3] = {right, right, right};
    int *volatile unweighted = MPI_UNWEIGHTED; /* else gcc thinks that it is read */
    start(REC_FN_MPI_Dist_graph_create_adjacent);
    rec_in_comm(call, MPI_COMM_WORLD);
    rec_in_ints(call, unweighted, 3);
    EQUAL(call->in[1], RFN_LIST_UNWEIGHTED);
    PMPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources, unweighted, 3, targets, unweighted,
                                    MPI_INFO_NULL, 0, &comm);
    made(comm);
    rec_comm_neighbors(comm, &n_in, &n_out);
    CHECK(n_in == 3 && n_out == 3);
    free_comm(&comm);
}
#endif

/* ---- datatypes ---- */

struct content {
    uint64_t combiner;
    char name[64];
    int64_t size, lb, extent, true_lb, true_extent;
    int64_t integers[32], addresses[32];
    uint64_t n_integers, n_addresses, n_children, children[8];
};

static struct content decode(int64_t word)
{
    struct content c = {0};
    const struct rec_type *type = rec_type((uint32_t)word);
    struct rfn_reader reader = rfn_reader_over(type->content, type->content_size);
    c.combiner = rfn_reader_varint(&reader);
    if (c.combiner == RFN_COMBINER_NAMED) {
        size_t length;
        const uint8_t *name = rfn_reader_blob(&reader, &length);
        memcpy(c.name, name, length < 63 ? length : 63);
    }
    c.size = rfn_reader_svarint(&reader);
    c.lb = rfn_reader_svarint(&reader);
    c.extent = rfn_reader_svarint(&reader);
    c.true_lb = rfn_reader_svarint(&reader);
    c.true_extent = rfn_reader_svarint(&reader);
    c.n_integers = rfn_reader_limited(&reader, 32);
    for (uint64_t i = 0; i < c.n_integers; i++)
        c.integers[i] = rfn_reader_svarint(&reader);
    c.n_addresses = rfn_reader_limited(&reader, 32);
    for (uint64_t i = 0; i < c.n_addresses; i++)
        c.addresses[i] = rfn_reader_svarint(&reader);
    c.n_children = rfn_reader_limited(&reader, 8);
    for (uint64_t i = 0; i < c.n_children; i++)
        c.children[i] = rfn_reader_u64(&reader);
    CHECK(!reader.failed && reader.at == reader.size);
    EQUAL(type->size, c.size);
    CHECK(type->hash == rfn_hash_bytes(type->content, type->content_size));
    return c;
}

static void free_type(MPI_Datatype *type)
{
    MPI_Datatype freed = *type;
    start(REC_FN_MPI_Type_free);
    rec_in_type(call, freed);
    rec_free_type(call, freed);
    PMPI_Type_free(type);
    rec_freed_type(call, freed);
}

static int64_t made_type(MPI_Datatype type)
{
    start(REC_FN_MPI_Type_vector);
    rec_out_type(call, type);
    EQUAL(type_word(type), call->out[0] == call->in[0] ? call->out[0] : -99);
    return call->in[0];
}

static void test_named_types(void)
{
    struct content c = decode(type_word(MPI_DOUBLE));
    EQUAL(c.combiner, RFN_COMBINER_NAMED);
    CHECK(strcmp(c.name, "MPI_DOUBLE") == 0);
    CHECK(c.size == 8 && c.lb == 0 && c.extent == 8 && c.true_lb == 0 && c.true_extent == 8);
    CHECK(c.n_integers == 0 && c.n_addresses == 0 && c.n_children == 0);
    EQUAL(type_word(MPI_DOUBLE), type_word(MPI_DOUBLE));
    CHECK(type_word(MPI_DOUBLE) != type_word(MPI_INT));
    EQUAL(type_word(MPI_DATATYPE_NULL), -1);
    EQUAL(rec_type_size(MPI_DATATYPE_NULL), -1);
    EQUAL(rec_type_size(MPI_INT), sizeof(int));
}

static void test_derived_types(void)
{
    int64_t words[4] = {-1, -1, -1, -1};
    uint32_t count = 0;
    for (int i = 0; i < 2000; i++) {
        MPI_Datatype vector, column, resized, structure;
        int lengths[2] = {1, 2};
        MPI_Aint places[2] = {0, 64};
        PMPI_Type_vector(3, 2, 5, MPI_DOUBLE, &vector);
        int64_t now[4] = {made_type(vector)};
        PMPI_Type_create_hvector(2, 1, 1000, vector, &column);
        now[1] = made_type(column);
        free_type(&vector); /* the handle may be used again, the content lives on in column */
        PMPI_Type_create_resized(column, -8, 4000, &resized);
        now[2] = made_type(resized);
        MPI_Datatype parts[2] = {MPI_INT, resized};
        PMPI_Type_create_struct(2, lengths, places, parts, &structure);
        PMPI_Type_commit(&structure);
        now[3] = made_type(structure);
        EQUAL(rec_type_size(structure), 4 + 2 * 2 * 48);
        for (int k = 0; k < 4; k++)
            CHECK(words[k] < 0 || words[k] == now[k]);
        memcpy(words, now, sizeof words);
        count = i == 0 ? rec_types_count() : count;
        free_type(&structure);
        free_type(&resized);
        free_type(&column);
        if (failures)
            return;
    }
    EQUAL(rec_types_count(), count);
    struct content c = decode(words[0]);
    EQUAL(c.combiner, RFN_COMBINER_VECTOR);
    CHECK(c.n_integers == 3 && c.integers[0] == 3 && c.integers[1] == 2 && c.integers[2] == 5);
    CHECK(c.size == 48 && c.extent == 12 * 8 && c.n_children == 1);
    CHECK(c.children[0] == rec_type((uint32_t)type_word(MPI_DOUBLE))->hash);
    c = decode(words[1]);
    CHECK(c.combiner == RFN_COMBINER_HVECTOR && c.n_addresses == 1 && c.addresses[0] == 1000);
    CHECK(c.children[0] == rec_type((uint32_t)words[0])->hash);
#if !defined RFN_FLAVOUR_SMPI /* describes these by other constructors */
    c = decode(words[2]);
    CHECK(c.combiner == RFN_COMBINER_RESIZED && c.lb == -8 && c.extent == 4000 && c.true_lb == 0);
    c = decode(words[3]);
    CHECK(c.combiner == RFN_COMBINER_STRUCT && c.n_children == 2 && c.addresses[1] == 64);
    CHECK(c.children[1] == rec_type((uint32_t)words[2])->hash);
#endif
    CHECK(words[3] > words[2] && words[2] > words[1] && words[1] > words[0]);
}

/* Types that say where data lie in memory must not say it in the archive. */
static int64_t absolute_word(size_t bytes)
{
    char *memory = calloc(1, bytes);
    MPI_Aint places[2];
    int lengths[2] = {4, 4};
    MPI_Datatype parts[2] = {MPI_CHAR, MPI_CHAR}, type, twice;
    PMPI_Get_address(memory + 16, &places[1]);
    PMPI_Get_address(memory + 100, &places[0]);
    PMPI_Type_create_struct(2, lengths, places, parts, &type);
    made_type(type);
    PMPI_Type_contiguous(2, type, &twice);
    int64_t word = made_type(twice);
    free_type(&twice);
    free_type(&type);
    free(memory);
    return word;
}

static void test_absolute_types(void)
{
    int64_t word = absolute_word(1000);
    EQUAL(absolute_word((size_t)10 << 20), word);
    struct content c = decode(word), part = decode(word - 1);
    CHECK(c.combiner & RFN_COMBINER_ABSOLUTE);
#if !defined RFN_FLAVOUR_SMPI
    EQUAL(c.combiner, RFN_COMBINER_CONTIGUOUS | RFN_COMBINER_ABSOLUTE);
    EQUAL(part.combiner, RFN_COMBINER_STRUCT | RFN_COMBINER_ABSOLUTE);
#endif
    CHECK(part.addresses[0] == 84 && part.addresses[1] == 0);
    CHECK(part.lb == 0 && part.true_lb == 0 && part.true_extent == 88);
    uint64_t hash = rec_type((uint32_t)word)->hash, highest;
    PMPI_Allreduce(&hash, &highest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK(hash == highest);
}

/* MPI's Fortran library makes types for array sections, and frees them unseen; handles are used
 * again. What the program makes in Fortran stays known. */
static void test_types_inside_fortran(void)
{
    MPI_Datatype made, type;
    int64_t words[4];
    stream.in_fortran = true;
    PMPI_Type_vector(7, 1, 9, MPI_DOUBLE, &made);
    const int64_t word = made_type(made);
    for (int i = 0; i < 4; i++) {
        PMPI_Type_contiguous(20 + i, MPI_INT, &type);
        words[i] = type_word(type);
        EQUAL(decode(words[i]).size, (20 + i) * 4);
        EQUAL(rec_type_size(type), (20 + i) * 4);
        PMPI_Type_free(&type);
    }
    CHECK(words[0] != words[1] && words[1] != words[2] && words[2] != words[3]);
    EQUAL(type_word(made), word);
    stream.in_fortran = false;
    free_type(&made);
}

#if !defined RFN_FLAVOUR_SMPI
static void test_other_types(void)
{
    int sizes[2] = {8, 6}, parts[2] = {2, 3}, starts[2] = {1, 2}, places[3] = {4, 0, 9};
    MPI_Datatype type, dup;
    PMPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
    struct content c = decode(made_type(type));
    CHECK(c.combiner == RFN_COMBINER_SUBARRAY && c.n_integers == 8 && c.size == 24);
    free_type(&type);
    PMPI_Type_create_indexed_block(3, 2, places, MPI_FLOAT, &type);
    c = decode(made_type(type));
    CHECK(c.combiner == RFN_COMBINER_INDEXED_BLOCK && c.size == 24 && c.extent == 44);
    PMPI_Type_dup(type, &dup);
    c = decode(made_type(dup));
    CHECK(c.combiner == RFN_COMBINER_DUP && c.n_children == 1);
    free_type(&dup);
    free_type(&type);
#if MPI_VERSION >= 4
    PMPI_Type_vector_c(3, 2, (MPI_Count)1 << 33, MPI_CHAR, &type);
    c = decode(made_type(type));
    EQUAL(c.combiner, RFN_COMBINER_VECTOR);
    EQUAL(c.size, 6);
    EQUAL(c.extent, ((int64_t)1 << 34) + 2);
    CHECK(c.n_integers == 3 && c.integers[2] == (int64_t)1 << 33 && c.n_children == 1);
    free_type(&type);
#endif
}

#endif

/* ---- handles with slots ---- */

static void add(void *in, void *out, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)out)[i] += ((int *)in)[i];
}

static void test_ops(void)
{
    const MPI_Op ops[] = {MPI_OP_NULL, MPI_MAX,    MPI_MIN,    MPI_SUM,     MPI_PROD,
                          MPI_LAND,    MPI_BAND,   MPI_LOR,    MPI_BOR,     MPI_LXOR,
                          MPI_BXOR,    MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
    for (int k = 0; k < 15; k++) {
        start(REC_FN_MPI_Reduce);
        rec_in_op(call, ops[k]);
        EQUAL(call->in[0], -1 - k);
        CHECK(rfn_kind_predefined(RFN_KIND_OP, (unsigned)k) != NULL);
    }
    CHECK(strcmp(rfn_kind_predefined(RFN_KIND_OP, 3), "MPI_SUM") == 0);
    MPI_Op kept, op;
    PMPI_Op_create(add, 1, &kept);
    start(REC_FN_MPI_Op_create);
    rec_out_op(call, kept);
    EQUAL(call->out[0], 0);
    for (int i = 0; i < 100; i++) {
        PMPI_Op_create(add, 1, &op);
        start(REC_FN_MPI_Op_create);
        rec_out_op(call, op);
        EQUAL(call->out[0], 1);
        start(REC_FN_MPI_Op_free);
        MPI_Op freed = op;
        rec_in_op(call, op);
        EQUAL(call->in[0], 1);
        rec_free_op(call, freed);
        PMPI_Op_free(&op);
        rec_freed_op(call, freed);
    }
    MPI_Op freed = kept;
    rec_free_op(call, freed);
    PMPI_Op_free(&kept);
    rec_freed_op(call, freed);
    start(REC_FN_MPI_Op_create);
    call->rc = MPI_ERR_OTHER;
    rec_out_op(call, op);
    EQUAL(call->out[0], RFN_UNKNOWN);
}

static void test_slots(void)
{
    struct rec_slots slots = {0};
    for (int i = 0; i < 200; i++)
        EQUAL(rec_slots_take(&slots), i);
    rec_slots_give(&slots, 150);
    rec_slots_give(&slots, 3);
    EQUAL(rec_slots_take(&slots), 3);
    EQUAL(rec_slots_take(&slots), 150);
    EQUAL(rec_slots_take(&slots), 200);
    rec_slots_release(&slots);
    enum { MANY = 300000 }; /* several levels */
    for (int64_t i = 0; i < MANY; i++)
        rec_slots_take(&slots);
    for (int64_t i = MANY - 1; i > 0; i -= 997)
        rec_slots_give(&slots, i);
    for (int64_t i = (MANY - 1) % 997; i < MANY; i += 997)
        EQUAL(rec_slots_take(&slots), i);
    EQUAL(rec_slots_take(&slots), MANY);
    rec_slots_release(&slots);
}

static void test_handles(void)
{
    MPI_Group group;
    MPI_Info info;
    int keyval;
    start(REC_FN_MPI_Send);
    rec_in_group(call, MPI_GROUP_EMPTY);
    rec_in_info(call, MPI_INFO_NULL);
    rec_in_errhandler(call, MPI_ERRORS_RETURN);
    rec_in_win(call, MPI_WIN_NULL);
    rec_in_file(call, MPI_FILE_NULL);
    rec_in_message(call, MPI_MESSAGE_NULL);
    rec_in_keyval(call, MPI_TAG_UB);
    const int64_t expected[] = {-2, -1, -3, -1, -1, -1, -2};
    for (int i = 0; i < 7; i++)
        EQUAL(call->in[i], expected[i]);
    PMPI_Comm_group(MPI_COMM_WORLD, &group);
    PMPI_Info_create(&info);
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    start(REC_FN_MPI_Send);
    rec_out_group(call, group);
    rec_out_info(call, info);
    rec_out_keyval(call, keyval);
    for (int i = 0; i < 3; i++)
        EQUAL(call->out[i], 0);
    rec_in_infos(call, (MPI_Info[]){MPI_INFO_NULL, info}, 2);
    size_t n;
    const int64_t *words = list(call->in[0], &n);
    CHECK(n == 2 && words[0] == -1 && words[1] == 0);
    MPI_Group freed_group = group;
    MPI_Info freed_info = info;
    int freed_keyval = keyval;
    rec_free_group(call, freed_group);
    PMPI_Group_free(&group);
    rec_freed_group(call, freed_group);
    rec_free_info(call, freed_info);
    PMPI_Info_free(&info);
    rec_freed_info(call, freed_info);
    rec_free_keyval(call, freed_keyval);
    PMPI_Comm_free_keyval(&keyval);
    rec_freed_keyval(call, freed_keyval);
}

static void test_win(void)
{
    MPI_Win win;
    int64_t memory[4];
    /* Open MPI cannot make a window for a single process. */
    for (int i = 0; i < 2 && ranks > 1; i++) {
        start(REC_FN_MPI_Win_create);
        rec_in_comm(call, MPI_COMM_WORLD);
        PMPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        rec_out_win(call, win);
        EQUAL(call->out[0], 0);
        start(REC_FN_MPI_Send);
        rec_in_win(call, win);
        EQUAL(call->in[0], 0);
        CHECK(call->comm == rec_comm(0));
        MPI_Win freed = win;
        rec_free_win(call, freed);
        PMPI_Win_free(&win);
        rec_freed_win(call, freed);
    }
}

/* ---- strings and lists ---- */

static void test_lists(void)
{
    size_t n;
    start(REC_FN_MPI_Send);
    rec_in_string(call, "ab\xff");
    rec_in_string(call, NULL);
    rec_in_string(call, "");
    const int64_t *words = list(call->in[0], &n);
    CHECK(n == 3 && words[0] == 'a' && words[1] == 'b' && words[2] == 255);
    CHECK(call->in[1] == RFN_LIST_ABSENT && call->in[2] == 0);
    start(REC_FN_MPI_Send);
    rec_in_ints(call, (int[]){5, -6}, 2);
    rec_in_aints(call, (MPI_Aint[]){5, -6}, 2);
    rec_in_ints(call, NULL, 3);
    rec_in_ints(call, (int[]){1}, 0);
    rec_in_ranks(call, (int[]){0, MPI_PROC_NULL, MPI_ANY_SOURCE}, 3);
    rec_in_types(call, (MPI_Datatype[]){MPI_INT, MPI_DATATYPE_NULL}, 2);
    rec_in_counts(call, (MPI_Count[]){(MPI_Count)1 << 40}, 1);
    rec_in_ints(call, MPI_WEIGHTS_EMPTY, 0);
    EQUAL(call->in[0], call->in[1]);
    EQUAL(call->in[2], RFN_LIST_ABSENT);
    EQUAL(call->in[3], 0);
    words = list(call->in[4], &n);
    CHECK(n == 3 && words[0] == 0 && words[1] == RFN_PROC_NULL && words[2] == RFN_ANY);
    words = list(call->in[5], &n);
    CHECK(n == 2 && words[1] == -1);
    words = list(call->in[6], &n);
    CHECK(n == 1 && words[0] == (int64_t)1 << 40);
    EQUAL(call->in[7], RFN_LIST_WEIGHTS_EMPTY);
}

/* ---- requests ---- */

/* Completions of the last call as entries of six words. */
static const int64_t *completions(size_t entries)
{
    size_t n;
    const int64_t *words = list(call->out[call->n_out - 1], &n);
    EQUAL(n, entries * RFN_COMPLETION_WORDS);
    return n == entries * RFN_COMPLETION_WORDS ? words : NULL;
}

static MPI_Request receive(int *value, int n, int source, int tag)
{
    MPI_Request request;
    start(REC_FN_MPI_Irecv);
    PMPI_Irecv(value, n, MPI_INT, source, tag, MPI_COMM_WORLD, &request);
    rec_out_request(call, request, REC_REQUEST_RECV, source, tag, n * 4);
    EQUAL(call->n_out, 0);
    return request;
}

static MPI_Request send(const int *value, int to, int tag)
{
    MPI_Request request;
    start(REC_FN_MPI_Isend);
    PMPI_Isend(value, 1, MPI_INT, to, tag, MPI_COMM_WORLD, &request);
    rec_out_request(call, request, 0, 0, 0, -1);
    return request;
}

static void wait_all(int n, MPI_Request *requests)
{
    start(REC_FN_MPI_Waitall);
    rec_in_requests(call, requests, n);
    MPI_Status *statuses = rec_statuses(call, MPI_STATUSES_IGNORE, n);
    call->rc = PMPI_Waitall(n, requests, statuses);
    rec_out_completed_all(call, 1, statuses);
}

static void test_exchange(void)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, got[4] = {0}, value = 17;
    for (int i = 0; i < 50; i++) {
        MPI_Request requests[4] = {receive(&got[0], 1, left, 1),
                                   receive(&got[1], 1, MPI_ANY_SOURCE, 2), send(&value, right, 1),
                                   send(&value, right, 2)};
        wait_all(4, requests);
        size_t n;
        const int64_t *words = list(call->in[0], &n);
        EQUAL(n, 4);
        for (int k = 0; k < 4 && n == 4; k++)
            EQUAL(words[k], rfn_request_word(RFN_REQUEST_RECENT, 4 - k));
        words = completions(1);
        if (words)
            CHECK(words[0] == 1 && words[1] == left && words[2] == RFN_AS_POSTED &&
                  words[3] == RFN_AS_POSTED && words[4] == 0 && words[5] == 0);
    }
    CHECK(got[0] == 17 && got[1] == 17);
    /* Longer buffers than messages, any tag, and requests waited for in another order. */
    MPI_Request requests[3] = {MPI_REQUEST_NULL, receive(got, 4, left, MPI_ANY_TAG),
                               send(&value, right, 33)};
    MPI_Request swapped[3] = {requests[2], requests[0], requests[1]};
    wait_all(3, swapped);
    size_t n;
    const int64_t *words = list(call->in[0], &n);
    CHECK(n == 3 && words[0] == rfn_request_word(RFN_REQUEST_RECENT, 1) && words[1] == 0 &&
          words[2] == rfn_request_word(RFN_REQUEST_RECENT, 2));
    words = completions(1);
    if (words)
        CHECK(words[0] == 2 && words[1] == RFN_AS_POSTED && words[2] == 33 && words[3] == 4);
}

/* Many sends in flight, of which MPICH gives all the same handle. */
static void test_shared_handles(void)
{
#if defined RFN_FLAVOUR_SMPI
    enum { N = 100 }; /* matching there takes time in the square of what is in flight */
#else
    enum { N = 3000 };
#endif
    static MPI_Request sends[N], receives[N];
    static int got[N];
    int value = 3;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++)
            receives[i] = receive(&got[i], 1, rank, i);
        for (int i = 0; i < N; i++)
            sends[i] = send(&value, rank, i);
        wait_all(N, sends);
        size_t n;
        const int64_t *words = list(call->in[0], &n);
        EQUAL(n, N);
        for (int i = 0; i < N; i++)
            CHECK(words[i] == rfn_request_word(RFN_REQUEST_RECENT, N - i));
        EQUAL(call->out[0], 0);
        wait_all(N, receives);
        words = list(call->in[0], &n);
        for (int i = 0; i < N; i++)
            CHECK(words[i] == rfn_request_word(RFN_REQUEST_RECENT, 2 * N - i));
        EQUAL(call->out[0], 0);
    }
    MPI_Request none[2] = {receive(got, 1, MPI_PROC_NULL, 5), send(&value, MPI_PROC_NULL, 5)};
    wait_all(2, none);
    EQUAL(call->out[0], 0);
    start(REC_FN_MPI_Waitall);
    rec_in_requests(call, NULL, 5);
    EQUAL(call->in[0], RFN_LIST_ABSENT);
}

static void test_any_and_some(void)
{
    int got[3], value = 4, index, flag, n, indices[3];
    MPI_Status status, statuses[3];
    MPI_Request requests[3], out;
    for (int i = 0; i < 3; i++)
        requests[i] = receive(&got[i], 1, rank, i);
    start(REC_FN_MPI_Testany);
    rec_in_requests(call, requests, 3);
    PMPI_Testany(3, requests, &index, &flag, &status);
    CHECK(!flag);
    rec_out_completed_any(call, flag, index, &status);
    CHECK(call->poll == RFN_POLL_FAILED && call->n_out == 2 && call->out[0] == RFN_UNKNOWN);
    out = send(&value, rank, 1);
    start(REC_FN_MPI_Waitany);
    rec_in_requests(call, requests, 3);
    PMPI_Waitany(3, requests, &index, &status);
    rec_out_completed_any(call, 1, index, &status);
    CHECK(index == 1 && call->out[0] == 1 && call->out[1] == 0 && call->poll == RFN_POLL_NONE);
    wait_all(1, &out);
    out = send(&value, rank, 2);
    wait_all(1, &out);
    start(REC_FN_MPI_Waitsome);
    rec_in_requests(call, requests, 3);
    size_t n_words;
    const int64_t *words = list(call->in[0], &n_words);
    /* Five requests were made after the first, four after the third minus one gone. */
    CHECK(words[0] == rfn_request_word(RFN_REQUEST_RECENT, 5) && words[1] == RFN_REQUEST_NULL &&
          words[2] == rfn_request_word(RFN_REQUEST_RECENT, 3));
    PMPI_Waitsome(3, requests, &n, indices, statuses);
    rec_out_completed_some(call, n, indices, statuses);
    words = list(call->out[0], &n_words);
    CHECK(n == 1 && n_words == 1 && words[0] == 2 && call->out[1] == 0);
    out = send(&value, rank, 0);
    wait_all(1, &out);
    wait_all(3, requests);
    start(REC_FN_MPI_Testany);
    rec_in_requests(call, requests, 3);
    PMPI_Testany(3, requests, &index, &flag, &status);
    rec_out_completed_any(call, flag, index, &status);
    CHECK(flag && call->out[0] == RFN_UNDEFINED && call->out[1] == 0);
    start(REC_FN_MPI_Testsome);
    rec_in_requests(call, requests, 3);
    PMPI_Testsome(3, requests, &n, indices, statuses);
    rec_out_completed_some(call, n, indices, statuses);
    CHECK(n == MPI_UNDEFINED && call->out[0] == RFN_UNDEFINED);
}

static void test_persistent(void)
{
    int got[2], value = 9;
    MPI_Request requests[2];
    PMPI_Recv_init(&got[0], 2, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &requests[0]);
    PMPI_Send_init(&value, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &requests[1]);
    start(REC_FN_MPI_Recv_init);
    rec_out_request(call, requests[0], REC_REQUEST_PERSISTENT | REC_REQUEST_RECV, MPI_ANY_SOURCE, 4,
                    8);
    rec_out_request(call, requests[1], REC_REQUEST_PERSISTENT, 0, 0, -1);
    EQUAL(call->out[0], rfn_request_word(RFN_REQUEST_SLOT, 0));
    EQUAL(call->out[1], rfn_request_word(RFN_REQUEST_SLOT, 1));
    for (int i = 0; i < 3; i++) {
        start(REC_FN_MPI_Startall);
        rec_in_requests(call, requests, 2);
        int64_t started = call->in[0];
        PMPI_Startall(2, requests);
        wait_all(2, requests);
        EQUAL(call->in[0], started);
        const int64_t *words = completions(1);
        if (words)
            CHECK(words[0] == 0 && words[1] == rank && words[2] == RFN_AS_POSTED && words[3] == 4);
    }
    wait_all(2, requests); /* inactive ones complete without words */
    EQUAL(call->out[0], 0);
    for (int i = 0; i < 2; i++) {
        start(REC_FN_MPI_Request_free);
        rec_in_request(call, requests[i]);
        PMPI_Request_free(&requests[i]);
        rec_out_request_freed(call);
    }
    PMPI_Send_init(&value, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &requests[0]);
    start(REC_FN_MPI_Send_init);
    rec_out_request(call, requests[0], REC_REQUEST_PERSISTENT, 0, 0, -1);
    EQUAL(call->out[0], rfn_request_word(RFN_REQUEST_SLOT, 0));
    start(REC_FN_MPI_Request_free);
    rec_in_request(call, requests[0]);
    PMPI_Request_free(&requests[0]);
    rec_out_request_freed(call);
}

static void test_cancel(void)
{
#if !defined RFN_FLAVOUR_SMPI
    int got;
    MPI_Request request = receive(&got, 1, rank, 77);
    start(REC_FN_MPI_Cancel);
    rec_in_request(call, request);
    PMPI_Cancel(&request);
    rec_out_cancelled(call);
    wait_all(1, &request);
    const int64_t *words = completions(1);
    if (words)
        CHECK(words[5] == RFN_COMPLETION_CANCELLED && words[1] == RFN_AS_POSTED && words[4] == 0);
#endif
}

static void test_errors(void)
{
#if !defined RFN_FLAVOUR_SMPI
    int got, values[2] = {1, 2};
    MPI_Errhandler old;
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &old);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Status status;
    MPI_Request requests[2];
    for (int all = 0; all < 2; all++) {
        /* In this order: Open MPI overlooks it when the receive is there first. */
        start(REC_FN_MPI_Isend);
        PMPI_Isend(values, 2, MPI_INT, rank, 8, MPI_COMM_WORLD, &requests[1]);
        rec_out_request(call, requests[1], 0, 0, 0, -1);
        requests[0] = receive(&got, 1, rank, 8);
        start(REC_FN_MPI_Wait);
        rec_in_request(call, requests[0]);
        if (all)
            wait_all(2, requests);
        else
            call->rc = PMPI_Wait(&requests[0], &status);
        if (!all)
            rec_out_completed_all(call, 1, &status);
        int class = MPI_SUCCESS;
        PMPI_Error_class(call->rc, &class);
        EQUAL(class, all ? MPI_ERR_IN_STATUS : MPI_ERR_TRUNCATE);
        bool pending = all && requests[1] != MPI_REQUEST_NULL; /* MPI_ERR_PENDING */
        const int64_t *words = completions(pending ? 2 : 1);
        if (words)
            CHECK(words[0] == 0 && words[4] == MPI_ERR_TRUNCATE && words[1] == RFN_AS_POSTED);
        if (words && pending)
            CHECK(words[6] == 1 && words[10] == 0 && words[11] == RFN_COMPLETION_PENDING);
        wait_all(2, requests); /* the send, if it is open still */
        EQUAL(call->out[0], 0);
    }
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, old);
    if (old != MPI_ERRORS_ARE_FATAL)
        PMPI_Errhandler_free(&old);
#endif
}

static void test_foreign_and_unknown(void)
{
    int got, value = 1;
    MPI_Request request = receive(&got, 1, rank, 3), mine;
    other_stream.number = 7;
    start_on(&other_stream, REC_FN_MPI_Isend);
    PMPI_Isend(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &mine);
    rec_out_request(&other_stream.call, mine, 0, 0, 0, -1);
    start_on(&other_stream, REC_FN_MPI_Wait);
    rec_in_request(&other_stream.call, request);
    uint64_t first = rec_stream_of(call)->requests_created - 1;
    EQUAL(other_stream.call.in[0], rfn_foreign_request(rec_stream_of(call)->number, first));
    start(REC_FN_MPI_Wait);
    rec_in_request(call, mine);
    EQUAL(call->in[0], rfn_foreign_request(7, other_stream.requests_created - 1));
    PMPI_Wait(&mine, MPI_STATUS_IGNORE);
    rec_out_completed_all(call, 1, MPI_STATUS_IGNORE);
    MPI_Status status;
    PMPI_Wait(&request, &status);
    rec_out_completed_all(&other_stream.call, 1, &status);
    PMPI_Irecv(&got, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request);
    start(REC_FN_MPI_Wait);
    rec_in_request(call, request);
    EQUAL(call->in[0], RFN_UNKNOWN);
    PMPI_Send(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD);
    PMPI_Wait(&request, &status);
    rec_out_completed_all(call, 1, &status);
    EQUAL(call->out[0], 0);
}

static void test_statuses(void)
{
    MPI_Status status;
    int value[3] = {1, 2, 3}, got[3], flag = 1;
    start(REC_FN_MPI_Iprobe);
    PMPI_Iprobe(MPI_ANY_SOURCE, 91, MPI_COMM_WORLD, &flag, &status);
    rec_out_poll(call, flag);
    rec_out_int(call, 5);
    CHECK(!flag && call->poll == RFN_POLL_FAILED && call->out[0] == RFN_UNKNOWN);
    MPI_Request request;
    PMPI_Isend(value, 3, MPI_INT, rank, 91, MPI_COMM_WORLD, &request);
    PMPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    start(REC_FN_MPI_Probe);
    rec_out_status(call, &status, MPI_ANY_SOURCE, MPI_ANY_TAG, -1);
    CHECK(call->out[0] == rank && call->out[1] == 91 && call->out[2] == 12);
    PMPI_Recv(got, 3, MPI_INT, rank, 91, MPI_COMM_WORLD, &status);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    start(REC_FN_MPI_Recv);
    rec_out_status(call, &status, rank, MPI_ANY_TAG, 12);
    CHECK(call->out[0] == RFN_AS_POSTED && call->out[1] == 91 && call->out[2] == RFN_AS_POSTED);
    PMPI_Recv(got, 3, MPI_INT, MPI_PROC_NULL, 91, MPI_COMM_WORLD, &status);
    start(REC_FN_MPI_Recv);
    rec_out_status(call, &status, MPI_PROC_NULL, 91, 12);
    CHECK(call->out[0] == RFN_AS_POSTED && call->out[1] == RFN_AS_POSTED &&
          call->out[2] == RFN_AS_POSTED);
    /* Fields of MPI_Status are read directly: MPI must agree about large numbers. */
#if !defined RFN_FLAVOUR_SMPI
    const MPI_Count large[] = {0, 1, 0x7fffffff, 0x80000000, 0x123456789a};
    for (int i = 0; i < 5; i++) {
        status.MPI_SOURCE = rank;
        PMPI_Status_set_cancelled(&status, i % 2);
        PMPI_Status_set_elements_x(&status, MPI_BYTE, large[i]);
        start(REC_FN_MPI_Recv);
        rec_out_moved(call, &status, -1);
        EQUAL(call->out[0], large[i]);
        rec_out_moved(call, &status, large[i]);
        EQUAL(call->out[1], RFN_AS_POSTED);
    }
#endif
}

/* A handle that a call is about to free is unknown to others; a call that failed has freed nothing.
 */
static void test_freeing(void)
{
    int values[3] = {1, 2, 3};
    MPI_Datatype type;
    MPI_Comm dup;
    PMPI_Type_indexed(1, values, values + 1, MPI_INT, &type);
    PMPI_Comm_dup(MPI_COMM_WORLD, &dup);
    int64_t type_word = rec_type_word(type);
    const struct rec_comm *comm = rec_comm_of(dup);
    for (int failed = 1; failed >= 0; failed--) {
        MPI_Op op = (MPI_Op)(uintptr_t)0x5abc00;
        start(REC_FN_MPI_Send);
        rec_in_op(call, op);
        start_on(&other_stream, REC_FN_MPI_Op_free);
        rec_free_op(&other_stream.call, op);
        start(REC_FN_MPI_Op_create);
        rec_out_op(call, (MPI_Op)(uintptr_t)0x5abd00);
        EQUAL(call->out[0], 1); /* the slot is not free yet */
        other_stream.call.rc = failed ? MPI_ERR_OP : MPI_SUCCESS;
        rec_freed_op(&other_stream.call, op);
        start(REC_FN_MPI_Send);
        rec_in_op(call, op);
        EQUAL(call->in[0], 0);
        start(REC_FN_MPI_Op_free);
        rec_free_op(call, (MPI_Op)(uintptr_t)0x5abd00);
        rec_freed_op(call, (MPI_Op)(uintptr_t)0x5abd00);
    }
    start(REC_FN_MPI_Type_free);
    rec_free_type(call, type);
    call->rc = MPI_ERR_TYPE;
    rec_freed_type(call, type);
    EQUAL(rec_type_word(type), type_word);
    start(REC_FN_MPI_Comm_free);
    rec_free_comm(call, dup);
    call->rc = MPI_ERR_COMM;
    rec_freed_comm(call, dup);
    CHECK(rec_comm_of(dup) == comm);
    free_type(&type);
    free_comm(&dup);
    start(REC_FN_MPI_Op_free);
    rec_free_op(call, (MPI_Op)(uintptr_t)0x5abc00);
    rec_freed_op(call, (MPI_Op)(uintptr_t)0x5abc00);
}

#if !defined RFN_FLAVOUR_SMPI /* all its ranks are one process */
/* Four threads complete requests that all have one handle: none is lost or completed twice. */
static void *share_a_handle(void *argument)
{
    struct rec_stream *own = argument;
    MPI_Request handle = (MPI_Request)(uintptr_t)0x6c000000, array[2] = {handle, handle};
    for (int i = 0; i < 20000; i++) {
        for (int k = 0; k < 2; k++) {
            start_on(own, REC_FN_MPI_Isend);
            rec_out_request(&own->call, handle, 0, 0, 0, -1);
        }
        for (int done = 0; done < 2; done++) {
            start_on(own, REC_FN_MPI_Testall);
            rec_in_requests(&own->call, array, 2);
            if (own->call.in[0] <= 0 || !own->call.requests[0] || !own->call.requests[1] ||
                own->call.requests[0] == own->call.requests[1])
                return own;
            rec_out_completed_all(&own->call, done, MPI_STATUSES_IGNORE);
        }
    }
    return NULL;
}

static void test_threads(void)
{
    static struct rec_stream streams[4];
    pthread_t threads[4];
    struct rfn_stream_options options = {.functions = rec_functions};
    rec_threads_multiple = true;
    for (int i = 0; i < 4; i++) {
        streams[i].events = rfn_stream_new(&options);
        pthread_create(&threads[i], NULL, share_a_handle, &streams[i]);
    }
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CHECK(!failed);
        EQUAL(streams[i].requests_created, 40000);
        rfn_stream_free(streams[i].events);
        free((void *)streams[i].call.requests);
        free(streams[i].call.scratch.words);
    }
    rec_threads_multiple = false;
    start(REC_FN_MPI_Wait);
    rec_in_request(call, (MPI_Request)(uintptr_t)0x6c000000);
    EQUAL(call->in[0], RFN_UNKNOWN);
}
#endif

/* ---- what it costs ---- */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void print_cost(const char *what, double begin, double n)
{
    printf("%-48s %6.1f ns\n", what, (now_ns() - begin) / n);
}

enum { TIMES = 2000000 };

static void bench_lookups(void)
{
    double begin = now_ns();
    for (int i = 0; i < TIMES; i++) {
        call->n_in = 0;
        rec_in_comm(call, MPI_COMM_WORLD);
    }
    print_cost("rec_in_comm", begin, TIMES);
    begin = now_ns();
    for (int i = 0; i < TIMES; i++) {
        call->n_in = 0;
        rec_in_type(call, i & 1 ? MPI_DOUBLE : MPI_INT);
    }
    print_cost("rec_in_type", begin, TIMES);
    begin = now_ns();
    for (int i = 0; i < TIMES; i++) {
        call->n_in = 0;
        rec_in_op(call, MPI_SUM);
    }
    print_cost("rec_in_op", begin, TIMES);
}

static double lower(double a, double b)
{
    return a < b ? a : b;
}

/* Rounds of n / 2 receives, n / 2 sends, Waitall; statuses say what was posted. The fastest round
 * counts, and every round reads the clock four times. */
static void bench_requests(int n)
{
    static MPI_Request handles[1024];
    static MPI_Status statuses[1024];
    memset(statuses, 0, sizeof statuses);
    for (int i = 0; i < n; i++) {
        handles[i] = (MPI_Request)(uintptr_t)(sizeof handles[i] == 8 ? 0x55d0c0de0000 + 0x4c0 * i
                                                                     : 0x2c000000 + 7 * i);
        statuses[i].MPI_SOURCE = 1;
        statuses[i].MPI_TAG = 2;
    }
    double creating = 1e9, referring = 1e9, completing = 1e9;
    for (int r = 0; r < TIMES / n; r++) {
        double t0 = now_ns();
        for (int i = 0; i < n; i++) {
            start(i < n / 2 ? REC_FN_MPI_Irecv : REC_FN_MPI_Isend);
            rec_out_request(call, handles[i], i < n / 2 ? REC_REQUEST_RECV : 0, 1, 2, 0);
        }
        double t1 = now_ns();
        start(REC_FN_MPI_Waitall);
        rec_in_requests(call, handles, n);
        double t2 = now_ns();
        rec_out_completed_all(call, 1, statuses);
        creating = lower(creating, (t1 - t0) / n);
        referring = lower(referring, (t2 - t1) / n);
        completing = lower(completing, (now_ns() - t2) / n);
    }
    printf("%4d requests: create %.1f, refer (with list) %.1f, complete %.1f: %.1f ns each\n", n,
           creating, referring, completing, creating + referring + completing);
}

static void bench(void)
{
    bench_lookups();
    bench_requests(2);
    bench_requests(8);
    bench_requests(64);
    bench_requests(1024);
    double begin = now_ns();
    for (int i = 0; i < 20000; i++) {
        MPI_Datatype type;
        PMPI_Type_vector(3, 2, 5, MPI_DOUBLE, &type);
        start(REC_FN_MPI_Type_vector);
        rec_out_type(call, type);
        free_type(&type);
    }
    print_cost("Type_vector, Type_free, with MPI's own part", begin, 20000);
}

/* ---- all of it ---- */

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    {"predefined communicators", test_predefined_comms},
    {"duplicates", test_dup},
    {"nonblocking duplicate", test_idup},
    {"split", test_split},
    {"communicators of groups", test_create_group},
#if !defined RFN_FLAVOUR_SMPI
    {"intercommunicators", test_intercomm},
    {"topologies", test_topologies},
#endif
    {"named datatypes", test_named_types},
    {"derived datatypes", test_derived_types},
    {"datatypes inside of Fortran calls", test_types_inside_fortran},
    {"datatypes with addresses", test_absolute_types},
#if !defined RFN_FLAVOUR_SMPI
    {"other datatypes", test_other_types},
#endif
    {"slots", test_slots},
    {"operations", test_ops},
    {"handles", test_handles},
    {"windows", test_win},
    {"strings and lists", test_lists},
    {"exchange", test_exchange},
    {"shared handles", test_shared_handles},
    {"any and some", test_any_and_some},
    {"persistent requests", test_persistent},
    {"cancelled request", test_cancel},
    {"errors in statuses", test_errors},
    {"foreign and unknown requests", test_foreign_and_unknown},
    {"handles that are being freed", test_freeing},
    {"statuses", test_statuses},
#if !defined RFN_FLAVOUR_SMPI
    {"threads", test_threads},
#endif
};

static int run_tests(void)
{
    int n = sizeof tests / sizeof *tests, failed = 0;
    if (rank == 0)
        printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        int all;
        failures = 0;
        tests[i].run();
        failures += stopped;
        PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%sok %d - %s\n", all ? "not " : "", i + 1, tests[i].name);
        failed += all;
    }
    return failed;
}

int main(int argc, char **argv)
{
    if (rec_mpi_fill(dlopen(NULL, RTLD_NOW)) < 0)
        return 1;
    PMPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct rfn_stream_options options = {.functions = rec_functions};
    stream.events = rfn_stream_new(&options);
    other_stream.events = rfn_stream_new(&options);
    int failed = 0;
    if (argc > 1 && strcmp(argv[1], "bench") == 0)
        bench();
    else
        failed = run_tests();
    rec_comms_release();
    rec_types_release();
    rec_handles_release();
    rec_requests_release();
    struct rec_stream *streams[] = {&stream, &other_stream};
    for (int i = 0; i < 2; i++) {
        rfn_stream_free(streams[i]->events);
        free((void *)streams[i]->call.requests);
        free(streams[i]->call.scratch.statuses);
        free(streams[i]->call.scratch.words);
    }
    PMPI_Finalize();
    return failed != 0;
}
