/* writable.h - whether an archive can be written at a place, as far as that is known before.
 *
 * The archive is written when the program has ended, so that what prevents it is better told before
 * a long run. Nothing is created or removed to find out: what is asked is what the system says of
 * the directory and of what has the archive's name already. A full disk is not found that way.
 */
#ifndef RFN_CLI_LAUNCH_WRITABLE_H
#define RFN_CLI_LAUNCH_WRITABLE_H

#include "refrain/error.h"

#include <stdbool.h>

/* Whether the recorder will be able to write the archive at path: 0; RFN_E_USAGE if the name is too
 * long, or what is there cannot be an archive; RFN_E_IO if the directory lets no file be written,
 * or what is there cannot be removed; RFN_E_NOMEM. The reason is in diag. replace: a file of that
 * name is to be removed; else the archive will have another name. */
int rfn_writable(const char *path, bool replace, struct rfn_diag *diag);

/* The same for files that have no name yet: RFN_E_IO if the directory lets none be written. what:
 * "archive", "journal". */
int rfn_writable_in(const char *directory, const char *what, struct rfn_diag *diag);

#endif
