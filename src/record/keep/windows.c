#include "record/keep/windows.h"

#include "record/core/clock_sync.h"
#include "record/core/exchange_mpi.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/keep/keep_internal.h"

#include <stdlib.h>
#include <string.h>

/* Calls of all ranks that a window is to have, at most: less if deciding on them would take as long
 * as a part of what assumptions may be about. */
enum { CALLS = 32768, LEAST_SHARE = 4 };

REC_EVERY_CALL bool rec_keep_on = false;

static struct {
    struct rec_exchange exchange;
    bool open;
    unsigned turn;
    uint64_t left, every; /* collective calls of all ranks to the end of the window, of a window */
    double ns_per_call;   /* that deciding took here */
    int error;
    /* By rank, for when this one decides: nobody may wait for a rank without memory. */
    struct rfn_buf *messages;
    struct rfn_window_part *parts;
} keep;

static int send(int to, const void *bytes, size_t size)
{
    struct rfn_exchange *exchange = &keep.exchange.exchange;
    return exchange->send(exchange->context, to, bytes, size);
}

/* RFN_E_NOMEM: a message has come, and is lost. */
static int receive(int from, struct rfn_buf *message)
{
    struct rfn_exchange *exchange = &keep.exchange.exchange;
    return exchange->receive(exchange->context, from, message);
}

static size_t bytes_of_bits(uint32_t n)
{
    return ((size_t)n + 7) / 8;
}

/* ---- the rank that decides ---- */

static const struct rfn_window_part no_part = {.head = {.useless = 1}};

/* A rank whose part does not get here has none. */
static int receive_parts(const struct rfn_buf *own, int size, int rank)
{
    for (int i = 0; i < size; i++) {
        struct rfn_buf *message = &keep.messages[i];
        const int error = i == rank ? 0 : receive(i, message);
        if (error < 0 && error != RFN_E_NOMEM)
            return error;
        const struct rfn_buf *from = i == rank ? own : message;
        if (error || !rfn_window_part_at(from->data, from->size, &keep.parts[i]))
            keep.parts[i] = no_part;
    }
    return 0;
}

static void release_parts(int size)
{
    for (int i = 0; i < size; i++)
        rfn_buf_release(&keep.messages[i]);
}

/* Of all parts; 0: one is useless. */
static uint64_t calls_of_all(int size, uint32_t *most)
{
    uint64_t n = 0;
    *most = 0;
    for (int i = 0; i < size; i++) {
        const struct rfn_window_head *head = &keep.parts[i].head;
        if (head->useless)
            return 0;
        n += head->n_calls;
        *most = head->n_calls > *most ? head->n_calls : *most;
    }
    return n;
}

/* After how many collective calls the window behind this one is to end. */
static uint64_t next_every(uint64_t n_calls)
{
    const double least = (double)rec_options.kept_limits.ns / LEAST_SHARE;
    double most = keep.ns_per_call > 0 ? least / keep.ns_per_call : CALLS;
    most = most < CALLS ? most : CALLS;
    if (!n_calls)
        return 1;
    const double every = (double)keep.every * most / (double)n_calls;
    return every < 1 ? 1 : every > 2 * (double)keep.every ? 2 * keep.every : (uint64_t)every;
}

static uint64_t calls_kept_whole(void)
{
    return strtoull(rec_options_text(RFN_RECORD_KEEP_WHOLE), NULL, 10);
}

static void note_time(int64_t ns, uint64_t calls)
{
    const double now = (double)ns / (double)calls;
    keep.ns_per_call = keep.ns_per_call > 0 ? (3 * keep.ns_per_call + now) / 4 : now;
}

/* By call of all parts; NULL without memory. */
static uint8_t *decide(uint64_t n_calls, int size)
{
    const struct rfn_window_rules rules = {.least_ns = rec_options.kept_limits.ns,
                                           .least_bytes = rec_options.kept_limits.bytes,
                                           .whole = calls_kept_whole()};
    const int64_t began = rec_monotonic_ns();
    uint8_t *goes = calloc(n_calls, 1);
    if (goes && rfn_window_decide(keep.parts, (uint32_t)size, &rules, goes) < 0) {
        free(goes);
        goes = NULL;
    }
    note_time(rec_monotonic_ns() - began, n_calls);
    return goes;
}

/* A bit per call. */
static void put_bits(uint8_t *bits, const uint8_t *goes, uint32_t n)
{
    memset(bits, 0, bytes_of_bits(n));
    for (uint32_t i = 0; i < n; i++)
        bits[i / 8] |= (uint8_t)(goes[i] << i % 8);
}

