/* Handles that are named by slots: operations, groups, infos, error handlers, windows, files,
 * messages, sessions, keyvals.
 *
 * Each kind has a map from handle to word, with a small direct-mapped cache in front of it, and a
 * bitmap of its slots. Predefined handles are put into the map when the kind is first used (only
 * then are they sure to have their values), as -1 - k, in the order of event/kind.c; where an MPI
 * gives two of them one value, the first name counts. All others take the lowest free slot when
 * they are first seen.
 *
 * Windows and files remember the communicator they were made on, because the ranks in calls on
 * them are ranks of that communicator.
 */
#include "base/grow.h"
#include "base/map.h"
#include "record/core/tables.h"
#include "record/handles/params.h"

#include <sched.h>
#include <stdlib.h>

/* ---- lock ---- */

static unsigned char lock_taken;

void rec_spin_wait(unsigned char *taken)
{
    unsigned tries = 0;
    while (__atomic_exchange_n(taken, 1, __ATOMIC_ACQUIRE)) {
        if (++tries % 128 == 0)
            sched_yield();
    }
}

void rec_lock_wait(void)
{
    rec_spin_wait(&lock_taken);
}

void rec_lock_release(void)
{
    __atomic_store_n(&lock_taken, 0, __ATOMIC_RELEASE);
}

/* ---- slots ---- */

int64_t rec_slots_take(struct rec_slots *slots)
{
    size_t slot = 0;
    for (unsigned level = REC_SLOT_LEVELS; level-- > 0;) {
        const uint64_t full = slot < slots->n_words[level] ? slots->full[level][slot] : 0;
        slot = slot * 64 + (unsigned)__builtin_ctzll(~full);
    }
    size_t at = slot;
    for (unsigned level = 0; level < REC_SLOT_LEVELS; level++, at /= 64)
        RFN_TRY(RFN_GROW_ZEROED(slots->full[level], slots->n_words[level], at / 64 + 1));
    at = slot;
    for (unsigned level = 0; level < REC_SLOT_LEVELS; level++, at /= 64) {
        slots->full[level][at / 64] |= (uint64_t)1 << (at % 64);
        if (slots->full[level][at / 64] != UINT64_MAX)
            break;
    }
    return (int64_t)slot;
}

void rec_slots_give(struct rec_slots *slots, int64_t slot)
{
    size_t at = (size_t)slot;
    for (unsigned level = 0; level < REC_SLOT_LEVELS; level++, at /= 64) {
        uint64_t *word = &slots->full[level][at / 64];
        const bool was_full = *word == UINT64_MAX;
        *word &= ~((uint64_t)1 << (at % 64));
        if (!was_full)
            break;
    }
}

void rec_slots_release(struct rec_slots *slots)
{
    for (unsigned level = 0; level < REC_SLOT_LEVELS; level++)
        free(slots->full[level]);
    *slots = (struct rec_slots){0};
}

/* ---- a table per kind ---- */

enum { CACHE_BITS = 4 };

struct cached {
    uint64_t key;
    int64_t word;
    bool used;
};

struct handles {
    void (*predefine)(struct handles *); /* NULL once done */
    bool has_comm;                       /* windows and files */
    struct rfn_map words;                /* handle to word */
    struct rec_slots slots;
    struct cached cache[1 << CACHE_BITS];
    uint64_t removals;             /* of keys, see tables.h */
    const struct rec_comm **comms; /* of each slot, with has_comm */
    size_t n_comms;
};

static void predefine_key(struct handles *table, int64_t k, uint64_t key)
{
    if (!rfn_map_get(&table->words, key) && rfn_map_put(&table->words, key, (uint64_t)(-1 - k)) < 0)
        rec_stop("out of memory for predefined handles");
}

#define PREDEFINE(name, type, ...)                             \
    static void predefine_##name(struct handles *table)        \
    {                                                          \
        const type all[] = {__VA_ARGS__};                      \
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)  \
            predefine_key(table, (int64_t)k, REC_KEY(all[k])); \
    }                                                          \
    static struct handles name##_handles = {.predefine = predefine_##name};

/* In the order of event/kind.c. */
PREDEFINE(op, MPI_Op, MPI_OP_NULL, MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR,
          MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP)
PREDEFINE(group, MPI_Group, MPI_GROUP_NULL, MPI_GROUP_EMPTY)
PREDEFINE(info, MPI_Info, MPI_INFO_NULL, MPI_INFO_ENV)
#if MPI_VERSION >= 4
PREDEFINE(errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN,
          MPI_ERRORS_ABORT)
#else
PREDEFINE(errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN)
#endif
PREDEFINE(win, MPI_Win, MPI_WIN_NULL)
PREDEFINE(file, MPI_File, MPI_FILE_NULL)
PREDEFINE(message, MPI_Message, MPI_MESSAGE_NULL, MPI_MESSAGE_NO_PROC)
#ifdef REC_HAVE_SESSION
PREDEFINE(session, MPI_Session, MPI_SESSION_NULL)
#endif
PREDEFINE(keyval, int, MPI_KEYVAL_INVALID, MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL,
          MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE, MPI_APPNUM, MPI_WIN_BASE, MPI_WIN_SIZE,
          MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL)

static void wake(struct handles *table)
{
    void (*predefine)(struct handles *) = table->predefine;
    table->predefine = NULL;
    predefine(table);
    table->has_comm = table == &win_handles || table == &file_handles;
}

