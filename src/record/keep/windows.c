#include "record/keep/windows.h"

#include "base/grow.h"
#include "record/core/clock_sync.h"
#include "record/core/exchange_mpi.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/keep/keep_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG_PART = 3, TAG_VERDICT = 4 };

/* Calls of all ranks that a window is to have, at most: less if deciding on them would take as long
 * as a part of what assumptions may be about. */
enum { CALLS = 32768, LEAST_SHARE = 4 };

REC_EVERY_CALL bool rec_keep_on = false;

/* What is under way since a turn. */
struct sent {
    void **bytes;
    MPI_Request *requests;
    size_t n, bytes_capacity, requests_capacity;
};

static struct {
    struct rec_exchange exchange;
    bool open;
    struct sent sent[2];  /* since this turn, since the one before */
    uint64_t left, every; /* collective calls of all ranks to the end of the window, of a window */
    double ns_per_call;   /* that deciding took here */
    int error;
} keep;

/* ---- messages ---- */

/* A message of a rank has come. Who waits for long sleeps: others may need the core. */
static int await_message(int from, int tag, int *bytes)
{
    MPI_Status status;
#ifdef RFN_FLAVOUR_SMPI
    if (rec_mpi.MPI_Probe(from, tag, keep.exchange.comm, &status) != MPI_SUCCESS)
        return RFN_E_EXCHANGE;
#else
    enum { LOOKS = 64, MOST_NS = 1000000, SHARE = 8 };
    int there = 0;
    int64_t began = 0;
    for (int looks = 0; !there; looks++) {
        if (rec_mpi.MPI_Iprobe(from, tag, keep.exchange.comm, &there, &status) != MPI_SUCCESS)
            return RFN_E_EXCHANGE;
        if (there || looks < LOOKS)
            continue;
        const int64_t now = rec_monotonic_ns();
        began = began ? began : now;
        const int64_t nap_ns = (now - began) / SHARE;
        nanosleep(&(struct timespec){.tv_nsec = (long)(nap_ns < MOST_NS ? nap_ns : MOST_NS)}, NULL);
    }
#endif
    return rec_mpi.MPI_Get_count(&status, MPI_BYTE, bytes) == MPI_SUCCESS ? 0 : RFN_E_EXCHANGE;
}

/* The bytes are the caller's. NULL: out of memory, or MPI failed. */
static void *receive(int from, int tag, size_t *size)
{
    int bytes = 0;
    if (await_message(from, tag, &bytes) < 0)
        return NULL;
    void *message = malloc((size_t)bytes + 1);
    *size = (size_t)bytes;
    if (message && rec_mpi.MPI_Recv(message, bytes, MPI_BYTE, from, tag, keep.exchange.comm,
                                    MPI_STATUS_IGNORE) == MPI_SUCCESS)
        return message;
    free(message);
    return NULL;
}

/* The bytes are freed when they have arrived. NULL: nothing is sent. */
static int send(int to, int tag, void *bytes, size_t size)
{
    struct sent *sent = &keep.sent[0];
    if (!bytes || RFN_GROW(sent->bytes, sent->bytes_capacity, sent->n + 1) < 0 ||
        RFN_GROW(sent->requests, sent->requests_capacity, sent->n + 1) < 0) {
        free(bytes);
        return RFN_E_NOMEM;
    }
    if (rec_mpi.MPI_Isend(bytes, (int)size, MPI_BYTE, to, tag, keep.exchange.comm,
                          &sent->requests[sent->n]) != MPI_SUCCESS) {
        free(bytes);
        return RFN_E_EXCHANGE;
    }
    sent->bytes[sent->n++] = bytes;
    return 0;
}

/* All that was sent before this turn has arrived. */
static int await_sent(void)
{
    struct sent before = keep.sent[1];
    const int rc = before.n
                       ? rec_mpi.MPI_Waitall((int)before.n, before.requests, MPI_STATUSES_IGNORE)
                       : MPI_SUCCESS;
    for (size_t i = 0; i < before.n && rc == MPI_SUCCESS; i++)
        free(before.bytes[i]);
    before.n = 0;
    keep.sent[1] = keep.sent[0];
    keep.sent[0] = before;
    return rc == MPI_SUCCESS ? 0 : RFN_E_EXCHANGE;
}

static void release_sent(struct sent *sent)
{
    free(sent->bytes);
    free(sent->requests);
    *sent = (struct sent){0};
}

/* ---- the rank that decides ---- */

static int decider(unsigned turn)
{
    return (int)(turn % (unsigned)keep.exchange.exchange.size);
}

struct deciding {
    void **messages; /* by rank; NULL: none came */
    struct rfn_window_part *parts;
    uint8_t *goes;
    uint64_t n_calls;
};

