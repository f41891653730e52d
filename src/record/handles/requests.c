/* Requests: from creation to completion.
 *
 * Each thread has a table of the requests it has made, by handle: open addressing over the handles
 * ever seen. MPIs use the handles of completed requests again at once, so a slot whose entries are
 * gone stays for its handle, and empty slots are thrown out when the table fills up. In steady
 * state a request costs two probes, and no memory is allocated or shifted.
 *
 * One handle may stand for several requests in flight: MPICH and Open MPI give sends that are
 * complete at once the same handle, and so every request with MPI_PROC_NULL. A slot is therefore a
 * queue. The k-th occurrence of a handle in the array of one call is the k-th entry of its queue; a
 * cursor in the slot, valid for one call (serial), keeps that linear.
 *
 * Several threads. A thread means its own requests, as long as it has any with the handle; else it
 * looks into the tables of the others. Each table has a lock of its own; no call holds two of them,
 * and the lock of all tables (tables.h) is taken inside of one, never the other way round. An entry
 * belongs to the call that has found it (claimed) until the call's outcomes are taken, or two calls
 * could both look at the head of a queue. Only its own thread puts entries into a table.
 *
 * While recording is off requests are followed all the same, as what completes later has to be
 * known, but they take no number. A request that the record does not tell of is RFN_UNKNOWN where
 * it appears, and completes without words.
 */
#include "base/hash.h"
#include "record/core/tables.h"
#include "record/handles/comms.h"
#include "record/handles/params.h"

#include <stdlib.h>

struct rec_request_slot {
    uint64_t key;
    struct rec_request *head, *tail; /* head is NULL: nothing in flight */
    struct rec_request *cursor;      /* where the next occurrence looks, in the call `serial` */
    uint64_t serial;
};

enum { CHUNK = 256, FIRST_BITS = 8 };

struct chunk {
    struct chunk *next;
    struct rec_request entries[CHUNK];
};

/* Of one stream. */
struct rec_requests {
    struct rec_request_slot *slots; /* 1 << bits; key 0 with no head has never been used */
    unsigned bits;
    unsigned char locked;
    uint64_t used; /* slots with a handle */
    uint64_t serial;
    struct rec_request *free_entries;
    struct chunk *chunks;
    struct rec_stream *stream; /* whose requests they are */
    struct rec_requests *next; /* of all, newest first */
};

static struct rec_requests *tables;
static bool several; /* tables; they stay until all are released */
static struct rec_slots persistent_slots;

/* ---- several threads ---- */

/* Also without MPI_THREAD_MULTIPLE requests may be completed by another thread than made them. */
static inline bool threaded(void)
{
    return rec_threads_multiple | __atomic_load_n(&several, __ATOMIC_RELAXED);
}

static inline void lock(struct rec_requests *table)
{
    if (__builtin_expect(threaded(), 0))
        rec_spin_wait(&table->locked);
}

static inline void unlock(struct rec_requests *table)
{
    __atomic_store_n(&table->locked, 0, __ATOMIC_RELEASE);
}

static struct rec_requests *new_table(struct rec_stream *stream)
{
    struct rec_requests *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->stream = stream;
    rec_lock();
    table->next = tables;
    if (tables)
        __atomic_store_n(&several, true, __ATOMIC_RELAXED);
    __atomic_store_n(&tables, table, __ATOMIC_RELEASE);
    rec_unlock();
    return table;
}

/* NULL, or who listens: another thread may end that. */
static inline const struct rec_request_listener *listener(void)
{
    return __atomic_load_n(&rec_listen_requests, __ATOMIC_RELAXED);
}

/* ---- table ---- */

/* Handles are stored plus one, so that 0 can mean unused whatever a handle's value is. */
static uint64_t table_key(MPI_Request handle)
{
    return REC_KEY(handle) + 1;
}

