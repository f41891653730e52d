/* papi.h - counters of PAPI, which is loaded when it is asked for.
 *
 * Nothing is linked with PAPI: a recorder inside somebody's program must not bring libraries that
 * the program did not ask for. What was built without PAPI's header says so when it is asked.
 */
#ifndef RFN_EVENT_PAPI_H
#define RFN_EVENT_PAPI_H

#include "refrain/error.h"

#include <stdint.h>

/* Starts counting an event in the calling thread; *set is PAPI's event set. RFN_E_UNSUPPORTED. */
int rfn_papi_open(const char *event, int *set, struct rfn_diag *diag);
/* Both for sets that are open, by the thread that opened them. -1 when PAPI cannot read. */
int rfn_papi_read(int set, uint64_t *value);
void rfn_papi_close(int set);

#endif
