/* rfn_otf2_write of refrain/convert.h.
 *
 * The trace is written to a folder of its own beside the final one, and gets its name when it is
 * there in full. */
#include "convert/convertible.h"
#include "convert/otf2/otf2_writing.h"
#include "convert/output_folder.h"
#include "convert/progress.h"

#include <stdlib.h>

enum { EVENT_CHUNK = 1 << 20, DEFINITION_CHUNK = 1 << 22 };

static const char *const trace_files[] = {".otf2",  ".def",    ".evt", ".snap",
                                          ".thumb", ".marker", NULL};
static const struct rfn_folder_kind trace_folder = {
    .what = "an OTF2 trace", .mark = "traces.otf2", .files = trace_files, .inner = "traces"};

/* ---- the trace ---- */

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                            bool final)
{
    (void)user;
    (void)type;
    (void)location;
    (void)caller;
    (void) final;
    return OTF2_FLUSH;
}

static int failed(const struct otf2_writing *writing, OTF2_ErrorCode code)
{
    return rfn_otf2_fail(&writing->errors, code, RFN_E_IO, writing->folder, "cannot be written",
                         writing->diag);
}

/* Each location has local definitions, which are empty: readers look for them. */
static OTF2_ErrorCode write_local_definitions(const struct otf2_writing *writing)
{
    const uint32_t n = rfn_archive_run(writing->archive)->streams;
    OTF2_ErrorCode code = OTF2_Archive_OpenDefFiles(writing->trace);
    for (uint32_t i = 0; i < n && code == OTF2_SUCCESS; i++) {
        OTF2_DefWriter *to = OTF2_Archive_GetDefWriter(writing->trace,
                                                       rfn_otf2_location(writing, i));
        code = to ? OTF2_Archive_CloseDefWriter(writing->trace, to) : OTF2_ERROR_MEM_ALLOC_FAILED;
    }
    return code == OTF2_SUCCESS ? OTF2_Archive_CloseDefFiles(writing->trace) : code;
}

static int write_definitions(struct otf2_writing *writing)
{
    int64_t unsupported;
    OTF2_ErrorCode code = write_local_definitions(writing);
    if (code == OTF2_SUCCESS)
        code = rfn_otf2_write_definitions(writing, &unsupported);
    if (code != OTF2_SUCCESS)
        return failed(writing, code);
    if (unsupported >= 0)
        return rfn_fail(
            writing->diag, RFN_E_UNSUPPORTED, -1, -1,
            "communicator %lld has processes that are not in MPI_COMM_WORLD, which OTF2 "
            "cannot tell",
            (long long)unsupported);
    return 0;
}

static int write_streams(struct otf2_writing *writing, const struct rfn_convert_progress *progress)
{
    const uint32_t n = rfn_archive_run(writing->archive)->streams;
    OTF2_ErrorCode code = OTF2_Archive_OpenEvtFiles(writing->trace);
    if (code != OTF2_SUCCESS)
        return failed(writing, code);
    for (uint32_t i = 0; i < n; i++) {
        RFN_TRY(rfn_otf2_write_stream(writing, i));
        rfn_convert_tell(progress, (i + 1.0) / n);
    }
    code = OTF2_Archive_CloseEvtFiles(writing->trace);
    return code == OTF2_SUCCESS ? 0 : failed(writing, code);
}

static OTF2_ErrorCode describe(const struct otf2_writing *writing)
{
    const struct rfn_run *run = rfn_archive_run(writing->archive);
    OTF2_ErrorCode code = OTF2_Archive_SetSerialCollectiveCallbacks(writing->trace);
    if (code == OTF2_SUCCESS)
        code = OTF2_Archive_SetCreator(writing->trace, "refrain " RFN_VERSION);
    if (code == OTF2_SUCCESS && run->program)
        code = OTF2_Archive_SetDescription(writing->trace, run->program);
    return code;
}

static int write_trace(struct otf2_writing *writing, const char *folder,
                       const struct rfn_convert_progress *progress)
{
    static const OTF2_FlushCallbacks callbacks = {.otf2_pre_flush = flush};
    writing->trace = OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK,
                                       DEFINITION_CHUNK, OTF2_SUBSTRATE_POSIX,
                                       OTF2_COMPRESSION_NONE);
    if (!writing->trace)
        return failed(writing, OTF2_SUCCESS);
    OTF2_ErrorCode code = OTF2_Archive_SetFlushCallbacks(writing->trace, &callbacks, NULL);
    if (code == OTF2_SUCCESS)
        code = describe(writing);
    int error = code == OTF2_SUCCESS ? write_streams(writing, progress) : failed(writing, code);
    if (!error)
        error = write_definitions(writing);
    code = OTF2_Archive_Close(writing->trace);
    return error || code == OTF2_SUCCESS ? error : failed(writing, code);
}

static int init(struct otf2_writing *writing)
{
    const struct rfn_archive *archive = writing->archive;
    writing->paths = rfn_arena_zeroed(&writing->arena, rfn_archive_paths(archive),
                                      sizeof *writing->paths);
    writing->comm_refs = rfn_arena_zeroed(&writing->arena, rfn_archive_comms(archive),
                                          sizeof *writing->comm_refs);
    writing->used_comms = rfn_arena_zeroed(&writing->arena, rfn_archive_comms(archive),
                                           sizeof *writing->used_comms);
    writing->events = rfn_arena_zeroed(&writing->arena, rfn_archive_run(archive)->streams,
                                       sizeof *writing->events);
    if (writing->paths && writing->comm_refs && writing->used_comms && writing->events)
        return 0;
    return rfn_fail(writing->diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

static void release(struct otf2_writing *writing)
{
    rfn_arena_release(&writing->arena);
    rfn_map_release(&writing->region_of);
    rfn_map_release(&writing->window_of);
    free(writing->regions);
    free(writing->windows);
}

int rfn_otf2_write(const struct rfn_archive *archive, const char *folder, bool force,
                   const struct rfn_convert_progress *progress, struct rfn_otf2_summary *summary,
                   struct rfn_diag *diag)
{
    struct otf2_writing writing = {
        .archive = archive, .folder = folder, .summary = summary, .diag = diag};
    struct rfn_output_folder to;
    *summary = (struct rfn_otf2_summary){.ranks = rfn_archive_run(archive)->ranks,
                                         .streams = rfn_archive_run(archive)->streams};
    RFN_TRY(rfn_convertible(archive, "an OTF2 trace", diag));
    RFN_TRY(rfn_output_folder_open(&to, &trace_folder, folder, force, diag));
    rfn_otf2_listen(&writing.errors);
    int error = init(&writing);
    if (!error)
        error = write_trace(&writing, to.scratch, progress);
    rfn_otf2_unlisten(&writing.errors);
    release(&writing);
    if (!error)
        error = rfn_output_folder_place(&to, diag);
    if (error)
        rfn_output_folder_cancel(&to);
    return error;
}
