/* runs_json.c - runs side by side, for machines: times in seconds, names as in report --json. */
#include "cli/compare/compare.h"
#include "cli/text/hosts.h"
#include "cli/text/json.h"
#include "cli/text/left_out_text.h"
#include "cli/text/run_text.h"

static json_t *known(bool times, double value)
{
    return times ? json_real(value) : json_null();
}

static json_t *seconds(bool times, double ns)
{
    return times ? rfn_json_seconds(ns) : json_null();
}

/* ---- runs ---- */

static json_t *efficiency_json(const struct rfn_compared_run *run)
{
    const struct rfn_efficiency *e = &run->measured.efficiency;
    json_t *value = json_object();
    RFN_JSON_SET(value, "parallel_efficiency", known(run->times, e->parallel));
    RFN_JSON_SET(value, "load_balance", known(run->times, e->load_balance));
    RFN_JSON_SET(value, "communication_efficiency", known(run->times, e->communication));
    RFN_JSON_SET(value, "mpi_share", known(run->times, e->mpi_share));
    return value;
}

static json_t *spent_json(const struct rfn_compared_run *run)
{
    static const char *const names[RFN_SPENDINGS] = {"computing", "waiting", "mpi_without_waiting",
                                                     "setup", "outside_of_setup"};
    json_t *value = json_object();
    for (int i = 0; i < RFN_SPENDINGS; i++)
        RFN_JSON_SET(value, names[i], rfn_json_seconds(run->spent_ns[i]));
    return value;
}

static json_t *run_json(const char *file, const struct rfn_compared_run *run)
{
    const struct rfn_run *about = rfn_archive_run(run->measured.archive);
    json_t *value = json_object();
    RFN_JSON_SET(value, "file", file);
    RFN_JSON_SET(value, "program", about->program);
    RFN_JSON_SET(value, "command", about->command);
    RFN_JSON_SET(value, "mpi", about->mpi);
    RFN_JSON_SET(value, "hosts", rfn_json_hosts(run->measured.archive));
    rfn_json_missing(value, run->measured.archive);
    const double core_wait = rfn_core_wait_share(&run->measured);
    RFN_JSON_SET(value, "core_wait_share", known(core_wait >= 0, core_wait));
    const struct rfn_core_access access = rfn_core_access_of(&run->measured);
    RFN_JSON_SET(value, "core_share", known(access.known, access.share));
    RFN_JSON_SET(value, "ranks", run->ranks);
    RFN_JSON_SET(value, "missing_ranks", run->ranks - run->present);
    RFN_JSON_SET(value, "times", run->times);
    RFN_JSON_SET(value, "reduced", rfn_json_reduction(about));
    RFN_JSON_SET(value, "run_time_seconds", seconds(run->times, (double)run->run_ns));
    RFN_JSON_SET(value, "efficiency", efficiency_json(run));
    RFN_JSON_SET(value, "seconds_per_rank", run->times ? spent_json(run) : json_null());
    RFN_JSON_SET(value, "calls", run->calls);
    RFN_JSON_SET(value, "messages", run->messages);
    RFN_JSON_SET(value, "sent_bytes", run->sent_bytes);
    RFN_JSON_SET(value, "collective_bytes", run->collective_bytes);
    return value;
}

/* ---- findings ---- */

static json_t *finding_json(const struct rfn_compared_run *run, const struct rfn_finding *finding)
{
    json_t *value = rfn_json_finding(&run->measured, finding);
    RFN_JSON_SET(value, "seconds_per_rank",
                 rfn_json_seconds(rfn_of_a_rank(run, (double)finding->ns)));
    return value;
}

/* The costliest of those that have the same names, how many these are, and what they cost. */
static json_t *side_json(const struct rfn_compared_runs *compared,
                         const struct rfn_finding_change *change, unsigned run)
{
    if (!change->of[run])
        return json_null();
    json_t *value = finding_json(&compared->runs[run], change->of[run]);
    RFN_JSON_SET(value, "alike", change->n[run]);
    RFN_JSON_SET(value, "alike_seconds", rfn_json_seconds((double)change->ns[run]));
    return value;
}

static json_t *findings_json(const struct rfn_compare_options *given,
                             const struct rfn_compared_runs *compared)
{
    json_t *list = json_array();
    for (size_t i = 0; i < compared->n_findings && i < given->top; i++) {
        const struct rfn_finding_change *change = &compared->findings[i];
        json_t *value = json_object();
        RFN_JSON_SET(value, "change", rfn_change_name(change->change));
        RFN_JSON_SET(value, "change_seconds_per_rank", rfn_json_seconds(change->by_ns));
        RFN_JSON_SET(value, "before", side_json(compared, change, 0));
        RFN_JSON_SET(value, "after", side_json(compared, change, 1));
        json_array_append_new(list, value);
    }
    return list;
}

