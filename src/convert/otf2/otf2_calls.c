/* What happened in a call becomes its event: one if that fits the call's name or a call at all,
 * else one for each thing that happened, which share the call's time. */
#include "base/grow.h"
#include "convert/otf2/otf2_operations.h"
#include "convert/otf2/otf2_thread.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_HANDLE (-1)

static const char *const happening_names[OTF2_HAPPENINGS] = {
    [OTF2_SENDS] = "MPI_Send",        [OTF2_ISENDS] = "MPI_Isend",
    [OTF2_RECEIVES] = "MPI_Recv",     [OTF2_IRECEIVES] = "MPI_Irecv",
    [OTF2_COMPLETES] = "MPI_Waitall", [OTF2_CANCELLED] = "MPI_Waitall",
    [OTF2_TESTS] = "MPI_Waitall",     [OTF2_ICOLLECTIVE] = "MPI_Ibarrier"};

/* The name of the function that does what a collective operation does; NULL: none does. */
static const char *name_of(OTF2_CollectiveOp operation, bool nonblocking, char name[RFN_MPI_NAME])
{
    const enum rfn_operation function = rfn_otf2_function_of(operation);
    if (function == RFN_MPI_OTHER)
        return NULL;
    snprintf(name, RFN_MPI_NAME, "MPI_%s%s", nonblocking ? "I" : "", rfn_operation_name(function));
    if (nonblocking)
        name[5] = (char)tolower((unsigned char)name[5]);
    return name;
}

/* ---- functions ---- */

static int64_t define(const struct otf2_thread *thread, const char *name, enum rfn_form form,
                      bool nonblocking, int32_t *known)
{
    if (!*known) {
        const struct rfn_function_info function = rfn_form_function(name, form, nonblocking);
        const int64_t number = rfn_writer_function(thread->reading->writer, &function);
        RFN_TRY((int)(number < 0 ? number : 0));
        *known = (int32_t)number + 1;
    }
    return *known - 1;
}

/* The function of the call's own name. */
static int64_t function_of(const struct otf2_thread *thread, const struct otf2_region *region,
                           enum rfn_form form, bool nonblocking)
{
    return define(thread, region->name, form, nonblocking,
                  &((struct otf2_region *)region)->functions[form][nonblocking]);
}

/* The function that does what has happened. */
static int64_t function_for(const struct otf2_thread *thread, const struct otf2_happening *what,
                            enum rfn_form form, bool nonblocking)
{
    struct otf2_reading *reading = thread->reading;
    char room[RFN_MPI_NAME];
    const bool collective = rfn_form_is_collective(form);
    const char *name = collective                  ? name_of(what->operation, nonblocking, room)
                       : form == RFN_FORM_SENDRECV ? "MPI_Sendrecv"
                                                   : happening_names[what->kind];
    return define(thread, name ? name : "MPI_Other", form, nonblocking,
                  collective ? &reading->by_operation[nonblocking][what->operation]
                             : &reading->own[form][nonblocking]);
}

static enum rfn_form form_of_operation(OTF2_CollectiveOp operation)
{
    char room[RFN_MPI_NAME];
    const char *name = name_of(operation, false, room);
    return name ? rfn_mpi_kind(name).form : RFN_FORM_PLAIN;
}

/* ---- words ---- */

static int64_t comm_of(struct otf2_thread *thread, struct otf2_comm *comm)
{
    const int64_t number = comm ? rfn_otf2_comm(thread->reading, comm) : NO_HANDLE;
    if (comm && number < 0)
        thread->error = (int)number;
    return number;
}

/* A rank of the communicator that a message names. */
static int64_t peer_of(struct otf2_thread *thread, const struct otf2_happening *what)
{
    const int64_t rank = what->comm ? rfn_otf2_comm_rank(thread, what->comm, what->peer) : -1;
    if (rank < 0)
        thread->error = rfn_otf2_contradicts(
            thread, "a message names a rank that its communicator does not have");
    return rank;
}

