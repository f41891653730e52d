#include "analyze/match/survey.h"

#include "base/grow.h"
#include "base/hash.h"
#include "refrain/completion.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What has to be known of an open request. */
struct open {
    uint64_t sent;       /* the number of the message that it sends, 0 none */
    int64_t source, tag; /* as asked for */
    bool issued;         /* what makes it, here too */
    bool active;         /* not completed, or started */
};

struct work {
    struct rfn_survey *survey;
    const struct rfn_treatments *operations;
    const struct rfn_volumes *volumes;
    struct rfn_cursor *cursor;
    struct rfn_tracker *tracker;
    struct rfn_treat_objects known;
    struct rfn_diag *diag;
    uint32_t rank, thread;
    bool begun, ended;
    struct open *open; /* by id */
    size_t open_capacity;
    uint64_t *ordinals; /* collective calls so far, by communicator */
};

static int refuse(const struct work *work, const struct rfn_record *record, const char *why)
{
    const struct rfn_archive *archive = work->operations->archive;
    return rfn_fail(work->diag, RFN_E_UNSUPPORTED, -1, (int)work->rank,
                    "rank %u, event %llu, %s: %s", work->rank, (unsigned long long)record->index,
                    rfn_archive_function(archive, record->function)->name, why);
}

/* ---- messages ---- */

static uint64_t number_of(int64_t comm, int64_t source, int64_t dest, int64_t tag)
{
    const int64_t words[] = {comm, source, dest, tag};
    return rfn_hash_bytes(words, sizeof words);
}

/* Of the message that a call sends; 0 if it sends none. */
static uint64_t sent(struct work *work, const struct rfn_call_event *call,
                     const struct rfn_volume *volume)
{
    int64_t tag = rfn_word(call, RFN_IN_sendtag, rfn_word(call, RFN_IN_tag, 0));
    if (!rfn_call_sends(call->call) || volume->dest == RFN_PROC_NULL)
        return 0;
    if (tag > work->survey->largest_tag)
        work->survey->largest_tag = tag;
    int64_t peer = volume->comm < 0 ? -1
                                    : rfn_comm_peer(call->archive, (uint32_t)volume->comm,
                                                    work->rank, volume->dest);
    return number_of(volume->comm, work->rank, peer, tag);
}

static int received(struct work *work, const struct rfn_record *record,
                    const struct rfn_volume *volume)
{
    struct rfn_survey *survey = work->survey;
    if (volume->source == RFN_PROC_NULL || volume->comm < 0)
        return 0;
    if (volume->source < 0 || volume->tag < 0)
        return refuse(work, record, "what was received is not known");
    int64_t peer = rfn_comm_peer(work->operations->archive, (uint32_t)volume->comm, work->rank,
                                 volume->source);
    survey->messages -= number_of(volume->comm, peer, work->rank, volume->tag);
    survey->received_messages++;
    if (volume->received_bytes > 0)
        survey->received_bytes += (uint64_t)volume->received_bytes;
    if (volume->tag > survey->largest_tag)
        survey->largest_tag = volume->tag;
    return 0;
}

/* A call that sends or receives, and is over when it returns. A matched probe takes the message,
 * the receive that follows only fetches it. */
static int message(struct work *work, const struct rfn_call_event *call,
                   const struct rfn_volume *volume)
{
    work->survey->messages += sent(work, call, volume);
    if (call->call->kind == RFN_CALL_RECV || call->call->kind == RFN_CALL_SENDRECV ||
        call->call->kind == RFN_CALL_MRECV || call->call->kind == RFN_CALL_MPROBE)
        return received(work, call->record, volume);
    return 0;
}

/* ---- requests ---- */

static int created(struct work *work, const struct rfn_call_event *call,
                   const struct rfn_volume *volume, uint32_t id, bool issued)
{
    RFN_TRY(RFN_GROW_ZEROED(work->open, work->open_capacity, (size_t)id + 1));
    work->open[id] = (struct open){.issued = issued};
    if (!issued)
        return 0;
    bool message = rfn_call_sends(call->call) || rfn_call_receives(call->call);
    work->open[id].sent = message ? sent(work, call, volume) : 0;
    work->open[id].source = volume->source;
    work->open[id].tag = volume->tag;
    work->open[id].active = call->call->variant == RFN_CALL_NONBLOCKING;
    if (call->call->variant == RFN_CALL_NONBLOCKING)
        work->survey->messages += work->open[id].sent;
    if (rfn_call_receives(call->call) && (volume->source == RFN_ANY || volume->tag == RFN_ANY))
        work->survey->wants_fates = true;
    return 0;
}

