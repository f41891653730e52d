#include "convert/otf2/otf2_definitions.h"

#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node of the system's tree. */
struct host {
    const char *name;
    uint32_t parent;
    bool is_host; /* its class or domain says so */
};

struct code {
    const char *file;
    uint32_t line;
};

struct member {
    const char *name;
    OTF2_MetricMode mode;
};

struct class
{
    uint8_t n;
    uint32_t *members;
};

/* ---- keeping ---- */

static OTF2_CallbackCode status(const struct otf2_definitions *of)
{
    return of->failed || of->fault[0] ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode contradicts(struct otf2_definitions *of, const char *what, uint64_t ref)
{
    if (!of->fault[0])
        snprintf(of->fault, sizeof of->fault, "%s %llu refers to something that is not defined",
                 what, (unsigned long long)ref);
    return OTF2_CALLBACK_INTERRUPT;
}

/* Room for what the reference stands for, all zeros; NULL: out of memory. */
static void *add(struct otf2_definitions *of, struct rfn_map *map, uint64_t ref, size_t size)
{
    void *object = rfn_arena_zeroed(&of->arena, 1, size);
    if (!object || rfn_map_put_object(map, ref, object) < 0) {
        of->failed = true;
        return NULL;
    }
    return object;
}

static const char *text(const struct otf2_definitions *of, OTF2_StringRef string)
{
    const char *known = rfn_map_object(&of->strings, string);
    return known ? known : "";
}

/* ---- callbacks ---- */

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length,
                                  uint64_t realtime)
{
    struct otf2_definitions *of = user;
    (void)length;
    of->resolution = resolution;
    of->offset = offset;
    of->realtime = realtime == OTF2_UNDEFINED_TIMESTAMP || realtime > INT64_MAX ? 0 : realtime;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *user, OTF2_StringRef self, const char *string)
{
    struct otf2_definitions *of = user;
    void *copy = rfn_arena_copy(&of->arena, string, strlen(string));
    if (!copy || rfn_map_put_object(&of->strings, self, copy) < 0)
        of->failed = true;
    return status(of);
}

static OTF2_CallbackCode on_node(void *user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                 OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
    struct otf2_definitions *of = user;
    struct host *host = add(of, &of->hosts, self, sizeof *host);
    if (host)
        *host = (struct host){text(of, name), parent, strcmp(text(of, class_name), "node") == 0};
    return status(of);
}

