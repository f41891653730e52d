/* A tree is an array of its numbers, `order`, cut in two again and again until at most LEAF are
 * left, which ascend. Nodes lie in the order of a walk: the left half's node follows its parent. A
 * node knows the coordinate in which its vectors differ most and, of each half, the edge in that
 * coordinate that faces the other half, the lowest number, and the most that a vector's largest
 * element allows. It is cut near the median, but where the coordinate changes, if it does between
 * the quartiles: equal elements on both sides would make searches take both.
 *
 * A search walks down with the sum (or maximum) of `shares`: per coordinate, the difference between
 * the searched vector and the nearest edge of the subtree it is in. Along a path the edges of a
 * coordinate only come nearer to each other, so shares only grow on the way down. */
#include "reduce/segments/vector_index.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF = 8, TAIL = 16 };

/* Bounds are sums in another order than distances, so that both are rounded differently. */
static const double margin = 1 + 1e-9;

struct half {
    double edge, allowed;
    uint32_t lowest;
};

struct node {
    size_t coordinate;
    uint32_t left;  /* numbers in the left half */
    uint32_t right; /* the right half's node, if it has one */
    struct half halves[2];
};

struct rfn_index_tree {
    uint32_t first, n; /* numbers */
    uint32_t *order;
    struct node *nodes;
};

/* A leaf has at least 3 numbers: n is above LEAF before it is cut, beyond the quartiles never. */
static size_t nodes_max(uint32_t n)
{
    return n / 3;
}

void rfn_vector_index_init(struct rfn_vector_index *index, size_t length)
{
    *index = (struct rfn_vector_index){.length = length, .last = RFN_INDEX_NONE};
}

static void release_tree(struct rfn_index_tree *tree)
{
    free(tree->order);
    free(tree->nodes);
}

void rfn_vector_index_release(struct rfn_vector_index *index)
{
    for (size_t i = 0; i < index->n_trees; i++)
        release_tree(&index->trees[i]);
    free(index->trees);
    free(index->elements);
    free(index->largest);
    free(index->allowed);
    free(index->shares);
    rfn_vector_index_init(index, index->length);
}

static const double *elements_of(const struct rfn_vector_index *index, uint32_t number)
{
    return index->elements + number * index->length;
}

struct rfn_wave rfn_vector_index_vector(const struct rfn_vector_index *index, uint32_t number)
{
    return (struct rfn_wave){elements_of(index, number), index->largest[number]};
}

size_t rfn_vector_index_bytes(const struct rfn_vector_index *index)
{
    size_t bytes = index->capacity * sizeof *index->elements +
                   index->largest_capacity * sizeof *index->largest +
                   index->allowed_capacity * sizeof *index->allowed +
                   index->trees_capacity * sizeof *index->trees +
                   (index->shares ? index->length * sizeof *index->shares : 0);
    for (size_t i = 0; i < index->n_trees; i++) {
        const struct rfn_index_tree *tree = &index->trees[i];
        bytes += tree->n * sizeof *tree->order + nodes_max(tree->n) * sizeof *tree->nodes;
    }
    return bytes;
}

/* ---- building ---- */

struct sorted {
    double element;
    uint32_t number;
};

struct builder {
    const struct rfn_vector_index *index;
    const struct rfn_similarity *method;
    struct node *nodes;
    uint32_t n_nodes;
    struct sorted *sorted; /* room for all numbers of the tree */
};

static int by_element(const void *a, const void *b)
{
    const struct sorted *first = a, *second = b;
    if (first->element != second->element)
        return first->element < second->element ? -1 : 1;
    return first->number < second->number ? -1 : first->number > second->number;
}

static int by_number(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return first < second ? -1 : first > second;
}

/* The coordinate in which the vectors differ most. */
static size_t widest(const struct builder *builder, const uint32_t *order, uint32_t n)
{
    size_t best = 0;
    double spread = -1;
    for (size_t i = 0; i < builder->index->length; i++) {
        double low = elements_of(builder->index, order[0])[i], high = low;
        for (uint32_t j = 1; j < n; j++) {
            double element = elements_of(builder->index, order[j])[i];
            low = element < low ? element : low;
            high = element > high ? element : high;
        }
        double difference = builder->method->difference(low, high);
        if (difference > spread) {
            spread = difference;
            best = i;
        }
    }
    return best;
}

