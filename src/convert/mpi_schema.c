#include "convert/mpi_schema.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- parameters ---- */

#define IN(name, kind)           \
    {                            \
        name, RFN_KIND_##kind, 0 \
    }
#define INS(name, kind)                          \
    {                                            \
        name, RFN_KIND_##kind | RFN_KIND_LIST, 0 \
    }
#define OUT(name, kind)                      \
    {                                        \
        name, RFN_KIND_##kind, RFN_PARAM_OUT \
    }
#define MESSAGE     IN("buf", BUFFER), IN("count", COUNT), IN("datatype", TYPE)
#define RECV        MESSAGE, IN("source", RANK), IN("tag", TAG), IN("comm", COMM)
#define STATUS      OUT("source", RANK), OUT("tag", TAG), OUT("bytes", BYTES)
#define REQUESTS    INS("array_of_requests", REQUEST)
#define COMPLETIONS OUT("completions", COMPLETIONS)
#define INDICES                                                         \
    {                                                                   \
        "array_of_indices", RFN_KIND_INT | RFN_KIND_LIST, RFN_PARAM_OUT \
    }
#define BUFFERS    IN("sendbuf", BUFFER), IN("recvbuf", BUFFER)
#define TO_REDUCE  IN("count", COUNT), IN("datatype", TYPE), IN("op", OP)
#define SEND_PART  IN("sendbuf", BUFFER), IN("sendcount", COUNT), IN("sendtype", TYPE)
#define RECV_PART  IN("recvbuf", BUFFER), IN("recvcount", COUNT), IN("recvtype", TYPE)
#define SEND_PARTS IN("sendbuf", BUFFER), INS("sendcounts", COUNT), IN("sendtype", TYPE)
#define RECV_PARTS IN("recvbuf", BUFFER), INS("recvcounts", COUNT), IN("recvtype", TYPE)
#define ROOTED     IN("root", RANK), IN("comm", COMM)

static const struct rfn_param_info send_params[] = {MESSAGE, IN("dest", RANK), IN("tag", TAG),
                                                    IN("comm", COMM)};
static const struct rfn_param_info recv_params[] = {RECV, STATUS};
static const struct rfn_param_info irecv_params[] = {RECV};
static const struct rfn_param_info sendrecv_params[] = {
    SEND_PART,          IN("dest", RANK),   IN("sendtag", TAG), RECV_PART,
    IN("source", RANK), IN("recvtag", TAG), IN("comm", COMM),   STATUS};
static const struct rfn_param_info replace_params[] = {MESSAGE,
                                                       IN("dest", RANK),
                                                       IN("sendtag", TAG),
                                                       IN("source", RANK),
                                                       IN("recvtag", TAG),
                                                       IN("comm", COMM),
                                                       STATUS};
static const struct rfn_param_info wait_params[] = {IN("request", REQUEST), COMPLETIONS};
static const struct rfn_param_info waitall_params[] = {IN("count", INT), REQUESTS, COMPLETIONS};
static const struct rfn_param_info waitany_params[] = {IN("count", INT), REQUESTS,
                                                       OUT("index", INT), COMPLETIONS};
static const struct rfn_param_info waitsome_params[] = {IN("incount", INT), REQUESTS, INDICES,
                                                        COMPLETIONS};
static const struct rfn_param_info comm_params[] = {IN("comm", COMM)};
static const struct rfn_param_info made_params[] = {IN("comm", COMM), OUT("newcomm", COMM)};
static const struct rfn_param_info bcast_params[] = {IN("buffer", BUFFER), IN("count", COUNT),
                                                     IN("datatype", TYPE), ROOTED};
static const struct rfn_param_info reduce_params[] = {BUFFERS, TO_REDUCE, ROOTED};
static const struct rfn_param_info allreduce_params[] = {BUFFERS, TO_REDUCE, IN("comm", COMM)};
static const struct rfn_param_info reduce_scatter_params[] = {
    BUFFERS, INS("recvcounts", COUNT), IN("datatype", TYPE), IN("op", OP), IN("comm", COMM)};
static const struct rfn_param_info reduce_scatter_block_params[] = {
    BUFFERS, IN("recvcount", COUNT), IN("datatype", TYPE), IN("op", OP), IN("comm", COMM)};
