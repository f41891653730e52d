/* report_efficiency.c - efficiency, factor by factor, and where the time of all ranks goes. */
#include "cli/report/report.h"
#include "cli/text/table.h"

/* What a network without any cost would change. */
static void append_ideal(struct rfn_table *table, const struct rfn_report *report)
{
    const char *unknown = report->profile->region ? "not known of a region" : "not known";
    if (!report->ahead) {
        rfn_table_row(table, "    serialization efficiency\t-\t%s", unknown);
        rfn_table_row(table, "    transfer efficiency\t-\t%s", unknown);
        return;
    }
    const struct rfn_window_efficiency e = rfn_report_window_efficiency(&report->ahead->main);
    rfn_table_row(table,
                  "    serialization efficiency\t%s\tlongest outside MPI / run on ideal network",
                  rfn_share_text(e.serialization).text);
    rfn_table_row(table,
                  "    transfer efficiency\t%s\trun on ideal network / from Init to Finalize",
                  rfn_share_text(e.transfer).text);
}

static void append_factors(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_efficiency *e = &report->efficiency;
    const char *part = report->profile->region ? "time in the region" : "from Init to Finalize";
    struct rfn_table table;
    rfn_table_init(&table, "lrl", NULL);
    rfn_table_row(&table, "parallel efficiency\t%s\tmean outside MPI / %s",
                  rfn_share_text(e->parallel).text, part);
    rfn_table_row(&table, "  load balance\t%s\tmean / longest outside MPI",
                  rfn_share_text(e->load_balance).text);
    rfn_table_row(&table, "  communication efficiency\t%s\tlongest outside MPI / %s",
                  rfn_share_text(e->communication).text, part);
    append_ideal(&table, report);
    rfn_text_string(out, "\nHow efficient are the ranks? Efficiency, by factors of POP");
    rfn_report_end_title(out, report, 0);
    rfn_table_fit(&table, report->width, (const unsigned[]){2}, 1);
    rfn_table_print(&table, 2, out);
}

static void append_share(struct rfn_text *text, const struct rfn_report *report, double ns,
                         const char *what)
{
    double share = ns / (double)report->efficiency.all_ns;
    if (share >= 0.0005)
        rfn_text_format(text, ", %s %s", rfn_share_text(share).text, what);
}

static void append_losses(struct rfn_text *text, const struct rfn_report *report)
{
    const struct rfn_measured run = rfn_report_measured(report);
    const struct rfn_losses losses = rfn_losses_of(&run);
    rfn_text_format(text, "Of the %stime of all ranks %s is spent outside of MPI",
                    report->profile->paused ? "recorded " : "",
                    rfn_share_text(report->efficiency.parallel).text);
    append_share(text, report, losses.uneven, "waiting for ranks that compute longer");
    append_share(text, report, losses.late, "waiting for ranks that started late");
    append_share(text, report, losses.others, "waiting for other reasons");
    append_share(text, report, losses.transfer,
                 losses.missing ? "in MPI, waiting for ranks that are missing or not at all"
                                : "in MPI without waiting");
    append_share(text, report, losses.outside,
                 "before a thread's first call of MPI and after its last");
    rfn_text_string(text, ". ");
}

void rfn_report_efficiency(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_efficiency *e = &report->efficiency;
    struct rfn_text text = {0};
    if (!e->all_ns)
        return;
    append_factors(out, report);
    if (rfn_report_has_waits(report))
        append_losses(&text, report);
    rfn_text_format(&text, "MPI calls take %s", rfn_share_text(e->mpi_share).text);
    if (e->setup_share > 0)
        rfn_text_format(&text, " (%s without Init and Finalize)",
                        rfn_share_text(e->mpi_share - e->setup_share).text);
    rfn_text_char(&text, '.');
    bool several = report->run->ranks >= rfn_report_missing(report) + 2;
    if (several && e->load_balance >= RFN_BALANCED)
        rfn_text_string(&text, " Outside of MPI all ranks are busy about equally long.");
    else if (several && e->load_balance > 0)
        rfn_text_format(
            &text, " Outside of MPI rank %u is busy longest, for %s%s, %.2f times the mean of %s.",
            e->max_outside_rank, rfn_time_text(e->max_outside_ns).text,
            report->profile->ranks[e->max_outside_rank].threads > 1 ? " summed over its threads"
                                                                    : "",
            1 / e->load_balance, rfn_time_text(e->mean_outside_ns).text);
    rfn_text_spaces(out, 2);
    rfn_report_sentence(out, report, &text, 2);
}
