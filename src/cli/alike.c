/* Main clusters with the same call paths get one number; ranks are sorted by it and by their
 * numbers of partners, and cut into kinds. */
#include "cli/alike.h"

#include <stdlib.h>
#include <string.h>

/* More different numbers of partners tell nothing: a grid in three dimensions has four. */
enum { NUMBERS_MAX = 4 };

/* A main cluster. */
struct cluster {
    uint64_t *calls; /* ascending, each once */
    size_t n_calls;
    uint32_t number;
};

struct member {
    const struct cluster *cluster;
    size_t paths;                       /* what the cluster's call paths are, as a number */
    uint32_t rank, sends_to, gets_from; /* gets_from: 0 where ranks are missing */
};

struct work {
    const struct rfn_profile *profile;
    struct cluster *clusters;
    const struct cluster **sorted;
    size_t *paths; /* of a cluster, by its number */
    uint32_t *sends_to, *gets_from;
    struct member *members;
    size_t n_clusters, n_members;
};

/* ---- call paths ---- */

static int compare_calls(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Several threads of a rank may make a call. */
static void list_calls(struct cluster *cluster, const struct rfn_main_cluster *main)
{
    for (uint32_t i = 0; i < main->n_paths; i++) {
        const uint32_t *path = main->paths + 2 * (size_t)i;
        cluster->calls[i] = (uint64_t)path[0] << 32 | path[1];
    }
    qsort(cluster->calls, main->n_paths, sizeof *cluster->calls, compare_calls);
    for (uint32_t i = 0; i < main->n_paths; i++) {
        if (!cluster->n_calls || cluster->calls[cluster->n_calls - 1] != cluster->calls[i])
            cluster->calls[cluster->n_calls++] = cluster->calls[i];
    }
}

static int compare_paths(const void *a, const void *b)
{
    const struct cluster *x = *(const struct cluster *const *)a;
    const struct cluster *y = *(const struct cluster *const *)b;
    if (x->n_calls != y->n_calls)
        return x->n_calls < y->n_calls ? -1 : 1;
    return x->n_calls ? memcmp(x->calls, y->calls, x->n_calls * sizeof *x->calls) : 0;
}

static void number_paths(struct work *work, const struct rfn_clustering *clustering,
                         uint64_t *calls)
{
    for (uint32_t i = 0; i < work->n_clusters; i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        work->clusters[i] = (struct cluster){.calls = calls, .number = i};
        work->sorted[i] = &work->clusters[i];
        list_calls(&work->clusters[i], main);
        calls += main->n_paths;
    }
    qsort(work->sorted, work->n_clusters, sizeof *work->sorted, compare_paths);
    for (size_t i = 0, number = 0; i < work->n_clusters; i++) {
        number += i && compare_paths(&work->sorted[i - 1], &work->sorted[i]) != 0;
        work->paths[work->sorted[i]->number] = number;
    }
}

/* ---- ranks ---- */

static void add_member(struct work *work, const struct cluster *cluster, uint32_t rank)
{
    if (rank >= work->profile->n_ranks || work->n_members >= work->profile->n_ranks)
        return;
    work->members[work->n_members++] = (struct member){cluster, work->paths[cluster->number], rank,
                                                       work->sends_to[rank], work->gets_from[rank]};
}

/* The ranks of a block, from one of its dimensions on. */
static void add_block(struct work *work, const struct cluster *cluster,
                      const struct rfn_rank_block *block, uint32_t dimension, uint32_t start)
{
    if (dimension == block->n_dimensions) {
        add_member(work, cluster, start);
        return;
    }
    for (uint32_t i = 0; i < block->dimensions[dimension].count; i++)
        add_block(work, cluster, block, dimension + 1,
                  start + i * block->dimensions[dimension].stride);
}

static void list_members(struct work *work, const struct rfn_clustering *clustering)
{
    for (size_t i = 0; i < work->profile->n_pairs; i++) {
        const struct rfn_pair *pair = &work->profile->pairs[i];
        if (pair->source >= work->profile->n_ranks || pair->dest >= work->profile->n_ranks)
            continue;
        work->sends_to[pair->source]++;
        work->gets_from[pair->dest]++;
    }
    for (uint32_t i = 0; i < work->n_clusters; i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        for (uint32_t k = 0; k < main->n_blocks; k++)
            add_block(work, &work->clusters[i], &main->blocks[k], 0, main->blocks[k].start);
    }
    for (size_t i = 0; work->n_members < work->profile->n_ranks && i < work->n_members; i++)
        work->members[i].gets_from = 0;
}

static bool same_number(const struct member *a, const struct member *b)
{
    return a->paths == b->paths && a->sends_to == b->sends_to && a->gets_from == b->gets_from;
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->paths != y->paths)
        return x->paths < y->paths ? -1 : 1;
    if (x->sends_to != y->sends_to)
        return x->sends_to < y->sends_to ? -1 : 1;
    if (x->gets_from != y->gets_from)
        return x->gets_from < y->gets_from ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int compare_ranks(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* ---- kinds ---- */

static void widen(struct rfn_alike_range *range, uint64_t value, bool first)
{
    if (first || value < range->least)
        range->least = value;
    if (first || value > range->most)
        range->most = value;
}

static void add_rank(struct rfn_alike_kind *kind, const struct member *member,
                     const struct work *work)
{
    const struct rfn_profile_rank *rank = &work->profile->ranks[member->rank];
    bool first = kind->n_ranks == 0;
    widen(&kind->sends_to, member->sends_to, first);
    widen(&kind->gets_from, work->gets_from[member->rank], first);
    widen(&kind->messages, rank->messages, first);
    kind->sent_bytes += rank->sent_bytes;
    kind->collective_bytes += rank->collective_bytes;
    kind->mpi_ns += rank->mpi_ns;
    kind->outside_ns += rfn_profile_outside_ns(rank);
    kind->n_ranks++;
}

static uint32_t count_orders(const struct member *members, size_t n, bool *seen)
{
    uint32_t orders = 0;
    for (size_t i = 0; i < n; i++) {
        bool *mark = &seen[members[i].cluster->number];
        orders += !*mark;
        *mark = true;
    }
    for (size_t i = 0; i < n; i++)
        seen[members[i].cluster->number] = false;
    return orders;
}

/* members: n of one kind, by rank. */
static void add_kind(struct rfn_alike *alike, const struct work *work, const struct member *members,
                     size_t n, bool *seen)
{
    struct rfn_alike_kind *kind = &alike->kinds[alike->n++];
    uint32_t *ranks = alike->ranks + alike->n_ranks;
    *kind = (struct rfn_alike_kind){.ranks = ranks,
                                    .orders = count_orders(members, n, seen),
                                    .calls = members->cluster->calls,
                                    .n_calls = members->cluster->n_calls};
    for (size_t i = 0; i < n; i++) {
        ranks[i] = members[i].rank;
        add_rank(kind, &members[i], work);
    }
    alike->n_ranks += kind->n_ranks;
}

/* The kinds of members that call the same paths. */
static void cut_kinds(struct rfn_alike *alike, const struct work *work, struct member *members,
                      size_t n, bool *seen)
{
    size_t numbers = 1;
    for (size_t i = 1; i < n; i++)
        numbers += !same_number(&members[i - 1], &members[i]);
    if (numbers > NUMBERS_MAX) {
        qsort(members, n, sizeof *members, compare_ranks);
        add_kind(alike, work, members, n, seen);
        return;
    }
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && same_number(&members[first], &members[end]); end++)
            continue;
        add_kind(alike, work, members + first, end - first, seen);
    }
}

