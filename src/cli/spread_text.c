#include "cli/spread_text.h"

#include "cli/call_path.h"
#include "cli/hosts.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/units.h"

#include <stdlib.h>

enum { NOTE_INDENT = 6, RANKS_WIDTH = 40 };

/* ---- in order of time ---- */

static double total_ns(const struct rfn_time_spread *spread)
{
    return (double)spread->n * (double)spread->mean_ns;
}

static double cost(const struct rfn_position_spread *position)
{
    return total_ns(&position->before) + total_ns(&position->duration);
}

/* Most time first; equal ones as they come. */
static int by_cost(const void *a, const void *b)
{
    const struct rfn_position_spread *const *left = a, *const *right = b;
    double more = cost(*right) - cost(*left);
    return more > 0 ? 1 : more < 0 ? -1 : (*left > *right) - (*left < *right);
}

/* To be freed; NULL: out of memory. */
static const struct rfn_position_spread **sorted(const struct rfn_time_spreads *spreads, size_t *n)
{
    const struct rfn_position_spread *positions = rfn_time_spreads_positions(spreads, n);
    const struct rfn_position_spread **order = malloc((*n + 1) * sizeof *order);
    for (size_t i = 0; i < *n && order; i++)
        order[i] = &positions[i];
    if (order)
        qsort(order, *n, sizeof *order, by_cost);
    return order;
}

/* ---- text ---- */

static void append_ranks(struct rfn_text *text, const struct rfn_archive *archive,
                         const struct rfn_spread_cluster *cluster)
{
    uint32_t *ranks = malloc((cluster->n_streams + (size_t)1) * sizeof *ranks);
    size_t n = 0;
    if (!ranks) {
        text->failed = true;
        return;
    }
    for (uint32_t i = 0; i < cluster->n_streams; i++) {
        uint32_t rank = rfn_archive_stream(archive, cluster->streams[i]).rank;
        if (n == 0 || ranks[n - 1] != rank)
            ranks[n++] = rank;
    }
    rfn_ranks_append(text, ranks, n);
    free(ranks);
}

/* Of each bin the tenths that it has of all: 0 for less than half a tenth, '.' for nothing. */
static void append_bins(struct rfn_text *text, const struct rfn_time_spread *spread)
{
    for (uint32_t i = 0; i < spread->n_bins; i++) {
        double tenths = 10 * (double)spread->bins[i] / (double)spread->n;
        int digit = tenths < 9.5 ? (int)(tenths + 0.5) : 9;
        rfn_text_char(text, spread->bins[i] ? (char)('0' + digit) : '.');
    }
}

/* what: is released. */
static void append_row(struct rfn_table *table, struct rfn_text *what,
                       const struct rfn_time_spread *spread)
{
    const uint64_t times[] = {spread->min_ns, spread->mean_ns, spread->max_ns,
                              spread->deviation_ns};
    struct rfn_text bins = {0};
    rfn_table_cell(table, rfn_count_text(spread->n).text);
    rfn_table_cell(table, rfn_time_text((int64_t)total_ns(spread)).text);
    rfn_table_text(table, what);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        rfn_table_cell(table, rfn_time_text((int64_t)times[i]).text);
    append_bins(&bins, spread);
    rfn_table_text(table, &bins);
}

enum { PATH_WIDTH = RANKS_WIDTH + 20 };

/* What came before, if that is told apart. */
static void append_after(struct rfn_table *table, const struct rfn_archive *archive,
                         const struct rfn_position_spread *position)
{
    struct rfn_text note = {0};
    if (position->after == RFN_AFTER_ANY)
        return;
    rfn_text_string(&note, "after ");
    if (position->after == RFN_AFTER_REST) {
        rfn_text_string(&note, "any other call");
    } else {
        rfn_text_string(&note, rfn_archive_function(archive, position->after_function)->name);
        rfn_text_string(&note, " < ");
        rfn_call_path_short(&note, archive, position->after_path, PATH_WIDTH);
    }
    rfn_table_note_text(table, &note);
}

