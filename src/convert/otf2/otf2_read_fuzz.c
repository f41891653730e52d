/* Any events as an OTF2 trace of two ranks: an error that is told, or a sound archive.
 *
 * libotf2 writes the trace, which so is well-formed, whatever contradicts itself in it: libotf2
 * itself crashes on some traces whose bytes are damaged. An event is ITEM bytes: what happens, and
 * two numbers; the first one is small where something has to be defined. A byte END goes on with
 * the other rank. */
#define _GNU_SOURCE
#include "refrain/archive.h"
#include "refrain/convert.h"

#include <ftw.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ITEM = 3, END = 0xff, RANKS = 2, COMMS = 3, MOST_EVENTS = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const regions[] = {
    "main",          "solve",         "MPI_Send",      "MPI_Recv",       "MPI_Isend",
    "MPI_Irecv",     "MPI_Wait",      "MPI_Waitall",   "MPI_Test",       "MPI_Sendrecv",
    "MPI_Barrier",   "MPI_Bcast",     "MPI_Allreduce", "MPI_Alltoallv",  "MPI_Ibarrier",
    "MPI_Comm_dup",  "MPI_Comm_free", "MPI_Cancel",    "MPI_Win_create", "MPI_Win_fence",
    "MPI_Put",       "MPI_Win_lock",  "MPI_Init",      "MPI_Finalize",   "MPI_Iallreduce",
    "MPI_Waitsome()"};
enum { REGIONS = sizeof regions / sizeof *regions };

static char folder[] = "/tmp/refrain-fuzz-XXXXXX";
static OTF2_GlobalDefWriter *definitions;
static uint32_t n_strings;

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type;
    return where->level ? remove(path) : 0;
}

static void empty_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
    empty_folder();
    rmdir(folder);
}

/* ---- the trace ---- */

static OTF2_StringRef text(const char *string)
{
    OTF2_GlobalDefWriter_WriteString(definitions, n_strings, string);
    return n_strings++;
}

