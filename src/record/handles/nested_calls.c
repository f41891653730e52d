/* Calls inside of another call, and calls that the program has left.
 *
 * A C++ exception that an error handler throws, or its longjmp, takes the program out of an MPI
 * function without a return: the stream still counts as inside. The next call of the thread shows
 * it. A wrapper whose frame is still there lies on the stack of every call inside of it; so the
 * open call was left if the new call's frame lies no further in, or if a walk from there outwards,
 * by rules that leave no doubt, passes the place of the open frame without a frame that ends there.
 * Places can be compared only on one stack, the thread's own: of a call from another one (a
 * coroutine, a signal's handler) nothing is concluded, it counts as inside.
 *
 * When it was left nobody knows. Errors show early, so the event takes no time: what follows is the
 * program's. Its error class is RFN_ERROR_LEFT, its outcomes are unknown.
 */
#include "record/core/apart.h"
#include "record/handles/params.h"

static bool is_on_own_stack(const struct rec_stream *stream, const void *place)
{
    return (uintptr_t)place - stream->stack.lowest < stream->stack.bytes;
}

/* The event of a call that was left, if all of its inputs are there. */
static void record_left(struct rec_stream *stream)
{
    struct rec_call *call = &stream->call;
    const bool begun = stream->open.function == call->function + 1;
    stream->open.function = 0;
    rec_come_inside(stream);
    stream->in_fortran = false;
    if (!begun) {
        rec_go_outside(stream);
        return;
    }
    call->exit = call->enter;
    call->volume.exit = call->volume.enter;
    call->rc = REC_LEFT;
    rec_out_left(call);
    rec_leave(call);
}

void rec_notice_left(struct rec_stream *stream, const void *frame)
{
    const bool on_its_way = stream->in_fortran && rec_fortran.awaited && rec_fortran.frame;
    const void *open = on_its_way ? rec_fortran.frame : stream->call.frame;
    if (!stream->inside || !frame || !is_on_own_stack(stream, frame) ||
        !is_on_own_stack(stream, open))
        return;
    if ((uintptr_t)frame < (uintptr_t)open && !rec_sites_passes(&stream->sites, frame, open))
        return;
    rec_fortran.awaited = 0;
    record_left(stream);
}

void *rec_frame_inside(struct rec_stream *stream, uint32_t function, void *frame)
{
    const bool awaited = stream->in_fortran && rec_fortran.awaited == function + 1;
    if (stream->slow & REC_SLOW_APART && (awaited || !stream->inside))
        rec_apart_enter(stream);
    if (stream->inside && !awaited)
        rec_notice_left(stream, frame);
    if (stream->inside) {
        if (!awaited)
            return NULL;
        rec_fortran.awaited = 0;
        frame = rec_fortran.frame;
        if (!frame)
            return NULL;
    }
    const bool off = __atomic_load_n(&rec_off, __ATOMIC_RELAXED);
    if (stream->slow & REC_SLOW_HELD && !(off && rec_is_dropped(function)))
        rec_held_calls->write(stream);
    return frame;
}
