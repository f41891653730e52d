/* terminal.h - how large the page is, whether it has colours, and progress for whoever is watching.
 */
#ifndef RFN_CLI_TEXT_TERMINAL_H
#define RFN_CLI_TEXT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Columns of standard output: COLUMNS if it is set, the terminal's width, or 100 where there is
 * none. At least 60. */
size_t rfn_terminal_columns(void);

/* Lines of the terminal that standard output is: LINES if it is set, or 24 where neither says. */
size_t rfn_terminal_lines(void);

/* Whether standard output is to have colours, as far as nobody has said: it is a terminal, NO_COLOR
 * is not set or empty, and TERM is neither unset nor "dumb". */
bool rfn_terminal_colors(void);

#define RFN_BOLD   "\033[1m"
#define RFN_NUMBER "\033[1;36m"
#define RFN_PLAIN  "\033[m"

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
