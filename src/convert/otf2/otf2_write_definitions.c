#include "convert/otf2/otf2_writing.h"

#include "base/grow.h"
#include "refrain/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- regions ---- */

static int64_t number_of(struct otf2_writing *writing, const struct otf2_named *region)
{
    const uint64_t key = rfn_hash_mix(
        rfn_hash_mix(rfn_hash_bytes(region->name, strlen(region->name)),
                     rfn_hash_bytes(region->file, strlen(region->file))),
        region->paradigm);
    const uint64_t *known = rfn_map_get(&writing->region_of, key);
    if (known)
        return (int64_t)*known;
    RFN_TRY(RFN_GROW(writing->regions, writing->regions_capacity, writing->n_regions + 1));
    RFN_TRY(rfn_map_put(&writing->region_of, key, writing->n_regions));
    writing->regions[writing->n_regions] = *region;
    return (int64_t)writing->n_regions++;
}

static OTF2_RegionRole role_of(uint8_t class_)
{
    switch (class_) {
    case RFN_CLASS_SEND:
    case RFN_CLASS_SSEND:
    case RFN_CLASS_RECV:
    case RFN_CLASS_SENDRECV:
    case RFN_CLASS_PROBE:
    case RFN_CLASS_COMPLETION:
    case RFN_CLASS_START:
        return OTF2_REGION_ROLE_POINT2POINT;
    case RFN_CLASS_BARRIER:
        return OTF2_REGION_ROLE_BARRIER;
    case RFN_CLASS_ONE_TO_ALL:
        return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case RFN_CLASS_ALL_TO_ONE:
        return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case RFN_CLASS_ALL_TO_ALL:
        return OTF2_REGION_ROLE_COLL_ALL2ALL;
    case RFN_CLASS_SCAN:
    case RFN_CLASS_NEIGHBOR:
    case RFN_CLASS_COMM:
        return OTF2_REGION_ROLE_COLL_OTHER;
    case RFN_CLASS_RMA:
    case RFN_CLASS_RMA_SYNC:
        return OTF2_REGION_ROLE_RMA;
    case RFN_CLASS_FILE:
        return OTF2_REGION_ROLE_FILE_IO;
    default:
        return OTF2_REGION_ROLE_FUNCTION;
    }
}

int64_t rfn_otf2_function_region(struct otf2_writing *writing, uint32_t function)
{
    const struct rfn_function_info *info = rfn_archive_function(writing->archive, function);
    return number_of(writing, &(struct otf2_named){info->name, "", role_of(info->class_),
                                                   OTF2_PARADIGM_MPI, NULL});
}

int64_t rfn_otf2_user_region(struct otf2_writing *writing, uint32_t region)
{
    return number_of(writing,
                     &(struct otf2_named){rfn_archive_region(writing->archive, region), "",
                                          OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER, NULL});
}

/* "libsolver.so: PCG::scalarSolve" in the writer's memory; NULL: no room for it. */
static const char *label_of(struct otf2_writing *writing, const struct rfn_location *at)
{
    char *label = rfn_function_label(at->function, at->file, at->module,
                                     rfn_archive_run(writing->archive)->program);
    const char *copy = label ? rfn_arena_copy(&writing->arena, label, strlen(label)) : NULL;
    free(label);
    return copy;
}

/* A frame whose function is not known goes by its place in the module. */
static int64_t frame_region(struct otf2_writing *writing, const struct rfn_location *at)
{
    struct otf2_named region = {at->function, at->file ? at->file : "", OTF2_REGION_ROLE_FUNCTION,
                                OTF2_PARADIGM_COMPILER, NULL};
    char place[256];
    if (!region.name || !region.name[0]) {
        snprintf(place, sizeof place, "%s+0x%llx", at->module ? at->module : "",
                 (unsigned long long)at->offset);
        region.name = rfn_arena_copy(&writing->arena, place, strlen(place));
        region.label = region.name;
    } else {
        region.label = label_of(writing, at);
    }
    if (!region.label)
        return RFN_E_NOMEM;
    return number_of(writing, &region);
}

