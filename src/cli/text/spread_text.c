#include "cli/text/spread_text.h"

#include "cli/text/json.h"
#include "cli/text/table.h"
#include "refrain/explain.h"

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
    rfn_text_ranks(text, ranks, n);
    free(ranks);
}

static void append_row(struct rfn_table *table, const char *what,
                       const struct rfn_time_spread *spread)
{
    struct rfn_text bins = {0};
    rfn_table_row(table, "%s\t%s", rfn_count_text(spread->n).text,
                  rfn_time_text((int64_t)total_ns(spread)).text);
    rfn_table_cell(table, what);
    rfn_table_row(table, "%s\t%s\t%s\t%s", rfn_time_text((int64_t)spread->min_ns).text,
                  rfn_time_text((int64_t)spread->mean_ns).text,
                  rfn_time_text((int64_t)spread->max_ns).text,
                  rfn_time_text((int64_t)spread->deviation_ns).text);
    /* Of each bin the tenths that it has of all: 0 for less than half a tenth, '.' for nothing. */
    for (uint32_t i = 0; i < spread->n_bins; i++) {
        double tenths = 10 * (double)spread->bins[i] / (double)spread->n;
        int digit = tenths < 9.5 ? (int)(tenths + 0.5) : 9;
        rfn_text_char(&bins, spread->bins[i] ? (char)('0' + digit) : '.');
    }
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
        rfn_text_printable(&note, rfn_archive_function(archive, position->after_function)->name);
        rfn_text_string(&note, " < ");
        rfn_call_path_short(&note, archive, position->after_path, PATH_WIDTH);
    }
    rfn_table_note(table, &note);
}

static void append_position(struct rfn_table *table, const struct rfn_archive *archive,
                            const struct rfn_time_spreads *spreads,
                            const struct rfn_position_spread *position)
{
    struct rfn_spread_cluster cluster = rfn_time_spreads_cluster(spreads, position->cluster);
    struct rfn_text what = {0}, note = {0};
    if (position->before.n) {
        append_row(table, "before", &position->before);
        append_after(table, archive, position);
    }
    rfn_text_printable(&what, rfn_archive_function(archive, position->function)->name);
    rfn_text_string(&what, position->failed_poll ? " (failed polls)" : "");
    append_row(table, rfn_text_terminated(&what), &position->duration);
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
    note.failed |= what.failed;
    rfn_table_note(table, &note);
    rfn_text_release(&what);
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

void rfn_spread_append(struct rfn_text *out, const struct rfn_archive *archive,
                       const struct rfn_time_spreads *spreads, uint64_t top)
{
    uint32_t clusters = rfn_time_spreads_clusters(spreads);
    struct rfn_table table;
    size_t n;
    const struct rfn_position_spread **order = sorted(spreads, &n);
    if (!order) {
        out->failed = true;
        return;
    }
    rfn_text_format(
        out,
        "\nVariation: how far single times lie apart, over all ranks of a cluster and all "
        "executions\n  %u cluster%s of ranks with the same call paths; %s\n"
        "  bins: from the shortest time on, each twice as long as the one before; "
        "tenths of all\n",
        clusters, clusters == 1 ? "" : "s", origin(archive, spreads));
    rfn_table_init(&table, "rrlrrrrl", "times\ttotal\twhat\tmin\tmean\tmax\tdeviation\tbins");
    for (size_t i = 0; i < n && i < top; i++)
        append_position(&table, archive, spreads, order[i]);
    rfn_table_print(&table, NOTE_INDENT, out);
    if (n > top)
        rfn_text_format(out, "  %s more: --top\n", rfn_count_text(n - top).text);
    free(order);
}

/* ---- JSON ---- */

static json_t *json_times(const struct rfn_time_spread *spread)
{
    json_t *value = json_object(), *bins = json_array();
    RFN_JSON_SET(value, "n", spread->n);
    RFN_JSON_SET(value, "min_ns", spread->min_ns);
    RFN_JSON_SET(value, "mean_ns", spread->mean_ns);
    RFN_JSON_SET(value, "max_ns", spread->max_ns);
    RFN_JSON_SET(value, "deviation_ns", spread->deviation_ns);
    RFN_JSON_SET(value, "first_bin", spread->first_bin);
    for (uint32_t i = 0; i < spread->n_bins; i++)
        json_array_append_new(bins, rfn_json_count(spread->bins[i]));
    RFN_JSON_SET(value, "bins", bins);
    return value;
}

static void add_site(json_t *value, const struct rfn_archive *archive, uint32_t function,
                     uint32_t call_path)
{
    struct rfn_text path = {0};
    rfn_call_path_full(&path, archive, call_path);
    RFN_JSON_SET(value, "function", rfn_archive_function(archive, function)->name);
    RFN_JSON_SET(value, "call_path", rfn_json_of_text(&path));
}

static json_t *json_position(const struct rfn_archive *archive,
                             const struct rfn_position_spread *position)
{
    /* After null: all of the site's; an object without members: those that the site's other
     * positions do not have. */
    bool any = position->after == RFN_AFTER_ANY;
    json_t *value = json_object(), *after = any ? json_null() : json_object();
    RFN_JSON_SET(value, "cluster", position->cluster);
    add_site(value, archive, position->function, position->path);
    RFN_JSON_SET(value, "failed_poll", position->failed_poll);
    if (position->after == RFN_AFTER_SITE)
        add_site(after, archive, position->after_function, position->after_path);
    RFN_JSON_SET(value, "after", after);
    RFN_JSON_SET(value, "before", json_times(&position->before));
    RFN_JSON_SET(value, "duration", json_times(&position->duration));
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
        RFN_JSON_SET(value, "ranks", rfn_json_of_text(&ranks));
        RFN_JSON_SET(value, "threads", cluster.n_streams);
        RFN_JSON_SET(value, "counted", cluster.counted);
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
    RFN_JSON_SET(value, "kept", rfn_time_spreads_kept(spreads));
    RFN_JSON_SET(value, "representatives", of_representatives(archive, spreads));
    RFN_JSON_SET(value, "clusters", json_clusters(archive, spreads));
    for (size_t i = 0; i < n && i < top; i++)
        json_array_append_new(positions, json_position(archive, order[i]));
    RFN_JSON_SET(value, "positions", positions);
    free(order);
    return value;
}
