#include "reduce/clusters/clusters.h"

#include "base/grow.h"
#include "base/hash.h"
#include "base/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static void release_shape(struct rfn_cluster_shape *shape)
{
    for (size_t i = 0; i < shape->n_variants; i++) {
        rfn_rank_set_release(&shape->variants[i].ranks);
        free(shape->variants[i].differences);
    }
    free(shape->variants);
    free(shape->fields);
    free(shape->words);
    *shape = (struct rfn_cluster_shape){0};
}

void rfn_clusters_release(struct rfn_clusters *clusters)
{
    for (size_t i = 0; i < clusters->n; i++)
        release_shape(&clusters->shapes[i]);
    free(clusters->shapes);
    *clusters = (struct rfn_clusters){0};
}

static uint32_t lowest_of_variant(const struct rfn_cluster_variant *variant)
{
    return variant->ranks.blocks[0].start;
}

static uint32_t lowest_of_shape(const struct rfn_cluster_shape *shape)
{
    return lowest_of_variant(&shape->variants[0]);
}

static int compare_variants(const void *a, const void *b)
{
    uint32_t x = lowest_of_variant(a), y = lowest_of_variant(b);
    return (x > y) - (x < y);
}

static int compare_shapes(const void *a, const void *b)
{
    uint32_t x = lowest_of_shape(a), y = lowest_of_shape(b);
    return (x > y) - (x < y);
}

/* ---- one rank ---- */

static uint64_t hash_fields(const struct rfn_cluster_field *fields, size_t n)
{
    uint64_t hash = rfn_hash_bytes(&n, sizeof n);
    for (size_t i = 0; i < n; i++) {
        const uint64_t words[] = {hash, fields[i].path, fields[i].input, fields[i].role,
                                  fields[i].n_words};
        hash = rfn_hash_bytes(words, sizeof words);
    }
    return hash;
}

static bool fields_equal(const struct rfn_cluster_shape *a, const struct rfn_cluster_shape *b)
{
    bool equal = a->n_fields == b->n_fields;
    for (size_t i = 0; i < a->n_fields && equal; i++) {
        const struct rfn_cluster_field *x = &a->fields[i], *y = &b->fields[i];
        equal = x->path == y->path && x->input == y->input && x->role == y->role &&
                x->n_words == y->n_words;
    }
    return equal;
}

static int fill_shape(struct rfn_cluster_shape *shape, const struct rfn_cluster_member *member)
{
    size_t n_words = 0;
    for (size_t i = 0; i < member->n_fields; i++)
        n_words += member->fields[i].n_words;
    *shape = (struct rfn_cluster_shape){.signature = member->signature,
                                        .layout = hash_fields(member->fields, member->n_fields),
                                        .n_fields = member->n_fields,
                                        .n_words = n_words,
                                        .calls_least = member->calls,
                                        .calls_most = member->calls};
    shape->fields = calloc(member->n_fields + 1, sizeof *shape->fields);
    shape->words = calloc(n_words + 1, sizeof *shape->words);
    shape->variants = calloc(1, sizeof *shape->variants);
    if (!shape->fields || !shape->words || !shape->variants)
        return RFN_E_NOMEM;
    if (member->n_fields)
        memcpy(shape->fields, member->fields, member->n_fields * sizeof *shape->fields);
    if (n_words)
        memcpy(shape->words, member->words, n_words * sizeof *shape->words);
    shape->n_variants = shape->capacity = 1;
    return rfn_rank_set_assign(&shape->variants[0].ranks, &member->rank, 1);
}

int rfn_clusters_begin(struct rfn_clusters *clusters, const struct rfn_cluster_member *member)
{
    RFN_TRY(RFN_GROW(clusters->shapes, clusters->capacity, 1));
    int error = fill_shape(&clusters->shapes[0], member);
    if (error < 0)
        release_shape(&clusters->shapes[0]);
    else
        clusters->n = 1;
    return error;
}

/* ---- differences ---- */

struct differences {
    struct rfn_cluster_difference *at;
    size_t n, capacity;
};

static int add_difference(struct differences *to, uint32_t slot, int64_t value)
{
    RFN_TRY(RFN_GROW(to->at, to->capacity, to->n + 1));
    to->at[to->n++] = (struct rfn_cluster_difference){slot, value};
    return 0;
}

/* A variant's differences from other words: where its own shape's words differ from those
 * (`moved`), or it differs from its own shape's. */