static struct half describe(const struct builder *builder, const uint32_t *order, uint32_t n,
                            double edge)
{
    struct half half = {
        .edge = edge, .lowest = order[0], .allowed = builder->index->allowed[order[0]]};
    for (uint32_t i = 1; i < n; i++) {
        half.lowest = order[i] < half.lowest ? order[i] : half.lowest;
        half.allowed = rfn_larger(half.allowed, builder->index->allowed[order[i]]);
    }
    return half;
}

/* Where to cut n sorted numbers. */
static uint32_t cut(const struct sorted *sorted, uint32_t n)
{
    for (uint32_t i = 0; i < n / 4; i++) {
        uint32_t below = n / 2 - i, above = n / 2 + i;
        if (sorted[below - 1].element < sorted[below].element)
            return below;
        if (sorted[above - 1].element < sorted[above].element)
            return above;
    }
    return n / 2;
}

static void build(struct builder *builder, uint32_t *order, uint32_t n)
{
    if (n <= LEAF) {
        qsort(order, n, sizeof *order, by_number);
        return;
    }
    struct node *node = &builder->nodes[builder->n_nodes++];
    struct sorted *sorted = builder->sorted;
    size_t coordinate = node->coordinate = widest(builder, order, n);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = (struct sorted){elements_of(builder->index, order[i])[coordinate], order[i]};
    qsort(sorted, n, sizeof *sorted, by_element);
    for (uint32_t i = 0; i < n; i++)
        order[i] = sorted[i].number;
    uint32_t left = node->left = cut(sorted, n);
    double below = sorted[left - 1].element, above = sorted[left].element;
    node->halves[0] = describe(builder, order, left, below);
    node->halves[1] = describe(builder, order + left, n - left, above);
    build(builder, order, left);
    node->right = builder->n_nodes;
    build(builder, order + left, n - left);
}

