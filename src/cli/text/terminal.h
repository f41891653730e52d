/* terminal.h - how wide the page is, and progress for whoever is watching. */
#ifndef RFN_CLI_TEXT_TERMINAL_H
#define RFN_CLI_TEXT_TERMINAL_H

#include <stddef.h>

/* Columns of standard output: COLUMNS if it is set, the terminal's width, or 100 where there is
 * none. At least 60. */
size_t rfn_terminal_columns(void);

/* Progress of long work on standard error, if that is a terminal; nothing otherwise. Appears after
 * half a second; progress_done wipes it away. The functions fit the libraries' callbacks. */
struct rfn_progress {
    const char *what; /* "checking" */
    double start;     /* seconds; 0 before the first call */
    int percent;      /* shown last, -1 none */
};
void rfn_progress_show(void *progress, double share);
void rfn_progress_done(struct rfn_progress *progress);

#endif
