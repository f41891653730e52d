/* report_ranks.c - how time and volume are spread over the ranks: minimum, mean and maximum; of a
 * few ranks that were asked for, a line each. */
#include "cli/report.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>

enum { RANKS_LISTED = 32 };

/* ---- time per rank ---- */

struct span {
    int64_t min, max;
    double total;
    uint32_t min_rank, max_rank, n;
};

static void span_add(struct span *span, uint32_t rank, int64_t value)
{
    if (!span->n || value < span->min) {
        span->min = value;
        span->min_rank = rank;
    }
    if (!span->n || value > span->max) {
        span->max = value;
        span->max_rank = rank;
    }
    span->total += (double)value;
    span->n++;
}

static void cell_of_rank(struct rfn_table *table, int64_t ns, uint32_t rank)
{
    char text[64];
    rfn_table_cell(table, rfn_time_text(ns).text);
    snprintf(text, sizeof text, "(rank %u)", rank);
    rfn_table_cell(table, text);
}

static void span_row(struct rfn_table *table, const char *name, const struct span *span)
{
    rfn_table_cell(table, name);
    cell_of_rank(table, span->min, span->min_rank);
    rfn_table_cell(table, rfn_time_text(span->n ? (int64_t)(span->total / span->n) : 0).text);
    cell_of_rank(table, span->max, span->max_rank);
}

/* Waiting of each rank, in all patterns; to be freed. NULL where it is not known, and out
 * of memory. */
static int64_t *waits_by_rank(const struct rfn_report *report)
{
    const struct rfn_waits *waits = report->waits;
    uint32_t n = report->profile->n_ranks;
    int64_t *sums = rfn_report_has_waits(report) ? calloc((size_t)n + 1, sizeof *sums) : NULL;
    for (size_t i = 0; sums && i < waits->n_rows; i++) {
        for (uint32_t j = 0; j < n && j < waits->n_ranks; j++)
            sums[j] += waits->rows[i].ns_by_rank[j];
    }
    return sums;
}

static void append_spans(struct rfn_text *out, const struct rfn_report *report,
                         const int64_t *waits)
{
    static const char *const titles[] = {"", "min", "", "mean", "max", ""};
    const struct rfn_profile *profile = report->profile;
    static const unsigned spare[] = {3, 2}; /* mean, rank of the minimum */
    struct span mpi = {0}, setup = {0}, outside = {0}, unrecorded = {0}, waiting = {0};
    struct rfn_table table;
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &profile->ranks[i];
        if (!rank->threads || !rfn_report_shows_rank(report, i))
            continue;
        span_add(&mpi, i, rank->mpi_ns - rank->setup_ns);
        span_add(&setup, i, rank->setup_ns);
        span_add(&outside, i, rfn_profile_outside_ns(rank));
        span_add(&unrecorded, i, rank->unrecorded_ns);
        span_add(&waiting, i, waits ? waits[i] : 0);
    }
    rfn_table_init(&table, "lrlrrl");
    rfn_table_cells(&table, titles, sizeof titles / sizeof *titles);
    span_row(&table, "outside MPI", &outside);
    span_row(&table, "in MPI", &mpi);
    span_row(&table, "in Init and Finalize", &setup);
    if (waits)
        span_row(&table, "waiting (all MPI)", &waiting);
    if (profile->paused)
        span_row(&table, "not recorded", &unrecorded);
    rfn_table_fit(&table, report->width, spare, 2);
    rfn_table_print(&table, 2, out);
    rfn_table_release(&table);
}

static void rank_row(struct rfn_table *table, const struct rfn_profile_rank *rank, uint32_t number,
                     const int64_t *waits)
{
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    rfn_table_cell(table, text);
    rfn_table_cell(table, rfn_time_text(rfn_profile_outside_ns(rank)).text);
    rfn_table_cell(table, rfn_time_text(rank->mpi_ns - rank->setup_ns).text);
    rfn_table_cell(table, rfn_time_text(rank->setup_ns).text);
    rfn_table_cell(table, waits ? rfn_time_text(waits[number]).text : "");
}

static void append_rows(struct rfn_text *out, const struct rfn_report *report, const int64_t *waits)
{
    static const char *const titles[] = {"rank", "outside MPI", "in MPI", "Init, Finalize",
                                         "waiting"};
    struct rfn_table table;
    rfn_table_init(&table, "rrrrr");
    rfn_table_cells(&table, titles, sizeof titles / sizeof *titles);
    for (uint32_t i = 0; i < report->profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &report->profile->ranks[i];
        if (rank->threads && rfn_report_shows_rank(report, i))
            rank_row(&table, rank, i, waits);
    }
    rfn_table_print(&table, 2, out);
    rfn_table_release(&table);
}

void rfn_report_rank_times(struct rfn_text *out, const struct rfn_report *report)
{
    int64_t *waits = waits_by_rank(report);
    uint32_t n = 0;
    out->failed |= !waits && rfn_report_has_waits(report);
    for (uint32_t i = 0; i < report->profile->n_ranks; i++)
        n += rfn_report_shows_rank(report, i);
    rfn_text_string(out, report->ranks ? "\nTime" : "\nTime per rank");
    rfn_report_of_ranks(out, report);
    rfn_report_end_title(out, report, 0);
    if (report->ranks && n <= RANKS_LISTED)
        append_rows(out, report, waits);
    else
        append_spans(out, report, waits);
    free(waits);
}

/* ---- volume per rank ---- */

static void volume_row(struct rfn_table *table, const struct rfn_report *report, const char *name,
                       const struct span *span)
{
    const double cells[] = {(double)span->min, span->n ? span->total / span->n : 0,
                            (double)span->max};
    char text[64];
    rfn_table_cell(table, name);
    for (int i = 0; i < 3; i++) {
        rfn_table_cell(table,
                       rfn_report_volume(report, cells[i] > 0 ? (uint64_t)cells[i] : 0).text);
        snprintf(text, sizeof text, "(rank %u)", i ? span->max_rank : span->min_rank);
        if (i != 1)
            rfn_table_cell(table, text);
    }
}

void rfn_report_rank_volumes(struct rfn_text *out, const struct rfn_report *report)
{
    static const char *const titles[] = {"", "min", "", "mean", "max", ""};
    const struct rfn_profile *profile = report->profile;
    struct span mpi = {0}, setup = {0}, outside = {0};
    struct rfn_table table;
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &profile->ranks[i];
        if (!rank->counted || !rfn_report_shows_rank(report, i))
            continue;
        span_add(&mpi, i, (int64_t)(rank->volume_mpi - rank->volume_setup));
        span_add(&setup, i, (int64_t)rank->volume_setup);
        span_add(&outside, i, (int64_t)rank->volume_outside);
    }
    rfn_table_init(&table, "lrlrrl");
    rfn_table_cells(&table, titles, sizeof titles / sizeof *titles);
    volume_row(&table, report, "outside MPI", &outside);
    volume_row(&table, report, "in MPI", &mpi);
    volume_row(&table, report, "in Init and Finalize", &setup);
    rfn_text_string(out, "\nVolume per rank: ");
    rfn_text_printable(out, report->run->volume);
    rfn_report_of_ranks(out, report);
    if (!report->ranks && mpi.n < report->run->ranks)
        rfn_text_format(out, " (counted on %u of %u ranks)", mpi.n, report->run->ranks);
    rfn_report_end_title(out, report, 0);
    rfn_table_print(&table, 2, out);
    rfn_table_release(&table);
}
