#include "record/core/recorder.h"

#include "base/arithmetic.h"
#include "base/hash.h"
#include "record/core/apart.h"
#include "record/core/begin.h"
#include "record/core/core_windows.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "reduce/segments/stream_reduction.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

REC_EVERY_CALL enum rec_state rec_state = REC_ASLEEP;
REC_EVERY_CALL bool rec_threads_multiple = false;
REC_EVERY_CALL bool rec_off = false;
REC_EVERY_CALL bool rec_only_samples = false;
REC_EVERY_CALL bool rec_pausing = false;
REC_EVERY_CALL rec_listener *rec_listen = NULL;
REC_EVERY_CALL const struct rec_keeper *rec_keeper = NULL;
REC_EVERY_CALL const struct rec_request_listener *rec_listen_requests = NULL;
struct rec_stream *rec_streams;
__thread struct rec_stream *rec_this_stream REC_TLS_MODEL;
__thread struct rec_fortran rec_fortran REC_TLS_MODEL;
__thread bool rec_kept_out REC_TLS_MODEL;
const struct rec_held_calls *rec_held_calls;

/* Representatives of one kind of segments, which bounds what a search costs
 * (doc/trace-profiling.md). */
enum { MAX_PER_KIND = 400 };

/* Of memory that a call site may take, with the symbols and columns of its calls. */
enum { SITE_BYTES = 2048 };

static bool closed; /* to threads that have not recorded anything */
static rec_begin_listener *begin_listener;
static pthread_mutex_t waking = PTHREAD_MUTEX_INITIALIZER;
static struct rec_clock_pair start;
static pid_t pid;
static struct rfn_memory memory; /* of all streams */
static struct rfn_reducing reducing;
static size_t keep_bytes;  /* of times, before they are reduced */
static uint64_t own_least; /* quanta */
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
    rec_message("recording stops: %s (the program goes on)", stop_reason);
}

const char *rec_stop_reason(void)
{
    return stop_reason;
}

/* ---- waking up: at the first MPI call of the process ---- */

#ifndef RFN_FLAVOUR_SMPI
static void *open_mpi(int flags)
{
    void *library = NULL;
    for (const char *const *name = rec_mpi_library_names; *name && !library; name++)
        library = dlopen(*name, flags);
    return library;
}

void *rec_mpi_loaded(void)
{
    return open_mpi(RTLD_NOLOAD | RTLD_LAZY);
}

static int is_mpi(struct dl_phdr_info *info, size_t size, void *unused)
{
    static const char *const starts[] = {"libmpi.so", "libmpich.so", "libmpi_abi"};
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    (void)size, (void)unused;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return 1;
    }
    return 0;
}

/* Any, also one that an interpreter has loaded for one module only. */
static bool is_any_loaded(void)
{
    return rec_is_mpi_there() || dl_iterate_phdr(is_mpi, NULL);
}

#else
void *rec_mpi_loaded(void)
{
    return NULL;
}
#endif

/* Fills the table of MPI functions; without an MPI nothing could be passed on. A program that is
 * linked with the recorder may have loaded none: the linker leaves out MPI's library when the
 * recorder has all that the program calls. Then it is loaded now, unless another MPI is there
 * (PMPI_Wtime tells, which the recorder does not have). */
static void load_mpi(void)
{
    static bool loaded;
    if (loaded)
        return;
#ifdef RFN_FLAVOUR_SMPI
    rec_mpi_fill(NULL);
#else
    void *library = rec_mpi_loaded();
    if (!library && !is_any_loaded())
        library = open_mpi(RTLD_LAZY | RTLD_GLOBAL);
    if (!library || rec_mpi_fill(library) < 0) {
        rec_message("the recorder for %s cannot find that MPI's library (%s), or the program has "
                    "loaded another MPI: name the program's with refrain record --mpi",
                    RFN_FLAVOUR_NAME, rec_mpi_library_names[0]);
        abort();
    }
#endif
    loaded = true;
}

/* Opens the calling thread's counter, if a volume is wanted; without one it is recorded without. */
static void open_counter(struct rec_stream *stream)
{
    static bool told;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (!rec_options.volume || rfn_counter_open(&stream->counter, rec_options.volume, &diag) == 0)
        return;
    if (!told)
        rec_message("no volumes are recorded here: %s", diag.text);
    told = true;
}