static OTF2_CallbackCode on_domain(void *user, OTF2_SystemTreeNodeRef node,
                                   OTF2_SystemTreeDomain domain)
{
    struct otf2_definitions *of = user;
    struct host *host = rfn_map_object(&of->hosts, node);
    if (host && domain == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY)
        host->is_host = true;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process(void *user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                                    OTF2_LocationGroupRef creator)
{
    enum { DEPTH = 64 };
    struct otf2_definitions *of = user;
    struct otf2_process *process = add(of, &of->processes, self, sizeof *process);
    const struct host *host = rfn_map_object(&of->hosts, parent), *at = host;
    (void)name;
    (void)type;
    (void)creator;
    for (int i = 0; at && !at->is_host && i < DEPTH; i++)
        at = rfn_map_object(&of->hosts, at->parent);
    if (process)
        process->host = at ? at->name : host ? host->name : "";
    return status(of);
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t events,
                                     OTF2_LocationGroupRef group)
{
    struct otf2_definitions *of = user;
    (void)name;
    if (RFN_GROW(of->locations, of->locations_capacity, of->n_locations + 1) < 0)
        of->failed = true;
    else
        of->locations[of->n_locations++] = (struct otf2_location){
            self, events, group, type == OTF2_LOCATION_TYPE_CPU_THREAD, -1, 0};
    return status(of);
}

/* TAU puts all that it knows of a function into its name: "int f(double *) C [{a.c} {3,1}-{9,1}]"
 * is f of a.c, line 3. */
static void take_apart(struct otf2_definitions *of, struct otf2_region *region)
{
    const char *place = strstr(region->name, " [{");
    const char *end = place ? strstr(place, "} {") : NULL;
    if (!end)
        return;
    const char *stop = memchr(region->name, '(', (size_t)(place - region->name));
    if (!stop)
        stop = place;
    const char *name = stop;
    while (name > region->name && !strchr(" *&", name[-1]))
        name--;
    if (name == stop)
        return;
    if (!region->file[0]) {
        region->file = rfn_arena_copy(&of->arena, place + 3, (size_t)(end - place - 3));
        region->line = (uint32_t)strtoul(end + 3, NULL, 10);
    }
    region->name = rfn_arena_copy(&of->arena, name, (size_t)(stop - name));
    of->failed |= !region->name || !region->file;
}

/* A part of a function that Score-P's users name, or those of other tools. */
static bool is_users(OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
    return paradigm == OTF2_PARADIGM_USER && role != OTF2_REGION_ROLE_FUNCTION &&
           role != OTF2_REGION_ROLE_UNKNOWN;
}

static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                   uint32_t end)
{
    struct otf2_definitions *of = user;
    struct otf2_region *region = add(of, &of->regions, self, sizeof *region);
    char mpi[RFN_MPI_NAME];
    (void)description;
    (void)flags;
    (void)end;
    if (!region)
        return status(of);
    region->name = text(of, name);
    if (paradigm == OTF2_PARADIGM_COMPILER && canonical != OTF2_UNDEFINED_STRING &&
        *text(of, canonical)) /* as the linker sees it */
        region->name = text(of, canonical);
    region->file = text(of, file);
    region->line = begin;
    region->number = -1;
    if (rfn_mpi_name(region->name, mpi)) {
        region->kind = OTF2_REGION_MPI;
        region->mpi = rfn_mpi_kind(mpi);
        region->name = rfn_arena_copy(&of->arena, mpi, strlen(mpi));
        of->failed |= !region->name;
    } else if (is_users(role, paradigm)) {
        region->kind = OTF2_REGION_USER;
    } else {
        take_apart(of, region);
    }
    return status(of);
}

static OTF2_CallbackCode on_attribute(void *user, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    struct otf2_definitions *of = user;
    (void)description;
    if (type == OTF2_TYPE_UINT32 && strcmp(text(of, name), OTF2_LINE_ATTRIBUTE) == 0)
        of->line_attribute = self;
    if (type == OTF2_TYPE_UINT64 && strcmp(text(of, name), OTF2_POLLS_ATTRIBUTE) == 0)
        of->polls_attribute = self;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_code(void *user, OTF2_SourceCodeLocationRef self, OTF2_StringRef file,
                                 uint32_t line)
{
    struct otf2_definitions *of = user;
    struct code *code = add(of, &of->code, self, sizeof *code);
    if (code)
        *code = (struct code){text(of, file), line};
    return status(of);
}

static OTF2_CallbackCode on_context(void *user, OTF2_CallingContextRef self, OTF2_RegionRef region,
                                    OTF2_SourceCodeLocationRef at, OTF2_CallingContextRef parent)
{
    struct otf2_definitions *of = user;
    struct otf2_context *context = add(of, &of->contexts, self, sizeof *context);
    const struct code *code = rfn_map_object(&of->code, at);
    if (!context)
        return status(of);
    context->region = rfn_map_object(&of->regions, region);
    if (!context->region)
        return contradicts(of, "calling context", self);
    context->file = code ? code->file : context->region->file;
    context->line = code ? code->line : context->region->line;
    context->parent = parent;
    return status(of);
}

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t n, const uint64_t *members)
{
    struct otf2_definitions *of = user;
    struct otf2_group *group = add(of, &of->groups, self, sizeof *group);
    (void)name;
    if (!group)
        return status(of);
    *group = (struct otf2_group){rfn_arena_zeroed(&of->arena, n, sizeof *members), n, type,
                                 paradigm, flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS};
    if (!group->members)
        of->failed = true;
    else if (n)
        memcpy(group->members, members, n * sizeof *members);
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS && paradigm == OTF2_PARADIGM_MPI && !of->world)
        of->world = group;
    return status(of);
}

static struct otf2_comm *add_comm(struct otf2_definitions *of, OTF2_CommRef self, const char *name,
                                  const struct otf2_group *group)
{
    struct otf2_comm *comm = add(of, &of->comms, self, sizeof *comm);
    if (comm)
        *comm = (struct otf2_comm){
            .group = group, .name = name, .number = -1, .asked = UINT64_MAX, .own_rank = -1};
    return comm;
}

