/* hosts.h - which hosts a run used, and how many ranks on each. */
#ifndef RFN_CLI_TEXT_HOSTS_H
#define RFN_CLI_TEXT_HOSTS_H

#include "cli/text/print_text.h"
#include "refrain/archive.h"

#include <jansson.h>

struct rfn_host {
    const char *name; /* borrowed from the archive */
    uint32_t ranks;
    uint32_t cores; /* 0: not known */
};

/* Hosts in order of first use, *n of them; to be freed. NULL: out of memory. */
struct rfn_host *rfn_hosts_of(const struct rfn_archive *archive, size_t *n);

/* "8 ranks share the 2 cores of north", the host with most ranks per core, "and on 1 more host they
 * share, too". false: no host is known to have fewer cores than ranks. */
bool rfn_crowding_append(struct rfn_text *text, const struct rfn_archive *archive);
/* "node1 (4 ranks, 8 cores), node2 (4 ranks, 8 cores)"; the first ten and how many more. */
void rfn_hosts_append(struct rfn_text *text, const struct rfn_archive *archive);
/* [{name, ranks, cores}], ranks being how many. */
json_t *rfn_json_hosts(const struct rfn_archive *archive);

#endif
