/* Ranks are merged in the order in which a tree would: two neighbouring sets of as many ranks
 * become one. Then each shape (reduce/clusters/clusters.h) is divided twice, as it is, and without
 * the words that an expression gives. */
#include "refrain/clusters.h"

#include "analyze/clusters/rank_parameters.h"
#include "analyze/clusters/user_expressions.h"
#include "archive/write/forced_parameters.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/grow.h"
#include "reduce/clusters/rank_expression.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEVELS = RFN_CLUSTER_LEVELS };
static const double count_tolerance = 0.05;

struct rfn_clustering {
    const struct rfn_archive *archive;
    struct rfn_cluster_form form;
    struct rfn_rank_parameters *parameters;
    struct rfn_expression_finder *finder; /* users' expressions, or NULL */
    struct rfn_clusters clusters;
    struct rfn_arena arena; /* call paths of main clusters */
    struct {
        struct rfn_rank_set *at;
        size_t n, capacity;
    } sets; /* of main and sub-clusters: what they list is borrowed from here */
    struct {
        struct rfn_main_cluster *at;
        size_t n, capacity;
    } mains;
    struct {
        struct rfn_sub_cluster *at;
        size_t n, capacity;
    } subs;
    struct {
        struct rfn_cluster_parameter *at;
        size_t n, capacity;
    } found;
    uint32_t after, unreadable;
    struct rfn_clustering_cost cost;
    bool count_bytes;
    clock_t since; /* what comes after is not charged to a step yet */
};

static void charge(struct rfn_clustering *clustering, double *step)
{
    clock_t now = clock();
    *step += (double)(now - clustering->since) / CLOCKS_PER_SEC;
    clustering->since = now;
}

/* ---- the ranks ---- */

/* Sets of ranks that wait for their neighbours, larger ones first. */
struct tree {
    struct rfn_clusters sets[LEVELS];
    uint64_t sizes[LEVELS];
    uint64_t own_bytes[LEVELS]; /* of what their ranks brought */
    unsigned n;
};

static int count_bytes(struct rfn_clustering *clustering, const struct rfn_clusters *set,
                       uint64_t *bytes)
{
    struct rfn_buf buf = RFN_BUF_INIT;
    *bytes = 0;
    if (!clustering->count_bytes)
        return 0;
    rfn_clusters_write(set, &buf);
    int error = rfn_buf_status(&buf);
    *bytes = buf.size;
    rfn_buf_release(&buf);
    clustering->since = clock(); /* that is no step */
    return error;
}

static int join_last(struct rfn_clustering *clustering, struct tree *tree)
{
    struct rfn_clustering_cost *cost = &clustering->cost;
    const unsigned last = --tree->n;
    uint32_t level = 0; /* at which a set of so many ranks, a power of two, gets another one */
    uint64_t bytes;
    while (tree->sizes[last - 1] >> level > 1)
        level++;
    if (level >= cost->n_levels)
        cost->n_levels = level + 1;
    int error = count_bytes(clustering, &tree->sets[last], &bytes);
    if (!error)
        error = rfn_clusters_merge(&tree->sets[last - 1], &tree->sets[last]);
    rfn_clusters_release(&tree->sets[last]);
    charge(clustering, &cost->levels[level].seconds);
    cost->levels[level].messages++;
    cost->levels[level].bytes += bytes;
    cost->levels[level].unmerged_bytes += tree->own_bytes[last];
    tree->sizes[last - 1] += tree->sizes[last];
    tree->own_bytes[last - 1] += tree->own_bytes[last];
    return error;
}