static void append_place(struct rfn_table *table, const struct rfn_archive *archive,
                         const struct rfn_time_spreads *spreads,
                         const struct rfn_position_spread *position)
{
    struct rfn_spread_cluster cluster = rfn_time_spreads_cluster(spreads, position->cluster);
    struct rfn_text note = {0};
    rfn_call_path_short(&note, archive, position->path, PATH_WIDTH);
    if (position->after == RFN_AFTER_REST && !position->before.n)
        rfn_text_string(&note, ", first of all calls");
    rfn_text_string(&note, "; ranks ");
    size_t from = note.n;
    append_ranks(&note, archive, &cluster);
    if (!note.failed && note.n - from > RANKS_WIDTH) {
        note.n = from + RANKS_WIDTH;
        rfn_text_string(&note, "...");
    }
    rfn_table_note_text(table, &note);
}

static void append_position(struct rfn_table *table, const struct rfn_archive *archive,
                            const struct rfn_time_spreads *spreads,
                            const struct rfn_position_spread *position)
{
    struct rfn_text before = {0}, what = {0};
    rfn_text_string(&what, rfn_archive_function(archive, position->function)->name);
    rfn_text_string(&what, position->failed_poll ? " (failed polls)" : "");
    if (position->before.n) {
        rfn_text_string(&before, "before");
        append_row(table, &before, &position->before);
        append_after(table, archive, position);
    }
    append_row(table, &what, &position->duration);
    append_place(table, archive, spreads, position);
}

/* Times of representatives lie no further apart than those for which they stand, and mostly much
 * nearer: whoever reads them as the run's is misled. */
static bool of_representatives(const struct rfn_archive *archive,
                               const struct rfn_time_spreads *spreads)
{
    return rfn_archive_run(archive)->reduced && !rfn_time_spreads_kept(spreads);
}

static const char *origin(const struct rfn_archive *archive, const struct rfn_time_spreads *spreads)
{
    if (rfn_time_spreads_kept(spreads))
        return "as measured, before times were reduced";
    if (!of_representatives(archive, spreads))
        return "from the times that the archive has";
    return "of REPRESENTATIVES:\n"
           "  times of this archive are reduced, and how far all that was measured lies apart is "
           "not\n"
           "  in it (parts of an archive, and what 'refrain merge' makes, do not have it); what\n"
           "  follows is how far those times lie apart that stand for all";
}

static void append_head(struct rfn_text *out, const struct rfn_archive *archive,
                        const struct rfn_time_spreads *spreads)
{
    uint32_t n = rfn_time_spreads_clusters(spreads);
    rfn_text_format(
        out,
        "\nVariation: how far single times lie apart, over all ranks of a cluster and all "
        "executions\n  %u cluster%s of ranks with the same call paths; %s\n"
        "  bins: from the shortest time on, each twice as long as the one before; "
        "tenths of all\n",
        n, n == 1 ? "" : "s", origin(archive, spreads));
}

void rfn_spread_append(struct rfn_text *out, const struct rfn_archive *archive,
                       const struct rfn_time_spreads *spreads, uint64_t top)
{
    static const char *const titles[] = {"times", "total", "what",      "min",
                                         "mean",  "max",   "deviation", "bins"};
    struct rfn_table table;
    size_t n;
    const struct rfn_position_spread **order = sorted(spreads, &n);
    if (!order) {
        out->failed = true;
        return;
    }
    append_head(out, archive, spreads);
    rfn_table_init(&table, "rrlrrrrl");
    rfn_table_cells(&table, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < n && i < top; i++)
        append_position(&table, archive, spreads, order[i]);
    rfn_table_print(&table, NOTE_INDENT, out);
    rfn_table_release(&table);
    if (n > top)
        rfn_text_format(out, "  %s more: --top\n", rfn_count_text(n - top).text);
    free(order);
}

