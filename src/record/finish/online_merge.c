#include "record/finish/online_merge.h"

#include "base/arithmetic.h"
#include "record/core/exchange_mpi.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/core/wait_warning.h"
#include "record/finish/finish.h"
#include "record/finish/varying_params_sync.h"
#include "record/handles/comms.h"
#include "record/keep/windows.h"
#include "reduce/merge/merge.h"
#include "reduce/segments/stream_reduction.h"

REC_EVERY_CALL bool rec_meetings_count = false;

static struct {
    struct rec_exchange exchange;
    struct rfn_merge merge; /* definitions so far */
    bool open;              /* both are there */
    bool on;                /* ranks merge in mid-run */
    uint64_t left, calls;   /* calls to the next online merge; from the last one to it */
    int error;              /* of this rank, which then only takes part */
    int64_t last_ns;        /* when the last one was over */
    uint64_t segments;      /* that had been executed then */
    struct rfn_run_online_merges cost;
} online;

/* ---- start and end ---- */

/* Whether threads may call MPI at the same time on any rank. */
static bool some_rank_has_threads(void)
{
    int own = rec_threads_multiple, any = 1;
    return rec_mpi.MPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, online.exchange.comm) !=
               MPI_SUCCESS ||
           any;
}

static const char *open_exchange(void)
{
    if (rec_job_is_limited())
        return "some ranks are not recorded";
    if (rec_exchange_open(&online.exchange, true) != 0)
        return "MPI has no communicator left for the recorder";
    online.open = !some_rank_has_threads();
    if (online.open)
        return NULL;
    rec_exchange_close(&online.exchange);
    return "MPI_THREAD_MULTIPLE lets threads call MPI at the same time";
}

void rec_online_merge_start(void)
{
    struct rec_wait_warning warning;
    rec_meetings_count = rec_keep_on;
    if ((!rec_options.merge_interval.segments && !rec_options.merge_interval.ns) || online.open)
        return;
    rec_wait_warning_begin(&warning, "agree on --merge-interval, which has to be said for all");
    const char *problem = open_exchange();
    rec_wait_warning_end(&warning);
    if (problem && rec_job_is_first())
        rec_message("ranks merge in the end only: %s", problem);
    online.on = !problem;
    rec_meetings_count |= online.on;
    rfn_merge_init(&online.merge);
    online.left = online.calls = 1;
    online.last_ns = rec_monotonic_ns();
}

struct rec_exchange *rec_online_merge_end(struct rfn_merge *merge)
{
    rec_meetings_count = false;
    rfn_merge_init(merge);
    if (!online.open)
        return NULL;
    online.open = false;
    *merge = online.merge;
    if (!online.cost.merges && rec_job_is_first())
        rec_message("ranks merged in the end only: no call of Barrier, Allreduce, Alltoall, "
                    "Allgather or Reduce_scatter_block had all ranks");
    return &online.exchange;
}

struct rfn_run_online_merges rec_online_merge_cost(void)
{
    return online.cost;
}

/* ---- an online merge ---- */

/* What rank 0 tells all. It takes no memory, so that who has none left still knows. */
struct word {
    uint64_t next;    /* online merge, after so many calls; 0: never */
    uint64_t defines; /* some rank has definitions that are new */
};

enum { LONG_SHIFT = 40 }; /* of a survey's first count, above new definitions: long streams */

/* Which inputs have moved anywhere, whether anything is defined, and whether any stream's times are
 * too long to be kept. */
static int survey(const struct rec_definitions *description, const struct rec_stream *stream,
                  struct word *word, bool *any_long, int error)
{
    struct rfn_survey survey = {.counts = {rfn_merge_new(&online.merge)}};
    if (stream)
        survey.counts[0] |= (uint64_t)rfn_stream_is_long(stream->events) << LONG_SHIFT;
    error = rec_varying_params_survey(description, &survey, &online.exchange.exchange, error);
    word->defines = survey.total[0] % (UINT64_C(1) << LONG_SHIFT) > 0;
    *any_long = survey.total[0] >> LONG_SHIFT;
    return error;
}

/* What became of the stream's times is kept: an epoch that fails ends its recording. */
static int end_epoch(struct rec_stream *stream)
{
    int error = rfn_stream_epoch(stream->events);
    if (error)
        rec_stop("%s", rfn_error_text(error));
    return error;
}

/* Up to where rank 0 has a word to say. stream: NULL without one. */
static int reduce_so_far(struct rec_stream *stream, struct word *word, int error)
{
    struct rec_definitions description = {0};
    bool any_long;
    if (!error && !stream)
        error = RFN_E_USAGE;
    if (!error)
        error = rfn_stream_catch_up(stream->events);
    if (!error)
        error = rec_definitions_so_far(&description, &online.merge, stream);
    error = survey(&description, stream, word, &any_long, error);
    if (!error && any_long)
        error = end_epoch(stream);
    rec_definitions_release(&description);
    return error;
}

