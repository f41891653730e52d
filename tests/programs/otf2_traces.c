/* Writes OTF2 traces whose events are known: otf2_traces KIND FOLDER. No MPI program.
 *
 * late    Two ranks. Rank 0 sends after 5 ms, rank 1 waits for it from 1 ms on. Times are
 *         microseconds. The clock of rank 1 is 2 s ahead, which its local definitions say, and it
 *         numbers regions in another order, of which its mapping table tells.
 * scorep  Four ranks, as Score-P writes them: requests, a communicator of ranks 1 and 3, collective
 *         calls with sizes of all messages, a metric, a region of the user, files, threads.
 * tau     Two ranks, as TAU writes them: messages of requests where they are over, no collective
 *         calls, names with arguments and places; a message outside of a call. */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                \
    do {                                           \
        if ((call) != OTF2_SUCCESS) {              \
            fprintf(stderr, "%s failed\n", #call); \
            exit(1);                               \
        }                                          \
    } while (0)

enum { RANKS_MAX = 4, METRICS = 1000, NONE = OTF2_COLLECTIVE_ROOT_NONE };

static OTF2_Archive *archive;
static OTF2_EvtWriter *to;
static uint64_t now, counts[RANKS_MAX];

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                            bool final)
{
    (void)user, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

/* ---- definitions ---- */

static OTF2_GlobalDefWriter *definitions;
static uint32_t n_strings;

static OTF2_StringRef text(const char *string)
{
    CHECK(OTF2_GlobalDefWriter_WriteString(definitions, n_strings, string));
    return n_strings++;
}

static void region(OTF2_RegionRef self, const char *name, OTF2_Paradigm paradigm,
                   OTF2_RegionRole role, const char *file, uint32_t line)
{
    const OTF2_StringRef ref = text(name);
    CHECK(OTF2_GlobalDefWriter_WriteRegion(definitions, self, ref, ref, text(""), role, paradigm,
                                           OTF2_REGION_FLAG_NONE, text(file), line, line));
}

static void mpi(OTF2_RegionRef self, const char *name)
{
    region(self, name, OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, "", 0);
}

static void group(OTF2_GroupRef self, OTF2_GroupType type, uint32_t n, const uint64_t *members)
{
    CHECK(OTF2_GlobalDefWriter_WriteGroup(definitions, self, text(""), type, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, n, members));
}

static void comm(OTF2_CommRef self, const char *name, OTF2_GroupRef ranks)
{
    CHECK(OTF2_GlobalDefWriter_WriteComm(definitions, self, text(name), ranks, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
}

/* Ranks on two hosts, with the world as communicator 5. */
static void define(uint64_t resolution, uint64_t offset, uint32_t ranks)
{
    static const uint64_t numbers[RANKS_MAX] = {0, 1, 2, 3};
    const OTF2_StringRef node = text("node"), hosts[] = {text("even"), text("odd")};
    CHECK(OTF2_GlobalDefWriter_WriteClockProperties(definitions, resolution, offset, 1000000,
                                                    1600000000000000000));
    for (uint32_t i = 0; i < 2; i++)
        CHECK(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, i, hosts[i], node,
                                                       OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t i = 0; i < ranks; i++) {
        CHECK(OTF2_GlobalDefWriter_WriteLocationGroup(definitions, i, text("process"),
                                                      OTF2_LOCATION_GROUP_TYPE_PROCESS, i % 2,
                                                      OTF2_UNDEFINED_LOCATION_GROUP));
        CHECK(OTF2_GlobalDefWriter_WriteLocation(definitions, i, text("thread"),
                                                 OTF2_LOCATION_TYPE_CPU_THREAD, counts[i], i));
    }
    CHECK(OTF2_GlobalDefWriter_WriteLocation(definitions, METRICS, text("metrics"),
                                             OTF2_LOCATION_TYPE_METRIC, 0, 0));
    group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, ranks, numbers);
    group(1, OTF2_GROUP_TYPE_COMM_GROUP, ranks, numbers);
    comm(5, "MPI_COMM_WORLD", 1);
}

/* ---- events ---- */

static void enter(uint64_t time, OTF2_RegionRef ref)
{
    now = time;
    CHECK(OTF2_EvtWriter_Enter(to, NULL, now, ref));
}

static void leave(uint64_t time, OTF2_RegionRef ref)
{
    now = time;
    CHECK(OTF2_EvtWriter_Leave(to, NULL, now, ref));
}

static void together(uint64_t begin, uint64_t end, OTF2_RegionRef ref, OTF2_CollectiveOp operation,
                     OTF2_CommRef ranks, uint32_t root, uint64_t sent, uint64_t received)
{
    enter(begin, ref);
    CHECK(OTF2_EvtWriter_MpiCollectiveBegin(to, NULL, begin));
    CHECK(OTF2_EvtWriter_MpiCollectiveEnd(to, NULL, end, operation, ranks, root, sent, received));
    leave(end, ref);
}

/* ---- late ---- */

enum { MAIN, SEND, RECV };

static void late_rank(uint32_t rank)
{
    enum { AHEAD = 2000000 };
    if (rank == 0) {
        enter(0, MAIN);
        enter(5000, SEND);
        CHECK(OTF2_EvtWriter_MpiSend(to, NULL, 5001, 1, 5, 7, 800));
        leave(5100, SEND);
        leave(9000, MAIN);
        return;
    }
    /* Its own numbers of regions: 0 is MPI_Recv, 1 is main. */
    enter(AHEAD, 1);
    enter(AHEAD + 1000, 0);
    CHECK(OTF2_EvtWriter_MpiRecv(to, NULL, AHEAD + 5150, 0, 5, 7, 800));
    leave(AHEAD + 5200, 0);
    leave(AHEAD + 9000, 1);
}

static void late_local(OTF2_DefWriter *local, uint32_t rank)
{
    static const uint32_t regions[] = {RECV, MAIN};
    if (rank == 0)
        return;
    OTF2_IdMap *map = OTF2_IdMap_CreateFromUint32Array(2, regions, false);
    CHECK(OTF2_DefWriter_WriteMappingTable(local, OTF2_MAPPING_REGION, map));
    OTF2_IdMap_Free(map);
    CHECK(OTF2_DefWriter_WriteClockOffset(local, 2000000, -2000000, 0));
    CHECK(OTF2_DefWriter_WriteClockOffset(local, 2009000, -2000000, 0));
}

static void late_definitions(void)
{
    define(1000000, 0, 2);
    region(MAIN, "main", OTF2_PARADIGM_COMPILER, OTF2_REGION_ROLE_FUNCTION, "app.c", 3);
    mpi(SEND, "MPI_Send");
    mpi(RECV, "MPI_Recv");
}

/* ---- scorep ---- */

enum {
    STEP = 10,
    SOLVE,
    INIT,
    IRECV,
    ISEND,
    WAITALL,
    WAIT,
    TEST,
    ALLREDUCE,
    BCAST,
    SCAN,
    GATHERV,
    IALLREDUCE,
    BARRIER,
    SSEND,
    SRECV,
    CANCEL,
    WRITE,
    FINALIZE
};

enum { START = 1000 };

static void count(uint64_t instructions)
{
    static const OTF2_Type types[] = {OTF2_TYPE_UINT64, OTF2_TYPE_UINT64};
    const OTF2_MetricValue values[] = {{.unsigned_int = 17}, {.unsigned_int = instructions}};
    CHECK(OTF2_EvtWriter_Metric(to, NULL, now, 0, 2, types, values));
}

/* Each rank gets 100 + rank bytes from the one before it, and gives to the one behind it. */
static void scorep_ring(uint32_t rank)
{
    const uint32_t before = (rank + 3) % 4, behind = (rank + 1) % 4;
    enter(START + 200, IRECV);
    CHECK(OTF2_EvtWriter_MpiIrecvRequest(to, NULL, START + 201, 40));
    leave(START + 210, IRECV);
    enter(START + 220, ISEND);
    CHECK(OTF2_EvtWriter_MpiIsend(to, NULL, START + 221, behind, 5, 9, 100 + behind, 41));
    leave(START + 230, ISEND);
    enter(START + 240, TEST);
    CHECK(OTF2_EvtWriter_MpiRequestTest(to, NULL, START + 241, 40));
    leave(START + 250, TEST);
    enter(START + 260, WAITALL);
    CHECK(OTF2_EvtWriter_MpiIrecv(to, NULL, START + 290, before, 5, 9, 100 + rank, 40));
    CHECK(OTF2_EvtWriter_MpiIsendComplete(to, NULL, START + 290, 41));
    leave(START + 300, WAITALL);
}

static void scorep_collectives(uint32_t rank)
{
    together(START + 310, START + 320, ALLREDUCE, OTF2_COLLECTIVE_OP_ALLREDUCE, 5, NONE, 4 * 24,
             4 * 24);
    together(START + 330, START + 340, BCAST, OTF2_COLLECTIVE_OP_BCAST, 5, 1,
             rank == 1 ? 4 * 50 : 0, 50);
    together(START + 350, START + 360, SCAN, OTF2_COLLECTIVE_OP_SCAN, 5, NONE, (4 - rank) * 8,
             (rank + 1) * 8);
    together(START + 370, START + 380, GATHERV, OTF2_COLLECTIVE_OP_GATHERV, 5, 0, 10 + rank,
             rank == 0 ? 46 : 0);
    enter(START + 390, IALLREDUCE);
    CHECK(OTF2_EvtWriter_NonBlockingCollectiveRequest(to, NULL, START + 391, 42));
    leave(START + 400, IALLREDUCE);
    enter(START + 410, WAIT);
    CHECK(OTF2_EvtWriter_NonBlockingCollectiveComplete(
        to, NULL, START + 419, OTF2_COLLECTIVE_OP_ALLREDUCE, 5, NONE, 4 * 32, 4 * 32, 42));
    leave(START + 420, WAIT);
}

/* Among ranks 1 and 3: rank 1 of it sends to rank 0 of it, and both meet. */
static void scorep_part(uint32_t rank)
{
    if (rank == 3) {
        enter(START + 430, SSEND);
        CHECK(OTF2_EvtWriter_MpiSend(to, NULL, START + 431, 0, 6, 3, 77));
        leave(START + 440, SSEND);
    } else if (rank == 1) {
        enter(START + 430, SRECV);
        CHECK(OTF2_EvtWriter_MpiRecv(to, NULL, START + 439, 1, 6, 3, 77));
        leave(START + 440, SRECV);
    }
    if (rank % 2)
        together(START + 450, START + 460, BARRIER, OTF2_COLLECTIVE_OP_BARRIER, 6, NONE, 0, 0);
}

static void scorep_cancel(void)
{
    enter(START + 470, IRECV);
    CHECK(OTF2_EvtWriter_MpiIrecvRequest(to, NULL, START + 471, 43));
    leave(START + 480, IRECV);
    enter(START + 490, CANCEL);
    leave(START + 500, CANCEL);
    enter(START + 510, WAIT);
    CHECK(OTF2_EvtWriter_MpiRequestCancelled(to, NULL, START + 519, 43));
    leave(START + 520, WAIT);
}

static void scorep_rank(uint32_t rank)
{
    enter(START, MAIN);
    now = START + 100;
    count(5000);
    enter(START + 100, INIT);
    CHECK(OTF2_EvtWriter_MpiCollectiveBegin(to, NULL, START + 101));
    CHECK(OTF2_EvtWriter_MpiCollectiveEnd(to, NULL, START + 109, OTF2_COLLECTIVE_OP_CREATE_HANDLE,
                                          5, NONE, 0, 0));
    now = START + 110;
    count(5300);
    leave(START + 110, INIT);
    CHECK(OTF2_EvtWriter_ThreadFork(to, NULL, now, OTF2_PARADIGM_OPENMP, 2));
    enter(START + 120, SOLVE);
    enter(START + 130, STEP);
    now = START + 200;
    count(9000 + rank);
    scorep_ring(rank);
    leave(START + 305, STEP);
    scorep_collectives(rank);
    scorep_part(rank);
    leave(START + 465, SOLVE);
    scorep_cancel();
    enter(START + 530, WRITE);
    CHECK(OTF2_EvtWriter_IoSeek(to, NULL, START + 531, 0, 8, OTF2_IO_SEEK_FROM_START, 8));
    leave(START + 540, WRITE);
    enter(START + 550, FINALIZE);
    leave(START + 560, FINALIZE);
    now = START + 570;
    leave(START + 570, MAIN);
}

static void scorep_metric(void)
{
    static const OTF2_MetricMemberRef members[] = {3, 4};
    CHECK(OTF2_GlobalDefWriter_WriteMetricMember(
        definitions, 3, text("PAPI_L2_TCM"), text(""), OTF2_METRIC_TYPE_PAPI,
        OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, text("#")));
    CHECK(OTF2_GlobalDefWriter_WriteMetricMember(
        definitions, 4, text("PAPI_TOT_INS"), text(""), OTF2_METRIC_TYPE_PAPI,
        OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, text("#")));
    CHECK(OTF2_GlobalDefWriter_WriteMetricClass(
        definitions, 0, 2, members, OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU));
}

static void scorep_definitions(void)
{
    static const uint64_t odd[] = {1, 3};
    static const struct {
        OTF2_RegionRef ref;
        const char *name;
    } functions[] = {{INIT, "MPI_Init"},
                     {IRECV, "MPI_Irecv"},
                     {ISEND, "MPI_Isend"},
                     {WAITALL, "MPI_Waitall"},
                     {WAIT, "MPI_Wait"},
                     {TEST, "MPI_Test"},
                     {ALLREDUCE, "MPI_Allreduce"},
                     {BCAST, "MPI_Bcast"},
                     {SCAN, "MPI_Scan"},
                     {GATHERV, "MPI_Gatherv"},
                     {IALLREDUCE, "MPI_Iallreduce"},
                     {BARRIER, "MPI_Barrier"},
                     {SSEND, "mpi_ssend_"},
                     {SRECV, "MPI_RECV"},
                     {CANCEL, "MPI_Cancel"},
                     {WRITE, "MPI_File_write"},
                     {FINALIZE, "MPI_Finalize"}};
    define(1000000000, START, 4);
    region(MAIN, "main", OTF2_PARADIGM_COMPILER, OTF2_REGION_ROLE_FUNCTION, "app.c", 3);
    region(STEP, "step", OTF2_PARADIGM_COMPILER, OTF2_REGION_ROLE_FUNCTION, "step.c", 20);
    region(SOLVE, "solve", OTF2_PARADIGM_USER, OTF2_REGION_ROLE_CODE, "app.c", 7);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        mpi(functions[i].ref, functions[i].name);
    group(2, OTF2_GROUP_TYPE_COMM_GROUP, 2, odd);
    comm(6, "odd", 2);
    scorep_metric();
}

/* ---- tau ---- */

static void tau_rank(uint32_t rank)
{
    enter(100, MAIN);
    if (rank == 0) {
        enter(110, ISEND);
        CHECK(OTF2_EvtWriter_MpiSend(to, NULL, 111, 1, 5, 4, 64));
        leave(120, ISEND);
        CHECK(OTF2_EvtWriter_MpiSend(to, NULL, 130, 1, 5, 5, 16));
    } else {
        enter(110, IRECV);
        leave(120, IRECV);
        enter(130, WAITALL);
        CHECK(OTF2_EvtWriter_MpiRecv(to, NULL, 140, 0, 5, 4, 64));
        CHECK(OTF2_EvtWriter_MpiRecv(to, NULL, 145, 0, 5, 5, 16));
        leave(150, WAITALL);
    }
    enter(200, BARRIER);
    leave(210, BARRIER);
    leave(220, MAIN);
}

static void tau_definitions(void)
{
    define(1000000000, 100, 2);
    region(MAIN, "int main(int, char **) C [{/home/app.c} {3,1}-{30,1}]", OTF2_PARADIGM_USER,
           OTF2_REGION_ROLE_FUNCTION, "", 0);
    region(ISEND, "MPI_Isend()", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, "", 0);
    region(IRECV, "MPI_Irecv()", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, "", 0);
    region(WAITALL, "MPI_Waitall()", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, "", 0);
    region(BARRIER, "MPI_Barrier()", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, "", 0);
}

/* ---- the trace ---- */

static const struct {
    const char *name, *creator;
    uint32_t ranks;
    void (*rank)(uint32_t rank);
    void (*local)(OTF2_DefWriter *local, uint32_t rank);
    void (*definitions)(void);
} kinds[] = {{"late", "Score-P 8.0", 2, late_rank, late_local, late_definitions},
             {"scorep", "Score-P 8.0", 4, scorep_rank, NULL, scorep_definitions},
             {"tau", "TAU", 2, tau_rank, NULL, tau_definitions}};

int main(int argc, char **argv)
{
    static const OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = flush};
    size_t kind = 0;
    while (argc == 3 && strcmp(kinds[kind].name, argv[1]) != 0)
        kind++;
    archive = OTF2_Archive_Open(argv[2], "traces", OTF2_FILEMODE_WRITE, 1 << 18, 1 << 20,
                                OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    CHECK(OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL));
    CHECK(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    CHECK(OTF2_Archive_SetCreator(archive, kinds[kind].creator));
    CHECK(OTF2_Archive_OpenEvtFiles(archive));
    for (uint32_t i = 0; i < kinds[kind].ranks; i++) {
        to = OTF2_Archive_GetEvtWriter(archive, i);
        kinds[kind].rank(i);
        CHECK(OTF2_EvtWriter_GetNumberOfEvents(to, &counts[i]));
        CHECK(OTF2_Archive_CloseEvtWriter(archive, to));
    }
    CHECK(OTF2_Archive_CloseEvtWriter(archive, OTF2_Archive_GetEvtWriter(archive, METRICS)));
    CHECK(OTF2_Archive_CloseEvtFiles(archive));
    CHECK(OTF2_Archive_OpenDefFiles(archive));
    for (uint32_t i = 0; i < kinds[kind].ranks; i++) {
        OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(archive, i);
        if (kinds[kind].local)
            kinds[kind].local(local, i);
        CHECK(OTF2_Archive_CloseDefWriter(archive, local));
    }
    CHECK(OTF2_Archive_CloseDefFiles(archive));
    definitions = OTF2_Archive_GetGlobalDefWriter(archive);
    text("");
    kinds[kind].definitions();
    CHECK(OTF2_Archive_Close(archive));
    return 0;
}
