#include "reduce/merge/profile_copy.h"

#include "base/grow.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t difference(int64_t later, int64_t earlier)
{
    return (int64_t)((uint64_t)later - (uint64_t)earlier);
}

/* ---- making ---- */

enum { REPRESENTATIVES, LATENESS, COUNTS, PACES, GAPS, DURATIONS, COLUMNS };

struct making {
    struct rfn_column columns[COLUMNS];
    struct rfn_map numbers; /* of representatives, by context and number there */
    int64_t first, predicted;
};

static int add_representative(struct making *making, const struct rfn_executed *executed)
{
    const int64_t *vector = executed->vector;
    size_t n = executed->n;
    RFN_TRY(rfn_column_append(&making->columns[COUNTS], (int64_t)n));
    RFN_TRY(
        rfn_column_append(&making->columns[PACES], difference(executed->pace, vector[2 * n + 1])));
    for (size_t i = 0; i < n; i++, vector += 2) {
        RFN_TRY(rfn_column_append(&making->columns[GAPS], difference(vector[1], vector[0])));
        RFN_TRY(rfn_column_append(&making->columns[DURATIONS], difference(vector[2], vector[1])));
    }
    return 0;
}

/* Which representative it is, added if it is new. */
static int find_representative(struct making *making, const struct rfn_executed *executed,
                               int64_t *number)
{
    bool new = executed->top || executed->first;
    uint64_t key = (uint64_t)executed->context << 32 | executed->number;
    if (!new) {
        *number = (int64_t)*rfn_map_get(&making->numbers, key);
        return 0;
    }
    *number = (int64_t)making->columns[COUNTS].n;
    RFN_TRY(add_representative(making, executed));
    return executed->loose ? 0 : rfn_map_put(&making->numbers, key, (uint64_t)*number);
}

/* 1, or 0 if it is sure to take too much. */
static int add_segments(struct making *making, struct rfn_profile_walk *walk, size_t max_bytes)
{
    struct rfn_executed executed;
    int more;
    while ((more = rfn_profile_walk_next(walk, &executed)) > 0) {
        int64_t number;
        RFN_TRY(find_representative(making, &executed, &number));
        if (making->columns[REPRESENTATIVES].n == 0)
            making->first = making->predicted = executed.start;
        RFN_TRY(rfn_column_append(&making->columns[REPRESENTATIVES], number));
        RFN_TRY(rfn_column_append(&making->columns[LATENESS],
                                  difference(executed.start, making->predicted)));
        making->predicted = sum(executed.start, executed.pace);
        /* What is not coded yet does not count. Opened, an event takes 16 bytes, however few they
         * are here. */
        size_t bytes = 0;
        for (int i = 0; i < COLUMNS; i++)
            bytes += rfn_column_sealed_bytes(&making->columns[i]);
        if (max_bytes && (bytes > max_bytes || making->columns[GAPS].n > max_bytes / 4))
            return 0;
    }
    return more < 0 ? more : 1;
}

static void write_double(struct rfn_buf *out, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    rfn_buf_u64(out, bits);
}

static int write_copy(const struct making *making, const struct rfn_time_line *line,
                      size_t max_bytes, struct rfn_buf *out)
{
    size_t before = out->size;
    rfn_buf_u64(out, (uint64_t)making->first);
    rfn_buf_u64(out, line->from);
    write_double(out, line->at_ns);
    write_double(out, line->ns_per_quantum);
    for (int i = 0; i < COLUMNS; i++)
        rfn_column_write(&making->columns[i], out);
    RFN_TRY(rfn_buf_status(out));
    if (!max_bytes || out->size - before <= max_bytes)
        return 1;
    out->size = before;
    return 0;
}

int rfn_profile_copy_make(const struct rfn_stream_profile *profile,
                          const struct rfn_time_line *line, size_t max_bytes, struct rfn_buf *out)
{
    struct making making = {.numbers = RFN_MAP_INIT};
    struct rfn_profile_walk *walk = rfn_profile_walk_new(profile);
    for (int i = 0; i < COLUMNS; i++)
        rfn_column_init(&making.columns[i]);
    int made = walk ? add_segments(&making, walk, max_bytes) : RFN_E_NOMEM;
    if (made > 0)
        made = write_copy(&making, line, max_bytes, out);
    for (int i = 0; i < COLUMNS; i++)
        rfn_column_release(&making.columns[i]);
    rfn_map_release(&making.numbers);
    rfn_profile_walk_free(walk);
    return made;
}

/* ---- opening ---- */

struct representative {
    size_t n, at; /* events; where its vector begins */
    int64_t pace; /* quanta */
};

