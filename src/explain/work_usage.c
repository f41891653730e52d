#include "explain/work_usage.h"

/* Measured gaps that last less in all, or less of all that the ranks spent there, say little: only
 * long ones are measured. */
enum { LEAST_NS = 1000000 };
#define LEAST_PART 0.1
/* Of what one rank spends in some work: below that share the others together do not do it. */
#define NOTHING 0.01

static bool is_between(const struct rfn_gap_usage *gap, const struct rfn_activity *activity)
{
    return gap->before_function == activity->before.function &&
           gap->before_path == activity->before.path && gap->at_function == activity->at.function &&
           gap->at_path == activity->at.path;
}

/* What these ranks did of an activity, as far as it is known. */
static double spent_ns(const struct rfn_measured *run, const struct rfn_activity *activity,
                       const bool *ranks)
{
    const struct rfn_waits *waits = run->waits;
    const int64_t *spent = waits->spent ? waits->spent[activity - waits->activities] : NULL;
    double sum = 0;
    for (uint32_t i = 0; spent && i < waits->n_ranks; i++)
        sum += ranks[i] ? (double)spent[i] : 0;
    return sum;
}

struct rfn_work_usage rfn_work_usage_of(const struct rfn_measured *run,
                                        const struct rfn_activity *activity, const bool *late)
{
    double wall_ns = 0, cpu_ns = 0, core_wait_ns = 0;
    if (activity->kind != RFN_ACTIVITY_COMPUTE || !run->usage)
        return (struct rfn_work_usage){0};
    for (size_t i = 0; i < run->usage->n; i++) {
        const struct rfn_stream_usage *of = &run->usage->streams[i];
        const size_t n_gaps = of->rank < run->waits->n_ranks && late[of->rank] ? of->n_gaps : 0;
        for (size_t g = 0; g < n_gaps; g++) {
            if (!is_between(&of->gaps[g], activity))
                continue;
            wall_ns += (double)of->gaps[g].wall_ns;
            cpu_ns += (double)of->gaps[g].cpu_ns;
            core_wait_ns += (double)of->gaps[g].core_wait_ns;
        }
    }
    if (wall_ns < LEAST_NS || wall_ns < LEAST_PART * spent_ns(run, activity, late))
        return (struct rfn_work_usage){0};
    return (struct rfn_work_usage){true, cpu_ns / wall_ns, core_wait_ns / wall_ns};
}

/* What other ranks are known to compute before the same call, after any call: they do the same
 * work, and may come there by another way. */
static double others_spent(const struct rfn_waits *waits, uint32_t number, uint32_t rank)
{
    const struct rfn_activity *activity = &waits->activities[number];
    double ns = 0;
    for (size_t i = 0; waits->spent && i < waits->n_activities; i++) {
        const struct rfn_activity *other = &waits->activities[i];
        if (other->kind != RFN_ACTIVITY_COMPUTE || !waits->spent[i] ||
            other->at.function != activity->at.function || other->at.path != activity->at.path)
            continue;
        for (uint32_t r = 0; r < waits->n_ranks; r++)
            ns += r == rank ? 0 : (double)waits->spent[i][r];
    }
    return ns;
}

bool rfn_work_is_serial(const struct rfn_measured *run, const struct rfn_finding *finding)
{
    double others = 0, all = 0;
    if (finding->late != RFN_LATE_ONE || finding->n_late != 1 || run->waits->n_ranks < 3 ||
        run->waits->activities[finding->activity].kind != RFN_ACTIVITY_COMPUTE)
        return false;
    for (uint32_t i = 0; i < run->waits->n_ranks; i++) {
        all += (double)finding->spent[i];
        others += i == finding->ranks[0].rank ? 0 : (double)finding->spent[i];
    }
    return all > 0 && others < NOTHING * all &&
           others_spent(run->waits, finding->activity, finding->ranks[0].rank) < NOTHING * all;
}

double rfn_core_wait_share(const struct rfn_measured *run)
{
    double wall_ns = 0, core_wait_ns = 0;
    for (size_t i = 0; run->usage && i < run->usage->n; i++) {
        const struct rfn_process_usage *of = &run->usage->streams[i].process;
        if (!of->known || !of->knows_waiting)
            continue;
        wall_ns += (double)of->wall_ns;
        core_wait_ns += (double)of->core_wait_ns;
    }
    return wall_ns > 0 ? core_wait_ns / wall_ns : -1;
}

void rfn_work_usage_append(struct rfn_text *text, const struct rfn_work_usage *usage,
                           const char *before)
{
    if (rfn_work_lacks_cores(usage))
        rfn_text_format(text, ",%s ran only %s of the time: waits for a core", before,
                        rfn_share_text(usage->cpu_share).text);
    else if (rfn_work_is_idle(usage))
        rfn_text_format(text, ",%s used only %s of a core: input and output, or sleep", before,
                        rfn_share_text(usage->cpu_share).text);
}

const char *rfn_work_usage_advice(const struct rfn_work_usage *usage)
{
    if (rfn_work_lacks_cores(usage))
        return "Give each rank a core of its own: use fewer ranks on a host, run no other programs "
               "there, and pin the ranks.";
    return NULL;
}
