#include "record/regions/function_calls.h"

#include "base/arithmetic.h"
#include "base/grow.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/regions/function_names.h"
#include "record/regions/regions.h"

#include <stdlib.h>
#include <string.h>

enum state {
    SKIPPED, /* nothing of it is recorded */
    HELD,    /* its begin is still to be written, or not */
    OPEN     /* its begin is written */
};

/* A call that goes on. */
struct call {
    const struct rec_function *function;
    uintptr_t stack, where; /* the stack pointer at its hook, and the place in its code */
    uint64_t enter, order;
    enum state state;
};

/* What a thread knows of a function. */
struct tally {
    uint32_t open; /* calls on the stack */
    bool off;      /* switched off */
    bool known;    /* the following three */
    uint32_t begin_site, end_site;
    int64_t word;
    uint64_t second, in_second; /* when the second began, and calls since */
    uint64_t unrecorded;
};

/* Tallies lie in blocks that stay where they are: MPI_Finalize in another thread reads them. */
enum { BLOCK_BITS = 6, BLOCKS = 32 - BLOCK_BITS };

/* One thread's. */
struct calls {
    struct call *stack; /* innermost last */
    size_t depth, capacity;
    size_t first_held; /* no held call lies before this one */
    size_t beyond;     /* open calls for which the stack had no room */
    struct tally *blocks[BLOCKS];
    struct calls *next; /* of all threads, never freed */
};

static __thread struct calls *own_calls REC_TLS_MODEL;
static struct calls *all_calls;
static const struct rec_held_calls held_calls;

static enum wanted { UNASKED, NOT_WANTED, WANTED } wanted;
static uint64_t min_quanta, second_quanta;

/* ---- one at a time ---- */

/* False: a signal's handler, or an allocator of the program, has come from within. */
static bool come_in(void)
{
    return !rec_keep_out(true);
}

static void go_out(void)
{
    rec_keep_out(false);
}

/* ---- being wanted ---- */

static uint64_t quanta_of(uint64_t ns)
{
    const unsigned programs = rfn_arithmetic_begin();
    const double quantum = rec_clock.tick_ns * (double)(UINT64_C(1) << rec_clock.shift);
    const uint64_t quanta = (uint64_t)((double)ns / quantum + 0.999999);
    rfn_arithmetic_end(programs);
    return quanta;
}

static enum wanted find_out(void)
{
    static unsigned tries;
    if (rec_state == REC_ASLEEP && getenv("REFRAIN_FUNCTIONS")) {
        /* Wakes the recorder if there is an MPI. Without one it is looked for ever more seldom. */
        const unsigned seen = tries++;
        if ((seen & (seen + 1)) == 0 && rec_is_mpi_there())
            rec_wake();
        if (rec_state == REC_ASLEEP)
            return UNASKED;
    }
    if (rec_state != REC_RECORDING || !rec_options.functions)
        return NOT_WANTED;
    min_quanta = quanta_of(rec_options.functions_min_ns);
    second_quanta = quanta_of(1000000000);
    return WANTED;
}

/* Whether hooks have anything to do. The environment is read here before the recorder is awake, so
 * that a program that was compiled with hooks does not wake it for nothing. */
static __attribute__((noinline)) bool ask(void)
{
    if (!come_in())
        return false;
    __atomic_store_n(&wanted, find_out(), __ATOMIC_RELEASE);
    go_out();
    return wanted == WANTED;
}

/* ---- tables ---- */

static struct tally *tally_of(struct calls *calls, const struct rec_function *function)
{
    const uint32_t number = function->number + (1u << BLOCK_BITS);
    const unsigned bit = 31 - (unsigned)__builtin_clz(number);
    struct tally *block = __atomic_load_n(&calls->blocks[bit - BLOCK_BITS], __ATOMIC_ACQUIRE);
    return block ? &block[number - (1u << bit)] : NULL;
}

