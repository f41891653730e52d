/* chunks.h - reads the outer form of an archive: finds its chunks and loads their payloads.
 *
 * The file is read with pread and never mapped: a file that shrinks under its reader gives an error
 * and not a signal. A whole file has a table of contents. In a file that was cut short the chunks
 * are found by walking from one to the next; then `complete` is false and `why` says what is wrong.
 * A payload is handed out only when its checksum and its sizes are right. Memory grows with what
 * was really decompressed, not with what a header claims.
 *
 * Large payloads with events do not come into memory: their checksum is computed block by block,
 * and they are read a window at a time, from the file, or from a temporary one (temp_file.h) when
 * they have to be decompressed. The file may have been changed meanwhile: who reads checks the
 * bytes.
 */
#ifndef RFN_ARCHIVE_READ_CHUNKS_H
#define RFN_ARCHIVE_READ_CHUNKS_H

#include "archive/container.h"
#include "archive/temp_file.h"
#include "base/spill.h"
#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Payloads of no more bytes are always in memory. */
#ifdef RFN_FUZZING
enum { RFN_RESIDENT_MAX = 64 };
#else
enum { RFN_RESIDENT_MAX = 1 << 16 };
#endif

struct rfn_chunks {
    char *path;                    /* owned; for messages */
    int fd;                        /* -1: the bytes are in memory */
    const uint8_t *memory;         /* borrowed */
    uint64_t file_bytes;           /* that are there */
    uint32_t minor;                /* version */
    uint64_t toc_offset;           /* 0 when the table of contents is not there */
    uint64_t toc_stored;           /* size of its payload as stored */
    uint64_t said_bytes;           /* size of the file as the header says */
    struct rfn_toc_entry *entries; /* in order of offset, without the TOC */
    size_t n, capacity;
    struct rfn_chunk_key {
        uint32_t type;
        uint64_t id;
        size_t entry; /* its index */
    } * by_type;      /* of all entries, in order */
    bool complete;
    int fault;             /* if not: RFN_E_INCOMPLETE, or RFN_E_CORRUPT for a damaged TOC */
    char why[160];         /* a sentence; empty when complete */
    size_t resident_max;   /* RFN_RESIDENT_MAX; tests change it */
    struct rfn_spill file; /* reads the file (or the memory): RFN_E_IO, RFN_E_INCOMPLETE */
    struct rfn_temp_file *scratch; /* owned */
};

/* The struct must stay where it is while it is open. */

/* Opens a file: RFN_E_IO, _CORRUPT (not an archive), _VERSION, _INCOMPLETE (nothing usable),
 * _NOMEM. On failure nothing has to be closed. */
int rfn_chunks_open(struct rfn_chunks *chunks, const char *path, struct rfn_diag *diag);
/* The same over bytes in memory, which must stay as long as chunks is open. */
int rfn_chunks_open_memory(struct rfn_chunks *chunks, const void *bytes, size_t size,
                           struct rfn_diag *diag);
void rfn_chunks_close(struct rfn_chunks *chunks);

/* Whether a type of chunk means something in a file of this minor version; others are skipped. */
bool rfn_chunks_know(const struct rfn_chunks *chunks, uint32_t type);
/* The index of a chunk in entries, or -1. */
int64_t rfn_chunks_find(const struct rfn_chunks *chunks, uint32_t type, uint64_t id);
/* The chunk of a type whose ids are first * 2^32 + end, of things with numbers from `first` to
 * below `end`, that has the number, or -1. */
int64_t rfn_chunks_find_range(const struct rfn_chunks *chunks, uint32_t type, uint32_t number);
/* That of the chunk of a type with the lowest id, or -1. */
int64_t rfn_chunks_first(const struct rfn_chunks *chunks, uint32_t type);

/* Reads bytes of the file; RFN_E_IO, RFN_E_INCOMPLETE when it ends before. */
int rfn_chunks_read(const struct rfn_chunks *chunks, uint64_t offset, void *bytes, size_t size,
                    struct rfn_diag *diag);

struct rfn_payload {
    uint8_t *data; /* owned; or NULL: it is in a store (borrowed from chunks), at this place */
    size_t size;
    const struct rfn_spill *store;
    uint64_t at;
    uint64_t stored_size;
    const char *path; /* of the file, borrowed from chunks; this and the rest for messages */
    uint32_t type;
    uint64_t id, offset;
};

/* Loads a chunk, checked; RFN_E_CORRUPT, _IO, _NOMEM. *payload is to be released. */
int rfn_chunks_load(const struct rfn_chunks *chunks, const struct rfn_toc_entry *entry,
                    struct rfn_payload *payload, struct rfn_diag *diag);
/* The same, but a large payload is left in a store: data is NULL then. */
int rfn_chunks_load_events(const struct rfn_chunks *chunks, const struct rfn_toc_entry *entry,
                           struct rfn_payload *payload, struct rfn_diag *diag);
void rfn_payload_release(struct rfn_payload *payload);

/* Bytes of the payload, which must have them. RFN_E_IO, RFN_E_INCOMPLETE. */
int rfn_payload_read(const struct rfn_payload *payload, size_t at, void *bytes, size_t size);

/* Fails with "FILE: damaged at offset N (chunk TYPE id): what", or "cannot read at" without damage.
 */
int rfn_payload_fail(const struct rfn_payload *payload, int error, const char *what,
                     struct rfn_diag *diag);

/* Readers of payloads return what is wrong in words, or NULL. The first three texts are
 * RFN_E_NOMEM, RFN_E_IO and RFN_E_INCOMPLETE, every other one is RFN_E_CORRUPT; NULL gives 0. */
extern const char rfn_out_of_memory[], rfn_cannot_read[], rfn_became_shorter[];
/* The error of such a text. */
int rfn_fault_error(const char *fault);
/* The text of one of these three errors. */
const char *rfn_read_fault(int error);
int rfn_payload_fault(const struct rfn_payload *payload, const char *fault, struct rfn_diag *diag);

#endif
