/* name_chain.h - what stays of a call path from one version of a program, or machine, to the next:
 * the names of the functions. */
#ifndef RFN_EXPLAIN_NAME_CHAIN_H
#define RFN_EXPLAIN_NAME_CHAIN_H

#include "refrain/explain.h"

/* A function's name without what a compiler puts behind it when it makes several of one:
 * "step.isra.0" is step. */
void rfn_name_append(struct rfn_text *text, const char *function);

/* The function of MPI and those of the program, innermost first, each ended by a newline. A frame
 * whose function is not known counts as its module, and several of one module in a row as one. */
void rfn_name_chain_append(struct rfn_text *text, const struct rfn_archive *archive,
                           struct rfn_call_site site);

#endif
