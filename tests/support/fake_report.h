/* fake_report.h - an archive without events, for tests of pages: functions, call paths, regions.
 *
 * Defines the reader's functions themselves (refrain/archive.h), so that no file is needed and
 * waits can be made up. To be included by one test program once.
 */
#ifndef RFN_TESTS_SUPPORT_FAKE_REPORT_H
#define RFN_TESTS_SUPPORT_FAKE_REPORT_H

#include "archive/read/archive_calls.h"
#include "refrain/clusters.h"
#include "refrain/event.h"
#include "refrain/left_out.h"
#include "refrain/trace_profile.h"

struct rfn_archive {
    struct rfn_run run;
};

struct rfn_cursor {
    int nothing;
};

static struct rfn_archive fake = {{.recorder = "refrain",
                                   .program = "fake",
                                   .command = "./fake",
                                   .mpi = "Fake MPI",
                                   .flavour = "fake",
                                   .ranks = 8,
                                   .streams = 8,
                                   .times = true}};

/* ---- definitions ---- */

enum fake_function {
    INIT,
    RECV,
    SEND,
    ALLREDUCE,
    BARRIER,
    BCAST,
    FINALIZE,
    FILE_WRITE,
    SPLIT,
    TEST,
    IPROBE,
    ABORT,
    REDUCE,
    WAITALL,
    PUT,
    TYPE_SIZE
};

static const struct rfn_function_info fake_functions[] = {
    {.name = "MPI_Init", .class_ = RFN_CLASS_SETUP},
    {.name = "MPI_Recv", .class_ = RFN_CLASS_RECV},
    {.name = "MPI_Send", .class_ = RFN_CLASS_SEND},
    {.name = "MPI_Allreduce", .class_ = RFN_CLASS_ALL_TO_ALL},
    {.name = "MPI_Barrier", .class_ = RFN_CLASS_BARRIER},
    {.name = "MPI_Bcast", .class_ = RFN_CLASS_ONE_TO_ALL},
    {.name = "MPI_Finalize", .class_ = RFN_CLASS_SETUP},
    {.name = "MPI_File_write", .class_ = RFN_CLASS_FILE},
    {.name = "MPI_Comm_split", .class_ = RFN_CLASS_COMM},
    {.name = "MPI_Test", .class_ = RFN_CLASS_COMPLETION, .flags = RFN_FUNCTION_POLL},
    {.name = "MPI_Iprobe", .class_ = RFN_CLASS_PROBE, .flags = RFN_FUNCTION_POLL},
    {.name = "MPI_Abort", .class_ = RFN_CLASS_SETUP},
    {.name = "MPI_Reduce", .class_ = RFN_CLASS_ALL_TO_ONE},
    {.name = "MPI_Waitall", .class_ = RFN_CLASS_COMPLETION},
    {.name = "MPI_Put", .class_ = RFN_CLASS_RMA},
    {.name = "MPI_Type_size", .class_ = RFN_CLASS_OTHER}};

static const struct rfn_location fake_locations[] = {
    {"main", "/src/solver.c", 10, "/bin/app", 0x100},
    {"main", "/src/solver.c", 20, "/bin/app", 0x120},
    {"main", "/src/solver.c", 24, "/bin/app", 0x124},
    {"step", "/src/solver.c", 51, "/bin/app", 0x251},
    {"step", "/src/solver.c", 55, "/bin/app", 0x255},
    {"exchange", "/src/halo.c", 88, "/bin/app", 0x388},
    {"exchange", "/src/halo.c", 80, "/bin/app", 0x380},
    {"residual", "/src/halo.c", 12, "/bin/app", 0x412},
    {"ompi_wait", NULL, 0, "/usr/lib/libmpi.so.40", 0x99},
    {NULL, NULL, 0, "/opt/app", 0x1234},
    {"ev\x1bil\n", "/src/b\tad.c", 3, "/bin/app", 0x500},
    {"_ZN6solver5FieldIdE3sumEi", "/src/field.cc", 7, "/bin/app", 0x600},
    {"step", "/src/solver.c", 40, "/bin/app", 0x240},
    {NULL, NULL, 0, "/opt/app", 0x2000},
    {"step", "/src/step.inc", 3, "/bin/app", 0x260},
    {"step", "/src/solver.c", 51, "/bin/app", 0x2a0},
    {"plain", NULL, 0, "/bin/app", 0x700},
    {"plain", NULL, 0, "/bin/app", 0x720}};