const struct otf2_path *rfn_otf2_path(struct otf2_writing *writing, uint32_t number)
{
    struct otf2_path *path = &writing->paths[number];
    const struct rfn_path from = rfn_archive_path(writing->archive, number);
    uint32_t line = 0;
    if (path->frames)
        return path;
    struct otf2_frame *frames = rfn_arena_zeroed(&writing->arena, from.n_frames, sizeof *frames);
    for (uint32_t i = 0; frames && i < from.n_frames; i++) {
        const struct rfn_location at = rfn_archive_location(writing->archive,
                                                            from.frames[from.n_frames - 1 - i]);
        const int64_t region = frame_region(writing, &at);
        if (region < 0)
            return NULL;
        frames[i] = (struct otf2_frame){(uint32_t)region, line};
        line = at.line;
    }
    *path = (struct otf2_path){frames, from.n_frames, line};
    return frames ? path : NULL;
}

OTF2_CommRef rfn_otf2_comm_ref(struct otf2_writing *writing, uint32_t comm)
{
    if (!writing->comm_refs[comm]) {
        writing->used_comms[writing->n_used_comms++] = comm;
        writing->comm_refs[comm] = writing->n_used_comms;
    }
    return writing->comm_refs[comm] - 1;
}

int64_t rfn_otf2_window(struct otf2_writing *writing, uint32_t comm, uint32_t ordinal)
{
    const uint64_t key = (uint64_t)comm << 32 | ordinal;
    const uint64_t *known = rfn_map_get(&writing->window_of, key);
    if (known)
        return (int64_t)*known;
    RFN_TRY(RFN_GROW(writing->windows, writing->windows_capacity, writing->n_windows + 1));
    RFN_TRY(rfn_map_put(&writing->window_of, key, writing->n_windows));
    writing->windows[writing->n_windows] = (struct otf2_window){rfn_otf2_comm_ref(writing, comm)};
    return (int64_t)writing->n_windows++;
}

/* ---- definitions ---- */

/* Texts get numbers as they are used. */
struct definer {
    struct otf2_writing *writing;
    OTF2_GlobalDefWriter *to;
    struct rfn_map strings; /* hash -> number */
    uint32_t n_strings, n_groups;
    OTF2_ErrorCode code; /* the first error */
};

static void check(struct definer *definer, OTF2_ErrorCode code)
{
    if (definer->code == OTF2_SUCCESS)
        definer->code = code;
}

static OTF2_StringRef text(struct definer *definer, const char *text)
{
    const uint64_t key = rfn_hash_bytes(text, strlen(text));
    const uint64_t *known = rfn_map_get(&definer->strings, key);
    if (known)
        return (OTF2_StringRef)*known;
    if (rfn_map_put(&definer->strings, key, definer->n_strings) < 0)
        check(definer, OTF2_ERROR_MEM_ALLOC_FAILED);
    check(definer, OTF2_GlobalDefWriter_WriteString(definer->to, definer->n_strings, text));
    return definer->n_strings++;
}

static OTF2_StringRef numbered(struct definer *definer, const char *what, uint64_t number)
{
    char name[64];
    snprintf(name, sizeof name, "%s %llu", what, (unsigned long long)number);
    return text(definer, name);
}

uint64_t rfn_otf2_location(const struct otf2_writing *writing, uint32_t stream)
{
    const struct rfn_stream_info info = rfn_archive_stream(writing->archive, stream);
    return (uint64_t)info.thread << 32 | info.rank;
}

