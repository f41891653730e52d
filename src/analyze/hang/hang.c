/* From what each thread waits for to what is wrong.
 *
 * 1. Which waits are over: a message that was sent and not received, a collective call that all
 * have come to. What is left gives the ranks that a thread waits for.
 * 2. Which collective calls disagree: who is in one of them cannot go on, although all may be
 * there.
 * 3. Which threads are stuck. Other threads that do not wait are free; so is one that waits for
 *    ranks which all have a free thread, or, where one is enough, for one of them; nothing else is.
 *    The rest cannot go on.
 * 4. What else is wrong, causes first: collective calls in different orders, messages that nearly
 * match, peers that have come to their end; if there is none of these, ranks that wait for each
 * other; and free threads that others wait for. */
#include "analyze/hang/hang_scan.h"

#include "analyze/match/recording_off.h"
#include "analyze/match/topology.h"
#include "archive/read/archive_calls.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

struct hang_data {
    struct rfn_hang public;
    struct rfn_arena arena;
};

struct finding_of {
    struct rfn_hang_scan scan;
    struct rfn_hang *hang;
    struct rfn_arena *arena;
    size_t n_ranks;         /* of the run */
    size_t *first_channel;  /* by dest, of `channels`, which are in this order; n_ranks + 1 */
    uint32_t *first_thread; /* by rank, of threads; n_ranks + 1 */
    size_t findings_capacity;
    uint32_t *marks; /* by rank: a set */
    uint32_t mark;
    bool *disagrees; /* by thread: it is in a collective call about which ranks disagree */
};

/* ---- tables by rank ---- */

static int by_dest(const void *left, const void *right)
{
    const struct rfn_hang_channel *a = *(struct rfn_hang_channel *const *)left;
    const struct rfn_hang_channel *b = *(struct rfn_hang_channel *const *)right;
    if (a->dest != b->dest)
        return a->dest < b->dest ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static int make_tables(struct finding_of *of)
{
    struct rfn_hang_scan *scan = &of->scan;
    const struct rfn_hang *hang = of->hang;
    of->first_channel = rfn_arena_zeroed(of->arena, of->n_ranks + 1, sizeof(size_t));
    of->first_thread = rfn_arena_zeroed(of->arena, of->n_ranks + 1, sizeof(uint32_t));
    of->marks = rfn_arena_zeroed(of->arena, of->n_ranks, sizeof(uint32_t));
    if (!of->first_channel || !of->first_thread || !of->marks)
        return RFN_E_NOMEM;
    if (scan->n_channels)
        qsort(scan->channels, scan->n_channels, sizeof *scan->channels, by_dest);
    size_t channel = 0, thread = 0;
    for (size_t rank = 0; rank <= of->n_ranks; rank++) {
        while (channel < scan->n_channels && scan->channels[channel]->dest < rank)
            channel++;
        while (thread < hang->n_threads && hang->threads[thread].rank < rank)
            thread++;
        of->first_channel[rank] = channel;
        of->first_thread[rank] = (uint32_t)thread;
    }
    return 0;
}

/* ---- 1. which waits are over ---- */

static bool fits(const struct rfn_hang_wait *receive, uint32_t source, int64_t comm, int64_t tag)
{
    return receive->comm == comm && (receive->peer < 0 || receive->peer == (int64_t)source) &&
           (receive->tag == RFN_ANY || receive->tag == tag);
}

/* A message that the receive of this rank would get; it is taken. */
static bool has_message(const struct finding_of *of, uint32_t rank,
                        const struct rfn_hang_wait *receive)
{
    for (size_t i = of->first_channel[rank]; i < of->first_channel[rank + 1]; i++) {
        struct rfn_hang_channel *channel = of->scan.channels[i];
        if (channel->sent > channel->received &&
            fits(receive, channel->source, channel->comm, channel->tag)) {
            channel->received++;
            return true;
        }
    }
    return false;
}

static bool is_receiver_there(const struct finding_of *of, uint32_t rank,
                              const struct rfn_hang_wait *send)
{
    const uint32_t dest = (uint32_t)send->peer;
    for (uint32_t i = of->first_thread[dest]; i < of->first_thread[dest + 1]; i++) {
        const struct rfn_hang_thread *thread = &of->hang->threads[i];
        for (size_t k = 0; k < thread->n_waits; k++) {
            if (thread->waits[k].what == RFN_HANG_RECEIVE &&
                fits(&thread->waits[k], rank, send->comm, send->tag))
                return true;
        }
        for (size_t k = 0; k < thread->n_posted; k++) {
            if (fits(&thread->posted[k], rank, send->comm, send->tag))
                return true;
        }
    }
    return false;
}

static bool is_received(const struct finding_of *of, uint32_t rank,
                        const struct rfn_hang_wait *send)
{
    const struct rfn_hang_channel *channel = rfn_hang_channel_find(
        &of->scan, rank, (uint32_t)send->peer, send->comm, send->tag);
    return !channel || channel->received >= channel->sent || is_receiver_there(of, rank, send);
}

static bool is_in(const struct finding_of *of, uint32_t rank, enum rfn_call_kind kind)
{
    for (uint32_t i = of->first_thread[rank]; i < of->first_thread[rank + 1]; i++) {
        const struct rfn_hang_thread *thread = &of->hang->threads[i];
        if (thread->known && thread->kind == RFN_OPEN_CALL &&
            rfn_archive_call(of->scan.archive, thread->function)->kind == kind)
            return true;
    }
    return false;
}

/* ---- for which ranks ---- */

static void begin_set(struct finding_of *of)
{
    of->mark++;
}

static void add_rank(struct finding_of *of, int64_t rank)
{
    if (rank >= 0 && (size_t)rank < of->n_ranks)
        of->marks[rank] = of->mark;
}

static int end_set(struct finding_of *of, uint32_t **ranks, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < of->n_ranks; i++)
        *n += of->marks[i] == of->mark;
    *ranks = rfn_arena_zeroed(of->arena, *n, sizeof **ranks);
    if (!*ranks)
        return RFN_E_NOMEM;
    for (size_t i = 0, k = 0; i < of->n_ranks; i++) {
        if (of->marks[i] == of->mark)
            (*ranks)[k++] = (uint32_t)i;
    }
    return 0;
}