/* Segments that the stream has executed; without reduced times calls that could have online merges
 * stand for them, as nothing is cut then. */
static uint64_t segments_of(const struct rec_stream *stream)
{
    const struct rfn_stream_reduction *reduction = rfn_stream_reduced(stream->events);
    if (!reduction)
        return online.segments + online.calls;
    return rfn_stream_profile_stats(rfn_stream_reduction_profile(reduction)).executions;
}

/* On rank 0. */
static uint64_t calls_to_next(const struct rec_stream *stream)
{
    const struct rfn_every *every = &rec_options.merge_interval;
    if (every->ns)
        return rfn_merge_interval_next(online.calls,
                                       (uint64_t)(rec_monotonic_ns() - online.last_ns), every->ns);
    uint64_t segments = segments_of(stream), before = online.segments;
    online.segments = segments;
    return rfn_merge_interval_next(online.calls, segments > before ? segments - before : 0,
                                   every->segments);
}

/* All learn it from rank 0. */
static void agree(const struct rec_stream *stream, struct word *word, int error)
{
    if (online.exchange.exchange.rank == 0)
        word->next = error ? 0 : calls_to_next(stream);
    if (rec_mpi.MPI_Bcast(word, sizeof *word, MPI_BYTE, 0, online.exchange.comm) != MPI_SUCCESS)
        *word = (struct word){0};
    online.on = word->next > 0;
    online.left = online.calls = word->next;
}

static int take_part(struct rec_stream *stream, int error)
{
    struct word word = {0};
    error = reduce_so_far(stream, &word, error);
    agree(stream, &word, error);
    return word.defines ? rfn_merge_definitions(&online.merge, &online.exchange.exchange, error)
                        : error;
}

/* Nothing is recorded meanwhile. */
static void merge_online(void)
{
    const int64_t began = rec_monotonic_ns();
    struct rec_stream *stream = rec_this_stream;
    const bool inside = stream && stream->inside, kept_out = rec_keep_out(true);
    if (stream)
        rec_come_inside(stream);
    if (!online.error && (rec_state != REC_RECORDING || rec_threads_multiple))
        online.error = RFN_E_USAGE;
    const unsigned arithmetic = rfn_arithmetic_begin();
    online.error = take_part(stream, online.error);
    rfn_arithmetic_end(arithmetic);
    if (stream)
        rec_set_inside(stream, inside);
    rec_keep_out(kept_out);
    online.last_ns = rec_monotonic_ns();
    online.cost.merges++;
    online.cost.ns += (uint64_t)(online.last_ns - began);
    online.cost.bytes = online.exchange.exchange.bytes_sent;
    online.cost.messages = online.exchange.exchange.messages_sent;
}

/* ---- which calls count ---- */

/* Whether the call has failed before it was made together with the other ranks. */
static bool was_refused(int rc)
{
    switch (rec_error_class(rc)) {
    case MPI_ERR_BUFFER:
    case MPI_ERR_COUNT:
    case MPI_ERR_TYPE:
    case MPI_ERR_COMM:
    case MPI_ERR_RANK:
    case MPI_ERR_ROOT:
    case MPI_ERR_OP:
    case MPI_ERR_ARG:
        return true;
    default:
        return false;
    }
}

/* Asks MPI. */
static bool has_all_ranks(MPI_Comm comm)
{
    int inter = 1, compared = MPI_UNEQUAL;
    return rec_mpi.MPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
           rec_mpi.MPI_Comm_compare(comm, rec_job_comm(), &compared) == MPI_SUCCESS &&
           compared != MPI_UNEQUAL;
}

/* The same of what the recorder knows. */
static bool knows_all_ranks(const struct rec_comm *comm)
{
    return comm->kind != REC_COMM_INTER && comm->size == (uint32_t)rec_job_size() &&
           (comm->kind == REC_COMM_WORLD || !comm->local->foreign);
}

/* Whether elements of the type have anything in them; of none that MPI does not know. */
static bool has_size(MPI_Datatype type)
{
    int size = 1; /* MPI_UNDEFINED if it is larger than an int */
    rec_mpi.MPI_Type_size(type, &size);
    return size != 0;
}

void rec_synchronized(struct rec_call *call, MPI_Comm comm, MPI_Datatype type, int rc)
{
    const struct rec_comm *known = call ? call->comm : NULL;
    if ((rc != MPI_SUCCESS && was_refused(rc)) || !has_size(type))
        return;
    if (!(known ? knows_all_ranks(known) : has_all_ranks(comm)))
        return;
    bool went_on = rec_keep_on && rec_keep_synchronized();
    if (online.on && --online.left == 0) {
        merge_online();
        went_on = true;
    }
    if (call && went_on)
        rec_worked(call);
}
