#include "record/limits/limits.h"

#include "archive/write/record_limits.h"
#include "base/grow.h"
#include "record/callpath/path_names.h"
#include "record/core/begin.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum reason { STAYS, INCLUDE, EXCLUDE, RATE, FROM, UNTIL, SIZE, REASONS };

static const enum rfn_record_option options[REASONS] = {
    [INCLUDE] = RFN_RECORD_INCLUDE, [EXCLUDE] = RFN_RECORD_EXCLUDE, [RATE] = RFN_RECORD_MAX_CALLS,
    [FROM] = RFN_RECORD_FROM,       [UNTIL] = RFN_RECORD_UNTIL,     [SIZE] = RFN_RECORD_MAX_SIZE,
};

/* Readers take a pause of so long between unlike polls for computing (analyze/waits/polls.c). */
enum { WORK_NS = 10000000, SIZE_EVERY = 1024 /* events */ };

/* The options. */
static struct {
    struct rfn_sample_where include, exclude;
    enum rfn_may_leave may_go[REC_FN_COUNT];
    uint64_t rates[REC_FN_COUNT]; /* calls per second */
    uint64_t work, second;        /* quanta */
    struct rfn_until until;
    uint64_t until_at;   /* quanta; UINT64_MAX: no time */
    uint64_t most_bytes; /* of the archive; UINT64_MAX: no limit */
    char *text;
} asked;

/* When recording ends, and whether that is in the record. Atomic. */
static struct {
    uint64_t at; /* quanta */
    enum reason why;
    bool told;
    int64_t segments; /* that have ended, those before --from included */
    uint64_t bytes;   /* recorded so far */
} stop = {.at = UINT64_MAX};

static uint64_t left_out[REC_FN_COUNT][REASONS]; /* atomic */

/* A stream's. */
struct rec_limited {
    uint8_t *reasons; /* by site: 1 + enum reason; 0: not known yet */
    size_t n_sites;
    struct {
        uint64_t second, calls; /* when the second began, and calls since */
    } rates[REC_FN_COUNT];
    uint64_t events, bytes, last_exit;
    bool looked_up; /* names, for the call at hand, which takes time */
    /* The last poll, and what stands for those that were left out since another call. */
    struct {
        bool any;
        uint32_t site, n_in;
        int64_t in[RFN_PARAMS_MAX];
        uint64_t exit;
        bool stands; /* stand_in and part are set */
        uint32_t stand_in;
        int64_t part;
    } poll;
};

/* ---- options ---- */

static uint64_t quanta_of(double ns)
{
    return (uint64_t)(ns / (rec_clock.tick_ns * (double)(UINT64_C(1) << rec_clock.shift)) + 0.5);
}

static void read_calls(enum rfn_record_option option, struct rfn_sample_where *where)
{
    const char *text = rec_options.texts[option];
    if (text && rfn_limited_calls_parse(text, where, NULL) == RFN_E_NOMEM)
        rec_stop("out of memory");
}

static void write_text(void)
{
    size_t size;
    FILE *out = open_memstream(&asked.text, &size);
    for (enum reason i = STAYS + 1; out && i < REASONS; i++) {
        const char *text = rec_options.texts[options[i]];
        if (text)
            fprintf(out, "%s--%s=%s", ftell(out) ? " " : "", rfn_record_row(options[i])->option,
                    text);
    }
    if (out)
        fclose(out);
}

static void read_options(void)
{
    const char *rates = rec_options.texts[RFN_RECORD_MAX_CALLS],
               *from = rec_options.texts[RFN_RECORD_FROM],
               *until = rec_options.texts[RFN_RECORD_UNTIL],
               *size = rec_options.texts[RFN_RECORD_MAX_SIZE];
    read_calls(RFN_RECORD_INCLUDE, &asked.include);
    read_calls(RFN_RECORD_EXCLUDE, &asked.exclude);
    for (unsigned f = 0; f < REC_FN_COUNT; f++) {
        asked.may_go[f] = rfn_may_be_left_out(rec_functions[f].name);
        asked.rates[f] = rates ? rfn_limited_rate(rates, rec_functions[f].name) : UINT64_MAX;
    }
    asked.work = quanta_of(WORK_NS);
    asked.second = quanta_of(1e9);
    asked.most_bytes = size ? rfn_size_parse(size) : UINT64_MAX;
    asked.until_at = UINT64_MAX;
    if (until && rfn_until_parse(until, &asked.until) && asked.until.kind == RFN_UNTIL_TIME)
        asked.until_at = rec_start().quanta + quanta_of((double)asked.until.number);
    struct rfn_until begin;
    if (from && rfn_from_parse(from, &begin) && begin.kind == RFN_UNTIL_SEGMENT)
        stop.segments = begin.number - 1;
    write_text();
}