#define PATH(...)                                                                             \
    {                                                                                         \
        (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t) \
    }

enum fake_path {
    NOWHERE,
    MAIN_10,
    EXCHANGE_88,       /* called at step:51 */
    RESIDUAL_12,       /* at step:55 */
    EXCHANGE_80_EARLY, /* at step:40, through MPI's own frames */
    EXCHANGE_80,       /* at step:51 */
    UNNAMED,
    UNNAMED_2,
    EVIL,
    SUM_7, /* at main:24 */
    MAIN_24,
    STEP_INC,         /* step in another file */
    EXCHANGE_88_TWIN, /* step:51 again, which is inlined: another address */
    PLAIN_1,          /* RECV in exchange, from a function without lines, */
    PLAIN_2,          /* and from another place in it */
    PLAIN_3,          /* in that function itself */
    UNNAMED_CALLED,   /* UNNAMED, called at main:24 */
    N_PATHS
};

static const struct rfn_path fake_paths[] = {
    {NULL, 0},      PATH(0),     PATH(5, 3, 1), PATH(7, 4, 1), PATH(8, 6, 12, 1), PATH(6, 3, 1),
    PATH(9),        PATH(13),    PATH(10),      PATH(11, 2),   PATH(2),           PATH(14, 1),
    PATH(5, 15, 1), PATH(6, 16), PATH(5, 17),   PATH(17),      PATH(9, 2)};

/* ---- the reader's functions ---- */

int rfn_archive_open(const char *path, struct rfn_archive **archive, struct rfn_diag *diag)
{
    (void)path;
    (void)diag;
    *archive = &fake;
    return 0;
}

void rfn_archive_close(struct rfn_archive *archive)
{
    (void)archive;
}

/* Else it would bring the true reader along. */
int rfn_reduce(const struct rfn_archive *archive, const struct rfn_trace_profile_options *options,
               const char *path, bool force, struct rfn_reduction *result, struct rfn_diag *diag)
{
    (void)archive, (void)options, (void)path, (void)force, (void)result, (void)diag;
    return RFN_E_UNSUPPORTED;
}

bool rfn_archive_complete(const struct rfn_archive *archive, const char **why)
{
    (void)archive;
    *why = NULL;
    return true;
}

const struct rfn_run *rfn_archive_run(const struct rfn_archive *archive)
{
    return &archive->run;
}

/* From this rank on, which a test sets, they run on "south", not on "north". */
static uint32_t fake_south = UINT32_MAX;

struct rfn_stream_info rfn_archive_stream(const struct rfn_archive *archive, uint32_t stream)
{
    (void)archive;
    return (struct rfn_stream_info){
        .rank = stream, .host = stream < fake_south ? "north" : "south", .readable = true};
}

/* A test sets it: of the one host. */
static uint32_t fake_cores;

uint32_t rfn_archive_hosts(const struct rfn_archive *archive)
{
    (void)archive;
    return 1;
}

struct rfn_host_info rfn_archive_host(const struct rfn_archive *archive, uint32_t host)
{
    (void)archive;
    (void)host;
    return (struct rfn_host_info){.name = "north", .cores = fake_cores};
}

uint32_t rfn_archive_groups(const struct rfn_archive *archive)
{
    (void)archive;
    return 0;
}

