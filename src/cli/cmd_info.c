/* cmd_info.c - refrain info: what is in an archive, without its events. */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/expressions.h"
#include "cli/text/aggregation_text.h"
#include "cli/text/archive_samples_text.h"
#include "cli/text/clocks.h"
#include "cli/text/clusters_text.h"
#include "cli/text/hosts.h"
#include "cli/text/json.h"
#include "cli/text/left_out_text.h"
#include "cli/text/print_text.h"
#include "cli/text/run_text.h"
#include "cli/text/spawned_jobs.h"
#include "cli/text/spread_text.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"
#include "cli/text/trace_model.h"
#include "refrain/archive.h"
#include "refrain/explain.h"
#include "refrain/record_options.h"
#include "refrain/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SPREAD = 256, KEY_EXPRESSION, KEY_PLUGIN };

enum { TOP_DEFAULT = 15 };

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print the facts as JSON", 0},
    {"size-model", 'm', "METHOD", OPTION_ARG_OPTIONAL,
     "Also estimate sizes of a trace and a trace profile", 0},
    {"clusters", 'c', "FORM", OPTION_ARG_OPTIONAL,
     "Also tell which ranks behave alike; FORM: elastic (default), strict, reference, xor, paper",
     0},
    {"strict", 's', NULL, 0, "The same as --clusters=strict", 0},
    RFN_EXPRESSION_OPTION(KEY_EXPRESSION),
    RFN_PLUGIN_OPTION(KEY_PLUGIN),
    {"variation", KEY_SPREAD, NULL, 0, "Also tell how much times of a call path vary", 0},
    {"top", 't', "N", 0, "Show N rows of each list", 0},
    {0},
};

struct info_options {
    struct rfn_file_argument given; /* first: its parser gets what is not parsed here */
    const char *model;              /* NULL: not asked for */
    bool clusters, spread;
    struct rfn_cluster_form form;
    struct rfn_expressions *expressions;
    bool expressions_given;
};

/* Sums over the streams and groups. */
struct totals {
    uint64_t events, calls, region_events, loops, nodes;
    uint32_t unreadable;
    uint32_t counted; /* streams with volumes */
    int64_t span_ns;  /* of the first stream: enter of its first to exit of its last event */
    struct rfn_parameter_sizes sizes;
    int error; /* of reading it */
    struct rfn_diag diag;
};

/* What is printed of an archive. */
struct facts {
    const struct info_options *options; /* what is asked for */
    const char *file;
    const struct rfn_archive *archive;
    const struct rfn_run *run;
    struct totals totals;
    const struct rfn_trace_model *model; /* NULL: not asked for, or it cannot be made */
    struct rfn_clustering *clustering;   /* NULL: cannot be read */
    struct rfn_clustering_cost cost;     /* of clustering, if it is asked for */
    struct rfn_time_spreads *spreads;    /* NULL: not asked for, or there are no times */
    uint64_t top;
};

static const struct {
    const char *name;
    struct rfn_cluster_form form;
} forms[] = {{"elastic", {RFN_PATHS_ELASTIC, RFN_PARAMETERS_FIELDS}},
             {"strict", {RFN_PATHS_STRICT, RFN_PARAMETERS_FIELDS}},
             {"xor", {RFN_PATHS_XOR, RFN_PARAMETERS_FIELDS}},
             {"paper", {RFN_PATHS_XOR, RFN_PARAMETERS_PAPER}},
             {"reference", {RFN_PATHS_STRICT, RFN_PARAMETERS_REFERENCE}}};

