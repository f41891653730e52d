#include "cli/clusters_text.h"

#include "cli/hosts.h"
#include "cli/json.h"
#include "cli/table.h"
#include "refrain/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_WIDTH = 60, BLOCKS_MAX = 6 };

static const char letters[] = "ijk";

/* ---- ranks ---- */

static void append_block(struct rfn_text *text, const struct rfn_rank_block *block)
{
    uint32_t n = block->n_dimensions;
    rfn_text_unsigned(text, block->start);
    if (n == 0)
        return;
    uint32_t count = block->dimensions[n - 1].count, stride = block->dimensions[n - 1].stride;
    rfn_text_format(text, "-%" PRIu64, block->start + (count - (uint64_t)1) * stride);
    if (stride > 1)
        rfn_text_format(text, ":%" PRIu32, stride);
    while (--n > 0)
        rfn_text_format(text, ", %" PRIu32 " times %" PRIu32 " apart",
                        block->dimensions[n - 1].count, block->dimensions[n - 1].stride);
}

static void append_blocks(struct rfn_text *text, const struct rfn_rank_block *blocks,
                          size_t n_blocks, size_t most)
{
    for (size_t i = 0; i < n_blocks && i < most; i++) {
        rfn_text_string(text, i ? "; " : "");
        append_block(text, &blocks[i]);
    }
    if (n_blocks > most)
        rfn_text_string(text, "; ...");
}

void rfn_rank_blocks_append(struct rfn_text *text, const struct rfn_rank_block *blocks,
                            size_t n_blocks)
{
    append_blocks(text, blocks, n_blocks, n_blocks);
}

static uint64_t count_ranks(const struct rfn_rank_block *blocks, size_t n_blocks)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n_blocks; i++) {
        uint64_t n = 1;
        for (uint32_t k = 0; k < blocks[i].n_dimensions; k++)
            n *= blocks[i].dimensions[k].count;
        all += n;
    }
    return all;
}

/* ---- expressions ---- */

/* " + 3", " - 3", or nothing. */
static void append_offset(struct rfn_text *text, int64_t offset)
{
    if (offset)
        rfn_text_format(text, " %c %" PRIu64, offset < 0 ? '-' : '+',
                        offset < 0 ? -(uint64_t)offset : (uint64_t)offset);
}

static void append_grid(struct rfn_text *text, const struct rfn_rank_expression *expression)
{
    for (uint32_t i = 0; i < expression->n_dimensions; i++)
        rfn_text_format(text, "%s%" PRIu32, i ? " x " : "", expression->dimensions[i]);
    rfn_text_string(text, " grid");
}

/* "(i, j)", or with the shifts or in the order of the expression. */
static void append_place(struct rfn_text *text, const struct rfn_rank_expression *expression)
{
    bool permuted = expression->form == RFN_EXPRESSION_PERMUTED;
    rfn_text_char(text, '(');
    for (uint32_t i = 0; i < expression->n_dimensions; i++) {
        rfn_text_string(text, i ? ", " : "");
        rfn_text_char(text, letters[permuted ? expression->order[i] : i]);
        if (!permuted)
            append_offset(text, expression->factors[i]);
    }
    rfn_text_char(text, ')');
}

static bool wraps_somewhere(const struct rfn_rank_expression *expression)
{
    for (uint32_t i = 0; i < expression->n_dimensions; i++) {
        if (expression->factors[i] && !(expression->open >> i & 1))
            return true;
    }
    return false;
}

/* " of i and k": where not all ends are meant. */
static void append_open(struct rfn_text *text, const struct rfn_rank_expression *expression)
{
    const char *before = " of ";
    for (uint32_t i = 0; i < expression->n_dimensions; i++) {
        if (!(expression->open >> i & 1))
            continue;
        rfn_text_string(text, before);
        rfn_text_char(text, letters[i]);
        before = " and ";
    }
}