uint64_t rec_call_hash(const struct rec_sites *sites, uint32_t site)
{
    const char *name = rec_functions[rec_sites_function(sites, site)].name;
    return rec_site_hash(sites, site, rfn_hash_bytes(name, strlen(name)), rec_options.executable);
}

static uint64_t call_hash(const void *sites, uint32_t site)
{
    return rec_call_hash(sites, site);
}

/* Now, as the C library opens a file for it: later a handler of a signal may ask. */
static void learn_stack(struct rec_stream *stream)
{
#ifndef RFN_FLAVOUR_SMPI
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) {
        stream->stack.lowest = (uintptr_t)lowest;
        stream->stack.bytes = bytes;
    }
    pthread_attr_destroy(&attributes);
#else /* a rank has one stack, which the simulator has made */
    stream->stack.bytes = UINTPTR_MAX;
#endif
}

/* kept: of what --keep-predictions keeps beside the full trace. NULL: out of memory. */
static struct rfn_stream *events_new(struct rec_stream *stream, bool kept)
{
    const struct rfn_stream_options options = {
        .functions = rec_functions,
        .times = rec_options.times,
        .all_polls = rec_options.all_polls,
        .volume = stream->counter.kind != RFN_COUNTER_NONE,
        .start = start.quanta,
        .volume_start = rec_options.apart ? 0 : rfn_counter_read(&stream->counter),
        .memory = kept ? NULL : &memory,
        .sink = rec_options.segments ? &rfn_stream_reduction_sink : NULL,
        .reducing = &reducing,
        .keep_bytes = &keep_bytes,
        .spill = kept ? NULL : &stream->journal.spill,
        .call_hash = call_hash,
        .call_hash_context = &stream->sites};
    return rfn_stream_new(&options);
}

/* Of a further thread, whose sites share memory with those of the others. */
static uint32_t most_sites(void)
{
    const size_t n = rec_options.memory_bytes / SITE_BYTES /
                     (rec_streams ? rec_streams->number + 2 : 1);
    return n < UINT32_MAX / 2 ? (uint32_t)n + 1 : UINT32_MAX / 2;
}

static struct rec_stream *stream_new(void)
{
    void *memory_of_stream = calloc(1, sizeof(struct rec_stream) + REC_CACHE_LINE);
    struct rec_stream *stream = rec_align(memory_of_stream);
    if (!stream)
        return NULL;
    rec_journal_init(&stream->journal, rec_streams ? rec_streams->number + 1 : 0);
    open_counter(stream);
    const bool has_volume = stream->counter.kind != RFN_COUNTER_NONE;
    if (has_volume && !rec_options.apart)
        stream->stamping |= REC_STAMP_COUNTS;
    if (begin_listener)
        stream->stamping |= REC_STAMP_SHOWS;
    stream->events = events_new(stream, false);
    if (rec_options.keep_both)
        stream->kept = events_new(stream, true);
    if (!stream->events || (rec_options.keep_both && !stream->kept) ||
        rec_sites_init(&stream->sites) < 0) {
        rfn_stream_free(stream->events);
        if (stream->kept)
            rfn_stream_free(stream->kept);
        free(memory_of_stream);
        return NULL;
    }
    learn_stack(stream);
    rec_own_works_init(&stream->own, own_least);
    stream->sites.ends = rec_options.path_ends;
    stream->sites.cut.at = most_sites();
    stream->number = stream->journal.stream;
    stream->gap.sites = rec_long_gap == UINT64_MAX ? 0 : UINT64_MAX;
    stream->next = rec_streams;
    __atomic_store_n(&rec_streams, stream, __ATOMIC_RELEASE);
    if (has_volume && rec_options.apart)
        rec_apart_open(stream);
    return stream;
}

void rec_limit_times(int ranks)
{
    if (rec_options.keep_short)
        keep_bytes = (size_t)rfn_short_times((uint32_t)ranks);
}

