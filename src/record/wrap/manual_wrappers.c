/* manual_wrappers.c - the wrappers that are written by hand: those that begin and end recording.
 *
 * The archive is written inside MPI_Finalize, before MPI's own. The exit of the Finalize event is
 * the end of a barrier, so that "the end of the run" is one moment on all ranks; what the recorder
 * does afterwards is in no event. A program that uses sessions only ends with its last
 * MPI_Session_finalize in the same way. A process that calls MPI_Abort saves its own events.
 */
#include "record/core/attendance.h"
#include "record/core/begin.h"
#include "record/core/clock_sync.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/core/past_calls.h"
#include "record/core/run_identity.h"
#include "record/finish/checkpoint.h"
#include "record/finish/early_exit.h"
#include "record/finish/finish.h"
#include "record/finish/online_merge.h"
#include "record/handles/comms.h"
#include "record/handles/params.h"
#include "record/keep/windows.h"
#include "record/regions/regions.h"
#include "record/samples/sampled_calls.h"
#include "record/wrap/fortran.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- start ---- */

/* MPI is started again after the archive was written: says so, once. */
static void tell_too_late(void)
{
    static bool told;
    if (rec_state == REC_FINISHED && rec_job_is_first() && !rec_options.quiet &&
        !__atomic_exchange_n(&told, true, __ATOMIC_ACQ_REL))
        rec_message("MPI is used again after its end; what follows is not in the archive, which is "
                    "already written");
}

/* MPI is up. */
static void learn(void)
{
    int provided = MPI_THREAD_SINGLE; /* the user may have asked MPI for more than the program */
    rec_mpi.MPI_Query_thread(&provided);
    if (provided == MPI_THREAD_MULTIPLE)
        rec_threads_multiple = true;
    rec_job_learn();
    if (rec_is_world_replaced())
        return;
    rec_attendance_settle();
    rec_run_identity_settle();
    rec_clock_sync_start();
    rec_keep_prepare();
    rec_sampling_start();
    rec_keep_start();
    rec_online_merge_start();
    rec_checkpoints_start();
}

static void before_start(void)
{
    rec_attendance_mark();
    rec_clock_before_mpi();
}

/* What MPI's own start returned. What the ranks then do together, on several nodes, counts as a
 * part of that call, and not as the program's time. */
static int initialized(const struct rec_call *call, int rc)
{
    if (rc == MPI_SUCCESS && (call || rec_state == REC_STOPPED)) /* others may wait for this one */
        learn();
    return rc;
}

REC_EXPORT int MPI_Init(int *argc, char ***argv)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Init, __builtin_frame_address(0));
    before_start();
    if (!call) {
        tell_too_late();
        return initialized(call, rec_next.MPI_Init(argc, argv));
    }
    rec_options_clean_environment(); /* MPI may start a daemon, and that the program's children */
    rec_begin(call);
    int rc = initialized(call, rec_next.MPI_Init(argc, argv));
    rec_end(call, rc);
    rec_leave(call);
    return rc;
}

REC_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Init_thread, __builtin_frame_address(0));
    before_start();
    if (!call) {
        tell_too_late();
        return initialized(call, rec_next.MPI_Init_thread(argc, argv, required, provided));
    }
    rec_in_int(call, required);
    rec_options_clean_environment();
    rec_begin(call);
    int rc = initialized(call, rec_next.MPI_Init_thread(argc, argv, required, provided));
    rec_end(call, rc);
    rec_out_int(call, *provided);
    rec_leave(call);
    return rc;
}

/* ---- end ---- */

REC_EXPORT int MPI_Finalize(void)
{
    rec_regions_close(__builtin_frame_address(0));
    struct rec_call *call = rec_enter(REC_FN_MPI_Finalize, __builtin_frame_address(0));
    /* Also without a call to record (stopped, or still inside of another one) the process takes
     * part in what the others wait for. */
    bool first = rec_state == REC_RECORDING || rec_state == REC_STOPPED;
    if (call)
        rec_begin(call);
    const bool alone = first && rec_job_in_world() && rec_is_world_replaced();
    if (first && !alone) {
        rec_arrive(call);
    } else if (call) { /* another thread has just been here, or other ranks do not come */
        rec_end(call, MPI_SUCCESS);
        rec_leave(call);
    }
    if (call)
        rec_fortran_over();
    if (alone)
        rec_finish_alone();
    else if (first)
        rec_finish();
    return rec_next.MPI_Finalize();
}

