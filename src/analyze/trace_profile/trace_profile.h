/* trace_profile.h - inside of a trace profile: what is kept of each stream. */
#ifndef RFN_ANALYZE_TRACE_PROFILE_TRACE_PROFILE_H
#define RFN_ANALYZE_TRACE_PROFILE_TRACE_PROFILE_H

#include "base/hash.h"
#include "reduce/segments/stream_profile.h"
#include "refrain/trace_profile.h"

struct rfn_profiled_stream {
    bool present;                       /* the stream is there */
    struct rfn_stream_profile *profile; /* finished; NULL: freed */
    struct rfn_stream_profile_stats stats;
    uint64_t events, messages, segments;
    struct rfn_hash128 key; /* of its class: equal for streams that executed the same segments */
    uint32_t class_;        /* the lowest stream of it */
    uint32_t stands_for_it; /* the stream whose times are this one's, too; mostly itself */
};

struct rfn_trace_profile {
    const struct rfn_archive *archive; /* borrowed */
    struct rfn_trace_profile_options options;
    struct rfn_criterion criterion, across; /* across->method may be NULL */
    struct rfn_profiled_stream *streams;    /* of the archive's run, all of them */
    uint32_t n_streams;
    bool *functions;              /* which of the archive's occur */
    uint64_t events, events_done; /* all there are; put in, for progress */
    /* Sees every segment that is put in; RFN_E_NOMEM. NULL: nobody does. */
    int (*watch)(void *context, const struct rfn_segment *segment);
    void *watch_context;
};

/* rfn_trace_profile_new in its steps, for those who need no more than one stream's profile at a
 * time. First nothing is read. */
int rfn_trace_profile_begin(const struct rfn_archive *archive,
                            const struct rfn_trace_profile_options *options,
                            struct rfn_trace_profile **profile, struct rfn_diag *diag);
/* Reads a stream, if it is there. */
int rfn_trace_profile_read(struct rfn_trace_profile *profile, uint32_t stream,
                           struct rfn_diag *diag);
/* Frees what takes memory of it. Streams are compared across processes only if none is freed. */
void rfn_trace_profile_drop(struct rfn_trace_profile *profile, uint32_t stream);
/* After the last one: finds classes, and streams that share times. */
int rfn_trace_profile_join(struct rfn_trace_profile *profile, struct rfn_diag *diag);

/* What META says of them. */
struct rfn_run_reduction rfn_trace_profile_counts(const struct rfn_trace_profile_stats *stats);

#endif
