#include "predict/call_groups.h"

#include "base/grow.h"
#include "reduce/aggregate/may_go.h"
#include "refrain/completion.h"

#include <stdlib.h>

/* ---- groups ---- */

int rfn_call_groups_init(struct rfn_call_groups *groups, const struct rfn_archive *archive)
{
    const uint32_t n_streams = rfn_archive_run(archive)->streams;
    *groups = (struct rfn_call_groups){.first = calloc((size_t)n_streams + 1, sizeof(uint64_t))};
    if (!groups->first)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n_streams; i++) {
        groups->first[i] = groups->n;
        if (rfn_archive_stream(archive, i).events >= UINT32_MAX - groups->n)
            return RFN_E_RANGE;
        groups->n += rfn_archive_stream(archive, i).events;
    }
    groups->parent = malloc(((size_t)groups->n + 1) * sizeof *groups->parent);
    groups->stays = calloc((size_t)groups->n + 1, sizeof *groups->stays);
    if (!groups->parent || !groups->stays)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < groups->n; i++)
        groups->parent[i] = i;
    return 0;
}

void rfn_call_groups_release(struct rfn_call_groups *groups)
{
    free(groups->first);
    free(groups->parent);
    free(groups->stays);
    *groups = (struct rfn_call_groups){0};
}

static uint32_t top_of(const struct rfn_call_groups *groups, uint32_t call)
{
    while (groups->parent[call] != call) {
        groups->parent[call] = groups->parent[groups->parent[call]];
        call = groups->parent[call];
    }
    return call;
}

/* Lower numbers stand for higher ones. */
void rfn_call_groups_join(struct rfn_call_groups *groups, uint32_t a, uint32_t b)
{
    const uint32_t one = top_of(groups, a), other = top_of(groups, b);
    const uint32_t low = one < other ? one : other, high = one < other ? other : one;
    groups->parent[high] = low;
    groups->stays[low] |= groups->stays[high];
}

void rfn_call_groups_stay(struct rfn_call_groups *groups, uint32_t call)
{
    groups->stays[top_of(groups, call)] = true;
}

bool rfn_call_groups_goes(const struct rfn_call_groups *groups, uint32_t call)
{
    return !groups->stays[top_of(groups, call)];
}

/* ---- what calls say of themselves ---- */

struct reading {
    struct rfn_call_groups *groups;
    const struct rfn_archive *archive;
    bool *may_go; /* by function */
    struct rfn_tracker *tracker;
    struct rfn_volumes *volumes;
    uint32_t *makers; /* of the stream's requests, in order of creation: calls */
    size_t n_made, makers_capacity;
};

/* A call that names a request stays or goes with the one that made it. Persistent requests stay. */
static void join_request(struct reading *reading, int64_t word, uint32_t call)
{
    const uint64_t distance = (uint64_t)word >> 2;
    if (word == RFN_REQUEST_NULL)
        return;
    if ((word & 3) == RFN_REQUEST_RECENT && distance > 0 && distance <= reading->n_made)
        rfn_call_groups_join(reading->groups, call, reading->makers[reading->n_made - distance]);
    else
        rfn_call_groups_stay(reading->groups, call);
}

static void join_requests(struct reading *reading, const struct rfn_cursor *cursor,
                          const struct rfn_record *record, uint32_t call)
{
    const struct rfn_function_info *function = rfn_archive_function(reading->archive,
                                                                    record->function);
    for (unsigned i = 0; i < function->n_in; i++) {
        const uint8_t kind = function->params[i].kind;
        size_t n = 0;
        if (kind == RFN_KIND_REQUEST)
            join_request(reading, record->in[i], call);
        if (kind != (RFN_KIND_REQUEST | RFN_KIND_LIST))
            continue;
        const int64_t *words = rfn_cursor_list(cursor, record->in[i], &n, RFN_KIND_REQUEST);
        for (size_t k = 0; k < n; k++)
            join_request(reading, words[k], call);
    }
}