static const struct rfn_window_part no_part = {.head = {.useless = 1}};

static int receive_parts(struct deciding *deciding, int size)
{
    deciding->messages = calloc((size_t)size, sizeof *deciding->messages);
    deciding->parts = calloc((size_t)size, sizeof *deciding->parts);
    if (!deciding->messages || !deciding->parts)
        return RFN_E_NOMEM;
    for (int i = 0; i < size; i++) {
        size_t bytes = 0;
        deciding->messages[i] = receive(i, TAG_PART, &bytes);
        if (!deciding->messages[i])
            return RFN_E_EXCHANGE;
        if (!rfn_window_part_at(deciding->messages[i], bytes, &deciding->parts[i]))
            deciding->parts[i] = no_part;
        deciding->n_calls += deciding->parts[i].head.n_calls;
    }
    return 0;
}

/* After how many collective calls the window behind the next ones is to end. */
static uint64_t next_every(const struct deciding *deciding, int size)
{
    const double least = (double)rec_options.kept_limits.ns / LEAST_SHARE;
    double most = keep.ns_per_call > 0 ? least / keep.ns_per_call : CALLS;
    bool useless = false;
    most = most < CALLS ? most : CALLS;
    for (int i = 0; i < size; i++)
        useless |= deciding->parts[i].head.useless > 0;
    if (useless || !deciding->n_calls)
        return 1;
    const double every = (double)keep.every * most / (double)deciding->n_calls;
    return every < 1 ? 1 : every > 2 * (double)keep.every ? 2 * keep.every : (uint64_t)every;
}

static void *pack_verdict(const uint8_t *goes, uint32_t n, uint64_t every, size_t *size)
{
    *size = sizeof every + (n + 7) / 8;
    uint8_t *verdict = calloc(1, *size);
    if (!verdict)
        return NULL;
    memcpy(verdict, &every, sizeof every);
    for (uint32_t i = 0; i < n; i++)
        verdict[sizeof every + i / 8] |= (uint8_t)(goes[i] << i % 8);
    return verdict;
}

static int send_verdicts(const struct deciding *deciding, int size)
{
    const uint64_t every = next_every(deciding, size);
    const uint8_t *goes = deciding->goes;
    int error = 0;
    for (int i = 0; i < size; i++) {
        const uint32_t n = deciding->parts[i].head.n_calls;
        size_t bytes;
        void *verdict = pack_verdict(goes, n, every, &bytes);
        const int sent = send(i, TAG_VERDICT, verdict, bytes);
        error = error ? error : sent;
        goes += n;
    }
    return error;
}

static uint64_t calls_kept_whole(void)
{
    return strtoull(rec_options_text(RFN_RECORD_KEEP_WHOLE), NULL, 10);
}

static void note_time(int64_t ns, uint64_t calls)
{
    const double now = calls ? (double)ns / (double)calls : 0;
    keep.ns_per_call = keep.ns_per_call > 0 ? (3 * keep.ns_per_call + now) / 4 : now;
}

/* Decides on the window before the one at hand. */
static int decide(int size)
{
    const struct rfn_window_rules rules = {.least_ns = rec_options.kept_limits.ns,
                                           .least_bytes = rec_options.kept_limits.bytes,
                                           .whole = calls_kept_whole()};
    struct deciding deciding = {0};
    int error = receive_parts(&deciding, size);
    const int64_t began = rec_monotonic_ns();
    if (!error) {
        deciding.goes = calloc(deciding.n_calls + 1, 1);
        error = deciding.goes
                    ? rfn_window_decide(deciding.parts, (uint32_t)size, &rules, deciding.goes)
                    : RFN_E_NOMEM;
        note_time(rec_monotonic_ns() - began, deciding.n_calls);
    }
    if (deciding.goes)
        error = send_verdicts(&deciding, size);
    for (int i = 0; i < size && deciding.messages; i++)
        free(deciding.messages[i]);
    free(deciding.messages);
    free(deciding.parts);
    free(deciding.goes);
    return error;
}

/* ---- all ranks ---- */

/* Of the window whose fate has not been known for longest. */
static int take_verdict(void)
{
    const unsigned turn = rec_keep.turn - rec_keep.waiting;
    struct rec_window *window = rec_keep_window(turn);
    size_t size = 0;
    uint8_t *verdict = receive(decider(turn), TAG_VERDICT, &size);
    const size_t bits = (window->head.n_calls + 7) / 8;
    rec_window_hand_on(
        window, verdict && size == sizeof keep.every + bits ? verdict + sizeof keep.every : NULL);
    if (verdict)
        memcpy(&keep.every, verdict, sizeof keep.every);
    free(verdict);
    rec_keep.waiting--;
    return verdict ? 0 : RFN_E_EXCHANGE;
}

