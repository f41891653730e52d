/* parameters.h - the parameters of an event as text: name=value, separated by spaces.
 *
 * Values have no spaces. Ranks are those of the call's communicator. A buffer is shown only if it
 * is special. Of a receive that is over, source and tag are those of the message it got.
 * refrain-dump(1) tells the forms of all values.
 */
#ifndef RFN_CLI_TEXT_PARAMETERS_H
#define RFN_CLI_TEXT_PARAMETERS_H

#include "cli/text/print_text.h"
#include "refrain/archive.h"
#include "refrain/completion.h"
#include "refrain/volume.h"

/* What an event's parameters are made of; all borrowed. */
struct rfn_parameters {
    const struct rfn_archive *archive;
    const struct rfn_volumes *volumes;
    const struct rfn_cursor *cursor;
    const struct rfn_record *record;
    const struct rfn_volume *volume;           /* NULL for an unsuccessful poll */
    const struct rfn_request_effects *effects; /* all zero if it concerns no request */
};

void rfn_parameters_append(struct rfn_text *text, const struct rfn_parameters *parameters);

#endif