/* The slot of a key, or the unused one where it would go. */
static inline struct rec_request_slot *probe(const struct rec_requests *table, uint64_t key)
{
    size_t mask = ((size_t)1 << table->bits) - 1, i = rec_key_place(key, table->bits);
    while (table->slots[i].key != key && table->slots[i].key != 0)
        i = (i + 1) & mask;
    return &table->slots[i];
}

static uint64_t slots_in_use(const struct rec_requests *table)
{
    uint64_t n = 0;
    for (size_t i = 0; table->slots && i < (size_t)1 << table->bits; i++)
        n += table->slots[i].head != NULL;
    return n;
}

/* Makes a table that is at most a quarter full, without the slots that have no entries. */
static int rebuild(struct rec_requests *table)
{
    uint64_t in_use = slots_in_use(table);
    unsigned bits = FIRST_BITS;
    while (((uint64_t)1 << bits) < 4 * (in_use + 1))
        bits++;
    struct rec_request_slot *old = table->slots,
                            *larger = calloc((size_t)1 << bits, sizeof *larger);
    size_t n_old = old ? (size_t)1 << table->bits : 0;
    if (!larger)
        return RFN_E_NOMEM;
    table->slots = larger;
    table->bits = bits;
    table->used = in_use;
    for (size_t i = 0; i < n_old; i++) {
        if (!old[i].head)
            continue;
        struct rec_request_slot *slot = probe(table, old[i].key);
        *slot = old[i];
        for (struct rec_request *entry = slot->head; entry; entry = entry->next)
            entry->slot = slot;
    }
    free(old);
    return 0;
}

static int insert(struct rec_requests *table, struct rec_request *entry)
{
    if (!table->slots)
        RFN_TRY(rebuild(table));
    struct rec_request_slot *slot = probe(table, entry->key);
    if (slot->key == 0) {
        if (4 * (table->used + 1) > (uint64_t)3 << table->bits) {
            RFN_TRY(rebuild(table));
            slot = probe(table, entry->key);
        }
        slot->key = entry->key;
        table->used++;
    }
    entry->slot = slot;
    entry->next = NULL;
    if (slot->head)
        slot->tail->next = entry;
    else
        slot->head = entry;
    slot->tail = entry;
    return 0;
}

/* The first entry from here on that no call has found, now found by this one. A persistent request
 * has a handle of its own, and MPI_Start has no outcomes: it is not claimed. */
__attribute__((noinline)) static struct rec_request *claim_first(struct rec_request *entry)
{
    while (entry && __atomic_load_n(&entry->claimed, __ATOMIC_ACQUIRE))
        entry = entry->next;
    if (entry && !(entry->flags & REC_REQUEST_PERSISTENT))
        __atomic_store_n(&entry->claimed, true, __ATOMIC_RELAXED);
    return entry;
}

/* The next entry of a handle in this call, or NULL; with the table's lock held. */
static inline struct rec_request *look_up(struct rec_requests *table, MPI_Request handle)
{
    if (!table->slots)
        return NULL;
    struct rec_request_slot *slot = probe(table, table_key(handle));
    if (slot->serial != table->serial) {
        slot->serial = table->serial;
        slot->cursor = slot->head;
    }
    struct rec_request *entry = slot->cursor;
    if (__builtin_expect(threaded(), 0))
        entry = claim_first(entry);
    slot->cursor = entry ? entry->next : NULL;
    return entry;
}

/* A request that another thread has made. */
static struct rec_request *look_up_foreign(const struct rec_requests *own, MPI_Request handle)
{
    struct rec_request *entry = NULL;
    struct rec_requests *table = __atomic_load_n(&tables, __ATOMIC_ACQUIRE);
    for (; table && !entry; table = table->next) {
        if (table == own)
            continue;
        lock(table);
        if (table->slots)
            entry = claim_first(probe(table, table_key(handle))->head);
        unlock(table);
    }
    return entry;
}

