/* reader.h - what is behind a struct rfn_archive.
 *
 * META, DEFINITIONS and STREAMS are read when an archive is opened, the rest when it is needed.
 * Structures, rank parameters and values are shared by the cursors that use them at the same time;
 * a few that nobody uses are kept for the next. A lock guards that bookkeeping and nothing else:
 * once handed out, parts do not change.
 */
#ifndef RFN_ARCHIVE_READ_READER_H
#define RFN_ARCHIVE_READ_READER_H

#include "archive/read/chunks.h"
#include "archive/read/cluster_index.h"
#include "archive/read/common_loops.h"
#include "archive/read/dictionary.h"
#include "archive/read/event_payloads.h"
#include "archive/read/host_clocks.h"
#include "archive/read/reduced_timing.h"
#include "reduce/fold/stream.h"
#include "refrain/archive.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* STREAMS: the sequences, in their order. */
enum rfn_stream_word {
    RFN_WORD_RANK,
    RFN_WORD_THREAD,
    RFN_WORD_GROUP,
    RFN_WORD_VALUES,
    RFN_WORD_HOST,
    RFN_WORD_EVENTS,
    RFN_WORD_CALLS,
    RFN_WORD_START,     /* CLOCK_MONOTONIC of the stream's start, ns; 0 without times */
    RFN_WORD_REALTIME,  /* CLOCK_REALTIME - CLOCK_MONOTONIC then, ns */
    RFN_WORD_VOLUME,    /* 1 if it has volumes */
    RFN_WORD_REGIONS,   /* events that are begins and ends of regions */
    RFN_WORD_TIMES,     /* time set: the lowest stream that has the same times */
    RFN_WORD_SIGNATURE, /* of its calls, or RFN_UNSIGNED */
    RFN_WORD_END,       /* CLOCK_MONOTONIC of the end of its last event, ns; 0: as TIMING has it */
    RFN_STREAM_WORDS
};

/* STRUCTURE, RANK_PARAMS or VALUES, or a chunk for those of many, read. */
struct rfn_part {
    uint32_t type;
    size_t entry; /* of archive.parts */
    size_t users;
    struct rfn_part *newer, *older; /* among those without users */
    union {
        struct rfn_structure structure;
        struct rfn_member_table rank_params;
        struct rfn_values values;
        struct rfn_cluster_index shapes;    /* CLUSTERS */
        struct rfn_common common;           /* COMMON */
        struct rfn_time_set_table profiles; /* PROFILES */
    } u;
};

/* What all cursors that are open at one time may hold of decoded lists, and as much again of
 * copies; each has an equal share. */
#ifdef RFN_FUZZING
enum { RFN_LIST_BYTES = 1 << 10 };
#else
enum { RFN_LIST_BYTES = 1 << 22 };
#endif

/* From one event with a time mark to the next: a power of two. */
#ifdef RFN_FUZZING
enum { RFN_MARK_EVENTS = 16 };
#else
enum { RFN_MARK_EVENTS = RFN_STREAM_MARK };
#endif

struct rfn_archive {
    struct rfn_chunks chunks;
    bool exact; /* the format has this program's minor version: nothing may follow a payload */
    struct rfn_dictionary dictionary;
    struct rfn_member_table streams;
    uint32_t n_streams, n_groups, n_value_sets;
    uint32_t *members, *first_member; /* streams by group */
    uint32_t *first_set;              /* value sets by group; NULL: there are no CLUSTERS */
    struct rfn_host_clocks clocks;    /* CLOCKS */
    uint64_t *host_offsets; /* per host: aligns its CLOCK_MONOTONIC, corrected, by addition */
    uint64_t start_ns;      /* the earliest start of a stream, so aligned */
    bool complete;          /* the file is whole */
    const char *why;        /* or not */
    size_t list_bytes;      /* RFN_LIST_BYTES; tests change it */
    uint64_t mark_events;   /* RFN_MARK_EVENTS; tests change it */
    char missing[192];      /* in a whole file: what ended without being written; or "" */
    struct rfn_part_cache {
        pthread_mutex_t lock; /* of the rest */
        struct rfn_part *
            *parts; /* per entry of chunks, then per part in CLUSTERS; NULL: not read */
        size_t n;
        struct rfn_part *newest, *oldest;
        size_t n_idle;
    } cache;
};

int rfn_archive_open_memory(const void *bytes, size_t size, struct rfn_archive **archive,
                            struct rfn_diag *diag);

/* rfn_archive_verify of an archive that is open already. */
int rfn_archive_verify_open(const struct rfn_archive *archive,
                            void (*progress)(void *context, double share), void *context,
                            struct rfn_diag *diag);

int64_t rfn_stream_word(const struct rfn_archive *archive, enum rfn_stream_word word,
                        uint32_t stream);
