/* table.h - aligned columns. Fill it row by row, or cell by cell; print it when it is full. */
#ifndef RFN_CLI_TEXT_TABLE_H
#define RFN_CLI_TEXT_TABLE_H

#include "cli/text/print_text.h"

enum { RFN_TABLE_COLUMNS = 16 };

struct rfn_table {
    unsigned n_columns;
    bool left[RFN_TABLE_COLUMNS];   /* flush left instead of right */
    bool hidden[RFN_TABLE_COLUMNS]; /* not printed */
    size_t widths[RFN_TABLE_COLUMNS];
    struct rfn_text cells; /* zero-terminated, one after the other */
    struct rfn_text notes; /* one per row, zero-terminated: a line below the row, or empty */
    size_t n_cells, n_notes;
};

/* align: one 'l' or 'r' per column. titles: the first row, with tabs between
 * cells; NULL: none. */
void rfn_table_init(struct rfn_table *table, const char *align, const char *titles);
/* Cells with tabs between them, in the manner of printf; 1,000 bytes at most. */
void rfn_table_row(struct rfn_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A cell, whatever is in it. */
void rfn_table_cell(struct rfn_table *table, const char *text);
/* The same of a name that comes from an archive: what a terminal may obey is escaped. */
void rfn_table_name(struct rfn_table *table, const char *name);
/* The same of a text, which is released; where that failed, printing fails. */
void rfn_table_text(struct rfn_table *table, struct rfn_text *text);
/* A line of its own below the row whose last cell has just been given, or several; is released. */
void rfn_table_note(struct rfn_table *table, struct rfn_text *text);
/* Hides columns of a full table, in the given order, until its rows are no wider than that. */
void rfn_table_fit(struct rfn_table *table, size_t width, const unsigned *columns, size_t n);
/* Rows are indented by two spaces, columns two apart, notes indented by `note_indent`. Releases the
 * table. out NULL: only that. */
void rfn_table_print(struct rfn_table *table, size_t note_indent, struct rfn_text *out);

#endif