/* ---- which calls go ---- */

static bool fits(const struct rfn_sample_where *where, const struct rec_stream *stream,
                 uint32_t function, uint32_t site)
{
    return rfn_sample_where_fits(where, RFN_WHERE_FUNCTION, rec_functions[function].name) &&
           rec_path_names_fit(where, &stream->sites, site, rec_options.executable);
}

static enum reason reason_of_site(const struct rec_stream *stream, uint32_t function, uint32_t site)
{
    if (asked.exclude.any && fits(&asked.exclude, stream, function, site))
        return EXCLUDE;
    return asked.include.any && !fits(&asked.include, stream, function, site) ? INCLUDE : STAYS;
}

/* Names are looked up once per site. */
static enum reason known_reason(struct rec_stream *stream, uint32_t function, uint32_t site)
{
    struct rec_limited *limited = stream->limited;
    if (RFN_GROW_ZEROED(limited->reasons, limited->n_sites, (size_t)site + 1) < 0)
        return STAYS;
    uint8_t *reason = &limited->reasons[site];
    if (!*reason) {
        limited->looked_up = true;
        *reason = (uint8_t)(1 + reason_of_site(stream, function, site));
    }
    return (enum reason)(*reason - 1);
}

static bool is_too_often(struct rec_limited *limited, const struct rfn_event *event)
{
    const uint32_t function = event->function;
    if (asked.rates[function] == UINT64_MAX)
        return false;
    if (event->enter - limited->rates[function].second >= asked.second) {
        limited->rates[function].second = event->enter;
        limited->rates[function].calls = 0;
    }
    return ++limited->rates[function].calls > asked.rates[function];
}

/* ---- when recording ends ---- */