/* The machine has hosts, a host processes, a process threads. */
static void define_system(struct definer *definer)
{
    const struct otf2_writing *writing = definer->writing;
    const struct rfn_archive *archive = writing->archive;
    const uint32_t n_hosts = rfn_archive_hosts(archive);
    const uint32_t n_streams = rfn_archive_run(archive)->streams;
    check(definer, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                       definer->to, 0, text(definer, "machine"), text(definer, "machine"),
                       OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t i = 0; i < n_hosts; i++) {
        const char *name = rfn_archive_host(archive, i).name;
        check(definer, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                           definer->to, i + 1, text(definer, name), text(definer, "node"), 0));
    }
    for (uint32_t i = 0; i < n_streams; i++) {
        const struct rfn_stream_info info = rfn_archive_stream(archive, i);
        uint32_t host = 0;
        while (host < n_hosts && strcmp(rfn_archive_host(archive, host).name, info.host) != 0)
            host++;
        if (i == 0 || rfn_archive_stream(archive, i - 1).rank != info.rank)
            check(definer, OTF2_GlobalDefWriter_WriteLocationGroup(
                               definer->to, info.rank, numbered(definer, "rank", info.rank),
                               OTF2_LOCATION_GROUP_TYPE_PROCESS, host < n_hosts ? host + 1 : 0,
                               OTF2_UNDEFINED_LOCATION_GROUP));
        check(definer, OTF2_GlobalDefWriter_WriteLocation(
                           definer->to, rfn_otf2_location(writing, i),
                           numbered(definer, "thread", info.thread), OTF2_LOCATION_TYPE_CPU_THREAD,
                           writing->events[i], info.rank));
    }
}

static void define_regions(struct definer *definer)
{
    const struct otf2_writing *writing = definer->writing;
    for (size_t i = 0; i < writing->n_regions; i++) {
        const struct otf2_named *region = &writing->regions[i];
        const OTF2_StringRef name = text(definer, region->name), file = text(definer, region->file),
                             label = region->label ? text(definer, region->label) : name;
        check(definer, OTF2_GlobalDefWriter_WriteRegion(
                           definer->to, (OTF2_RegionRef)i, label, name, text(definer, ""),
                           region->role, region->paradigm, OTF2_REGION_FLAG_NONE, file, 0, 0));
    }
    check(definer, OTF2_GlobalDefWriter_WriteAttribute(
                       definer->to, OTF2_LINE, text(definer, OTF2_LINE_ATTRIBUTE),
                       text(definer, "line of the region around it that it is called at"),
                       OTF2_TYPE_UINT32));
    check(definer,
          OTF2_GlobalDefWriter_WriteAttribute(
              definer->to, OTF2_POLLS, text(definer, OTF2_POLLS_ATTRIBUTE),
              text(definer, "unsuccessful polls that the call stands for"), OTF2_TYPE_UINT64));
}

/* ---- communicators ---- */

/* The first groups; then each communicator has its own. */
enum { ALL_LOCATIONS, ALL_RANKS, ONE_RANK };

static OTF2_GroupRef define_group(struct definer *definer, OTF2_GroupType type,
                                  const uint64_t *members, uint32_t n)
{
    check(definer,
          OTF2_GlobalDefWriter_WriteGroup(definer->to, definer->n_groups, text(definer, ""), type,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n, members));
    return definer->n_groups++;
}

static void define_world(struct definer *definer)
{
    const uint32_t n = rfn_archive_run(definer->writing->archive)->ranks;
    uint64_t *members = calloc((size_t)n + 1, sizeof *members);
    if (!members) {
        check(definer, OTF2_ERROR_MEM_ALLOC_FAILED);
        return;
    }
    for (uint32_t i = 0; i < n; i++) /* of their first threads as of the ranks */
        members[i] = i;
    define_group(definer, OTF2_GROUP_TYPE_COMM_LOCATIONS, members, n);
    define_group(definer, OTF2_GROUP_TYPE_COMM_GROUP, members, n);
    define_group(definer, OTF2_GROUP_TYPE_COMM_SELF, members, 0);
    free(members);
}

/* False: not all members are in the world. */
static bool define_members(struct definer *definer, uint32_t comm, bool remote, uint32_t n,
                           OTF2_GroupRef *group)
{
    const struct rfn_archive *archive = definer->writing->archive;
    uint64_t *members = calloc((size_t)n + 1, sizeof *members);
    bool all = true;
    if (!members) {
        check(definer, OTF2_ERROR_MEM_ALLOC_FAILED);
        return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        const int64_t rank = rfn_comm_world_rank(archive, comm, remote, i);
        members[i] = (uint64_t)rank;
        all = all && rank >= 0;
    }
    if (all)
        *group = define_group(definer, OTF2_GROUP_TYPE_COMM_GROUP, members, n);
    free(members);
    return all;
}

