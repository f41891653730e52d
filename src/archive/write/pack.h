/* pack.h - writes what was reduced and merged as the payloads of an archive's chunks.
 *
 * The layouts are those of refrain-archive(5). References between chunks are numbers that only
 * exist after the merge; before it, the same serialization with 64-bit hashes in their place gives
 * the bytes whose digest ranks compare: what is equal there is equal in the file.
 */
#ifndef RFN_ARCHIVE_WRITE_PACK_H
#define RFN_ARCHIVE_WRITE_PACK_H

#include "archive/clock_format.h"
#include "base/rope.h"
#include "event/source_calls.h"
#include "event/symbolize.h"
#include "reduce/clusters/path_signature.h"
#include "reduce/fold/stream.h"
#include "reduce/merge/merge.h"
#include "refrain/archive.h"

#include <stdbool.h>
#include <stdint.h>

/* What a stream's local numbers stand for: numbers in the archive, or hashes. Borrowed. */
struct rfn_pack_refs {
    const uint64_t *site_functions, *site_paths;
    size_t n_sites;
    const uint64_t *types; /* per local datatype number */
    size_t n_types;
    const int64_t *comm_ranks; /* own rank in each local communicator */
    const int64_t *comms;      /* its number in the archive; only for rfn_pack_rank_params */
    size_t n_comms;
    int64_t world_rank;
};

/* Payloads of STRUCTURE and VALUES. Ropes borrow from the stream's columns. */
int rfn_pack_structure(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                       struct rfn_rope *out);
int rfn_pack_values(const struct rfn_stream *stream, struct rfn_rope *out);
/* Groups of one shape differ only in some numbers of STRUCTURE: those of datatypes, and inputs.
 * Digests of a structure and of its shape, and the bytes of that; the other digests stay as they
 * are. *loops: the bytes of its loops. RFN_E_NOMEM, or an error of the stream's spill. */
int rfn_pack_structure_digests(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                               struct rfn_stream_digests *digests, uint64_t *loops);
/* What the streams of a process may take to be signed in the end, all together. What is beyond is
 * signed by who asks. */
extern const struct rfn_path_limits rfn_signature_limits;
/* The call-path signature of what a stream with call hashes did: the one that it has kept, else,
 * where that was given up, made of its structure. RFN_UNSIGNED where that would take more than is
 * left, or fails: nothing depends on it. left: of rfn_signature_limits, by the streams of the
 * process before it; what this one takes is taken off. */
uint64_t rfn_pack_signature(struct rfn_stream *stream, struct rfn_path_limits *left);
/* Bytes of a STRUCTURE without its loops in an archive of the stream alone, where definitions are
 * numbered as it has them. */
uint64_t rfn_pack_head_bytes(const struct rfn_stream *stream, const struct rfn_pack_refs *refs);
/* How many numbers may differ, a stream's contribution of them to the table of its shape (as the
 * varints that STRUCTURE has), and where among all numbers they stand: a varint each, how many are
 * passed on the way to it and with it. RFN_E_NOMEM. */
size_t rfn_pack_numbers_count(const struct rfn_stream *stream, const struct rfn_pack_refs *refs);
int rfn_pack_numbers(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                     struct rfn_table *table);
int rfn_pack_number_places(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                           struct rfn_buf *out);

/* The numbers that the file has for the loops of the stream's fold, UINT32_MAX for those that
 * nothing reaches: *number is to be freed, *n of them are in the file. RFN_E_NOMEM, or an error of
 * the stream's spill. */
int rfn_pack_loop_numbers(const struct rfn_stream *stream, uint32_t **number, uint32_t *n);

/* RANK_PARAMS: how many words a stream contributes, and its contribution to the group's table. */
size_t rfn_pack_rank_params_count(const struct rfn_stream *stream,
                                  const struct rfn_pack_refs *refs);
int rfn_pack_rank_params(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                         struct rfn_table *table);
/* A whole table as payload of RANK_PARAMS. */
int rfn_pack_table(const struct rfn_table *table, struct rfn_buf *out);

/* The clock, as TIMING and PROFILE have it, with the enters of marked events. */
void rfn_pack_clock(const struct rfn_pack_clock *clock, const uint64_t *marks, size_t n_marks,
                    struct rfn_buf *out);

/* Times of a symbol; polls and inside only of a failed poll, and volumes, two of them, only where
 * events have volumes: else NULL. */
struct rfn_pack_times {
    const struct rfn_column *gap, *duration, *polls, *inside, *volumes;
};

