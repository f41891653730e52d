/* actions_archive.c - actions as an archive without times: structure, parameters, volumes.
 *
 * What is computed before a call is the call's volume, what is computed in a reduction the volume
 * inside of it; both are rounded to whole numbers. Sizes are counts of MPI_BYTE.
 */
#include "base/grow.h"
#include "base/map.h"
#include "convert/mpi_schema.h"
#include "convert/progress.h"
#include "refrain/actions_out.h"
#include "refrain/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TURN = 256, WORDS = 16 };

/* The calls that actions become: blocking and with a request. */
static const char *const call_names[RFN_ACTION_KINDS][2] = {
    [RFN_ACTION_INIT] = {"MPI_Init", NULL},
    [RFN_ACTION_FINALIZE] = {"MPI_Finalize", NULL},
    [RFN_ACTION_SLEEP] = {"sleep", NULL},
    [RFN_ACTION_SEND] = {"MPI_Send", "MPI_Isend"},
    [RFN_ACTION_RECV] = {"MPI_Recv", "MPI_Irecv"},
    [RFN_ACTION_PROBE] = {"MPI_Probe", NULL},
    [RFN_ACTION_TEST] = {"MPI_Test", NULL},
    [RFN_ACTION_WAIT] = {"MPI_Wait", "MPI_Waitall"},
    [RFN_ACTION_SENDRECV] = {"MPI_Sendrecv", NULL},
    [RFN_ACTION_BARRIER] = {"MPI_Barrier", "MPI_Ibarrier"},
    [RFN_ACTION_BCAST] = {"MPI_Bcast", "MPI_Ibcast"},
    [RFN_ACTION_REDUCE] = {"MPI_Reduce", "MPI_Ireduce"},
    [RFN_ACTION_ALLREDUCE] = {"MPI_Allreduce", "MPI_Iallreduce"},
    [RFN_ACTION_SCAN] = {"MPI_Scan", "MPI_Iscan"},
    [RFN_ACTION_EXSCAN] = {"MPI_Exscan", "MPI_Iexscan"},
    [RFN_ACTION_GATHER] = {"MPI_Gather", "MPI_Igather"},
    [RFN_ACTION_GATHERV] = {"MPI_Gatherv", "MPI_Igatherv"},
    [RFN_ACTION_SCATTER] = {"MPI_Scatter", "MPI_Iscatter"},
    [RFN_ACTION_SCATTERV] = {"MPI_Scatterv", "MPI_Iscatterv"},
    [RFN_ACTION_ALLGATHER] = {"MPI_Allgather", "MPI_Iallgather"},
    [RFN_ACTION_ALLGATHERV] = {"MPI_Allgatherv", "MPI_Iallgatherv"},
    [RFN_ACTION_ALLTOALL] = {"MPI_Alltoall", "MPI_Ialltoall"},
    [RFN_ACTION_ALLTOALLV] = {"MPI_Alltoallv", "MPI_Ialltoallv"},
    [RFN_ACTION_REDUCE_SCATTER] = {"MPI_Reduce_scatter", "MPI_Ireduce_scatter"},
};

struct rank {
    int64_t stream, made;    /* number in the writer; requests so far */
    struct rfn_map requests; /* of actions -> number of creation */
    double computed;
    bool over;
};

struct archiving {
    struct rfn_actions *actions;
    struct rfn_writer *writer;
    struct rfn_diag *diag;
    struct rfn_actions_summary *summary;
    struct rank *ranks;
    uint32_t n_ranks;
    int64_t path, byte, world, sum;
    int64_t functions[RFN_ACTION_KINDS][2]; /* + 1; 0: not yet */
    int64_t *words;                         /* of a list */
    size_t words_capacity;
    /* The event at hand. */
    const struct rfn_action *action;
    struct rank *rank;
    int64_t in[WORDS], out[WORDS];
    unsigned n_in, n_out;
};

/* ---- definitions ---- */

static const struct rfn_param_info probe_params[] = {
    {"source", RFN_KIND_RANK, 0},         {"tag", RFN_KIND_TAG, 0},
    {"comm", RFN_KIND_COMM, 0},           {"source", RFN_KIND_RANK, RFN_PARAM_OUT},
    {"tag", RFN_KIND_TAG, RFN_PARAM_OUT}, {"bytes", RFN_KIND_BYTES, RFN_PARAM_OUT},
};
static const struct rfn_param_info sleep_params[] = {{"ns", RFN_KIND_INT, 0}};
static const struct rfn_function_info probe_function = {
    .name = "MPI_Probe", .class_ = RFN_CLASS_PROBE, .n_in = 3, .n_out = 3, .params = probe_params};