/* The k-th member of a communicator, of an inter-communicator's first group, then of the other. */
static int64_t member_of(const struct finding_of *of, uint32_t rank, int64_t comm, uint32_t k)
{
    const struct rfn_comm_info *info = rfn_archive_comm(of->scan.archive, (uint32_t)comm);
    if (info->kind == RFN_COMM_SELF)
        return rank;
    return k < info->size
               ? rfn_comm_world_rank(of->scan.archive, (uint32_t)comm, false, k)
               : rfn_comm_world_rank(of->scan.archive, (uint32_t)comm, true, k - info->size);
}

/* 0 of one that claims to have too many. */
static uint32_t members_of(const struct finding_of *of, int64_t comm)
{
    const struct rfn_comm_info *info = rfn_archive_comm(of->scan.archive, (uint32_t)comm);
    return rfn_comm_countable(of->scan.archive, (uint32_t)comm) ? info->size + info->remote_size
                                                                : 0;
}

/* The number of the collective call that the rank waits in. */
static uint64_t instance_of(const struct rfn_hang_place_calls *calls)
{
    return calls->open || !calls->n ? calls->n : calls->n - 1; /* of a nonblocking one the last */
}

static bool has_come(const struct finding_of *of, int64_t member, int64_t place, uint64_t instance)
{
    const struct rfn_hang_place_calls *calls =
        member < 0 ? NULL : rfn_hang_calls_of(&of->scan, (uint32_t)member, place);
    return calls && (calls->n > instance || (calls->n == instance && calls->open));
}

/* Members that have not come; of a broadcast the root alone, if it has not. */
static void add_late_members(struct finding_of *of, uint32_t rank, const struct rfn_hang_wait *wait)
{
    const struct rfn_hang_place_calls *own = rfn_hang_calls_of(&of->scan, rank, wait->place);
    if (!own)
        return;
    const uint64_t instance = instance_of(own);
    const struct rfn_hang_call *call = &own->last[instance % RFN_HANG_LAST_CALLS];
    const int64_t root = call->operation == RFN_MPI_Bcast && call->root >= 0
                             ? rfn_comm_peer(of->scan.archive, (uint32_t)wait->comm, rank,
                                             call->root)
                             : -1;
    if (root >= 0 && !has_come(of, root, wait->place, instance)) {
        add_rank(of, root);
        return;
    }
    for (uint32_t k = 0; k < members_of(of, wait->comm); k++) {
        const int64_t member = member_of(of, rank, wait->comm, k);
        if (member != (int64_t)rank && !has_come(of, member, wait->place, instance))
            add_rank(of, member);
    }
}