static OTF2_CallbackCode on_comm(void *user, OTF2_CommRef self, OTF2_StringRef name,
                                 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct otf2_definitions *of = user;
    const struct otf2_group *ranks = rfn_map_object(&of->groups, group);
    (void)parent;
    (void)flags;
    if (!ranks)
        return contradicts(of, "communicator", self);
    add_comm(of, self, text(of, name), ranks);
    return status(of);
}

static OTF2_CallbackCode on_intercomm(void *user, OTF2_CommRef self, OTF2_StringRef name,
                                      OTF2_GroupRef a, OTF2_GroupRef b, OTF2_CommRef common,
                                      OTF2_CommFlag flags)
{
    struct otf2_definitions *of = user;
    const struct otf2_group *ranks = rfn_map_object(&of->groups, a);
    const struct otf2_group *remote = rfn_map_object(&of->groups, b);
    (void)common;
    (void)flags;
    if (!ranks || !remote)
        return contradicts(of, "communicator", self);
    struct otf2_comm *comm = add_comm(of, self, text(of, name), ranks);
    if (comm)
        comm->remote = remote;
    return status(of);
}

static OTF2_CallbackCode on_window(void *user, OTF2_RmaWinRef self, OTF2_StringRef name,
                                   OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
    struct otf2_definitions *of = user;
    struct otf2_comm *ranks = rfn_map_object(&of->comms, comm);
    (void)name;
    (void)flags;
    if (!ranks)
        return contradicts(of, "window", self);
    if (rfn_map_put_object(&of->windows, self, ranks) < 0)
        of->failed = true;
    return status(of);
}

static OTF2_CallbackCode on_member(void *user, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                   OTF2_StringRef description, OTF2_MetricType type,
                                   OTF2_MetricMode mode, OTF2_Type value, OTF2_Base base,
                                   int64_t exponent, OTF2_StringRef unit)
{
    struct otf2_definitions *of = user;
    struct member *member = add(of, &of->members, self, sizeof *member);
    (void)description;
    (void)type;
    (void)value;
    (void)base;
    (void)exponent;
    (void)unit;
    if (member)
        *member = (struct member){text(of, name), mode};
    return status(of);
}

static OTF2_CallbackCode on_class(void *user, OTF2_MetricRef self, uint8_t n,
                                  const OTF2_MetricMemberRef *members,
                                  OTF2_MetricOccurrence occurrence, OTF2_RecorderKind recorder)
{
    struct otf2_definitions *of = user;
    struct class *class = add(of, &of->classes, self, sizeof *class);
    (void)occurrence;
    (void)recorder;
    if (!class)
        return status(of);
    *class = (struct class){n, rfn_arena_zeroed(&of->arena, n, sizeof *members)};
    if (!class->members)
        of->failed = true;
    else if (n)
        memcpy(class->members, members, n * sizeof *members);
    return status(of);
}

static OTF2_CallbackCode on_instance(void *user, OTF2_MetricRef self, OTF2_MetricRef class,
                                     OTF2_LocationRef recorder, OTF2_MetricScope scope,
                                     uint64_t of_what)
{
    struct otf2_definitions *of = user;
    (void)recorder;
    (void)scope;
    (void)of_what;
    if (rfn_map_put(&of->instances, self, class) < 0)
        of->failed = true;
    return status(of);
}

