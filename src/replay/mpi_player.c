#include "replay/mpi_player.h"

#include "base/grow.h"
#include "replay/check_received.h"
#include "replay/mpi_watch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A datatype of more bytes than an integer counts. */
struct rpl_large_type {
    int64_t bytes;
    MPI_Datatype type;
};

/* ---- handlers ---- */

static const struct rpl_named_handler *const tables[] = {
    rpl_message_handlers, rpl_request_handlers, rpl_collective_handlers,
    rpl_comm_handlers,    rpl_window_handlers,
};

enum { N_TABLES = sizeof tables / sizeof *tables };

static rpl_handler *handlers[RFN_MPI_COUNT]; /* of what can be issued */

/* What this MPI does not have in that variant. */
static bool is_missing(enum rfn_operation operation, enum rfn_call_variant variant)
{
    (void)operation;
    (void)variant;
#if !RPL_HAVE_MPI_Isendrecv
    if (variant == RFN_CALL_NONBLOCKING &&
        (operation == RFN_MPI_Sendrecv || operation == RFN_MPI_Sendrecv_replace))
        return true;
#endif
#if !RPL_HAVE_MPI_Bcast_init
    for (const struct rpl_named_handler *one = rpl_collective_handlers; one->handler; one++) {
        if (variant == RFN_CALL_PERSISTENT && one->operation == operation)
            return true;
    }
#endif
    return false;
}

bool rpl_can_issue(enum rfn_operation operation, enum rfn_call_variant variant)
{
    for (int table = 0; table < N_TABLES && !handlers[operation]; table++) {
        for (const struct rpl_named_handler *one = tables[table]; one->handler; one++) {
            if (one->operation == operation)
                handlers[operation] = one->handler;
        }
    }
    return handlers[operation] && !is_missing(operation, variant);
}

static int issue(struct rpl_player *player, const struct rfn_call_event *call)
{
    rpl_watch_call(rfn_archive_function(player->archive, call->record->function)->name,
                   call->record->index);
    int error = handlers[call->call->operation](player, call);
    rpl_pace_returned(&player->pace);
    return error;
}

/* ---- for handlers ---- */

int rpl_no_memory(struct rpl_player *player)
{
    return rfn_fail(player->diag, RFN_E_NOMEM, -1, (int)player->rank, "rank %u: out of memory",
                    player->rank);
}

int rpl_take(struct rpl_player *player, int64_t bytes, void **buffer)
{
    *buffer = rpl_buffers_take(&player->pool, bytes);
    if (*buffer)
        return 0;
    return rfn_fail(player->diag, RFN_E_NOMEM, -1, (int)player->rank,
                    "rank %u: out of memory for a message of %lld bytes", player->rank,
                    (long long)bytes);
}

enum { LARGE_UNIT = 1 << 20 };

static MPI_Datatype make_large(int64_t bytes)
{
    MPI_Datatype unit, made;
    int lengths[] = {(int)(bytes / LARGE_UNIT), (int)(bytes % LARGE_UNIT)};
    MPI_Aint places[] = {0, (MPI_Aint)(bytes - bytes % LARGE_UNIT)};
    PMPI_Type_contiguous(LARGE_UNIT, MPI_BYTE, &unit);
    MPI_Datatype types[] = {unit, MPI_BYTE};
    PMPI_Type_create_struct(2, lengths, places, types, &made);
    PMPI_Type_commit(&made);
    PMPI_Type_free(&unit);
    return made;
}

struct rpl_piece rpl_piece(struct rpl_player *player, int64_t bytes)
{
    if (bytes <= INT_MAX)
        return (struct rpl_piece){bytes > 0 ? (int)bytes : 0, MPI_BYTE};
    for (size_t i = 0; i < player->room.n_large; i++) {
        if (player->room.large[i].bytes == bytes)
            return (struct rpl_piece){1, player->room.large[i].type};
    }
    /* Without memory for it the buffer cannot be had either: its message comes first. */
    if (bytes > INT64_C(1) << 46 ||
        RFN_GROW(player->room.large, player->room.large_capacity, player->room.n_large + 1) < 0)
        return (struct rpl_piece){0, MPI_BYTE};
    player->room.large[player->room.n_large++] = (struct rpl_large_type){bytes, make_large(bytes)};
    return (struct rpl_piece){1, player->room.large[player->room.n_large - 1].type};
}

int rpl_mpi_rank(int64_t word)
{
    if (word >= 0 && word <= INT_MAX)
        return (int)word;
    return word == RFN_ANY ? MPI_ANY_SOURCE : word == RFN_ROOT ? MPI_ROOT : MPI_PROC_NULL;
}