static void parse_form(struct info_options *given, const char *name, struct argp_state *state)
{
    given->clusters = true;
    if (!name)
        return;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(name, forms[i].name) != 0)
            continue;
        given->form = forms[i].form;
        return;
    }
    argp_error(state, "--clusters: there is no form '%s' (elastic, strict, xor, paper, reference)",
               name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct info_options *given = state->input;
    switch (key) {
    case 'm':
        given->model = arg ? arg : RFN_SIMILARITY_DEFAULT;
        return 0;
    case 'c':
        parse_form(given, arg, state);
        return 0;
    case 's':
        parse_form(given, "strict", state);
        return 0;
    case KEY_SPREAD:
        given->spread = true;
        return 0;
    case KEY_EXPRESSION:
        rfn_expression_argument(state, arg, given->expressions);
        given->expressions_given = true;
        return 0;
    case KEY_PLUGIN:
        rfn_plugin_argument(state, arg, given->expressions);
        given->expressions_given = true;
        return 0;
    case ARGP_KEY_END:
        /* Forms compare parameters in ways of their own, but for fields. */
        if (given->expressions_given &&
            (!given->clusters || given->form.parameters != RFN_PARAMETERS_FIELDS))
            argp_error(state, "--expression and --plugin go with --clusters, and not with the "
                              "forms paper and reference");
        if (given->given.top_given && !given->spread && !given->clusters)
            argp_error(state, "--top goes with --variation or --clusters");
        return 0;
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

/* The time span is not stored; the events of one stream tell it. */
static void take_span(struct totals *totals, const struct rfn_archive *archive, uint32_t stream)
{
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    int64_t first = 0, last = 0;
    bool any = false;
    totals->error = rfn_cursor_open(archive, stream, &cursor, &totals->diag);
    if (totals->error < 0)
        return;
    while ((totals->error = rfn_cursor_next(cursor, &record, &totals->diag)) > 0) {
        if (!any)
            first = record->enter_ns;
        any = true;
        last = record->exit_ns;
    }
    rfn_cursor_close(cursor);
    totals->span_ns = last - first;
}

static struct totals totals_of(const struct rfn_archive *archive)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    struct totals totals = {.diag = {.file_offset = -1, .rank = -1}};
    bool spanned = !run->times;
    for (uint32_t i = 0; i < run->streams; i++) {
        struct rfn_stream_info info = rfn_archive_stream(archive, i);
        totals.events += info.events;
        totals.calls += info.calls;
        totals.region_events += info.region_events;
        totals.unreadable += !info.readable;
        totals.counted += info.volume;
        if (!spanned && info.readable) {
            take_span(&totals, archive, i);
            spanned = true;
        }
    }
    for (uint32_t i = 0; i < rfn_archive_groups(archive); i++) {
        struct rfn_group_info group = rfn_archive_group(archive, i);
        totals.loops += group.loops;
        totals.nodes += group.nodes;
    }
    if (totals.error >= 0)
        totals.error = rfn_archive_parameter_sizes(archive, &totals.sizes, &totals.diag);
    return totals;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Ranks of a group's members, first threads first: "0-3,8; thread 1: 0-3". */
static void append_members(struct rfn_text *text, const struct rfn_archive *archive,
                           const struct rfn_group_info *group)
{
    uint64_t *streams = malloc(((size_t)group->n_members + 1) * sizeof *streams);
    uint32_t *ranks = malloc(((size_t)group->n_members + 1) * sizeof *ranks);
    text->failed |= !streams || !ranks;
    for (uint32_t i = 0; i < group->n_members && !text->failed; i++) {
        struct rfn_stream_info info = rfn_archive_stream(archive, group->members[i]);
        streams[i] = (uint64_t)info.thread << 32 | info.rank;
    }
    if (!text->failed)
        qsort(streams, group->n_members, sizeof *streams, by_number);
    for (uint32_t i = 0, n; i < group->n_members && !text->failed; i += n) {
        const uint32_t thread = (uint32_t)(streams[i] >> 32);
        for (n = 0; i + n < group->n_members && streams[i + n] >> 32 == thread; n++)
            ranks[n] = (uint32_t)streams[i + n];
        if (i > 0)
            rfn_text_string(text, "; ");
        if (thread)
            rfn_text_format(text, "thread %u: ", thread);
        rfn_text_ranks(text, ranks, n);
    }
    free(streams);
    free(ranks);
}

/* ---- JSON ---- */

static json_t *group_json(const struct rfn_archive *archive, uint32_t number)
{
    struct rfn_group_info group = rfn_archive_group(archive, number);
    struct rfn_text members = {0};
    json_t *value = json_object();
    append_members(&members, archive, &group);
    RFN_JSON_SET(value, "members", rfn_json_of_text(&members));
    RFN_JSON_SET(value, "threads", group.n_members);
    RFN_JSON_SET(value, "symbols", group.symbols);
    RFN_JSON_SET(value, "loops", group.loops);
    RFN_JSON_SET(value, "nodes", group.nodes);
    RFN_JSON_SET(value, "bytes", group.bytes);
    uint64_t signature = rfn_archive_stream(archive, group.members[0]).signature;
    RFN_JSON_SET(value, "signature", signature ? rfn_json_signature(signature) : json_null());
    return value;
}

static json_t *json_path_ends(const struct rfn_path_ends *ends)
{
    return ends->inner ? json_pack("{s:I,s:I}", "outer", (json_int_t)ends->outer, "inner",
                                   (json_int_t)ends->inner)
                       : json_null();
}

static json_t *json_online_merges(const struct rfn_run_online_merges *online)
{
    if (!online->merges)
        return json_null();
    json_t *value = json_object();
    RFN_JSON_SET(value, "online_merges", online->merges);
    RFN_JSON_SET(value, "seconds", (double)online->ns * 1e-9);
    RFN_JSON_SET(value, "messages", online->messages);
    RFN_JSON_SET(value, "bytes", online->bytes);
    return value;
}

static json_t *json_merging(const struct rfn_run_merging *merging)
{
    if (!merging->messages && !merging->online.merges)
        return json_null();
    json_t *value = json_object();
    RFN_JSON_SET(value, "messages", merging->messages);
    RFN_JSON_SET(value, "bytes", merging->bytes);
    RFN_JSON_SET(value, "trace_bytes", merging->trace_bytes);
    RFN_JSON_SET(value, "all_bytes", merging->all_bytes);
    RFN_JSON_SET(value, "all_definition_bytes", merging->all_definition_bytes);
    RFN_JSON_SET(value, "before", json_online_merges(&merging->online));
    return value;
}

static void set_run(json_t *value, const struct rfn_run *run)
{
    RFN_JSON_SET(value, "recorder", run->recorder);
    RFN_JSON_SET(value, "program", run->program);
    RFN_JSON_SET(value, "command", run->command);
    RFN_JSON_SET(value, "mpi", run->mpi);
    RFN_JSON_SET(value, "flavour", run->flavour);
    RFN_JSON_SET(value, "start_realtime_ns", run->start_realtime_ns);
    RFN_JSON_SET(value, "ranks", run->ranks);
    RFN_JSON_SET(value, "threads", run->streams);
    RFN_JSON_SET(value, "times", run->times);
    RFN_JSON_SET(value, "all_polls", run->all_polls);
    RFN_JSON_SET(value, "start_off", run->start_off);
    RFN_JSON_SET(value, "call_path_ends", json_path_ends(&run->path_ends));
    RFN_JSON_SET(value, "resolution_ns", run->resolution_ns);
    RFN_JSON_SET(value, "volume", run->volume ? rfn_json_text(run->volume) : json_null());
    RFN_JSON_SET(value, "volume_unit", run->volume ? rfn_json_text(run->volume_unit) : json_null());
    RFN_JSON_SET(value, "volume_taken_out",
                 run->apart ? json_integer((json_int_t)run->taken_out) : json_null());
    RFN_JSON_SET(value, "merge_seconds", run->merge_seconds);
    RFN_JSON_SET(value, "merging", json_merging(&run->merging));
    RFN_JSON_SET(value, "bytes", run->file_bytes);
    RFN_JSON_SET(value, "reduced", rfn_json_reduction(run));
    RFN_JSON_SET(value, "ignored_parameters", run->forced);
    RFN_JSON_SET(value, "predicted", run->predicted);
}

static int print_json(const struct facts *facts, int status)
{
    const struct rfn_archive *archive = facts->archive;
    const struct totals *totals = &facts->totals;
    const struct info_options *options = facts->options;
    json_t *value = json_object(), *groups = json_array();
    RFN_JSON_SET(value, "file", facts->file);
    rfn_json_missing(value, archive);
    set_run(value, facts->run);
    RFN_JSON_SET(value, "aggregated", rfn_json_aggregation(archive));
    RFN_JSON_SET(value, "sampling", rfn_json_archive_samples(archive));
    RFN_JSON_SET(value, "events", totals->events);
    RFN_JSON_SET(value, "calls", totals->calls);
    RFN_JSON_SET(value, "region_events", totals->region_events);
    RFN_JSON_SET(value, "regions", rfn_archive_regions(archive));
    RFN_JSON_SET(value, "groups", rfn_archive_groups(archive));
    rfn_json_cluster_counts(value, facts->clustering);
    RFN_JSON_SET(value, "clustered_groups", totals->sizes.clustered_groups);
    RFN_JSON_SET(value, "parameter_bytes", totals->sizes.bytes);
    RFN_JSON_SET(value, "unclustered_parameter_bytes", totals->sizes.unclustered_bytes);
    RFN_JSON_SET(value, "loops", totals->loops);
    RFN_JSON_SET(value, "nodes", totals->nodes);
    RFN_JSON_SET(value, "unreadable_threads", totals->unreadable);
    RFN_JSON_SET(value, "volume_threads", totals->counted);
    RFN_JSON_SET(value, "call_paths", rfn_archive_paths(archive));
    RFN_JSON_SET(value, "span_ns", facts->run->times ? json_integer(totals->span_ns) : json_null());
    RFN_JSON_SET(value, "hosts", rfn_json_hosts(archive));
    RFN_JSON_SET(value, "clocks", rfn_json_clocks(archive));
    RFN_JSON_SET(value, "children", rfn_json_spawned_jobs(archive));
    for (uint32_t i = 0; i < rfn_archive_groups(archive); i++)
        json_array_append_new(groups, group_json(archive, i));
    RFN_JSON_SET(value, "group_list", groups);
    if (facts->model)
        RFN_JSON_SET(value, "size_model", rfn_json_trace_model(facts->model));
    if (options->clusters && facts->clustering) {
        const struct rfn_expression_counts counts = rfn_expressions_counts(options->expressions);
        rfn_json_clusters(value, archive, facts->clustering);
        rfn_json_clustering_cost(value, &facts->cost);
        RFN_JSON_SET(value, "expressions",
                     options->expressions_given ? rfn_json_expression_counts(&counts)
                                                : json_null());
    }
    if (options->spread)
        RFN_JSON_SET(value, "variation",
                     facts->spreads ? rfn_json_spread(archive, facts->spreads, facts->top)
                                    : json_null());
    return rfn_command_print_json(value, status);
}

/* ---- text ---- */

static void line(struct rfn_text *out, const char *name, const char *text)
{
    rfn_text_format(out, "%-12s", name);
    rfn_text_printable(out, text);
    rfn_text_char(out, '\n');
}

/* "Merging     1.2 KiB per rank moved, 0.8 % of what handing on all traces would have" */
static void append_end(struct rfn_text *out, const struct rfn_run *run)
{
    const struct rfn_run_merging *merging = &run->merging;
    uint64_t all = merging->all_bytes + merging->all_definition_bytes;
    rfn_text_format(out, "%-12s%s per rank moved", "Merging",
                    rfn_bytes_text(merging->bytes / run->ranks).text);
    if (all)
        rfn_text_format(out, ", %.3g %% of what handing on all traces would have (%s)",
                        100.0 * (double)merging->bytes / (double)all,
                        rfn_bytes_text(all / run->ranks).text);
    rfn_text_char(out, '\n');
}

/* "            before, in 12 online merges: 3.4 ms, 567 B per rank moved" */
static void append_merging(struct rfn_text *out, const struct rfn_run *run)
{
    const struct rfn_run_online_merges *online = &run->merging.online;
    if (run->merging.messages)
        append_end(out, run);
    if (!online->merges)
        return;
    rfn_text_format(out, "%-12sbefore, in %s online merge%s: %.1f ms, %s per rank moved\n",
                    run->merging.messages ? "" : "Merging", rfn_count_text(online->merges).text,
                    online->merges == 1 ? "" : "s", (double)online->ns * 1e-6,
                    rfn_bytes_text(online->bytes / run->ranks).text);
}

/* "Alike       9 main clusters of ranks that make the same calls in the same order
 *              12 sub-clusters with the same parameters, 9 after expressions (--clusters: which)"
 */
static void append_alike(struct rfn_text *out, const struct rfn_clustering *clustering)
{
    if (!clustering) {
        rfn_text_format(out, "%-12snot known: calls or parameters cannot be read\n", "Alike");
        return;
    }
    uint32_t mains = rfn_clustering_mains(clustering), subs = rfn_clustering_subs(clustering);
    rfn_text_format(out,
                    "%-12s%s main cluster%s of ranks that make the same calls in the same order\n",
                    "Alike", rfn_count_text(mains).text, mains == 1 ? "" : "s");
    rfn_text_format(out, "%-12s%s sub-cluster%s with the same parameters", "",
                    rfn_count_text(subs).text, subs == 1 ? "" : "s");
    rfn_text_format(out, ", %s after expressions (--clusters: which)\n",
                    rfn_count_text(rfn_clustering_after_expressions(clustering)).text);
}

/* A line, if there is something to say. */
static void append_if_any(struct rfn_text *out, const char *name,
                          void (*append)(struct rfn_text *, const struct rfn_archive *),
                          const struct rfn_archive *archive)
{
    struct rfn_text text = {0};
    append(&text, archive);
    if (text.n)
        rfn_text_format(out, "%-12s%s\n", name, rfn_text_terminated(&text));
    rfn_text_release(&text);
}

/* ", of the program alone; 412 ns taken out of each for counting" */
static void append_apart(struct rfn_text *out, const struct rfn_run *run)
{
    rfn_text_string(out, ", of the program alone; ");
    rfn_text_signed(out, (int64_t)run->taken_out);
    if (run->volume_unit[0])
        rfn_text_format(out, " %s", run->volume_unit);
    rfn_text_string(out, " taken out of each for counting");
}

static void append_sizes(struct rfn_text *out, const struct facts *facts)
{
    const struct rfn_archive *archive = facts->archive;
    const struct rfn_run *run = facts->run;
    const struct totals *totals = &facts->totals;
    const struct rfn_parameter_sizes *sizes = &totals->sizes;
    rfn_text_format(out, "%-12s%u (%u thread%s that called MPI)\n", "Ranks", run->ranks,
                    run->streams, run->streams == 1 ? "" : "s");
    rfn_text_format(out, "%-12s%s (%s calls", "Events", rfn_count_text(totals->events).text,
                    rfn_count_text(totals->calls).text);
    if (totals->region_events)
        rfn_text_format(out, "; %s begins and ends of %u regions",
                        rfn_count_text(totals->region_events).text, rfn_archive_regions(archive));
    rfn_text_format(out, ")\n%-12s%s", "Size", rfn_bytes_text(run->file_bytes).text);
    if (totals->events)
        rfn_text_format(out, " (%.3g bytes per event)",
                        (double)run->file_bytes / (double)totals->events);
    rfn_text_format(out, "\n%-12s%u, with %s loop%s\n", "Groups", rfn_archive_groups(archive),
                    rfn_count_text(totals->loops).text, totals->loops == 1 ? "" : "s");
    append_alike(out, facts->clustering);
    if (sizes->clustered_groups)
        rfn_text_format(out, "%-12s%u of %u groups: calls, parameters and counts in %s, not %s\n",
                        "Clustered", sizes->clustered_groups, rfn_archive_groups(archive),
                        rfn_bytes_text(sizes->bytes).text,
                        rfn_bytes_text(sizes->unclustered_bytes).text);
    if (run->times)
        rfn_text_format(out, "%-12s%s on rank %u (resolution %.3g ns)\n", "Time span",
                        rfn_time_text(totals->span_ns).text,
                        run->streams ? rfn_archive_stream(archive, 0).rank : 0, run->resolution_ns);
    else
        rfn_text_format(out, "%-12s%s\n", "Time span", "the archive has no times");
    rfn_reduction_lines(out, run);
    append_if_any(out, "Aggregated", rfn_aggregation_append, archive);
    append_if_any(out, "Left out", rfn_left_out_append, archive);
    append_if_any(out, "Sampled", rfn_archive_samples_append, archive);
    if (run->volume) {
        rfn_text_format(out, "%-12s", "Volume");
        rfn_text_printable(out, run->volume);
        if (totals->counted < run->streams)
            rfn_text_format(out, ", counted by %u of %u threads", totals->counted, run->streams);
        if (run->apart)
            append_apart(out, run);
        rfn_text_char(out, '\n');
    }
    if (totals->unreadable)
        rfn_text_format(out, "%-12s%u of %u threads\n", "Unreadable", totals->unreadable,
                        run->streams);
}

static void append_groups(struct rfn_text *out, const struct rfn_archive *archive)
{
    struct rfn_table table;
    bool alone = true;
    rfn_table_init(&table, "rrrrrrl", "group\tthreads\tsymbols\tloops\tnodes\tbytes\tranks");
    for (uint32_t i = 0; i < rfn_archive_groups(archive); i++) {
        struct rfn_group_info group = rfn_archive_group(archive, i);
        struct rfn_text members = {0};
        rfn_table_row(&table, "%s\t%s\t%s\t%s\t%s\t%s", rfn_count_text(i).text,
                      rfn_count_text(group.n_members).text, rfn_count_text(group.symbols).text,
                      rfn_count_text(group.loops).text, rfn_count_text(group.nodes).text,
                      group.bytes ? rfn_count_text(group.bytes).text : "-");
        alone &= group.bytes > 0;
        append_members(&members, archive, &group);
        rfn_table_text(&table, &members);
    }
    rfn_text_format(out, "\nGroups: threads of equal structure, stored once%s\n",
                    alone ? "" : " (-: together with others)");
    rfn_table_print(&table, 2, out);
}

/* How far call paths were cut; a damaged USAGE tells nothing. */
static void append_cut_paths(struct rfn_text *out, const struct rfn_archive *archive)
{
    struct rfn_usage usage;
    uint32_t threads = 0, fewest = UINT32_MAX, most = 0;
    if (rfn_usage_read(archive, &usage, NULL) == 0) {
        for (size_t i = 0; i < usage.n; i++) {
            const uint32_t frames = usage.streams[i].path_frames;
            threads += frames > 0;
            fewest = frames && frames < fewest ? frames : fewest;
            most = frames > most ? frames : most;
        }
    }
    rfn_usage_release(&usage);
    if (threads)
        rfn_text_format(out,
                        "%-12scall paths that are first seen late in the run have only their "
                        "innermost %u to %u functions, on %u thread%s: there were too many "
                        "(refrain record --memory)\n",
                        "Cut", fewest, most, threads, threads == 1 ? "" : "s");
}

static int print_text(const struct facts *facts, int status)
{
    const struct rfn_archive *archive = facts->archive;
    const struct rfn_run *run = facts->run;
    const struct info_options *options = facts->options;
    struct rfn_text out = {0};
    const char *why = NULL;
    bool complete = rfn_archive_complete(archive, &why);
    if (!complete)
        rfn_text_format(&out, "incomplete: %s\n", why ? why : "the file was cut short");
    line(&out, "File", facts->file);
    line(&out, "Command", run->command);
    line(&out, "Program", run->program);
    line(&out, "MPI", run->mpi);
    rfn_text_format(&out, "%-12s", "Hosts");
    rfn_hosts_append(&out, archive);
    rfn_text_char(&out, '\n');
    line(&out, "Recorder", run->recorder);
    rfn_path_ends_line(&out, run, 12);
    append_cut_paths(&out, archive);
    rfn_spawned_jobs_line(&out, archive, 12);
    append_sizes(&out, facts);
    append_merging(&out, run);
    line(&out, "Complete", complete ? "yes" : "no");
    append_groups(&out, archive);
    rfn_clocks_append(&out, archive);
    if (facts->model)
        rfn_trace_model_append(&out, facts->model);
    if (options->clusters && facts->clustering) {
        const struct rfn_expression_counts counts = rfn_expressions_counts(options->expressions);
        rfn_clusters_append(&out, archive, facts->clustering,
                            options->given.top_given ? options->given.top : 0);
        if (options->expressions_given) {
            rfn_text_string(&out, "\nOf ");
            rfn_expression_counts_append(&out, &counts, false);
            rfn_text_char(&out, '\n');
        }
        rfn_clustering_cost_append(&out, &facts->cost);
    }
    if (facts->spreads)
        rfn_spread_append(&out, archive, facts->spreads, facts->top);
    else if (options->spread)
        rfn_text_string(&out, "\nVariation: there are no times\n");
    return rfn_command_print_page(&out, facts->file, status);
}

/* With the expressions that are given, then those that the archive has. */
static int cluster(struct facts *facts, struct rfn_diag *diag)
{
    struct rfn_expressions *expressions = facts->options->expressions;
    const bool clusters = facts->options->clusters;
    RFN_TRY(rfn_expressions_add_archive(expressions, facts->archive, diag));
    RFN_TRY(rfn_clustering_new(facts->archive, facts->options->form, expressions,
                               clusters ? &facts->cost : NULL, &facts->clustering, diag));
    const struct rfn_expression_counts counts = rfn_expressions_counts(expressions);
    if (clusters)
        rfn_expression_counts_warn(&counts);
    return 0;
}

/* Prints what is asked for; the exit status. */
static int print(const struct rfn_archive *archive, const struct info_options *options)
{
    const struct rfn_file_argument *given = &options->given;
    const char *file = given->file;
    struct facts facts = {.options = options,
                          .file = file,
                          .archive = archive,
                          .run = rfn_archive_run(archive),
                          .totals = totals_of(archive)};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_trace_model model;
    int status = facts.totals.error < 0
                     ? rfn_command_fail(file, facts.totals.error, &facts.totals.diag)
                     : RFN_EXIT_OK;
    const char *why;
    if (!rfn_archive_complete(archive, &why))
        status = given->json ? rfn_command_tell_missing(archive, file, NULL, status)
                             : RFN_EXIT_BAD_INPUT;
    int error = options->model ? rfn_trace_model_make(&model, archive, options->model, &diag) : 0;
    if (error == RFN_E_USAGE)
        return rfn_command_fail(NULL, error, &diag);
    if (error < 0)
        status = rfn_command_fail(file, error, &diag);
    else if (options->model)
        facts.model = &model;
    error = cluster(&facts, &diag);
    if (error == RFN_E_NOMEM || (error < 0 && options->clusters))
        status = rfn_command_fail(file, error, &diag);
    error = options->spread && facts.run->times
                ? rfn_time_spreads_new(archive, &facts.spreads, &diag)
                : 0;
    if (error < 0)
        status = rfn_command_fail(file, error, &diag);
    facts.top = given->top_given ? given->top : given->json ? UINT64_MAX : TOP_DEFAULT;
    status = given->json ? print_json(&facts, status) : print_text(&facts, status);
    rfn_time_spreads_free(facts.spreads);
    rfn_clustering_free(facts.clustering);
    return status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct info_options options = {0};
    struct rfn_archive *archive;
    int error = rfn_expressions_new(&options.expressions);
    if (error < 0)
        return rfn_command_fail(NULL, error, NULL);
    rfn_command_parse(command, parse, argc, argv, &options);
    int status = rfn_command_open(options.given.file, &archive);
    if (!status) {
        status = print(archive, &options);
        rfn_archive_close(archive);
    }
    rfn_expressions_free(options.expressions);
    return status;
}

const struct rfn_command rfn_cmd_info = {
    .name = "info",
    .summary = "Tells what is in an archive: run, sizes, groups of ranks",
    .usage = "FILE",
    .about = "Ranks are written as runs: 0-3,8 are the ranks 0 to 3 and 8, 0-12 by 4 every "
             "fourth rank from 0 to 12.",
    .options = options,
    .run = run,
};
