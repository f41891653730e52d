/* report_json.c - everything of the report's page, as raw numbers. */
#include "cli/report/report.h"
#include "cli/text/aggregation_text.h"
#include "cli/text/hosts.h"
#include "cli/text/json.h"
#include "cli/text/left_out_text.h"
#include "cli/text/run_text.h"
#include "cli/text/spawned_jobs.h"

/* Changes when a member goes or means something else (refrain-json(5)). */
enum { SCHEMA = 3 };

json_t *rfn_report_seconds(const struct rfn_report *report, double ns)
{
    return report->profile->times ? rfn_json_seconds(ns) : json_null();
}

static json_t *ratio(const struct rfn_report *report, double value)
{
    return report->efficiency.all_ns ? json_real(value) : json_null();
}

static void set_run(json_t *value, const struct rfn_report *report)
{
    const struct rfn_run *run = report->run;
    RFN_JSON_SET(value, "file", report->file);
    RFN_JSON_SET(value, "top",
                 report->top == SIZE_MAX ? json_null() : json_integer((json_int_t)report->top));
    rfn_json_missing(value, report->archive);
    RFN_JSON_SET(value, "region", report->profile->region);
    RFN_JSON_SET(value, "missing_ranks", rfn_report_missing(report));
    RFN_JSON_SET(value, "unreadable_threads", report->profile->unreadable);
    RFN_JSON_SET(value, "recorder", run->recorder);
    RFN_JSON_SET(value, "program", run->program);
    RFN_JSON_SET(value, "command", run->command);
    RFN_JSON_SET(value, "mpi", run->mpi);
    RFN_JSON_SET(value, "flavour", run->flavour);
    RFN_JSON_SET(value, "started_seconds", rfn_json_seconds((double)run->start_realtime_ns));
    RFN_JSON_SET(value, "hosts", rfn_json_hosts(report->archive));
    RFN_JSON_SET(value, "children", rfn_json_spawned_jobs(report->archive));
    RFN_JSON_SET(value, "ranks", run->ranks);
    RFN_JSON_SET(value, "threads", run->streams);
    RFN_JSON_SET(value, "times", run->times);
    RFN_JSON_SET(value, "reduced", rfn_json_reduction(run));
    RFN_JSON_SET(value, "ignored_parameters", run->forced);
    RFN_JSON_SET(value, "predicted", run->predicted);
    RFN_JSON_SET(value, "aggregated", rfn_json_aggregation(report->archive));
    RFN_JSON_SET(value, "volume", run->volume);
    RFN_JSON_SET(value, "volume_unit", run->volume ? rfn_json_text(run->volume_unit) : json_null());
    RFN_JSON_SET(value, "online_merges_seconds", rfn_json_seconds((double)run->merging.online.ns));
    RFN_JSON_SET(
        value, "run_time_seconds",
        rfn_report_seconds(report, (double)(report->profile->end_ns - report->profile->start_ns)));
}

static void set_events(json_t *value, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    RFN_JSON_SET(value, "events", profile->events);
    RFN_JSON_SET(value, "calls", profile->calls);
    RFN_JSON_SET(value, "unsuccessful_polls", profile->failed_polls);
    RFN_JSON_SET(value, "main_from_seconds",
                 rfn_report_seconds(report, (double)(profile->main_from_ns - profile->start_ns)));
    RFN_JSON_SET(value, "main_to_seconds",
                 rfn_report_seconds(report, (double)(profile->main_to_ns - profile->start_ns)));
    RFN_JSON_SET(value, "region_events", profile->region_events);
    RFN_JSON_SET(value, "paused", profile->paused);
    RFN_JSON_SET(value, "unrecorded_seconds",
                 rfn_report_seconds(report, (double)profile->unrecorded_ns));
    RFN_JSON_SET(value, "recording_seconds",
                 rfn_report_seconds(report, (double)profile->recording_ns));
}

/* Null where nothing can be predicted. */
static void set_ideal(json_t *value, const struct rfn_report *report)
{
    const struct rfn_report_ahead *ahead = report->ahead;
    const struct rfn_window_efficiency e = ahead ? rfn_report_window_efficiency(&ahead->main)
                                                 : (struct rfn_window_efficiency){0};
    RFN_JSON_SET(value, "serialization_efficiency",
                 ahead ? json_real(e.serialization) : json_null());
    RFN_JSON_SET(value, "transfer_efficiency", ahead ? json_real(e.transfer) : json_null());
    RFN_JSON_SET(value, "ideal_seconds",
                 ahead ? rfn_json_seconds((double)ahead->main.ideal_ns) : json_null());
}

