#include "cli/table.h"

#include "cli/wrap.h"

void rfn_table_init(struct rfn_table *table, const char *align)
{
    *table = (struct rfn_table){0};
    for (; *align && table->n_columns < RFN_TABLE_COLUMNS; align++)
        table->left[table->n_columns++] = *align == 'l';
}

void rfn_table_release(struct rfn_table *table)
{
    rfn_text_release(&table->cells);
    rfn_text_release(&table->notes);
}

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

void rfn_table_cells(struct rfn_table *table, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rfn_table_cell(table, texts[i]);
}

static void add_text(struct rfn_table *table, struct rfn_text *text,
                     void (*add)(struct rfn_table *table, const char *text))
{
    rfn_text_char(text, '\0');
    table->cells.failed |= text->failed;
    if (!text->failed)
        add(table, text->data);
    rfn_text_release(text);
}

void rfn_table_text(struct rfn_table *table, struct rfn_text *text)
{
    add_text(table, text, rfn_table_cell);
}

void rfn_table_note(struct rfn_table *table, const char *text)
{
    size_t rows = table->n_cells / table->n_columns;
    if (rows == 0 || table->n_notes >= rows)
        return;
    pad_notes(table, rows - 1);
    rfn_text_bytes(&table->notes, text, strlen(text) + 1);
    table->n_notes++;
}

void rfn_table_note_text(struct rfn_table *table, struct rfn_text *text)
{
    add_text(table, text, rfn_table_note);
}

size_t rfn_table_width(const struct rfn_table *table)
{
    size_t width = 0;
    for (unsigned i = 0; i < table->n_columns; i++)
        width += table->hidden[i] ? 0 : 2 + table->widths[i];
    return width;
}

void rfn_table_fit(struct rfn_table *table, size_t width, const unsigned *columns, size_t n)
{
    for (size_t i = 0; i < n && rfn_table_width(table) > width; i++)
        table->hidden[columns[i]] = true;
}

static const char *print_row(const struct rfn_table *table, const char *cell, struct rfn_text *out)
{
    for (unsigned column = 0; column < table->n_columns; column++, cell += strlen(cell) + 1) {
        if (table->hidden[column])
            continue;
        size_t pad = table->widths[column] - width_of(cell);
        bool last = column + 1 == table->n_columns;
        rfn_text_spaces(out, 2);
        if (!table->left[column])
            rfn_text_spaces(out, pad);
        rfn_text_string(out, cell);
        if (table->left[column] && !last)
            rfn_text_spaces(out, pad);
    }
    while (!out->failed && out->n && out->data[out->n - 1] == ' ')
        out->n--;
    rfn_text_char(out, '\n');
    return cell;
}

static void print_note(const char *note, size_t indent, struct rfn_text *out)
{
    while (*note) {
        size_t n = strcspn(note, "\n");
        rfn_text_spaces(out, indent);
        rfn_text_bytes(out, note, n);
        rfn_text_char(out, '\n');
        note += n + (note[n] == '\n');
    }
}

void rfn_table_print(const struct rfn_table *table, size_t note_indent, struct rfn_text *out)
{
    const char *cell = table->cells.data, *note = table->notes.data;
    if (table->cells.failed || table->notes.failed)
        out->failed = true;
    if (out->failed)
        return;
    for (size_t row = 0; row < table->n_cells / table->n_columns; row++) {
        cell = print_row(table, cell, out);
        if (row >= table->n_notes)
            continue;
        print_note(note, note_indent, out);
        note += strlen(note) + 1;
    }
}
