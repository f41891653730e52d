/* The members of a loop (watched_steps.h) are walked through together, step by step. A step's
 * pattern is the class of each member; equal ones are counted together. Each pattern is then put
 * into words (lateness.h). Patterns with the same words are one; rare patterns also where only the
 * late ranks differ. */
#include "refrain/behaviour.h"

#include "analyze/behaviour/lateness.h"
#include "analyze/behaviour/watched_steps.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LOOPS = 3 };
/* Loops with less of the time are not told. */
static const double least_loop = 0.02;
/* Waits of less of a step's time are none worth telling. */
static const double least_wait = 0.02;
/* Patterns with less of their loop's time are put together with those that differ in who is late.
 */
static const double rare = 0.05, few = 4;
/* Who is waited for is late, if for at least this part of what the one is that is waited for most.
 */
static const double blamed_part = 0.25;
/* Classes of all patterns of a loop; steps in more patterns are the loop's other steps. */
enum { MAX_CLASSES = 4 << 20, MAX_PATTERNS = 4096 };

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* Times of a damaged file may be any. */
static int64_t whole(double ns)
{
    const double most = 9e18;
    return (int64_t)(ns > most ? most : ns < -most ? -most : ns);
}

/* ---- patterns of a loop ---- */

struct pattern {
    uint64_t steps;
    double step_ns; /* of an average member */
};

/* What a member does next. */
struct next {
    struct rfn_step_walk walk;
    bool any;
};

/* In place of a class: the member does not execute the step. */
#define ABSENT UINT32_MAX

/* How long a rank was waited for in the steps of a pattern. */
struct blame {
    size_t pattern;
    uint32_t rank;
    double ns;
};

/* Those of one pattern. */
struct blames {
    const struct blame *items;
    size_t n;
};

struct counting {
    const struct rfn_watched_steps *steps;
    const struct rfn_step_member *members;
    size_t n;
    struct next *next; /* by member */
    uint32_t *now;     /* the members' classes */
    uint32_t *ranks;   /* the members' */
    struct rfn_map
        by_hash; /* of the classes: the pattern. Those of equal hash are taken for equal */
    struct pattern *patterns;
    uint32_t *classes; /* n for each pattern */
    size_t n_patterns, patterns_capacity, classes_capacity;
    struct rfn_step_blame *step; /* of the step */
    size_t n_step, step_capacity;
    struct blame *blames; /* when all are counted: by pattern, then rank */
    size_t n_blames, blames_capacity;
    struct rfn_map by_rank; /* pattern and rank -> blame */
    uint64_t n_steps, other_steps;
    double other_ns;
};

static double step_length(const struct counting *counting)
{
    double sum = 0;
    for (size_t i = 0; i < counting->n; i++) {
        if (counting->now[i] != ABSENT)
            sum += (double)rfn_representative_store_representative(counting->steps->store, 0,
                                                                   counting->now[i])
                       .pace;
    }
    return sum / (double)counting->n;
}

static bool has_room(const struct counting *counting)
{
    return counting->n_patterns < MAX_PATTERNS &&
           (counting->n_patterns + 1) * counting->n <= MAX_CLASSES;
}

/* Those of the step are those of its pattern. */
static int add_blames(struct counting *counting, size_t pattern)
{
    for (size_t i = 0; i < counting->n_step; i++) {
        const struct rfn_step_blame *blame = &counting->step[i];
        const uint64_t key = (uint64_t)pattern << 32 | blame->rank;
        const uint64_t *known = rfn_map_get(&counting->by_rank, key);
        size_t at = known ? (size_t)*known : counting->n_blames;
        if (!known) {
            RFN_TRY(RFN_GROW(counting->blames, counting->blames_capacity, at + 1));
            RFN_TRY(rfn_map_put(&counting->by_rank, key, at));
            counting->blames[counting->n_blames++] = (struct blame){pattern, blame->rank, 0};
        }
        counting->blames[at].ns += (double)blame->ns;
    }
    return 0;
}

