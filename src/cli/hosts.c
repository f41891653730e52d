#include "cli/hosts.h"

#include <stdlib.h>

enum { HOSTS_SHOWN = 10 };

/* Ranks of a host mostly follow each other, so the host used last is tried first. */
static struct rfn_host *find(struct rfn_hosts *hosts, const char *name, size_t *last)
{
    if (*last < hosts->n && strcmp(hosts->hosts[*last].name, name) == 0)
        return &hosts->hosts[*last];
    for (size_t i = 0; i < hosts->n; i++) {
        if (strcmp(hosts->hosts[i].name, name) == 0) {
            *last = i;
            return &hosts->hosts[i];
        }
    }
    return NULL;
}

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

int rfn_hosts_init(struct rfn_hosts *hosts, const struct rfn_archive *archive)
{
    uint32_t n = rfn_archive_run(archive)->streams;
    size_t last = 0;
    *hosts = (struct rfn_hosts){.hosts = calloc((size_t)n + 1, sizeof *hosts->hosts)};
    if (!hosts->hosts)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        struct rfn_stream_info info = rfn_archive_stream(archive, i);
        if (i > 0 && rfn_archive_stream(archive, i - 1).rank == info.rank)
            continue; /* another thread of the rank before */
        const char *name = info.host ? info.host : "";
        struct rfn_host *host = find(hosts, name, &last);
        if (!host) {
            host = &hosts->hosts[hosts->n++];
            host->name = name;
            host->cores = cores_of(archive, name);
        }
        host->ranks++;
    }
    return 0;
}

static double ranks_per_core(const struct rfn_host *host)
{
    return host->cores ? (double)host->ranks / host->cores : 0;
}

const struct rfn_host *rfn_hosts_crowded(const struct rfn_hosts *hosts, size_t *crowded)
{
    const struct rfn_host *most = NULL;
    *crowded = 0;
    for (size_t i = 0; i < hosts->n; i++) {
        const struct rfn_host *host = &hosts->hosts[i];
        if (ranks_per_core(host) <= 1)
            continue;
        ++*crowded;
        if (!most || ranks_per_core(host) > ranks_per_core(most))
            most = host;
    }
    return most;
}

void rfn_hosts_release(struct rfn_hosts *hosts)
{
    free(hosts->hosts);
    *hosts = (struct rfn_hosts){0};
}

void rfn_hosts_append(struct rfn_text *text, const struct rfn_hosts *hosts)
{
    for (size_t i = 0; i < hosts->n && i < HOSTS_SHOWN; i++) {
        const struct rfn_host *host = &hosts->hosts[i];
        if (i)
            rfn_text_string(text, ", ");
        rfn_text_printable(text, host->name[0] ? host->name : "?");
        rfn_text_format(text, " (%u rank%s", host->ranks, host->ranks == 1 ? "" : "s");
        if (host->cores)
            rfn_text_format(text, ", %u core%s", host->cores, host->cores == 1 ? "" : "s");
        rfn_text_char(text, ')');
    }
    if (hosts->n > HOSTS_SHOWN)
        rfn_text_format(text, " and %zu more", hosts->n - HOSTS_SHOWN);
}