struct rfn_group_info rfn_archive_group(const struct rfn_archive *archive, uint32_t group)
{
    (void)archive;
    (void)group;
    return (struct rfn_group_info){0};
}

uint32_t rfn_archive_paths(const struct rfn_archive *archive)
{
    (void)archive;
    return N_PATHS;
}

struct rfn_path rfn_archive_path(const struct rfn_archive *archive, uint32_t path)
{
    (void)archive;
    return fake_paths[path];
}

uint32_t rfn_archive_locations(const struct rfn_archive *archive)
{
    (void)archive;
    return sizeof fake_locations / sizeof *fake_locations;
}

struct rfn_location rfn_archive_location(const struct rfn_archive *archive, uint32_t location)
{
    (void)archive;
    return fake_locations[location];
}

/* What lies between two locations; as many calls as have lines. */
struct fake_calls {
    uint32_t from, to;
    struct rfn_program_call calls[4];
};

static const struct fake_calls *fake_calls;
static size_t n_fake_calls;

bool rfn_archive_calls_between(const struct rfn_archive *archive, uint32_t from, uint32_t to,
                               struct rfn_program_call *calls, uint32_t most, uint32_t *n)
{
    (void)archive;
    *n = 0;
    for (size_t i = 0; i < n_fake_calls; i++) {
        const struct fake_calls *between = &fake_calls[i];
        if (between->from != from || between->to != to)
            continue;
        for (; *n < 4 && *n < most && between->calls[*n].line; ++*n)
            calls[*n] = between->calls[*n];
        return true;
    }
    return false;
}

uint32_t rfn_archive_functions(const struct rfn_archive *archive)
{
    (void)archive;
    return sizeof fake_functions / sizeof *fake_functions;
}

const struct rfn_function_info *rfn_archive_function(const struct rfn_archive *archive,
                                                     uint32_t function)
{
    (void)archive;
    return &fake_functions[function];
}

const struct rfn_call *rfn_archive_call(const struct rfn_archive *archive, uint32_t function)
{
    static struct rfn_call calls[sizeof fake_functions / sizeof *fake_functions];
    (void)archive;
    rfn_call_init(&calls[function], &fake_functions[function]);
    return &calls[function];
}

uint32_t rfn_archive_regions(const struct rfn_archive *archive)
{
    (void)archive;
    return 2;
}

const char *rfn_archive_region(const struct rfn_archive *archive, uint32_t region)
{
    static const char *const names[] = {"smoothing", "two\nlines"};
    (void)archive;
    return names[region];
}

uint32_t rfn_archive_datatypes(const struct rfn_archive *archive)
{
    (void)archive;
    return 0;
}

const struct rfn_datatype_info *rfn_archive_datatype(const struct rfn_archive *archive,
                                                     uint32_t datatype)
{
    (void)archive;
    (void)datatype;
    return NULL;
}

uint32_t rfn_archive_comms(const struct rfn_archive *archive)
{
    (void)archive;
    return 0;
}

const struct rfn_comm_info *rfn_archive_comm(const struct rfn_archive *archive, uint32_t comm)
{
    (void)archive;
    (void)comm;
    return NULL;
}

int64_t rfn_comm_world_rank(const struct rfn_archive *archive, uint32_t comm, bool remote,
                            uint32_t rank)
{
    (void)archive;
    (void)comm;
    (void)remote;
    return rank;
}

int64_t rfn_comm_rank_of(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank)
{
    (void)archive;
    (void)comm;
    return world_rank;
}

int64_t rfn_comm_peer(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank,
                      int64_t rank)
{
    (void)archive;
    (void)comm;
    (void)world_rank;
    return rank;
}

uint32_t rfn_comm_peers(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank)
{
    (void)comm;
    (void)world_rank;
    return archive->run.ranks;
}

int rfn_left_out_read(const struct rfn_archive *archive, struct rfn_left_out *left_out)
{
    (void)archive;
    *left_out = (struct rfn_left_out){0};
    return 0;
}

