/* Wait states of random programs, against an oracle that knows everything.
 *
 * From the times of all calls and what they depend on, the oracle takes each wait as
 * doc/analysis.md defines it, and walks the critical path backward. The analysis sees the events
 * alone. */
#include "refrain/waits.h"

#define FAKE_EVENTS 256
#define FAKE_LISTS  512
#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyze/waits/waits_internal.h"
#include "support/random_program.h"

/* Among the first 40,000 there are some where the path is not as the oracle walks it, and need not
 * be: two ranks finish at the same time, or a chain is not known any more (critical_path.h). */
enum { PROGRAMS = 400 };
enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, SUM = 0, AS = RFN_AS_POSTED };

/* ---- the oracle: waits ---- */

static int64_t eager_bytes; /* the largest standard send seen to end before its receive, or the
                               size at which all are taken to do so */

static void offer(struct event *event, enum rfn_pattern pattern, struct place until)
{
    int64_t wait_ns = event_at(until)->enter_ns - event->enter_ns;
    if (wait_ns <= event->wait_ns)
        return;
    event->wait_ns = wait_ns;
    event->pattern = pattern;
    event->until = until;
}

static void expect_receive(struct event *event, const struct message *message)
{
    offer(event, RFN_LATE_SENDER, message->send);
}

static void expect_send(struct event *event, const struct message *message)
{
    bool before = event_at(message->post)->enter_ns >= event->exit_ns;
    if (before && !message->synchronous)
        eager_bytes = latest(eager_bytes, message->bytes);
    if (!before && (message->synchronous || event->n_parts == 1 || message->bytes > eager_bytes))
        offer(event, RFN_LATE_RECEIVER, message->post);
}

static enum rfn_pattern pattern_of(enum fake_function function)
{
    switch (function) {
    case FAKE_BARRIER:
        return RFN_WAIT_AT_BARRIER;
    case FAKE_BCAST:
        return RFN_LATE_BROADCAST;
    case FAKE_GATHER_:
        return RFN_EARLY_REDUCE;
    case FAKE_SCAN:
        return RFN_EARLY_SCAN;
    case FAKE_INIT:
        return RFN_WAIT_AT_INIT;
    case FAKE_FINALIZE:
        return RFN_WAIT_AT_FINALIZE;
    default:
        return RFN_WAIT_AT_NXN;
    }
}

/* The earliest and the latest of those that send to the root; false if there is none. */
static bool senders_of(const struct instance *instance, struct place *first, struct place *last)
{
    bool any = false;
    for (uint32_t i = 0; i < instance->n; i++) {
        if (i == instance->root || instance->empty[i])
            continue;
        int64_t enter_ns = event_at(instance->enters[i])->enter_ns;
        if (!any || enter_ns < event_at(*first)->enter_ns)
            *first = instance->enters[i];
        if (!any || enter_ns > event_at(*last)->enter_ns)
            *last = instance->enters[i];
        any = true;
    }
    return any;
}

static void expect_root(struct event *event, const struct instance *instance)
{
    struct place first = {0}, last = {0};
    if (!senders_of(instance, &first, &last))
        return;
    offer(event, RFN_EARLY_REDUCE, first);
    int64_t from_ns = latest(event->enter_ns, event_at(first)->enter_ns);
    event->after_ns = latest(event_at(last)->enter_ns - from_ns, 0);
    event->after = last;
}

/* The call of a member that completes its share. */
static const struct event *completion_of(uint32_t number, struct place made)
{
    const struct event *event = event_at(made);
    if (!event->begins)
        return event;
    while (!event->completes || event->parts[0].kind != JOINS || event->parts[0].number != number)
        event++;
    return event;
}

static int64_t first_exit(const struct instance *instance, uint32_t number)
{
    int64_t ns = INT64_MAX;
    for (uint32_t i = 0; i < instance->n; i++) {
        int64_t exit_ns = completion_of(number, instance->enters[i])->exit_ns;
        ns = exit_ns < ns ? exit_ns : ns;
    }
    return ns;
}

static void expect_collective(struct event *event, uint32_t rank, uint32_t number)
{
    const struct instance *instance = &program.instances[number];
    uint32_t place = place_in(instance, rank), from, to;
    enum rfn_pattern pattern = pattern_of(instance->function);
    depends_on(instance, place, &from, &to);
    if (pattern == RFN_EARLY_REDUCE) {
        if (place == instance->root)
            expect_root(event, instance);
        return;
    }
    struct place last = instance->enters[from < to ? from : 0];
    for (uint32_t i = from; i < to; i++) {
        if (event_at(instance->enters[i])->enter_ns > event_at(last)->enter_ns)
            last = instance->enters[i];
    }
    if (from < to)
        offer(event, pattern, last);
    if (instance->function != FAKE_ALLREDUCE && instance->function != FAKE_BARRIER)
        return;
    int64_t there = latest(first_exit(instance, number), event_at(last)->enter_ns);
    event->completion_ns = latest(event->exit_ns - latest(there, event->enter_ns), 0);
}

