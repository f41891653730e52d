#include "reduce/aggregate/window.h"

#include "event/calls.h"
#include "reduce/aggregate/delay_form.h"

#include <stdlib.h>
#include <string.h>

/* Standard sends of so many bytes are eager with every network (S of rfn_network_assumed). */
enum { SURELY_EAGER = 512 };

struct end {
    const struct rfn_window_end *is;
    uint32_t rank;
    uint32_t post, done;           /* calls of all parts; NONE */
    uint32_t other;                /* end; NONE */
    uint32_t next_post, next_done; /* of the same call */
    bool posted;
    uint64_t at; /* when */
    struct rfn_delay_form form;
};

struct meeting {
    uint32_t entered, size;
    bool equal; /* all that have entered are equally late */
    bool has_root;
    uint64_t latest;  /* enter */
    uint64_t unknown; /* by how much all are late behind it; 0: not asked yet */
    bool one_clock;
    uint64_t clock;
    struct rfn_delay_form form, root; /* of the first, of the root */
};

struct share {
    const struct rfn_window_share *is;
    uint32_t call, meeting;
};

struct stream {
    uint32_t next, end; /* calls of all parts */
    bool entered;       /* the next one */
    uint64_t exit;      /* of the one before */
    struct rfn_delay_form delay;
};

struct decision {
    const struct rfn_window_part *parts;
    const struct rfn_window_rules *rules;
    uint32_t n_parts, n_calls, n_ends, n_shares, n_meetings;
    const struct rfn_window_call **calls;
    uint32_t *group; /* another call of its group, itself of one that stands for it */
    uint32_t *posts, *dones, *share; /* by call: its first end, likewise, its share; NONE */
    uint8_t *stays;
    struct end *ends;
    struct share *shares;
    struct meeting *meetings;
    struct stream *streams;
    uint64_t made;  /* unknowns and shifts */
    uint64_t whole; /* the first calls of each part, which stay */
};

/* ---- parts ---- */

size_t rfn_window_bytes(const struct rfn_window_head *head)
{
    return sizeof *head + head->n_calls * sizeof(struct rfn_window_call) +
           head->n_ends * sizeof(struct rfn_window_end) +
           head->n_shares * sizeof(struct rfn_window_share) +
           head->n_pairs * sizeof(struct rfn_window_pair);
}

static bool names_calls(const struct rfn_window_part *part)
{
    const uint32_t n = part->head.n_calls;
    bool good = true;
    for (uint32_t i = 0; i < part->head.n_ends; i++)
        good &= part->ends[i].post < n &&
                (part->ends[i].done < n || part->ends[i].done == RFN_WINDOW_NONE);
    for (uint32_t i = 0; i < part->head.n_shares; i++)
        good &= part->shares[i].call < n;
    for (uint32_t i = 0; i < part->head.n_pairs; i++)
        good &= part->pairs[i].a < n && part->pairs[i].b < n;
    return good;
}

bool rfn_window_part_at(const void *bytes, size_t size, struct rfn_window_part *part)
{
    const uint8_t *at = bytes;
    if (size < sizeof part->head)
        return false;
    memcpy(&part->head, at, sizeof part->head);
    if (rfn_window_bytes(&part->head) != size)
        return false;
    at += sizeof part->head;
    part->calls = (const void *)at;
    at += part->head.n_calls * sizeof *part->calls;
    part->ends = (const void *)at;
    at += part->head.n_ends * sizeof *part->ends;
    part->shares = (const void *)at;
    at += part->head.n_shares * sizeof *part->shares;
    part->pairs = (const void *)at;
    return names_calls(part);
}

/* ---- groups ---- */

static uint32_t top_of(struct decision *decision, uint32_t call)
{
    uint32_t *group = decision->group;
    while (group[call] != call) {
        group[call] = group[group[call]];
        call = group[call];
    }
    return call;
}

