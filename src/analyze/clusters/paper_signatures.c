#include "analyze/clusters/paper_signatures.h"

#include "archive/write/forced_parameters.h"
#include "base/grow.h"
#include "base/map.h"
#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

/* ---- a rank and its communicators ---- */

/* A communicator as a rank knows it. */
struct comm {
    int64_t number;      /* in the order in which its calls name or make them */
    int64_t place, size; /* its own rank; of how many ranks a partner is one */
};

struct rank {
    const struct rfn_archive *archive;
    uint32_t number;
    struct rfn_map comms; /* number in the archive -> struct comm */
    /* Of the event that is looked at: */
    const struct rfn_cursor *cursor;
    const struct rfn_record *record;
    const struct rfn_function_info *function;
    int64_t place,
        size; /* who calls, among how many: of a call without communicator, in the world */
};

/* The communicator with a number of the archive's that is one; NULL: out of memory. */
static struct comm *know(struct rank *rank, int64_t number)
{
    struct comm *comm = rfn_map_object(&rank->comms, (uint64_t)number);
    int64_t known = (int64_t)rank->comms.n;
    if (comm)
        return comm;
    comm = rfn_map_make_object(&rank->comms, (uint64_t)number, sizeof *comm);
    if (comm)
        *comm = (struct comm){known,
                              rfn_comm_rank_of(rank->archive, (uint32_t)number, rank->number),
                              rfn_comm_peers(rank->archive, (uint32_t)number, rank->number)};
    return comm;
}

static bool is_comm(const struct rank *rank, int64_t word)
{
    return word >= 0 && word < rfn_archive_comms(rank->archive);
}

/* Finds who calls. */
static int find_place(struct rank *rank)
{
    rank->place = rank->number;
    rank->size = rfn_archive_run(rank->archive)->ranks;
    for (unsigned i = 0; i < rank->function->n_in; i++) {
        int64_t word = rank->record->in[i];
        if (rank->function->params[i].kind != RFN_KIND_COMM || !is_comm(rank, word))
            continue;
        const struct comm *comm = know(rank, word);
        if (!comm)
            return RFN_E_NOMEM;
        if (comm->place < 0 || comm->size <= 0)
            continue;
        rank->place = comm->place;
        rank->size = comm->size;
    }
    return 0;
}

/* A partner as an offset; special values, and what is no rank, as they are. */
static int64_t relative(const struct rank *rank, int64_t word)
{
    return word < 0 || word >= rank->size ? word : (word - rank->place + rank->size) % rank->size;
}

/* ---- events ---- */

/* Has all calls of a stream taken, each when the rank is at it. Communicators that a call has made
 * are known from then on, whoever uses them first. */
static int take_stream(struct rank *rank, uint32_t stream,
                       int (*take)(struct rank *rank, void *context), void *context,
                       struct rfn_diag *diag)
{
    struct rfn_cursor *cursor;
    int got, error = 0;
    RFN_TRY(rfn_cursor_open(rank->archive, stream, &cursor, diag));
    rank->cursor = cursor;
    while (!error && (got = rfn_cursor_next(cursor, &rank->record, diag)) != 0) {
        if (got < 0) {
            error = got;
            break;
        }
        const struct rfn_function_info *function = rfn_archive_function(rank->archive,
                                                                        rank->record->function);
        if (rank->record->failed_poll || !rfn_class_is_mpi(function->class_))
            continue;
        rank->function = function;
        error = find_place(rank);
        if (!error)
            error = take(rank, context);
        for (unsigned i = 0; i < function->n_out && !error; i++) {
            const int64_t word = rank->record->out[i];
            if (function->params[function->n_in + i].kind == RFN_KIND_COMM && is_comm(rank, word) &&
                !know(rank, word))
                error = RFN_E_NOMEM;
        }
    }
    rfn_cursor_close(cursor);
    return error;
}

/* ---- the reference signature ---- */

/* What there is of the sequence, as a hash; the words of an event come behind it. */
struct reference {
    struct rfn_hash128 before;
    int64_t *words;
    size_t n, capacity;
};

static int add(struct reference *reference, int64_t word)
{
    RFN_TRY(RFN_GROW(reference->words, reference->capacity, reference->n + 1));
    reference->words[reference->n++] = word;
    return 0;
}