/* Counts a step with the classes of now. */
static int count_step(struct counting *counting)
{
    size_t bytes = counting->n * sizeof *counting->now, n = counting->n_patterns;
    uint64_t hash = rfn_hash_bytes(counting->now, bytes);
    const uint64_t *known = rfn_map_get(&counting->by_hash, hash);
    counting->n_steps++;
    if (known) {
        counting->patterns[*known].steps++;
        return add_blames(counting, (size_t)*known);
    }
    if (!has_room(counting)) {
        counting->other_steps++;
        counting->other_ns += step_length(counting);
        return 0;
    }
    RFN_TRY(RFN_GROW(counting->patterns, counting->patterns_capacity, n + 1));
    RFN_TRY(RFN_GROW(counting->classes, counting->classes_capacity, (n + 1) * counting->n));
    RFN_TRY(rfn_map_put(&counting->by_hash, hash, n));
    memcpy(counting->classes + n * counting->n, counting->now, bytes);
    counting->patterns[n] = (struct pattern){1, step_length(counting)};
    counting->n_patterns++;
    return add_blames(counting, n);
}

static int take_blames(struct counting *counting, const struct rfn_step_walk *walk)
{
    struct rfn_reader blames = walk->blames;
    size_t n = counting->n_step + (size_t)walk->n_blames;
    RFN_TRY(RFN_GROW(counting->step, counting->step_capacity, n));
    while (counting->n_step < n)
        counting->step[counting->n_step++] = rfn_step_next_blame(&blames);
    return 0;
}

/* The classes and blames of the next step: that with the lowest number. Returns whether there is
 * one; RFN_E_NOMEM. */
static int next_step(struct counting *counting)
{
    uint64_t step = UINT64_MAX;
    bool any = false;
    counting->n_step = 0;
    for (size_t i = 0; i < counting->n; i++) {
        const struct next *next = &counting->next[i];
        any |= next->any;
        if (next->any && next->walk.step < step)
            step = next->walk.step;
    }
    for (size_t i = 0; i < counting->n; i++) {
        struct next *next = &counting->next[i];
        bool there = next->any && next->walk.step == step;
        counting->now[i] = there ? next->walk.class_ : ABSENT;
        if (!there)
            continue;
        if (next->walk.n_blames)
            RFN_TRY(take_blames(counting, &next->walk));
        next->any = rfn_step_next(&next->walk);
    }
    return any;
}

static int count_patterns(struct counting *counting)
{
    counting->next = calloc(counting->n, sizeof *counting->next);
    counting->now = calloc(counting->n, sizeof *counting->now);
    if (!counting->next || !counting->now)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < counting->n; i++) {
        counting->next[i].walk = rfn_step_walk(counting->steps, &counting->members[i]);
        counting->next[i].any = rfn_step_next(&counting->next[i].walk);
    }
    for (;;) {
        int more = next_step(counting);
        if (more <= 0)
            return more;
        RFN_TRY(count_step(counting));
    }
}

static void release_counting(struct counting *counting)
{
    free(counting->next);
    free(counting->now);
    free(counting->ranks);
    free(counting->patterns);
    free(counting->classes);
    free(counting->step);
    free(counting->blames);
    rfn_map_release(&counting->by_hash);
    rfn_map_release(&counting->by_rank);
}

/* ---- one pattern ---- */

/* The different classes of a pattern: a segment each, and which one each member has. */
struct segments {
    struct rfn_alike_ranks *items;
    size_t n;
    uint32_t *of; /* per member; ABSENT where there is none */
};

static int find_segments(const struct counting *counting, const uint32_t *classes,
                         struct segments *segments)
{
    struct rfn_map known = RFN_MAP_INIT;
    int error = 0;
    for (size_t i = 0; i < counting->n && !error; i++) {
        const uint64_t *at = rfn_map_get(&known, classes[i]);
        segments->of[i] = ABSENT;
        if (classes[i] == ABSENT)
            continue;
        segments->of[i] = at ? (uint32_t)*at : (uint32_t)segments->n;
        if (at) {
            segments->items[*at].count++;
            continue;
        }
        struct rfn_representative class_ = rfn_representative_store_representative(
            counting->steps->store, 0, classes[i]);
        error = rfn_map_put(&known, classes[i], segments->n);
        segments->items[segments->n++] = (struct rfn_alike_ranks){
            .sites = class_.events, .vector = class_.vector, .n = class_.n_events, .count = 1};
    }
    rfn_map_release(&known);
    return error;
}