static int compare_kinds(const void *a, const void *b)
{
    const struct rfn_alike_kind *x = a, *y = b;
    if (x->n_ranks != y->n_ranks)
        return x->n_ranks > y->n_ranks ? -1 : 1;
    return (x->ranks[0] > y->ranks[0]) - (x->ranks[0] < y->ranks[0]);
}

static void make_kinds(struct rfn_alike *alike, struct work *work, bool *seen)
{
    struct member *members = work->members;
    qsort(members, work->n_members, sizeof *members, compare_members);
    for (size_t first = 0, end; first < work->n_members; first = end) {
        for (end = first + 1; end < work->n_members && members[first].paths == members[end].paths;)
            end++;
        cut_kinds(alike, work, members + first, end - first, seen);
    }
    qsort(alike->kinds, alike->n, sizeof *alike->kinds, compare_kinds);
}

/* ---- the whole ---- */

static size_t count_calls(const struct rfn_clustering *clustering)
{
    size_t n = 0;
    for (uint32_t i = 0; i < rfn_clustering_mains(clustering); i++)
        n += rfn_clustering_main(clustering, i)->n_paths;
    return n;
}

int rfn_alike_init(struct rfn_alike *alike, const struct rfn_clustering *clustering,
                   const struct rfn_profile *profile)
{
    size_t n = rfn_clustering_mains(clustering), ranks = profile->n_ranks + (size_t)1;
    struct work work = {.profile = profile,
                        .clusters = calloc(n + 1, sizeof *work.clusters),
                        .sorted = calloc(n + 1, sizeof *work.sorted),
                        .paths = calloc(n + 1, sizeof *work.paths),
                        .sends_to = calloc(ranks, sizeof *work.sends_to),
                        .gets_from = calloc(ranks, sizeof *work.gets_from),
                        .members = calloc(ranks, sizeof *work.members),
                        .n_clusters = n};
    bool *seen = calloc(n + 1, sizeof *seen);
    *alike = (struct rfn_alike){.kinds = calloc(ranks, sizeof *alike->kinds),
                                .ranks = calloc(ranks, sizeof *alike->ranks),
                                .calls = calloc(count_calls(clustering) + 1, sizeof *alike->calls)};
    bool room = work.clusters && work.sorted && work.paths && work.sends_to && work.gets_from &&
                work.members && seen && alike->kinds && alike->ranks && alike->calls;
    if (room) {
        number_paths(&work, clustering, alike->calls);
        list_members(&work, clustering);
        make_kinds(alike, &work, seen);
    }
    free(work.clusters), free(work.sorted), free(work.paths), free(seen);
    free(work.sends_to), free(work.gets_from), free(work.members);
    return room ? 0 : RFN_E_NOMEM;
}

void rfn_alike_release(struct rfn_alike *alike)
{
    free(alike->kinds);
    free(alike->ranks);
    free(alike->calls);
}

size_t rfn_alike_only(const struct rfn_alike_kind *kind, const struct rfn_alike_kind *other,
                      uint64_t *calls, size_t most)
{
    size_t n = 0;
    for (size_t i = 0, k = 0; i < kind->n_calls; i++) {
        while (k < other->n_calls && other->calls[k] < kind->calls[i])
            k++;
        if (k < other->n_calls && other->calls[k] == kind->calls[i])
            continue;
        if (n < most)
            calls[n] = kind->calls[i];
        n++;
    }
    return n;
}