/* Lower numbers stand for higher ones. */
static void join(struct decision *decision, uint32_t a, uint32_t b)
{
    const uint32_t one = top_of(decision, a), other = top_of(decision, b);
    const uint32_t low = one < other ? one : other, high = one < other ? other : one;
    decision->group[high] = low;
    decision->stays[low] |= decision->stays[high];
}

static void stay(struct decision *decision, uint32_t call)
{
    decision->stays[top_of(decision, call)] = 1;
}

/* ---- messages ---- */

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_message(const void *a, const void *b)
{
    const struct end *one = a, *other = b;
    int order = compare(one->is->channel, other->is->channel);
    if (!order)
        order = compare(one->is->position, other->is->position);
    return order ? order : one->is->received - other->is->received;
}

static bool are_one_message(const struct end *one, const struct end *other)
{
    return one->is->channel == other->is->channel && one->is->position == other->is->position &&
           !one->is->received && other->is->received;
}

static void link_end(struct decision *decision, uint32_t number)
{
    struct end *end = &decision->ends[number];
    end->next_post = decision->posts[end->post];
    decision->posts[end->post] = number;
    if (end->done == RFN_WINDOW_NONE)
        return;
    end->next_done = decision->dones[end->done];
    decision->dones[end->done] = number;
    join(decision, end->post, end->done);
}

static void join_ends(struct decision *decision)
{
    struct end *ends = decision->ends;
    qsort(ends, decision->n_ends, sizeof *ends, by_message);
    for (uint32_t i = 0; i < decision->n_ends; i++)
        link_end(decision, i);
    for (uint32_t i = 0; i + 1 < decision->n_ends; i++) {
        if (!are_one_message(&ends[i], &ends[i + 1]))
            continue;
        ends[i].other = i + 1;
        ends[i + 1].other = i;
        join(decision, ends[i].post, ends[i + 1].post);
    }
    for (uint32_t i = 0; i < decision->n_ends; i++) {
        if (ends[i].other == RFN_WINDOW_NONE || ends[i].done == RFN_WINDOW_NONE)
            stay(decision, ends[i].post);
    }
}

/* ---- collective calls ---- */

static int by_meeting(const void *a, const void *b)
{
    const struct share *one = a, *other = b;
    const int order = compare(one->is->comm, other->is->comm);
    return order ? order : compare(one->is->number, other->is->number);
}

static void join_shares(struct decision *decision)
{
    struct share *shares = decision->shares;
    qsort(shares, decision->n_shares, sizeof *shares, by_meeting);
    for (uint32_t i = 0; i < decision->n_shares; i++) {
        if (i == 0 || by_meeting(&shares[i - 1], &shares[i]))
            decision->meetings[decision->n_meetings++] = (struct meeting){.one_clock = true};
        else
            join(decision, shares[i - 1].call, shares[i].call);
        shares[i].meeting = decision->n_meetings - 1;
        decision->share[shares[i].call] = i;
        decision->meetings[shares[i].meeting].size++;
    }
}

/* Whether all members are in the window. */
static bool is_whole(const struct decision *decision, const struct share *share)
{
    return decision->meetings[share->meeting].size == share->is->size;
}

/* ---- a call enters ---- */

static struct rfn_delay_form new_unknown(struct decision *decision)
{
    return rfn_delay_of(++decision->made);
}

/* A computation in front of a call is named by the calls around it: they stay. */
static void pass_gap(struct decision *decision, uint32_t rank, const struct rfn_window_call *call)
{
    struct stream *stream = &decision->streams[rank];
    if (call->enter < stream->exit ||
        (int64_t)(call->enter - stream->exit) < decision->rules->least_ns)
        return;
    stream->delay = new_unknown(decision);
    stay(decision, stream->next);
    if (stream->next > 0 && decision->calls[stream->next - 1] == call - 1)
        stay(decision, stream->next - 1);
}