static int64_t bytes_of(uint64_t bytes)
{
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

/* buf, count, datatype, peer, tag, comm */
static void message_words(struct otf2_thread *thread, const struct otf2_happening *what,
                          int64_t *in)
{
    in[0] = RFN_BUFFER_PLAIN;
    in[1] = bytes_of(what->bytes);
    in[2] = thread->reading->byte_type;
    in[3] = peer_of(thread, what);
    in[4] = what->tag;
    in[5] = comm_of(thread, what->comm);
}

static void as_posted(int64_t *out)
{
    out[0] = out[1] = out[2] = RFN_AS_POSTED;
}

/* What is missing is a message to, or from, nobody. */
static void sendrecv_words(struct otf2_thread *thread, const struct otf2_happening *sent,
                           const struct otf2_happening *received, struct otf2_waiting *waiting)
{
    int64_t send[6] = {RFN_BUFFER_PLAIN, 0, thread->reading->byte_type, RFN_PROC_NULL, 0, 0};
    int64_t receive[6] = {RFN_BUFFER_PLAIN, 0, thread->reading->byte_type, RFN_PROC_NULL, 0, 0};
    if (sent)
        message_words(thread, sent, send);
    if (received)
        message_words(thread, received, receive);
    memcpy(waiting->in, send, 5 * sizeof *send);
    memcpy(waiting->in + 5, receive, 5 * sizeof *receive);
    waiting->in[10] = sent ? send[5] : receive[5];
    as_posted(waiting->out);
}

/* buf count datatype dest sendtag source recvtag comm */
static void replace_words(struct otf2_thread *thread, const struct otf2_happening *sent,
                          const struct otf2_happening *received, struct otf2_waiting *waiting)
{
    int64_t words[6];
    message_words(thread, received, words);
    message_words(thread, sent, waiting->in);
    waiting->in[5] = words[3];
    waiting->in[6] = words[4];
    waiting->in[7] = words[5];
    as_posted(waiting->out);
}

static int no_memory(const struct otf2_thread *thread)
{
    return rfn_fail(thread->reading->diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

static int64_t list_of(struct otf2_thread *thread, uint8_t kind, const int64_t *words, size_t n)
{
    const int64_t list = rfn_writer_list(thread->reading->writer, (uint32_t)thread->stream, kind,
                                         words, n);
    if (list < 0)
        thread->error = (int)list;
    return list;
}

static bool words_room(struct otf2_thread *thread, size_t n)
{
    if (RFN_GROW(thread->words, thread->words_capacity, n) == 0)
        return true;
    thread->error = no_memory(thread);
    return false;
}

/* ---- collective calls ---- */

/* What a collective call is about, for the words. */
struct part {
    const struct otf2_happening *what;
    int64_t sent, received;
    int64_t n, own; /* ranks of the communicator; the own one */
    bool is_root;
    int64_t root;
    int64_t factor; /* what sizes count once for each rank, as Score-P says them */
    int64_t byte_type, comm;
    bool exclusive; /* a scan */
};

static int64_t root_of(const struct otf2_thread *thread, const struct otf2_happening *what)
{
    if (what->root == (int64_t)OTF2_COLLECTIVE_ROOT_SELF)
        return RFN_ROOT;
    if (what->root == (int64_t)OTF2_COLLECTIVE_ROOT_THIS_GROUP)
        return RFN_PROC_NULL;
    if (what->comm->group->global)
        return rfn_otf2_comm_rank(thread, what->comm, what->root);
    return what->root;
}

static struct part part_of(struct otf2_thread *thread, const struct otf2_happening *what)
{
    struct otf2_comm *comm = what->comm;
    struct part part = {.what = what,
                        .sent = bytes_of(what->bytes),
                        .received = bytes_of(what->received),
                        .own = rfn_otf2_own_rank(thread, comm),
                        .root = root_of(thread, what),
                        .byte_type = thread->reading->byte_type,
                        .comm = comm_of(thread, comm),
                        .exclusive = what->operation == OTF2_COLLECTIVE_OP_EXSCAN};
    const struct otf2_group *partners = comm->remote && !comm->own_remote ? comm->remote
                                                                          : comm->group;
    part.n = comm->group->type == OTF2_GROUP_TYPE_COMM_SELF ? 1 : partners->n;
    part.is_root = part.root == RFN_ROOT || (!comm->remote && part.root == part.own);
    part.factor = thread->reading->network_sizes && part.n ? part.n : 1;
    if (part.own < 0)
        thread->error = rfn_otf2_contradicts(
            thread, "a collective call on a communicator that the rank is not in");
    return part;
}

static int64_t share(int64_t bytes, int64_t parts)
{
    return parts > 0 ? bytes / parts : 0;
}

/* All but the own part of a sum are taken to be alike: OTF2 says the sum. own < 0: the own, too. */
static int64_t counts_of(struct otf2_thread *thread, const struct part *part, int64_t sum,
                         int64_t own)
{
    const size_t n = (size_t)part->n;
    const bool apart = own >= 0 && part->own >= 0 && part->own < part->n;
    const int64_t others = part->n - apart, all = apart ? sum - own : sum;
    int64_t more = others > 0 && all > 0 ? all % others : 0;
    if (!words_room(thread, n))
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const bool is_own = apart && (int64_t)i == part->own;
        thread->words[i] = is_own ? own : share(all > 0 ? all : 0, others) + (more > 0);
        more -= !is_own && more > 0;
    }
    return list_of(thread, RFN_KIND_COUNT, thread->words, n);
}

static int64_t types_of(struct otf2_thread *thread, const struct part *part)
{
    if (!words_room(thread, (size_t)part->n))
        return RFN_E_NOMEM;
    for (int64_t i = 0; i < part->n; i++)
        thread->words[i] = part->byte_type;
    return list_of(thread, RFN_KIND_TYPE, thread->words, (size_t)part->n);
}

/* buffer, count, datatype of a side */
static void side(int64_t *in, bool matters, int64_t buffer, int64_t count, const struct part *part)
{
    in[0] = matters ? buffer : RFN_UNKNOWN;
    in[1] = matters ? count : RFN_UNKNOWN;
    in[2] = matters ? part->byte_type : NO_HANDLE;
}

static void reduction(int64_t *in, const struct part *part, int64_t buffer, int64_t count)
{
    in[0] = buffer;
    in[1] = RFN_BUFFER_PLAIN;
    in[2] = count;
    in[3] = part->byte_type;
    in[4] = NO_HANDLE; /* which operation it is OTF2 does not say */
}

static void reduce_words(const struct part *part, int64_t *in)
{
    const bool placed = part->is_root && part->sent == 0 && part->received > 0;
    reduction(in, part, placed ? RFN_BUFFER_IN_PLACE : RFN_BUFFER_PLAIN,
              placed ? share(part->received, part->factor > 1 ? part->factor - 1 : 1) : part->sent);
    if (!part->is_root)
        in[1] = RFN_UNKNOWN;
    in[5] = part->root;
    in[6] = part->comm;
}

/* In place it is one part less; where that is a multiple of the ranks, too, nobody can tell. */
static void allreduce_words(const struct part *part, int64_t *in)
{
    const bool placed = part->factor > 1 && part->sent % part->factor != 0 &&
                        part->sent % (part->factor - 1) == 0;
    reduction(in, part, placed ? RFN_BUFFER_IN_PLACE : RFN_BUFFER_PLAIN,
              share(part->sent, placed ? part->factor - 1 : part->factor));
    in[5] = part->comm;
}

static void scan_words(const struct part *part, int64_t *in)
{
    int64_t count = part->sent;
    if (part->factor > 1 && !part->exclusive)
        count = share(part->received, part->own + 1);
    else if (part->factor > 1)
        count = part->own > 0 ? share(part->received, part->own) : share(part->sent, part->n - 1);
    reduction(in, part, RFN_BUFFER_PLAIN, count);
    in[5] = part->comm;
}

static void reduce_scatter_words(struct otf2_thread *thread, const struct part *part,
                                 enum rfn_form form, int64_t *in)
{
    const int64_t own = share(part->received, part->factor);
    in[0] = in[1] = RFN_BUFFER_PLAIN;
    in[2] = form == RFN_FORM_REDUCE_SCATTER ? counts_of(thread, part, part->sent, own) : own;
    in[3] = part->byte_type;
    in[4] = NO_HANDLE;
    in[5] = part->comm;
}

/* The root's side has all parts, the leaves' side one. */
static void rooted_words(struct otf2_thread *thread, const struct part *part, int64_t leaf,
                         int64_t all, bool by_rank, int64_t *leaf_side, int64_t *root_side)
{
    const bool placed = part->is_root && leaf == 0 && all > 0 && part->n > 1;
    side(leaf_side, part->root != RFN_ROOT, placed ? RFN_BUFFER_IN_PLACE : RFN_BUFFER_PLAIN, leaf,
         part);
    side(root_side, part->is_root, RFN_BUFFER_PLAIN, share(all, part->n - placed), part);
    if (by_rank)
        root_side[1] = part->is_root ? counts_of(thread, part, all, placed ? 0 : leaf)
                                     : RFN_LIST_ABSENT;
}

static void gather_words(struct otf2_thread *thread, const struct part *part, bool by_rank,
                         int64_t *in)
{
    const int64_t own = share(part->sent, part->factor);
    side(in, true, RFN_BUFFER_PLAIN, own, part);
    side(in + 3, true, RFN_BUFFER_PLAIN, share(part->received, part->n), part);
    if (by_rank)
        in[4] = counts_of(thread, part, part->received, own);
    in[6] = part->comm;
}

static void alltoall_words(struct otf2_thread *thread, const struct part *part, enum rfn_form form,
                           int64_t *in)
{
    side(in, true, RFN_BUFFER_PLAIN, share(part->sent, part->n), part);
    side(in + 3, true, RFN_BUFFER_PLAIN, share(part->received, part->n), part);
    if (form != RFN_FORM_ALLTOALL) {
        in[1] = counts_of(thread, part, part->sent, -1);
        in[4] = counts_of(thread, part, part->received, -1);
    }
    if (form == RFN_FORM_ALLTOALLW)
        in[2] = in[5] = types_of(thread, part);
    in[6] = part->comm;
}

static void bcast_words(const struct part *part, int64_t *in)
{
    in[0] = RFN_BUFFER_PLAIN;
    in[1] = part->received ? part->received : share(part->sent, part->factor);
    in[2] = part->byte_type;
    in[3] = part->root;
    in[4] = part->comm;
}

static void collective_words(struct otf2_thread *thread, const struct otf2_happening *what,
                             enum rfn_form form, int64_t *in)
{
    const struct part part = part_of(thread, what);
    if (thread->error)
        return;
    switch (form) {
    case RFN_FORM_BARRIER:
        in[0] = part.comm;
        break;
    case RFN_FORM_BCAST:
        bcast_words(&part, in);
        break;
    case RFN_FORM_REDUCE:
        reduce_words(&part, in);
        break;
    case RFN_FORM_ALLREDUCE:
        allreduce_words(&part, in);
        break;
    case RFN_FORM_SCAN:
        scan_words(&part, in);
        break;
    case RFN_FORM_REDUCE_SCATTER:
    case RFN_FORM_REDUCE_SCATTER_BLOCK:
        reduce_scatter_words(thread, &part, form, in);
        break;
    case RFN_FORM_GATHER:
    case RFN_FORM_GATHERV:
        rooted_words(thread, &part, part.sent, part.received, form == RFN_FORM_GATHERV, in, in + 3);
        in[6] = part.root;
        in[7] = part.comm;
        break;
    case RFN_FORM_SCATTER:
    case RFN_FORM_SCATTERV:
        rooted_words(thread, &part, part.received, part.sent, form == RFN_FORM_SCATTERV, in + 3,
                     in);
        in[6] = part.root;
        in[7] = part.comm;
        break;
    case RFN_FORM_ALLGATHER:
    case RFN_FORM_ALLGATHERV:
        gather_words(thread, &part, form == RFN_FORM_ALLGATHERV, in);
        break;
    default:
        alltoall_words(thread, &part, form, in);
        break;
    }
}

/* ---- requests ---- */

static void make_request(struct otf2_thread *thread, uint64_t ref, bool waits, bool receives)
{
    struct otf2_request *request = rfn_map_make_object(&thread->requests, ref, sizeof *request);
    if (request)
        *request = (struct otf2_request){thread->made_requests++, thread->next - 1, waits,
                                         receives};
    else
        thread->error = no_memory(thread);
}

static int make_unknown(struct otf2_thread *thread, struct otf2_waiting *waiting)
{
    static const struct otf2_happening receive = {.kind = OTF2_IRECEIVES};
    const int64_t function = waiting->region
                                 ? function_of(thread, waiting->region, RFN_FORM_REQUEST, true)
                                 : function_for(thread, &receive, RFN_FORM_REQUEST, true);
    waiting->record.function = (uint32_t)function;
    waiting->open = false;
    return (int)(function < 0 ? function : 0);
}

int rfn_otf2_give_up(struct otf2_thread *thread, struct otf2_waiting *waiting)
{
    thread->reading->summary->left_out.unresolved++;
    return make_unknown(thread, waiting);
}

static void set_function(struct otf2_thread *thread, struct otf2_waiting *waiting,
                         const struct otf2_happening *what, enum rfn_form form, bool nonblocking)
{
    const int64_t function = waiting->region
                                 ? function_of(thread, waiting->region, form, nonblocking)
                                 : function_for(thread, what, form, nonblocking);
    if (function < 0 && !thread->error)
        thread->error = (int)function;
    waiting->record.function = (uint32_t)function;
}

/* What was asked for was never told: a message from anybody. */
static void anything(struct otf2_thread *thread, int64_t *in)
{
    in[0] = RFN_BUFFER_PLAIN;
    in[1] = 0;
    in[2] = thread->reading->byte_type;
    in[3] = in[4] = RFN_ANY;
    in[5] = thread->reading->world;
}

/* A request completes, and so its event is known. */
static void resolve(struct otf2_thread *thread, struct otf2_waiting *waiting, bool receives,
                    const struct otf2_happening *what)
{
    static const struct otf2_happening receive = {.kind = OTF2_IRECEIVES};
    const enum rfn_form form = form_of_operation(what->operation);
    waiting->open = false;
    if (receives && what->kind == OTF2_CANCELLED) {
        set_function(thread, waiting, &receive, RFN_FORM_IRECV, true);
        anything(thread, waiting->in);
    } else if (receives && what->receives) {
        set_function(thread, waiting, &receive, RFN_FORM_IRECV, true);
        message_words(thread, what, waiting->in);
    } else if (!receives && what->comm && rfn_form_is_collective(form)) {
        set_function(thread, waiting, what, form, true);
        collective_words(thread, what, form, waiting->in);
    } else if (!receives && what->comm && waiting->region &&
               what->operation == OTF2_COLLECTIVE_OP_CREATE_HANDLE) {
        set_function(thread, waiting, what, RFN_FORM_COMM, true);
        waiting->in[0] = comm_of(thread, what->comm);
        waiting->out[0] = NO_HANDLE;
    } else if (!thread->error) {
        thread->error = make_unknown(thread, waiting);
    }
}

/* The word of a request; a completed one is forgotten, and one of another thread is not known. */
static int64_t request_word(struct otf2_thread *thread, const struct otf2_happening *what,
                            bool *known)
{
    struct otf2_request *request = rfn_map_object(&thread->requests, what->request);
    *known = request != NULL;
    if (!request)
        return RFN_UNKNOWN;
    const int64_t word = rfn_request_word(RFN_REQUEST_RECENT,
                                          (int64_t)(thread->made_requests - request->number));
    if (what->kind == OTF2_TESTS)
        return word;
    if (request->waits && request->place >= thread->first)
        resolve(thread, rfn_otf2_waiting(thread, request->place), request->receives, what);
    rfn_map_remove(&thread->requests, what->request);
    free(request);
    return word;
}

/* Puts what deviates into the entry; whether anything does. */
static bool deviates(const struct otf2_happening *what, bool known, size_t position, int64_t *entry)
{
    const bool told = !known && what->kind == OTF2_COMPLETES && what->receives;
    if (what->kind != OTF2_CANCELLED && !told)
        return false;
    entry[0] = (int64_t)position;
    entry[1] = told ? what->peer : RFN_AS_POSTED;
    entry[2] = told ? what->tag : RFN_AS_POSTED;
    entry[3] = told ? bytes_of(what->bytes) : RFN_AS_POSTED;
    entry[4] = 0;
    entry[5] = what->kind == OTF2_CANCELLED ? RFN_COMPLETION_CANCELLED : 0;
    return true;
}

/* What a completion makes of what happened: words of requests, places of those that completed,
 * entries of completions; all in one piece of memory. */
struct completion {
    int64_t *words, *places, *entries;
    size_t n, n_completed, n_entries;
};

static bool complete(struct otf2_thread *thread, const struct otf2_happening *happenings, size_t n,
                     struct completion *made)
{
    *made = (struct completion){
        .words = calloc(n * (2 + RFN_COMPLETION_WORDS) + 1, sizeof(int64_t)), .n = n};
    if (!made->words) {
        thread->error = no_memory(thread);
        return false;
    }
    made->places = made->words + n;
    made->entries = made->places + n;
    for (size_t i = 0; i < n; i++) {
        bool known;
        made->words[i] = request_word(thread, &happenings[i], &known);
        if (happenings[i].kind != OTF2_TESTS)
            made->places[made->n_completed++] = (int64_t)i;
        made->n_entries += deviates(&happenings[i], known, i,
                                    made->entries + made->n_entries * RFN_COMPLETION_WORDS);
    }
    return true;
}

static void completion_words(struct otf2_thread *thread, enum rfn_form form,
                             const struct otf2_happening *happenings, size_t n,
                             struct otf2_waiting *waiting)
{
    struct completion made;
    int64_t *in = waiting->in, *out = waiting->out;
    if (!complete(thread, happenings, n, &made))
        return;
    const int64_t completions = list_of(thread, RFN_KIND_INT, made.entries,
                                        made.n_entries * RFN_COMPLETION_WORDS);
    waiting->record.failed_poll = rfn_form_tests(form) && made.n_completed == 0;
    waiting->record.polls = waiting->record.failed_poll ? thread->polls : 1;
    if (form == RFN_FORM_WAIT || form == RFN_FORM_TEST) {
        in[0] = n ? made.words[0] : RFN_REQUEST_NULL;
        out[0] = completions;
    } else {
        in[0] = (int64_t)n;
        in[1] = list_of(thread, RFN_KIND_REQUEST, made.words, n);
        out[0] = out[1] = completions;
    }
    if (form == RFN_FORM_WAITANY || form == RFN_FORM_TESTANY)
        out[0] = made.n_completed ? made.places[0] : RFN_UNDEFINED;
    else if (form == RFN_FORM_WAITSOME || form == RFN_FORM_TESTSOME)
        out[0] = list_of(thread, RFN_KIND_INT, made.places, made.n_completed);
    free(made.words);
}

/* ---- windows ---- */

/* The handle of a window, the lowest that the process has free. */
static int64_t window_of(struct otf2_thread *thread, uint64_t ref)
{
    const uint64_t *known = rfn_map_get(&thread->windows, ref);
    if (known)
        return (int64_t)*known;
    if (rfn_map_put(&thread->windows, ref, thread->made_windows) < 0)
        thread->error = no_memory(thread);
    return (int64_t)thread->made_windows++;
}

static void window_words(struct otf2_thread *thread, enum rfn_form form,
                         const struct otf2_happening *what, struct otf2_waiting *waiting)
{
    int64_t *in = waiting->in;
    const int64_t window = window_of(thread, what->window);
    switch (form) {
    case RFN_FORM_WIN_CREATE:
        in[0] = comm_of(thread, what->comm);
        waiting->out[0] = window;
        break;
    case RFN_FORM_PUT:
        in[0] = RFN_BUFFER_PLAIN;
        in[1] = bytes_of(what->bytes);
        in[2] = thread->reading->byte_type;
        in[3] = peer_of(thread, what);
        in[4] = window;
        break;
    case RFN_FORM_WIN_LOCK:
        in[0] = what->shared;
        in[1] = peer_of(thread, what);
        in[2] = window;
        break;
    case RFN_FORM_WIN_RANK:
        in[0] = peer_of(thread, what);
        in[1] = window;
        break;
    default:
        in[0] = window;
        break;
    }
}

/* ---- events ---- */

/* What a call is taken for. */
struct reading_of_call {
    enum rfn_form form;
    bool nonblocking, own_name;
};

static void fill(struct otf2_thread *thread, const struct reading_of_call *as,
                 const struct otf2_happening *happenings, size_t n, struct otf2_waiting *waiting)
{
    const struct otf2_happening *first = happenings, *second = n > 1 ? happenings + 1 : NULL;
    if (rfn_form_completes(as->form)) {
        completion_words(thread, as->form, happenings, n, waiting);
    } else if (as->form == RFN_FORM_SEND || as->form == RFN_FORM_RECV) {
        message_words(thread, first, waiting->in);
        as_posted(waiting->out);
        if (as->nonblocking)
            make_request(thread, first->request, false, false);
    } else if (as->form == RFN_FORM_IRECV || as->form == RFN_FORM_REQUEST) {
        waiting->open = true;
        make_request(thread, first->request, true, as->form == RFN_FORM_IRECV);
    } else if (as->form == RFN_FORM_SENDRECV) {
        const bool sends = first->kind == OTF2_SENDS;
        sendrecv_words(thread, sends ? first : second, sends ? second : first, waiting);
    } else if (as->form == RFN_FORM_REPLACE) {
        const bool sends = first->kind == OTF2_SENDS;
        replace_words(thread, sends ? first : second, sends ? second : first, waiting);
    } else if (rfn_form_is_collective(as->form)) {
        collective_words(thread, first, as->form, waiting->in);
    } else if (as->form == RFN_FORM_COMM) {
        waiting->in[0] = comm_of(thread, first->comm);
        waiting->out[0] = comm_of(thread, thread->made);
    } else if (as->form != RFN_FORM_PLAIN) {
        window_words(thread, as->form, first, waiting);
        thread->made_requests += as->nonblocking; /* which OTF2 does not tell of */
    }
}

/* An event. A call's first one has what was computed before it, its last one what is counted in it.
 */
static int put(struct otf2_thread *thread, const struct reading_of_call *as, int64_t enter_ns,
               int64_t exit_ns, bool last, const struct otf2_happening *happenings, size_t n)
{
    struct otf2_waiting *waiting = rfn_otf2_wait(thread, enter_ns, exit_ns, thread->node);
    if (!waiting)
        return thread->error;
    if (!as->own_name)
        waiting->region = NULL;
    set_function(thread, waiting, happenings, as->form, as->nonblocking);
    if (!thread->error)
        fill(thread, as, happenings, n, waiting);
    RFN_TRY(thread->error);
    waiting->record.volume_gap = thread->entered - thread->counted;
    waiting->record.volume_inside = last ? thread->counter - thread->entered : 0;
    thread->counted = last ? thread->counter : thread->entered;
    thread->reading->summary->calls++;
    return rfn_otf2_write_known(thread);
}

/* How many of each kind. */
struct tally {
    size_t of[OTF2_HAPPENINGS], all;
};

static bool only(const struct tally *tally, enum otf2_happening_kind kind, size_t n)
{
    return tally->of[kind] == n && tally->all == n;
}

static bool completes_only(const struct tally *tally)
{
    return tally->of[OTF2_COMPLETES] + tally->of[OTF2_CANCELLED] + tally->of[OTF2_TESTS] ==
           tally->all;
}

/* Names under which readers of archives expect what a message does not have. */
static bool may_keep(const char *name)
{
    static const char *const others[] = {"MPI_Start", "MPI_Request_", "MPI_Cancel", "MPI_Pready"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return false;
    }
    return true;
}

/* Of what happens alone. */
static struct reading_of_call alone(const struct otf2_happening *what)
{
    switch (what->kind) {
    case OTF2_SENDS:
        return (struct reading_of_call){.form = RFN_FORM_SEND};
    case OTF2_ISENDS:
        return (struct reading_of_call){.form = RFN_FORM_SEND, .nonblocking = true};
    case OTF2_RECEIVES:
        return (struct reading_of_call){.form = RFN_FORM_RECV};
    case OTF2_IRECEIVES:
        return (struct reading_of_call){.form = RFN_FORM_IRECV, .nonblocking = true};
    case OTF2_ICOLLECTIVE:
        return (struct reading_of_call){.form = RFN_FORM_REQUEST, .nonblocking = true};
    case OTF2_COLLECTIVE:
        return (struct reading_of_call){.form = what->comm ? form_of_operation(what->operation)
                                                           : RFN_FORM_PLAIN};
    case OTF2_COMPLETES:
    case OTF2_CANCELLED:
        return (struct reading_of_call){.form = RFN_FORM_WAITALL};
    default:
        return (struct reading_of_call){.form = RFN_FORM_PLAIN};
    }
}

/* A collective operation of a region: its name says more than the operation. */
static struct reading_of_call collective(const struct otf2_region *region,
                                         const struct otf2_happening *what)
{
    const enum rfn_form form = form_of_operation(what->operation);
    struct reading_of_call as = {.form = form, .own_name = true};
    const bool handle = what->operation == OTF2_COLLECTIVE_OP_CREATE_HANDLE ||
                        what->operation == OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
    if (!what->comm || region->mpi.nonblocking || strncmp(region->name, "MPI_Init", 8) == 0 ||
        strcmp(region->name, "MPI_Finalize") == 0 || strncmp(region->name, "MPI_File_", 9) == 0)
        as.form = RFN_FORM_PLAIN;
    else if (handle && strncmp(region->name, "MPI_Win_", 8) != 0)
        as.form = RFN_FORM_COMM;
    else if (rfn_form_is_collective(region->mpi.form))
        as.form = region->mpi.form;
    return as;
}

/* What the call as a whole is; false: it has to be taken apart. */
static bool whole(const struct otf2_region *region, const struct otf2_happening *happenings,
                  const struct tally *tally, struct reading_of_call *as)
{
    const enum rfn_form form = region->mpi.form;
    *as = (struct reading_of_call){.form = RFN_FORM_PLAIN, .own_name = true};
    if (rfn_form_completes(form) && completes_only(tally)) {
        const bool one = form == RFN_FORM_WAIT || form == RFN_FORM_TEST;
        as->form = form;
        return !one || tally->all <= 1;
    }
    if (!tally->all)
        return true;
    const size_t sent = tally->of[OTF2_SENDS], received = tally->of[OTF2_RECEIVES];
    const bool both = sent == 1 && received == 1 && tally->all == 2;
    if (both || (form == RFN_FORM_SENDRECV && sent + received == 1 && tally->all == 1)) {
        const bool replaces = both && form == RFN_FORM_REPLACE &&
                              happenings[0].bytes == happenings[1].bytes;
        as->form = replaces ? RFN_FORM_REPLACE : RFN_FORM_SENDRECV;
        as->own_name = replaces || form == RFN_FORM_SENDRECV;
        return true;
    }
    if (only(tally, OTF2_COLLECTIVE, 1)) {
        *as = collective(region, happenings);
        return true;
    }
    if (only(tally, OTF2_ICOLLECTIVE, 1)) {
        *as = (struct reading_of_call){RFN_FORM_REQUEST, true, may_keep(region->name)};
        return true;
    }
    if (tally->all == 1 && happenings->kind <= OTF2_IRECEIVES) {
        *as = alone(happenings);
        as->own_name = may_keep(region->name);
        return true;
    }
    if (tally->of[OTF2_PUTS] + tally->of[OTF2_SYNCHRONIZES] + tally->of[OTF2_COLLECTIVE] ==
        tally->all) {
        if (form >= RFN_FORM_WIN_CREATE && form <= RFN_FORM_PUT) {
            as->form = form;
            as->nonblocking = region->mpi.nonblocking;
        }
        return true;
    }
    return false;
}

/* What stands for a call on a window: the access, or what made the window. */
static size_t of_window(const struct otf2_happening *happenings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (happenings[i].kind == OTF2_PUTS || happenings[i].kind == OTF2_SYNCHRONIZES)
            return i;
    }
    return 0;
}

/* How many of the happenings make one event: completions in a row are one. */
static size_t piece(const struct otf2_happening *happenings, size_t n)
{
    size_t length = 1;
    if (happenings->kind != OTF2_COMPLETES && happenings->kind != OTF2_CANCELLED)
        return 1;
    while (length < n &&
           (happenings[length].kind == OTF2_COMPLETES || happenings[length].kind == OTF2_CANCELLED))
        length++;
    return length;
}

/* Happenings from the last one on that makes an event; 0: none does. */
static size_t until_last(const struct otf2_thread *thread)
{
    size_t n = thread->n_happenings;
    while (n && alone(&thread->happenings[n - 1]).form == RFN_FORM_PLAIN)
        n--;
    return n;
}

static int take_apart(struct otf2_thread *thread, int64_t exit_ns)
{
    static const struct reading_of_call plain = {.own_name = true};
    const size_t n = until_last(thread);
    int64_t ns = thread->enter_ns;
    if (!n && thread->call)
        return put(thread, &plain, ns, exit_ns, true, thread->happenings, thread->n_happenings);
    for (size_t i = 0, length; i < n; i += length) {
        const struct otf2_happening *what = &thread->happenings[i];
        const struct reading_of_call as = alone(what);
        length = piece(what, n - i);
        if (as.form == RFN_FORM_PLAIN)
            continue;
        const bool last = i + length == n;
        const int64_t end = last ? exit_ns : what[length - 1].ns;
        RFN_TRY(put(thread, &as, ns, end > ns ? end : ns, last, what, length));
        ns = end > ns ? end : ns;
    }
    return 0;
}

int rfn_otf2_call(struct otf2_thread *thread, int64_t exit_ns)
{
    struct tally tally = {.all = thread->n_happenings};
    struct reading_of_call as;
    for (size_t i = 0; i < tally.all; i++)
        tally.of[thread->happenings[i].kind]++;
    if (!thread->call || !whole(thread->call, thread->happenings, &tally, &as))
        return take_apart(thread, exit_ns);
    const size_t at = as.form >= RFN_FORM_WIN_CREATE ? of_window(thread->happenings, tally.all) : 0;
    const struct otf2_happening *what = thread->happenings; /* NULL: nothing has happened */
    return put(thread, &as, thread->enter_ns, exit_ns, true, at ? what + at : what, tally.all - at);
}

int rfn_otf2_mark(struct otf2_thread *thread, int64_t ns, const struct otf2_region *region,
                  struct otf2_node *node, bool begins)
{
    struct otf2_region *known = (struct otf2_region *)region;
    struct otf2_waiting *waiting = rfn_otf2_wait(thread, ns, ns, node);
    if (!waiting)
        return thread->error;
    const int64_t function = define(thread, begins ? "refrain_region_begin" : "refrain_region_end",
                                    RFN_FORM_REGION, false,
                                    &thread->reading->own[RFN_FORM_REGION][!begins]);
    if (known->number < 0)
        known->number = rfn_writer_region(thread->reading->writer, region->name);
    if (function < 0 || known->number < 0)
        return (int)(function < 0 ? function : known->number);
    waiting->record.function = (uint32_t)function;
    waiting->in[0] = known->number;
    return rfn_otf2_write_known(thread);
}
