/* finish_whole.h - an archive that rank 0 completes without the others.
 *
 * Where a rank knows all that it will have for the archive before all ranks have come to
 * MPI_Finalize, it need not hear of numbers: it hands up its digests (finish.h, step 2) and then
 * gives rank 0, in one message, all that later steps would have to bring: words of tables, its
 * structure and its values, with hashes in place of numbers, and where its times stand in the file
 * (ahead.h). Of all that rank 0 takes what is not there yet. So when the last rank has
 * come, nobody has anything to do but those on its way to rank 0.
 *
 * That is so of plain ranks (finish_barrier.c) whose structures and values are small enough to come
 * to rank 0, and whose times are not reduced. If one rank has more, all go on with step 2's numbers
 * as if nothing had been said.
 *
 * MPI_Finalize ends when the last rank has come, after times were written: STREAMS says when.
 */
#ifndef RFN_RECORD_FINISH_WHOLE_H
#define RFN_RECORD_FINISH_WHOLE_H

#include "record/finishing.h"

/* A message to rank 0, as long as it is made, and what rank 0 makes of all. */
struct rec_whole {
    struct rec_finishing *finish;
    struct rec_ahead *ahead;
    struct rfn_gathering gathering;   /* of that */
    struct rfn_collection collection; /* what is counted */
    uint64_t received;                /* bytes that are, or were there before */
    struct rfn_buf standing;          /* on rank 0: entries of chunks that stand in the file */
    struct rec_archive_result result; /* on rank 0 */
    int fd;                           /* on rank 0: of the archive */
};

/* Before step 2, when the process's digests have been taken: makes its message, but for what is
 * known only when it is sent. error: so far; there is none then. RFN_E_UNSUPPORTED: this rank has
 * more for the archive. RFN_E_NOMEM, or the error of a spill. */
int rec_whole_begin(struct rec_whole *whole, struct rec_finishing *finish, struct rec_ahead *ahead,
                    int error);
void rec_whole_release(struct rec_whole *whole);

/* Collective, when rank 0 has all digests, and numbers. error: so far; this rank has no message. On
 * rank 0 true: it has all, and must call rec_whole_end. On others true: that has been done.
 * False: no rank's message has had an effect. */
bool rec_whole_gather(struct rec_whole *whole, int error);

/* On rank 0: completes the archive, and tells the others. RFN_E_NOMEM, RFN_E_IO, RFN_E_EXCHANGE. */
int rec_whole_end(struct rec_whole *whole, int error);

#endif