static json_t *efficiency_json(const struct rfn_report *report)
{
    const struct rfn_efficiency *e = &report->efficiency;
    json_t *value = json_object();
    RFN_JSON_SET(value, "mpi_share", ratio(report, e->mpi_share));
    RFN_JSON_SET(value, "setup_share", ratio(report, e->setup_share));
    RFN_JSON_SET(value, "load_balance", ratio(report, e->load_balance));
    RFN_JSON_SET(value, "communication_efficiency", ratio(report, e->communication));
    RFN_JSON_SET(value, "parallel_efficiency", ratio(report, e->parallel));
    set_ideal(value, report);
    RFN_JSON_SET(value, "mean_outside_seconds",
                 rfn_report_seconds(report, (double)e->mean_outside_ns));
    RFN_JSON_SET(value, "max_outside_seconds",
                 rfn_report_seconds(report, (double)e->max_outside_ns));
    RFN_JSON_SET(value, "max_outside_rank",
                 e->all_ns ? json_integer(e->max_outside_rank) : json_null());
    return value;
}

static void set_usage(json_t *value, struct rfn_process_usage usage)
{
    const double wall = (double)usage.wall_ns;
    if (!usage.known)
        return;
    RFN_JSON_SET(value, "peak_memory_bytes", usage.peak_bytes);
    RFN_JSON_SET(value, "cpu_seconds", rfn_json_seconds((double)usage.cpu_ns));
    RFN_JSON_SET(value, "cpu_share", wall > 0 ? (double)usage.cpu_ns / wall : 0);
    RFN_JSON_SET(value, "core_wait_seconds",
                 usage.knows_waiting ? rfn_json_seconds((double)usage.core_wait_ns) : json_null());
    RFN_JSON_SET(value, "core_wait_share",
                 usage.knows_waiting && wall > 0 ? json_real((double)usage.core_wait_ns / wall)
                                                 : json_null());
    RFN_JSON_SET(value, "switches", usage.switches);
    RFN_JSON_SET(value, "preemptions", usage.preemptions);
}

static json_t *rank_json(const struct rfn_report *report, uint32_t number)
{
    const struct rfn_profile *profile = report->profile;
    const struct rfn_profile_rank *rank = &profile->ranks[number];
    json_t *value = json_object();
    RFN_JSON_SET(value, "rank", number);
    RFN_JSON_SET(value, "threads", rank->threads);
    RFN_JSON_SET(value, "events", rank->events);
    RFN_JSON_SET(value, "calls", rank->calls);
    RFN_JSON_SET(value, "mpi_seconds", rfn_report_seconds(report, (double)rank->mpi_ns));
    RFN_JSON_SET(value, "setup_seconds", rfn_report_seconds(report, (double)rank->setup_ns));
    RFN_JSON_SET(value, "outside_seconds",
                 rfn_report_seconds(report, (double)rfn_profile_outside_ns(rank)));
    RFN_JSON_SET(value, "main_outside_seconds",
                 rfn_report_seconds(report, (double)rank->main_outside_ns));
    RFN_JSON_SET(value, "unrecorded_seconds",
                 rfn_report_seconds(report, (double)rank->unrecorded_ns));
    RFN_JSON_SET(value, "recording_seconds",
                 rfn_report_seconds(report, (double)rank->recording_ns));
    RFN_JSON_SET(value, "messages", rank->messages);
    RFN_JSON_SET(value, "sent_bytes", rank->sent_bytes);
    RFN_JSON_SET(value, "collective_bytes", rank->collective_bytes);
    RFN_JSON_SET(value, "one_sided", rank->accesses);
    RFN_JSON_SET(value, "one_sided_bytes", rank->accessed_bytes);
    if (report->usage)
        set_usage(value, rfn_usage_of_rank(report->usage, number));
    rfn_report_rank_cores_json(value, report, number);
    if (rank->counted) {
        RFN_JSON_SET(value, "volume_outside", rank->volume_outside);
        RFN_JSON_SET(value, "volume_mpi", rank->volume_mpi);
        RFN_JSON_SET(value, "volume_setup", rank->volume_setup);
    }
    return value;
}