/* Whether the rank is in a call for the same lock, and so may not hold it. */
static bool wants_lock(const struct finding_of *of, uint32_t rank, const struct rfn_hang_wait *wait)
{
    for (uint32_t i = of->first_thread[rank]; i < of->first_thread[rank + 1]; i++) {
        const struct rfn_hang_thread *thread = &of->hang->threads[i];
        if (thread->n_waits && thread->waits[0].what == RFN_HANG_LOCK &&
            thread->waits[0].place == wait->place && thread->waits[0].target == wait->target)
            return true;
    }
    return false;
}

static void add_ranks_at_window(struct finding_of *of, uint32_t rank,
                                const struct rfn_hang_wait *wait)
{
    for (uint32_t other = 0; other < of->n_ranks; other++) {
        if (rfn_hang_objects_waits_for(of->scan.objects, rank, wait, other) &&
            (wait->what != RFN_HANG_LOCK || !wants_lock(of, other, wait)))
            add_rank(of, other);
    }
}

static void add_ranks(struct finding_of *of, uint32_t rank, const struct rfn_hang_wait *wait)
{
    if (wait->what == RFN_HANG_COLLECTIVE) {
        add_late_members(of, rank, wait);
    } else if (wait->what >= RFN_HANG_LOCK && wait->what <= RFN_HANG_COMPLETE) {
        add_ranks_at_window(of, rank, wait);
    } else if (wait->what == RFN_HANG_END) {
        for (uint32_t i = 0; i < of->n_ranks; i++) {
            if (!is_in(of, i, RFN_CALL_FINALIZE))
                add_rank(of, i);
        }
    } else if (wait->peer >= 0) {
        add_rank(of, wait->peer);
    } else if (wait->comm >= 0) { /* any of them */
        for (uint32_t k = 0; k < members_of(of, wait->comm); k++) {
            const int64_t member = member_of(of, rank, wait->comm, k);
            if (member != (int64_t)rank)
                add_rank(of, member);
        }
    }
}

/* Whether the wait is one of those that keep the thread: a send is not as long as a receive does,
 * as MPI may have sent it already. */
static bool keeps(const struct rfn_hang_thread *thread, size_t i, bool receives)
{
    const struct rfn_hang_wait *wait = &thread->waits[i];
    return !wait->ready && (!receives || wait->what != RFN_HANG_SEND);
}

static int find_ranks(struct finding_of *of, struct rfn_hang_thread *thread)
{
    bool receives = false, named = false, over = false;
    for (size_t i = 0; i < thread->n_waits; i++) {
        receives |= !thread->waits[i].ready && thread->waits[i].what == RFN_HANG_RECEIVE;
        over |= thread->any && thread->waits[i].ready;
    }
    for (size_t i = 0; i < thread->n_waits; i++)
        named |= keeps(thread, i, receives) && thread->waits[i].peer >= 0;
    begin_set(of);
    for (size_t i = 0; i < thread->n_waits && !over; i++) {
        const struct rfn_hang_wait *wait = &thread->waits[i];
        const bool wildcard = wait->peer < 0 && wait->what == RFN_HANG_RECEIVE;
        if (!keeps(thread, i, receives) || (wildcard && named && !thread->any))
            continue;
        thread->any |= wildcard;
        add_ranks(of, thread->rank, wait);
    }
    RFN_TRY(end_set(of, &thread->ranks, &thread->n_ranks));
    for (size_t i = 0; i < thread->n_waits; i++) {
        struct rfn_hang_wait *wait = &thread->waits[i];
        if (thread->n_ranks == 0 && wait->what >= RFN_HANG_COLLECTIVE)
            wait->ready = true;
    }
    return 0;
}

static int find_waits(struct finding_of *of)
{
    struct rfn_hang *hang = of->hang;
    for (size_t t = 0; t < hang->n_threads; t++) { /* these were begun before */
        struct rfn_hang_thread *thread = &hang->threads[t];
        for (size_t i = 0; i < thread->n_posted; i++)
            thread->posted[i].ready = has_message(of, thread->rank, &thread->posted[i]);
    }
    for (int receives = 1; receives >= 0; receives--) {
        for (size_t t = 0; t < hang->n_threads; t++) {
            struct rfn_hang_thread *thread = &hang->threads[t];
            for (size_t i = 0; i < thread->n_waits; i++) {
                struct rfn_hang_wait *wait = &thread->waits[i];
                if (receives && wait->what == RFN_HANG_RECEIVE)
                    wait->ready = has_message(of, thread->rank, wait);
                if (!receives && wait->what == RFN_HANG_SEND)
                    wait->ready = is_received(of, thread->rank, wait);
            }
        }
    }
    for (size_t t = 0; t < hang->n_threads; t++)
        RFN_TRY(find_ranks(of, &hang->threads[t]));
    return 0;
}