static void enter_meeting(struct decision *decision, uint32_t rank, const struct share *share,
                          uint64_t enter)
{
    struct meeting *meeting = &decision->meetings[share->meeting];
    const struct rfn_delay_form *delay = &decision->streams[rank].delay;
    const uint64_t clock = decision->parts[rank].head.clock;
    if (!meeting->entered++) {
        meeting->form = *delay;
        meeting->equal = true;
        meeting->clock = clock;
    }
    meeting->equal &= rfn_delay_equal(&meeting->form, delay);
    meeting->one_clock &= meeting->clock == clock;
    meeting->latest = enter > meeting->latest ? enter : meeting->latest;
    if (share->is->root) {
        meeting->has_root = true;
        meeting->root = *delay;
    }
}

static void enter(struct decision *decision, uint32_t rank)
{
    struct stream *stream = &decision->streams[rank];
    const struct rfn_window_call *call = decision->calls[stream->next];
    pass_gap(decision, rank, call);
    for (uint32_t i = decision->posts[stream->next]; i != RFN_WINDOW_NONE;
         i = decision->ends[i].next_post) {
        decision->ends[i].posted = true;
        decision->ends[i].at = call->enter;
        decision->ends[i].form = stream->delay;
    }
    if (decision->share[stream->next] != RFN_WINDOW_NONE)
        enter_meeting(decision, rank, &decision->shares[decision->share[stream->next]],
                      call->enter);
    stream->entered = true;
}

/* ---- what a call needs ---- */

static bool one_clock(const struct decision *decision, const struct end *a, const struct end *b)
{
    return decision->parts[a->rank].head.clock == decision->parts[b->rank].head.clock;
}

static const struct end *sender_of(const struct decision *decision, const struct end *end)
{
    return end->is->received ? &decision->ends[end->other] : end;
}

/* Whether some network lets the message wait for its receive. */
static bool may_meet(const struct decision *decision, const struct end *end)
{
    const struct rfn_window_end *sent = sender_of(decision, end)->is;
    return sent->mode == RFN_SEND_SYNCHRONOUS || sent->bytes > SURELY_EAGER;
}

/* Whether the call needs the other end of what it ends. A send that was over before its receive was
 * posted did not. */
static bool needs_other(const struct decision *decision, const struct end *end,
                        const struct rfn_window_call *call)
{
    if (end->is->received)
        return true;
    if (!may_meet(decision, end) || end->is->mode >= RFN_SEND_BUFFERED)
        return false;
    const struct end *other = &decision->ends[end->other];
    return !one_clock(decision, end, other) || decision->calls[other->post]->enter <= call->exit;
}

static bool is_variable(const struct decision *decision, uint32_t number)
{
    const struct rfn_window_call *call = decision->calls[number];
    bool is = call->flags & RFN_WINDOW_UNKNOWN || call->exit < call->enter ||
              (int64_t)(call->exit - call->enter) >= decision->rules->least_ns;
    for (uint32_t i = decision->dones[number]; i != RFN_WINDOW_NONE && !is;
         i = decision->ends[i].next_done) {
        const struct end *end = &decision->ends[i];
        is = end->other == RFN_WINDOW_NONE ||
             (int64_t)sender_of(decision, end)->is->bytes >= decision->rules->least_bytes;
    }
    if (decision->share[number] != RFN_WINDOW_NONE)
        is |= !is_whole(decision, &decision->shares[decision->share[number]]);
    return is;
}

static bool is_met(const struct decision *decision, const struct share *share)
{
    const struct meeting *meeting = &decision->meetings[share->meeting];
    switch (share->is->kind) {
    case RFN_CALL_ONE_TO_ALL:
        return share->is->root || meeting->has_root;
    case RFN_CALL_ALL_TO_ONE:
        return !share->is->root || meeting->entered == meeting->size;
    default:
        return meeting->entered == meeting->size;
    }
}

/* Whether all that the call needs has been posted. */
static bool is_ready(const struct decision *decision, uint32_t number)
{
    const uint32_t share = decision->share[number];
    bool ready = share == RFN_WINDOW_NONE || is_met(decision, &decision->shares[share]);
    for (uint32_t i = decision->dones[number]; i != RFN_WINDOW_NONE && ready;
         i = decision->ends[i].next_done)
        ready = !needs_other(decision, &decision->ends[i], decision->calls[number]) ||
                decision->ends[decision->ends[i].other].posted;
    return ready;
}

