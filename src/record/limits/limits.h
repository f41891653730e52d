/* limits.h - leaves out calls on request; nothing else in the record becomes wrong.
 *
 * - A call of a function that may be left out (archive/write/record_limits.h) goes if --include,
 *   --exclude or --max-calls-per-second say so. Its handles are known all the same.
 * - Of a poll without success its time stays: an event of refrain_polls stands for all of them that
 *   follow each other, whatever they asked for. So readers still find that the rank waited, and for
 *   how long (doc/analysis.md, Polls).
 * - From the end that --until or --max-size set, all calls go but MPI_Init, MPI_Finalize and the
 *   like. An event of refrain_recording says when that was; for readers it is an MPI_Pcontrol(0).
 *   Recording does not go on behind it: ranks stop at different moments, and what each has until
 *   then is the first part of its order of messages.
 *
 * - Before --from recording is switched off (record/core/begin.h).
 *
 * How many calls of a function were left out says an event of refrain_calls_left_out behind
 * MPI_Finalize.
 *
 * Where nothing is left out on request no code of this folder runs.
 */
#ifndef RFN_RECORD_LIMITS_LIMITS_H
#define RFN_RECORD_LIMITS_LIMITS_H

#include "record/core/recorder.h"

/* The options as they were given: "--exclude=MPI_Iprobe --until=10s". NULL: nothing. */
const char *rec_limits_text(void);

/* Recording is over: writes how many calls this process has left out. The first time only.
 * RFN_E_NOMEM. */
int rec_limits_end(void);

/* Says which calls this process has left out, and when it stopped recording. */
void rec_limits_tell(void);

#endif