/* What it did to requests; what did not go well stays. */
static int take_requests(struct reading *reading, const struct rfn_stream_info *info,
                         const struct rfn_cursor *cursor, const struct rfn_record *record,
                         uint32_t call)
{
    const struct rfn_volume volume = rfn_volume_of(reading->volumes, cursor, info->rank, record);
    struct rfn_request_effects effects;
    join_requests(reading, cursor, record, call);
    RFN_TRY(rfn_tracker_event(reading->tracker, info->thread, cursor, record, &volume, false,
                              &effects));
    for (size_t i = 0; i < effects.n_completed; i++) {
        const struct rfn_completed *completed = &effects.completed[i];
        if (!completed->known || completed->cancelled || completed->error)
            rfn_call_groups_stay(reading->groups, call);
    }
    const size_t n = (size_t)rfn_tracker_created(reading->tracker, info->thread);
    RFN_TRY(RFN_GROW(reading->makers, reading->makers_capacity, n));
    while (reading->n_made < n)
        reading->makers[reading->n_made++] = call;
    return 0;
}

static int read_stream(struct reading *reading, uint32_t stream, struct rfn_diag *diag)
{
    const struct rfn_stream_info info = rfn_archive_stream(reading->archive, stream);
    struct rfn_call_groups *groups = reading->groups;
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    int more = 0, error = 0;
    reading->n_made = 0;
    rfn_tracker_reset(reading->tracker);
    RFN_TRY(rfn_cursor_open(reading->archive, stream, &cursor, diag));
    while (!error && (more = rfn_cursor_next(cursor, &record, diag)) > 0) {
        const uint32_t call = rfn_call_number(groups, stream, record->index);
        if (!reading->may_go[record->function] || record->failed_poll || record->error ||
            record->index == 0 || record->index + 1 == info.events)
            rfn_call_groups_stay(groups, call);
        if (rfn_tracker_concerns(reading->tracker, record->function))
            error = take_requests(reading, &info, cursor, record, call);
    }
    rfn_cursor_close(cursor);
    return error ? error : more;
}

static void stay_all(struct reading *reading, uint32_t stream)
{
    const uint64_t n = rfn_archive_stream(reading->archive, stream).events;
    for (uint64_t i = 0; i < n; i++)
        rfn_call_groups_stay(reading->groups, rfn_call_number(reading->groups, stream, i));
}

static bool several_threads(const struct rfn_archive *archive, uint32_t stream)
{
    const uint32_t n = rfn_archive_run(archive)->streams;
    const uint32_t rank = rfn_archive_stream(archive, stream).rank;
    return (stream > 0 && rfn_archive_stream(archive, stream - 1).rank == rank) ||
           (stream + 1 < n && rfn_archive_stream(archive, stream + 1).rank == rank);
}

static int read_streams(struct reading *reading, struct rfn_diag *diag)
{
    const struct rfn_archive *archive = reading->archive;
    for (uint32_t i = 0; i < rfn_archive_functions(archive); i++)
        reading->may_go[i] = rfn_may_go(rfn_archive_function(archive, i));
    for (uint32_t i = 0; i < rfn_archive_run(archive)->streams; i++) {
        if (several_threads(archive, i))
            stay_all(reading, i);
        else
            RFN_TRY(read_stream(reading, i, diag));
    }
    return 0;
}

int rfn_call_groups_read(struct rfn_call_groups *groups, const struct rfn_archive *archive,
                         struct rfn_diag *diag)
{
    struct reading reading = {
        .groups = groups,
        .archive = archive,
        .may_go = calloc((size_t)rfn_archive_functions(archive) + 1, sizeof(bool)),
        .tracker = rfn_tracker_new(archive),
        .volumes = rfn_volumes_new(archive)};
    int error = reading.may_go && reading.tracker && reading.volumes ? 0 : RFN_E_NOMEM;
    if (!error)
        error = read_streams(&reading, diag);
    free(reading.may_go);
    free(reading.makers);
    rfn_tracker_free(reading.tracker);
    rfn_volumes_free(reading.volumes);
    return error;
}
