/* rank_kinds.c - main clusters with the same call paths get one number; ranks are sorted by it and
 * by their numbers of partners, and cut into kinds. */
#include "refrain/explain.h"

#include <stdlib.h>

/* More different numbers of partners tell nothing: a grid in three dimensions has four. */
enum { NUMBERS_MAX = 4 };

/* A main cluster. */
struct cluster {
    struct rfn_call_site *calls; /* ascending, each once */
    size_t n_calls;
    size_t paths; /* which these are, as a number */
    bool seen;
};

struct member {
    struct cluster *cluster;
    uint32_t rank, sends_to, gets_from; /* gets_from: 0 where ranks are missing */
};

struct work {
    const struct rfn_profile *profile;
    struct cluster *clusters, **sorted;
    uint32_t *sends_to, *gets_from;
    struct member *members;
    size_t n_clusters, n_members;
};

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* ---- call paths ---- */

static int by_site(const void *left, const void *right)
{
    const struct rfn_call_site *a = left, *b = right;
    int order = compare(a->function, b->function);
    return order ? order : compare(a->path, b->path);
}

static int by_calls(const void *left, const void *right)
{
    const struct cluster *a = *(struct cluster *const *)left, *b = *(struct cluster *const *)right;
    int order = compare(a->n_calls, b->n_calls);
    return order || !a->n_calls ? order : memcmp(a->calls, b->calls, a->n_calls * sizeof *a->calls);
}

/* calls: room for those of all clusters. Several threads of a rank may make a call. */
static void number_paths(struct work *work, const struct rfn_clustering *clustering,
                         struct rfn_call_site *calls)
{
    for (uint32_t i = 0; i < work->n_clusters; i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        struct cluster *cluster = work->sorted[i] = &work->clusters[i];
        cluster->calls = calls;
        for (size_t k = 0; k < main->n_paths; k++)
            calls[k] = (struct rfn_call_site){main->paths[2 * k], main->paths[2 * k + 1]};
        qsort(calls, main->n_paths, sizeof *calls, by_site);
        for (uint32_t k = 0; k < main->n_paths; k++) {
            if (!k || by_site(&calls[cluster->n_calls - 1], &calls[k]) != 0)
                calls[cluster->n_calls++] = calls[k];
        }
        calls += main->n_paths;
    }
    qsort(work->sorted, work->n_clusters, sizeof *work->sorted, by_calls);
    for (size_t i = 1; i < work->n_clusters; i++)
        work->sorted[i]->paths = work->sorted[i - 1]->paths +
                                 (by_calls(&work->sorted[i - 1], &work->sorted[i]) != 0);
}

/* ---- ranks ---- */

/* The ranks of a block, from one of its dimensions on. */
static void add_block(struct work *work, struct cluster *cluster,
                      const struct rfn_rank_block *block, uint32_t dimension, uint32_t start)
{
    uint32_t n_ranks = work->profile->n_ranks;
    if (dimension < block->n_dimensions) {
        for (uint32_t i = 0; i < block->dimensions[dimension].count; i++)
            add_block(work, cluster, block, dimension + 1,
                      start + i * block->dimensions[dimension].stride);
    } else if (start < n_ranks && work->n_members < n_ranks) {
        work->members[work->n_members++] = (struct member){cluster, start, work->sends_to[start],
                                                           work->gets_from[start]};
    }
}

static void list_members(struct work *work, const struct rfn_clustering *clustering)
{
    const struct rfn_profile *profile = work->profile;
    for (size_t i = 0; i < profile->n_pairs; i++) {
        const struct rfn_pair *pair = &profile->pairs[i];
        if (pair->source >= profile->n_ranks || pair->dest >= profile->n_ranks)
            continue;
        work->sends_to[pair->source]++;
        work->gets_from[pair->dest]++;
    }
    for (uint32_t i = 0; i < work->n_clusters; i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        for (uint32_t k = 0; k < main->n_blocks; k++)
            add_block(work, &work->clusters[i], &main->blocks[k], 0, main->blocks[k].start);
    }
    for (size_t i = 0; work->n_members < profile->n_ranks && i < work->n_members; i++)
        work->members[i].gets_from = 0;
}

static int by_rank(const void *left, const void *right)
{
    return compare(((const struct member *)left)->rank, ((const struct member *)right)->rank);
}

static int by_numbers(const struct member *a, const struct member *b)
{
    int order = compare(a->cluster->paths, b->cluster->paths);
    order = order ? order : compare(a->sends_to, b->sends_to);
    return order ? order : compare(a->gets_from, b->gets_from);
}

static int by_kind(const void *left, const void *right)
{
    int order = by_numbers(left, right);
    return order ? order : by_rank(left, right);
}

/* ---- kinds ---- */

static void widen(struct rfn_range *range, uint64_t value, bool first)
{
    if (first || value < range->least)
        range->least = value;
    if (first || value > range->most)
        range->most = value;
}