/* Payload of TIMING, whose columns `of` tells. clock is NULL without times. Borrows the columns. */
int rfn_pack_timing_of(const struct rfn_pack_clock *clock, const uint64_t *marks, size_t n_marks,
                       struct rfn_pack_times (*of)(const void *context, uint32_t symbol),
                       const void *context, uint32_t n_symbols, bool volumes, struct rfn_rope *out);
/* Payload of TIMING. clock is NULL without times. Writes nothing when there is nothing to say (no
 * times, no volume and no failed poll). */
int rfn_pack_timing(const struct rfn_stream *stream, const struct rfn_pack_clock *clock,
                    struct rfn_rope *out);

/* Payload of CLOCKS: how the clocks of hosts (numbers in DEFINITIONS, ascending) differ from the
 * reference's. */
struct rfn_pack_host_clock {
    uint64_t host;
    const struct rfn_clock_offset *offsets; /* in order of time */
    size_t n;
};

int rfn_pack_clocks(uint64_t reference, const struct rfn_pack_host_clock *hosts, size_t n,
                    struct rfn_buf *out);

/* Payload of META: all of the run but streams, resolution_ns and file_bytes, which other chunks
 * say; clustered: it is to be clustered again, as there are no CLUSTERS. */
int rfn_pack_meta(const struct rfn_run *run, struct rfn_buf *out);

/* The contents of definitions, as they are contributed to a merge (rfn_merge_define):
 *   MODULE    string path, blob build-id         (hash: of the build-id, or of all without one);
 *             of a function of a script its name, string: offsets are lines
 *   PATH      varint n, per frame u64 hash of module, varint offset
 *   FUNCTION  rfn_pack_function
 *   DATATYPE  event/datatype.h
 *   COMM      as in the archive
 *   HOST      string
 *   REGION    u64 hash of the name, string
 * Payload of DEFINITIONS, from the merged definitions on rank 0. The symbolizer (may be NULL) finds
 * functions and lines. */
int rfn_pack_definitions(const struct rfn_merge *merge, struct rfn_symbolizer *symbolizer,
                         struct rfn_buf *out);
/* The same where others know functions and lines. module: hash of the definition. Returns how many
 * sources a return address has, as rfn_symbolizer_find; sources are zeros before. It may have paths
 * contain something else in place of offsets, which it then replaces. calls (NULL: nothing is
 * known) gives what a function calls, beside what paths lead through; there are none before. */
struct rfn_source_finder {
    void *context;
    size_t (*find)(void *context, uint64_t module, uint64_t *offset,
                   struct rfn_source sources[RFN_SOURCES_MAX]);
    void (*calls)(void *context, uint64_t module, const char *function, const char *file,
                  struct rfn_source_calls *calls);
};
int rfn_pack_known_definitions(const struct rfn_merge *merge,
                               const struct rfn_source_finder *finder, struct rfn_buf *out);
void rfn_pack_function(const struct rfn_function_info *function, struct rfn_buf *out);

/* STREAMS: the table of rfn_tables with these slots, then the payload. */
enum rfn_stream_slot {
    RFN_SLOT_RANK,
    RFN_SLOT_THREAD,
    RFN_SLOT_GROUP,
    RFN_SLOT_VALUES,
    RFN_SLOT_HOST,
    RFN_SLOT_EVENTS,
    RFN_SLOT_CALLS,
    RFN_SLOT_START,     /* CLOCK_MONOTONIC of the stream's start, ns; 0 without times */
    RFN_SLOT_REALTIME,  /* CLOCK_REALTIME - CLOCK_MONOTONIC then, ns; 0 without times */
    RFN_SLOT_VOLUME,    /* 1 if the stream has volumes */
    RFN_SLOT_REGIONS,   /* events that are begins and ends of regions */
    RFN_SLOT_TIMES,     /* time set: the lowest stream that has the same times, mostly its own */
    RFN_SLOT_SIGNATURE, /* of its calls, or RFN_UNSIGNED */
    RFN_SLOT_END,       /* CLOCK_MONOTONIC of the end of its last event, ns; 0: as TIMING has it */
    RFN_STREAM_SLOTS
};

int rfn_pack_streams(const struct rfn_rank_runs slots[RFN_STREAM_SLOTS], uint64_t n_streams,
                     struct rfn_buf *out);
/* The signature of each stream, from the numbers of the streams' value sets and the signatures of
 * these. RFN_E_NOMEM; RFN_E_EXCHANGE: there is no such set. */
int rfn_fill_signatures(const struct rfn_rank_runs *sets, const uint64_t *signatures,
                        uint64_t n_sets, struct rfn_rank_runs *out);

#endif