/* Each rank gets to know when the next window ends, and what goes of this one. goes NULL: all
 * stays. */
static int send_verdicts(const uint8_t *goes, uint8_t *verdict, int size, int rank)
{
    int error = 0;
    for (int i = 0; i < size; i++) {
        const uint32_t n = keep.parts[i].head.n_calls;
        memcpy(verdict, &keep.every, sizeof keep.every);
        if (goes)
            put_bits(verdict + sizeof keep.every, goes, n);
        const size_t bytes = sizeof keep.every + (goes ? bytes_of_bits(n) : 0);
        const int sent = i == rank ? 0 : send(i, verdict, bytes);
        error = error ? error : sent;
        goes = goes ? goes + n : NULL;
    }
    return error;
}

/* Of this rank's own calls. */
static int follow_own(const uint8_t *goes, uint8_t *bits, int rank)
{
    for (int i = 0; i < rank && goes; i++)
        goes += keep.parts[i].head.n_calls;
    if (goes)
        put_bits(bits, goes, keep.parts[rank].head.n_calls);
    return rec_window_hand_on(goes ? bits : NULL);
}

/* Room for verdicts is there before one is sent: calls that go do so on all ranks, or on none. */
static int decide_for_all(const struct rfn_buf *own)
{
    const int size = keep.exchange.exchange.size, rank = keep.exchange.exchange.rank;
    uint8_t every[sizeof keep.every];
    uint32_t most;
    int error = receive_parts(own, size, rank);
    if (!error) {
        const uint64_t n_calls = calls_of_all(size, &most);
        uint8_t *verdict = malloc(sizeof keep.every + bytes_of_bits(most));
        uint8_t *goes = n_calls && verdict ? decide(n_calls, size) : NULL;
        keep.every = next_every(n_calls);
        error = send_verdicts(goes, verdict ? verdict : every, size, rank);
        const int then = follow_own(goes, verdict, rank);
        error = error ? error : then;
        free(goes);
        free(verdict);
    }
    release_parts(size);
    return error;
}

/* ---- all ranks ---- */

/* What the rank says of its window. */
static void describe(struct rfn_buf *part)
{
    const struct rec_window *window = &rec_keep.window;
    struct rfn_window_head head = window->head;
    if (head.useless)
        head.n_calls = head.n_ends = head.n_shares = head.n_pairs = 0;
    rfn_buf_reserve(part, rfn_window_bytes(&head));
    rfn_buf_bytes(part, &head, sizeof head);
    rfn_buf_bytes(part, window->calls, head.n_calls * sizeof *window->calls);
    rfn_buf_bytes(part, window->ends, head.n_ends * sizeof *window->ends);
    rfn_buf_bytes(part, window->shares, head.n_shares * sizeof *window->shares);
    rfn_buf_bytes(part, window->pairs, head.n_pairs * sizeof *window->pairs);
}

/* Does what the rank that decides says; it has been told nothing if there is no room for that. */
static int ask(int decider, const struct rfn_buf *part, struct rfn_buf *verdict)
{
    const size_t bits = bytes_of_bits(rec_keep.window.head.n_calls);
    const bool room = !part->failed && rfn_buf_reserve(verdict, sizeof keep.every + bits);
    int error = room ? send(decider, part->data, part->size)
                     : send(decider, &no_part.head, sizeof no_part.head);
    if (!error)
        error = receive(decider, verdict);
    if (!error)
        memcpy(&keep.every, verdict->data, sizeof keep.every);
    const bool decided = !error && room && verdict->size == sizeof keep.every + bits;
    const int then = rec_window_hand_on(decided ? verdict->data + sizeof keep.every : NULL);
    return error ? error : then;
}

/* The window ends with a call that all ranks are in: how long that takes is not known yet. */
static void end_window(void)
{
    struct rec_window *window = &rec_keep.window;
    window->head.useless |= rec_keep_gave_up() || rec_stop_reason()[0];
    rec_describe_end();
    if (window->head.n_calls)
        window->calls[window->head.n_calls - 1].flags |= RFN_WINDOW_STAYS;
}

/* opened: by the last call that was taken. */
static void begin_window(bool opened)
{
    const struct rfn_window_head head = {.clock = rec_keep.clock,
                                         .before = rec_keep.taken,
                                         .opened_enter = opened ? rec_keep.last_enter : 0,
                                         .opened_exit = opened ? rec_keep.last_exit : 0};
    rec_window_begin(&head);
    keep.left = keep.every;
}

