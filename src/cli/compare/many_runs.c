/* many_runs.c - how efficiency scales with ranks, as text: a column per run, in blocks that fit
 * into the page. */
#include "cli/compare/compare.h"
#include "cli/text/table.h"
#include "cli/text/wrap.h"

#include <stdio.h>

enum { NAME = 28, COLUMN = 10, INDENT = 3 }; /* widths, with what is between them */

enum row {
    RANKS,
    RUN_TIME,
    SPEEDUP,
    IDEAL,
    GLOBAL,
    PARALLEL,
    BALANCE,
    COMMUNICATION,
    COMPUTATION,
    ROWS
};

static const char *const names[ROWS] = {"ranks",
                                        "run time",
                                        "speedup",
                                        "  ideal",
                                        "global efficiency",
                                        "  parallel efficiency",
                                        "    load balance",
                                        "    communication",
                                        "  computation scaling"};

static struct rfn_quantity factor(double value)
{
    struct rfn_quantity text;
    snprintf(text.text, sizeof text.text, "%.2f", value);
    return text;
}

static struct rfn_quantity cell(enum row row, const struct rfn_scaling_run *one)
{
    const struct rfn_efficiency *e = &one->run.measured.efficiency;
    if (row == RANKS)
        return rfn_count_text(one->run.ranks);
    if (!one->run.times)
        return (struct rfn_quantity){"-"};
    switch (row) {
    case RUN_TIME:
        return rfn_time_text(one->run.run_ns);
    case SPEEDUP:
        return factor(one->speedup);
    case IDEAL:
        return factor(one->ideal);
    case GLOBAL:
        return rfn_share_text(one->global);
    case PARALLEL:
        return rfn_share_text(e->parallel);
    case BALANCE:
        return rfn_share_text(e->load_balance);
    case COMMUNICATION:
        return rfn_share_text(e->communication);
    default:
        return rfn_share_text(one->computation);
    }
}

/* Of the n runs from `first` on. */
static void append_block(struct rfn_text *out, const struct rfn_scaling *scaling, size_t first,
                         size_t n)
{
    struct rfn_table table;
    rfn_table_init(&table, "lrrrrrrrrrrrrrrr", NULL);
    table.n_columns = (unsigned)n + 1;
    for (int row = 0; row < ROWS; row++) {
        rfn_table_cell(&table, names[row]);
        for (size_t i = first; i < first + n; i++)
            rfn_table_cell(&table, cell((enum row)row, &scaling->runs[i]).text);
    }
    rfn_text_char(out, '\n');
    rfn_table_print(&table, 2, out);
}

static void append_table(struct rfn_text *out, const struct rfn_scaling *scaling, size_t width)
{
    size_t fit = width > NAME + COLUMN ? (width - NAME) / COLUMN : 1;
    fit = fit < RFN_TABLE_COLUMNS - 1 ? fit : RFN_TABLE_COLUMNS - 1;
    for (size_t i = 0; i < scaling->n; i += fit)
        append_block(out, scaling, i, scaling->n - i < fit ? scaling->n - i : fit);
}

static void append_line(struct rfn_text *out, const struct rfn_compare_options *given,
                        struct rfn_text *line)
{
    rfn_text_spaces(out, 2);
    rfn_text_wrap(out, line, given->width, INDENT + 2);
    rfn_text_release(line);
}

static void append_findings(struct rfn_text *out, const struct rfn_compare_options *given,
                            const struct rfn_scaling *scaling)
{
    rfn_text_string(out, "\nWhat costs most of all ranks' time\n");
    for (size_t i = 0; i < scaling->n; i++) {
        const struct rfn_compared_run *run = &scaling->runs[i].run;
        struct rfn_text line = {0};
        size_t k = 0;
        do {
            rfn_text_format(&line, "%u rank%s: ", run->ranks, run->ranks == 1 ? "" : "s");
            if (k < run->findings.n)
                rfn_finding_append(&line, &run->measured, &run->findings.findings[k]);
            else
                rfn_text_string(&line, run->times ? "ranks hardly wait for each other."
                                                  : "not known without times.");
            append_line(out, given, &line);
        } while (++k < run->findings.n);
    }
}

void rfn_compare_many_text(struct rfn_text *out, const struct rfn_compare_options *given,
                           const struct rfn_scaling *scaling)
{
    struct rfn_text text = {0};
    rfn_scaling_append(&text, scaling);
    rfn_text_wrap(out, &text, given->width, INDENT);
    rfn_text_release(&text);
    for (size_t i = 0; i < scaling->n; i++)
        rfn_compare_cores_append(&text, given->files[scaling->runs[i].given],
                                 &scaling->runs[i].run);
    rfn_compare_cores_print(out, given, &text);
    append_table(out, scaling, given->width);
    append_findings(out, given, scaling);
    rfn_text_string(out, "\nRuns, in the order of the columns\n");
    for (size_t i = 0; i < scaling->n; i++) {
        rfn_compare_file_append(&text, given->files[scaling->runs[i].given], &scaling->runs[i].run);
        append_line(out, given, &text);
    }
}
