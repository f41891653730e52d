#include "cli/text/csv.h"

#include "cli/text/json.h"

#include <stdlib.h>

/* ---- cells ---- */

static void append_value(struct rfn_text *out, const json_t *value)
{
    if (!value || json_is_null(value))
        return;
    if (json_is_string(value)) {
        rfn_text_csv(out, json_string_value(value));
        return;
    }
    char *text = json_dumps(value,
                            JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(RFN_JSON_DIGITS));
    out->failed |= !text;
    rfn_text_csv(out, text ? text : "");
    free(text);
}

/* ---- rows ---- */

/* Adds what an object has to `row`, as members of members; false: out of memory. */
static bool flatten(json_t *row, const char *prefix, const json_t *object)
{
    const char *key;
    json_t *value;
    bool whole = true;
    json_object_foreach((json_t *)object, key, value)
    {
        struct rfn_text name = {0};
        rfn_text_string(&name, prefix);
        rfn_text_string(&name, *prefix ? "." : "");
        rfn_text_string(&name, key);
        const char *full = rfn_text_terminated(&name);
        whole &= !name.failed && (json_is_object(value) ? flatten(row, full, value)
                                                        : json_object_set(row, full, value) == 0);
        rfn_text_release(&name);
    }
    return whole;
}

static bool add_rows(json_t *table, json_t *columns, const char *kind, const json_t *rows)
{
    size_t i;
    json_t *object;
    bool whole = true;
    json_array_foreach((json_t *)rows, i, object)
    {
        json_t *row = json_object();
        if (kind)
            whole &= json_object_set_new(row, "kind", json_string(kind)) == 0;
        whole &= flatten(row, "", object) && json_object_update_missing(columns, row) == 0;
        whole &= json_array_append_new(table, row) == 0;
    }
    return whole;
}

/* The values of a row, or the names of the columns. */
static void append_row(struct rfn_text *out, const json_t *columns, const json_t *row)
{
    const char *key, *comma = "";
    json_t *unused;
    json_object_foreach((json_t *)columns, key, unused)
    {
        rfn_text_string(out, comma);
        if (row)
            append_value(out, json_object_get(row, key));
        else
            rfn_text_csv(out, key);
        comma = ",";
    }
    rfn_text_string(out, "\r\n");
}

void rfn_csv_append(struct rfn_text *out, const json_t *rows)
{
    json_t *table = json_array(), *columns = json_object(), *list, *row;
    const char *kind;
    size_t i;
    bool whole = table && columns;
    if (json_is_array(rows)) {
        whole = whole && add_rows(table, columns, NULL, rows);
    } else {
        json_object_foreach((json_t *)rows, kind, list)
            whole = whole && add_rows(table, columns, kind, list);
    }
    if (whole && json_array_size(table))
        append_row(out, columns, NULL);
    json_array_foreach(table, i, row)
    {
        if (whole)
            append_row(out, columns, row);
    }
    out->failed |= !whole;
    json_decref(table);
    json_decref(columns);
}