static int completed(struct work *work, const struct rfn_record *record,
                     const struct rfn_completed *one)
{
    if (!one->known)
        return 0;
    if (one->error)
        return refuse(work, record, "a request failed when this was recorded");
    if (one->origin->id >= work->open_capacity)
        return 0;
    struct open *open = &work->open[one->origin->id];
    open->active = false;
    if (!open->issued)
        return 0;
    if (one->cancelled)
        work->survey->messages -= open->sent;
    if (!one->origin->receives || one->cancelled)
        return 0;
    struct rfn_volume volume = *one->origin->volume;
    rfn_take_posted(&volume, open->source, open->tag);
    return received(work, record, &volume);
}

/* A receive that the program does not wait for is taken to have had its message, but not one that
 * it cancelled. */
static int freed(struct work *work, const struct rfn_record *record,
                 const struct rfn_request_effects *effects)
{
    const struct rfn_request_origin *origin = effects->freed;
    bool waits = origin->receives && !effects->given_up && origin->id < work->open_capacity &&
                 work->open[origin->id].active;
    return waits ? received(work, record, origin->volume) : 0;
}

static int requests(struct work *work, const struct rfn_call_event *call,
                    const struct rfn_volume *volume, bool issued)
{
    struct rfn_request_effects effects;
    if (!rfn_tracker_concerns(work->tracker, call->record->function))
        return 0;
    RFN_TRY(rfn_tracker_event(work->tracker, work->thread, work->cursor, call->record, volume,
                              false, &effects));
    if (effects.cancelled)
        work->survey->wants_fates = true;
    if (effects.created >= 0)
        RFN_TRY(created(work, call, volume, (uint32_t)effects.created, issued));
    for (size_t i = 0; i < effects.n_started; i++) {
        if (effects.started[i]->id >= work->open_capacity)
            continue;
        struct open *open = &work->open[effects.started[i]->id];
        open->active = open->issued;
        work->survey->messages += open->sent;
    }
    if (effects.freed)
        RFN_TRY(freed(work, call->record, &effects));
    if (call->call->class_ != RFN_CLASS_COMPLETION)
        return 0;
    for (size_t i = 0; i < effects.n_completed; i++)
        RFN_TRY(completed(work, call->record, &effects.completed[i]));
    return 0;
}

/* ---- collective calls ---- */

/* Each of them is counted by all members, and counted back by the first. */
static void collective(struct work *work, const struct rfn_call_event *call)
{
    int64_t comm = rfn_word(call, RFN_IN_COMM, -1);
    if (!rfn_is_ordered(call) || comm < 0)
        return;
    const struct rfn_comm_info *info = rfn_archive_comm(call->archive, (uint32_t)comm);
    if (info->kind == RFN_COMM_SELF)
        return;
    uint64_t words[] = {(uint64_t)comm, work->ordinals[comm]++, call->call->variant,
                        call->call->operation};
    uint64_t number = rfn_hash_bytes(words, sizeof words);
    work->survey->collectives += number;
    if (rfn_comm_world_rank(call->archive, (uint32_t)comm, false, 0) == work->rank)
        work->survey->collectives -= number * ((uint64_t)info->size + info->remote_size);
}

/* Sizes of reductions and of what many ranks give are integers, in bytes, here. */
static int check_sizes(const struct work *work, const struct rfn_call_event *call)
{
    static const enum rfn_input counts[] = {RFN_IN_sendcounts, RFN_IN_recvcounts};
    static const enum rfn_input types[] = {RFN_IN_sendtypes, RFN_IN_recvtypes};
    static const enum rfn_input type[] = {RFN_IN_sendtype, RFN_IN_recvtype};
    static const char too_large[] = "a collective call with more than 2 GiB is not replayed";
    if (rfn_has(call, RFN_IN_op) && rfn_reduced_bytes(call) > INT_MAX)
        return refuse(work, call->record, too_large);
    for (int side = 0; side < 2; side++) {
        size_t n, n_types;
        const int64_t *list = rfn_word_list(call, counts[side], RFN_KIND_COUNT, &n);
        const int64_t *of = rfn_word_list(call, types[side], RFN_KIND_TYPE, &n_types);
        int64_t one = rfn_word(call, type[side], rfn_word(call, RFN_IN_datatype, -1)), sum = 0;
        for (size_t i = 0; i < n && sum <= INT_MAX; i++) {
            int64_t size = rfn_type_bytes(call->archive, i < n_types ? of[i] : one);
            int64_t bytes = rfn_product(list[i], size);
            sum += bytes > INT_MAX ? INT64_C(1) << 32 : bytes;
        }
        if (sum > INT_MAX)
            return refuse(work, call->record, too_large);
    }
    return 0;
}

/* ---- events ---- */

static int begin_or_end(struct work *work, const struct rfn_record *record, bool begin)
{
    if (begin ? work->begun : work->ended)
        return refuse(work, record, "MPI is started or ended twice");
    if (begin) {
        work->begun = true;
        work->survey->begin_ns = record->exit_ns;
    } else {
        work->ended = true;
        work->survey->end_ns = record->exit_ns;
    }
    return 0;
}