int rpl_mpi_tag(int64_t word)
{
    return word >= 0 && word <= INT_MAX ? (int)word : MPI_ANY_TAG;
}

MPI_Comm rpl_mpi_comm(const struct rpl_player *player, int64_t word)
{
    return word >= 0 && word < player->known.n_comms ? player->made.comms[word] : MPI_COMM_NULL;
}

int *rpl_ints(struct rpl_player *player, size_t n)
{
    return rpl_buffers_take(&player->pool, (int64_t)((n + 1) * sizeof(int)));
}

int *rpl_int_list(struct rpl_player *player, const struct rfn_call_event *call, enum rfn_input role,
                  uint8_t kind, size_t least, size_t *n)
{
    size_t n_words;
    const int64_t *words = rfn_word_list(call, role, kind, &n_words);
    *n = n_words > least ? n_words : least;
    int *list = rpl_ints(player, *n);
    for (size_t i = 0; list && i < *n; i++) {
        int64_t word = i < n_words ? words[i] : 0;
        list[i] = kind == RFN_KIND_RANK ? rpl_mpi_rank(word) : (int)word;
    }
    return list;
}

/* ---- requests ---- */

struct rpl_request *rpl_request_of(struct rpl_player *player,
                                   const struct rfn_request_origin *origin)
{
    return origin->id < player->requests.capacity ? &player->requests.of[origin->id] : NULL;
}

static const struct rpl_request no_request = {
    .request = MPI_REQUEST_NULL, .once = MPI_REQUEST_NULL, .posted = true};

/* Elements for all ids up to this one. */
static int grow_requests(struct rpl_player *player, size_t id)
{
    size_t before = player->requests.capacity;
    RFN_TRY(RFN_GROW(player->requests.of, player->requests.capacity, id + 1));
    for (size_t i = before; i < player->requests.capacity; i++)
        player->requests.of[i] = no_request;
    return 0;
}

int rpl_new_request(struct rpl_player *player, const struct rfn_call_event *call,
                    struct rpl_request **request)
{
    if (player->effects.created < 0)
        return rfn_fail(player->diag, RFN_E_CORRUPT, -1, (int)player->rank,
                        "rank %u, event %llu, %s: it makes no request", player->rank,
                        (unsigned long long)call->record->index,
                        rfn_archive_function(player->archive, call->record->function)->name);
    struct rpl_request *made = &player->requests.of[player->effects.created];
    made->function = call->record->function;
    made->comm = rfn_word(call, RFN_IN_COMM, -1);
    made->active = call->call->variant == RFN_CALL_NONBLOCKING;
    made->type = MPI_BYTE;
    *request = made;
    return 0;
}

void rpl_give_request(struct rpl_player *player, struct rpl_request *request)
{
    rpl_buffers_give(&player->pool, request->buffer);
    for (int i = 0; i < RPL_KEPT; i++)
        rpl_buffers_give(&player->pool, request->kept[i]);
    *request = no_request;
}

int rpl_orphan_request(struct rpl_player *player, struct rpl_request *request)
{
    RFN_TRY(RFN_GROW(player->requests.orphans, player->requests.orphans_capacity,
                     player->requests.n_orphans + 1));
    if (request->once != MPI_REQUEST_NULL) { /* the persistent one itself was not started */
        MPI_Request_free(&request->request);
        request->request = request->once;
    }
    player->requests.orphans[player->requests.n_orphans++] = *request;
    *request = no_request;
    return 0;
}

void rpl_bury_orphans(struct rpl_player *player)
{
    for (size_t i = player->requests.n_orphans; i-- > 0;) {
        int done = 0;
        PMPI_Test(&player->requests.orphans[i].request, &done, MPI_STATUS_IGNORE);
        if (!done)
            continue;
        /* A persistent one. The program's call comes late, but a recorder has to see it: the next
         * request may have the same handle. */
        if (player->requests.orphans[i].request != MPI_REQUEST_NULL)
            MPI_Request_free(&player->requests.orphans[i].request);
        rpl_give_request(player, &player->requests.orphans[i]);
        player->requests.orphans[i] = player->requests.orphans[--player->requests.n_orphans];
    }
}

int rpl_outcome_ahead(struct rpl_player *player, const struct rfn_volume *volume,
                      struct rfn_fate *fate)
{
    if (player->fates)
        return rfn_fates_next(player->fates, fate, player->diag);
    *fate = (struct rfn_fate){volume->source, volume->tag, false};
    return 0;
}

