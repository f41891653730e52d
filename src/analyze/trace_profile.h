/* trace_profile.h - inside of a trace profile: what is kept of each stream. */
#ifndef RFN_ANALYZE_TRACE_PROFILE_H
#define RFN_ANALYZE_TRACE_PROFILE_H

#include "base/hash.h"
#include "reduce/stream_profile.h"
#include "refrain/trace_profile.h"

struct rfn_profiled_stream {
    struct rfn_stream_profile *profile; /* NULL: the stream is not there */
    uint64_t events, messages;
    uint64_t segments;
    struct rfn_hash128 sequence; /* of the contexts and events of its segments */
    uint32_t class_;             /* the lowest stream that executed the same segments */
    uint32_t stands_for_it;      /* the stream whose times are this one's, too; mostly itself */
};

struct rfn_trace_profile {
    const struct rfn_archive *archive; /* borrowed */
    struct rfn_trace_profile_options options;
    struct rfn_criterion criterion, across; /* across->method may be NULL */
    struct rfn_profiled_stream *streams;    /* of the archive's run, all of them */
    uint32_t n_streams;
    bool *functions; /* which of the archive's occur */
};

#endif