static struct rec_request *take_entry(struct rec_requests *table)
{
    if (__builtin_expect(!table->free_entries, 0)) {
        struct chunk *chunk = malloc(sizeof *chunk);
        if (!chunk)
            return NULL;
        chunk->next = table->chunks;
        table->chunks = chunk;
        for (size_t i = CHUNK; i-- > 0;) {
            chunk->entries[i].next = table->free_entries;
            table->free_entries = &chunk->entries[i];
        }
    }
    struct rec_request *entry = table->free_entries;
    table->free_entries = entry->next;
    return entry;
}

static void give_entry(struct rec_requests *table, struct rec_request *entry)
{
    entry->slot = NULL;
    entry->next = table->free_entries;
    table->free_entries = entry;
}

__attribute__((noinline)) static void give_slot(int64_t slot)
{
    rec_lock();
    rec_slots_give(&persistent_slots, slot);
    rec_unlock();
}

/* Takes an entry out of its handle's queue; nearly always it is the head. */
static inline bool take_out(struct rec_request *entry)
{
    struct rec_request_slot *slot = entry->slot;
    struct rec_request *before = NULL;
    if (!slot)
        return false;
    if (__builtin_expect(slot->head != entry, 0)) {
        for (before = slot->head; before && before->next != entry;)
            before = before->next;
        if (!before)
            return false;
    }
    if (before)
        before->next = entry->next;
    else
        slot->head = entry->next;
    if (slot->tail == entry)
        slot->tail = before;
    slot->serial = 0; /* the cursor may point at it */
    return true;
}

/* The request is no more. */
static inline void forget(struct rec_request *entry)
{
    struct rec_requests *table = entry->stream->requests;
    int64_t slot = entry->flags & REC_REQUEST_PERSISTENT ? (int64_t)entry->number : -1;
    lock(table);
    bool taken = take_out(entry);
    if (taken)
        give_entry(table, entry);
    unlock(table);
    if (taken && slot >= 0)
        give_slot(slot);
}

/* ---- creation ---- */

/* Numbers an entry, whose other fields are filled, and enters it. RFN_E_NOMEM. */
static inline int number_and_insert(struct rec_call *call, struct rec_requests *table,
                                    struct rec_request *entry)
{
    if (__builtin_expect(entry->flags & REC_REQUEST_PERSISTENT, 0)) {
        rec_lock();
        int64_t slot = rec_slots_take(&persistent_slots);
        rec_unlock();
        if (slot < 0)
            return RFN_E_NOMEM;
        entry->number = (uint64_t)slot;
        if (insert(table, entry) == 0)
            return 0;
        give_slot(slot);
        return RFN_E_NOMEM;
    }
    entry->number = entry->stream->requests_created;
    if (__builtin_expect(__atomic_load_n(&rec_comms_on_their_way, __ATOMIC_RELAXED) > 0, 0)) {
        rec_lock();
        entry->new_comm = rec_comm_take_later(call);
        rec_unlock();
    }
    return insert(table, entry);
}

/* Fields are set one by one: a struct that is built and then copied costs several times as much. */
static inline struct rec_request *register_request(struct rec_call *call,
                                                   struct rec_requests *table, MPI_Request request,
                                                   unsigned flags, int source, int tag,
                                                   int64_t bytes)
{
    struct rec_request *entry = take_entry(table);
    if (!entry)
        return NULL;
    entry->stream = rec_stream_of(call);
    entry->key = table_key(request);
    entry->flags = (uint8_t)(flags | (call->off ? REC_REQUEST_UNSEEN : 0));
    entry->claimed = entry->active = false;
    entry->source = source;
    entry->tag = tag;
    entry->bytes = bytes;
    entry->new_comm = NULL;
    entry->sampled = NULL;
    entry->maker = 0;
    if (__builtin_expect(number_and_insert(call, table, entry) < 0, 0)) {
        give_entry(table, entry);
        return NULL;
    }
    return entry;
}

