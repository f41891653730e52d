/* mpi_schema.h - functions of MPI for events that were not recorded by Refrain: what kind of call a
 * name stands for, and which words its events have.
 *
 * A trace of another tool tells less than MPI's arguments: of a send the peer, tag, communicator
 * and bytes. So a call has a form, which says what the trace has told, and a form has a schema with
 * just these parameters, under their names in the MPI standard. Mostly the name decides on the
 * form; where what was told does not fit it, the call keeps its name and gets the form that fits.
 */
#ifndef RFN_CONVERT_MPI_SCHEMA_H
#define RFN_CONVERT_MPI_SCHEMA_H

#include "refrain/event.h"

#include <stdbool.h>
#include <stddef.h>

enum rfn_form {
    RFN_FORM_PLAIN,   /* nothing is known but that it was called */
    RFN_FORM_REQUEST, /* nothing but that it made a request */
    RFN_FORM_SEND,
    RFN_FORM_RECV,
    RFN_FORM_IRECV, /* what it receives is told by its completion */
    RFN_FORM_SENDRECV,
    RFN_FORM_REPLACE, /* Sendrecv_replace */
    RFN_FORM_WAIT,    /* from here to TESTSOME: of requests */
    RFN_FORM_WAITALL,
    RFN_FORM_WAITANY,
    RFN_FORM_WAITSOME,
    RFN_FORM_TEST,
    RFN_FORM_TESTALL,
    RFN_FORM_TESTANY,
    RFN_FORM_TESTSOME,
    RFN_FORM_COMM,    /* makes or frees a communicator */
    RFN_FORM_BARRIER, /* from here to ALLTOALLW: collective communication */
    RFN_FORM_BCAST,
    RFN_FORM_REDUCE,
    RFN_FORM_ALLREDUCE,
    RFN_FORM_SCAN,
    RFN_FORM_REDUCE_SCATTER,
    RFN_FORM_REDUCE_SCATTER_BLOCK,
    RFN_FORM_GATHER,
    RFN_FORM_GATHERV,
    RFN_FORM_SCATTER,
    RFN_FORM_SCATTERV,
    RFN_FORM_ALLGATHER,
    RFN_FORM_ALLGATHERV,
    RFN_FORM_ALLTOALL,
    RFN_FORM_ALLTOALLV,
    RFN_FORM_ALLTOALLW,
    RFN_FORM_WIN_CREATE, /* from here to LOCK: one-sided */
    RFN_FORM_WIN,        /* on a window: fence, free, post, ... */
    RFN_FORM_WIN_RANK,   /* ... and one of its ranks: unlock, flush */
    RFN_FORM_WIN_LOCK,
    RFN_FORM_PUT,
    RFN_FORM_REGION, /* begin or end of a region of the program */
    RFN_FORMS
};

static inline bool rfn_form_completes(enum rfn_form form)
{
    return form >= RFN_FORM_WAIT && form <= RFN_FORM_TESTSOME;
}

static inline bool rfn_form_tests(enum rfn_form form)
{
    return form >= RFN_FORM_TEST && form <= RFN_FORM_TESTSOME;
}

static inline bool rfn_form_is_collective(enum rfn_form form)
{
    return form >= RFN_FORM_BARRIER && form <= RFN_FORM_ALLTOALLW;
}

/* The most inputs and outcomes that a form has. */
enum { RFN_FORM_INPUTS = 11, RFN_FORM_OUTCOMES = 4 };

enum { RFN_MPI_NAME = 64 };

/* The name in the standard's spelling of a function as tools call it: "mpi_send_", "MPI_SEND" and
 * "MPI_Send()" are "MPI_Send". False: it is no function of MPI. */
bool rfn_mpi_name(const char *as, char name[RFN_MPI_NAME]);

/* What the name, in the standard's spelling, stands for. nonblocking: it makes a request. */
struct rfn_mpi_kind {
    enum rfn_form form;
    bool nonblocking;
};
struct rfn_mpi_kind rfn_mpi_kind(const char *name);

/* The function of this name and form. The name is borrowed, the parameters are static. */
struct rfn_function_info rfn_form_function(const char *name, enum rfn_form form, bool nonblocking);

#endif