static int read_ranks(struct rfn_clustering *clustering, struct tree *tree, struct rfn_diag *diag)
{
    const struct rfn_archive *archive = clustering->archive;
    uint32_t n = rfn_archive_run(archive)->streams;
    for (uint32_t first = 0, end; first < n; first = end) {
        bool readable = true;
        const unsigned at = tree->n;
        uint32_t rank = rfn_archive_stream(archive, first).rank;
        for (end = first; end < n && rfn_archive_stream(archive, end).rank == rank; end++)
            readable &= rfn_archive_stream(archive, end).readable;
        clustering->unreadable += !readable;
        if (!readable)
            continue;
        RFN_TRY(
            rfn_rank_parameters_read(clustering->parameters, first, end, &tree->sets[at], diag));
        tree->sizes[tree->n++] = 1;
        charge(clustering, &clustering->cost.reading);
        RFN_TRY(count_bytes(clustering, &tree->sets[at], &tree->own_bytes[at]));
        while (tree->n > 1 && tree->sizes[tree->n - 1] == tree->sizes[tree->n - 2])
            RFN_TRY(join_last(clustering, tree));
    }
    while (tree->n > 1)
        RFN_TRY(join_last(clustering, tree));
    return 0;
}

/* ---- expressions ---- */

static enum rfn_cluster_part part_of(const struct rfn_cluster_field *field, uint32_t at)
{
    static const enum rfn_cluster_part peer[] = {RFN_PART_VALUE, RFN_PART_SIZE, RFN_PART_COMM};
    static const enum rfn_cluster_part comm[] = {RFN_PART_COMM, RFN_PART_VALUE, RFN_PART_SIZE};
    switch (field->role) {
    case RFN_ROLE_PEER:
        return peer[at % 3];
    case RFN_ROLE_COMM:
        return comm[at % 3];
    case RFN_ROLE_RANGE:
    case RFN_ROLE_COUNT:
        return at ? RFN_PART_MOST : RFN_PART_LEAST;
    default:
        return RFN_PART_VALUE;
    }
}

/* What the ranks of a variant have in a slot. Returns false if it is no value of theirs: they are
 * not in the communicator. */
static bool value_of(const struct rfn_clustering *clustering, const struct rfn_cluster_shape *shape,
                     const struct rfn_cluster_variant *variant, uint32_t slot, bool peer,
                     struct rfn_rank_value *value)
{
    value->value = rfn_variant_word(shape, variant, slot);
    value->size = rfn_archive_run(clustering->archive)->ranks;
    if (!peer)
        return value->rank < value->size;
    int64_t size = rfn_variant_word(shape, variant, slot + 1);
    int64_t comm = rfn_variant_word(shape, variant, slot + 2);
    if (size <= 0) /* no partner */
        return value->rank < value->size;
    int64_t place = rfn_rank_parameters_place(clustering->parameters, value->rank, comm);
    value->size = (uint32_t)size;
    value->rank = (uint32_t)place;
    if (place < 0 || place >= size)
        return false;
    if (value->value >= 0) /* else a special value */
        value->value = (value->value + place) % size;
    return true;
}

struct numbered_value {
    uint32_t world;
    struct rfn_rank_value value;
};

static int compare_values(const void *a, const void *b)
{
    uint32_t x = ((const struct numbered_value *)a)->world;
    uint32_t y = ((const struct numbered_value *)b)->world;
    return (x > y) - (x < y);
}

static uint64_t count_ranks(const struct rfn_cluster_shape *shape)
{
    uint64_t n = 0;
    for (size_t i = 0; i < shape->n_variants; i++)
        n += shape->variants[i].ranks.n;
    return n;
}

/* By all ranks' values of a slot, in order of ranks; none fits unless all have one. Users' forms
 * are tried where no form of ours fits. */