/* False: OTF2 cannot tell it. */
static bool define_comm(struct definer *definer, OTF2_CommRef ref)
{
    const uint32_t comm = definer->writing->used_comms[ref];
    const struct rfn_comm_info *info = rfn_archive_comm(definer->writing->archive, comm);
    OTF2_GroupRef group = info->kind == RFN_COMM_WORLD ? ALL_RANKS : ONE_RANK, remote = 0;
    const OTF2_StringRef name = info->kind == RFN_COMM_WORLD  ? text(definer, "MPI_COMM_WORLD")
                                : info->kind == RFN_COMM_SELF ? text(definer, "MPI_COMM_SELF")
                                                              : numbered(definer, "comm", ref);
    if (info->kind == RFN_COMM_INTRA || info->kind == RFN_COMM_INTER) {
        if (!define_members(definer, comm, false, info->size, &group))
            return false;
    }
    if (info->kind != RFN_COMM_INTER) {
        check(definer, OTF2_GlobalDefWriter_WriteComm(definer->to, ref, name, group,
                                                      OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
        return true;
    }
    if (!define_members(definer, comm, true, info->remote_size, &remote))
        return false;
    check(definer, OTF2_GlobalDefWriter_WriteInterComm(definer->to, ref, name, group, remote,
                                                       OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    return true;
}

static int64_t define_comms(struct definer *definer)
{
    const struct otf2_writing *writing = definer->writing;
    define_world(definer);
    for (uint32_t i = 0; i < writing->n_used_comms; i++) {
        if (!define_comm(definer, i))
            return writing->used_comms[i];
    }
    for (size_t i = 0; i < writing->n_windows; i++)
        check(definer, OTF2_GlobalDefWriter_WriteRmaWin(
                           definer->to, (OTF2_RmaWinRef)i, numbered(definer, "window", i),
                           writing->windows[i].comm, OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
    return -1;
}

/* Names as tools know them: PAPI's. */
static void define_metric(struct definer *definer)
{
    static const OTF2_MetricMemberRef member = 0;
    const struct rfn_run *run = rfn_archive_run(definer->writing->archive);
    if (!run->volume)
        return;
    const bool papi = strncmp(run->volume, "papi:", 5) == 0;
    const char *name = strcmp(run->volume, "instructions") == 0 ? "PAPI_TOT_INS"
                       : papi                                   ? run->volume + 5
                                                                : run->volume;
    const char *unit = run->volume_unit && run->volume_unit[0] ? run->volume_unit : "#";
    check(definer,
          OTF2_GlobalDefWriter_WriteMetricMember(
              definer->to, member, text(definer, name), text(definer, ""),
              strncmp(name, "PAPI_", 5) == 0 ? OTF2_METRIC_TYPE_PAPI : OTF2_METRIC_TYPE_OTHER,
              OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0,
              text(definer, unit)));
    check(definer, OTF2_GlobalDefWriter_WriteMetricClass(definer->to, 0, 1, &member,
                                                         OTF2_METRIC_SYNCHRONOUS_STRICT,
                                                         OTF2_RECORDER_KIND_CPU));
}

OTF2_ErrorCode rfn_otf2_write_definitions(struct otf2_writing *writing, int64_t *unsupported)
{
    const struct rfn_run *run = rfn_archive_run(writing->archive);
    struct definer definer = {.writing = writing,
                              .to = OTF2_Archive_GetGlobalDefWriter(writing->trace)};
    *unsupported = -1;
    if (!definer.to)
        return OTF2_ERROR_MEM_ALLOC_FAILED;
    text(&definer, "");
    check(&definer, OTF2_GlobalDefWriter_WriteClockProperties(
                        definer.to, 1000000000, 0, (uint64_t)writing->end_ns + 1,
                        run->start_realtime_ns > 0 ? (uint64_t)run->start_realtime_ns
                                                   : OTF2_UNDEFINED_TIMESTAMP));
    check(&definer,
          OTF2_GlobalDefWriter_WriteParadigm(definer.to, OTF2_PARADIGM_MPI, text(&definer, "MPI"),
                                             OTF2_PARADIGM_CLASS_PROCESS));
    define_system(&definer);
    define_regions(&definer);
    *unsupported = define_comms(&definer);
    define_metric(&definer);
    rfn_map_release(&definer.strings);
    return definer.code;
}
