/* exchange_mpi.h - the recorder's messages between ranks: reduce/merge/exchange.h over MPI, on a
 * communicator of the recorder's own. */
#ifndef RFN_RECORD_CORE_EXCHANGE_MPI_H
#define RFN_RECORD_CORE_EXCHANGE_MPI_H

#include "record/core/recorder.h"
#include "reduce/merge/exchange.h"

struct rec_exchange {
    struct rfn_exchange exchange; /* use this */
    MPI_Comm comm;
    bool beside; /* comm is made for this, beside the program's; else it is the job's (job.h) */
};

/* Collective over the job. The communicator is made from the group, not duplicated, so no attribute
 * callbacks of the program run; errors on it return. in_init: it is not known whether all ranks are
 * recorded; if some are not, the others wait, and no message of the program's is another one.
 * RFN_E_EXCHANGE: there is none. */
int rec_exchange_open(struct rec_exchange *exchange, bool in_init);
/* A communicator of a group of MPI_COMM_WORLD, to be made in MPI_Init; MPI_COMM_NULL: there is
 * none. Collective over the group. */
void rec_comm_of_group(MPI_Group group, MPI_Comm *comm);
/* Whether all ranks of comm say yes; false also when MPI fails. Collective. */
bool rec_all_say(MPI_Comm comm, bool yes);
void rec_exchange_close(struct rec_exchange *exchange); /* collective */

#endif