static const struct rfn_param_info gather_params[] = {SEND_PART, RECV_PART, ROOTED};
static const struct rfn_param_info gatherv_params[] = {SEND_PART, RECV_PARTS, ROOTED};
static const struct rfn_param_info scatterv_params[] = {SEND_PARTS, RECV_PART, ROOTED};
static const struct rfn_param_info allgather_params[] = {SEND_PART, RECV_PART, IN("comm", COMM)};
static const struct rfn_param_info allgatherv_params[] = {SEND_PART, RECV_PARTS, IN("comm", COMM)};
static const struct rfn_param_info alltoallv_params[] = {SEND_PARTS, RECV_PARTS, IN("comm", COMM)};
static const struct rfn_param_info alltoallw_params[] = {
    IN("sendbuf", BUFFER), INS("sendcounts", COUNT), INS("sendtypes", TYPE),
    IN("recvbuf", BUFFER), INS("recvcounts", COUNT), INS("recvtypes", TYPE),
    IN("comm", COMM)};
static const struct rfn_param_info win_create_params[] = {IN("comm", COMM), OUT("win", WIN)};
static const struct rfn_param_info win_params[] = {IN("win", WIN)};
static const struct rfn_param_info win_rank_params[] = {IN("rank", RANK), IN("win", WIN)};
static const struct rfn_param_info win_lock_params[] = {IN("lock_type", INT), IN("rank", RANK),
                                                        IN("win", WIN)};
static const struct rfn_param_info put_params[] = {
    IN("origin_addr", BUFFER), IN("origin_count", COUNT), IN("origin_datatype", TYPE),
    IN("target_rank", RANK), IN("win", WIN)};
static const struct rfn_param_info region_params[] = {IN("name", REGION)};

/* ---- forms ---- */

struct form {
    uint8_t class_, flags, n_in, n_out;
    const struct rfn_param_info *params;
};

#define FORM(class_, flags, params, n_out) \
    RFN_CLASS_##class_, flags, sizeof params / sizeof *params - n_out, n_out, params
#define TOGETHER RFN_FUNCTION_COLLECTIVE
#define POLL     RFN_FUNCTION_POLL

static const struct form forms[RFN_FORMS] = {
    [RFN_FORM_PLAIN] = {RFN_CLASS_OTHER, 0, 0, 0, NULL},
    [RFN_FORM_REQUEST] = {RFN_CLASS_OTHER, RFN_FUNCTION_NONBLOCKING, 0, 0, NULL},
    [RFN_FORM_SEND] = {FORM(SEND, 0, send_params, 0)},
    [RFN_FORM_RECV] = {FORM(RECV, 0, recv_params, 3)},
    [RFN_FORM_IRECV] = {FORM(RECV, RFN_FUNCTION_NONBLOCKING, irecv_params, 0)},
    [RFN_FORM_SENDRECV] = {FORM(SENDRECV, 0, sendrecv_params, 3)},
    [RFN_FORM_REPLACE] = {FORM(SENDRECV, 0, replace_params, 3)},
    [RFN_FORM_WAIT] = {FORM(COMPLETION, 0, wait_params, 1)},
    [RFN_FORM_WAITALL] = {FORM(COMPLETION, 0, waitall_params, 1)},
    [RFN_FORM_WAITANY] = {FORM(COMPLETION, 0, waitany_params, 2)},
    [RFN_FORM_WAITSOME] = {FORM(COMPLETION, 0, waitsome_params, 2)},
    [RFN_FORM_TEST] = {FORM(COMPLETION, POLL, wait_params, 1)},
    [RFN_FORM_TESTALL] = {FORM(COMPLETION, POLL, waitall_params, 1)},
    [RFN_FORM_TESTANY] = {FORM(COMPLETION, POLL, waitany_params, 2)},
    [RFN_FORM_TESTSOME] = {FORM(COMPLETION, POLL, waitsome_params, 2)},
    [RFN_FORM_COMM] = {FORM(COMM, TOGETHER, made_params, 1)},
    [RFN_FORM_BARRIER] = {FORM(BARRIER, TOGETHER, comm_params, 0)},
    [RFN_FORM_BCAST] = {FORM(ONE_TO_ALL, TOGETHER, bcast_params, 0)},
    [RFN_FORM_REDUCE] = {FORM(ALL_TO_ONE, TOGETHER, reduce_params, 0)},
    [RFN_FORM_ALLREDUCE] = {FORM(ALL_TO_ALL, TOGETHER, allreduce_params, 0)},
    [RFN_FORM_SCAN] = {FORM(SCAN, TOGETHER, allreduce_params, 0)},
    [RFN_FORM_REDUCE_SCATTER] = {FORM(ALL_TO_ALL, TOGETHER, reduce_scatter_params, 0)},
    [RFN_FORM_REDUCE_SCATTER_BLOCK] = {FORM(ALL_TO_ALL, TOGETHER, reduce_scatter_block_params, 0)},
    [RFN_FORM_GATHER] = {FORM(ALL_TO_ONE, TOGETHER, gather_params, 0)},
    [RFN_FORM_GATHERV] = {FORM(ALL_TO_ONE, TOGETHER, gatherv_params, 0)},
    [RFN_FORM_SCATTER] = {FORM(ONE_TO_ALL, TOGETHER, gather_params, 0)},
    [RFN_FORM_SCATTERV] = {FORM(ONE_TO_ALL, TOGETHER, scatterv_params, 0)},
    [RFN_FORM_ALLGATHER] = {FORM(ALL_TO_ALL, TOGETHER, allgather_params, 0)},
    [RFN_FORM_ALLGATHERV] = {FORM(ALL_TO_ALL, TOGETHER, allgatherv_params, 0)},
    [RFN_FORM_ALLTOALL] = {FORM(ALL_TO_ALL, TOGETHER, allgather_params, 0)},
    [RFN_FORM_ALLTOALLV] = {FORM(ALL_TO_ALL, TOGETHER, alltoallv_params, 0)},
    [RFN_FORM_ALLTOALLW] = {FORM(ALL_TO_ALL, TOGETHER, alltoallw_params, 0)},
    [RFN_FORM_WIN_CREATE] = {FORM(RMA_SYNC, TOGETHER, win_create_params, 1)},
    [RFN_FORM_WIN] = {FORM(RMA_SYNC, 0, win_params, 0)},
    [RFN_FORM_WIN_RANK] = {FORM(RMA_SYNC, 0, win_rank_params, 0)},
    [RFN_FORM_WIN_LOCK] = {FORM(RMA_SYNC, 0, win_lock_params, 0)},
    [RFN_FORM_PUT] = {FORM(RMA, 0, put_params, 0)},
    [RFN_FORM_REGION] = {FORM(REGION, 0, region_params, 0)},
};

