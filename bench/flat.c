/* What an event costs in a table of the recorder that holds so many objects. The number of
 * instructions is to stay flat from 10^3 to 10^6 objects.
 *
 *     flat                          names of the tables, a line each
 *     flat TABLE OBJECTS EVENTS     fills the table, then lets so many events come
 *
 * Run by callgrind, with --instr-atstart=no, it has the instructions of the events counted, and
 * those of nothing else. Objects are picked at random.
 *
 * The tables of handles ask MPI about objects that they see first. Here that is not the MPI, which
 * has few communicators and windows, but functions below: an object is any number.
 */
#include "base/grow.h"
#include "record/callpath/sites.h"
#include "record/core/tables.h"
#include "record/handles/comms.h"
#include "record/handles/params.h"
#include "record/handles/types.h"
#include "reduce/columns/lists.h"
#include "reduce/fold/symbol_table.h"
#include "reduce/fold/varying_params.h"
#include "reduce/samples/sample_counts.h"
#include "reduce/samples/sample_table.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

/* ---- in place of the recorder ---- */

enum rec_state rec_state = REC_RECORDING;
const struct rec_request_listener *rec_listen_requests = NULL;
bool rec_only_samples = false;
bool rec_threads_multiple;
static struct rec_stream stream;
static struct rec_call *const call = &stream.call;
__thread struct rec_stream *rec_this_stream = &stream;

void rec_stop(const char *format, ...)
{
    fprintf(stderr, "%s\n", format);
    exit(1);
}

void rec_limit_times(int n)
{
    (void)n;
}

static void start(uint32_t function)
{
    call->function = function;
    call->n_in = call->n_out = call->n_requests = 0;
    call->rc = MPI_SUCCESS;
    call->poll = 0;
    call->comm = NULL;
}

static void check(bool holds)
{
    if (!holds) {
        fprintf(stderr, "flat: a table is out of memory, or says something wrong\n");
        exit(1);
    }
}

/* ---- in place of MPI ---- */

enum { RANKS = 4 };

#define HANDLE(type, number) ((type)(uintptr_t)(0x50000000u + (uint32_t)(number)))
#define NUMBER(handle)       ((uint32_t)(uintptr_t)(handle)-0x50000000u)

static int no_inter(MPI_Comm comm, int *flag)
{
    (void)comm;
    *flag = 0;
    return MPI_SUCCESS;
}

static int first_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

static int group_of(MPI_Comm comm, MPI_Group *group)
{
    (void)comm;
    *group = HANDLE(MPI_Group, 1);
    return MPI_SUCCESS;
}

static int group_size(MPI_Group group, int *size)
{
    (void)group;
    *size = RANKS;
    return MPI_SUCCESS;
}

static int group_rank(MPI_Group group, int *rank)
{
    (void)group;
    *rank = 0;
    return MPI_SUCCESS;
}

static int translate(MPI_Group group, int n, const int ranks[], MPI_Group other, int to[])
{
    (void)group, (void)other;
    memcpy(to, ranks, (size_t)n * sizeof *to);
    return MPI_SUCCESS;
}

