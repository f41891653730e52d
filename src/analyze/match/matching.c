#include "analyze/match/matching.h"

#include <stdlib.h>
#include <string.h>

/* ---- events enter ---- */

static int new_symbol(struct rfn_match *match, uint32_t stream, const struct rfn_record *record)
{
    struct rfn_match_stream *of = rfn_match_stream(match, stream);
    size_t size = (match->hooks.symbol_size + 63) / 64 * 64;
    RFN_TRY(RFN_GROW_ZEROED(of->symbols, of->n_symbols, (size_t)record->symbol + 1));
    struct rfn_match_symbol *symbol = aligned_alloc(64, size); /* a line of the cache, or more */
    if (!symbol)
        return RFN_E_NOMEM;
    memset(symbol, 0, size);
    of->symbols[record->symbol] = symbol;
    symbol->role = rfn_archive_call(match->archive, record->function);
    symbol->constant = !record->varying;
    symbol->lasts = !record->varying &&
                    rfn_archive_function(match->archive, record->function)->n_out == 0;
    symbol->concerns = rfn_tracker_concerns(match->trackers[0], record->function);
    symbol->creates = rfn_tracker_creates(match->trackers[0], record->function);
    symbol->topology = rfn_topologies_concerns(match->topologies, record->function);
    symbol->groups = rfn_mpi_groups_concerns(match->groups, record->function);
    symbol->one_sided = rfn_one_sided_concerns(match->one_sided, record->function);
    symbol->object = symbol->place = RFN_NONE;
    return match->hooks.symbol ? match->hooks.symbol(match, stream, symbol, record) : 0;
}

/* The volume of the current event, unless its words are those that the last one had. */
static int find_volume(struct rfn_match *match, struct rfn_match_symbol *symbol,
                       const struct rfn_event_order_stream *at)
{
    const struct rfn_record *record = at->record;
    const struct rfn_function_info *function = rfn_archive_function(match->archive,
                                                                    record->function);
    size_t in_bytes = function->n_in * sizeof *record->in;
    size_t out_bytes = function->n_out * sizeof *record->out;
    if (!symbol->lasts) {
        bool same = symbol->version &&
                    (!record->varying || memcmp(symbol->words, record->in, in_bytes) == 0);
        if (same &&
            (!out_bytes || memcmp(symbol->words + function->n_in, record->out, out_bytes) == 0))
            return 0;
        RFN_TRY(RFN_GROW(symbol->words, symbol->words_capacity,
                         (size_t)function->n_in + function->n_out + 1));
        if (in_bytes)
            memcpy(symbol->words, record->in, in_bytes);
        if (out_bytes)
            memcpy(symbol->words + function->n_in, record->out, out_bytes);
    }
    symbol->volume = rfn_volume_of(match->volumes, at->cursor, at->rank, record);
    symbol->version++;
    return 0;
}

int rfn_match_begin(struct rfn_match *match, struct rfn_match_stream *of, uint32_t stream,
                    const struct rfn_event_order_stream *at)
{
    uint32_t symbol = at->record->symbol;
    if (symbol >= of->n_symbols || !of->symbols[symbol])
        RFN_TRY(new_symbol(match, stream, at->record));
    of->symbol = of->symbols[symbol];
    if (!at->together) {
        bool means = !at->record->failed_poll && rfn_class_is_mpi(of->symbol->role->class_);
        if (means && !(of->symbol->lasts && of->symbol->version))
            RFN_TRY(find_volume(match, of->symbol, at));
        if (match->watcher)
            RFN_TRY(match->watcher->event(match->watcher->context, stream, of->symbol, at));
    }
    of->since_ns = at->enter_ns;
    of->here = (struct rfn_point){stream, rfn_event_order_index(at), at->enter_ns};
    return rfn_match_step_at(match, of, stream, at);
}

int rfn_match_enter(void *context, uint32_t stream, struct rfn_event_order_stream *at)
{
    struct rfn_match *match = context;
    struct rfn_match_stream *of = rfn_match_stream(match, stream);
    RFN_TRY(rfn_match_begin(match, of, stream, at));
    RFN_TRY(rfn_match_call(match, of, at));
    return of->n_awaited || of->one_sided ? 0 : RFN_REPLAY_LEFT;
}