/* members: n of one kind, by rank. */
static void add_kind(struct rfn_rank_kinds *kinds, const struct work *work,
                     const struct member *members, size_t n)
{
    struct rfn_rank_kind *kind = &kinds->kinds[kinds->n++];
    uint32_t *ranks = kinds->ranks + kinds->n_ranks;
    *kind = (struct rfn_rank_kind){.ranks = ranks,
                                   .n_ranks = (uint32_t)n,
                                   .calls = members->cluster->calls,
                                   .n_calls = members->cluster->n_calls};
    for (size_t i = 0; i < n; i++) {
        const struct rfn_profile_rank *rank = &work->profile->ranks[members[i].rank];
        ranks[i] = members[i].rank;
        widen(&kind->sends_to, members[i].sends_to, i == 0);
        widen(&kind->gets_from, work->gets_from[members[i].rank], i == 0);
        widen(&kind->messages, rank->messages, i == 0);
        kind->sent_bytes += rank->sent_bytes;
        kind->collective_bytes += rank->collective_bytes;
        kind->mpi_ns += rank->mpi_ns;
        kind->outside_ns += rfn_profile_outside_ns(rank);
        kind->orders += !members[i].cluster->seen;
        members[i].cluster->seen = true;
    }
    for (size_t i = 0; i < n; i++)
        members[i].cluster->seen = false;
    kinds->n_ranks += kind->n_ranks;
}

/* The kinds of members that call the same paths. */
static void cut_kinds(struct rfn_rank_kinds *kinds, const struct work *work, struct member *members,
                      size_t n)
{
    size_t numbers = 1;
    for (size_t i = 1; i < n; i++)
        numbers += by_numbers(&members[i - 1], &members[i]) != 0;
    if (numbers > NUMBERS_MAX)
        qsort(members, n, sizeof *members, by_rank);
    for (size_t first = 0, end = 0; first < n; first = end) {
        while (end < n &&
               (numbers > NUMBERS_MAX || by_numbers(&members[first], &members[end]) == 0))
            end++;
        add_kind(kinds, work, members + first, end - first);
    }
}

static int by_size(const void *left, const void *right)
{
    const struct rfn_rank_kind *a = left, *b = right;
    int order = compare(b->n_ranks, a->n_ranks);
    return order ? order : compare(a->ranks[0], b->ranks[0]);
}

static void make_kinds(struct rfn_rank_kinds *kinds, struct work *work)
{
    struct member *members = work->members;
    qsort(members, work->n_members, sizeof *members, by_kind);
    for (size_t first = 0, end = 0; first < work->n_members; first = end) {
        while (end < work->n_members &&
               members[end].cluster->paths == members[first].cluster->paths)
            end++;
        cut_kinds(kinds, work, members + first, end - first);
    }
    qsort(kinds->kinds, kinds->n, sizeof *kinds->kinds, by_size);
}

int rfn_rank_kinds_init(struct rfn_rank_kinds *kinds, const struct rfn_clustering *clustering,
                        const struct rfn_profile *profile)
{
    size_t n = rfn_clustering_mains(clustering), ranks = profile->n_ranks + (size_t)1, calls = 0;
    for (uint32_t i = 0; i < n; i++)
        calls += rfn_clustering_main(clustering, i)->n_paths;
    struct work work = {.profile = profile,
                        .clusters = calloc(n + 1, sizeof *work.clusters),
                        .sorted = calloc(n + 1, sizeof *work.sorted),
                        .sends_to = calloc(ranks, sizeof *work.sends_to),
                        .gets_from = calloc(ranks, sizeof *work.gets_from),
                        .members = calloc(ranks, sizeof *work.members),
                        .n_clusters = n};
    *kinds = (struct rfn_rank_kinds){.kinds = calloc(ranks, sizeof *kinds->kinds),
                                     .ranks = calloc(ranks, sizeof *kinds->ranks),
                                     .calls = calloc(calls + 1, sizeof *kinds->calls)};
    bool room = work.clusters && work.sorted && work.sends_to && work.gets_from && work.members &&
                kinds->kinds && kinds->ranks && kinds->calls;
    if (room) {
        number_paths(&work, clustering, kinds->calls);
        list_members(&work, clustering);
        make_kinds(kinds, &work);
    }
    free(work.clusters), free(work.sorted), free(work.sends_to), free(work.gets_from);
    free(work.members);
    return room ? 0 : RFN_E_NOMEM;
}

void rfn_rank_kinds_release(struct rfn_rank_kinds *kinds)
{
    free(kinds->kinds);
    free(kinds->ranks);
    free(kinds->calls);
}

size_t rfn_rank_kind_only(const struct rfn_rank_kind *kind, const struct rfn_rank_kind *other,
                          struct rfn_call_site *calls, size_t most)
{
    size_t n = 0;
    for (size_t i = 0, k = 0; i < kind->n_calls; i++) {
        while (k < other->n_calls && by_site(&other->calls[k], &kind->calls[i]) < 0)
            k++;
        if (k < other->n_calls && by_site(&other->calls[k], &kind->calls[i]) == 0)
            continue;
        if (n < most)
            calls[n] = kind->calls[i];
        n++;
    }
    return n;
}
