#include "cli/text/table.h"

#include "cli/text/wrap.h"

#include <stdarg.h>
#include <stdio.h>

static size_t width_of(const char *text)
{
    return rfn_text_columns(text, strlen(text));
}

/* Every row has a note, so that notes can be found by counting. */
static void pad_notes(struct rfn_table *table, size_t rows)
{
    for (; table->n_notes < rows; table->n_notes++)
        rfn_text_char(&table->notes, '\0');
}

void rfn_table_cell(struct rfn_table *table, const char *text)
{
    unsigned column = (unsigned)(table->n_cells % table->n_columns);
    size_t width = width_of(text);
    if (column == 0)
        pad_notes(table, table->n_cells / table->n_columns);
    if (width > table->widths[column])
        table->widths[column] = width;
    rfn_text_bytes(&table->cells, text, strlen(text) + 1);
    table->n_cells++;
}

void rfn_table_init(struct rfn_table *table, const char *align, const char *titles)
{
    *table = (struct rfn_table){0};
    for (; *align && table->n_columns < RFN_TABLE_COLUMNS; align++)
        table->left[table->n_columns++] = *align == 'l';
    if (titles)
        rfn_table_row(table, "%s", titles);
}

void rfn_table_row(struct rfn_table *table, const char *format, ...)
{
    char cells[1024], *cell = cells;
    va_list args;
    va_start(args, format);
    vsnprintf(cells, sizeof cells, format, args);
    va_end(args);
    for (char *tab = strchr(cell, '\t'); tab; tab = strchr(cell, '\t')) {
        *tab = '\0';
        rfn_table_cell(table, cell);
        cell = tab + 1;
    }
    rfn_table_cell(table, cell);
}

void rfn_table_text(struct rfn_table *table, struct rfn_text *text)
{
    rfn_table_cell(table, rfn_text_terminated(text));
    table->cells.failed |= text->failed;
    rfn_text_release(text);
}

void rfn_table_name(struct rfn_table *table, const char *name)
{
    struct rfn_text text = {0};
    rfn_text_printable(&text, name);
    rfn_table_text(table, &text);
}

void rfn_table_note(struct rfn_table *table, struct rfn_text *text)
{
    size_t rows = table->n_cells / table->n_columns;
    table->cells.failed |= text->failed;
    if (rows > 0 && table->n_notes < rows) {
        pad_notes(table, rows - 1);
        rfn_text_bytes(&table->notes, text->data, text->n);
        rfn_text_char(&table->notes, '\0');
        table->n_notes++;
    }
    rfn_text_release(text);
}

static size_t row_width(const struct rfn_table *table)
{
    size_t width = 0;
    for (unsigned i = 0; i < table->n_columns; i++)
        width += table->hidden[i] ? 0 : 2 + table->widths[i];
    return width;
}

void rfn_table_fit(struct rfn_table *table, size_t width, const unsigned *columns, size_t n)
{
    for (size_t i = 0; i < n && row_width(table) > width; i++)
        table->hidden[columns[i]] = true;
}

static const char *print_row(const struct rfn_table *table, const char *cell, struct rfn_text *out)
{
    for (unsigned column = 0; column < table->n_columns; column++, cell += strlen(cell) + 1) {
        if (table->hidden[column])
            continue;
        size_t pad = table->widths[column] - width_of(cell);
        rfn_text_spaces(out, table->left[column] ? 2 : 2 + pad);
        rfn_text_string(out, cell);
        rfn_text_spaces(out, table->left[column] ? pad : 0);
    }
    while (!out->failed && out->n && out->data[out->n - 1] == ' ')
        out->n--;
    rfn_text_char(out, '\n');
    return cell;
}

void rfn_table_print(struct rfn_table *table, size_t note_indent, struct rfn_text *out)
{
    const char *cell = table->cells.data, *note = table->notes.data;
    bool failed = table->cells.failed || table->notes.failed;
    if (out)
        out->failed |= failed;
    for (size_t row = 0; out && !failed && row < table->n_cells / table->n_columns; row++) {
        cell = print_row(table, cell, out);
        for (; row < table->n_notes && *note; note += *note == '\n') {
            size_t n = strcspn(note, "\n");
            rfn_text_spaces(out, note_indent);
            rfn_text_bytes(out, note, n);
            rfn_text_char(out, '\n');
            note += n;
        }
        note += row < table->n_notes;
    }
    rfn_text_release(&table->cells);
    rfn_text_release(&table->notes);
}