/* Of a communicator number, kind and sizes: who is in it is another on each rank. */
static int add_scalar(struct rank *rank, struct reference *reference, uint8_t kind, bool partner,
                      int64_t word)
{
    if (kind != RFN_KIND_COMM || !is_comm(rank, word))
        return add(reference, partner ? relative(rank, word) : word);
    const struct rfn_comm_info *info = rfn_archive_comm(rank->archive, (uint32_t)word);
    const struct comm *comm = know(rank, word);
    if (!comm)
        return RFN_E_NOMEM;
    RFN_TRY(add(reference, comm->number));
    RFN_TRY(add(reference, info->kind));
    RFN_TRY(add(reference, info->size));
    return add(reference, info->remote_size);
}

/* The list's length and words; of what is no list, the word that says so. */
static int add_list(struct rank *rank, struct reference *reference, uint8_t kind, bool partners,
                    int64_t number)
{
    size_t n = 0;
    const int64_t *words = NULL;
    if (number > 0)
        words = rfn_cursor_list(rank->cursor, number, &n, kind);
    RFN_TRY(add(reference, number > 0 ? (int64_t)n : number));
    for (size_t i = 0; i < n; i++)
        RFN_TRY(add_scalar(rank, reference, kind, partners, words[i]));
    return 0;
}

static int add_input(struct rank *rank, struct reference *reference, unsigned input)
{
    uint8_t kind = rank->function->params[input].kind;
    uint8_t element = (uint8_t)(kind & ~RFN_KIND_LIST);
    int64_t word = rank->record->in[input];
    if (kind == RFN_KIND_STRING)
        return add_list(rank, reference, kind, false, word);
    if (kind & RFN_KIND_LIST) /* lists of ranks that make no communicator are the same on all */
        return add_list(rank, reference, element,
                        element == RFN_KIND_RANK && rank->function->class_ == RFN_CLASS_COMM, word);
    return add_scalar(rank, reference, kind,
                      rfn_parameter_role(rank->function, input) == RFN_ROLE_PEER, word);
}

static int take_reference(struct rank *rank, void *context)
{
    struct reference *reference = context;
    reference->n = 0;
    RFN_TRY(add(reference, (int64_t)reference->before.low));
    RFN_TRY(add(reference, (int64_t)reference->before.high));
    RFN_TRY(add(reference, rank->record->function));
    for (unsigned i = 0; i < rank->function->n_in; i++)
        RFN_TRY(add_input(rank, reference, i));
    reference->before = rfn_hash128_bytes(reference->words, reference->n * sizeof(int64_t));
    return 0;
}

int rfn_reference_signature(const struct rfn_archive *archive, uint32_t first, uint32_t end,
                            int64_t words[2], struct rfn_diag *diag)
{
    struct rank rank = {.archive = archive, .number = rfn_archive_stream(archive, first).rank};
    struct reference reference = {{0, 0}, NULL, 0, 0};
    int error = 0;
    for (uint32_t i = first; i < end && !error; i++) {
        /* Streams are told apart by a word that is no event: what one does is not what two do. */
        const uint64_t begin[] = {reference.before.low, reference.before.high,
                                  rfn_archive_stream(archive, i).thread};
        reference.before = rfn_hash128_bytes(begin, sizeof begin);
        error = take_stream(&rank, i, take_reference, &reference, diag);
    }
    words[0] = (int64_t)reference.before.low;
    words[1] = (int64_t)reference.before.high;
    free(reference.words);
    rfn_map_release_objects(&rank.comms, free);
    return error;
}

/* ---- the parameter signature ---- */

enum { AVERAGE_MASK = 0xffff, OTHER = 6 };

/* The first of each are the paper's, which goes on with "etc."; bit OTHER is for any other. */
static const char *const types[OTHER] = {"MPI_CHAR",   "MPI_INTEGER", "MPI_INT",
                                         "MPI_DOUBLE", "MPI_FLOAT",   "MPI_BYTE"};
static const char *const ops[OTHER] = {"MPI_MAX",  "MPI_MIN",  "MPI_SUM",
                                       "MPI_PROD", "MPI_LAND", "MPI_LOR"};

