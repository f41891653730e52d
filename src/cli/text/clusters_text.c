#include "cli/text/clusters_text.h"

#include "cli/text/json.h"
#include "cli/text/table.h"
#include "refrain/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_WIDTH = 60, BLOCKS_MAX = 6 };
/* Lines of each list of a page that can be looked over, and of the parameters of a cluster. */
enum { LINES_MAX = 12, PARAMETERS_MAX = 8 };

static const char letters[] = "ijk";

/* ---- ranks ---- */

static void append_blocks(struct rfn_text *text, const struct rfn_rank_block *blocks,
                          size_t n_blocks, size_t most)
{
    for (size_t i = 0; i < n_blocks && i < most; i++) {
        const struct rfn_rank_block *block = &blocks[i];
        uint32_t n = block->n_dimensions;
        rfn_text_format(text, "%s%u", i ? "; " : "", block->start);
        if (n == 0)
            continue;
        uint32_t count = block->dimensions[n - 1].count, stride = block->dimensions[n - 1].stride;
        rfn_text_format(text, "-%" PRIu64, block->start + (count - (uint64_t)1) * stride);
        if (stride > 1)
            rfn_text_format(text, " by %u", stride);
        while (--n > 0)
            rfn_text_format(text, ", %u times %u apart", block->dimensions[n - 1].count,
                            block->dimensions[n - 1].stride);
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

/* "(i, j)", or with the shifts or in the order of the expression. */
static void append_place(struct rfn_text *text, const struct rfn_rank_expression *expression)
{
    bool permuted = expression->form == RFN_EXPRESSION_PERMUTED;
    for (uint32_t i = 0; i < expression->n_dimensions; i++) {
        rfn_text_string(text, i ? ", " : "(");
        rfn_text_char(text, letters[permuted ? expression->order[i] : i]);
        if (!permuted)
            append_offset(text, expression->factors[i]);
    }
    rfn_text_char(text, ')');
}

/* "4 x 4 grid" */
static void append_grid(struct rfn_text *text, const struct rfn_rank_expression *expression)
{
    for (uint32_t i = 0; i < expression->n_dimensions; i++)
        rfn_text_format(text, "%s%u", i ? " x " : "", expression->dimensions[i]);
    rfn_text_string(text, " grid");
}

/* ", rank being (i, j) on the 4 x 4 grid" */
static void append_being(struct rfn_text *text, const struct rfn_rank_expression *expression)
{
    struct rfn_rank_expression grid = {.n_dimensions = expression->n_dimensions};
    rfn_text_string(text, ", rank being ");
    append_place(text, &grid);
    rfn_text_string(text, " on the ");
    append_grid(text, expression);
}

static void append_shifted(struct rfn_text *text, const struct rfn_rank_expression *expression)
{
    bool round = !expression->open;
    for (uint32_t i = 0; i < expression->n_dimensions; i++)
        round |= expression->factors[i] && !(expression->open >> i & 1);
    if (expression->n_dimensions > 1) {
        rfn_text_string(text, "rank of ");
        append_place(text, expression);
        rfn_text_string(text, round ? " round the " : " on the ");
        append_grid(text, expression);
    } else {
        rfn_text_string(text, round ? "(rank" : "rank");
        append_offset(text, expression->factors[0]);
        if (round)
            rfn_text_format(text, ") mod %u", expression->dimensions[0]);
    }
    if (expression->open)
        rfn_text_string(text, ", MPI_PROC_NULL beyond the ends");
    const char *before = " of "; /* " of i and k": where not all ends are meant */
    for (uint32_t i = 0; i < expression->n_dimensions; i++) {
        if (!round || !(expression->open >> i & 1))
            continue;
        rfn_text_format(text, "%s%c", before, letters[i]);
        before = " and ";
    }
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
    if (expression->n_dimensions > 1)
        append_being(text, expression);
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
        rfn_text_string(text, "rank of ");
        append_place(text, expression);
        rfn_text_string(text, " on the transposed grid");
        append_being(text, expression);
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
    struct rfn_table table;
    rfn_table_init(&table, "rrrrrrl",
                   "cluster\tranks\tcalls of a rank\tcall paths\tsub-clusters\tafter expressions\t"
                   "which");
    for (uint32_t i = 0; i < n; i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        bool range = main->calls_most > main->calls_least;
        rfn_table_row(&table, "%s\t%s\t%s%s%s\t%s\t%s\t%s", rfn_count_text(i + (uint64_t)1).text,
                      rfn_count_text(main->ranks).text, rfn_count_text(main->calls_least).text,
                      range ? "-" : "", range ? rfn_count_text(main->calls_most).text : "",
                      rfn_count_text(main->n_paths).text, rfn_count_text(main->sub_clusters).text,
                      rfn_count_text(main->after_expressions).text);
        blocks_cell(&table, main->blocks, main->n_blocks);
    }
    rfn_table_print(&table, 2, out);
}

/* Of those of the first n clusters that have several, unless each of their ranks is one. */
static void append_subs(struct rfn_text *out, const struct rfn_clustering *clustering, uint32_t n,
                        uint64_t most)
{
    struct rfn_table table;
    uint64_t all = 0;
    rfn_table_init(&table, "rrl", "sub-cluster\tranks\twhich");
    for (uint32_t i = 0; i < n; i++) {
        const struct rfn_main_cluster *main = rfn_clustering_main(clustering, i);
        if (main->sub_clusters <= 1 || main->sub_clusters >= main->ranks)
            continue;
        for (uint32_t k = 0; k < main->sub_clusters; k++) {
            const struct rfn_sub_cluster *sub = rfn_clustering_sub(clustering, main->first_sub + k);
            if (all++ >= most)
                continue;
            rfn_table_row(&table, "%u.%u\t%s", i + 1, k + 1, rfn_count_text(sub->ranks).text);
            blocks_cell(&table, sub->blocks, sub->n_blocks);
        }
    }
    rfn_text_string(out, all ? "\n" : "");
    rfn_table_print(&table, 2, all ? out : NULL);
    append_more(out, "  ", all, most);
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

/* Lines for those parameters that are, or are not, the same place of all; how many there are:
 * "dest = rank + 1 (MPI_Send in main (x.c:3)) on 0-3". */
static size_t add_differences(struct rfn_text *lines, size_t n, bool one_place,
                              const struct rfn_archive *archive,
                              const struct rfn_clustering *clustering,
                              const struct rfn_main_cluster *main)
{
    for (uint32_t i = 0; i < main->n_parameters; i++) {
        const struct rfn_cluster_parameter *parameter = rfn_clustering_parameter(
            clustering, main->first_parameter + i);
        struct rfn_text *line = &lines[n];
        if (is_one_place(parameter) != one_place)
            continue;
        append_parameter(line, parameter);
        rfn_text_string(line, " (");
        append_call(line, archive, parameter->function, parameter->path);
        rfn_text_char(line, ')');
        if (count_ranks(parameter->blocks, parameter->n_blocks) < main->ranks) {
            rfn_text_string(line, " on ");
            append_blocks(line, parameter->blocks, parameter->n_blocks, BLOCKS_MAX);
        }
        if (line->failed || !is_among(lines, n, line))
            n++;
        else
            rfn_text_release(line);
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
        rfn_text_format(out, "  cluster %u\n", number + 1);
    for (size_t i = 0; i < n; i++) {
        if (i < most)
            rfn_text_format(out, "    %s\n", rfn_text_terminated(&lines[i]));
        out->failed |= lines[i].failed;
        rfn_text_release(&lines[i]);
    }
    append_more(out, "    ", n, most);
    free(lines);
}

static void append_number(struct rfn_text *out, const char *name, uint64_t n, const char *meaning)
{
    rfn_text_format(out, "  %-20s%-8s%s\n", name, rfn_count_text(n).text, meaning);
}

/* How many clusters there are, and when parameters are equal; nothing is left unsaid in which ranks
 * of a sub-cluster may differ. */
static void append_numbers(struct rfn_text *out, const struct rfn_clustering *clustering)
{
    static const char *const path_meanings[] = {
        [RFN_PATHS_ELASTIC] = "make the same calls in the same order",
        [RFN_PATHS_STRICT] = "make the same calls in the same order, equally often",
        [RFN_PATHS_XOR] = "have the same exclusive or of stack signatures"};
    static const char *const parameter_meanings[] = {
        [RFN_PARAMETERS_FIELDS] = "the same, and their parameters are equal",
        [RFN_PARAMETERS_PAPER] = "the same, and so are the 64 bits of their parameters",
        [RFN_PARAMETERS_REFERENCE] = "the same, and so are all parameters of each call"};
    struct rfn_cluster_form form = rfn_clustering_form(clustering);
    struct rfn_cluster_extremes extremes = rfn_clustering_extremes(clustering);
    bool fields = form.parameters == RFN_PARAMETERS_FIELDS;
    append_number(out, "Main clusters", rfn_clustering_mains(clustering),
                  path_meanings[form.paths]);
    append_number(out, "Sub-clusters", rfn_clustering_subs(clustering),
                  parameter_meanings[form.parameters]);
    if (fields)
        append_number(out, "After expressions", rfn_clustering_after_expressions(clustering),
                      "the same, but for parameters that an expression gives");
    if (rfn_clustering_unreadable(clustering))
        append_number(out, "Left out", rfn_clustering_unreadable(clustering),
                      "ranks that are not readable");
    if (fields)
        rfn_text_string(out, "  Of the counts of a call path the least and the most are compared, "
                             "within 5 %; tags are not.\n");
    if (fields && (extremes.lists || extremes.many_values))
        rfn_text_format(
            out, "  %s%s are compared by their least and most only.\n",
            extremes.lists ? "Lists" : "Inputs with more than 64 values",
            extremes.lists && extremes.many_values ? ", and inputs with more than 64 values," : "");
}

void rfn_clusters_append(struct rfn_text *out, const struct rfn_archive *archive,
                         const struct rfn_clustering *clustering, uint64_t top)
{
    const uint64_t lines = top ? top : LINES_MAX, parameters = top ? top : PARAMETERS_MAX;
    uint32_t mains = rfn_clustering_mains(clustering);
    uint32_t n = mains < lines ? mains : (uint32_t)lines, *clusters;
    struct owners owners;
    bool any = false;
    rfn_text_string(out, "\nClusters: ranks that behave alike\n");
    append_numbers(out, clustering);
    if (!mains)
        return;
    rfn_text_char(out, '\n');
    append_table(out, clustering, n);
    append_more(out, "  ", mains, n);
    append_subs(out, clustering, n, lines);
    clusters = malloc((mains + (size_t)1) * sizeof *clusters);
    bool room = find_owners(&owners, clustering) && clusters;
    if (room)
        append_own_calls(out, archive, clustering, &owners, clusters, lines);
    for (uint32_t i = 0; i < n && room; i++) {
        if (!any && rfn_clustering_main(clustering, i)->n_parameters) {
            rfn_text_string(out, "\nParameters in which ranks of a cluster differ\n");
            any = true;
        }
        append_parameters(out, archive, clustering, i, parameters);
    }
    out->failed |= !room;
    free(owners.at);
    free(clusters);
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
    rfn_table_row(table, "%s\t%s\t%s\t%s\t%s", name, rfn_count_text(level->messages).text,
                  rfn_bytes_text(level->bytes).text, rfn_bytes_text(level->unmerged_bytes).text,
                  seconds_text(level->seconds).text);
}

void rfn_clustering_cost_append(struct rfn_text *out, const struct rfn_clustering_cost *cost)
{
    const struct rfn_cluster_level total = total_of(cost);
    struct rfn_table table;
    if (!cost->n_levels)
        return;
    rfn_table_init(&table, "rrrrr", "ranks\tmessages\tbytes\twithout clusters\tCPU time");
    for (uint32_t i = 0; i < cost->n_levels; i++)
        level_row(&table, rfn_count_text((uint64_t)1 << i).text, &cost->levels[i]);
    level_row(&table, "all", &total);
    rfn_text_string(out, "\nCost of merging up a tree, where sets of so many ranks meet\n");
    rfn_table_print(&table, 2, out);
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
        RFN_JSON_SET(block, "start", blocks[i].start);
        for (uint32_t k = 0; k < blocks[i].n_dimensions; k++)
            json_array_append_new(dimensions,
                                  json_pack("[II]", (json_int_t)blocks[i].dimensions[k].count,
                                            (json_int_t)blocks[i].dimensions[k].stride));
        RFN_JSON_SET(block, "dimensions", dimensions);
        json_array_append_new(list, block);
    }
    return list;
}

static json_t *json_expression(const struct rfn_rank_expression *expression)
{
    static const char *const names[] = {"none", "constant", "offset", "shifted",
                                        "xor",  "permuted", "affine", "formula"};
    struct rfn_text text = {0};
    if (expression->form == RFN_EXPRESSION_NONE)
        return json_null();
    json_t *value = json_object(), *grid = json_array(), *factors = json_array(),
           *order = json_array(), *open = json_array();
    for (uint32_t i = 0; i < expression->n_dimensions; i++) {
        json_array_append_new(grid, json_integer(expression->dimensions[i]));
        json_array_append_new(factors, json_integer(expression->factors[i]));
        json_array_append_new(order, json_integer(expression->order[i]));
        if (expression->open >> i & 1)
            json_array_append_new(open, json_integer(i));
    }
    RFN_JSON_SET(value, "form", names[expression->form]);
    RFN_JSON_SET(value, "offset", expression->offset);
    RFN_JSON_SET(value, "grid", grid);
    RFN_JSON_SET(value, "factors", factors);
    RFN_JSON_SET(value, "order", order);
    RFN_JSON_SET(value, "open", json_boolean(expression->open != 0));
    RFN_JSON_SET(value, "open_dimensions", open);
    rfn_expression_append(&text, expression);
    RFN_JSON_SET(value, "text", rfn_json_of_text(&text));
    return value;
}

/* A function, and its call path. */
static void set_call(json_t *value, const struct rfn_archive *archive, uint32_t function,
                     uint32_t path)
{
    struct rfn_text text = {0};
    rfn_call_path_full(&text, archive, path);
    RFN_JSON_SET(value, "function", rfn_archive_function(archive, function)->name);
    RFN_JSON_SET(value, "path", rfn_json_of_text(&text));
}

static json_t *json_parameter(const struct rfn_archive *archive,
                              const struct rfn_cluster_parameter *parameter)
{
    static const char *const parts[] = {"value", "size", "communicator", "least", "largest"};
    json_t *value = json_object();
    struct rfn_text text = {0};
    append_parameter(&text, parameter);
    set_call(value, archive, parameter->function, parameter->path);
    RFN_JSON_SET(value, "name", parameter->name);
    RFN_JSON_SET(value, "part", parts[parameter->part]);
    RFN_JSON_SET(value, "occurrence", parameter->occurrence);
    RFN_JSON_SET(value, "occurrences", parameter->occurrences);
    RFN_JSON_SET(value, "ranks", json_blocks(parameter->blocks, parameter->n_blocks));
    RFN_JSON_SET(value, "values", parameter->n_values);
    RFN_JSON_SET(value, "expression", json_expression(&parameter->expression));
    RFN_JSON_SET(value, "text", rfn_json_of_text(&text));
    return value;
}

static json_t *json_main(const struct rfn_archive *archive, const struct rfn_clustering *clustering,
                         uint32_t number)
{
    const struct rfn_main_cluster *main = rfn_clustering_main(clustering, number);
    json_t *value = json_object(), *calls = json_array(), *subs = json_array(),
           *parameters = json_array();
    RFN_JSON_SET(value, "signature", rfn_json_signature(main->signature));
    RFN_JSON_SET(value, "representative", main->representative);
    RFN_JSON_SET(value, "n_ranks", main->ranks);
    RFN_JSON_SET(value, "ranks", json_blocks(main->blocks, main->n_blocks));
    RFN_JSON_SET(value, "calls_least", main->calls_least);
    RFN_JSON_SET(value, "calls_largest", main->calls_most);
    RFN_JSON_SET(value, "sub_clusters", main->sub_clusters);
    RFN_JSON_SET(value, "sub_clusters_after_expressions", main->after_expressions);
    for (size_t i = 0; i < main->n_paths; i++) {
        json_t *call = json_object();
        set_call(call, archive, main->paths[2 * i], main->paths[2 * i + 1]);
        json_array_append_new(calls, call);
    }
    RFN_JSON_SET(value, "call_paths", calls);
    for (uint32_t i = 0; i < main->sub_clusters; i++) {
        const struct rfn_sub_cluster *sub = rfn_clustering_sub(clustering, main->first_sub + i);
        json_t *of = json_object();
        RFN_JSON_SET(of, "representative", sub->representative);
        RFN_JSON_SET(of, "n_ranks", sub->ranks);
        RFN_JSON_SET(of, "ranks", json_blocks(sub->blocks, sub->n_blocks));
        json_array_append_new(subs, of);
    }
    RFN_JSON_SET(value, "subs", subs);
    for (uint32_t i = 0; i < main->n_parameters; i++)
        json_array_append_new(parameters,
                              json_parameter(archive, rfn_clustering_parameter(
                                                          clustering, main->first_parameter + i)));
    RFN_JSON_SET(value, "parameters", parameters);
    return value;
}

void rfn_json_cluster_counts(json_t *value, const struct rfn_clustering *clustering)
{
    const struct rfn_clustering *c = clustering;
    RFN_JSON_SET(value, "main_clusters", c ? json_integer(rfn_clustering_mains(c)) : json_null());
    RFN_JSON_SET(value, "sub_clusters", c ? json_integer(rfn_clustering_subs(c)) : json_null());
    RFN_JSON_SET(value, "sub_clusters_after_expressions",
                 c ? json_integer(rfn_clustering_after_expressions(c)) : json_null());
}

void rfn_json_clusters(json_t *value, const struct rfn_archive *archive,
                       const struct rfn_clustering *clustering)
{
    struct rfn_cluster_extremes extremes = rfn_clustering_extremes(clustering);
    json_t *list = json_array(), *compared = json_object();
    for (uint32_t i = 0; i < rfn_clustering_mains(clustering); i++)
        json_array_append_new(list, json_main(archive, clustering, i));
    RFN_JSON_SET(value, "unclustered_ranks", rfn_clustering_unreadable(clustering));
    RFN_JSON_SET(compared, "lists", extremes.lists);
    RFN_JSON_SET(compared, "many_values", extremes.many_values);
    RFN_JSON_SET(value, "compared_by_extremes", compared);
    RFN_JSON_SET(value, "clusters", list);
}

static json_t *json_level(const struct rfn_cluster_level *level)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "messages", level->messages);
    RFN_JSON_SET(value, "bytes", level->bytes);
    RFN_JSON_SET(value, "unmerged_bytes", level->unmerged_bytes);
    RFN_JSON_SET(value, "seconds", level->seconds);
    return value;
}

void rfn_json_clustering_cost(json_t *value, const struct rfn_clustering_cost *cost)
{
    const struct rfn_cluster_level total = total_of(cost);
    json_t *found = json_object(), *levels = json_array();
    for (uint32_t i = 0; i < cost->n_levels; i++)
        json_array_append_new(levels, json_level(&cost->levels[i]));
    RFN_JSON_SET(found, "levels", levels);
    RFN_JSON_SET(found, "merging", json_level(&total));
    RFN_JSON_SET(found, "reading_seconds", cost->reading);
    RFN_JSON_SET(found, "dividing_seconds", cost->dividing);
    RFN_JSON_SET(found, "expression_seconds", cost->expressions);
    RFN_JSON_SET(value, "clustering_cost", found);
}