/* ---- call paths and regions ---- */

static json_t *change_seconds(const struct rfn_compared_runs *compared, double by_ns)
{
    return seconds(compared->runs[0].times && compared->runs[1].times, by_ns);
}

static json_t *call_json(const struct rfn_compared_run *run, const struct rfn_call_sum *sum)
{
    if (!sum->ranks)
        return json_null();
    json_t *value = rfn_json_call(run->measured.archive, sum->site);
    double per_rank = rfn_of_a_rank(run, (double)sum->ns);
    RFN_JSON_SET(value, "ranks", sum->ranks);
    RFN_JSON_SET(value, "calls", sum->calls);
    RFN_JSON_SET(value, "bytes", sum->bytes);
    RFN_JSON_SET(value, "seconds", seconds(run->times, (double)sum->ns));
    RFN_JSON_SET(value, "seconds_per_rank", seconds(run->times, per_rank));
    RFN_JSON_SET(value, "wait_seconds", seconds(run->times, (double)sum->wait_ns));
    return value;
}

static json_t *calls_json(const struct rfn_compare_options *given,
                          const struct rfn_compared_runs *compared)
{
    json_t *list = json_array();
    for (size_t i = 0; i < compared->n_calls && i < given->top; i++) {
        const struct rfn_call_change *call = &compared->calls[i];
        unsigned there = call->of[0].ranks == 0;
        json_t *value = json_object();
        RFN_JSON_SET(
            value, "function",
            rfn_call_site_function(compared->runs[there].measured.archive, call->of[there].site)
                ->name);
        RFN_JSON_SET(value, "change_seconds_per_rank", change_seconds(compared, call->by_ns));
        RFN_JSON_SET(value, "before", call_json(&compared->runs[0], &call->of[0]));
        RFN_JSON_SET(value, "after", call_json(&compared->runs[1], &call->of[1]));
        json_array_append_new(list, value);
    }
    return list;
}

static json_t *region_json(const struct rfn_compared_run *run, const struct rfn_region_row *row)
{
    if (!row)
        return json_null();
    json_t *value = json_object();
    double per_rank = rfn_of_a_rank(run, (double)row->time.total_ns);
    RFN_JSON_SET(value, "visits", row->visits);
    RFN_JSON_SET(value, "ranks", row->time.ranks);
    RFN_JSON_SET(value, "seconds", seconds(run->times, (double)row->time.total_ns));
    RFN_JSON_SET(value, "seconds_per_rank", seconds(run->times, per_rank));
    RFN_JSON_SET(value, "mpi_seconds", seconds(run->times, (double)row->mpi.total_ns));
    return value;
}

static json_t *regions_json(const struct rfn_compare_options *given,
                            const struct rfn_compared_runs *compared)
{
    json_t *list = json_array();
    for (size_t i = 0; i < compared->n_regions && i < given->top; i++) {
        const struct rfn_region_change *region = &compared->regions[i];
        json_t *value = json_object();
        RFN_JSON_SET(value, "name", region->of[region->of[0] == NULL]->name);
        RFN_JSON_SET(value, "change_seconds_per_rank", change_seconds(compared, region->by_ns));
        RFN_JSON_SET(value, "before", region_json(&compared->runs[0], region->of[0]));
        RFN_JSON_SET(value, "after", region_json(&compared->runs[1], region->of[1]));
        json_array_append_new(list, value);
    }
    return list;
}

/* ---- the whole ---- */

json_t *rfn_compare_two_json(const struct rfn_compare_options *given,
                             const struct rfn_compared_runs *compared)
{
    const struct rfn_compared_run *runs = compared->runs;
    json_t *value = json_object(), *list = json_array();
    struct rfn_text text = {0};
    bool times = runs[0].times && runs[1].times && runs[1].run_ns > 0;
    rfn_compared_runs_append(&text, compared);
    for (int i = 0; i < 2; i++)
        json_array_append_new(list, run_json(given->files[i], &runs[i]));
    RFN_JSON_SET(value, "text", rfn_json_of_text(&text));
    RFN_JSON_SET(value, "differ", compared->differ);
    RFN_JSON_SET(value, "other_programs", compared->other_programs);
    RFN_JSON_SET(value, "nothing_common", compared->nothing_common);
    RFN_JSON_SET(value, "speedup",
                 known(times, times ? (double)runs[0].run_ns / (double)runs[1].run_ns : 0));
    RFN_JSON_SET(value, "runs", list);
    RFN_JSON_SET(value, "findings", findings_json(given, compared));
    RFN_JSON_SET(value, "call_paths", calls_json(given, compared));
    RFN_JSON_SET(value, "regions", regions_json(given, compared));
    return value;
}