static int rebase(struct rfn_cluster_variant *variant, const struct differences *moved,
                  const int64_t *words)
{
    struct differences now = {0};
    size_t a = 0, b = 0;
    int error = 0;
    while ((a < moved->n || b < variant->n_differences) && !error) {
        const struct rfn_cluster_difference *shape = a < moved->n ? &moved->at[a] : NULL;
        const struct rfn_cluster_difference *own = b < variant->n_differences
                                                       ? &variant->differences[b]
                                                       : NULL;
        uint32_t slot = !own || (shape && shape->slot < own->slot) ? shape->slot : own->slot;
        bool is_own = own && own->slot == slot;
        a += shape && shape->slot == slot;
        b += is_own;
        int64_t value = is_own ? own->value : shape->value;
        if (value != words[slot])
            error = add_difference(&now, slot, value);
    }
    if (error < 0) {
        free(now.at);
        return error;
    }
    free(variant->differences);
    variant->differences = now.at;
    variant->n_differences = now.n;
    return 0;
}

static uint64_t hash_differences(const struct rfn_cluster_variant *variant)
{
    uint64_t hash = variant->n_differences;
    for (size_t i = 0; i < variant->n_differences; i++) {
        hash = rfn_hash_mix(hash, variant->differences[i].slot);
        hash = rfn_hash_mix(hash, (uint64_t)variant->differences[i].value);
    }
    return hash;
}

static bool differences_equal(const struct rfn_cluster_variant *a,
                              const struct rfn_cluster_variant *b)
{
    bool equal = a->n_differences == b->n_differences;
    for (size_t i = 0; i < a->n_differences && equal; i++)
        equal = a->differences[i].slot == b->differences[i].slot &&
                a->differences[i].value == b->differences[i].value;
    return equal;
}

/* ---- merging ---- */

/* Where a variant with these differences is, or would be put: equal hashes of unequal differences
 * go on to the next key. */
static void find_variant(const struct rfn_cluster_shape *shape, struct rfn_map *by_hash,
                         const struct rfn_cluster_variant *variant, uint64_t *key, uint64_t **found)
{
    for (*key = hash_differences(variant);; ++*key) {
        *found = rfn_map_get(by_hash, *key);
        if (!*found || differences_equal(&shape->variants[**found], variant))
            return;
    }
}

static int join_variant(struct rfn_cluster_shape *shape, struct rfn_map *by_hash,
                        struct rfn_cluster_variant *variant)
{
    uint64_t key, *found;
    find_variant(shape, by_hash, variant, &key, &found);
    if (found)
        return rfn_rank_set_unite(&shape->variants[*found].ranks, &variant->ranks);
    RFN_TRY(RFN_GROW(shape->variants, shape->capacity, shape->n_variants + 1));
    RFN_TRY(rfn_map_put(by_hash, key, shape->n_variants));
    shape->variants[shape->n_variants++] = *variant;
    *variant = (struct rfn_cluster_variant){0};
    return 0;
}

static int join_variants(struct rfn_cluster_shape *shape, struct rfn_cluster_shape *other,
                         struct rfn_map *by_hash)
{
    struct differences moved = {0}; /* the slots in which the lowest ranks differ */
    int error = 0;
    for (uint32_t i = 0; i < other->n_words && !error; i++) {
        if (other->words[i] != shape->words[i])
            error = add_difference(&moved, i, other->words[i]);
    }
    for (size_t i = 0; i < shape->n_variants && !error; i++) {
        uint64_t key, *found;
        find_variant(shape, by_hash, &shape->variants[i], &key, &found);
        error = rfn_map_put(by_hash, key, i);
    }
    for (size_t i = 0; i < other->n_variants && !error; i++) {
        error = rebase(&other->variants[i], &moved, shape->words);
        if (!error)
            error = join_variant(shape, by_hash, &other->variants[i]);
    }
    free(moved.at);
    return error;
}

static int join_shape(struct rfn_cluster_shape *shape, struct rfn_cluster_shape *other)
{
    struct rfn_map by_hash = RFN_MAP_INIT;
    if (!fields_equal(shape, other))
        return RFN_E_CORRUPT; /* two lists of fields with one hash */
    if (lowest_of_shape(other) < lowest_of_shape(shape)) {
        const struct rfn_cluster_shape swapped = *shape;
        *shape = *other;
        *other = swapped;
    }
    int error = join_variants(shape, other, &by_hash);
    rfn_map_release(&by_hash);
    if (other->calls_least < shape->calls_least)
        shape->calls_least = other->calls_least;
    if (other->calls_most > shape->calls_most)
        shape->calls_most = other->calls_most;
    if (!error)
        qsort(shape->variants, shape->n_variants, sizeof *shape->variants, compare_variants);
    return error;
}

