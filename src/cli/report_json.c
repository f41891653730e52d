/* report_json.c - everything of the report's page, as raw numbers. */
#include "cli/call_path.h"
#include "cli/children.h"
#include "cli/json.h"
#include "cli/reduction.h"
#include "cli/report.h"
#include "refrain/event.h"

static json_t *ns(const struct rfn_report *report, int64_t value)
{
    return report->profile->times ? json_integer(value) : json_null();
}

static json_t *ratio(const struct rfn_report *report, double value)
{
    return report->efficiency.all_ns ? json_real(value) : json_null();
}

static void set_run(json_t *value, const struct rfn_report *report)
{
    const struct rfn_run *run = report->run;
    const struct rfn_profile *profile = report->profile;
    json_object_set_new(value, "file", rfn_json_text(report->file));
    json_object_set_new(value, "complete", json_boolean(!report->incomplete));
    if (report->incomplete)
        json_object_set_new(value, "incomplete_because", rfn_json_text(report->incomplete));
    json_object_set_new(value, "missing_ranks", json_integer(rfn_report_missing(report)));
    json_object_set_new(value, "unreadable_threads", json_integer(profile->unreadable));
    json_object_set_new(value, "recorder", rfn_json_text(run->recorder));
    json_object_set_new(value, "program", rfn_json_text(run->program));
    json_object_set_new(value, "command", rfn_json_text(run->command));
    json_object_set_new(value, "mpi", rfn_json_text(run->mpi));
    json_object_set_new(value, "flavour", rfn_json_text(run->flavour));
    json_object_set_new(value, "start_realtime_ns", json_integer(run->start_realtime_ns));
    json_object_set_new(value, "hosts", rfn_json_hosts(report->archive));
    json_object_set_new(value, "children", rfn_json_children(report->archive));
    json_object_set_new(value, "ranks", json_integer(run->ranks));
    json_object_set_new(value, "threads", json_integer(run->streams));
    json_object_set_new(value, "times", json_boolean(run->times));
    json_object_set_new(value, "reduced", rfn_json_reduction(run));
    json_object_set_new(value, "ignored_parameters", rfn_json_text(run->forced));
    json_object_set_new(value, "volume", run->volume ? rfn_json_text(run->volume) : json_null());
    json_object_set_new(value, "volume_unit",
                        run->volume ? rfn_json_text(run->volume_unit) : json_null());
    json_object_set_new(value, "events", rfn_json_count(profile->events));
    json_object_set_new(value, "calls", rfn_json_count(profile->calls));
    json_object_set_new(value, "unsuccessful_polls", rfn_json_count(profile->failed_polls));
    json_object_set_new(value, "run_time_ns", ns(report, profile->end_ns - profile->start_ns));
    json_object_set_new(value, "region_events", rfn_json_count(profile->region_events));
    json_object_set_new(value, "paused", json_boolean(profile->paused));
    json_object_set_new(value, "unrecorded_ns", ns(report, profile->unrecorded_ns));
    json_object_set_new(value, "meetings_ns", rfn_json_count(run->merging.before.ns));
}

static json_t *efficiency_json(const struct rfn_report *report)
{
    const struct rfn_efficiency *e = &report->efficiency;
    json_t *value = json_object();
    json_object_set_new(value, "mpi_share", ratio(report, e->mpi_share));
    json_object_set_new(value, "setup_share", ratio(report, e->setup_share));
    json_object_set_new(value, "load_balance", ratio(report, e->load_balance));
    json_object_set_new(value, "communication_efficiency", ratio(report, e->communication));
    json_object_set_new(value, "parallel_efficiency", ratio(report, e->parallel));
    json_object_set_new(value, "parallel", ratio(report, e->parallel));
    json_object_set_new(value, "communication", ratio(report, e->communication));
    json_object_set_new(value, "serialization", json_null()); /* need the run time on an ideal */
    json_object_set_new(value, "transfer", json_null());      /* network */
    json_object_set_new(value, "mean_outside_ns", ns(report, e->mean_outside_ns));
    json_object_set_new(value, "max_outside_ns", ns(report, e->max_outside_ns));
    json_object_set_new(value, "max_outside_rank",
                        e->all_ns ? json_integer(e->max_outside_rank) : json_null());
    return value;
}

