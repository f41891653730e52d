/* counter.h - what a thread computes, counted beside the clock: the instrument behind a volume.
 *
 * A counter belongs to the thread that opens it, counts that thread alone and only grows. By name:
 *
 *   cpu            CPU time in ns (clock_gettime of the thread; a system call, some 100 to 300 ns)
 *   instructions   instructions retired in user mode: the processor's counter through
 *                  perf_event_open, read without a system call where the kernel allows that
 *                  (rdpmc), else by read; where perf_event_open gives none, PAPI's PAPI_TOT_INS
 *   papi:EVENT     any event that PAPI knows by name, counted as PAPI counts it: in user mode,
 *                  unless the name says otherwise
 *
 * A counter of the kernel's keeps no file open when it can be read without one, so that threads
 * that come and go do not use up the program's descriptors.
 */
#ifndef RFN_EVENT_COUNTER_H
#define RFN_EVENT_COUNTER_H

#include "refrain/recording.h"

enum rfn_counter_kind {
    RFN_COUNTER_NONE, /* reads 0 */
    RFN_COUNTER_CPU,
    RFN_COUNTER_PAGE, /* of perf_event_open, through its mapped page */
    RFN_COUNTER_FILE, /* the same through its descriptor */
    RFN_COUNTER_PAPI
};

struct rfn_counter {
    enum rfn_counter_kind kind;
    int handle;    /* FILE: descriptor; PAPI: event set */
    void *page;    /* PAGE: struct perf_event_mmap_page */
    uint64_t last; /* what was read last, for readings that fail */
};

/* Opens a counter for the calling thread. The errors are those of rfn_volume_probe; the counter is
 * then of kind NONE. */
int rfn_counter_open(struct rfn_counter *counter, const char *name, struct rfn_diag *diag);
/* To be called by the thread that opened it. */
void rfn_counter_close(struct rfn_counter *counter);

uint64_t rfn_counter_read(struct rfn_counter *counter);

/* The count that a page of perf_event_open (struct perf_event_mmap_page) stands for, as the
 * kernel's header tells to read it; rdpmc reads the processor's counter of a number. */
uint64_t rfn_counter_page_value(const void *page, uint64_t (*rdpmc)(uint32_t number));

#endif
