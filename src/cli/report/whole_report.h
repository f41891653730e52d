/* whole_report.h - finds all that a report says of an archive, in one pass over its events. */
#ifndef RFN_CLI_REPORT_WHOLE_REPORT_H
#define RFN_CLI_REPORT_WHOLE_REPORT_H

#include "cli/report/report.h"

/* Wishes beside the report's own members. */
struct rfn_report_wish {
    struct rfn_waits_options waits; /* profile and behaviour are set here */
    bool each_sample;               /* of messages; they may be many */
    size_t windows;                 /* efficiencies of so many parts */
};

struct rfn_whole_report {
    struct rfn_report report;
    /* what it points to */
    struct rfn_profile *profile;
    struct rfn_behaviour *behaviour;
    struct rfn_waits *waits;
    struct rfn_clustering *clustering;
    struct rfn_usage usage;
    struct rfn_samples samples;
    struct rfn_report_ahead ahead;
    int unread; /* RFN_EXIT_OK, or the exit status where samples cannot be read: it has been told */
};

/* Fills in the members of whole->report that are not set. 0, or the exit status after telling why.
 * To be released in any case. */
int rfn_whole_report_find(struct rfn_whole_report *whole, const struct rfn_report_wish *wish);
/* The exit status, after telling what of the run the report lacks: as first lines of a page, or on
 * standard error, where it is NULL. */
int rfn_whole_report_complain(const struct rfn_whole_report *whole, struct rfn_text *page);
void rfn_whole_report_release(struct rfn_whole_report *whole);

#endif
