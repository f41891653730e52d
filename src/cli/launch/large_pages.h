/* large_pages.h - the heap in large pages.
 *
 * Who reads many streams in turn touches a little of much memory: with small pages translating
 * addresses, and the kernel's making each page when it is first touched, take a tenth of the time
 * of a report.
 */
#ifndef RFN_CLI_LAUNCH_LARGE_PAGES_H
#define RFN_CLI_LAUNCH_LARGE_PAGES_H

/* The first megabytes that are allocated from now on come in large pages, where the system has
 * them. To be called when the program begins. Never fails: else all is as ever. */
void rfn_large_pages_prefer(void);

#endif
