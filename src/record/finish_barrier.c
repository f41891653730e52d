#include "record/finishing.h"
#include "record/options.h"
#include "record/patience.h"
#include "record/place.h"

int64_t rec_arrived_ns;

void rec_finish_barrier(struct rec_call *call)
{
    struct rec_patience patience;
    rec_arrived_ns = rec_monotonic_ns();
    rec_close_to_threads();
    /* While others are still on their way. Of this thread's stream: what others do cannot be
     * disturbed. */
    if (rec_this_stream && rec_state == REC_RECORDING && rec_options.write)
        rfn_stream_code_ahead(rec_this_stream->events);
    const bool placed = rec_place_learn(); /* the recorder may not have seen MPI_Init */
    const MPI_Comm all = placed ? rec_place_comm() : MPI_COMM_NULL;
    rec_patience_begin(&patience, "reach the end of MPI");
    if (all != MPI_COMM_NULL)
        rec_mpi.MPI_Barrier(all);
    rec_patience_end(&patience);
    if (call) {
        rec_end(call, MPI_SUCCESS);
        rec_leave(call);
    }
}