static int issue(struct work *work, const struct rfn_call_event *call,
                 const struct rfn_volume *volume)
{
    if (!work->begun || work->ended)
        return refuse(work, call->record, "a call before MPI_Init or after MPI_Finalize");
    work->survey->issued++;
    if (call->call->class_ != RFN_CLASS_RMA)
        RFN_TRY(check_sizes(work, call));
    collective(work, call);
    return call->call->variant == RFN_CALL_BLOCKING ? message(work, call, volume) : 0;
}

static int event(struct work *work, const struct rfn_record *record)
{
    const struct rfn_call_event call = rfn_call_event(work->operations->archive, work->cursor,
                                                      work->rank, record);
    struct rfn_volume volume = rfn_volume_of(work->volumes, work->cursor, work->rank, record);
    if (call.call->operation == RFN_MPI_Session_init || call.call->operation == RFN_MPI_Abort)
        return refuse(work, record, "a program that calls this cannot be replayed");
    if (record->failed_poll) {
        work->survey->polls += record->polls;
        work->survey->polls_ns += (uint64_t)record->inside_ns;
        return 0;
    }
    int treatment = rfn_treat(&work->known, work->operations, &call);
    RFN_TRY(treatment);
    if (treatment == RFN_TREAT_BEGIN || treatment == RFN_TREAT_END)
        return begin_or_end(work, record, treatment == RFN_TREAT_BEGIN);
    if (treatment == RFN_TREAT_FAILED && call.call->kind == RFN_CALL_COMPLETE)
        return refuse(work, record, "it failed when this was recorded");
    work->survey->failed += treatment == RFN_TREAT_FAILED;
    work->survey->skipped[record->function] += treatment == RFN_TREAT_SKIP;
    if (treatment == RFN_TREAT_ISSUE)
        RFN_TRY(issue(work, &call, &volume));
    return requests(work, &call, &volume, treatment == RFN_TREAT_ISSUE);
}

static int read_all(struct work *work)
{
    const struct rfn_record *record;
    int got;
    while ((got = rfn_cursor_next(work->cursor, &record, work->diag)) > 0)
        RFN_TRY(event(work, record));
    if (got == 0 && !(work->begun && work->ended))
        return rfn_fail(work->diag, RFN_E_UNSUPPORTED, -1, (int)work->rank,
                        "rank %u has no %s: what was not recorded cannot be replayed", work->rank,
                        work->begun ? "MPI_Finalize" : "MPI_Init");
    return got;
}

int rfn_survey_stream(const struct rfn_archive *archive, uint32_t rank, uint32_t *stream,
                      struct rfn_diag *diag)
{
    uint32_t n = rfn_archive_run(archive)->streams, callers = 0;
    bool found = false;
    for (uint32_t i = 0; i < n; i++) {
        struct rfn_stream_info info = rfn_archive_stream(archive, i);
        bool calls = info.calls >
                     info.region_events; /* else it is in regions of the program only */
        if (info.rank != rank || (found && !calls))
            continue;
        found = true;
        callers += calls;
        if (callers <= 1)
            *stream = i;
    }
    if (callers > 1)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, (int)rank,
                        "rank %u called MPI from several threads: only programs that call it from "
                        "one can be replayed",
                        rank);
    if (!found)
        return rfn_fail(diag, RFN_E_NOTFOUND, -1, (int)rank, "rank %u has no events", rank);
    return 0;
}

int rfn_survey_init(struct rfn_survey *survey, const struct rfn_treatments *operations,
                    const struct rfn_volumes *volumes, uint32_t stream, struct rfn_diag *diag)
{
    struct rfn_stream_info info = rfn_archive_stream(operations->archive, stream);
    struct work work = {.survey = survey,
                        .operations = operations,
                        .volumes = volumes,
                        .diag = diag,
                        .rank = info.rank,
                        .thread = info.thread};
    *survey = (struct rfn_survey){0};
    survey->skipped = calloc((size_t)operations->n + 1, sizeof *survey->skipped);
    work.ordinals = calloc((size_t)rfn_archive_comms(operations->archive) + 1,
                           sizeof *work.ordinals);
    work.tracker = rfn_tracker_new(operations->archive);
    int error = survey->skipped && work.ordinals && work.tracker ? 0 : RFN_E_NOMEM;
    if (error == 0)
        error = rfn_treat_objects_init(&work.known, operations->archive);
    if (error == 0)
        error = rfn_cursor_open(operations->archive, stream, &work.cursor, diag);
    if (error == 0) {
        error = read_all(&work);
        rfn_cursor_close(work.cursor);
    }
    rfn_treat_objects_release(&work.known);
    rfn_tracker_free(work.tracker);
    free(work.ordinals);
    free(work.open);
    return error;
}

void rfn_survey_release(struct rfn_survey *survey)
{
    free(survey->skipped);
    survey->skipped = NULL;
}
