#include "refrain/compare.h"

#include "analyze/trace_profile/approximation.h"
#include "analyze/trace_profile/archive_match.h"
#include "analyze/trace_profile/trends.h"

#include <stdlib.h>

struct comparing {
    const struct rfn_archive *full, *reduced;
    struct rfn_archive_match pairing;
    struct rfn_distances *distances;
    struct rfn_comparison *result;
    const struct rfn_archive *concerned; /* cannot be read; NULL: none, or both */
    struct rfn_diag *diag;
    /* Three passes over events: one over both archives together, then one over each. */
    void (*progress)(void *context, double share);
    void *context;
    unsigned passes; /* that are over */
    uint64_t events; /* of the first pass, so far */
    uint64_t all_events;
};

enum { PASSES = 3, PROGRESS_EVENTS = 1 << 16 };

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

static void show_pass(void *context, double share)
{
    const struct comparing *comparing = context;
    if (comparing->progress)
        comparing->progress(comparing->context, ((double)comparing->passes + share) / PASSES);
}

/* ---- event by event ---- */

/* Remembers whose file it is that cannot be read. */
static int read_from(struct comparing *comparing, const struct rfn_archive *archive, int error)
{
    if (error < 0)
        comparing->concerned = archive;
    return error;
}

/* Streams are known to have as many events; a stream that has fewer than it says is damaged, and
 * its cursor says so. */
static int compare_events(struct comparing *comparing, uint32_t stream, struct rfn_cursor *full,
                          struct rfn_cursor *reduced)
{
    const struct rfn_record *a, *b;
    struct rfn_diag *diag = comparing->diag;
    int more;
    while ((more = read_from(comparing, comparing->full, rfn_cursor_next(full, &a, diag))) > 0) {
        more = read_from(comparing, comparing->reduced, rfn_cursor_next(reduced, &b, diag));
        if (more <= 0)
            break;
        RFN_TRY(rfn_archive_match_event(&comparing->pairing, stream, a, b, diag));
        rfn_distances_add(comparing->distances, b->enter_ns, a->enter_ns);
        rfn_distances_add(comparing->distances, b->exit_ns, a->exit_ns);
        if (++comparing->events % PROGRESS_EVENTS == 0)
            show_pass(comparing, (double)comparing->events / (double)comparing->all_events);
    }
    return more;
}

static int compare_streams(struct comparing *comparing)
{
    const struct rfn_archive *full = comparing->full, *reduced = comparing->reduced;
    uint32_t n = rfn_archive_run(full)->streams;
    for (uint32_t i = 0; i < n; i++)
        comparing->all_events += rfn_archive_stream(full, i).events;
    for (uint32_t i = 0; i < n; i++) {
        struct rfn_cursor *a, *b;
        RFN_TRY(read_from(comparing, full, rfn_cursor_open(full, i, &a, comparing->diag)));
        int error = read_from(comparing, reduced, rfn_cursor_open(reduced, i, &b, comparing->diag));
        if (!error) {
            error = compare_events(comparing, i, a, b);
            rfn_cursor_close(b);
        }
        rfn_cursor_close(a);
        RFN_TRY(error);
    }
    comparing->result->events = comparing->events;
    comparing->passes++;
    return 0;
}

/* ---- trends ---- */

/* Reads all of an archive. */
static int find_waits(struct comparing *comparing, const struct rfn_archive *archive,
                      struct rfn_profile **profile, struct rfn_waits **waits)
{
    const struct rfn_waits_options options = {.profile = profile};
    comparing->concerned = archive;
    RFN_TRY(rfn_waits_new(archive, &options, show_pass, comparing, waits, comparing->diag));
    comparing->passes++;
    if (!(*waits)->error) {
        comparing->concerned = NULL;
        return 0;
    }
    if (comparing->diag)
        *comparing->diag = (*waits)->diag;
    return (*waits)->error;
}

/* Both shares are of the whole run, as ranks wait in Init and Finalize, too. */
struct rfn_run_times rfn_run_times_of(const struct rfn_profile *profile,
                                      const struct rfn_waits *waits)
{
    struct rfn_run_times times = {.run_ns = profile->end_ns - profile->start_ns,
                                  .mpi_share = rfn_profile_efficiency(profile).mpi_share};
    double all_ns = 0;
    for (uint32_t i = 0; i < profile->n_ranks; i++)
        all_ns += (double)times.run_ns * profile->ranks[i].threads -
                  (double)profile->ranks[i].unrecorded_ns;
    if (all_ns > 0)
        times.wait_share = (double)waits->total_ns / all_ns;
    return times;
}

