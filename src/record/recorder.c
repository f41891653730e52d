#include "record/recorder.h"

#include "record/finish.h"
#include "record/options.h"
#include "record/params.h"
#include "record/say.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum rec_state rec_state = REC_ASLEEP;
bool rec_threads_multiple;
struct rec_stream *rec_streams;
#ifdef RFN_FLAVOUR_SMPI
__thread struct rec_stream *rec_this_stream;
#else
__thread struct rec_stream *rec_this_stream __attribute__((tls_model("initial-exec")));
#endif

static pthread_mutex_t waking = PTHREAD_MUTEX_INITIALIZER;
static struct rec_clock_pair start;
static pid_t pid;
static char stop_reason[256];

void rec_stop(const char *format, ...)
{
    static bool stopped; /* by this thread or another one */
    if (rec_state != REC_RECORDING || __atomic_exchange_n(&stopped, true, __ATOMIC_ACQ_REL))
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(stop_reason, sizeof stop_reason, format, args);
    va_end(args);
    rec_state = REC_STOPPED;
    rec_say("recording stops: %s (the program goes on)", stop_reason);
}

const char *rec_stop_reason(void)
{
    return stop_reason;
}

/* ---- waking up: at the first MPI call of the process ---- */

/* Fills the table of MPI functions from the MPI that the program has loaded. There is one, since
 * it has just called it; without one nothing could be passed on. */
static void load_mpi(void)
{
    static bool loaded;
    if (loaded)
        return;
#ifdef RFN_FLAVOUR_SMPI
    rec_mpi_fill(NULL);
#else
    void *library = NULL;
    for (const char *const *name = rec_mpi_library_names; *name && !library; name++)
        library = dlopen(*name, RTLD_NOLOAD | RTLD_LAZY);
    if (!library || rec_mpi_fill(library) < 0) {
        rec_say("the recorder for %s was called, but the program has not loaded that MPI's library "
                "(%s)",
                RFN_FLAVOUR_NAME, rec_mpi_library_names[0]);
        abort();
    }
#endif
    loaded = true;
}

static struct rec_stream *stream_new(void)
{
    struct rec_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    struct rfn_stream_options options = {.functions = rec_functions,
                                         .times = rec_options.times,
                                         .all_polls = rec_options.all_polls,
                                         .start = start.quanta};
    stream->events = rfn_stream_new(&options);
    if (!stream->events || rec_sites_init(&stream->sites) < 0) {
        rfn_stream_free(stream->events);
        free(stream);
        return NULL;
    }
    stream->number = rec_streams ? rec_streams->number + 1 : 0;
    stream->next = rec_streams;
    rec_streams = stream;
    return stream;
}

static void wake(void)
{
    load_mpi();
    if (rec_state != REC_ASLEEP)
        return;
    rec_options_read();
    rec_clock_init();
    start = rec_clock_pair();
    pid = getpid();
    rec_state = REC_RECORDING;
}

struct rec_stream *rec_stream_wake(void)
{
    pthread_mutex_lock(&waking);
    wake();
    struct rec_stream *stream = NULL;
    if (rec_state == REC_RECORDING) {
        stream = rec_this_stream ? rec_this_stream : stream_new();
        rec_this_stream = stream;
        if (!stream)
            rec_stop("out of memory");
    }
    pthread_mutex_unlock(&waking);
    return stream;
}

struct rec_clock_pair rec_start(void)
{
    return start;
}

/* ---- the end of a call ---- */

void rec_leave(struct rec_call *call)
{
    struct rec_stream *stream = rec_stream_of(call);
    const struct rfn_event event = {.site = call->site,
                                    .function = call->function,
                                    .error = call->rc == MPI_SUCCESS ? 0
                                                                     : rec_error_class(call->rc),
                                    .poll = call->poll,
                                    .in = call->in,
                                    .out = call->out,
                                    .enter = call->enter,
                                    .exit = call->exit};
    if (rec_state == REC_RECORDING && rfn_stream_event(stream->events, &event) < 0)
        rec_stop("out of memory");
    stream->inside = false;
}

uint32_t rec_error_class(int rc)
{
    int error_class = rc;
    rec_mpi.MPI_Error_class(rc, &error_class);
    return (uint32_t)error_class;
}

/* ---- a program that ends without MPI_Finalize ---- */

__attribute__((destructor)) static void at_exit(void)
{
    if (rec_state == REC_RECORDING && rec_streams && getpid() == pid && rec_is_first_rank())
        rec_say("the program ended without MPI_Finalize; nothing was recorded");
}
