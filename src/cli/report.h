/* report.h - the pages of `refrain report`: text for people, JSON for machines. */
#ifndef RFN_CLI_REPORT_H
#define RFN_CLI_REPORT_H

#include "cli/text.h"
#include "refrain/archive.h"
#include "refrain/profile.h"

#include <jansson.h>

struct rfn_report {
    const char *file;
    const struct rfn_archive *archive;
    const struct rfn_run *run;
    const struct rfn_profile *profile;
    struct rfn_efficiency efficiency;
    const char *incomplete; /* why the file is not whole, NULL if it is */
    size_t top;             /* call paths to show */
    size_t width;           /* of the page */
};

void rfn_report_text(struct rfn_text *out, const struct rfn_report *report);
/* The communication part of the page: message sizes and who sends to whom. */
void rfn_report_messages(struct rfn_text *out, const struct rfn_report *report);

/* NULL: out of memory. */
json_t *rfn_report_json(const struct rfn_report *report);

/* Whether a row is part of setup: Init, Finalize, sessions. */
bool rfn_report_setup(const struct rfn_report *report, const struct rfn_profile_row *row);
/* A row's share of the time of all ranks. */
double rfn_report_share(const struct rfn_report *report, int64_t ns);

#endif
