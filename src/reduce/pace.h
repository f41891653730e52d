/* pace.h - when ranks that work in step are to meet next.
 *
 * They meet in calls that all of them make together, and count these, so that all know when they
 * are there. How many calls make the interval that was asked for follows from how much was done
 * between the last two meetings. The interval at most doubles, so that it is approached from below,
 * by few meetings, whatever the calls before were like.
 */
#ifndef RFN_REDUCE_PACE_H
#define RFN_REDUCE_PACE_H

#include <stdint.h>

/* Calls until the next meeting, at least 1: calls (at least 1) were made since the last one, in
 * which so much was done (segments, or ns), and `every` (at least 1) of that makes an interval. */
uint64_t rfn_pace_next(uint64_t calls, uint64_t done, uint64_t every);

#endif