static const struct rfn_function_info sleep_function = {
    .name = "sleep", .class_ = RFN_CLASS_OTHER, .n_in = 1, .params = sleep_params};

static struct rfn_function_info function_named(const char *name)
{
    const struct rfn_mpi_kind kind = rfn_mpi_kind(name);
    return rfn_form_function(name, kind.form, kind.nonblocking);
}

/* The function of the action at hand. */
static int64_t find_function(struct archiving *to, unsigned variant)
{
    int64_t *number = &to->functions[to->action->kind][variant];
    if (*number)
        return *number - 1;
    const struct rfn_function_info function = to->action->kind == RFN_ACTION_PROBE ? probe_function
                                              : to->action->kind == RFN_ACTION_SLEEP
                                                  ? sleep_function
                                                  : function_named(
                                                        call_names[to->action->kind][variant]);
    const int64_t made = rfn_writer_function(to->writer, &function);
    if (made >= 0)
        *number = made + 1;
    return made;
}

static int64_t sum_operation(void)
{
    for (unsigned k = 0;; k++) {
        const char *name = rfn_kind_predefined(RFN_KIND_OP, k);
        if (!name || strcmp(name, "MPI_SUM") == 0)
            return name ? -1 - (int64_t)k : -1;
    }
}

static int define(struct archiving *to)
{
    static const struct rfn_datatype_info byte = {"MPI_BYTE", 1, 1, 1};
    const int64_t host = rfn_writer_host(to->writer, "text", 0);
    to->path = rfn_writer_path(to->writer, NULL, 0);
    to->byte = rfn_writer_datatype(to->writer, &byte);
    to->world = rfn_writer_comm(to->writer, RFN_COMM_WORLD, NULL, 0, NULL, 0);
    to->sum = sum_operation();
    if (host < 0 || to->path < 0 || to->byte < 0 || to->world < 0)
        return RFN_E_NOMEM;
    for (uint32_t rank = 0; rank < to->n_ranks; rank++) {
        if (!rfn_actions_has(to->actions, rank))
            continue;
        to->ranks[rank].stream = rfn_writer_stream(to->writer, rank, 0, (uint32_t)host, true);
        if (to->ranks[rank].stream < 0)
            return (int)to->ranks[rank].stream;
    }
    return 0;
}

/* ---- words ---- */

static void put(struct archiving *to, int64_t word)
{
    to->in[to->n_in++] = word;
}

static void put_count(struct archiving *to, int64_t bytes)
{
    put(to, bytes);
    put(to, to->byte);
}

/* Negative: an error. */
static int put_list(struct archiving *to, uint8_t kind, const int64_t *words, size_t n)
{
    const int64_t list =
        words ? rfn_writer_list(to->writer, (uint32_t)to->rank->stream, kind, words, n) : 0;
    put(to, list);
    return list < 0 ? (int)list : 0;
}

static int put_counts(struct archiving *to, const int64_t *bytes)
{
    RFN_TRY(put_list(to, RFN_KIND_COUNT, bytes, to->n_ranks));
    put(to, to->byte);
    return 0;
}

/* source, tag and bytes of a message that came as asked for. */
static void put_status(struct archiving *to, int64_t bytes)
{
    to->out[to->n_out++] = RFN_AS_POSTED;
    to->out[to->n_out++] = RFN_AS_POSTED;
    to->out[to->n_out++] = bytes < 0 ? RFN_UNKNOWN : RFN_AS_POSTED;
}

static int wildcard(const struct archiving *to)
{
    return rfn_fail(to->diag, RFN_E_UNSUPPORTED, -1, -1,
                    "line %" PRIu64
                    " receives from any rank, and an archive needs the sender: name it in the text",
                    to->action->event);
}

/* buf count datatype peer tag comm */
static int put_message(struct archiving *to)
{
    const struct rfn_action *action = to->action;
    if (action->peer == RFN_ACTION_ANY)
        return wildcard(to);
    put(to, RFN_BUFFER_PLAIN);
    put_count(to, action->bytes < 0 ? 0 : action->bytes);
    put(to, action->peer);
    put(to, action->tag);
    put(to, to->world);
    if (action->kind == RFN_ACTION_RECV && action->blocks)
        put_status(to, action->bytes);
    return 0;
}

static int put_probe(struct archiving *to)
{
    if (to->action->peer == RFN_ACTION_ANY)
        return wildcard(to);
    put(to, to->action->peer);
    put(to, to->action->tag);
    put(to, to->world);
    put_status(to, -1);
    return 0;
}

