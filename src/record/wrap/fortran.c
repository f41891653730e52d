/* The state of a thread's Fortran call is two things: rec_fortran, what function is to come and
 * from where, and, if the thread has a stream, stream->in_fortran. While that is set the stream
 * counts as inside of a call, so that C calls are looked at in rec_enter's slow path only.
 *
 * MPI's own entry is what follows the recorder in the order in which libraries are searched. A
 * Fortran library that was loaded for one module only (by an interpreter, say) is not in that
 * order, and asked by name.
 */
#include "record/wrap/fortran.h"

#include "record/core/message.h"
#include "record/finish/online_merge.h"
#include "record/handles/params.h"

#include <string.h>

#ifndef RFN_FLAVOUR_SMPI /* whose programs are linked with MPI and the recorder at once */

#include <dlfcn.h>

#if defined RFN_FLAVOUR_OPENMPI
static const char *const libraries[] = {"libmpi_mpifh.so.40", "libmpi_usempif08.so.40", NULL};
#elif defined RFN_FLAVOUR_MPIABI /* which has no Fortran yet */
static const char *const libraries[] = {NULL};
#else
static const char *const libraries[] = {"libmpichfort.so.12", "libmpifort.so.12", NULL};
#endif

void *rec_fortran_loaded(const char *symbol)
{
    void *address = NULL;
    for (const char *const *name = libraries; *name && !address; name++) {
        void *library = dlopen(*name, RTLD_NOLOAD | RTLD_LAZY);
        if (library)
            address = dlsym(library, symbol);
    }
    return address;
}

void rec_fortran_find(void *next, const char *symbol, uint32_t function)
{
    void *address = dlsym(RTLD_NEXT, symbol);
    if (!address)
        address = rec_fortran_loaded(symbol);
    if (!address)
        rec_mpi_missing(function);
    memcpy(next, &address, sizeof address); /* ISO C has no conversion from data to functions */
}

void rec_fortran_need(uint32_t function)
{
    rec_mpi_load();
    const void *address;
    memcpy(&address, (const char *)&rec_mpi + function * sizeof address, sizeof address);
    if (!address)
        rec_mpi_missing(function);
}

#endif

void rec_in_fortran_string(struct rec_call *call, const char *text, uint32_t length)
{
    char copy[1024];
    for (; length && *text == ' '; length--)
        text++;
    while (length && text[length - 1] == ' ')
        length--;
    if (length >= sizeof copy)
        length = sizeof copy - 1;
    memcpy(copy, text, length);
    copy[length] = 0;
    rec_in_string(call, copy);
}

bool rec_fortran_enter(uint32_t function, void *frame)
{
    struct rec_stream *stream = rec_this_stream;
    if (!stream || rec_state != REC_RECORDING)
        stream = rec_stream_wake();
    if (stream && stream->inside)
        rec_notice_left(stream, frame);
    const bool nested = stream && stream->inside;
    /* MPI_Finalize comes through whatever happened before: the other ranks wait in it. A call that
     * the ranks may merge after goes to its wrapper, which counts it. */
    const bool counts = nested && rec_meetings_count && !rec_fortran.awaited;
    if (nested && function != REC_FN_MPI_Finalize && !counts)
        return false;
    /* The call that it is in was left by a jump, which is looked for in the end. */
    if (nested && function == REC_FN_MPI_Finalize && rec_fortran.awaited != function + 1)
        stream->in_fortran = false;
    rec_fortran.awaited = function + 1;
    rec_fortran.frame = nested && function != REC_FN_MPI_Finalize ? NULL : frame;
    if (stream && !nested) {
        rec_come_inside(stream);
        stream->in_fortran = true;
    }
    return true;
}

#ifndef RFN_FLAVOUR_SMPI
/* Open MPI's library for Fortran returns at once where the array of requests is empty. The C
 * function does nothing then either; called here it becomes the event that is missing. */
static bool call_without_requests(uint32_t function)
{
    int index, flag;
    MPI_Status none;
    switch (function) {
    case REC_FN_MPI_Startall:
        MPI_Startall(0, NULL);
        break;
    case REC_FN_MPI_Waitall:
        MPI_Waitall(0, NULL, &none);
        break;
    case REC_FN_MPI_Waitany:
        MPI_Waitany(0, NULL, &index, &none);
        break;
    case REC_FN_MPI_Waitsome:
        MPI_Waitsome(0, NULL, &index, NULL, &none);
        break;
    case REC_FN_MPI_Testall:
        MPI_Testall(0, NULL, &flag, &none);
        break;
    case REC_FN_MPI_Testany:
        MPI_Testany(0, NULL, &index, &flag, &none);
        break;
    case REC_FN_MPI_Testsome:
        MPI_Testsome(0, NULL, &index, NULL, &none);
        break;
    default:
        return false;
    }
    return true;
}
#else
static bool call_without_requests(uint32_t function)
{
    (void)function;
    return false;
}
#endif

/* MPI's Fortran library has done the call without the C function of that name. */
static __attribute__((cold)) void missed(uint32_t function)
{
    static bool told;
    if (call_without_requests(function))
        return;
    if (!__atomic_exchange_n(&told, true, __ATOMIC_ACQ_REL))
        rec_message(
            "calls of %s from Fortran are not in the archive: this MPI's library for Fortran "
            "makes them in a way that is not known",
            rec_functions[function].name);
}

void rec_fortran_leave(void)
{
    struct rec_stream *stream = rec_this_stream;
    if (!rec_fortran.frame) { /* within another call, which goes on */
        rec_fortran.awaited = 0;
        return;
    }
    if (rec_fortran.awaited && stream && stream->in_fortran && rec_state == REC_RECORDING)
        missed(rec_fortran.awaited - 1);
    rec_fortran_over();
}

void rec_fortran_over(void)
{
    struct rec_stream *stream = rec_this_stream;
    rec_fortran.awaited = 0;
    if (stream && stream->in_fortran) {
        stream->in_fortran = false;
        rec_go_outside(stream);
    }
}