/* The id of a stream's TIMING or PROFILE. */
uint32_t rfn_stream_times(const struct rfn_archive *archive, uint32_t stream);
/* Whether a stream has volumes. */
bool rfn_stream_counted(const struct rfn_archive *archive, uint32_t stream);
/* The place of a stream among the members of its group. */
uint32_t rfn_stream_place(const struct rfn_archive *archive, uint32_t stream);

/* Whose words in RANK_PARAMS are looked at: a member of a group. */
struct rfn_member {
    const struct rfn_archive *archive;
    const struct rfn_structure *structure;
    const struct rfn_member_table *table;
    uint32_t place, rank;
};

/* What words of a symbol that are ranks are relative to (refrain-archive(5), RANK_PARAMS): the own
 * rank in the communicator of the call, or in the world, and the size of that. `value` is 0. */
struct rfn_rank_value rfn_member_own_place(const struct rfn_member *member,
                                           const struct rfn_symbol_info *symbol,
                                           const struct rfn_function_info *function);

/* Takes a part into use; RFN_E_CORRUPT, _INCOMPLETE (not there), _IO, _NOMEM. structure: needed
 * for RANK_PARAMS and VALUES. To be given back. */
int rfn_part_use(const struct rfn_archive *archive, uint32_t type, uint64_t id,
                 const struct rfn_structure *structure, struct rfn_part **part,
                 struct rfn_diag *diag);
/* The same for a chunk that has parts of many: CLUSTERS or PROFILES. */
int rfn_chunk_use(const struct rfn_archive *archive, const struct rfn_toc_entry *chunk,
                  struct rfn_part **part, struct rfn_diag *diag);
/* Loads the payload that a part is read from: that of its own chunk, or what CLUSTERS makes of it.
 * structure: needed for RANK_PARAMS. Large VALUES are left in a store. Errors as above; to be
 * released.
 */
int rfn_part_load(const struct rfn_archive *archive, uint32_t type, uint64_t id,
                  const struct rfn_structure *structure, struct rfn_payload *payload,
                  struct rfn_diag *diag);
/* Where a part is: the number of its own chunk, or of a CLUSTERS, or -1. */
int64_t rfn_part_find(const struct rfn_archive *archive, uint32_t type, uint64_t id);
void rfn_part_done(const struct rfn_archive *archive, struct rfn_part *part);

/* The entry of COMMON; -1: there is none that something could refer to. */
int64_t rfn_common_find(const struct rfn_archive *archive);
/* What COMMON has, borrowed until the archive is closed. RFN_E_CORRUPT, _INCOMPLETE (not there),
 * _IO, _NOMEM. */
int rfn_common_use(const struct rfn_archive *archive, const struct rfn_common **common,
                   struct rfn_diag *diag);

/* The parts that a stream's events are in, but for its times; NULL: not in use. */
struct rfn_stream_parts {
    const struct rfn_structure *structure;
    const struct rfn_member_table *rank_params;
    const struct rfn_values *values;
    struct rfn_part *used[3];
};

/* Takes them into use; errors as of rfn_part_use. To be given back, also on failure. */
int rfn_stream_parts_use(const struct rfn_archive *archive, uint32_t stream,
                         struct rfn_stream_parts *parts, struct rfn_diag *diag);
void rfn_stream_parts_done(const struct rfn_archive *archive, const struct rfn_stream_parts *parts);

/* Where among the chunks a stream's TIMING is, or the PROFILE of its time set; -1: nowhere. */
int64_t rfn_timing_find(const struct rfn_archive *archive, uint32_t stream);
int64_t rfn_reduced_timing_find(const struct rfn_archive *archive, uint32_t stream);

/* The payload of a time set's PROFILE, which is the chunk of this entry or a part of it, and what
 * guides its lists. Both are to be released after 0. */
int rfn_profile_load(const struct rfn_archive *archive, const struct rfn_toc_entry *entry,
                     uint32_t time_set, struct rfn_payload *payload, struct rfn_guides *guides,
                     struct rfn_diag *diag);
/* Reads the TIMING or PROFILE of a stream; of a TIMING *reduced has no columns. RFN_E_NOTFOUND when
 * it has neither and needs none. After 0 both are to be released. */
int rfn_times_load(const struct rfn_archive *archive, uint32_t stream,
                   const struct rfn_structure *structure, struct rfn_timing *timing,
                   struct rfn_reduced_timing *reduced, struct rfn_diag *diag);
/* What is to be added to CLOCK_MONOTONIC of a host, corrected if there is something to correct it
 * (rfn_host_clock), to get time since the start of the run. */
uint64_t rfn_archive_origin(const struct rfn_archive *archive, uint32_t host);

/* Fail: there is no memory, or a part of the file is not there. */
int rfn_archive_no_memory(const struct rfn_archive *archive, struct rfn_diag *diag);
int rfn_archive_missing(const struct rfn_archive *archive, const char *what, uint64_t id,
                        struct rfn_diag *diag);

#endif