static __attribute__((cold)) struct calls *calls_new(void)
{
    struct calls *calls = calloc(1, sizeof *calls);
    if (!calls)
        return NULL;
    own_calls = calls;
    __atomic_store_n(&rec_held_calls, &held_calls, __ATOMIC_RELAXED);
    calls->next = __atomic_load_n(&all_calls, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&all_calls, &calls->next, calls, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
    return calls;
}

/* ---- writing events ---- */

/* Makes the stream the recorder's own for a moment; false: there is nothing to be written to. */
static bool begin_writing(struct rec_stream *stream)
{
    rec_come_inside(stream);
    if (rec_is_over(stream)) {
        rec_go_outside(stream);
        return false;
    }
    return true;
}

static void end_writing(struct rec_stream *stream)
{
    rec_go_outside(stream);
}

static void write_event(struct rec_stream *stream, uint32_t function, uint32_t site, int64_t word,
                        int64_t out, uint64_t stamp)
{
    const struct rfn_event event = {.site = site,
                                    .function = function,
                                    .in = &word,
                                    .out = &out,
                                    .enter = stamp,
                                    .exit = stamp};
    if (rec_state == REC_RECORDING && rec_take_event(stream, &event) < 0)
        rec_stop("out of memory");
}

static void write_begins(struct calls *calls, struct rec_stream *stream)
{
    const uint32_t begin = REC_FN_refrain_region_begin, end = REC_FN_refrain_region_end;
    for (size_t i = calls->first_held; i < calls->depth; i++) {
        struct call *call = &calls->stack[i];
        const struct rec_function *function = call->function;
        struct tally *tally = tally_of(calls, function);
        if (call->state != HELD)
            continue;
        if (!tally->known) {
            tally->word = rec_regions_name(stream, function->name);
            if (tally->word < 0) {
                rec_stop("out of memory for regions");
                continue;
            }
            tally->begin_site = rec_site_of_frames(&stream->sites, begin, &function->frame, 1);
            tally->end_site = rec_site_of_frames(&stream->sites, end, &function->frame, 1);
            tally->known = true;
        }
        write_event(stream, begin, tally->begin_site, tally->word, 0, call->enter);
        call->order = rec_regions_next(stream);
        call->state = OPEN;
    }
    calls->first_held = calls->depth;
    stream->slow &= (uint8_t)~REC_SLOW_HELD;
}

static void write_end(struct calls *calls, struct rec_stream *stream, const struct call *call,
                      uint64_t stamp)
{
    const struct tally *tally = tally_of(calls, call->function);
    write_event(stream, REC_FN_refrain_region_end, tally->end_site, tally->word, 0, stamp);
}

/* ---- what is held ---- */

static bool any_held(void)
{
    return own_calls && own_calls->first_held < own_calls->depth;
}

static void write_held(struct rec_stream *stream)
{
    struct calls *calls = own_calls;
    const bool before = rec_keep_out(true);
    if (calls && begin_writing(stream)) {
        write_begins(calls, stream);
        end_writing(stream);
    }
    rec_keep_out(before);
}

static void drop_held(struct rec_stream *stream)
{
    struct calls *calls = own_calls;
    for (size_t i = calls->first_held; i < calls->depth; i++) {
        if (calls->stack[i].state == HELD)
            calls->stack[i].state = SKIPPED;
    }
    calls->first_held = calls->depth;
    stream->slow &= (uint8_t)~REC_SLOW_HELD;
}

static const struct rec_held_calls held_calls = {any_held, write_held, drop_held};

/* ---- leaving ---- */

static bool is_off(void)
{
    return __atomic_load_n(&rec_off, __ATOMIC_RELAXED);
}

/* Ends the innermost call now. */
static void leave(struct calls *calls)
{
    const struct call *call = &calls->stack[calls->depth - 1];
    const uint64_t now = call->state == SKIPPED ? 0 : rec_now();
    const bool record = call->state == OPEN ||
                        (call->state == HELD && now - call->enter >= min_quanta && !is_off());
    struct rec_stream *stream = !record           ? NULL
                                : rec_this_stream ? rec_this_stream
                                                  : rec_stream_wake();
    if (stream && begin_writing(stream)) {
        write_begins(calls, stream);
        write_end(calls, stream, call, now);
        end_writing(stream);
    }
    tally_of(calls, calls->stack[--calls->depth].function)->open--;
    if (calls->first_held >= calls->depth) {
        calls->first_held = calls->depth;
        if (rec_this_stream)
            rec_this_stream->slow &= (uint8_t)~REC_SLOW_HELD;
    }
}

/* The innermost call was left by a jump, nobody knows when. */
static void abandon(struct calls *calls)
{
    static bool told;
    const struct rec_function *function = calls->stack[calls->depth - 1].function;
    if (!__atomic_exchange_n(&told, true, __ATOMIC_ACQ_REL))
        rec_message("%s was left by a jump: such functions end in the record where that is noticed",
                    function->name);
    leave(calls);
}

/* ---- entering ---- */

static __attribute__((cold)) void too_deep(struct calls *calls)
{
    static bool told;
    calls->beyond++;
    if (!__atomic_exchange_n(&told, true, __ATOMIC_ACQ_REL))
        rec_message("more than %d functions are open in each other: deeper calls are not recorded",
                    REC_CALLS_DEPTH);
}

static bool is_inside(void)
{
    return rec_this_stream && rec_this_stream->inside;
}

/* Whether the call may be recorded, as far as is known now. Counts it: a function that is called
 * too often is switched off. */
static enum state state_of(struct tally *tally, uint64_t now)
{
    if (tally->off || is_inside() || is_off())
        return SKIPPED;
    if (now - tally->second >= second_quanta) {
        tally->second = now;
        tally->in_second = 0;
    }
    tally->off = ++tally->in_second > rec_options.functions_rate;
    return tally->off ? SKIPPED : HELD;
}

static void push(struct calls *calls, struct tally *tally, const struct rec_function *function,
                 uintptr_t stack, uintptr_t where)
{
    const uint64_t now = tally->off ? 0 : rec_now();
    const enum state state = state_of(tally, now);
    if (tally->off)
        tally->unrecorded++;
    if (tally->off && !tally->open)
        return;
    if (RFN_GROW(calls->stack, calls->capacity, calls->depth + 1) < 0) {
        rec_stop("out of memory for functions");
        return;
    }
    if (state == HELD && calls->first_held == calls->depth && rec_this_stream)
        rec_this_stream->slow |= REC_SLOW_HELD;
    else if (state == SKIPPED && calls->first_held == calls->depth)
        calls->first_held++;
    calls->stack[calls->depth++] = (struct call){
        .function = function, .stack = stack, .where = where, .enter = now, .state = state};
    tally->open++;
}

static void enter_in(const struct rec_function *function, uintptr_t stack, uintptr_t where)
{
    struct calls *calls = own_calls ? own_calls : calls_new();
    if (!calls)
        return;
    struct tally *tally = tally_of(calls, function);
    if (__builtin_expect(!tally, 0)) {
        const unsigned bit = 31 - (unsigned)__builtin_clz(function->number + (1u << BLOCK_BITS));
        struct tally *block = calloc((size_t)1 << bit, sizeof *block);
        __atomic_store_n(&calls->blocks[bit - BLOCK_BITS], block, __ATOMIC_RELEASE);
        tally = tally_of(calls, function);
    }
    if (!tally)
        return;
    if (tally->off && !tally->open) {
        tally->unrecorded++;
        return;
    }
    while (!is_inside() && calls->depth) {
        /* It was left by a jump when the new call's frame lies further out, or where its own did.
         */
        const struct call *top = &calls->stack[calls->depth - 1];
        if (top->stack > stack || (top->stack == stack && top->where != where))
            break;
        calls->beyond = 0;
        abandon(calls);
    }
    if (calls->depth >= REC_CALLS_DEPTH)
        too_deep(calls);
    else
        push(calls, tally, function, stack, where);
}

static void leave_in(const struct rec_function *function, uintptr_t stack)
{
    struct calls *calls = own_calls;
    const struct tally *tally = calls ? tally_of(calls, function) : NULL;
    if (!tally || (tally->off && !tally->open))
        return;
    if (calls->beyond && stack <= calls->stack[calls->depth - 1].stack) {
        calls->beyond--;
        return;
    }
    calls->beyond = 0;
    if (!tally->open || (is_inside() && calls->stack[calls->depth - 1].function != function))
        return;
    while (calls->stack[calls->depth - 1].function != function)
        abandon(calls);
    leave(calls);
}

#define NOINLINE __attribute__((noinline))

/* stack: STACK of a hook, which tells where its frame is. The recorder, too, calls functions of the
 * program, such as its allocator: nothing is asked while it is at work. */
static void notice_left(uintptr_t stack)
{
    if (__builtin_expect(is_inside(), 0) && rec_this_stream->open.function)
        rec_notice_left(rec_this_stream, (const uintptr_t *)stack - 2);
}

static NOINLINE void enter(const struct rec_function *function, uintptr_t stack, uintptr_t where)
{
    if (rec_kept_out || rec_state != REC_RECORDING || !come_in())
        return;
    notice_left(stack);
    enter_in(function, stack, where);
    go_out();
}

static NOINLINE void leave_function(const struct rec_function *function, uintptr_t stack)
{
    if (rec_kept_out || rec_state != REC_RECORDING || !come_in())
        return;
    notice_left(stack);
    leave_in(function, stack);
    go_out();
}

/* ---- hooks ---- */

/* The stack pointer of the function whose hook this is. */
#define STACK ((uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t))
#define WHERE ((uintptr_t)__builtin_return_address(0))

REC_EXPORT void __cyg_profile_func_enter(void *address, void *site);
REC_EXPORT void __cyg_profile_func_exit(void *address, void *site);

static NOINLINE const struct rec_function *meet(uintptr_t address)
{
    /* Within a call that is recorded the recorder may hold what is needed here. */
    if (rec_kept_out || rec_state != REC_RECORDING || is_inside() || !come_in())
        return NULL;
    const struct rec_function *function = rec_function_meet(address);
    go_out();
    return function;
}

/* What hooks do mostly is to look and return: everything else is kept out of them. */
static bool is_wanted(void)
{
    const enum wanted now = __atomic_load_n(&wanted, __ATOMIC_ACQUIRE);
    return __builtin_expect(now == WANTED, 1) || (now == UNASKED && ask());
}

REC_EXPORT void __cyg_profile_func_enter(void *address, void *site)
{
    (void)site;
    if (!is_wanted())
        return;
    const struct rec_function_slot *slot = rec_function_slot((uintptr_t)address);
    const struct rec_function *function = slot->function;
    if (__builtin_expect(!slot->address, 0))
        function = meet((uintptr_t)address);
    if (__builtin_expect(function != NULL, 0))
        enter(function, STACK, WHERE);
}

REC_EXPORT void __cyg_profile_func_exit(void *address, void *site)
{
    (void)site;
    if (__atomic_load_n(&wanted, __ATOMIC_ACQUIRE) != WANTED)
        return;
    const struct rec_function_slot *slot = rec_function_slot((uintptr_t)address);
    if (__builtin_expect(slot->address && slot->function, 0))
        leave_function(slot->function, STACK);
}

/* ---- the end ---- */

void rec_calls_prepare_close(struct rec_stream *stream)
{
    struct calls *calls = own_calls;
    rec_keep_out(true);
    if (!calls || !(stream->slow & REC_SLOW_HELD))
        return;
    const uint64_t now = rec_now();
    for (size_t i = calls->first_held; i < calls->depth; i++) {
        struct call *call = &calls->stack[i];
        if (call->state == HELD && (now - call->enter < min_quanta || is_off()))
            call->state = SKIPPED;
    }
    write_begins(calls, stream);
}

void rec_calls_close(struct rec_stream *stream, uint64_t order)
{
    struct calls *calls = own_calls;
    for (size_t i = calls ? calls->depth : 0; i-- > 0;) {
        struct call *call = &calls->stack[i];
        if (call->state != OPEN)
            continue;
        if (call->order < order)
            return;
        write_end(calls, stream, call, rec_now());
        call->state = SKIPPED;
    }
}

static void tell_user(uint32_t n, const struct rec_function *most, uint64_t calls)
{
    if (rec_options.quiet || !rec_options.functions || !rec_job_is_first())
        return;
    if (n)
        rec_message(
            "%u function%s called more than %llu times in a second and not recorded any more "
            "from then on (most of all %s, %llu calls); the report lists them",
            n, n == 1 ? " was" : "s were", (unsigned long long)rec_options.functions_rate,
            most->name, (unsigned long long)calls);
    if (!rec_function_count())
        rec_message(
            "--functions=%s: no such function was called; only those that were compiled with "
            "-finstrument-functions can be recorded",
            rec_options.functions);
}

void rec_calls_tell_unrecorded(struct rec_stream *stream)
{
    const uint32_t unrecorded = REC_FN_refrain_calls_unrecorded;
    const struct rec_function *most = NULL;
    uint64_t most_calls = 0;
    uint32_t told = 0;
    const uint32_t n = rec_function_count();
    for (uint32_t i = 0; i < n; i++) {
        const struct rec_function *function = rec_function_numbered(i);
        uint64_t n_calls = 0;
        struct calls *calls = __atomic_load_n(&all_calls, __ATOMIC_ACQUIRE);
        for (; calls; calls = calls->next) {
            const struct tally *tally = tally_of(calls, function);
            n_calls += tally ? __atomic_load_n(&tally->unrecorded, __ATOMIC_RELAXED) : 0;
        }
        if (!n_calls)
            continue;
        const int64_t word = rec_regions_name(stream, function->name);
        const uint32_t site = rec_site_of_frames(&stream->sites, unrecorded, &function->frame, 1);
        if (word < 0)
            rec_stop("out of memory for regions");
        else
            write_event(stream, unrecorded, site, word, (int64_t)n_calls, rec_now());
        told++;
        if (n_calls > most_calls) {
            most = function;
            most_calls = n_calls;
        }
    }
    rec_keep_out(false);
    tell_user(told, most, most_calls);
}
