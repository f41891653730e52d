/* volume.c - bytes of a call from its counts and datatypes (refrain/volume.h has the rules).
 *
 * Per function of the archive it is found out once what operation it is (its name without MPI_,
 * the I of nonblocking calls and the suffixes _init and _c) and at which place each parameter
 * stands (by its name in the standard). An event then costs a few multiplications.
 */
#include "refrain/volume.h"

#include "analyze/places.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ROLES(X) X(comm) RFN_VOLUME_INPUTS(X)

enum role {
#define X(name) ROLE_##name,
    ROLES(X)
#undef X
        N_ROLES
};

static const char *const role_names[] = {
#define X(name) #name,
    ROLES(X)
#undef X
};

enum operation {
    OP_NONE,
    OP_SEND,
    OP_RECV,
    OP_SENDRECV,
    OP_SENDRECV_REPLACE,
    OP_PROBE,
    OP_BCAST,
    OP_GATHER,
    OP_SCATTER,
    OP_ALLGATHER,
    OP_ALLTOALL,
    OP_REDUCE,
    OP_ALLREDUCE,
    OP_REDUCE_SCATTER,
    OP_SCAN,
    OP_EXSCAN,
    OP_NEIGHBOR,
    OP_PUT,
    OP_GET,
    OP_GET_ACCUMULATE,
    OP_READ,
    OP_WRITE
};

/* Operations that their names tell; the class tells the others. */
static const struct {
    const char *name;
    enum operation operation;
} operation_names[] = {
    {"sendrecv_replace", OP_SENDRECV_REPLACE},
    {"bcast", OP_BCAST},
    {"gather", OP_GATHER},
    {"gatherv", OP_GATHER},
    {"scatter", OP_SCATTER},
    {"scatterv", OP_SCATTER},
    {"allgather", OP_ALLGATHER},
    {"allgatherv", OP_ALLGATHER},
    {"alltoall", OP_ALLTOALL},
    {"alltoallv", OP_ALLTOALL},
    {"alltoallw", OP_ALLTOALL},
    {"reduce", OP_REDUCE},
    {"allreduce", OP_ALLREDUCE},
    {"reduce_scatter", OP_REDUCE_SCATTER},
    {"reduce_scatter_block", OP_REDUCE_SCATTER},
    {"scan", OP_SCAN},
    {"exscan", OP_EXSCAN},
    {"put", OP_PUT},
    {"rput", OP_PUT},
    {"accumulate", OP_PUT},
    {"raccumulate", OP_PUT},
    {"get", OP_GET},
    {"rget", OP_GET},
    {"get_accumulate", OP_GET_ACCUMULATE},
    {"rget_accumulate", OP_GET_ACCUMULATE},
    {"fetch_and_op", OP_GET_ACCUMULATE},
    {"compare_and_swap", OP_GET_ACCUMULATE},
};

struct layout {
    enum operation operation;
    int8_t in[N_ROLES];        /* place of the input, -1 */
    int8_t source, tag, bytes; /* places of outcomes, -1 */
};

struct rfn_volumes {
    const struct rfn_archive *archive;
    uint32_t n;
    struct layout *layouts;
};

/* ---- once per function ---- */

static bool ends_in(const char *text, size_t length, const char *suffix)
{
    size_t n = strlen(suffix);
    return length > n && memcmp(text + length - n, suffix, n) == 0;
}

/* The function's name in lower case without what does not change its volume (MPIX_: Open MPI's
 * persistent collectives before they came into the standard). */
static void plain_name(const struct rfn_function_info *function, char *name, size_t size)
{
    const char *from = function->name;
    if (strncmp(from, "MPI_", 4) == 0)
        from += 4;
    else if (strncmp(from, "MPIX_", 5) == 0)
        from += 5;
    size_t length = strlen(from);
    if (length >= size)
        length = size - 1;
    for (size_t i = 0; i < length; i++)
        name[i] = (char)tolower((unsigned char)from[i]);
    if (ends_in(name, length, "_c"))
        length -= 2;
    if (ends_in(name, length, "_init"))
        length -= 5;
    name[length] = '\0';
    bool rma = function->class_ == RFN_CLASS_RMA;
    if ((function->flags & RFN_FUNCTION_NONBLOCKING) && name[0] == 'i' && !rma)
        memmove(name, name + 1, length);
}