static struct rfn_activity activity_of(const struct rfn_watched_steps *steps,
                                       const struct rfn_lateness *lateness)
{
    const struct rfn_call_site *sites = steps->activities->sites;
    struct rfn_activity activity = {.kind = lateness->in_call ? RFN_ACTIVITY_MPI
                                                              : RFN_ACTIVITY_COMPUTE,
                                    .at = sites[lateness->at],
                                    .region = RFN_NO_REGION};
    if (!lateness->in_call)
        activity.before = sites[lateness->before];
    return activity;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The ranks that were waited for in a pattern, ascending. Returns how long all streams did so. */
static double list_blamed(const struct blames *blames, uint32_t *blamed, uint32_t *n)
{
    double most = 0, sum = 0;
    *n = 0;
    for (size_t i = 0; i < blames->n; i++) {
        sum += blames->items[i].ns;
        most = blames->items[i].ns > most ? blames->items[i].ns : most;
    }
    for (size_t i = 0; i < blames->n; i++) {
        if (blames->items[i].ns >= blamed_part * most)
            blamed[(*n)++] = blames->items[i].rank;
    }
    if (*n)
        qsort(blamed, *n, sizeof *blamed, by_number);
    return sum;
}

static void mark_blamed(const struct counting *counting, const struct segments *segments,
                        const uint32_t *blamed, uint32_t n)
{
    for (size_t i = 0; i < counting->n && n; i++) {
        if (segments->of[i] != ABSENT &&
            bsearch(&counting->ranks[i], blamed, n, sizeof *blamed, by_number))
            segments->items[segments->of[i]].blamed = true;
    }
}

/* Adds the ranks of late members to a list, ascending: of several that take as long for the cause
 * one may have been waited for. Members ascend by stream, and streams by rank. */
static void list_late(const struct counting *counting, const struct segments *segments,
                      uint32_t *late, uint32_t *n)
{
    uint32_t kept = 0;
    for (size_t i = 0; i < counting->n; i++) {
        if (segments->of[i] != ABSENT && segments->items[segments->of[i]].late)
            late[(*n)++] = counting->ranks[i];
    }
    if (*n)
        qsort(late, *n, sizeof *late, by_number);
    for (uint32_t i = 0; i < *n; i++) {
        if (i == 0 || late[i] != late[kept - 1])
            late[kept++] = late[i];
    }
    *n = kept;
}

static int64_t lost_ns(const struct counting *counting, const struct segments *segments,
                       const struct rfn_behaviour_pattern *told)
{
    uint32_t n_waiting = 0;
    for (size_t i = 0; i < counting->n; i++)
        n_waiting += segments->of[i] != ABSENT && segments->items[segments->of[i]].waits;
    return whole((double)told->wait_ns * n_waiting * (double)told->steps);
}

static int describe(const struct counting *counting, const struct segments *segments,
                    const struct blames *blames, struct rfn_behaviour_pattern *told)
{
    struct rfn_lateness lateness;
    const bool known = counting->steps->blamed;
    uint32_t *late = malloc((counting->n + blames->n + 1) * sizeof *late), n = 0;
    double blamed_ns = 0;
    told->late = late;
    if (!late)
        return RFN_E_NOMEM;
    if (known) {
        blamed_ns = list_blamed(blames, late, &n);
        mark_blamed(counting, segments, late, n);
    }
    RFN_TRY(rfn_lateness_find(segments->items, segments->n, least_wait, known, &lateness));
    told->waiting = lateness.waiting && (n || !known);
    if (!told->waiting) {
        if (blamed_ns > least_wait * (double)told->ns * (double)counting->n) {
            told->n_late = n;
            told->lost_ns = whole(blamed_ns);
        }
        return 0;
    }
    told->waited = counting->steps->activities->sites[lateness.waited];
    told->wait_ns = whole(lateness.wait_ns);
    told->has_cause = lateness.has_cause;
    if (told->has_cause) {
        told->cause = activity_of(counting->steps, &lateness);
        told->excess_ns = whole(lateness.excess_ns);
    }
    if (!known || told->has_cause)
        list_late(counting, segments, late, &n);
    told->n_late = n;
    told->lost_ns = lost_ns(counting, segments, told);
    return 0;
}

static int tell_pattern(const struct counting *counting, size_t number, const struct blames *blames,
                        struct rfn_behaviour_pattern *told)
{
    const struct pattern *pattern = &counting->patterns[number];
    struct segments segments = {.items = calloc(counting->n, sizeof *segments.items),
                                .of = calloc(counting->n, sizeof *segments.of)};
    *told = (struct rfn_behaviour_pattern){.steps = pattern->steps,
                                           .ns = whole(pattern->step_ns * (double)pattern->steps)};
    int error = RFN_E_NOMEM;
    if (segments.items && segments.of)
        error = find_segments(counting, counting->classes + number * counting->n, &segments);
    if (!error)
        error = describe(counting, &segments, blames, told);
    free(segments.items);
    free(segments.of);
    return error;
}

/* ---- patterns of which the same is to be said ---- */

static bool same_site(struct rfn_call_site a, struct rfn_call_site b)
{
    return a.function == b.function && a.path == b.path;
}

static bool same_cause(const struct rfn_behaviour_pattern *a, const struct rfn_behaviour_pattern *b)
{
    return a->waiting == b->waiting && same_site(a->waited, b->waited) &&
           a->has_cause == b->has_cause && a->cause.kind == b->cause.kind &&
           same_site(a->cause.before, b->cause.before) && same_site(a->cause.at, b->cause.at);
}

static bool same_late(const struct rfn_behaviour_pattern *a, const struct rfn_behaviour_pattern *b)
{
    return a->n_late == b->n_late &&
           (a->n_late == 0 || memcmp(a->late, b->late, a->n_late * sizeof *a->late) == 0);
}

/* Those late in a or in b, both ascending, into a. */
static int unite_late(struct rfn_behaviour_pattern *a, const struct rfn_behaviour_pattern *b)
{
    uint32_t *late = malloc((a->n_late + (size_t)b->n_late + 1) * sizeof *late), n = 0;
    if (!late)
        return RFN_E_NOMEM;
    for (uint32_t i = 0, j = 0; i < a->n_late || j < b->n_late;) {
        uint32_t next = j == b->n_late || (i < a->n_late && a->late[i] <= b->late[j]) ? a->late[i]
                                                                                      : b->late[j];
        i += i < a->n_late && a->late[i] == next;
        j += j < b->n_late && b->late[j] == next;
        late[n++] = next;
    }
    free((void *)a->late);
    a->late = late;
    a->n_late = n;
    a->varying = true;
    return 0;
}

/* A mean of two, by their steps. */
static int64_t mean(int64_t a, uint64_t steps, int64_t b, uint64_t more)
{
    return whole(((double)a * (double)steps + (double)b * (double)more) / (double)(steps + more));
}

static int join(struct rfn_behaviour_pattern *into, struct rfn_behaviour_pattern *from)
{
    into->wait_ns = mean(into->wait_ns, into->steps, from->wait_ns, from->steps);
    into->excess_ns = mean(into->excess_ns, into->steps, from->excess_ns, from->steps);
    into->steps += from->steps;
    into->ns = whole((double)into->ns + (double)from->ns);
    into->lost_ns = whole((double)into->lost_ns + (double)from->lost_ns);
    int error = same_late(into, from) ? 0 : unite_late(into, from);
    into->varying |= from->varying;
    free((void *)from->late);
    from->late = NULL;
    return error;
}

/* Joins the pattern to the first of the n that the same is to be said of; 1 if it was, else 0. */
static int join_one(struct rfn_behaviour_pattern *patterns, size_t n,
                    struct rfn_behaviour_pattern *pattern, bool but_for_late)
{
    for (size_t i = 0; i < n; i++) {
        if (!same_cause(&patterns[i], pattern) ||
            !(but_for_late || same_late(&patterns[i], pattern)))
            continue;
        RFN_TRY(join(&patterns[i], pattern));
        return 1;
    }
    return 0;
}

static int by_time(const void *left, const void *right)
{
    const struct rfn_behaviour_pattern *a = left, *b = right;
    return a->ns > b->ns ? -1 : a->ns < b->ns;
}

/* Of those from `first` on, joins what is the same. */
static int join_patterns(struct rfn_behaviour_loop *loop, size_t first, bool but_for_late)
{
    size_t kept = first;
    for (size_t i = first; i < loop->n_patterns; i++) {
        struct rfn_behaviour_pattern pattern = loop->patterns[i];
        loop->patterns[i].late = NULL; /* it is `pattern`'s now */
        int joined = join_one(loop->patterns + first, kept - first, &pattern, but_for_late);
        if (joined != 1)
            loop->patterns[kept++] = pattern;
        if (joined < 0)
            return joined;
    }
    loop->n_patterns = kept;
    if (kept)
        qsort(loop->patterns, kept, sizeof *loop->patterns, by_time);
    return 0;
}

/* Of some steps that were looked at, what has been seen two or three times is rare, too. */
static double rare_ns(const struct rfn_behaviour_loop *loop)
{
    double share = loop->looked_at < loop->steps ? few / (double)loop->looked_at : 0;
    return (share > rare ? share : rare) * (double)loop->looked_at_ns;
}

static int join_rare(struct rfn_behaviour_loop *loop)
{
    size_t first = 0;
    RFN_TRY(join_patterns(loop, 0, false));
    while (first < loop->n_patterns && (double)loop->patterns[first].ns >= rare_ns(loop))
        first++;
    return join_patterns(loop, first, true);
}

/* ---- a loop ---- */

static int list_ranks(const struct rfn_archive *archive, struct counting *counting,
                      struct rfn_behaviour_loop *loop)
{
    uint32_t *ranks = malloc(counting->n * sizeof *ranks);
    loop->ranks = ranks;
    counting->ranks = malloc(counting->n * sizeof *counting->ranks);
    if (!ranks || !counting->ranks)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < counting->n; i++) {
        uint32_t rank = rfn_archive_stream(archive, counting->members[i].stream).rank;
        counting->ranks[i] = rank;
        if (i == 0 || ranks[loop->n_ranks - 1] != rank)
            ranks[loop->n_ranks++] = rank;
    }
    return 0;
}

