/* journal_format.h - a checkpoint of a process's recording, as it lies in FILE.rfn.journal/.
 *
 * The folder has, of each process:
 *
 *   HOST.PID.RANK.THREAD.NUMBER         finished blocks of columns, appended as they are finished:
 *                                       bytes without any form
 *   HOST.PID.START.RANK.checkpoint.0    checkpoints, written in turn, so that one of the two is
 *   HOST.PID.START.RANK.checkpoint.1    whole whenever the process is killed
 *
 * START is when the process began to record, ms since 1970: PIDs are used again. Several runs may
 * have files here, also at once: each process writes and removes its own files only.
 *
 * A checkpoint has the chunks of an archive of this process alone, uncompressed. Where a payload
 * contains finished blocks, they are named by their place in a file of blocks. So a checkpoint
 * takes a few KiB, however long the run is, and an archive is made by putting the pieces together.
 *
 *   offset  bytes  header
 *        0      8  magic: 89 52 46 4a 0d 0a 1a 0a
 *        8      4  version, 2
 *       12      4  0
 *       16      8  sequence number: of two checkpoints the larger one is newer
 *       24      8  size of the body
 *       32      8  XXH3-64 of the body
 *       40      8  XXH3-64 of the header up to here
 *       48         the body
 *
 *   body   varint rank, varint ranks, varint PID, string host,
 *          u64 CLOCK_REALTIME when the process began to record, u64 the same of the checkpoint,
 *          u8 enum rfn_journal_state, u8 flags (RFN_JOURNAL_TIMES_LOST, RFN_JOURNAL_OF_RUN),
 *          string name of the archive that the run was to write,
 *          with RFN_JOURNAL_OF_RUN: u64 identity of the run, not 0 (since version 2),
 *          varint files, per file: string name without folder ("" if there is none), varint bytes,
 *                                  u64 XXH3-64 of so many bytes from the beginning,
 *          varint chunks, per chunk: as rfn_journal_pack_chunk has it
 *   chunk  varint type, varint id, u8 whether to compress, varint pieces, per piece:
 *          varint 0, blob bytes; or varint file + 1, varint offset, varint size
 *
 * Numbers are little-endian; strings and blobs are a varint length and bytes.
 */
#ifndef RFN_ARCHIVE_JOURNAL_FORMAT_H
#define RFN_ARCHIVE_JOURNAL_FORMAT_H

#include "base/rope.h"
#include "refrain/journal.h"

enum { RFN_JOURNAL_VERSION = 2, RFN_JOURNAL_HEADER_BYTES = 48 };
enum { RFN_JOURNAL_TIMES_LOST = 1, RFN_JOURNAL_OF_RUN = 2 };
#define RFN_JOURNAL_CHECKPOINT ".checkpoint."

/* Appends a chunk. file_of says which file of blocks a spill is. Failure shows in out. */
void rfn_journal_pack_chunk(struct rfn_buf *out, uint32_t type, uint64_t id, bool compress,
                            const struct rfn_rope *payload,
                            uint64_t (*file_of)(const struct rfn_spill *spill));

/* A file of blocks. */
struct rfn_journal_file {
    const char *name; /* without folder; "": there is none */
    uint64_t bytes, hash;
};

/* What a checkpoint says beside its chunks. */
struct rfn_journal_head {
    struct rfn_journal_rank rank;
    const char *archive;
    struct rfn_journal_file *files;
    size_t n_files;
};

/* Writes header and body. chunks: n of them, one behind the other. Failure shows in out. */
void rfn_journal_pack(struct rfn_buf *out, uint64_t sequence, const struct rfn_journal_head *head,
                      uint64_t n_chunks, const struct rfn_buf *chunks);

/* Writes the header of a body, and the body. Failure shows in out. */
void rfn_journal_wrap(struct rfn_buf *out, uint64_t sequence, const void *body, size_t size);

/* Checks header and hashes. Returns what is wrong, or NULL: then the reader is at the body. */
const char *rfn_journal_open(const uint8_t *bytes, size_t size, uint64_t *sequence,
                             struct rfn_reader *body);

#endif
