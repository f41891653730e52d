/* special.c - the wrappers that are written by hand: those that begin and end recording.
 *
 * The archive is written inside MPI_Finalize, before MPI's own. The exit of the Finalize event is
 * the end of a barrier, so that "the end of the run" is one moment on all ranks; what the recorder
 * does afterwards is in no event.
 */
#include "record/finish.h"
#include "record/fortran.h"
#include "record/params.h"
#include "record/say.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- start ---- */

EXPORT int MPI_Init(int *argc, char ***argv)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Init, __builtin_frame_address(0));
    if (!call)
        return rec_mpi.MPI_Init(argc, argv);
    rec_begin(call);
    int rc = rec_mpi.MPI_Init(argc, argv);
    rec_end(call, rc);
    if (rc == MPI_SUCCESS)
        rec_initialized();
    rec_leave(call);
    return rc;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Init_thread, __builtin_frame_address(0));
    if (!call)
        return rec_mpi.MPI_Init_thread(argc, argv, required, provided);
    rec_in_int(call, required);
    rec_begin(call);
    int rc = rec_mpi.MPI_Init_thread(argc, argv, required, provided);
    rec_end(call, rc);
    rec_out_int(call, *provided);
    if (rc == MPI_SUCCESS)
        rec_initialized();
    rec_leave(call);
    return rc;
}

/* ---- end ---- */

EXPORT int MPI_Finalize(void)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Finalize, __builtin_frame_address(0));
    /* Also without a call to record (stopped, or an earlier call was left by a jump) the process
     * takes part in what the others wait for. */
    bool first = rec_state == REC_RECORDING || rec_state == REC_STOPPED;
    if (call)
        rec_begin(call);
    if (first)
        rec_finish_barrier();
    if (call) {
        rec_end(call, MPI_SUCCESS);
        rec_leave(call);
        rec_fortran_over();
    }
    if (first)
        rec_finish();
    return rec_mpi.MPI_Finalize();
}

EXPORT int MPI_Abort(MPI_Comm comm, int errorcode)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Abort, __builtin_frame_address(0));
    if (call) {
        rec_in_comm(call, comm);
        rec_in_int(call, errorcode);
        rec_begin(call);
        rec_say("the program called MPI_Abort; no archive is written");
    }
    int rc = rec_mpi.MPI_Abort(comm, errorcode);
    if (call) {
        rec_end(call, rc);
        rec_leave(call);
    }
    return rc;
}

/* ---- sessions ---- */

#ifdef REC_HAVE_SESSION
EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Session_init, __builtin_frame_address(0));
    if (!call)
        return rec_mpi.MPI_Session_init(info, errhandler, session);
    rec_in_info(call, info);
    rec_in_errhandler(call, errhandler);
    rec_begin(call);
    int rc = rec_mpi.MPI_Session_init(info, errhandler, session);
    rec_end(call, rc);
    if (rc == MPI_SUCCESS) /* a session may allow what the world does not: be prepared */
        rec_threads_multiple = true;
    rec_out_session(call, rc == MPI_SUCCESS ? *session : MPI_SESSION_NULL);
    rec_leave(call);
    return rc;
}

EXPORT int MPI_Session_finalize(MPI_Session *session)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Session_finalize, __builtin_frame_address(0));
    if (!call)
        return rec_mpi.MPI_Session_finalize(session);
    MPI_Session before = *session;
    rec_in_session(call, before);
    rec_free_session(call, before);
    rec_begin(call);
    int rc = rec_mpi.MPI_Session_finalize(session);
    rec_end(call, rc);
    rec_freed_session(call, before);
    rec_leave(call);
    return rc;
}
#endif

/* ---- control ---- */

EXPORT int MPI_Pcontrol(const int level, ...)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Pcontrol, __builtin_frame_address(0));
    if (!call)
        return rec_mpi.MPI_Pcontrol(level);
    rec_in_int(call, level);
    rec_begin(call);
    int rc = rec_mpi.MPI_Pcontrol(level); /* further arguments are for profilers: MPI has no use */
    rec_end(call, rc);
    rec_leave(call);
    return rc;
}