/* ---- events leave ---- */

/* The message that it is about, if that is known and sent. */
static const struct rfn_message *message_of(const struct rfn_channels *channels,
                                            const struct rfn_awaited *awaited)
{
    if (awaited->kind == RFN_AWAITS_ARRIVAL) {
        const struct rfn_message *message = rfn_channels_peek(channels, awaited->number);
        return message && message->begun ? message : NULL;
    }
    return awaited->cancelled ? NULL : rfn_channels_message(channels, awaited->number);
}

/* 1 if it is there, or nothing can be waited for; if not, 0, and the stream is woken when it comes.
 * RFN_E_NOMEM. */
static int is_there(struct rfn_match *match, uint32_t stream, const struct rfn_awaited *awaited)
{
    struct rfn_channels *channels = &match->channels;
    if (awaited->kind == RFN_AWAITS_ALL)
        return rfn_collectives_ready(match->collectives, &awaited->share, stream);
    if (!rfn_awaits_receive(awaited) || awaited->message || awaited->cancelled)
        return true;
    if (awaited->kind == RFN_AWAITS_ARRIVAL)
        return !rfn_channels_probe(channels, awaited->number, stream);
    struct rfn_receive *receive = &channels->receives[awaited->number];
    if (receive->placed)
        receive->stream = stream + 1;
    return !receive->placed;
}

int rfn_match_arrived(struct rfn_match *match, struct rfn_match_stream *of, uint32_t stream,
                      bool forced)
{
    struct rfn_channels *channels = &match->channels;
    int there = 1;
    for (size_t i = 0; i < of->n_awaited && there > 0; i++) {
        struct rfn_awaited *awaited = &of->awaited[i];
        if (awaited->kind == RFN_AWAITS_MESSAGE_TAKEN)
            awaited->message = &channels->messages[awaited->number];
        else if (awaited->kind != RFN_AWAITS_ALL)
            awaited->message = message_of(channels, awaited);
        if (!forced && awaited->kind != RFN_AWAITS_MESSAGE_TAKEN)
            there = is_there(match, stream, awaited);
    }
    return there;
}

int rfn_match_windows(struct rfn_match *match, struct rfn_match_stream *of, uint32_t stream,
                      const struct rfn_event_order_stream *at, bool forced, struct rfn_wait *waited)
{
    waited->ns = 0;
    if (!forced && !rfn_one_sided_ready(match->one_sided, stream)) {
        RFN_TRY(RFN_GROW(match->at_windows.streams, match->at_windows.capacity,
                         match->at_windows.n + 1));
        match->at_windows.streams[match->at_windows.n++] = stream;
        return 0;
    }
    const struct rfn_point left = {stream, of->here.at, at->exit_ns};
    of->one_sided = false;
    RFN_TRY(rfn_one_sided_leave(match->one_sided, left, waited));
    return 1;
}

/* A receive whose message is not known yet goes when that comes. */
static int let_go_receive(struct rfn_match *match, uint32_t stream,
                          const struct rfn_awaited *awaited)
{
    struct rfn_channels *channels = &match->channels;
    if (awaited->cancelled || message_of(channels, awaited))
        return rfn_channels_received(channels, awaited->number, awaited->cancelled);
    channels->receives[awaited->number].left = true;
    channels->receives[awaited->number].stream = stream + 1;
    return 0;
}

static int let_go_one(struct rfn_match *match, uint32_t stream, const struct rfn_awaited *awaited)
{
    switch (awaited->kind) {
    case RFN_AWAITS_MESSAGE_TAKEN:
        return rfn_channels_sent(&match->channels, awaited->number, awaited->cancelled);
    case RFN_AWAITS_MESSAGE:
        return let_go_receive(match, stream, awaited);
    case RFN_AWAITS_PROBED:
        match->channels.receives[awaited->number].stream = 0;
        return 0;
    case RFN_AWAITS_ALL:
        return rfn_collectives_leave(match->collectives, &awaited->share);
    default:
        return 0;
    }
}