/* Only the first reason counts. */
static void end_recording(enum reason why, uint64_t at)
{
    enum reason none = STAYS;
    if (__atomic_compare_exchange_n(&stop.why, &none, why, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        __atomic_store_n(&stop.at, at, __ATOMIC_RELEASE);
}

/* Whether the event that was recorded is the last one. */
static bool is_last(const struct rfn_event *event)
{
    if (!rec_options.texts[RFN_RECORD_UNTIL])
        return false;
    if (asked.until.kind == RFN_UNTIL_SEGMENT && event->function == REC_FN_refrain_segment_end)
        return __atomic_add_fetch(&stop.segments, 1, __ATOMIC_RELAXED) == asked.until.number;
    return asked.until.kind == RFN_UNTIL_LEVEL && event->function == REC_FN_MPI_Pcontrol &&
           event->in[0] == asked.until.number;
}

/* Whether the process has recorded its share. */
static bool is_too_large(struct rec_stream *stream)
{
    struct rec_limited *limited = stream->limited;
    const int ranks = rec_job_size();
    if (asked.most_bytes == UINT64_MAX || ++limited->events % SIZE_EVERY || ranks <= 0)
        return false;
    const uint64_t bytes = rfn_stream_bytes(stream->events) + stream->journal.size,
                   more = bytes - limited->bytes;
    limited->bytes = bytes;
    return (int64_t)__atomic_add_fetch(&stop.bytes, more, __ATOMIC_RELAXED) >
           (int64_t)(asked.most_bytes / (uint64_t)ranks);
}

/* A moment at which the recorder tells something. */
static int tell(struct rec_stream *stream, uint32_t function, int64_t in, int64_t out, uint64_t at)
{
    const struct rfn_event event = rec_event_at(stream, function, &in, &out, at);
    return rfn_stream_event(stream->events, &event);
}

static int tell_end(struct rec_stream *stream)
{
    const uint64_t at = __atomic_load_n(&stop.at, __ATOMIC_RELAXED),
                   last = stream->limited->last_exit;
    if (__atomic_exchange_n(&stop.told, true, __ATOMIC_RELAXED))
        return 0;
    return tell(stream, REC_FN_refrain_recording, 0, 0, at > last ? at : last);
}

/* ---- events ---- */

static enum reason reason_to_go(struct rec_stream *stream, const struct rfn_event *event)
{
    const bool mpi = event->function < REC_FN_COUNT;
    if (event->enter >= asked.until_at)
        end_recording(UNTIL, asked.until_at);
    if (event->enter >= __atomic_load_n(&stop.at, __ATOMIC_ACQUIRE) &&
        rec_functions[event->function].class_ != RFN_CLASS_SETUP)
        return __atomic_load_n(&stop.why, __ATOMIC_RELAXED);
    const enum rfn_may_leave may_go = mpi ? asked.may_go[event->function] : RFN_STAYS;
    if (may_go == RFN_STAYS || event->error ||
        (may_go == RFN_FAILED_MAY_BE_LEFT_OUT && event->poll != RFN_POLL_FAILED))
        return STAYS;
    const enum reason reason = known_reason(stream, event->function, event->site);
    return reason == STAYS && is_too_often(stream->limited, event) ? RATE : reason;
}

static int record(struct rec_stream *stream, const struct rfn_event *event)
{
    stream->limited->last_exit = event->exit;
    const int took_long = rfn_stream_event(stream->events, event);
    if (is_last(event))
        end_recording(UNTIL, event->exit);
    if (is_too_large(stream))
        end_recording(SIZE, event->exit);
    return took_long;
}

static bool is_like_last(const struct rec_limited *limited, const struct rfn_event *event)
{
    return limited->poll.any && limited->poll.site == event->site &&
           memcmp(limited->poll.in, event->in, limited->poll.n_in * sizeof *event->in) == 0;
}

static void remember_poll(struct rec_limited *limited, const struct rfn_event *event)
{
    limited->poll.any = true;
    limited->poll.site = event->site;
    limited->poll.n_in = rec_functions[event->function].n_in;
    memcpy(limited->poll.in, event->in, limited->poll.n_in * sizeof *event->in);
    limited->poll.exit = event->exit;
}

/* The first of the polls gives the place. A stream joins equal polls to one event: another part
 * begins where readers would not have taken the time between two polls for waiting. */
static int stand_in(struct rec_stream *stream, const struct rfn_event *event)
{
    struct rec_limited *limited = stream->limited;
    struct rfn_event other = *event;
    if (!limited->poll.stands) {
        size_t n;
        const struct rec_frame *frames = rec_sites_frames(&stream->sites, event->site, &n);
        limited->poll.stand_in = rec_site_of_frames(&stream->sites, REC_FN_refrain_polls, frames,
                                                    n);
        limited->poll.part = 0;
        limited->poll.stands = true;
    } else if (event->enter - limited->poll.exit >= asked.work && !is_like_last(limited, event)) {
        limited->poll.part ^= 1;
    }
    remember_poll(limited, event);
    other.function = REC_FN_refrain_polls;
    other.site = limited->poll.stand_in;
    other.in = &limited->poll.part;
    return record(stream, &other);
}

static int leave_out(struct rec_stream *stream, const struct rfn_event *event, enum reason reason)
{
    if (event->function < REC_FN_COUNT)
        __atomic_fetch_add(&left_out[event->function][reason], 1, __ATOMIC_RELAXED);
    const bool ended = reason == UNTIL || reason == SIZE;
    if (!ended && event->poll == RFN_POLL_FAILED)
        return stand_in(stream, event);
    const int error = ended ? tell_end(stream) : 0;
    return error < 0 ? error : 0;
}

static int keep(struct rec_stream *stream, const struct rfn_event *event)
{
    struct rec_limited *limited = stream->limited;
    if (event->poll == RFN_POLL_FAILED)
        remember_poll(limited, event);
    else
        limited->poll.any = limited->poll.stands = false;
    return record(stream, event);
}

static int take_event(struct rec_stream *stream, const struct rfn_event *event)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_options);
    if (!stream->limited)
        stream->limited = calloc(1, sizeof *stream->limited);
    if (!stream->limited)
        return RFN_E_NOMEM;
    const enum reason reason = reason_to_go(stream, event);
    const int result = reason == STAYS ? keep(stream, event) : leave_out(stream, event, reason);
    const bool took_long = stream->limited->looked_up;
    stream->limited->looked_up = false;
    return result == 0 && took_long ? 1 : result;
}

