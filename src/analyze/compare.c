#include "refrain/compare.h"

#include "analyze/degrees.h"
#include "analyze/distances.h"
#include "analyze/pairing.h"
#include "analyze/trends.h"

#include <stdlib.h>

struct comparing {
    const struct rfn_archive *full, *reduced;
    struct rfn_pairing pairing;
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

static void show_events(struct comparing *comparing)
{
    if (++comparing->events % PROGRESS_EVENTS == 0)
        show_pass(comparing, (double)comparing->events / (double)comparing->all_events);
}

/* ---- event by event ---- */

/* As rfn_cursor_next; remembers whose file it is that cannot be read. */
static int next(struct comparing *comparing, const struct rfn_archive *archive,
                struct rfn_cursor *cursor, const struct rfn_record **record)
{
    int more = rfn_cursor_next(cursor, record, comparing->diag);
    if (more < 0)
        comparing->concerned = archive;
    return more;
}

static int compare_event(struct comparing *comparing, uint32_t stream,
                         const struct rfn_record *full, const struct rfn_record *reduced)
{
    RFN_TRY(rfn_pairing_event(&comparing->pairing, stream, full, reduced, comparing->diag));
    rfn_distances_add(comparing->distances, reduced->enter_ns, full->enter_ns);
    rfn_distances_add(comparing->distances, reduced->exit_ns, full->exit_ns);
    show_events(comparing);
    return 0;
}

/* Streams are known to have as many events; a stream that has fewer than it says is damaged, and
 * its cursor says so. */
static int compare_events(struct comparing *comparing, uint32_t stream, struct rfn_cursor *full,
                          struct rfn_cursor *reduced)
{
    const struct rfn_record *a, *b;
    int more;
    while ((more = next(comparing, comparing->full, full, &a)) > 0) {
        more = next(comparing, comparing->reduced, reduced, &b);
        if (more <= 0)
            break;
        RFN_TRY(compare_event(comparing, stream, a, b));
    }
    return more;
}

static int open_cursor(struct comparing *comparing, const struct rfn_archive *archive,
                       uint32_t stream, struct rfn_cursor **cursor)
{
    int error = rfn_cursor_open(archive, stream, cursor, comparing->diag);
    if (error < 0)
        comparing->concerned = archive;
    return error;
}

static int compare_stream(struct comparing *comparing, uint32_t stream)
{
    struct rfn_cursor *full, *reduced;
    RFN_TRY(open_cursor(comparing, comparing->full, stream, &full));
    int error = open_cursor(comparing, comparing->reduced, stream, &reduced);
    if (error == 0) {
        error = compare_events(comparing, stream, full, reduced);
        rfn_cursor_close(reduced);
    }
    rfn_cursor_close(full);
    return error;
}

static int compare_streams(struct comparing *comparing)
{
    uint32_t n = rfn_archive_run(comparing->full)->streams;
    for (uint32_t i = 0; i < n; i++)
        comparing->all_events += rfn_archive_stream(comparing->full, i).events;
    for (uint32_t i = 0; i < n; i++)
        RFN_TRY(compare_stream(comparing, i));
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

static int compare_waits(struct comparing *comparing, const struct rfn_waits *full,
                         const struct rfn_waits *reduced, int64_t run_ns)
{
    struct rfn_trends trends;
    if (rfn_trends_compare(full, reduced, &comparing->pairing, run_ns, &trends) < 0)
        return no_memory(comparing->diag);
    struct rfn_comparison *result = comparing->result;
    result->trends = trends.n;
    result->trends_retained = trends.n_changes == 0;
    result->changes = trends.changes;
    result->n_changes = trends.n_changes;
    result->largest_change = trends.largest_change;
    return 0;
}

struct rfn_run_times rfn_run_times_of(const struct rfn_profile *profile,
                                      const struct rfn_waits *waits)
{
    const struct rfn_efficiency efficiency = rfn_profile_efficiency(profile);
    struct rfn_run_times times = {.run_ns = profile->end_ns - profile->start_ns,
                                  .mpi_share = efficiency.mpi_share};
    if (efficiency.all_ns > 0)
        times.wait_share = (double)waits->total_ns / (double)efficiency.all_ns;
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
        error = compare_waits(comparing, full, reduced, result->full_times.run_ns);
    }
    rfn_profile_free(profile);
    rfn_profile_free(reduced_profile);
    rfn_waits_free(full);
    rfn_waits_free(reduced);
    return error;
}

/* ---- sizes and degrees ---- */

static void fill_sizes(struct comparing *comparing)
{
    struct rfn_comparison *result = comparing->result;
    result->full_bytes = rfn_archive_run(comparing->full)->file_bytes;
    result->reduced_bytes = rfn_archive_run(comparing->reduced)->file_bytes;
    if (result->full_bytes)
        result->size_percent = 100 * (double)result->reduced_bytes / (double)result->full_bytes;
}

/* What the reduced archive says of itself. All zero for one that is not reduced. */
static struct rfn_matching_counts counts_of(const struct rfn_run *run)
{
    const struct rfn_run_reduction *reduction = &run->reduction;
    return (struct rfn_matching_counts){.executions = reduction->executions,
                                        .kinds = reduction->kinds,
                                        .representatives = reduction->representatives,
                                        .streams = reduction->streams,
                                        .classes = reduction->classes,
                                        .groups = reduction->time_sets,
                                        .across = run->across != NULL};
}

static void fill_degrees(struct comparing *comparing)
{
    struct rfn_matching_counts counts = counts_of(rfn_archive_run(comparing->reduced));
    struct rfn_degrees degrees = rfn_degrees_of(&counts);
    comparing->result->degree_within = degrees.within;
    comparing->result->degree_across = degrees.across;
    comparing->result->degree_of_matching = degrees.both;
}

/* ---- the whole ---- */

static int check_times(struct comparing *comparing, const struct rfn_archive *archive)
{
    if (rfn_archive_run(archive)->times)
        return 0;
    comparing->concerned = archive;
    return rfn_fail(comparing->diag, RFN_E_UNSUPPORTED, -1, -1, "the archive has no times");
}

static int compare(struct comparing *comparing)
{
    RFN_TRY(check_times(comparing, comparing->full));
    RFN_TRY(check_times(comparing, comparing->reduced));
    fill_sizes(comparing);
    fill_degrees(comparing);
    RFN_TRY(rfn_pairing_init(&comparing->pairing, comparing->full, comparing->reduced,
                             comparing->diag));
    int error = compare_streams(comparing);
    if (!error)
        error = compare_trends(comparing);
    rfn_pairing_release(&comparing->pairing);
    comparing->result->approximation_distance_us = rfn_distances_approximation_us(
        comparing->distances);
    comparing->result->largest_distance_us = rfn_distances_largest_us(comparing->distances);
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