__attribute__((flatten)) int rfn_match_let_go(struct rfn_match *match, struct rfn_match_stream *of,
                                              uint32_t stream)
{
    for (size_t i = 0; i < of->n_awaited; i++)
        RFN_TRY(let_go_one(match, stream, &of->awaited[i]));
    of->n_awaited = 0;
    return 0;
}

int rfn_match_leave(void *context, uint32_t stream, const struct rfn_event_order_stream *at,
                    bool forced)
{
    struct rfn_match *match = context;
    struct rfn_match_stream *of = rfn_match_stream(match, stream);
    struct rfn_wait waited;
    int there = rfn_match_arrived(match, of, stream, forced);
    if (there > 0 && of->one_sided)
        there = rfn_match_windows(match, of, stream, at, forced, &waited);
    if (there <= 0)
        return there < 0 ? there : RFN_REPLAY_PARK;
    return rfn_match_let_go(match, of, stream);
}

/* A receive that a stream waits for, or has left without, has now got its message. */
static int bound(void *context, uint32_t number)
{
    struct rfn_match *match = context;
    struct rfn_receive *receive = &match->channels.receives[number];
    if (!receive->left) {
        rfn_event_order_wake(match->replay, receive->stream - 1);
        return 0;
    }
    if (match->hooks.late)
        RFN_TRY(match->hooks.late(match, receive));
    return rfn_channels_received(&match->channels, number, false);
}

static int message_ended(void *context, uint32_t message)
{
    struct rfn_match *match = context;
    return match->hooks.message(match, message);
}

static int collective_ended(void *context, uint32_t instance)
{
    struct rfn_match *match = context;
    return match->hooks.collective(match, instance);
}

static void wake(void *context, uint32_t stream)
{
    struct rfn_match *match = context;
    if (!match->hooks.wakes || match->hooks.wakes(match, stream))
        rfn_event_order_wake(match->replay, stream);
}

int rfn_match_abandon(struct rfn_match *match, uint32_t number)
{
    struct rfn_receive *receive = &match->channels.receives[number];
    if (receive->message)
        return rfn_channels_received(&match->channels, number, false);
    if (!receive->placed && !receive->known)
        return rfn_channels_received(&match->channels, number, true);
    receive->left = true; /* it goes when its message comes */
    receive->note = 0;
    receive->stream = 1;
    return 0;
}

/* ---- ends of streams and batches ---- */

int rfn_match_end(void *context, uint32_t stream)
{
    struct rfn_match *match = context;
    if (!match->stepper || !rfn_match_stream(match, stream)->symbol)
        return 0;
    return match->stepper->end(match->stepper->context, stream,
                               rfn_event_order_stream(match->replay, stream)->exit_ns);
}

int rfn_match_end_batch(struct rfn_match *match, uint32_t stream,
                        const struct rfn_event_order_stream *at)
{
    struct rfn_match_stream *of = rfn_match_stream(match, stream);
    const struct rfn_match_watcher *watcher = match->watcher;
    struct rfn_loop_requests *loop = of->loop;
    uint64_t made = 0;
    if (at->together && watcher)
        watcher->batch(watcher->context, stream, at->batch);
    if (!loop)
        return 0;
    for (size_t i = 0; loop->knowledge == RFN_LOOP_CLOSED && i < loop->n; i++) {
        const struct rfn_loop_request *request = &loop->requests[i];
        made += rfn_batch_taken_at(at->batch, request->made);
        if (watcher)
            watcher->received(watcher->context, stream, request->symbol, request->received_bytes,
                              rfn_batch_taken_at(at->batch, request->completed));
    }
    rfn_loop_learned(loop);
    of->loop = NULL;
    return made ? rfn_tracker_skip(match->trackers[at->rank], at->thread, made) : 0;
}

/* ---- before the first event, and after the last ---- */

