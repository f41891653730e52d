/* parcels.h - bytes that ranks hand to rank 0 as they are: each has a kind and a number, and one
 * rank that brings it.
 */
#ifndef RFN_REDUCE_PARCELS_H
#define RFN_REDUCE_PARCELS_H

#include "base/buf.h"

struct rfn_parcel {
    uint32_t kind;
    uint64_t number;
    const uint8_t *bytes; /* borrowed from the parcels, until there are more */
    size_t size;
};

struct rfn_parcels {
    struct rfn_buf bytes; /* per parcel: varint kind, varint number, blob */
};

void rfn_parcels_release(struct rfn_parcels *parcels);
/* RFN_E_NOMEM. */
int rfn_parcels_add(struct rfn_parcels *parcels, uint32_t kind, uint64_t number, const void *bytes,
                    size_t size);
/* Into a message, and from one: RFN_E_NOMEM, RFN_E_EXCHANGE. */
void rfn_parcels_write(const struct rfn_parcels *parcels, struct rfn_buf *out);
int rfn_parcels_join(struct rfn_parcels *parcels, struct rfn_reader *reader);
/* The next one, or false; the reader is over parcels->bytes. */
bool rfn_parcels_next(struct rfn_reader *reader, struct rfn_parcel *parcel);
size_t rfn_parcels_bytes(const struct rfn_parcels *parcels);

#endif