static enum operation file_operation(const char *name)
{
    if (strncmp(name, "file_", 5) != 0)
        return OP_NONE;
    if (strstr(name, "_end"))
        return OP_NONE; /* the call that began has the counts */
    if (strstr(name, "read"))
        return OP_READ;
    return strstr(name, "write") ? OP_WRITE : OP_NONE;
}

static enum operation operation_of(const struct rfn_function_info *function)
{
    char name[64];
    plain_name(function, name, sizeof name);
    for (size_t i = 0; i < sizeof operation_names / sizeof *operation_names; i++) {
        if (strcmp(operation_names[i].name, name) == 0)
            return operation_names[i].operation;
    }
    switch (function->class_) {
    case RFN_CLASS_SEND:
    case RFN_CLASS_SSEND:
        return OP_SEND;
    case RFN_CLASS_RECV:
        return OP_RECV;
    case RFN_CLASS_SENDRECV:
        return OP_SENDRECV;
    case RFN_CLASS_PROBE:
        return OP_PROBE;
    case RFN_CLASS_NEIGHBOR:
        return OP_NEIGHBOR;
    case RFN_CLASS_FILE:
        return file_operation(name);
    default:
        return OP_NONE;
    }
}

static int8_t find_comm(const struct rfn_function_info *function)
{
    for (int i = function->n_in - 1; i >= 0; i--) {
        if (function->params[i].kind == RFN_KIND_COMM)
            return (int8_t)i;
    }
    return -1;
}

static void layout_init(struct layout *layout, const struct rfn_function_info *function)
{
    layout->operation = operation_of(function);
    for (int role = 0; role < N_ROLES; role++)
        layout->in[role] = rfn_input_named(function, role_names[role]);
    layout->in[ROLE_comm] = find_comm(function);
    layout->source = rfn_outcome_of_kind(function, RFN_KIND_RANK);
    layout->tag = rfn_outcome_of_kind(function, RFN_KIND_TAG);
    layout->bytes = rfn_outcome_of_kind(function, RFN_KIND_BYTES);
}

struct rfn_volumes *rfn_volumes_new(const struct rfn_archive *archive)
{
    struct rfn_volumes *volumes = calloc(1, sizeof *volumes);
    if (!volumes)
        return NULL;
    volumes->archive = archive;
    volumes->n = rfn_archive_functions(archive);
    volumes->layouts = calloc((size_t)volumes->n + 1, sizeof *volumes->layouts);
    if (!volumes->layouts) {
        free(volumes);
        return NULL;
    }
    for (uint32_t i = 0; i < volumes->n; i++)
        layout_init(&volumes->layouts[i], rfn_archive_function(archive, i));
    return volumes;
}

void rfn_volumes_free(struct rfn_volumes *volumes)
{
    if (!volumes)
        return;
    free(volumes->layouts);
    free(volumes);
}

/* ---- once per event ---- */

/* What the rules look at. */
struct call {
    const struct rfn_volumes *volumes;
    const struct layout *layout;
    const struct rfn_cursor *cursor;
    const struct rfn_record *record;
    uint32_t rank;
};

static bool has(const struct call *call, enum role role)
{
    return call->layout->in[role] >= 0;
}

static int64_t word(const struct call *call, enum role role, int64_t otherwise)
{
    int at = call->layout->in[role];
    return at < 0 ? otherwise : call->record->in[at];
}

/* Counts and sizes come from a file: a product that does not fit is the largest number. */
static int64_t times(int64_t a, int64_t b)
{
    if (a <= 0 || b <= 0)
        return 0;
    return a > INT64_MAX / b ? INT64_MAX : a * b;
}

