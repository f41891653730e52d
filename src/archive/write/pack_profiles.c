#include "archive/write/pack_profiles.h"

#include "archive/container.h"
#include "archive/read/time_sets.h"
#include "base/grow.h"

#include <assert.h>
#include <stdlib.h>

enum {
    SETS_MAX = 64, /* of a chunk: who reads one time set loads them all */
    BYTES_ENOUGH = 1 << 16,
    CANDIDATES = 16, /* time sets before, that are tried as guides */
    SAMPLE = 512     /* values of the longest list, for that */
};

struct rfn_gathered_set {
    struct rfn_buf rest, packed; /* of its PROFILE; packed: the lists */
    struct rfn_column *lists;
    size_t n, capacity;
    size_t longest;   /* number of a list */
    uint32_t sampled; /* values of it */
    int64_t *sample;
    uint32_t guide; /* so many before; 0: none */
    unsigned depth; /* guides that its guides have in all, and its own */
    int error;
};

/* ---- copies ---- */

static void copy_list(struct rfn_gathered_set *set, const struct rfn_column *list)
{
    struct rfn_column_cursor cursor;
    int64_t value;
    if (!set->error)
        set->error = RFN_GROW(set->lists, set->capacity, set->n + 1);
    if (set->error)
        return;
    struct rfn_column *copy = &set->lists[set->n];
    rfn_column_init(copy);
    if (list) {
        rfn_column_open_growing(&cursor, list);
        while (!set->error && rfn_column_at(&cursor) < list->n) {
            set->error = rfn_column_next(&cursor, &value);
            if (!set->error)
                set->error = rfn_column_append(copy, value);
        }
        rfn_column_close(&cursor);
    }
    if (copy->n > set->lists[set->longest].n)
        set->longest = set->n;
    set->n++;
}

/* Nothing is coded where segments come from an archive. */
static void copy_list_of(void *context, const struct rfn_execution_columns *columns)
{
    assert(!columns || !columns->representative.coded.n);
    copy_list(context, columns ? &columns->representative.rest : NULL);
}

static int take_sample(struct rfn_gathered_set *set)
{
    if (set->n == 0)
        return 0;
    const struct rfn_column *list = &set->lists[set->longest];
    struct rfn_column_cursor cursor;
    uint32_t n = list->n < SAMPLE ? (uint32_t)list->n : SAMPLE;
    set->sample = malloc((n + (size_t)1) * sizeof *set->sample);
    if (!set->sample)
        return RFN_E_NOMEM;
    int error = 0;
    rfn_column_open_growing(&cursor, list);
    while (!error && set->sampled < n)
        error = rfn_column_next(&cursor, &set->sample[set->sampled++]);
    rfn_column_close(&cursor);
    return error;
}

/* ---- guides ---- */

/* What the sample takes with this guide; NULL: without. */
static int sample_size(const struct rfn_gathered_set *set, const int64_t *guide,
                       struct rfn_coder_memory *memory, size_t *size)
{
    struct rfn_buf out = RFN_BUF_INIT;
    int error = rfn_column_adaptive_encode(set->sample, guide, set->sampled, memory, &out);
    *size = out.size;
    rfn_buf_release(&out);
    return error;
}

/* Of the sets before it the one that tells most. The set is the last one. */
static int choose_guide(struct rfn_gathered *gathered, struct rfn_gathered_set *set)
{
    enum { FEW = 16 };
    size_t least, size;
    if (set->sampled < FEW)
        return 0;
    RFN_TRY(sample_size(set, NULL, &gathered->coder, &least));
    for (uint32_t i = 1; i <= CANDIDATES && i < gathered->n; i++) {
        const struct rfn_gathered_set *guide = set - i;
        if (guide->depth >= RFN_GUIDES_MAX || guide->longest != set->longest ||
            guide->sampled != set->sampled ||
            guide->lists[guide->longest].n != set->lists[set->longest].n)
            continue;
        RFN_TRY(sample_size(set, guide->sample, &gathered->coder, &size));
        if (size < least) {
            least = size;
            set->guide = i;
        }
    }
    if (set->guide)
        set->depth = (set - set->guide)->depth + 1;
    return 0;
}

/* ---- gathering ---- */

static int append_bytes(void *context, const uint8_t *bytes, size_t size)
{
    struct rfn_buf *out = context;
    rfn_buf_bytes(out, bytes, size);
    return rfn_buf_status(out);
}

/* A new set, which is empty; NULL: out of memory. */
static struct rfn_gathered_set *new_set(struct rfn_gathered *gathered, uint32_t time_set)
{
    if (RFN_GROW(gathered->sets, gathered->capacity, gathered->n + 1) < 0)
        return NULL;
    struct rfn_gathered_set *set = &gathered->sets[gathered->n++];
    *set = (struct rfn_gathered_set){.rest = RFN_BUF_INIT, .packed = RFN_BUF_INIT};
    gathered->first = gathered->n == 1 ? time_set : gathered->first;
    gathered->end = time_set + 1;
    return set;
}