static void set_spread(json_t *value, const struct rfn_report *report,
                       const struct rfn_spread *time)
{
    RFN_JSON_SET(value, "seconds", rfn_json_seconds((double)time->total_ns));
    RFN_JSON_SET(value, "share", rfn_report_share(report, time->total_ns));
    RFN_JSON_SET(value, "min_seconds", rfn_json_seconds((double)time->min_ns));
    RFN_JSON_SET(value, "min_rank", time->min_rank);
    RFN_JSON_SET(value, "mean_seconds",
                 rfn_json_seconds(time->ranks ? (double)time->total_ns / time->ranks : 0));
    RFN_JSON_SET(value, "max_seconds", rfn_json_seconds((double)time->max_ns));
    RFN_JSON_SET(value, "max_rank", time->max_rank);
}

static json_t *row_json(const struct rfn_report *report, const struct rfn_profile_row *row)
{
    const char *name = rfn_archive_function(report->archive, row->function)->name;
    json_t *value = json_object();
    RFN_JSON_SET(value, "function", name);
    RFN_JSON_SET(value, "setup", rfn_report_setup(report, row));
    RFN_JSON_SET(value, "ranks", row->time.ranks);
    RFN_JSON_SET(value, "events", row->events);
    RFN_JSON_SET(value, "calls", row->calls);
    if (report->profile->times) {
        set_spread(value, report, &row->time);
        if (rfn_report_setup(report, row)) /* shares are of the main part */
            RFN_JSON_SET(value, "share", json_null());
        RFN_JSON_SET(value, "shortest_seconds", rfn_json_seconds((double)row->min_ns));
        RFN_JSON_SET(value, "longest_seconds", rfn_json_seconds((double)row->max_ns));
        RFN_JSON_SET(value, "between_polls_seconds",
                     rfn_json_seconds((double)row->between_polls_ns));
    }
    RFN_JSON_SET(value, "bytes", row->bytes);
    RFN_JSON_SET(value, "sent_bytes", row->sent_bytes);
    RFN_JSON_SET(value, "received_bytes", row->received_bytes);
    if (report->run->volume) {
        RFN_JSON_SET(value, "volume_before", row->volume_before);
        RFN_JSON_SET(value, "volume_inside", row->volume_inside);
    }
    RFN_JSON_SET(value, "frames", rfn_json_frames(report->archive, row->path));
    return value;
}

static json_t *rows_json(const struct rfn_report *report)
{
    json_t *list = json_array();
    size_t shown = 0;
    for (size_t i = 0; i < report->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &report->profile->rows[i];
        if (!rfn_report_shows_call(report, row->function, row->path))
            continue;
        if (rfn_report_setup(report, row) || shown++ < report->top)
            json_array_append_new(list, row_json(report, row));
    }
    return list;
}

static json_t *spread_json(const struct rfn_report *report, const struct rfn_spread *spread)
{
    json_t *value = report->profile->times ? json_object() : json_null();
    if (report->profile->times)
        set_spread(value, report, spread);
    return value;
}

static json_t *regions_json(const struct rfn_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->profile->n_regions && i < report->top; i++) {
        const struct rfn_region_row *row = &report->profile->regions[i];
        json_t *value = json_object();
        RFN_JSON_SET(value, "name", row->name);
        RFN_JSON_SET(value, "visits", row->visits);
        RFN_JSON_SET(value, "unrecorded_calls", row->unrecorded);
        RFN_JSON_SET(value, "ranks", row->time.ranks);
        RFN_JSON_SET(value, "time", spread_json(report, &row->time));
        RFN_JSON_SET(value, "in_mpi", spread_json(report, &row->mpi));
        RFN_JSON_SET(value, "outside_mpi", spread_json(report, &row->outside));
        RFN_JSON_SET(value, "load_balance",
                     report->profile->times ? json_real(rfn_report_balance(&row->outside))
                                            : json_null());
        RFN_JSON_SET(value, "parallel_efficiency",
                     row->time.total_ns > 0
                         ? json_real((double)row->outside.total_ns / (double)row->time.total_ns)
                         : json_null());
        RFN_JSON_SET(value, "waiting_seconds", rfn_report_seconds(report, (double)row->waiting_ns));
        RFN_JSON_SET(value, "messages", row->messages);
        json_array_append_new(list, value);
    }
    return list;
}

