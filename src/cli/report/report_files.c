/* report_files.c - where time goes in calls of MPI-IO, by call path. */
#include "cli/report/report.h"
#include "cli/text/json.h"
#include "cli/text/table.h"
#include "refrain/event.h"

static bool is_shown(const struct rfn_report *report, const struct rfn_profile_row *row)
{
    return rfn_archive_function(report->archive, row->function)->class_ == RFN_CLASS_FILE &&
           rfn_report_shows_call(report, row->function, row->path);
}

/* Bytes per second that ranks spend in the calls; 0: not known. */
static double bandwidth(const struct rfn_profile_row *row)
{
    return row->time.total_ns > 0 ? (double)row->bytes / ((double)row->time.total_ns * 1e-9) : 0;
}

static void file_row(struct rfn_table *table, const struct rfn_report *report,
                     const struct rfn_profile_row *row)
{
    if (report->profile->times)
        rfn_table_row(table, "%s\t%s", rfn_time_text(row->time.total_ns).text,
                      rfn_share_text(rfn_report_share(report, row->time.total_ns)).text);
    rfn_table_row(table, "%s\t%s", rfn_count_text(row->calls).text,
                  row->bytes ? rfn_bytes_text(row->bytes).text : "");
    if (report->profile->times)
        rfn_table_row(table, "%s%s",
                      row->bytes ? rfn_bytes_text((uint64_t)bandwidth(row)).text : "",
                      row->bytes ? "/s" : "");
    rfn_table_name(table, rfn_archive_function(report->archive, row->function)->name);
    rfn_report_path_note(table, report, row->path);
}

void rfn_report_files(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    struct rfn_table table;
    size_t n = 0;
    rfn_table_init(&table, profile->times ? "rrrrrl" : "rrl",
                   profile->times ? "time\tshare\tcalls\tbytes\tbytes per s\tfunction"
                                  : "calls\tbytes\tfunction");
    for (size_t i = 0; i < profile->n_rows; i++) {
        if (is_shown(report, &profile->rows[i]) && n++ < report->top)
            file_row(&table, report, &profile->rows[i]);
    }
    if (n) {
        rfn_text_string(out, "\nWhat do files take? Calls of MPI-IO, all ranks together");
        rfn_report_end_title(out, report, n);
    }
    /* On narrow pages without share, calls. */
    rfn_table_fit(&table, report->width, (const unsigned[]){1, 2}, profile->times ? 2 : 0);
    rfn_table_print(&table, 6, n ? out : NULL);
}

json_t *rfn_report_files_json(const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    json_t *list = json_array();
    size_t n = 0;
    for (size_t i = 0; i < profile->n_rows; i++) {
        const struct rfn_profile_row *row = &profile->rows[i];
        if (!is_shown(report, row) || n++ >= report->top)
            continue;
        json_t *value = json_object();
        rfn_json_set_call(value, report->archive, (struct rfn_call_site){row->function, row->path});
        RFN_JSON_SET(value, "calls", row->calls);
        RFN_JSON_SET(value, "written_bytes", row->sent_bytes);
        RFN_JSON_SET(value, "read_bytes", row->received_bytes);
        RFN_JSON_SET(value, "seconds", rfn_report_seconds(report, (double)row->time.total_ns));
        RFN_JSON_SET(value, "bytes_per_second",
                     row->time.total_ns > 0 ? json_real(bandwidth(row)) : json_null());
        json_array_append_new(list, value);
    }
    return list;
}
