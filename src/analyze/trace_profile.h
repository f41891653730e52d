/* trace_profile.h - inside of a trace profile: what is kept of each stream. */
#ifndef RFN_ANALYZE_TRACE_PROFILE_H
#define RFN_ANALYZE_TRACE_PROFILE_H

#include "base/hash.h"
#include "reduce/column.h"
#include "reduce/store.h"
#include "refrain/trace_profile.h"

/* The executions of a context, one value per segment, in order of occurrence. */
struct rfn_execution_columns {
    struct rfn_column representative; /* its number, as the store gave it: see rfn_store_forward */
    struct rfn_column correction;     /* of the predicted start, in units (below) */
};

/* How far starts may be off: absolute_ns + length * share / 65536, of a representative's length,
 * rounded down. Corrections are multiples of that, or of 1 ns if it is 0. */
struct rfn_start_tolerance {
    uint64_t share, absolute_ns;
};

struct rfn_stream_profile {
    struct rfn_store *store; /* NULL: the stream is not there */
    struct rfn_execution_columns *contexts;
    uint32_t n_contexts;
    int64_t first_start_ns;
    struct rfn_start_tolerance tolerance; /* of all streams */
    uint64_t events, messages, corrections;
    struct rfn_column order;     /* the contexts of its segments */
    struct rfn_hash128 sequence; /* of the contexts and events of its segments */
    uint32_t class_;             /* the lowest stream that executed the same segments */
    uint32_t stands_for_it;      /* the stream whose times are this one's, too; mostly itself */
};

struct rfn_trace_profile {
    const struct rfn_archive *archive; /* borrowed */
    struct rfn_trace_profile_options options;
    struct rfn_criterion criterion, across; /* across->method may be NULL */
    struct rfn_stream_profile *streams;     /* of the archive's run, all of them */
    uint32_t n_streams;
    bool *functions; /* which of the archive's occur */
};

#endif
