/* output.h - the archive: its file is chosen and created by rank 0, and written by all ranks at
 * once.
 *
 * Where ranks share no file system (a rank cannot open the file that rank 0 created, or finds
 * another one there), every rank sends its bytes to rank 0, one after the other.
 */
#ifndef RFN_RECORD_OUTPUT_H
#define RFN_RECORD_OUTPUT_H

#include "archive/container.h"
#include "record/ahead.h"
#include "record/archive_file.h"
#include "reduce/exchange.h"

/* One rank's part of the file: whole chunks, and where they are within it. */
struct rec_output {
    struct rfn_rope bytes;
    struct rfn_toc_entry *entries; /* offsets relative to bytes */
    size_t n_entries, entries_capacity;
    bool alone; /* of a process that writes without the others: .rankN goes into the name */
    struct rec_ahead *ahead; /* what ranks have claimed of the file; NULL: nothing */
    struct rfn_rope claimed; /* a chunk for what this rank has, or empty */
    struct rfn_toc_entry claimed_entry;
    uint64_t peak; /* on rank 0, in the end: most memory that merging has taken on a rank */
    int64_t whole; /* ns, on rank 0, in the end: when the archive was; others are told then */
};

#define REC_OUTPUT_INIT \
    {                   \
        0               \
    }

void rec_output_release(struct rec_output *output);
/* Appends a chunk; the payload is empty afterwards. spill may be NULL. */
int rec_output_chunk(struct rec_output *output, uint32_t type, uint64_t id,
                     struct rfn_rope *payload, bool compress, const struct rfn_spill *spill);

/* The same for a chunk that goes to where the rank has claimed room, as it is, if it fits in there.
 */
int rec_output_chunk_claimed(struct rec_output *output, uint32_t type, uint64_t id,
                             struct rfn_rope *payload);

/* Takes the chunk that was whole when it was written ahead: output->ahead has one. */
void rec_output_chunk_whole(struct rec_output *output);

/* Appends a copy of a chunk that is there as it is to be; the entry's offset is not looked at.
 * RFN_E_NOMEM, or that the bytes could not be read. */
int rec_output_take(struct rec_output *output, const struct rfn_toc_entry *entry,
                    const struct rfn_rope *bytes);

/* Appends copies of all chunks of `more`. RFN_E_NOMEM. */
int rec_output_append(struct rec_output *output, const struct rec_output *more);

/* Collective. On rank 0 output begins with the front (META, DEFINITIONS, STREAMS, PLACES). error:
 * this rank takes part but has failed. Returns 0 or an error on every rank; a file that could not
 * be written whole is removed. result->problem is afterwards, on rank 0, that of the first rank
 * that knows one, with its number. */
int rec_output_write(struct rec_output *output, struct rfn_exchange *exchange, int error,
                     struct rec_archive_result *result);

/* Not collective. On rank 0: creates the archive, in which all that ranks have claimed stands, and
 * returns a descriptor, or an error with nothing left. RFN_E_UNSUPPORTED: another file would have
 * to be written. */
int rec_output_create(struct rec_output *output, struct rfn_exchange *exchange,
                      struct rec_archive_result *result);

/* The rest of it: output, and the table of contents with all of that and the entries of chunks that
 * stand there (struct rfn_toc_entry, offsets in the file). Closes the file; one that is not whole,
 * also after an error before, is removed. */
int rec_output_complete(struct rec_output *output, struct rfn_exchange *exchange, int fd,
                        const struct rfn_buf *standing, int error,
                        struct rec_archive_result *result);

#endif
