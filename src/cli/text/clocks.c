#include "cli/text/clocks.h"

#include "cli/text/json.h"
#include "cli/text/table.h"

enum { HOSTS_SHOWN = 32 };

struct summary {
    int64_t offset_ns; /* the first */
    uint64_t error_ns; /* at most, of all measurements */
    bool drifts;       /* there are measurements of different times */
    double drift_ppm;
};

static uint64_t error_of(const struct rfn_clock_offset *offset)
{
    return offset->round_trip_ns / 2 + offset->round_trip_ns % 2;
}

/* Of a host with offsets. */
static struct summary summary_of(const struct rfn_host_info *host)
{
    const struct rfn_clock_offset *first = host->offsets, *last = first + host->n_offsets - 1;
    struct summary summary = {.offset_ns = first->offset_ns};
    for (uint32_t i = 0; i < host->n_offsets; i++) {
        if (error_of(&host->offsets[i]) > summary.error_ns)
            summary.error_ns = error_of(&host->offsets[i]);
    }
    uint64_t apart = last->monotonic_ns - first->monotonic_ns;
    int64_t change = (int64_t)((uint64_t)last->offset_ns - (uint64_t)first->offset_ns);
    summary.drifts = apart > 0;
    if (summary.drifts)
        summary.drift_ppm = 1e6 * (double)change / (double)apart;
    return summary;
}

/* The host that the others were compared with; NULL if none was. */
static const char *reference_of(const struct rfn_archive *archive)
{
    for (uint32_t i = 0; i < rfn_archive_hosts(archive); i++) {
        struct rfn_host_info host = rfn_archive_host(archive, i);
        if (host.reference)
            return host.name;
    }
    return NULL;
}

static bool have_clocks(const struct rfn_archive *archive)
{
    return rfn_archive_hosts(archive) > 1 && rfn_archive_run(archive)->times;
}

/* ---- text ---- */

static void append_host(struct rfn_table *table, const struct rfn_host_info *host)
{
    struct rfn_text name = {0};
    rfn_text_printable(&name, host->name);
    rfn_table_text(table, &name);
    if (host->n_offsets == 0) {
        rfn_table_row(table, "-\t-\t-\t%s", host->reference ? "reference" : "by the time of day");
        return;
    }
    struct summary summary = summary_of(host);
    rfn_table_row(table, "%+.9f s", 1e-9 * (double)summary.offset_ns);
    if (summary.drifts)
        rfn_table_row(table, "%+.3f ppm", summary.drift_ppm);
    else
        rfn_table_cell(table, "-");
    rfn_table_row(table, "%s\t%s",
                  summary.error_ns < INT64_MAX ? rfn_time_text((int64_t)summary.error_ns).text
                                               : "?",
                  host->n_offsets == 1 ? "measured once" : "measured");
}

void rfn_clocks_append(struct rfn_text *out, const struct rfn_archive *archive)
{
    if (!have_clocks(archive))
        return;
    uint32_t n = rfn_archive_hosts(archive);
    const char *reference = reference_of(archive);
    if (!reference) {
        rfn_text_string(out, "\nClocks of the hosts: aligned by the time of day\n");
        return;
    }
    struct rfn_table table;
    rfn_table_init(&table, "lrrrl", "host\toffset\tdrift\terror\thow");
    for (uint32_t i = 0; i < n && i < HOSTS_SHOWN; i++) {
        struct rfn_host_info host = rfn_archive_host(archive, i);
        append_host(&table, &host);
    }
    rfn_text_string(out, "\nClocks of the hosts: what is added to get that of ");
    rfn_text_printable(out, reference);
    rfn_text_char(out, '\n');
    rfn_table_print(&table, 2, out);
    if (n > HOSTS_SHOWN)
        rfn_text_format(out, "  and %u more hosts (--json tells all)\n", n - HOSTS_SHOWN);
}

/* ---- JSON ---- */

static json_t *host_json(const struct rfn_host_info *host)
{
    json_t *value = json_object(), *offsets = json_array();
    RFN_JSON_SET(value, "name", host->name);
    for (uint32_t i = 0; i < host->n_offsets; i++) {
        json_t *offset = json_object();
        RFN_JSON_SET(offset, "monotonic_ns", host->offsets[i].monotonic_ns);
        RFN_JSON_SET(offset, "offset_ns", host->offsets[i].offset_ns);
        RFN_JSON_SET(offset, "error_ns", error_of(&host->offsets[i]));
        json_array_append_new(offsets, offset);
    }
    RFN_JSON_SET(value, "offsets", offsets);
    if (host->n_offsets > 0) {
        struct summary summary = summary_of(host);
        RFN_JSON_SET(value, "drift_ppm",
                     summary.drifts ? json_real(summary.drift_ppm) : json_null());
        RFN_JSON_SET(value, "error_ns", summary.error_ns);
    }
    return value;
}

json_t *rfn_json_clocks(const struct rfn_archive *archive)
{
    if (!have_clocks(archive))
        return json_null();
    json_t *value = json_object(), *hosts = json_array();
    RFN_JSON_SET(value, "reference", reference_of(archive));
    for (uint32_t i = 0; i < rfn_archive_hosts(archive); i++) {
        struct rfn_host_info host = rfn_archive_host(archive, i);
        json_array_append_new(hosts, host_json(&host));
    }
    RFN_JSON_SET(value, "hosts", hosts);
    return value;
}
