/* report_hosts.c - what the ranks of each host did, where there are several hosts. */
#include "cli/report/report.h"
#include "cli/text/hosts.h"
#include "cli/text/json.h"
#include "cli/text/table.h"

#include <stdlib.h>
#include <string.h>

struct host {
    const char *name;
    struct rfn_spread outside; /* MPI, in the main part */
    int64_t waiting_ns, span_ns;
    uint64_t messages;
};

static void add(struct rfn_spread *spread, uint32_t rank, int64_t ns)
{
    if (!spread->ranks || ns > spread->max_ns) {
        spread->max_ns = ns;
        spread->max_rank = rank;
    }
    spread->total_ns += ns;
    spread->ranks++;
}

static int64_t waiting_of(const struct rfn_waits *waits, uint32_t rank)
{
    int64_t ns = 0;
    for (size_t i = 0; i < waits->n_rows && rank < waits->n_ranks; i++)
        ns += waits->rows[i].ns_by_rank[rank];
    return ns;
}

static void add_rank(struct host *host, const struct rfn_report *report, uint32_t rank)
{
    const struct rfn_profile_rank *of = &report->profile->ranks[rank];
    add(&host->outside, rank, of->main_outside_ns);
    host->waiting_ns += waiting_of(report->waits, rank);
    host->span_ns += of->span_ns - of->unrecorded_ns;
    host->messages += of->messages;
}

/* *n hosts with the ranks that are shown, as hosts.h lists them; to be freed. NULL: no memory. */
static struct host *hosts_of(const struct rfn_report *report, size_t *n)
{
    struct rfn_host *named = rfn_hosts_of(report->archive, n);
    struct host *hosts = named ? calloc(*n + 1, sizeof *hosts) : NULL;
    uint32_t before = UINT32_MAX;
    for (size_t i = 0; hosts && i < *n; i++)
        hosts[i].name = named[i].name;
    for (uint32_t i = 0; hosts && i < report->run->streams; i++) {
        const struct rfn_stream_info info = rfn_archive_stream(report->archive, i);
        size_t at = 0;
        while (at < *n && strcmp(hosts[at].name, info.host ? info.host : "") != 0)
            at++;
        if (info.rank != before && at < *n && info.rank < report->profile->n_ranks &&
            rfn_report_shows_rank(report, info.rank))
            add_rank(&hosts[at], report, info.rank);
        before = info.rank;
    }
    free(named);
    return hosts;
}

static double waiting_share(const struct host *host)
{
    return host->span_ns > 0 ? (double)host->waiting_ns / (double)host->span_ns : 0;
}

static int64_t mean_outside(const struct host *host)
{
    return host->outside.ranks ? host->outside.total_ns / host->outside.ranks : 0;
}

static void host_row(struct rfn_table *table, const struct rfn_report *report,
                     const struct host *host)
{
    rfn_table_row(table, "%u", host->outside.ranks);
    if (report->profile->times)
        rfn_table_row(table, "%s\t%s\t%s", rfn_share_text(rfn_report_balance(&host->outside)).text,
                      rfn_time_text(mean_outside(host)).text,
                      rfn_share_text(waiting_share(host)).text);
    rfn_table_row(table, "%s", rfn_count_text(host->messages).text);
    rfn_table_name(table, host->name[0] ? host->name : "?");
}

void rfn_report_by_host(struct rfn_text *out, const struct rfn_report *report)
{
    size_t n, shown = 0, all = 0;
    struct host *hosts = hosts_of(report, &n);
    struct rfn_table table;
    out->failed |= !hosts;
    rfn_table_init(&table, report->profile->times ? "rrrrrl" : "rrl",
                   report->profile->times
                       ? "ranks\tbalance\tmean outside MPI\twaiting\tmessages\thost"
                       : "ranks\tmessages\thost");
    for (size_t i = 0; hosts && i < n; i++) {
        all += hosts[i].outside.ranks > 0;
        if (hosts[i].outside.ranks && shown++ < report->top)
            host_row(&table, report, &hosts[i]);
    }
    if (n > 1) {
        rfn_text_string(out, "\nHow do hosts differ? Hosts, each with its ranks");
        rfn_report_end_title(out, report, all);
    }
    /* On narrow pages without messages, balance. */
    rfn_table_fit(&table, report->width, (const unsigned[]){4, 1}, report->profile->times ? 2 : 0);
    rfn_table_print(&table, 2, n > 1 ? out : NULL);
    free(hosts);
}

json_t *rfn_report_by_host_json(const struct rfn_report *report)
{
    const bool times = report->profile->times;
    size_t n;
    struct host *hosts = hosts_of(report, &n);
    json_t *list = hosts ? json_array() : rfn_json_fail();
    for (size_t i = 0; hosts && i < n; i++) {
        if (!hosts[i].outside.ranks) /* none of those asked for */
            continue;
        json_t *value = json_object();
        RFN_JSON_SET(value, "name", hosts[i].name);
        RFN_JSON_SET(value, "ranks", hosts[i].outside.ranks);
        RFN_JSON_SET(value, "load_balance",
                     times ? json_real(rfn_report_balance(&hosts[i].outside)) : json_null());
        RFN_JSON_SET(value, "mean_outside_seconds",
                     rfn_report_seconds(report, (double)mean_outside(&hosts[i])));
        RFN_JSON_SET(value, "waiting_seconds",
                     rfn_report_seconds(report, (double)hosts[i].waiting_ns));
        RFN_JSON_SET(value, "waiting_share",
                     times ? json_real(waiting_share(&hosts[i])) : json_null());
        RFN_JSON_SET(value, "messages", hosts[i].messages);
        json_array_append_new(list, value);
    }
    free(hosts);
    return list;
}