static uint64_t shape_key(const struct rfn_cluster_shape *shape)
{
    return rfn_hash_mix(shape->signature, shape->layout);
}

static int merge_shapes(struct rfn_clusters *clusters, struct rfn_clusters *other,
                        struct rfn_map *by_key)
{
    RFN_TRY(RFN_GROW(clusters->shapes, clusters->capacity, clusters->n + other->n));
    for (size_t i = 0; i < clusters->n; i++)
        RFN_TRY(rfn_map_put(by_key, shape_key(&clusters->shapes[i]), i));
    for (size_t i = 0; i < other->n; i++) {
        struct rfn_cluster_shape *shape = &other->shapes[i];
        const uint64_t *known = rfn_map_get(by_key, shape_key(shape));
        if (known) {
            RFN_TRY(join_shape(&clusters->shapes[*known], shape));
        } else {
            clusters->shapes[clusters->n++] = *shape;
            *shape = (struct rfn_cluster_shape){0};
        }
    }
    return 0;
}

int rfn_clusters_merge(struct rfn_clusters *clusters, struct rfn_clusters *other)
{
    struct rfn_map by_key = RFN_MAP_INIT;
    int error = merge_shapes(clusters, other, &by_key);
    rfn_map_release(&by_key);
    RFN_TRY(error);
    if (clusters->n)
        qsort(clusters->shapes, clusters->n, sizeof *clusters->shapes, compare_shapes);
    rfn_clusters_release(other);
    return 0;
}

/* ---- as bytes ---- */

static void write_shape(const struct rfn_cluster_shape *shape, struct rfn_buf *out)
{
    rfn_buf_u64(out, shape->signature);
    rfn_buf_varint(out, shape->calls_least);
    rfn_buf_varint(out, shape->calls_most - shape->calls_least);
    rfn_buf_varint(out, shape->n_fields);
    for (size_t i = 0; i < shape->n_fields; i++) {
        rfn_buf_u64(out, shape->fields[i].path);
        rfn_buf_varint(out, shape->fields[i].input);
        rfn_buf_varint(out, shape->fields[i].role);
        rfn_buf_varint(out, shape->fields[i].n_words);
    }
    for (size_t i = 0; i < shape->n_words; i++)
        rfn_buf_svarint(out, shape->words[i]);
    rfn_buf_varint(out, shape->n_variants);
    for (size_t i = 0; i < shape->n_variants; i++) {
        const struct rfn_cluster_variant *variant = &shape->variants[i];
        uint32_t last = 0;
        rfn_rank_set_write(&variant->ranks, out);
        rfn_buf_varint(out, variant->n_differences);
        for (size_t k = 0; k < variant->n_differences; k++) {
            rfn_buf_varint(out, variant->differences[k].slot - last);
            rfn_buf_svarint(out, variant->differences[k].value);
            last = variant->differences[k].slot;
        }
    }
}

void rfn_clusters_write(const struct rfn_clusters *clusters, struct rfn_buf *out)
{
    rfn_buf_varint(out, clusters->n);
    for (size_t i = 0; i < clusters->n; i++)
        write_shape(&clusters->shapes[i], out);
}

static int read_fields(struct rfn_cluster_shape *shape, struct rfn_reader *reader)
{
    uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
    uint64_t most = rfn_reader_left(reader), n_words = 0;
    shape->fields = calloc(n + 1, sizeof *shape->fields);
    if (!shape->fields)
        return RFN_E_NOMEM;
    for (uint64_t i = 0; i < n && !reader->failed; i++) {
        shape->fields[i].path = rfn_reader_u64(reader);
        shape->fields[i].input = (uint32_t)rfn_reader_limited(reader, UINT32_MAX);
        shape->fields[i].role = (uint32_t)rfn_reader_limited(reader, RFN_ROLE_SIGNATURE);
        shape->fields[i].n_words = (uint32_t)rfn_reader_limited(reader, most - n_words);
        n_words += shape->fields[i].n_words;
    }
    if (reader->failed || n_words > rfn_reader_left(reader) || n_words > UINT32_MAX)
        return RFN_E_CORRUPT;
    shape->n_fields = n;
    shape->n_words = n_words;
    shape->layout = hash_fields(shape->fields, n);
    return 0;
}

