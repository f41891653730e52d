/* csv_tables.h - tables of comma-separated values (RFC 4180) that rfn_csv_write makes. */
#ifndef RFN_CONVERT_CSV_CSV_TABLES_H
#define RFN_CONVERT_CSV_CSV_TABLES_H

#include "convert/text/text_sink.h"
#include "refrain/convert.h"
#include "refrain/text.h"

/* A table: a file, and the rows that are not yet in it. */
struct csv_table {
    struct rfn_text_sink *sink; /* NULL: closed */
    struct rfn_text rows;
};

/* Names as cells, by their numbers in the archive. */
struct csv_names {
    char **functions, **regions;
    uint32_t n_functions, n_regions;
};

struct csv_writing {
    const struct rfn_archive *archive;
    const struct rfn_convert_part *part;
    const struct rfn_convert_progress *progress;
    const char *folder; /* to write to */
    struct csv_names names;
    struct rfn_trace_summary *summary;
    struct rfn_diag *diag;
};

/* ---- csv_cells.c ---- */

/* A text cell: escaped as everywhere in Refrain; a spreadsheet takes it for no formula. */
void rfn_csv_name(struct rfn_text *row, const char *name);

/* Cells behind the first one of a row. */
static inline void csv_number(struct rfn_text *row, int64_t number)
{
    rfn_text_char(row, ',');
    rfn_text_signed(row, number);
}

static inline void csv_if(struct rfn_text *row, bool known, int64_t number)
{
    rfn_text_char(row, ',');
    if (known)
        rfn_text_signed(row, number);
}

/* A cell that is one already; NULL: empty. */
static inline void csv_cell(struct rfn_text *row, const char *cell)
{
    rfn_text_char(row, ',');
    if (cell)
        rfn_text_string(row, cell);
}

int rfn_csv_names_init(struct csv_names *names, const struct rfn_archive *archive);
void rfn_csv_names_release(struct csv_names *names);
/* "" for numbers that do not exist. */
const char *rfn_csv_function(const struct csv_names *names, uint32_t function);
const char *rfn_csv_region(const struct csv_names *names, int64_t region);

/* A table NAME in the folder, with the line that names its columns. */
int rfn_csv_open(const struct csv_writing *writing, struct csv_table *table, const char *name,
                 const char *columns);
/* Ends a row. */
int rfn_csv_end_row(const struct csv_writing *writing, struct csv_table *table);
int rfn_csv_close(const struct csv_writing *writing, struct csv_table *table);
/* Gives up a table that is still open. */
void rfn_csv_cancel(struct csv_table *table);

/* ---- the tables ---- */

/* events.csv, messages.csv, ranks.csv: csv_events.c */
int rfn_csv_write_events(const struct csv_writing *writing, double share);
/* waits.csv, causes.csv: csv_waits.c. The work begins when `share` of all work is done. */
int rfn_csv_write_waits(const struct csv_writing *writing, double share);

#endif
