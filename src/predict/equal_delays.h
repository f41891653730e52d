/* equal_delays.h - which calls end as late as they begin, whatever is assumed: the recorded model
 * (predict.c) once more, with forms (symbolic.h) in place of lanes.
 *
 * Each stream has a delay, predicted less recorded time. What an assumption may change makes it an
 * unknown. A call that leaves the delay as it is takes as long as recorded under every assumption
 * (R2 of Ino et al.), and what others need of it does not change that of theirs, if they may go,
 * too (R3).
 */
#ifndef RFN_PREDICT_EQUAL_DELAYS_H
#define RFN_PREDICT_EQUAL_DELAYS_H

#include "predict/call_groups.h"
#include "refrain/aggregation.h"

/* Has all calls stay whose delay may change, and those beside a computation that may be assumed to
 * be faster, and joins both ends of messages and all parts of collective calls. Reads thresholds,
 * terms and the network of *aggregation, and fills in `fixed`. RFN_E_NOMEM, errors of rfn_predict.
 */
int rfn_equal_delays_find(const struct rfn_archive *archive, struct rfn_call_groups *groups,
                          struct rfn_aggregation *aggregation,
                          void (*progress)(void *context, double share), void *context,
                          struct rfn_diag *diag);

#endif