/* ---- 3. which threads are stuck ---- */

static bool rank_is_free(const struct finding_of *of, uint32_t rank)
{
    bool there = false;
    for (uint32_t i = of->first_thread[rank]; i < of->first_thread[rank + 1]; i++) {
        if (!of->hang->threads[i].stuck)
            return true;
        there = true;
    }
    return !there; /* nothing is known of it */
}

static bool can_go_on(const struct finding_of *of, const struct rfn_hang_thread *thread)
{
    size_t n_free = 0;
    for (size_t i = 0; i < thread->n_ranks; i++)
        n_free += rank_is_free(of, thread->ranks[i]);
    return thread->any ? n_free > 0 : n_free == thread->n_ranks;
}

static void find_stuck(const struct finding_of *of)
{
    struct rfn_hang *hang = of->hang;
    for (size_t t = 0; t < hang->n_threads; t++)
        hang->threads[t].stuck = hang->threads[t].n_ranks > 0 || of->disagrees[t];
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t t = 0; t < hang->n_threads; t++) {
            struct rfn_hang_thread *thread = &hang->threads[t];
            if (thread->stuck && !of->disagrees[t] && can_go_on(of, thread)) {
                thread->stuck = false;
                changed = true;
            }
        }
    }
    for (size_t t = 0; t < hang->n_threads; t++) {
        hang->n_stuck += hang->threads[t].stuck;
        hang->n_outside += hang->threads[t].known && hang->threads[t].kind == RFN_OPEN_OUTSIDE;
    }
}

/* ---- faults ---- */

static struct rfn_hang_finding *add_finding(struct finding_of *of, struct rfn_hang_finding finding)
{
    struct rfn_hang *hang = of->hang;
    if (RFN_GROW(hang->findings, of->findings_capacity, hang->n_findings + 1) < 0)
        return NULL;
    finding.n_alike = 1;
    if (finding.fault != RFN_HANG_WAITED_FOR)
        finding.rank = hang->threads[finding.thread].rank;
    hang->findings[hang->n_findings] = finding;
    return &hang->findings[hang->n_findings++];
}

/* The same of another thread was found before. */
static bool joins(const struct finding_of *of, const struct rfn_hang_finding *finding)
{
    for (size_t i = 0; i < of->hang->n_findings; i++) {
        struct rfn_hang_finding *known = &of->hang->findings[i];
        const bool ranks = finding->fault == RFN_HANG_OTHER_SOURCE;
        if (known->fault == finding->fault && known->wait.path == finding->wait.path &&
            known->wait.tag == finding->wait.tag && known->path == finding->path &&
            (ranks || known->found == finding->found)) {
            known->n_alike++;
            return true;
        }
    }
    return false;
}

/* ---- collective calls ---- */

static bool are_alike(const struct rfn_hang_call *a, const struct rfn_hang_call *b)
{
    return a->operation == b->operation && (a->operation || a->function == b->function) &&
           a->variant == b->variant && a->root == b->root && a->count == b->count;
}

/* The call of a member with this number, or NULL: it has not come, or that is long ago. */
static const struct rfn_hang_call *call_of(const struct finding_of *of, int64_t member,
                                           int64_t place, uint64_t instance)
{
    const struct rfn_hang_place_calls *calls =
        member < 0 ? NULL : rfn_hang_calls_of(&of->scan, (uint32_t)member, place);
    if (!has_come(of, member, place, instance) || calls->n > instance + RFN_HANG_LAST_CALLS - 1)
        return NULL;
    return &calls->last[instance % RFN_HANG_LAST_CALLS];
}

static int by_size(const void *left, const void *right)
{
    const struct rfn_hang_calls *a = left, *b = right;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return a->ranks[0] < b->ranks[0] ? -1 : a->ranks[0] > b->ranks[0];
}

