/* hosts.h - which hosts a run used, and how many ranks on each. */
#ifndef RFN_CLI_HOSTS_H
#define RFN_CLI_HOSTS_H

#include "cli/text.h"
#include "refrain/archive.h"

struct rfn_host {
    const char *name; /* borrowed from the archive */
    uint32_t ranks;
    uint32_t cores; /* 0: not known */
};

struct rfn_hosts {
    struct rfn_host *hosts; /* in order of first use */
    size_t n;
};

/* RFN_E_NOMEM. */
int rfn_hosts_init(struct rfn_hosts *hosts, const struct rfn_archive *archive);
void rfn_hosts_release(struct rfn_hosts *hosts);
/* "node1 (4 ranks, 8 cores), node2 (4 ranks, 8 cores)"; the first ten and how many more. */
void rfn_hosts_append(struct rfn_text *text, const struct rfn_hosts *hosts);

/* The host with most ranks per core, if these are more than its cores; else NULL. *crowded: how
 * many such hosts there are. */
const struct rfn_host *rfn_hosts_crowded(const struct rfn_hosts *hosts, size_t *crowded);

#endif
