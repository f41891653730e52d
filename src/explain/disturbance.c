/* disturbance.c - what the machine did to the run: calls that take longer than any MPI takes for
 * them, and threads without cores. */
#include "event/quick_calls.h"
#include "refrain/event.h"
#include "refrain/explain.h"

/* ---- calls ---- */

static bool is_quick(const struct rfn_measured *run, uint32_t function)
{
    return rfn_call_is_quick(rfn_archive_function(run->archive, function)->name);
}

struct rfn_disturbance rfn_disturbance_of(const struct rfn_measured *run)
{
    struct rfn_disturbance all = {0};
    for (size_t i = 0; i < run->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &run->profile->rows[i];
        if (!row->long_events || !is_quick(run, row->function))
            continue;
        all.calls += row->long_events;
        all.ns += row->long_ns;
        if (!all.longest || row->max_ns > all.longest->max_ns)
            all.longest = row;
    }
    return all;
}

/* Whether a rank was in calls that are fast in every MPI, most of the time that this activity took.
 */
static bool is_disturbed(const struct rfn_measured *run, const struct rfn_activity *activity)
{
    const struct rfn_call_site at = activity->at;
    if (activity->kind != RFN_ACTIVITY_MPI ||
        !rfn_call_is_quick(rfn_call_site_function(run->archive, at)->name))
        return false;
    for (size_t i = 0; i < run->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &run->profile->rows[i];
        if (row->function == at.function && row->path == at.path)
            return 2 * row->long_ns > row->time.total_ns;
    }
    return false;
}

bool rfn_activity_is_beyond_program(const struct rfn_measured *run,
                                    const struct rfn_activity *activity)
{
    const bool in_call = activity->kind == RFN_ACTIVITY_MPI || activity->kind == RFN_ACTIVITY_WAIT;
    return activity->kind == RFN_ACTIVITY_START ||
           (in_call &&
            rfn_call_site_function(run->archive, activity->at)->class_ == RFN_CLASS_SETUP) ||
           is_disturbed(run, activity);
}

void rfn_disturbance_append(struct rfn_text *text, const struct rfn_measured *run,
                            const struct rfn_disturbance *disturbance)
{
    const struct rfn_profile_row *row = disturbance->longest;
    const struct rfn_activity activity = {.kind = RFN_ACTIVITY_MPI,
                                          .at = {row->function, row->path}};
    const bool one = disturbance->calls == 1;
    rfn_text_format(text, "%s call%s fast in every MPI took %s (%s",
                    rfn_count_text(disturbance->calls).text, one ? " that is" : "s that are",
                    rfn_time_text(disturbance->ns).text, one ? "" : "the longest ");
    if (!one)
        rfn_text_format(text, "%s ", rfn_time_text(row->max_ns).text);
    rfn_activity_append(text, run->archive, &activity);
    rfn_text_format(text,
                    ", on rank %u). The program is not the cause: the rank had no core, waited for "
                    "memory, or was stopped.",
                    row->max_rank);
}

/* ---- cores ---- */

static double share_of(const struct rfn_core_window *sum)
{
    const double all = (double)sum->on_core_ns + (double)sum->runnable_ns;
    return all > 0 ? (double)sum->on_core_ns / all : 1;
}

struct rfn_core_access rfn_core_access_of(const struct rfn_measured *run)
{
    struct rfn_core_access access = {.share = 1, .worst_share = 1};
    for (size_t i = 0; run->usage && i < run->usage->n_cores; i++) {
        const struct rfn_process_cores *of = &run->usage->cores[i];
        const struct rfn_core_window sum = rfn_process_cores_sum(of);
        const double share = share_of(&sum);
        if (!of->n_windows)
            continue;
        if (!access.known || share < access.worst_share)
            access.worst_rank = of->rank, access.worst_share = share;
        access.known = true;
        access.on_core_ns += (double)sum.on_core_ns;
        access.runnable_ns += (double)sum.runnable_ns;
    }
    const double all = access.on_core_ns + access.runnable_ns;
    access.share = all > 0 ? access.on_core_ns / all : 1;
    return access;
}

double rfn_core_share_of_rank(const struct rfn_measured *run, uint32_t rank)
{
    const struct rfn_process_cores *of = run->usage ? rfn_usage_cores_of_rank(run->usage, rank)
                                                    : NULL;
    if (!of || !of->n_windows)
        return -1;
    const struct rfn_core_window sum = rfn_process_cores_sum(of);
    return share_of(&sum);
}