/* Slots ascend, and each word differs from the shape's. */
static int read_variant(const struct rfn_cluster_shape *shape, struct rfn_cluster_variant *variant,
                        struct rfn_reader *reader, uint32_t n_ranks)
{
    RFN_TRY(rfn_rank_set_read(&variant->ranks, reader, n_ranks));
    uint64_t n = rfn_reader_limited(reader, shape->n_words), slot = 0;
    if (n > rfn_reader_left(reader))
        return RFN_E_CORRUPT;
    variant->differences = calloc(n + 1, sizeof *variant->differences);
    if (!variant->differences)
        return RFN_E_NOMEM;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t step = rfn_reader_limited(reader, shape->n_words - 1 - slot);
        slot += step;
        int64_t value = rfn_reader_svarint(reader);
        if (reader->failed || (i && !step) || value == shape->words[slot])
            return RFN_E_CORRUPT;
        variant->differences[i] = (struct rfn_cluster_difference){(uint32_t)slot, value};
    }
    variant->n_differences = n;
    return reader->failed ? RFN_E_CORRUPT : 0;
}

static int read_shape(struct rfn_cluster_shape *shape, struct rfn_reader *reader, uint32_t n_ranks)
{
    shape->signature = rfn_reader_u64(reader);
    shape->calls_least = rfn_reader_varint(reader);
    shape->calls_most = shape->calls_least + rfn_reader_varint(reader);
    RFN_TRY(read_fields(shape, reader));
    shape->words = calloc(shape->n_words + 1, sizeof *shape->words);
    if (!shape->words)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < shape->n_words; i++)
        shape->words[i] = rfn_reader_svarint(reader);
    uint64_t n = rfn_reader_limited(reader, n_ranks);
    if (reader->failed || n == 0 || n > rfn_reader_left(reader))
        return RFN_E_CORRUPT;
    shape->variants = calloc(n, sizeof *shape->variants);
    if (!shape->variants)
        return RFN_E_NOMEM;
    shape->capacity = n;
    for (uint64_t i = 0; i < n; i++) {
        shape->n_variants++;
        RFN_TRY(read_variant(shape, &shape->variants[i], reader, n_ranks));
        if (i ? lowest_of_variant(&shape->variants[i]) <= lowest_of_variant(&shape->variants[i - 1])
              : shape->variants[0].n_differences > 0)
            return RFN_E_CORRUPT;
    }
    return 0;
}

int rfn_clusters_read(struct rfn_clusters *clusters, struct rfn_reader *reader, uint32_t n_ranks)
{
    uint64_t n = rfn_reader_limited(reader, n_ranks);
    if (reader->failed || n > rfn_reader_left(reader))
        return RFN_E_CORRUPT;
    clusters->shapes = calloc(n + 1, sizeof *clusters->shapes);
    if (!clusters->shapes)
        return RFN_E_NOMEM;
    clusters->capacity = n + 1;
    for (uint64_t i = 0; i < n; i++) {
        clusters->n++;
        RFN_TRY(read_shape(&clusters->shapes[i], reader, n_ranks));
        if (i && lowest_of_shape(&clusters->shapes[i]) <= lowest_of_shape(&clusters->shapes[i - 1]))
            return RFN_E_CORRUPT;
    }
    return 0;
}

/* ---- dividing ---- */