/* ---- how late a call ends ---- */

/* Whether all of an end's message was posted as late as the stream is. */
static bool is_equal(const struct decision *decision, const struct end *end,
                     const struct rfn_delay_form *delay)
{
    return rfn_delay_equal(&decision->ends[end->other].form, delay) &&
           (!may_meet(decision, end) || rfn_delay_equal(&end->form, delay));
}

/* A send that may have waited for its receive, which was posted before it: it ends as late as it
 * began if the receiver cannot have been later. */
static bool is_covered(const struct decision *decision, const struct end *end,
                       const struct rfn_delay_form *delay)
{
    const struct end *other = &decision->ends[end->other];
    return one_clock(decision, end, other) && other->at <= end->at &&
           rfn_delay_equal(&end->form, delay) &&
           rfn_delay_covers(delay, &other->form, -(int64_t)(end->at - other->at));
}

/* One receive: the sender's delay and the own one, each less than it was by what one waited for the
 * other. That is between 0 and the difference of their times, or what the call took. */
static struct rfn_delay_form received(struct decision *decision, const struct end *end,
                                      const struct rfn_window_call *call,
                                      const struct rfn_delay_form *delay)
{
    const struct end *sent = &decision->ends[end->other];
    if (!one_clock(decision, end, sent) || sent->at >= call->exit ||
        (may_meet(decision, end) && !rfn_delay_equal(&end->form, delay) &&
         !rfn_delay_equal(&end->form, &sent->form)))
        return new_unknown(decision);
    const bool waits = sent->at >= call->enter;
    const int64_t early = waits ? (int64_t)(sent->at - call->enter) : 0;
    const int64_t own[2] = {-(int64_t)(call->exit - call->enter), -early};
    const int64_t others[2] = {waits ? 0 : -(int64_t)(call->enter - sent->at), 0};
    if (rfn_delay_covers(&sent->form, delay, -early) && others[0] == 0)
        return sent->form;
    return rfn_delay_latest(delay, own, &sent->form, others, &decision->made);
}

static struct rfn_delay_form met(struct decision *decision, const struct share *share,
                                 const struct rfn_window_call *call,
                                 const struct rfn_delay_form *delay)
{
    struct meeting *meeting = &decision->meetings[share->meeting];
    if (share->is->size == 1)
        return *delay;
    if (share->is->kind == RFN_CALL_ONE_TO_ALL)
        return share->is->root || rfn_delay_equal(&meeting->root, delay) ? *delay
                                                                         : new_unknown(decision);
    if (share->is->kind == RFN_CALL_ALL_TO_ONE && !share->is->root)
        return *delay;
    if (meeting->equal)
        return *delay;
    if (!share->is->all_meet || !meeting->one_clock || call->exit < meeting->latest)
        return new_unknown(decision);
    if (!meeting->unknown)
        meeting->unknown = ++decision->made;
    return rfn_delay_of(meeting->unknown);
}

static struct rfn_delay_form ended(struct decision *decision, uint32_t number,
                                   const struct rfn_delay_form *delay)
{
    const struct rfn_window_call *call = decision->calls[number];
    const struct end *unequal = NULL;
    uint32_t n_unequal = 0, n_needed = 0;
    for (uint32_t i = decision->dones[number]; i != RFN_WINDOW_NONE;
         i = decision->ends[i].next_done) {
        const struct end *end = &decision->ends[i];
        if (!needs_other(decision, end, call))
            continue;
        n_needed++;
        if (is_equal(decision, end, delay) ||
            (!end->is->received && is_covered(decision, end, delay)))
            continue;
        unequal = end;
        n_unequal++;
    }
    if (n_unequal == 0 && decision->share[number] != RFN_WINDOW_NONE)
        return met(decision, &decision->shares[decision->share[number]], call, delay);
    if (n_unequal == 0)
        return *delay;
    if (n_needed == 1 && unequal->is->received)
        return received(decision, unequal, call, delay);
    return new_unknown(decision);
}