/* A tree over these numbers. RFN_E_NOMEM. */
static int plant(const struct rfn_vector_index *index, const struct rfn_similarity *method,
                 uint32_t first, uint32_t n, struct rfn_index_tree *tree)
{
    *tree = (struct rfn_index_tree){.first = first,
                                    .n = n,
                                    .order = malloc(n * sizeof *tree->order),
                                    .nodes = calloc(nodes_max(n), sizeof *tree->nodes)};
    struct builder builder = {index, method, tree->nodes, 0, malloc(n * sizeof *builder.sorted)};
    if (!tree->order || !tree->nodes || !builder.sorted) {
        free(builder.sorted);
        release_tree(tree);
        return RFN_E_NOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        tree->order[i] = first + i;
    build(&builder, tree->order, n);
    free(builder.sorted);
    return 0;
}

/* The newest TAIL vectors become a tree, together with all last trees that are as large as what is
 * before them. */
static int carry(struct rfn_vector_index *index, const struct rfn_similarity *method)
{
    struct rfn_index_tree tree;
    uint32_t n = TAIL;
    size_t kept = index->n_trees;
    while (kept > 0 && index->trees[kept - 1].n == n) {
        n *= 2;
        kept--;
    }
    RFN_TRY(RFN_GROW(index->trees, index->trees_capacity, kept + 1));
    RFN_TRY(plant(index, method, index->n - n, n, &tree));
    for (size_t i = kept; i < index->n_trees; i++)
        release_tree(&index->trees[i]);
    index->trees[kept] = tree;
    index->n_trees = kept + 1;
    index->n_in_trees = index->n;
    return 0;
}

int rfn_vector_index_add(struct rfn_vector_index *index, const struct rfn_criterion *criterion,
                         const struct rfn_wave *vector)
{
    size_t n = index->n;
    if (!index->shares && !(index->shares = calloc(index->length, sizeof *index->shares)))
        return RFN_E_NOMEM;
    RFN_TRY(RFN_GROW(index->elements, index->capacity, (n + 1) * index->length));
    RFN_TRY(RFN_GROW(index->largest, index->largest_capacity, n + 1));
    RFN_TRY(RFN_GROW(index->allowed, index->allowed_capacity, n + 1));
    memcpy(index->elements + n * index->length, vector->elements,
           index->length * sizeof *index->elements);
    index->largest[n] = vector->largest;
    index->allowed[n] = rfn_criterion_allowed(criterion, vector->largest);
    index->n++;
    int error = index->n - index->n_in_trees == TAIL ? carry(index, criterion->method) : 0;
    if (error < 0)
        index->n--;
    return error;
}

/* ---- searching ---- */

struct search {
    struct rfn_vector_index *index;
    const struct rfn_similarity *method;
    const struct rfn_wave *vector;
    double allowed; /* for the vector's own largest element */
    double limit;   /* the same, and a margin */
    const struct rfn_index_tree *tree;
    uint32_t found; /* the lowest match so far */
};

static struct search new_search(struct rfn_vector_index *index,
                                const struct rfn_criterion *criterion,
                                const struct rfn_wave *vector)
{
    double allowed = rfn_criterion_allowed(criterion, vector->largest);
    return (struct search){.index = index,
                           .method = criterion->method,
                           .vector = vector,
                           .allowed = allowed,
                           .limit = allowed * margin,
                           .found = RFN_INDEX_NONE};
}

/* As rfn_similar: what is allowed does not fall when the largest element grows, so it is the larger
 * one of what both vectors allow. */
static inline bool matches(const struct search *search, uint32_t number)
{
    struct rfn_vector_index *index = search->index;
    index->comparisons++;
    return search->method->near(search->vector->elements, elements_of(index, number), index->length,
                                rfn_larger(search->allowed, index->allowed[number]));
}

/* What the bound of a half becomes. An edge is the highest (side 0) or the lowest of its half. The
 * vector may be within the half, or nearer to this edge than to one farther up: then the bound
 * stays as it is. *share: of this coordinate; *now: what it becomes. */
static inline double bound_of(const struct search *search, const struct half *half, int side,
                              double element, double bound, double before, double *now)
{
    *now = before;
    if (side == 0 ? element <= half->edge : element >= half->edge)
        return bound;
    *now = rfn_larger(search->method->difference(element, half->edge), before);
    return search->method->added ? bound - before + *now : rfn_larger(bound, *now);
}

/* The node `at`, over n > LEAF numbers, of all of which is the bound. The half where the vector
 * would lie comes first. */
static void search_node(struct search *search, size_t at, const uint32_t *order, uint32_t n,
                        double bound)
{
    const struct node *node = &search->tree->nodes[at];
    double *share = &search->index->shares[node->coordinate], before = *share;
    double element = search->vector->elements[node->coordinate];
    int side = element > node->halves[0].edge;
    search->index->visits++;
    for (int i = 0; i < 2; i++, side ^= 1) {
        const struct half *half = &node->halves[side];
        if (half->lowest >= search->found)
            continue;
        double below = bound_of(search, half, side, element, bound, before, share);
        const uint32_t *first = side ? order + node->left : order;
        uint32_t left = side ? n - node->left : node->left;
        if (below > search->limit && below > half->allowed * margin)
            continue;
        if (left > LEAF) {
            search_node(search, side ? node->right : at + 1, first, left, below);
            continue;
        }
        search->index->visits++;
        for (uint32_t k = 0; k < left && first[k] < search->found; k++) { /* they ascend */
            if (matches(search, first[k]))
                search->found = first[k];
        }
    }
    *share = before;
}

/* Those from this number on that are below what was found. */
static void search_in_order(struct search *search, uint32_t from)
{
    for (uint32_t i = from; i < search->index->n && i < search->found; i++) {
        if (matches(search, i))
            search->found = i;
    }
}

uint32_t rfn_vector_index_find(struct rfn_vector_index *index,
                               const struct rfn_criterion *criterion, const struct rfn_wave *vector)
{
    struct search search = new_search(index, criterion, vector);
    /* If it is the last one again, only lower numbers are to be searched. */
    if (index->last != RFN_INDEX_NONE && matches(&search, index->last))
        search.found = index->last;
    for (size_t i = 0; i < index->n_trees && search.found >= index->trees[i].first; i++) {
        search.tree = &index->trees[i];
        search_node(&search, 0, search.tree->order, search.tree->n, 0);
    }
    search_in_order(&search, index->n_in_trees);
    index->last = search.found;
    return search.found;
}

uint32_t rfn_vector_index_find_in_order(struct rfn_vector_index *index,
                                        const struct rfn_criterion *criterion,
                                        const struct rfn_wave *vector)
{
    struct search search = new_search(index, criterion, vector);
    search_in_order(&search, 0);
    return search.found;
}