static void expect_event(struct event *event, uint32_t rank)
{
    for (uint32_t i = 0; i < event->n_parts && !event->begins; i++) {
        const struct part *part = &event->parts[i];
        if (part->kind == RECEIVES)
            expect_receive(event, &program.messages[part->number]);
        else if (part->kind == SENDS)
            expect_send(event, &program.messages[part->number]);
        else
            expect_collective(event, rank, part->number);
    }
}

/* In order of exits, because it is learned on the way how large an eager message may be. */
static void expect_all(void)
{
    uint32_t at[RANKS] = {0};
    eager_bytes = rfn_network_assumed().eager_bytes;
    for (;;) {
        uint32_t next = RANKS;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            if (at[rank] < program.n[rank] &&
                (next == RANKS ||
                 program.events[rank][at[rank]].exit_ns < program.events[next][at[next]].exit_ns))
                next = rank;
        }
        if (next == RANKS)
            return;
        expect_event(&program.events[next][at[next]++], next);
    }
}

/* ---- the oracle: order of receiving ---- */

/* The message that the call receives and nothing else; NULL: not such a call. */
static const struct message *only_received(const struct event *event)
{
    if (event->n_parts != 1 || event->begins || event->parts[0].kind != RECEIVES)
        return NULL;
    return &program.messages[event->parts[0].number];
}

/* The call may go on as it does in any order. */
static bool is_passed(const struct event *event)
{
    bool sends = true;
    for (uint32_t i = 0; i < event->n_parts; i++)
        sends &= event->parts[i].kind == SENDS;
    return event->begins || !event->n_parts || (sends && !event->wait_ns);
}

/* The next call that has to be looked at from `at` on, and what is computed until then; NULL: none.
 */
static const struct event *next_of_order(struct place *at, int64_t *computed_ns)
{
    for (*computed_ns = 0; ++at->index < program.n[at->rank];) {
        *computed_ns += event_at(*at)->gap_ns;
        if (!is_passed(event_at(*at)))
            return event_at(*at);
    }
    return NULL;
}

/* What the rank would have done before the message of its wait came. */
static int64_t gain_of_order(struct place at, const struct message *message)
{
    const struct event *waiting = event_at(at), *next;
    const int64_t sent_ns = event_at(message->send)->enter_ns;
    int64_t own_ns, ns, sum_ns = 0, most_ns = 0, there_ns = waiting->enter_ns;
    const uint32_t index = at.index;
    next = next_of_order(&at, &own_ns);
    while (next) {
        const struct message *other = only_received(next);
        if (!other || next->wait_ns || other->post.index <= index || there_ns >= sent_ns ||
            event_at(other->send)->enter_ns >= sent_ns)
            break;
        there_ns = latest(there_ns, event_at(other->send)->enter_ns);
        next = next_of_order(&at, &ns);
        if (!next) /* no call follows that would wait */
            break;
        there_ns += ns;
        sum_ns += ns;
        most_ns = latest(most_ns, ns);
    }
    sum_ns -= latest(there_ns - sent_ns, 0);
    sum_ns = sum_ns < waiting->wait_ns ? sum_ns : waiting->wait_ns;
    return sum_ns < latest(waiting->wait_ns / 64, 1) || own_ns < most_ns / 4 ? 0 : sum_ns;
}

static void expect_order(void)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint32_t i = 0; i < program.n[rank]; i++) {
            struct place place = {rank, i};
            const struct message *message = only_received(event_at(place));
            if (message && event_at(place)->wait_ns)
                event_at(place)->order_ns = gain_of_order(place, message);
        }
    }
}

/* ---- the oracle: what ranks do, and the critical path ---- */

struct doing {
    struct rfn_activity activity;
    int64_t all_ns, path_ns, ns_by_rank[RANKS];
};
static struct doing doings[RANKS * EVENTS * 2];
static uint32_t n_doings;

static bool same_site(struct rfn_call_site a, struct rfn_call_site b)
{
    return a.function == b.function && a.path == b.path;
}

static bool same_activity(const struct rfn_activity *a, const struct rfn_activity *b)
{
    return a->kind == b->kind && a->region == b->region && same_site(a->before, b->before) &&
           same_site(a->at, b->at);
}