/* Its lists are there. */
static int end_set(struct rfn_gathered *gathered, struct rfn_gathered_set *set)
{
    RFN_TRY(set->error);
    RFN_TRY(take_sample(set));
    RFN_TRY(choose_guide(gathered, set));
    const struct rfn_gathered_set *guide = set->guide ? set - set->guide : NULL;
    for (size_t i = 0; i < set->n; i++) {
        const struct rfn_column *other = guide && i < guide->n ? &guide->lists[i] : NULL;
        RFN_TRY(rfn_list_pack(NULL, &set->lists[i], other, &gathered->coder, &set->packed));
    }
    gathered->bytes += set->rest.size + set->packed.size;
    return 0;
}

int rfn_gathered_add(struct rfn_gathered *gathered, uint32_t time_set,
                     const struct rfn_stream_profile *profile, const struct rfn_new_times *times,
                     const struct rfn_profile_shape *shape, const struct rfn_pack_clock *clock)
{
    struct rfn_gathered_set *set = new_set(gathered, time_set);
    if (!set)
        return RFN_E_NOMEM;
    struct rfn_rope rest = RFN_ROPE_INIT;
    int error = rfn_pack_profile_rest(profile, times, shape, clock, &gathered->coder, &rest);
    if (!error)
        error = rfn_rope_each(&rest, append_bytes, &set->rest);
    rfn_rope_release(&rest);
    RFN_TRY(error);
    rfn_profile_lists(profile, shape, copy_list_of, set);
    return end_set(gathered, set);
}

int rfn_gathered_add_packed(struct rfn_gathered *gathered, uint32_t time_set, const uint8_t *rest,
                            size_t size, const struct rfn_column *lists, size_t n)
{
    struct rfn_gathered_set *set = new_set(gathered, time_set);
    if (!set)
        return RFN_E_NOMEM;
    rfn_buf_bytes(&set->rest, rest, size);
    RFN_TRY(rfn_buf_status(&set->rest));
    for (size_t i = 0; i < n; i++)
        copy_list(set, &lists[i]);
    return end_set(gathered, set);
}

/* So that what others have gathered, and this, is less than RFN_PROFILES_BYTES_MAX: numbers take 10
 * bytes at most, and an event that is kept 6 of them. */
bool rfn_gathered_small(const struct rfn_stream_profile *profile)
{
    enum { SEGMENTS_MAX = 1 << 18, EVENTS_MAX = 1 << 16 };
    struct rfn_stream_profile_stats stats = rfn_stream_profile_stats(profile);
    return stats.executions <= SEGMENTS_MAX && stats.kept_events <= EVENTS_MAX;
}

bool rfn_gathered_enough(const struct rfn_gathered *gathered)
{
    return gathered->n >= SETS_MAX || gathered->bytes >= BYTES_ENOUGH;
}

/* ---- the chunk ---- */

int rfn_gathered_pack(struct rfn_gathered *gathered, uint32_t *type, uint64_t *id,
                      struct rfn_rope *payload)
{
    bool single = gathered->n == 1;
    *type = single ? RFN_CHUNK_PROFILE : RFN_CHUNK_PROFILES;
    *id = single ? gathered->first : rfn_time_set_table_id(gathered->first, gathered->end);
    if (!single)
        rfn_buf_varint(&payload->bytes, gathered->n);
    for (size_t i = 0; i < gathered->n && !single; i++) {
        const struct rfn_gathered_set *set = &gathered->sets[i];
        rfn_buf_varint(&payload->bytes, set->rest.size);
        rfn_buf_varint(&payload->bytes, set->packed.size);
        rfn_buf_varint(&payload->bytes, set->guide);
    }
    for (size_t i = 0; i < gathered->n; i++)
        rfn_buf_bytes(&payload->bytes, gathered->sets[i].rest.data, gathered->sets[i].rest.size);
    for (size_t i = 0; i < gathered->n; i++)
        rfn_buf_bytes(&payload->bytes, gathered->sets[i].packed.data,
                      gathered->sets[i].packed.size);
    rfn_gathered_release(gathered);
    return rfn_rope_status(payload);
}

void rfn_gathered_release(struct rfn_gathered *gathered)
{
    for (size_t i = 0; i < gathered->n; i++) {
        struct rfn_gathered_set *set = &gathered->sets[i];
        rfn_buf_release(&set->rest);
        rfn_buf_release(&set->packed);
        for (size_t k = 0; k < set->n; k++)
            rfn_column_release(&set->lists[k]);
        free(set->lists);
        free(set->sample);
    }
    free(gathered->sets);
    rfn_coder_memory_release(&gathered->coder);
    *gathered = (struct rfn_gathered){0};
}
