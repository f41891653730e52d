/* A region that is open several times in a stream, because it contains itself, is timed from its
 * first begin to its last end, so that no moment counts twice. */
#include "analyze/profile/region_profile.h"

#include "base/grow.h"
#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

struct rfn_region_visit {
    uint32_t region;
    bool counts;
    struct rfn_region_clock begin;
};

/* What a stream has spent in a region. */
struct rfn_region_sum {
    int64_t time_ns, mpi_ns, waiting_ns;
    uint64_t messages;
    bool visited;
    uint32_t open, counted; /* how often, and of these how many count */
};

/* What the current rank has spent in a region. */
struct of_rank {
    int64_t time_ns, mpi_ns;
    bool visited;
};

struct rfn_regions {
    const struct rfn_archive *archive;
    uint32_t n, only;
    struct rfn_region_row *rows; /* by region */
    struct of_rank *of_rank;
};

struct rfn_regions *rfn_regions_new(const struct rfn_archive *archive, uint32_t only)
{
    struct rfn_regions *regions = calloc(1, sizeof *regions);
    if (!regions)
        return NULL;
    regions->archive = archive;
    regions->only = only;
    regions->n = rfn_archive_regions(archive);
    regions->rows = calloc((size_t)regions->n + 1, sizeof *regions->rows);
    regions->of_rank = calloc((size_t)regions->n + 1, sizeof *regions->of_rank);
    if (!regions->rows || !regions->of_rank) {
        rfn_regions_free(regions);
        return NULL;
    }
    for (uint32_t i = 0; i < regions->n; i++)
        regions->rows[i].name = rfn_archive_region(archive, i);
    return regions;
}

void rfn_regions_free(struct rfn_regions *regions)
{
    if (!regions)
        return;
    free(regions->rows);
    free(regions->of_rank);
    free(regions);
}

void rfn_region_stream_release(struct rfn_region_stream *stream)
{
    free(stream->visits);
    free(stream->sums);
}

bool rfn_region_is_open(const struct rfn_region_stream *stream, uint32_t region)
{
    return stream->sums && stream->sums[region].open > 0;
}

int64_t rfn_region_time_ns(const struct rfn_region_stream *stream, uint32_t region)
{
    return stream->sums ? stream->sums[region].time_ns : 0;
}

static void close_innermost(struct rfn_region_stream *stream, struct rfn_region_clock clock)
{
    const struct rfn_region_visit *visit = &stream->visits[--stream->depth];
    struct rfn_region_sum *sum = &stream->sums[visit->region];
    sum->open--;
    if (!visit->counts || --sum->counted > 0)
        return;
    sum->time_ns += clock.now_ns - visit->begin.now_ns -
                    (clock.unrecorded_ns - visit->begin.unrecorded_ns);
    sum->mpi_ns += clock.mpi_ns - visit->begin.mpi_ns;
    sum->waiting_ns += clock.waiting_ns - visit->begin.waiting_ns;
    sum->messages += clock.messages - visit->begin.messages;
}

static int begin(struct rfn_regions *regions, struct rfn_region_stream *stream, uint32_t region,
                 struct rfn_region_clock clock)
{
    struct rfn_region_sum *sum = &stream->sums[region];
    sum->open++;
    const bool counts = regions->only == RFN_NO_REGION || stream->sums[regions->only].open;
    RFN_TRY(RFN_GROW(stream->visits, stream->capacity, stream->depth + 1));
    stream->visits[stream->depth++] = (struct rfn_region_visit){region, counts, clock};
    regions->rows[region].visits += counts;
    sum->visited |= counts;
    sum->counted += counts;
    return 0;
}

static bool is_end(const struct rfn_function_info *function)
{
    return strcmp(function->name, "refrain_region_end") == 0;
}

int rfn_regions_event(struct rfn_regions *regions, struct rfn_region_stream *stream,
                      const struct rfn_record *record, struct rfn_region_clock clock)
{
    const struct rfn_function_info *function = rfn_archive_function(regions->archive,
                                                                    record->function);
    if (function->n_in < 1 || function->params[0].kind != RFN_KIND_REGION || record->in[0] < 0 ||
        record->in[0] >= regions->n)
        return 0;
    const uint32_t region = (uint32_t)record->in[0];
    if (function->class_ == RFN_CLASS_UNRECORDED && function->n_out > 0 && record->out[0] > 0)
        regions->rows[region].unrecorded += (uint64_t)record->out[0];
    if (function->class_ != RFN_CLASS_REGION)
        return 0;
    if (!stream->sums)
        stream->sums = calloc(regions->n, sizeof *stream->sums);
    if (!stream->sums)
        return RFN_E_NOMEM;
    if (!is_end(function))
        return begin(regions, stream, region, clock);
    for (bool ended = !stream->sums[region].open; !ended;) {
        ended = stream->visits[stream->depth - 1].region == region;
        close_innermost(stream, clock);
    }
    return 0;
}

void rfn_regions_end_stream(struct rfn_regions *regions, struct rfn_region_stream *stream,
                            struct rfn_region_clock clock)
{
    while (stream->depth > 0)
        close_innermost(stream, clock);
    for (uint32_t i = 0; stream->sums && i < regions->n; i++) {
        regions->of_rank[i].time_ns += stream->sums[i].time_ns;
        regions->of_rank[i].mpi_ns += stream->sums[i].mpi_ns;
        regions->of_rank[i].visited |= stream->sums[i].visited;
        regions->rows[i].waiting_ns += stream->sums[i].waiting_ns;
        regions->rows[i].messages += stream->sums[i].messages;
    }
}

void rfn_regions_end_rank(struct rfn_regions *regions, uint32_t rank)
{
    for (uint32_t i = 0; i < regions->n; i++) {
        const struct of_rank *sum = &regions->of_rank[i];
        if (!sum->visited)
            continue;
        rfn_spread_add(&regions->rows[i].time, rank, sum->time_ns);
        rfn_spread_add(&regions->rows[i].mpi, rank, sum->mpi_ns);
        rfn_spread_add(&regions->rows[i].outside, rank, sum->time_ns - sum->mpi_ns);
        regions->of_rank[i] = (struct of_rank){0};
    }
}

static int by_weight(const void *left, const void *right)
{
    const struct rfn_region_row *a = left, *b = right;
    if (a->time.total_ns != b->time.total_ns)
        return a->time.total_ns > b->time.total_ns ? -1 : 1;
    if (a->visits != b->visits)
        return a->visits > b->visits ? -1 : 1;
    return strcmp(a->name, b->name);
}

struct rfn_region_row *rfn_regions_take(struct rfn_regions *regions, size_t *n)
{
    struct rfn_region_row *rows = regions->rows;
    *n = 0;
    for (uint32_t i = 0; i < regions->n; i++) {
        if (rows[i].visits || (rows[i].unrecorded && regions->only == RFN_NO_REGION))
            rows[(*n)++] = rows[i];
    }
    qsort(rows, *n, sizeof *rows, by_weight);
    regions->rows = NULL;
    return rows;
}
