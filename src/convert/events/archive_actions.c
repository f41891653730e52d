/* archive_actions.c - an archive as a source of actions: a stream per rank. */
#include "base/grow.h"
#include "convert/actions_source.h"
#include "convert/events/archive_stream.h"

#include <stdlib.h>
#include <string.h>

struct members {
    int64_t *ranks;
    uint32_t n;
};

struct archive_source {
    struct rfn_actions actions;
    const struct rfn_archive *archive;
    struct rfn_volumes *volumes;
    struct rfn_archive_stream *streams; /* by rank */
    struct members *comms;              /* by number of the archive; ranks NULL: not yet */
    struct rfn_activities activities;   /* that were computed so far */
    struct rfn_usage usage;             /* of measured times: when the recorder itself worked */
};

static int next(struct rfn_actions *actions, uint32_t rank, struct rfn_action *action)
{
    struct archive_source *source = (struct archive_source *)actions;
    return rfn_archive_stream_next(&source->streams[rank], action);
}

/* ---- communicators ---- */

static int find_members(const struct archive_source *source, uint32_t comm)
{
    const uint32_t n = rfn_archive_comm(source->archive, comm)->size;
    int64_t *ranks = malloc(((size_t)n + 1) * sizeof *ranks);
    if (!ranks)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        ranks[i] = rfn_comm_world_rank(source->archive, comm, false, i);
    source->comms[comm] = (struct members){ranks, n};
    return 0;
}

static const int64_t *comm(const struct rfn_actions *actions, uint32_t comm, uint32_t *n)
{
    const struct archive_source *source = (const struct archive_source *)actions;
    const uint32_t number = comm - 1;
    if (number >= rfn_archive_comms(source->archive))
        return NULL;
    if (!source->comms[number].ranks && find_members(source, number) < 0)
        return NULL;
    *n = source->comms[number].n;
    return source->comms[number].ranks;
}

static const struct rfn_activity *activities(const struct rfn_actions *actions, size_t *n)
{
    const struct archive_source *source = (const struct archive_source *)actions;
    *n = source->activities.n;
    return source->activities.items;
}

static uint64_t left_out(const struct rfn_actions *actions, const char **first)
{
    const struct archive_source *source = (const struct archive_source *)actions;
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < actions->n_ranks; rank++) {
        const struct rfn_archive_stream *stream = &source->streams[rank];
        if (stream->left_out && !*first)
            *first = rfn_archive_function(source->archive, stream->first_left_out)->name;
        sum += stream->left_out;
    }
    return sum;
}

static void release(struct rfn_actions *actions)
{
    struct archive_source *source = (struct archive_source *)actions;
    for (uint32_t rank = 0; source->streams && rank < actions->n_ranks; rank++)
        rfn_archive_stream_release(&source->streams[rank]);
    for (uint32_t i = 0; source->comms && i < rfn_archive_comms(source->archive); i++)
        free(source->comms[i].ranks);
    rfn_volumes_free(source->volumes);
    rfn_activities_release(&source->activities);
    rfn_usage_release(&source->usage);
    free(source->streams);
    free(source->comms);
    free(source);
}

/* ---- opening ---- */

static enum rfn_action_unit unit_of(const struct rfn_run *run, bool measured)
{
    if (measured)
        return RFN_ACTION_WALL_NS;
    if (strcmp(run->volume, "cpu") == 0)
        return RFN_ACTION_CPU_NS;
    if (strcmp(run->volume, "flops") == 0 || strstr(run->volume, "_OPS") ||
        strstr(run->volume, "FP_INS"))
        return RFN_ACTION_FLOPS;
    return RFN_ACTION_INSTRUCTIONS;
}

static int check_volumes(const struct rfn_run *run, bool measured, struct rfn_diag *diag)
{
    if (measured && !run->times)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the archive has no times, so that computing cannot be taken from them");
    if (!measured && !run->volume)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the archive says neither how much was computed nor how long it took; "
                        "record with times, or with a volume");
    return 0;
}

