/* report_messages.c - message sizes, who sends to whom, and who accesses whose memory.
 *
 * The matrix is printed as far as the page is wide enough: bytes in four characters per pair up to
 * some 16 ranks; one digit per pair (tenths of the heaviest pair) up to 16 ranks, which fit on a
 * screen, or 32 if so many rows of tables are asked for (--all, --top). Beyond that the sums by
 * distance between ranks. The heaviest pairs follow in any case that does not show bytes. Of ranks
 * that were asked for, only the pairs with them are shown.
 */
#include "cli/report/report.h"
#include "cli/text/table.h"

#include <stdio.h>
#include <stdlib.h>

enum { SCREEN_RANKS = 16, MATRIX_RANKS = 32 };

/* ---- sizes ---- */

static void bin_cells(struct rfn_table *table, const struct rfn_size_bin *bin)
{
    rfn_table_cell(table, bin->count ? rfn_count_text(bin->count).text : "");
    rfn_table_cell(table, bin->count ? rfn_bytes_text(bin->bytes).text : "");
}

static bool has_accesses(const struct rfn_profile *profile)
{
    for (unsigned bin = 0; bin < RFN_SIZE_BINS; bin++) {
        if (profile->one_sided[bin].count)
            return true;
    }
    return false;
}

static void append_sizes(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    struct rfn_table table;
    size_t rows = 0;
    const bool accesses = has_accesses(profile);
    rfn_table_init(&table, accesses ? "lrrrrrr" : "lrrrr", NULL);
    rfn_table_row(&table, "size\tmessages\tbytes\tcollective calls\tbytes");
    if (accesses)
        rfn_table_row(&table, "one-sided\tbytes");
    for (unsigned bin = 0; bin < RFN_SIZE_BINS; bin++) {
        if (!profile->point_to_point[bin].count && !profile->collective[bin].count &&
            !profile->one_sided[bin].count)
            continue;
        rfn_report_size_cell(&table, bin);
        bin_cells(&table, &profile->point_to_point[bin]);
        bin_cells(&table, &profile->collective[bin]);
        if (accesses)
            bin_cells(&table, &profile->one_sided[bin]);
        rows++;
    }
    if (rows) {
        rfn_text_string(
            out, "\nHow large are messages? Point-to-point as sent; collectives per rank, by "
                 "what it gives (or gets)");
        rfn_report_end_title(out, report, 0);
    }
    /* On narrow pages without bytes of collectives and of one-sided operations. */
    rfn_table_fit(&table, report->width, (const unsigned[]){4, 6}, accesses ? 2 : 0);
    rfn_table_print(&table, 2, rows ? out : NULL);
}

/* ---- the matrix ---- */

/* Messages, or one-sided operations, and how to call what they are and the two ranks. */
struct matrix {
    const struct rfn_pair *pairs;
    size_t n;
    const char *title, *of_ranks, *count, *source, *dest, *distance;
};