static void append_shifted(struct rfn_text *text, const struct rfn_rank_expression *expression)
{
    bool round = !expression->open || wraps_somewhere(expression);
    if (expression->n_dimensions > 1) {
        rfn_text_string(text, "rank of ");
        append_place(text, expression);
        rfn_text_string(text, round ? " round the " : " on the ");
        append_grid(text, expression);
    } else {
        rfn_text_string(text, round ? "(rank" : "rank");
        append_offset(text, expression->factors[0]);
        if (round)
            rfn_text_format(text, ") mod %" PRIu32, expression->dimensions[0]);
    }
    if (expression->open)
        rfn_text_string(text, ", MPI_PROC_NULL beyond the ends");
    if (expression->open && round)
        append_open(text, expression);
}

static void append_affine(struct rfn_text *text, const struct rfn_rank_expression *expression)
{
    bool any = false;
    for (uint32_t i = 0; i < expression->n_dimensions; i++) {
        int64_t factor = expression->factors[i];
        if (!factor)
            continue;
        rfn_text_string(text, any ? " + " : "");
        if (factor != 1)
            rfn_text_format(text, "%" PRId64 " * ", factor);
        if (expression->n_dimensions == 1)
            rfn_text_string(text, "rank");
        else
            rfn_text_char(text, letters[i]);
        any = true;
    }
    append_offset(text, expression->offset);
    if (expression->n_dimensions < 2)
        return;
    rfn_text_string(text, ", rank being ");
    struct rfn_rank_expression grid = {.n_dimensions = expression->n_dimensions};
    append_place(text, &grid);
    rfn_text_string(text, " on the ");
    append_grid(text, expression);
}

static void append_permuted(struct rfn_text *text, const struct rfn_rank_expression *expression)
{
    struct rfn_rank_expression grid = {.n_dimensions = expression->n_dimensions};
    rfn_text_string(text, "rank of ");
    append_place(text, expression);
    rfn_text_string(text, " on the transposed grid, rank being ");
    append_place(text, &grid);
    rfn_text_string(text, " on the ");
    append_grid(text, expression);
}

void rfn_expression_append(struct rfn_text *text, const struct rfn_rank_expression *expression)
{
    switch (expression->form) {
    case RFN_EXPRESSION_CONSTANT:
        rfn_text_signed(text, expression->offset);
        break;
    case RFN_EXPRESSION_OFFSET:
        rfn_text_string(text, "rank");
        append_offset(text, expression->offset);
        break;
    case RFN_EXPRESSION_SHIFTED:
        append_shifted(text, expression);
        break;
    case RFN_EXPRESSION_XOR:
        rfn_text_format(text, "rank xor %" PRId64, expression->offset);
        break;
    case RFN_EXPRESSION_PERMUTED:
        append_permuted(text, expression);
        break;
    case RFN_EXPRESSION_AFFINE:
        append_affine(text, expression);
        break;
    case RFN_EXPRESSION_FORMULA:
        rfn_text_bytes(text, expression->formula, expression->formula_size);
        break;
    default:
        rfn_text_string(text, "no expression");
    }
}

static const char *part_words(const struct rfn_cluster_parameter *parameter)
{
    switch (parameter->part) {
    case RFN_PART_SIZE:
        return "size of the communicator";
    case RFN_PART_COMM:
        return "communicator";
    case RFN_PART_LEAST:
        return parameter->role == RFN_ROLE_RANGE ? "least distance of" : "least";
    case RFN_PART_MOST:
        return parameter->role == RFN_ROLE_RANGE ? "largest distance of" : "largest";
    default:
        return NULL;
    }
}

/* What is equal, but told relative to the rank, in which ranks differ. */
static bool is_one_place(const struct rfn_cluster_parameter *parameter)
{
    return parameter->expression.form == RFN_EXPRESSION_CONSTANT && parameter->n_values > 1;
}

/* "dest = rank + 1", "dest 2 of 3: 14 values, no expression". */
static void append_parameter(struct rfn_text *text, const struct rfn_cluster_parameter *parameter)
{
    const char *part = part_words(parameter);
    if (part)
        rfn_text_format(text, "%s ", part);
    rfn_text_printable(text, parameter->name);
    if (parameter->occurrences > 1)
        rfn_text_format(text, " %" PRIu32 " of %" PRIu32, parameter->occurrence + 1,
                        parameter->occurrences);
    if (parameter->expression.form == RFN_EXPRESSION_NONE) {
        rfn_text_format(text, ": %s values, no expression",
                        rfn_count_text(parameter->n_values).text);
        return;
    }
    rfn_text_string(text, " = ");
    rfn_expression_append(text, &parameter->expression);
    if (is_one_place(parameter))
        rfn_text_string(text, " on all of them, which is another offset from each");
}

