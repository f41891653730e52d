/* run_text.h - what an archive says of its run, for several verbs: which frames make a call path,
 * and of a reduced archive that its times are approximate, and what became of its segments
 * (doc/trace-profiling.md). */
#ifndef RFN_CLI_TEXT_RUN_TEXT_H
#define RFN_CLI_TEXT_RUN_TEXT_H

#include "cli/text/print_text.h"
#include "refrain/archive.h"

#include <jansson.h>

/* "Open MPI v4.1.4": the MPI's version, without where it was built; "?" if it is not known. */
void rfn_mpi_append(struct rfn_text *out, const struct rfn_run *run);

/* "times are those of similar iterations (avgWave 0.2)", and how processes were compared, if they
 * were, and what came of it; of a reduced archive. */
void rfn_reduction_append(struct rfn_text *out, const struct rfn_run *run);

/* "some parameters are those of the lowest rank of each cluster (peer,count), and messages may not
 * match", of an archive with merged parameters. */
void rfn_forced_append(struct rfn_text *out, const struct rfn_run *run);

/* "times are predicted, not recorded: rank:3 x 0.5", of an archive of a predicted run. */
void rfn_predicted_append(struct rfn_text *out, const struct rfn_run *run);

/* A line "Paths     of the outermost frame and the 2 innermost ones only", its first word filled up
 * to width; nothing where paths have all their frames. */
void rfn_path_ends_line(struct rfn_text *text, const struct rfn_run *run, int width);

/* Lines for refrain info: what is predicted, parameters that are merged, and which times there are.
 */
void rfn_reduction_lines(struct rfn_text *out, const struct rfn_run *run);

/* The same for --json: null, or what is known. */
json_t *rfn_json_reduction(const struct rfn_run *run);

/* Matches / possible matches, of segments and of streams (Mohror 2010, 5.1.4): 0 to 1, and 1 where
 * nothing can match. */
double rfn_reduction_degree(const struct rfn_run *run);

#endif