/* ---- what messages carry ---- */

int rpl_message_id(struct rpl_player *player, int64_t comm, int64_t peer, int64_t tag, bool sending,
                   uint64_t *stamp)
{
    int64_t world = comm < 0 ? -1
                             : rfn_comm_peer(player->archive, (uint32_t)comm, player->rank, peer);
    int64_t own = player->rank;
    struct rpl_channel channel = {comm, sending ? own : world, sending ? world : own, tag, sending};
    if (rpl_message_ids_next(&player->stamps, &channel, stamp) < 0)
        return rpl_no_memory(player);
    return 0;
}

static void is_wrong(struct rpl_player *player, const char *text)
{
    if (player->outcome.wrong++ == 0)
        snprintf(player->outcome.first_wrong, sizeof player->outcome.first_wrong, "rank %u: %s",
                 player->rank, text);
}

/* Bytes of a status; -1 where MPI does not tell. */
static int64_t bytes_of(MPI_Status *status, MPI_Datatype type)
{
#ifndef RFN_SIMULATED /* which does not have it */
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(status, type, &bytes);
    return bytes == MPI_UNDEFINED ? -1 : (int64_t)bytes;
#else
    int bytes = 0;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    (void)type;
    return bytes == MPI_UNDEFINED ? -1 : bytes;
#endif
}

void rpl_check(struct rpl_player *player, MPI_Status *status, MPI_Datatype type,
               const struct rfn_volume *recorded, const uint64_t *stamp, const void *buffer)
{
    char text[200];
    if (rpl_check_received(recorded, bytes_of(status, type), stamp, buffer, text, sizeof text))
        is_wrong(player, text);
}

/* ---- a run ---- */

/* The tracker's account of requests; what a call creates has an element afterwards. */
static int follow_requests(struct rpl_player *player, const struct rfn_record *record)
{
    player->effects = (struct rfn_request_effects){.created = -1};
    player->volume = rfn_volume_of(player->role->volumes, player->cursor, player->rank, record);
    if (!rfn_tracker_concerns(player->tracker, record->function))
        return 0;
    RFN_TRY(rfn_tracker_event(player->tracker, player->thread, player->cursor, record,
                              &player->volume, false, &player->effects));
    if (player->effects.created < 0)
        return 0;
    RFN_TRY(grow_requests(player, (size_t)player->effects.created));
    player->requests.of[player->effects.created] = no_request;
    return 0;
}

/* Fates are told for every request, issued or not. */
static int drop_fates(struct rpl_player *player, const struct rfn_record *record)
{
    const struct rfn_call *call = rfn_archive_call(player->archive, record->function);
    struct rfn_fate fate;
    bool message = rfn_call_sends(call) || rfn_call_receives(call);
    if (message && call->variant == RFN_CALL_NONBLOCKING && player->effects.created >= 0)
        RFN_TRY(rpl_outcome_ahead(player, &player->volume, &fate));
    return 0;
}

static void owe(struct rpl_player *player, const struct rfn_record *record, int64_t *last_ns,
                int treatment)
{
    int64_t inside = record->exit_ns - record->enter_ns;
    rpl_pace_owe(&player->pace, record->enter_ns - *last_ns);
    if (record->failed_poll) /* what was computed between the polls */
        rpl_pace_owe(&player->pace, inside - record->inside_ns);
    else if (treatment != RFN_TREAT_ISSUE && treatment != RFN_TREAT_END)
        rpl_pace_owe(&player->pace, inside);
    *last_ns = record->exit_ns;
}

static int play_event(struct rpl_player *player, const struct rfn_record *record, int64_t *last_ns,
                      bool *begun, bool *ended)
{
    const struct rfn_call_event call = rfn_call_event(player->archive, player->cursor, player->rank,
                                                      record);
    int treatment = record->failed_poll
                        ? RFN_TREAT_LOCAL
                        : rfn_treat(&player->known, player->role->operations, &call);
    RFN_TRY(treatment);
    if (treatment == RFN_TREAT_NO_CALL)
        return 0;
    if (treatment == RFN_TREAT_BEGIN)
        *begun = true;
    if (!*begun || *ended)
        return 0;
    if (treatment == RFN_TREAT_BEGIN) {
        rpl_pace_owe(&player->pace, record->exit_ns - *last_ns);
        *last_ns = record->exit_ns;
        return 0;
    }
    owe(player, record, last_ns, treatment);
    *ended = treatment == RFN_TREAT_END;
    if (treatment != RFN_TREAT_ISSUE && treatment != RFN_TREAT_END) {
        RFN_TRY(follow_requests(player, record));
        return drop_fates(player, record);
    }
    rpl_pace_spend(&player->pace);
    if (treatment == RFN_TREAT_END)
        return 0;
    RFN_TRY(follow_requests(player, record));
    return issue(player, &call);
}