static const struct rec_keeper limits = {take_event, NULL};

/* --keep-predictions needs all calls. */
__attribute__((constructor)) static void prepare(void)
{
    bool any = false;
    for (enum reason i = STAYS + 1; i < REASONS; i++)
        any |= getenv(rfn_record_row(options[i])->variable) != NULL;
    if (any && !getenv(rfn_record_row(RFN_RECORD_KEEP_PREDICTIONS)->variable))
        rec_keeper = &limits;
}

/* ---- the end ---- */

const char *rec_limits_text(void)
{
    return asked.text && asked.text[0] ? asked.text : NULL;
}

static uint64_t calls_of(unsigned function)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < REASONS; i++)
        sum += left_out[function][i];
    return sum;
}

static int tell_calls(struct rec_stream *stream, unsigned function, uint64_t at)
{
    const char *name = rec_functions[function].name;
    int64_t words[64];
    size_t n = 0;
    for (; name[n] && n < sizeof words / sizeof *words; n++)
        words[n] = (unsigned char)name[n];
    return tell(stream, REC_FN_refrain_calls_left_out, rfn_stream_list(stream->events, words, n),
                (int64_t)calls_of(function), at);
}

int rec_limits_end(void)
{
    static bool ended;
    struct rec_stream *stream = rec_streams;
    const bool again = ended;
    ended = true;
    while (stream && stream->number)
        stream = stream->next;
    if (again || !stream || !stream->limited)
        return 0;
    for (unsigned f = 0; f < REC_FN_COUNT; f++) {
        if (calls_of(f))
            RFN_TRY(tell_calls(stream, f, stream->limited->last_exit));
    }
    free(stream->limited->reasons);
    stream->limited->reasons = NULL;
    return 0;
}

/* "12,345 calls of MPI_Iprobe (--exclude), 3 of ..." */
static void list(FILE *out)
{
    enum { LISTED = 5 };
    unsigned n = 0;
    for (unsigned f = 0; f < REC_FN_COUNT; f++) {
        for (enum reason i = STAYS + 1; i < REASONS; i++) {
            char number[32];
            if (!left_out[f][i] || ++n > LISTED)
                continue;
            fprintf(out, "%s%s %s%s (--%s)", n > 1 ? ", " : "",
                    rec_message_number(left_out[f][i], number),
                    n > 1                 ? "of "
                    : left_out[f][i] == 1 ? "call of "
                                          : "calls of ",
                    rec_functions[f].name, rfn_record_row(options[i])->option);
        }
    }
    if (n > LISTED)
        fprintf(out, " and %u more", n - LISTED);
}

void rec_limits_tell(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = asked.text && !rec_options.quiet ? open_memstream(&text, &size) : NULL;
    if (!out)
        return;
    list(out);
    fclose(out);
    if (rec_begins_later)
        rec_message("recording did not begin: the program did not come to --from=%s",
                    rec_options.texts[RFN_RECORD_FROM]);
    if (text && stop.told)
        rec_message("recording ended after %.3f s (--%s); what ranks did later is not in the "
                    "archive",
                    (double)(stop.at - rec_start().quanta) * rec_clock.tick_ns *
                        (double)(UINT64_C(1) << rec_clock.shift) * 1e-9,
                    rfn_record_row(options[stop.why])->option);
    if (text && text[0])
        rec_message("left out on rank %d: %s; the report has the numbers of all ranks",
                    rec_job_rank(), text);
    free(text);
}