/* What every rank does when a window ends (windows.h says why nobody hangs). */
static int turn(void)
{
    const int decider = (int)(keep.turn++ % (unsigned)keep.exchange.exchange.size);
    struct rfn_buf part = {0}, verdict = {0};
    end_window();
    describe(&part);
    const int error = decider == keep.exchange.exchange.rank ? decide_for_all(&part)
                                                             : ask(decider, &part, &verdict);
    rfn_buf_release(&part);
    rfn_buf_release(&verdict);
    return error;
}

static bool begin_inside(void)
{
    struct rec_stream *stream = rec_this_stream;
    const bool inside = stream && stream->inside;
    if (stream)
        rec_come_inside(stream);
    return inside;
}

static void end_inside(bool inside)
{
    if (rec_this_stream)
        rec_set_inside(rec_this_stream, inside);
}

bool rec_keep_synchronized(void)
{
    if (--keep.left > 0)
        return false;
    const bool inside = begin_inside(), kept_out = rec_keep_out(true);
    const int error = turn();
    if (error)
        rec_stop("%s", rfn_error_text(error));
    keep.error = keep.error ? keep.error : error;
    begin_window(rec_this_stream && rec_this_stream == rec_keep.stream);
    rec_keep_out(kept_out);
    end_inside(inside);
    return true;
}

/* ---- start and end ---- */

__attribute__((constructor)) static void prepare(void)
{
    if (getenv(rfn_record_row(RFN_RECORD_KEEP_PREDICTIONS)->variable))
        rec_keeper = &rec_keep_keeper;
}

void rec_keep_prepare(void)
{
    if (rec_options.keeps && rec_keeper && rec_state == REC_RECORDING && !keep.open &&
        rec_describe_begin() == 0)
        rec_follower = &rec_keep_follower;
}

static bool make_room(void)
{
    const size_t n = (size_t)keep.exchange.exchange.size;
    keep.messages = calloc(n, sizeof *keep.messages);
    keep.parts = calloc(n, sizeof *keep.parts);
    return keep.messages && keep.parts;
}

/* Ranks whose clocks can be compared have one number. */
static uint64_t own_clock(void)
{
#ifdef RFN_FLAVOUR_SMPI /* simulated time is the same everywhere */
    return 1;
#else
    return rec_clock_sync_host();
#endif
}

/* Times of ranks are compared, and threads' calls have no order. */
static const char *problem(void)
{
    const uint64_t clock = own_clock();
    uint64_t clocks[2] = {clock, ~clock};
    const bool able = make_room() && rec_messages_are_followed() && !rec_threads_multiple &&
                      (rec_clock.tick_ns == 1 || rec_clock.kind == REC_CLOCK_MPI);
    if (!rec_all_say(keep.exchange.comm, able))
        return "a rank has threads that call MPI, no memory, or another clock";
    if (rec_mpi.MPI_Allreduce(MPI_IN_PLACE, clocks, 2, MPI_UINT64_T, MPI_MAX, keep.exchange.comm) !=
            MPI_SUCCESS ||
        clocks[0] != ~clocks[1])
        return "the ranks' times cannot be compared exactly, as they are on several nodes";
    return NULL;
}

void rec_keep_start(void)
{
    if (!rec_options.keeps || keep.open)
        return;
    const char *why = "MPI has no communicator left for the recorder";
    if (rec_job_is_limited())
        why = "some ranks are not recorded";
    else
        keep.open = rec_exchange_open(&keep.exchange, true) == 0;
    if (keep.open)
        why = problem();
    if (why && rec_job_is_first())
        rec_message("--keep-predictions keeps all calls: %s", why);
    rec_keep.rank = (uint32_t)rec_job_rank();
    rec_keep_on = !why;
    if (why)
        rec_stop_following();
    keep.left = keep.every = 1;
    begin_window(false);
}

int rec_keep_end(void)
{
    int error = keep.error;
    rec_follower = NULL;
    int then = rec_keep_on ? turn() : rec_window_hand_on(NULL);
    error = error ? error : then;
    then = rec_held_end();
    error = error ? error : then;
    rec_keep_on = false;
    if (keep.open)
        rec_exchange_close(&keep.exchange);
    keep.open = false;
    return error;
}

int rec_keep_end_alone(void)
{
    rec_keep_on = false;
    RFN_TRY(rec_window_hand_on(NULL));
    return rec_held_end();
}

void rec_keep_release(void)
{
    rec_held_release();
    rec_describe_release();
    free(keep.messages);
    free(keep.parts);
    keep.messages = NULL;
    keep.parts = NULL;
    rec_keep = (struct rec_keep){0};
}