static json_t *rank_json(const struct rfn_report *report, uint32_t number)
{
    const struct rfn_profile *profile = report->profile;
    const struct rfn_profile_rank *rank = &profile->ranks[number];
    json_t *value = json_object();
    json_object_set_new(value, "rank", json_integer(number));
    json_object_set_new(value, "threads", json_integer(rank->threads));
    json_object_set_new(value, "events", rfn_json_count(rank->events));
    json_object_set_new(value, "calls", rfn_json_count(rank->calls));
    json_object_set_new(value, "mpi_ns", ns(report, rank->mpi_ns));
    json_object_set_new(value, "setup_ns", ns(report, rank->setup_ns));
    json_object_set_new(value, "outside_ns", ns(report, rfn_profile_outside_ns(rank)));
    json_object_set_new(value, "unrecorded_ns", ns(report, rank->unrecorded_ns));
    json_object_set_new(value, "messages", rfn_json_count(rank->messages));
    json_object_set_new(value, "sent_bytes", rfn_json_count(rank->sent_bytes));
    json_object_set_new(value, "collective_bytes", rfn_json_count(rank->collective_bytes));
    if (rank->counted) {
        json_object_set_new(value, "volume_outside", rfn_json_count(rank->volume_outside));
        json_object_set_new(value, "volume_mpi", rfn_json_count(rank->volume_mpi));
        json_object_set_new(value, "volume_setup", rfn_json_count(rank->volume_setup));
    }
    return value;
}

json_t *rfn_report_frames_json(const struct rfn_archive *archive, uint32_t path)
{
    struct rfn_path frames = {0};
    if (path < rfn_archive_paths(archive))
        frames = rfn_archive_path(archive, path);
    json_t *list = json_array();
    for (uint32_t i = 0; i < frames.n_frames; i++) {
        struct rfn_location location = rfn_archive_location(archive, frames.frames[i]);
        json_t *frame = rfn_json_location(&location);
        json_object_set_new(frame, "internal", json_boolean(rfn_call_path_internal(&location)));
        json_array_append_new(list, frame);
    }
    return list;
}

static void set_spread(json_t *value, const struct rfn_report *report,
                       const struct rfn_spread *time)
{
    json_object_set_new(value, "total_ns", json_integer(time->total_ns));
    json_object_set_new(value, "share", json_real(rfn_report_share(report, time->total_ns)));
    json_object_set_new(value, "min_ns", json_integer(time->min_ns));
    json_object_set_new(value, "min_rank", json_integer(time->min_rank));
    json_object_set_new(value, "mean_ns",
                        json_real(time->ranks ? (double)time->total_ns / time->ranks : 0));
    json_object_set_new(value, "max_ns", json_integer(time->max_ns));
    json_object_set_new(value, "max_rank", json_integer(time->max_rank));
}

static void set_times(json_t *value, const struct rfn_report *report,
                      const struct rfn_profile_row *row)
{
    set_spread(value, report, &row->time);
    json_object_set_new(value, "shortest_event_ns", json_integer(row->min_ns));
    json_object_set_new(value, "longest_event_ns", json_integer(row->max_ns));
    json_object_set_new(value, "between_polls_ns", json_integer(row->between_polls_ns));
}