static int64_t outside_of(const struct rfn_profile *profile)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < profile->n_ranks; i++)
        sum += rfn_profile_outside_ns(&profile->ranks[i]);
    return sum;
}

static int compare_trends(struct comparing *comparing)
{
    struct rfn_waits *full = NULL, *reduced = NULL;
    struct rfn_profile *profile = NULL, *reduced_profile = NULL;
    int error = find_waits(comparing, comparing->full, &profile, &full);
    if (!error)
        error = find_waits(comparing, comparing->reduced, &reduced_profile, &reduced);
    if (!error) {
        struct rfn_comparison *result = comparing->result;
        result->full_times = rfn_run_times_of(profile, full);
        result->reduced_times = rfn_run_times_of(reduced_profile, reduced);
        result->full_outside_ns = outside_of(profile);
        result->reduced_outside_ns = outside_of(reduced_profile);
        error = rfn_trends_compare(full, reduced, &comparing->pairing, result);
        if (error < 0)
            no_memory(comparing->diag);
    }
    rfn_profile_free(profile);
    rfn_profile_free(reduced_profile);
    rfn_waits_free(full);
    rfn_waits_free(reduced);
    return error;
}

/* ---- the whole ---- */

static int compare(struct comparing *comparing)
{
    const struct rfn_archive *archives[] = {comparing->full, comparing->reduced};
    const struct rfn_run *full = rfn_archive_run(comparing->full);
    const struct rfn_run *reduced = rfn_archive_run(comparing->reduced);
    struct rfn_comparison *result = comparing->result;
    for (int i = 0; i < 2; i++) {
        if (!rfn_archive_run(archives[i])->times)
            return read_from(
                comparing, archives[i],
                rfn_fail(comparing->diag, RFN_E_UNSUPPORTED, -1, -1,
                         "the archive has no times to compare; record it with --time=full"));
    }
    result->full_bytes = full->file_bytes;
    result->reduced_bytes = reduced->file_bytes;
    if (result->full_bytes)
        result->size_percent = 100 * (double)result->reduced_bytes / (double)result->full_bytes;
    /* What the reduced archive says of itself: all zero for one that is not reduced. */
    const struct rfn_degrees degrees = rfn_degrees_of(&reduced->reduction, reduced->across);
    result->degree_within = degrees.within;
    result->degree_across = degrees.across;
    result->degree_of_matching = degrees.both;
    RFN_TRY(rfn_archive_match_init(&comparing->pairing, comparing->full, comparing->reduced,
                                   comparing->diag));
    int error = compare_streams(comparing);
    if (!error)
        error = compare_trends(comparing);
    rfn_archive_match_release(&comparing->pairing);
    result->approximation_distance_us = rfn_distances_approximation_us(comparing->distances);
    result->largest_distance_us = 1e-3 * (double)comparing->distances->largest_ns;
    return error;
}

int rfn_comparison_new(const struct rfn_archive *full, const struct rfn_archive *reduced,
                       void (*progress)(void *context, double share), void *context,
                       struct rfn_comparison **comparison, const struct rfn_archive **concerned,
                       struct rfn_diag *diag)
{
    struct comparing comparing = {
        .full = full, .reduced = reduced, .diag = diag, .progress = progress, .context = context};
    comparing.distances = calloc(1, sizeof *comparing.distances);
    comparing.result = calloc(1, sizeof *comparing.result);
    bool made = comparing.distances && comparing.result;
    int error = made ? compare(&comparing) : no_memory(diag);
    free(comparing.distances);
    if (concerned)
        *concerned = comparing.concerned;
    if (error) {
        rfn_comparison_free(comparing.result);
        comparing.result = NULL;
    }
    *comparison = comparing.result;
    return error;
}

void rfn_comparison_free(struct rfn_comparison *comparison)
{
    if (!comparison)
        return;
    free(comparison->changes);
    free(comparison);
}