static struct rfn_call_site site_of(const struct event *event)
{
    return (struct rfn_call_site){(uint32_t)event->function, event->path};
}

static struct doing *doing_of(const struct rfn_activity *activity)
{
    uint32_t i = 0;
    while (i < n_doings && !same_activity(&doings[i].activity, activity))
        i++;
    if (i == n_doings)
        doings[n_doings++] = (struct doing){.activity = *activity};
    return &doings[i];
}

static void do_now(enum rfn_activity_kind kind, struct place place, int64_t ns, bool on_path)
{
    const struct event *event = event_at(place);
    struct rfn_activity activity = {.kind = kind, .region = RFN_NO_REGION};
    if (kind != RFN_ACTIVITY_START)
        activity.at = site_of(event);
    if (kind == RFN_ACTIVITY_COMPUTE)
        activity.before = site_of(event - 1);
    struct doing *doing = doing_of(&activity);
    *(on_path ? &doing->path_ns : &doing->all_ns) += ns;
    doing->ns_by_rank[place.rank] += on_path ? 0 : ns;
}

static int64_t start_ns(void)
{
    int64_t ns = program.events[0][0].enter_ns;
    for (uint32_t rank = 1; rank < RANKS; rank++)
        ns = program.events[rank][0].enter_ns < ns ? program.events[rank][0].enter_ns : ns;
    return ns;
}

/* The time in front of a call, and in it, but for waiting. */
static void do_gap(struct place place, bool on_path)
{
    const struct event *event = event_at(place);
    if (place.index)
        do_now(RFN_ACTIVITY_COMPUTE, place, event->gap_ns, on_path);
    else
        do_now(RFN_ACTIVITY_START, place, event->enter_ns - start_ns(), on_path);
}

static void do_call(struct place place, bool on_path)
{
    const struct event *event = event_at(place);
    int64_t ns = event->exit_ns - event->enter_ns - event->wait_ns - event->after_ns -
                 event->completion_ns;
    do_now(RFN_ACTIVITY_MPI, place, ns, on_path);
    do_now(RFN_ACTIVITY_WAIT, place, event->completion_ns, on_path);
}

static struct place last_to_finish(void)
{
    struct place last = last_of(0);
    for (uint32_t rank = 1; rank < RANKS; rank++)
        last = event_at(last_of(rank))->exit_ns > event_at(last)->exit_ns ? last_of(rank) : last;
    return last;
}

/* From the end of the last call backward: through each call, or from the end of its wait on to the
 * beginning of the call that it waited for; and through the gap in front of that. */
static void walk(void)
{
    struct place at = last_to_finish();
    for (;; at.index--) {
        do_call(at, true);
        if (event_at(at)->after_ns)
            at = event_at(at)->after;
        else if (event_at(at)->wait_ns)
            at = event_at(at)->until;
        do_gap(at, true);
        if (at.index == 0)
            return;
    }
}

static void expect_doings(void)
{
    n_doings = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint32_t i = 0; i < program.n[rank]; i++) {
            do_gap((struct place){rank, i}, false);
            do_call((struct place){rank, i}, false);
        }
    }
    walk();
}

/* ---- the archive ---- */

static struct rfn_waits *waits;

/* Which stream a rank's call is in. */
typedef uint32_t (*stream_of_call)(struct place place);

static uint32_t rank_itself(struct place place)
{
    return place.rank;
}

/* Streams in another order. */
static uint32_t mirrored(struct place place)
{
    return RANKS - 1 - place.rank;
}

/* The calls of rank 0 take turns in two threads; the other ranks come behind. */
static uint32_t in_two_threads(struct place place)
{
    return place.rank ? place.rank + 1 : place.index / 2 % 2;
}

/* The number that the request made by a call has in its stream. */
static uint64_t request_number(struct place made, stream_of_call stream_of)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < made.index; i++) {
        struct place place = {made.rank, i};
        n += event_at(place)->begins && !event_at(place)->slot &&
             stream_of(place) == stream_of(made);
    }
    return n;
}

static int64_t slot_word(const struct event *event)
{
    return rfn_request_word(RFN_REQUEST_SLOT, event->slot - 1);
}

static int64_t request_word(struct place here, struct place made, stream_of_call stream_of)
{
    if (event_at(made)->slot)
        return slot_word(event_at(made));
    uint64_t number = request_number(made, stream_of);
    if (stream_of(made) != stream_of(here))
        return rfn_foreign_request(fake.streams[stream_of(made)].thread, number);
    uint64_t distance = request_number(here, stream_of) - number;
    return rfn_request_word(RFN_REQUEST_RECENT, (int64_t)distance);
}

