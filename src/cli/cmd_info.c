/* cmd_info.c - refrain info: what is in an archive, without its events. */
#include "cli/call_path.h"
#include "cli/children.h"
#include "cli/clocks.h"
#include "cli/clusters_text.h"
#include "cli/command.h"
#include "cli/expressions.h"
#include "cli/file_argument.h"
#include "cli/hosts.h"
#include "cli/json.h"
#include "cli/reduction.h"
#include "cli/spread_text.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "cli/trace_model.h"
#include "cli/units.h"
#include "refrain/archive.h"
#include "refrain/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SPREAD = 256, KEY_EXPRESSION, KEY_PLUGIN };

enum { TOP_DEFAULT = 15 };

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "print the facts as JSON", 0},
    {"model", 'm', "METHOD", OPTION_ARG_OPTIONAL,
     "also tell how large a traditional trace and a trace profile of the run would be; METHOD "
     "says how segments are compared: " RFN_SIMILAR_DEFAULT ", the default, or another",
     0},
    {"clusters", 'c', "FORM", OPTION_ARG_OPTIONAL,
     "also tell which ranks behave alike, and what distinguishes them; FORM says how they are "
     "compared: elastic, the default; strict (how often counts, too); reference (and all "
     "parameters "
     "of each call); xor and paper, to compare with",
     0},
    {"strict", 's', NULL, 0, "the same as --clusters=strict", 0},
    RFN_EXPRESSION_OPTION(KEY_EXPRESSION),
    RFN_PLUGIN_OPTION(KEY_PLUGIN),
    {"spread", KEY_SPREAD, NULL, 0,
     "also tell how far single times lie apart: per call path, and call before where that matters, "
     "over all ranks that have the same call paths and all executions",
     0},
    {"top", 't', "N", 0,
     "with --clusters: show N lines of each list (about 10); with --spread: show the N positions "
     "with most time (15; with --json all)",
     0},
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

