/* report_hang.h - the page of `refrain report --hang`: what is wrong, and what each rank is in. */
#ifndef RFN_CLI_REPORT_REPORT_HANG_H
#define RFN_CLI_REPORT_REPORT_HANG_H

#include "cli/text/print_text.h"
#include "refrain/hang.h"

#include <jansson.h>

struct rfn_hang_page {
    const struct rfn_archive *archive;
    const struct rfn_hang *hang;
    bool all; /* rows */
    bool colors;
    size_t width;
};

void rfn_report_hang(struct rfn_text *out, const struct rfn_hang_page *page);
/* NULL: out of memory. */
json_t *rfn_report_hang_json(const struct rfn_hang_page *page);

#endif