/* Groups the members that have come by what they call. */
static int group_members(struct finding_of *of, uint32_t rank, int64_t place, uint64_t instance,
                         struct rfn_hang_calls **groups, size_t *n_groups)
{
    const int64_t comm = rfn_hang_place_comm(place);
    const uint32_t n = members_of(of, comm);
    const struct rfn_hang_call **kinds = calloc(n + (size_t)1, sizeof *kinds);
    uint32_t *kind = calloc(n + (size_t)1, sizeof *kind); /* of each, from 1; 0: it has not come */
    size_t n_kinds = 0;
    for (uint32_t k = 0; kinds && kind && k < n; k++) {
        const struct rfn_hang_call *call = call_of(of, member_of(of, rank, comm, k), place,
                                                   instance);
        size_t i = 0;
        while (call && i < n_kinds && !are_alike(kinds[i], call))
            i++;
        if (call && i == n_kinds)
            kinds[n_kinds++] = call;
        kind[k] = call ? (uint32_t)i + 1 : 0;
    }
    *n_groups = n_kinds;
    *groups = rfn_arena_zeroed(of->arena, n_kinds, sizeof **groups);
    int error = kinds && kind && *groups ? 0 : RFN_E_NOMEM;
    for (size_t i = 0; i < n_kinds && !error; i++) {
        begin_set(of);
        for (uint32_t k = 0; k < n; k++) {
            if (kind[k] == i + 1)
                add_rank(of, member_of(of, rank, comm, k));
        }
        struct rfn_hang_calls *group = &(*groups)[i];
        *group = (struct rfn_hang_calls){.function = kinds[i]->function,
                                         .path = kinds[i]->path,
                                         .root = kinds[i]->root,
                                         .count = kinds[i]->count};
        error = end_set(of, &group->ranks, &group->n);
    }
    if (!error && n_kinds)
        qsort(*groups, n_kinds, sizeof **groups, by_size);
    free(kinds);
    free(kind);
    return error;
}

static bool is_told(const struct finding_of *of, enum rfn_hang_fault fault, int64_t place)
{
    for (size_t i = 0; i < of->hang->n_findings; i++) {
        const struct rfn_hang_finding *finding = &of->hang->findings[i];
        if (finding->fault == fault && finding->wait.place == place)
            return true;
    }
    return false;
}

static const struct rfn_hang_wait *collective_of(const struct rfn_hang_thread *thread)
{
    return thread->n_waits == 1 && thread->waits[0].what == RFN_HANG_COLLECTIVE ? &thread->waits[0]
                                                                                : NULL;
}

/* Threads that are in this call of the place. */
static void mark_those_in(struct finding_of *of, int64_t place, uint64_t instance)
{
    for (size_t t = 0; t < of->hang->n_threads; t++) {
        const struct rfn_hang_thread *thread = &of->hang->threads[t];
        const struct rfn_hang_wait *wait = collective_of(thread);
        const struct rfn_hang_place_calls *calls =
            wait && wait->place == place ? rfn_hang_calls_of(&of->scan, thread->rank, place) : NULL;
        of->disagrees[t] |= calls && instance_of(calls) == instance;
    }
}

/* One finding per place. */
static int find_disagreement(struct finding_of *of, uint32_t t)
{
    const struct rfn_hang_thread *thread = &of->hang->threads[t];
    const struct rfn_hang_wait *wait = collective_of(thread);
    const struct rfn_hang_place_calls *calls =
        wait ? rfn_hang_calls_of(&of->scan, thread->rank, wait->place) : NULL;
    struct rfn_hang_finding finding = {.fault = RFN_HANG_DISAGREE, .thread = t};
    if (!calls || is_told(of, RFN_HANG_DISAGREE, wait->place) ||
        rfn_archive_comm(of->scan.archive, (uint32_t)wait->comm)->kind == RFN_COMM_INTER)
        return 0; /* both groups name the root in their own way */
    const uint64_t instance = instance_of(calls);
    finding.wait = *wait;
    RFN_TRY(
        group_members(of, thread->rank, wait->place, instance, &finding.groups, &finding.n_groups));
    if (finding.n_groups < 2)
        return 0;
    mark_those_in(of, wait->place, instance);
    return add_finding(of, finding) ? 0 : RFN_E_NOMEM;
}

/* Calls that were not recorded are missing in all counts. */
static bool has_gaps(const struct finding_of *of)
{
    const struct rfn_archive *archive = of->scan.archive;
    bool gaps = rfn_archive_run(archive)->start_off;
    for (uint32_t i = 0; i < rfn_archive_functions(archive) && !gaps; i++)
        gaps = rfn_switches_recording(archive, i);
    return gaps;
}