/* cell: characters of a cell. most: 0 for bytes, else what the digit 9 stands for. */
static void append_matrix(struct rfn_text *out, const struct rfn_profile *profile,
                          const struct matrix *matrix, int cell, uint64_t most)
{
    const struct rfn_pair *pair = matrix->pairs, *end = pair + matrix->n;
    rfn_text_string(out, " from\\to");
    for (uint32_t dest = 0; dest < profile->n_ranks; dest++) {
        if (cell > 2)
            rfn_text_format(out, "%*u", cell, dest);
        else
            rfn_text_format(out, " %c", (char)(dest % 10 ? '0' + dest % 10 : '0' + dest / 10));
    }
    rfn_text_char(out, '\n');
    for (uint32_t source = 0; source < profile->n_ranks; source++) {
        rfn_text_format(out, "  %5u ", source);
        for (uint32_t dest = 0; dest < profile->n_ranks; dest++) {
            bool there = pair < end && pair->source == source && pair->dest == dest;
            uint64_t bytes = there ? pair++->bytes : 0; /* pairs are in order */
            char digit = (char)('0' + (most ? (int)((double)bytes / (double)most * 9.999) : 0));
            if (!most)
                rfn_text_format(out, " %4s", there && !bytes ? "0" : rfn_bytes_short(bytes).text);
            else
                rfn_text_format(out, " %c", there ? digit : '.');
        }
        rfn_text_char(out, '\n');
    }
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

static void append_distances(struct rfn_text *out, const struct rfn_report *report,
                             const struct matrix *matrix)
{
    uint32_t n = report->profile->n_ranks;
    struct distance *distances = calloc((size_t)n + 1, sizeof *distances);
    struct rfn_table table;
    if (!distances) {
        out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        distances[i].ranks = i <= n / 2 ? i : (int64_t)i - n;
    for (size_t i = 0; i < matrix->n; i++) {
        const struct rfn_pair *pair = &matrix->pairs[i];
        struct distance *distance = &distances[((uint64_t)pair->dest + n - pair->source) % n];
        distance->messages += pair->messages;
        distance->bytes += pair->bytes;
        distance->pairs++;
    }
    qsort(distances, n, sizeof *distances, by_bytes);
    rfn_table_init(&table, "rrrr", NULL);
    rfn_table_row(&table, "distance\tpairs\t%s\tbytes", matrix->count);
    for (uint32_t i = 0; i < n && i < report->top && distances[i].pairs; i++)
        rfn_table_row(&table, "%+lld\t%s\t%s\t%s", (long long)distances[i].ranks,
                      rfn_count_text(distances[i].pairs).text,
                      rfn_count_text(distances[i].messages).text,
                      rfn_bytes_text(distances[i].bytes).text);
    rfn_text_format(out, "\n%s By distance (%s, the shorter way round)", matrix->title,
                    matrix->distance);
    rfn_report_end_title(out, report, 0);
    rfn_table_print(&table, 2, out);
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

/* The pairs with a rank that was asked for, heaviest first. */
static void append_pairs(struct rfn_text *out, const struct rfn_report *report,
                         const struct matrix *matrix)
{
    size_t n = 0;
    const struct rfn_pair **order = malloc((matrix->n + 1) * sizeof *order);
    struct rfn_table table;
    if (!order) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < matrix->n; i++) {
        const struct rfn_pair *pair = &matrix->pairs[i];
        if (rfn_report_shows_rank(report, pair->source) ||
            rfn_report_shows_rank(report, pair->dest))
            order[n++] = pair;
    }
    qsort(order, n, sizeof *order, heavier);
    rfn_table_init(&table, "rrrr", NULL);
    rfn_table_row(&table, "%s\t%s\t%s\tbytes", matrix->source, matrix->dest, matrix->count);
    for (size_t i = 0; i < n && i < report->top; i++)
        rfn_table_row(&table, "%s\t%s\t%s\t%s", rfn_count_text(order[i]->source).text,
                      rfn_count_text(order[i]->dest).text, rfn_count_text(order[i]->messages).text,
                      rfn_bytes_text(order[i]->bytes).text);
    rfn_text_format(out, "\n%s", matrix->title);
    rfn_text_string(out, report->ranks ? matrix->of_ranks : " Heaviest pairs");
    rfn_report_of_ranks(out, report);
    rfn_report_end_title(out, report, n);
    rfn_table_print(&table, 2, out);
    free(order);
}

static void append_who(struct rfn_text *out, const struct rfn_report *report,
                       const struct matrix *matrix)
{
    size_t n_ranks = report->profile->n_ranks;
    bool few = n_ranks <= MATRIX_RANKS && (n_ranks <= SCREEN_RANKS || n_ranks <= report->top) &&
               !report->ranks;
    uint64_t heaviest = 0;
    if (!matrix->n)
        return;
    for (size_t i = 0; i < matrix->n; i++)
        heaviest = matrix->pairs[i].bytes > heaviest ? matrix->pairs[i].bytes : heaviest;
    if (few && 8 + 5 * n_ranks <= report->width) {
        rfn_text_format(out, "\n%s Bytes from rank (row) to rank (column)", matrix->title);
        rfn_report_end_title(out, report, 0);
        append_matrix(out, report->profile, matrix, 5, 0);
        return;
    }
    if (few && heaviest && 8 + 2 * n_ranks <= report->width) {
        rfn_text_format(out,
                        "\n%s Bytes from rank (row) to rank (column): tenths of %s, . for none",
                        matrix->title, rfn_bytes_text(heaviest).text);
        rfn_report_end_title(out, report, 0);
        append_matrix(out, report->profile, matrix, 2, heaviest);
    } else if (!report->ranks) {
        append_distances(out, report, matrix);
    }
    append_pairs(out, report, matrix);
}

void rfn_report_messages(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    const struct matrix messages = {.pairs = profile->pairs,
                                    .n = profile->n_pairs,
                                    .title = "Who sends to whom?",
                                    .of_ranks = " Messages",
                                    .count = "messages",
                                    .source = "from",
                                    .dest = "to",
                                    .distance = "receiver - sender"},
                        accesses = {.pairs = profile->accesses,
                                    .n = profile->n_accesses,
                                    .title = "Who accesses whose memory (one-sided)?",
                                    .of_ranks = " Operations",
                                    .count = "operations",
                                    .source = "origin",
                                    .dest = "target",
                                    .distance = "target - origin"};
    if (!report->ranks)
        append_sizes(out, report);
    append_who(out, report, &messages);
    append_who(out, report, &accesses);
}
