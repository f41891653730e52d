/* csv.h - lists of JSON objects as comma-separated values (RFC 4180). */
#ifndef RFN_CLI_TEXT_CSV_H
#define RFN_CLI_TEXT_CSV_H

#include "cli/text/print_text.h"

#include <jansson.h>

/* Appends a table. rows: a list of objects, or an object of such lists, whose names are then a
 * first column, `kind`. The first line names the columns: members in the order in which they first
 * occur, those of objects in them as outer.inner. A list in a cell is written as JSON; null is an
 * empty cell. Nothing is appended where there is no row. out fails when memory runs out. */
void rfn_csv_append(struct rfn_text *out, const json_t *rows);

#endif