/* ---- calls ---- */

static void append_call(struct rfn_text *text, const struct rfn_archive *archive, uint32_t function,
                        uint32_t path)
{
    rfn_text_printable(text, rfn_archive_function(archive, function)->name);
    rfn_text_string(text, " in ");
    rfn_call_path_short(text, archive, path, PATH_WIDTH);
}

/* Which clusters make a call. */
struct owner {
    uint64_t key; /* function and path */
    uint32_t cluster;
};

struct owners {
    struct owner *at; /* by key, then cluster */
    size_t n;
    uint32_t mains;
};

static int compare_owners(const void *a, const void *b)
{
    const struct owner *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

static uint64_t key_of(const uint32_t *path)
{
    return (uint64_t)path[0] << 32 | path[1];
}

static bool find_owners(struct owners *owners, const struct rfn_clustering *clustering)
{
    size_t n = 0;
    *owners = (struct owners){.mains = rfn_clustering_mains(clustering)};
    for (uint32_t i = 0; i < owners->mains; i++)
        n += rfn_clustering_main(clustering, i)->n_paths;
    owners->at = malloc((n + 1) * sizeof *owners->at);
    for (uint32_t i = 0; i < owners->mains && owners->at; i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        for (uint32_t k = 0; k < main->n_paths; k++)
            owners->at[owners->n++] = (struct owner){key_of(main->paths + 2 * (size_t)k), i};
    }
    if (owners->n)
        qsort(owners->at, owners->n, sizeof *owners->at, compare_owners);
    return owners->at;
}

/* The clusters of a call, numbered from 1; several threads of a rank may make it. */
static size_t owners_of(const struct owners *owners, uint64_t key, uint32_t *clusters)
{
    size_t low = 0, high = owners->n, n = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (owners->at[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < owners->n && owners->at[low].key == key; low++) {
        if (n == 0 || clusters[n - 1] != owners->at[low].cluster + 1)
            clusters[n++] = owners->at[low].cluster + 1;
    }
    return n;
}

/* ---- the page ---- */

/* How many lines parts of the page have at most. */
struct limits {
    uint64_t clusters, subs, calls, parameters; /* the last two of a cluster */
};

static struct limits limits_of(uint64_t top)
{
    if (!top)
        return (struct limits){.clusters = 12, .subs = 12, .calls = 12, .parameters = 8};
    return (struct limits){top, top, top, top};
}

static void append_more(struct rfn_text *out, const char *indent, uint64_t all, uint64_t most)
{
    if (all > most)
        rfn_text_format(out, "%sand %s more\n", indent, rfn_count_text(all - most).text);
}

static void blocks_cell(struct rfn_table *table, const struct rfn_rank_block *blocks,
                        size_t n_blocks)
{
    struct rfn_text text = {0};
    append_blocks(&text, blocks, n_blocks, BLOCKS_MAX);
    rfn_table_text(table, &text);
}

static void append_table(struct rfn_text *out, const struct rfn_clustering *clustering, uint32_t n)
{
    static const char *const titles[] = {"cluster",    "ranks",        "calls of a rank",
                                         "call paths", "sub-clusters", "after expressions",
                                         "which"};
    struct rfn_table table;
    rfn_table_init(&table, "rrrrrrl");
    rfn_table_cells(&table, titles, sizeof titles / sizeof *titles);
    for (uint32_t i = 0; i < n; i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        struct rfn_text text = {0};
        rfn_table_cell(&table, rfn_count_text(i + (uint64_t)1).text);
        rfn_table_cell(&table, rfn_count_text(main->ranks).text);
        rfn_text_string(&text, rfn_count_text(main->calls_least).text);
        if (main->calls_most > main->calls_least)
            rfn_text_format(&text, "-%s", rfn_count_text(main->calls_most).text);
        rfn_table_text(&table, &text);
        rfn_table_cell(&table, rfn_count_text(main->n_paths).text);
        rfn_table_cell(&table, rfn_count_text(main->sub_clusters).text);
        rfn_table_cell(&table, rfn_count_text(main->after_expressions).text);
        blocks_cell(&table, main->blocks, main->n_blocks);
    }
    rfn_table_print(&table, 2, out);
    rfn_table_release(&table);
}

/* Of clusters that have several, unless each of their ranks is one. */
static bool has_rows(const struct rfn_main_cluster *main)
{
    return main->sub_clusters > 1 && main->sub_clusters < main->ranks;
}

static void sub_rows(struct rfn_table *table, const struct rfn_clustering *clustering,
                     uint32_t number, uint64_t most)
{
    const struct rfn_main_cluster *main = rfn_clustering_main(clustering, number);
    for (uint32_t i = 0; i < main->sub_clusters && i < most; i++) {
        const struct rfn_sub_cluster *sub = rfn_clustering_sub(clustering, main->first_sub + i);
        char name[32];
        snprintf(name, sizeof name, "%" PRIu32 ".%" PRIu32, number + 1, i + 1);
        rfn_table_cell(table, name);
        rfn_table_cell(table, rfn_count_text(sub->ranks).text);
        blocks_cell(table, sub->blocks, sub->n_blocks);
    }
}

/* Of the first n clusters. */
static void append_subs(struct rfn_text *out, const struct rfn_clustering *clustering, uint32_t n,
                        uint64_t most)
{
    struct rfn_table table;
    uint64_t all = 0, shown = 0;
    rfn_table_init(&table, "rrl");
    rfn_table_cell(&table, "sub-cluster");
    rfn_table_cell(&table, "ranks");
    rfn_table_cell(&table, "which");
    for (uint32_t i = 0; i < n; i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        if (!has_rows(main))
            continue;
        sub_rows(&table, clustering, i, most - shown);
        all += main->sub_clusters;
        shown = all < most ? all : most;
    }
    if (all) {
        rfn_text_char(out, '\n');
        rfn_table_print(&table, 2, out);
        append_more(out, "  ", all, most);
    }
    rfn_table_release(&table);
}

/* Calls that not all clusters make, each where the first cluster that makes it does. */
static void append_own_calls(struct rfn_text *out, const struct rfn_archive *archive,
                             const struct rfn_clustering *clustering, const struct owners *owners,
                             uint32_t *clusters, uint64_t most)
{
    size_t n = 0;
    for (uint32_t i = 0; i < owners->mains; i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        for (uint32_t k = 0; k < main->n_paths; k++) {
            const uint32_t *path = main->paths + 2 * (size_t)k;
            size_t makers = owners_of(owners, key_of(path), clusters);
            if (makers == owners->mains || clusters[0] != i + 1 || n++ >= most)
                continue;
            if (n == 1)
                rfn_text_string(out, "\nCalls that not all clusters make\n");
            rfn_text_string(out, "  ");
            append_call(out, archive, path[0], path[1]);
            rfn_text_string(out, makers == 1 ? ": cluster " : ": clusters ");
            rfn_text_ranks(out, clusters, makers);
            rfn_text_char(out, '\n');
        }
    }
    append_more(out, "  ", n, most);
}

/* "dest = rank + 1 (MPI_Send in main (x.c:3)) on 0-3". */
static void append_difference(struct rfn_text *line, const struct rfn_archive *archive,
                              const struct rfn_main_cluster *main,
                              const struct rfn_cluster_parameter *parameter)
{
    append_parameter(line, parameter);
    rfn_text_string(line, " (");
    append_call(line, archive, parameter->function, parameter->path);
    rfn_text_char(line, ')');
    if (count_ranks(parameter->blocks, parameter->n_blocks) < main->ranks) {
        rfn_text_string(line, " on ");
        append_blocks(line, parameter->blocks, parameter->n_blocks, BLOCKS_MAX);
    }
}

/* Whether a line is like one of the last ones: calls of one line of the source look the same. */
static bool is_among(const struct rfn_text *lines, size_t n, const struct rfn_text *line)
{
    enum { LAST = 256 };
    for (size_t i = n > LAST ? n - LAST : 0; i < n; i++) {
        if (lines[i].n == line->n && memcmp(lines[i].data, line->data, line->n) == 0)
            return true;
    }
    return false;
}

/* Lines for those parameters that are, or are not, the same place of all; how many there are. */
static size_t add_differences(struct rfn_text *lines, size_t n, bool one_place,
                              const struct rfn_archive *archive,
                              const struct rfn_clustering *clustering,
                              const struct rfn_main_cluster *main)
{
    for (uint32_t i = 0; i < main->n_parameters; i++) {
        const struct rfn_cluster_parameter *parameter = rfn_clustering_parameter(
            clustering, main->first_parameter + i);
        if (is_one_place(parameter) != one_place)
            continue;
        append_difference(&lines[n], archive, main, parameter);
        if (lines[n].failed || !is_among(lines, n, &lines[n]))
            n++;
        else
            rfn_text_release(&lines[n]);
    }
    return n;
}

/* First those in which ranks differ, then those that are the same place of all. */
static void append_parameters(struct rfn_text *out, const struct rfn_archive *archive,
                              const struct rfn_clustering *clustering, uint32_t number,
                              uint64_t most)
{
    const struct rfn_main_cluster *main = rfn_clustering_main(clustering, number);
    struct rfn_text *lines = calloc(main->n_parameters + (size_t)1, sizeof *lines);
    size_t n = 0;
    out->failed |= !lines;
    if (lines) {
        n = add_differences(lines, n, false, archive, clustering, main);
        n = add_differences(lines, n, true, archive, clustering, main);
    }
    if (n)
        rfn_text_format(out, "  cluster %" PRIu32 "\n", number + 1);
    for (size_t i = 0; i < n; i++) {
        if (i < most) {
            rfn_text_string(out, "    ");
            rfn_text_bytes(out, lines[i].data, lines[i].n);
            rfn_text_char(out, '\n');
        }
        out->failed |= lines[i].failed;
        rfn_text_release(&lines[i]);
    }
    append_more(out, "    ", n, most);
    free(lines);
}

static void append_details(struct rfn_text *out, const struct rfn_archive *archive,
                           const struct rfn_clustering *clustering, uint32_t n,
                           const struct limits *limits)
{
    struct owners owners;
    uint32_t *clusters = malloc((rfn_clustering_mains(clustering) + (size_t)1) * sizeof *clusters);
    bool room = find_owners(&owners, clustering) && clusters, any = false;
    if (room)
        append_own_calls(out, archive, clustering, &owners, clusters, limits->calls);
    for (uint32_t i = 0; i < n && room; i++) {
        if (!any && rfn_clustering_main(clustering, i)->n_parameters) {
            rfn_text_string(out, "\nParameters in which ranks of a cluster differ\n");
            any = true;
        }
        append_parameters(out, archive, clustering, i, limits->parameters);
    }
    out->failed |= !room;
    free(owners.at);
    free(clusters);
}

static void append_number(struct rfn_text *out, const char *name, uint64_t n, const char *meaning)
{
    rfn_text_format(out, "  %-20s%-8s%s\n", name, rfn_count_text(n).text, meaning);
}

/* What makes ranks a main cluster, and a sub-cluster. */
static const char *const path_meanings[] = {
    [RFN_PATHS_ELASTIC] = "make the same calls in the same order",
    [RFN_PATHS_STRICT] = "make the same calls in the same order, equally often",
    [RFN_PATHS_XOR] = "have the same exclusive or of stack signatures"};
static const char *const parameter_meanings[] = {
    [RFN_PARAMETERS_FIELDS] = "the same, and their parameters are equal",
    [RFN_PARAMETERS_PAPER] = "the same, and so are the 64 bits of their parameters",
    [RFN_PARAMETERS_REFERENCE] = "the same, and so are all parameters of each call"};

/* When parameters are equal; nothing is left unsaid in which ranks of a sub-cluster may differ. */
static void append_limits(struct rfn_text *out, const struct rfn_clustering *clustering)
{
    struct rfn_cluster_extremes extremes = rfn_clustering_extremes(clustering);
    rfn_text_string(out,
                    "  Of the counts of a call path the least and the most are compared, within "
                    "5 %; tags are not.\n");
    if (!extremes.lists && !extremes.many_values)
        return;
    rfn_text_string(out, extremes.lists ? "  Lists" : "  Inputs with more than 64 values");
    if (extremes.lists && extremes.many_values)
        rfn_text_string(out, ", and inputs with more than 64 values,");
    rfn_text_string(out, " are compared by their least and most only.\n");
}

static void append_numbers(struct rfn_text *out, const struct rfn_clustering *clustering)
{
    struct rfn_cluster_form form = rfn_clustering_form(clustering);
    append_number(out, "Main clusters", rfn_clustering_mains(clustering),
                  path_meanings[form.paths]);
    append_number(out, "Sub-clusters", rfn_clustering_subs(clustering),
                  parameter_meanings[form.parameters]);
    if (form.parameters == RFN_PARAMETERS_FIELDS)
        append_number(out, "After expressions", rfn_clustering_after_expressions(clustering),
                      "the same, but for parameters that an expression gives");
    if (rfn_clustering_unreadable(clustering))
        append_number(out, "Left out", rfn_clustering_unreadable(clustering),
                      "ranks that are not readable");
    if (form.parameters == RFN_PARAMETERS_FIELDS)
        append_limits(out, clustering);
}

void rfn_clusters_append(struct rfn_text *out, const struct rfn_archive *archive,
                         const struct rfn_clustering *clustering, uint64_t top)
{
    const struct limits limits = limits_of(top);
    uint32_t mains = rfn_clustering_mains(clustering);
    uint32_t n = mains < limits.clusters ? mains : (uint32_t)limits.clusters;
    rfn_text_string(out, "\nClusters: ranks that behave alike\n");
    append_numbers(out, clustering);
    if (!mains)
        return;
    rfn_text_char(out, '\n');
    append_table(out, clustering, n);
    append_more(out, "  ", mains, n);
    append_subs(out, clustering, n, limits.subs);
    append_details(out, archive, clustering, n, &limits);
}

/* ---- what it cost ---- */

static struct rfn_quantity seconds_text(double seconds)
{
    return rfn_time_text((int64_t)(1e9 * seconds));
}

static struct rfn_cluster_level total_of(const struct rfn_clustering_cost *cost)
{
    struct rfn_cluster_level total = {0};
    for (uint32_t i = 0; i < cost->n_levels; i++) {
        total.messages += cost->levels[i].messages;
        total.bytes += cost->levels[i].bytes;
        total.unmerged_bytes += cost->levels[i].unmerged_bytes;
        total.seconds += cost->levels[i].seconds;
    }
    return total;
}

static void level_row(struct rfn_table *table, const char *name,
                      const struct rfn_cluster_level *level)
{
    rfn_table_cell(table, name);
    rfn_table_cell(table, rfn_count_text(level->messages).text);
    rfn_table_cell(table, rfn_bytes_text(level->bytes).text);
    rfn_table_cell(table, rfn_bytes_text(level->unmerged_bytes).text);
    rfn_table_cell(table, seconds_text(level->seconds).text);
}

void rfn_clustering_cost_append(struct rfn_text *out, const struct rfn_clustering_cost *cost)
{
    static const char *const titles[] = {"ranks", "messages", "bytes", "without clusters",
                                         "CPU time"};
    const struct rfn_cluster_level total = total_of(cost);
    struct rfn_table table;
    if (!cost->n_levels)
        return;
    rfn_table_init(&table, "rrrrr");
    rfn_table_cells(&table, titles, sizeof titles / sizeof *titles);
    for (uint32_t i = 0; i < cost->n_levels; i++)
        level_row(&table, rfn_count_text((uint64_t)1 << i).text, &cost->levels[i]);
    level_row(&table, "all", &total);
    rfn_text_string(out, "\nCost of merging up a tree, where sets of so many ranks meet\n");
    rfn_table_print(&table, 2, out);
    rfn_table_release(&table);
    rfn_text_format(out, "  CPU time otherwise: %s signatures and parameters of ranks, ",
                    seconds_text(cost->reading).text);
    rfn_text_format(out, "%s main and sub-clusters,\n  %s expressions\n",
                    seconds_text(cost->dividing).text, seconds_text(cost->expressions).text);
}

/* ---- JSON ---- */

static json_t *json_blocks(const struct rfn_rank_block *blocks, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *block = json_object(), *dimensions = json_array();
        json_object_set_new(block, "start", json_integer(blocks[i].start));
        for (uint32_t k = 0; k < blocks[i].n_dimensions; k++)
            json_array_append_new(dimensions,
                                  json_pack("[II]", (json_int_t)blocks[i].dimensions[k].count,
                                            (json_int_t)blocks[i].dimensions[k].stride));
        json_object_set_new(block, "dimensions", dimensions);
        json_array_append_new(list, block);
    }
    return list;
}

static json_t *json_expression(const struct rfn_rank_expression *expression)
{
    static const char *const names[] = {"none", "constant", "offset", "shifted",
                                        "xor",  "permuted", "affine", "formula"};
    json_t *value = json_object(), *grid = json_array(), *factors = json_array(),
           *order = json_array(), *open = json_array();
    struct rfn_text text = {0};
    if (expression->form == RFN_EXPRESSION_NONE) {
        json_decref(grid), json_decref(factors), json_decref(order), json_decref(open);
        json_decref(value);
        return json_null();
    }
    for (uint32_t i = 0; i < expression->n_dimensions; i++) {
        json_array_append_new(grid, json_integer(expression->dimensions[i]));
        json_array_append_new(factors, json_integer(expression->factors[i]));
        json_array_append_new(order, json_integer(expression->order[i]));
        if (expression->open >> i & 1)
            json_array_append_new(open, json_integer(i));
    }
    json_object_set_new(value, "form", json_string(names[expression->form]));
    json_object_set_new(value, "offset", json_integer(expression->offset));
    json_object_set_new(value, "grid", grid);
    json_object_set_new(value, "factors", factors);
    json_object_set_new(value, "order", order);
    json_object_set_new(value, "open", json_boolean(expression->open != 0));
    json_object_set_new(value, "open_dimensions", open);
    rfn_expression_append(&text, expression);
    json_object_set_new(value, "text", rfn_json_of_text(&text));
    return value;
}

static json_t *json_parameter(const struct rfn_archive *archive,
                              const struct rfn_cluster_parameter *parameter)
{
    static const char *const parts[] = {"value", "size", "communicator", "least", "largest"};
    json_t *value = json_object();
    struct rfn_text path = {0}, text = {0};
    rfn_call_path_full(&path, archive, parameter->path);
    append_parameter(&text, parameter);
    json_object_set_new(value, "function",
                        rfn_json_text(rfn_archive_function(archive, parameter->function)->name));
    json_object_set_new(value, "path", rfn_json_of_text(&path));
    json_object_set_new(value, "name", rfn_json_text(parameter->name));
    json_object_set_new(value, "part", json_string(parts[parameter->part]));
    json_object_set_new(value, "occurrence", json_integer(parameter->occurrence));
    json_object_set_new(value, "occurrences", json_integer(parameter->occurrences));
    json_object_set_new(value, "ranks", json_blocks(parameter->blocks, parameter->n_blocks));
    json_object_set_new(value, "values", rfn_json_count(parameter->n_values));
    json_object_set_new(value, "expression", json_expression(&parameter->expression));
    json_object_set_new(value, "text", rfn_json_of_text(&text));
    return value;
}

static json_t *json_calls(const struct rfn_archive *archive, const struct rfn_main_cluster *main)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < main->n_paths; i++) {
        const uint32_t *path = main->paths + 2 * (size_t)i;
        json_t *call = json_object();
        struct rfn_text text = {0};
        rfn_call_path_full(&text, archive, path[1]);
        json_object_set_new(call, "function",
                            rfn_json_text(rfn_archive_function(archive, path[0])->name));
        json_object_set_new(call, "path", rfn_json_of_text(&text));
        json_array_append_new(list, call);
    }
    return list;
}

