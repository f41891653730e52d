/* clocks.h - how the clocks of a run's hosts differ, and how well that is known. */
#ifndef RFN_CLI_TEXT_CLOCKS_H
#define RFN_CLI_TEXT_CLOCKS_H

#include "cli/text/print_text.h"
#include "refrain/archive.h"

#include <jansson.h>

/* A table with a row per host; nothing for a run on one host or without times. */
void rfn_clocks_append(struct rfn_text *out, const struct rfn_archive *archive);

/* The same for --json: null, or the reference's name (null: the hosts are aligned by the time of
 * day) and what is known of each host. */
json_t *rfn_json_clocks(const struct rfn_archive *archive);

#endif