static void define_comms(void)
{
    static const uint64_t ranks[RANKS] = {0, 1}, *last = &ranks[1];
    OTF2_GlobalDefWriter_WriteGroup(definitions, 0, text(""), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, RANKS, ranks);
    OTF2_GlobalDefWriter_WriteGroup(definitions, 1, text(""), OTF2_GROUP_TYPE_COMM_GROUP,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, RANKS, ranks);
    OTF2_GlobalDefWriter_WriteGroup(definitions, 2, text(""), OTF2_GROUP_TYPE_COMM_GROUP,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 1, last);
    for (uint32_t i = 0; i < COMMS - 1; i++)
        OTF2_GlobalDefWriter_WriteComm(definitions, i, text(i ? "half" : "MPI_COMM_WORLD"), 1 + i,
                                       OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_GlobalDefWriter_WriteRmaWin(definitions, 0, text("window"), 0, OTF2_RMA_WIN_FLAG_NONE);
}

static void define(OTF2_Archive *trace, const uint64_t counts[RANKS])
{
    n_strings = 0;
    definitions = OTF2_Archive_GetGlobalDefWriter(trace);
    const OTF2_StringRef empty = text("");
    OTF2_GlobalDefWriter_WriteClockProperties(definitions, 1000000, 0, 1000000, 0);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, 0, text("host"), text("node"),
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t i = 0; i < RANKS; i++) {
        OTF2_GlobalDefWriter_WriteLocationGroup(definitions, i, empty,
                                                OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(definitions, i, empty, OTF2_LOCATION_TYPE_CPU_THREAD,
                                           counts[i], i);
    }
    for (uint32_t i = 0; i < REGIONS; i++) {
        const OTF2_StringRef name = text(regions[i]);
        OTF2_GlobalDefWriter_WriteRegion(
            definitions, i, name, name, empty, OTF2_REGION_ROLE_FUNCTION,
            i < 2 ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, empty, 0, 0);
    }
    define_comms();
}

static void write_event(OTF2_EvtWriter *to, uint64_t now, unsigned what, uint8_t a, uint8_t b)
{
    const uint32_t comm = a % (COMMS + 1) == COMMS ? OTF2_UNDEFINED_UINT32 : a % COMMS;
    const uint32_t peer = b % 4, tag = b % 16 ? b : OTF2_UNDEFINED_UINT32;
    const uint64_t bytes = b == 255 ? UINT64_MAX : b * UINT64_C(8), request = a % 16;
    switch (what % 22) {
    case 0:
    case 1:
    case 2:
        OTF2_EvtWriter_Enter(to, NULL, now, a % (REGIONS + 1));
        break;
    case 3:
    case 4:
    case 5:
        OTF2_EvtWriter_Leave(to, NULL, now, a % (REGIONS + 1));
        break;
    case 6:
        OTF2_EvtWriter_MpiSend(to, NULL, now, peer, comm, tag, bytes);
        break;
    case 7:
        OTF2_EvtWriter_MpiRecv(to, NULL, now, peer, comm, tag, bytes);
        break;
    case 8:
        OTF2_EvtWriter_MpiIsend(to, NULL, now, peer, comm, tag, bytes, request);
        break;
    case 9:
        OTF2_EvtWriter_MpiIsendComplete(to, NULL, now, request);
        break;
    case 10:
        OTF2_EvtWriter_MpiIrecvRequest(to, NULL, now, request);
        break;
    case 11:
        OTF2_EvtWriter_MpiIrecv(to, NULL, now, peer, comm, tag, bytes, request);
        break;
    case 12:
        OTF2_EvtWriter_MpiRequestTest(to, NULL, now, request);
        break;
    case 13:
        OTF2_EvtWriter_MpiRequestCancelled(to, NULL, now, request);
        break;
    case 14:
        OTF2_EvtWriter_MpiCollectiveEnd(to, NULL, now, b % 32, comm, peer, bytes, bytes);
        break;
    case 15:
        OTF2_EvtWriter_NonBlockingCollectiveRequest(to, NULL, now, request);
        break;
    case 16:
        OTF2_EvtWriter_NonBlockingCollectiveComplete(to, NULL, now, b % 32, comm, peer, bytes,
                                                     bytes, request);
        break;
    case 17:
        OTF2_EvtWriter_CommCreate(to, NULL, now, comm);
        break;
    case 18:
        OTF2_EvtWriter_RmaWinCreate(to, NULL, now, a % 2);
        break;
    case 19:
        OTF2_EvtWriter_RmaPut(to, NULL, now, a % 2, peer, bytes, request);
        break;
    case 20:
        OTF2_EvtWriter_RmaAcquireLock(to, NULL, now, a % 2, peer, request, b % 2);
        break;
    default:
        OTF2_EvtWriter_RmaReleaseLock(to, NULL, now, a % 2, peer, request);
    }
}

/* Returns the bytes that are left. */
static size_t write_rank(OTF2_EvtWriter *to, const uint8_t *bytes, size_t size, uint64_t *count)
{
    uint64_t now = 1;
    for (int i = 0; i < MOST_EVENTS && size >= ITEM && bytes[0] != END; i++) {
        write_event(to, now, bytes[0], bytes[1], bytes[2]);
        now += bytes[2];
        bytes += ITEM;
        size -= ITEM;
    }
    OTF2_EvtWriter_GetNumberOfEvents(to, count);
    return size;
}

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                            bool final)
{
    (void)user, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static void write_trace(const char *path, const uint8_t *bytes, size_t size)
{
    static const OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = flush};
    uint64_t counts[RANKS];
    OTF2_Archive *trace = OTF2_Archive_Open(path, "traces", OTF2_FILEMODE_WRITE, 1 << 18, 1 << 18,
                                            OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!trace)
        abort();
    OTF2_Archive_SetFlushCallbacks(trace, &callbacks, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(trace);
    OTF2_Archive_OpenEvtFiles(trace);
    for (uint32_t i = 0; i < RANKS; i++) {
        OTF2_EvtWriter *to = OTF2_Archive_GetEvtWriter(trace, i);
        const size_t left = write_rank(to, bytes, size, &counts[i]), done = size - left;
        bytes += left ? done + 1 : done;
        size = left ? left - 1 : 0;
        OTF2_Archive_CloseEvtWriter(trace, to);
    }
    OTF2_Archive_CloseEvtFiles(trace);
    OTF2_Archive_OpenDefFiles(trace);
    for (uint32_t i = 0; i < RANKS; i++)
        OTF2_Archive_CloseDefWriter(trace, OTF2_Archive_GetDefWriter(trace, i));
    OTF2_Archive_CloseDefFiles(trace);
    define(trace, counts);
    OTF2_Archive_Close(trace);
}

/* ---- the archive ---- */

static void read_trace(const char *trace, const char *made)
{
    struct rfn_otf2_summary summary;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const int error = rfn_otf2_read(trace, made, true, NULL, NULL, &summary, &diag);
    if (error < 0 && !diag.text[0])
        abort();
    if (error == 0 && rfn_archive_verify(made, NULL, NULL, &diag) < 0) {
        fprintf(stderr, "%s\n", diag.text);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static bool made;
    char trace[64], anchor[96], archive[64];
    if (!made && (!mkdtemp(folder) || atexit(remove_folder)))
        abort();
    made = true;
    snprintf(trace, sizeof trace, "%s/trace", folder);
    snprintf(anchor, sizeof anchor, "%s/traces.otf2", trace);
    snprintf(archive, sizeof archive, "%s/made.rfn", folder);
    write_trace(trace, bytes, size);
    read_trace(anchor, archive);
    empty_folder();
    return 0;
}