static int64_t words[RFN_PARAMS_MAX];

static void put_words(const int64_t *from, size_t n)
{
    memcpy(words, from, n * sizeof *from);
}
#define WORDS(...) \
    put_words((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void put_message(const struct event *event)
{
    const struct part *part = &event->parts[0];
    const struct message *message = &program.messages[part->number];
    bool any = part->kind == RECEIVES && message->wildcard;
    int64_t peer = part->kind == SENDS ? message->dest : message->source;
    WORDS(PLAIN, part->kind == SENDS ? message->bytes : EAGER * 9, BYTE, any ? RFN_ANY : peer,
          message->tag, message->comm, any ? peer : AS, AS, AS);
}

/* What is started next. */
static void put_init(const struct event *event)
{
    put_message(event + 1);
    words[6] = slot_word(event);
}

static void put_shift(const struct event *event)
{
    const struct message *sent = &program.messages[event->parts[0].number];
    const struct message *got = &program.messages[event->parts[1].number];
    bool any = got->wildcard;
    WORDS(PLAIN, sent->bytes, BYTE, sent->dest, sent->tag, PLAIN, EAGER, BYTE,
          any ? RFN_ANY : (int64_t)got->source, got->tag, got->comm,
          any ? (int64_t)got->source : AS, AS, AS);
}

static void put_collective(const struct event *event, uint32_t rank)
{
    const struct instance *instance = &program.instances[event->parts[0].number];
    int64_t comm = instance->comm, root = instance->root;
    int64_t count = instance->empty[place_in(instance, rank)] ? 0 : 8;
    switch (instance->function) {
    case FAKE_BCAST:
        WORDS(PLAIN, count, BYTE, root, comm);
        break;
    case FAKE_GATHER_:
        WORDS(PLAIN, count, BYTE, PLAIN, 8, BYTE, root, comm);
        break;
    case FAKE_ALLREDUCE:
    case FAKE_SCAN:
        WORDS(PLAIN, PLAIN, count, BYTE, SUM, comm);
        break;
    default:
        WORDS(comm, 6); /* Comm_dup makes 6 */
        break;
    }
}

static void put_completion(struct place place, stream_of_call stream_of)
{
    const struct event *event = event_at(place);
    int64_t requests[PARTS], sources[PARTS * RFN_COMPLETION_WORDS];
    size_t n = 0;
    for (uint32_t i = 0; i < event->n_parts; i++) {
        const struct part *part = &event->parts[i];
        requests[i] = request_word(place, part->made, stream_of);
        if (part->kind != RECEIVES || !program.messages[part->number].wildcard)
            continue;
        const int64_t entry[] = {i, program.messages[part->number].source, AS, AS, 0, 0};
        memcpy(sources + n, entry, sizeof entry);
        n += RFN_COMPLETION_WORDS;
    }
    int64_t completions = n ? fake_list(sources, n) : 0;
    if (event->function == FAKE_WAIT)
        WORDS(requests[0], completions);
    else
        WORDS(event->n_parts, fake_list(requests, event->n_parts), completions);
}

static void put_event(struct place place, stream_of_call stream_of)
{
    const struct event *event = event_at(place);
    if (event->completes)
        put_completion(place, stream_of);
    else if (event->slot && event->begins)
        WORDS(slot_word(event));
    else if (event->slot)
        put_init(event);
    else if (!event->n_parts)
        WORDS(1);
    else if (event->function == FAKE_SENDRECV)
        put_shift(event);
    else if (event->parts[0].kind == JOINS)
        put_collective(event, place.rank);
    else
        put_message(event);
    fake_event(stream_of(place), event->function, event->path, event->enter_ns, event->exit_ns,
               words);
}

static bool same(const void *a, const void *b, size_t size)
{
    return !size || memcmp(a, b, size) == 0;
}

/* The profile that comes with the waits is the one that is made alone. */
static void check_profile(struct rfn_profile *with, const struct rfn_waits *result)
{
    int64_t waiting_ns = 0;
    struct rfn_diag diag;
    struct rfn_profile *alone;
    assert_int_equal(rfn_profile_new(&fake, NULL, NULL, &alone, &diag), 0);
    assert_int_equal(with->start_ns, alone->start_ns);
    assert_int_equal(with->end_ns, alone->end_ns);
    assert_int_equal(with->events, alone->events);
    assert_int_equal(with->calls, alone->calls);
    for (uint32_t i = 0; i < RANKS; i++) { /* waits alone tell the main part */
        assert_true(with->ranks[i].main_outside_ns <= alone->ranks[i].main_outside_ns);
        with->ranks[i].main_outside_ns = alone->ranks[i].main_outside_ns;
    }
    assert_true(same(with->ranks, alone->ranks, RANKS * sizeof *with->ranks));
    assert_int_equal(with->n_rows, alone->n_rows);
    for (size_t i = 0; i < with->n_rows; i++) {
        struct rfn_profile_row *row = &with->rows[i];
        assert_true(row->waiting_ns >= 0); /* clocks change waits, but no profile */
        assert_true(result->matching.fixed || row->waiting_ns <= row->time.total_ns);
        waiting_ns += row->waiting_ns;
        row->waiting_ns = 0;
    }
    assert_int_equal(waiting_ns, result->total_ns);
    assert_true(same(with->rows, alone->rows, alone->n_rows * sizeof *with->rows));
    assert_int_equal(with->n_pairs, alone->n_pairs);
    assert_true(same(with->pairs, alone->pairs, alone->n_pairs * sizeof *with->pairs));
    assert_true(same(with->point_to_point, alone->point_to_point, sizeof with->point_to_point));
    assert_true(same(with->collective, alone->collective, sizeof with->collective));
    rfn_profile_free(alone);
    rfn_profile_free(with);
}

/* By how much times may be off, where they are reduced; else 0. */
static int64_t off_ns;

static struct rfn_waits *analyse(stream_of_call stream_of, bool fix_clocks)
{
    struct rfn_diag diag;
    struct rfn_waits *result = NULL;
    struct rfn_profile *profile;
    const struct rfn_waits_options options = {.fix_clocks = fix_clocks, .profile = &profile};
    fake_reset();
    fake.run.reduced = off_ns > 0;
    fake.off_ns = off_ns;
    fake.run.streams = RANKS + (stream_of == in_two_threads);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        fake.streams[stream_of((struct place){rank, 0})].rank = rank;
    if (stream_of == in_two_threads) {
        fake.streams[0].thread = fake.streams[1].rank = 0;
        fake.streams[1].thread = 1;
        fake.streams[RANKS].thread = 0;
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint32_t i = 0; i < program.n[rank]; i++)
            put_event((struct place){rank, i}, stream_of);
    }
    assert_int_equal(rfn_waits_new(&fake, &options, NULL, NULL, &result, &diag), 0);
    check_profile(profile, result);
    return result;
}

/* ---- comparison ---- */

struct sums {
    uint64_t count;
    int64_t total_ns, max_ns, ns_by_rank[RANKS];
};

static void take(struct sums *sums, uint32_t rank, int64_t ns)
{
    sums->count += ns > 0;
    sums->total_ns += ns;
    sums->max_ns = latest(sums->max_ns, ns);
    sums->ns_by_rank[rank] += ns;
}

static enum rfn_pattern completion_pattern(const struct event *event)
{
    const struct instance *instance = &program.instances[event->parts[0].number];
    return instance->function == FAKE_BARRIER ? RFN_BARRIER_COMPLETION : RFN_NXN_COMPLETION;
}

static struct sums expected_of(const struct rfn_wait_row *row)
{
    struct sums sums = {0};
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint32_t i = 0; i < program.n[rank]; i++) {
            const struct event *event = &program.events[rank][i];
            if ((uint32_t)event->function != row->function || event->path != row->path)
                continue;
            if (event->pattern == row->pattern)
                take(&sums, rank, event->wait_ns - event->order_ns);
            if (row->pattern == RFN_WRONG_ORDER)
                take(&sums, rank, event->order_ns);
            if (row->pattern == RFN_WAIT_AT_NX1)
                take(&sums, rank, event->after_ns);
            if (event->completion_ns && completion_pattern(event) == row->pattern)
                take(&sums, rank, event->completion_ns);
        }
    }
    return sums;
}