void rec_out_request(struct rec_call *call, MPI_Request request, unsigned flags, int source,
                     int tag, int64_t bytes)
{
    bool persistent = flags & REC_REQUEST_PERSISTENT;
    int64_t slot = -1;
    if (__builtin_expect(call->rc == MPI_SUCCESS, 1)) {
        if (__builtin_expect(request != MPI_REQUEST_NULL, 1)) {
            /* The table of the call's stream, made with its first request; NULL without memory. */
            struct rec_stream *stream = rec_stream_of(call);
            if (__builtin_expect(!stream->requests, 0))
                stream->requests = new_table(stream);
            struct rec_requests *table = stream->requests;
            const struct rec_request_listener *listens = listener();
            struct rec_request *entry = NULL;
            if (table) {
                lock(table);
                entry = register_request(call, table, request, flags, source, tag, bytes);
                slot = entry ? (int64_t)entry->number : -1;
                unlock(table);
            }
            if (__builtin_expect(!entry, 0))
                rec_stop("out of memory for requests");
            else if (__builtin_expect(listens != NULL, 0))
                listens->made(call, entry);
        }
        if (!persistent && !call->off)
            rec_stream_of(call)->requests_created++;
    }
    if (persistent)
        rec_push_out(call, slot >= 0 ? rfn_request_word(RFN_REQUEST_SLOT, slot) : RFN_UNKNOWN);
}

/* ---- reference ---- */

static int64_t word_of(const struct rec_stream *stream, const struct rec_request *entry)
{
    if (__builtin_expect(entry->flags & (REC_REQUEST_UNSEEN | REC_REQUEST_LOST), 0))
        return RFN_UNKNOWN;
    if (entry->flags & REC_REQUEST_PERSISTENT)
        return rfn_request_word(RFN_REQUEST_SLOT, (int64_t)entry->number);
    if (entry->stream == stream)
        return rfn_request_word(RFN_REQUEST_RECENT,
                                (int64_t)(stream->requests_created - entry->number));
    return rfn_foreign_request(entry->stream->number, entry->number);
}

/* Room for n more entries in call->requests. */
static inline bool reserve_requests(struct rec_call *call, int64_t n)
{
    return REC_ROOM(call->requests, call->requests_capacity, call->n_requests + n, "requests");
}

/* Begins and ends the lookups of a call: own table, with its lock held, or NULL without one. */
static inline struct rec_requests *begin_lookups(struct rec_call *call)
{
    struct rec_requests *own = rec_stream_of(call)->requests;
    if (own) {
        lock(own);
        own->serial++;
    }
    return own;
}

static inline void end_lookups(struct rec_requests *own)
{
    if (own)
        unlock(own);
}

__attribute__((noinline)) static struct rec_request *find_elsewhere(struct rec_requests *own,
                                                                    MPI_Request request)
{
    end_lookups(own);
    struct rec_request *entry = look_up_foreign(own, request);
    if (own)
        lock(own);
    return entry;
}

/* Looks a request up into call->requests; its word. */
static inline int64_t refer(struct rec_call *call, struct rec_requests *own, MPI_Request request)
{
    struct rec_request *entry = NULL;
    if (request != MPI_REQUEST_NULL) {
        entry = own ? look_up(own, request) : NULL;
        if (__builtin_expect(!entry, 0))
            entry = find_elsewhere(own, request);
    }
    call->requests[call->n_requests++] = entry;
    if (__builtin_expect(entry != NULL, 1)) {
        if (entry->flags & REC_REQUEST_PERSISTENT &&
            rec_functions[call->function].class_ == RFN_CLASS_START) {
            /* A start, or a part of one (Pready). */
            bool starts = call->function == REC_FN_MPI_Start ||
                          call->function == REC_FN_MPI_Startall;
            entry->active = true;
            if (starts && call->off)
                entry->flags |= REC_REQUEST_LOST;
            else if (starts)
                entry->flags &= (uint8_t)~REC_REQUEST_LOST;
        }
        return word_of(rec_stream_of(call), entry);
    }
    return request == MPI_REQUEST_NULL ? RFN_REQUEST_NULL : RFN_UNKNOWN;
}

