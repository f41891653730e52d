#include "archive/profiles.h"

#include "archive/scan.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

int64_t rfn_profiles_find(const struct rfn_chunks *chunks, uint32_t time_set)
{
    return rfn_chunks_find_range(chunks, RFN_CHUNK_PROFILES, time_set);
}

/* ---- the directory ---- */

/* What it says of a time set, and where that lies. */
struct place {
    size_t rest, rest_size, lists, lists_size;
    uint64_t guide; /* so many before this one; 0: none */
};

static const char malformed[] = "its list of time sets is malformed";

static const char *read_directory(const struct rfn_payload *payload, uint32_t n_sets,
                                  struct place *places)
{
    struct rfn_reader reader = rfn_reader_over(payload->data, payload->size);
    if (rfn_reader_varint(&reader) != n_sets || reader.failed)
        return "it has not as many time sets as its id says";
    for (uint32_t i = 0; i < n_sets; i++) {
        places[i].rest_size = (size_t)rfn_reader_limited(&reader, payload->size);
        places[i].lists_size = (size_t)rfn_reader_limited(&reader, payload->size);
        places[i].guide = rfn_reader_limited(&reader, i);
    }
    size_t at = reader.at;
    for (uint32_t i = 0; i < n_sets; at += places[i++].rest_size)
        places[i].rest = at;
    for (uint32_t i = 0; i < n_sets; at += places[i++].lists_size)
        places[i].lists = at;
    return reader.failed || at != payload->size ? malformed : NULL;
}

/* ---- taking one out ---- */

/* Copies what the place says behind each other; the copy is to be released. */
static const char *copy(const struct rfn_payload *from, const struct place *place, bool rest,
                        struct rfn_payload *to)
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
    struct rfn_scan scan;
    size_t capacity = 0;
    rfn_scan_begin(&scan, &guide->payload);
    do {
        if (RFN_GROW(guide->columns, capacity, guide->n + (size_t)1) < 0)
            return rfn_out_of_memory;
        guide->columns[guide->n] = rfn_scan_at(&scan);
        if (!rfn_scan_left(&scan))
            return NULL;
        rfn_scan_column(&scan);
        guide->n++;
    } while (!rfn_scan_failed(&scan));
    return rfn_scan_fault(&scan, "its lists are malformed");
}

static const char *take_guides(const struct rfn_payload *payload, const struct place *places,
                               uint32_t set, struct rfn_guides *guides)
{
    const char *fault = NULL;
    for (uint32_t at = set; places[at].guide && !fault;) {
        if (guides->n == RFN_GUIDES_MAX)
            return "too many lists guide each other";
        at -= (uint32_t)places[at].guide;
        struct rfn_guide *guide = &guides->guides[guides->n++];
        fault = copy(payload, &places[at], false, &guide->payload);
        if (!fault)
            fault = find_columns(guide);
    }
    return fault;
}

const char *rfn_profiles_take(struct rfn_payload *payload, uint32_t n_sets, uint32_t set,
                              struct rfn_guides *guides)
{
    *guides = (struct rfn_guides){0};
    if (payload->size > RFN_PROFILES_BYTES_MAX)
        return "it is too large";
    if (n_sets > payload->size || set >= n_sets)
        return malformed;
    struct place *places = calloc(n_sets, sizeof *places);
    struct rfn_payload own = {0};
    if (!places)
        return rfn_out_of_memory;
    const char *fault = read_directory(payload, n_sets, places);
    if (!fault)
        fault = copy(payload, &places[set], true, &own);
    if (!fault)
        fault = take_guides(payload, places, set, guides);
    free(places);
    if (fault) {
        rfn_payload_release(&own);
        return fault;
    }
    rfn_payload_release(payload);
    *payload = own;
    return NULL;
}

void rfn_guides_release(struct rfn_guides *guides)
{
    for (unsigned i = 0; i < guides->n; i++) {
        rfn_payload_release(&guides->guides[i].payload);
        free(guides->guides[i].columns);
    }
    *guides = (struct rfn_guides){0};
}
