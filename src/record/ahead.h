/* ahead.h - times that are written while other ranks are still on their way to MPI_Finalize.
 *
 * Full times are nearly all of an archive, and what a rank has of them hardly changes any more when
 * it has come to the end of MPI. So the ranks of one node put them into the file as they come,
 * and when the last one is there what is left to be written does not grow with the run.
 *
 * The file has no name by then. The first rank that has enough to write opens it in the folder of
 * the archive (O_TMPFILE: nothing is left if the job dies) and notes for the others in the memory
 * that they share which it is (exchange_node.h); they, and in the end rank 0, open it through
 * /proc. Rank 0 may do so when others have closed theirs, so the first one keeps a descriptor for
 * that. The file gets its name when rank 0 creates the archive.
 *
 *   64                      header
 *   the reserve             for rank 0's part, the front
 *   per rank that claims:   its chunk of times, and some bytes to spare
 *   the other chunks of all ranks, the table of contents
 *
 * A claim is a step of a counter in the shared memory. Its size is that of the chunk so far and
 * some bytes, as MPI_Finalize itself may be still to come, or its end; what stays unused is zero.
 * A chunk that is whole by then stays as it is, if what the rank learns of others does not change
 * it (finish_whole.h). Else what was written is noted part by part, with a hash of each, the chunk
 * is made again in the end, and of its parts only those are written that do not stand at their
 * place in the file already: what fails, or has changed, is written in the end.
 * While a rank writes MPI makes no progress in it, as in the end: what another one still receives
 * from it waits for so long.
 *
 *   - The file cannot be given a name: rank 0 creates another one of the same layout, in which
 *     nothing stands.
 *   - Rank 0's part is larger than the reserve, or so much smaller that a share of the file would
 *     stay unused: rank 0 moves what is claimed. The reserve is that share, if all ranks have as
 *     much as the first one to claim; at least 16 KiB, at most 64 KiB.
 *   - A chunk has become larger than its claim: it goes to the other chunks, the claim is zeros.
 */
#ifndef RFN_RECORD_AHEAD_H
#define RFN_RECORD_AHEAD_H

#include "archive/container.h"
#include "record/exchange_node.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file without a name, the same for all. */
struct rec_ahead_file {
    uint64_t device, inode;
};

/* Bytes that stand in the file. */
struct rec_ahead_part {
    uint64_t offset, size, hash;
    bool is_same; /* in the chunk that was made in the end */
};

struct rec_ahead {
    uint64_t offset, size;      /* what this rank claims of the file; size 0: nothing */
    uint64_t end;               /* of what all ranks claim; 0: nobody does */
    uint64_t reserve;           /* between the header and what is claimed, for rank 0's part */
    struct rfn_toc_entry entry; /* of the chunk that was written there */
    bool whole;                 /* it stays as it is, and stands there without a doubt */
    struct rfn_rope chunk;      /* that is */
    struct rec_ahead_part *parts;
    size_t n_parts, parts_capacity;
    struct rec_ahead_file file;
    int fd;      /* of it; -1: this rank has not opened it, or has given it away */
    int offered; /* another one of it, which others open; -1: this rank has not opened it first */
};

#define REC_AHEAD_INIT                                  \
    {                                                   \
        .chunk = RFN_ROPE_INIT, .fd = -1, .offered = -1 \
    }

/* Times of fewer bytes are compressed. Columns are coded near their entropy: what that gains is a
 * quarter of 1 KiB and a hundredth of 8 KiB. */
enum { REC_TIMES_LARGE = 1 << 13 };

enum { REC_AHEAD_UNUSED = 128 }; /* so much of a file may be, of one part in so many */

/* Claims room for a chunk with these times, and writes it there, if ranks that have as many bytes
 * of times each have enough of them together (rec_options.ahead_bytes). Only who has joined the
 * memory. The entry says its type and id. whole: it will not change any more, if all other ranks
 * say so too (then its bytes must stay where they are until rec_ahead_release or rec_ahead_forget);
 * else few are not written. The times are empty afterwards, or as they were. */
void rec_ahead_write(struct rec_ahead *ahead, struct rec_node_exchange *node,
                     const struct rfn_toc_entry *entry, bool whole, struct rfn_rope *times);

/* A program that closes descriptors which are not its own may have got this one for another file.
 */
bool rec_ahead_is_open(const struct rec_ahead *ahead);

/* Another file is left alone. False: what was written may not have got there, so nothing stands. */
bool rec_ahead_close(struct rec_ahead *ahead);

/* The chunk is not whole: something of it changes. */
void rec_ahead_forget(struct rec_ahead *ahead);

/* All ranks are there, and each has claimed what it will. Rank 0 has the file open then, if it can
 * have it and anything is claimed. whole, the same on all ranks: chunks may stay as they are; else
 * little that is claimed is given up, by all. */
void rec_ahead_settle(struct rec_ahead *ahead, const struct rec_node_exchange *node, bool whole);

/* When rank 0 has the file open, as who has heard of it knows: others need this rank's no more. */
void rec_ahead_withdraw(struct rec_ahead *ahead);

/* In the end the chunk has these bytes at this offset behind its header: whether they are the same
 * is kept. */
void rec_ahead_compare(struct rec_ahead *ahead, uint64_t offset, const uint8_t *bytes, size_t size);

/* Whether so many bytes at this offset of the file need not be written, as they stand there. */
bool rec_ahead_stands(const struct rec_ahead *ahead, uint64_t offset, uint64_t size);

void rec_ahead_release(struct rec_ahead *ahead);

#endif
