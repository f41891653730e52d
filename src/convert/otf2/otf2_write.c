/* rfn_otf2_write of refrain/convert.h.
 *
 * The trace is written to a folder of its own beside the final one, and gets its name when it is
 * there in full. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "convert/convertible.h"
#include "convert/otf2/otf2_writing.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENT_CHUNK = 1 << 20, DEFINITION_CHUNK = 1 << 22, FOLDER = 4096 /* of its path */ };

/* ---- folders ---- */

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

/* Whether OTF2's archive with the name "traces" has such a file. */
static bool is_ours(const char *name)
{
    static const char *const ends[] = {".otf2", ".def", ".evt", ".snap", ".thumb", ".marker"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (ends_in(name, ends[i]))
            return true;
    }
    return false;
}

/* Removes a trace, and its folder if nothing else is in it. */
static int remove_trace(const char *folder)
{
    char path[4096];
    struct dirent *entry;
    DIR *listing = opendir(folder);
    if (!listing)
        return -1;
    while ((entry = readdir(listing))) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, "traces") == 0)
            remove_trace(path);
        else if (is_ours(entry->d_name))
            unlink(path);
    }
    closedir(listing);
    return rmdir(folder);
}

static bool is_trace(const char *folder)
{
    char path[4096];
    struct stat found;
    snprintf(path, sizeof path, "%s/traces.otf2", folder);
    return stat(path, &found) == 0;
}

/* Whether there is something in the folder that does not belong to a trace. */
static bool has_others(const char *folder)
{
    const struct dirent *entry;
    bool others = false;
    DIR *listing = opendir(folder);
    if (!listing)
        return true;
    while (!others && (entry = readdir(listing))) {
        const char *name = entry->d_name;
        others = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, "traces") != 0 &&
                 !is_ours(name);
    }
    closedir(listing);
    return others;
}

static int check_folder(const char *folder, bool force, struct rfn_diag *diag)
{
    struct stat found;
    if (lstat(folder, &found) != 0)
        return 0;
    if (!force)
        return rfn_fail(diag, RFN_E_EXISTS, -1, -1, "%s exists already", folder);
    if (!S_ISDIR(found.st_mode) || !is_trace(folder))
        return rfn_fail(diag, RFN_E_EXISTS, -1, -1,
                        "%s is no folder with an OTF2 trace, so it is not replaced", folder);
    if (has_others(folder))
        return rfn_fail(diag, RFN_E_EXISTS, -1, -1,
                        "%s has other files than an OTF2 trace in it, so it is not replaced; "
                        "remove it, or write to another folder",
                        folder);
    return 0;
}

static int cannot(const char *folder, struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot write %s: %s", folder, strerror(errno));
}

/* An empty folder beside the final one. */
static int make_beside(const char *folder, char beside[FOLDER], struct rfn_diag *diag)
{
    const int n = snprintf(beside, FOLDER, "%s.XXXXXX", folder);
    if (n < 0 || n >= FOLDER)
        return rfn_fail(diag, RFN_E_RANGE, -1, -1, "the name of the folder is too long");
    return mkdtemp(beside) ? 0 : cannot(folder, diag);
}

/* The folder gets its final name. The old trace, if there is one, is removed behind that. */
static int put_in_place(const char *scratch, const char *folder, struct rfn_diag *diag)
{
    char old[FOLDER];
    if (!is_trace(folder))
        return rename(scratch, folder) == 0 ? 0 : cannot(folder, diag);
    RFN_TRY(make_beside(folder, old, diag));
    if (rename(folder, old) != 0) {
        const int error = cannot(folder, diag);
        rmdir(old);
        return error;
    }
    if (rename(scratch, folder) != 0) {
        const int error = cannot(folder, diag);
        rename(old, folder);
        return error;
    }
    remove_trace(old);
    return 0;
}

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
        if (progress && progress->tell)
            progress->tell(progress->context, (i + 1.0) / n);
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
    char scratch[FOLDER];
    *summary = (struct rfn_otf2_summary){.ranks = rfn_archive_run(archive)->ranks,
                                         .streams = rfn_archive_run(archive)->streams};
    RFN_TRY(rfn_convertible(archive, "an OTF2 trace", diag));
    RFN_TRY(check_folder(folder, force, diag));
    RFN_TRY(make_beside(folder, scratch, diag));
    chmod(scratch, 0755);
    rfn_otf2_listen(&writing.errors);
    int error = init(&writing);
    if (!error)
        error = write_trace(&writing, scratch, progress);
    rfn_otf2_unlisten(&writing.errors);
    release(&writing);
    if (!error)
        error = put_in_place(scratch, folder, diag);
    if (error)
        remove_trace(scratch);
    return error;
}
