/* message_rows.c - messages with both their ends, as columns (refrain/columns.h). */
#include "analyze/columns/column_lists.h"
#include "refrain/match.h"

struct job {
    const struct rfn_archive *archive;
    void *const *columns;
    size_t n, most;
    void *const *(*take)(void *context, size_t n);
    void *context;
    bool ended; /* by take */
};

#define END_COLUMNS(X, end, member)                                                          \
    X(end##_thread, INT32, NONE, thread_of(job, &message->member))                           \
    X(end##_index, INT64, NONE, message->member.posted.event)                                \
    X(end##_function, INT32, FUNCTIONS, message->member.site.function)                       \
    X(end##_path, INT32, PATHS, message->member.site.path)                                   \
    X(end##_ns, INT64, NONE, message->member.posted.ns)                                      \
    X(end##_end_index, INT64, NONE, ended(&message->member, (int64_t)message->member.event)) \
    X(end##_end_path, INT32, PATHS, ended(&message->member, message->member.end_site.path))  \
    X(end##_end_ns, INT64, NONE, ended(&message->member, message->member.exit_ns))

#define MESSAGE_COLUMNS(X)                              \
    X(source, INT32, NONE, message->sent.posted.rank)   \
    X(dest, INT32, NONE, message->received.posted.rank) \
    X(tag, INT64, NONE, message->tag)                   \
    X(comm, INT32, NONE, message->comm)                 \
    X(bytes, INT64, NONE, message->bytes)               \
    X(mode, INT32, MODES, message->mode)                \
    END_COLUMNS(X, send, sent)                          \
    END_COLUMNS(X, receive, received)

static const struct rfn_column_info message_columns[] = {MESSAGE_COLUMNS(RFN_COLUMN_INFO)};
const struct rfn_column_list rfn_message_columns = RFN_COLUMN_LIST(message_columns);

static int64_t thread_of(const struct job *job, const struct rfn_match_end *end)
{
    return rfn_archive_stream(job->archive, end->posted.stream).thread;
}

static int64_t ended(const struct rfn_match_end *end, int64_t value)
{
    return end->ended ? value : -1;
}

/* Hands over what there is. */
static int hand_over(struct job *job)
{
    job->columns = job->take(job->context, job->n);
    job->n = 0;
    job->ended = !job->columns;
    return job->ended ? RFN_E_RANGE : 0;
}

static int put(void *context, const struct rfn_match_message *message)
{
    struct job *job = context;
    void *const *next = job->columns;
    const size_t at = job->n++;
    MESSAGE_COLUMNS(RFN_COLUMN_PUT)
    return job->n == job->most ? hand_over(job) : 0;
}

int rfn_message_rows(const struct rfn_archive *archive, void *const *columns, size_t most,
                     void *const *(*take)(void *context, size_t n), void *context,
                     struct rfn_diag *diag)
{
    struct job job = {archive, columns, 0, most, take, context, false};
    const struct rfn_match_hooks hooks = {.context = &job, .message = put};
    const int error = rfn_match_run(archive, &hooks, NULL, diag);
    if (!job.ended && job.n)
        hand_over(&job);
    return job.ended ? 0 : error;
}