static json_t *row_json(const struct rfn_report *report, const struct rfn_profile_row *row)
{
    const char *name = rfn_archive_function(report->archive, row->function)->name;
    json_t *value = json_object();
    json_object_set_new(value, "function", rfn_json_text(name));
    json_object_set_new(value, "setup", json_boolean(rfn_report_setup(report, row)));
    json_object_set_new(value, "ranks", json_integer(row->time.ranks));
    json_object_set_new(value, "events", rfn_json_count(row->events));
    json_object_set_new(value, "calls", rfn_json_count(row->calls));
    if (report->profile->times)
        set_times(value, report, row);
    json_object_set_new(value, "bytes", rfn_json_count(row->bytes));
    json_object_set_new(value, "sent_bytes", rfn_json_count(row->sent_bytes));
    json_object_set_new(value, "received_bytes", rfn_json_count(row->received_bytes));
    if (report->run->volume) {
        json_object_set_new(value, "volume_before", rfn_json_count(row->volume_before));
        json_object_set_new(value, "volume_inside", rfn_json_count(row->volume_inside));
    }
    json_object_set_new(value, "frames", rfn_report_frames_json(report->archive, row->path));
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
    if (!report->profile->times)
        return json_null();
    json_t *value = json_object();
    set_spread(value, report, spread);
    return value;
}

static json_t *regions_json(const struct rfn_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->profile->n_regions; i++) {
        const struct rfn_region_row *row = &report->profile->regions[i];
        json_t *value = json_object();
        json_object_set_new(value, "name", rfn_json_text(row->name));
        json_object_set_new(value, "visits", rfn_json_count(row->visits));
        json_object_set_new(value, "unrecorded_calls", rfn_json_count(row->unrecorded));
        json_object_set_new(value, "ranks", json_integer(row->time.ranks));
        json_object_set_new(value, "time", spread_json(report, &row->time));
        json_object_set_new(value, "in_mpi", spread_json(report, &row->mpi));
        json_array_append_new(list, value);
    }
    return list;
}

static json_t *bins_json(const struct rfn_size_bin bins[RFN_SIZE_BINS])
{
    json_t *list = json_array();
    for (unsigned i = 0; i < RFN_SIZE_BINS; i++) {
        if (!bins[i].count)
            continue;
        json_t *bin = json_object();
        uint64_t least = i ? (uint64_t)1 << (i - 1) : 0;
        json_object_set_new(bin, "min_bytes", rfn_json_count(least));
        json_object_set_new(bin, "max_bytes", rfn_json_count(least ? least - 1 + least : 0));
        json_object_set_new(bin, "count", rfn_json_count(bins[i].count));
        json_object_set_new(bin, "bytes", rfn_json_count(bins[i].bytes));
        json_array_append_new(list, bin);
    }
    return list;
}

static json_t *pairs_json(const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    json_t *list = json_array();
    for (size_t i = 0; i < profile->n_pairs; i++) {
        const struct rfn_pair *pair = &profile->pairs[i];
        if (!rfn_report_shows_rank(report, pair->source) &&
            !rfn_report_shows_rank(report, pair->dest))
            continue;
        json_t *value = json_object();
        json_object_set_new(value, "source", json_integer(pair->source));
        json_object_set_new(value, "dest", json_integer(pair->dest));
        json_object_set_new(value, "messages", rfn_json_count(pair->messages));
        json_object_set_new(value, "bytes", rfn_json_count(pair->bytes));
        json_array_append_new(list, value);
    }
    return list;
}

json_t *rfn_report_json(const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    json_t *value = json_object(), *ranks = json_array(), *sizes = json_object();
    set_run(value, report);
    json_object_set_new(value, "efficiency", efficiency_json(report));
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        if (rfn_report_shows_rank(report, i))
            json_array_append_new(ranks, rank_json(report, i));
    }
    rfn_report_waits_json(value, report);
    json_object_set_new(value, "behaviour", rfn_report_behaviour_json(report));
    json_object_set_new(value, "alike", rfn_report_alike_json(report));
    json_object_set_new(value, "time_per_rank", ranks);
    json_object_set_new(value, "regions", regions_json(report));
    json_object_set_new(value, "call_paths", rows_json(report));
    json_object_set_new(sizes, "point_to_point", bins_json(profile->point_to_point));
    json_object_set_new(sizes, "collective", bins_json(profile->collective));
    json_object_set_new(value, "message_sizes", sizes);
    json_object_set_new(value, "communication_matrix", pairs_json(report));
    return value;
}