/* force: without waiting for what it needs. */
static bool leave(struct decision *decision, uint32_t rank, bool force)
{
    struct stream *stream = &decision->streams[rank];
    const uint32_t number = stream->next;
    const bool unknown = force || is_variable(decision, number);
    if (!unknown && !is_ready(decision, number))
        return false;
    const struct rfn_delay_form delay = unknown ? new_unknown(decision)
                                                : ended(decision, number, &stream->delay);
    if (!rfn_delay_equal(&delay, &stream->delay))
        stay(decision, number);
    stream->delay = delay;
    stream->exit = decision->calls[number]->exit;
    stream->entered = false;
    stream->next++;
    return true;
}

/* ---- the whole ---- */

static bool go_on(struct decision *decision, uint32_t rank, bool force)
{
    struct stream *stream = &decision->streams[rank];
    bool any = false;
    while (stream->next < stream->end) {
        if (!stream->entered)
            enter(decision, rank);
        if (!leave(decision, rank, force))
            break;
        any = true;
        force = false;
    }
    return any;
}

/* Streams go on as far as they can. When none can, as times or matching are wrong, one of them
 * does not wait. */
static void go_through(struct decision *decision)
{
    bool force = false, left = true;
    while (left) {
        bool any = false;
        left = false;
        for (uint32_t rank = 0; rank < decision->n_parts; rank++) {
            const bool forced = force && decision->streams[rank].next < decision->streams[rank].end;
            any |= go_on(decision, rank, forced);
            force &= !forced;
            left |= decision->streams[rank].next < decision->streams[rank].end;
        }
        force = !any;
    }
}

/* Behind a call in which all ranks met they are equally late, but where it took so long that an
 * assumption may be about it. */
static void begin_streams(struct decision *decision)
{
    uint64_t latest = 0, earliest_exit = UINT64_MAX;
    bool meet = true;
    for (uint32_t i = 0; i < decision->n_parts; i++) {
        const struct rfn_window_head *head = &decision->parts[i].head;
        meet &= head->opened_exit > 0 && head->clock == decision->parts[0].head.clock;
        latest = head->opened_enter > latest ? head->opened_enter : latest;
        earliest_exit = head->opened_exit < earliest_exit ? head->opened_exit : earliest_exit;
    }
    meet &= earliest_exit >= latest;
    const uint64_t common = ++decision->made;
    for (uint32_t i = 0; i < decision->n_parts; i++) {
        const struct rfn_window_head *head = &decision->parts[i].head;
        struct stream *stream = &decision->streams[i];
        const bool shared = meet && (int64_t)(head->opened_exit - head->opened_enter) <
                                        decision->rules->least_ns;
        stream->delay = shared ? rfn_delay_of(common) : new_unknown(decision);
        stream->exit = head->opened_exit ? head->opened_exit : UINT64_MAX;
    }
}

static void take_part(struct decision *decision, uint32_t rank, uint32_t first)
{
    const struct rfn_window_part *part = &decision->parts[rank];
    decision->streams[rank].next = first;
    decision->streams[rank].end = first + part->head.n_calls;
    for (uint32_t i = 0; i < part->head.n_calls; i++) {
        decision->calls[first + i] = &part->calls[i];
        decision->stays[first + i] = part->calls[i].flags != 0 || i < decision->whole;
    }
    for (uint32_t i = 0; i < part->head.n_ends; i++) {
        const struct rfn_window_end *end = &part->ends[i];
        decision->ends[decision->n_ends++] = (struct end){
            .is = end,
            .rank = rank,
            .post = first + end->post,
            .done = end->done == RFN_WINDOW_NONE ? end->done : first + end->done,
            .other = RFN_WINDOW_NONE,
            .next_post = RFN_WINDOW_NONE,
            .next_done = RFN_WINDOW_NONE};
    }
    for (uint32_t i = 0; i < part->head.n_shares; i++)
        decision->shares[decision->n_shares++] = (struct share){
            .is = &part->shares[i], .call = first + part->shares[i].call};
}