/* ---- JSON ---- */

static json_t *json_times(const struct rfn_time_spread *spread)
{
    json_t *value = json_object(), *bins = json_array();
    json_object_set_new(value, "n", rfn_json_count(spread->n));
    json_object_set_new(value, "min_ns", rfn_json_count(spread->min_ns));
    json_object_set_new(value, "mean_ns", rfn_json_count(spread->mean_ns));
    json_object_set_new(value, "max_ns", rfn_json_count(spread->max_ns));
    json_object_set_new(value, "deviation_ns", rfn_json_count(spread->deviation_ns));
    json_object_set_new(value, "first_bin", json_integer(spread->first_bin));
    for (uint32_t i = 0; i < spread->n_bins; i++)
        json_array_append_new(bins, rfn_json_count(spread->bins[i]));
    json_object_set_new(value, "bins", bins);
    return value;
}

static void add_site(json_t *value, const struct rfn_archive *archive, uint32_t function,
                     uint32_t call_path)
{
    struct rfn_text path = {0};
    rfn_call_path_full(&path, archive, call_path);
    json_object_set_new(value, "function",
                        rfn_json_text(rfn_archive_function(archive, function)->name));
    json_object_set_new(value, "call_path", rfn_json_of_text(&path));
}

/* null: all of the site's; an object without members: those that the site's other positions do not
 * have. */
static json_t *json_after(const struct rfn_archive *archive,
                          const struct rfn_position_spread *position)
{
    if (position->after == RFN_AFTER_ANY)
        return json_null();
    json_t *value = json_object();
    if (position->after == RFN_AFTER_SITE)
        add_site(value, archive, position->after_function, position->after_path);
    return value;
}

static json_t *json_position(const struct rfn_archive *archive,
                             const struct rfn_position_spread *position)
{
    json_t *value = json_object();
    json_object_set_new(value, "cluster", json_integer(position->cluster));
    add_site(value, archive, position->function, position->path);
    json_object_set_new(value, "failed_poll", json_boolean(position->failed_poll));
    json_object_set_new(value, "after", json_after(archive, position));
    json_object_set_new(value, "before", json_times(&position->before));
    json_object_set_new(value, "duration", json_times(&position->duration));
    return value;
}

static json_t *json_clusters(const struct rfn_archive *archive,
                             const struct rfn_time_spreads *spreads)
{
    json_t *clusters = json_array();
    for (uint32_t i = 0; i < rfn_time_spreads_clusters(spreads); i++) {
        struct rfn_spread_cluster cluster = rfn_time_spreads_cluster(spreads, i);
        struct rfn_text ranks = {0};
        json_t *value = json_object();
        append_ranks(&ranks, archive, &cluster);
        json_object_set_new(value, "ranks", rfn_json_of_text(&ranks));
        json_object_set_new(value, "threads", json_integer(cluster.n_streams));
        json_object_set_new(value, "counted", rfn_json_count(cluster.counted));
        json_array_append_new(clusters, value);
    }
    return clusters;
}

json_t *rfn_json_spread(const struct rfn_archive *archive, const struct rfn_time_spreads *spreads,
                        uint64_t top)
{
    size_t n;
    const struct rfn_position_spread **order = sorted(spreads, &n);
    if (!order)
        return rfn_json_fail();
    json_t *value = json_object(), *positions = json_array();
    json_object_set_new(value, "kept", json_boolean(rfn_time_spreads_kept(spreads)));
    json_object_set_new(value, "representatives",
                        json_boolean(of_representatives(archive, spreads)));
    json_object_set_new(value, "clusters", json_clusters(archive, spreads));
    for (size_t i = 0; i < n && i < top; i++)
        json_array_append_new(positions, json_position(archive, order[i]));
    json_object_set_new(value, "positions", positions);
    free(order);
    return value;
}
