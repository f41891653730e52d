#include "base/grow.h"
#include "record/callpath/path_names.h"
#include "record/core/options.h"
#include "record/core/tables.h"
#include "record/regions/regions.h"
#include "record/samples/samples_internal.h"
#include "refrain/recording.h"

#include <string.h>

struct rfn_sample_where rec_conditions = {.most_bytes = UINT64_MAX};

static int64_t level = 1; /* of MPI_Pcontrol; atomic */

/* ---- at a site ---- */

/* Names are looked up once per site: that takes microseconds. */
static bool path_fits(const struct rec_call *call)
{
    struct rec_stream *stream = rec_sample_stream(call);
    if (!rec_conditions.patterns[RFN_WHERE_PATH] && !rec_conditions.patterns[RFN_WHERE_FILE])
        return true;
    if (RFN_GROW_ZEROED(stream->sampled.fits, stream->sampled.n_fits, (size_t)call->site + 1) < 0)
        return false;
    uint8_t *fits = &stream->sampled.fits[call->site];
    if (!*fits)
        *fits = rec_path_names_fit(&rec_conditions, &stream->sites, call->site,
                                   rec_options.executable)
                    ? 2
                    : 1;
    return *fits == 2;
}

static bool comm_fits(const struct rec_comm *comm)
{
    rec_lock(); /* another thread may name it */
    const char *name = comm->name                     ? comm->name
                       : comm->kind == REC_COMM_WORLD ? "MPI_COMM_WORLD"
                       : comm->kind == REC_COMM_SELF  ? "MPI_COMM_SELF"
                                                      : NULL;
    const bool fits = rfn_sample_where_fits(&rec_conditions, RFN_WHERE_COMM, name);
    rec_unlock();
    return fits;
}

bool rec_conditions_take(const struct rec_call *call, const struct rec_comm *comm, uint64_t bytes)
{
    return !call->off && rfn_sample_where_bytes(&rec_conditions, bytes) &&
           rfn_sample_where_fits(&rec_conditions, RFN_WHERE_FUNCTION,
                                 rec_functions[call->function].name) &&
           comm_fits(comm) && path_fits(call);
}

/* ---- what the program is in ---- */

static bool region_fits(const struct rec_stream *stream, int64_t word, enum rfn_where_pattern kind)
{
    for (uint32_t i = 0; i < rec_regions_count(stream); i++) {
        const struct rec_region region = rec_regions_get(stream, i);
        if (region.word == word)
            return rfn_sample_where_fits(&rec_conditions, kind, region.name);
    }
    return false;
}

void rec_conditions_follow(const struct rec_call *call)
{
    struct rec_stream *stream = rec_sample_stream(call);
    switch (call->function) {
    case REC_FN_refrain_region_begin:
        stream->sampled.regions += region_fits(stream, call->in[0], RFN_WHERE_REGION);
        break;
    case REC_FN_refrain_region_end:
        stream->sampled.regions -= region_fits(stream, call->in[0], RFN_WHERE_REGION) &&
                                   stream->sampled.regions > 0;
        break;
    case REC_FN_refrain_segment_begin:
        stream->sampled.segment = region_fits(stream, call->in[0], RFN_WHERE_SEGMENT);
        break;
    case REC_FN_refrain_segment_end:
        stream->sampled.segment = false;
        break;
    case REC_FN_MPI_Comm_set_name:
        rec_sample_forget();
        break;
    case REC_FN_MPI_Pcontrol:
        __atomic_store_n(&level, call->in[0], __ATOMIC_RELAXED);
        break;
    default:
        break;
    }
}

bool rec_conditions_hold(const struct rec_stream *stream)
{
    return (!rec_conditions.patterns[RFN_WHERE_REGION] || stream->sampled.regions > 0) &&
           (!rec_conditions.patterns[RFN_WHERE_SEGMENT] || stream->sampled.segment) &&
           (!rec_conditions.has_level ||
            __atomic_load_n(&level, __ATOMIC_RELAXED) == rec_conditions.level);
}

void rec_conditions_release(void)
{
    rfn_sample_where_release(&rec_conditions);
    rec_path_names_release();
}
