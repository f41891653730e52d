/* report_csv.c - one table of the report as comma-separated values: the list of that name in JSON.
 */
#include "cli/report/report.h"
#include "cli/text/csv.h"
#include "cli/text/json.h"

bool rfn_report_csv_has(const char *tables, const char *table)
{
    const size_t length = strlen(table);
    for (const char *name = tables; *name; name += strspn(name, ",")) {
        const size_t n = strcspn(name, ",");
        if (n == length && memcmp(name, table, n) == 0)
            return true;
        name += n;
    }
    return false;
}

bool rfn_report_csv_is_sampled(const char *table)
{
    return strncmp(table, RFN_REPORT_CSV_SAMPLED, strlen(RFN_REPORT_CSV_SAMPLED)) == 0;
}

void rfn_report_samples_csv(struct rfn_text *out, const struct rfn_report *report,
                            const char *table)
{
    json_t *value = rfn_report_samples_json(report);
    const json_t *rows = json_object_get(value, table);
    if (rows)
        rfn_csv_append(out, rows);
    json_decref(value);
    out->failed |= rfn_json_failed();
}

void rfn_report_csv(struct rfn_text *out, const struct rfn_report *report, const char *table)
{
    /* The lists that are not members of the object itself. */
    static const char *const inner[][2] = {{"critical_path", "parts"}, {"alike", "kinds"}};
    if (rfn_report_csv_is_sampled(table)) {
        rfn_report_samples_csv(out, report, table + strlen(RFN_REPORT_CSV_SAMPLED));
        return;
    }
    const bool windows = strcmp(table, "core_windows") == 0;
    json_t *value = windows ? rfn_report_core_windows_json(report) : rfn_report_json(report);
    const json_t *rows = windows ? value : json_object_get(value, table);
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        if (strcmp(table, inner[i][0]) == 0 && json_is_object(rows))
            rows = json_object_get(rows, inner[i][1]);
    }
    if (rows)
        rfn_csv_append(out, rows);
    json_decref(value);
    out->failed |= !rows || rfn_json_failed();
}
