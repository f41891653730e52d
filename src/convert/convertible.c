#include "convert/convertible.h"

int rfn_convertible(const struct rfn_archive *archive, const char *what, struct rfn_diag *diag)
{
    const char *why;
    if (!rfn_archive_complete(archive, &why))
        return rfn_fail(diag, RFN_E_INCOMPLETE, -1, -1, "%s; only a complete run can be converted",
                        why);
    if (!rfn_archive_run(archive)->times)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the archive has no times, and %s needs them; record it with --time=full",
                        what);
    return 0;
}