/* Recording was off at times: nothing can be compared. */
static int find_disagreements(struct finding_of *of)
{
    of->hang->uncounted = has_gaps(of);
    of->disagrees = rfn_arena_zeroed(of->arena, of->hang->n_threads, sizeof *of->disagrees);
    if (!of->disagrees)
        return RFN_E_NOMEM;
    for (uint32_t t = 0; t < of->hang->n_threads && !of->hang->uncounted; t++)
        RFN_TRY(find_disagreement(of, t));
    return 0;
}

static bool waits_for(const struct rfn_hang_thread *thread, uint32_t rank)
{
    for (size_t i = 0; i < thread->n_ranks; i++) {
        if (thread->ranks[i] >= rank)
            return thread->ranks[i] == rank;
    }
    return false;
}

/* All stuck threads that are in a collective call at this place. */
static int group_on(struct finding_of *of, const struct rfn_hang_thread *first, int64_t place,
                    struct rfn_hang_calls *group)
{
    begin_set(of);
    for (size_t i = 0; i < of->hang->n_threads; i++) {
        const struct rfn_hang_wait *wait = collective_of(&of->hang->threads[i]);
        if (wait && wait->place == place && of->hang->threads[i].stuck)
            add_rank(of, of->hang->threads[i].rank);
    }
    *group = (struct rfn_hang_calls){
        .function = first->function, .path = first->path, .root = -1, .count = -1};
    return end_set(of, &group->ranks, &group->n);
}

/* Two ranks that wait for each other, each in a collective call at another place. */
static int find_order(struct finding_of *of, uint32_t t)
{
    const struct rfn_hang_thread *thread = &of->hang->threads[t];
    const struct rfn_hang_wait *wait = collective_of(thread);
    if (!wait || is_told(of, RFN_HANG_OTHER_ORDER, wait->place))
        return 0;
    for (size_t i = 0; thread->stuck && i < thread->n_ranks; i++) {
        const uint32_t rank = thread->ranks[i];
        for (uint32_t k = of->first_thread[rank]; k < of->first_thread[rank + 1]; k++) {
            const struct rfn_hang_thread *other = &of->hang->threads[k];
            const struct rfn_hang_wait *its = collective_of(other);
            if (!its || its->place == wait->place ||
                is_told(of, RFN_HANG_OTHER_ORDER, its->place) || !waits_for(other, thread->rank))
                continue;
            struct rfn_hang_finding finding = {.fault = RFN_HANG_OTHER_ORDER,
                                               .thread = t,
                                               .wait = *wait,
                                               .found = its->place,
                                               .n_groups = 2};
            finding.groups = rfn_arena_zeroed(of->arena, 2, sizeof *finding.groups);
            if (!finding.groups)
                return RFN_E_NOMEM;
            RFN_TRY(group_on(of, thread, wait->place, &finding.groups[0]));
            RFN_TRY(group_on(of, other, its->place, &finding.groups[1]));
            return add_finding(of, finding) ? 0 : RFN_E_NOMEM;
        }
    }
    return 0;
}

/* ---- messages ---- */

/* What is wrong with the channel for this receive, by what alone it does not fit. */
static bool nearly_fits(const struct rfn_hang_wait *receive, const struct rfn_hang_channel *channel,
                        enum rfn_hang_fault fault)
{
    const bool source = receive->peer < 0 || receive->peer == (int64_t)channel->source;
    const bool comm = receive->comm == channel->comm;
    const bool tag = receive->tag == RFN_ANY || receive->tag == channel->tag;
    if (channel->sent <= channel->received)
        return false;
    return fault == RFN_HANG_OTHER_TAG    ? source && comm && !tag
           : fault == RFN_HANG_OTHER_COMM ? source && tag && !comm && receive->comm >= 0
                                          : comm && tag && !source;
}

static int64_t found_in(const struct rfn_hang_channel *channel, enum rfn_hang_fault fault)
{
    return fault == RFN_HANG_OTHER_TAG    ? channel->tag
           : fault == RFN_HANG_OTHER_COMM ? channel->comm
                                          : (int64_t)channel->source;
}

/* 1: there is something; 0; RFN_E_NOMEM. */
static int find_near_message(struct finding_of *of, uint32_t t, const struct rfn_hang_wait *receive)
{
    const uint32_t rank = of->hang->threads[t].rank;
    for (enum rfn_hang_fault fault = RFN_HANG_OTHER_TAG; fault <= RFN_HANG_OTHER_SOURCE; fault++) {
        for (size_t i = of->first_channel[rank]; i < of->first_channel[rank + 1]; i++) {
            const struct rfn_hang_channel *channel = of->scan.channels[i];
            if (!nearly_fits(receive, channel, fault))
                continue;
            const struct rfn_hang_finding finding = {.fault = fault,
                                                     .thread = t,
                                                     .wait = *receive,
                                                     .found = found_in(channel, fault),
                                                     .from = channel->source,
                                                     .function = channel->function,
                                                     .path = channel->path};
            return joins(of, &finding) || add_finding(of, finding) ? 1 : RFN_E_NOMEM;
        }
    }
    return 0;
}