static int64_t expected_total(bool completions)
{
    int64_t ns = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint32_t i = 0; i < program.n[rank]; i++)
            ns += completions ? program.events[rank][i].completion_ns
                              : program.events[rank][i].wait_ns + program.events[rank][i].after_ns;
    }
    return ns;
}

static void check_row(const struct rfn_wait_row *row, const struct sums *sums)
{
    assert_int_equal(row->count, sums->count);
    assert_int_equal(row->total_ns, sums->total_ns);
    assert_int_equal(row->max_ns, sums->max_ns);
    assert_memory_equal(row->ns_by_rank, sums->ns_by_rank, sizeof sums->ns_by_rank);
}

/* Each row is as expected, and there is nothing beside. */
static void check_rows(void)
{
    for (size_t i = 0; i < waits->n_rows; i++) {
        struct sums sums = expected_of(&waits->rows[i]);
        check_row(&waits->rows[i], &sums);
    }
    assert_int_equal(waits->total_ns, expected_total(false) + expected_total(true));
}

static int64_t expected_in(enum rfn_pattern pattern)
{
    int64_t ns = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint32_t i = 0; i < program.n[rank]; i++)
            ns += program.events[rank][i].pattern == pattern ? program.events[rank][i].wait_ns : 0;
    }
    return ns;
}

