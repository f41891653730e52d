#include "analyze/process_groups.h"

#include "base/grow.h"
#include "base/map.h"

#include <stdlib.h>

/* ---- two representatives ---- */

struct pair {
    const int64_t *left, *right; /* vectors: they do not move while streams are compared */
    bool similar;
    double allowed;
};

struct comparison {
    const struct rfn_criterion *criterion;
    struct rfn_profile_walk *left, *right;
    struct rfn_map known; /* pairs of representatives of a context: whether they are similar, and
                             what is allowed for their starts */
    struct pair *pairs;
    size_t n_pairs, pairs_capacity;
    struct pair loose; /* the last one that is not among them */
    double *elements;  /* of both vectors */
    size_t elements_capacity;
};

static int measure_pair(struct comparison *comparison, const struct rfn_executed *left,
                        const struct rfn_executed *right, struct pair *pair)
{
    const struct rfn_criterion *criterion = comparison->criterion;
    const struct rfn_similarity *method = criterion->method;
    *pair = (struct pair){.left = left->vector, .right = right->vector};
    if (left->n != right->n)
        return 0;
    size_t n = 2 * left->n + 2, length = rfn_similarity_length(method, n);
    RFN_TRY(RFN_GROW(comparison->elements, comparison->elements_capacity, 2 * length));
    struct rfn_wave a = {comparison->elements, 0}, b = {comparison->elements + length, 0};
    a.largest = rfn_similarity_transform(method, left->vector, n, comparison->elements);
    b.largest = rfn_similarity_transform(method, right->vector, n, comparison->elements + length);
    pair->similar = rfn_similar(criterion, &a, &b, length);
    pair->allowed = rfn_criterion_allowed(criterion, rfn_larger(a.largest, b.largest));
    return 0;
}

/* What is known of a pair; each is compared once. Of pairs with equal hashes the last one is known.
 * What is loose does not come back. */
static int find_pair(struct comparison *comparison, const struct rfn_executed *left,
                     const struct rfn_executed *right, const struct pair **found)
{
    if (left->loose || right->loose) {
        *found = &comparison->loose;
        return measure_pair(comparison, left, right, &comparison->loose);
    }
    uint64_t key = rfn_hash_mix((uint64_t)(uintptr_t)left->vector, (uintptr_t)right->vector);
    const uint64_t *known = rfn_map_get(&comparison->known, key);
    if (known) {
        *found = &comparison->pairs[*known];
        if ((*found)->left == left->vector && (*found)->right == right->vector)
            return 0;
    }
    size_t n = comparison->n_pairs;
    RFN_TRY(RFN_GROW(comparison->pairs, comparison->pairs_capacity, n + 1));
    RFN_TRY(measure_pair(comparison, left, right, &comparison->pairs[n]));
    RFN_TRY(rfn_map_put(&comparison->known, key, n));
    comparison->n_pairs++;
    *found = &comparison->pairs[n];
    return 0;
}

/* ---- two streams ---- */

/* 1: the next executions are similar; 0: not; or an error. */
static int same_execution(struct comparison *comparison, const struct rfn_executed *left,
                          const struct rfn_executed *right)
{
    const struct rfn_similarity *method = comparison->criterion->method;
    const struct pair *pair;
    RFN_TRY(find_pair(comparison, left, right, &pair));
    double difference = method->difference((double)left->start, (double)right->start);
    return pair->similar && difference <= pair->allowed;
}

static int same_executions(struct comparison *comparison)
{
    struct rfn_executed left, right;
    int same = 1;
    while (same > 0) {
        int first = rfn_profile_walk_next(comparison->left, &left);
        int second = rfn_profile_walk_next(comparison->right, &right);
        if (first <= 0 || second <= 0)
            return first < 0 || second < 0 ? RFN_E_NOMEM : first == second;
        same = same_execution(comparison, &left, &right);
    }
    return same;
}