void rec_in_request(struct rec_call *call, MPI_Request request)
{
    int64_t word = RFN_UNKNOWN;
    if (reserve_requests(call, 1)) {
        struct rec_requests *own = begin_lookups(call);
        word = refer(call, own, request);
        end_lookups(own);
    }
    rec_push_in(call, word);
}

void rec_in_requests(struct rec_call *call, const MPI_Request *requests, int64_t n)
{
    int64_t *words = requests && n > 0 ? rec_words(call, n) : NULL;
    if (!words || !reserve_requests(call, n)) {
        rec_push_in(call, n > 0 ? RFN_LIST_ABSENT : 0);
        return;
    }
    struct rec_requests *own = begin_lookups(call);
    for (int64_t i = 0; i < n; i++)
        words[i] = refer(call, own, requests[i]);
    end_lookups(own);
    rec_push_in(
        call, call->no_lists ? 0 : rfn_stream_list(rec_stream_of(call)->events, words, (size_t)n));
}

/* The call is done with its requests that are still there, whatever came out. */
static inline void unclaim(struct rec_call *call)
{
    if (__builtin_expect(!threaded(), 1))
        return;
    for (uint32_t i = 0; i < call->n_requests; i++) {
        if (call->requests[i])
            __atomic_store_n(&call->requests[i]->claimed, false, __ATOMIC_RELEASE);
    }
}

void rec_out_request_freed(struct rec_call *call)
{
    const struct rec_request_listener *listens = listener();
    for (uint32_t i = 0; i < call->n_requests && call->rc == MPI_SUCCESS; i++) {
        if (call->requests[i] && listens &&
            (call->requests[i]->sampled || call->requests[i]->maker))
            listens->freed(call->requests[i]);
        if (call->requests[i])
            forget(call->requests[i]);
        call->requests[i] = NULL;
    }
    unclaim(call);
}

void rec_out_cancelled(struct rec_call *call)
{
    const struct rec_request_listener *listens = listener();
    for (uint32_t i = 0; i < call->n_requests && call->rc == MPI_SUCCESS; i++) {
        if (!call->requests[i])
            continue;
        call->requests[i]->flags |= REC_REQUEST_CANCELLED;
        if (listens && !(call->requests[i]->flags & REC_REQUEST_RECV))
            listens->send_cancelled();
    }
    unclaim(call);
}

/* ---- statuses ---- */

static MPI_Status *own_statuses(struct rec_call *call, int64_t n, MPI_Status *otherwise)
{
    bool room = REC_ROOM(call->scratch.statuses, call->scratch.statuses_capacity, n, "statuses");
    return room ? call->scratch.statuses : otherwise;
}

MPI_Status *rec_status(struct rec_call *call, MPI_Status *status)
{
    return status != MPI_STATUS_IGNORE ? status : own_statuses(call, 1, status);
}

MPI_Status *rec_statuses(struct rec_call *call, MPI_Status *statuses, int64_t n)
{
    bool given = statuses != MPI_STATUSES_IGNORE || n <= 0;
    return given ? statuses : own_statuses(call, n, statuses);
}

/* Bytes received. Where the layout of MPI_Status is known its field is read, because asking costs
 * more than all the rest; elsewhere MPI is asked. */
static inline int64_t received_bytes(const MPI_Status *status)
{
#if defined OMPI_MAJOR_VERSION
    return (int64_t)status->_ucount;
#elif defined MPICH_NUMVERSION
    /* The lowest bit of the high half is the cancelled flag. */
    uint64_t high = (uint32_t)status->count_hi_and_cancelled >> 1;
    return (int64_t)(high << 32 | (uint32_t)status->count_lo);
#elif defined RFN_FLAVOUR_SMPI
    return status->count;
#else
    MPI_Count bytes = 0;
    int rc = rec_mpi.MPI_Get_elements_c(status, MPI_BYTE, &bytes);
    return rc == MPI_SUCCESS && bytes != MPI_UNDEFINED ? bytes : RFN_UNKNOWN;
#endif
}

/* What a receive turned out to be, each RFN_AS_POSTED where it is what was asked for. */
struct outcome {
    int64_t source, tag, bytes;
};