/* As long as it is not known which message a posted receive gets, a send that ends is not known to
 * have waited for it; and of receives that complete together some may be measured later. In which
 * order a rank receives is not known of its threads. */
static void check_undecided_rows(void)
{
    int64_t received = waits->pattern_ns[RFN_LATE_SENDER] + waits->pattern_ns[RFN_WRONG_ORDER];
    assert_int_equal(received, expected_in(RFN_LATE_SENDER));
    for (size_t i = 0; i < waits->n_rows; i++) {
        const struct rfn_wait_row *row = &waits->rows[i];
        struct sums sums = expected_of(row);
        if (row->pattern == RFN_LATE_RECEIVER)
            assert_true(row->count <= sums.count && row->total_ns <= sums.total_ns);
        else if (row->pattern != RFN_LATE_SENDER && row->pattern != RFN_WRONG_ORDER)
            check_row(row, &sums);
    }
}

static void check_matching(void)
{
    const struct rfn_matching *matching = &waits->matching;
    assert_int_equal(matching->messages, program.n_messages);
    assert_int_equal(matching->matched, program.n_messages);
    assert_int_equal(matching->unmatched_sends, 0);
    assert_int_equal(matching->unmatched_receives, 0);
    assert_int_equal(matching->collectives, program.n_instances);
    assert_int_equal(matching->unmatched_collectives, 0);
    assert_int_equal(matching->backward, 0);
}

/* Each wait is divided among its causes; only completions have none. */
static void check_causes(void)
{
    for (size_t i = 0; i < waits->n_rows; i++) {
        const struct rfn_wait_row *row = &waits->rows[i];
        int64_t ns = 0;
        if (row->pattern == RFN_NXN_COMPLETION || row->pattern == RFN_BARRIER_COMPLETION)
            continue;
        for (size_t k = 0; k < waits->n_causes; k++) {
            if (waits->causes[k].pattern == row->pattern &&
                waits->causes[k].waited.function == row->function &&
                waits->causes[k].waited.path == row->path)
                ns += waits->causes[k].total_ns;
        }
        assert_int_equal(ns, row->total_ns);
    }
    assert_int_equal(waits->unexplained_ns, expected_total(true));
}

/* What a rank did between calls costs each of the others at most as long as it took; twice that
 * where waits for different ranks are traced back to it from different places. In front of a call
 * that completes a collective one, it may stand for all that was since that began. */
static int64_t longest_cost(const struct rfn_activity *activity, uint32_t rank)
{
    if (activity->kind != RFN_ACTIVITY_COMPUTE || activity->at.function == FAKE_WAIT)
        return INT64_MAX;
    return 2 * (RANKS - 1) * doing_of(activity)->ns_by_rank[rank];
}

static int64_t cost_of(uint32_t activity, uint32_t rank)
{
    int64_t ns = 0;
    for (size_t i = 0; i < waits->n_causes; i++) {
        for (uint32_t k = 0; waits->causes[i].activity == activity && k < waits->causes[i].n_ranks;
             k++) {
            if (waits->causes[i].ranks[k].rank == rank)
                ns += waits->causes[i].ranks[k].ns;
        }
    }
    return ns;
}

static void check_costs(void)
{
    for (uint32_t activity = 0; activity < waits->n_activities; activity++) {
        for (uint32_t rank = 0; rank < RANKS; rank++)
            assert_true(cost_of(activity, rank) <=
                        longest_cost(&waits->activities[activity], rank));
    }
}

/* What ranks cost in a cause is its cost, most first; a part of it is not passed on. */
static void check_shares(void)
{
    for (size_t i = 0; i < waits->n_causes; i++) {
        const struct rfn_cause *cause = &waits->causes[i];
        int64_t ns = 0;
        for (uint32_t k = 0; k < cause->n_ranks; k++) {
            assert_true(cause->ranks[k].ns >= 0);
            assert_true(k == 0 || cause->ranks[k].ns <= cause->ranks[k - 1].ns);
            ns += cause->ranks[k].ns;
        }
        assert_int_equal(ns, cause->total_ns);
        assert_in_range(cause->direct_ns, 0, cause->total_ns);
    }
}

