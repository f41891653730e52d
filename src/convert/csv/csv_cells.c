#include "convert/csv/csv_tables.h"

#include "base/copy_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Spreadsheets compute cells that begin with one of these, quoted or not. */
static const char formula[] = "=+-@";

void rfn_csv_name(struct rfn_text *row, const char *name)
{
    struct rfn_text cell = {0};
    if (name[0] && strchr(formula, name[0]))
        rfn_text_char(&cell, '\'');
    rfn_text_printable(&cell, name);
    row->failed |= cell.failed;
    rfn_text_csv(row, rfn_text_terminated(&cell));
    rfn_text_release(&cell);
}

/* ---- names ---- */

static char *cell_of(const char *name)
{
    struct rfn_text cell = {0};
    rfn_csv_name(&cell, name);
    char *copy = cell.failed ? NULL : rfn_copy_text(rfn_text_terminated(&cell));
    rfn_text_release(&cell);
    return copy;
}

int rfn_csv_names_init(struct csv_names *names, const struct rfn_archive *archive)
{
    names->n_functions = rfn_archive_functions(archive);
    names->n_regions = rfn_archive_regions(archive);
    names->functions = calloc((size_t)names->n_functions + 1, sizeof *names->functions);
    names->regions = calloc((size_t)names->n_regions + 1, sizeof *names->regions);
    bool whole = names->functions && names->regions;
    for (uint32_t i = 0; whole && i < names->n_functions; i++)
        whole = (names->functions[i] = cell_of(rfn_archive_function(archive, i)->name)) != NULL;
    for (uint32_t i = 0; whole && i < names->n_regions; i++)
        whole = (names->regions[i] = cell_of(rfn_archive_region(archive, i))) != NULL;
    return whole ? 0 : RFN_E_NOMEM;
}

void rfn_csv_names_release(struct csv_names *names)
{
    for (uint32_t i = 0; names->functions && i < names->n_functions; i++)
        free(names->functions[i]);
    for (uint32_t i = 0; names->regions && i < names->n_regions; i++)
        free(names->regions[i]);
    free(names->functions);
    free(names->regions);
}

const char *rfn_csv_function(const struct csv_names *names, uint32_t function)
{
    return function < names->n_functions ? names->functions[function] : "";
}

const char *rfn_csv_region(const struct csv_names *names, int64_t region)
{
    return region >= 0 && region < names->n_regions ? names->regions[region] : "";
}

/* ---- tables ---- */

enum { PATH = 4352, ROWS = 64 * 1024 /* bytes that go to the file at once */ };

static int flow(const struct csv_writing *writing, struct csv_table *table)
{
    return rfn_text_sink_take(table->sink, &table->rows, writing->diag);
}

int rfn_csv_end_row(const struct csv_writing *writing, struct csv_table *table)
{
    rfn_text_bytes(&table->rows, "\r\n", 2);
    return table->rows.n < ROWS && !table->rows.failed ? 0 : flow(writing, table);
}

int rfn_csv_open(const struct csv_writing *writing, struct csv_table *table, const char *name,
                 const char *columns)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", writing->folder, name);
    RFN_TRY(rfn_text_sink_open(path, false, &table->sink, writing->diag));
    rfn_text_string(&table->rows, columns);
    return rfn_csv_end_row(writing, table);
}

int rfn_csv_close(const struct csv_writing *writing, struct csv_table *table)
{
    uint64_t bytes = 0;
    RFN_TRY(flow(writing, table));
    rfn_text_release(&table->rows);
    struct rfn_text_sink *sink = table->sink;
    table->sink = NULL;
    return rfn_text_sink_close(sink, &bytes, &writing->summary->bytes, writing->diag);
}

void rfn_csv_cancel(struct csv_table *table)
{
    rfn_text_sink_cancel(table->sink);
    rfn_text_release(&table->rows);
    *table = (struct csv_table){0};
}