static inline struct outcome outcome_of(const MPI_Status *status, int source, int tag,
                                        int64_t bytes)
{
    struct outcome as_posted = {RFN_AS_POSTED, RFN_AS_POSTED, RFN_AS_POSTED};
    /* Only the empty status of an inactive request has a wildcard for its source. */
    if (source == MPI_PROC_NULL || status->MPI_SOURCE == MPI_ANY_SOURCE)
        return as_posted;
    int64_t got = received_bytes(status);
    struct outcome outcome = as_posted;
    if (status->MPI_SOURCE != source)
        outcome.source = rec_rank_word(status->MPI_SOURCE);
    if (status->MPI_TAG != tag)
        outcome.tag = status->MPI_TAG == MPI_ANY_TAG ? RFN_ANY : status->MPI_TAG;
    if (got != bytes)
        outcome.bytes = got;
    return outcome;
}

void rec_out_status(struct rec_call *call, const MPI_Status *status, int source, int tag,
                    int64_t bytes)
{
    struct outcome outcome = {RFN_UNKNOWN, RFN_UNKNOWN, RFN_UNKNOWN};
    if (rec_has_outcome(call) && status != MPI_STATUS_IGNORE)
        outcome = outcome_of(status, source, tag, bytes);
    rec_push_out(call, outcome.source);
    rec_push_out(call, outcome.tag);
    rec_push_out(call, outcome.bytes);
}

void rec_out_moved(struct rec_call *call, const MPI_Status *status, int64_t bytes)
{
    int64_t word = RFN_UNKNOWN;
    if (rec_has_outcome(call) && status != MPI_STATUS_IGNORE) {
        word = received_bytes(status);
        if (word == bytes)
            word = RFN_AS_POSTED;
    }
    rec_push_out(call, word);
}

/* ---- completion ---- */

static int class_of(int code)
{
    int class = code;
    if (code == REC_LEFT)
        return (int)RFN_ERROR_LEFT;
    if (code != MPI_SUCCESS)
        rec_mpi.MPI_Error_class(code, &class);
    return class;
}

/* What a completion call says, and what is written of it. */
struct completion {
    struct rec_call *call;
    const MPI_Status *statuses; /* NULL when there are none */
    int error;                  /* class of the call's */
    int64_t *words;
    int64_t n_words;
};

/* Error class of the request whose status this is. */
static int error_of(const struct completion *completion, const MPI_Status *status)
{
    if (__builtin_expect(completion->error == MPI_SUCCESS, 1))
        return MPI_SUCCESS;
    if (completion->error == MPI_ERR_IN_STATUS)
        return status ? class_of(status->MPI_ERROR) : MPI_SUCCESS;
    return completion->error;
}

static void write_entry(struct completion *completion, int64_t position, struct outcome outcome,
                        int error, int flags)
{
    int64_t *word = completion->words + completion->n_words;
    word[0] = position;
    word[1] = outcome.source;
    word[2] = outcome.tag;
    word[3] = outcome.bytes;
    word[4] = error;
    word[5] = flags;
    completion->n_words += RFN_COMPLETION_WORDS;
}

/* The request is done for the program. */
static inline void retire(const struct rec_call *call, struct rec_request *entry)
{
    if (__builtin_expect(entry->new_comm != NULL, 0)) {
        rec_lock();
        rec_comm_arrived(entry->new_comm);
        rec_unlock();
    }
    if (entry->flags & REC_REQUEST_PERSISTENT) {
        entry->flags &= (uint8_t)~REC_REQUEST_CANCELLED;
        entry->flags |= call->off ? REC_REQUEST_LOST : 0;
        entry->active = false;
    } else {
        forget(entry);
    }
}

/* A request that a listener follows is over. One that was cancelled, or of which MPI does not tell
 * what a wildcard got, has got nothing that is known. */