static int fit_slot(const struct rfn_clustering *clustering, const struct rfn_cluster_shape *shape,
                    uint32_t slot, bool peer, const struct rfn_sought_parameter *parameter,
                    struct rfn_rank_expression *expression)
{
    struct rfn_expression_finder *finder = clustering->finder;
    uint64_t n = count_ranks(shape), at = 0;
    uint32_t *ranks = malloc((n + 1) * sizeof *ranks);
    struct numbered_value *listed = malloc((n + 1) * sizeof *listed);
    struct rfn_rank_value *values = malloc((n + 1) * sizeof *values);
    bool all = ranks && listed && values;
    int found = all ? 0 : RFN_E_NOMEM;
    *expression = (struct rfn_rank_expression){.form = RFN_EXPRESSION_NONE};
    for (size_t i = 0; i < shape->n_variants && all; i++) {
        const struct rfn_cluster_variant *variant = &shape->variants[i];
        rfn_rank_set_list(&variant->ranks, ranks);
        for (uint64_t k = 0; k < variant->ranks.n && all; k++, at++) {
            listed[at] = (struct numbered_value){ranks[k], {.rank = ranks[k]}};
            all = value_of(clustering, shape, variant, slot, peer, &listed[at].value);
        }
    }
    if (all) {
        qsort(listed, n, sizeof *listed, compare_values);
        for (uint64_t i = 0; i < n; i++)
            values[i] = listed[i].value;
        *expression = rfn_rank_expression_fit(values, n, peer);
    }
    if (all && finder && expression->form == RFN_EXPRESSION_NONE) {
        finder->asked++;
        found = finder->find(finder->context, parameter, values, n, expression);
        finder->found += found > 0;
    }
    free(ranks);
    free(listed);
    free(values);
    return found < 0 ? found : 0;
}

/* ---- parameters ---- */

static int compare_words(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int count_values(const struct rfn_cluster_shape *shape, uint32_t slot, uint64_t *n)
{
    int64_t *words = malloc(shape->n_variants * sizeof *words);
    if (!words)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < shape->n_variants; i++)
        words[i] = rfn_variant_word(shape, &shape->variants[i], slot);
    qsort(words, shape->n_variants, sizeof *words, compare_words);
    *n = 1;
    for (size_t i = 1; i < shape->n_variants; i++)
        *n += words[i] != words[i - 1];
    free(words);
    return 0;
}

/* Whether all are nearly what the lowest rank has. */
static bool all_near(const struct rfn_cluster_shape *shape, uint32_t slot)
{
    double lowest = (double)shape->words[slot], most = count_tolerance * lowest;
    for (size_t i = 0; i < shape->n_variants; i++) {
        double off = (double)rfn_variant_word(shape, &shape->variants[i], slot) - lowest;
        if ((off < 0 ? -off : off) > (most < 0 ? -most : most))
            return false;
    }
    return true;
}

static int add_parameter(struct rfn_clustering *clustering, const struct rfn_cluster_shape *shape,
                         uint32_t slot, const struct rfn_rank_set *ranks, bool *explained)
{
    uint32_t first, main = (uint32_t)clustering->mains.n - 1;
    const struct rfn_cluster_field *field = rfn_shape_field(shape, slot, &first);
    const struct rfn_parameter_path *where = rfn_rank_parameters_path(clustering->parameters,
                                                                      field->path);
    const struct rfn_function_info *function = rfn_archive_function(clustering->archive,
                                                                    where->function);
    const uint32_t at = slot - first;
    const uint32_t per_entry = field->role == RFN_ROLE_PEER || field->role == RFN_ROLE_COMM ? 3
                               : part_of(field, 0) == RFN_PART_LEAST                        ? 2
                                                                                            : 1;
    if (field->role == RFN_ROLE_COUNT && all_near(shape, slot))
        return 0;
    RFN_TRY(RFN_GROW(clustering->found.at, clustering->found.capacity, clustering->found.n + 1));
    struct rfn_cluster_parameter *found = &clustering->found.at[clustering->found.n];
    *found = (struct rfn_cluster_parameter){.main = main,
                                            .function = where->function,
                                            .path = where->path,
                                            .name = function->params[field->input].name,
                                            .role = field->role,
                                            .part = part_of(field, at),
                                            .occurrence = at / per_entry,
                                            .occurrences = field->n_words / per_entry,
                                            .blocks = ranks->blocks,
                                            .n_blocks = (uint32_t)ranks->n_blocks};
    bool peer = found->role == RFN_ROLE_PEER && found->part == RFN_PART_VALUE;
    /* Sizes and numbers of communicators stand with partners, too. */
    bool comm = found->part == RFN_PART_SIZE || found->part == RFN_PART_COMM;
    RFN_TRY(count_values(shape, slot, &found->n_values));
    const struct rfn_sought_parameter sought = {.function = function->name,
                                                .name = found->name,
                                                .role = comm ? "comm" : rfn_role_name(found->role)};
    RFN_TRY(fit_slot(clustering, shape, slot, peer, &sought, &found->expression));
    explained[slot] = found->expression.form != RFN_EXPRESSION_NONE;
    clustering->found.n++;
    return 0;
}

