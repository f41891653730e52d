/* function_calls.h - calls of the program's own functions as regions.
 *
 * Compiled with -finstrument-functions, a program calls __cyg_profile_func_enter and _exit at the
 * begin and the end of every function; the recorder defines them. A visit of a function whose name
 * is wanted (REFRAIN_FUNCTIONS, function_names.h) becomes two events of the region of that name,
 * with a call path of one frame, the function: its callers are the regions around it.
 *
 * What is recorded. A call that took at least REFRAIN_FUNCTIONS_MIN, or during which the thread
 * recorded anything. So its begin, with its stamp, is *held* on the thread's stack of open calls
 * until one of both is certain. What is recorded next writes all held begins first, outermost first
 * (rec_enter looks at one flag, stream->slow); an exit that comes too early forgets its own.
 *
 * What is switched off. A function that a thread calls more than REFRAIN_FUNCTIONS_RATE times in a
 * second is not recorded in that thread any more; a call then costs two look-ups. How many calls
 * that were is one event per function before MPI_Finalize (refrain_calls_unrecorded).
 *
 * What does not fit. Functions left by a jump have no exit: they end when a function is entered
 * from further out on the stack, or from the same place again, or when one further out is left.
 * This is told once. An exit without a begin (the recorder slept) means nothing. Calls deeper than
 * REC_CALLS_DEPTH, within an MPI call (callbacks), or while recording is off, are not recorded.
 *
 * Hooks within the recorder itself (of an instrumented malloc, or a signal handler) return at once.
 */
#ifndef RFN_RECORD_REGIONS_FUNCTION_CALLS_H
#define RFN_RECORD_REGIONS_FUNCTION_CALLS_H

#include "record/core/recorder.h"

enum { REC_CALLS_DEPTH = 1024 };

/* At the end, of the thread that calls MPI_Finalize: decides about what is held, as if it ended
 * now; ends the open calls that were begun after `order` (rec_regions_next); writes how many calls
 * were not recorded, of all threads. */
void rec_calls_prepare_close(struct rec_stream *stream);
void rec_calls_close(struct rec_stream *stream, uint64_t order);
void rec_calls_tell_unrecorded(struct rec_stream *stream);

#endif