__attribute__((noinline)) static void tell_listener(const struct rec_call *call,
                                                    struct rec_request *entry,
                                                    const MPI_Status *status, int error)
{
    const struct rec_request_listener *listens = listener();
    int cancelled = 0;
    if (!listens)
        return;
    if (status && entry->flags & REC_REQUEST_CANCELLED)
        rec_mpi.MPI_Test_cancelled(status, &cancelled);
    if (cancelled || (!status && (entry->source == MPI_ANY_SOURCE || entry->tag == MPI_ANY_TAG)))
        listens->completed(call, entry, RFN_UNKNOWN, 0, 0);
    else if (!status)
        listens->completed(call, entry, entry->source, entry->tag, entry->bytes);
    else
        listens->completed(call, entry, status->MPI_SOURCE, status->MPI_TAG,
                           error ? RFN_UNKNOWN : received_bytes(status));
}

/* Writes what deviates, then retires the request. status is its own, or NULL; that of an inactive
 * request is not looked at, as not every MPI fills it. */
static inline void complete(struct completion *completion, int64_t position,
                            const MPI_Status *status)
{
    struct rec_request *entry = completion->call->requests[position];
    if (__builtin_expect(!entry, 0) || (entry->flags & REC_REQUEST_PERSISTENT && !entry->active))
        return;
    int error = error_of(completion, status), cancelled = 0;
    struct outcome outcome = {RFN_AS_POSTED, RFN_AS_POSTED, RFN_AS_POSTED};
    if (__builtin_expect(error == MPI_ERR_PENDING, 0)) {
        if (completion->words)
            write_entry(completion, position, outcome, 0, RFN_COMPLETION_PENDING);
        return;
    }
    if (__builtin_expect(entry->sampled || entry->maker, 0))
        tell_listener(completion->call, entry, status, error);
    if (__builtin_expect(entry->flags & (REC_REQUEST_UNSEEN | REC_REQUEST_LOST), 0)) {
        retire(completion->call, entry);
        completion->call->requests[position] = NULL;
        return;
    }
    if (__builtin_expect(entry->flags & REC_REQUEST_CANCELLED, 0) && status)
        rec_mpi.MPI_Test_cancelled(status, &cancelled);
    if (entry->flags & REC_REQUEST_RECV && status && !error && !cancelled) {
        /* Readers follow the requests of one thread: of another one's all is told. */
        bool own = entry->stream == rec_stream_of(completion->call);
        outcome = __builtin_expect(own, 1) || entry->source == MPI_PROC_NULL
                      ? outcome_of(status, entry->source, entry->tag, entry->bytes)
                      : outcome_of(status, MPI_ANY_SOURCE, MPI_ANY_TAG, -1);
    }
    bool deviates = outcome.source != RFN_AS_POSTED || outcome.tag != RFN_AS_POSTED ||
                    outcome.bytes != RFN_AS_POSTED || error || cancelled;
    if (deviates && completion->words)
        write_entry(completion, position, outcome, error, cancelled ? RFN_COMPLETION_CANCELLED : 0);
    retire(completion->call, entry);
    completion->call->requests[position] = NULL;
}

/* Begins the outcomes of a call that may complete n requests. */
static struct completion begin(struct rec_call *call, const MPI_Status *statuses, int64_t n)
{
    bool ignored = statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE;
    return (struct completion){.call = call,
                               .statuses = ignored ? NULL : statuses,
                               .error = class_of(call->rc),
                               .words = rec_words(call, n * RFN_COMPLETION_WORDS)};
}

static void end(struct completion *completion)
{
    struct rfn_stream *events = rec_stream_of(completion->call)->events;
    rec_push_out(completion->call,
                 completion->n_words == 0 || completion->call->no_lists
                     ? 0
                     : rfn_stream_list(events, completion->words, (size_t)completion->n_words));
}

static const MPI_Status *status_at(const struct completion *completion, int64_t i)
{
    return completion->statuses ? &completion->statuses[i] : NULL;
}