/* The word of a handle; registers it when it is new. */
static int64_t word_of(struct handles *table, uint64_t key)
{
    struct cached *cached = &table->cache[rec_key_place(key, CACHE_BITS)];
    if (cached->used && cached->key == key)
        return cached->word;
    if (table->predefine)
        wake(table);
    const uint64_t *known = rfn_map_get(&table->words, key);
    int64_t word = known ? (int64_t)*known : rec_slots_take(&table->slots);
    if (!known && (word < 0 || rfn_map_put(&table->words, key, (uint64_t)word) < 0)) {
        if (word >= 0)
            rec_slots_give(&table->slots, word);
        rec_stop("out of memory for handles");
        return RFN_UNKNOWN;
    }
    *cached = (struct cached){key, word, true};
    return word;
}

static void set_comm(struct handles *table, int64_t slot, const struct rec_comm *comm)
{
    if (RFN_GROW_ZEROED(table->comms, table->n_comms, (size_t)slot + 1) < 0)
        rec_stop("out of memory for handles");
    else
        table->comms[slot] = comm;
}

/* The word of a handle, and the communicator of a window or file, if there is one. */
static int64_t look_up(struct handles *table, uint64_t key, const struct rec_comm **comm)
{
    int64_t word = word_of(table, key);
    if (table->has_comm && word >= 0 && (size_t)word < table->n_comms)
        *comm = table->comms[word];
    return word;
}

/* With several threads: without the lock when this one has looked the handle up before. */
static int64_t look_up_threaded(struct rec_stream *stream, struct handles *table, uint64_t key,
                                const struct rec_comm **comm)
{
    size_t place = rec_key_place(key ^ (uintptr_t)table, REC_RECENT_HANDLE_BITS);
    struct rec_find *recent = &stream->recent.handles[place];
    if (recent->what != table || !rec_find_holds(recent, key, &table->removals)) {
        const struct rec_comm *made_on = NULL;
        rec_lock();
        int64_t word = look_up(table, key, &made_on);
        uint64_t removals = table->removals;
        rec_unlock();
        *recent = (struct rec_find){key, removals, table, word, made_on};
    }
    if (recent->comm)
        *comm = recent->comm;
    return recent->word;
}

static void handle_in(struct rec_call *call, struct handles *table, uint64_t key)
{
    rec_push_in(call, __builtin_expect(rec_threads_multiple, 0)
                          ? look_up_threaded(rec_stream_of(call), table, key, &call->comm)
                          : look_up(table, key, &call->comm));
}

static void handle_out(struct rec_call *call, struct handles *table, uint64_t key)
{
    int64_t word = RFN_UNKNOWN;
    if (rec_has_outcome(call)) {
        rec_lock();
        word = word_of(table, key);
        if (table->has_comm && word >= 0)
            set_comm(table, word, call->comm);
        rec_unlock();
    }
    rec_push_out(call, word);
}

/* Before the call, so that another thread that gets the same handle for a new object registers it
 * anew. The slot is kept until the call has succeeded. */
static void handle_free(struct rec_call *call, struct handles *table, uint64_t key)
{
    call->scratch.removed = 0;
    rec_lock();
    if (table->predefine)
        wake(table);
    const uint64_t *known = rfn_map_get(&table->words, key);
    if (known && (int64_t)*known >= 0) {
        call->scratch.removed = (int64_t)*known + 1;
        rec_count_removal(&table->removals);
        rfn_map_remove(&table->words, key);
        struct cached *cached = &table->cache[rec_key_place(key, CACHE_BITS)];
        if (cached->key == key)
            cached->used = false;
    }
    rec_unlock();
}

static void handle_freed(struct rec_call *call, struct handles *table, uint64_t key)
{
    int64_t word = call->scratch.removed - 1;
    call->scratch.removed = 0;
    if (word < 0)
        return;
    rec_lock();
    if (call->rc == MPI_SUCCESS) {
        rec_slots_give(&table->slots, word);
        if (table->has_comm)
            set_comm(table, word, NULL);
    } else if (rfn_map_put(&table->words, key, (uint64_t)word) < 0) {
        rec_stop("out of memory for handles");
    }
    rec_unlock();
}

#define DEFINE(name, type, kind)                              \
    void rec_in_##name(struct rec_call *call, type handle)    \
    {                                                         \
        handle_in(call, &name##_handles, REC_KEY(handle));    \
    }                                                         \
    void rec_out_##name(struct rec_call *call, type handle)   \
    {                                                         \
        handle_out(call, &name##_handles, REC_KEY(handle));   \
    }                                                         \
    void rec_free_##name(struct rec_call *call, type handle)  \
    {                                                         \
        handle_free(call, &name##_handles, REC_KEY(handle));  \
    }                                                         \
    void rec_freed_##name(struct rec_call *call, type handle) \
    {                                                         \
        handle_freed(call, &name##_handles, REC_KEY(handle)); \
    }

REC_SLOT_KINDS(DEFINE)
REC_SESSION_KIND(DEFINE)
DEFINE(keyval, int, RFN_KIND_KEYVAL)

int64_t rec_info_word(MPI_Info info)
{
    rec_lock();
    int64_t word = word_of(&info_handles, REC_KEY(info));
    rec_unlock();
    return word;
}

static void release(struct handles *table)
{
    rfn_map_release(&table->words);
    rec_slots_release(&table->slots);
    free((void *)table->comms);
    table->comms = NULL;
    table->n_comms = 0;
    rec_count_removal(&table->removals);
    for (size_t i = 0; i < sizeof table->cache / sizeof *table->cache; i++)
        table->cache[i].used = false;
}

void rec_handles_release(void)
{
#define RELEASE(name, type, kind) \
    release(&name##_handles);     \
    name##_handles.predefine = predefine_##name;
    REC_SLOT_KINDS(RELEASE)
    REC_SESSION_KIND(RELEASE)
    RELEASE(keyval, int, RFN_KIND_KEYVAL)
#undef RELEASE
}