struct rfn_profile_copy {
    struct rfn_time_line line;
    int64_t first;
    const struct rfn_buf *bytes;
    size_t columns; /* where those of segments begin */
    struct representative *representatives;
    size_t n, capacity;
    int64_t *vectors; /* nanoseconds */
    size_t n_vectors, vectors_capacity;
    double *elements; /* of a transformed vector */
    size_t elements_capacity;
    /* Of the walk. */
    struct rfn_column_cursor number, lateness;
    int64_t predicted;
};

static double read_double(struct rfn_reader *reader)
{
    uint64_t bits = rfn_reader_u64(reader);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static int64_t in_ns(const struct rfn_time_line *line, int64_t quanta)
{
    double rate = line->ns_per_quantum;
    return rate == 1 ? quanta : (int64_t)((double)quanta * rate + 0.5);
}

static int read_representative(struct rfn_profile_copy *copy, struct rfn_column_cursor *from)
{
    int64_t n, more, gap, duration, at = 0;
    RFN_TRY(rfn_column_next(&from[COUNTS], &n));
    RFN_TRY(rfn_column_next(&from[PACES], &more));
    if (n < 0 || (uint64_t)n > from[GAPS].n)
        return RFN_E_EXCHANGE;
    RFN_TRY(RFN_GROW(copy->representatives, copy->capacity, copy->n + 1));
    RFN_TRY(RFN_GROW(copy->vectors, copy->vectors_capacity, copy->n_vectors + 2 * (size_t)n + 2));
    int64_t *vector = copy->vectors + copy->n_vectors;
    *vector++ = 0;
    for (int64_t i = 0; i < n; i++) {
        RFN_TRY(rfn_column_next(&from[GAPS], &gap));
        RFN_TRY(rfn_column_next(&from[DURATIONS], &duration));
        at = sum(at, gap);
        *vector++ = in_ns(&copy->line, at);
        at = sum(at, duration);
        *vector++ = in_ns(&copy->line, at);
    }
    *vector = in_ns(&copy->line, at);
    copy->representatives[copy->n++] = (struct representative){
        .n = (size_t)n, .at = copy->n_vectors, .pace = sum(at, more)};
    copy->n_vectors += 2 * (size_t)n + 2;
    return 0;
}

static int read_copy(struct rfn_profile_copy *copy)
{
    struct rfn_reader reader = rfn_reader_over(copy->bytes->data, copy->bytes->size);
    struct rfn_column_cursor columns[COLUMNS] = {{0}};
    int error = 0;
    copy->first = (int64_t)rfn_reader_u64(&reader);
    copy->line.from = rfn_reader_u64(&reader);
    copy->line.at_ns = read_double(&reader);
    copy->line.ns_per_quantum = read_double(&reader);
    copy->columns = reader.at;
    for (int i = 0; i < COLUMNS && !error; i++)
        error = rfn_column_open(&columns[i], &reader);
    for (uint64_t i = 0; i < columns[COUNTS].n && !error; i++)
        error = read_representative(copy, columns);
    for (int i = 0; i < COLUMNS; i++)
        rfn_column_close(&columns[i]);
    return error;
}

/* What columns say of bytes that are none. */
static int malformed(int error)
{
    return error == RFN_E_CORRUPT || error == RFN_E_RANGE ? RFN_E_EXCHANGE : error;
}

int rfn_profile_copy_open(const struct rfn_buf *bytes, struct rfn_profile_copy **copy)
{
    struct rfn_profile_copy *opened = calloc(1, sizeof *opened);
    *copy = NULL;
    if (!opened)
        return RFN_E_NOMEM;
    opened->bytes = bytes;
    int error = malformed(read_copy(opened));
    if (error < 0)
        rfn_profile_copy_close(opened);
    else
        *copy = opened;
    return error;
}

void rfn_profile_copy_close(struct rfn_profile_copy *copy)
{
    if (!copy)
        return;
    rfn_column_close(&copy->number);
    rfn_column_close(&copy->lateness);
    free(copy->representatives);
    free(copy->vectors);
    free(copy->elements);
    free(copy);
}

/* ---- walking ---- */

static int walk_begin(struct rfn_profile_copy *copy)
{
    struct rfn_reader reader = rfn_reader_over(copy->bytes->data, copy->bytes->size);
    reader.at = copy->columns;
    rfn_column_close(&copy->number);
    rfn_column_close(&copy->lateness);
    copy->predicted = copy->first;
    RFN_TRY(rfn_column_open(&copy->number, &reader));
    return rfn_column_open(&copy->lateness, &reader);
}

static bool walk_ended(const struct rfn_profile_copy *copy)
{
    return rfn_column_at(&copy->number) == copy->number.n;
}

static int walk_next(struct rfn_profile_copy *copy, uint32_t *number, double *start_ns)
{
    int64_t next, late;
    RFN_TRY(rfn_column_next(&copy->number, &next));
    RFN_TRY(rfn_column_next(&copy->lateness, &late));
    if (next < 0 || (uint64_t)next >= copy->n || next > UINT32_MAX)
        return RFN_E_EXCHANGE;
    const struct rfn_time_line *line = &copy->line;
    int64_t start = sum(copy->predicted, late);
    *number = (uint32_t)next;
    *start_ns = line->at_ns + (double)difference(start, (int64_t)line->from) * line->ns_per_quantum;
    copy->predicted = sum(start, copy->representatives[next].pace);
    return 0;
}

/* ---- comparing ---- */

/* Two representatives: whether they are similar, and what is allowed for the starts. */
struct pair {
    bool similar;
    double allowed;
};

struct comparison {
    const struct rfn_criterion *criterion;
    struct rfn_profile_copy *left, *right;
    struct rfn_map known; /* pairs by their numbers */
    struct pair *pairs;
    size_t n_pairs, pairs_capacity;
    uint64_t last; /* key of the last one, and where it is */
    size_t last_at;
};

/* Transforms a representative's vector to the copy's elements. */
static int transform(const struct rfn_similarity *method, struct rfn_profile_copy *copy,
                     uint32_t number, struct rfn_wave *wave)
{
    const struct representative *of = &copy->representatives[number];
    size_t n = 2 * of->n + 2;
    RFN_TRY(RFN_GROW(copy->elements, copy->elements_capacity, rfn_similarity_length(method, n)));
    wave->largest = rfn_similarity_transform(method, copy->vectors + of->at, n, copy->elements);
    wave->elements = copy->elements;
    return 0;
}

static int measure_pair(struct comparison *comparison, uint32_t left, uint32_t right,
                        struct pair *pair)
{
    const struct rfn_criterion *criterion = comparison->criterion;
    size_t n = comparison->left->representatives[left].n;
    struct rfn_wave a, b;
    *pair = (struct pair){0};
    if (comparison->right->representatives[right].n != n)
        return 0;
    RFN_TRY(transform(criterion->method, comparison->left, left, &a));
    RFN_TRY(transform(criterion->method, comparison->right, right, &b));
    pair->similar = rfn_similar(criterion, &a, &b,
                                rfn_similarity_length(criterion->method, 2 * n + 2));
    pair->allowed = rfn_criterion_allowed(criterion, rfn_larger(a.largest, b.largest));
    return 0;
}

/* What is known of a pair; each is compared once. */
static int find_pair(struct comparison *comparison, uint32_t left, uint32_t right)
{
    uint64_t key = (uint64_t)left << 32 | right;
    if (comparison->n_pairs && key == comparison->last)
        return 0;
    const uint64_t *known = rfn_map_get(&comparison->known, key);
    size_t n = comparison->n_pairs;
    comparison->last = key;
    comparison->last_at = known ? *known : n;
    if (known)
        return 0;
    RFN_TRY(RFN_GROW(comparison->pairs, comparison->pairs_capacity, n + 1));
    RFN_TRY(measure_pair(comparison, left, right, &comparison->pairs[n]));
    comparison->n_pairs++;
    return rfn_map_put(&comparison->known, key, n);
}

/* 1: all executions are alike, and there are as many; 0; or an error. */
static int same_executions(struct comparison *comparison)
{
    const struct rfn_similarity *method = comparison->criterion->method;
    struct rfn_profile_copy *a = comparison->left, *b = comparison->right;
    RFN_TRY(walk_begin(a));
    RFN_TRY(walk_begin(b));
    while (!walk_ended(a) && !walk_ended(b)) {
        uint32_t left, right;
        double left_start, right_start;
        RFN_TRY(walk_next(a, &left, &left_start));
        RFN_TRY(walk_next(b, &right, &right_start));
        RFN_TRY(find_pair(comparison, left, right));
        const struct pair *pair = &comparison->pairs[comparison->last_at];
        if (!pair->similar || !(method->difference(left_start, right_start) <= pair->allowed))
            return 0;
    }
    return walk_ended(a) && walk_ended(b);
}

int rfn_profile_copies_alike(const struct rfn_criterion *criterion, struct rfn_profile_copy *left,
                             struct rfn_profile_copy *right)
{
    struct comparison comparison = {.criterion = criterion, .left = left, .right = right};
    int same = malformed(same_executions(&comparison));
    rfn_map_release(&comparison.known);
    free(comparison.pairs);
    return same;
}