/* ---- names ---- */

static const struct {
    const char *name; /* without MPI_ */
    enum rfn_form form;
} names[] = {{"Send", RFN_FORM_SEND},
             {"Bsend", RFN_FORM_SEND},
             {"Rsend", RFN_FORM_SEND},
             {"Ssend", RFN_FORM_SEND},
             {"Recv", RFN_FORM_RECV},
             {"Sendrecv", RFN_FORM_SENDRECV},
             {"Sendrecv_replace", RFN_FORM_REPLACE},
             {"Wait", RFN_FORM_WAIT},
             {"Waitall", RFN_FORM_WAITALL},
             {"Waitany", RFN_FORM_WAITANY},
             {"Waitsome", RFN_FORM_WAITSOME},
             {"Test", RFN_FORM_TEST},
             {"Testall", RFN_FORM_TESTALL},
             {"Testany", RFN_FORM_TESTANY},
             {"Testsome", RFN_FORM_TESTSOME},
             {"Barrier", RFN_FORM_BARRIER},
             {"Bcast", RFN_FORM_BCAST},
             {"Reduce", RFN_FORM_REDUCE},
             {"Allreduce", RFN_FORM_ALLREDUCE},
             {"Scan", RFN_FORM_SCAN},
             {"Exscan", RFN_FORM_SCAN},
             {"Reduce_scatter", RFN_FORM_REDUCE_SCATTER},
             {"Reduce_scatter_block", RFN_FORM_REDUCE_SCATTER_BLOCK},
             {"Gather", RFN_FORM_GATHER},
             {"Gatherv", RFN_FORM_GATHERV},
             {"Scatter", RFN_FORM_SCATTER},
             {"Scatterv", RFN_FORM_SCATTERV},
             {"Allgather", RFN_FORM_ALLGATHER},
             {"Allgatherv", RFN_FORM_ALLGATHERV},
             {"Alltoall", RFN_FORM_ALLTOALL},
             {"Alltoallv", RFN_FORM_ALLTOALLV},
             {"Alltoallw", RFN_FORM_ALLTOALLW},
             {"Win_create", RFN_FORM_WIN_CREATE},
             {"Win_create_dynamic", RFN_FORM_WIN_CREATE},
             {"Win_allocate", RFN_FORM_WIN_CREATE},
             {"Win_allocate_shared", RFN_FORM_WIN_CREATE},
             {"Win_fence", RFN_FORM_WIN},
             {"Win_free", RFN_FORM_WIN},
             {"Win_post", RFN_FORM_WIN},
             {"Win_start", RFN_FORM_WIN},
             {"Win_complete", RFN_FORM_WIN},
             {"Win_wait", RFN_FORM_WIN},
             {"Win_test", RFN_FORM_WIN},
             {"Win_lock_all", RFN_FORM_WIN},
             {"Win_unlock_all", RFN_FORM_WIN},
             {"Win_flush_all", RFN_FORM_WIN},
             {"Win_flush_local_all", RFN_FORM_WIN},
             {"Win_sync", RFN_FORM_WIN},
             {"Win_lock", RFN_FORM_WIN_LOCK},
             {"Win_unlock", RFN_FORM_WIN_RANK},
             {"Win_flush", RFN_FORM_WIN_RANK},
             {"Win_flush_local", RFN_FORM_WIN_RANK},
             {"Put", RFN_FORM_PUT},
             {"Get", RFN_FORM_PUT},
             {"Accumulate", RFN_FORM_PUT},
             {"Get_accumulate", RFN_FORM_PUT},
             {"Fetch_and_op", RFN_FORM_PUT},
             {"Compare_and_swap", RFN_FORM_PUT}};