int64_t rfn_variant_word(const struct rfn_cluster_shape *shape,
                         const struct rfn_cluster_variant *variant, uint32_t slot)
{
    size_t low = 0, high = variant->n_differences;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (variant->differences[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    bool differs = low < variant->n_differences && variant->differences[low].slot == slot;
    return differs ? variant->differences[low].value : shape->words[slot];
}

int rfn_shape_differing(const struct rfn_cluster_shape *shape, uint32_t **slots, size_t *n)
{
    bool *differ = calloc(shape->n_words + 1, sizeof *differ);
    *slots = calloc(shape->n_words + 1, sizeof **slots);
    *n = 0;
    for (size_t i = 0; i < shape->n_variants && differ; i++) {
        const struct rfn_cluster_variant *variant = &shape->variants[i];
        for (size_t k = 0; k < variant->n_differences; k++)
            differ[variant->differences[k].slot] = true;
    }
    for (uint32_t i = 0; i < shape->n_words && differ && *slots; i++) {
        if (differ[i])
            (*slots)[(*n)++] = i;
    }
    bool failed = !differ || !*slots;
    free(differ);
    if (failed) {
        free(*slots);
        *slots = NULL;
    }
    return failed ? RFN_E_NOMEM : 0;
}

const struct rfn_cluster_field *rfn_shape_field(const struct rfn_cluster_shape *shape,
                                                uint32_t slot, uint32_t *first)
{
    size_t i = 0;
    *first = 0;
    while (slot - *first >= shape->fields[i].n_words)
        *first += shape->fields[i++].n_words;
    return &shape->fields[i];
}

/* What dividing needs of a shape's slots. */
struct division {
    const struct rfn_cluster_shape *shape;
    double tolerance;
    const bool *ignored; /* may be NULL */
    bool *count;         /* slots of counts */
    uint32_t *lowest;    /* per sub-cluster, its first variant */
    uint32_t *same;      /* per sub-cluster, the one before of which all but counts are equal */
    uint32_t n;
};

static bool slot_ignored(const struct division *division, uint32_t slot)
{
    return division->ignored && division->ignored[slot];
}

/* Whether a variant's counts are near to a sub-cluster's lowest rank's. */
static bool counts_near(const struct division *division, const struct rfn_cluster_variant *lowest,
                        const struct rfn_cluster_variant *variant)
{
    const struct rfn_cluster_variant *both[2] = {lowest, variant};
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < both[i]->n_differences; k++) {
            uint32_t slot = both[i]->differences[k].slot;
            if (!division->count[slot] || slot_ignored(division, slot))
                continue;
            double least = (double)rfn_variant_word(division->shape, lowest, slot),
                   value = (double)rfn_variant_word(division->shape, variant, slot);
            if (fabs(value - least) > division->tolerance * fabs(least))
                return false;
        }
    }
    return true;
}

/* Of the differences that must be equal. */
static uint64_t hash_exact(const struct division *division,
                           const struct rfn_cluster_variant *variant)
{
    struct rfn_hash128 hash = {0, 0};
    for (size_t i = 0; i < variant->n_differences; i++) {
        const struct rfn_cluster_difference *at = &variant->differences[i];
        if (division->count[at->slot] || slot_ignored(division, at->slot))
            continue;
        const uint64_t words[] = {hash.low, hash.high, at->slot, (uint64_t)at->value};
        hash = rfn_hash128_bytes(words, sizeof words);
    }
    return hash.low ^ hash.high;
}

static int find_group(struct division *division, struct rfn_map *groups,
                      const struct rfn_cluster_variant *variant, uint32_t number, uint32_t *group)
{
    uint64_t key = hash_exact(division, variant);
    const uint64_t *first = rfn_map_get(groups, key);
    uint32_t last = UINT32_MAX;
    for (uint32_t at = first ? (uint32_t)*first : UINT32_MAX; at != UINT32_MAX;
         at = division->same[at]) {
        if (counts_near(division, &division->shape->variants[division->lowest[at]], variant)) {
            *group = at;
            return 0;
        }
        last = at;
    }
    *group = division->n++;
    division->lowest[*group] = number;
    division->same[*group] = UINT32_MAX;
    if (last == UINT32_MAX)
        return rfn_map_put(groups, key, *group);
    division->same[last] = *group;
    return 0;
}

int64_t rfn_shape_divide(const struct rfn_cluster_shape *shape, double tolerance,
                         const bool *ignored, uint32_t *groups)
{
    struct division division = {.shape = shape, .tolerance = tolerance, .ignored = ignored};
    struct rfn_map by_key = RFN_MAP_INIT;
    division.count = calloc(shape->n_words + 1, sizeof *division.count);
    division.lowest = calloc(shape->n_variants, sizeof *division.lowest);
    division.same = calloc(shape->n_variants, sizeof *division.same);
    int error = division.count && division.lowest && division.same ? 0 : RFN_E_NOMEM;
    for (size_t i = 0, slot = 0; i < shape->n_fields && !error; i++) {
        for (uint32_t k = 0; k < shape->fields[i].n_words; k++)
            division.count[slot++] = shape->fields[i].role == RFN_ROLE_COUNT;
    }
    for (uint32_t i = 0; i < shape->n_variants && !error; i++)
        error = find_group(&division, &by_key, &shape->variants[i], i, &groups[i]);
    rfn_map_release(&by_key);
    free(division.count);
    free(division.lowest);
    free(division.same);
    return error < 0 ? error : (int64_t)division.n;
}