static json_t *bins_json(const struct rfn_size_bin bins[RFN_SIZE_BINS])
{
    json_t *list = json_array();
    for (unsigned i = 0; i < RFN_SIZE_BINS; i++) {
        uint64_t least = i ? (uint64_t)1 << (i - 1) : 0;
        if (!bins[i].count)
            continue;
        json_t *bin = json_object();
        RFN_JSON_SET(bin, "min_bytes", least);
        RFN_JSON_SET(bin, "max_bytes", least ? least - 1 + least : 0);
        RFN_JSON_SET(bin, "count", bins[i].count);
        RFN_JSON_SET(bin, "bytes", bins[i].bytes);
        json_array_append_new(list, bin);
    }
    return list;
}

/* names: of the two ranks, and of what is counted. */
static json_t *pairs_json(const struct rfn_report *report, const struct rfn_pair *pairs, size_t n,
                          const char *const names[3])
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct rfn_pair *pair = &pairs[i];
        if (!rfn_report_shows_rank(report, pair->source) &&
            !rfn_report_shows_rank(report, pair->dest))
            continue;
        json_t *value = json_object();
        RFN_JSON_SET(value, names[0], pair->source);
        RFN_JSON_SET(value, names[1], pair->dest);
        RFN_JSON_SET(value, names[2], pair->messages);
        RFN_JSON_SET(value, "bytes", pair->bytes);
        json_array_append_new(list, value);
    }
    return list;
}

static json_t *disturbed_json(const struct rfn_report *report)
{
    const struct rfn_measured run = rfn_report_measured(report);
    const struct rfn_disturbance of = rfn_disturbance_of(&run);
    struct rfn_text text = {0};
    json_t *value = json_object();
    RFN_JSON_SET(value, "calls", of.calls);
    RFN_JSON_SET(value, "seconds", rfn_report_seconds(report, (double)of.ns));
    if (of.longest)
        rfn_disturbance_append(&text, &run, &of);
    RFN_JSON_SET(value, "text", of.longest ? rfn_json_of_text(&text) : json_null());
    return value;
}

/* What events say. */
static void set_analysis(json_t *value, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    json_t *ranks = json_array(), *sizes = json_object();
    set_events(value, report);
    RFN_JSON_SET(value, "efficiency", efficiency_json(report));
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        if (rfn_report_shows_rank(report, i))
            json_array_append_new(ranks, rank_json(report, i));
    }
    RFN_JSON_SET(value, "cores", rfn_report_cores_json(report));
    RFN_JSON_SET(value, "disturbed", disturbed_json(report));
    rfn_report_stories_json(value, report);
    rfn_report_waits_json(value, report);
    RFN_JSON_SET(value, "behaviour", rfn_report_behaviour_json(report));
    RFN_JSON_SET(value, "alike", rfn_report_alike_json(report));
    RFN_JSON_SET(value, "time_per_rank", ranks);
    RFN_JSON_SET(value, "by_host", rfn_report_by_host_json(report));
    RFN_JSON_SET(value, "regions", regions_json(report));
    RFN_JSON_SET(value, "windows", rfn_report_windows_json(report));
    RFN_JSON_SET(value, "files", rfn_report_files_json(report));
    RFN_JSON_SET(value, "functions", rfn_report_functions_json(report));
    RFN_JSON_SET(value, "call_paths", rows_json(report));
    RFN_JSON_SET(sizes, "point_to_point", bins_json(profile->point_to_point));
    RFN_JSON_SET(sizes, "collective", bins_json(profile->collective));
    RFN_JSON_SET(sizes, "one_sided", bins_json(profile->one_sided));
    RFN_JSON_SET(value, "message_sizes", sizes);
    RFN_JSON_SET(value, "communication_matrix",
                 pairs_json(report, profile->pairs, profile->n_pairs,
                            (const char *const[]){"source", "dest", "messages"}));
    RFN_JSON_SET(value, "one_sided_matrix",
                 pairs_json(report, profile->accesses, profile->n_accesses,
                            (const char *const[]){"origin", "target", "operations"}));
}

json_t *rfn_report_json(const struct rfn_report *report)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "schema", (uint32_t)SCHEMA);
    set_run(value, report);
    if (!rfn_report_only_samples(report))
        set_analysis(value, report);
    RFN_JSON_SET(value, "sampling", rfn_report_samples_json(report));
    return value;
}