/* What ranks spent in the activities of the costliest causes. */
static void check_spent(void)
{
    size_t n = 0;
    for (size_t i = 0; i < waits->n_activities; i++) {
        if (!waits->spent[i])
            continue;
        n++;
        assert_memory_equal(waits->spent[i], doing_of(&waits->activities[i])->ns_by_rank,
                            RANKS * sizeof **waits->spent);
    }
    assert_true(n > 0 || !waits->n_causes);
    assert_true(!waits->n_causes || waits->spent[waits->causes[0].activity]);
}

/* The path is as long as the run. */
static void check_path_length(void)
{
    int64_t ns = 0;
    for (size_t i = 0; i < waits->n_critical; i++)
        ns += waits->critical[i].ns;
    assert_int_equal(ns, waits->critical_ns);
    assert_int_equal(ns, event_at(last_to_finish())->exit_ns - start_ns());
    assert_int_equal(waits->critical_rank, last_to_finish().rank);
}

/* What is on the path, and what all ranks did of it. */
static void check_path(void)
{
    size_t n = 0;
    for (size_t i = 0; i < waits->n_critical; i++) {
        const struct rfn_critical_row *row = &waits->critical[i];
        const struct doing *doing = doing_of(&waits->activities[row->activity]);
        assert_int_equal(row->ns, doing->path_ns);
        assert_true(row->mean_ns == (double)doing->all_ns / RANKS);
        assert_true(row->imbalance_ns == (double)row->ns - row->mean_ns);
    }
    for (uint32_t i = 0; i < n_doings; i++)
        n += doings[i].path_ns != 0;
    assert_int_equal(waits->n_critical, n);
}

/* What ranks do and their waits are all their time: of the oracle, so that it is right itself. */
static void check_doings(void)
{
    int64_t doings_ns = 0, spans_ns = 0;
    for (uint32_t i = 0; i < n_doings; i++)
        doings_ns += doings[i].all_ns;
    for (uint32_t rank = 0; rank < RANKS; rank++)
        spans_ns += event_at(last_of(rank))->exit_ns - start_ns();
    assert_int_equal(doings_ns + expected_total(false), spans_ns);
}

static void expect_same_rows(const struct rfn_waits *a, const struct rfn_waits *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->total_ns, b->total_ns);
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct rfn_wait_row *x = &a->rows[i], *y = &b->rows[i];
        assert_int_equal(x->pattern, y->pattern);
        assert_int_equal(x->function, y->function);
        assert_int_equal(x->path, y->path);
        assert_int_equal(x->count, y->count);
        assert_int_equal(x->max_ns, y->max_ns);
        assert_memory_equal(x->ns_by_rank, y->ns_by_rank, RANKS * sizeof *x->ns_by_rank);
    }
}

static bool same_cause(const struct rfn_waits *a, const struct rfn_cause *x,
                       const struct rfn_waits *b, const struct rfn_cause *y)
{
    return x->pattern == y->pattern && same_site(x->waited, y->waited) &&
           same_activity(&a->activities[x->activity], &b->activities[y->activity]);
}

/* Activities may have other numbers. */
static void expect_same_causes(const struct rfn_waits *a, const struct rfn_waits *b)
{
    assert_int_equal(a->n_causes, b->n_causes);
    for (size_t i = 0; i < a->n_causes; i++) {
        const struct rfn_cause *x = &a->causes[i], *y = b->causes;
        while (y < b->causes + b->n_causes && !same_cause(a, x, b, y))
            y++;
        assert_true(y < b->causes + b->n_causes);
        assert_int_equal(x->total_ns, y->total_ns);
        assert_int_equal(x->direct_ns, y->direct_ns);
        assert_int_equal(x->n_ranks, y->n_ranks);
        assert_memory_equal(x->ranks, y->ranks, x->n_ranks * sizeof *x->ranks);
    }
}

static void expect_same_path(const struct rfn_waits *a, const struct rfn_waits *b)
{
    assert_int_equal(a->n_critical, b->n_critical);
    for (size_t i = 0; i < a->n_critical; i++) {
        const struct rfn_critical_row *x = &a->critical[i], *y = b->critical;
        while (y < b->critical + b->n_critical &&
               !same_activity(&a->activities[x->activity], &b->activities[y->activity]))
            y++;
        assert_true(y < b->critical + b->n_critical);
        assert_int_equal(x->ns, y->ns);
    }
}

/* ---- the tests ---- */

static uint64_t seed; /* of the program, while it is not known to be all right */

static bool next_program(void)
{
    rfn_waits_free(waits);
    waits = NULL;
    if (++seed > PROGRAMS) {
        seed = 0;
        return false;
    }
    fake_reset(); /* its communicators are asked for */
    make_program(seed);
    run_program();
    expect_all();
    expect_order();
    expect_doings();
    waits = analyse(rank_itself, false);
    return true;
}