static int find_unmatched(struct finding_of *of, uint32_t t)
{
    const struct rfn_hang_thread *thread = &of->hang->threads[t];
    for (size_t i = 0; thread->stuck && i < thread->n_waits; i++) {
        const struct rfn_hang_wait *wait = &thread->waits[i];
        const bool receives = wait->what == RFN_HANG_RECEIVE;
        if (wait->ready || wait->what > RFN_HANG_RECEIVE)
            continue;
        int found = receives ? find_near_message(of, t, wait) : 0;
        if (found < 0)
            return found;
        if (found || wait->peer < 0 || !waits_for(thread, (uint32_t)wait->peer) ||
            !is_in(of, (uint32_t)wait->peer, RFN_CALL_FINALIZE))
            continue;
        const struct rfn_hang_finding finding = {.fault = receives ? RFN_HANG_NOT_SENT
                                                                   : RFN_HANG_NOT_RECEIVED,
                                                 .thread = t,
                                                 .wait = *wait};
        if (!joins(of, &finding) && !add_finding(of, finding))
            return RFN_E_NOMEM;
    }
    return 0;
}

/* ---- ranks that wait for each other, or for one ---- */

/* A stuck thread that this stuck one waits for; UINT32_MAX: none, which cannot be. */
static uint32_t next_stuck(const struct finding_of *of, const struct rfn_hang_thread *thread)
{
    for (size_t i = 0; i < thread->n_ranks; i++) {
        if (rank_is_free(of, thread->ranks[i]))
            continue;
        return of->first_thread[thread->ranks[i]];
    }
    return UINT32_MAX;
}

/* The first cycle that threads lead to, from the lowest stuck one on. */
static int find_cycle(struct finding_of *of)
{
    const struct rfn_hang *hang = of->hang;
    uint32_t *step = rfn_arena_zeroed(of->arena, hang->n_threads, sizeof *step); /* 0: not yet */
    uint32_t at = 0, n = 0;
    if (!step)
        return RFN_E_NOMEM;
    while (at < hang->n_threads && !hang->threads[at].stuck)
        at++;
    if (at == hang->n_threads)
        return 0;
    while (at != UINT32_MAX && !step[at]) {
        step[at] = ++n;
        at = next_stuck(of, &hang->threads[at]);
    }
    if (at == UINT32_MAX)
        return 0;
    struct rfn_hang_finding finding = {.fault = RFN_HANG_CYCLE,
                                       .thread = at,
                                       .n_cycle = n - step[at] + 1,
                                       .n_waiting = hang->n_stuck};
    finding.cycle = rfn_arena_zeroed(of->arena, finding.n_cycle, sizeof *finding.cycle);
    if (!finding.cycle)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < finding.n_cycle; i++) {
        finding.cycle[i] = at;
        at = next_stuck(of, &hang->threads[at]);
    }
    return add_finding(of, finding) ? 0 : RFN_E_NOMEM;
}

/* Threads that wait for the rank, directly or not. */
static int count_waiting(const struct finding_of *of, uint32_t rank, size_t *n)
{
    const struct rfn_hang *hang = of->hang;
    bool *waits = calloc(hang->n_threads + 1, sizeof *waits);
    bool *awaited = calloc(of->n_ranks + 1, sizeof *awaited);
    *n = 0;
    if (!waits || !awaited) {
        free(waits);
        free(awaited);
        return RFN_E_NOMEM;
    }
    awaited[rank] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t t = 0; t < hang->n_threads; t++) {
            const struct rfn_hang_thread *thread = &hang->threads[t];
            for (size_t i = 0; !waits[t] && i < thread->n_ranks; i++) {
                if (!awaited[thread->ranks[i]])
                    continue;
                waits[t] = awaited[thread->rank] = changed = true;
                ++*n;
            }
        }
    }
    free(waits);
    free(awaited);
    return 0;
}