static void wake(void)
{
    load_mpi();
    if (rec_state != REC_ASLEEP)
        return;
    rec_options_read();
    /* The rest is for tables, call paths, room to grow and the writing of the archive, which takes
     * more where the times of segments that are kept are then put into columns. */
    memory.limit = rec_options.memory_bytes /
                   (rec_options.segments && !rec_options.keep_short ? 4 : 2);
    rec_off = rec_options.start_off;
    rec_begin_init();
    rec_only_samples = rec_options.texts[RFN_RECORD_SAMPLE] &&
                       !rec_options.texts[RFN_RECORD_WITH_TRACE];
    rec_clock_init(rec_options.resolution_ns, rec_options_clock());
    /* The streams' times are in quanta, and a threshold of time is in microseconds. */
    const double quantum_ns = rec_clock.tick_ns * (double)(UINT64_C(1) << rec_clock.shift);
    own_least = (uint64_t)(REC_OWN_WORK_NS / quantum_ns);
    reducing = (struct rfn_reducing){.criterion = rec_options_criterion(),
                                     .min_calls = rec_options.segment_min_calls,
                                     .max_per_kind = MAX_PER_KIND,
                                     .exact_starts = rec_options.exact_starts,
                                     .quantum_ns = quantum_ns};
    rec_limit_times(1);
    if (reducing.criterion.method->unit[0])
        reducing.criterion.threshold /= quantum_ns;
    reducing.criterion.more /= quantum_ns;
    if (rec_options.times)
        rec_usage_start();
    start = rec_clock_pair();
    pid = getpid();
    rec_state = REC_RECORDING;
}

void rec_wake(void)
{
    if (pthread_mutex_trylock(&waking) != 0)
        return;
    const unsigned arithmetic = rfn_arithmetic_begin();
    wake();
    rfn_arithmetic_end(arithmetic);
    pthread_mutex_unlock(&waking);
}

struct rec_stream *rec_stream_wake(void)
{
    const bool kept_out = rec_keep_out(true);
    pthread_mutex_lock(&waking);
    const unsigned arithmetic = rfn_arithmetic_begin();
    wake();
    struct rec_stream *stream = NULL;
    if (rec_state == REC_RECORDING && (rec_this_stream || !closed)) {
        stream = rec_this_stream ? rec_this_stream : stream_new();
        rec_this_stream = stream;
        if (stream)
            stream->slow |= rec_held_calls && rec_held_calls->any() ? REC_SLOW_HELD : 0;
        else
            rec_stop("out of memory");
    }
    rfn_arithmetic_end(arithmetic);
    pthread_mutex_unlock(&waking);
    rec_keep_out(kept_out);
    return stream;
}

void rec_lock_streams(void)
{
    pthread_mutex_lock(&waking);
}

void rec_unlock_streams(void)
{
    pthread_mutex_unlock(&waking);
}

void rec_close_to_threads(void)
{
    pthread_mutex_lock(&waking);
    closed = true;
    pthread_mutex_unlock(&waking);
}

void rec_mpi_load(void)
{
    pthread_mutex_lock(&waking);
    load_mpi();
    pthread_mutex_unlock(&waking);
}

bool rec_is_mpi_there(void)
{
#ifndef RFN_FLAVOUR_SMPI
    return dlsym(RTLD_DEFAULT, "PMPI_Wtime") != NULL; /* which the recorder does not have */
#else
    return true;
#endif
}

bool rec_is_over(const struct rec_stream *stream)
{
    if (stream->number == 0 && !stream->next && rec_streams == stream)
        return false;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return rec_state != REC_RECORDING;
}

long rec_process(void)
{
    return (long)pid;
}

struct rec_clock_pair rec_start(void)
{
    return start;
}

/* ---- before a call's enter, after its exit ---- */

uint32_t rec_walk(struct rec_stream *stream, uint32_t function, void *frame)
{
    const uint64_t from = rec_now();
    const uint32_t site = rec_site_walk(&stream->sites, function, frame);
    const uint64_t to = rec_now();
    if (to - from >= own_least && stream->gap.exit) /* behind another call */
        rec_own_works_note(&stream->own, from, to);
    return site;
}

/* What the program has counted. */
static uint64_t read_counter(struct rec_stream *stream)
{
    return rfn_counter_read(&stream->counter) - stream->own_volume;
}