static int teardown(void **state)
{
    (void)state;
    if (seed)
        print_error("program %u\n", (unsigned)seed);
    seed = 0;
    rfn_waits_free(waits);
    waits = NULL;
    return 0;
}

static void test_against_oracle(void **state)
{
    (void)state;
    int orders = 0;
    while (next_program()) {
        check_matching();
        check_doings();
        orders += waits->pattern_ns[RFN_WRONG_ORDER] > 0;
        check_causes();
        check_costs();
        check_shares();
        if (!program.wildcards)
            check_spent();
        check_path_length();
        if (program.wildcards)
            check_undecided_rows();
        else
            check_rows();
        if (!program.wildcards)
            check_path();
    }
    assert_true(orders > PROGRAMS / 10);
}

static void test_order_of_streams(void **state)
{
    (void)state;
    while (next_program()) {
        struct rfn_waits *other = analyse(mirrored, false);
        expect_same_rows(waits, other);
        expect_same_causes(waits, other);
        expect_same_path(waits, other);
        rfn_waits_free(other);
    }
}

/* Waits are those of calls: threads change only what is between them. */
static void test_threads(void **state)
{
    (void)state;
    while (next_program()) {
        if (program.wildcards) /* what is decided may be known earlier */
            continue;
        rfn_waits_free(waits);
        waits = analyse(in_two_threads, false);
        check_matching();
        check_undecided_rows();
        check_causes();
        check_path_length();
    }
}

static void test_good_clocks_stay(void **state)
{
    (void)state;
    while (next_program()) {
        struct rfn_waits *other = analyse(rank_itself, true);
        expect_same_rows(waits, other);
        expect_same_causes(waits, other);
        expect_same_path(waits, other);
        assert_int_equal(other->matching.backward, 0);
        rfn_waits_free(other);
    }
}

static void shift_clocks(void)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        int64_t by_ns = (int64_t)below(2) * some_time();
        for (uint32_t i = 0; i < program.n[rank]; i++) {
            program.events[rank][i].enter_ns += by_ns;
            program.events[rank][i].exit_ns += by_ns;
        }
    }
}

static int64_t sum_of_causes(void)
{
    int64_t ns = 0;
    for (size_t i = 0; i < waits->n_causes; i++)
        ns += waits->causes[i].total_ns;
    return ns;
}

/* Where clocks disagree waits are what they seem to be; but all is matched, causes add up to waits,
 * and the path is as long as the run. */
static void test_bad_clocks(void **state)
{
    (void)state;
    uint64_t backward = 0;
    while (next_program()) {
        shift_clocks();
        for (int fix = 1; fix >= 0; fix--) {
            rfn_waits_free(waits);
            waits = analyse(rank_itself, fix);
            assert_int_equal(waits->matching.matched, program.n_messages);
            assert_int_equal(waits->matching.unmatched_sends, 0);
            assert_int_equal(waits->matching.unmatched_receives, 0);
            assert_int_equal(waits->matching.collectives, program.n_instances);
            assert_int_equal(sum_of_causes(), waits->total_ns - waits->unexplained_ns);
        }
        check_path_length();
        backward += waits->matching.backward;
    }
    assert_true(backward > PROGRAMS);
}

/* Nobody waits for longer than there is time. */
static void check_waits_of_ranks(void)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        int64_t ns = 0;
        for (size_t i = 0; i < waits->n_rows; i++)
            ns += waits->rows[i].ns_by_rank[rank];
        assert_in_range(ns, 0, event_at(last_of(rank))->exit_ns - start_ns());
    }
}

/* Reduced times of ranks do not fit together: sends stay for their receivers, for however long. */
static void test_reduced_times(void **state)
{
    (void)state;
    while (next_program()) {
        shift_clocks();
        for (int fix = 1; fix >= 0; fix--) {
            off_ns = INT64_C(1) << below(50);
            rfn_waits_free(waits);
            waits = analyse(rank_itself, fix);
            off_ns = 0;
            assert_int_equal(waits->matching.matched, program.n_messages);
            assert_int_equal(waits->matching.collectives, program.n_instances);
            assert_int_equal(sum_of_causes(), waits->total_ns - waits->unexplained_ns);
        }
        check_waits_of_ranks();
        check_path_length();
    }
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_against_oracle),   TEST(test_order_of_streams), TEST(test_threads),
        TEST(test_good_clocks_stay), TEST(test_bad_clocks),       TEST(test_reduced_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