/* ---- sub-clusters ---- */

/* Sets that are kept. They may move, what is in them does not. */
static int new_sets(struct rfn_clustering *clustering, size_t n)
{
    RFN_TRY(
        RFN_GROW_ZEROED(clustering->sets.at, clustering->sets.capacity, clustering->sets.n + n));
    clustering->sets.n += n;
    return 0;
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The ranks of each group of variants become a set, from sets[first] on. groups NULL: all are one.
 */
static int assign_groups(struct rfn_clustering *clustering, const struct rfn_cluster_shape *shape,
                         const uint32_t *groups, size_t n, size_t first)
{
    uint64_t *ends = calloc(n + 1, sizeof *ends);
    uint32_t *ranks = malloc((count_ranks(shape) + 1) * sizeof *ranks);
    int error = ends && ranks ? 0 : RFN_E_NOMEM;
    for (size_t i = 0; i < shape->n_variants && !error; i++)
        ends[(groups ? groups[i] : 0) + 1] += shape->variants[i].ranks.n;
    for (size_t i = 1; i <= n && !error; i++)
        ends[i] += ends[i - 1];
    for (size_t i = 0; i < shape->n_variants && !error; i++) { /* ends[g] moves to g's end */
        uint64_t *end = &ends[groups ? groups[i] : 0];
        rfn_rank_set_list(&shape->variants[i].ranks, ranks + *end);
        *end += shape->variants[i].ranks.n;
    }
    for (size_t i = 0; i < n && !error; i++) {
        uint64_t begin = i ? ends[i - 1] : 0;
        qsort(ranks + begin, ends[i] - begin, sizeof *ranks, compare_ranks);
        error = rfn_rank_set_assign(&clustering->sets.at[first + i], ranks + begin,
                                    ends[i] - begin);
    }
    free(ends);
    free(ranks);
    return error;
}

/* The sub-clusters of a shape: as they are, then without what expressions explain. */
static int divide(struct rfn_clustering *clustering, const struct rfn_cluster_shape *shape,
                  uint32_t *groups, bool *explained)
{
    const uint32_t number = (uint32_t)clustering->mains.n - 1;
    struct rfn_main_cluster *main = &clustering->mains.at[number];
    const size_t own = clustering->sets.n, first = own + 1;
    uint32_t *slots;
    size_t n_slots;
    int64_t n = rfn_shape_divide(shape, count_tolerance, NULL, groups);
    RFN_TRY(n < 0 ? (int)n : 0);
    RFN_TRY(new_sets(clustering, 1 + (size_t)n));
    RFN_TRY(assign_groups(clustering, shape, NULL, 1, own));
    RFN_TRY(assign_groups(clustering, shape, groups, (size_t)n, first));
    RFN_TRY(
        RFN_GROW(clustering->subs.at, clustering->subs.capacity, clustering->subs.n + (size_t)n));
    for (size_t i = 0; i < (size_t)n; i++) {
        const struct rfn_rank_set *set = &clustering->sets.at[first + i];
        clustering->subs.at[clustering->subs.n++] = (struct rfn_sub_cluster){
            .main = number,
            .blocks = set->blocks,
            .n_blocks = (uint32_t)set->n_blocks,
            .ranks = (uint32_t)set->n,
            .representative = set->blocks[0].start};
    }
    main->sub_clusters += (uint32_t)n;
    const struct rfn_rank_set of_shape = clustering->sets.at[own];
    RFN_TRY(rfn_shape_differing(shape, &slots, &n_slots));
    int error = 0;
    charge(clustering, &clustering->cost.dividing);
    if (clustering->form.parameters != RFN_PARAMETERS_FIELDS)
        n_slots = 0; /* no parameters, but what stands for all of them */
    for (size_t i = 0; i < n_slots && !error; i++)
        error = add_parameter(clustering, shape, slots[i], &of_shape, explained);
    free(slots);
    charge(clustering, &clustering->cost.expressions);
    RFN_TRY(error);
    n = rfn_shape_divide(shape, count_tolerance, explained, groups);
    RFN_TRY(n < 0 ? (int)n : 0);
    main->after_expressions += (uint32_t)n;
    return 0;
}

/* ---- main clusters ---- */

/* The main cluster of the shapes that have the signature of the first, which is the lowest. */
static int add_main(struct rfn_clustering *clustering, const struct rfn_cluster_shape *first,
                    const struct rfn_cluster_shape *end)
{
    size_t n, own = clustering->sets.n;
    RFN_TRY(RFN_GROW(clustering->mains.at, clustering->mains.capacity, clustering->mains.n + 1));
    struct rfn_main_cluster *main = &clustering->mains.at[clustering->mains.n++];
    *main = (struct rfn_main_cluster){.signature = first->signature,
                                      .calls_least = UINT64_MAX,
                                      .first_sub = (uint32_t)clustering->subs.n,
                                      .first_parameter = (uint32_t)clustering->found.n};
    RFN_TRY(new_sets(clustering, 1));
    const uint64_t *keys = rfn_rank_parameters_calls(clustering->parameters, main->signature, &n);
    uint32_t *paths = rfn_arena_alloc(&clustering->arena, (2 * n + 1) * sizeof *paths);
    if (!paths)
        return RFN_E_NOMEM;
    main->paths = paths;
    main->n_paths = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        const struct rfn_parameter_path *where = rfn_rank_parameters_path(clustering->parameters,
                                                                          keys[i]);
        *paths++ = where->function;
        *paths++ = where->path;
    }
    for (const struct rfn_cluster_shape *shape = first; shape < end; shape++) {
        if (shape->signature != first->signature)
            continue;
        main->calls_least = shape->calls_least < main->calls_least ? shape->calls_least
                                                                   : main->calls_least;
        main->calls_most = shape->calls_most > main->calls_most ? shape->calls_most
                                                                : main->calls_most;
        const size_t of_shape = clustering->sets.n;
        uint32_t *groups = calloc(shape->n_variants, sizeof *groups);
        bool *explained = calloc(shape->n_words + 1, sizeof *explained);
        int error = groups && explained ? divide(clustering, shape, groups, explained)
                                        : RFN_E_NOMEM;
        free(groups);
        free(explained);
        RFN_TRY(error);
        RFN_TRY(rfn_rank_set_unite(&clustering->sets.at[own], &clustering->sets.at[of_shape]));
    }
    const struct rfn_rank_set *ranks = &clustering->sets.at[own];
    main->blocks = ranks->blocks;
    main->n_blocks = (uint32_t)ranks->n_blocks;
    main->ranks = (uint32_t)ranks->n;
    main->representative = ranks->blocks[0].start;
    main->n_parameters = (uint32_t)clustering->found.n - main->first_parameter;
    clustering->after += main->after_expressions;
    return 0;
}