static void *put(uint8_t **at, const void *array, size_t n, size_t size)
{
    if (n)
        memcpy(*at, array, n * size);
    *at += n * size;
    return *at;
}

static int send_part(const struct rec_window *window)
{
    struct rfn_window_head head = window->head;
    if (head.useless)
        head.n_calls = head.n_ends = head.n_shares = head.n_pairs = 0;
    const size_t size = rfn_window_bytes(&head);
    uint8_t *part = malloc(size), *at = part;
    if (part) {
        put(&at, &head, 1, sizeof head);
        put(&at, window->calls, head.n_calls, sizeof *window->calls);
        put(&at, window->ends, head.n_ends, sizeof *window->ends);
        put(&at, window->shares, head.n_shares, sizeof *window->shares);
        put(&at, window->pairs, head.n_pairs, sizeof *window->pairs);
    }
    return send(decider(rec_keep.turn), TAG_PART, part, size);
}

/* The window ends with a call that all ranks are in: how long that takes is not known yet. */
static void end_window(void)
{
    struct rec_window *window = rec_keep_window(rec_keep.turn);
    window->head.useless |= rec_keep.gave_up || rec_stop_reason()[0];
    rec_describe_end(window);
    if (window->head.n_calls)
        window->calls[window->head.n_calls - 1].flags |= RFN_WINDOW_STAYS;
}

static void begin_window(bool opened)
{
    const struct rfn_window_head head = {.clock = rec_keep.clock,
                                         .before = rec_keep.taken,
                                         .opened_enter = opened ? rec_keep.last_enter : 0,
                                         .opened_exit = opened ? rec_keep.last_exit : 0};
    rec_window_begin(rec_keep_window(rec_keep.turn), &head);
}

/* What every rank does when a window ends, in this order (windows.h says why nobody hangs). */
static int turn(void)
{
    int error = 0, then = 0;
    if (rec_keep.waiting >= 1 && decider(rec_keep.turn - 1) == keep.exchange.exchange.rank)
        error = decide(keep.exchange.exchange.size);
    if (rec_keep.waiting >= 2)
        then = take_verdict();
    error = error ? error : then;
    end_window();
    then = send_part(rec_keep_window(rec_keep.turn));
    error = error ? error : then;
    then = await_sent();
    return error ? error : then;
}

static void next_window(bool opened)
{
    rec_keep.turn++;
    rec_keep.waiting++;
    begin_window(opened);
    keep.left = keep.every;
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
    keep.error = keep.error ? keep.error : error;
    next_window(rec_this_stream && rec_this_stream == rec_keep.stream);
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
    const bool able = rec_messages_are_followed() && !rec_threads_multiple &&
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
    keep.open = rec_exchange_open(&keep.exchange, true) == 0;
    if (keep.open)
        why = problem();
    if (why && rec_job_is_first())
        rec_message("--keep-predictions keeps all calls: %s", why);
    rec_keep.rank = (uint32_t)rec_job_rank();
    rec_keep_on = !why;
    keep.left = keep.every = 1;
    begin_window(false);
}

/* The last window, and those whose fate is not known yet. */
static int end_all(void)
{
    int error = turn(), then = 0;
    rec_keep.turn++;
    rec_keep.waiting++;
    if (decider(rec_keep.turn - 1) == keep.exchange.exchange.rank)
        then = decide(keep.exchange.exchange.size);
    while (rec_keep.waiting) {
        error = error ? error : then;
        then = take_verdict();
    }
    for (int i = 0; i < 2; i++) {
        error = error ? error : then;
        then = await_sent();
    }
    return error ? error : then;
}

int rec_keep_end(void)
{
    int error = keep.error;
    rec_follower = NULL;
    if (rec_keep_on) {
        const int then = end_all();
        error = error ? error : then;
    } else {
        rec_window_hand_on(rec_keep_window(rec_keep.turn), NULL);
    }
    rec_keep_on = false;
    if (keep.open)
        rec_exchange_close(&keep.exchange);
    keep.open = false;
    return error;
}

void rec_keep_end_alone(void)
{
    for (unsigned i = rec_keep.waiting + 1; i-- > 0;)
        rec_window_hand_on(rec_keep_window(rec_keep.turn - i), NULL);
    rec_keep.waiting = 0;
    rec_keep_on = false;
}

void rec_keep_release(void)
{
    rec_held_release();
    rec_describe_release();
    release_sent(&keep.sent[0]);
    release_sent(&keep.sent[1]);
    rec_keep = (struct rec_keep){0};
}
