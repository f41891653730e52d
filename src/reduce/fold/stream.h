/* stream.h - one stream of events, reduced while it is recorded.
 *
 * Events wait in a backlog (backlog.h), with their parameters as words, and are reduced a few
 * hundred at a time. What repeats becomes structure, what varies becomes columns:
 *
 *   event ──polls joined──▶ signature ──interned──▶ symbol ──folded──▶ loops        (structure)
 *                                                     └── gap, duration, outcomes   (columns)
 *
 * - Polls. A run of equal unsuccessful polls is one event, held back until something else happens.
 *   Its count and time inside go to columns.
 * - Signature: site, whether the poll failed, error class, input words. Equal signatures are one
 *   symbol, numbered in order of first occurrence (symbol_table.h).
 * - Moved parameters (varying_params.h). An input moves to a column when it has had too many
 * values. When a site has too many symbols, or symbols that hardly occur again, its input with most
 * values moves: from then on the site's events go to symbols without it. For the events before, a
 * pass over all joins symbols that differ in nothing else and folds again (merge_symbols.h). It
 * comes at once while passes have not gone over more than all events, else for several inputs
 * together, at the latest at the end: so passes cost at most twice the rest.
 * - Columns per symbol: gap (since the exit of the event before), duration, outcomes, moved inputs,
 *   and for failed polls count and time inside. Times only with times on.
 * - Volumes, when on: what a counter counted inside the call, and outside of MPI since the event
 *   before. Of a run of polls the inside adds up; what lies between polls counts to the gap.
 *
 * Memory. The streams of a process may hold memory->limit bytes together. What a stream holds is
 * counted where it changes, and looked at every few thousand events. When all streams hold too
 * much, it codes what is staged, then moves finished blocks of columns and lists to the spill,
 * large ones first. That walks over all symbols, so it happens only after as many events. The
 * fold's stack is limited in proportion.
 *
 * Many symbols. A symbol takes hundreds of bytes, also one that occurs twice. Each time that their
 * number has doubled (from 4,096 on) sites are looked for whose symbols hardly occur again: inputs
 * of these move.
 *
 * Reduced times. Columns of what is measured last only until they take too much memory, or until
 * the end: then the time sink empties them. That is an epoch. Its structure stays: the fold is
 * frozen, and not folded again, which would cut other segments than those compared. So an input
 * that moves later moves only for what is to come; symbols from before stay beside the new ones.
 * With too little memory an epoch comes first; then the sink holds less as far as that helps; only
 * then the spill. Times may also be kept as long as they are short (keep_bytes): then none of this
 * happens before the stream is long and there is too little memory, or before it is told to.
 *
 * Everything else is lossless. No MPI and no clock here: tests and benchmarks drive this directly.
 */
#ifndef RFN_REDUCE_FOLD_STREAM_H
#define RFN_REDUCE_FOLD_STREAM_H

#include "base/buf.h"
#include "base/hash.h"
#include "event/kind.h"
#include "reduce/columns/column.h"
#include "reduce/fold/fold.h"
#include "reduce/fold/symbol_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RFN_STREAM_MARK = 65536 };

enum rfn_poll { RFN_POLL_NONE, RFN_POLL_FAILED, RFN_POLL_SUCCESSFUL };

/* One call. Words are borrowed for the duration of rfn_stream_event. */
struct rfn_event {
    uint32_t site;     /* number of (function, call path) in the stream */
    uint32_t function; /* index in the stream's schemas */
    uint32_t error;    /* MPI error class, 0 for success */
    enum rfn_poll poll;
    const int64_t *in, *out;            /* schema's n_in and n_out words */
    uint64_t enter, exit;               /* quanta; ignored without times */
    uint64_t volume_enter, volume_exit; /* of a counter; ignored without volume */
};

/* What the streams of a process hold together, in bytes. */
struct rfn_memory {
    size_t limit;
    size_t used; /* changed atomically */
};

struct rfn_stream;
struct rfn_reducing;
struct rfn_stream_reduction;

/* Where times go that are not kept (stream_reduction.h): one object per stream, which reads the
 * stream's structure and columns. After an error it can only be freed. */
