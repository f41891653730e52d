/* report_messages.c - message sizes, and who sends to whom.
 *
 * The matrix is printed as far as the page is wide enough: bytes in four characters per pair up to
 * some 16 ranks, one digit per pair (tenths of the heaviest pair) up to 32; beyond that the sums by
 * distance between ranks. The heaviest pairs follow in any case that does not show bytes. Of ranks
 * that were asked for, only the pairs with them are shown.
 */
#include "cli/report.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>

enum { MATRIX_RANKS = 32, DISTANCES_SHOWN = 10, PAIRS_SHOWN = 10 };

/* ---- sizes ---- */

/* 2^exponent bytes, exactly. */
static struct rfn_quantity power_text(unsigned exponent)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct rfn_quantity quantity;
    snprintf(quantity.text, sizeof quantity.text, "%u %s", 1u << exponent % 10,
             units[exponent / 10]);
    return quantity;
}

static void size_text(char *text, size_t size, unsigned bin)
{
    if (bin <= 1)
        snprintf(text, size, "%u B", bin);
    else if (bin <= 10)
        snprintf(text, size, "%u - %u B", 1u << (bin - 1), (1u << bin) - 1);
    else
        snprintf(text, size, "from %s", power_text(bin - 1).text);
}

static void bin_cells(struct rfn_table *table, const struct rfn_size_bin *bin)
{
    rfn_table_cell(table, bin->count ? rfn_count_text(bin->count).text : "");
    rfn_table_cell(table, bin->count ? rfn_bytes_text(bin->bytes).text : "");
}

static void append_sizes(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    static const char *const titles[] = {"size", "messages", "bytes", "collective calls", "bytes"};
    struct rfn_table table;
    size_t rows = 0;
    rfn_table_init(&table, "lrrrr");
    rfn_table_cells(&table, titles, sizeof titles / sizeof *titles);
    for (unsigned bin = 0; bin < RFN_SIZE_BINS; bin++) {
        const struct rfn_size_bin *messages = &profile->point_to_point[bin];
        const struct rfn_size_bin *collective = &profile->collective[bin];
        char text[80];
        if (!messages->count && !collective->count)
            continue;
        size_text(text, sizeof text, bin);
        rfn_table_cell(&table, text);
        bin_cells(&table, messages);
        bin_cells(&table, collective);
        rows++;
    }
    if (rows) {
        rfn_text_string(out,
                        "\nSizes: point-to-point messages as sent; collectives per rank, by what "
                        "it gives (or gets)");
        rfn_report_end_title(out, report, 0);
        rfn_table_print(&table, 2, out);
    }
    rfn_table_release(&table);
}

/* ---- the matrix ---- */

static uint64_t heaviest(const struct rfn_profile *profile)
{
    uint64_t most = 0;
    for (size_t i = 0; i < profile->n_pairs; i++) {
        if (profile->pairs[i].bytes > most)
            most = profile->pairs[i].bytes;
    }
    return most;
}

/* One row of the matrix; *at is the first pair of the source, and moves past its pairs. */
static void matrix_row(struct rfn_text *out, const struct rfn_profile *profile, uint32_t source,
                       size_t *at, uint64_t most)
{
    rfn_text_format(out, "  %5u ", source);
    for (uint32_t dest = 0; dest < profile->n_ranks; dest++) {
        const struct rfn_pair *pair = *at < profile->n_pairs ? &profile->pairs[*at]
                                                             : NULL; /* in order of source, dest */
        uint64_t bytes = 0;
        bool there = pair && pair->source == source && pair->dest == dest;
        if (there) {
            bytes = pair->bytes;
            ++*at;
        }
        if (!most)
            rfn_text_format(out, " %4s", there && !bytes ? "0" : rfn_bytes_short(bytes).text);
        else
            rfn_text_format(out, " %c",
                            there ? (char)('0' + (int)((double)bytes / (double)most * 9.999))
                                  : '.');
    }
    rfn_text_char(out, '\n');
}

/* cell: characters of a cell. most: 0 for bytes, else what the digit 9 stands for. */
static void append_matrix(struct rfn_text *out, const struct rfn_profile *profile, int cell,
                          uint64_t most)
{
    size_t at = 0;
    rfn_text_string(out, " from\\to");
    for (uint32_t dest = 0; dest < profile->n_ranks; dest++) {
        if (cell > 2)
            rfn_text_format(out, "%*u", cell, dest);
        else
            rfn_text_format(out, " %c", (char)(dest % 10 ? '0' + dest % 10 : '0' + dest / 10));
    }
    rfn_text_char(out, '\n');
    for (uint32_t source = 0; source < profile->n_ranks; source++)
        matrix_row(out, profile, source, &at, most);
}

/* ---- summaries ---- */

struct distance {
    int64_t ranks; /* dest - source, the shorter way round */
    uint64_t messages, bytes;
    uint32_t pairs;
};

static int by_bytes(const void *left, const void *right)
{
    const struct distance *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->messages != b->messages)
        return a->messages > b->messages ? -1 : 1;
    return a->ranks < b->ranks ? -1 : a->ranks > b->ranks;
}