/* Sums are those of 64 bits, wrapping round. */
struct average {
    uint64_t sum, n;
};

struct paper {
    struct average count, dest, source;
    uint64_t bits;
};

static void take_value(struct average *average, int64_t value)
{
    average->sum += (uint64_t)value;
    average->n++;
}

static uint64_t average_of(const struct average *average)
{
    return average->n ? average->sum / average->n & AVERAGE_MASK : 0;
}

static unsigned place_of(const char *const *names, const char *name)
{
    unsigned i = 0;
    while (i < OTHER && strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* Whether the call is about messages, which counts and partners of other calls are not. */
static bool communicates(const struct rfn_function_info *function)
{
    return function->class_ >= RFN_CLASS_SEND && function->class_ <= RFN_CLASS_RMA;
}

/* Predefined operations have numbers below that of the null handle, -1; the program's own from 0.
 * Two bits are not enough for more than MPI_COMM_SELF and MPI_COMM_WORLD. */
static void take_scalar(const struct rank *rank, struct paper *paper, uint8_t kind, int64_t word)
{
    const char *name = NULL;
    switch (kind) {
    case RFN_KIND_COUNT:
        if (word >= 0 && communicates(rank->function))
            take_value(&paper->count, word);
        break;
    case RFN_KIND_TYPE:
        if (word < 0 || word >= rfn_archive_datatypes(rank->archive))
            break;
        name = rfn_archive_datatype(rank->archive, (uint32_t)word)->name;
        paper->bits |= (uint64_t)1 << (RFN_PAPER_TYPES + place_of(types, name));
        break;
    case RFN_KIND_OP:
        if (word == -1)
            break;
        if (word < 0 && word >= -256)
            name = rfn_kind_predefined(RFN_KIND_OP, (unsigned)(-1 - word));
        paper->bits |= (uint64_t)1 << (RFN_PAPER_OPS + (name ? place_of(ops, name) : OTHER));
        break;
    case RFN_KIND_COMM:
        if (!is_comm(rank, word))
            break;
        if (rfn_archive_comm(rank->archive, (uint32_t)word)->kind == RFN_COMM_SELF)
            paper->bits |= (uint64_t)1 << RFN_PAPER_COMMS;
        if (rfn_archive_comm(rank->archive, (uint32_t)word)->kind == RFN_COMM_WORLD)
            paper->bits |= (uint64_t)2 << RFN_PAPER_COMMS;
        break;
    default:
        break;
    }
}

static int take_paper(struct rank *rank, void *context)
{
    const struct rfn_function_info *function = rank->function;
    struct paper *paper = context;
    for (unsigned i = 0; i < function->n_in; i++) {
        const uint8_t kind = function->params[i].kind, element = kind & (uint8_t)~RFN_KIND_LIST;
        const int64_t *words = &rank->record->in[i];
        size_t n = 1;
        if (kind == RFN_KIND_RANK && rfn_parameter_role(function, i) != RFN_ROLE_ROOT &&
            communicates(function) && *words >= 0 && *words < rank->size) {
            bool source = strcmp(function->params[i].name, "source") == 0;
            take_value(source ? &paper->source : &paper->dest, relative(rank, *words));
        }
        if (kind & RFN_KIND_LIST)
            words = rfn_cursor_list(rank->cursor, *words, &n, element);
        for (size_t k = 0; k < n; k++)
            take_scalar(rank, paper, element, words[k]);
    }
    return 0;
}

int rfn_paper_parameters(const struct rfn_archive *archive, uint32_t first, uint32_t end,
                         int64_t *word, struct rfn_diag *diag)
{
    struct rank rank = {.archive = archive, .number = rfn_archive_stream(archive, first).rank};
    struct paper paper = {.bits = 0};
    int error = 0;
    for (uint32_t i = first; i < end && !error; i++)
        error = take_stream(&rank, i, take_paper, &paper, diag);
    *word = (int64_t)(paper.bits | average_of(&paper.count) << RFN_PAPER_COUNT |
                      average_of(&paper.dest) << RFN_PAPER_DEST |
                      average_of(&paper.source) << RFN_PAPER_SOURCE);
    rfn_map_release_objects(&rank.comms, free);
    return error;
}
