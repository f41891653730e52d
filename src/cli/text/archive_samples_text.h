/* archive_samples_text.h - that an archive has samples of messages (refrain/sampling.h), for
 * several verbs; what the samples say is the report's.
 */
#ifndef RFN_CLI_TEXT_ARCHIVE_SAMPLES_TEXT_H
#define RFN_CLI_TEXT_ARCHIVE_SAMPLES_TEXT_H

#include "refrain/sampling.h"
#include "refrain/text.h"

#include <jansson.h>

/* "1,258 of 60,000 messages, adaptive; events were not recorded". Nothing where there are none, or
 * where that cannot be read. */
void rfn_archive_samples_append(struct rfn_text *out, const struct rfn_archive *archive);

/* The same for --json; null: there are none. */
json_t *rfn_json_archive_samples(const struct rfn_archive *archive);

/* For rfn_command_error, with the name of a file that has not the samples of those it is made of.
 */
#define RFN_SAMPLES_LEFT_OUT                                                             \
    "%s: samples of messages (refrain record --sample) tell of all ranks of an archive " \
    "together, and are left out"

#endif