static OTF2_GlobalDefReaderCallbacks *make_callbacks(void)
{
    OTF2_GlobalDefReaderCallbacks *calls = OTF2_GlobalDefReaderCallbacks_New();
    if (!calls)
        return NULL;
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(calls, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(calls, on_string);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(calls, on_node);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeDomainCallback(calls, on_domain);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(calls, on_process);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(calls, on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(calls, on_region);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(calls, on_attribute);
    OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(calls, on_code);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(calls, on_context);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(calls, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(calls, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(calls, on_intercomm);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(calls, on_window);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(calls, on_member);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(calls, on_class);
    OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(calls, on_instance);
    return calls;
}

/* ---- what follows from them ---- */

static void *next_object(const struct rfn_map *map, uint64_t *slot)
{
    for (; map->slots && *slot <= map->mask; ++*slot) {
        if (map->slots[*slot].used)
            return (void *)(uintptr_t)map->slots[(*slot)++].value;
    }
    return NULL;
}

/* Locations of ranks first, other threads of their processes behind them. Returns how many ranks
 * there are, or RFN_E_NOMEM. */
static int64_t place_locations(struct otf2_definitions *of)
{
    struct rfn_map rank_of = RFN_MAP_INIT, process_rank = RFN_MAP_INIT, threads = RFN_MAP_INIT;
    int64_t found = 0;
    int error = 0;
    for (uint32_t i = 0; i < of->world->n && !error; i++)
        error = rfn_map_put(&rank_of, of->world->members[i], i);
    for (size_t i = 0; i < of->n_locations && !error; i++) {
        struct otf2_location *location = &of->locations[i];
        const uint64_t *rank = rfn_map_get(&rank_of, location->ref);
        if (rank) {
            location->rank = (int64_t)*rank;
            found++;
            error = rfn_map_put(&process_rank, location->group, *rank);
        }
    }
    for (size_t i = 0; i < of->n_locations && !error; i++) {
        struct otf2_location *location = &of->locations[i];
        const uint64_t *rank = rfn_map_get(&process_rank, location->group);
        if (location->rank >= 0 || !rank || !location->is_thread)
            continue;
        const uint64_t *before = rfn_map_get(&threads, *rank);
        location->rank = (int64_t)*rank;
        location->thread = before ? (uint32_t)*before + 1 : 1;
        error = rfn_map_put(&threads, *rank, location->thread);
    }
    rfn_map_release(&rank_of);
    rfn_map_release(&process_rank);
    rfn_map_release(&threads);
    return error ? error : found;
}

/* Without a group of MPI's locations each process is a rank. */
static int ranks_of_processes(struct otf2_definitions *of)
{
    struct rfn_map seen = RFN_MAP_INIT;
    struct otf2_group *world = rfn_arena_zeroed(&of->arena, 1, sizeof *world);
    int error = world ? 0 : RFN_E_NOMEM;
    if (!error) {
        world->members = rfn_arena_zeroed(&of->arena, of->n_locations, sizeof *world->members);
        error = world->members ? 0 : RFN_E_NOMEM;
    }
    for (size_t i = 0; i < of->n_locations && !error; i++) {
        const struct otf2_location *location = &of->locations[i];
        if (!location->is_thread || rfn_map_get(&seen, location->group))
            continue;
        world->members[world->n++] = location->ref;
        error = rfn_map_put(&seen, location->group, 1);
    }
    of->world = error ? NULL : world;
    rfn_map_release(&seen);
    return error;
}

static bool has_all_ranks(const struct otf2_definitions *of, const struct otf2_group *group)
{
    if (group->n != of->world->n)
        return false;
    for (uint32_t i = 0; i < group->n; i++) {
        const uint64_t expected = group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS
                                      ? of->world->members[i]
                                      : i;
        if (group->members[i] != expected)
            return false;
    }
    return true;
}

/* The world is the communicator of all ranks that is called so, or the first one. */
static void find_world(struct otf2_definitions *of)
{
    struct otf2_comm *comm, *found = NULL;
    uint64_t slot = 0, best = UINT64_MAX;
    while (of->comms.slots && slot <= of->comms.mask) {
        const uint64_t ref = of->comms.slots[slot].key;
        const bool used = of->comms.slots[slot].used;
        comm = used ? (void *)(uintptr_t)of->comms.slots[slot].value : NULL;
        slot++;
        if (!comm || comm->remote || comm->group->type == OTF2_GROUP_TYPE_COMM_SELF ||
            comm->group->paradigm != OTF2_PARADIGM_MPI || !has_all_ranks(of, comm->group))
            continue;
        const uint64_t order = strstr(comm->name, "WORLD") ? ref : ref + ((uint64_t)1 << 32);
        if (order < best) {
            best = order;
            found = comm;
        }
    }
    of->world_comm = found;
    if (found)
        found->is_world = true;
}

/* How well a metric serves as a volume; 0: not. */
static int worth(const struct member *member)
{
    const OTF2_MetricMode how = member->mode & OTF2_METRIC_VALUE_MASK;
    if (how == OTF2_METRIC_VALUE_ABSOLUTE)
        return 0;
    if (strcmp(member->name, "PAPI_TOT_INS") == 0)
        return 3;
    if (strcmp(member->name, "instructions") == 0 || strstr(member->name, "INSTRUCTIONS"))
        return 2;
    return strcmp(member->name, "cpu") == 0;
}

static int choose_metric(struct otf2_definitions *of, const char *wanted, const char *path,
                         struct rfn_diag *diag)
{
    const struct member *member, *chosen = NULL;
    uint64_t slot = 0;
    while ((member = next_object(&of->members, &slot))) {
        if (wanted ? strcmp(member->name, wanted) == 0
                   : worth(member) > (chosen ? worth(chosen) : 0))
            chosen = member;
    }
    if (wanted && !chosen)
        return rfn_fail(diag, RFN_E_NOTFOUND, -1, -1, "%s: there is no metric '%s' in it", path,
                        wanted);
    if (chosen) {
        of->metric = chosen->name;
        of->metric_is_total = (chosen->mode & OTF2_METRIC_VALUE_MASK) != OTF2_METRIC_VALUE_RELATIVE;
    }
    return 0;
}

static int check(struct otf2_definitions *of, const char *path, struct rfn_diag *diag)
{
    if (!of->resolution)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1,
                        "%s: it does not define the resolution of its clock", path);
    if (!of->world && ranks_of_processes(of) < 0)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
    if (!of->world->n)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1, "%s: it has no MPI processes", path);
    const int64_t found = place_locations(of);
    if (found < 0)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
    if (found != of->world->n)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s: of its %u ranks, %lld have a location",
                        path, of->world->n, (long long)found);
    find_world(of);
    return 0;
}

int rfn_otf2_define(OTF2_Reader *reader, const struct otf2_errors *errors, const char *path,
                    const char *metric, struct otf2_definitions *of, struct rfn_diag *diag)
{
    static const char what[] = "its definitions cannot be read";
    uint64_t n = 0, expected = 0;
    of->line_attribute = -1;
    of->polls_attribute = -1;
    OTF2_GlobalDefReaderCallbacks *calls = make_callbacks();
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    if (!definitions || !calls) {
        OTF2_GlobalDefReaderCallbacks_Delete(calls);
        return rfn_otf2_fail(errors, OTF2_SUCCESS, RFN_E_CORRUPT, path, what, diag);
    }
    OTF2_ErrorCode code = OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, calls, of);
    OTF2_GlobalDefReaderCallbacks_Delete(calls);
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &n);
    if (of->failed)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
    if (of->fault[0])
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s: %s", path, of->fault);
    if (code != OTF2_SUCCESS)
        return rfn_otf2_fail(errors, code, RFN_E_CORRUPT, path, what, diag);
    if (OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &expected) == OTF2_SUCCESS && n < expected)
        return rfn_fail(diag, RFN_E_INCOMPLETE, -1, -1,
                        "%s: it has %llu of its %llu definitions; it was cut short", path,
                        (unsigned long long)n, (unsigned long long)expected);
    RFN_TRY(check(of, path, diag));
    return choose_metric(of, metric, path, diag);
}

void rfn_otf2_definitions_release(struct otf2_definitions *of)
{
    struct rfn_map *maps[] = {&of->strings, &of->regions, &of->contexts, &of->code,
                              &of->groups,  &of->comms,   &of->windows,  &of->processes,
                              &of->hosts,   &of->members, &of->classes,  &of->instances};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        rfn_map_release(maps[i]);
    rfn_arena_release(&of->arena);
    free(of->locations);
}

int rfn_otf2_metric_place(const struct otf2_definitions *of, OTF2_MetricRef metric)
{
    const uint64_t *class_of = rfn_map_get(&of->instances, metric);
    const struct class *class = rfn_map_object(&of->classes, class_of ? *class_of : metric);
    for (int i = 0; of->metric && class && i < class->n; i++) {
        const struct member *member = rfn_map_object(&of->members, class->members[i]);
        if (member && strcmp(member->name, of->metric) == 0)
            return i;
    }
    return -1;
}
