/* report_ranks.c - how time and volume are spread over the ranks: minimum, mean and maximum; of a
 * few ranks that were asked for, a line each. */
#include "cli/report/report.h"
#include "cli/text/table.h"

#include <stdlib.h>

enum { RANKS_LISTED = 32 };

static const char span_titles[] = "\tmin\t\tmean\tmax\t";
/* On narrow pages without mean and the rank of the minimum. */
static const unsigned spare[] = {3, 2};

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

/* ---- time per rank ---- */

static void span_row(struct rfn_table *table, const char *name, const struct span *span)
{
    rfn_table_row(table, "%s\t%s\t(rank %u)\t%s\t%s\t(rank %u)", name,
                  rfn_time_text(span->min).text, span->min_rank,
                  rfn_time_text(span->n ? (int64_t)(span->total / span->n) : 0).text,
                  rfn_time_text(span->max).text, span->max_rank);
}

/* waits: of each rank, in all patterns; NULL where that is not known. */
static void append_spans(struct rfn_text *out, const struct rfn_report *report,
                         const int64_t *waits)
{
    const struct rfn_profile *profile = report->profile;
    struct span mpi = {0}, setup = {0}, outside = {0}, unrecorded = {0}, waiting = {0},
                recording = {0};
    struct rfn_table table;
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &profile->ranks[i];
        if (!rank->threads || !rfn_report_shows_rank(report, i))
            continue;
        span_add(&mpi, i, rank->mpi_ns - rank->setup_ns);
        span_add(&setup, i, rank->setup_ns);
        span_add(&outside, i, rfn_profile_outside_ns(rank));
        span_add(&unrecorded, i, rank->unrecorded_ns);
        span_add(&recording, i, rank->recording_ns);
        span_add(&waiting, i, waits ? waits[i] : 0);
    }
    rfn_table_init(&table, "lrlrrl", span_titles);
    span_row(&table, "outside MPI", &outside);
    span_row(&table, "in MPI", &mpi);
    span_row(&table, "in Init and Finalize", &setup);
    if (waits)
        span_row(&table, "waiting (all MPI)", &waiting);
    if (profile->paused)
        span_row(&table, "not recorded", &unrecorded);
    if (rfn_report_recording_share(report) >= RFN_TRIFLE)
        span_row(&table, "recording (Refrain)", &recording);
    rfn_table_fit(&table, report->width, spare, 2);
    rfn_table_print(&table, 2, out);
}

static void append_rows(struct rfn_text *out, const struct rfn_report *report, const int64_t *waits)
{
    struct rfn_table table;
    rfn_table_init(&table, "rrrrr", "rank\toutside MPI\tin MPI\tInit, Finalize\twaiting");
    for (uint32_t i = 0; i < report->profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &report->profile->ranks[i];
        if (rank->threads && rfn_report_shows_rank(report, i))
            rfn_table_row(
                &table, "%u\t%s\t%s\t%s\t%s", i, rfn_time_text(rfn_profile_outside_ns(rank)).text,
                rfn_time_text(rank->mpi_ns - rank->setup_ns).text,
                rfn_time_text(rank->setup_ns).text, waits ? rfn_time_text(waits[i]).text : "");
    }
    rfn_table_print(&table, 2, out);
}

void rfn_report_rank_times(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_waits *found = report->waits;
    uint32_t n = 0, n_ranks = report->profile->n_ranks;
    bool known = rfn_report_has_waits(report);
    int64_t *waits = known ? calloc((size_t)n_ranks + 1, sizeof *waits) : NULL;
    out->failed |= known && !waits;
    for (size_t i = 0; waits && i < found->n_rows; i++) {
        for (uint32_t j = 0; j < n_ranks && j < found->n_ranks; j++)
            waits[j] += found->rows[i].ns_by_rank[j];
    }
    for (uint32_t i = 0; i < n_ranks; i++)
        n += rfn_report_shows_rank(report, i);
    rfn_text_string(out, report->ranks ? "\nHow is time spread over ranks? Time"
                                       : "\nHow is time spread over ranks? Time per rank");
    rfn_report_of_ranks(out, report);
    rfn_report_end_title(out, report, 0);
    if (report->ranks && n <= RANKS_LISTED)
        append_rows(out, report, waits);
    else
        append_spans(out, report, waits);
    free(waits);
}

/* ---- memory ---- */

void rfn_report_memory(struct rfn_text *out, const struct rfn_report *report)
{
    struct span peak = {0};
    struct rfn_text text = {0};
    for (uint32_t i = 0; report->usage && i < report->profile->n_ranks; i++) {
        const struct rfn_process_usage usage = rfn_usage_of_rank(report->usage, i);
        if (usage.known && rfn_report_shows_rank(report, i))
            span_add(&peak, i, (int64_t)usage.peak_bytes);
    }
    if (!peak.n)
        return;
    rfn_text_format(&text, "at most %s on rank %u", rfn_bytes_text((uint64_t)peak.max).text,
                    peak.max_rank);
    if (peak.n > 1)
        rfn_text_format(&text, ", at least %s on rank %u, %s on average",
                        rfn_bytes_text((uint64_t)peak.min).text, peak.min_rank,
                        rfn_bytes_text((uint64_t)(peak.total / peak.n)).text);
    rfn_text_format(out, "%-10s", "Memory");
    rfn_report_sentence(out, report, &text, 10);
}

/* ---- volume per rank ---- */

static struct rfn_quantity volume_text(const struct rfn_report *report, double volume)
{
    return rfn_report_volume(report, volume > 0 ? (uint64_t)volume : 0);
}

static void volume_row(struct rfn_table *table, const struct rfn_report *report, const char *name,
                       const struct span *span)
{
    rfn_table_row(table, "%s\t%s\t(rank %u)\t%s\t%s\t(rank %u)", name,
                  volume_text(report, (double)span->min).text, span->min_rank,
                  volume_text(report, span->n ? span->total / span->n : 0).text,
                  volume_text(report, (double)span->max).text, span->max_rank);
}

void rfn_report_rank_volumes(struct rfn_text *out, const struct rfn_report *report)
{
    struct span mpi = {0}, setup = {0}, outside = {0};
    struct rfn_table table;
    for (uint32_t i = 0; i < report->profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &report->profile->ranks[i];
        if (!rank->counted || !rfn_report_shows_rank(report, i))
            continue;
        span_add(&mpi, i, (int64_t)(rank->volume_mpi - rank->volume_setup));
        span_add(&setup, i, (int64_t)rank->volume_setup);
        span_add(&outside, i, (int64_t)rank->volume_outside);
    }
    rfn_table_init(&table, "lrlrrl", span_titles);
    volume_row(&table, report, "outside MPI", &outside);
    volume_row(&table, report, "in MPI", &mpi);
    volume_row(&table, report, "in Init and Finalize", &setup);
    rfn_table_fit(&table, report->width, spare, 2);
    rfn_text_string(out, "\nHow is volume spread over ranks? Volume per rank: ");
    rfn_text_printable(out, report->run->volume);
    rfn_report_of_ranks(out, report);
    if (!report->ranks && mpi.n < report->run->ranks)
        rfn_text_format(out, " (counted on %u of %u ranks)", mpi.n, report->run->ranks);
    rfn_report_end_title(out, report, 0);
    rfn_table_print(&table, 2, out);
}