static int free_group(MPI_Group *group)
{
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

static int says_yes(int *flag)
{
    *flag = 1;
    return MPI_SUCCESS;
}

static int says_no(int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

/* A type is so many bytes in a row: number 0 is the byte. */
static int envelope(MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner)
{
    const bool named = type == MPI_BYTE;
    *integers = *types = !named;
    *addresses = 0;
    *combiner = named ? MPI_COMBINER_NAMED : MPI_COMBINER_CONTIGUOUS;
    return MPI_SUCCESS;
}

static int contents(MPI_Datatype type, int n_integers, int n_addresses, int n_types, int integers[],
                    MPI_Aint addresses[], MPI_Datatype types[])
{
    (void)n_integers, (void)n_addresses, (void)n_types, (void)addresses;
    integers[0] = (int)NUMBER(type);
    types[0] = MPI_BYTE;
    return MPI_SUCCESS;
}

static int type_size(MPI_Datatype type, MPI_Count *size)
{
    *size = type == MPI_BYTE ? 1 : NUMBER(type);
    return MPI_SUCCESS;
}

static int type_extent(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)
{
    *lb = 0;
    return type_size(type, extent);
}

static int type_name(MPI_Datatype type, char *name, int *length)
{
    (void)type;
    strcpy(name, "MPI_BYTE");
    *length = 8;
    return MPI_SUCCESS;
}

static void fill_mpi(void)
{
    rec_mpi.MPI_Initialized = says_yes;
    rec_mpi.MPI_Finalized = says_no;
    rec_mpi.MPI_Comm_test_inter = no_inter;
    rec_mpi.MPI_Comm_rank = first_rank;
    rec_mpi.MPI_Comm_group = group_of;
    rec_mpi.MPI_Group_size = group_size;
    rec_mpi.MPI_Group_rank = group_rank;
    rec_mpi.MPI_Group_translate_ranks = translate;
    rec_mpi.MPI_Group_free = free_group;
    rec_mpi.MPI_Type_get_envelope = envelope;
    rec_mpi.MPI_Type_get_contents = contents;
    rec_mpi.MPI_Type_size_x = type_size;
    rec_mpi.MPI_Type_get_extent_x = type_extent;
    rec_mpi.MPI_Type_get_true_extent_x = type_extent;
    rec_mpi.MPI_Type_get_name = type_name;
}

/* ---- communicators ---- */

static void duplicate(uint32_t number)
{
    start(REC_FN_MPI_Comm_dup);
    rec_in_comm(call, MPI_COMM_WORLD);
    rec_out_comm(call, HANDLE(MPI_Comm, number));
    check(call->out[0] >= 2);
}

static void free_comm(uint32_t number)
{
    start(REC_FN_MPI_Comm_free);
    rec_free_comm(call, HANDLE(MPI_Comm, number));
    rec_freed_comm(call, HANDLE(MPI_Comm, number));
}

static void use_comm(uint32_t number)
{
    start(REC_FN_MPI_Send);
    rec_in_comm(call, HANDLE(MPI_Comm, number));
    check(call->in[0] == (int64_t)number + 2);
}

static uint32_t objects;

static void dup_and_free(uint32_t number)
{
    (void)number;
    duplicate(objects);
    free_comm(objects);
}

static void split_and_free(uint32_t number)
{
    (void)number;
    start(REC_FN_MPI_Comm_split);
    rec_in_comm(call, MPI_COMM_WORLD);
    rec_out_comm(call, HANDLE(MPI_Comm, objects));
    free_comm(objects);
}

/* The first one is freed and made again, so that its number is a low one, as it was. */
static void remake_comm(uint32_t number)
{
    (void)number;
    free_comm(0);
    duplicate(0);
}

static void complete(MPI_Request request)
{
    static MPI_Status status;
    start(REC_FN_MPI_Wait);
    rec_in_request(call, request);
    check(call->n_requests == 1 && call->requests[0]);
    rec_out_completed_all(call, 1, &status);
}

static void make_request(MPI_Request request, unsigned flags)
{
    start(REC_FN_MPI_Isend);
    rec_out_request(call, request, flags, 0, 0, 8);
}

static void idup(uint32_t number)
{
    static MPI_Comm made;
    start(REC_FN_MPI_Comm_idup);
    rec_in_comm(call, MPI_COMM_WORLD);
    rec_out_comm_later(call, &made);
    rec_out_request(call, HANDLE(MPI_Request, 7), 0, 0, 0, 0);
    made = HANDLE(MPI_Comm, number);
    complete(HANDLE(MPI_Request, 7));
}

static void idup_again(uint32_t number)
{
    (void)number;
    free_comm(0);
    idup(0);
}

/* ---- handles with slots ---- */

static void make_win(uint32_t number)
{
    start(REC_FN_MPI_Win_create);
    rec_in_comm(call, MPI_COMM_WORLD);
    rec_out_win(call, HANDLE(MPI_Win, number));
}

static void free_win(uint32_t number)
{
    start(REC_FN_MPI_Win_free);
    rec_free_win(call, HANDLE(MPI_Win, number));
    rec_freed_win(call, HANDLE(MPI_Win, number));
}

static void use_win(uint32_t number)
{
    start(REC_FN_MPI_Put);
    rec_in_win(call, HANDLE(MPI_Win, number));
    check(call->in[0] == number && call->comm);
}

/* The lowest slot is given and taken, and one behind all others. */
static void remake_win(uint32_t number)
{
    (void)number;
    free_win(0);
    make_win(0);
    make_win(objects);
    free_win(objects);
}

static void make_group(uint32_t number)
{
    start(REC_FN_MPI_Comm_group);
    rec_out_group(call, HANDLE(MPI_Group, number));
}

static void free_own_group(uint32_t number)
{
    start(REC_FN_MPI_Group_free);
    rec_free_group(call, HANDLE(MPI_Group, number));
    rec_freed_group(call, HANDLE(MPI_Group, number));
}

static void use_group(uint32_t number)
{
    start(REC_FN_MPI_Group_size);
    rec_in_group(call, HANDLE(MPI_Group, number));
    check(call->in[0] == number);
}

static void remake_group(uint32_t number)
{
    (void)number;
    free_own_group(0);
    make_group(0);
    make_group(objects);
    free_own_group(objects);
}

/* ---- datatypes ---- */

static void make_type(uint32_t number)
{
    start(REC_FN_MPI_Type_contiguous);
    rec_out_type(call, HANDLE(MPI_Datatype, number));
    check(call->out[0] >= 0);
}

static void use_type(uint32_t number)
{
    start(REC_FN_MPI_Send);
    rec_in_type(call, HANDLE(MPI_Datatype, number));
    check(call->in[0] >= 0);
}

static void free_type(uint32_t number)
{
    start(REC_FN_MPI_Type_free);
    rec_free_type(call, HANDLE(MPI_Datatype, number));
    rec_freed_type(call, HANDLE(MPI_Datatype, number));
}

static void remake_type(uint32_t number)
{
    free_type(number);
    make_type(number);
}

/* No two types are alike, and each is freed at once. */
static void new_type(uint32_t number)
{
    static uint32_t made;
    (void)number;
    make_type(made);
    free_type(made++);
}

/* ---- requests ---- */

static void make_plain(uint32_t number)
{
    make_request(HANDLE(MPI_Request, number), 0);
}

static void remake_request(uint32_t number)
{
    complete(HANDLE(MPI_Request, number));
    make_plain(number);
}

/* An MPI that gives all sends that are complete one handle. */
static void make_shared(uint32_t number)
{
    (void)number;
    make_plain(0);
}

static void remake_shared(uint32_t number)
{
    (void)number;
    remake_request(0);
}

/* An MPI that takes a new handle for each. */
static void new_request(uint32_t number)
{
    static uint32_t made;
    (void)number;
    make_plain(objects + made);
    complete(HANDLE(MPI_Request, made++));
}

static void make_persistent(uint32_t number)
{
    make_request(HANDLE(MPI_Request, number), REC_REQUEST_PERSISTENT);
}

static void free_request(uint32_t number)
{
    start(REC_FN_MPI_Request_free);
    rec_in_request(call, HANDLE(MPI_Request, number));
    rec_out_request_freed(call);
}

/* As of windows. */
static void remake_persistent(uint32_t number)
{
    (void)number;
    free_request(0);
    make_persistent(0);
    make_persistent(objects);
    free_request(objects);
}

/* ---- call paths ---- */

enum { FRAMES = 8, DEPTH = 7, DIGIT_BITS = 3 }; /* 8^7 paths of equal depth */

static void find_site(uint32_t number)
{
    struct rec_frame frames[FRAMES];
    for (uint32_t i = 0; i < FRAMES; i++)
        frames[i] = (struct rec_frame){1, 0x1000 * i + (i == 4 ? number : 0)};
    check(rec_site_of_frames(&stream.sites, 1, frames, FRAMES) == number);
}

__attribute__((noinline)) static uint32_t call_mpi(void)
{
    const uint32_t site = rec_site(&stream.sites, 1, __builtin_frame_address(0));
    __asm__ volatile("" ::: "memory");
    return site;
}

static uint32_t descend(uint32_t path, unsigned depth);
static uint32_t (*volatile deeper)(uint32_t, unsigned) = descend;

/* Each call below is a place of its own. */
__attribute__((noinline)) static uint32_t descend(uint32_t path, unsigned depth)
{
    uint32_t site = 0;
    if (depth == 0)
        return call_mpi();
#define PLACE(digit)                                      \
    case digit:                                           \
        site = deeper(path >> DIGIT_BITS, depth - 1);     \
        __asm__ volatile("# place " #digit ::: "memory"); \
        break
    switch (path & 7) {
        PLACE(0);
        PLACE(1);
        PLACE(2);
        PLACE(3);
        PLACE(4);
        PLACE(5);
        PLACE(6);
        PLACE(7);
    default:
        break;
    }
    return site;
}

/* Paths differ in their outermost frames: hardly one goes on as the one before. */
static void walk_path(uint32_t number)
{
    const uint32_t before = rec_sites_count(&stream.sites), site = deeper(number, DEPTH);
    check(site < before || site == before);
}

/* ---- what is reduced ---- */

static const struct rfn_function_info two_inputs = {.name = "two", .n_in = 2, .n_out = 1};
static struct rfn_symbol_table symbols = {.functions = &two_inputs};
static struct rfn_lists lists;
static struct rfn_varying_params inputs;

static void make_symbol(uint32_t number)
{
    const int64_t in[] = {number % 10, number / 10};
    check(rfn_symbol_table_add(&symbols, &(struct rfn_symbol){.site = number % 7}, in) == number);
}

static void find_symbol(uint32_t number)
{
    const int64_t in[] = {number % 10, number / 10};
    const struct rfn_symbol_signature signature = {.site = number % 7, .n_in = 2, .in = in};
    check(rfn_symbol_table_find(&symbols, &signature) == number);
}

static void find_list(uint32_t number)
{
    const int64_t words[] = {number, 1, 2, 3};
    check(rfn_lists_intern(&lists, words, 4) > 0);
}

static void new_list(uint32_t number)
{
    static uint32_t made;
    (void)number;
    find_list(objects + made++);
}

/* Sites whose inputs have had 60 values. */
static void note_values(uint32_t number)
{
    static uint32_t value;
    const int64_t in[] = {value++ % 60, 0};
    check(rfn_varying_params_use(&inputs, number, 2) >= 0);
    inputs.sites[number].n_symbols = 0;
    check(rfn_varying_params_note(&inputs, &(struct rfn_symbol){.site = number, .in = in}) == -1);
}

/* ---- samples ---- */

static struct rfn_sample_counts *pairs;
static struct rfn_sample_table *categories;
enum { CATEGORIES = 4096 };

static void count_pair(uint32_t number)
{
    if (!pairs)
        pairs = rfn_sample_counts_init(calloc(1, rfn_sample_counts_bytes(objects)), objects);
    rfn_sample_counts_row(pairs, 0, (int32_t)number, 4)->messages++;
}

/* There is room for 4,096. */
static void count_category(uint32_t number)
{
    const struct rfn_sample_key key = {0, (int32_t)number, 1, 2, 4};
    if (!categories)
        categories = rfn_sample_table_init(calloc(1, rfn_sample_table_bytes(CATEGORIES)),
                                           CATEGORIES);
    rfn_sample_table_row(categories, &key)->messages++;
}

/* ---- all of them ---- */

static const struct table {
    const char *name;
    void (*make)(uint32_t number);
    void (*event)(uint32_t number);
} tables[] = {
    {"comms", duplicate, use_comm},
    {"comms-dup", duplicate, dup_and_free},
    {"comms-split", duplicate, split_and_free},
    {"comms-again", duplicate, remake_comm},
    {"comms-idup", idup, idup_again},
    {"windows", make_win, use_win},
    {"windows-again", make_win, remake_win},
    {"groups", make_group, use_group},
    {"groups-again", make_group, remake_group},
    {"types", make_type, use_type},
    {"types-again", make_type, remake_type},
    {"types-new", make_type, new_type},
    {"requests", make_plain, remake_request},
    {"requests-shared", make_shared, remake_shared},
    {"requests-new", make_plain, new_request},
    {"persistent", make_persistent, remake_persistent},
    {"sites", find_site, find_site},
    {"paths", walk_path, walk_path},
    {"symbols", make_symbol, find_symbol},
    {"lists", find_list, find_list},
    {"lists-new", find_list, new_list},
    {"inputs", note_values, note_values},
    {"sample-pairs", count_pair, count_pair},
    {"sample-categories", count_category, count_category},
};

/* Not inlined, so that callgrind tells what is in it. */
__attribute__((noinline)) static void let_come(const struct table *table, uint32_t events)
{
    uint64_t random = 1;
    for (uint32_t i = 0; i < events; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        table->event((uint32_t)((random >> 33) % objects));
    }
}

int main(int argc, char **argv)
{
    const struct table *table = tables, *end = tables + sizeof tables / sizeof *tables;
    for (; argc < 4 && table < end; table++)
        puts(table->name);
    while (table < end && strcmp(table->name, argv[1]) != 0)
        table++;
    if (table == end)
        return argc == 1 ? 0 : 2;
    struct rfn_stream_options options = {.functions = rec_functions};
    objects = (uint32_t)strtoul(argv[2], NULL, 10);
    fill_mpi();
    stream.events = rfn_stream_new(&options);
    check(objects > 0 && stream.events && rec_sites_init(&stream.sites) == 0);
    for (uint32_t i = 0; i < objects; i++)
        table->make(i);
    let_come(table, 1000); /* what is made once only */
    CALLGRIND_START_INSTRUMENTATION;
    let_come(table, (uint32_t)strtoul(argv[3], NULL, 10));
    CALLGRIND_STOP_INSTRUMENTATION;
    return 0;
}