static void join_pairs(struct decision *decision)
{
    uint32_t first = 0;
    for (uint32_t rank = 0; rank < decision->n_parts; rank++) {
        const struct rfn_window_part *part = &decision->parts[rank];
        for (uint32_t i = 0; i < part->head.n_pairs; i++)
            join(decision, first + part->pairs[i].a, first + part->pairs[i].b);
        first += part->head.n_calls;
    }
}

static int make_room(struct decision *decision, size_t n_ends, size_t n_shares)
{
    const size_t n = (size_t)decision->n_calls + 1;
    decision->calls = malloc(n * sizeof *decision->calls);
    decision->group = malloc(n * sizeof *decision->group);
    decision->posts = malloc(3 * n * sizeof *decision->posts);
    decision->stays = calloc(n, sizeof *decision->stays);
    decision->ends = malloc((n_ends + 1) * sizeof *decision->ends);
    decision->shares = malloc((n_shares + 1) * sizeof *decision->shares);
    decision->meetings = malloc((n_shares + 1) * sizeof *decision->meetings);
    decision->streams = calloc((size_t)decision->n_parts + 1, sizeof *decision->streams);
    if (!decision->calls || !decision->group || !decision->posts || !decision->stays ||
        !decision->ends || !decision->shares || !decision->meetings || !decision->streams)
        return RFN_E_NOMEM;
    decision->dones = decision->posts + n;
    decision->share = decision->dones + n;
    memset(decision->posts, 0xff, 3 * n * sizeof *decision->posts);
    for (uint32_t i = 0; i < decision->n_calls; i++)
        decision->group[i] = i;
    return 0;
}

static void release(struct decision *decision)
{
    free(decision->calls);
    free(decision->group);
    free(decision->posts);
    free(decision->stays);
    free(decision->ends);
    free(decision->shares);
    free(decision->meetings);
    free(decision->streams);
}

static void decide(struct decision *decision, uint8_t *goes)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < decision->n_parts; i++) {
        take_part(decision, i, first);
        first += decision->parts[i].head.n_calls;
    }
    begin_streams(decision);
    join_pairs(decision);
    join_ends(decision);
    join_shares(decision);
    for (uint32_t i = 0; i < decision->n_shares; i++) {
        if (!is_whole(decision, &decision->shares[i]))
            stay(decision, decision->shares[i].call);
    }
    go_through(decision);
    for (uint32_t i = 0; i < decision->n_calls; i++)
        goes[i] = !decision->stays[top_of(decision, i)];
}

int rfn_window_decide(const struct rfn_window_part *parts, uint32_t n,
                      const struct rfn_window_rules *rules, uint8_t *goes)
{
    struct decision decision = {.parts = parts, .rules = rules, .n_parts = n};
    uint64_t before = 0, n_calls = 0, n_ends = 0, n_shares = 0;
    bool useless = false;
    for (uint32_t i = 0; i < n; i++) {
        before += parts[i].head.before;
        n_calls += parts[i].head.n_calls;
        n_ends += parts[i].head.n_ends;
        n_shares += parts[i].head.n_shares;
        useless |= parts[i].head.useless;
    }
    if (n_calls >= RFN_WINDOW_NONE || n_ends >= RFN_WINDOW_NONE)
        return RFN_E_NOMEM;
    memset(goes, 0, n_calls);
    if (useless)
        return 0;
    /* All calls of earlier windows were made before the calls of this one. */
    decision.whole = before < rules->whole ? rules->whole - before : 0;
    decision.n_calls = (uint32_t)n_calls;
    const int error = make_room(&decision, n_ends, n_shares);
    if (!error)
        decide(&decision, goes);
    release(&decision);
    return error;
}