static bool may_cancel(const struct rfn_archive *archive)
{
    for (uint32_t i = 0; i < rfn_archive_functions(archive); i++) {
        if (rfn_archive_call(archive, i)->kind == RFN_CALL_CANCEL)
            return true;
    }
    return false;
}

/* One stream per rank. */
static int find_streams(struct archive_source *source, bool measured)
{
    const struct rfn_run *run = rfn_archive_run(source->archive);
    struct rfn_diag *diag = source->actions.diag;
    const bool cancels = may_cancel(source->archive);
    const bool flops = run->volume && strcmp(run->volume, "flops") == 0;
    for (uint32_t i = 0; i < run->streams; i++) {
        const struct rfn_stream_info info = rfn_archive_stream(source->archive, i);
        if (info.rank >= run->ranks)
            continue;
        struct rfn_archive_stream *of = &source->streams[info.rank];
        if (of->archive)
            return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, (int)info.rank,
                            "rank %u has called MPI in several threads, whose calls have no order "
                            "as actions",
                            info.rank);
        *of = (struct rfn_archive_stream){.archive = source->archive,
                                          .volumes = source->volumes,
                                          .activities = &source->activities,
                                          .diag = diag,
                                          .stream = i,
                                          .rank = info.rank,
                                          .measured = measured,
                                          .flops = flops,
                                          .wants_fates = cancels,
                                          .last_ns = -1};
    }
    for (uint32_t rank = 0; rank < run->ranks; rank++) {
        if (!source->streams[rank].archive)
            return rfn_fail(diag, RFN_E_INCOMPLETE, -1, (int)rank,
                            "the archive has no events of rank %u", rank);
    }
    return 0;
}

/* When the recorder worked, if it can be read: that is not computed. */
static int find_own_work(struct archive_source *source)
{
    const int error = rfn_usage_read(source->archive, &source->usage, NULL);
    for (size_t i = 0; i < source->usage.n && !error; i++) {
        const struct rfn_stream_usage *of = &source->usage.streams[i];
        if (of->n_recording && of->rank < source->actions.n_ranks &&
            source->streams[of->rank].stream == of->stream)
            source->streams[of->rank].usage = of;
    }
    return error == RFN_E_NOMEM ? rfn_fail(source->actions.diag, error, -1, -1, "out of memory")
                                : 0;
}

static int fill(struct archive_source *source, bool measured)
{
    const struct rfn_run *run = rfn_archive_run(source->archive);
    source->volumes = rfn_volumes_new(source->archive);
    source->streams = calloc((size_t)run->ranks + 1, sizeof *source->streams);
    source->comms = calloc((size_t)rfn_archive_comms(source->archive) + 1, sizeof *source->comms);
    if (!source->volumes || !source->streams || !source->comms)
        return rfn_fail(source->actions.diag, RFN_E_NOMEM, -1, -1, "out of memory");
    RFN_TRY(find_streams(source, measured));
    return measured ? find_own_work(source) : 0;
}

int rfn_actions_of_archive(const struct rfn_archive *archive, bool measured,
                           struct rfn_actions **actions, struct rfn_diag *diag)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    *actions = NULL;
    measured |= !run->volume && run->times;
    RFN_TRY(check_volumes(run, measured, diag));
    struct archive_source *source = calloc(1, sizeof *source);
    if (!source)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
    source->archive = archive;
    source->actions = (struct rfn_actions){.n_ranks = run->ranks,
                                           .unit = unit_of(run, measured),
                                           .diag = diag,
                                           .next = next,
                                           .activities = activities,
                                           .comm = comm,
                                           .left_out = left_out,
                                           .free = release};
    const int error = fill(source, measured);
    if (error < 0)
        release(&source->actions);
    else
        *actions = &source->actions;
    return error;
}