/* Says how a poll went, if the function is one. */
static void set_poll(struct rec_call *call, bool successful)
{
    if (rec_functions[call->function].flags & RFN_FUNCTION_POLL && call->rc == MPI_SUCCESS)
        call->poll = successful ? RFN_POLL_SUCCESSFUL : RFN_POLL_FAILED;
}

/* The outcomes of a call that completed nothing and says nothing: n words. */
static void nothing(struct rec_call *call, unsigned n)
{
    unclaim(call);
    while (n-- > 0)
        rec_push_out(call, RFN_UNKNOWN);
}

void rec_out_completed_all(struct rec_call *call, int done, const MPI_Status *statuses)
{
    bool failed = call->rc != MPI_SUCCESS;
    set_poll(call, done);
    if (!done && !failed) {
        nothing(call, 1);
        return;
    }
    struct completion completion = begin(call, statuses, call->n_requests);
    for (uint32_t i = 0; i < call->n_requests; i++)
        complete(&completion, i, status_at(&completion, i));
    unclaim(call);
    end(&completion);
}

void rec_out_completed_any(struct rec_call *call, int done, int index, const MPI_Status *status)
{
    bool failed = call->rc != MPI_SUCCESS;
    bool none = index == MPI_UNDEFINED || index < 0 || (uint32_t)index >= call->n_requests;
    set_poll(call, done);
    if (failed ? none : !done) {
        nothing(call, 2);
        return;
    }
    struct completion completion = begin(call, status, 1);
    rec_push_out(call, none ? RFN_UNDEFINED : index);
    if (!none)
        complete(&completion, index, status_at(&completion, 0));
    unclaim(call);
    end(&completion);
}

void rec_out_completed_some(struct rec_call *call, int n, const int *indices,
                            const MPI_Status *statuses)
{
    int class = class_of(call->rc);
    set_poll(call, n != 0);
    if ((class != MPI_SUCCESS && class != MPI_ERR_IN_STATUS) || n == 0) {
        nothing(call, 2);
        return;
    }
    int64_t *words = n > 0 ? rec_words(call, n) : NULL;
    for (int i = 0; words && i < n; i++)
        words[i] = indices[i];
    rec_push_out(call, n == MPI_UNDEFINED         ? RFN_UNDEFINED
                       : n <= 0 || call->no_lists ? 0
                       : words ? rfn_stream_list(rec_stream_of(call)->events, words, (size_t)n)
                               : RFN_LIST_ABSENT);
    struct completion completion = begin(call, statuses, n > 0 ? n : 0);
    for (int i = 0; i < n; i++) {
        if (indices[i] >= 0 && (uint32_t)indices[i] < call->n_requests)
            complete(&completion, indices[i], status_at(&completion, i));
    }
    unclaim(call);
    end(&completion);
}

void rec_out_poll(struct rec_call *call, int flag)
{
    unclaim(call);
    if (call->rc != MPI_SUCCESS)
        return;
    call->poll = flag ? RFN_POLL_SUCCESSFUL : RFN_POLL_FAILED;
    for (uint32_t i = 0; !flag && i < call->n_out; i++)
        call->out[i] = RFN_UNKNOWN;
}

/* An error handler is called for requests that have failed: those of a call that waits for all are
 * done. Which of several one is done is not known. */
void rec_out_left(struct rec_call *call)
{
    const struct rfn_function_info *function = &rec_functions[call->function];
    const struct rfn_param_info *outcomes = function->params + function->n_in;
    call->poll = 0;
    call->n_out = 0;
    if (function->n_out == 1 && outcomes->kind == RFN_KIND_COMPLETIONS)
        rec_out_completed_all(call, 1, MPI_STATUSES_IGNORE);
    else
        nothing(call, function->n_out);
}

void rec_requests_release(void)
{
    while (tables) {
        struct rec_requests *table = tables;
        tables = table->next;
        table->stream->requests = NULL;
        for (struct chunk *chunk = table->chunks, *next; chunk; chunk = next) {
            next = chunk->next;
            free(chunk);
        }
        free(table->slots);
        free(table);
    }
    several = false;
    rec_slots_release(&persistent_slots);
}