struct rfn_time_sink {
    /* max_events: that it may hold in memory; 0: no limit. NULL: out of memory. */
    struct rfn_stream_reduction *(*make)(const struct rfn_stream *stream,
                                         const struct rfn_reducing *reducing, uint64_t max_events);
    void (*free)(struct rfn_stream_reduction *reduction); /* may be NULL */
    /* An epoch: takes what has come since the last one. The fold is frozen, but for the last one;
     * afterwards the stream empties the columns. */
    int (*epoch)(struct rfn_stream_reduction *reduction);
    /* The last event of an epoch ended so much later, and counted so much more volume. */
    void (*end_later)(struct rfn_stream_reduction *reduction, int64_t quanta, int64_t volume);
    int (*finish)(struct rfn_stream_reduction *reduction, const struct rfn_room *room);
    size_t (*bytes)(const struct rfn_stream_reduction *reduction); /* takes long */
    /* Holds less, and loses detail by that. 1; 0: it cannot; or an error. */
    int (*widen)(struct rfn_stream_reduction *reduction);
    /* Makes what finish would make so far, which takes memory, and frees that again. */
    void (*code_ahead)(struct rfn_stream_reduction *reduction);
    void (*drop_ahead)(struct rfn_stream_reduction *reduction);
    /* Calls visit for every column that grows with the stream, until it returns an error. */
    int (*each_column)(struct rfn_stream_reduction *reduction,
                       int (*visit)(void *context, struct rfn_column *column), void *context);
};

struct rfn_stream_options {
    const struct rfn_function_info *functions; /* the schemas; borrowed for the stream's life */
    bool times;                                /* keep gap and duration */
    bool all_polls;                            /* --polls=all: every poll is an event */
    bool volume;                               /* keep volume gap and volume inside */
    uint64_t start;                            /* quanta from which the first gap counts */
    uint64_t volume_start;                     /* the same of the counter */
    struct rfn_memory *memory;                 /* borrowed; NULL: no limit */
    const struct rfn_spill *spill;             /* borrowed; with memory */
    const struct rfn_time_sink *sink;          /* borrowed; NULL: times are kept. With times */
    const struct rfn_reducing *reducing;       /* borrowed; what the sink is made with */
    /* What the stream's times may take before they are reduced; borrowed. It may change, but
     * neither from 0 nor to it. NULL or 0: they are reduced in any case. */
    const size_t *keep_bytes;
    /* What a site's function and call path are, a hash that is the same on all ranks. Asked for
     * once, when the site's first event is reduced. NULL: the stream has no signature. */
    uint64_t (*call_hash)(const void *context, uint32_t site);
    const void *call_hash_context;
};

struct rfn_stream *rfn_stream_new(const struct rfn_stream_options *options); /* NULL: no memory */
void rfn_stream_free(struct rfn_stream *stream);

/* Takes an event. 0; 1: that took long, as thousands of them were reduced, or all since the last
 * epoch; RFN_E_NOMEM (the stream must not be used further, except for free). */
int rfn_stream_event(struct rfn_stream *stream, const struct rfn_event *event);
/* The last event was a failed poll, which stands for so many more calls like it: what passed and
 * was counted inside is that of all of them, less so many quanta. Not where every poll is an event.
 * RFN_E_NOMEM as of rfn_stream_event. */
int rfn_stream_more_polls(struct rfn_stream *stream, uint64_t more, uint64_t less);
/* Emits a run of polls that is held back, and settles. To be called before the stream is looked at;
 * again, without events since, it does nothing. */
int rfn_stream_flush(struct rfn_stream *stream);
/* The run of polls that is held back: how many there are, and *event, whose words are borrowed. 0:
 * there is none. Not before rfn_stream_catch_up. */
uint64_t rfn_stream_polls(const struct rfn_stream *stream, struct rfn_event *event);
/* The last event, which is no poll, ended at this time, and not at that which it came with. That
 * may be told after rfn_stream_flush, too. RFN_E_NOMEM: nothing or only its duration has changed.
 */
int rfn_stream_end_later(struct rfn_stream *stream, uint64_t exit, uint64_t volume_exit);

/* Emits a run of polls that is held back, and codes what columns have not coded while they grew,
 * unless times are reduced, so that packing the stream takes less time if few events follow.
 * RFN_E_NOMEM as of rfn_stream_event. */
int rfn_stream_code_ahead(struct rfn_stream *stream);

/* Makes the stream fit to be packed although it goes on: reduces what waits, settles, and moves
 * finished blocks to the spill, which must be there, so that packing takes no longer the longer the
 * stream is. A run of polls stays held back. Until the end of the draft packing takes memory in
 * place of the spill. RFN_E_NOMEM as of rfn_stream_event, or the error of the spill: then there is
 * no draft, and the stream is as it was. */
int rfn_stream_draft_begin(struct rfn_stream *stream);
void rfn_stream_draft_end(struct rfn_stream *stream);