static int put_sendrecv(struct archiving *to)
{
    const struct rfn_action *action = to->action;
    if (action->receive_peer == RFN_ACTION_ANY)
        return wildcard(to);
    put(to, RFN_BUFFER_PLAIN);
    put_count(to, action->bytes);
    put(to, action->peer);
    put(to, action->tag);
    put(to, RFN_BUFFER_PLAIN);
    put_count(to, action->receive_bytes);
    put(to, action->receive_peer);
    put(to, action->receive_tag);
    put(to, to->world);
    put_status(to, 0);
    return 0;
}

static void put_reduction(struct archiving *to)
{
    put(to, RFN_BUFFER_PLAIN);
    put(to, RFN_BUFFER_PLAIN);
    put_count(to, to->action->bytes);
    put(to, to->sum);
}

/* One side of a call with parts: buffer, count or counts, type. */
static int put_side(struct archiving *to, bool list, const int64_t *sizes, int64_t bytes)
{
    put(to, RFN_BUFFER_PLAIN);
    if (list)
        return put_counts(to, sizes);
    put_count(to, bytes);
    return 0;
}

static int put_parts(struct archiving *to)
{
    const struct rfn_action *action = to->action;
    const enum rfn_action_kind kind = action->kind;
    RFN_TRY(put_side(to, kind == RFN_ACTION_SCATTERV || kind == RFN_ACTION_ALLTOALLV, action->sends,
                     action->bytes));
    return put_side(to,
                    kind == RFN_ACTION_GATHERV || kind == RFN_ACTION_ALLGATHERV ||
                        kind == RFN_ACTION_ALLTOALLV,
                    action->receives, action->receive_bytes);
}

static bool is_rooted(enum rfn_action_kind kind)
{
    return kind == RFN_ACTION_BCAST || kind == RFN_ACTION_REDUCE || kind == RFN_ACTION_GATHER ||
           kind == RFN_ACTION_GATHERV || kind == RFN_ACTION_SCATTER || kind == RFN_ACTION_SCATTERV;
}

static int put_collective(struct archiving *to)
{
    int error = 0;
    switch (to->action->kind) {
    case RFN_ACTION_BARRIER:
        break;
    case RFN_ACTION_BCAST:
        put(to, RFN_BUFFER_PLAIN);
        put_count(to, to->action->bytes);
        break;
    case RFN_ACTION_REDUCE:
    case RFN_ACTION_ALLREDUCE:
    case RFN_ACTION_SCAN:
    case RFN_ACTION_EXSCAN:
        put_reduction(to);
        break;
    case RFN_ACTION_REDUCE_SCATTER:
        put(to, RFN_BUFFER_PLAIN);
        put(to, RFN_BUFFER_PLAIN);
        error = put_counts(to, to->action->receives);
        put(to, to->sum);
        break;
    default:
        error = put_parts(to);
        break;
    }
    if (is_rooted(to->action->kind))
        put(to, to->action->root);
    put(to, to->world);
    return error;
}

/* ---- requests ---- */

/* The words of requests that are pending, in to->words; all of them are over but that of a test. */
static int find_requests(struct archiving *to, size_t *n)
{
    const struct rfn_action *action = to->action;
    *n = 0;
    RFN_TRY(RFN_GROW(to->words, to->words_capacity, action->n_requests + 1));
    for (size_t i = 0; i < action->n_requests; i++) {
        const uint64_t request = (uint64_t)action->requests[i];
        const uint64_t *number = rfn_map_get(&to->rank->requests, request);
        if (!number)
            continue;
        to->words[(*n)++] = rfn_request_word(RFN_REQUEST_RECENT, to->rank->made - (int64_t)*number);
        if (action->kind == RFN_ACTION_WAIT)
            rfn_map_remove(&to->rank->requests, request);
    }
    return 0;
}

/* One request, or a count and a list of them. */
static int put_requests(struct archiving *to, size_t n)
{
    to->out[to->n_out++] = 0;
    if (n == 1) {
        put(to, to->words[0]);
        return 0;
    }
    put(to, (int64_t)n);
    return put_list(to, RFN_KIND_REQUEST, to->words, n);
}

/* ---- events ---- */

static int refuse(const struct archiving *to, const char *what)
{
    return rfn_fail(to->diag, RFN_E_UNSUPPORTED, -1, -1, "line %" PRIu64 " %s", to->action->event,
                    what);
}

/* The nearest whole number, of what is not negative. */
static int64_t whole(double value)
{
    return value < 9e18 ? (int64_t)(value + 0.5) : INT64_MAX;
}

static int put_words(struct archiving *to, size_t n_requests)
{
    switch (to->action->kind) {
    case RFN_ACTION_INIT:
    case RFN_ACTION_FINALIZE:
        return 0;
    case RFN_ACTION_SLEEP:
        put(to, whole(to->action->seconds * 1e9));
        return 0;
    case RFN_ACTION_SEND:
    case RFN_ACTION_RECV:
        return put_message(to);
    case RFN_ACTION_PROBE:
        return put_probe(to);
    case RFN_ACTION_TEST:
    case RFN_ACTION_WAIT:
        return put_requests(to, n_requests);
    case RFN_ACTION_SENDRECV:
        return put_sendrecv(to);
    default:
        return put_collective(to);
    }
}

