/* sides.c - several runs of each of two sides, as text: the answer, sums and what differs most,
 * with medians and ranges, and the gates. */
#include "cli/compare/compare.h"
#include "cli/text/table.h"
#include "cli/text/wrap.h"

#include <math.h>
#include <stdio.h>

enum { INDENT = 3, NOTE_INDENT = 6, ENOUGH_RUNS = 3 };

/* ---- quantities ---- */

static struct rfn_quantity quantity(enum rfn_row_unit unit, double value)
{
    switch (unit) {
    case RFN_ROW_NS:
        return rfn_time_text((int64_t)(value + 0.5));
    case RFN_ROW_SHARE:
        return rfn_share_text(value);
    case RFN_ROW_BYTES:
        return rfn_bytes_text((uint64_t)(value + 0.5));
    default:
        return rfn_count_text((uint64_t)(value + 0.5));
    }
}

/* "4.51 s to 4.60 s"; "same" where all runs have one value */
static struct rfn_quantity range_text(enum rfn_row_unit unit, const struct rfn_row_range *range)
{
    struct rfn_quantity text;
    const struct rfn_quantity least = quantity(unit, range->least),
                              largest = quantity(unit, range->largest);
    snprintf(text.text, sizeof text.text, "%.13s to %.13s", least.text, largest.text);
    if (strcmp(least.text, largest.text) == 0)
        snprintf(text.text, sizeof text.text, "always");
    return text;
}

/* "+7.1 %", "-2.1 points"; of nothing as it is. */
static struct rfn_quantity change_text(const struct rfn_row_change *row)
{
    const double a = row->of[0].median, by = row->of[1].median - a;
    struct rfn_quantity text;
    if (row->unit == RFN_ROW_SHARE)
        snprintf(text.text, sizeof text.text, "%+.1f points", 100 * by);
    else if (a > 0)
        snprintf(text.text, sizeof text.text, "%+.1f %%", 100 * by / a);
    else
        snprintf(text.text, sizeof text.text, "%s%.30s", by > 0 ? "+" : "",
                 quantity(row->unit, by).text);
    if (!(by < 0 || by > 0))
        snprintf(text.text, sizeof text.text, "same");
    return text;
}

static void append_sentence(struct rfn_text *out, const struct rfn_compare_options *given,
                            struct rfn_text *sentence, size_t indent)
{
    rfn_text_wrap(out, sentence, given->width, indent);
    rfn_text_release(sentence);
}

/* ---- rows ---- */

static void row_cells(struct rfn_table *table, const struct rfn_row_change *row)
{
    for (int side = 0; side < 2; side++) {
        rfn_table_cell(table, quantity(row->unit, row->of[side].median).text);
        rfn_table_cell(table, range_text(row->unit, &row->of[side]).text);
    }
    rfn_table_cell(table, row->noise ? "noise" : change_text(row).text);
}

static void append_sums(struct rfn_text *out, const struct rfn_compare_options *given,
                        const struct rfn_compared_sides *compared)
{
    static const unsigned may_hide[] = {2, 4};
    struct rfn_table table;
    rfn_table_init(&table, "lrrrrr", "\tA\truns\tB\truns\tchange");
    for (size_t i = 0; i < compared->n_rows; i++) {
        if (compared->rows[i].kind != RFN_ROW_SUM)
            continue;
        rfn_table_cell(&table, compared->rows[i].name);
        row_cells(&table, &compared->rows[i]);
    }
    rfn_text_char(out, '\n');
    rfn_table_fit(&table, given->width, may_hide, 2);
    rfn_table_print(&table, 2, out);
}

/* What is more than noise, and than a trifle of the first side's run time. */
static bool differs(const struct rfn_compared_sides *compared, const struct rfn_row_change *row)
{
    const double least = RFN_TRIFLE * compared->rows[0].of[0].median;
    return !row->noise && fabs(row->of[1].median - row->of[0].median) >= least;
}

static void name_note(struct rfn_table *table, const struct rfn_compare_options *given,
                      const char *name)
{
    struct rfn_text line = {0}, note = {0};
    rfn_text_printable(&line, name);
    rfn_text_wrap(&note, &line, given->width - NOTE_INDENT, 2);
    rfn_table_note(table, &note);
    rfn_text_release(&line);
}

