/* refrain/convert.h in a build without libotf2. */
#include "refrain/convert.h"

bool rfn_otf2_available(void)
{
    return false;
}

static int missing(struct rfn_otf2_summary *summary, struct rfn_diag *diag)
{
    *summary = (struct rfn_otf2_summary){0};
    return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                    "this refrain was built without OTF2; install the package "
                    "libopen-trace-format2-dev and build it again");
}

int rfn_otf2_read(const char *anchor, const char *path, bool force, const char *metric,
                  const struct rfn_convert_progress *progress, struct rfn_otf2_summary *summary,
                  struct rfn_diag *diag)
{
    (void)anchor;
    (void)path;
    (void)force;
    (void)metric;
    (void)progress;
    return missing(summary, diag);
}

int rfn_otf2_write(const struct rfn_archive *archive, const char *folder, bool force,
                   const struct rfn_convert_progress *progress, struct rfn_otf2_summary *summary,
                   struct rfn_diag *diag)
{
    (void)archive;
    (void)folder;
    (void)force;
    (void)progress;
    return missing(summary, diag);
}