static int play_all(struct rpl_player *player, int64_t begin_ns)
{
    const struct rfn_record *record;
    int64_t last_ns = begin_ns;
    bool begun = false, ended = false;
    int got;
    while ((got = rfn_cursor_next(player->cursor, &record, player->diag)) > 0)
        RFN_TRY(play_event(player, record, &last_ns, &begun, &ended));
    return got;
}

/* ---- before and after ---- */

static int open_stream(struct rpl_player *player, const struct rpl_role_of_rank *role)
{
    RFN_TRY(rfn_treat_objects_init(&player->known, player->archive));
    player->tracker = rfn_tracker_new(player->archive);
    player->made.comms = calloc((size_t)player->known.n_comms + 1, sizeof *player->made.comms);
    player->made.owned = calloc((size_t)player->known.n_comms + 1, sizeof *player->made.owned);
    if (!player->tracker || !player->made.comms || !player->made.owned)
        return rpl_no_memory(player);
    for (uint32_t i = 0; i < player->known.n_comms; i++) {
        enum rfn_comm_kind kind = rfn_archive_comm(player->archive, i)->kind;
        player->made.comms[i] = kind == RFN_COMM_WORLD  ? MPI_COMM_WORLD
                                : kind == RFN_COMM_SELF ? MPI_COMM_SELF
                                                        : MPI_COMM_NULL;
    }
    if (role->survey->wants_fates)
        RFN_TRY(rfn_fates_open(&player->fates, player->archive, role->volumes, role->stream,
                               player->diag));
    RFN_TRY(rfn_cursor_open(player->archive, role->stream, &player->cursor, player->diag));
    return rfn_cursor_decode_ahead(player->cursor, player->diag);
}

/* What the program left open. All members free a communicator in the order of numbers. */
static void close_all(struct rpl_player *player)
{
    rpl_bury_orphans(player);
    for (uint32_t i = 0; player->made.owned && i < player->known.n_comms; i++) {
        if (player->made.owned[i] && player->made.comms[i] != MPI_COMM_NULL)
            PMPI_Comm_free(&player->made.comms[i]);
    }
    for (size_t i = 0; i < player->room.n_large; i++)
        PMPI_Type_free(&player->room.large[i].type);
    PMPI_Comm_free(&player->nowhere);
    for (size_t i = 0; i < player->memory.n_access; i++)
        rpl_buffers_give(&player->pool, player->memory.access[i]);
    if (player->memory.bsend) {
        void *buffer;
        int size;
        PMPI_Buffer_detach(&buffer, &size);
        free(player->memory.bsend);
    }
}

static void release(struct rpl_player *player)
{
    if (player->cursor)
        rfn_cursor_close(player->cursor);
    rfn_tracker_free(player->tracker);
    rfn_fates_close(player->fates);
    rfn_treat_objects_release(&player->known);
    rpl_buffers_release(&player->pool);
    rpl_message_ids_release(&player->stamps);
    free(player->made.comms);
    free(player->made.owned);
    free(player->made.groups);
    free(player->made.wins);
    free(player->made.messages);
    free(player->requests.of);
    free(player->requests.orphans);
    free(player->memory.access);
    free(player->room.handles);
    free(player->room.statuses);
    free(player->room.large);
}

int rpl_play(const struct rpl_role_of_rank *role, struct rpl_player *player, struct rfn_diag *diag)
{
    struct rfn_stream_info info = rfn_archive_stream(role->operations->archive, role->stream);
    *player = (struct rpl_player){.role = role,
                                  .archive = role->operations->archive,
                                  .diag = diag,
                                  .rank = info.rank,
                                  .thread = info.thread};
    PMPI_Comm_dup(MPI_COMM_SELF, &player->nowhere);
    int error = open_stream(player, role);
    if (error == 0) {
        PMPI_Barrier(MPI_COMM_WORLD);
        int64_t start = rpl_now_ns();
        rpl_pace_start(&player->pace, &role->pace);
        error = play_all(player, role->begin_ns);
        if (error == 0) {
            PMPI_Barrier(MPI_COMM_WORLD);
            player->outcome.seconds = (double)(rpl_now_ns() - start) * 1e-9;
            close_all(player);
        }
    }
    release(player);
    return error;
}
