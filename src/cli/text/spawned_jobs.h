/* spawned_jobs.h - the archives of the processes that the program started, as its calls of
 * MPI_Comm_spawn name them (their outcome `archive`). What cannot be read is left out. */
#ifndef RFN_CLI_TEXT_SPAWNED_JOBS_H
#define RFN_CLI_TEXT_SPAWNED_JOBS_H

#include "cli/text/print_text.h"
#include "refrain/archive.h"

#include <jansson.h>

/* A line "Started    x.spawn1.rfn (by rank 0), ...", its first word filled up to width: the first
 * ten and how many more; nothing where there are none. */
void rfn_spawned_jobs_line(struct rfn_text *text, const struct rfn_archive *archive, int width);
/* [{archive, rank}], in order of rank and time */
json_t *rfn_json_spawned_jobs(const struct rfn_archive *archive);

#endif