static void sum_up(struct rfn_behaviour_loop *loop)
{
    double ns = (double)loop->other_ns;
    for (size_t i = 0; i < loop->n_patterns; i++)
        ns += (double)loop->patterns[i].ns;
    loop->looked_at_ns = whole(ns);
}

static int by_pattern(const void *left, const void *right)
{
    const struct blame *a = left, *b = right;
    if (a->pattern != b->pattern)
        return a->pattern < b->pattern ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int tell_patterns(const struct counting *counting, struct rfn_behaviour_loop *loop)
{
    size_t at = 0;
    loop->patterns = calloc(counting->n_patterns + 1, sizeof *loop->patterns);
    if (!loop->patterns)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < counting->n_patterns; i++) {
        struct blames blames = {0};
        for (; at < counting->n_blames && counting->blames[at].pattern == i; at++) {
            if (!blames.n++)
                blames.items = &counting->blames[at];
        }
        loop->n_patterns++;
        RFN_TRY(tell_pattern(counting, i, &blames, &loop->patterns[i]));
    }
    return 0;
}

static int tell_loop(const struct rfn_archive *archive, struct counting *counting,
                     struct rfn_behaviour_loop *loop)
{
    RFN_TRY(list_ranks(archive, counting, loop));
    RFN_TRY(count_patterns(counting));
    loop->looked_at = counting->n_steps;
    if (loop->looked_at > loop->steps)
        loop->steps = loop->looked_at;
    loop->other_steps = counting->other_steps;
    loop->other_ns = whole(counting->other_ns);
    if (counting->n_blames)
        qsort(counting->blames, counting->n_blames, sizeof *counting->blames, by_pattern);
    RFN_TRY(tell_patterns(counting, loop));
    sum_up(loop);
    return join_rare(loop);
}

