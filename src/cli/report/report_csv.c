/* report_csv.c - one table of the report as comma-separated values: the list of that name in JSON.
 */
#include "cli/report/report.h"
#include "cli/text/csv.h"
#include "cli/text/json.h"

static const char *const tables[] = {
    "stories",          "wait_states", "causes",     "critical_path", "time_per_rank",
    "regions",          "functions",   "call_paths", "message_sizes", "communication_matrix",
    "one_sided_matrix", "hosts",
};

enum { N_TABLES = sizeof tables / sizeof *tables };

bool rfn_report_csv_has(const char *table)
{
    for (size_t i = 0; i < N_TABLES; i++) {
        if (strcmp(tables[i], table) == 0)
            return true;
    }
    return false;
}

void rfn_report_csv_tables(struct rfn_text *out)
{
    for (size_t i = 0; i < N_TABLES; i++)
        rfn_text_format(out, "%s%s", i ? ", " : "", tables[i]);
}

void rfn_report_csv(struct rfn_text *out, const struct rfn_report *report, const char *table)
{
    json_t *value = rfn_report_json(report);
    const json_t *rows = json_object_get(value, table),
                 *parts = json_object_get(rows, "parts"); /* of the critical path */
    if (rows)
        rfn_csv_append(out, parts ? parts : rows);
    json_decref(value);
    out->failed |= !rows || rfn_json_failed();
}