/* What is printed besides what is in any archive; NULL: not asked for. */
struct extras {
    const struct rfn_trace_model *model;
    bool clusters;                             /* are asked for in full; */
    const struct rfn_clustering *clustering;   /* NULL: cannot be read */
    struct rfn_clustering_cost cost;           /* of clustering */
    const struct rfn_expressions *expressions; /* users' */
    bool spread;                               /* is asked for, */
    const struct rfn_time_spreads *spreads;    /* but there may be no times */
    uint64_t top, top_clusters;                /* the latter 0 where it is not given */
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

/* Parameters of the others are compared in ways of their own. */
static bool takes_expressions(const struct rfn_cluster_form *form)
{
    return form->parameters == RFN_PARAMETERS_FIELDS;
}

static error_t parse_expressions(int key, char *arg, struct argp_state *state)
{
    struct info_options *given = state->input;
    switch (key) {
    case KEY_EXPRESSION:
        rfn_expression_argument(state, arg, given->expressions);
        break;
    case KEY_PLUGIN:
        rfn_plugin_argument(state, arg, given->expressions);
        break;
    case ARGP_KEY_END:
        if (given->expressions_given && (!given->clusters || !takes_expressions(&given->form)))
            argp_error(state, "--expression and --plugin go with --clusters, and not with the "
                              "forms paper and reference");
        if (given->given.top_given && !given->spread && !given->clusters)
            argp_error(state, "--top goes with --spread or --clusters");
        return ARGP_ERR_UNKNOWN;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    given->expressions_given = true;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct info_options *given = state->input;
    if (parse_expressions(key, arg, state) == 0)
        return 0;
    switch (key) {
    case 'm':
        given->model = arg ? arg : RFN_SIMILAR_DEFAULT;
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
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

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
        rfn_ranks_append(text, ranks, n);
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
    json_object_set_new(value, "members", rfn_json_of_text(&members));
    json_object_set_new(value, "threads", json_integer(group.n_members));
    json_object_set_new(value, "symbols", json_integer(group.symbols));
    json_object_set_new(value, "loops", json_integer(group.loops));
    json_object_set_new(value, "nodes", json_integer(group.nodes));
    json_object_set_new(value, "bytes", rfn_json_count(group.bytes));
    uint64_t signature = rfn_archive_stream(archive, group.members[0]).signature;
    json_object_set_new(value, "signature",
                        signature ? rfn_json_signature(signature) : json_null());
    return value;
}

static json_t *json_path_ends(const struct rfn_path_ends *ends)
{
    return ends->inner ? json_pack("{s:I,s:I}", "outer", (json_int_t)ends->outer, "inner",
                                   (json_int_t)ends->inner)
                       : json_null();
}

static json_t *json_meetings(const struct rfn_run_meetings *before)
{
    if (!before->meetings)
        return json_null();
    json_t *value = json_object();
    json_object_set_new(value, "meetings", rfn_json_count(before->meetings));
    json_object_set_new(value, "seconds", json_real((double)before->ns * 1e-9));
    json_object_set_new(value, "messages", rfn_json_count(before->messages));
    json_object_set_new(value, "bytes", rfn_json_count(before->bytes));
    return value;
}

static json_t *json_merging(const struct rfn_run_merging *merging)
{
    if (!merging->messages && !merging->before.meetings)
        return json_null();
    json_t *value = json_object();
    json_object_set_new(value, "messages", rfn_json_count(merging->messages));
    json_object_set_new(value, "bytes", rfn_json_count(merging->bytes));
    json_object_set_new(value, "trace_bytes", rfn_json_count(merging->trace_bytes));
    json_object_set_new(value, "all_bytes", rfn_json_count(merging->all_bytes));
    json_object_set_new(value, "all_definition_bytes",
                        rfn_json_count(merging->all_definition_bytes));
    json_object_set_new(value, "before", json_meetings(&merging->before));
    return value;
}

static void set_run(json_t *value, const struct rfn_run *run)
{
    json_object_set_new(value, "recorder", rfn_json_text(run->recorder));
    json_object_set_new(value, "program", rfn_json_text(run->program));
    json_object_set_new(value, "command", rfn_json_text(run->command));
    json_object_set_new(value, "mpi", rfn_json_text(run->mpi));
    json_object_set_new(value, "flavour", rfn_json_text(run->flavour));
    json_object_set_new(value, "start_realtime_ns", json_integer(run->start_realtime_ns));
    json_object_set_new(value, "ranks", json_integer(run->ranks));
    json_object_set_new(value, "threads", json_integer(run->streams));
    json_object_set_new(value, "times", json_boolean(run->times));
    json_object_set_new(value, "all_polls", json_boolean(run->all_polls));
    json_object_set_new(value, "start_off", json_boolean(run->start_off));
    json_object_set_new(value, "call_path_ends", json_path_ends(&run->path_ends));
    json_object_set_new(value, "resolution_ns", json_real(run->resolution_ns));
    json_object_set_new(value, "volume", run->volume ? rfn_json_text(run->volume) : json_null());
    json_object_set_new(value, "volume_unit",
                        run->volume ? rfn_json_text(run->volume_unit) : json_null());
    json_object_set_new(value, "merge_seconds", json_real(run->merge_seconds));
    json_object_set_new(value, "merging", json_merging(&run->merging));
    json_object_set_new(value, "bytes", rfn_json_count(run->file_bytes));
    json_object_set_new(value, "reduced", rfn_json_reduction(run));
    json_object_set_new(value, "merged_parameters", rfn_json_text(run->forced));
}

static json_t *json_of_expressions(const struct rfn_expressions *expressions)
{
    if (!expressions)
        return json_null();
    const struct rfn_expression_counts counts = rfn_expressions_counts(expressions);
    return rfn_json_expression_counts(&counts);
}

static int print_json(const struct rfn_archive *archive, const struct totals *totals,
                      const struct extras *extras, const char *file, int status)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    const char *why = NULL;
    bool complete = rfn_archive_complete(archive, &why);
    json_t *value = json_object(), *groups = json_array();
    json_object_set_new(value, "file", rfn_json_text(file));
    json_object_set_new(value, "complete", json_boolean(complete));
    if (!complete)
        json_object_set_new(value, "incomplete_because", rfn_json_text(why));
    set_run(value, run);
    json_object_set_new(value, "events", rfn_json_count(totals->events));
    json_object_set_new(value, "calls", rfn_json_count(totals->calls));
    json_object_set_new(value, "region_events", rfn_json_count(totals->region_events));
    json_object_set_new(value, "regions", json_integer(rfn_archive_regions(archive)));
    json_object_set_new(value, "groups", json_integer(rfn_archive_groups(archive)));
    rfn_json_cluster_counts(value, extras->clustering);
    json_object_set_new(value, "clustered_groups", json_integer(totals->sizes.clustered_groups));
    json_object_set_new(value, "parameter_bytes", rfn_json_count(totals->sizes.bytes));
    json_object_set_new(value, "unclustered_parameter_bytes",
                        rfn_json_count(totals->sizes.unclustered_bytes));
    json_object_set_new(value, "loops", rfn_json_count(totals->loops));
    json_object_set_new(value, "nodes", rfn_json_count(totals->nodes));
    json_object_set_new(value, "unreadable_threads", json_integer(totals->unreadable));
    json_object_set_new(value, "volume_threads", json_integer(totals->counted));
    json_object_set_new(value, "call_paths", json_integer(rfn_archive_paths(archive)));
    json_object_set_new(value, "span_ns", run->times ? json_integer(totals->span_ns) : json_null());
    json_object_set_new(value, "hosts", rfn_json_hosts(archive));
    json_object_set_new(value, "clocks", rfn_json_clocks(archive));
    json_object_set_new(value, "children", rfn_json_children(archive));
    for (uint32_t i = 0; i < rfn_archive_groups(archive); i++)
        json_array_append_new(groups, group_json(archive, i));
    json_object_set_new(value, "group_list", groups);
    if (extras->model)
        json_object_set_new(value, "model", rfn_json_trace_model(extras->model));
    if (extras->clusters && extras->clustering) {
        rfn_json_clusters(value, archive, extras->clustering);
        rfn_json_clustering_cost(value, &extras->cost);
        json_object_set_new(value, "expressions", json_of_expressions(extras->expressions));
    }
    if (extras->spread)
        json_object_set_new(value, "spread",
                            extras->spreads ? rfn_json_spread(archive, extras->spreads, extras->top)
                                            : json_null());
    return rfn_json_print(value, status);
}

/* ---- text ---- */

static void line(struct rfn_text *out, const char *name, const char *text)
{
    rfn_text_format(out, "%-12s", name);
    rfn_text_printable(out, text);
    rfn_text_char(out, '\n');
}

static void append_volume(struct rfn_text *out, const struct rfn_run *run,
                          const struct totals *totals)
{
    rfn_text_format(out, "%-12s", "Volume");
    rfn_text_printable(out, run->volume);
    if (totals->counted < run->streams)
        rfn_text_format(out, ", counted by %u of %u threads", totals->counted, run->streams);
    rfn_text_char(out, '\n');
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

/* "Clustered   9 of 9 groups: calls, parameters and counts in 464 B, not 2.75 KiB" */
static void append_clustered(struct rfn_text *out, const struct rfn_archive *archive,
                             const struct rfn_parameter_sizes *sizes)
{
    rfn_text_format(out, "%-12s%u of %u groups: calls, parameters and counts in %s, not %s\n",
                    "Clustered", sizes->clustered_groups, rfn_archive_groups(archive),
                    rfn_bytes_text(sizes->bytes).text,
                    rfn_bytes_text(sizes->unclustered_bytes).text);
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

/* "            before, in 12 meetings: 3.4 ms, 567 B per rank moved" */
static void append_merging(struct rfn_text *out, const struct rfn_run *run)
{
    const struct rfn_run_meetings *before = &run->merging.before;
    if (run->merging.messages)
        append_end(out, run);
    if (!before->meetings)
        return;
    rfn_text_format(out, "%-12sbefore, in %s meeting%s: %.1f ms, %s per rank moved\n",
                    run->merging.messages ? "" : "Merging", rfn_count_text(before->meetings).text,
                    before->meetings == 1 ? "" : "s", (double)before->ns * 1e-6,
                    rfn_bytes_text(before->bytes / run->ranks).text);
}

static void append_sizes(struct rfn_text *out, const struct rfn_archive *archive,
                         const struct totals *totals, const struct rfn_clustering *clustering)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    rfn_text_format(out, "%-12s%u (%u thread%s that called MPI)\n", "Ranks", run->ranks,
                    run->streams, run->streams == 1 ? "" : "s");
    rfn_text_format(out, "%-12s%s (%s calls", "Events", rfn_count_text(totals->events).text,
                    rfn_count_text(totals->calls).text);
    if (totals->region_events)
        rfn_text_format(out, "; %s begins and ends of %u regions",
                        rfn_count_text(totals->region_events).text, rfn_archive_regions(archive));
    rfn_text_string(out, ")\n");
    rfn_text_format(out, "%-12s%s", "Size", rfn_bytes_text(run->file_bytes).text);
    if (totals->events)
        rfn_text_format(out, " (%.3g bytes per event)",
                        (double)run->file_bytes / (double)totals->events);
    rfn_text_format(out, "\n%-12s%u, with %s loop%s\n", "Groups", rfn_archive_groups(archive),
                    rfn_count_text(totals->loops).text, totals->loops == 1 ? "" : "s");
    append_alike(out, clustering);
    if (totals->sizes.clustered_groups)
        append_clustered(out, archive, &totals->sizes);
    if (run->times)
        rfn_text_format(out, "%-12s%s on rank %u (resolution %.3g ns)\n", "Time span",
                        rfn_time_text(totals->span_ns).text,
                        run->streams ? rfn_archive_stream(archive, 0).rank : 0, run->resolution_ns);
    else
        rfn_text_format(out, "%-12s%s\n", "Time span", "the archive has no times");
    rfn_reduction_lines(out, run);
    if (run->volume)
        append_volume(out, run, totals);
    if (totals->unreadable)
        rfn_text_format(out, "%-12s%u of %u threads\n", "Unreadable", totals->unreadable,
                        run->streams);
}

static void append_groups(struct rfn_text *out, const struct rfn_archive *archive)
{
    struct rfn_table table;
    bool alone = true;
    rfn_table_init(&table, "rrrrrrl");
    static const char *const titles[] = {"group", "threads", "symbols", "loops",
                                         "nodes", "bytes",   "ranks"};
    rfn_table_cells(&table, titles, sizeof titles / sizeof *titles);
    for (uint32_t i = 0; i < rfn_archive_groups(archive); i++) {
        struct rfn_group_info group = rfn_archive_group(archive, i);
        struct rfn_text members = {0};
        const uint64_t numbers[] = {i, group.n_members, group.symbols, group.loops, group.nodes};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            rfn_table_cell(&table, rfn_count_text(numbers[k]).text);
        rfn_table_cell(&table, group.bytes ? rfn_count_text(group.bytes).text : "-");
        alone &= group.bytes > 0;
        append_members(&members, archive, &group);
        rfn_table_text(&table, &members);
    }
    rfn_text_format(out, "\nGroups: threads of equal structure, stored once%s\n",
                    alone ? "" : " (-: together with others)");
    rfn_table_print(&table, 2, out);
    rfn_table_release(&table);
}

static void append_expressions(struct rfn_text *out, const struct rfn_expressions *expressions)
{
    if (!expressions)
        return;
    struct rfn_expression_counts counts = rfn_expressions_counts(expressions);
    rfn_text_string(out, "\nOf ");
    rfn_expression_counts_append(out, &counts, false);
    rfn_text_char(out, '\n');
}

static int print_text(const struct rfn_archive *archive, const struct totals *totals,
                      const struct extras *extras, const char *file, int status)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    struct rfn_text out = {0};
    struct rfn_hosts hosts;
    const char *why = NULL;
    if (!rfn_archive_complete(archive, &why))
        rfn_text_format(&out, "incomplete: %s\n", why ? why : "the file was cut short");
    line(&out, "File", file);
    line(&out, "Command", run->command);
    line(&out, "Program", run->program);
    line(&out, "MPI", run->mpi);
    if (rfn_hosts_init(&hosts, archive) == 0) {
        rfn_text_format(&out, "%-12s", "Hosts");
        rfn_hosts_append(&out, &hosts);
        rfn_text_char(&out, '\n');
        rfn_hosts_release(&hosts);
    } else {
        out.failed = true;
    }
    line(&out, "Recorder", run->recorder);
    rfn_path_ends_line(&out, run, 12);
    rfn_children_line(&out, archive, 12);
    append_sizes(&out, archive, totals, extras->clustering);
    append_merging(&out, run);
    line(&out, "Complete", rfn_archive_complete(archive, NULL) ? "yes" : "no");
    append_groups(&out, archive);
    rfn_clocks_append(&out, archive);
    if (extras->model)
        rfn_trace_model_append(&out, extras->model);
    if (extras->clusters && extras->clustering) {
        rfn_clusters_append(&out, archive, extras->clustering, extras->top_clusters);
        append_expressions(&out, extras->expressions);
        rfn_clustering_cost_append(&out, &extras->cost);
    }
    if (extras->spreads)
        rfn_spread_append(&out, archive, extras->spreads, extras->top);
    else if (extras->spread)
        rfn_text_string(&out, "\nSpread: there are no times\n");
    if (out.failed)
        status = rfn_command_fail(file, RFN_E_NOMEM, NULL);
    else
        rfn_text_print(&out);
    rfn_text_release(&out);
    return status;
}

/* Says what is wrong with the archive; the exit status. */
static int check(const struct rfn_archive *archive, const struct totals *totals, const char *file)
{
    const char *why = NULL;
    int status = totals->error < 0 ? rfn_command_fail(file, totals->error, &totals->diag)
                                   : RFN_EXIT_OK;
    if (rfn_archive_complete(archive, &why))
        return status;
    rfn_command_error("%s: incomplete: %s", file, why ? why : "the file was cut short");
    return RFN_EXIT_BAD_INPUT;
}

static uint64_t top_of(const struct rfn_file_argument *given)
{
    return given->top_given ? given->top : given->json ? UINT64_MAX : TOP_DEFAULT;
}

/* With the expressions that are given, then those that the archive has. */
static int cluster(const struct rfn_archive *archive, const struct info_options *options,
                   struct extras *extras, struct rfn_clustering **clustering, struct rfn_diag *diag)
{
    struct rfn_expressions *expressions = options->expressions;
    RFN_TRY(rfn_expressions_add_archive(expressions, archive, diag));
    RFN_TRY(rfn_clustering_new(archive, options->form, expressions,
                               options->clusters ? &extras->cost : NULL, clustering, diag));
    const struct rfn_expression_counts counts = rfn_expressions_counts(expressions);
    if (options->clusters)
        rfn_expression_counts_warn(&counts);
    extras->expressions = options->expressions_given ? expressions : NULL;
    extras->clustering = *clustering;
    return 0;
}

/* Prints what is asked for; the exit status. */
static int print(const struct rfn_archive *archive, const struct info_options *options)
{
    const char *file = options->given.file;
    struct rfn_trace_model model;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct totals totals = totals_of(archive);
    int status = check(archive, &totals, file);
    int error = options->model ? rfn_trace_model_make(&model, archive, options->model, &diag) : 0;
    if (error == RFN_E_USAGE)
        return rfn_command_fail(NULL, error, &diag);
    if (error < 0)
        status = rfn_command_fail(file, error, &diag);
    struct rfn_clustering *clustering = NULL;
    struct extras extras = {.model = options->model && !error ? &model : NULL};
    extras.clusters = options->clusters;
    error = cluster(archive, options, &extras, &clustering, &diag);
    if (error == RFN_E_NOMEM || (error < 0 && options->clusters))
        status = rfn_command_fail(file, error, &diag);
    struct rfn_time_spreads *spreads = NULL;
    extras.spread = options->spread;
    error = options->spread && rfn_archive_run(archive)->times
                ? rfn_time_spreads_new(archive, &spreads, &diag)
                : 0;
    if (error < 0)
        status = rfn_command_fail(file, error, &diag);
    extras.spreads = spreads;
    extras.top = top_of(&options->given);
    extras.top_clusters = options->given.top_given ? options->given.top : 0;
    status = options->given.json ? print_json(archive, &totals, &extras, file, status)
                                 : print_text(archive, &totals, &extras, file, status);
    rfn_time_spreads_free(spreads);
    rfn_clustering_free(clustering);
    return status;
}

static int open_and_print(const struct info_options *options)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_archive *archive;
    int error = rfn_archive_open(options->given.file, &archive, &diag);
    if (error < 0)
        return rfn_command_fail(options->given.file, error, &diag);
    int status = print(archive, options);
    rfn_archive_close(archive);
    return status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct info_options options = {0};
    int error = rfn_expressions_new(&options.expressions);
    if (error < 0)
        return rfn_command_fail(NULL, error, NULL);
    rfn_command_parse(command, parse, argc, argv, &options);
    int status = open_and_print(&options);
    rfn_expressions_free(options.expressions);
    return status;
}

const struct rfn_command rfn_cmd_info = {
    .name = "info",
    .summary = "Tells what is in an archive: run, sizes, groups of ranks",
    .usage = "FILE",
    .about = "Ranks are written as runs: 0-3,8 are the ranks 0 to 3 and 8, 0-12:4 every fourth "
             "rank from 0 to 12.",
    .options = options,
    .run = run,
};