/* ---- the whole ---- */

static int cluster(struct rfn_clustering *clustering, struct rfn_diag *diag)
{
    struct rfn_clusters *clusters = &clustering->clusters;
    struct rfn_map seen = RFN_MAP_INIT; /* signatures */
    struct tree tree = {.n = 0};
    clustering->since = clock();
    int error = read_ranks(clustering, &tree, diag);
    if (!error) {
        *clusters = tree.sets[0];
        tree.sets[0] = (struct rfn_clusters){0};
    }
    for (unsigned i = 0; i < LEVELS; i++)
        rfn_clusters_release(&tree.sets[i]);
    for (size_t i = 0; i < clusters->n && !error; i++) {
        const struct rfn_cluster_shape *shape = &clusters->shapes[i];
        if (rfn_map_get(&seen, shape->signature))
            continue;
        error = rfn_map_put(&seen, shape->signature, 1);
        if (!error)
            error = add_main(clustering, shape, clusters->shapes + clusters->n);
    }
    rfn_map_release(&seen);
    charge(clustering, &clustering->cost.dividing);
    return error;
}

int rfn_clustering_new(const struct rfn_archive *archive, struct rfn_cluster_form form,
                       struct rfn_expressions *expressions, struct rfn_clustering_cost *cost,
                       struct rfn_clustering **clustering, struct rfn_diag *diag)
{
    *clustering = calloc(1, sizeof **clustering);
    if (!*clustering)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s", rfn_error_text(RFN_E_NOMEM));
    (*clustering)->archive = archive;
    (*clustering)->form = form;
    (*clustering)->finder = expressions ? rfn_expressions_finder(expressions) : NULL;
    (*clustering)->count_bytes = cost != NULL;
    (*clustering)->parameters = rfn_rank_parameters_new(archive, form);
    int error = (*clustering)->parameters ? cluster(*clustering, diag) : RFN_E_NOMEM;
    if (!error && cost)
        *cost = (*clustering)->cost;
    if (!error)
        return 0;
    if (error == RFN_E_NOMEM)
        rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error));
    rfn_clustering_free(*clustering);
    *clustering = NULL;
    return error;
}