REC_EXPORT int MPI_Abort(MPI_Comm comm, int errorcode)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Abort, __builtin_frame_address(0));
    if (call) {
        rec_in_comm(call, comm);
        rec_in_int(call, errorcode);
        rec_begin(call);
        rec_end(call, MPI_SUCCESS);
        rec_leave(call);
        rec_fortran_over(); /* so that the stream holds still */
        if (!rec_journals_abort())
            rec_finish_alone();
    }
    return rec_next.MPI_Abort(comm, errorcode);
}

/* ---- sessions ---- */

#ifdef REC_HAVE_SESSION
static unsigned open_sessions;

REC_EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Session_init, __builtin_frame_address(0));
    before_start();
    if (call) {
        rec_in_info(call, info);
        rec_in_errhandler(call, errhandler);
        rec_options_clean_environment();
        rec_begin(call);
    } else {
        tell_too_late();
    }
    __atomic_fetch_add(&open_sessions, 1, __ATOMIC_ACQ_REL);
    int rc = rec_next.MPI_Session_init(info, errhandler, session);
    if (rc != MPI_SUCCESS)
        __atomic_fetch_sub(&open_sessions, 1, __ATOMIC_ACQ_REL);
    if (!call)
        return rc;
    rec_end(call, rc);
    if (rc == MPI_SUCCESS) {
        rec_threads_multiple = true; /* a session may allow what the world does not */
        rec_job_learn();
    }
    rec_out_session(call, rc == MPI_SUCCESS ? *session : MPI_SESSION_NULL);
    rec_leave(call);
    return rc;
}

static bool is_recorder_up(void)
{
    return rec_state == REC_RECORDING || rec_state == REC_STOPPED;
}

static pid_t asker; /* the process that has put off its end */

static void end_after_all(void)
{
    if (getpid() != asker || !is_recorder_up() || rec_job_in_world() ||
        __atomic_load_n(&open_sessions, __ATOMIC_ACQUIRE) > 0)
        return;
    rec_arrive(NULL);
    rec_finish();
}

/* A process that has not made any communicator may have opened the session to ask a question, maybe
 * on its own, before it begins. The others must not be waited for then; the end is put off until
 * the process exits. */
static bool puts_off_end(void)
{
    static bool registered;
    if (rec_comms_count() > 2) /* besides MPI_COMM_WORLD and MPI_COMM_SELF */
        return false;
    asker = getpid();
    if (!__atomic_exchange_n(&registered, true, __ATOMIC_ACQ_REL))
        atexit(end_after_all);
    return true;
}

/* One session less. Whether MPI ends for the process: no other one is open, and MPI_Finalize is not
 * still to come. */
static bool is_last_session(const MPI_Session *session)
{
    return *session != MPI_SESSION_NULL &&
           __atomic_sub_fetch(&open_sessions, 1, __ATOMIC_ACQ_REL) == 0 && is_recorder_up() &&
           !rec_job_in_world() && !puts_off_end();
}

REC_EXPORT int MPI_Session_finalize(MPI_Session *session)
{
    struct rec_call *call = rec_enter(REC_FN_MPI_Session_finalize, __builtin_frame_address(0));
    const bool last = is_last_session(session);
    const MPI_Session before = *session;
    int rc = MPI_SUCCESS;
    if (call) {
        rec_in_session(call, before);
        rec_free_session(call, before);
        rec_begin(call);
    }
    if (last)
        rec_arrive(NULL);
    else
        rc = rec_next.MPI_Session_finalize(session);
    if (call) {
        rec_end(call, rc);
        rec_freed_session(call, before);
        rec_leave(call);
    }
    if (last) {
        rec_fortran_over();
        rec_finish();
        rc = rec_next.MPI_Session_finalize(session);
    }
    return rc;
}
#endif

/* ---- control ---- */

/* MPI has no use for it, and may end the process where the standard allows it to be called: MPICH
 * does before MPI_Init and after MPI_Finalize. So the call never reaches MPI, only another layer.
 * Further arguments are for other profilers, and get lost: nobody here knows how many there are. */
static int pass_control_on(int level)
{
#ifndef RFN_FLAVOUR_SMPI /* behind which there is no layer */
    if (rec_next.MPI_Pcontrol != rec_mpi.MPI_Pcontrol)
        return rec_next.MPI_Pcontrol(level);
#endif
    (void)level;
    return MPI_SUCCESS;
}

REC_EXPORT int MPI_Pcontrol(const int level, ...)
{
    rec_begin_check(RFN_UNTIL_LEVEL, level);
    struct rec_call *call = rec_enter(REC_FN_MPI_Pcontrol, __builtin_frame_address(0));
    if (!call)
        return pass_control_on(level);
    rec_in_int(call, level);
    rec_begin(call);
    int rc = pass_control_on(level);
    rec_end(call, rc);
    rec_control(level);
    rec_leave(call);
    return rc;
}
