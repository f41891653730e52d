/* call_parts.h - bytes of a call's messages: of a send or receive, and of the parts that a
 * collective call, or one that sends and receives at once, has for each of its partners.
 *
 * A side has one count for all parts or a list of counts, and a datatype for all parts or a list of
 * them. Reductions have one datatype for both sides.
 */
#ifndef RFN_ANALYZE_MATCH_CALL_PARTS_H
#define RFN_ANALYZE_MATCH_CALL_PARTS_H

#include "analyze/match/call_words.h"

/* A side's words, found once for all of its parts; lists are the cursor's. */
struct rfn_call_parts {
    const struct rfn_archive *archive;
    bool listed;                   /* each part has its own count */
    const int64_t *counts, *types; /* NULL: of all parts, or there is no list */
    size_t n_counts, n_types;
    int64_t count, type; /* of all, where there is no list */
};

static inline struct rfn_call_parts rfn_call_parts(const struct rfn_call_event *call,
                                                   enum rfn_input count, enum rfn_input counts,
                                                   enum rfn_input type, enum rfn_input types)
{
    struct rfn_call_parts parts = {.archive = call->archive,
                                   .listed = rfn_has(call, counts),
                                   .count = rfn_word(call, count, 0)};
    if (parts.listed)
        parts.counts = rfn_word_list(call, counts, RFN_KIND_COUNT, &parts.n_counts);
    if (rfn_has(call, types))
        parts.types = rfn_word_list(call, types, RFN_KIND_TYPE, &parts.n_types);
    parts.type = rfn_word(call, rfn_has(call, type) ? type : RFN_IN_datatype, -1);
    return parts;
}

static inline struct rfn_call_parts rfn_sent_parts(const struct rfn_call_event *call)
{
    return rfn_call_parts(call, RFN_IN_sendcount, RFN_IN_sendcounts, RFN_IN_sendtype,
                          RFN_IN_sendtypes);
}

static inline struct rfn_call_parts rfn_received_parts(const struct rfn_call_event *call)
{
    return rfn_call_parts(call, RFN_IN_recvcount, RFN_IN_recvcounts, RFN_IN_recvtype,
                          RFN_IN_recvtypes);
}

/* Of part i; 0 where there is none. */
static inline int64_t rfn_part_bytes(const struct rfn_call_parts *parts, size_t i)
{
    const int64_t count = !parts->listed        ? parts->count
                          : i < parts->n_counts ? parts->counts[i]
                                                : 0;
    const int64_t type = !parts->types ? parts->type : i < parts->n_types ? parts->types[i] : -1;
    return rfn_product(count, rfn_type_bytes(parts->archive, type));
}

static inline int64_t rfn_sent_part(const struct rfn_call_event *call, size_t i)
{
    const struct rfn_call_parts parts = rfn_sent_parts(call);
    return rfn_part_bytes(&parts, i);
}

static inline int64_t rfn_received_part(const struct rfn_call_event *call, size_t i)
{
    const struct rfn_call_parts parts = rfn_received_parts(call);
    return rfn_part_bytes(&parts, i);
}

/* Whether MPI_IN_PLACE stands for the buffer. */
static inline bool rfn_is_in_place(const struct rfn_call_event *call, enum rfn_input buffer)
{
    return rfn_has(call, buffer) && rfn_word(call, buffer, 0) == RFN_BUFFER_IN_PLACE;
}

/* Of a call with one buffer: all partitions of the message, where it has some. */
static inline int64_t rfn_buffer_bytes(const struct rfn_call_event *call)
{
    const int64_t bytes = rfn_element_bytes(call, RFN_IN_count, RFN_IN_datatype);
    return rfn_has(call, RFN_IN_partitions)
               ? rfn_product(bytes, rfn_word(call, RFN_IN_partitions, 1))
               : bytes;
}

/* That a call sends, or receives at most, from point to point: MPI_Sendrecv has two buffers, all
 * others one. */
static inline int64_t rfn_sent_bytes(const struct rfn_call_event *call)
{
    return rfn_has(call, RFN_IN_sendcount) ? rfn_sent_part(call, 0) : rfn_buffer_bytes(call);
}

static inline int64_t rfn_asked_bytes(const struct rfn_call_event *call)
{
    return rfn_has(call, RFN_IN_recvcount) ? rfn_received_part(call, 0) : rfn_buffer_bytes(call);
}

#endif
