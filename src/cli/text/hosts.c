#include "cli/text/hosts.h"

#include "cli/text/json.h"

#include <stdlib.h>

enum { HOSTS_SHOWN = 10 };

/* 0: not known. */
static uint32_t cores_of(const struct rfn_archive *archive, const char *name)
{
    for (uint32_t i = 0; i < rfn_archive_hosts(archive); i++) {
        struct rfn_host_info info = rfn_archive_host(archive, i);
        if (info.name && strcmp(info.name, name) == 0)
            return info.cores;
    }
    return 0;
}

struct rfn_host *rfn_hosts_of(const struct rfn_archive *archive, size_t *n)
{
    uint32_t streams = rfn_archive_run(archive)->streams;
    struct rfn_host *hosts = calloc((size_t)streams + 1, sizeof *hosts);
    *n = 0;
    for (uint32_t i = 0, at = 0; hosts && i < streams; i++) {
        struct rfn_stream_info info = rfn_archive_stream(archive, i);
        const char *name = info.host ? info.host : "";
        if (i > 0 && rfn_archive_stream(archive, i - 1).rank == info.rank)
            continue; /* another thread of the rank before */
        /* Ranks of a host mostly follow each other, so the host used last is tried first. */
        if (at >= *n || strcmp(hosts[at].name, name) != 0) {
            for (at = 0; at < *n && strcmp(hosts[at].name, name) != 0;)
                at++;
        }
        if (at == *n)
            hosts[(*n)++] = (struct rfn_host){.name = name, .cores = cores_of(archive, name)};
        hosts[at].ranks++;
    }
    return hosts;
}

void rfn_hosts_append(struct rfn_text *text, const struct rfn_archive *archive)
{
    size_t n;
    struct rfn_host *hosts = rfn_hosts_of(archive, &n);
    text->failed |= !hosts;
    for (size_t i = 0; i < n && i < HOSTS_SHOWN; i++) {
        const struct rfn_host *host = &hosts[i];
        rfn_text_string(text, i ? ", " : "");
        rfn_text_printable(text, host->name[0] ? host->name : "?");
        rfn_text_format(text, " (%u rank%s", host->ranks, host->ranks == 1 ? "" : "s");
        if (host->cores)
            rfn_text_format(text, ", %u core%s", host->cores, host->cores == 1 ? "" : "s");
        rfn_text_char(text, ')');
    }
    if (n > HOSTS_SHOWN)
        rfn_text_format(text, " and %zu more", n - HOSTS_SHOWN);
    free(hosts);
}

json_t *rfn_json_hosts(const struct rfn_archive *archive)
{
    size_t n;
    struct rfn_host *hosts = rfn_hosts_of(archive, &n);
    json_t *list = hosts ? json_array() : rfn_json_fail();
    for (size_t i = 0; i < n; i++) {
        json_t *host = json_object();
        RFN_JSON_SET(host, "name", hosts[i].name);
        RFN_JSON_SET(host, "ranks", hosts[i].ranks);
        RFN_JSON_SET(host, "cores", hosts[i].cores ? json_integer(hosts[i].cores) : json_null());
        json_array_append_new(list, host);
    }
    free(hosts);
    return list;
}

bool rfn_crowding_append(struct rfn_text *text, const struct rfn_archive *archive)
{
    size_t n, crowded = 0;
    struct rfn_host *hosts = rfn_hosts_of(archive, &n), *most = hosts;
    text->failed |= !hosts;
    for (size_t i = 0; i < n && hosts; i++) {
        struct rfn_host *host = &hosts[i];
        if (host->cores == 0 || host->ranks <= host->cores)
            continue;
        if (!crowded++ || (uint64_t)host->ranks * most->cores > (uint64_t)most->ranks * host->cores)
            most = host;
    }
    if (crowded) {
        rfn_text_format(text, "%u ranks share the %u core%s of ", most->ranks, most->cores,
                        most->cores == 1 ? "" : "s");
        rfn_text_printable(text, most->name);
    }
    if (crowded > 1)
        rfn_text_format(text, ", and on %zu more host%s they share, too", crowded - 1,
                        crowded == 2 ? "" : "s");
    free(hosts);
    return crowded;
}
