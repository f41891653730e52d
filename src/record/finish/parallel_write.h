/* parallel_write.h - the archive: its file is chosen and created by rank 0, and written by all
 * ranks at once.
 *
 * Where ranks share no file system (a rank cannot open the file that rank 0 created, or finds
 * another one there), every rank sends its bytes to rank 0, one after the other.
 */
#ifndef RFN_RECORD_FINISH_PARALLEL_WRITE_H
#define RFN_RECORD_FINISH_PARALLEL_WRITE_H

#include "archive/container.h"
#include "record/core/archive_file.h"
#include "reduce/merge/exchange.h"

/* One rank's part of the file: whole chunks, and where they are within it. Of a draft, which is for
 * a checkpoint, chunks as archive/journal_format.h has them: what has left memory stays there. */
struct rec_output {
    struct rfn_rope bytes;
    struct rfn_toc_entry *entries; /* offsets relative to bytes */
    size_t n_entries, entries_capacity;
    bool draft;
};

#define REC_OUTPUT_INIT \
    {                   \
        0               \
    }

void rec_output_release(struct rec_output *output);

/* Appends a chunk; the payload is empty afterwards. spill may be NULL. */
int rec_output_chunk(struct rec_output *output, uint32_t type, uint64_t id,
                     struct rfn_rope *payload, bool compress, const struct rfn_spill *spill);

/* Appends a copy of a finished chunk; the entry's offset is ignored. RFN_E_NOMEM, or that the bytes
 * could not be read. */
int rec_output_take(struct rec_output *output, const struct rfn_toc_entry *entry,
                    const struct rfn_rope *bytes);

/* Appends copies of all chunks of `more`. RFN_E_NOMEM. */
int rec_output_append(struct rec_output *output, const struct rec_output *more);

/* Collective. On rank 0 output begins with the front (META, DEFINITIONS, STREAMS, RANK_PARAMS).
 * error: this rank takes part but has failed. Returns 0 or an error on every rank; a file that
 * could not be written whole is removed. result->alone is to be set; result->problem is afterwards,
 * on rank 0, the first one that any rank knows, with that rank's number. */
int rec_output_write(struct rec_output *output, struct rfn_exchange *exchange, int error,
                     struct rec_archive_result *result);

#endif