/* Whether others may wait for the rank although it does not wait; *thread: what tells of it. */
static bool is_on_its_way(const struct finding_of *of, uint32_t rank, uint32_t *thread)
{
    const struct rfn_hang *hang = of->hang;
    *thread = of->first_thread[rank];
    if (*thread == of->first_thread[rank + 1])
        return true; /* there is no record of it */
    const struct rfn_hang_thread *first = &hang->threads[*thread];
    return !first->n_ranks && (!hang->n_findings || first->kind == RFN_OPEN_OUTSIDE);
}

/* The rank on its way that most others wait for, of those that most wait for directly. */
static int find_late(struct finding_of *of)
{
    enum { TRIED = 16 };
    const struct rfn_hang *hang = of->hang;
    uint32_t *waiting = rfn_arena_zeroed(of->arena, of->n_ranks, sizeof *waiting);
    struct rfn_hang_finding finding = {.fault = RFN_HANG_WAITED_FOR};
    if (!waiting)
        return RFN_E_NOMEM;
    for (size_t t = 0; t < hang->n_threads; t++) {
        for (size_t i = 0; i < hang->threads[t].n_ranks; i++)
            waiting[hang->threads[t].ranks[i]]++;
    }
    for (int tries = 0; tries < TRIED; tries++) {
        uint32_t most = 0, thread, its;
        size_t n;
        bool found = false;
        for (uint32_t rank = 0; rank < of->n_ranks; rank++) {
            if (waiting[rank] > (found ? waiting[most] : 0) && is_on_its_way(of, rank, &its)) {
                most = rank;
                thread = its;
                found = true;
            }
        }
        if (!found)
            break;
        waiting[most] = 0;
        RFN_TRY(count_waiting(of, most, &n));
        if (n > finding.n_waiting) {
            finding.rank = most;
            finding.thread = thread;
            finding.n_waiting = n;
        }
    }
    return !finding.n_waiting || add_finding(of, finding) ? 0 : RFN_E_NOMEM;
}

static int find_faults(struct finding_of *of)
{
    if (of->hang->uncounted)
        return find_late(of);
    for (uint32_t t = 0; t < of->hang->n_threads; t++)
        RFN_TRY(find_order(of, t));
    for (uint32_t t = 0; t < of->hang->n_threads; t++)
        RFN_TRY(find_unmatched(of, t));
    if (!of->hang->n_findings)
        RFN_TRY(find_cycle(of));
    return find_late(of);
}

/* ---- all of it ---- */

static int find_all(struct finding_of *of, struct rfn_diag *diag)
{
    struct rfn_hang *hang = of->hang;
    size_t known = 0;
    hang->n_threads = rfn_archive_run(of->scan.archive)->streams;
    hang->threads = rfn_arena_zeroed(of->arena, hang->n_threads, sizeof *hang->threads);
    if (!hang->threads)
        return RFN_E_NOMEM;
    of->scan.threads = hang->threads;
    RFN_TRY(rfn_hang_scan(&of->scan));
    for (size_t i = 0; i < hang->n_threads; i++) {
        const struct rfn_hang_thread *thread = &hang->threads[i];
        if (!thread->known)
            continue;
        if (!known++ || thread->until_ns < hang->first_ns)
            hang->first_ns = thread->until_ns;
        if (thread->until_ns > hang->last_ns)
            hang->last_ns = thread->until_ns;
    }
    if (!known)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "it does not say what ranks were doing in the end: only journals do, and "
                        "what refrain recover makes of them");
    RFN_TRY(make_tables(of));
    RFN_TRY(find_waits(of));
    RFN_TRY(find_disagreements(of));
    find_stuck(of);
    return find_faults(of);
}

int rfn_hang_find(const struct rfn_archive *archive, struct rfn_hang **hang, struct rfn_diag *diag)
{
    struct hang_data *data = calloc(1, sizeof *data);
    if (!data)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
    data->arena = (struct rfn_arena)RFN_ARENA_INIT;
    struct finding_of of = {.scan = {.archive = archive, .arena = &data->arena, .diag = diag},
                            .hang = &data->public,
                            .arena = &data->arena,
                            .n_ranks = rfn_archive_run(archive)->ranks};
    const int error = find_all(&of, diag);
    rfn_hang_scan_release(&of.scan);
    if (error < 0) {
        rfn_hang_free(&data->public);
        return diag && !diag->text[0] ? rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error))
                                      : error;
    }
    *hang = &data->public;
    return 0;
}

void rfn_hang_free(struct rfn_hang *hang)
{
    struct hang_data *data = (struct hang_data *)hang;
    if (!data)
        return;
    free(hang->findings);
    rfn_arena_release(&data->arena);
    free(data);
}