/* Moves all that is finished to the spill, if there is one, whatever memory there is. */
int rfn_stream_spill(struct rfn_stream *stream);
/* Where the stream spills to, or NULL as long as it had no need to, or is being drafted. */
const struct rfn_spill *rfn_stream_spill_of(const struct rfn_stream *stream);
size_t rfn_stream_bytes(const struct rfn_stream *stream); /* held in memory */
/* What each of the steps behind the last event may hold beside that in columns of its own: its
 * share of half of the limit. */
struct rfn_room rfn_stream_room(const struct rfn_stream *stream);

/* Interns a list of words: its number >= 1, 0 for n = 0, RFN_LIST_ABSENT when out of memory; then
 * the next event fails. */
int64_t rfn_stream_list(struct rfn_stream *stream, const int64_t *words, size_t n);
/* The lists, numbers 1 to n: see rfn_lists_get. */
size_t rfn_stream_lists(const struct rfn_stream *stream);
const int64_t *rfn_stream_list_words(const struct rfn_stream *stream, size_t number, size_t *n);

/* The result: symbols 0 to n - 1 in order of first occurrence, and the structure over them. */
uint32_t rfn_stream_symbols(const struct rfn_stream *stream);
const struct rfn_symbol *rfn_stream_symbol(const struct rfn_stream *stream, uint32_t symbol);
const struct rfn_fold *rfn_stream_fold(const struct rfn_stream *stream);
/* What a symbol is in the stream's signature: calls of MPI count, unless they are failed polls. 0:
 * it does not. */
uint64_t rfn_stream_call_hash(const struct rfn_stream *stream, uint32_t symbol);
/* The call-path signature of what the stream did so far (elastic_signature.h), 1 of nothing. It is
 * kept from event to event. RFN_UNSIGNED without call hashes or memory, or where it was slow. */
uint64_t rfn_stream_signature(struct rfn_stream *stream);
/* The schema of a function by its number. */
const struct rfn_function_info *rfn_stream_schema(const struct rfn_stream *stream,
                                                  uint32_t function);
bool rfn_stream_has_volume(const struct rfn_stream *stream);
bool rfn_stream_counts(const struct rfn_stream *stream);    /* it has, or they were dropped */
uint64_t rfn_stream_start(const struct rfn_stream *stream); /* of its options */
/* From now on the stream says that it has no volumes. */
void rfn_stream_drop_volume(struct rfn_stream *stream);
/* The volume columns of one of its symbols, gap and inside; NULL if it never had volumes. */
const struct rfn_column *rfn_stream_volume(const struct rfn_stream *stream,
                                           const struct rfn_symbol *symbol);
uint64_t rfn_stream_events(const struct rfn_stream *stream); /* a run of polls counts once */
uint64_t rfn_stream_calls(const struct rfn_stream *stream);  /* every poll counts */

/* Time marks: the enter of events RFN_STREAM_MARK, 2 * RFN_STREAM_MARK, ... (with times). */
const uint64_t *rfn_stream_marks(const struct rfn_stream *stream, size_t *n);

/* Inputs that have moved: bit i for input i of the site. */
uint32_t rfn_stream_moved(const struct rfn_stream *stream, uint32_t site);
/* Moves an input by request (another rank has moved it). Only after flush or catch_up, and settle
 * before the stream is looked at again. */
void rfn_stream_move(struct rfn_stream *stream, uint32_t site, uint32_t input);
int rfn_stream_settle(struct rfn_stream *stream);

/* Whether the times are being reduced, or take more than is kept. */
bool rfn_stream_is_long(const struct rfn_stream *stream);

/* Ends an epoch in mid-run, when the stream is told so, as streams are that are to have the same
 * structure: first rfn_stream_catch_up, then inputs may be moved by request, then the epoch, which
 * settles before. What is reduced is coded, as far as it is known. Nothing without a sink. A run
 * of polls stays held back. RFN_E_NOMEM, or an error of the spill: the stream must not be used
 * further. */
int rfn_stream_catch_up(struct rfn_stream *stream);
int rfn_stream_epoch(struct rfn_stream *stream);

/* Reduces what is left of the times, once, when all else is done; the columns of what is measured
 * are empty then. Nothing without a sink. RFN_E_NOMEM, or an error of the spill: the stream must
 * not be used further. */
int rfn_stream_reduce(struct rfn_stream *stream);
/* What became of the times; NULL if they are kept so far. */
const struct rfn_stream_reduction *rfn_stream_reduced(const struct rfn_stream *stream);
uint64_t rfn_stream_epochs(const struct rfn_stream *stream); /* before rfn_stream_reduce */

#endif