/* Times in seconds, as elsewhere. */
static json_t *row_value(const struct rfn_row_change *row, double value)
{
    return row->unit == RFN_ROW_NS ? rfn_json_seconds(value) : json_real(value);
}

static json_t *range_json(const struct rfn_row_change *row, const struct rfn_row_range *range)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "median", row_value(row, range->median));
    RFN_JSON_SET(value, "least", row_value(row, range->least));
    RFN_JSON_SET(value, "largest", row_value(row, range->largest));
    return value;
}

static json_t *row_json(const struct rfn_row_change *row)
{
    static const char *const kinds[] = {"sum", "call_path", "cause", "region"}, *const units[] = {
                                                                                    "seconds",
                                                                                    "share",
                                                                                    "count",
                                                                                    "bytes"};
    const double before = row->of[0].median, by = row->of[1].median - before;
    json_t *value = json_object();
    RFN_JSON_SET(value, "name", row->name);
    RFN_JSON_SET(value, "kind", kinds[row->kind]);
    RFN_JSON_SET(value, "unit", units[row->unit]);
    RFN_JSON_SET(value, "before", range_json(row, &row->of[0]));
    RFN_JSON_SET(value, "after", range_json(row, &row->of[1]));
    RFN_JSON_SET(value, "change", row_value(row, by));
    RFN_JSON_SET(value, "change_percent", known(before > 0, before > 0 ? 100 * by / before : 0));
    RFN_JSON_SET(value, "noise", row->noise);
    return value;
}

static json_t *gates_json(const struct rfn_compare_options *given,
                          const struct rfn_row_change *const *rows)
{
    json_t *list = json_array();
    for (size_t i = 0; i < given->n_gates; i++) {
        json_t *value = json_object();
        RFN_JSON_SET(value, "rule", given->gates[i].rule);
        RFN_JSON_SET(value, "row", rows[i]->name);
        RFN_JSON_SET(value, "limit", row_value(rows[i], rfn_gate_limit(&given->gates[i], rows[i])));
        RFN_JSON_SET(value, "failed", rfn_gate_fails(&given->gates[i], rows[i]));
        json_array_append_new(list, value);
    }
    return list;
}

json_t *rfn_compare_sides_json(const struct rfn_compare_options *given,
                               const struct rfn_compared_sides *compared,
                               const struct rfn_row_change *const *rows)
{
    json_t *value = json_object(), *sides[2] = {json_array(), json_array()}, *list = json_array();
    size_t of_kind[4] = {0};
    struct rfn_text text = {0};
    rfn_compared_sides_append(&text, compared);
    for (size_t i = 0; i < given->n_files; i++)
        json_array_append_new(sides[i >= given->before],
                              run_json(given->files[i], &compared->runs[i]));
    for (size_t i = 0; i < compared->n_rows; i++) {
        const struct rfn_row_change *row = &compared->rows[i];
        if (row->kind == RFN_ROW_SUM || of_kind[row->kind]++ < given->top)
            json_array_append_new(list, row_json(row));
    }
    RFN_JSON_SET(value, "text", rfn_json_of_text(&text));
    RFN_JSON_SET(value, "other_programs", compared->other_programs);
    RFN_JSON_SET(value, "before", sides[0]);
    RFN_JSON_SET(value, "after", sides[1]);
    RFN_JSON_SET(value, "rows", list);
    RFN_JSON_SET(value, "gates", gates_json(given, rows));
    return value;
}

json_t *rfn_compare_many_json(const struct rfn_compare_options *given,
                              const struct rfn_scaling *scaling)
{
    json_t *value = json_object(), *list = json_array();
    struct rfn_text text = {0};
    rfn_scaling_append(&text, scaling);
    for (size_t i = 0; i < scaling->n; i++) {
        const struct rfn_scaling_run *one = &scaling->runs[i];
        const struct rfn_compared_run *run = &one->run;
        json_t *entry = run_json(given->files[one->given], run);
        json_t *findings = json_array();
        for (size_t k = 0; k < run->findings.n; k++)
            json_array_append_new(findings, finding_json(run, &run->findings.findings[k]));
        RFN_JSON_SET(entry, "speedup", known(run->times, one->speedup));
        RFN_JSON_SET(entry, "ideal_speedup", known(run->times, one->ideal));
        RFN_JSON_SET(entry, "computation_scaling", known(run->times, one->computation));
        RFN_JSON_SET(entry, "global_efficiency", known(run->times, one->global));
        RFN_JSON_SET(entry, "findings", findings);
        json_array_append_new(list, entry);
    }
    RFN_JSON_SET(value, "text", rfn_json_of_text(&text));
    RFN_JSON_SET(value, "runs", list);
    return value;
}
