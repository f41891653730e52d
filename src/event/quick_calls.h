/* quick_calls.h - calls of MPI that stay on their rank and take no time that grows with data: they
 * ask for sizes, ranks, names and attributes, or make small handles. No MPI makes them slow, so one
 * that takes long was disturbed: its thread had no core, waited for memory, or was stopped. */
#ifndef RFN_EVENT_QUICK_CALLS_H
#define RFN_EVENT_QUICK_CALLS_H

#include <stdbool.h>

/* name: "MPI_Type_size", also of the form for large counts, "MPI_Type_size_c". */
bool rfn_call_is_quick(const char *name);

#endif
