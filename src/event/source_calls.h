/* source_calls.h - the calls that a function's code makes, and its loops, from debug information.
 *
 * Between two calls of MPI a program computes, mostly in a function that it calls there and that
 * never calls MPI itself, so that no call path leads through it. Debug information knows these
 * calls: of optimized code it lists call sites and inlined functions (DWARF 5, 3.4.1 and 3.3.8).
 * Code that was not optimized has no call sites: of it nothing is told.
 *
 * Lines say what lies between two calls, since the compiler may move code about; only calls on one
 * line are told apart by address. Lines do not tell where a loop begins and ends. Two signs of it
 * do, and neither is sure: a lexical block holds all that its loop calls; and a line that has code
 * both before and behind other lines, in order of addresses, is the head of a loop around them.
 */
#ifndef RFN_EVENT_SOURCE_CALLS_H
#define RFN_EVENT_SOURCE_CALLS_H

#include "event/symbolize.h"

enum { RFN_SOURCE_CALLS_MAX = 64, RFN_SOURCE_LOOPS_MAX = 16 };

struct rfn_source_call {
    const char *function; /* NULL: it goes through a pointer, say */
    uint64_t offset;      /* return address in the module, or the begin of inlined code */
    uint32_t line;
    bool inlined;
    bool library; /* its declaration is in a header of the system, or nowhere */
};

/* The lines from the first call (or the head) of a loop to its last call. */
struct rfn_source_loop {
    uint32_t first, last;
};

struct rfn_source_calls {
    struct rfn_source_call calls[RFN_SOURCE_CALLS_MAX]; /* by line, then by offset */
    struct rfn_source_loop loops[RFN_SOURCE_LOOPS_MAX]; /* fewest lines first */
    size_t n, n_loops;
};

/* Of the function that is the level-th around the address, as rfn_symbolizer_find counts them;
 * file: its file, as told there. Calls of MPI and of regions are left out, and functions that never
 * return or take no time: inlined ones of a few instructions, memory management, reading clocks.
 * A function with too many calls has none. budget: how many entries and lines may be looked at,
 * less those that were: code into which much is inlined has thousands, which are looked at again
 * for each function in it, and damaged data may go round in circles. At 0 nothing is told. Names
 * are borrowed until the symbolizer is freed. RFN_E_NOMEM. */
int rfn_symbolizer_calls(struct rfn_symbolizer *symbolizer, int module, uint64_t address,
                         size_t level, const char *file, unsigned *budget,
                         struct rfn_source_calls *calls);

#endif
