/* short_of_cores.c - which of the compared runs lacked cores. */
#include "cli/compare/compare.h"
#include "cli/text/hosts.h"
#include "cli/text/wrap.h"

void rfn_compare_cores_append(struct rfn_text *text, const char *name,
                              const struct rfn_compared_run *run)
{
    const double share = rfn_core_wait_share(&run->measured);
    const struct rfn_archive *archive = run->measured.archive;
    struct rfn_text why = {0};
    if (!run->times || rfn_archive_run(archive)->predicted)
        return; /* a prediction may be for another machine */
    rfn_crowding_append(&why, archive);
    if (share > RFN_CROWDED_SHARE)
        rfn_text_format(&why, "%s for %s %s of the time", why.n ? ", and waited" : "ranks waited",
                        why.n ? "one" : "a core", rfn_share_text(share).text);
    if (why.n) {
        rfn_text_string(text, text->n ? ", " : "Short of cores: ");
        rfn_text_printable(text, name);
        rfn_text_format(text, " (%s)", rfn_text_terminated(&why));
    }
    text->failed |= why.failed;
    rfn_text_release(&why);
}

void rfn_compare_cores_print(struct rfn_text *out, const struct rfn_compare_options *given,
                             struct rfn_text *text)
{
    if (text->n) {
        rfn_text_string(text, ". Times may differ by that alone: give each rank a core of its own, "
                              "and compare again.");
        rfn_text_wrap(out, text, given->width, 3);
    }
    out->failed |= text->failed;
    rfn_text_release(text);
}
