/* protobuf.h - fields of protobuf messages: a key with the field's number and how it is coded, then
 * its value. (Protocol Buffers, "Encoding".) */
#ifndef RFN_CONVERT_PERFETTO_PROTOBUF_H
#define RFN_CONVERT_PERFETTO_PROTOBUF_H

#include "base/buf.h"

enum pb_coded { PB_VARINT = 0, PB_FIXED64 = 1, PB_LENGTH = 2 };

static inline void pb_key(struct rfn_buf *out, uint32_t field, enum pb_coded coded)
{
    rfn_buf_varint(out, (uint64_t)field << 3 | (uint64_t)coded);
}

static inline void pb_number(struct rfn_buf *out, uint32_t field, uint64_t value)
{
    pb_key(out, field, PB_VARINT);
    rfn_buf_varint(out, value);
}

static inline void pb_fixed64(struct rfn_buf *out, uint32_t field, uint64_t value)
{
    pb_key(out, field, PB_FIXED64);
    rfn_buf_u64(out, value);
}

static inline void pb_string(struct rfn_buf *out, uint32_t field, const char *text)
{
    pb_key(out, field, PB_LENGTH);
    rfn_buf_string(out, text);
}

/* A message in another one; it is empty afterwards. */
static inline void pb_message(struct rfn_buf *out, uint32_t field, struct rfn_buf *message)
{
    pb_key(out, field, PB_LENGTH);
    rfn_buf_blob(out, message->data, message->size);
    out->failed |= message->failed;
    message->size = 0;
}

#endif
