/* report_functions.c - time, calls and bytes of each MPI function, all ranks and call paths
 * together, but for Init and Finalize. */
#include "cli/report/report.h"
#include "cli/text/json.h"
#include "cli/text/table.h"

#include <stdlib.h>

struct sum {
    uint32_t function;
    uint64_t calls, bytes;
    int64_t time_ns;
};

static int by_time(const void *left, const void *right)
{
    const struct sum *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns > b->time_ns ? -1 : 1;
    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

/* The functions that are shown, most time first, n of them; to be freed. NULL: out of memory. */
static struct sum *sums_of(const struct rfn_report *report, size_t *n)
{
    uint32_t functions = rfn_archive_functions(report->archive);
    struct sum *sums = calloc((size_t)functions + 1, sizeof *sums);
    *n = 0;
    if (!sums)
        return NULL;
    for (uint32_t i = 0; i < functions; i++)
        sums[i].function = i;
    for (size_t i = 0; i < report->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &report->profile->rows[i];
        struct sum *sum = &sums[row->function];
        if (rfn_report_setup(report, row) ||
            !rfn_report_shows_call(report, row->function, row->path))
            continue;
        *n += sum->calls == 0;
        sum->calls += row->calls;
        sum->bytes += row->bytes;
        sum->time_ns += row->time.total_ns;
    }
    qsort(sums, functions, sizeof *sums, by_time);
    return sums;
}

static const char *name_of(const struct rfn_report *report, const struct sum *sum)
{
    return rfn_archive_function(report->archive, sum->function)->name;
}

void rfn_report_functions(struct rfn_text *out, const struct rfn_report *report)
{
    bool times = report->profile->times;
    size_t n;
    struct rfn_table table;
    struct sum *sums = sums_of(report, &n);
    out->failed |= !sums;
    rfn_table_init(&table, times ? "rrrrl" : "rrl",
                   times ? "time\tshare\tcalls\tbytes\tfunction" : "calls\tbytes\tfunction");
    for (size_t i = 0; i < n && i < report->top; i++) {
        const struct sum *sum = &sums[i];
        if (times)
            rfn_table_row(&table, "%s\t%s", rfn_time_text(sum->time_ns).text,
                          rfn_share_text(rfn_report_share(report, sum->time_ns)).text);
        rfn_table_row(&table, "%s\t%s", rfn_count_text(sum->calls).text,
                      sum->bytes ? rfn_bytes_text(sum->bytes).text : "");
        rfn_table_name(&table, name_of(report, sum));
    }
    if (n) {
        rfn_text_string(out, "\nWhich MPI functions take the time? Functions, all ranks together");
        rfn_report_end_title(out, report, n);
    }
    /* On narrow pages without bytes. */
    rfn_table_fit(&table, report->width, (const unsigned[]){3}, times ? 1 : 0);
    rfn_table_print(&table, 2, n ? out : NULL);
    free(sums);
}

json_t *rfn_report_functions_json(const struct rfn_report *report)
{
    size_t n;
    struct sum *sums = sums_of(report, &n);
    json_t *list = sums ? json_array() : rfn_json_fail();
    for (size_t i = 0; i < n && i < report->top; i++) {
        json_t *value = json_object();
        RFN_JSON_SET(value, "function", name_of(report, &sums[i]));
        RFN_JSON_SET(value, "seconds", rfn_report_seconds(report, (double)sums[i].time_ns));
        RFN_JSON_SET(value, "share",
                     report->profile->times ? json_real(rfn_report_share(report, sums[i].time_ns))
                                            : json_null());
        RFN_JSON_SET(value, "calls", sums[i].calls);
        RFN_JSON_SET(value, "bytes", sums[i].bytes);
        json_array_append_new(list, value);
    }
    free(sums);
    return list;
}