static json_t *json_subs(const struct rfn_clustering *clustering,
                         const struct rfn_main_cluster *main)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < main->sub_clusters; i++) {
        const struct rfn_sub_cluster *sub = rfn_clustering_sub(clustering, main->first_sub + i);
        json_t *value = json_object();
        json_object_set_new(value, "representative", json_integer(sub->representative));
        json_object_set_new(value, "n_ranks", json_integer(sub->ranks));
        json_object_set_new(value, "ranks", json_blocks(sub->blocks, sub->n_blocks));
        json_array_append_new(list, value);
    }
    return list;
}

static json_t *json_main(const struct rfn_archive *archive, const struct rfn_clustering *clustering,
                         uint32_t number)
{
    const struct rfn_main_cluster *main = rfn_clustering_main(clustering, number);
    json_t *value = json_object(), *parameters = json_array();
    json_object_set_new(value, "signature", rfn_json_signature(main->signature));
    json_object_set_new(value, "representative", json_integer(main->representative));
    json_object_set_new(value, "n_ranks", json_integer(main->ranks));
    json_object_set_new(value, "ranks", json_blocks(main->blocks, main->n_blocks));
    json_object_set_new(value, "calls_least", rfn_json_count(main->calls_least));
    json_object_set_new(value, "calls_largest", rfn_json_count(main->calls_most));
    json_object_set_new(value, "sub_clusters", json_integer(main->sub_clusters));
    json_object_set_new(value, "sub_clusters_after_expressions",
                        json_integer(main->after_expressions));
    json_object_set_new(value, "call_paths", json_calls(archive, main));
    json_object_set_new(value, "subs", json_subs(clustering, main));
    for (uint32_t i = 0; i < main->n_parameters; i++)
        json_array_append_new(parameters,
                              json_parameter(archive, rfn_clustering_parameter(
                                                          clustering, main->first_parameter + i)));
    json_object_set_new(value, "parameters", parameters);
    return value;
}