/* ---- the whole ---- */

/* Members first to first + n - 1, and their time. */
struct candidate {
    size_t first, n;
    uint64_t steps; /* of the member that has most */
    double ns;
};

static int longest_first(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static struct candidate candidate_at(const struct rfn_watched_steps *steps, size_t first)
{
    const struct rfn_step_member *members = steps->members;
    struct candidate candidate = {.first = first};
    for (size_t i = first; i < steps->n_members && members[i].place == members[first].place; i++) {
        candidate.ns += (double)members[i].looked_at_ns * (double)members[i].n /
                        (double)members[i].looked_at;
        if (members[i].n > candidate.steps)
            candidate.steps = members[i].n;
        candidate.n++;
    }
    return candidate;
}

/* The loops with most time, at most MAX_LOOPS; how many, or RFN_E_NOMEM. */
static int choose(const struct rfn_watched_steps *steps, struct candidate *chosen)
{
    struct candidate *all = malloc((steps->n_members + 1) * sizeof *all);
    size_t n = 0;
    if (!all)
        return RFN_E_NOMEM;
    for (size_t at = 0; at < steps->n_members;) {
        struct candidate candidate = candidate_at(steps, at);
        at += candidate.n;
        if (candidate.n > 1 && candidate.steps > 1 && candidate.ns >= least_loop * steps->span_ns)
            all[n++] = candidate;
    }
    if (n)
        qsort(all, n, sizeof *all, longest_first);
    n = n < MAX_LOOPS ? n : MAX_LOOPS;
    memcpy(chosen, all, n * sizeof *all);
    free(all);
    return (int)n;
}

static int tell_loops(const struct rfn_archive *archive, const struct rfn_watched_steps *steps,
                      struct rfn_behaviour *behaviour)
{
    struct candidate chosen[MAX_LOOPS];
    int n = choose(steps, chosen), error = n < 0 ? n : 0;
    behaviour->loops = calloc(MAX_LOOPS, sizeof *behaviour->loops);
    if (!behaviour->loops)
        return RFN_E_NOMEM;
    for (int i = 0; i < n && !error; i++) {
        const struct rfn_step_member *members = steps->members + chosen[i].first;
        struct counting counting = {.steps = steps, .members = members, .n = chosen[i].n};
        struct rfn_behaviour_loop *loop = &behaviour->loops[behaviour->n_loops++];
        *loop = (struct rfn_behaviour_loop){
            .first = steps->activities->sites[members->first],
            .last = steps->activities->sites[members->last],
            .steps = chosen[i].steps,
            .n_streams = (uint32_t)chosen[i].n,
            .ns = whole(chosen[i].ns / (double)chosen[i].n),
            .share = steps->span_ns > 0 ? chosen[i].ns / steps->span_ns : 0};
        error = tell_loop(archive, &counting, loop);
        release_counting(&counting);
    }
    return error;
}

int rfn_behaviour_of(const struct rfn_archive *archive, const struct rfn_watched_steps *steps,
                     struct rfn_behaviour **behaviour)
{
    struct rfn_behaviour *made = calloc(1, sizeof *made);
    if (!made)
        return RFN_E_NOMEM;
    made->too_irregular = steps->too_irregular;
    if (tell_loops(archive, steps, made) < 0) {
        rfn_behaviour_free(made);
        return RFN_E_NOMEM;
    }
    *behaviour = made;
    return 0;
}

int rfn_behaviour_new(const struct rfn_archive *archive, const char *across,
                      struct rfn_behaviour **behaviour, struct rfn_diag *diag)
{
    struct rfn_activities activities = {0};
    struct rfn_criterion criterion;
    struct rfn_watched_steps steps;
    RFN_TRY(rfn_criterion_parse(across ? across : RFN_BEHAVIOUR_METHOD, true, &criterion, diag));
    int error = rfn_watched_steps_read(&steps, archive, &criterion, &activities, diag);
    if (!error && rfn_behaviour_of(archive, &steps, behaviour) < 0)
        error = no_memory(diag);
    rfn_watched_steps_release(&steps);
    rfn_activities_release(&activities);
    return error;
}

static void release_loop(struct rfn_behaviour_loop *loop)
{
    for (size_t i = 0; loop->patterns && i < loop->n_patterns; i++)
        free((void *)loop->patterns[i].late);
    free(loop->patterns);
    free((void *)loop->ranks);
}

void rfn_behaviour_free(struct rfn_behaviour *behaviour)
{
    if (!behaviour)
        return;
    for (size_t i = 0; i < behaviour->n_loops; i++)
        release_loop(&behaviour->loops[i]);
    free(behaviour->loops);
    free(behaviour);
}
