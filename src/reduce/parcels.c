#include "reduce/parcels.h"

void rfn_parcels_release(struct rfn_parcels *parcels)
{
    rfn_buf_release(&parcels->bytes);
}

int rfn_parcels_add(struct rfn_parcels *parcels, uint32_t kind, uint64_t number, const void *bytes,
                    size_t size)
{
    rfn_buf_varint(&parcels->bytes, kind);
    rfn_buf_varint(&parcels->bytes, number);
    rfn_buf_blob(&parcels->bytes, bytes, size);
    return rfn_buf_status(&parcels->bytes);
}

void rfn_parcels_write(const struct rfn_parcels *parcels, struct rfn_buf *out)
{
    rfn_buf_blob(out, parcels->bytes.data, parcels->bytes.size);
}

int rfn_parcels_join(struct rfn_parcels *parcels, struct rfn_reader *reader)
{
    size_t size;
    const uint8_t *bytes = rfn_reader_blob(reader, &size);
    if (reader->failed)
        return RFN_E_EXCHANGE;
    rfn_buf_bytes(&parcels->bytes, bytes, size);
    return rfn_buf_status(&parcels->bytes);
}

bool rfn_parcels_next(struct rfn_reader *reader, struct rfn_parcel *parcel)
{
    if (!rfn_reader_left(reader))
        return false;
    parcel->kind = (uint32_t)rfn_reader_varint(reader);
    parcel->number = rfn_reader_varint(reader);
    parcel->bytes = rfn_reader_blob(reader, &parcel->size);
    return !reader->failed;
}

size_t rfn_parcels_bytes(const struct rfn_parcels *parcels)
{
    return parcels->bytes.capacity;
}