static int64_t take_computed(struct rank *rank)
{
    const int64_t computed = whole(rank->computed);
    rank->computed = 0;
    return computed;
}

static int write_event(struct archiving *to, unsigned variant)
{
    const int64_t function = find_function(to, variant);
    if (function < 0)
        return (int)function;
    const struct rfn_record record = {.function = (uint32_t)function,
                                      .path = (uint32_t)to->path,
                                      .polls = 1,
                                      .failed_poll = to->action->kind == RFN_ACTION_TEST,
                                      .in = to->in,
                                      .out = to->out,
                                      .volume_gap = take_computed(to->rank),
                                      .volume_inside = whole(to->action->volume)};
    return rfn_writer_event(to->writer, (uint32_t)to->rank->stream, &record);
}

static int archive(struct archiving *to)
{
    const struct rfn_action *action = to->action;
    const bool waits = action->kind == RFN_ACTION_WAIT || action->kind == RFN_ACTION_TEST;
    const bool posts = !waits && action->kind >= RFN_ACTION_SEND && !action->blocks &&
                       call_names[action->kind][1];
    size_t n_requests = 0;
    to->n_in = to->n_out = 0;
    if (action->kind == RFN_ACTION_COMPUTE) {
        to->rank->computed += action->volume;
        return 0;
    }
    if (action->comm)
        return refuse(to, "is on a sub-communicator");
    if (waits)
        RFN_TRY(find_requests(to, &n_requests));
    if (waits && !n_requests)
        return 0;
    RFN_TRY(put_words(to, n_requests));
    if (posts && action->request >= 0)
        RFN_TRY(
            rfn_map_put(&to->rank->requests, (uint64_t)action->request, (uint64_t)to->rank->made));
    to->rank->made += posts;
    return write_event(to, posts || (action->kind == RFN_ACTION_WAIT && n_requests > 1));
}

/* Up to TURN actions of a rank. */
static int archive_some(struct archiving *to, uint32_t rank)
{
    struct rfn_action action;
    to->rank = &to->ranks[rank];
    for (int i = 0; i < TURN; i++) {
        const int got = rfn_actions_next(to->actions, rank, &action);
        if (got < 0)
            return got;
        if (!got) {
            to->rank->over = true;
            return 0;
        }
        to->summary->actions++;
        to->action = &action;
        RFN_TRY(archive(to));
    }
    return 0;
}

static int archive_all(struct archiving *to, const struct rfn_convert_progress *progress)
{
    uint32_t left = to->n_ranks;
    while (left) {
        for (uint32_t rank = 0; rank < to->n_ranks; rank++) {
            if (to->ranks[rank].over)
                continue;
            RFN_TRY(archive_some(to, rank));
            left -= to->ranks[rank].over;
        }
        rfn_convert_tell(progress, 1 - (double)left / to->n_ranks);
    }
    return 0;
}

static int run_archiving(struct archiving *to, const struct rfn_convert_progress *progress)
{
    int error = to->ranks ? define(to) : RFN_E_NOMEM;
    if (!error)
        error = archive_all(to, progress);
    if (error < 0) {
        rfn_writer_cancel(to->writer);
        return error;
    }
    return rfn_writer_close(to->writer, &to->summary->file_bytes);
}

int rfn_archive_of_actions(struct rfn_actions *actions, const char *path, bool force,
                           const char *program, const struct rfn_convert_progress *progress,
                           struct rfn_actions_summary *summary, struct rfn_diag *diag)
{
    const uint32_t n = rfn_actions_ranks(actions);
    const struct rfn_run run = {.recorder = "refrain convert",
                                .program = program,
                                .command = program,
                                .ranks = n,
                                .volume = "flops",
                                .volume_unit = ""};
    struct archiving to = {.actions = actions, .diag = diag, .summary = summary, .n_ranks = n};
    *summary = (struct rfn_actions_summary){0};
    RFN_TRY(rfn_writer_new(path, force, &run, &to.writer, diag));
    to.ranks = calloc((size_t)n + 1, sizeof *to.ranks);
    const int error = run_archiving(&to, progress);
    for (uint32_t rank = 0; to.ranks && rank < n; rank++)
        rfn_map_release(&to.ranks[rank].requests);
    free(to.ranks);
    free(to.words);
    return error == RFN_E_NOMEM ? rfn_fail(diag, error, -1, -1, "out of memory") : error;
}