static struct distance *distances_of(const struct rfn_profile *profile)
{
    uint32_t n = profile->n_ranks;
    struct distance *distances = calloc((size_t)n + 1, sizeof *distances);
    for (uint32_t i = 0; distances && i < n; i++)
        distances[i].ranks = i <= n / 2 ? i : (int64_t)i - n;
    for (size_t i = 0; distances && i < profile->n_pairs; i++) {
        const struct rfn_pair *pair = &profile->pairs[i];
        struct distance *distance = &distances[((uint64_t)pair->dest + n - pair->source) % n];
        distance->messages += pair->messages;
        distance->bytes += pair->bytes;
        distance->pairs++;
    }
    if (distances)
        qsort(distances, n, sizeof *distances, by_bytes);
    return distances;
}

static void append_distances(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    static const char *const titles[] = {"distance", "pairs", "messages", "bytes"};
    struct distance *distances = distances_of(profile);
    struct rfn_table table;
    out->failed |= !distances;
    rfn_table_init(&table, "rrrr");
    rfn_table_cells(&table, titles, sizeof titles / sizeof *titles);
    for (uint32_t i = 0; distances && i < profile->n_ranks && i < DISTANCES_SHOWN; i++) {
        char text[32];
        if (!distances[i].pairs)
            break;
        snprintf(text, sizeof text, "%+lld", (long long)distances[i].ranks);
        rfn_table_cell(&table, text);
        rfn_table_cell(&table, rfn_count_text(distances[i].pairs).text);
        rfn_table_cell(&table, rfn_count_text(distances[i].messages).text);
        rfn_table_cell(&table, rfn_bytes_text(distances[i].bytes).text);
    }
    rfn_text_string(out, "\nMessages by distance (receiver - sender, the shorter way round)");
    rfn_report_end_title(out, report, 0);
    rfn_table_print(&table, 2, out);
    rfn_table_release(&table);
    free(distances);
}

static int heavier(const void *left, const void *right)
{
    const struct rfn_pair *const *a = left, *const *b = right;
    if ((*a)->bytes != (*b)->bytes)
        return (*a)->bytes > (*b)->bytes ? -1 : 1;
    if ((*a)->messages != (*b)->messages)
        return (*a)->messages > (*b)->messages ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

/* The pairs with a rank that was asked for, heaviest first; to be freed. */
static const struct rfn_pair **pairs_of(const struct rfn_report *report, size_t *n)
{
    const struct rfn_profile *profile = report->profile;
    const struct rfn_pair **order = malloc((profile->n_pairs + 1) * sizeof *order);
    *n = 0;
    for (size_t i = 0; order && i < profile->n_pairs; i++) {
        const struct rfn_pair *pair = &profile->pairs[i];
        if (rfn_report_shows_rank(report, pair->source) ||
            rfn_report_shows_rank(report, pair->dest))
            order[(*n)++] = pair;
    }
    if (order)
        qsort(order, *n, sizeof *order, heavier);
    return order;
}

static void append_pairs(struct rfn_text *out, const struct rfn_report *report)
{
    static const char *const titles[] = {"from", "to", "messages", "bytes"};
    size_t n, shown = PAIRS_SHOWN;
    const struct rfn_pair **order = pairs_of(report, &n);
    struct rfn_table table;
    out->failed |= !order;
    if (!order)
        return;
    if (report->ranks && report->top > shown)
        shown = report->top;
    rfn_table_init(&table, "rrrr");
    rfn_table_cells(&table, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < n && i < shown; i++) {
        rfn_table_cell(&table, rfn_count_text(order[i]->source).text);
        rfn_table_cell(&table, rfn_count_text(order[i]->dest).text);
        rfn_table_cell(&table, rfn_count_text(order[i]->messages).text);
        rfn_table_cell(&table, rfn_bytes_text(order[i]->bytes).text);
    }
    rfn_text_string(out, report->ranks ? "\nMessages" : "\nHeaviest pairs");
    rfn_report_of_ranks(out, report);
    if (n > shown)
        rfn_text_format(out, " (%zu of %zu)", shown, n);
    rfn_report_end_title(out, report, 0);
    rfn_table_print(&table, 2, out);
    rfn_table_release(&table);
    free(order);
}

void rfn_report_messages(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    if (!report->ranks)
        append_sizes(out, report);
    if (!profile->n_pairs)
        return;
    if (report->ranks) {
        append_pairs(out, report);
    } else if (profile->n_ranks <= MATRIX_RANKS &&
               8 + 5 * (size_t)profile->n_ranks <= report->width) {
        rfn_text_string(out, "\nBytes sent from rank (row) to rank (column)\n");
        append_matrix(out, profile, 5, 0);
    } else if (profile->n_ranks <= MATRIX_RANKS && heaviest(profile) &&
               8 + 2 * (size_t)profile->n_ranks <= report->width) {
        rfn_text_format(out,
                        "\nBytes sent from rank (row) to rank (column): tenths of %s, . for none",
                        rfn_bytes_text(heaviest(profile)).text);
        rfn_report_end_title(out, report, 0);
        append_matrix(out, profile, 2, heaviest(profile));
        append_pairs(out, report);
    } else {
        append_distances(out, report);
        append_pairs(out, report);
    }
}
