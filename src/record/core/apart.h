/* apart.h - volumes of the program alone, for runs that are recorded without times
 * (`refrain record --time-independent`).
 *
 * The thread's counter is read twice per call of MPI: first of all when the program comes to the
 * wrapper, and last of all when the wrapper is done. What is counted between a call's end and the
 * next one's begin is the program's, and makes the volume before that call; what MPI and the
 * recorder do inside of calls is not looked at. The rest that is not the program's is what lies
 * between two readings, mostly reading itself. It is measured when a thread's counter opens, and
 * taken out of each volume.
 *
 * Nothing of this is on the way of other recordings: calls enter through rec_enter's slow path, and
 * leave through the listener.
 */
#ifndef RFN_RECORD_CORE_APART_H
#define RFN_RECORD_CORE_APART_H

#include "record/core/recorder.h"

/* Begins to count apart on a stream whose counter is open, and listens to calls from now on. By the
 * stream's thread. */
void rec_apart_open(struct rec_stream *stream);
/* The program comes to a call, which gets the volume before it. */
void rec_apart_enter(struct rec_stream *stream);

#endif