void rec_before_enter(struct rec_stream *stream)
{
    rec_begin_listener *listener = __atomic_load_n(&begin_listener, __ATOMIC_ACQUIRE);
    if (listener && stream->call.function < REC_FN_COUNT)
        listener(&stream->call);
    if (stream->stamping & REC_STAMP_COUNTS)
        stream->call.volume.enter = read_counter(stream);
}

void rec_count_exit(struct rec_stream *stream)
{
    if (stream->stamping & REC_STAMP_COUNTS)
        stream->call.volume.exit = read_counter(stream);
}

void rec_listen_begin(rec_begin_listener *listener)
{
    pthread_mutex_lock(&waking);
    __atomic_store_n(&begin_listener, listener, __ATOMIC_RELEASE);
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        __atomic_fetch_or(&stream->stamping, REC_STAMP_SHOWS, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&waking);
}

/* ---- the end of a call ---- */

/* Windows of --keep-predictions have no place for the recorder's own work: the call is made longer,
 * until now. Regions are moments, failed polls may be held back, and MPI_Finalize ends at one
 * moment on all ranks. */
static void end_later(struct rec_call *call)
{
    struct rec_stream *stream = rec_stream_of(call);
    if (rec_state != REC_RECORDING || call->off || call->poll == RFN_POLL_FAILED ||
        call->function == REC_FN_MPI_Finalize ||
        !rfn_class_is_mpi(rec_functions[call->function].class_))
        return;
    rec_stamp_exit(call);
    if (rec_keeper->end_later(stream, call->exit, call->volume.exit) < 0)
        rec_stop("out of memory");
}

void rec_worked(struct rec_call *call)
{
    struct rec_stream *stream = rec_stream_of(call);
    if (call->off)
        return;
    rec_core_windows_look();
    rec_own_works_note(&stream->own, call->exit, rec_now());
    if (rec_keeper && rec_keeper->end_later)
        end_later(call);
    else if (stream->stamping & REC_STAMP_COUNTS)
        stream->own_volume += read_counter(stream) - call->volume.exit;
}

/* Hands the event to the stream's reducer. */
static inline void take(struct rec_stream *stream, struct rec_call *call)
{
    const struct rfn_event event = {.site = call->site,
                                    .function = call->function,
                                    .error = call->rc == MPI_SUCCESS ? 0
                                                                     : rec_error_class(call->rc),
                                    .poll = call->poll,
                                    .in = call->in,
                                    .out = call->out,
                                    .enter = call->enter,
                                    .exit = call->exit,
                                    .volume_enter = call->volume.enter,
                                    .volume_exit = call->volume.exit};
    const int took_long = rec_take_event(stream, &event);
    if (__builtin_expect(took_long < 0, 0))
        rec_stop("out of memory");
    else if (__builtin_expect(took_long, 0))
        rec_worked(call);
}

/* Whether the call becomes an event. */
static inline bool is_wanted(const struct rec_call *call)
{
    return !call->off && (__builtin_expect(!rec_only_samples, 1) ||
                          rec_functions[call->function].class_ == RFN_CLASS_SETUP);
}

void rec_leave(struct rec_call *call)
{
    struct rec_stream *stream = rec_stream_of(call);
    if (rec_state == REC_RECORDING) {
        if (is_wanted(call))
            take(stream, call);
        if (__builtin_expect(rec_listen != NULL, 0))
            rec_listen(call, stream);
    }
    rec_go_outside(stream);
}

uint32_t rec_error_class(int rc)
{
    int error_class = rc;
    if (rc == REC_LEFT)
        return RFN_ERROR_LEFT;
    rec_mpi.MPI_Error_class(rc, &error_class);
    return (uint32_t)error_class;
}

/* ---- MPI_Pcontrol ---- */

bool rec_is_dropped(uint32_t function)
{
    return rec_functions[function].class_ != RFN_CLASS_SETUP &&
           (function != REC_FN_MPI_Pcontrol || rec_begins_later);
}

void rec_control(int level)
{
    if ((level == 0 || level == 1) && !__atomic_load_n(&rec_begins_later, __ATOMIC_RELAXED))
        __atomic_store_n(&rec_off, level == 0, __ATOMIC_RELAXED);
    else if (level == 2 && rec_this_stream && rec_state == REC_RECORDING)
        rfn_stream_spill(rec_this_stream->events); /* no other thread may be disturbed */
}
