#include "archive/read/cluster_index.h"

#include "base/grow.h"
#include "base/search.h"

#include <stdlib.h>

static const char malformed[] = "its list of shapes is malformed";

/* The columns lie behind all shapes, from `at` on. Malformed ones are a fault only for those who
 * ask for values. */
static const char *find_columns(struct rfn_cluster_index *shapes, size_t at)
{
    struct rfn_reader reader = rfn_reader_over(shapes->payload.data, shapes->payload.size);
    size_t capacity = 0, size;
    for (reader.at = at; !reader.failed; shapes->n_columns++) {
        if (RFN_GROW(shapes->columns, capacity, shapes->n_columns + (size_t)1) < 0)
            return rfn_out_of_memory;
        shapes->columns[shapes->n_columns] = (uint32_t)reader.at;
        if (!rfn_reader_left(&reader))
            return NULL;
        rfn_reader_varint(&reader); /* its length */
        rfn_reader_blob(&reader, &size);
    }
    shapes->columns_failed = true;
    return NULL;
}

/* The directory is read twice: where it ends the first shape begins. */
static const char *read_directory(struct rfn_cluster_index *shapes, uint32_t n_groups)
{
    const uint64_t size = shapes->payload.size;
    struct rfn_reader reader = rfn_reader_over(shapes->payload.data, shapes->payload.size);
    uint32_t group = (uint32_t)(shapes->payload.id >> 32), end = (uint32_t)shapes->payload.id;
    if (group >= end || end > n_groups)
        return malformed;
    rfn_reader_varint(&reader); /* what the chunks took that it stands for */
    uint64_t n_shapes = rfn_reader_limited(&reader, end - group);
    if (n_shapes > rfn_reader_left(&reader) / 4)
        return malformed;
    shapes->places = calloc((size_t)n_shapes + 1, sizeof *shapes->places);
    if (!shapes->places)
        return rfn_out_of_memory;
    struct rfn_reader ahead = reader;
    for (uint64_t i = 0; i < 4 * n_shapes && !ahead.failed; i++)
        rfn_reader_varint(&ahead);
    uint32_t at = (uint32_t)(ahead.failed ? ahead.size : ahead.at);
    for (; shapes->n < n_shapes; shapes->n++) {
        uint64_t sizes[3], n = rfn_reader_limited(&reader, end - group);
        for (int i = 0; i < 3; i++)
            sizes[i] = rfn_reader_limited(&reader, size);
        if (reader.failed || n == 0 || sizes[0] + sizes[1] + sizes[2] > size - at)
            return malformed;
        struct rfn_shape_place *place = &shapes->places[shapes->n];
        place->first = group;
        place->numbers = at;
        place->rank_params = place->numbers + (uint32_t)sizes[0];
        place->values = place->rank_params + (uint32_t)sizes[1];
        at = place->values + (uint32_t)sizes[2];
        group += (uint32_t)n;
    }
    if (reader.failed || group != end)
        return malformed;
    shapes->places[shapes->n] = (struct rfn_shape_place){.first = end, .numbers = at};
    return find_columns(shapes, at);
}

const char *rfn_cluster_index_read(struct rfn_cluster_index *shapes, uint32_t n_groups,
                                   struct rfn_payload *payload)
{
    *shapes = (struct rfn_cluster_index){.payload = *payload};
    payload->data = NULL;
    return shapes->payload.size > RFN_CLUSTERS_BYTES_MAX ? "it is too large"
                                                         : read_directory(shapes, n_groups);
}

void rfn_cluster_index_release(struct rfn_cluster_index *shapes)
{
    rfn_payload_release(&shapes->payload);
    free(shapes->places);
    free(shapes->columns);
    *shapes = (struct rfn_cluster_index){0};
}

const struct rfn_shape_place *rfn_cluster_index_find(const struct rfn_cluster_index *shapes,
                                                     uint32_t group)
{
    const struct rfn_shape_place *places = shapes->places;
    return &places[rfn_last_at_most(places, sizeof *places, shapes->n, group)];
}
