/* left_out_text.h - which calls an archive lacks because somebody asked for that
 * (refrain/left_out.h) or as it is incomplete, for several verbs. */
#ifndef RFN_CLI_TEXT_LEFT_OUT_TEXT_H
#define RFN_CLI_TEXT_LEFT_OUT_TEXT_H

#include "refrain/left_out.h"
#include "refrain/text.h"

#include <jansson.h>

/* "12,345 calls of MPI_Iprobe were left out (--exclude=MPI_Iprobe)". Nothing where no limits were
 * asked for. */
void rfn_left_out_append(struct rfn_text *out, const struct rfn_archive *archive);

/* The same for --json; null: no limits were asked for. */
json_t *rfn_json_left_out(const struct rfn_archive *archive);
/* Sets complete, incomplete_because (only then) and left_out. */
void rfn_json_missing(json_t *value, const struct rfn_archive *archive);

#endif