static void append_rows(struct rfn_text *out, const struct rfn_compare_options *given,
                        const struct rfn_compared_sides *compared, enum rfn_row_kind kind,
                        const char *title)
{
    static const unsigned may_hide[] = {1, 3};
    struct rfn_table table;
    size_t n = 0, all = 0;
    rfn_table_init(&table, "rrrrr", "A\truns\tB\truns\tchange");
    for (size_t i = 0; i < compared->n_rows; i++) {
        const struct rfn_row_change *row = &compared->rows[i];
        if (row->kind != kind)
            continue;
        all++;
        if (n == given->top || !(given->all || differs(compared, row)))
            continue;
        n++;
        row_cells(&table, row);
        name_note(&table, given, row->name);
    }
    if (n) {
        rfn_text_format(out, "\n%s", title);
        rfn_text_format(out, n < all ? " (%zu of %zu; --all shows all)\n" : "\n", n, all);
    }
    rfn_table_fit(&table, given->width, may_hide, 2);
    rfn_table_print(&table, NOTE_INDENT, n ? out : NULL);
}

/* ---- runs ---- */

static void append_runs(struct rfn_text *out, const struct rfn_compare_options *given,
                        const struct rfn_compared_sides *compared)
{
    rfn_text_char(out, '\n');
    for (size_t i = 0; i < given->n_files; i++) {
        struct rfn_text text = {0};
        rfn_text_format(out, "%c  ", i < given->before ? 'A' : 'B');
        rfn_compare_file_append(&text, given->files[i], &compared->runs[i]);
        append_sentence(out, given, &text, INDENT);
    }
}

static void append_notes(struct rfn_text *out, const struct rfn_compare_options *given,
                         const struct rfn_compared_sides *compared)
{
    const struct rfn_compared_run first[2] = {compared->runs[0], compared->runs[compared->n[0]]};
    struct rfn_text text = {0};
    rfn_compare_conditions_print(out, given, first);
    for (size_t i = 0; i < given->n_files; i++)
        rfn_compare_cores_append(&text, given->files[i], &compared->runs[i]);
    rfn_compare_cores_print(out, given, &text);
    if (compared->n[0] < ENOUGH_RUNS || compared->n[1] < ENOUGH_RUNS) {
        rfn_text_format(&text, "A range of fewer than %d runs says little of how they vary.",
                        ENOUGH_RUNS);
        append_sentence(out, given, &text, INDENT);
    }
    if (compared->other_programs) {
        rfn_text_string(&text, "The programs have different names; rows are matched by the names "
                               "of functions.");
        append_sentence(out, given, &text, INDENT);
    }
}

/* ---- gates ---- */

/* "FAILED: run time > 5 % (4.53 s -> 4.85 s, +7.1 %)" */
static void append_gates(struct rfn_text *out, const struct rfn_compare_options *given,
                         const struct rfn_row_change *const *rows)
{
    if (given->n_gates)
        rfn_text_string(out, "\nGates\n");
    for (size_t i = 0; i < given->n_gates; i++) {
        const struct rfn_row_change *row = rows[i];
        struct rfn_text text = {0};
        rfn_text_string(&text, rfn_gate_fails(&given->gates[i], row) ? "FAILED: " : "passed: ");
        rfn_text_printable(&text, given->gates[i].rule);
        rfn_text_format(&text, " (%s -> %s, %s%s)", quantity(row->unit, row->of[0].median).text,
                        quantity(row->unit, row->of[1].median).text, change_text(row).text,
                        row->noise ? "; noise, as the ranges overlap" : "");
        rfn_text_spaces(out, 2);
        append_sentence(out, given, &text, NOTE_INDENT);
    }
}

/* ---- the page ---- */

void rfn_compare_sides_text(struct rfn_text *out, const struct rfn_compare_options *given,
                            const struct rfn_compared_sides *compared,
                            const struct rfn_row_change *const *rows)
{
    struct rfn_text text = {0};
    rfn_compared_sides_append(&text, compared);
    append_sentence(out, given, &text, INDENT);
    append_notes(out, given, compared);
    append_runs(out, given, compared);
    append_sums(out, given, compared);
    append_rows(out, given, compared, RFN_ROW_CAUSE,
                "What ranks wait for and differs, of a rank on average");
    append_rows(out, given, compared, RFN_ROW_CALL,
                "Call paths that differ most, a rank on average");
    append_rows(out, given, compared, RFN_ROW_REGION,
                "Regions that differ most, a rank on average");
    append_gates(out, given, rows);
}