static int streams_match(const struct rfn_trace_profile *profile, uint32_t left, uint32_t right)
{
    const struct rfn_profiled_stream *a = &profile->streams[left], *b = &profile->streams[right];
    struct comparison comparison = {.criterion = &profile->across};
    if (!a->present || !b->present || a->class_ != b->class_)
        return 0;
    comparison.left = rfn_profile_walk_new(a->profile);
    comparison.right = rfn_profile_walk_new(b->profile);
    int same = comparison.left && comparison.right ? same_executions(&comparison) : RFN_E_NOMEM;
    rfn_profile_walk_free(comparison.left);
    rfn_profile_walk_free(comparison.right);
    rfn_map_release(&comparison.known);
    free(comparison.pairs);
    free(comparison.elements);
    return same;
}

/* ---- classes: what executed the same segments ---- */

static bool same_class(const struct rfn_trace_profile *profile, uint32_t left, uint32_t right)
{
    const struct rfn_profiled_stream *a = &profile->streams[left], *b = &profile->streams[right];
    struct rfn_stream_info first = rfn_archive_stream(profile->archive, left);
    struct rfn_stream_info second = rfn_archive_stream(profile->archive, right);
    return first.group == second.group && first.volume == second.volume &&
           a->segments == b->segments && rfn_hash128_equal(a->sequence, b->sequence);
}

/* The lowest stream of each class. Classes with equal keys are few: the last one is known. */
static int find_classes(struct rfn_trace_profile *profile)
{
    struct rfn_map by_key = RFN_MAP_INIT;
    int error = 0;
    for (uint32_t i = 0; i < profile->n_streams && !error; i++) {
        struct rfn_profiled_stream *stream = &profile->streams[i];
        uint64_t key = rfn_hash_mix(stream->sequence.low,
                                    rfn_archive_stream(profile->archive, i).group);
        const uint64_t *known = rfn_map_get(&by_key, key);
        stream->class_ = i;
        if (known && same_class(profile, (uint32_t)*known, i))
            stream->class_ = (uint32_t)*known;
        else
            error = rfn_map_put(&by_key, key, i);
    }
    rfn_map_release(&by_key);
    return error;
}

/* ---- the tree ---- */

/* Joins the streams that stand for the right half to those of the left one. Those that match none
 * follow them; there is room, for both lie in one array, each at its first stream. */
static int join(struct rfn_trace_profile *profile, uint32_t *left, uint32_t *n_left,
                const uint32_t *right, uint32_t n_right)
{
    uint32_t n = *n_left;
    for (uint32_t i = 0; i < n_right; i++) {
        int same = 0;
        uint32_t at = 0;
        while (at < n && (same = streams_match(profile, left[at], right[i])) == 0)
            at++;
        RFN_TRY(same);
        if (same)
            profile->streams[right[i]].stands_for_it = left[at];
        else
            left[(*n_left)++] = right[i];
    }
    return 0;
}

static int join_all(struct rfn_trace_profile *profile, uint32_t *sets, uint32_t *n_sets)
{
    for (uint32_t step = 1; step < profile->n_streams; step *= 2) {
        for (uint32_t i = 0; i < profile->n_streams - step; i += 2 * step)
            RFN_TRY(join(profile, sets + i, &n_sets[i], sets + i + step, n_sets[i + step]));
    }
    return 0;
}

int rfn_process_groups_find(struct rfn_trace_profile *profile)
{
    uint32_t n = profile->n_streams;
    uint32_t *sets = calloc(n + (size_t)1, sizeof *sets);
    uint32_t *n_sets = calloc(n + (size_t)1, sizeof *n_sets);
    for (uint32_t i = 0; i < n && sets && n_sets; i++) {
        sets[i] = profile->streams[i].stands_for_it = i;
        n_sets[i] = 1;
    }
    int error = sets && n_sets ? find_classes(profile) : RFN_E_NOMEM;
    if (!error && profile->across.method)
        error = join_all(profile, sets, n_sets);
    free(sets);
    free(n_sets);
    /* One that stood for others may have been joined itself; it stands before them. */
    for (uint32_t i = 0; i < n && !error; i++)
        profile->streams[i].stands_for_it =
            profile->streams[profile->streams[i].stands_for_it].stands_for_it;
    return error;
}