void rfn_left_out_release(struct rfn_left_out *left_out)
{
    (void)left_out;
}

int rfn_cursor_open(const struct rfn_archive *archive, uint32_t stream, struct rfn_cursor **cursor,
                    struct rfn_diag *diag)
{
    (void)archive;
    (void)cursor;
    return rfn_fail(diag, RFN_E_INCOMPLETE, -1, (int)stream, "no events");
}

int rfn_cursor_next(struct rfn_cursor *cursor, const struct rfn_record **record,
                    struct rfn_diag *diag)
{
    (void)cursor;
    (void)record;
    (void)diag;
    return 0;
}

const int64_t *rfn_cursor_list(const struct rfn_cursor *cursor, int64_t number, size_t *n,
                               uint8_t kind)
{
    (void)cursor;
    (void)number;
    (void)kind;
    *n = 0;
    return NULL;
}

void rfn_cursor_close(struct rfn_cursor *cursor)
{
    (void)cursor;
}

/* Of archive/cursor/cursor.h. */
struct rfn_batch;
int rfn_cursor_next_batch(struct rfn_cursor *cursor, struct rfn_batch **batch,
                          struct rfn_diag *diag);
int rfn_cursor_next_batch(struct rfn_cursor *cursor, struct rfn_batch **batch,
                          struct rfn_diag *diag)
{
    (void)cursor, (void)batch, (void)diag;
    return 0;
}

int64_t rfn_cursor_off_ns(const struct rfn_cursor *cursor);
int64_t rfn_cursor_off_ns(const struct rfn_cursor *cursor)
{
    (void)cursor;
    return 0;
}

bool rfn_cursor_clock_ns(struct rfn_cursor *cursor, uint64_t quanta, int64_t *ns);
bool rfn_cursor_clock_ns(struct rfn_cursor *cursor, uint64_t quanta, int64_t *ns)
{
    (void)cursor, (void)quanta, (void)ns;
    return false;
}

int rfn_cursor_cut_segments(struct rfn_cursor *cursor, uint32_t min_calls, struct rfn_diag *diag)
{
    (void)cursor;
    (void)min_calls;
    (void)diag;
    return 0;
}

struct rfn_segment_place rfn_cursor_place(const struct rfn_cursor *cursor)
{
    (void)cursor;
    return (struct rfn_segment_place){0};
}

uint32_t rfn_cursor_top_contexts(const struct rfn_cursor *cursor)
{
    (void)cursor;
    return 0;
}

int rfn_archive_verify(const char *path, void (*progress)(void *context, double share),
                       void *context, struct rfn_diag *diag)
{
    (void)path;
    (void)progress;
    (void)context;
    (void)diag;
    return 0;
}

/* Clusters that a test makes up. */
struct rfn_clustering {
    const struct rfn_main_cluster *mains;
    uint32_t n_mains, subs, after;
};

uint32_t rfn_clustering_mains(const struct rfn_clustering *clustering)
{
    return clustering->n_mains;
}

uint32_t rfn_clustering_subs(const struct rfn_clustering *clustering)
{
    return clustering->subs;
}

uint32_t rfn_clustering_after_expressions(const struct rfn_clustering *clustering)
{
    return clustering->after;
}

const struct rfn_main_cluster *rfn_clustering_main(const struct rfn_clustering *clustering,
                                                   uint32_t main)
{
    return &clustering->mains[main];
}

/* Nothing is read: these are only there for who could. */
uint32_t rfn_cursor_contexts(const struct rfn_cursor *cursor)
{
    (void)cursor;
    return 0;
}

int rfn_cursor_show_calls(const struct rfn_cursor *cursor,
                          int (*show)(void *context, const struct rfn_context_call *call),
                          void *context)
{
    (void)cursor, (void)show, (void)context;
    return RFN_E_INCOMPLETE;
}

#endif