void rfn_clustering_free(struct rfn_clustering *clustering)
{
    if (!clustering)
        return;
    for (size_t i = 0; i < clustering->sets.n; i++)
        rfn_rank_set_release(&clustering->sets.at[i]);
    rfn_clusters_release(&clustering->clusters);
    rfn_rank_parameters_free(clustering->parameters);
    rfn_arena_release(&clustering->arena);
    free(clustering->sets.at);
    free(clustering->mains.at);
    free(clustering->subs.at);
    free(clustering->found.at);
    free(clustering);
}

struct rfn_cluster_form rfn_clustering_form(const struct rfn_clustering *clustering)
{
    return clustering->form;
}

struct rfn_cluster_extremes rfn_clustering_extremes(const struct rfn_clustering *clustering)
{
    return rfn_rank_parameters_extremes(clustering->parameters);
}

uint32_t rfn_clustering_mains(const struct rfn_clustering *clustering)
{
    return (uint32_t)clustering->mains.n;
}

uint32_t rfn_clustering_subs(const struct rfn_clustering *clustering)
{
    return (uint32_t)clustering->subs.n;
}

uint32_t rfn_clustering_after_expressions(const struct rfn_clustering *clustering)
{
    return clustering->after;
}

uint32_t rfn_clustering_unreadable(const struct rfn_clustering *clustering)
{
    return clustering->unreadable;
}

const struct rfn_main_cluster *rfn_clustering_main(const struct rfn_clustering *clustering,
                                                   uint32_t main)
{
    return &clustering->mains.at[main];
}

const struct rfn_sub_cluster *rfn_clustering_sub(const struct rfn_clustering *clustering,
                                                 uint32_t sub)
{
    return &clustering->subs.at[sub];
}

const struct rfn_cluster_parameter *
rfn_clustering_parameter(const struct rfn_clustering *clustering, uint32_t parameter)
{
    return &clustering->found.at[parameter];
}
