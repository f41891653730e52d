#include "record/finish/gather_left_out.h"

#include "archive/aggregation_format.h"
#include "base/grow.h"
#include "base/map.h"
#include "record/core/options.h"
#include "record/keep/windows.h"

#include <stdlib.h>

/* What the ranks below this one, and itself, have. */
struct gathered {
    uint64_t events, left_out;
    struct rfn_buf gaps; /* per stream, in order of ranks: as in AGGREGATED */
    struct rfn_activity *fixed;
    size_t n_fixed, fixed_capacity;
    struct rfn_map known; /* hashes of these */
};

static int add_activity(struct gathered *all, const struct rfn_activity *activity)
{
    const uint64_t words[] = {activity->kind,        activity->before.function,
                              activity->before.path, activity->at.function,
                              activity->at.path,     activity->region};
    const uint64_t key = rfn_hash_bytes(words, sizeof words);
    if (rfn_map_get(&all->known, key))
        return 0;
    RFN_TRY(RFN_GROW(all->fixed, all->fixed_capacity, all->n_fixed + 1));
    all->fixed[all->n_fixed++] = *activity;
    return rfn_map_put(&all->known, key, 1);
}

static struct rfn_call_site site_of(const struct rec_stream_definitions *of, uint32_t site)
{
    return (struct rfn_call_site){(uint32_t)of->functions[site], (uint32_t)of->paths[site]};
}

static int add_own_activities(struct gathered *all, const struct rec_finishing *finish,
                              const struct rec_stream_definitions *of)
{
    size_t n;
    const struct rec_short_activity *own = rec_keep_short(&n);
    for (size_t i = 0; i < n; i++) {
        const bool call = own[i].before == UINT32_MAX;
        const int64_t region = own[i].region
                                   ? rfn_merge_number(&finish->merge, RFN_DEFINITION_REGION,
                                                      (uint64_t)own[i].region)
                                   : -1;
        if (own[i].region && region < 0)
            return RFN_E_EXCHANGE;
        const struct rfn_activity activity = {
            .kind = call ? RFN_ACTIVITY_MPI : RFN_ACTIVITY_COMPUTE,
            .before = call ? (struct rfn_call_site){0} : site_of(of, own[i].before),
            .at = site_of(of, own[i].site),
            .region = region < 0 ? RFN_NO_REGION : (uint32_t)region};
        RFN_TRY(add_activity(all, &activity));
    }
    return 0;
}

/* Of the process's streams the first lacks calls. */
static int begin(struct gathered *all, const struct rec_finishing *finish)
{
    const struct rec_left_out *own = rec_keep_left_out();
    for (size_t i = 0; i < finish->description.n_streams; i++) {
        const struct rec_stream_definitions *of = &finish->description.streams[i];
        const bool lacks = of->stream->number == 0;
        all->events += rfn_stream_events(of->stream->events);
        rfn_buf_varint(&all->gaps, lacks ? own->n_gaps : 0);
        if (lacks)
            rfn_buf_bytes(&all->gaps, own->gaps.data, own->gaps.size);
        if (lacks)
            RFN_TRY(add_own_activities(all, finish, of));
    }
    all->left_out = own->calls;
    return rfn_buf_status(&all->gaps);
}

static int write_up(void *state, struct rfn_buf *out)
{
    const struct gathered *all = state;
    rfn_buf_varint(out, all->events);
    rfn_buf_varint(out, all->left_out);
    rfn_buf_blob(out, all->gaps.data, all->gaps.size);
    rfn_buf_varint(out, all->n_fixed);
    for (size_t i = 0; i < all->n_fixed; i++) {
        const struct rfn_activity *activity = &all->fixed[i];
        rfn_buf_varint(out, activity->kind);
        rfn_buf_varint(out, activity->before.function);
        rfn_buf_varint(out, activity->before.path);
        rfn_buf_varint(out, activity->at.function);
        rfn_buf_varint(out, activity->at.path);
        rfn_buf_varint(out, activity->region);
    }
    return rfn_buf_status(out);
}

static int read_activity(struct gathered *all, struct rfn_reader *reader)
{
    struct rfn_activity activity = {.kind = (enum rfn_activity_kind)rfn_reader_varint(reader)};
    activity.before.function = (uint32_t)rfn_reader_varint(reader);
    activity.before.path = (uint32_t)rfn_reader_varint(reader);
    activity.at.function = (uint32_t)rfn_reader_varint(reader);
    activity.at.path = (uint32_t)rfn_reader_varint(reader);
    activity.region = (uint32_t)rfn_reader_varint(reader);
    return reader->failed ? RFN_E_EXCHANGE : add_activity(all, &activity);
}

static int merge_child(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct gathered *all = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    (void)child;
    all->events += rfn_reader_varint(&reader);
    all->left_out += rfn_reader_varint(&reader);
    const size_t n_gaps = (size_t)rfn_reader_varint(&reader);
    const uint8_t *gaps = rfn_reader_bytes(&reader, n_gaps);
    if (gaps)
        rfn_buf_bytes(&all->gaps, gaps, n_gaps);
    const uint64_t n = rfn_reader_varint(&reader);
    for (uint64_t i = 0; i < n && !reader.failed; i++)
        RFN_TRY(read_activity(all, &reader));
    return reader.failed ? RFN_E_EXCHANGE : rfn_buf_status(&all->gaps);
}

/* It was decided for all networks: readers estimate one from the first calls of the run, which all
 * stay (terms 0). */
static int pack(const struct gathered *all, struct rfn_buf *payload)
{
    const struct rfn_aggregation of = {.least_ns = rec_options.kept_limits.ns,
                                       .least_bytes = rec_options.kept_limits.bytes,
                                       .events = all->events + all->left_out,
                                       .fixed = all->fixed,
                                       .n_fixed = all->n_fixed};
    rfn_pack_aggregation(&of, 0, payload);
    rfn_buf_bytes(payload, all->gaps.data, all->gaps.size);
    return rfn_buf_status(payload);
}

int rec_gather_left_out(struct rec_finishing *finish, struct rfn_buf *payload, int error)
{
    static const struct rfn_round round = {.merge = merge_child, .write = write_up};
    struct gathered all = {.gaps = RFN_BUF_INIT};
    if (!error)
        error = begin(&all, finish);
    error = rfn_exchange_climb(finish->exchange, &round, &all, error);
    if (!error && finish->exchange->rank == 0 && all.left_out)
        error = pack(&all, payload);
    rfn_buf_release(&all.gaps);
    free(all.fixed);
    rfn_map_release(&all.known);
    return error;
}
