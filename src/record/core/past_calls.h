/* past_calls.h - calls that go past the recorder, and layers between the program and MPI.
 *
 * Programs and libraries may define functions of MPI themselves, as tools for profiling do, and
 * call MPI's own by its PMPI name. Where the linker finds their definition behind the recorder,
 * calls are passed on to it (rec_next). Where it finds it before the recorder, in the program
 * itself or in a tool that was loaded first, and where a program calls PMPI functions on purpose,
 * the recorder sees only the PMPI name. These calls are no events, but they are counted, and told
 * in the end.
 */
#ifndef RFN_RECORD_CORE_PAST_CALLS_H
#define RFN_RECORD_CORE_PAST_CALLS_H

#include "record/core/recorder.h"

/* A PMPI function (enum rec_fn) is called outside of recorded calls. caller: where it returns to.
 */
void rec_past_call(uint32_t function, const void *caller);

uint64_t rec_past_calls(void); /* of this process */

/* Says which functions they were, and who called them, as far as this process knows. total: on all
 * ranks. */
void rec_past_calls_tell(uint64_t total);

/* Whether a layer shows the program another MPI_COMM_WORLD, of fewer ranks: the others may have
 * gone home, so that no call of all ranks must be made any more. Asks once, when MPI is up. */
bool rec_is_world_replaced(void);

#endif
