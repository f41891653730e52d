/* rfn_otf2_read of refrain/convert.h: the locations of an OTF2 trace, one after another. */
#include "convert/otf2/otf2_thread.h"

#include "convert/progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 }; /* events between two words on progress */

bool rfn_otf2_available(void)
{
    return true;
}

/* ---- times ---- */

/* Nanoseconds since the start of the run. They ascend, whatever clocks were corrected by. */
static int64_t ns_of(const struct otf2_thread *thread, OTF2_TimeStamp time)
{
    const uint64_t second = 1000000000, most = INT64_MAX / 2 / second;
    const struct otf2_definitions *of = &thread->reading->definitions;
    const uint64_t ticks = time > of->offset ? time - of->offset : 0;
    const uint64_t whole = ticks / of->resolution, rest = ticks % of->resolution;
    const uint64_t part = rest <= UINT64_MAX / second
                              ? rest * second / of->resolution
                              : (uint64_t)((double)rest / (double)of->resolution * (double)second);
    const int64_t ns = (int64_t)((whole < most ? whole : most) * second + part);
    return ns > thread->last_ns ? ns : thread->last_ns;
}

/* ---- events ---- */

static OTF2_CallbackCode done(struct otf2_thread *thread, int error)
{
    thread->error = error;
    return error ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

#define EVENT                                                                      \
    OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user, \
        OTF2_AttributeList *attributes
#define UNUSED_EVENT (void)location, (void)position, (void)attributes

static uint32_t line_of(const struct otf2_thread *thread, const OTF2_AttributeList *attributes)
{
    const int64_t attribute = thread->reading->definitions.line_attribute;
    uint32_t line = 0;
    if (attribute < 0 || !OTF2_AttributeList_TestAttributeByID(attributes, (uint32_t)attribute) ||
        OTF2_AttributeList_GetUint32(attributes, (uint32_t)attribute, &line) != OTF2_SUCCESS)
        return 0;
    return line;
}

/* 1 where nothing tells. */
static uint64_t polls_of(const struct otf2_thread *thread, const OTF2_AttributeList *attributes)
{
    const int64_t attribute = thread->reading->definitions.polls_attribute;
    uint64_t polls = 0;
    if (attribute < 0 || !OTF2_AttributeList_TestAttributeByID(attributes, (uint32_t)attribute) ||
        OTF2_AttributeList_GetUint64(attributes, (uint32_t)attribute, &polls) != OTF2_SUCCESS)
        return 1;
    return polls && polls <= INT64_MAX ? polls : 1;
}

static OTF2_CallbackCode region(struct otf2_thread *thread, OTF2_TimeStamp time, uint64_t ref,
                                bool enters, uint32_t line)
{
    const struct otf2_region *of = rfn_map_object(&thread->reading->definitions.regions, ref);
    if (!of)
        return done(thread, rfn_otf2_contradicts(thread, "it enters a region that is not defined"));
    const int64_t ns = ns_of(thread, time);
    return done(thread, enters ? rfn_otf2_enter(thread, ns, of, NULL, line)
                               : rfn_otf2_leave(thread, ns, of));
}

static OTF2_CallbackCode on_enter(EVENT, OTF2_RegionRef ref)
{
    struct otf2_thread *thread = user;
    UNUSED_EVENT;
    if (!thread->call)
        thread->polls = polls_of(thread, attributes);
    return region(thread, time, ref, true, line_of(thread, attributes));
}

static OTF2_CallbackCode on_leave(EVENT, OTF2_RegionRef ref)
{
    UNUSED_EVENT;
    return region(user, time, ref, false, 0);
}

static OTF2_CallbackCode context(struct otf2_thread *thread, OTF2_TimeStamp time, uint64_t ref,
                                 bool enters)
{
    struct otf2_reading *reading = thread->reading;
    const struct otf2_context *of = rfn_map_object(&reading->definitions.contexts, ref);
    struct otf2_node *node = of ? rfn_otf2_context_node(reading, ref) : NULL;
    if (!node)
        return done(thread, rfn_otf2_contradicts(
                                thread, "it enters a calling context that is not defined"));
    const int64_t ns = ns_of(thread, time);
    return done(thread, enters ? rfn_otf2_enter(thread, ns, of->region, node, 0)
                               : rfn_otf2_leave(thread, ns, of->region));
}

static OTF2_CallbackCode on_context_enter(EVENT, OTF2_CallingContextRef ref, uint32_t distance)
{
    UNUSED_EVENT, (void)distance;
    return context(user, time, ref, true);
}

static OTF2_CallbackCode on_context_leave(EVENT, OTF2_CallingContextRef ref)
{
    UNUSED_EVENT;
    return context(user, time, ref, false);
}

static struct otf2_happening happening(struct otf2_thread *thread, OTF2_TimeStamp time,
                                       enum otf2_happening_kind kind)
{
    return (struct otf2_happening){
        .kind = kind, .ns = ns_of(thread, time), .operation = OTF2_NO_OPERATION};
}

/* Names the communicator, which has to be there. */
static OTF2_CallbackCode happens_on(struct otf2_thread *thread, struct otf2_happening *what,
                                    OTF2_CommRef comm)
{
    what->comm = rfn_map_object(&thread->reading->definitions.comms, comm);
    if (!what->comm)
        return done(thread,
                    rfn_otf2_contradicts(thread, "it names a communicator that is not defined"));
    return done(thread, rfn_otf2_happens(thread, what));
}

/* RFN_UNKNOWN as it is written. */
static int64_t tag_of(uint32_t tag)
{
    return tag == OTF2_UNDEFINED_UINT32 ? RFN_UNKNOWN : (int64_t)tag;
}

static OTF2_CallbackCode message(struct otf2_thread *thread, struct otf2_happening what,
                                 uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                 uint64_t request)
{
    what.peer = peer;
    what.tag = tag_of(tag);
    what.bytes = bytes;
    what.request = request;
    return happens_on(thread, &what, comm);
}

static OTF2_CallbackCode on_send(EVENT, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                                 uint64_t bytes)
{
    UNUSED_EVENT;
    return message(user, happening(user, time, OTF2_SENDS), receiver, comm, tag, bytes, 0);
}

static OTF2_CallbackCode on_isend(EVENT, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t bytes, uint64_t request)
{
    UNUSED_EVENT;
    return message(user, happening(user, time, OTF2_ISENDS), receiver, comm, tag, bytes, request);
}

static OTF2_CallbackCode on_recv(EVENT, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                                 uint64_t bytes)
{
    UNUSED_EVENT;
    return message(user, happening(user, time, OTF2_RECEIVES), sender, comm, tag, bytes, 0);
}

static OTF2_CallbackCode on_irecv(EVENT, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t bytes, uint64_t request)
{
    UNUSED_EVENT;
    struct otf2_happening what = happening(user, time, OTF2_COMPLETES);
    what.receives = true;
    return message(user, what, sender, comm, tag, bytes, request);
}

static OTF2_CallbackCode of_request(struct otf2_thread *thread, OTF2_TimeStamp time,
                                    enum otf2_happening_kind kind, uint64_t request)
{
    struct otf2_happening what = happening(thread, time, kind);
    what.request = request;
    return done(thread, rfn_otf2_happens(thread, &what));
}

static OTF2_CallbackCode on_isend_complete(EVENT, uint64_t request)
{
    UNUSED_EVENT;
    return of_request(user, time, OTF2_COMPLETES, request);
}

static OTF2_CallbackCode on_irecv_request(EVENT, uint64_t request)
{
    UNUSED_EVENT;
    return of_request(user, time, OTF2_IRECEIVES, request);
}

static OTF2_CallbackCode on_test(EVENT, uint64_t request)
{
    UNUSED_EVENT;
    return of_request(user, time, OTF2_TESTS, request);
}

static OTF2_CallbackCode on_cancelled(EVENT, uint64_t request)
{
    UNUSED_EVENT;
    return of_request(user, time, OTF2_CANCELLED, request);
}

static OTF2_CallbackCode on_icollective(EVENT, uint64_t request)
{
    UNUSED_EVENT;
    return of_request(user, time, OTF2_ICOLLECTIVE, request);
}

static OTF2_CallbackCode collective(struct otf2_thread *thread, struct otf2_happening what,
                                    OTF2_CollectiveOp operation, OTF2_CommRef comm, uint32_t root,
                                    uint64_t sent, uint64_t received)
{
    what.operation = operation;
    what.root = root;
    what.bytes = sent;
    what.received = received;
    return happens_on(thread, &what, comm);
}

static OTF2_CallbackCode on_collective(EVENT, OTF2_CollectiveOp operation, OTF2_CommRef comm,
                                       uint32_t root, uint64_t sent, uint64_t received)
{
    UNUSED_EVENT;
    return collective(user, happening(user, time, OTF2_COLLECTIVE), operation, comm, root, sent,
                      received);
}

static OTF2_CallbackCode on_icollective_complete(EVENT, OTF2_CollectiveOp operation,
                                                 OTF2_CommRef comm, uint32_t root, uint64_t sent,
                                                 uint64_t received, uint64_t request)
{
    UNUSED_EVENT;
    struct otf2_happening what = happening(user, time, OTF2_COMPLETES);
    what.request = request;
    return collective(user, what, operation, comm, root, sent, received);
}

static OTF2_CallbackCode on_comm_create(EVENT, OTF2_CommRef comm)
{
    struct otf2_thread *thread = user;
    UNUSED_EVENT, (void)time;
    thread->made = rfn_map_object(&thread->reading->definitions.comms, comm);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric(EVENT, OTF2_MetricRef metric, uint8_t n, const OTF2_Type *types,
                                   const OTF2_MetricValue *values)
{
    struct otf2_thread *thread = user;
    const struct otf2_definitions *of = &thread->reading->definitions;
    UNUSED_EVENT, (void)time;
    const int place = rfn_otf2_metric_place(of, metric);
    if (place < 0 || place >= n)
        return OTF2_CALLBACK_SUCCESS;
    const double most = 9e18;
    const double real = types[place] == OTF2_TYPE_DOUBLE ? values[place].floating_point : 0;
    int64_t value = types[place] == OTF2_TYPE_DOUBLE ? (int64_t)(real > most    ? most
                                                                 : real > -most ? real
                                                                                : 0)
                                                     : values[place].signed_int;
    if (!of->metric_is_total && __builtin_add_overflow(thread->counter, value, &value))
        value = thread->counter;
    if (value >= thread->counter) /* a counter that goes backwards counts nothing */
        thread->counter = value;
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- windows ---- */

static OTF2_CallbackCode on_window(struct otf2_thread *thread, struct otf2_happening what,
                                   OTF2_RmaWinRef window, uint32_t peer, uint64_t bytes)
{
    what.comm = rfn_map_object(&thread->reading->definitions.windows, window);
    what.window = window;
    what.peer = peer;
    what.bytes = bytes;
    if (!what.comm)
        return done(thread, rfn_otf2_contradicts(thread, "it names a window that is not defined"));
    if (thread->call)
        return done(thread, rfn_otf2_happens(thread, &what));
    thread->reading->summary->left_out.rma++;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_put(EVENT, OTF2_RmaWinRef window, uint32_t peer, uint64_t bytes,
                                uint64_t matching)
{
    UNUSED_EVENT, (void)matching;
    return on_window(user, happening(user, time, OTF2_PUTS), window, peer, bytes);
}

static OTF2_CallbackCode on_atomic(EVENT, OTF2_RmaWinRef window, uint32_t peer,
                                   OTF2_RmaAtomicType type, uint64_t sent, uint64_t received,
                                   uint64_t matching)
{
    UNUSED_EVENT, (void)matching, (void)type;
    return on_window(user, happening(user, time, OTF2_PUTS), window, peer,
                     sent > received ? sent : received);
}

static OTF2_CallbackCode on_synchronized(EVENT, OTF2_RmaWinRef window)
{
    UNUSED_EVENT;
    return on_window(user, happening(user, time, OTF2_SYNCHRONIZES), window, 0, 0);
}

static OTF2_CallbackCode on_together(EVENT, OTF2_CollectiveOp operation, OTF2_RmaSyncLevel level,
                                     OTF2_RmaWinRef window, uint32_t root, uint64_t sent,
                                     uint64_t received)
{
    (void)operation, (void)level, (void)root, (void)sent, (void)received;
    return on_synchronized(location, time, position, user, attributes, window);
}

static OTF2_CallbackCode on_group_sync(EVENT, OTF2_RmaSyncLevel level, OTF2_RmaWinRef window,
                                       OTF2_GroupRef group)
{
    (void)level, (void)group;
    return on_synchronized(location, time, position, user, attributes, window);
}

static OTF2_CallbackCode on_lock(EVENT, OTF2_RmaWinRef window, uint32_t peer, uint64_t lock,
                                 OTF2_LockType type)
{
    struct otf2_happening what = happening(user, time, OTF2_SYNCHRONIZES);
    UNUSED_EVENT, (void)lock;
    what.shared = type == OTF2_LOCK_SHARED;
    return on_window(user, what, window, peer, 0);
}

static OTF2_CallbackCode on_unlock(EVENT, OTF2_RmaWinRef window, uint32_t peer, uint64_t lock)
{
    UNUSED_EVENT, (void)lock;
    return on_window(user, happening(user, time, OTF2_SYNCHRONIZES), window, peer, 0);
}

static OTF2_CallbackCode on_sync(EVENT, OTF2_RmaWinRef window, uint32_t peer, OTF2_RmaSyncType type)
{
    UNUSED_EVENT, (void)type;
    return on_window(user, happening(user, time, OTF2_SYNCHRONIZES), window, peer, 0);
}

/* ---- what is left out ---- */

/* clang-format off */
/* Events by their names in OTF2, what they are counted as, and the types of their values. */
#define LEFT_OUT(X)                                                                             \
    X(OmpFork, threads, uint32_t a)                                                             \
    X(OmpAcquireLock, threads, uint32_t a, uint32_t b)                                          \
    X(OmpReleaseLock, threads, uint32_t a, uint32_t b)                                          \
    X(OmpTaskCreate, threads, uint64_t a)                                                       \
    X(OmpTaskSwitch, threads, uint64_t a)                                                       \
    X(OmpTaskComplete, threads, uint64_t a)                                                     \
    X(ThreadFork, threads, OTF2_Paradigm a, uint32_t b)                                         \
    X(ThreadJoin, threads, OTF2_Paradigm a)                                                     \
    X(ThreadTeamBegin, threads, OTF2_CommRef a)                                                 \
    X(ThreadTeamEnd, threads, OTF2_CommRef a)                                                   \
    X(ThreadAcquireLock, threads, OTF2_Paradigm a, uint32_t b, uint32_t c)                      \
    X(ThreadReleaseLock, threads, OTF2_Paradigm a, uint32_t b, uint32_t c)                      \
    X(ThreadTaskCreate, threads, OTF2_CommRef a, uint32_t b, uint32_t c)                        \
    X(ThreadTaskSwitch, threads, OTF2_CommRef a, uint32_t b, uint32_t c)                        \
    X(ThreadTaskComplete, threads, OTF2_CommRef a, uint32_t b, uint32_t c)                      \
    X(ThreadCreate, threads, OTF2_CommRef a, uint64_t b)                                        \
    X(ThreadBegin, threads, OTF2_CommRef a, uint64_t b)                                         \
    X(ThreadWait, threads, OTF2_CommRef a, uint64_t b)                                          \
    X(ThreadEnd, threads, OTF2_CommRef a, uint64_t b)                                           \
    X(IoCreateHandle, io, OTF2_IoHandleRef a, OTF2_IoAccessMode b, OTF2_IoCreationFlag c,       \
      OTF2_IoStatusFlag d)                                                                      \
    X(IoDestroyHandle, io, OTF2_IoHandleRef a)                                                  \
    X(IoDuplicateHandle, io, OTF2_IoHandleRef a, OTF2_IoHandleRef b, OTF2_IoStatusFlag c)       \
    X(IoSeek, io, OTF2_IoHandleRef a, int64_t b, OTF2_IoSeekOption c, uint64_t d)               \
    X(IoChangeStatusFlags, io, OTF2_IoHandleRef a, OTF2_IoStatusFlag b)                         \
    X(IoDeleteFile, io, OTF2_IoParadigmRef a, OTF2_IoFileRef b)                                 \
    X(IoOperationBegin, io, OTF2_IoHandleRef a, OTF2_IoOperationMode b,                         \
      OTF2_IoOperationFlag c, uint64_t d, uint64_t e)                                           \
    X(IoOperationTest, io, OTF2_IoHandleRef a, uint64_t b)                                      \
    X(IoOperationIssued, io, OTF2_IoHandleRef a, uint64_t b)                                    \
    X(IoOperationComplete, io, OTF2_IoHandleRef a, uint64_t b, uint64_t c)                      \
    X(IoOperationCancelled, io, OTF2_IoHandleRef a, uint64_t b)                                 \
    X(IoAcquireLock, io, OTF2_IoHandleRef a, OTF2_LockType b)                                   \
    X(IoReleaseLock, io, OTF2_IoHandleRef a, OTF2_LockType b)                                   \
    X(IoTryLock, io, OTF2_IoHandleRef a, OTF2_LockType b)                                       \
    X(RmaTryLock, rma, OTF2_RmaWinRef a, uint32_t b, uint64_t c, OTF2_LockType d)               \
    X(RmaWaitChange, rma, OTF2_RmaWinRef a)                                                     \
    X(RmaOpCompleteBlocking, rma, OTF2_RmaWinRef a, uint64_t b)                                 \
    X(RmaOpCompleteNonBlocking, rma, OTF2_RmaWinRef a, uint64_t b)                              \
    X(RmaOpCompleteRemote, rma, OTF2_RmaWinRef a, uint64_t b)                                   \
    X(RmaOpTest, rma, OTF2_RmaWinRef a, uint64_t b)                                             \
    X(ParameterInt, other, OTF2_ParameterRef a, int64_t b)                                      \
    X(ParameterUnsignedInt, other, OTF2_ParameterRef a, uint64_t b)                             \
    X(ParameterString, other, OTF2_ParameterRef a, OTF2_StringRef b)                            \
    X(CallingContextSample, other, OTF2_CallingContextRef a, uint32_t b,                        \
      OTF2_InterruptGeneratorRef c)                                                             \
    X(BufferFlush, other, OTF2_TimeStamp a)                                                     \
    X(MeasurementOnOff, other, OTF2_MeasurementMode a)
/* clang-format on */

/* The values have no names in the functions: a declarator for each type. */
#define COUNT(name, counter, ...)                                           \
    static OTF2_CallbackCode count_##name(EVENT, __VA_ARGS__)               \
    {                                                                       \
        UNUSED_EVENT, (void)time, (void)a;                                  \
        ((struct otf2_thread *)user)->reading->summary->left_out.counter++; \
        return OTF2_CALLBACK_SUCCESS;                                       \
    }
_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"")
    LEFT_OUT(COUNT) _Pragma("GCC diagnostic pop")

        static OTF2_CallbackCode count_unknown(EVENT)
{
    UNUSED_EVENT, (void)time;
    ((struct otf2_thread *)user)->reading->summary->left_out.other++;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_EvtReaderCallbacks *make_callbacks(void)
{
    OTF2_EvtReaderCallbacks *calls = OTF2_EvtReaderCallbacks_New();
    if (!calls)
        return NULL;
#define SET(name, counter, ...) OTF2_EvtReaderCallbacks_Set##name##Callback(calls, count_##name);
    LEFT_OUT(SET)
#undef SET
    OTF2_EvtReaderCallbacks_SetUnknownCallback(calls, count_unknown);
    OTF2_EvtReaderCallbacks_SetEnterCallback(calls, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(calls, on_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback(calls, on_context_enter);
    OTF2_EvtReaderCallbacks_SetCallingContextLeaveCallback(calls, on_context_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(calls, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(calls, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(calls, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(calls, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(calls, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(calls, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(calls, on_test);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(calls, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(calls, on_collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(calls, on_icollective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(calls,
                                                                     on_icollective_complete);
    OTF2_EvtReaderCallbacks_SetCommCreateCallback(calls, on_comm_create);
    OTF2_EvtReaderCallbacks_SetMetricCallback(calls, on_metric);
    OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback(calls, on_synchronized);
    OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback(calls, on_synchronized);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(calls, on_together);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(calls, on_group_sync);
    OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(calls, on_lock);
    OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(calls, on_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(calls, on_unlock);
    OTF2_EvtReaderCallbacks_SetRmaSyncCallback(calls, on_sync);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(calls, on_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(calls, on_put);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(calls, on_atomic);
    return calls;
}

/* ---- locations ---- */

/* All that reading needs, and how far it is. */
struct whole {
    struct otf2_reading *reading;
    OTF2_Reader *reader;
    OTF2_EvtReaderCallbacks *calls;
    const struct rfn_convert_progress *progress;
    uint64_t events, read; /* all, and so far */
};

static int failed(const struct whole *whole, OTF2_ErrorCode code, int otherwise, const char *what)
{
    return rfn_otf2_fail(&whole->reading->errors, code, otherwise, whole->reading->path, what,
                         whole->reading->diag);
}

/* The location's own numbers of definitions, and what its clock was off by. */
static int read_local_definitions(const struct whole *whole, uint64_t location)
{
    uint64_t n;
    OTF2_DefReader *reader = OTF2_Reader_GetDefReader(whole->reader, location);
    if (!reader) /* there are none */
        return 0;
    OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalDefinitions(whole->reader, reader, &n);
    OTF2_Reader_CloseDefReader(whole->reader, reader);
    if (code != OTF2_SUCCESS)
        return failed(whole, code, RFN_E_CORRUPT, "definitions of a location cannot be read");
    return 0;
}

static int read_events(struct whole *whole, OTF2_EvtReader *reader, struct otf2_thread *thread)
{
    const struct rfn_convert_progress *progress = whole->progress;
    uint64_t n, all = 0;
    OTF2_ErrorCode code;
    do {
        n = 0;
        code = OTF2_Reader_ReadLocalEvents(whole->reader, reader, CHUNK, &n);
        all += n;
        whole->read += n;
        if (whole->events)
            rfn_convert_tell(progress, (double)whole->read / (double)whole->events);
    } while (code == OTF2_SUCCESS && n == CHUNK);
    whole->reading->summary->events += all;
    RFN_TRY(thread->error);
    if (code != OTF2_SUCCESS)
        return failed(whole, code, RFN_E_CORRUPT, "events of a location cannot be read");
    if (all < thread->location->events)
        return rfn_fail(whole->reading->diag, RFN_E_INCOMPLETE, -1, (int)thread->location->rank,
                        "%s: location %llu has %llu of its %llu events; it was cut short",
                        whole->reading->path, (unsigned long long)thread->location->ref,
                        (unsigned long long)all, (unsigned long long)thread->location->events);
    return rfn_otf2_end(thread);
}

static int read_location(struct whole *whole, const struct otf2_location *location)
{
    struct otf2_thread thread;
    RFN_TRY(read_local_definitions(whole, location->ref));
    OTF2_EvtReader *reader = OTF2_Reader_GetEvtReader(whole->reader, location->ref);
    if (!reader)
        return failed(whole, OTF2_SUCCESS, RFN_E_CORRUPT, "events of a location cannot be read");
    int error = rfn_otf2_thread_init(&thread, whole->reading, location);
    if (!error) {
        OTF2_EvtReader_ApplyMappingTables(reader, true);
        OTF2_EvtReader_ApplyClockOffsets(reader, true);
        OTF2_ErrorCode code = OTF2_Reader_RegisterEvtCallbacks(whole->reader, reader, whole->calls,
                                                               &thread);
        error = code == OTF2_SUCCESS ? read_events(whole, reader, &thread)
                                     : failed(whole, code, RFN_E_CORRUPT, "it cannot be read");
    }
    rfn_otf2_thread_release(&thread);
    OTF2_Reader_CloseEvtReader(whole->reader, reader);
    return error;
}

static int read_locations(struct whole *whole)
{
    const struct otf2_definitions *of = &whole->reading->definitions;
    for (size_t i = 0; i < of->n_locations; i++) {
        const struct otf2_location *location = &of->locations[i];
        if (location->rank < 0) {
            whole->reading->summary->left_out.locations++;
            continue;
        }
        OTF2_Reader_SelectLocation(whole->reader, location->ref);
        whole->events += location->events;
    }
    OTF2_ErrorCode code = OTF2_Reader_OpenEvtFiles(whole->reader);
    if (code != OTF2_SUCCESS)
        return failed(whole, code, RFN_E_CORRUPT, "its events cannot be read");
    const bool local = OTF2_Reader_OpenDefFiles(whole->reader) == OTF2_SUCCESS;
    int error = 0;
    for (size_t i = 0; i < of->n_locations && !error; i++) {
        if (of->locations[i].rank >= 0)
            error = read_location(whole, &of->locations[i]);
    }
    if (local)
        OTF2_Reader_CloseDefFiles(whole->reader);
    OTF2_Reader_CloseEvtFiles(whole->reader);
    return error;
}

/* ---- the whole ---- */

/* What the anchor file says; to be freed. */
static char *said(OTF2_Reader *reader, OTF2_ErrorCode (*get)(OTF2_Reader *reader, char **text))
{
    char *text = NULL;
    if (get(reader, &text) != OTF2_SUCCESS)
        text = NULL;
    return text;
}

/* Volumes by the names that recordings have. */
static const char *volume_of(const char *metric, char room[80])
{
    if (!metric)
        return NULL;
    if (strcmp(metric, "PAPI_TOT_INS") == 0 || strcmp(metric, "instructions") == 0)
        return "instructions";
    if (strncmp(metric, "PAPI_", 5) != 0)
        return metric;
    snprintf(room, 80, "papi:%s", metric);
    return room;
}

static int begin_archive(struct otf2_reading *reading, OTF2_Reader *reader, const char *path,
                         bool force)
{
    char volume[80];
    const struct otf2_definitions *of = &reading->definitions;
    char *creator = said(reader, OTF2_Reader_GetCreator);
    char *description = said(reader, OTF2_Reader_GetDescription);
    struct rfn_run run = {.recorder = creator && creator[0] ? creator : "OTF2",
                          .program = description && description[0] ? description : reading->path,
                          .ranks = of->world->n,
                          .times = true,
                          .start_realtime_ns = (int64_t)of->realtime,
                          .volume = volume_of(of->metric, volume)};
    if (run.volume)
        run.volume_unit = strcmp(run.volume, "instructions") == 0 ? "instructions"
                          : strcmp(run.volume, "cpu") == 0        ? "ns"
                                                                  : "";
    const char *const tools[] = {"Score-P", "refrain", "Scalasca"};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        reading->network_sizes |= creator && strncmp(creator, tools[i], strlen(tools[i])) == 0;
    int error = rfn_writer_new(path, force, &run, &reading->writer, reading->diag);
    free(creator);
    free(description);
    RFN_TRY(error);
    reading->byte_type = rfn_writer_datatype(reading->writer,
                                             &(struct rfn_datatype_info){"MPI_BYTE", 1, 1, 1});
    reading->world = rfn_writer_comm(reading->writer, RFN_COMM_WORLD, NULL, 0, NULL, 0);
    if (reading->byte_type < 0 || reading->world < 0)
        return RFN_E_NOMEM;
    return 0;
}

static int read_trace(struct otf2_reading *reading, OTF2_Reader *reader, const char *path,
                      bool force, const char *metric, const struct rfn_convert_progress *progress)
{
    struct whole whole = {.reading = reading, .reader = reader, .progress = progress};
    OTF2_ErrorCode code = OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    if (code != OTF2_SUCCESS)
        return failed(&whole, code, RFN_E_IO, "it cannot be read");
    RFN_TRY(rfn_otf2_define(reader, &reading->errors, reading->path, metric, &reading->definitions,
                            reading->diag));
    reading->summary->ranks = reading->definitions.world->n;
    RFN_TRY(begin_archive(reading, reader, path, force));
    whole.calls = make_callbacks();
    int error = whole.calls ? read_locations(&whole)
                            : rfn_fail(reading->diag, RFN_E_NOMEM, -1, -1, "out of memory");
    OTF2_EvtReaderCallbacks_Delete(whole.calls);
    return error;
}

static int check_anchor(const char *anchor, struct rfn_diag *diag)
{
    FILE *file = fopen(anchor, "rb");
    if (!file)
        return rfn_fail(diag, RFN_E_IO, -1, -1, "%s: %s", anchor, strerror(errno));
    fclose(file);
    return 0;
}

int rfn_otf2_read(const char *anchor, const char *path, bool force, const char *metric,
                  const struct rfn_convert_progress *progress, struct rfn_otf2_summary *summary,
                  struct rfn_diag *diag)
{
    struct otf2_reading reading = {
        .path = anchor, .root.path = -1, .summary = summary, .diag = diag};
    *summary = (struct rfn_otf2_summary){0};
    RFN_TRY(check_anchor(anchor, diag));
    rfn_otf2_listen(&reading.errors);
    OTF2_Reader *reader = OTF2_Reader_Open(anchor);
    int error = reader ? read_trace(&reading, reader, path, force, metric, progress)
                       : rfn_otf2_fail(&reading.errors, OTF2_SUCCESS, RFN_E_CORRUPT, anchor,
                                       "it is no anchor file of an OTF2 trace, or damaged", diag);
    if (reader)
        OTF2_Reader_Close(reader);
    rfn_otf2_unlisten(&reading.errors);
    if (reading.writer && error)
        rfn_writer_cancel(reading.writer);
    else if (reading.writer)
        error = rfn_writer_close(reading.writer, &summary->bytes);
    rfn_map_release(&reading.nodes);
    rfn_otf2_definitions_release(&reading.definitions);
    return error;
}
