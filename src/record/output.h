/* output.h - the archive's file: chosen and created by rank 0, written by all ranks at once.
 *
 * Where ranks share no file system (a rank cannot open the file that rank 0 created, or finds
 * another one there), every rank sends its bytes to rank 0, one after the other.
 */
#ifndef RFN_RECORD_OUTPUT_H
#define RFN_RECORD_OUTPUT_H

#include "archive/container.h"
#include "reduce/exchange.h"

/* One rank's part of the file: whole chunks, and where they are within it. */
struct rec_output {
    struct rfn_rope bytes;
    struct rfn_toc_entry *entries; /* offsets relative to bytes */
    size_t n_entries, entries_capacity;
    bool alone; /* of a process that writes without the others: .rankN goes into the name */
};

#define REC_OUTPUT_INIT \
    {                   \
        0               \
    }

void rec_output_release(struct rec_output *output);
/* Appends a chunk; the payload is empty afterwards. spill may be NULL. */
int rec_output_chunk(struct rec_output *output, uint32_t type, uint64_t id,
                     struct rfn_rope *payload, bool compress, const struct rfn_spill *spill);

/* Appends a copy of a chunk that is there as it is to be; the entry's offset is not looked at.
 * RFN_E_NOMEM, or that the bytes could not be read. */
int rec_output_take(struct rec_output *output, const struct rfn_toc_entry *entry,
                    const struct rfn_rope *bytes);

/* Appends copies of all chunks of `more`. RFN_E_NOMEM. */
int rec_output_append(struct rec_output *output, const struct rec_output *more);

/* The wanted name with a number before the suffix, for number > 1: app.8.rfn, app.8.2.rfn, ...
 * Absolute, unless it is not known where the program started. RFN_E_IO when it is too long. */
int rec_output_name(char *path, size_t size, int ranks, unsigned number);

struct rec_output_result {
    char path[4096]; /* of the archive */
    uint64_t file_bytes;
    uint64_t merge_bytes; /* on rank 0: most memory that merging has taken on a rank */
    char problem[512];    /* why it failed, on ranks that know; may be set before. Afterwards on
                             rank 0: the first rank that knows, and what it knows */
};

/* Collective. On rank 0 output begins with the front (META, DEFINITIONS, STREAMS, PLACES). error:
 * this rank takes part but has failed. Returns 0 or an error on every rank; a file that could not
 * be written whole is removed. */
int rec_output_write(struct rec_output *output, struct rfn_exchange *exchange, int error,
                     struct rec_output_result *result);

#endif
