/* convertible.h - whether an archive can become a trace with times. */
#ifndef RFN_CONVERT_CONVERTIBLE_H
#define RFN_CONVERT_CONVERTIBLE_H

#include "refrain/archive.h"

/* RFN_E_INCOMPLETE, or RFN_E_UNSUPPORTED without times; `what` needs them: "an OTF2 trace". */
int rfn_convertible(const struct rfn_archive *archive, const char *what, struct rfn_diag *diag);

#endif
