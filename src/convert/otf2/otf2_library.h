/* otf2_library.h - what reading and writing with libotf2 share: its errors as ours.
 *
 * libotf2 prints what goes wrong, and returns a code that says little. While a struct otf2_errors
 * listens, it keeps the first message instead, for the diag. There is one listener per process.
 */
#ifndef RFN_CONVERT_OTF2_OTF2_LIBRARY_H
#define RFN_CONVERT_OTF2_OTF2_LIBRARY_H

#include "refrain/error.h"

#include <otf2/otf2.h>

/* Says of an Enter at which line of the region around it the call is: OTF2 has no place for it. */
#define OTF2_LINE_ATTRIBUTE  "CALL_LINE"
#define OTF2_POLLS_ATTRIBUTE "POLLS" /* how many unsuccessful polls a call stands for */

struct otf2_errors {
    char text[400]; /* the first message; "": none */
    OTF2_ErrorCallback before;
};

void rfn_otf2_listen(struct otf2_errors *errors);
void rfn_otf2_unlisten(struct otf2_errors *errors);

/* Fills diag with "PATH: WHAT: libotf2's message" and returns the error. code: what libotf2
 * returned, or OTF2_SUCCESS where it returned NULL. RFN_E_NOMEM and RFN_E_IO are seen by it, else
 * the error is `otherwise`. */
int rfn_otf2_fail(const struct otf2_errors *errors, OTF2_ErrorCode code, int otherwise,
                  const char *path, const char *what, struct rfn_diag *diag);

#endif