static json_t *json_extremes(const struct rfn_clustering *clustering)
{
    struct rfn_cluster_extremes extremes = rfn_clustering_extremes(clustering);
    json_t *value = json_object();
    json_object_set_new(value, "lists", json_boolean(extremes.lists));
    json_object_set_new(value, "many_values", json_boolean(extremes.many_values));
    return value;
}

void rfn_json_cluster_counts(json_t *value, const struct rfn_clustering *clustering)
{
    const struct rfn_clustering *c = clustering;
    json_object_set_new(value, "main_clusters",
                        c ? json_integer(rfn_clustering_mains(c)) : json_null());
    json_object_set_new(value, "sub_clusters",
                        c ? json_integer(rfn_clustering_subs(c)) : json_null());
    json_object_set_new(value, "sub_clusters_after_expressions",
                        c ? json_integer(rfn_clustering_after_expressions(c)) : json_null());
}

void rfn_json_clusters(json_t *value, const struct rfn_archive *archive,
                       const struct rfn_clustering *clustering)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < rfn_clustering_mains(clustering); i++)
        json_array_append_new(list, json_main(archive, clustering, i));
    json_object_set_new(value, "unclustered_ranks",
                        json_integer(rfn_clustering_unreadable(clustering)));
    json_object_set_new(value, "compared_by_extremes", json_extremes(clustering));
    json_object_set_new(value, "clusters", list);
}

static json_t *json_level(const struct rfn_cluster_level *level)
{
    json_t *value = json_object();
    json_object_set_new(value, "messages", rfn_json_count(level->messages));
    json_object_set_new(value, "bytes", rfn_json_count(level->bytes));
    json_object_set_new(value, "unmerged_bytes", rfn_json_count(level->unmerged_bytes));
    json_object_set_new(value, "seconds", json_real(level->seconds));
    return value;
}

void rfn_json_clustering_cost(json_t *value, const struct rfn_clustering_cost *cost)
{
    const struct rfn_cluster_level total = total_of(cost);
    json_t *found = json_object(), *levels = json_array();
    for (uint32_t i = 0; i < cost->n_levels; i++)
        json_array_append_new(levels, json_level(&cost->levels[i]));
    json_object_set_new(found, "levels", levels);
    json_object_set_new(found, "merging", json_level(&total));
    json_object_set_new(found, "reading_seconds", json_real(cost->reading));
    json_object_set_new(found, "dividing_seconds", json_real(cost->dividing));
    json_object_set_new(found, "expression_seconds", json_real(cost->expressions));
    json_object_set_new(value, "clustering_cost", found);
}
