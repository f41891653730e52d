#include "analyze/match/lookahead.h"

#include "base/grow.h"
#include "refrain/completion.h"

#include <stdlib.h>
#include <string.h>

struct pending {
    struct rfn_fate fate;
    bool settled;
};

struct rfn_fates {
    const struct rfn_archive *archive;
    const struct rfn_volumes *volumes;
    struct rfn_cursor *cursor;
    struct rfn_tracker *tracker;
    uint32_t rank, thread;
    bool over;
    struct pending *queue; /* of the postings from number `first` on */
    size_t queue_capacity, head, n_queued;
    uint64_t first;
    uint64_t *posting; /* number of the last posting, by id of the request */
    size_t posting_capacity;
};

int rfn_fates_open(struct rfn_fates **fates, const struct rfn_archive *archive,
                   const struct rfn_volumes *volumes, uint32_t stream, struct rfn_diag *diag)
{
    struct rfn_stream_info info = rfn_archive_stream(archive, stream);
    struct rfn_fates *made = calloc(1, sizeof *made);
    if (!made)
        return RFN_E_NOMEM;
    *made = (struct rfn_fates){
        .archive = archive, .volumes = volumes, .rank = info.rank, .thread = info.thread};
    int error = rfn_cursor_open(archive, stream, &made->cursor, diag);
    if (error == 0) {
        made->tracker = rfn_tracker_new(archive);
        error = made->tracker ? rfn_cursor_decode_ahead(made->cursor, diag) : RFN_E_NOMEM;
    } else {
        made->cursor = NULL;
    }
    *fates = made;
    if (error < 0) {
        rfn_fates_close(made);
        *fates = NULL;
    }
    return error;
}

void rfn_fates_close(struct rfn_fates *fates)
{
    if (!fates)
        return;
    if (fates->cursor)
        rfn_cursor_close(fates->cursor);
    rfn_tracker_free(fates->tracker);
    free(fates->queue);
    free(fates->posting);
    free(fates);
}

/* A posting whose fate is still to come. */
static int post(struct rfn_fates *fates, uint32_t id, const struct rfn_volume *volume)
{
    if (fates->head && fates->head + fates->n_queued == fates->queue_capacity) {
        memmove(fates->queue, fates->queue + fates->head, fates->n_queued * sizeof *fates->queue);
        fates->head = 0;
    }
    size_t end = fates->head + fates->n_queued;
    RFN_TRY(RFN_GROW(fates->queue, fates->queue_capacity, end + 1));
    RFN_TRY(RFN_GROW_ZEROED(fates->posting, fates->posting_capacity, (size_t)id + 1));
    fates->queue[end] = (struct pending){{volume->source, volume->tag, false}, false};
    fates->posting[id] = fates->first + fates->n_queued++;
    return 0;
}

static const struct rfn_call *call_of(const struct rfn_fates *fates, uint32_t function)
{
    return rfn_archive_call(fates->archive, function);
}

static bool is_message(const struct rfn_fates *fates, uint32_t function)
{
    const struct rfn_call *call = call_of(fates, function);
    return rfn_call_sends(call) || rfn_call_receives(call);
}

/* The posting that the request was made for last; requests of other calls get its id later. */
static void settle(struct rfn_fates *fates, const struct rfn_request_origin *origin, bool cancelled,
                   bool received)
{
    if (!is_message(fates, origin->function) || origin->id >= fates->posting_capacity)
        return;
    uint64_t number = fates->posting[origin->id];
    if (number < fates->first || number - fates->first >= fates->n_queued)
        return;
    struct pending *pending = &fates->queue[fates->head + (number - fates->first)];
    pending->settled = true;
    pending->fate.cancelled = cancelled;
    if (received && !cancelled) {
        struct rfn_volume volume = *origin->volume;
        rfn_take_posted(&volume, pending->fate.source, pending->fate.tag);
        pending->fate.source = volume.source;
        pending->fate.tag = volume.tag;
    }
}

static int take(struct rfn_fates *fates, const struct rfn_record *record,
                const struct rfn_request_effects *effects, const struct rfn_volume *volume)
{
    if (effects->created >= 0 && is_message(fates, record->function) &&
        call_of(fates, record->function)->variant == RFN_CALL_NONBLOCKING)
        RFN_TRY(post(fates, (uint32_t)effects->created, volume));
    for (size_t i = 0; i < effects->n_started && !record->error; i++) {
        const struct rfn_request_origin *origin = effects->started[i];
        if (is_message(fates, origin->function))
            RFN_TRY(post(fates, origin->id, origin->volume));
    }
    bool looks = call_of(fates, record->function)->kind != RFN_CALL_COMPLETE;
    for (size_t i = 0; i < effects->n_completed && !looks; i++) {
        const struct rfn_completed *completed = &effects->completed[i];
        if (completed->known)
            settle(fates, completed->origin, completed->cancelled, completed->origin->receives);
    }
    if (effects->freed)
        settle(fates, effects->freed, effects->given_up, false);
    return 0;
}

/* One event further. */
static int advance(struct rfn_fates *fates, struct rfn_diag *diag)
{
    const struct rfn_record *record;
    int got = rfn_cursor_next(fates->cursor, &record, diag);
    if (got <= 0) {
        fates->over = got == 0;
        return got;
    }
    struct rfn_request_effects effects;
    if (!rfn_tracker_concerns(fates->tracker, record->function))
        return 1;
    struct rfn_volume volume = rfn_volume_of(fates->volumes, fates->cursor, fates->rank, record);
    RFN_TRY(rfn_tracker_event(fates->tracker, fates->thread, fates->cursor, record, &volume, false,
                              &effects));
    RFN_TRY(take(fates, record, &effects, &volume));
    return 1;
}

int rfn_fates_next(struct rfn_fates *fates, struct rfn_fate *fate, struct rfn_diag *diag)
{
    while (!fates->over && (fates->n_queued == 0 || !fates->queue[fates->head].settled))
        RFN_TRY(advance(fates, diag));
    if (fates->n_queued == 0)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, (int)fates->rank,
                        "rank %u has more requests than its events make", fates->rank);
    *fate = fates->queue[fates->head].fate;
    fates->head++;
    fates->n_queued--;
    fates->first++;
    return 0;
}