bool rfn_mpi_name(const char *as, char name[RFN_MPI_NAME])
{
    if (strncasecmp(as, "mpi_", 4) != 0 || !isalpha((unsigned char)as[4]))
        return false;
    size_t n = 4 +
               strspn(as + 4, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    while (n > 5 && as[n - 1] == '_')
        n--;
    if (n >= RFN_MPI_NAME)
        return false;
    memcpy(name, "MPI_", 4);
    name[4] = (char)toupper((unsigned char)as[4]);
    for (size_t i = 5; i < n; i++)
        name[i] = (char)tolower((unsigned char)as[i]);
    name[n] = '\0';
    return true;
}

static enum rfn_form form_of(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i].name) == 0)
            return names[i].form;
    }
    return RFN_FORM_PLAIN;
}

/* MPI_Isend is the nonblocking MPI_Send, MPI_Rput the MPI_Put that makes a request. */
static struct rfn_mpi_kind with_request(const char *name)
{
    char base[RFN_MPI_NAME];
    snprintf(base, sizeof base, "%s", name + 1);
    base[0] = (char)toupper((unsigned char)base[0]);
    const enum rfn_form form = form_of(base);
    if (name[0] == 'R' ? form == RFN_FORM_PUT
                       : form == RFN_FORM_SEND || rfn_form_is_collective(form))
        return (struct rfn_mpi_kind){form, true};
    if (name[0] == 'I' && form == RFN_FORM_RECV)
        return (struct rfn_mpi_kind){RFN_FORM_IRECV, true};
    return (struct rfn_mpi_kind){RFN_FORM_PLAIN, false};
}

struct rfn_mpi_kind rfn_mpi_kind(const char *name)
{
    char base[RFN_MPI_NAME];
    snprintf(base, sizeof base, "%s", name + 4);
    const size_t n = strlen(base);
    if (n > 2 && strcmp(base + n - 2, "_c") == 0) /* the same with large counts */
        base[n - 2] = '\0';
    const enum rfn_form form = form_of(base);
    if (form == RFN_FORM_PLAIN && (base[0] == 'I' || base[0] == 'R'))
        return with_request(base);
    return (struct rfn_mpi_kind){form, false};
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Of calls of which nothing else is known. */
static uint8_t class_by_name(const char *name)
{
    if (begins(name, "MPI_Init_thread") || strcmp(name, "MPI_Init") == 0 ||
        strcmp(name, "MPI_Finalize") == 0 || begins(name, "MPI_Session_"))
        return RFN_CLASS_SETUP;
    if (begins(name, "MPI_File_"))
        return RFN_CLASS_FILE;
    if (begins(name, "MPI_Win_"))
        return RFN_CLASS_RMA_SYNC;
    return RFN_CLASS_OTHER;
}

struct rfn_function_info rfn_form_function(const char *name, enum rfn_form form, bool nonblocking)
{
    const struct form *of = &forms[form];
    struct rfn_function_info function = {.name = name,
                                         .class_ = of->class_,
                                         .flags = of->flags,
                                         .n_in = of->n_in,
                                         .n_out = of->n_out,
                                         .params = of->params};
    if (form == RFN_FORM_PLAIN)
        function.class_ = class_by_name(name);
    if (form == RFN_FORM_PLAIN && function.class_ == RFN_CLASS_SETUP)
        function.flags = RFN_FUNCTION_COLLECTIVE;
    if (form == RFN_FORM_SEND &&
        (strcmp(name, "MPI_Ssend") == 0 || strcmp(name, "MPI_Issend") == 0))
        function.class_ = RFN_CLASS_SSEND;
    if (form == RFN_FORM_WIN &&
        (strcmp(name, "MPI_Win_fence") == 0 || strcmp(name, "MPI_Win_free") == 0))
        function.flags = RFN_FUNCTION_COLLECTIVE;
    if (nonblocking)
        function.flags |= RFN_FUNCTION_NONBLOCKING;
    return function;
}