/* Ranks of which nothing can be read are not waited for. */
static void find_absent(struct rfn_match *match)
{
    memset(match->absent, true, match->n_ranks);
    for (uint32_t i = 0; i < match->n_streams; i++) {
        struct rfn_stream_info info = rfn_archive_stream(match->archive, i);
        if (info.rank < match->n_ranks && info.readable)
            match->absent[info.rank] = false;
    }
}

int rfn_match_init(struct rfn_match *match, const struct rfn_event_order_hooks *replay_hooks)
{
    const struct rfn_archive *archive = match->archive;
    match->n_ranks = rfn_archive_run(archive)->ranks;
    match->n_streams = rfn_archive_run(archive)->streams;
    size_t size = ((size_t)match->n_streams + 1) * match->hooks.stream_size;
    match->absent = malloc((size_t)match->n_ranks + 1);
    match->streams = aligned_alloc(64, (size + 63) / 64 * 64);
    match->processes = calloc((size_t)match->n_ranks + 1, sizeof *match->processes);
    match->trackers = rfn_trackers_new(archive);
    match->topologies = rfn_topologies_new(archive);
    match->groups = rfn_mpi_groups_new(archive);
    match->volumes = rfn_volumes_new(archive);
    if (match->streams)
        memset(match->streams, 0, size);
    if (!match->absent || !match->streams || !match->processes || !match->trackers ||
        !match->topologies || !match->groups || !match->volumes)
        return RFN_E_NOMEM;
    find_absent(match);
    const struct rfn_collectives_setup setup = {.archive = archive,
                                                .topologies = match->topologies,
                                                .absent = match->absent,
                                                .wake = wake,
                                                .ended = match->hooks.collective ? collective_ended
                                                                                 : NULL,
                                                .context = match};
    match->collectives = rfn_collectives_new(&setup);
    match->one_sided = rfn_one_sided_new(archive, match->groups);
    if (!match->collectives || !match->one_sided)
        return RFN_E_NOMEM;
    RFN_TRY(rfn_channels_init(&match->channels, match->n_ranks));
    match->channels.hooks.bound = bound;
    match->channels.hooks.wake = wake;
    match->channels.hooks.ended = match->hooks.message ? message_ended : NULL;
    match->channels.hooks.context = match;
    return rfn_event_order_new(archive, replay_hooks, &match->replay);
}

void rfn_match_release(struct rfn_match *match)
{
    for (uint32_t i = 0; match->streams && i < match->n_streams; i++) {
        struct rfn_match_stream *stream = rfn_match_stream(match, i);
        for (size_t k = 0; k < stream->n_symbols; k++) {
            if (stream->symbols[k])
                free(stream->symbols[k]->words);
            free(stream->symbols[k]);
        }
        free(stream->symbols);
        free(stream->awaited);
    }
    for (uint32_t i = 0; match->processes && i < match->n_ranks; i++) {
        free(match->processes[i].begun);
        free(match->processes[i].shares);
        free(match->processes[i].persistent);
        rfn_map_release(&match->processes[i].handles);
    }
    rfn_event_order_free(match->replay);
    rfn_channels_release(&match->channels);
    rfn_collectives_free(match->collectives);
    rfn_one_sided_free(match->one_sided);
    rfn_topologies_free(match->topologies);
    rfn_mpi_groups_free(match->groups);
    rfn_volumes_free(match->volumes);
    rfn_trackers_free(match->trackers, match->archive);
    free(match->streams);
    free(match->processes);
    free(match->at_windows.streams);
    free(match->absent);
}

int rfn_match_finish(struct rfn_match *match, struct rfn_matching *matching)
{
    const struct rfn_channels *channels = &match->channels;
    RFN_TRY(rfn_channels_finish(&match->channels));
    matching->messages = channels->counts.sends;
    matching->matched = channels->counts.joined;
    matching->unmatched_sends = channels->counts.sends - channels->counts.joined;
    matching->unmatched_receives = channels->counts.posts - channels->counts.joined;
    matching->cancelled = channels->counts.cancelled;
    matching->foreign = match->foreign;
    rfn_collectives_count(match->collectives, &matching->collectives,
                          &matching->unmatched_collectives);
    return 0;
}
