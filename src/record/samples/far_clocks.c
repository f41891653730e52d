/* far_clocks.c - when ranks of other nodes sent, by the clock of this one.
 *
 * How clocks differ is measured when MPI starts (record/core/clock_sync.h); from then on they
 * drift. A clean message (its receive was posted, and its receiver waited) takes what the network
 * takes, plus what the sender's clock is behind. The least that clean messages of a span of time
 * took from rank A to B, and from B to A, differ by twice that. So each rank tells the others, with
 * its announcements, the least of the span before, and corrects what it measures. Between such
 * corrections clocks drift as they did since the start, but no faster than clocks can: an error of
 * the first ones, soon after the start, must not grow to more than a message takes, as no message
 * would be clean any more that could correct it.
 *
 * Only statistics are corrected here. Samples that are kept have the stamps of both clocks.
 */
#include "record/core/clock_sync.h"
#include "record/samples/samples_internal.h"

#include <stdlib.h>

static const int64_t SPAN_NS = 1000000000;
enum { SPANS = 4 };
static const double DRIFT_MOST = 2e-4; /* ns per ns; crystals are off by less than 1e-4 */

/* A rank of another node, as this one sees it. Times are of the common clock, that of rank 0's
 * node. */
struct far_rank {
    int64_t spans[SPANS]; /* which span; 0: none yet */
    double least_ns[SPANS];
    int64_t corrected_ns; /* when */
    double behind_ns;     /* how much its clock was behind then */
    double drift;         /* ns per ns */
};

static struct rfn_map far_ranks; /* by rank */
static bool known;
static int64_t offset_ns; /* from this node's CLOCK_MONOTONIC to the common clock */
static int64_t started_ns;

/* ---- the common clock ---- */

static int64_t common_ns_of(uint64_t quanta)
{
    const struct rec_clock_pair start = rec_start();
    return start.monotonic_ns + offset_ns +
           (int64_t)((double)(int64_t)(quanta - start.quanta) * rec_sampling.quantum_ns);
}

int64_t rec_far_common_ns(uint64_t quanta)
{
    return known ? common_ns_of(quanta) : 0;
}

int rec_far_start(struct rec_exchange *exchange)
{
    struct rfn_buf measured = RFN_BUF_INIT;
    const int error = rec_clock_sync_share(exchange, &measured);
    known = !error && measured.size > 0 &&
            rec_clock_sync_offset(measured.data, measured.size, rec_sampling.host,
                                  (uint64_t)rec_monotonic_ns(), &offset_ns);
    rfn_buf_release(&measured);
    started_ns = known ? common_ns_of(rec_now()) : 0;
    return error;
}

void rec_far_release(void)
{
    rfn_map_release_objects(&far_ranks, free);
    known = false;
}

/* ---- corrections ---- */

/* A clock may begin near 0, and moments before are negative. */
static size_t place_of(int64_t span)
{
    return (uint64_t)span % SPANS;
}

static struct far_rank *far_of(uint32_t rank)
{
    struct far_rank *far = rfn_map_object(&far_ranks, rank);
    if (far)
        return far;
    far = rfn_map_make_object(&far_ranks, rank, sizeof *far);
    if (far)
        *far = (struct far_rank){.corrected_ns = started_ns};
    return far;
}

bool rec_far_sent(uint32_t rank, int64_t common_ns, uint64_t *quanta)
{
    const struct far_rank *far = known && common_ns ? far_of(rank) : NULL;
    if (!far)
        return false;
    const struct rec_clock_pair start = rec_start();
    const double behind = far->behind_ns + far->drift * (double)(common_ns - far->corrected_ns);
    const double since = (double)(common_ns - offset_ns - start.monotonic_ns) + behind;
    *quanta = start.quanta + (uint64_t)(int64_t)(since / rec_sampling.quantum_ns);
    return true;
}

/* As its clock says, not corrected. */
void rec_far_clean(uint32_t rank, int64_t sent_ns, uint64_t received)
{
    struct far_rank *far = far_of(rank);
    const int64_t received_ns = common_ns_of(received), span = received_ns / SPAN_NS;
    const double took = (double)(received_ns - sent_ns);
    if (!far)
        return;
    const size_t at = place_of(span);
    if (far->spans[at] != span || took < far->least_ns[at])
        far->least_ns[at] = took;
    far->spans[at] = span;
}

struct rec_far_least rec_far_least(uint32_t rank, uint64_t now)
{
    const struct far_rank *far = known ? rfn_map_object(&far_ranks, rank) : NULL;
    const int64_t span = far ? common_ns_of(now) / SPAN_NS - 1 : 0;
    if (!far || far->spans[place_of(span)] != span)
        return (struct rec_far_least){0};
    return (struct rec_far_least){.span = span, .ns = far->least_ns[place_of(span)]};
}

static double bounded_drift(double drift)
{
    return drift > DRIFT_MOST ? DRIFT_MOST : drift < -DRIFT_MOST ? -DRIFT_MOST : drift;
}

void rec_far_told(uint32_t rank, struct rec_far_least least)
{
    struct far_rank *far = known && least.span > 0 ? far_of(rank) : NULL;
    const size_t at = place_of(least.span);
    const int64_t when_ns = least.span * SPAN_NS + SPAN_NS / 2;
    if (!far || far->spans[at] != least.span || when_ns <= far->corrected_ns)
        return;
    /* took here = network + behind, took there = network - behind */
    far->behind_ns = (far->least_ns[at] - least.ns) / 2;
    far->drift = bounded_drift(far->behind_ns / (double)(when_ns - started_ns));
    far->corrected_ns = when_ns;
}