static int64_t plus(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static int64_t type_size(const struct call *call, int64_t type)
{
    if (type < 0 || type >= rfn_archive_datatypes(call->volumes->archive))
        return 0;
    return rfn_archive_datatype(call->volumes->archive, (uint32_t)type)->size;
}

static const struct rfn_comm_info *comm_info(const struct call *call)
{
    int64_t comm = word(call, ROLE_comm, -1);
    if (comm < 0 || comm >= rfn_archive_comms(call->volumes->archive))
        return NULL;
    return rfn_archive_comm(call->volumes->archive, (uint32_t)comm);
}

/* How many ranks the call communicates with: of an inter-communicator those of the other group. */
static int64_t partners(const struct call *call)
{
    if (!comm_info(call))
        return 0;
    return rfn_comm_peers(call->volumes->archive, (uint32_t)word(call, ROLE_comm, -1), call->rank);
}

/* How many are in the caller's own group. */
static int64_t local_size(const struct call *call)
{
    const struct rfn_comm_info *comm = comm_info(call);
    if (!comm)
        return 0;
    return comm->kind == RFN_COMM_INTER ? (int64_t)comm->size + comm->remote_size - partners(call)
                                        : comm->size;
}

static int64_t own_rank(const struct call *call)
{
    int64_t comm = word(call, ROLE_comm, -1);
    return comm < 0 ? -1 : rfn_comm_rank_of(call->volumes->archive, (uint32_t)comm, call->rank);
}

static bool is_root(const struct call *call)
{
    const struct rfn_comm_info *comm = comm_info(call);
    int64_t root = word(call, ROLE_root, RFN_PROC_NULL);
    if (root == RFN_ROOT)
        return true;
    if (root < 0 || !comm || comm->kind == RFN_COMM_INTER)
        return false;
    return root == own_rank(call);
}

/* In an inter-communicator the ranks beside the root take no part. */
static bool takes_part(const struct call *call)
{
    return word(call, ROLE_root, 0) != RFN_PROC_NULL;
}

static bool in_place(const struct call *call, enum role buffer)
{
    return has(call, buffer) && word(call, buffer, 0) == RFN_BUFFER_IN_PLACE;
}

/* One side of a call: the places of its count or counts and of its datatype or datatypes. */
struct side {
    enum role count, counts, type, types;
};

static const struct side sending = {ROLE_sendcount, ROLE_sendcounts, ROLE_sendtype, ROLE_sendtypes};
static const struct side receiving = {ROLE_recvcount, ROLE_recvcounts, ROLE_recvtype,
                                      ROLE_recvtypes};

/* Reductions name a single datatype for both sides. */
static int64_t side_type(const struct call *call, const struct side *side)
{
    return has(call, side->type) ? word(call, side->type, -1) : word(call, ROLE_datatype, -1);
}

/* Bytes of part i of a side, whether all parts have one count or each its own. */
static int64_t part_bytes(const struct call *call, const struct side *side, int64_t i)
{
    if (!has(call, side->counts))
        return times(word(call, side->count, 0), type_size(call, side_type(call, side)));
    size_t n = 0, n_types = 0;
    const int64_t *counts = rfn_cursor_list(call->cursor, word(call, side->counts, 0), &n,
                                            RFN_KIND_COUNT);
    if (!counts || i < 0 || (uint64_t)i >= n)
        return 0;
    if (!has(call, side->types))
        return times(counts[i], type_size(call, side_type(call, side)));
    const int64_t *types = rfn_cursor_list(call->cursor, word(call, side->types, 0), &n_types,
                                           RFN_KIND_TYPE);
    return types && (uint64_t)i < n_types ? times(counts[i], type_size(call, types[i])) : 0;
}

/* All parts of a side: one per partner, or as many as the list of counts has. */
static int64_t all_bytes(const struct call *call, const struct side *side, int64_t parts)
{
    if (!has(call, side->counts))
        return times(part_bytes(call, side, 0), parts);
    size_t n = 0, n_types = 0;
    const int64_t *types = NULL;
    const int64_t *counts = rfn_cursor_list(call->cursor, word(call, side->counts, 0), &n,
                                            RFN_KIND_COUNT);
    if (has(call, side->types))
        types = rfn_cursor_list(call->cursor, word(call, side->types, 0), &n_types, RFN_KIND_TYPE);
    int64_t size = has(call, side->types) ? 0 : type_size(call, side_type(call, side));
    int64_t sum = 0;
    for (size_t i = 0; counts && i < n; i++)
        sum = plus(sum, times(counts[i], i < n_types ? type_size(call, types[i]) : size));
    return sum;
}

static int64_t plain_bytes(const struct call *call)
{
    int64_t bytes = times(word(call, ROLE_count, 0),
                          type_size(call, word(call, ROLE_datatype, -1)));
    return has(call, ROLE_partitions) ? times(bytes, word(call, ROLE_partitions, 1)) : bytes;
}

/* ---- rules ---- */

static void send_to(const struct call *call, struct rfn_volume *volume, int64_t bytes)
{
    volume->dest = word(call, ROLE_dest, RFN_UNKNOWN);
    volume->sent_bytes = volume->dest == RFN_PROC_NULL ? 0 : bytes;
    if (volume->dest >= 0 && comm_info(call))
        volume->dest_world = rfn_comm_peer(call->volumes->archive, (uint32_t)volume->comm,
                                           call->rank, volume->dest);
}

static int64_t outcome(const struct call *call, int at, int64_t posted)
{
    if (at < 0 || call->record->failed_poll || call->record->out[at] == RFN_AS_POSTED)
        return posted;
    return call->record->out[at];
}

static void receive_from(const struct call *call, struct rfn_volume *volume, int64_t bytes)
{
    const struct layout *layout = call->layout;
    volume->source = outcome(call, layout->source, word(call, ROLE_source, RFN_UNKNOWN));
    enum role tag = has(call, ROLE_recvtag) ? ROLE_recvtag : ROLE_tag;
    volume->tag = outcome(call, layout->tag, word(call, tag, RFN_UNKNOWN));
    int64_t received = outcome(call, layout->bytes, volume->source == RFN_PROC_NULL ? 0 : bytes);
    volume->received_bytes = received < 0 ? -1 : received;
}

static void gather(const struct call *call, struct rfn_volume *volume, bool to_all)
{
    bool root = to_all || is_root(call);
    bool placed = in_place(call, ROLE_sendbuf);
    bool inter = word(call, ROLE_root, 0) == RFN_ROOT; /* such a root sends nothing */
    if (!takes_part(call))
        return;
    if (!inter)
        volume->sent_bytes = placed ? part_bytes(call, &receiving, own_rank(call))
                                    : part_bytes(call, &sending, 0);
    if (root)
        volume->received_bytes = all_bytes(call, &receiving, partners(call));
}

static void scatter(const struct call *call, struct rfn_volume *volume)
{
    if (!takes_part(call))
        return;
    if (is_root(call))
        volume->sent_bytes = all_bytes(call, &sending, partners(call));
    if (word(call, ROLE_root, 0) != RFN_ROOT)
        volume->received_bytes = in_place(call, ROLE_recvbuf)
                                     ? part_bytes(call, &sending, own_rank(call))
                                     : part_bytes(call, &receiving, 0);
}

static void all_to_all(const struct call *call, struct rfn_volume *volume, int64_t parts)
{
    volume->received_bytes = all_bytes(call, &receiving, parts);
    volume->sent_bytes = in_place(call, ROLE_sendbuf) ? volume->received_bytes
                                                      : all_bytes(call, &sending, parts);
}

static void reduce(const struct call *call, struct rfn_volume *volume, enum operation operation)
{
    int64_t bytes = plain_bytes(call);
    if (!takes_part(call))
        return;
    if (word(call, ROLE_root, 0) != RFN_ROOT)
        volume->sent_bytes = bytes;
    if (operation != OP_REDUCE || is_root(call))
        volume->received_bytes = bytes;
    if (operation == OP_EXSCAN && own_rank(call) == 0)
        volume->received_bytes = 0;
}

static void bcast(const struct call *call, struct rfn_volume *volume)
{
    if (!takes_part(call))
        return;
    if (is_root(call))
        volume->sent_bytes = plain_bytes(call);
    else
        volume->received_bytes = plain_bytes(call);
}

static void one_sided(const struct call *call, struct rfn_volume *volume)
{
    enum operation operation = call->layout->operation;
    int64_t origin = has(call, ROLE_origin_count)
                         ? times(word(call, ROLE_origin_count, 0),
                                 type_size(call, word(call, ROLE_origin_datatype, -1)))
                         : type_size(call,
                                     word(call, ROLE_datatype, -1)); /* Fetch_and_op: one element */
    if (word(call, ROLE_target_rank, 0) == RFN_PROC_NULL)
        origin = 0;
    if (operation != OP_GET)
        volume->sent_bytes = origin;
    if (operation == OP_GET)
        volume->received_bytes = origin;
    if (operation == OP_GET_ACCUMULATE)
        volume->received_bytes = has(call, ROLE_result_count) && origin
                                     ? times(word(call, ROLE_result_count, 0),
                                             type_size(call, word(call, ROLE_result_datatype, -1)))
                                     : origin;
}

/* File access: what was really moved where it is known, else what was asked for. */
static int64_t moved_bytes(const struct call *call)
{
    int64_t asked = plain_bytes(call);
    int64_t moved = outcome(call, call->layout->bytes, asked);
    return moved < 0 ? asked : moved;
}

static void apply(const struct call *call, struct rfn_volume *volume)
{
    switch (call->layout->operation) {
    case OP_NONE:
        break;
    case OP_SEND:
        send_to(call, volume, plain_bytes(call));
        break;
    case OP_RECV:
        receive_from(call, volume, plain_bytes(call));
        break;
    case OP_PROBE:
        receive_from(call, volume, -1);
        break;
    case OP_SENDRECV:
        send_to(call, volume, part_bytes(call, &sending, 0));
        receive_from(call, volume, part_bytes(call, &receiving, 0));
        break;
    case OP_SENDRECV_REPLACE:
        send_to(call, volume, plain_bytes(call));
        receive_from(call, volume, plain_bytes(call));
        break;
    case OP_BCAST:
        bcast(call, volume);
        break;
    case OP_GATHER:
    case OP_ALLGATHER:
        gather(call, volume, call->layout->operation == OP_ALLGATHER);
        break;
    case OP_SCATTER:
        scatter(call, volume);
        break;
    case OP_ALLTOALL:
        all_to_all(call, volume, partners(call));
        break;
    case OP_NEIGHBOR:
        all_to_all(call, volume, 1);
        break;
    case OP_REDUCE:
    case OP_ALLREDUCE:
    case OP_SCAN:
    case OP_EXSCAN:
        reduce(call, volume, call->layout->operation);
        break;
    case OP_REDUCE_SCATTER:
        volume->sent_bytes = all_bytes(call, &receiving, local_size(call));
        volume->received_bytes = part_bytes(call, &receiving, own_rank(call));
        break;
    case OP_PUT:
    case OP_GET:
    case OP_GET_ACCUMULATE:
        one_sided(call, volume);
        break;
    case OP_READ:
        volume->received_bytes = moved_bytes(call);
        break;
    case OP_WRITE:
        volume->sent_bytes = moved_bytes(call);
        break;
    }
}

struct rfn_volume rfn_volume_of(const struct rfn_volumes *volumes, const struct rfn_cursor *cursor,
                                uint32_t rank, const struct rfn_record *record)
{
    struct rfn_volume volume = {-1, -1, RFN_UNKNOWN, -1, RFN_UNKNOWN, RFN_UNKNOWN, -1};
    if (record->function >= volumes->n)
        return volume;
    struct call call = {volumes, &volumes->layouts[record->function], cursor, record, rank};
    volume.comm = word(&call, ROLE_comm, -1);
    if (volume.comm >= rfn_archive_comms(volumes->archive))
        volume.comm = -1;
    apply(&call, &volume);
    return volume;
}

int64_t rfn_volume_bytes(const struct rfn_volumes *volumes, uint32_t function,
                         const struct rfn_volume *volume)
{
    enum operation operation = volumes->layouts[function].operation;
    bool exchange = operation == OP_SENDRECV || operation == OP_SENDRECV_REPLACE;
    if (volume->sent_bytes >= 0 && !exchange)
        return volume->sent_bytes;
    return volume->received_bytes;
}

struct rfn_posted rfn_volume_posted(const struct rfn_volumes *volumes, uint32_t function)
{
    const struct layout *layout = &volumes->layouts[function];
    switch (layout->operation) {
    case OP_RECV:
    case OP_PROBE:
    case OP_SENDRECV:
    case OP_SENDRECV_REPLACE:
        return (struct rfn_posted){layout->in[ROLE_source], layout->in[ROLE_recvtag] >= 0
                                                                ? layout->in[ROLE_recvtag]
                                                                : layout->in[ROLE_tag]};
    default:
        return (struct rfn_posted){-1, -1};
    }
}
