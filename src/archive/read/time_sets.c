#include "archive/read/time_sets.h"

#include "archive/read/payload_reader.h"
#include "base/grow.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

int64_t rfn_time_set_table_find(const struct rfn_chunks *chunks, uint32_t time_set)
{
    return rfn_chunks_find_range(chunks, RFN_CHUNK_PROFILES, time_set);
}

/* What it says of a time set, and where that lies. */
struct rfn_time_set_place {
    uint32_t time_set;
    uint32_t rest, rest_size, lists, lists_size;
    uint32_t guide; /* so many before this one; 0: none */
};

static const char malformed[] = "its list of time sets is malformed";

const char *rfn_time_set_table_read(struct rfn_time_set_table *profiles, const uint32_t *time_sets,
                                    uint32_t n, struct rfn_payload *payload)
{
    *profiles = (struct rfn_time_set_table){.payload = *payload, .n = n};
    payload->data = NULL;
    const size_t size = profiles->payload.size;
    struct rfn_reader reader = rfn_reader_over(profiles->payload.data, size);
    if (size > RFN_PROFILES_BYTES_MAX)
        return "it is too large";
    if (n > size)
        return malformed;
    struct rfn_time_set_place *places = profiles->places = calloc((size_t)n + 1, sizeof *places);
    if (!places)
        return rfn_out_of_memory;
    if (rfn_reader_varint(&reader) != n || reader.failed)
        return "it has not as many time sets as its id says";
    for (uint32_t i = 0; i < n; i++) {
        places[i].time_set = time_sets[i];
        places[i].rest_size = (uint32_t)rfn_reader_limited(&reader, size);
        places[i].lists_size = (uint32_t)rfn_reader_limited(&reader, size);
        places[i].guide = (uint32_t)rfn_reader_limited(&reader, i);
    }
    uint64_t at = reader.at;
    for (uint32_t i = 0; i < n; at += places[i++].rest_size)
        places[i].rest = (uint32_t)at;
    for (uint32_t i = 0; i < n; at += places[i++].lists_size)
        places[i].lists = (uint32_t)at;
    return reader.failed || at != size ? malformed : NULL;
}

void rfn_time_set_table_release(struct rfn_time_set_table *profiles)
{
    rfn_payload_release(&profiles->payload);
    free(profiles->places);
    *profiles = (struct rfn_time_set_table){0};
}

/* ---- taking one out ---- */

/* Copies what the place says behind each other; the copy is to be released. */
static const char *copy(const struct rfn_payload *from, const struct rfn_time_set_place *place,
                        bool rest, struct rfn_payload *to)
{
    size_t rest_size = rest ? place->rest_size : 0;
    *to = *from;
    to->size = rest_size + place->lists_size;
    to->data = malloc(to->size ? to->size : 1);
    if (!to->data)
        return rfn_out_of_memory;
    memcpy(to->data, from->data + place->rest, rest_size);
    memcpy(to->data + rest_size, from->data + place->lists, place->lists_size);
    return NULL;
}

/* All columns there are, to the end. */
static const char *find_columns(struct rfn_guide *guide)
{
    struct rfn_payload_reader scan;
    size_t capacity = 0;
    rfn_payload_reader_begin(&scan, &guide->payload);
    do {
        if (RFN_GROW(guide->columns, capacity, guide->n + (size_t)1) < 0)
            return rfn_out_of_memory;
        guide->columns[guide->n] = rfn_payload_reader_at(&scan);
        if (!rfn_payload_reader_left(&scan))
            return NULL;
        rfn_payload_reader_column(&scan);
        guide->n++;
    } while (!rfn_payload_reader_failed(&scan));
    return rfn_payload_reader_fault(&scan, "its lists are malformed");
}

const char *rfn_time_set_table_take(const struct rfn_time_set_table *profiles, uint32_t time_set,
                                    struct rfn_payload *payload, struct rfn_guides *guides)
{
    const struct rfn_time_set_place *place = profiles->places;
    place += rfn_last_at_most(place, sizeof *place, profiles->n, time_set);
    *guides = (struct rfn_guides){0};
    *payload = profiles->payload;
    payload->data = NULL;
    if (profiles->n == 0 || place->time_set != time_set)
        return malformed;
    const char *fault = copy(&profiles->payload, place, true, payload);
    while (place->guide && !fault) {
        if (guides->n == RFN_GUIDES_MAX)
            return "too many lists guide each other";
        place -= place->guide;
        struct rfn_guide *guide = &guides->guides[guides->n++];
        fault = copy(&profiles->payload, place, false, &guide->payload);
        if (!fault)
            fault = find_columns(guide);
    }
    return fault;
}

void rfn_guides_release(struct rfn_guides *guides)
{
    for (unsigned i = 0; i < guides->n; i++) {
        rfn_payload_release(&guides->guides[i].payload);
        free(guides->guides[i].columns);
    }
    *guides = (struct rfn_guides){0};
}
